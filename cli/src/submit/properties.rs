//! Properties that are most likely misspelt: `-D io.sort.mbb=200` changes nothing, and nobody would say so.
//!
//! A job may have properties of its own, which its code reads. So a name that nobody knows is no error; one that is a
//! slip or two away from a known one is worth a word.

/// So many slips make another name.
const SLIPS: usize = 2;

/// What the cluster, the task library and the applications read, under all of Hadoop's names.
const KNOWN: [&str; 107] = [
    "dfs.block.size",
    "dfs.blocksize",
    "howdah.block.size",
    "howdah.fault.attempt.fraction",
    "howdah.fault.seed",
    "howdah.job.follows",
    "howdah.job.size.ms",
    "howdah.output.sync",
    "howdah.shuffle.memory.mb",
    "io.sort.factor",
    "io.sort.mb",
    "io.sort.spill.percent",
    "job.local.dir",
    "map.input.file",
    "map.input.length",
    "map.input.start",
    "map.output.key.field.separator",
    "mapred.compress.map.output",
    "mapred.fairscheduler.pool",
    "mapred.inmem.merge.threshold",
    "mapred.input.dir.recursive",
    "mapred.job.id",
    "mapred.job.map.memory.mb",
    "mapred.job.name",
    "mapred.job.priority",
    "mapred.job.queue.name",
    "mapred.job.reduce.memory.mb",
    "mapred.job.reuse.jvm.num.tasks",
    "mapred.map.max.attempts",
    "mapred.map.output.compression.codec",
    "mapred.map.tasks",
    "mapred.map.tasks.speculative.execution",
    "mapred.mapper.regex",
    "mapred.mapper.regex.group",
    "mapred.max.map.failures.percent",
    "mapred.max.reduce.failures.percent",
    "mapred.max.split.size",
    "mapred.max.tracker.failures",
    "mapred.min.split.size",
    "mapred.output.compress",
    "mapred.output.compression.codec",
    "mapred.reduce.max.attempts",
    "mapred.reduce.parallel.copies",
    "mapred.reduce.slowstart.completed.maps",
    "mapred.reduce.tasks",
    "mapred.reduce.tasks.speculative.execution",
    "mapred.task.id",
    "mapred.task.is.map",
    "mapred.task.partition",
    "mapred.task.timeout",
    "mapred.text.key.partitioner.options",
    "mapred.textoutputformat.separator",
    "mapred.tip.id",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs",
    "mapreduce.input.fileinputformat.input.dir.recursive",
    "mapreduce.input.fileinputformat.split.maxsize",
    "mapreduce.input.fileinputformat.split.minsize",
    "mapreduce.job.id",
    "mapreduce.job.jvm.numtasks",
    "mapreduce.job.local.dir",
    "mapreduce.job.maps",
    "mapreduce.job.maxtaskfailures.per.tracker",
    "mapreduce.job.name",
    "mapreduce.job.priority",
    "mapreduce.job.queuename",
    "mapreduce.job.reduce.slowstart.completedmaps",
    "mapreduce.job.reduces",
    "mapreduce.job.user.name",
    "mapreduce.map.failures.maxpercent",
    "mapreduce.map.input.file",
    "mapreduce.map.input.length",
    "mapreduce.map.input.start",
    "mapreduce.map.maxattempts",
    "mapreduce.map.memory.mb",
    "mapreduce.map.output.compress",
    "mapreduce.map.output.compress.codec",
    "mapreduce.map.output.key.field.separator",
    "mapreduce.map.sort.spill.percent",
    "mapreduce.map.speculative",
    "mapreduce.output.fileoutputformat.compress",
    "mapreduce.output.fileoutputformat.compress.codec",
    "mapreduce.output.textoutputformat.separator",
    "mapreduce.partition.keypartitioner.options",
    "mapreduce.reduce.failures.maxpercent",
    "mapreduce.reduce.maxattempts",
    "mapreduce.reduce.memory.mb",
    "mapreduce.reduce.merge.inmem.threshold",
    "mapreduce.reduce.shuffle.parallelcopies",
    "mapreduce.reduce.speculative",
    "mapreduce.task.attempt.id",
    "mapreduce.task.id",
    "mapreduce.task.io.sort.factor",
    "mapreduce.task.io.sort.mb",
    "mapreduce.task.ismap",
    "mapreduce.task.partition",
    "mapreduce.task.timeout",
    "mapreduce.terasort.num-rows",
    "stream.addenvironment",
    "stream.jobconf.truncate.limit",
    "stream.map.input.field.separator",
    "stream.map.output.field.separator",
    "stream.non.zero.exit.is.failure",
    "stream.num.map.output.key.fields",
    "stream.num.reduce.output.key.fields",
    "stream.reduce.input.field.separator",
    "stream.reduce.output.field.separator",
    "stream.stderr.reporter.prefix",
];

/// A warning for each property that is nearly one of the known ones.
pub(super) fn doubts(define: &[(String, String)]) -> Vec<String> {
    define
        .iter()
        .filter_map(|(key, _)| Some((key, meant(key)?)))
        .map(|(key, near)| format!("warning: property `{key}` is none that howdah reads; did you mean `{near}`?"))
        .collect()
}

fn meant(key: &str) -> Option<&'static str> {
    if KNOWN.contains(&key) {
        return None;
    }
    let (slips, near) = KNOWN.iter().map(|near| (strsim::osa_distance(&key.to_lowercase(), near), *near)).min()?;
    (slips <= SLIPS).then_some(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_doubted_and_a_property_of_the_jobs_own_is_not() {
        let doubts = |key: &str| doubts(&[(key.to_owned(), "1".to_owned())]);
        assert_eq!(
            doubts("io.sort.mbb"),
            ["warning: property `io.sort.mbb` is none that howdah reads; did you mean `io.sort.mb`?"]
        );
        assert_eq!(doubts("mapred.reduce.task").len(), 1);
        assert_eq!(doubts("Mapreduce.Task.Timeout").len(), 1);
        for fine in
            ["io.sort.mb", "mapred.reduce.tasks", "my.own.threshold", "mapred.child.java.opts", "wordcount.case"]
        {
            assert_eq!(doubts(fine), Vec::<String>::new(), "{fine}");
        }
    }

    /// What the pages promise must not be doubted.
    #[test]
    fn every_property_of_the_guides_page_on_jobs_is_known() {
        let page = include_str!("../../../docs/guide/jobs.md");
        let cells =
            page.lines().filter(|line| line.starts_with("| `")).flat_map(|line| line.split('`').skip(1).step_by(2));
        let is_name =
            |word: &&str| ["mapred.", "mapreduce.", "io.sort.", "stream."].iter().any(|start| word.starts_with(start));
        let named: Vec<&str> = cells
            .filter(is_name)
            .filter(|word| word.chars().all(|c| c.is_ascii_lowercase() || ".-".contains(c)))
            .collect();
        assert!(named.len() > 10, "{named:?}");
        for name in named {
            assert_eq!(meant(name), None, "{name}");
        }
    }
}
