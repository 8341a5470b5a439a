//! Waiting for data, as given and by forecast, on real daemons: two workers, and an HDFS whose data is all beside the first.

use howdah_webhdfs::fake::FakeHdfs;

use crate::harness::{Cluster, Setup};
use crate::hdfs::{beside, data_local_maps};

/// A cluster of two workers with a map slot each, of which the first is on the host of all blocks, under Fair with a wait.
fn beside_the_first(hdfs: &FakeHdfs) -> Cluster {
    let setup = beside("nn.example:9000", &hdfs.address());
    Cluster::start(Setup { workers: 2, map_slots: 1, ..setup })
}

/// Runs a job of a map for each block of a file, each of so long; when its maps started, in milliseconds after the first one, and
/// how many of them were beside their data.
fn starts(cluster: &Cluster, file: &str, map_s: &str) -> (Vec<u64>, u64) {
    let mapper = cluster.script(&format!("mapper-{map_s}.sh"), &format!("sleep {map_s}; cat > /dev/null"));
    let output = cluster.output(&format!("out-{}", cluster.jobs().len()));
    let input = format!("hdfs://nn.example:9000/{file}");
    let job = cluster.submit(&["streaming", "--mapper", &mapper, "--input", &input, "--output", &output, "-r", "0"]);
    cluster.wait_job(&job, 0);
    let attempts = cluster.json(&["job", "attempts", &job]);
    let list = attempts["attempts"].as_array().expect("a list");
    let mut at: Vec<u64> = list.iter().filter_map(|one| one["started_ms_epoch"].as_u64()).collect();
    at.sort_unstable();
    (at.iter().map(|start| start - at[0]).collect(), data_local_maps(&cluster.status(&job)))
}

fn set(cluster: &Cluster, wait_ms: u32, forecast: bool) {
    let [wait, forecast] = [format!("locality.delay={wait_ms}"), format!("locality.forecast={forecast}")];
    cluster.run(&["scheduler", "set", "fair", "-D", &wait, "-D", &forecast]).expect_code(0);
}

// Maps of 7 s: the second slot beside the data comes 7 s after the first, later than a wait of 5 s lasts.
#[test]
fn a_job_waits_for_its_data_only_if_a_slot_beside_it_comes_in_time() {
    let hdfs = FakeHdfs::start(1);
    for (file, blocks) in [("one", 1), ("two", 2), ("four", 4)] {
        hdfs.put(&format!("/{file}"), "a line\n".repeat(1_000 * blocks), 7_000);
    }
    let cluster = beside_the_first(&hdfs);
    set(&cluster, 5_000, true);
    assert_eq!(starts(&cluster, "one", "7"), (vec![0], 1), "from here on it is known how long maps take");
    let (late, local) = starts(&cluster, "two", "7");
    assert!(late[1] < 4_000 && local == 1, "elsewhere at once, not {} ms later; {local} beside the data", late[1]);
    set(&cluster, 5_000, false);
    let (fixed, local) = starts(&cluster, "two", "7");
    assert!(fixed[1] > 4_500 && local == 1, "after its whole wait, not {} ms later; {local} beside the data", fixed[1]);
    set(&cluster, 60_000, true);
    let (soon, local) = starts(&cluster, "four", "1");
    assert!(soon[3] > 2_500 && local == 4, "one behind the other: {soon:?}; {local} beside the data");
    cluster.stop_and_replay();
}
