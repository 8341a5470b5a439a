//! What programs are written against.

pub(crate) mod application;
pub(crate) mod context;
pub(crate) mod error;
pub(crate) mod mapper;
pub(crate) mod properties;
pub(crate) mod reducer;
pub mod text;
