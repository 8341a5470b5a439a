//! All workloads by name.

use super::properties::Property;
use super::{
    Workload, examples, facebook_table, simmr_facebook, simmr_testbed, swim_like, synthetic, table_two, yahoo_m45,
};

const M45_TEXT: &str = "balanced-pools §4.1, Yahoo! M45";
const SYNTHETIC_TEXT: &str = "balanced-pools §4.1, Synthetic";

const BATCH_OPEN: &[&str] = &[
    "unit of durations: seconds",
    "negative draws: drawn again (or --negative)",
    "one factor per job for its maps and reduces",
    "at least one map and one reduce per job",
    "reduce durations include the shuffle (the paper's footnote 6)",
    "arrivals: all at once",
];
const SIMMR_OPEN: &[&str] = &[
    "unit of durations: milliseconds",
    "job sizes: the table that the text points to, as balanced-pools Table 1 repeats it, drawn by its shares",
    "reduce durations include the shuffle",
    "arrivals: figure only, all at once unless --arrivals",
];
const TESTBED_OPEN: &[&str] = &[
    "task durations: figure only; means of ours, lognormal with deviations of 0.3 (maps) and 0.2 of the logarithm",
    "reduces: 64 a job, one wave; first shuffles half as long as typical ones; both grow with the data",
    "WikiTrends: one map for each hour of its month",
    "arrivals: all at once unless --arrivals (the paper's: exponential gaps, means figure only)",
];
const SIMMR_1148_OPEN: &[&str] = &[
    "as simmr-facebook",
    "number of jobs: that of SimMR §IV-E, whose own trace is not public",
    "counts: scaled to 200,000 tasks in all, the size of this project's speed benchmark",
];
const TABLE1_OPEN: &[&str] = &[
    "durations: measured on the authors' testbed, not in the text; drawn from SimMR's Facebook lognormals",
    "order of jobs: random; arrivals: all at once",
];
const TABLE2_OPEN: &[&str] = &[
    "durations: solved from the table's job size and simulated run time",
    "size of grep with 50 maps: 155.32 s allows no durations, read as 1,553.2 s",
    "order of jobs: random; arrivals: all at once (the paper's load of 0.7: replay --arrivals load:0.7)",
];
const SWIM_OPEN: &[&str] = &[
    "the paper's task run times are not public: all distributions are ours, tuned to the stated properties",
    "order of jobs: random; arrivals: all at once (the paper's loads: replay --arrivals load:0.7)",
];
const EXAMPLE_OPEN: &[&str] = &["stages of one wave of equal tasks on 30 + 30 slots; unit of durations: seconds"];

const fn base(name: &'static str, about: &'static str, source: &'static str, jobs: usize) -> Workload {
    Workload {
        name,
        about,
        source,
        jobs,
        resizable: true,
        slots: (64, 64),
        open: &[],
        stated: &[],
        make: examples::two,
    }
}

const fn batch(
    name: &'static str,
    about: &'static str,
    source: &'static str,
    jobs: usize,
    make: fn(&super::Choices, usize) -> howdah_core::job::profile::Trace,
) -> Workload {
    // The testbed of balanced-pools §4.3: 64 workers of four map and four reduce slots.
    Workload { open: BATCH_OPEN, slots: (256, 256), make, ..base(name, about, source, jobs) }
}

const fn example(
    name: &'static str,
    about: &'static str,
    source: &'static str,
    jobs: usize,
    make: fn(&super::Choices, usize) -> howdah_core::job::profile::Trace,
) -> Workload {
    Workload { resizable: false, open: EXAMPLE_OPEN, slots: (30, 30), make, ..base(name, about, source, jobs) }
}

static ALL: [Workload; 24] = [
    Workload {
        open: SIMMR_OPEN,
        make: simmr_facebook::generate,
        ..base("simmr-facebook", "Facebook 2009: lognormal task durations, job sizes of ten kinds", "SimMR §V-C", 100)
    },
    Workload {
        open: SIMMR_1148_OPEN,
        resizable: false,
        make: simmr_facebook::generate_200k,
        ..base("simmr-facebook-1148", "the same with 1,148 jobs and 200,000 tasks in all", "SimMR §V-C, §IV-E", 1148)
    },
    Workload {
        open: TESTBED_OPEN,
        slots: simmr_testbed::SLOTS,
        make: simmr_testbed::generate,
        ..base("simmr-testbed", "six applications on three data sets each, for 64 + 64 slots", "SimMR §IV-C", 18)
    },
    batch("yahoo-m45-unimodal", "Yahoo! M45, durations scaled by 1 to 10", M45_TEXT, 100, yahoo_m45::unimodal),
    batch("yahoo-m45-bimodal", "Yahoo! M45, 80 % short and 20 % long jobs", M45_TEXT, 100, yahoo_m45::bimodal),
    Workload {
        open: TABLE1_OPEN,
        slots: (256, 256),
        stated: &[(Property::Jobs, 100.0), (Property::Maps, 21_610.0), (Property::Reduces, 1782.0)],
        make: facebook_table::generate,
        ..base(
            "facebook-table1",
            "Facebook 2009: ten job types of the Hive benchmark in exact numbers",
            "balanced-pools §4.1, Table 1",
            100,
        )
    },
    batch("synthetic1-unimodal", "long tasks, scaled by 1 to 10", SYNTHETIC_TEXT, 100, synthetic::one_unimodal),
    batch("synthetic1-unimodal-20", "the same, 20 jobs", SYNTHETIC_TEXT, 20, synthetic::one_unimodal),
    batch("synthetic1-unimodal-10", "the same, 10 jobs", SYNTHETIC_TEXT, 10, synthetic::one_unimodal),
    batch(
        "synthetic1-bimodal",
        "long tasks, 80 % short and 20 % long jobs",
        SYNTHETIC_TEXT,
        100,
        synthetic::one_bimodal,
    ),
    batch("synthetic1-bimodal-20", "the same, 20 jobs", SYNTHETIC_TEXT, 20, synthetic::one_bimodal),
    batch("synthetic1-bimodal-10", "the same, 10 jobs", SYNTHETIC_TEXT, 10, synthetic::one_bimodal),
    batch(
        "synthetic2-bimodal",
        "short tasks, 90 % short and 10 % long jobs",
        SYNTHETIC_TEXT,
        100,
        synthetic::two_bimodal,
    ),
    batch("synthetic2-bimodal-20", "the same, 20 jobs", SYNTHETIC_TEXT, 20, synthetic::two_bimodal),
    batch("synthetic2-bimodal-10", "the same, 10 jobs", SYNTHETIC_TEXT, 10, synthetic::two_bimodal),
    Workload {
        open: TABLE2_OPEN,
        slots: table_two::SLOTS,
        stated: &[(Property::Jobs, 50.0)],
        make: table_two::generate,
        ..base(
            "slowdown-table2",
            "grep, sort and word count of eight sizes, for 10 workers of 6 + 2 slots",
            "slowdown-variability §V-B, Table II",
            50,
        )
    },
    Workload {
        open: SWIM_OPEN,
        slots: (600, 200),
        stated: &[
            (Property::Jobs, 1121.0),
            (Property::SizeScv, 3.32),
            (Property::HalfLoadShare, 0.08),
            (Property::ReferenceHours, 60.0),
            (Property::ReferenceScv, 16.35),
        ],
        make: swim_like::generate,
        ..base(
            "slowdown-swim",
            "1,121 jobs with the heavy tail of a SWIM set, for 100 workers of 6 + 2 slots",
            "slowdown-variability §V-C",
            1121,
        )
    },
    example("example-two-jobs", "stages (20, 2) then (2, 20): makespan 42", "balanced-pools §3.1", 2, examples::two),
    example(
        "example-two-jobs-reversed",
        "stages (2, 20) then (20, 2): makespan 24",
        "balanced-pools §3.1",
        2,
        examples::two_reversed,
    ),
    example("example-equal-jobs", "two jobs (10, 10): FIFO 30, Fair 40", "balanced-pools §3.1", 2, examples::equal),
    example("example-five-jobs", "five jobs in the order of Figure 6", "balanced-pools §3.2", 5, examples::five),
    example(
        "example-five-jobs-johnson",
        "the five in Johnson's order: makespan 47",
        "balanced-pools §3.2",
        5,
        examples::five_johnson,
    ),
    example(
        "example-five-jobs-reversed",
        "the five in the reverse order: makespan 78",
        "balanced-pools §3.2",
        5,
        examples::five_reversed,
    ),
    example(
        "example-five-jobs-two-sizes",
        "Johnson's order, two jobs of 20 + 20 tasks: 47, two pools 40",
        "balanced-pools §3.3",
        5,
        examples::five_two_sizes,
    ),
];

/// All, in the order in which they are listed.
pub fn all() -> &'static [Workload] {
    &ALL
}

pub fn find(name: &str) -> Option<&'static Workload> {
    ALL.iter().find(|workload| workload.name == name)
}
