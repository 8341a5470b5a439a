//! Addresses: by name, of the newer kind alone, late.

use crate::inside::inside;
use crate::machines::Kind;
use crate::wait_for;

const WORKERS: [&str; 4] = ["lab1", "lab2", "lab3", "lab4"];

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn five_machines_by_name_count_words_for_a_sixth() {
    inside("network::five_machines_by_name_count_words_for_a_sixth", |lab| {
        let mut lab = lab.machines(Kind::V4, &[]);
        lab.master();
        lab.workers(&WORKERS);
        lab.wait_state(&WORKERS, "LIVE");
        lab.count_words("out", 2_000);
        for name in WORKERS {
            let worker = lab.worker(name).expect("it is listed");
            let address = worker["http_address"].as_str().expect("an address").to_owned();
            assert!(address.starts_with(&format!("{}:", lab.address(name))), "{address}");
        }
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn the_newer_kind_of_address_alone_is_enough() {
    inside("network::the_newer_kind_of_address_alone_is_enough", |lab| {
        let mut lab = lab.machines(Kind::V6, &[]);
        lab.master();
        lab.workers(&WORKERS);
        lab.wait_state(&WORKERS, "LIVE");
        lab.count_words("out", 2_000);
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_worker_that_speaks_to_its_master_over_loopback_is_fetched_from_by_others() {
    inside("network::a_worker_that_speaks_to_its_master_over_loopback_is_fetched_from_by_others", |lab| {
        let mut lab = lab.machines(Kind::V4, &[]);
        let [master, worker] = ["master", "worker-lab0"].map(|dir| lab.path(dir).display().to_string());
        lab.daemon("lab0", &["master", "--as-root", "--listen", "0.0.0.0:9001", "--dir", &master]);
        wait_for("the master to listen", || lab.path("master/access.json").exists().then_some(()));
        let beside = ["worker", "--as-root", "--master", "here:9001", "--name", "lab0", "--dir", &worker];
        lab.daemon("lab0", &beside);
        lab.workers(&["lab1"]);
        lab.wait_state(&["lab0", "lab1"], "LIVE");
        let worker = lab.worker("lab0").expect("it is listed");
        let address = worker["http_address"].as_str().expect("an address").to_owned();
        assert!(address.starts_with(&format!("{}:", lab.address("lab0"))), "{address}");
        let job = lab.count_words("out", 2_000);
        let attempts = lab.attempts(job["job"].as_str().expect("a job"));
        assert!(attempts.iter().all(|attempt| attempt["state"] == "SUCCEEDED"), "{attempts:?}");
        assert!(attempts.iter().any(|attempt| attempt["worker"] == "lab0"), "{attempts:?}");
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_worker_that_started_before_its_network_is_fetched_from_all_the_same() {
    inside("network::a_worker_that_started_before_its_network_is_fetched_from_all_the_same", |lab| {
        let mut lab = lab.machines(Kind::V4, &["lab2"]);
        lab.workers(&["lab1", "lab2"]);
        wait_for("lab2 to see that it has no network", || {
            lab.log("lab2").contains("the master cannot be reached").then_some(())
        });
        lab.master();
        lab.connect("lab2");
        lab.wait_state(&["lab1", "lab2"], "LIVE");
        let worker = lab.worker("lab2").expect("it is listed");
        assert!(worker["http_address"].as_str().is_some_and(|to| to.starts_with("10.77.0.12:")), "{worker}");
        let job = lab.count_words("out", 2_000);
        let job = job["job"].as_str().expect("a job").to_owned();
        let attempts = lab.attempts(&job);
        assert!(attempts.iter().all(|attempt| attempt["state"] == "SUCCEEDED"), "{attempts:?}");
        assert!(attempts.iter().any(|attempt| attempt["worker"] == "lab2"), "{attempts:?}");
    });
}
