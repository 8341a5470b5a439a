//! The task library: what built-in applications and users' own Rust programs are written against.

pub mod umbilical;
