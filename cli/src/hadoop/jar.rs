//! `hadoop jar FILE …`: which of the known jars a file's name means.

use std::path::Path;

use super::ended::Ended;
use super::site::Site;
use super::{examples, log4j, streaming};
use crate::failure::Failure;

/// What the JVM ends with when Hadoop returns -1.
const NO_JAR: u8 = 255;

/// Runs what the jar of this name stands for. The file must be there, as Hadoop asks, but is not read.
pub(super) async fn run(site: Site, words: &[&str]) -> Ended {
    let Some((&jar, rest)) = words.split_first() else {
        return Err(Failure::usage("hadoop jar: no jar was named").help("hadoop jar FILE.jar ARG…"));
    };
    let path = Path::new(jar);
    if !path.is_file() {
        let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        log4j::bare(&format!("Not a valid JAR: {}", full.display()));
        return Ok(NO_JAR);
    }
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    // Some name the main class; it is in the jar's manifest anyway.
    let rest = match rest {
        ["org.apache.hadoop.streaming.HadoopStreaming", rest @ ..] => rest,
        rest => rest,
    };
    if name.contains("streaming") {
        streaming::run(site, rest).await
    } else if name.contains("examples") || name.contains("jobclient") {
        examples::run(site, rest).await
    } else {
        Err(Failure::usage(format!("hadoop jar: {jar}: Java programs do not run here"))
            .help("expected the jar of Hadoop Streaming, of Hadoop's examples or of its job client's tests (`sleep`), by its name"))
    }
}
