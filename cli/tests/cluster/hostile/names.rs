//! Names: a second worker under one that is taken, a worker that claims its name for ever, words that steer a terminal.

use std::fs::File;
use std::process::{Child, Stdio};

use howdah_guards::{Guard, VARIABLE};
use howdah_proto::PROTOCOL;
use howdah_proto::v1::RegisterRequest;
use tonic::Status;

use super::attacker::Attacker;
use super::{Usual, expect_all_live, narrow, submit_program, without};
use crate::harness::{Cluster, Setup, howdah, wait_for};

/// An address for documentation; nothing answers there.
const ELSEWHERE: &str = "198.51.100.7:80";

/// Starts another worker as `worker-1`; whatever comes, it ends with the cluster.
fn start_impostor(cluster: &Cluster, setup: &Setup) -> Child {
    let log = File::create(cluster.path("impostor.err")).expect("create a file");
    howdah(&cluster.mark)
        .envs([setup.guards()])
        .args(["worker", "--master", &cluster.address, "--name", "worker-1", "--host", "worker-1", "--dir"])
        .arg(cluster.path("impostor"))
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("start a worker")
}

fn end(mut impostor: Child) {
    impostor.kill().expect("end the second worker");
    impostor.wait().expect("it ends");
}

/// Where the worker of this name serves.
fn place(cluster: &Cluster, name: &str) -> String {
    let workers = cluster.workers();
    let found = workers.iter().find(|worker| worker["name"] == name).expect("a worker of this name");
    found["http_address"].as_str().expect("an address").to_owned()
}

#[test]
fn a_second_worker_under_a_name_does_not_get_it_while_the_first_is_alive() {
    let cluster = Cluster::start(narrow());
    let usual = Usual::of(&cluster);
    let before = place(&cluster, "worker-1");
    let impostor = start_impostor(&cluster, &narrow());
    wait_for("the second worker to be refused", || {
        let said = std::fs::read_to_string(cluster.path("impostor.err")).unwrap_or_default();
        said.contains("the master refuses this worker").then_some(())
    });
    usual.submit(&cluster, "innocent").expect_right_bytes(&cluster);
    assert_eq!(place(&cluster, "worker-1"), before);
    expect_all_live(&cluster, 2);
    end(impostor);
}

#[test]
fn a_second_worker_takes_the_name_of_the_first_where_nobody_compares() {
    let setup = without(&[Guard::WorkerNames]);
    let cluster = Cluster::start(setup.clone());
    let before = place(&cluster, "worker-1");
    let impostor = start_impostor(&cluster, &setup);
    wait_for("the second worker to be `worker-1`", || (place(&cluster, "worker-1") != before).then_some(()));
    end(impostor);
}

/// One worker, and a master that notices within the test that another is gone.
fn lonely(setup: Setup) -> Setup {
    Setup { workers: 1, master_config: "[master.cluster]\nexpiry_ms = 3000\n".to_owned(), ..setup }
}

/// Registers as `worker-2`, whatever else is said, and goes.
fn register(cluster: &Cluster, said: RegisterRequest) -> Result<(), Status> {
    let attacker = Attacker::of(cluster);
    attacker.run(async {
        let request = RegisterRequest {
            name: "worker-2".to_owned(),
            host: "worker-2".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: PROTOCOL,
            ..said
        };
        attacker.worker().await.register(request).await.map(|_| ())
    })
}

/// Registers with the largest incarnation that there is.
fn claim_for_ever(cluster: &Cluster) {
    let said = RegisterRequest { http_address: ":9".to_owned(), incarnation: u64::MAX, ..RegisterRequest::default() };
    register(cluster, said).expect("the name is free");
    wait_for("the master to miss it", || (cluster.worker_state(1).as_deref() == Some("LOST")).then_some(()));
}

#[test]
fn an_incarnation_beyond_all_others_claims_no_name_for_ever() {
    let mut cluster = Cluster::start(lonely(narrow()));
    let usual = Usual::of(&cluster);
    claim_for_ever(&cluster);
    cluster.add_worker();
    expect_all_live(&cluster, 2);
    usual.submit(&cluster, "innocent").expect_right_bytes(&cluster);
    cluster.stop_and_replay();
}

#[test]
fn an_incarnation_beyond_all_others_keeps_its_name_where_lost_names_are_not_free() {
    let mut cluster = Cluster::start(lonely(without(&[Guard::LostNames])));
    claim_for_ever(&cluster);
    let worker = cluster.add_worker();
    wait_for("the true worker to be refused", || {
        cluster.worker_log(worker).contains("that was started later is registered").then_some(())
    });
}

/// Names another machine as the one that has its map outputs.
fn point_elsewhere(cluster: &Cluster) -> Result<(), Status> {
    register(
        cluster,
        RegisterRequest { http_address: ELSEWHERE.to_owned(), incarnation: 1, ..RegisterRequest::default() },
    )
}

#[test]
fn a_worker_cannot_have_others_fetch_from_another_machine() {
    let cluster = Cluster::start(lonely(narrow()));
    let usual = Usual::of(&cluster);
    let refused = point_elsewhere(&cluster).expect_err("it is not where the connection comes from");
    assert!(refused.message().contains("is not the worker's: its connection comes from 127.0.0.1"), "{refused}");
    usual.submit(&cluster, "innocent").expect_right_bytes(&cluster);
    expect_all_live(&cluster, 1);
    cluster.stop_and_replay();
}

#[test]
fn a_worker_has_others_fetch_from_another_machine_where_its_word_is_taken() {
    let cluster = Cluster::start(lonely(without(&[Guard::AnnouncedAddress])));
    point_elsewhere(&cluster).expect("nobody compares");
    assert_eq!(place(&cluster, "worker-2"), ELSEWHERE);
}

/// The end of one attempt as `job why` tells it, by a client with its guard and by one without.
#[test]
fn what_an_attempt_says_steers_no_terminal_unless_the_client_lets_it() {
    let cluster = Cluster::start(narrow());
    let usual = Usual::of(&cluster);
    let body = r#"read -r run
        printf '{"say":"failed","message":"all is well\\u001b[2J\\u009b31m\\u202e","counters":{},"fatal":true}\n' >&0
        exit 1"#;
    let job = submit_program(&cluster, body, &[]);
    let innocent = usual.submit(&cluster, "innocent");
    cluster.wait_job(&job, 1);
    innocent.expect_right_bytes(&cluster);
    let steers = |text: &str| text.contains(['\u{1b}', '\u{9b}', '\u{202e}']);
    for args in
        [&["job", "why", &job][..], &["job", "attempts", &job], &["job", "status", &job], &["job", "wait", &job]]
    {
        let said = cluster.run(args).all();
        assert!(!steers(&said), "{args:?}: {said:?}");
    }
    let why = ["job", "why", &job];
    assert!(cluster.run(&why).stdout.contains(r"all is well\u{1b}[2J"), "{}", cluster.run(&why).stdout);
    let raw = cluster.command(&why).env(VARIABLE, Guard::Escapes.name()).output().expect("run howdah");
    assert!(steers(&String::from_utf8_lossy(&raw.stdout)), "{raw:?}");
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}
