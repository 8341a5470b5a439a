//! What a page's reader has before the first command, and what the page says that the commands print.

/// What is typed before a page's own commands: `before/`, the page's path with `-` for `/`, `.sh`.
pub(crate) fn before(page: &str) -> Option<String> {
    std::fs::read_to_string(folder().join(format!("{}.sh", stem(page)))).ok()
}

/// Where they lie.
pub(crate) fn folder() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages/before")
}

/// The name that files of a page have.
pub(crate) fn stem(page: &str) -> String {
    page.trim_end_matches(".md").replace('/', "-")
}

/// Words that stand on a page as printed by its commands, and are printed by them.
pub(crate) const SHOWS: &[(&str, &str)] = &[
    ("docs/guide/schedulers/batches.md", "BalancedPools          40.0 s    -14.9 %      30.8 s"),
    ("docs/guide/schedulers/batches.md", "pool-2  10+10 slots, 3 jobs, over after 39.0 s"),
];

/// Words that a page's commands print, which the page leaves to its reader to see.
pub(crate) const PRINTS: &[(&str, &str)] = &[
    ("README.md", "Job complete: job_"),
    ("docs/guide/cluster.md", "down: all 3 processes"),
    ("docs/guide/hadoop-clients.md", "completed successfully"),
    ("docs/guide/recordings.md", "identical"),
    ("docs/guide/tutorial.md", "Job complete: job_"),
    ("docs/guide/tutorial.md", "identical"),
    ("docs/guide/tutorial.md", "down: all 3 processes"),
];

/// Commands that a reader gives a terminal of their own, because they go on: page, start of the line, and what has come
/// about before the next command is typed.
pub(crate) const STAY: &[(&str, &str, &str)] = &[
    ("README.md", "howdah master ", "answers --master 10.0.0.1:9001"),
    ("README.md", "howdah worker --master ", "howdah wait --workers 1 --master 10.0.0.1:9001"),
    ("docs/guide/cluster.md", "howdah master ", "answers --master 10.0.0.1:9001"),
    ("docs/guide/cluster.md", "howdah worker --master ", "howdah wait --workers 1 --master 10.0.0.1:9001"),
    ("docs/guide/configuration.md", "howdah --config howdah.toml master", "answers --master 10.0.0.1:9001"),
    ("docs/guide/configuration.md", "HOWDAH_WORKER_MAP_SLOTS=8 ", "howdah wait --workers 1 --master 10.0.0.1:9001"),
    (
        "docs/guide/heterogeneous.md",
        "howdah worker ",
        "howdah wait --workers 1 --master 10.0.0.1:9001; kill $!; wait $! || true",
    ),
    ("docs/guide/lab.md", "howdah master ", "answers --master lab0"),
    ("docs/guide/lab.md", "howdah worker --master ", "howdah wait --workers 1 --master lab0"),
    ("docs/guide/restart.md", "howdah master ", "answers --master 10.0.0.1:9001; kill -9 $!; wait $! || true"),
    ("docs/guide/schedulers/capacity.md", "howdah master ", "answers --dir cluster"),
    ("docs/guide/schedulers/fair.md", "howdah master ", "answers --dir cluster"),
];
