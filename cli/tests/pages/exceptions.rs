//! The commands of the pages that these tests do not type: why, and where else they run.

/// A command that is not typed here.
pub(crate) struct Exception {
    pub(crate) page: &'static str,
    /// How its line starts; several commands of a page may be excepted by one of these.
    pub(crate) starts: &'static str,
    pub(crate) why: &'static str,
    /// Where it runs instead: a file of the repository and a word in it, such as a test's name.
    pub(crate) elsewhere: Option<(&'static str, &'static str)>,
}

const BUILDS: &str = "builds what is being tested, or runs tests and with them this one";
const LEFTOVERS: &str = "cli/tests/cluster/leftovers.rs";
const CALIBRATION: &str = "cli/tests/cluster/calibration.rs";
const VITALS: &str = "cli/tests/cluster/vitals.rs";
const MOVING: &str = "cli/tests/lab/moving.rs";
const MACHINES: &str = "cli/tests/cluster/machines.rs";

const fn builds(page: &'static str) -> Exception {
    Exception { page, starts: "cargo ", why: BUILDS, elsewhere: Some(("xtask/src/steps.rs", "cargo_test")) }
}

pub(crate) const EXCEPTIONS: &[Exception] = &[
    builds("README.md"),
    builds("CONTRIBUTING.md"),
    builds("docs/guide/installing.md"),
    builds("docs/guide/tutorial.md"),
    builds("docs/reliability.md"),
    Exception {
        page: "README.md",
        starts: "howdah submit target/",
        why: "the example is built by the command before it",
        elsewhere: Some(("cli/tests/cluster/documents.rs", "the_readme_shows_the_example_program_as_it_is")),
    },
    Exception {
        page: "README.md",
        starts: "howdah load ",
        why: "keeps the cores busy for five minutes",
        elsewhere: Some((VITALS, "load_in_one_workers_group_is_that_workers_foreign_load_alone")),
    },
    Exception {
        page: "docs/guide/calibration.md",
        starts: "howdah calibrate",
        why: "takes a quiet machine for minutes, and some of it control groups or frequencies that can be set",
        elsewhere: Some((CALIBRATION, "a_governor_is_asked_for_the_frequencies_nearest_and_gets_its_limits_back")),
    },
    Exception {
        page: "docs/guide/hadoop-clients.md",
        starts: "pip install",
        why: "wants a package index",
        elsewhere: Some(("xtask/src/interop.rs", "pip")),
    },
    Exception {
        page: "docs/guide/hadoop-clients.md",
        starts: "HADOOP_HOME=$PWD/h python3",
        why: "wants mrjob from a package index",
        elsewhere: Some((
            "cli/tests/cluster/interop.rs",
            "an_mrjob_word_count_with_a_combiner_gives_the_counts_and_the_counters",
        )),
    },
    Exception {
        page: "docs/guide/heterogeneous.md",
        starts: "howdah load ",
        why: "keeps the cores busy for minutes",
        elsewhere: Some((VITALS, "load_in_one_workers_group_is_that_workers_foreign_load_alone")),
    },
    Exception {
        page: "docs/guide/installing.md",
        starts: "howdah demo",
        why: "solves puzzles for half a minute, and has a test of its own",
        elsewhere: Some((LEFTOVERS, "the_demo_holds_and_leaves_no_process")),
    },
    Exception {
        page: "docs/guide/installing.md",
        starts: "deploy/debian/build.sh",
        why: "wants the executable of `cargo xtask dist`",
        elsewhere: Some(("cli/tests/deploy/package.rs", "debian/build.sh")),
    },
    Exception {
        page: "docs/guide/lab.md",
        starts: "useradd",
        why: "changes the machine's users",
        elsewhere: Some(("cli/tests/deploy/package.rs", "the_package_is_installed_again_removed_and_purged")),
    },
    Exception {
        page: "docs/guide/lab.md",
        starts: "systemctl",
        why: "wants systemd as the first process",
        elsewhere: Some(("cli/tests/deploy/main.rs", "the_units_are_what_systemd_takes")),
    },
    Exception {
        page: "docs/guide/lab.md",
        starts: "rsync",
        why: "wants another machine",
        elsewhere: Some((MOVING, "a_master_moves_to_another_machine_and_the_job_at_work_goes_on")),
    },
    Exception {
        page: "docs/guide/lab.md",
        starts: "sed -i",
        why: "changes the names of all machines",
        elsewhere: Some((MOVING, "a_master_moves_to_another_machine_and_the_job_at_work_goes_on")),
    },
    Exception {
        page: "docs/guide/lab.md",
        starts: "howdah up --hosts",
        why: "wants ssh to other machines",
        elsewhere: Some((MACHINES, "machines_get_the_executable_start_together_and_stop_together")),
    },
    Exception {
        page: "docs/guide/lab.md",
        starts: "howdah down --hosts",
        why: "wants ssh to other machines",
        elsewhere: Some((MACHINES, "machines_get_the_executable_start_together_and_stop_together")),
    },
    Exception {
        page: "docs/guide/reproducing.md",
        starts: "howdah experiment run",
        why: "uses all cores for minutes",
        elsewhere: None,
    },
    Exception {
        page: "docs/guide/validation.md",
        starts: "howdah experiment run",
        why: "uses all cores for minutes",
        elsewhere: Some(("cli/tests/cluster/validation.rs", "\"simmr-accuracy\", \"--quick\"")),
    },
    Exception {
        page: "docs/guide/writing-jobs.md",
        starts: "howdah submit /mnt/share/bin/largest",
        why: "the program is the reader's own",
        elsewhere: None,
    },
    Exception {
        page: "docs/reliability.md",
        starts: "howdah bench memory --tasks 1000000",
        why: "takes a quarter of an hour and more",
        elsewhere: Some(("cli/tests/cluster/json_fields/mod.rs", "\"bench\"")),
    },
    Exception {
        page: "docs/performance.md",
        starts: "howdah bench all",
        why: "measures for half an hour on a machine that does nothing else",
        elsewhere: Some(("cli/tests/cluster/json_fields/mod.rs", "\"bench\"")),
    },
];
