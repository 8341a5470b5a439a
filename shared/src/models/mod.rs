//! Models of durations: distributions, their fits and distances.
