//! No line on an attempt's end of the umbilical makes its process panic: a worker that dies leaves half of one, and one of another
//! version says what nobody here knows.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::LazyLock;

use howdah_core::job::{App, InputFormat, OutputFormat, Split, TaskKind};
use howdah_fuzz::{Readings, cases, changed, changes, most_held};
use proptest::prelude::*;

use super::link::{Incoming, Link};
use crate::umbilical::{MapEvent, TaskSpec, ToTask};

static READINGS: Readings = Readings::of("lines of a worker");

fn spec() -> TaskSpec {
    TaskSpec {
        job: "job_202611261029_0001".to_owned(),
        attempt: "attempt_202611261029_0001_m_000003_0".to_owned(),
        kind: TaskKind::Map,
        index: 3,
        number: 0,
        app: App::BuiltIn { name: "wordcount".to_owned() },
        properties: [("io.sort.mb".to_owned(), "100".to_owned())].into(),
        n_maps: 4,
        n_reduces: 2,
        input_format: InputFormat::Text,
        split: Some(Split::Generated),
        output: OutputFormat::Files { directory: "/data/out".into() },
        marked: true,
        asks_commit: true,
        local_dir: "/data/local".into(),
        token: "0123456789abcdef".to_owned(),
        worker_name: "lab1".to_owned(),
        log_dir: None,
    }
}

/// One line of each kind.
static GOOD: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let event = |map, address: Option<&str>| MapEvent {
        map,
        attempt: format!("attempt_202611261029_0001_m_{map:06}_0"),
        address: address.map(str::to_owned),
        failed: address.is_none(),
    };
    let events = vec![event(0, Some("127.0.0.1:50060")), event(1, None)];
    let messages = [ToTask::Run(Box::new(spec())), ToTask::MapEvents { events }, ToTask::CommitGranted, ToTask::Exit];
    messages.iter().map(|message| serde_json::to_vec(message).expect("it has a JSON form")).collect()
});

/// What comes of these bytes before the worker's end is closed: messages, and then an error if there was one.
fn receive(bytes: &[u8]) -> (Vec<ToTask>, Option<String>) {
    let (ours, mut worker) = UnixStream::pair().expect("a socket pair");
    let link = Link::new(ours);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // Refused lines are not read to their end.
            let _ = worker.write_all(bytes);
        });
        let mut messages = Vec::new();
        loop {
            match link.receive(None) {
                Ok(Incoming::Message(message)) => messages.push(message),
                Ok(Incoming::Closed) => return (messages, None),
                Ok(Incoming::Nothing) => unreachable!("it waits for ever"),
                Err(error) => {
                    drop(link);
                    return (messages, Some(error.to_string()));
                }
            }
        }
    })
}

fn lines<'a>(lines: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    lines.into_iter().flat_map(|line| [&line[..], b"\n"].concat()).collect()
}

#[test]
fn good_lines_are_taken() {
    let (messages, error) = receive(&lines(&*GOOD));
    assert_eq!((messages.len(), error), (GOOD.len(), None));
    assert_eq!(messages[0], ToTask::Run(Box::new(spec())));
}

proptest! {
    #![proptest_config(cases(1))]

    #[test]
    fn changed_lines_are_taken_or_refused_and_those_before_them_count(which in 0..GOOD.len(), changes in changes()) {
        let other = changed(&GOOD[which], &changes);
        let bytes = lines([&GOOD[2], &other, &GOOD[3]]);
        let ((messages, error), held) = most_held(|| receive(&bytes));
        prop_assert!(held < 64 * bytes.len() + (1 << 20), "{} bytes were held for {}", held, bytes.len());
        prop_assert_eq!(messages.first(), Some(&ToTask::CommitGranted));
        match error {
            None => prop_assert_eq!(messages.last(), Some(&ToTask::Exit)),
            Some(said) => prop_assert!(said.contains("not one of ours"), "{}", said),
        }
        READINGS.add(1);
    }
}
