//! The last step of an upload, after which its object is there.
//!
//! A store may take minutes for it, and says nothing meanwhile or sends white space after a `200`; what comes in the end may be an
//! error all the same (see `verdict`). So this request has a deadline of its own, and what a try without
//! an answer has done is looked at before the next one: an object that is there whole is not made a second time, and one that is
//! not this upload's is not replaced. Source: Amazon S3's API reference, CompleteMultipartUpload.

use std::thread::sleep;
use std::time::Instant;

use object_store::ObjectStoreExt;
use object_store::multipart::{MultipartStore, PartId};

use crate::client::Client;
use crate::error::Error;
use crate::pending::Pending;

impl Client {
    /// Makes the object of what was uploaded, if that was not done before.
    ///
    /// # Errors
    /// [`Error::Missing`] when there is neither the upload nor the object, [`Error::Exists`] when another object is there, or the
    /// store refuses or does not answer.
    pub fn complete(&self, pending: &Pending) -> Result<(), Error> {
        let Some(upload) = &pending.upload else { return self.put(&pending.path, Vec::new()) };
        let key = self.key(&pending.path)?;
        let parts: Vec<PartId> = pending.tags.iter().map(|tag| PartId { content_id: tag.clone() }).collect();
        // No further try is begun after this.
        let until = Instant::now() + self.inner.complete * 2;
        let mut waits = self.inner.patience.waits.iter();
        loop {
            let error = match self.once(self.inner.bucket.complete_multipart(&key, upload, parts.clone())) {
                Ok(_) => return Ok(()),
                Err(error) => error,
            };
            let is_gone = error.is_missing();
            if !is_gone && !error.is_trouble() {
                return Err(error);
            }
            match self.wait(|| self.inner.bucket.head(&key)) {
                // A try before this one has done it, whose answer did not come.
                Ok(there) if there.size == pending.length => return Ok(()),
                Ok(_) => return Err(Error::Exists),
                Err(Error::Missing) if !is_gone => {}
                Err(error) => return Err(error),
            }
            match waits.next().filter(|_| Instant::now() < until) {
                Some(&wait) => sleep(wait),
                None => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use howdah_webhdfs::Patience;

    use super::*;
    use crate::http::DEADLINE;
    use crate::store::{Credentials, Store};

    const SHORT: Duration = Duration::from_millis(200);
    /// Longer than any other wait has.
    const LATE: Duration = Duration::from_millis(700);
    const PATIENCE: Patience =
        Patience { connect: Duration::from_secs(5), idle: SHORT, answer: SHORT, waits: &[Duration::from_millis(1); 3] };
    const DONE: &str =
        "<?xml version=\"1.0\"?>\n<CompleteMultipartUploadResult><ETag>\"1\"</ETag></CompleteMultipartUploadResult>";

    /// What the store says to one request, with a pause before each piece; then it hangs up.
    #[derive(Clone)]
    struct Says(Vec<(Duration, String)>);

    fn says(status: &str, body: &str) -> Says {
        let fields = format!("Content-Length: {}\r\nConnection: close", body.len());
        Says(vec![(Duration::ZERO, format!("HTTP/1.1 {status}\r\n{fields}\r\n\r\n{body}"))])
    }

    fn head(length: u64) -> Says {
        let fields = "Connection: close\r\nETag: \"1\"\r\nLast-Modified: Thu, 26 Nov 2026 12:00:00 GMT";
        Says(vec![(Duration::ZERO, format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n{fields}\r\n\r\n"))])
    }

    /// A `200` whose body comes in these pieces, without a length.
    fn slowly(pieces: &[(Duration, &str)]) -> Says {
        let mut said = vec![(Duration::ZERO, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".to_owned())];
        said.extend(pieces.iter().map(|(pause, text)| (*pause, (*text).to_owned())));
        Says(said)
    }

    /// A store that says these to the completions that come, and those to questions for the object; then it hangs up on each.
    struct Loopback {
        store: Store,
        /// The methods of all requests.
        asked: Arc<Mutex<Vec<String>>>,
    }

    impl Loopback {
        fn new(completions: &[Says], heads: &[Says]) -> Loopback {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let endpoint = format!("http://{}", listener.local_addr().unwrap());
            let asked: Arc<Mutex<Vec<String>>> = Arc::default();
            let (seen, answers) = (Arc::clone(&asked), Mutex::new((completions.to_vec(), heads.to_vec())));
            std::thread::spawn(move || {
                std::thread::scope(|scope| {
                    for peer in listener.incoming() {
                        let (peer, seen, answers) = (peer.unwrap(), &seen, &answers);
                        scope.spawn(move || answer(peer, seen, answers));
                    }
                });
            });
            Loopback { store: Store { endpoint, region: "us-east-1".to_owned() }, asked }
        }

        fn complete(&self, deadline: Duration) -> Result<(), Error> {
            let client = Client::with_deadline(&self.store, Credentials(None), "bucket", PATIENCE, deadline).unwrap();
            let tags = vec!["\"a\"".to_owned()];
            client.complete(&Pending { path: "/out/part".to_owned(), length: 7, upload: Some("u".to_owned()), tags })
        }

        fn asked(&self) -> String {
            self.asked.lock().unwrap().join(" ")
        }
    }

    fn answer(peer: TcpStream, asked: &Mutex<Vec<String>>, answers: &Mutex<(Vec<Says>, Vec<Says>)>) {
        let mut reader = BufReader::new(peer);
        let (mut first, mut length) = (String::new(), 0);
        reader.read_line(&mut first).unwrap();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if let Some(n) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = n.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let method = first.split(' ').next().unwrap().to_owned();
        if method == "POST" {
            assert!(String::from_utf8_lossy(&body).contains("<ETag>"), "{body:?}");
        }
        let said = {
            let mut answers = answers.lock().unwrap();
            let of = match method.as_str() {
                "POST" => &mut answers.0,
                "HEAD" => &mut answers.1,
                // Whether it is a directory.
                _ => &mut Vec::new(),
            };
            if of.is_empty() { Says(Vec::new()) } else { of.remove(0) }
        };
        asked.lock().unwrap().push(method);
        for (pause, text) in said.0 {
            sleep(pause);
            // Who does not wait for it has hung up.
            let _ = reader.get_mut().write_all(text.as_bytes());
        }
    }

    fn error(code: &str) -> String {
        // Some of a store's errors name a tag, as what it says of a completed upload does.
        format!("<?xml version=\"1.0\"?>\n<Error><Code>{code}</Code><Message>said</Message><ETag>\"a\"</ETag></Error>")
    }

    #[test]
    fn a_store_may_take_longer_for_it_than_for_anything_else() {
        let late = Says(vec![(LATE, says("200 OK", DONE).0.remove(0).1)]);
        let silent = slowly(&[(LATE, DONE)]);
        let spaces: Vec<(Duration, &str)> =
            std::iter::repeat_n((SHORT / 2, "\n"), 8).chain([(Duration::ZERO, DONE)]).collect();
        for said in [late, silent, slowly(&spaces)] {
            let store = Loopback::new(&[said], &[]);
            store.complete(DEADLINE).unwrap();
            assert_eq!(store.asked(), "POST", "one request does it");
        }
    }

    #[test]
    fn an_error_after_a_200_is_one_whatever_it_says_besides() {
        let refused = Loopback::new(&[slowly(&[(SHORT / 2, " \n "), (Duration::ZERO, &error("InvalidPart"))])], &[]);
        let said = refused.complete(DEADLINE).unwrap_err();
        assert!(matches!(said, Error::Refused { .. }) && said.to_string().contains("InvalidPart"), "{said}");
        assert_eq!(refused.asked(), "POST", "another try would end the same way");
        let gone = Loopback::new(&[says("200 OK", &error("NoSuchUpload"))], &[says("404 Not Found", "")]);
        assert!(gone.complete(DEADLINE).unwrap_err().is_missing());
        // Trouble passes.
        let troubled = [says("200 OK", &error("InternalError")), says("200 OK", &error("ServiceUnavailable"))];
        let heads = [says("404 Not Found", ""), says("404 Not Found", "")];
        let store = Loopback::new(&[&troubled[..], &[says("200 OK", DONE)]].concat(), &heads);
        store.complete(DEADLINE).unwrap();
        assert_eq!(store.asked(), "POST HEAD POST HEAD POST");
    }

    #[test]
    fn what_a_try_without_an_answer_did_is_looked_at_before_the_next() {
        let hangs_up = || Says(Vec::new());
        let stops = || slowly(&[(Duration::ZERO, "\n\n")]);
        for said in [hangs_up(), stops()] {
            let store = Loopback::new(std::slice::from_ref(&said), &[head(7)]);
            store.complete(DEADLINE).unwrap();
            assert_eq!(store.asked(), "POST HEAD", "it was done");
            // Something else is there, and stays.
            let store = Loopback::new(&[said], &[head(8)]);
            assert!(matches!(store.complete(DEADLINE), Err(Error::Exists)));
            assert_eq!(store.asked(), "POST HEAD");
        }
        let done_before = Loopback::new(&[says("404 Not Found", &error("NoSuchUpload"))], &[head(7)]);
        done_before.complete(DEADLINE).unwrap();
    }

    #[test]
    fn a_store_that_never_says_is_given_up_after_the_deadline() {
        let never = || slowly(&[(Duration::from_secs(3), DONE)]);
        let missing = || says("404 Not Found", "");
        let store = Loopback::new(&[never(), never(), never(), never()], &[missing(), missing(), missing(), missing()]);
        let began = Instant::now();
        let said = store.complete(SHORT).unwrap_err();
        assert!(said.is_trouble(), "{said}");
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
        let asked = store.asked();
        assert!(asked.starts_with("POST HEAD"), "{asked}");
        assert!(asked.matches("POST").count() <= 3, "no further try after twice the deadline: {asked}");
    }
}
