//! Reduces by phase: what is left of one that has shuffled is learnt by itself, so that a slow shuffle says nothing of it.

#[path = "../../core/tests/kit/mod.rs"]
mod kit;

use howdah_core::job::{JobId, Phase};
use howdah_core::time::{Span, Time};
use howdah_core::tracker::Input;
use howdah_planning::prediction::{
    Changes, Fallback, ForecastOptions, Learned, Learner, Part, TaskHistory, TaskPredictor, by_name, forecast,
};
use kit::{AttemptState, Cluster, Running, Succeeded, job_with, map, reduce};

/// A cluster of one worker that is learnt from.
struct Learning {
    cluster: Cluster,
    learner: Learner,
    history: TaskHistory,
}

impl Learning {
    fn new() -> Learning {
        let cluster = Cluster::new().workers(1, 1, 1);
        Learning { cluster, learner: Learner::default(), history: TaskHistory::default() }
    }

    /// Takes what happened since the last time.
    fn learn(&mut self) {
        let Learning { cluster, learner, history } = self;
        let effects = std::mem::take(&mut cluster.effects);
        let application = |_| "words".to_owned();
        learner.follow(cluster.now, &effects, cluster.tracker.state(), application, |learned: Learned| {
            learned.put_into(history);
        });
    }

    /// The worker says in what phase a job's reduce is, some seconds after it last did.
    fn after(&mut self, seconds: u64, job: JobId, phase: Phase, state: AttemptState) {
        self.cluster.advance(seconds * 1_000);
        self.learn();
        let id = reduce(job.0, 0, 0);
        self.cluster.puppets[0].attempts.insert(id, state);
        let mut report = self.cluster.report_of(0);
        report.attempts.iter_mut().filter(|status| status.attempt == id).for_each(|status| status.phase = phase);
        self.cluster.puppets[0].waiting = true;
        self.cluster.apply(&[Input::Report(Box::new(report))]);
        self.learn();
    }

    /// A job's reduce has just been launched.
    fn start(&mut self) -> JobId {
        let job = self.cluster.submit(job_with(1, 1, |conf| conf.commits_output = false));
        self.cluster.beat(0);
        self.learn();
        self.cluster.advance(1_000);
        self.learn();
        self.cluster.report(0, &[(map(job.0, 0, 0), Succeeded)]);
        self.learn();
        assert!(self.cluster.running_on(0).contains(&reduce(job.0, 0, 0)));
        job
    }

    /// A job whose reduce shuffles for 2 s, sorts for 1 s and reduces for 7 s.
    fn run(&mut self) {
        let job = self.start();
        self.after(0, job, Phase::Shuffle, Running);
        self.after(2, job, Phase::Sort, Running);
        self.after(1, job, Phase::Reduce, Running);
        self.after(7, job, Phase::Reduce, Succeeded);
        self.cluster.apply(&[Input::JobCommitted { job, ok: true }]);
        self.learn();
    }

    /// In how long the job is expected to be over.
    fn left(&self, job: JobId) -> Span {
        let model = by_name("linear").expect("it is listed");
        let predictor = TaskPredictor::new(&self.history, &*model, Fallback::default());
        let application = |_| "words".to_owned();
        let fork = self.cluster.tracker.fork();
        let now: Time = fork.state().now();
        let ahead = forecast(fork, &predictor, &application, &Changes::default(), &ForecastOptions::default());
        let ahead = ahead.expect("nothing is changed");
        let job = ahead.jobs.iter().find(|ahead| ahead.job == job).expect("it is not over");
        job.finish.expect("within the hour").since(now)
    }
}

#[test]
fn what_is_left_of_a_reduce_does_not_depend_on_how_long_it_shuffled() {
    let mut learning = Learning::new();
    for _ in 0..3 {
        learning.run();
    }
    let learnt: Vec<(Part, usize)> = learning.history.classes().map(|(class, n)| (class.part, n)).collect();
    let all = [Part::Map, Part::LaterReduce, Part::AfterShuffle, Part::AfterSort].map(|part| (part, 3));
    assert_eq!(learnt, all);
    let job = learning.start();
    learning.after(0, job, Phase::Shuffle, Running);
    assert_eq!(learning.left(job), Span::from_secs(10), "as the others");
    // The network is slow today.
    learning.after(30, job, Phase::Sort, Running);
    assert_eq!(learning.left(job), Span::from_secs(8));
    learning.after(1, job, Phase::Reduce, Running);
    assert_eq!(learning.left(job), Span::from_secs(7));
    learning.after(4, job, Phase::Reduce, Running);
    assert_eq!(learning.left(job), Span::from_secs(3));
}

#[test]
fn a_reduce_whose_phases_no_report_told_is_learnt_as_a_whole() {
    let mut learning = Learning::new();
    let job = learning.start();
    learning.after(5, job, Phase::Shuffle, Succeeded);
    assert!(learning.history.classes().all(|(class, _)| Part::TASKS.contains(&class.part)));
}
