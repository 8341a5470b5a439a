//! The manifests for Kubernetes by Kubernetes' own schemas, strictly: what a schema does not know is an error.
//!
//! Run by `cargo xtask interop`, which installs `kubernetes-validate`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::deploy;

fn validate(file: &Path) -> Output {
    let python = std::env::var_os("HOWDAH_INTEROP_PYTHON").expect("`cargo xtask interop` says where Python is");
    let program = PathBuf::from(python).with_file_name("kubernetes-validate");
    Command::new(program).args(["--strict", "--quiet"]).arg(file).output().expect("start kubernetes-validate")
}

#[test]
#[ignore = "run by `cargo xtask interop`"]
fn the_manifests_are_what_their_schemas_take_and_a_bent_one_is_not() {
    let file = deploy().join("kubernetes/howdah.yaml");
    let good = validate(&file);
    assert!(good.status.success(), "{}", String::from_utf8_lossy(&good.stdout));
    let text = std::fs::read_to_string(&file).expect("the manifests");
    let folder = tempfile::tempdir().expect("make a folder");
    for (from, to) in [("replicas: 3", "replicas: three"), ("readinessProbe:", "readyProbe:")] {
        assert!(text.contains(from), "{from}");
        let bent = folder.path().join("bent.yaml");
        std::fs::write(&bent, text.replace(from, to)).expect("write a file");
        assert!(!validate(&bent).status.success(), "{to} is taken");
    }
}
