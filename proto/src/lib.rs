//! The gRPC contract: generated types, and the only place where wire types meet domain types.
//!
//! `proto/howdah/v1/*.proto` is the contract and is commented like an API.

pub mod bodies;
pub mod build;
pub mod connections;
pub mod convert;
pub mod dial;
pub mod incoming;
pub mod names;
pub mod service_manager;
pub mod settled;
mod start;
pub mod stop;

/// Bounds on everything that users and their programs can say: the one table of them.
pub use howdah_core::job::limits;

/// Largest message that masters, workers and clients send: a job of 100,000 splits or attempts fits. Clients
/// must raise their decoding limit to it (`max_decoding_message_size`), since tonic's default is 4 MiB.
pub const MAX_MESSAGE_BYTES: usize = 256 << 20;

/// What workers and masters of this version speak with each other. It grows when one of them could misunderstand the
/// other; new fields that old ones may leave unread do not count.
pub const PROTOCOL: u32 = 1;

/// Generated from `proto/howdah/v1`.
#[expect(missing_docs, clippy::all, reason = "generated code; the .proto files are its documentation")]
pub mod v1 {
    tonic::include_proto!("howdah.v1");
}
