//! How many jobs of each user are not over, counted as they come and go: the list of all is too long to be looked through for each
//! submission.

use std::collections::HashMap;

/// Users with jobs that are not over.
#[derive(Debug, Default)]
pub(super) struct Users(HashMap<String, usize>);

impl Users {
    /// A job of this user has entered.
    pub(super) fn entered(&mut self, user: &str) {
        match self.0.get_mut(user) {
            Some(jobs) => *jobs += 1,
            None => drop(self.0.insert(user.to_owned(), 1)),
        }
    }

    /// One of them is over.
    pub(super) fn ended(&mut self, user: &str) {
        if let Some(jobs) = self.0.get_mut(user) {
            *jobs -= 1;
            if *jobs == 0 {
                self.0.remove(user);
            }
        }
    }

    pub(super) fn live_jobs(&self, user: &str) -> usize {
        self.0.get(user).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_no_job_any_more_takes_no_room() {
        let mut users = Users::default();
        ["ann", "bob", "ann"].into_iter().for_each(|user| users.entered(user));
        assert_eq!((users.live_jobs("ann"), users.live_jobs("bob"), users.live_jobs("eve")), (2, 1, 0));
        ["ann", "bob", "eve"].into_iter().for_each(|user| users.ended(user));
        assert_eq!((users.live_jobs("ann"), users.live_jobs("bob"), users.0.len()), (1, 0, 1));
    }
}
