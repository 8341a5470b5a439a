//! `hadoop jar …streaming….jar`: Hadoop Streaming's options, made a job of howdah's own streaming.
//!
//! Java classes are known by name where they mean something that is built in, and refused otherwise, never ignored.
//! Exit codes are StreamJob's: 1 a job failed, 2 no such input, 4 the output is there; and 2 for what is refused.
//! Source: `docs/hadoop.md#streaming`.

use std::collections::BTreeMap;
use std::path::Path;

use howdah_apps::{JobPlan, PlanRequest};
use howdah_core::job::{App, InputFormat, LAZY_OUTPUT};

use super::cache::Staging;
use super::ended::{Ended, say};
use super::options::{Generic, property};
use super::site::Site;
use super::{follow, log4j, options};
use crate::failure::{Failure, Outcome};

/// Options that take a value.
const VALUED: &[&str] = &[
    "-input",
    "-output",
    "-mapper",
    "-reducer",
    "-combiner",
    "-file",
    "-cmdenv",
    "-numReduceTasks",
    "-partitioner",
    "-inputformat",
    "-outputformat",
    "-jobconf",
    "-cacheFile",
    "-cacheArchive",
    "-inputreader",
    "-io",
    "-mapdebug",
    "-reducedebug",
    "-additionalconfspec",
];
const USAGE: &str = "hadoop jar hadoop-streaming.jar [-D k=v] [-files f,…] [-archives a,…] -input PATH -output DIR \
    [-mapper CMD] [-reducer CMD|aggregate|NONE] [-combiner CMD] [-file F] [-cmdenv K=V] [-numReduceTasks N] \
    [-partitioner C] [-inputformat C] [-outputformat C] [-lazyOutput] [-background]";
/// The line by which clients know that it is over and not well.
pub(super) const FAILED: &str = "Streaming Command Failed!";
const LOGGER: &str = "streaming.StreamJob";
const MISSING_INPUT: u8 = 2;
const OUTPUT_EXISTS: u8 = 4;

/// What the options said.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted {
    inputs: Vec<String>,
    output: String,
    mapper: Option<String>,
    reducer: Option<String>,
    combiner: Option<String>,
    /// `-file`.
    files: Vec<String>,
    n_reduces: Option<u32>,
    format: Format,
    /// `-background`.
    leaves_it: bool,
    /// Properties that options stand for.
    properties: BTreeMap<String, String>,
}

/// How lines of input become records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Format {
    #[default]
    Text,
    KeyValueText,
    NLine,
}

/// Runs a streaming job to its end. However it fails, the last line but one says so.
pub(super) async fn run(site: Site, words: &[&str]) -> Ended {
    stream(site, words).await.inspect_err(|_| log4j::bare(FAILED))
}

async fn stream(mut site: Site, words: &[&str]) -> Ended {
    if words.iter().any(|word| ["-help", "-info", "--help"].contains(word)) {
        say(format!("Usage: {USAGE}"))?;
        return Ok(0);
    }
    let words: Vec<&str> = words.iter().map(|&word| if word == "-dfs" { "-fs" } else { word }).collect();
    let mut generic = options::generic(&mut site, &words, VALUED)?;
    let wanted = read(&mut generic).inspect_err(|_| log4j::bare("Try -help for more information"))?;
    if let Some(code) = check_paths(&site, &wanted)? {
        log4j::bare(FAILED);
        return Ok(code);
    }
    let staging = Staging::new(&site);
    if !wanted.files.is_empty() {
        log4j::warn(LOGGER, "-file option is deprecated, please use generic option -files instead.");
        say(format!("packageJobJar: [{}] [] none tmpDir=null", wanted.files.join(", ")))?;
    }
    let plan = plan(&site, generic, &wanted, &staging)?;
    let code = if wanted.leaves_it {
        follow::submit(&site, &plan).await?;
        staging.keep();
        log4j::info(LOGGER, "Job is running in background.");
        0
    } else {
        follow::run(&site, &plan).await?
    };
    if code == 0 {
        log4j::info(LOGGER, format!("Output directory: {}", qualified(&site, &wanted.output)?));
    } else {
        log4j::error(LOGGER, "Job not successful!");
        log4j::bare(FAILED);
    }
    Ok(code)
}

/// A path with its scheme.
fn qualified(site: &Site, path: &str) -> Outcome<String> {
    if site.file_system.is_elsewhere(path) {
        return Ok(path.to_owned());
    }
    Ok(site.file_system.uri(&local(site, path)?))
}

/// What a job calls it.
fn named(site: &Site, path: &str) -> Outcome<String> {
    site.file_system.of_job(path).map_err(|problem| Failure::usage(format!("`{path}`: {problem}")))
}

fn local(site: &Site, path: &str) -> Outcome<std::path::PathBuf> {
    site.file_system.local(path).map_err(|problem| Failure::usage(format!("`{path}`: {problem}")))
}

/// Inputs that are not there, and an output that is, have codes of their own.
fn check_paths(site: &Site, wanted: &Wanted) -> Outcome<Option<u8>> {
    // Of what lies elsewhere the master says whether it is there.
    for input in wanted.inputs.iter().filter(|input| !site.file_system.is_elsewhere(input)) {
        let found =
            site.file_system.expand(input).map_err(|problem| Failure::usage(format!("`{input}`: {problem}")))?;
        if !found.iter().any(|named| named.local.exists()) {
            log4j::error(
                LOGGER,
                format!("Error Launching job : Input path does not exist: {}", qualified(site, input)?),
            );
            return Ok(Some(MISSING_INPUT));
        }
    }
    if !site.file_system.is_elsewhere(&wanted.output) && local(site, &wanted.output)?.exists() {
        let output = qualified(site, &wanted.output)?;
        log4j::error(LOGGER, format!("Error Launching job : Output directory {output} already exists"));
        return Ok(Some(OUTPUT_EXISTS));
    }
    Ok(None)
}

/// Reads the streaming options.
fn read(generic: &mut Generic) -> Outcome<Wanted> {
    let mut wanted = Wanted::default();
    let mut partitioner = None;
    let words = std::mem::take(&mut generic.rest);
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if !VALUED.contains(&word.as_str()) {
            match word.as_str() {
                "-verbose" | "-debug" => continue,
                "-lazyOutput" => {
                    let format = "org.apache.hadoop.mapred.TextOutputFormat";
                    wanted.properties.insert(LAZY_OUTPUT.to_owned(), format.to_owned());
                    continue;
                }
                "-background" => {
                    wanted.leaves_it = true;
                    continue;
                }
                _ => return Err(refused(&word)),
            }
        }
        let value = words.next().unwrap_or_default();
        match word.as_str() {
            "-input" => wanted.inputs.extend(value.split(',').map(str::to_owned)),
            "-output" => wanted.output = value,
            "-mapper" => wanted.mapper = command(&word, value, "IdentityMapper")?,
            "-reducer" => wanted.reducer = command(&word, value, "IdentityReducer")?,
            "-combiner" => wanted.combiner = command(&word, value, "IdentityReducer")?,
            "-file" => wanted.files.push(value),
            "-cmdenv" => {
                let list = generic.properties.entry("stream.addenvironment".to_owned()).or_default();
                list.push_str(if list.is_empty() { "" } else { " " });
                list.push_str(&value);
            }
            "-numReduceTasks" => {
                let n = value.trim().parse();
                wanted.n_reduces = Some(
                    n.map_err(|_| Failure::usage(format!("-numReduceTasks {value}: expected a number of tasks")))?,
                );
            }
            "-jobconf" => {
                let (key, value) = value
                    .split_once('=')
                    .ok_or_else(|| Failure::usage(format!("-jobconf {value}: expected KEY=VALUE")))?;
                generic.properties.insert(key.to_owned(), value.to_owned());
            }
            "-cacheFile" => generic.files.push(value),
            "-cacheArchive" => generic.archives.push(value),
            "-partitioner" => partitioner = Some(value),
            "-inputformat" => wanted.format = format(&value)?,
            "-outputformat" if last_part(&value) == "TextOutputFormat" => {}
            "-io" if value == "text" => {}
            _ => return Err(refused(&format!("{word} {value}"))),
        }
    }
    let partitioner = partitioner.or_else(|| {
        property(&generic.properties, ["mapreduce.job.partitioner.class", "mapred.partitioner.class"])
            .map(str::to_owned)
    });
    match partitioner.as_deref().map(last_part) {
        None | Some("HashPartitioner") => {}
        Some("KeyFieldBasedPartitioner") => {
            let class = partitioner.clone().unwrap_or_default();
            wanted.properties.insert("mapreduce.job.partitioner.class".to_owned(), class);
        }
        Some(_) => return Err(refused(&format!("-partitioner {}", partitioner.unwrap_or_default()))),
    }
    if wanted.inputs.is_empty() || wanted.output.is_empty() {
        let what = if wanted.inputs.is_empty() { "-input" } else { "-output" };
        return Err(Failure::usage(format!("streaming: expected {what} PATH")).help(USAGE));
    }
    Ok(wanted)
}

fn refused(what: &str) -> Failure {
    Failure::usage(format!("streaming: {what}: not supported here")).help(USAGE)
}

/// The class without its package.
fn last_part(class: &str) -> &str {
    class.rsplit(['.', '$']).next().unwrap_or(class)
}

/// A command, or nothing for the class that passes records on. Other classes are refused: Java does not run here.
fn command(option: &str, value: String, identity: &str) -> Outcome<Option<String>> {
    let is_class =
        ["org.apache.", "com.", "java."].iter().any(|start| value.starts_with(start)) && !value.contains(' ');
    if value.trim().is_empty() {
        return Err(Failure::usage(format!("{option}: expected a command after it")));
    }
    match last_part(&value) {
        class if is_class && class == identity => Ok(None),
        class if is_class && class.starts_with("ValueAggregator") => Ok(Some("aggregate".to_owned())),
        _ if is_class => Err(refused(&format!("{option} {value}")).help("Java classes do not run here")),
        _ => Ok(Some(value)),
    }
}

fn format(class: &str) -> Outcome<Format> {
    match last_part(class) {
        "TextInputFormat" => Ok(Format::Text),
        "KeyValueTextInputFormat" => Ok(Format::KeyValueText),
        "NLineInputFormat" => Ok(Format::NLine),
        _ => Err(refused(&format!("-inputformat {class}"))
            .help("expected TextInputFormat, KeyValueTextInputFormat or NLineInputFormat")),
    }
}

/// The job. What goes to workers with it is copied into `staging`.
fn plan(site: &Site, generic: Generic, wanted: &Wanted, staging: &Staging) -> Outcome<JobPlan> {
    let Generic { mut properties, files, archives, .. } = generic;
    properties.extend(wanted.properties.clone());
    let name = property(&properties, ["mapreduce.job.name", "mapred.job.name"])
        .map_or_else(|| format!("streamjob{}.jar", std::process::id()), str::to_owned);
    properties.extend(names(&name));
    staging.add(site, &mut properties, &files, &archives, &wanted.files)?;
    let maps_only = wanted.reducer.as_deref() == Some("NONE");
    let request = PlanRequest {
        inputs: wanted.inputs.iter().map(|input| named(site, input)).collect::<Outcome<_>>()?,
        output: Some(named(site, &wanted.output)?),
        n_reduces: if maps_only { Some(0) } else { wanted.n_reduces },
        properties,
        args: Vec::new(),
    };
    let mut plans = howdah_apps::plan("streaming", &request).map_err(|error| Failure::usage(error.to_string()))?;
    let mut plan = plans.pop().ok_or_else(|| Failure::broke("streaming made no job"))?;
    plan.name = name;
    let shipped = |command: &Option<String>| command.as_deref().map(|line| shipped(line, &wanted.files));
    let reducer = shipped(&wanted.reducer).filter(|_| !maps_only);
    let aggregates = reducer.clone().filter(|name| name.eq_ignore_ascii_case("aggregate"));
    plan.app =
        App::Streaming { mapper: shipped(&wanted.mapper), reducer, combiner: shipped(&wanted.combiner).or(aggregates) };
    let mut set = |key: &str, value: &str| {
        plan.properties.entry(key.to_owned()).or_insert(value.to_owned());
    };
    match wanted.format {
        Format::Text => {}
        // Such maps get the key too.
        Format::KeyValueText => {
            set("mapreduce.job.inputformat.class", "org.apache.hadoop.mapred.KeyValueTextInputFormat");
        }
        Format::NLine => {
            set("stream.map.input.ignoreKey", "false");
            let key = ["mapreduce.input.lineinputformat.linespermap", "mapred.line.input.format.linespermap"];
            let lines = property(&plan.properties, key).unwrap_or("1");
            let lines = lines.trim().parse().ok().filter(|&lines| lines > 0);
            let lines = lines
                .ok_or_else(|| Failure::usage(format!("property `{}`: expected a number of lines from 1", key[0])))?;
            plan.input_format = InputFormat::NLine { lines };
        }
    }
    Ok(plan)
}

/// What tasks find in their environment about the job's name.
fn names(name: &str) -> [(String, String); 4] {
    let user = crate::caller::user();
    [("mapreduce.job.name", name), ("mapred.job.name", name), ("mapreduce.job.user.name", &user), ("user.name", &user)]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
}

/// A command whose program is a file of `-file` runs the copy in its own directory.
fn shipped(line: &str, files: &[String]) -> String {
    let (program, rest) = line.split_once(' ').unwrap_or((line, ""));
    let Some(name) = files.iter().find(|file| *file == program).and_then(|file| Path::new(file).file_name()) else {
        return line.to_owned();
    };
    format!("{} {rest}", name.to_string_lossy()).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(words: &[&str]) -> Outcome<(Wanted, Generic)> {
        let mut generic = Generic { rest: words.iter().map(|&word| word.to_owned()).collect(), ..Generic::default() };
        Ok((read(&mut generic)?, generic))
    }

    #[test]
    fn mrjobs_options_are_read() {
        let words = [
            "-partitioner",
            "org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner",
            "-cmdenv",
            "A=1",
            "-cmdenv",
            "B=2",
            "-input",
            "hdfs:///i",
            "-input",
            "hdfs:///j,k",
            "-output",
            "hdfs:///o",
            "-mapper",
            "python3 wc.py --mapper",
            "-combiner",
            "cat",
            "-reducer",
            "org.apache.hadoop.mapred.lib.IdentityReducer",
            "-numReduceTasks",
            "3",
            "-lazyOutput",
            "-background",
        ];
        let (wanted, generic) = wanted(&words).expect("known options");
        assert_eq!(wanted.inputs, ["hdfs:///i", "hdfs:///j", "k"]);
        assert_eq!(
            (wanted.mapper.as_deref(), wanted.reducer, wanted.n_reduces),
            (Some("python3 wc.py --mapper"), None, Some(3))
        );
        assert_eq!(generic.properties["stream.addenvironment"], "A=1 B=2");
        assert!(wanted.properties["mapreduce.job.partitioner.class"].ends_with("KeyFieldBasedPartitioner"));
        assert!(wanted.leaves_it && wanted.properties[LAZY_OUTPUT].ends_with("TextOutputFormat"));
    }

    #[test]
    fn what_is_not_supported_is_refused_by_name() {
        for (words, named) in [
            (&["-inputreader", "StreamXmlRecordReader"][..], "-inputreader StreamXmlRecordReader"),
            (&["-mapdebug", "look.sh"], "-mapdebug look.sh"),
            (&["-io", "typedbytes"], "-io typedbytes"),
            (&["-nonsense"], "-nonsense"),
            (
                &["-mapper", "org.apache.hadoop.mapred.lib.RegexMapper"],
                "-mapper org.apache.hadoop.mapred.lib.RegexMapper",
            ),
            (&["-partitioner", "org.apache.hadoop.mapred.lib.TotalOrderPartitioner"], "TotalOrderPartitioner"),
            (&["-inputformat", "SequenceFileAsTextInputFormat"], "-inputformat SequenceFileAsTextInputFormat"),
            (&["-outputformat", "org.apache.hadoop.mapred.SequenceFileOutputFormat"], "SequenceFileOutputFormat"),
            (&["-output", "o"], "-input"),
        ] {
            let said = wanted(words).expect_err("refused").to_string();
            assert!(said.contains(named), "{words:?}: {said}");
        }
    }

    #[test]
    fn a_program_that_is_shipped_is_called_by_its_name() {
        let files = ["/data/a/map.py".to_owned()];
        assert_eq!(shipped("/data/a/map.py -x", &files), "map.py -x");
        assert_eq!(shipped("python3 /data/a/map.py", &files), "python3 /data/a/map.py");
    }
}
