//! Names of users and groups: from `/etc/passwd` and `/etc/group`, else from the machine's name service, asked as a program.

use std::fmt;

use super::getent;
use crate::v1::User;

/// The name of an account, if anybody knows one.
pub fn user_name(uid: u32) -> Option<String> {
    name_of("/etc/passwd", "passwd", uid)
}

/// The name of a group, likewise.
pub fn group_name(gid: u32) -> Option<String> {
    name_of("/etc/group", "group", gid)
}

fn name_of(file: &str, database: &str, id: u32) -> Option<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    name_in(&text, id).or_else(|| name_in(&getent::line(database, id)?, id))
}

impl User {
    /// As whom this process runs. The name service may take its time.
    pub fn own() -> User {
        let id = nix::unistd::geteuid().as_raw();
        User { id, name: user_name(id).unwrap_or_default() }
    }
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let User { id, name } = self;
        if name.is_empty() { write!(f, "user {id}") } else { write!(f, "user {name} ({id})") }
    }
}

/// Lines are `name:password:ID:…`.
fn name_in(text: &str, id: u32) -> Option<String> {
    text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let own: u32 = fields.nth(1)?.parse().ok()?;
        (own == id && !name.is_empty()).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_found_by_their_number() {
        let text = "root:x:0:0:root:/root:/bin/sh\nnonsense\n:x:7:7::/:\nann:x:1000:1000::/srv/ann:/bin/sh\n";
        assert_eq!(name_in(text, 0).as_deref(), Some("root"));
        assert_eq!(name_in(text, 1_000).as_deref(), Some("ann"));
        assert_eq!(name_in(text, 7), None);
        assert_eq!(name_in(text, 100), None);
    }

    #[test]
    fn a_number_that_nobody_has_has_no_name() {
        assert_eq!(user_name(0).as_deref(), Some("root"));
        assert_eq!(user_name(3_999_999_999), None);
        assert_eq!(group_name(0).as_deref(), Some("root"));
        assert_eq!(group_name(3_999_999_999), None);
    }
}
