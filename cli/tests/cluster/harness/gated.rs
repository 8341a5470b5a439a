//! A streaming job that counts words, and whose reduces wait while its gate is shut: it lasts for as long as a test needs it.

use std::path::PathBuf;

use super::Cluster;

/// See the module's documentation.
pub(crate) struct Gated {
    gate: PathBuf,
    args: Vec<String>,
}

impl Gated {
    /// With an open gate. Commands take a `pause` in seconds before they do anything, as `sleep` knows it.
    pub(crate) fn new(cluster: &Cluster, n_maps: u64, n_reduces: u64, pause: &str) -> Gated {
        let text: String = (0..4_000_u64).map(|n| format!("word{} of line {n}\n", n * n % 977)).collect();
        let input = cluster.text("gated.txt", &text);
        let gate = cluster.text("gate.txt", "open");
        let mapper = cluster.script("gated-mapper.sh", &format!("sleep {pause}; tr ' ' '\\n'"));
        let waits = format!("until [ -e '{gate}' ]; do sleep 0.1; done; sleep {pause}; sort | uniq -c");
        let reducer = cluster.script("gated-reducer.sh", &waits);
        let split = format!("mapred.max.split.size={}", text.len() as u64 / n_maps);
        let (reduces, job) = (n_reduces.to_string(), ["streaming", "--mapper", &mapper, "--reducer", &reducer]);
        let args = [&job[..], &["--input", &input, "--reduces", &reduces, "-D", &split]].concat();
        Gated { gate: gate.into(), args: args.into_iter().map(str::to_owned).collect() }
    }

    /// The id of one that writes there.
    pub(crate) fn submit(&self, cluster: &Cluster, output: &str) -> String {
        let args = self.args.iter().map(String::as_str).chain(["--output", output]);
        cluster.submit(&args.collect::<Vec<_>>())
    }

    pub(crate) fn shut(&self) {
        std::fs::remove_file(&self.gate).expect("shut the gate");
    }

    pub(crate) fn open(&self) {
        std::fs::write(&self.gate, "open").expect("open the gate");
    }
}
