//! What programs are written against.

pub(crate) mod application;
pub(crate) mod choices;
pub(crate) mod context;
pub(crate) mod error;
pub(crate) mod key_order;
pub(crate) mod line_length;
pub(crate) mod mapper;
pub(crate) mod properties;
pub(crate) mod record_format;
pub(crate) mod reducer;
pub mod text;
