//! Merging more runs than may be open at once.

use std::path::PathBuf;

use super::combine::CombineStep;
use super::heap::Merge;
use crate::api::context::Context;
use crate::api::error::TaskError;
use crate::api::key_order::KeyOrder;
use crate::api::properties::Properties;
use crate::segment::{Codec, Run, RunWriter, SegmentReader};

/// How runs are merged.
#[derive(Clone)]
pub(crate) struct MergePlan {
    /// `io.sort.factor`: runs merged at once.
    pub(crate) factor: usize,
    /// Of what is written.
    pub(crate) codec: Codec,
    /// Where intermediate runs go.
    pub(crate) dir: PathBuf,
    /// Of keys.
    pub(crate) order: KeyOrder,
}

impl MergePlan {
    /// From the job's properties.
    pub(crate) fn new(order: KeyOrder, context: &Context) -> Result<MergePlan, TaskError> {
        let properties: &Properties = context.properties();
        let factor = properties.parse_or::<usize>(
            &["io.sort.factor", "mapreduce.task.io.sort.factor"],
            10,
            "a number of files from 2 to 500",
        )?;
        Ok(MergePlan {
            factor: factor.clamp(2, 500),
            codec: Codec::of_map_output(properties)?,
            dir: context.local_dir().to_owned(),
            order,
        })
    }

    /// How many of `n` runs the first pass merges, so that all later passes are full (MR1 Merger.getPassFactor).
    pub(crate) fn first_pass(&self, n: usize) -> usize {
        match (n - 1) % (self.factor - 1) {
            0 => self.factor,
            rest => rest + 1,
        }
    }

    /// Merges smallest runs until at most `factor` are left. `combine` says what happens to equal keys.
    pub(crate) fn shrink(
        &self,
        mut runs: Vec<Run>,
        name: &str,
        combine: &mut CombineStep,
        context: &Context,
    ) -> Result<Vec<Run>, TaskError> {
        let mut pass = 0;
        while runs.len() > self.factor {
            runs.sort_by_key(|run| run.bytes);
            let n = if pass == 0 { self.first_pass(runs.len()) } else { self.factor };
            let rest = runs.split_off(n.min(runs.len()));
            let path = self.dir.join(format!("{name}.{pass}"));
            let merged = merge_runs(runs, path, self, combine, context)?;
            runs = rest;
            runs.push(merged);
            pass += 1;
        }
        Ok(runs)
    }
}

/// Merges runs of equally many partitions into one at `path` and removes them.
pub(crate) fn merge_runs(
    runs: Vec<Run>,
    path: PathBuf,
    plan: &MergePlan,
    combine: &mut CombineStep,
    context: &Context,
) -> Result<Run, TaskError> {
    let mut writer = RunWriter::create(path, plan.codec, context)?;
    let partitions = runs.first().map_or(0, |run| run.places.len());
    for partition in 0..partitions {
        let mut readers = Vec::with_capacity(runs.len());
        for run in &runs {
            if run.places[partition].records > 0 {
                readers.push(SegmentReader::open(run.path(), run.places[partition])?);
            }
        }
        let mut merge = Merge::new(readers, plan.order.clone());
        writer = combine.write_segment(&mut merge, writer)?;
        let read: u64 = merge.readers().iter().map(|r| r.position().0).sum();
        context.tally().file_bytes_read.add(read);
    }
    let merged = writer.finish()?;
    let records: u64 = merged.places.iter().map(|place| place.records).sum();
    context.tally().spilled_records.add(records);
    runs.iter().for_each(Run::remove);
    Ok(merged)
}
