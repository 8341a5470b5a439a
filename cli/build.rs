//! Links `howdah` as a static, position-dependent executable where the target's libc is linked statically
//! (`.cargo/config.toml`): an attempt is a process of this binary, so its start-up time is task overhead.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let features = std::env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if os == "linux" && features.split(',').any(|f| f == "crt-static") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
        println!("cargo:rustc-link-arg-bins=-static");
        // The standard library looks this function up weakly, which does not take it out of a static libc. Without
        // it a spawn into a working directory is a fork of the whole worker: about a millisecond per attempt.
        println!("cargo:rustc-link-arg-bins=-Wl,-u,posix_spawn_file_actions_addchdir_np");
    }
}
