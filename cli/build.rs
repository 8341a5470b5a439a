//! Links `howdah` as a static, position-dependent executable where the target's libc is linked statically
//! (`.cargo/config.toml`): an attempt is a process of this binary, so its start-up time is task overhead. And tells
//! `--version` which commit and build it is.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=HOWDAH_BUILD={}", build());
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

/// The commit and the profile. Whoever builds outside a checkout names it in HOWDAH_COMMIT. A development build names none:
/// it would be built again after each commit.
fn build() -> String {
    println!("cargo:rerun-if-env-changed=HOWDAH_COMMIT");
    let profile = std::env::var("PROFILE").unwrap_or_default();
    let named = std::env::var("HOWDAH_COMMIT").ok().filter(|commit| !commit.is_empty());
    let commit = named.or_else(|| if profile == "release" { commit() } else { None });
    format!("commit {}, {profile} build", commit.as_deref().unwrap_or("unknown"))
}

fn commit() -> Option<String> {
    // Moves with every commit, also in work trees.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo:rerun-if-changed={log}");
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_none_or(|changes| !changes.is_empty());
    Some(if changed { format!("{commit} with changes") } else { commit })
}

fn git(args: &[&str]) -> Option<String> {
    let output = std::process::Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
