//! What the two collectors share: their limit, their runs, and the merge into `file.out` at the end.

use howdah_core::job::quantity::Mebibytes;

use super::partition::Partition;
use crate::api::choices::{Combiner, MakePartitioner};
use crate::api::context::Context;
use crate::api::error::TaskError;
use crate::api::key_order::KeyOrder;
use crate::merge::{CombineStep, MergePlan, merge_runs};
use crate::segment::{Run, RunWriter, SegmentPlace, write_index};

/// A map's output in its local directory.
pub(crate) const MAP_OUTPUT: &str = "file.out";
pub(crate) const MAP_OUTPUT_INDEX: &str = "file.out.index";

/// Fewer spills than this are merged without running the program's combiner again (MR1
/// `min.num.spills.for.combine`).
const SPILLS_TO_COMBINE: usize = 3;

/// A map attempt's spills.
pub(crate) struct Spiller {
    pub(crate) context: Context,
    pub(crate) partition: Partition,
    pub(crate) combine: CombineStep,
    /// Bytes that a collector may hold.
    pub(crate) limit: usize,
    plan: MergePlan,
    runs: Vec<Run>,
}

impl Spiller {
    pub(crate) fn new(
        combiner: &Combiner,
        partitioner: Option<&MakePartitioner>,
        order: KeyOrder,
        context: &Context,
    ) -> Result<Spiller, TaskError> {
        let properties = context.properties();
        let Mebibytes(size) = properties.parse_or(
            &["io.sort.mb", "mapreduce.task.io.sort.mb"],
            Mebibytes(100),
            "a number of MiB from 1 to 2047",
        )?;
        let share = properties.parse_or::<f64>(
            &["io.sort.spill.percent", "mapreduce.map.sort.spill.percent"],
            0.8,
            "a number from 0.1 to 1",
        )?;
        let limit = (size.clamp(1, 2047) << 20) as usize;
        // A folding table may use all of it: it has no index to sort beside it.
        let folds = matches!(combiner, Combiner::Fold(_));
        let share = if folds { 1.0 } else { share.clamp(0.1, 1.0) };
        Ok(Spiller {
            context: context.clone(),
            partition: Partition::new(partitioner, context)?,
            combine: CombineStep::new(combiner, &order, context)?,
            limit: (limit as f64 * share) as usize,
            plan: MergePlan::new(order, context)?,
            runs: Vec::new(),
        })
    }

    /// The order of keys.
    #[inline]
    pub(crate) fn order(&self) -> &KeyOrder {
        &self.plan.order
    }

    /// Starts a spill.
    pub(crate) fn begin(&self) -> Result<RunWriter, TaskError> {
        self.context.beat()?;
        let path = self.plan.dir.join(format!("spill{}.out", self.runs.len()));
        RunWriter::create(path, self.plan.codec, &self.context)
    }

    /// Ends a spill.
    pub(crate) fn end(&mut self, run: RunWriter) -> Result<(), TaskError> {
        let run = run.finish()?;
        let records: u64 = run.places.iter().map(|place| place.records).sum();
        self.context.tally().spilled_records.add(records);
        self.context.log(&format!("spill {}: {records} records, {} bytes", self.runs.len(), run.bytes));
        self.runs.push(run);
        Ok(())
    }

    /// Merges all spills into `file.out` and writes its index. There must be at least one.
    pub(crate) fn finish(self) -> Result<(), TaskError> {
        let Spiller { context, mut combine, plan, mut runs, .. } = self;
        let output = plan.dir.join(MAP_OUTPUT);
        let merged = if runs.len() == 1 {
            let mut run = runs.remove(0);
            std::fs::rename(run.path(), &output).map_err(TaskError::io("rename", run.path()))?;
            run.path.clone_from(&output);
            run
        } else {
            let n = runs.len();
            if n < SPILLS_TO_COMBINE && matches!(combine, CombineStep::Reducer(_)) {
                combine = CombineStep::None;
            }
            let runs = plan.shrink(runs, "merge", &mut combine, &context)?;
            let merged = merge_runs(runs, output, &plan, &mut combine, &context)?;
            context.log(&format!("merged {n} spills: {} bytes", merged.bytes));
            merged
        };
        let index_bytes = write_map_index(&plan, &merged.places)?;
        let tally = context.tally();
        tally.file_bytes_written.add(index_bytes);
        tally.map_output_materialized_bytes.add(merged.bytes);
        Ok(())
    }
}

fn write_map_index(plan: &MergePlan, places: &[SegmentPlace]) -> Result<u64, TaskError> {
    write_index(&plan.dir.join(MAP_OUTPUT_INDEX), places)
}
