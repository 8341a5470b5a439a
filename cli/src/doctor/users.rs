//! As whom the daemons run: files on a shared folder belong to a number, and what one daemon made another one has to write.

use std::collections::BTreeMap;

use howdah_proto::v1::{MasterMachine, Sight, User};

use super::checks::Check;

/// The daemons together.
const OF: &str = "daemons";
const HELP: &str = "give the service's user one number on all machines, while no daemon runs: `usermod --uid NUMBER`, then `chown` its \
                    directories; files on a shared folder belong to the number, whatever its name";

/// One row for the master and all workers that said it; none where nobody did.
pub(super) fn compare(master: &MasterMachine, sights: &[Sight]) -> Option<Check> {
    let of_master = master.user.iter().map(|user| ("master", user));
    let of_workers = sights.iter().filter_map(|sight| Some((&*sight.worker, sight.user.as_ref()?)));
    let mut by_number: BTreeMap<u32, (&User, Vec<&str>)> = BTreeMap::new();
    for (who, user) in of_master.chain(of_workers) {
        by_number.entry(user.id).or_insert_with(|| (user, Vec::new())).1.push(who);
    }
    let all: Vec<_> = by_number.into_values().collect();
    match &all[..] {
        [] => None,
        [(user, _)] => Some(Check::good(OF, "user", format!("all run as {user}"))),
        several => {
            let those = |(user, who): &(&User, Vec<&str>)| format!("{} as {user}", who.join(", "));
            let problem = several.iter().map(those).collect::<Vec<_>>().join("; ");
            Some(Check::bad(OF, "user", format!("they run {problem}"), HELP.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(id: u32) -> Option<User> {
        Some(User { id, name: if id < 2_000 { "howdah".to_owned() } else { String::new() } })
    }

    #[test]
    fn users_of_one_name_and_two_numbers_are_two_and_a_worker_that_says_nothing_is_none() {
        let compared = |master: Option<User>, workers: &[Option<User>]| {
            let of = |(user, n): (&Option<User>, usize)| Sight {
                worker: format!("lab{n}"),
                what: "machine".to_owned(),
                user: user.clone(),
                ..Sight::default()
            };
            let sights: Vec<Sight> = workers.iter().zip(1..).map(of).collect();
            compare(&MasterMachine { user: master, ..MasterMachine::default() }, &sights)
        };
        assert!(compared(None, &[None]).is_none());
        let same = compared(user(998), &[user(998), None, user(998)]).expect("they said");
        assert_eq!((&*same.found, same.problem), ("all run as user howdah (998)", None));
        let other = compared(user(998), &[user(997), user(998), user(5_000)]).expect("they said");
        assert_eq!(
            other.problem.as_deref(),
            Some("they run lab1 as user howdah (997); master, lab2 as user howdah (998); lab3 as user 5000")
        );
    }
}
