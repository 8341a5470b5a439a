//! One call to the master for each of many things, a number of them at a time.
//!
//! The master syncs its journal once for all that reach it while the sync before is under way, so calls side by side wait for few
//! syncs where calls one after the other wait for one each.

use std::future::Future;
use std::panic::resume_unwind;

use tokio::task::JoinSet;

/// Calls under way: as many questions as the master takes at a time.
const AT_A_TIME: usize = 64;

/// What came of the calls, in the order of `items`.
pub(crate) async fn side_by_side<T, F, A>(items: T, call: impl Fn(T::Item) -> F) -> Vec<A>
where
    T: IntoIterator,
    F: Future<Output = A> + Send + 'static,
    A: Send + 'static,
{
    let (mut items, mut under_way) = (items.into_iter().enumerate(), JoinSet::new());
    let mut answers = Vec::new();
    loop {
        while under_way.len() < AT_A_TIME
            && let Some((number, item)) = items.next()
        {
            let call = call(item);
            under_way.spawn(async move { (number, call.await) });
        }
        match under_way.join_next().await {
            None => break,
            Some(Ok(answer)) => answers.push(answer),
            Some(Err(error)) => resume_unwind(error.into_panic()),
        }
    }
    answers.sort_unstable_by_key(|(number, _)| *number);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Barrier;

    use super::*;

    #[tokio::test]
    async fn so_many_calls_are_under_way_and_no_more_and_answers_keep_their_order() {
        let now = Arc::<AtomicUsize>::default();
        // Each call waits until as many others are under way.
        let together = Arc::new(Barrier::new(AT_A_TIME));
        let answers = side_by_side(0..3 * AT_A_TIME, |number| {
            let (now, together) = (Arc::clone(&now), Arc::clone(&together));
            async move {
                assert!(now.fetch_add(1, Ordering::SeqCst) < AT_A_TIME);
                together.wait().await;
                // The later ones answer first.
                for _ in number..3 * AT_A_TIME {
                    tokio::task::yield_now().await;
                }
                now.fetch_sub(1, Ordering::SeqCst);
                number
            }
        });
        assert_eq!(answers.await, (0..3 * AT_A_TIME).collect::<Vec<_>>());
        assert!(side_by_side(Vec::<usize>::new(), |n| async move { n }).await.is_empty());
    }
}
