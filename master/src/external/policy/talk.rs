//! What is sent to a program and received from it, and everything that it can do wrong there.

use std::time::{Duration, Instant};

use howdah_core::job::limits;

use super::super::process::{Broken, Process};
use super::super::protocol::{Answer, FirstLine, Line, Notice, PROTOCOL};

/// A program may take so long to say hello: interpreters start slowly on a busy machine.
const FIRST_WORD: Duration = Duration::from_secs(10);
/// Characters of a line that is no answer which are repeated.
const MOST_SHOWN: usize = 120;

/// What a program did wrong; the order is that of `WARNED`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    Late,
    Ended(String),
    Garbage(String),
    Impossible(String),
}

impl Wrong {
    pub(super) fn cause(&self) -> usize {
        match self {
            Wrong::Late => 0,
            Wrong::Ended(_) => 1,
            Wrong::Garbage(_) => 2,
            Wrong::Impossible(_) => 3,
        }
    }
}

impl From<Broken> for Wrong {
    fn from(broken: Broken) -> Wrong {
        match broken {
            Broken::Late => Wrong::Late,
            Broken::Ended => Wrong::Ended(String::new()),
            Broken::Endless => Wrong::Garbage("a line without end".to_owned()),
        }
    }
}

/// The notices that the program wants, and whether it speculates.
pub(super) fn greet(process: &mut Process) -> Result<(Vec<Notice>, bool), Wrong> {
    let until = Instant::now() + FIRST_WORD;
    let mut line = Vec::new();
    put(&mut line, &Line::Hello { protocol: PROTOCOL, howdah: env!("CARGO_PKG_VERSION") });
    match process.send(&line, until) {
        // What it said before it ended tells more.
        Ok(()) | Err(Broken::Ended) => {}
        Err(broken) => return Err(broken.into()),
    }
    let FirstLine::Hello { protocol, notices, speculates } = parse(process.line(until)?)?;
    if protocol != PROTOCOL {
        return Err(Wrong::Garbage(format!("protocol {protocol}, expected {PROTOCOL}")));
    }
    Ok((notices, speculates))
}

/// The answer to one offer; answers to earlier ones, which came too late, are ignored.
pub(super) fn answer_to(process: &mut Process, id: u64, until: Instant) -> Result<Answer, Wrong> {
    loop {
        let answer: Answer = parse(process.line(until)?)?;
        if answer.id == id {
            return Ok(answer);
        }
        if answer.id > id {
            return Err(Wrong::Garbage(format!("an answer to offer {}, expected one to offer {id}", answer.id)));
        }
    }
}

pub(super) fn parse<'a, T: serde::Deserialize<'a>>(line: &'a [u8]) -> Result<T, Wrong> {
    serde_json::from_slice(line).map_err(|error| {
        let shown: String = String::from_utf8_lossy(line).chars().take(MOST_SHOWN).collect();
        // The parser repeats what it found, however long.
        let error = limits::without_middle(error.to_string(), limits::STATUS_BYTES);
        Wrong::Garbage(format!("`{shown}`, {error}").replace(char::is_control, " "))
    })
}

pub(super) fn put(lines: &mut Vec<u8>, line: &Line<'_>) {
    serde_json::to_writer(&mut *lines, line).expect("text and numbers always have a JSON form");
    lines.push(b'\n');
}
