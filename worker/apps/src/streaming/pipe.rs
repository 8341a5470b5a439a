//! A running command: lines go in, lines come out, and neither side can block the other.
//!
//! Three threads serve the pipes; the attempt's own thread waits for one thing only, the next event. A chunk of
//! input is handed over when the writer has asked for it, so a command that writes much before it reads on is
//! heard out first.

use std::io::{self, Read, Write};
use std::os::unix::process::parent_id;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::Duration;

use howdah_task::{Context, Result, TaskError, interpreter, longest_line};

use super::lines::Lines;
use super::reporter::{self, Report};
use super::{command, environment};
use crate::cache;

/// Input is handed over in chunks of this size: Hadoop's buffer.
const CHUNK: usize = 128 << 10;
/// Events that may wait; those of output are chunks of at most half this size.
const EVENTS: usize = 16;
/// How often a silent command's reader looks whether its worker is still there.
const LOOK: Duration = Duration::from_secs(2);

enum Event {
    /// The writer has nothing to do.
    Hungry,
    /// The command reads no more.
    InputClosed(io::Error),
    Output(Vec<u8>),
    Error(Vec<u8>),
    /// Standard output or error has ended.
    Ended,
}

/// A started command.
pub(super) struct Pipe {
    child: Child,
    context: Context,
    /// `None` once all input has been handed over.
    writer: Option<Sender<Vec<u8>>>,
    events: Receiver<Event>,
    input: Vec<u8>,
    hungry: bool,
    input_closed: Option<io::Error>,
    open_streams: u8,
    output: Lines,
    error: Lines,
    prefix: String,
    worker: u32,
}

impl Pipe {
    /// Starts a command in the attempt's directory.
    pub(super) fn start(line: &str, context: &Context) -> Result<Pipe> {
        cache::provide(context)?;
        let (directory, most) = (context.local_dir(), longest_line(context.properties())?);
        let mut command = command::parse(line, directory).ok_or_else(|| format!("`{line}` is not a command"))?;
        command.current_dir(directory).envs(environment::variables(context));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|source| {
            let script = interpreter::whose_is_missing(&directory.join(command.get_program()), &source);
            TaskError::Missing { what: format!("start the command `{line}`{script}"), source }
        })?;
        let (events, receiver) = mpsc::sync_channel(EVENTS);
        let (writer, chunks) = mpsc::channel();
        let stdin = child.stdin.take().expect("asked for above");
        let stdout = child.stdout.take().expect("asked for above");
        let stderr = child.stderr.take().expect("asked for above");
        thread::spawn({
            let events = events.clone();
            move || write_all(stdin, &chunks, &events)
        });
        thread::spawn({
            let events = events.clone();
            move || read_all(stdout, &events, Event::Output)
        });
        thread::spawn(move || read_all(stderr, &events, Event::Error));
        let prefix = context.properties().get("stream.stderr.reporter.prefix").unwrap_or("reporter:").to_owned();
        Ok(Pipe {
            child,
            context: context.clone(),
            writer: Some(writer),
            events: receiver,
            input: Vec::with_capacity(2 * CHUNK),
            hungry: false,
            input_closed: None,
            open_streams: 2,
            output: Lines::of_records(most),
            error: Lines::of_words(),
            prefix,
            worker: parent_id(),
        })
    }

    /// Gives the command a line, made of these pieces, and hands the lines that it has written to `each`.
    pub(super) fn feed(&mut self, pieces: &[&[u8]], each: &mut impl FnMut(&[u8]) -> Result) -> Result {
        pieces.iter().for_each(|piece| self.input.extend_from_slice(piece));
        self.input.push(b'\n');
        if self.input.len() < CHUNK {
            return Ok(());
        }
        while !self.hungry && self.input_closed.is_none() {
            self.next_event(each)?;
        }
        if let Some(error) = self.input_closed.take() {
            // Its end says more about the reason than the broken pipe, if it says anything.
            self.drain(each)?;
            return Err(format!("the command stopped reading before its input ended: {error}").into());
        }
        self.hand_over();
        Ok(())
    }

    /// Ends the input, hands the remaining lines to `each`, and judges how the command ended.
    pub(super) fn finish(&mut self, each: &mut impl FnMut(&[u8]) -> Result) -> Result {
        // A command that does not read its last lines has not failed for that.
        self.hand_over();
        self.drain(each)
    }

    fn hand_over(&mut self) {
        let chunk = std::mem::replace(&mut self.input, Vec::with_capacity(2 * CHUNK));
        self.hungry = false;
        if let Some(writer) = &self.writer {
            // The writer ends only when the command has closed its input, and then it has said so.
            let _ = writer.send(chunk);
        }
    }

    fn drain(&mut self, each: &mut impl FnMut(&[u8]) -> Result) -> Result {
        self.writer = None;
        while self.open_streams > 0 {
            self.next_event(each)?;
        }
        self.output.finish(&mut *each)?;
        let (context, prefix) = (&self.context, self.prefix.as_str());
        self.error.finish(|line| report(context, prefix, line))?;
        let status = self.child.wait().map_err(|error| format!("wait for the command: {error}"))?;
        let strict = "stream.non.zero.exit.is.failure";
        let strict = self.context.properties().parse_or(&[strict], true, "true or false")?;
        command::failure(status).filter(|_| strict).map_or(Ok(()), |failure| Err(failure.into()))
    }

    fn next_event(&mut self, each: &mut impl FnMut(&[u8]) -> Result) -> Result {
        let event = loop {
            match self.events.recv_timeout(LOOK) {
                Ok(event) => break event,
                Err(RecvTimeoutError::Timeout) if parent_id() == self.worker => {}
                Err(RecvTimeoutError::Timeout) => return Err("the worker is gone".into()),
                Err(RecvTimeoutError::Disconnected) => return Err("the command's pipes ended early".into()),
            }
        };
        match event {
            Event::Hungry => self.hungry = true,
            Event::InputClosed(error) => self.input_closed = Some(error),
            Event::Ended => self.open_streams -= 1,
            Event::Output(chunk) => {
                self.output.push(&chunk, &mut *each)?;
                self.context.progress()?;
            }
            Event::Error(chunk) => {
                let (context, prefix) = (&self.context, self.prefix.as_str());
                self.error.push(&chunk, |line| report(context, prefix, line))?;
                self.context.progress()?;
            }
        }
        Ok(())
    }
}

impl Drop for Pipe {
    /// A command that is not wanted any more must not outlive its attempt. After a good end this does nothing.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Does what a line on standard error asks for, or passes it on to the attempt's own.
fn report(context: &Context, prefix: &str, line: &[u8]) -> Result {
    match reporter::parse(line, prefix) {
        Some(Report::Count { group, name, amount }) => context.count(&group, &name, amount),
        Some(Report::Status(message)) => context.set_status(message),
        Some(Report::Malformed) => context.log(&format!("cannot read `{}`", line.escape_ascii())),
        None => {
            let mut stderr = io::stderr().lock();
            // Nobody is left to be notified that standard error is broken.
            let _ = stderr.write_all(line).and_then(|()| stderr.write_all(b"\n"));
        }
    }
    Ok(())
}

fn write_all(mut stdin: ChildStdin, chunks: &Receiver<Vec<u8>>, events: &SyncSender<Event>) {
    while events.send(Event::Hungry).is_ok() {
        let Ok(chunk) = chunks.recv() else { return };
        if let Err(error) = stdin.write_all(&chunk) {
            let _ = events.send(Event::InputClosed(error));
            return;
        }
    }
}

fn read_all(mut stream: impl Read, events: &SyncSender<Event>, event: fn(Vec<u8>) -> Event) {
    let mut chunk = vec![0; CHUNK / 2];
    loop {
        match stream.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => break,
            Ok(n) => {
                if events.send(event(chunk[..n].to_vec())).is_err() {
                    return;
                }
            }
        }
    }
    let _ = events.send(Event::Ended);
}
