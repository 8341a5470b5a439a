//! Generated traces as scripts see them: `trace generate`, `fit`, `compare`, `scale`, `fold`.

mod said;

use std::path::Path;

use serde_json::Value;

use said::{Said, howdah};

/// Standard output of `howdah` with these arguments, which succeeds.
fn answer(dir: &Path, args: &[&str]) -> String {
    let said = run(dir, args);
    assert_eq!(said.code, Some(0), "{args:?}: {}", said.stderr);
    said.stdout
}

fn run(dir: &Path, args: &[&str]) -> Said {
    howdah(dir).args(args).output().expect("runs").into()
}

fn json(dir: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&answer(dir, args)).expect("JSON")
}

fn here() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

#[test]
fn help_is_what_was_agreed() {
    let dir = here();
    for command in ["generate", "fit", "compare", "scale", "fold"] {
        insta::assert_snapshot!(format!("help-trace-{command}"), answer(dir.path(), &["trace", command, "--help"]));
    }
}

#[test]
fn the_list_names_every_workload_with_its_source() {
    let dir = here();
    insta::assert_snapshot!("workload-list", answer(dir.path(), &["trace", "generate", "--list"]));
    let list = json(dir.path(), &["trace", "generate", "--list", "--output", "json"]);
    assert_eq!(list["schema"], "howdah/workloads/v1");
    let first = &list["workloads"][0];
    assert_eq!((first["name"].as_str(), first["jobs"].as_u64()), (Some("simmr-facebook"), Some(100)));
    assert!(first["left_open_by_the_source"].as_array().is_some_and(|open| !open.is_empty()));
}

#[test]
fn the_same_choices_give_the_same_bytes_and_another_seed_others() {
    let dir = here();
    let generate =
        |seed: &str| answer(dir.path(), &["trace", "generate", "simmr-facebook", "--jobs", "5", "--seed", seed]);
    assert_eq!(generate("3"), generate("3"));
    assert_ne!(generate("3"), generate("4"));
    assert_eq!(generate("3").lines().count(), 6);
}

#[test]
fn a_worked_example_goes_through_generation_and_replay() {
    let dir = here();
    answer(dir.path(), &["trace", "generate", "example-five-jobs-johnson", "-o", "five.jsonl"]);
    let replay =
        json(dir.path(), &["replay", "five.jsonl", "--map-slots", "30", "--reduce-slots", "30", "--output", "json"]);
    assert_eq!(replay["makespan_s"], 47.0);
}

#[test]
fn a_fit_of_generated_durations_finds_what_they_were_drawn_from() {
    let dir = here();
    answer(dir.path(), &["trace", "generate", "simmr-facebook", "-o", "f.jsonl.gz"]);
    let fit = json(dir.path(), &["trace", "fit", "f.jsonl.gz", "--phase", "map", "--output", "json"]);
    assert_eq!(fit["schema"], "howdah/trace-fit/v1");
    let best = &fit["phases"][0]["fits"][0];
    assert!(best["distribution"].as_str().expect("text").starts_with("lognormal(9.9"), "{best}");
    assert!(best["ks_distance"].as_f64().expect("number") < 0.02);
    assert_eq!(fit["phases"].as_array().map(Vec::len), Some(1));
}

#[test]
fn two_runs_of_one_workload_are_closer_than_two_workloads() {
    let dir = here();
    for (name, workload, seed) in
        [("a", "simmr-facebook", "1"), ("b", "simmr-facebook", "2"), ("c", "example-five-jobs", "0")]
    {
        answer(dir.path(), &["trace", "generate", workload, "--seed", seed, "-o", name]);
    }
    let map = |other: &str, bins: &str| {
        let compared = json(dir.path(), &["trace", "compare", "a", other, "--bins", bins, "--output", "json"]);
        assert_eq!(compared["divergence"]["bins"], bins);
        compared["phases"][0]["kl_divergence"].as_f64().expect("both have maps")
    };
    for bins in ["decade:10", "width:1000ms"] {
        assert!(map("a", bins) == 0.0);
        assert!(10.0 * map("b", bins) < map("c", bins), "{bins}: {} {}", map("b", bins), map("c", bins));
    }
}

#[test]
fn a_trace_is_scaled_and_folded_and_says_how_it_compares() {
    let dir = here();
    answer(
        dir.path(),
        &["trace", "generate", "simmr-facebook", "--jobs", "80", "--arrivals", "poisson:30s", "-o", "t"],
    );
    answer(dir.path(), &["trace", "scale", "t", "--factor", "2", "--reduces", "grow", "-o", "large"]);
    answer(dir.path(), &["trace", "fold", "large", "--jobs", "20", "-o", "short", "--output", "json"]);
    let header = |name: &str| {
        let text = std::fs::read_to_string(dir.path().join(name)).expect("written");
        (text.lines().count() - 1, text.lines().next().expect("a header").to_owned())
    };
    assert_eq!(header("large").0, 80);
    let (jobs, source) = header("short");
    assert_eq!(jobs, 20);
    assert!(source.contains("scaled by 2, folded from 80 to 20 jobs"), "{source}");
    let folded = json(dir.path(), &["trace", "fold", "large", "--span", "10m", "--output", "json"]);
    assert_eq!(folded["schema"], "howdah/trace-fold/v1");
    assert_eq!(folded["jobs"]["before"], 80);
    assert_eq!(folded["character"][0]["property"], "job size, slot ms");
    let folded = json(dir.path(), &["trace", "fold", "large", "--factor", "8", "--output", "json"]);
    assert_eq!(folded["jobs"]["after"], 10);
}

#[test]
fn a_description_of_ones_own_is_a_workload() {
    let dir = here();
    let text = "name = 'mine'\njobs = 3\n[[class]]\nname = 'only'\nmaps = 4\nmap_ms = 'uniform(5,9)'\n";
    std::fs::write(dir.path().join("mine.toml"), text).expect("written");
    assert_eq!(answer(dir.path(), &["trace", "generate", "mine.toml"]).lines().count(), 4);
    let properties = json(dir.path(), &["trace", "generate", "mine.toml", "--properties", "--output", "json"]);
    assert_eq!(properties["schema"], "howdah/workload-properties/v1");
    assert_eq!(properties["properties"]["maps"], 12.0);
}

#[test]
fn the_guide_names_every_workload_and_its_description_generates() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide/workloads.md");
    let guide = std::fs::read_to_string(guide).expect("the guide");
    let dir = here();
    let list = json(dir.path(), &["trace", "generate", "--list", "--output", "json"]);
    for workload in list["workloads"].as_array().expect("workloads") {
        let name = workload["name"].as_str().expect("a name");
        // The guide names families of them once.
        let family = if name.starts_with("example-") { "example-…" } else { name };
        let family = family.trim_end_matches("-10").trim_end_matches("-20");
        assert!(guide.contains(&format!("`{family}`")), "docs/guide/workloads.md does not have {name}");
    }
    let (_, rest) = guide.split_once("```toml\n").expect("a description");
    let (description, _) = rest.split_once("```").expect("its end");
    std::fs::write(dir.path().join("nightly.toml"), description).expect("written");
    assert_eq!(answer(dir.path(), &["trace", "generate", "nightly.toml"]).lines().count(), 201);
}

#[test]
fn wrong_usage_ends_with_2_and_names_what_was_expected() {
    let dir = here();
    std::fs::write(dir.path().join("bad.toml"), "name = 'x'\njobs = 1\n[[class]]\nname = 'a'\nmaps = 'often'\n")
        .expect("written");
    answer(dir.path(), &["trace", "generate", "example-two-jobs", "-o", "two"]);
    let cases: &[(&[&str], &str)] = &[
        (&["trace", "generate"], "WORKLOAD"),
        (&["trace", "generate", "nonsense"], "workload `nonsense`: expected one of the names"),
        (&["trace", "generate", "none.toml"], "cannot read `none.toml`"),
        (&["trace", "generate", "bad.toml"], "distribution `often`: expected a number or a form"),
        (&["trace", "generate", "example-two-jobs", "--jobs", "7"], "expected its own 2 jobs, found 7"),
        (&["trace", "generate", "simmr-facebook", "--jobs", "0"], "expected at least 1"),
        (&["trace", "generate", "simmr-facebook", "--arrivals", "often"], "expected batch or poisson:MEAN"),
        (&["trace", "compare", "two", "two", "--bins", "fine"], "expected decade:N"),
        (&["trace", "fit", "two", "--job", "nobody"], "expected jobs named `nobody`, found none"),
        (&["trace", "scale", "two", "--factor", "-1"], "factor"),
        (&["trace", "fold", "two", "--jobs", "3"], "expected 1 to 2, found 3"),
        (&["trace", "fold", "two", "--factor", "0.5"], "factor: expected 1 to 2, one job of that many, found 0.5"),
        (&["trace", "fold", "two", "--factor", "2", "--span", "1h"], "cannot be used with"),
        (&["trace", "fold", "two"], "--jobs"),
    ];
    for (args, expected) in cases {
        let Said { code, stderr, .. } = run(dir.path(), args);
        assert_eq!(code, Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(expected), "{args:?}: {stderr}");
    }
}
