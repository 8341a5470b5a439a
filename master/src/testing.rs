//! What the tests of several rooms need alike.

use std::collections::BTreeMap;

use howdah_core::job::{App, InputFormat, JobFile, JobSpec, OutputFormat, Split};

/// The file of a job that sleeps: it has no input and leaves no output.
pub(crate) fn sleep_job(id: String, spec: JobSpec) -> JobFile {
    let n_maps = spec.n_maps;
    JobFile {
        id,
        submit_ms_epoch: 0,
        spec,
        app: App::BuiltIn { name: "sleep".to_owned() },
        input_format: InputFormat::Generated { n_maps },
        splits: vec![Split::Generated; n_maps as usize],
        output: OutputFormat::None,
        marked: false,
        properties: BTreeMap::new(),
        token: String::new(),
    }
}
