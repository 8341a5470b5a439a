//! The policy's allocation file, read again while the master runs.
//!
//! The file is looked at every two seconds and taken over when it has changed and two looks agree, so that one that
//! is being written is not read in halves; an invalid one is reported once and the old allocation stays.
//! `Deviation:` Hadoop looks every ten seconds and waits until the file is five seconds old; people who tune pools
//! should not have to. Source: `docs/hadoop.md#fair`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use howdah_core::schedulers::SchedulerError;
use howdah_core::schedulers::registry::Params;
use howdah_core::tracker::{Input, SchedulerChoice};
use howdah_proto::settled::Settled;

use crate::engine::{CoreError, CoreHandle};
use crate::policies;

/// Between two looks at the file.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The policy in charge and its parameters, for pages: the core knows policies only by what they do.
#[derive(Clone, Debug)]
pub(crate) struct InForce(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    known: Mutex<Known>,
    /// Policies are put in charge one after another: what people say is not undone by a file that was read before.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Known {
    choice: SchedulerChoice,
    /// Someone has put a policy in charge: what the configuration and its file say holds no more.
    set: bool,
    /// Why the allocation file as it is now is not in force.
    refused: Option<String>,
}

impl InForce {
    /// What a master starts with; `set` if that is not what its configuration says.
    pub(crate) fn new(choice: SchedulerChoice, set: bool) -> InForce {
        let known = Mutex::new(Known { choice, set, refused: None });
        InForce(Arc::new(Shared { known, turn: tokio::sync::Mutex::default() }))
    }

    /// As it is now.
    pub(crate) fn get(&self) -> SchedulerChoice {
        self.lock().choice.clone()
    }

    /// What people should know of the allocation file, if it says something else than what is in force.
    pub(crate) fn doubt(&self) -> Option<String> {
        self.lock()
            .refused
            .as_ref()
            .map(|why| format!("the allocation file is invalid, the old allocation stays: {why}"))
    }

    /// Whether the policy in charge is not the configuration's.
    fn is_set(&self) -> bool {
        self.lock().set
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why another policy, or other parameters, are not in charge.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SetError {
    /// They contradict each other.
    #[error(transparent)]
    Scheduler(#[from] SchedulerError),
    /// The core runs no program, and a recording could not ask it again at the same place.
    #[error("scheduler `external`: it decides from the start of a master on or not at all, expected another scheduler")]
    External,
    /// The core did not take them.
    #[error(transparent)]
    Core(#[from] CoreError),
}

/// Puts a policy in charge, whatever the configuration says, once the core has said that it would take it.
pub(crate) async fn set(core: &CoreHandle, choice: SchedulerChoice, in_force: &InForce) -> Result<(), SetError> {
    let _turn = in_force.0.turn.lock().await;
    put(core, &choice).await?;
    *in_force.lock() = Known { choice, set: true, refused: None };
    Ok(())
}

async fn put(core: &CoreHandle, choice: &SchedulerChoice) -> Result<(), SetError> {
    if choice.name == policies::EXTERNAL {
        return Err(SetError::External);
    }
    let wanted = choice.clone();
    core.ask(move |view| view.tracker.check_scheduler(&wanted)).await??;
    tracing::info!(scheduler = choice.name, "the scheduler has other parameters, or is another one, from now on");
    core.request(Input::SetScheduler(Box::new(choice.clone()))).await?;
    Ok(())
}

/// Follows the allocation file that `named` names; `first` is what the policy was made of. Ends when someone else has
/// set the scheduler: its parameters are theirs then.
pub(crate) async fn follow(core: CoreHandle, name: String, named: Params, first: Params, in_force: InForce) {
    if !policies::names_a_file(&named) {
        return;
    }
    let mut file = Settled::new(Ok(first));
    // What the core could not take, as when its journal cannot be written: the file is right, and tried again.
    let mut untaken: Option<SchedulerChoice> = None;
    let mut looks = tokio::time::interval(LOOK_EVERY);
    loop {
        looks.tick().await;
        // On a thread that may wait: it may lie on a share that hangs.
        let (policy, params) = (name.clone(), named.clone());
        let read = tokio::task::spawn_blocking(move || policies::with_files(&policy, &params));
        let Ok(read) = read.await else { return };
        let look = read.map_err(|error| error.to_string());
        let _turn = in_force.0.turn.lock().await;
        if in_force.is_set() {
            return;
        }
        let wanted = match (file.look(look), untaken.take()) {
            (None, None) => continue,
            (None, Some(choice)) => Ok(choice),
            (Some(Ok(params)), _) => Ok(SchedulerChoice { name: name.clone(), params: params.clone() }),
            (Some(Err(error)), _) => Err(error.clone()),
        };
        let refused = match wanted {
            // It may say again what it said before it was refused.
            Ok(choice) if choice == in_force.get() => None,
            Ok(choice) => match put(&core, &choice).await {
                Ok(()) => {
                    in_force.lock().choice = choice;
                    None
                }
                Err(SetError::Core(error)) => {
                    tracing::warn!(%error, "the allocation file cannot be taken over yet");
                    untaken = Some(choice);
                    continue;
                }
                Err(error) => Some(error.to_string()),
            },
            Err(error) => Some(error),
        };
        if let Some(error) = &refused {
            tracing::error!(error, "the allocation file is invalid; the old allocation stays");
        }
        in_force.lock().refused = refused;
    }
}
