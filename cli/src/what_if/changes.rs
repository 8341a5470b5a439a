//! From the flags of `what-if` to what the master is asked.

use std::time::Duration;

use howdah_master::policies;
use howdah_proto::v1::{HypotheticalJob, JobDeadline, PredictChanges, SetSchedulerRequest};

use crate::caller::user;
use crate::define::params;
use crate::failure::{Failure, Outcome};
use crate::units;
use crate::what_if::args::{Deadline, WhatIfArgs};

/// What is to be different.
pub(super) fn changes(args: &WhatIfArgs) -> Outcome<PredictChanges> {
    let nothing = args.scheduler.is_none()
        && args.workers == 0
        && args.submit.is_none()
        && args.deadline.is_empty()
        && args.kill.is_empty();
    if nothing {
        return Err(Failure::usage(
            "nothing is different: expected --scheduler, --workers, --submit, --deadline or --kill",
        ));
    }
    let scheduler = args.scheduler.as_ref().map(|name| -> Outcome<SetSchedulerRequest> {
        if name == policies::EXTERNAL {
            let said = "--scheduler external: a forecast does not start its program, expected another scheduler";
            return Err(Failure::usage(said));
        }
        let params = policies::with_files(name, &params(&args.define)?);
        let params = params.map_err(|error| Failure::usage(error.to_string()))?;
        Ok(SetSchedulerRequest { name: name.clone(), params: params.into_iter().collect() })
    });
    let own = own_deadline(args)?;
    let submit = args.submit.as_ref().map(|app| HypotheticalJob {
        name: args.name.clone().unwrap_or_else(|| app.clone()),
        application: app.clone(),
        user: user(),
        queue: args.queue.clone().unwrap_or_default(),
        priority: args.priority.map(|priority| priority.name().to_owned()).unwrap_or_default(),
        n_maps: args.maps.unwrap_or(0),
        n_reduces: args.reduces,
        bytes_per_map: args.split_size.unwrap_or(0),
        deadline_ms: own.map_or(0, |within| units::millis(within).max(1)),
    });
    let of_job = |one: &Deadline| Some(JobDeadline { job: one.job.clone()?, deadline_ms: units::millis(one.within) });
    Ok(PredictChanges {
        scheduler: scheduler.transpose()?,
        workers: args.workers,
        submit: submit.into_iter().collect(),
        kill: args.kill.clone(),
        enter: Vec::new(),
        deadlines: args.deadline.iter().filter_map(of_job).collect(),
    })
}

/// The deadline of the job that would be submitted.
fn own_deadline(args: &WhatIfArgs) -> Outcome<Option<Duration>> {
    let mut own = args.deadline.iter().filter(|one| one.job.is_none()).map(|one| one.within);
    let first = own.next();
    if first.is_some() && args.submit.is_none() {
        return Err(Failure::usage(
            "--deadline: found no job, expected JOB=DURATION, or --submit with its own deadline",
        ));
    }
    if own.next().is_some() {
        return Err(Failure::usage("--deadline: found two for the job of --submit, expected one"));
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: WhatIfArgs,
    }

    #[test]
    fn a_job_that_is_thought_of_is_the_callers_as_if_it_were_submitted() {
        let words = "what-if --submit sleep --maps 3 --priority HIGH --queue q --deadline 90s --deadline 7=2m";
        let line = Line::try_parse_from(words.split(' ')).expect("flags that are there");
        let asked = changes(&line.args).expect("it can be asked");
        let [job] = &asked.submit[..] else { panic!("one job: {asked:?}") };
        assert_eq!((&*job.name, &*job.user, &*job.queue, &*job.priority), ("sleep", &*user(), "q", "HIGH"));
        assert!(!job.user.is_empty() && job.deadline_ms == 90_000, "{job:?}");
        assert_eq!(asked.deadlines, [JobDeadline { job: "7".to_owned(), deadline_ms: 120_000 }]);
    }
}
