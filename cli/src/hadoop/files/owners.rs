//! Names of files' owners and groups, each asked for once in a listing; those that nobody knows are numbers.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use howdah_proto::names::{group_name, user_name};

type Known = Mutex<BTreeMap<u32, String>>;

pub(super) fn user(uid: u32) -> String {
    static USERS: Known = Mutex::new(BTreeMap::new());
    name(&USERS, uid, user_name)
}

pub(super) fn group(gid: u32) -> String {
    static GROUPS: Known = Mutex::new(BTreeMap::new());
    name(&GROUPS, gid, group_name)
}

fn name(known: &Known, id: u32, ask: impl FnOnce(u32) -> Option<String>) -> String {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(id).or_insert_with(|| ask(id).unwrap_or_else(|| id.to_string())).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_no_name_is_a_number_and_nobody_is_asked_for_twice() {
        assert_eq!((user(0), group(0)), ("root".to_owned(), "root".to_owned()));
        assert_eq!((user(3_999_999_998), group(3_999_999_998)), ("3999999998".to_owned(), "3999999998".to_owned()));
        let known = Known::default();
        assert_eq!(name(&known, 7, |_| Some("ann".to_owned())), "ann");
        assert_eq!(name(&known, 7, |_| panic!("it is known")), "ann");
    }
}
