//! `cluster clean`: what daemons of earlier days left goes, by age and by size.
//!
//! Each directory is locked as a daemon of its own would lock it while things are removed, so that none starts in
//! between; where one runs, its lock says so, and what it may use stays.

mod find;

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use howdah_json::Listing;
use nix::fcntl::{Flock, FlockArg};
use serde::Serialize;

use self::find::{Leftover, homes};
use super::args::CleanArgs;
use crate::args::{ClusterArgs, Format};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::table::Grid;
use crate::units;

/// One row; the schema is `howdah/clean/v1`.
#[derive(Debug, Serialize)]
struct Row {
    path: PathBuf,
    what: &'static str,
    age_s: u64,
    bytes: u64,
    removed: bool,
    problem: Option<String>,
}

/// `howdah cluster clean`
pub(crate) fn clean(context: &Context, args: &CleanArgs) -> Outcome {
    let config = context.client(&ClusterArgs::default(), args.format.output)?;
    let screen = context.screen(config.color);
    let (mut rows, mut in_use) = (Vec::new(), Vec::new());
    for dir in &args.dirs {
        let found = homes(dir);
        if found.is_empty() {
            return Err(Failure::usage(format!(
                "`{}` is no directory of a master or a worker, and has none",
                dir.display()
            ))
            .help("name what a daemon was given as --dir, or what has such directories"));
        }
        for home in found {
            // Held until its rows are done.
            let lock = lock(&home.dir);
            if lock.is_none() {
                in_use.push(home.dir.clone());
            }
            let chosen = chosen(home.leftovers(lock.is_some()), SystemTime::now(), args.older_than, args.keep_size);
            rows.extend(chosen.into_iter().map(|(leftover, age)| remove(leftover, age, args.dry_run)));
        }
    }
    let failed = rows.iter().filter(|row| row.problem.is_some()).count();
    match config.output {
        Format::Json => {
            let bytes: u64 = rows.iter().filter(|row| row.problem.is_none()).map(|row| row.bytes).sum();
            let body = serde_json::json!({ "dry_run": args.dry_run, "bytes": bytes, "in_use": in_use, "rows": rows });
            screen.json(&Listing::new("clean", body))?;
        }
        Format::Table => print(&screen, &rows, &in_use, args.dry_run)?,
    }
    match failed {
        0 => Ok(Exit::Done),
        n => Err(Failure::failed(format!("{} could not be removed", units::counted(n as u64, "path")))),
    }
}

/// The directory's lock, if no daemon has it.
fn lock(dir: &Path) -> Option<Flock<fs::File>> {
    // One that was never made is nobody's; a daemon that starts would make it.
    let file = OpenOptions::new().append(true).create(true).open(dir.join("lock")).ok()?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).ok()
}

/// What is too old, and the oldest of what is too much; each with its age.
fn chosen(
    mut all: Vec<Leftover>,
    now: SystemTime,
    older_than: Duration,
    keep: Option<u64>,
) -> Vec<(Leftover, Duration)> {
    // The newest first: what comes after the space is used up has to go.
    all.sort_by(|a, b| b.written.cmp(&a.written).then_with(|| a.path.cmp(&b.path)));
    let mut kept: u64 = 0;
    let mut gone = Vec::new();
    for leftover in all {
        // What was written in the future is young.
        let age = now.duration_since(leftover.written).unwrap_or_default();
        let with_it = kept.saturating_add(leftover.bytes);
        if age > older_than || keep.is_some_and(|keep| with_it > keep) {
            gone.push((leftover, age));
        } else {
            kept = with_it;
        }
    }
    gone
}

fn remove(leftover: Leftover, age: Duration, dry_run: bool) -> Row {
    let Leftover { path, what, bytes, .. } = leftover;
    let outcome = match (dry_run, path.is_dir()) {
        (true, _) => Ok(()),
        (false, true) => fs::remove_dir_all(&path),
        (false, false) => fs::remove_file(&path),
    };
    let problem = outcome.err().map(|error| error.to_string());
    Row { path, what, age_s: age.as_secs(), bytes, removed: !dry_run && problem.is_none(), problem }
}

fn print(screen: &Screen, rows: &[Row], in_use: &[PathBuf], dry_run: bool) -> Outcome<()> {
    if !rows.is_empty() {
        let mut grid = Grid::new(&["what", ">age", ">size", "path", ""]);
        for row in rows {
            let problem = row.problem.as_deref().unwrap_or_default();
            let (age, size) = (units::seconds(row.age_s as f64), units::bytes(row.bytes));
            grid.row([row.what, &age, &size, &row.path.display().to_string(), problem]);
        }
        screen.line(grid.render(screen))?;
    }
    let done = rows.iter().filter(|row| row.problem.is_none());
    let (n, bytes) = done.fold((0, 0), |(n, bytes), row| (n + 1, bytes + row.bytes));
    let verb = if dry_run { "would be removed" } else { "removed" };
    screen.line(format!("{verb}: {}, {}", units::counted(n, "path"), units::bytes(bytes)))?;
    for dir in in_use {
        screen.line(format!("in use: {}: what its daemon may use was left alone", dir.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leftover(name: &str, days: u64, bytes: u64, now: SystemTime) -> Leftover {
        let written = now - Duration::from_secs(days * 86_400);
        Leftover { path: PathBuf::from(name), what: "run", bytes, written }
    }

    #[test]
    fn what_is_too_old_goes_and_of_the_rest_the_oldest_that_is_too_much() {
        let now = SystemTime::now();
        let all =
            || [("a", 1), ("b", 2), ("c", 3), ("d", 40)].map(|(name, days)| leftover(name, days, 10, now)).to_vec();
        let names = |keep| {
            let gone = chosen(all(), now, Duration::from_secs(30 * 86_400), keep);
            gone.into_iter().map(|(leftover, _)| leftover.path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(None), ["d"]);
        assert_eq!(names(Some(25)), ["c", "d"]);
        assert_eq!(names(Some(0)), ["a", "b", "c", "d"]);
    }
}
