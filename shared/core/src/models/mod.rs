//! Models of durations: distributions, their fits and distances; bounds on what jobs take with so many slots; what a
//! machine's load and frequency do to a task.

pub mod bounds;
pub mod calibration;
pub mod distribution;
pub mod divergence;
pub mod fit;
pub mod frequency_curve;
pub mod johnson;
pub mod ks;
pub mod load_curve;
pub mod moments;
pub mod random;

pub use distribution::{Distribution, Negative};
pub use frequency_curve::FrequencyCurve;
pub use johnson::{JohnsonRank, Stages, Ties, johnson_order, printed_order, two_stage_makespan};
pub use load_curve::LoadCurve;
pub use random::Random;
