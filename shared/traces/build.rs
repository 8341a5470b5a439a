//! Tells the tests whether the real traces of other systems lie beside the checkout.
//!
//! Without them those tests are *ignored*, with the reason, rather than passed: a check that did not happen must not count.
//! A folder that comes later is noticed once this file is touched: to cargo a path that is not there has always changed, and
//! each of its calls would build this crate and all that use it anew.

use std::path::PathBuf;

fn main() {
    println!("cargo:rustc-check-cfg=cfg(real_traces)");
    let own = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo names the crate's folder");
    let folder = PathBuf::from(own).join("../../../shared/traces");
    println!("cargo:rerun-if-changed=build.rs");
    if folder.is_dir() {
        println!("cargo:rerun-if-changed={}", folder.display());
        println!("cargo:rustc-cfg=real_traces");
    }
}
