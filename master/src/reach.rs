//! Whether others can fetch from a worker: the master tries, at registration and now and then.
//!
//! A worker behind a packet filter reaches the master and takes maps, and no reduce ever gets their output. The master
//! stands for the others here: what it cannot connect to within seconds is taken for unreachable, and what it reaches
//! again for reachable. Nothing of this runs on the core's thread.

use std::sync::Arc;
use std::time::Duration;

use howdah_core::job::WorkerId;
use howdah_core::time::Time;
use howdah_core::tracker::WorkerState;
use howdah_proto::dial;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::engine::{CoreHandle, Message};

/// One lost answer is no news.
const SECOND_LOOK: Duration = Duration::from_secs(1);
/// Workers looked at at a time.
const AT_A_TIME: usize = 64;

/// Says what is wrong with a worker's HTTP server as others see it; `None` when it answers.
pub(crate) async fn problem(address: &str) -> Option<String> {
    let said = dial::http(address).await.err()?;
    Some(format!("nobody can fetch from it: the master tried `{address}`: {said}"))
}

/// One worker to look at.
struct Place {
    worker: WorkerId,
    incarnation: u64,
    name: String,
    address: String,
    /// What was found last.
    problem: Option<String>,
}

/// Looks at all workers, again and again. Ends with the core.
pub(crate) async fn watch(core: CoreHandle, every: Duration) {
    let permits = Arc::new(Semaphore::new(AT_A_TIME));
    loop {
        tokio::time::sleep(every).await;
        let list = |view: &crate::engine::View<'_>| {
            // What others cannot reach is not looked at from here for a while: the way from here may be open.
            let now = Time::from_ms(crate::clock::now_ms_epoch());
            let looked_at = |row: &crate::tables::WorkerRow| row.state != WorkerState::Lost && row.shunned_until <= now;
            let here = view.tables.workers.iter().enumerate().filter(|(_, row)| looked_at(row));
            let place = |(number, row): (usize, &crate::tables::WorkerRow)| Place {
                worker: WorkerId(number as u32),
                incarnation: row.incarnation,
                name: row.name.to_string(),
                address: row.http_address.to_string(),
                problem: row.unreachable.clone(),
            };
            here.map(place).collect::<Vec<_>>()
        };
        let Ok(places) = core.ask(list).await else { return };
        let mut looks = JoinSet::new();
        for place in places {
            let (permits, core) = (Arc::clone(&permits), core.clone());
            looks.spawn(async move {
                let _permit = permits.acquire_owned().await;
                look(&core, place).await;
            });
        }
        while looks.join_next().await.is_some() {}
    }
}

async fn look(core: &CoreHandle, place: Place) {
    let mut found = problem(&place.address).await;
    if found.is_some() && place.problem.is_none() {
        tokio::time::sleep(SECOND_LOOK).await;
        found = problem(&place.address).await;
    }
    if found.is_some() != place.problem.is_some() {
        tell(core, &place.name, place.worker, place.incarnation, found).await;
    }
}

/// Lets the core and the pages know.
pub(crate) async fn tell(core: &CoreHandle, name: &str, worker: WorkerId, incarnation: u64, problem: Option<String>) {
    match &problem {
        Some(problem) => tracing::warn!(worker = name, problem, "a worker is unreachable"),
        None => tracing::info!(worker = name, "a worker can be reached again"),
    }
    // A core that stopped needs no news.
    let _ = core.send(Message::Reach { worker, incarnation, problem }).await;
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    #[tokio::test]
    async fn what_does_not_listen_or_does_not_speak_http_is_said() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let answers = |with: &'static [u8]| async move { with };
        for (with, good) in [(&b"HTTP/1.1 404 Not Found\r\n\r\n"[..], true), (b"SSH-2.0", false)] {
            let with = answers(with).await;
            let (asked, _) = tokio::join!(problem(&address), async {
                let (mut stream, _) = listener.accept().await.unwrap();
                stream.write_all(with).await.unwrap();
            });
            assert_eq!(asked.is_none(), good, "{asked:?}");
        }
        drop(listener);
        let asked = problem(&address).await.expect("nothing listens");
        assert!(
            asked.starts_with(&format!("nobody can fetch from it: the master tried `{address}`: connect")),
            "{asked}"
        );
    }
}
