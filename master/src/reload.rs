//! The policy's allocation file, read again while the master runs.
//!
//! The file is looked at every two seconds and taken over when it has changed and two looks agree, so that one that
//! is being written is not read in halves; an invalid one is reported once and the old allocation stays.
//! `Deviation:` Hadoop looks every ten seconds and waits until the file is five seconds old; people who tune pools
//! should not have to. Source: `docs/hadoop.md#fair`.

use std::sync::atomic::{AtomicBool, Ordering};
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
pub(crate) struct InForce(Arc<Mutex<Known>>);

#[derive(Debug)]
struct Known {
    choice: SchedulerChoice,
    /// Why the allocation file as it is now is not in force.
    refused: Option<String>,
}

impl InForce {
    /// What a master starts with.
    pub(crate) fn new(choice: SchedulerChoice) -> InForce {
        InForce(Arc::new(Mutex::new(Known { choice, refused: None })))
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

    fn set(&self, choice: SchedulerChoice) {
        *self.lock() = Known { choice, refused: None };
    }

    /// Notes whether the file as it is now is refused, and why.
    fn note(&self, refused: Option<String>) {
        self.lock().refused = refused;
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Puts a policy in charge once the core has said that it would take it.
pub(crate) async fn set(core: &CoreHandle, choice: SchedulerChoice, in_force: &InForce) -> Result<(), SetError> {
    if choice.name == policies::EXTERNAL {
        return Err(SetError::External);
    }
    let wanted = choice.clone();
    core.ask(move |view| view.tracker.check_scheduler(&wanted)).await??;
    tracing::info!(scheduler = choice.name, "the scheduler has other parameters, or is another one, from now on");
    core.request(Input::SetScheduler(Box::new(choice.clone()))).await?;
    in_force.set(choice);
    Ok(())
}

/// Follows the allocation file that `named` names; `first` is what the policy was made of. Ends when someone else has
/// set the scheduler: its parameters are theirs then.
pub(crate) async fn follow(
    core: CoreHandle,
    name: String,
    named: Params,
    first: Params,
    set_by_others: Arc<AtomicBool>,
    in_force: InForce,
) {
    if !policies::names_a_file(&named) {
        return;
    }
    let mut file = Settled::new(Ok(first));
    let mut looks = tokio::time::interval(LOOK_EVERY);
    loop {
        looks.tick().await;
        if set_by_others.load(Ordering::Relaxed) {
            return;
        }
        let look = policies::with_files(&name, &named).map_err(|error| error.to_string());
        let refused = match file.look(look) {
            None => continue,
            Some(Ok(params)) => {
                let choice = SchedulerChoice { name: name.clone(), params: params.clone() };
                // It may say again what it said before it was refused.
                if choice == in_force.get() {
                    None
                } else {
                    set(&core, choice, &in_force).await.err().map(|error| error.to_string())
                }
            }
            Some(Err(error)) => Some(error.clone()),
        };
        if let Some(error) = &refused {
            tracing::error!(error, "the allocation file is invalid; the old allocation stays");
        }
        in_force.note(refused);
    }
}
