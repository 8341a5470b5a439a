//! Who makes cores slower for a calibration and puts back what was: a process of its own.
//!
//! The calibration tells it over its standard input which frequency it wants and reads from its standard output that it
//! is set. **When that input ends, whatever ended it, the guard puts everything back**: a calibration that was
//! interrupted, failed or was killed leaves no slow machine behind. It does not share the calibration's process group,
//! so that Ctrl-C does not reach it.
//!
//! ```text
//!  guard ──► {"group": null, "frequencies": [{"nominal_khz": 2268000, "effective_khz": 2268000}, …]}
//!  guard ◄── 2            the third of the list
//!  guard ──► 2            it is set
//!  guard ◄── back         for the time being, what there was
//!  guard ──► back
//!  guard ◄── end of input
//! ```

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::place::Place;
use crate::live::Program;

/// Instead of a number: as it was.
const BACK: &str = "back";

/// How fast a core is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frequency {
    /// As the core reports it, in kHz.
    pub nominal_khz: u64,
    /// Cycles that a task may use, in thousands a second: below the nominal ones under a quota.
    pub effective_khz: u64,
}

/// What the guard can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// The control group in which the frequencies hold; `None`: on the whole machine.
    pub group: Option<PathBuf>,
    /// Descending.
    pub frequencies: Vec<Frequency>,
}

/// What a guard changes.
pub trait Slows {
    /// What it can do.
    fn hello(&self) -> Hello;

    /// Sets one of its frequencies, by its place in the list.
    ///
    /// # Errors
    /// When the machine refuses.
    fn set(&mut self, place: usize) -> Result<()>;

    /// For the time being, makes work outside of its group as fast as it was.
    ///
    /// # Errors
    /// When something could not be put back.
    fn release(&mut self) -> Result<()>;

    /// Puts back what was, for good.
    ///
    /// # Errors
    /// When something could not be put back.
    fn restore(&mut self) -> Result<()>;
}

/// Guards until `input` ends.
///
/// # Errors
/// What could not be set, or not be put back.
pub fn guard(slows: &mut dyn Slows, input: impl BufRead, mut output: impl Write) -> Result<()> {
    let obeyed = obey(slows, input, &mut output);
    let restored = slows.restore();
    obeyed.and(restored)
}

fn obey(slows: &mut dyn Slows, input: impl BufRead, output: &mut impl Write) -> Result<()> {
    let n = slows.hello().frequencies.len();
    let mut tell = |line: String| writeln!(output, "{line}").and_then(|()| output.flush()).context("answer");
    tell(serde_json::to_string(&slows.hello())?)?;
    for line in input.lines() {
        let line = line.context("read what to set")?;
        match line.trim().parse() {
            Ok(place) if place < n => slows.set(place)?,
            _ if line.trim() == BACK => slows.release()?,
            _ => bail!("read what to set: found `{line}`, expected a number below {n}"),
        }
        tell(line)?;
    }
    Ok(())
}

/// A guard at work, as the calibration sees it.
#[derive(Debug)]
pub struct Throttle {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    hello: Hello,
}

impl Throttle {
    /// Starts `howdah calibrate` with these words, which make it a guard, in `place`.
    ///
    /// # Errors
    /// In the guard's own words, why there is nothing to set.
    pub fn start(program: &std::path::Path, words: &[std::ffi::OsString], place: &Place) -> Result<Throttle> {
        let mut command = Program::new(program).command();
        command.arg("calibrate").args(words);
        place.join(&mut command);
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("start the guard of the frequencies")?;
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().context("read from the frequency guard")?);
        let mut line = String::new();
        output.read_line(&mut line).context("read from the frequency guard")?;
        if line.is_empty() {
            drop(input);
            bail!("{}", last_words(child)?.unwrap_or_else(|| "the guard of the frequencies said nothing".to_owned()));
        }
        let hello = serde_json::from_str(&line).with_context(|| format!("read from the frequency guard: `{line}`"))?;
        Ok(Throttle { child, input, output, hello })
    }

    /// What it can do.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Where the frequencies hold, for work that would otherwise run in `place`.
    pub fn place(&self, place: &Place) -> Place {
        self.hello.group.clone().map_or_else(|| place.clone(), Place::Group)
    }

    /// Has one of the frequencies set.
    ///
    /// # Errors
    /// In the guard's words, why it could not be.
    pub fn set(&mut self, place: usize) -> Result<()> {
        self.tell(&place.to_string())
    }

    /// Has what there was put back for the time being.
    ///
    /// # Errors
    /// In the guard's words, what could not be.
    pub fn release(&mut self) -> Result<()> {
        self.tell(BACK)
    }

    fn tell(&mut self, word: &str) -> Result<()> {
        let sent = self.input.as_mut().is_some_and(|input| writeln!(input, "{word}").is_ok());
        let mut line = String::new();
        if sent && self.output.read_line(&mut line).context("read from the frequency guard")? > 0 {
            return Ok(());
        }
        self.end()?;
        bail!("the guard of the frequencies has ended, expected it to obey `{word}`")
    }

    /// Has everything put back.
    ///
    /// # Errors
    /// In the guard's words, what could not be.
    pub fn end(&mut self) -> Result<()> {
        drop(self.input.take());
        let status = self.child.wait().context("wait for the guard of the frequencies")?;
        if status.success() {
            return Ok(());
        }
        let words = self.child.stderr.take().map(std::io::read_to_string).transpose()?.unwrap_or_default();
        bail!("{}", first_error(&words).unwrap_or_else(|| format!("the guard of the frequencies ended with {status}")))
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        // Who wants to know has called it; what matters is that it has put everything back.
        let _ = self.end();
    }
}

fn last_words(child: Child) -> Result<Option<String>> {
    let output = child.wait_with_output().context("wait for the guard of the frequencies")?;
    Ok(first_error(&String::from_utf8_lossy(&output.stderr)))
}

fn first_error(words: &str) -> Option<String> {
    let line = words.lines().find_map(|line| line.strip_prefix("error: ")).or_else(|| words.lines().last())?;
    Some(line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes down what is asked of it; refuses the last frequency.
    #[derive(Default)]
    struct Notes(Vec<String>);

    impl Slows for Notes {
        fn hello(&self) -> Hello {
            let at = |khz| Frequency { nominal_khz: 1_000, effective_khz: khz };
            Hello { group: None, frequencies: vec![at(1_000), at(500), at(250)] }
        }

        fn set(&mut self, place: usize) -> Result<()> {
            self.0.push(format!("set {place}"));
            if place == 2 { bail!("too slow") } else { Ok(()) }
        }

        fn release(&mut self) -> Result<()> {
            self.0.push("back".to_owned());
            Ok(())
        }

        fn restore(&mut self) -> Result<()> {
            self.0.push("restored".to_owned());
            Ok(())
        }
    }

    fn play(input: &str) -> (Vec<String>, Vec<String>, Result<()>) {
        let (mut notes, mut output) = (Notes::default(), Vec::new());
        let result = guard(&mut notes, input.as_bytes(), &mut output);
        let said = String::from_utf8(output).expect("text");
        (notes.0, said.lines().skip(1).map(str::to_owned).collect(), result)
    }

    #[test]
    fn what_is_asked_for_is_set_and_put_back_when_nobody_asks_any_more() {
        let (done, said, result) = play("1\nback\n0\n");
        result.expect("all went well");
        assert_eq!(done, ["set 1", "back", "set 0", "restored"]);
        assert_eq!(said, ["1", "back", "0"]);
        assert_eq!(play("").0, ["restored"]);
    }

    #[test]
    fn what_fails_is_put_back_as_well() {
        let (done, said, result) = play("2\n1\n");
        assert_eq!((done, said.len()), (vec!["set 2".to_owned(), "restored".to_owned()], 0));
        assert_eq!(result.expect_err("it refused").to_string(), "too slow");
        for wrong in ["3\n", "x\n", "-1\n"] {
            let (done, _, result) = play(wrong);
            assert_eq!(done, ["restored"], "{wrong}");
            assert!(result.expect_err(wrong).to_string().contains("expected a number below 3"));
        }
    }

    #[test]
    fn a_guard_that_cannot_says_so() {
        let words = [std::ffi::OsString::from("x")];
        let start = |program: &str| Throttle::start(std::path::Path::new(program), &words, &Place::Here);
        let error = start("/bin/false").expect_err("it says nothing").to_string();
        assert_eq!(error, "the guard of the frequencies said nothing");
        let error = format!("{:#}", start("/bin/echo").expect_err("no JSON"));
        assert!(error.starts_with("read from the frequency guard: `calibrate x"), "{error}");
    }
}
