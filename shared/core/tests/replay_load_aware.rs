//! The Load-Aware thesis's examples in replay, where workers differ by frequency and report every second; and what is
//! left of Hadoop's speculative attempts where one worker is slow. The core's side of the examples, report by report,
//! is in `schedulers/load_aware.rs`.

mod races;

use races::Race;

/// No minimum age, and a threshold that lets any task through that is behind at all, as the text assumes.
fn simple(rule: &str) -> String {
    format!("speculation={rule} speculation.age=0 speculation.gap=0.05")
}

// Thesis Fig. 1.1: the first worker is 1.5 times as fast; a task takes a minute there, 1.5 on the other.
#[test]
fn figure_1_1_the_second_jobs_task_runs_instead_of_a_copy_that_would_not_help() {
    let race = Race::new().worker(1.5).worker(1.0).job(4, 90).job(2, 90);
    let outcome = race.clone().rule("fifo", &simple("load-aware")).run();
    let story = outcome.story();
    assert_eq!(story[..5], ["0s w1 j1 m0", "0s w2 j1 m1", "60s w1 j1 m2", "90s w2 j1 m3", "120s w1 j2 m0"]);
    assert_eq!(
        outcome.seconds(),
        ["180s w1 j2 m1 again"],
        "job two's last task is on the slow worker: there a copy helps"
    );
    let hadoop = race.rule("fifo", &simple("hadoop")).run();
    assert_eq!(hadoop.seconds()[0], "120s w1 j1 m3 again");
    assert_eq!((outcome.finish_s(1), hadoop.finish_s(1)), (180.0, 180.0), "and job one is done no later");
    assert!(outcome.makespan_s() < hadoop.makespan_s(), "{} and {}", outcome.makespan_s(), hadoop.makespan_s());
    assert_eq!([&outcome, &hadoop].map(|outcome| outcome.report.jobs[0].costs.launched), [0, 1]);
}

// Thesis Fig. 2.5: five tasks on workers of 3000, 1000 and 1666 MHz, which take 1, 3 and 1.8 minutes.
#[test]
fn figure_2_5_the_copy_of_task_5_lets_the_job_end_at_minute_3() {
    let race = Race::new().worker(3.0).worker(1.0).worker(1.6667).job(5, 180);
    let outcome = race.clone().rule("fifo", &(simple("load-aware") + " load-aware.pending=all")).run();
    assert_eq!(outcome.seconds(), ["120s w1 j1 m4 again"]);
    assert_eq!(outcome.finish_s(1), 180.0);
    let hadoop = race.clone().rule("fifo", &simple("hadoop")).run();
    assert_eq!(hadoop.seconds()[0], "120s w1 j1 m1 again", "the first that is behind: of no use");
    // Where pending tasks are looked after too, task 5 waits 12 s for the fast worker and no copy is needed.
    let outcome = race.rule("fifo", &simple("load-aware")).run();
    assert_eq!((outcome.seconds().len(), outcome.finish_s(1)), (0, 180.0));
}

// Four workers, one of which takes five times as long, and a job with two tasks for each: Hadoop's rule starts a copy
// of the straggler, which helps, and one of a task that has only begun.
#[test]
fn the_copy_that_is_needed_stays() {
    let race = Race::new().worker(1.0).worker(1.0).worker(1.0).worker(0.2).job(8, 60);
    let outcome = race.clone().rule("load-aware", "").run();
    assert_eq!(outcome.seconds(), ["120s w2 j1 m3 again"]);
    assert_eq!(outcome.finish_s(1), 180.0);
    assert_eq!((outcome.report.costs.launched, outcome.report.costs.won), (1, 1));
    assert_eq!(race.run().finish_s(1), 300.0, "without it the slow worker holds the job up");
}
