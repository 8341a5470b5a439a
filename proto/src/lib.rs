//! The gRPC contract: generated types, and the only place where wire types meet domain types.
//!
//! `proto/howdah/v1/*.proto` is the contract and is commented like an API.

pub mod convert;
pub mod stop;

/// Generated from `proto/howdah/v1`.
#[expect(missing_docs, clippy::all, reason = "generated code; the .proto files are its documentation")]
pub mod v1 {
    tonic::include_proto!("howdah.v1");
}
