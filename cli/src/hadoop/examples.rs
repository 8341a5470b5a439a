//! `hadoop jar …examples….jar NAME …`: Hadoop's example programs as the built-in applications that do the same.

use howdah_apps::PlanRequest;

use super::ended::{Ended, say};
use super::site::Site;
use super::{follow, options};
use crate::failure::{Failure, Outcome};
use crate::job::view::now_ms;

/// Those that there are, and how they are called.
const USAGE: &str = "wordcount IN… OUT | grep IN OUT REGEX [GROUP] | sort [-r N] IN OUT | teragen ROWS OUT | terasort IN OUT | \
    teravalidate OUT REPORT | pi MAPS POINTS | sleep [-m N] [-r N] [-mt TIME] [-rt TIME] | randomtextwriter OUT";
/// Options of the examples that take a value.
const VALUED: &[&str] = &["-r", "-m", "-mt", "-rt"];

/// Runs an example to its end, all of its jobs one after the other.
pub(super) async fn run(mut site: Site, words: &[&str]) -> Ended {
    let Some((&name, rest)) = words.split_first() else {
        return Err(Failure::usage("hadoop jar: which example?").help(USAGE));
    };
    if name == "pi" {
        return pi(site, rest).await;
    }
    let generic = options::generic(&mut site, rest, VALUED)?.without_files(name)?;
    let (app, mut request) = request(&site, name, &generic.rest)?;
    let given = std::mem::take(&mut request.properties);
    request.properties = generic.properties;
    request.properties.extend(given);
    let plans = howdah_apps::plan(app, &request).map_err(|error| Failure::usage(error.to_string()))?;
    for plan in plans {
        let code = follow::run(&site, &plan).await?;
        if code != 0 {
            return Ok(code);
        }
        for directory in &plan.removes {
            if let Err(error) = std::fs::remove_dir_all(directory) {
                super::log4j::warn("mapreduce.Job", format!("cannot remove `{directory}`: {error}"));
            }
        }
    }
    Ok(0)
}

/// `pi`, whose answer the client prints, with a directory that is there for the time of it.
async fn pi(mut site: Site, words: &[&str]) -> Ended {
    let generic = options::generic(&mut site, words, &[])?.without_files("pi")?;
    let wrong = || Failure::usage("pi: expected a number of maps and of points of each").help(USAGE);
    let [maps, points] = generic.rest.as_slice() else { return Err(wrong()) };
    let (Ok(maps @ 1..), Ok(points @ 1..)) = (maps.parse::<u32>(), points.parse::<u64>()) else { return Err(wrong()) };
    say(format!("Number of Maps  = {maps}\nSamples per Map = {points}"))?;
    let name = format!("QuasiMonteCarlo_{}_{}", now_ms(), std::process::id());
    let output = site.file_system.local(&name).map_err(|problem| Failure::usage(format!("`{name}`: {problem}")))?;
    let args = ["-m".to_owned(), maps.to_string(), "--samples".to_owned(), points.to_string()].to_vec();
    let request = PlanRequest {
        output: Some(output.display().to_string()),
        properties: generic.properties,
        args,
        ..PlanRequest::default()
    };
    let plans = howdah_apps::plan("pi", &request).map_err(|error| Failure::usage(error.to_string()))?;
    say("Starting Job")?;
    let began = std::time::Instant::now();
    for plan in &plans {
        let code = follow::run(&site, plan).await?;
        if code != 0 {
            return Ok(code);
        }
    }
    let inside = inside(&output)?;
    if let Err(error) = std::fs::remove_dir_all(&output) {
        super::log4j::warn("mapreduce.Job", format!("cannot remove `{}`: {error}", output.display()));
    }
    let pi = howdah_apps::pi::estimate(inside, maps, points)
        .ok_or_else(|| Failure::usage(format!("pi: {maps} maps of {points} points are too many to tell")))?;
    say(format!("Job Finished in {:.3} seconds\nEstimated value of Pi is {pi}", began.elapsed().as_secs_f64()))?;
    Ok(0)
}

/// Points inside the circle, as the job wrote them.
fn inside(output: &std::path::Path) -> Outcome<u64> {
    let path = output.join("part-r-00000");
    let broke = |problem: String| Failure::broke(format!("`{}`: {problem}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| broke(error.to_string()))?;
    let found = text.lines().find_map(|line| line.strip_prefix("inside\t")?.trim().parse().ok());
    found.ok_or_else(|| broke("no line `inside`".to_owned()))
}

/// The application, and what is asked of it.
fn request(site: &Site, name: &str, words: &[String]) -> Outcome<(&'static str, PlanRequest)> {
    let mut words = words.to_vec();
    let mut options = Vec::new();
    while let Some(at) = words.iter().position(|word| VALUED.contains(&word.as_str())) {
        options.extend(words.splice(at..(at + 2).min(words.len()), []));
    }
    let wrong = |what: &str| Failure::usage(format!("{name}: expected {what}")).help(USAGE);
    let path =
        |text: &String| site.file_system.of_job(text).map_err(|problem| Failure::usage(format!("`{text}`: {problem}")));
    let mut request = PlanRequest { args: Vec::new(), ..PlanRequest::default() };
    let app = match (name, words.as_slice()) {
        ("wordcount", [inputs @ .., output]) if !inputs.is_empty() => {
            request.inputs = inputs.iter().map(path).collect::<Outcome<_>>()?;
            request.output = Some(path(output)?);
            "wordcount"
        }
        ("grep", [text, output, asked @ ..]) if (1..=2).contains(&asked.len()) => {
            request.inputs = vec![path(text)?];
            request.output = Some(path(output)?);
            request.args = asked.to_vec();
            "grep"
        }
        ("sort" | "terasort" | "teravalidate", [text, output]) => {
            request.inputs = vec![path(text)?];
            request.output = Some(path(output)?);
            ["sort", "terasort", "teravalidate"].into_iter().find(|app| *app == name).unwrap_or("sort")
        }
        ("teragen", [rows, output]) => {
            request.properties.insert(
                "mapreduce.terasort.num-rows".to_owned(),
                count(rows).ok_or_else(|| wrong("a number of rows"))?,
            );
            request.output = Some(path(output)?);
            "teragen"
        }
        ("randomtextwriter", [output]) => {
            request.output = Some(path(output)?);
            "randomtextwriter"
        }
        ("sleep", []) => {
            request.args = std::mem::take(&mut options);
            "sleep"
        }
        ("wordcount" | "grep" | "sort" | "terasort" | "teravalidate" | "teragen" | "randomtextwriter" | "sleep", _) => {
            return Err(wrong("other arguments"));
        }
        _ => return Err(Failure::usage(format!("example `{name}`: not supported here")).help(USAGE)),
    };
    match options.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => {}
        ["-r", n] => request.n_reduces = Some(n.parse().map_err(|_| wrong("a number of reduces after -r"))?),
        [option, ..] => return Err(Failure::usage(format!("{name}: {option}: not supported here")).help(USAGE)),
    }
    Ok((app, request))
}

/// A count with Hadoop's `k`, `m`, `b` and `t` for powers of a thousand.
fn count(text: &str) -> Option<String> {
    let digits = text.trim_end_matches(['k', 'm', 'b', 't']);
    let factor: u64 = match &text[digits.len()..] {
        "" => 1,
        "k" => 1_000,
        "m" => 1_000_000,
        "b" => 1_000_000_000,
        "t" => 1_000_000_000_000,
        _ => return None,
    };
    Some(digits.parse::<u64>().ok()?.checked_mul(factor)?.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::paths::FileSystem;
    use super::*;

    fn asked(words: &[&str]) -> Outcome<(&'static str, PlanRequest)> {
        let file_system = FileSystem::new("hdfs:///", Some("/r".into()), "u").expect("a root");
        let site = Site { home: None, properties: Default::default(), file_system, master: None };
        let rest: Vec<String> = words[1..].iter().map(|&word| word.to_owned()).collect();
        request(&site, words[0], &rest)
    }

    #[test]
    fn examples_become_applications_over_files_of_the_directory() {
        let (app, request) = asked(&["wordcount", "/a", "b", "hdfs:///o"]).expect("good");
        assert_eq!((app, request.inputs), ("wordcount", vec!["/r/a".to_owned(), "/r/user/u/b".to_owned()]));
        assert_eq!(request.output.as_deref(), Some("/r/o"));
        let (_, request) = asked(&["sort", "-r", "3", "/a", "/o"]).expect("good");
        assert_eq!(request.n_reduces, Some(3));
        let (_, request) = asked(&["teragen", "10k", "/o"]).expect("good");
        assert_eq!(request.properties["mapreduce.terasort.num-rows"], "10000");
        let (_, request) = asked(&["grep", "/a", "/o", "a(b)c", "1"]).expect("good");
        assert_eq!(request.args, ["a(b)c", "1"]);
        let (_, request) = asked(&["sleep", "-m", "2", "-mt", "5"]).expect("good");
        assert_eq!(request.args, ["-m", "2", "-mt", "5"]);
    }

    #[test]
    fn examples_that_are_not_there_are_refused_by_name() {
        for words in [
            &["join", "2", "3"][..],
            &["sort", "-m", "3", "/a", "/b"],
            &["teragen", "x", "/o"],
            &["grep", "/a"],
            &["grep", "/a", "/o", "x", "0", "y"],
        ] {
            let said = asked(words).expect_err("refused").to_string();
            assert!(said.contains(words[0]), "{said}");
        }
    }
}
