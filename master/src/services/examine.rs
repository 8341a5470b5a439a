//! What every worker sees of its machine, of the others and of shared folders, for `howdah doctor`.

use howdah_core::job::limits;
use howdah_proto::v1;
use howdah_proto::v1::look::At;
use tokio::task::JoinSet;
use tonic::Status;

use super::{SharedRef, names, own_machine, status};
use crate::peers::{self, Peer};

/// Other workers that one of them tries at most.
const OTHERS: usize = 32;

/// Has all workers look, and waits for them.
pub(super) async fn examine(shared: &SharedRef, request: v1::ExamineRequest) -> Result<v1::ExamineResponse, Status> {
    if request.shares.len() > limits::SHARES {
        let (n, most) = (request.shares.len(), limits::SHARES);
        let message = format!("{n} folders are to be looked at, expected at most {most}");
        return Err(Status::invalid_argument(message));
    }
    for share in &request.shares {
        names::check("folder", &share.folder, limits::PATH_BYTES)?;
        names::check("file's name", &share.name, limits::NAME_BYTES)?;
        names::check("file's text", &share.text, limits::NAME_BYTES)?;
    }
    let _turn = shared.examinations.acquire().await.map_err(|e| status::internal("wait for a turn", e))?;
    let peers = shared.questions.ask(Peer::list).await.map_err(status::core)?;
    let mut looks = JoinSet::new();
    for (index, by) in peers.iter().enumerate() {
        let mut of_one = vec![("machine", String::new(), At::Machine(v1::OwnMachine {}))];
        // Not the same few by all of them.
        let others = peers.iter().cycle().skip(index + 1).take(OTHERS.min(peers.len() - 1));
        of_one.extend(others.map(|of| ("worker", of.name.to_string(), At::Reach(of.address.to_string()))));
        let shares = request.shares.iter().cloned();
        of_one.extend(shares.map(|share| ("share", share.folder.clone(), At::Share(share))));
        for (number, (what, at, look)) in of_one.into_iter().enumerate() {
            let (shared, by) = (shared.clone(), by.clone());
            looks.spawn(async move {
                let saw = shared.looks.ask(by.worker, look, peers::PATIENCE).await;
                ((index, number), sight(&by, what, at, saw))
            });
        }
    }
    let mut sights = looks.join_all().await;
    sights.sort_by_key(|(place, _)| *place);
    let sights = sights.into_iter().map(|(_, sight)| sight).collect();
    let dir = shared.run_dir.clone();
    let own = tokio::task::spawn_blocking(move || own_machine::look(&dir)).await;
    let master = own.map_err(|e| status::internal("look at the master's own machine", e))?;
    Ok(v1::ExamineResponse { sights, master: Some(master) })
}

fn sight(by: &Peer, what: &str, at: String, saw: Option<v1::SawRequest>) -> v1::Sight {
    let (found, problem, user) = match saw {
        Some(saw) => (saw.found, saw.problem, saw.user),
        None => (String::new(), format!("it did not say within {} s", peers::PATIENCE.as_secs()), None),
    };
    v1::Sight { worker: by.name.to_string(), what: what.to_owned(), at, found, problem, user }
}
