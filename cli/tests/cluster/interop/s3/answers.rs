//! No answer of a store makes its client panic, ask without end, or say what is no name: the XML, the heads and the numbers of a
//! server that anybody may run.
//!
//! The client is in no usual build, so these stand beside the tests of the build that has it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use howdah_fuzz::{Readings, cases, changed, changes};
use howdah_s3::{Client, Credentials, Error, ObjectReader, Store};
use howdah_webhdfs::Patience;
use proptest::prelude::*;

static READINGS: Readings = Readings::of("answers of stores");

const PATIENCE: Patience = Patience {
    connect: Duration::from_secs(5),
    idle: Duration::from_secs(5),
    answer: Duration::from_secs(5),
    waits: &[],
};

/// Says what to answer a request, by its first line.
type Answer = Arc<Mutex<Box<dyn Fn(&str) -> Vec<u8> + Send>>>;

/// A store that gives one answer to each connection.
struct Fake {
    client: Client,
    answer: Answer,
}

impl Fake {
    fn start() -> Fake {
        let answer: Answer = Arc::new(Mutex::new(Box::new(|_| Vec::new())));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let endpoint = format!("http://{}", listener.local_addr().expect("it is bound"));
        let answers = Arc::clone(&answer);
        std::thread::spawn(move || {
            for peer in listener.incoming().flatten() {
                serve(peer, &answers);
            }
        });
        let store = Store { endpoint, region: "us-east-1".to_owned() };
        let skips = |name: &str| (name == "AWS_SKIP_SIGNATURE").then(|| "true".to_owned());
        let nobody = Credentials::of_environment(skips).expect("nobody is fine");
        Fake { client: Client::new(&store, nobody, "data", PATIENCE).expect("a client"), answer }
    }

    fn answers(&self, with: impl Fn(&str) -> Vec<u8> + Send + 'static) {
        *self.answer.lock().expect("nobody panicked") = Box::new(with);
    }
}

/// Reads a request with its body, which is short, and answers; a client that is gone is nobody's trouble.
fn serve(mut peer: TcpStream, answers: &Answer) {
    let (mut request, mut piece) = (Vec::new(), [0; 4_096]);
    loop {
        let Ok(n @ 1..) = peer.read(&mut piece) else { return };
        request.extend_from_slice(&piece[..n]);
        let text = String::from_utf8_lossy(&request);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length =
            head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if body.len() >= length.unwrap_or(0_usize) {
            let first = head.lines().next().unwrap_or_default().to_owned();
            let answer = answers.lock().expect("nobody panicked")(&first);
            let _ = peer.write_all(&answer);
            return;
        }
    }
}

const LIST: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult \
    xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>data</Name><Prefix>in/</Prefix><KeyCount>2</KeyCount>\
    <MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated><Contents><Key>in/part-00000</Key>\
    <LastModified>2026-11-26T12:00:00.000Z</LastModified><ETag>&quot;9b2c&quot;</ETag><Size>7</Size>\
    <StorageClass>STANDARD</StorageClass></Contents><CommonPrefixes><Prefix>in/more/</Prefix></CommonPrefixes>\
    </ListBucketResult>";
const BEGIN: &str = "<InitiateMultipartUploadResult><Bucket>data</Bucket><Key>in</Key><UploadId>2~abc</UploadId>\
    </InitiateMultipartUploadResult>";
const COMPLETE: &str = "<CompleteMultipartUploadResult><Location>http://s3/data/in</Location><Bucket>data</Bucket><Key>in\
    </Key><ETag>\"9b2c-1\"</ETag></CompleteMultipartUploadResult>";
const ERROR: &str = "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message>\
    <RequestId>4442587FB7D0A2F9</RequestId></Error>";
const BODIES: [&str; 5] = [LIST, BEGIN, COMPLETE, ERROR, "abcdefg"];

/// Whole answers: lines of the head, and a body with the length that it has.
fn answer(status: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nETag: \"9b2c\"\r\nLast-Modified: Thu, 26 Nov 2026 12:00:00 GMT\r\n\
         Content-Range: bytes 0-6/7\r\nConnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

static FAKE: LazyLock<Mutex<Fake>> = LazyLock::new(|| Mutex::new(Fake::start()));

/// Asks everything. Whatever a store says of it is right, as long as it is said on one line.
fn ask_all(client: &Client) {
    let note = |said: Result<(), Error>| {
        if let Err(error) = said {
            let said = error.to_string();
            assert!(!said.chars().any(char::is_control) && said.len() < 2_000, "{said:?}");
        }
    };
    note(client.status("/in").map(drop));
    let listed = std::cell::Cell::new(0);
    let list = client.list("/in", 10_000, &|| {
        listed.set(listed.get() + 1);
        listed.get() < 100
    });
    note(list.map(|entries| {
        for entry in &entries {
            let is_name =
                !entry.name.is_empty() && !entry.name.contains('/') && !entry.name.chars().any(char::is_control);
            assert!(is_name, "{entry:?}");
        }
    }));
    assert!(listed.get() < 100, "it asks without end");
    note(client.small("/in").map(|bytes| assert!(bytes.len() <= 1 << 20)));
    let mut read = Vec::new();
    let done = ObjectReader::new(client.clone(), "/in", 7, 0, 7).take(8).read_to_end(&mut read);
    assert!(read.len() <= 7 && (done.is_err() || read.len() == 7), "{read:?}");
    note(client.put("/in", b"x".to_vec()));
    note(client.put_new("/in", b"x".to_vec()));
    note(client.delete("/in"));
    match client.begin("/in", 3) {
        Ok(mut pending) => {
            assert!(pending.upload.is_some());
            note(client.upload(&mut pending, &mut &b"abc"[..]));
            note(client.complete(&pending));
            note(client.abandon(&pending));
        }
        Err(error) => note(Err(error)),
    }
}

#[test]
fn good_answers_are_understood() {
    let fake = Fake::start();
    fake.answers(|_| answer("200 OK", LIST.as_bytes()));
    let mut names: Vec<String> =
        fake.client.list("/in", 10, &|| true).expect("a list").into_iter().map(|entry| entry.name).collect();
    names.sort();
    assert_eq!(names, ["more", "part-00000"]);
    fake.answers(|_| answer("200 OK", BEGIN.as_bytes()));
    assert_eq!(fake.client.begin("/in", 3).expect("an upload").upload.as_deref(), Some("2~abc"));
    fake.answers(|_| answer("206 Partial Content", b"abcdefg"));
    let mut text = String::new();
    ObjectReader::new(fake.client.clone(), "/in", 7, 0, 7).read_to_string(&mut text).expect("an object");
    assert_eq!(text, "abcdefg");
}

#[test]
fn a_list_that_does_not_end_and_directories_without_end_are_refused() {
    let fake = Fake::start();
    let more = "<IsTruncated>true</IsTruncated><NextContinuationToken>again</NextContinuationToken>";
    let page = LIST.replace("<IsTruncated>false</IsTruncated>", more);
    fake.answers(move |_| answer("200 OK", page.as_bytes()));
    let said = fake.client.list("/in", usize::MAX, &|| true).expect_err("it does not end").to_string();
    assert!(said.contains("is followed by itself"), "{said}");
    // Whatever is asked for has a directory in it.
    fake.answers(|first| {
        let asked = first.split("prefix=").nth(1).map_or("", |rest| rest.split(['&', ' ']).next().unwrap_or_default());
        let prefix = asked.replace("%2F", "/");
        let list = LIST.replace("in/more/", &format!("{prefix}deep/"));
        let (before, rest) = list.split_once("<Contents>").expect("it has one");
        let (_, after) = rest.split_once("</Contents>").expect("it ends");
        answer("200 OK", [before, after].concat().as_bytes())
    });
    let said = fake.client.remove("/in", false).expect_err("it does not end").to_string();
    assert!(said.contains("expected at most 1024"), "{said}");
}

proptest! {
    #![proptest_config(cases(4))]

    #[test]
    fn changed_answers_are_understood_or_refused(
        which in 0..BODIES.len(),
        status in prop::sample::select(&["200 OK", "206 Partial Content", "404 Not Found", "503 Slow Down", "412 No"][..]),
        of_body in changes(),
        of_all in prop::option::weighted(0.3, changes()),
    ) {
        let body = changed(BODIES[which].as_bytes(), &of_body);
        let whole = changed(&answer(status, &body), of_all.as_deref().unwrap_or_default());
        let fake = FAKE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        fake.answers(move |_| whole.clone());
        ask_all(&fake.client);
        READINGS.add(11);
    }
}
