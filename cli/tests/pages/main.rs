//! Every command of the README, of the guide and of the other pages, typed as it stands.
//!
//! A page's commands are typed one after another in one shell, in an empty directory of a machine that has the addresses,
//! host names and folders which the pages speak of. What a reader has before the first command is in `before/`; what
//! cannot be typed here is in `exceptions.rs`, with the reason and the place where it runs instead. Whatever is neither
//! typed nor excepted fails the test. `HOWDAH_TEST_PAGE=jobs` types the pages of such names only.

mod blocks;
mod exceptions;
#[path = "../permitted/mod.rs"]
mod permitted;
mod place;
mod surroundings;

use std::sync::Mutex;

use exceptions::EXCEPTIONS;
use surroundings::{PRINTS, SHOWS, STAY};

/// A page and what becomes of its commands.
struct Plan {
    page: String,
    text: String,
    script: String,
    typed: usize,
    excepted: usize,
}

/// All pages that have commands, by their paths in the repository.
fn pages() -> Vec<String> {
    let root = place::repository();
    let mut pages = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    for folder in ["docs", "docs/guide", "docs/guide/schedulers"] {
        let files = std::fs::read_dir(root.join(folder)).expect("a folder").flatten();
        let names = files.filter_map(|file| file.file_name().into_string().ok());
        pages.extend(names.filter(|name| name.ends_with(".md")).map(|name| format!("{folder}/{name}")));
    }
    pages.sort();
    pages
}

fn read(page: &str) -> String {
    std::fs::read_to_string(place::repository().join(page)).unwrap_or_else(|error| panic!("read `{page}`: {error}"))
}

fn plan(page: String) -> Plan {
    let text = read(&page);
    let mut script = include_str!("helpers.sh").to_owned();
    let mut plan = (0, 0);
    // The page's own files, for the preludes that give them their names.
    let blocks = blocks::blocks(&text);
    script.push_str("mkdir ../blocks\n");
    for (number, block) in blocks.iter().enumerate().filter(|(_, block)| ["toml", "xml"].contains(&&*block.language)) {
        let (language, lines) = (&block.language, block.lines.join("\n"));
        script.push_str(&format!("cat > ../blocks/{number}.{language} <<'THE-PAGES-OWN'\n{lines}\nTHE-PAGES-OWN\n"));
    }
    script.push_str(&surroundings::before(&page).unwrap_or_default());
    for command in blocks::commands(&text) {
        if EXCEPTIONS.iter().any(|exception| exception.page == page && command.starts_with(exception.starts)) {
            plan.1 += 1;
            continue;
        }
        plan.0 += 1;
        match STAY.iter().find(|(of, starts, _)| *of == page && command.starts_with(starts)) {
            Some((_, _, until)) => {
                let (command, _) = command.split_once(" #").unwrap_or((&command, ""));
                script.push_str(&format!("{command} &\n{until}\n"));
            }
            None => script.push_str(&format!("{command}\n")),
        }
    }
    let (typed, excepted) = plan;
    Plan { page, text, script, typed, excepted }
}

/// Types a page. What went wrong, if anything did.
fn type_page(plan: &Plan) -> Result<(), String> {
    let name = surroundings::stem(&plan.page);
    let done = place::type_in(&name, &plan.script);
    eprintln!("{}: {} typed, {} excepted, {:.1} s", plan.page, plan.typed, plan.excepted, done.took.as_secs_f64());
    if !done.succeeded {
        let lines: Vec<&str> = done.said.lines().collect();
        let end = lines[lines.len().saturating_sub(40)..].join("\n");
        return Err(format!("== {}\n{end}", plan.page));
    }
    for (page, words) in SHOWS.iter().filter(|(page, _)| *page == plan.page) {
        if !plan.text.contains(words) {
            return Err(format!("== {page}: the page does not show `{words}` any more"));
        }
    }
    for (page, words) in SHOWS.iter().chain(PRINTS).filter(|(page, _)| *page == plan.page) {
        if !done.said.contains(words) {
            return Err(format!("== {page}: `{words}` was not printed, but:\n{}", done.said));
        }
    }
    Ok(())
}

#[test]
fn every_exception_has_its_reason_and_is_needed() {
    for exception in EXCEPTIONS {
        let starts = exception.starts;
        assert!(!exception.why.is_empty(), "{starts}: why?");
        let commands = blocks::commands(&read(exception.page));
        assert!(commands.iter().any(|command| command.starts_with(starts)), "{}: no `{starts}`", exception.page);
        let Some((file, word)) = exception.elsewhere else { continue };
        assert!(read(file).contains(word), "{}: `{starts}` does not run in {file}: no `{word}`", exception.page);
    }
    let of_pages = pages();
    for (page, starts, _) in STAY {
        let commands = blocks::commands(&read(page));
        assert!(commands.iter().any(|command| command.starts_with(starts)), "{page}: no `{starts}`");
    }
    let stems: Vec<String> = of_pages.iter().map(|page| format!("{}.sh", surroundings::stem(page))).collect();
    for file in std::fs::read_dir(surroundings::folder()).expect("a folder").flatten() {
        assert!(stems.iter().any(|stem| file.file_name() == stem[..]), "{file:?} is of no page");
    }
}

#[test]
fn every_page_can_be_typed() {
    if let Some(missing) = place::missing() {
        permitted::not_tested(&format!("the commands of the pages: {missing}"));
        return;
    }
    let only = std::env::var("HOWDAH_TEST_PAGE").unwrap_or_default();
    let plans: Vec<Plan> = pages().into_iter().filter(|page| page.contains(&only)).map(plan).collect();
    let (typed, excepted): (usize, usize) = plans.iter().fold((0, 0), |(a, b), p| (a + p.typed, b + p.excepted));
    let queue = Mutex::new(plans.iter().filter(|plan| plan.typed > 0));
    let wrong = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some(plan) = queue.lock().expect("no test panics with it").next() else { return };
                    if let Err(complaint) = type_page(plan) {
                        wrong.lock().expect("no test panics with it").push(complaint);
                    }
                }
            });
        }
    });
    eprintln!("{typed} commands typed, {excepted} excepted");
    let wrong = wrong.into_inner().expect("no test panicked with it");
    assert!(wrong.is_empty(), "{} pages cannot be typed\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(!only.is_empty() || typed >= 150, "{typed} commands: are the pages read?");
}
