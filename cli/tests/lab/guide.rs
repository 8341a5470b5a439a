//! The README's first cluster and the guide's page of a lab, as they stand there: what is for a machine is typed on that
//! machine, all else from the sixth place. `cli/tests/pages` types the same pages on one machine, with all others.

use std::fs;
use std::path::Path;

use crate::blocks;
use crate::inside::inside;
use crate::machines::{Kind, Lab};
use crate::wait_for;

/// What cannot be typed here, and where it is tried instead.
const ELSEWHERE: [(&str, &str); 6] = [
    ("useradd ", "cli/tests/deploy/package.rs"),
    ("systemctl ", "cli/tests/deploy/main.rs"),
    ("howdah up --hosts ", "cli/tests/cluster/machines.rs"),
    ("howdah down --hosts ", "cli/tests/cluster/machines.rs"),
    ("howdah job resubmit ", "cli/tests/cluster/resubmission.rs"),
    ("howdah worker --slots-by-cores", "cli/tests/cluster/machines.rs"),
];

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// A part of a page, from its heading to the next one.
fn section(page: &str, heading: &str) -> String {
    let text = fs::read_to_string(repository().join(page)).expect("a page");
    let (_, rest) = text.split_once(&format!("## {heading}\n")).unwrap_or_else(|| panic!("{page}: no `{heading}`"));
    rest.split("\n## ").next().unwrap_or(rest).to_owned()
}

/// The commands of a part that are typed here.
fn typed(text: &str) -> Vec<String> {
    let is_here = |command: &String| !ELSEWHERE.iter().any(|(start, _)| command.starts_with(start));
    blocks::commands(text).into_iter().filter(is_here).collect()
}

/// The commands within a part's sentences and tables.
fn inline(text: &str) -> Vec<String> {
    let spans = text.split('`').skip(1).step_by(2).map(str::to_owned);
    let is_here = |span: &String| {
        span.starts_with("howdah ") && !ELSEWHERE.iter().any(|(start, _)| span.starts_with(start.trim_end()))
    };
    spans.filter(is_here).collect()
}

/// Puts some text where the pages have books.
fn books(lab: &Lab) {
    let folder = lab.export("books");
    fs::create_dir(&folder).expect("make a folder");
    for name in ["lab", "jobs", "tutorial"] {
        let page = repository().join(format!("docs/guide/{name}.md"));
        fs::copy(page, folder.join(format!("{name}.md"))).expect("copy a page");
    }
}

/// Starts what goes on where it is meant for, and returns the others' script.
fn start_daemons(lab: &mut Lab, commands: Vec<String>, workers: &[&str]) -> String {
    let mut script = String::new();
    for command in commands {
        if command.starts_with("howdah master ") {
            lab.daemon_line("lab0", &command);
        } else if command.starts_with("howdah worker --master ") {
            workers.iter().for_each(|machine| lab.daemon_line(machine, &command));
        } else {
            script.push_str(&format!("{command}\n"));
        }
    }
    script
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn the_readmes_first_cluster_is_typed_on_three_machines_and_from_another() {
    inside("guide::the_readmes_first_cluster_is_typed_on_three_machines_and_from_another", |lab| {
        let mut lab = lab.with_pages_folders().machines(Kind::V4, &[]);
        for (last, machine) in (1..).zip(["lab0", "lab1", "lab2", "desk"]) {
            lab.add_address(machine, &format!("10.0.0.{last}/24"));
        }
        books(&lab);
        let commands = typed(&section("README.md", "A first cluster on three machines"));
        let script = start_daemons(&mut lab, commands, &["lab1", "lab2"]);
        lab.type_at("desk", "howdah wait --workers 2 --timeout 60s --master 10.0.0.1:9001");
        let said = lab.type_at("desk", &script);
        assert!(said.contains("lab1") && said.contains("lab2") && said.contains("Job complete: job_"), "{said}");
        assert!(lab.export("counts/_SUCCESS").is_file());
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn the_guides_lab_is_typed_on_five_machines_and_from_a_sixth() {
    inside("guide::the_guides_lab_is_typed_on_five_machines_and_from_a_sixth", |lab| {
        let mut lab = lab.with_pages_folders().machines(Kind::V4, &[]);
        books(&lab);
        let commands = typed(&section("docs/guide/lab.md", "In a quarter of an hour"));
        let script = start_daemons(&mut lab, commands, &["lab1", "lab2", "lab3", "lab4"]);
        lab.type_at("desk", "howdah wait --workers 4 --timeout 60s --master lab0");
        let said = lab.type_at("desk", &script);
        assert!((1..5).all(|n| said.contains(&format!("lab{n}"))) && said.contains("Job complete: job_"), "{said}");
        assert!(lab.export("counted/_SUCCESS").is_file());

        let job = lab.json(&["job", "list"])["jobs"][0]["job"].as_str().expect("a job").to_owned();
        let attempt = lab.json(&["job", "attempts", &job])["attempts"][0]["attempt"].as_str().map(str::to_owned);
        let attempt = attempt.expect("an attempt");
        // One that is not over, for those who ask why.
        let long = lab.json(&["submit", "sleep", "-m", "400", "-mt", "500", "-r", "0"]);
        let long = long["job"].as_str().expect("a job").to_owned();
        let day_two = inline(&section("docs/guide/lab.md", "Day two"));
        assert!(day_two.len() >= 8, "{day_two:?}");
        for command in day_two {
            // Said in words beside it: until it runs nothing.
            if command.contains("--undo") {
                wait_for("lab3 to run nothing", || {
                    let worker = lab.worker("lab3-worker")?;
                    (worker["maps_running"] == 0 && worker["reduces_running"] == 0).then_some(())
                });
            }
            let asked = if command.starts_with("howdah job explain") { &long } else { &job };
            let command = command.replace("ATTEMPT", &attempt).replace("JOB", asked);
            let machine = if command.contains("/var/lib/howdah") { "lab0" } else { "desk" };
            if command.starts_with("howdah validate") {
                lab.desk(&["job", "kill", &long]);
                lab.stop("lab0");
            }
            lab.type_at(machine, &format!("export HOWDAH_MASTER=lab0\n{command}\n"));
        }
    });
}
