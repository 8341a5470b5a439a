//! Part files: a task's share of the job's output, written where nobody sees it until it is committed.
//!
//! The file is `<directory>/_temporary/<attempt>/part-r-00000` (maps of map-only jobs: `part-m-00000`), with a suffix
//! when compressed. Before the attempt asks for its commit the file is complete and, unless `howdah.output.sync` is
//! `false`, on disk: a job that was reported as succeeded keeps its output through a power cut. An output in an HDFS or in a bucket is written
//! here and handed over before that: see `remote`.

mod encoder;
mod part;
mod place;
mod remote;

pub(crate) use part::PartWriter;
pub(crate) use remote::{check_mark, hand_over};
