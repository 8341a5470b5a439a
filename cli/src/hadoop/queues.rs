//! `mapred queue` and `hadoop queue`: what JobQueueClient prints of queues, for those that the cluster has.

use howdah_proto::v1::{ListQueuesRequest, QueueInfo};

use super::site::Site;
use super::{Ended, jobs, say};
use crate::client::is_final;
use crate::failure::{Failure, Outcome};

const USAGE: &str = "mapred queue -list | -info QUEUE [-showJobs]";

pub(super) async fn run(mut site: Site, words: &[&str]) -> Ended {
    let generic = super::options::generic(&mut site, words, &[])?.without_files("queue")?;
    let words: Vec<&str> = generic.rest.iter().map(String::as_str).collect();
    let mut client = site.connect().await?;
    let (wanted, with_jobs) = match words.as_slice() {
        ["-list"] => (None, false),
        ["-info", queue] => (Some(*queue), false),
        ["-info", queue, "-showJobs"] => (Some(*queue), true),
        _ => {
            return Err(Failure::usage(format!("queue {}: not supported here", words.join(" "))).help(USAGE));
        }
    };
    let queues = client.rpc.list_queues(ListQueuesRequest {}).await?.into_inner().queues;
    let mut shown = queues.iter().filter(|queue| wanted.is_none_or(|wanted| wanted == queue.name)).peekable();
    if let (None, Some(wanted)) = (shown.peek(), wanted) {
        say(format!("Queue \"{wanted}\" does not exist."))?;
        return Ok(0);
    }
    shown.try_for_each(show)?;
    if with_jobs {
        jobs::list(&mut client, |job| !is_final(&job.state) && wanted == Some(job.queue.as_str())).await?;
    }
    Ok(0)
}

fn show(queue: &QueueInfo) -> Outcome<()> {
    let QueueInfo { name, waiting_jobs, running_jobs, .. } = queue;
    say(format!(
        "======================\nQueue Name : {name} \nQueue State : running \n\
         Scheduling Info : Running jobs: {running_jobs}, Waiting jobs: {waiting_jobs} "
    ))?;
    Ok(())
}
