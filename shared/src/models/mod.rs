//! Models of durations: distributions, their fits and distances.

pub mod distribution;
pub mod divergence;
pub mod fit;
pub mod ks;
pub mod moments;
pub mod random;

pub use distribution::{Distribution, Negative};
pub use random::Random;
