//! The SimMR paper: how near replays come to clusters (`accuracy`), what its distances of distributions are worth (`kl`)
//! and what deadline schedulers gain (`deadlines`).

pub(crate) mod accuracy;
pub(crate) mod deadlines;
pub(crate) mod kl;
