//! Traces in files: read whatever their format, written whole or not at all.
//!
//! Every command that takes a trace takes any format that can be read, plain or gzip, and `-` for standard input.

use std::fs::File;
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use howdah_core::job::profile::{Trace, TraceWorker};
use howdah_traces::{CostModel, Format, ImportNotes, ImportOptions, TraceError, plain, read_any, topology};

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::history_folder::LeftOut;
use crate::interrupt::Interrupt;
use crate::local::cannot;
use crate::output::note;
use crate::output::progress::WatchedRead;
use crate::{history_folder, replay_log, units};

/// Reads a trace of any format, or of the one given; says in the notes what had to be repaired or dropped.
///
/// # Errors
/// Wrong input, with the file, the record and what was expected.
pub(crate) fn read_trace(
    path: &Path,
    format: Option<Format>,
    options: &ImportOptions,
) -> Outcome<(Trace, ImportNotes)> {
    read(path, format, options).map(|(trace, notes, _)| (trace, notes))
}

/// Also the format, where it is known.
fn read(path: &Path, format: Option<Format>, options: &ImportOptions) -> Outcome<(Trace, ImportNotes, Option<Format>)> {
    if path.is_dir() {
        return read_histories(path, format);
    }
    let source = open(path, "trace read")?;
    let mut notes = ImportNotes::default();
    let mut source = plain(source).map_err(|error| wrong(path, &error))?;
    // The log of a replay holds histories, which only this side of the house knows.
    let head = source.fill_buf().map_err(|error| cannot("read", path, &error))?;
    if matches!(format, None | Some(Format::Howdah)) && replay_log::is_log(head) {
        let trace = replay_log::read(&mut source, &mut notes).map_err(|error| wrong(path, &error))?;
        note_idle(path, None, options);
        return Ok((trace, notes, None));
    }
    let format = format.or_else(|| Format::detect(head));
    note_idle(path, format, options);
    if format == Some(Format::Jhist) && !is_dash(path) {
        let read = history_folder::read_jobs(path, source, &mut notes);
        let (jobs, left_out) = read.map_err(|error| wrong(path, &error))?;
        name_left_out(&left_out);
        return Ok((jobs.finish("Hadoop job history (.jhist)", &mut notes), notes, format));
    }
    let trace = read_any(source, format, options, &mut notes).map_err(|error| wrong(path, &error))?;
    Ok((trace, notes, format))
}

/// A cluster's folder of job histories; those that do not read are named, the first ones one by one.
fn read_histories(path: &Path, format: Option<Format>) -> Outcome<(Trace, ImportNotes, Option<Format>)> {
    if let Some(other) = format.filter(|format| *format != Format::Jhist) {
        return Err(Failure::usage(format!(
            "trace {} is a folder, expected a file: format {}",
            name_of(path),
            other.name()
        ))
        .help("a folder is read as job histories, `.jhist`"));
    }
    let mut notes = ImportNotes::default();
    let (trace, left_out) = history_folder::read(path, &mut notes).map_err(|error| wrong(path, &error))?;
    name_left_out(&left_out);
    Ok((trace, notes, Some(Format::Jhist)))
}

fn name_left_out(files: &[LeftOut]) {
    for (file, error) in files.iter().take(FILES_NAMED) {
        note(format!("warning: left out `{}`: {error}", file.display()));
    }
    if files.len() > FILES_NAMED {
        note(format!("warning: and {} more", units::counted((files.len() - FILES_NAMED) as u64, "file")));
    }
}

/// Reads a trace of any format for work on its jobs; says in one line what had to be repaired or dropped, and in one
/// that nobody measured its times, unless `options` say how they are to be made.
///
/// # Errors
/// As [`read_trace`]; also a trace without jobs.
pub(crate) fn read_jobs(path: &Path, options: &ImportOptions) -> Outcome<Trace> {
    let (trace, notes, format) = read(path, None, options)?;
    note_repairs(path, &notes);
    if matches!(format, Some(Format::Swim | Format::Coflow)) && *options == ImportOptions::default() {
        let name = name_of(path);
        note(format!(
            "note: {name} tells bytes: the cost model made tasks of them by its defaults; -D of `howdah trace import` sets others"
        ));
    }
    if trace.jobs.is_empty() {
        return Err(Failure::usage(format!("trace {}: found no jobs, expected at least one", name_of(path))));
    }
    Ok(trace)
}

/// Settings of another format than the trace's would be taken for what made it so.
fn note_idle(path: &Path, format: Option<Format>, options: &ImportOptions) {
    let plain = ImportOptions::default();
    for (its, set) in [(Format::Swim, options.swim != plain.swim), (Format::Coflow, options.coflow != plain.coflow)] {
        if set && format != Some(its) {
            note(format!("note: {} has another format: -D {}.… changes nothing", name_of(path), its.name()));
        }
    }
}

/// Damaged files of a folder that are named; more are counted.
const FILES_NAMED: usize = 20;
/// More reasons than this are only counted: a replay is asked for its answer, not for the trace's past.
const REASONS_TOLD: usize = 3;

fn note_repairs(path: &Path, notes: &ImportNotes) {
    let name = name_of(path);
    if notes.iter().len() > REASONS_TOLD {
        let times = units::count(notes.iter().map(|(_, found)| found.count).sum());
        note(format!("note: {name} was repaired {times} times while reading; `howdah trace info` tells how and why"));
        return;
    }
    for (reason, found) in notes.iter() {
        note(format!("note: {name}: {} × {reason} (first: {})", units::count(found.count), found.first));
    }
}

/// A file or standard input, with progress for who waits: of the bytes as they lie there, compressed or not.
fn open(path: &Path, what: &'static str) -> Outcome<WatchedRead<Box<dyn Read>>> {
    if is_dash(path) {
        return Ok(WatchedRead::new(Box::new(io::stdin().lock()), None, what));
    }
    let file = File::open(path).map_err(|error| cannot("open", path, &error))?;
    // A pipe has no size.
    let size = file.metadata().ok().filter(|data| data.is_file()).map(|data| data.len());
    Ok(WatchedRead::new(Box::new(file), size, what))
}

/// Reads the workers of a topology, gzip or not.
///
/// # Errors
/// Wrong input, with the file, the record and what was expected.
pub(crate) fn read_topology(path: &Path) -> Outcome<(Vec<TraceWorker>, ImportNotes)> {
    let mut notes = ImportNotes::default();
    let workers = plain(open(path, "topology read")?)
        .and_then(|source| topology::read(source, &mut notes))
        .map_err(|error| Failure::usage(format!("topology {}, {error}", name_of(path))))?;
    Ok((workers, notes))
}

/// The settings given with `-D`.
///
/// # Errors
/// A setting that does not exist, or a value that it cannot have.
pub(crate) fn import_options(settings: &[(String, String)]) -> Outcome<ImportOptions> {
    let mut options = ImportOptions::default();
    for (key, value) in settings {
        let (trace, name) = key.split_once('.').unwrap_or((key, ""));
        let model = match trace {
            "swim" => &mut options.swim,
            "coflow" => &mut options.coflow,
            _ => return Err(unknown_setting(key)),
        };
        set(model, name, value)
            .ok_or_else(|| unknown_setting(key))?
            .map_err(|error| Failure::usage(format!("-D {key}: found `{value}`: {error}")))?;
    }
    Ok(options)
}

/// `None` when the model has no such setting.
fn set(model: &mut CostModel, name: &str, value: &str) -> Option<Result<(), String>> {
    let bytes =
        || units::parse_bytes(value).and_then(|n| if n == 0 { Err("expected at least 1".to_owned()) } else { Ok(n) });
    Some(match name {
        "split" => bytes().map(|n| model.split_bytes = n),
        "reduce-bytes" => bytes().map(|n| model.reduce_bytes = n),
        "map-rate" => bytes().map(|n| model.map_rate = n),
        "shuffle-rate" => bytes().map(|n| model.shuffle_rate = n),
        "reduce-rate" => bytes().map(|n| model.reduce_rate = n),
        "startup" => units::parse_duration(value).map(|span| model.startup_ms = span.as_millis() as u64),
        "overlap" => match value.parse::<f64>() {
            Ok(share) if (0.0..=1.0).contains(&share) => {
                model.overlap_ppm = (share * 1e6).round() as u32;
                Ok(())
            }
            _ => Err("expected a share from 0 to 1".to_owned()),
        },
        _ => return None,
    })
}

fn unknown_setting(key: &str) -> Failure {
    Failure::usage(format!("-D `{key}`: there is no such setting")).help(
        "swim. or coflow. with split, reduce-bytes, map-rate, shuffle-rate, reduce-rate (per second), startup or overlap",
    )
}

/// The name of a trace in messages.
pub(crate) fn name_of(path: &Path) -> String {
    if is_dash(path) { "standard input".to_owned() } else { format!("`{}`", path.display()) }
}

fn wrong(path: &Path, error: &TraceError) -> Failure {
    let failure = Failure::usage(format!("trace {}, {error}", name_of(path)));
    match error {
        TraceError::Format { found, .. } if found.starts_with("`SQLite format 3") => {
            failure.help("`howdah trace get NAME --db FILE` takes a trace out of a database")
        }
        TraceError::Format { found, .. } if ["\"children\"", "\"nodes\""].iter().any(|key| found.contains(key)) => {
            failure.help("a topology or list of nodes goes with a trace: `--topology FILE`")
        }
        TraceError::Format { .. } => failure.help("`howdah trace import --format NAME` says which format it is"),
        TraceError::Io { .. } | TraceError::Malformed { .. } => failure,
    }
}

/// Whether standard input or output is meant.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether [`write_file`] will find the folder of the file that a flag names, for work that is long to check first.
///
/// # Errors
/// Names the flag, the file and what was expected.
pub(crate) fn check_folder(flag: &str, path: &Path) -> Outcome<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if folder.is_dir() && !path.is_dir() {
        return Ok(());
    }
    Err(Failure::usage(format!("{flag}: found `{}`, expected a file in a directory that exists", path.display())))
}

/// As [`check_folder`], for a figure: its name must end in .svg.
///
/// # Errors
/// Names the flag, the file and what was expected.
pub(crate) fn check_figure(flag: &str, path: &Path) -> Outcome<()> {
    if path.extension().is_none_or(|end| end != "svg") {
        let found = path.display();
        return Err(Failure::usage(format!("{flag}: found `{found}`, expected a name that ends in .svg")));
    }
    check_folder(flag, path)
}

/// Calls `write` with a file beside `path` that takes its place in the end, so that `path` is never half written;
/// a name that ends in `.gz` is compressed.
///
/// What exists and is no file (a pipe, a device) is written into as it is.
///
/// # Errors
/// When the file cannot be made, written or moved.
pub(crate) fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Outcome<()> {
    let failed = |error: io::Error| cannot("write", path, &error);
    let compressed = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
    if std::fs::metadata(path).is_ok_and(|data| !data.is_file()) {
        let file = File::options().write(true).open(path).map_err(failed)?;
        return into(file, compressed, write).map_err(failed);
    }
    // A link keeps pointing where it points.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let temporary = tempfile::Builder::new()
        .prefix(".howdah-")
        // The user's own mask takes away what it should.
        .permissions(std::fs::Permissions::from_mode(0o666))
        .tempfile_in(&folder)
        .map_err(failed)?;
    into(temporary.as_file(), compressed, write).map_err(failed)?;
    temporary.as_file().sync_all().map_err(failed)?;
    temporary.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

fn into(file: impl Write, compressed: bool, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, file);
    if compressed {
        let mut gzip = GzEncoder::new(&mut out, Compression::default());
        write(&mut gzip)?;
        gzip.finish()?;
    } else {
        write(&mut out)?;
    }
    out.flush()
}

/// As [`write_file`], but a signal ends it: nothing of the file stays then, neither in its place nor beside it.
///
/// # Errors
/// As [`write_file`], or interrupted.
pub(crate) fn write_until(
    interrupt: &Interrupt,
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Outcome<()> {
    write_file(path, |out| write(&mut interrupt.guard(out))).map_err(|failure| {
        let said = format!("interrupted; `{}` was not written", path.display());
        if interrupt.came() { Failure::new(Exit::Interrupted, said) } else { failure }
    })
}

/// Writes to the file, or to standard output when there is none or it is `-`. Ctrl-C leaves no half a file, also none
/// of a made-up name.
///
/// # Errors
/// As [`write_until`]; a closed pipe is silence.
pub(crate) fn write_out(out: Option<&Path>, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Outcome<()> {
    match out {
        Some(path) if !is_dash(path) => write_until(&Interrupt::listen()?, path, write),
        _ => Ok(into(io::stdout().lock(), false, write)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_takes_its_place_at_once_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        write_file(&path, |out| out.write_all(b"first")).unwrap();
        write_file(&path, |out| {
            out.write_all(b"second")?;
            Err(io::Error::other("no more"))
        })
        .unwrap_err();
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_interrupted_file_leaves_nothing_and_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let failure = write_until(&Interrupt::raised(), &path, |out| out.write_all(b"half")).unwrap_err();
        assert_eq!(failure.exit(), Exit::Interrupted);
        assert!(failure.to_string().ends_with("t.jsonl` was not written"), "{failure}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_trace_named_gz_is_compressed_and_reads_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl.gz");
        let trace = Trace { source: "a test".to_owned(), ..Trace::default() };
        write_file(&path, |out| howdah_traces::howdah::write(&trace, out)).unwrap();
        assert_eq!(std::fs::read(&path).unwrap()[..2], [0x1f, 0x8b]);
        let (found, notes) = read_trace(&path, None, &ImportOptions::default()).unwrap();
        assert_eq!((found, notes.is_empty()), (trace, true));
    }

    #[test]
    fn a_file_of_no_known_format_says_so_with_advice() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("poem");
        std::fs::write(&path, "Shall I compare thee").unwrap();
        let said = read_trace(&path, None, &ImportOptions::default()).unwrap_err().to_string();
        assert!(
            said.contains("poem`, format: found `Shall I compare thee`, expected the beginning of a trace"),
            "{said}"
        );
        assert!(said.contains("help: `howdah trace import --format NAME`"), "{said}");
    }

    #[test]
    fn settings_reach_their_model_and_wrong_ones_are_named() {
        let pair = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let given = |pairs: &[(&str, &str)]| import_options(&pairs.iter().map(pair).collect::<Vec<_>>());
        let options = given(&[("swim.split", "1MiB"), ("swim.overlap", "0.25"), ("coflow.startup", "1.5s")]).unwrap();
        assert_eq!(
            (options.swim.split_bytes, options.swim.overlap_ppm, options.coflow.startup_ms),
            (1 << 20, 250_000, 1_500)
        );
        let said = |key, value| given(&[(key, value)]).unwrap_err().to_string();
        assert!(said("swim.split", "0").starts_with("error: -D swim.split: found `0`: expected at least 1"));
        assert!(said("swim.overlap", "2").contains("expected a share from 0 to 1"));
        assert!(said("swim.spilt", "1").starts_with("error: -D `swim.spilt`: there is no such setting"));
    }
}
