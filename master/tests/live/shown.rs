//! A client looks at what the master has made as its job's output, and the job enters only with its word.

use std::fs;
use std::path::Path;

use howdah_proto::v1;
use howdah_proto::v1::submit_news::News;
use howdah_proto::v1::submit_step::Step;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

use crate::fixture::{Cluster, generated, text_job};

/// A submission in the middle of it.
struct Asked {
    steps: mpsc::Sender<v1::SubmitStep>,
    news: Streaming<v1::SubmitNews>,
}

impl Asked {
    async fn begin(cluster: &mut Cluster, step: Step) -> Result<Asked, Status> {
        let (steps, receive) = mpsc::channel(4);
        steps.send(v1::SubmitStep { step: Some(step) }).await.unwrap();
        let news = cluster.client.submit_shown(ReceiverStream::new(receive)).await?.into_inner();
        Ok(Asked { steps, news })
    }

    async fn next(&mut self) -> Result<News, Status> {
        self.news.message().await.map(|news| news.and_then(|news| news.news).expect("news"))
    }

    async fn shown(&mut self) -> v1::Shown {
        match self.next().await {
            Ok(News::Shown(shown)) => shown,
            other => panic!("{other:?}"),
        }
    }

    async fn say(&self, enter: bool) {
        let step = Some(Step::Verdict(v1::ShownVerdict { enter }));
        self.steps.send(v1::SubmitStep { step }).await.unwrap();
    }
}

async fn jobs(cluster: &mut Cluster) -> usize {
    cluster.client.list_jobs(v1::ListJobsRequest {}).await.unwrap().into_inner().jobs.len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_shown_lies_in_the_output_until_the_job_enters() {
    let mut cluster = Cluster::start().await;
    let input = cluster.file("in/a", "word ");
    let output = cluster.path("deep/er/out");
    let mut asked = Asked::begin(&mut cluster, Step::Job(text_job(&input, &output, 0))).await.unwrap();
    let shown = asked.shown().await;
    assert!(Path::new(&shown.path).starts_with(&output) && !shown.host.is_empty(), "{shown:?}");
    assert_eq!(fs::read_to_string(&shown.path).unwrap(), shown.text);
    assert_eq!(jobs(&mut cluster).await, 0, "it has not entered");
    asked.say(true).await;
    let News::Job(job) = asked.next().await.unwrap() else { panic!("something is shown again") };
    let mark = fs::read_to_string(format!("{output}/_temporary/_job")).unwrap();
    assert_eq!((mark.trim(), Path::new(&shown.path).exists()), (&*job, false));
    assert_eq!(asked.news.message().await.unwrap(), None, "that was all");
    // Another one has another text; of a job that is over it goes the same way.
    cluster.client.kill_job(v1::KillJobRequest { job: job.clone() }).await.unwrap();
    cluster.wait(&job).await;
    let again = v1::ResubmitJobRequest { job, output: cluster.path("again"), ..Default::default() };
    let mut asked = Asked::begin(&mut cluster, Step::Again(again)).await.unwrap();
    let second = asked.shown().await;
    assert!(second.path.starts_with(&cluster.path("again")) && second.text != shown.text);
    asked.say(true).await;
    assert!(matches!(asked.next().await, Ok(News::Job(_))));
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_good_word_nothing_enters_and_nothing_is_left() {
    let mut cluster = Cluster::start().await;
    let input = cluster.file("in/a", "word ");
    for (n, says) in [
        Some(Step::Verdict(v1::ShownVerdict { enter: false })),
        Some(Step::Again(v1::ResubmitJobRequest::default())),
        None,
    ]
    .into_iter()
    .enumerate()
    {
        let (above, output) = (cluster.path(&format!("made-{n}")), cluster.path(&format!("made-{n}/for/it")));
        let mut asked = Asked::begin(&mut cluster, Step::Job(text_job(&input, &output, 0))).await.unwrap();
        asked.shown().await;
        assert!(Path::new(&output).is_dir());
        match says {
            Some(step) => {
                asked.steps.send(v1::SubmitStep { step: Some(step) }).await.unwrap();
                let refused = asked.next().await.unwrap_err();
                assert!([Code::Cancelled, Code::InvalidArgument].contains(&refused.code()), "{refused}");
                assert!(!Path::new(&above).exists(), "it is cleared away before the answer");
            }
            // It hangs up.
            None => {
                drop(asked);
                cluster.until_gone(&above).await;
            }
        }
        assert_eq!(jobs(&mut cluster).await, 0);
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_without_output_files_is_not_shown_and_what_is_no_job_is_refused() {
    let mut cluster = Cluster::start().await;
    let mut asked = Asked::begin(&mut cluster, Step::Job(generated(1))).await.unwrap();
    assert!(matches!(asked.next().await, Ok(News::Job(_))));
    let verdict = Step::Verdict(v1::ShownVerdict { enter: true });
    let refused = Asked::begin(&mut cluster, verdict).await.err().unwrap();
    assert_eq!(refused.code(), Code::InvalidArgument);
    // What is wrong with a job is said as ever.
    let mut asked = Asked::begin(&mut cluster, Step::Job(text_job("/absent", "/absent/out", 0))).await.unwrap();
    assert!(asked.next().await.unwrap_err().message().contains("/absent"));
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_too_many_look_others_are_shown_nothing_and_enter() {
    let mut cluster = Cluster::start().await;
    let input = cluster.file("in/a", "word ");
    let mut looking = Vec::new();
    let job = loop {
        assert!(looking.len() < 1_000, "there is no bound");
        let output = cluster.path(&format!("out-{}", looking.len()));
        let mut asked = Asked::begin(&mut cluster, Step::Job(text_job(&input, &output, 0))).await.unwrap();
        match asked.next().await.unwrap() {
            News::Shown(_) => looking.push(asked),
            News::Job(job) => break job,
        }
    };
    assert!(looking.len() >= 64 && jobs(&mut cluster).await == 1, "{} look beside {job}", looking.len());
    // One that is done makes room for the next.
    let mut first = looking.swap_remove(0);
    first.say(false).await;
    first.next().await.unwrap_err();
    let output = cluster.path("next");
    let mut asked = Asked::begin(&mut cluster, Step::Job(text_job(&input, &output, 0))).await.unwrap();
    asked.shown().await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_master_that_stops_leaves_nothing_of_what_is_looked_at() {
    let mut cluster = Cluster::start().await;
    let input = cluster.file("in/a", "word ");
    let place = tempfile::tempdir().unwrap();
    let output = place.path().join("out");
    let mut asked = Asked::begin(&mut cluster, Step::Job(text_job(&input, output.to_str().unwrap(), 0))).await.unwrap();
    asked.shown().await;
    let stopping = tokio::spawn(cluster.stop());
    let refused = asked.next().await.unwrap_err();
    assert_eq!(refused.code(), Code::Unavailable, "{refused}");
    stopping.await.unwrap();
    assert!(!output.exists());
}
