//! Tests over real clusters: daemons and attempts as processes of the executable, several clusters at a time.
//!
//! `cargo test --workspace --test cluster [NAME]`; some of them run once more by `cargo xtask release`. The large inputs are
//! 48 MiB, in release builds 1 GiB, and a quarter of it where one job runs in many variants; `HOWDAH_TEST_MIB=64` sets their size.

mod apps;
mod black_holes;
mod calibration;
mod clocks;
mod control;
#[path = "../disks/mod.rs"]
mod disks;
mod documents;
mod dying;
mod epochs;
mod external;
mod failures;
mod following;
mod hadoop;
#[path = "../halt/mod.rs"]
mod halt;
mod harness;
mod hdfs;
mod hdfs_output;
mod hostile;
mod http_interface;
mod interop;
mod json_fields;
mod kept_outputs;
mod large_tasks;
mod leftovers;
mod locality;
mod long_life;
mod machines;
mod many_keys;
mod master_kills;
mod notices;
#[path = "../permitted/mod.rs"]
mod permitted;
mod plans;
mod planted;
mod prediction;
mod requirements;
mod resubmission;
mod retention;
mod same_bytes;
mod schedulers;
mod snapshots;
mod speculative_attempts;
mod steering;
mod validation;
mod vitals;
#[path = "../waiting/mod.rs"]
mod waiting;
