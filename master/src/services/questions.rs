//! Questions of clients to the core's thread, a few at a time.
//!
//! Workers' reports and clients' questions wait in one inbox, and a question can take the core some milliseconds: a list
//! of thousands of jobs, a fork for a forecast. Whoever asks thousands of them at a time must wait here, not before the
//! reports. Everything that a client can cause without end asks through this.

use std::sync::Arc;

use howdah_guards::Guard;
use tokio::sync::Semaphore;

use crate::engine::{CoreError, CoreHandle, View};

/// So many may be before a report in the inbox.
const AT_A_TIME: usize = 64;

/// See the module's documentation.
#[derive(Clone, Debug)]
pub(crate) struct Questions {
    core: CoreHandle,
    turns: Arc<Semaphore>,
}

impl Questions {
    pub(crate) fn new(core: CoreHandle) -> Questions {
        let turns = if Guard::Questions.stands() { AT_A_TIME } else { Semaphore::MAX_PERMITS };
        Questions { core, turns: Arc::new(Semaphore::new(turns)) }
    }

    /// Looks at the settled state when it is this question's turn.
    pub(crate) async fn ask<T, F>(&self, question: F) -> Result<T, CoreError>
    where
        T: Send + 'static,
        F: FnOnce(&View<'_>) -> T + Send + 'static,
    {
        let _turn = self.turns.acquire().await.map_err(|_| CoreError::Stopped)?;
        self.core.ask(question).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Message;

    #[tokio::test]
    async fn a_report_waits_behind_few_questions_however_many_are_asked() {
        let (send, inbox) = crossbeam_channel::bounded(2_000);
        let core = CoreHandle::new(send);
        let questions = Questions::new(core.clone());
        let mut asked = tokio::task::JoinSet::new();
        for _ in 0..1_000 {
            let questions = questions.clone();
            asked.spawn(async move { questions.ask(|_| ()).await });
        }
        // On this runtime of one thread each of them has come as far as it can when all had a turn.
        while inbox.len() < AT_A_TIME {
            tokio::task::yield_now().await;
        }
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
        core.send(Message::Look).await.unwrap();
        let mut answered = 0;
        let before = || std::iter::from_fn(|| inbox.try_recv().ok()).take_while(|m| !matches!(m, Message::Look));
        assert_eq!(before().count(), AT_A_TIME);
        // Those are answered, as far as they are concerned, and others come in their place until none is left.
        while let Some(done) = asked.join_next().await {
            assert_eq!(done.unwrap(), Err(CoreError::Stopped));
            answered += 1;
            before().for_each(drop);
        }
        assert_eq!(answered, 1_000);
    }
}
