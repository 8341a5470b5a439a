//! Where output may lie, and what a promotion does with what a task planted there.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use howdah_proto::v1;
use tonic::Code;

use crate::fixture::{Cluster, FakeWorker, text_job};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn output_in_the_daemons_own_directories_is_refused_also_through_links() {
    let mut cluster = Cluster::start().await;
    let input = cluster.file("in/a", "word ");
    cluster.file("worker/keep", "");
    let worker = fs::canonicalize(cluster.path("worker")).unwrap();
    let mut helloing = FakeWorker::register(&mut cluster, "w1", 1, 1).await;
    let request = v1::RegisterRequest {
        name: "w1".to_owned(),
        incarnation: 2,
        directory: worker.to_str().unwrap().to_owned(),
        http_address: ":1".to_owned(),
        protocol: howdah_proto::PROTOCOL,
        ..Default::default()
    };
    helloing.client.register(request).await.unwrap();
    let master = cluster.master_dir();
    symlink(&master, cluster.path("link")).unwrap();
    for (output, whose) in [
        (master.join("out").to_str().unwrap().to_owned(), "the master's"),
        (cluster.path("link/deep/out"), "the master's"),
        (cluster.path("worker/out"), "worker `w1`'s"),
    ] {
        let error = cluster.submit(text_job(&input, &output, 1)).await.unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        assert!(error.message().contains(&format!("lies in {whose} own directory")), "{error}");
        assert!(!Path::new(&output).exists(), "{output}");
    }
    // Below a file nothing can be made: said at submission.
    let error = cluster.submit(text_job(&input, &cluster.path("in/a/out"), 1)).await.unwrap_err();
    assert!(error.message().contains("cannot be made: Not a directory"), "{error}");
    cluster.stop().await;
}

/// A map-only job whose task leaves links in its private output; beside it an innocent one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_that_a_task_planted_fail_its_job_and_touch_nothing_elsewhere() {
    let mut cluster = Cluster::start().await;
    let input = cluster.file("in/a", "word ");
    let mine = cluster.file("mine", "keep this");
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 0).await;
    for planted in ["_SUCCESS", "_temporary/{attempt}/part-m-00000"] {
        let output = cluster.path("attack");
        let job = cluster.submit(text_job(&input, &output, 0)).await.unwrap();
        let map = worker.next_launch().await;
        let attempt = format!("{}_m_000000_0", job.replace("job_", "attempt_"));
        let private = format!("{output}/_temporary/{attempt}");
        fs::create_dir_all(&private).unwrap();
        if planted == "_SUCCESS" {
            fs::write(format!("{private}/part-m-00000"), "word").unwrap();
        }
        symlink(&mine, format!("{output}/{}", planted.replace("{attempt}", &attempt))).unwrap();
        worker.commit(map).await;
        worker.succeed(map, 1).await;
        let status = cluster.wait(&job).await;
        assert_eq!(status.state, "FAILED", "{planted}: {}", status.why);
        cluster.until_gone(&output).await;
        assert_eq!(fs::read_to_string(&mine).unwrap(), "keep this", "{planted}");
    }
    let output = cluster.path("innocent");
    let job = cluster.submit(text_job(&input, &output, 0)).await.unwrap();
    let map = worker.next_launch().await;
    let attempt = format!("{}_m_000000_0", job.replace("job_", "attempt_"));
    cluster.file(&format!("innocent/_temporary/{attempt}/part-m-00000"), "word");
    worker.commit(map).await;
    worker.succeed(map, 1).await;
    assert_eq!(cluster.wait(&job).await.state, "SUCCEEDED");
    assert_eq!(fs::read_to_string(format!("{output}/part-m-00000")).unwrap(), "word");
    cluster.stop().await;
}
