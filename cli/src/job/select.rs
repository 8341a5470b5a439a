//! Which jobs a command is about: ids, last numbers, ranges of them, or all that a filter finds.

use std::collections::HashSet;

use clap::Args;
use howdah_core::job::{ClusterId, JobId};
use howdah_proto::v1::{GetClusterRequest, JobStatus, ListJobsRequest};

use crate::client::{Client, is_final};
use crate::failure::{Failure, Outcome};

/// Ranges are a slip long before they are this long.
const MOST: u32 = 100_000;

/// Jobs that are not over, instead of named ones.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FilterArgs {
    /// All jobs that are not over
    #[arg(long)]
    pub(crate) all: bool,
    /// All jobs of this queue that are not over
    #[arg(long, value_name = "QUEUE")]
    pub(crate) queue: Option<String>,
    /// All jobs of this user that are not over
    #[arg(long, value_name = "USER")]
    pub(crate) user: Option<String>,
}

impl FilterArgs {
    fn is_given(&self) -> bool {
        self.all || self.queue.is_some() || self.user.is_some()
    }

    fn takes(&self, job: &JobStatus) -> bool {
        !is_final(&job.state)
            && self.queue.as_ref().is_none_or(|queue| *queue == job.queue)
            && self.user.as_ref().is_none_or(|user| *user == job.user)
    }
}

/// The printed ids of the jobs that were named or that the filter finds, each once, in order.
pub(crate) async fn select(client: &mut Client, named: &[String], filter: &FilterArgs) -> Outcome<Vec<String>> {
    match (named.is_empty(), filter.is_given()) {
        (true, false) => Err(Failure::usage("which jobs? none was named")
            .help("name them, as in `3 5-7 job_202611201200_0009`, or find them with --all, --queue or --user")),
        (false, true) => {
            Err(Failure::usage("jobs are named, and --all, --queue or --user are given: expected one of both"))
        }
        (true, true) => {
            let jobs = client.rpc.list_jobs(ListJobsRequest {}).await?.into_inner().jobs;
            Ok(jobs.into_iter().filter(|job| filter.takes(job)).map(|job| job.job).collect())
        }
        (false, false) => {
            let words = named.iter().map(|word| Word::read(word)).collect::<Outcome<Vec<Word<'_>>>>()?;
            let cluster = match words.iter().any(|word| matches!(word, Word::Numbers(..))) {
                true => Some(ClusterId(client.rpc.get_cluster(GetClusterRequest {}).await?.into_inner().cluster_id)),
                false => None,
            };
            Ok(ids(&words, cluster))
        }
    }
}

/// What one word names.
#[derive(Debug, PartialEq, Eq)]
enum Word<'a> {
    Id(&'a str),
    Numbers(u32, u32),
}

impl Word<'_> {
    fn read(text: &str) -> Outcome<Word<'_>> {
        if let Ok(number) = text.parse() {
            return Ok(Word::Numbers(number, number));
        }
        let Some((first, last)) = text.split_once('-') else { return Ok(Word::Id(text)) };
        let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) else { return Ok(Word::Id(text)) };
        if first > last || last - first >= MOST {
            return Err(Failure::usage(format!(
                "jobs `{text}`: expected the smaller number first, and at most {MOST} jobs"
            )));
        }
        Ok(Word::Numbers(first, last))
    }
}

fn ids(words: &[Word<'_>], cluster: Option<ClusterId>) -> Vec<String> {
    let (mut all, mut known) = (Vec::new(), HashSet::new());
    let mut add = |id: String| {
        if known.insert(id.clone()) {
            all.push(id);
        }
    };
    for word in words {
        match (word, cluster) {
            (Word::Id(id), _) => add((*id).to_owned()),
            (Word::Numbers(first, last), Some(cluster)) => {
                (*first..=*last).for_each(|number| add(cluster.job(JobId(number))));
            }
            (Word::Numbers(..), None) => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_numbers_and_ranges_name_each_job_once() {
        let words = ["3", "2-4", "job_202611201200_0009"].map(|word| Word::read(word).expect("a word"));
        let cluster = ClusterId(202_611_201_200);
        let expected =
            [cluster.job(JobId(3)), cluster.job(JobId(2)), cluster.job(JobId(4)), "job_202611201200_0009".to_owned()];
        assert_eq!(ids(&words, Some(cluster)), expected);
        assert!(Word::read("7-3").is_err());
        assert!(Word::read("1-4000000000").is_err());
        assert_eq!(Word::read("job_1-2").expect("an id"), Word::Id("job_1-2"));
    }

    #[test]
    fn a_filter_finds_only_jobs_that_are_not_over() {
        let job = |state: &str, queue: &str| JobStatus {
            state: state.to_owned(),
            queue: queue.to_owned(),
            user: "ann".to_owned(),
            ..JobStatus::default()
        };
        let all = FilterArgs { all: true, ..FilterArgs::default() };
        assert!(all.takes(&job("RUNNING", "a")) && all.takes(&job("PREP", "b")) && !all.takes(&job("KILLED", "a")));
        let some = FilterArgs { queue: Some("a".to_owned()), user: Some("ann".to_owned()), ..FilterArgs::default() };
        assert!(some.takes(&job("RUNNING", "a")) && !some.takes(&job("RUNNING", "b")));
    }
}
