//! Names out of a list, as a setting, a flag or a request gives them.
//!
//! A list is a table of names, each with what makes the thing; whatever else needs the names takes them from it.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use howdah_core::schedulers::nearest::instead;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The names of a table, in its order.
pub(super) const fn names<Make, const N: usize>(table: &[(&'static str, Make)]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = table[at].0;
        at += 1;
    }
    names
}

/// What is listed.
pub trait List {
    /// What one of them is called, for errors.
    const WHAT: &'static str;
    /// Their names: first the one that counts where none is chosen.
    const NAMES: &'static [&'static str];
}

/// A name of the list, so that what it stands for is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<L>(&'static str, PhantomData<L>);

/// The list has none of that name. Whoever says so names it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such {what}, {instead}")]
pub struct NoSuchName {
    what: &'static str,
    instead: String,
}

impl<L: List> Name<L> {
    /// All of them, in the order of the list.
    pub fn all() -> impl Iterator<Item = Name<L>> {
        L::NAMES.iter().map(|name| Name(name, PhantomData))
    }

    /// As it is listed.
    pub(super) fn text(self) -> &'static str {
        self.0
    }
}

impl<L: List> Default for Name<L> {
    fn default() -> Name<L> {
        Name(L::NAMES[0], PhantomData)
    }
}

impl<L: List> FromStr for Name<L> {
    type Err = NoSuchName;

    fn from_str(name: &str) -> Result<Name<L>, NoSuchName> {
        let none = || NoSuchName { what: L::WHAT, instead: instead(name, L::NAMES.iter().copied()) };
        Name::all().find(|known| known.0 == name).ok_or_else(none)
    }
}

impl<'de, L: List> Deserialize<'de> for Name<L> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Name<L>, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl<L> Serialize for Name<L> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<L> fmt::Display for Name<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}
