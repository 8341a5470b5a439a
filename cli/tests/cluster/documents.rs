//! The documents say what the command says: every setting, every application, the example program.

use std::path::Path;
use std::time::Duration;

use crate::harness::{Cluster, Finished, Mark, Setup, howdah};

const BOUND: Duration = Duration::from_secs(60);

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("read `{}`: {error}", path.display()))
}

#[test]
fn the_guide_names_every_setting() {
    let guide = read("docs/guide/settings.md");
    let mut command = howdah(&Mark::new());
    let shown = Finished::of(command.args(["config", "show", "--output", "json"]), BOUND).expect_code(0).json();
    let sections = shown["sections"].as_object().expect("sections");
    let keys = sections.values().flat_map(|section| section.as_object().expect("settings").keys());
    let mut missing = Vec::new();
    let mut n_keys = 0;
    for key in keys {
        n_keys += 1;
        // The tables inside a section are headings of the guide.
        let short = ["cluster.", "keep_inputs.", "keep_jobs.", "limits.", "memory.", "prediction."]
            .iter()
            .find_map(|table| key.strip_prefix(table))
            .unwrap_or(key);
        if !guide.contains(&format!("| `{short}` |")) {
            missing.push(key);
        }
    }
    assert!(n_keys > 30 && missing.is_empty(), "docs/guide/settings.md does not have {missing:?}");
}

#[test]
fn the_guide_names_every_application() {
    let guide = read("docs/guide/jobs.md");
    let mut command = howdah(&Mark::new());
    let refused = Finished::of(command.args(["submit", "no-such-application"]), BOUND).expect_code(2).stderr;
    let (_, names) = refused.split_once("there are ").expect("a list of applications");
    let names: Vec<&str> = names.lines().next().expect("a line").split(", ").collect();
    assert!(names.len() > 5, "{names:?}");
    // A program is submitted by its path.
    for name in names.into_iter().filter(|name| *name != "program") {
        assert!(guide.contains(&format!("| `{name}` |")), "`{name}` is not in docs/guide/jobs.md");
    }
}

#[test]
fn the_readme_shows_the_example_program_as_it_is() {
    let code = |text: &str| -> Vec<String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
        lines.map(str::to_owned).collect()
    };
    let readme = read("README.md");
    let (_, rest) = readme.split_once("```rust\n").expect("an example");
    let (shown, _) = rest.split_once("```").expect("its end");
    let example = read("worker/task/examples/wordcount.rs");
    assert_eq!(code(shown), code(&example));
    assert!(example.lines().count() <= 30, "the example is to be short");
}

/// Whoever follows the README is in the clone when the first cluster is up.
#[test]
fn the_first_job_of_the_readme_runs() {
    let readme = read("README.md");
    let line = readme.lines().find(|line| line.starts_with("howdah submit")).expect("a first job");
    let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches('\'')).collect();
    let after = |flag: &str| words.iter().skip_while(|word| **word != flag).nth(1).copied().expect("it is given");
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(after("--input"));
    let cluster = Cluster::start(Setup::default());
    let output = cluster.output("counts");
    let job = cluster.submit(&[words[2], "--input", input.to_str().expect("a plain path"), "--output", &output]);
    cluster.wait_job(&job, 0);
    let part = std::fs::read_to_string(Path::new(&output).join("part-r-00000")).expect("the README shows its head");
    assert!(part.lines().any(|line| line.starts_with("howdah\t")), "the guide's words are counted");
}

/// What the README says of its picture is what the commands below it print.
#[test]
fn the_picture_of_the_readme_shows_what_its_commands_simulate() {
    let readme = read("README.md");
    let folder = tempfile::tempdir().expect("a directory");
    let lines: Vec<&str> = readme.lines().filter(|line| line.contains("mixed.")).collect();
    let workload = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/pictures/mixed.toml");
    std::fs::create_dir_all(folder.path().join("docs/pictures")).expect("make a folder");
    std::fs::copy(workload, folder.path().join("docs/pictures/mixed.toml")).expect("copied");
    for line in &lines {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let said = Finished::of(howdah(&Mark::new()).args(&words).current_dir(folder.path()), BOUND).expect_code(0);
        let Some((_, median)) = said.stdout.split_once("completion  median ") else { continue };
        let (median, _) = median.split_once(',').expect("more figures");
        assert!(readme.contains(&format!("the median job takes {median} |")), "{line}: {median}");
    }
    for picture in ["fifo.svg", "fair.svg"] {
        let title = |text: &str| text.lines().find(|line| line.contains("100 jobs, ")).map(str::to_owned);
        let drawn = std::fs::read_to_string(folder.path().join(picture)).expect("the command draws it");
        assert!(title(&drawn).is_some());
        assert_eq!(
            title(&drawn),
            title(&read(&format!("docs/pictures/{picture}"))),
            "{picture} is not what is drawn now"
        );
    }
}

/// The batch file of the guide with other folders, and a trace of the jobs that it names.
#[test]
fn the_guides_batch_is_one_that_can_be_submitted() {
    let guide = read("docs/guide/schedulers/batches.md");
    let (_, rest) = guide.split_once("```toml\n").expect("a batch");
    let (shown, _) = rest.split_once("```").expect("its end");
    let cluster = Cluster::start(Setup::default());
    let names = shown.lines().filter_map(|line| line.strip_prefix("name = ")).map(|name| name.trim_matches('"'));
    let job = |name| format!("{{\"name\":\"{name}\",\"n_maps\":1,\"n_reduces\":1,\"map_ms\":[9],\"reduce_ms\":[9]}}\n");
    let jobs: String = names.map(job).collect();
    let header = "{\"schema\":\"howdah/trace/v1\",\"source\":\"by hand\"}\n".to_owned();
    let trace = cluster.text("last-night.jsonl", &(header + &jobs));
    for folder in ["data/books", "data/logs"] {
        std::fs::create_dir_all(cluster.path(folder)).expect("make a folder");
        cluster.text(&format!("{folder}/a.log"), "two words\n");
    }
    let own = shown.replace("last-night.jsonl", &trace);
    let own =
        ["/data/", "/results/"].iter().fold(own, |text, folder| text.replace(folder, &cluster.output(&folder[1..])));
    let batch = cluster.text("nightly.toml", &own);
    let said = cluster.json(&["submit", "--batch", &batch, "--order", "johnson", "--wait"]);
    assert_eq!(said["jobs"].as_array().map(Vec::len), Some(2), "{said}");
    let chain = cluster.text("chain.toml", &own.replace("\"sort\"", "\"grep\"\nargs = [\"two\"]"));
    let refused = cluster.run(&["submit", "--batch", &chain, "--order", "johnson"]).expect_code(2).stderr;
    let expected =
        "batch: `grep` is a chain of 2 jobs, expected one job\nhelp: submit it by itself, before or after the batch";
    assert!(refused.contains(expected), "{refused}");
}
