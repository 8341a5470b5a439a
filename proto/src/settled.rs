//! Following a file that people edit: what it says counts when it has changed and two looks agree, so that one that is
//! being written is not read in halves.

/// What a file said last, and what is in force of it.
#[derive(Clone, Debug)]
pub struct Settled<T> {
    in_force: T,
    last_look: T,
}

impl<T: Clone + PartialEq> Settled<T> {
    /// Begins with what is in force.
    pub fn new(in_force: T) -> Settled<T> {
        Settled { last_look: in_force.clone(), in_force }
    }

    /// Another look; what it saw, if that is to be in force from now on.
    pub fn look(&mut self, now: T) -> Option<&T> {
        let settled = now == self.last_look && now != self.in_force;
        self.last_look = now;
        if !settled {
            return None;
        }
        self.in_force.clone_from(&self.last_look);
        Some(&self.in_force)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_counts_once_when_two_looks_agree() {
        let mut file = Settled::new("old");
        assert_eq!(file.look("old"), None);
        assert_eq!(file.look("half"), None, "seen once");
        assert_eq!(file.look("whole"), None);
        assert_eq!(file.look("whole"), Some(&"whole"));
        assert_eq!(file.look("whole"), None, "in force already");
        assert_eq!(file.look("old"), None);
        assert_eq!(file.look("whole"), None, "as it was before the second look");
    }
}
