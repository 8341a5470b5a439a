//! Questions to a name node, what it is told to change, and the first byte of a file's range.

use std::collections::HashMap;
use std::io::Read;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::de::DeserializeOwned;
use ureq::http::{Method, Request, Response};
use ureq::{Agent, Body, BodyReader, SendBody};

use crate::answers::{
    Block, BlocksAnswer, Entry, ErrorAnswer, FileStatus, ListAnswer, LongStatus, Status, StatusAnswer,
};
use crate::error::Error;
use crate::resolve;
use crate::text::{encoded, said};

/// Bytes of one answer in JSON: a directory of about two hundred thousand files, a file of about thirty thousand blocks.
const MOST_ANSWER_BYTES: u64 = 64 << 20;
/// Bytes of a refusal; Java's are a few lines.
const MOST_ERROR_BYTES: u64 = 64 << 10;
/// The port of `http://host/`.
const HTTP_PORT: u16 = 80;

/// Bytes that come.
pub(crate) type Bytes = std::io::Take<BodyReader<'static>>;

/// Where a range is.
pub(crate) enum Source {
    /// Whoever was asked has it and sends it.
    Here(Bytes),
    /// A data node has it.
    There {
        /// `host:port`.
        authority: String,
        /// Path and query.
        rest: String,
    },
}

/// How long to wait for the other side.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For a connection.
    pub connect: Duration,
    /// For an answer to begin, and then for each piece of it.
    pub idle: Duration,
    /// For a whole answer in JSON.
    pub answer: Duration,
    /// Before a read that broke off is tried again; one try more than these without a byte make an error.
    pub waits: &'static [Duration],
}

/// A name node's WebHDFS, asked as one user. Clones share their connections.
#[derive(Clone, Debug)]
pub struct Client {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// `host:port` of its HTTP server.
    server: String,
    user: String,
    patience: Patience,
    agent: Agent,
    /// Addresses by name.
    known: Mutex<HashMap<String, SocketAddr>>,
}

impl Client {
    /// A client of the WebHDFS at `host:port`, as `user` says he is: simple authentication.
    pub fn new(server: &str, user: &str, patience: Patience) -> Client {
        let agent = Agent::config_builder()
            .timeout_connect(Some(patience.connect))
            .timeout_recv_response(Some(patience.idle))
            .timeout_per_read(Some(patience.idle))
            .timeout_per_write(Some(patience.idle))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .proxy(None)
            .build()
            .new_agent();
        let (server, user) = (server.to_owned(), user.to_owned());
        Client { inner: Arc::new(Inner { server, user, patience, agent, known: Mutex::default() }) }
    }

    /// How long to wait.
    pub(crate) fn patience(&self) -> Patience {
        self.inner.patience
    }

    /// What a path is.
    ///
    /// # Errors
    /// When it is not there, or the name node gives no answer that makes sense.
    pub fn status(&self, path: &str) -> Result<FileStatus, Error> {
        let answer: StatusAnswer = self.ask(path, "GETFILESTATUS", "")?;
        Ok(answer.file_status.into())
    }

    /// The entries of a directory, in the name node's order; of a file, the file with an empty name.
    ///
    /// # Errors
    /// As [`Client::status`]; when an entry's name could not be one.
    pub fn list(&self, path: &str) -> Result<Vec<FileStatus>, Error> {
        let answer: ListAnswer<Status> = self.ask(path, "LISTSTATUS", "")?;
        let entries: Vec<FileStatus> = answer.file_statuses.file_status.into_iter().map(FileStatus::from).collect();
        self.check_names(path, entries.iter())?;
        Ok(entries)
    }

    /// As [`Client::list`], with all that listings show.
    ///
    /// # Errors
    /// As there.
    pub fn entries(&self, path: &str) -> Result<Vec<Entry>, Error> {
        let answer: ListAnswer<LongStatus> = self.ask(path, "LISTSTATUS", "")?;
        let entries: Vec<Entry> = answer.file_statuses.file_status.into_iter().map(Entry::from).collect();
        self.check_names(path, entries.iter().map(|entry| &entry.status))?;
        Ok(entries)
    }

    fn check_names<'a>(&self, path: &str, mut entries: impl Iterator<Item = &'a FileStatus>) -> Result<(), Error> {
        let is_wrong =
            |name: &str| name.contains('/') || matches!(name, "." | "..") || name.chars().any(char::is_control);
        match entries.find(|entry| is_wrong(&entry.name)) {
            Some(entry) => {
                let problem = format!("an entry is called `{}`", said(&entry.name));
                Err(Error::Senseless { url: self.url(path), problem })
            }
            None => Ok(()),
        }
    }

    /// Where the bytes of a file are, in order of their offsets.
    ///
    /// # Errors
    /// As [`Client::status`].
    pub fn blocks(&self, path: &str, length: u64) -> Result<Vec<Block>, Error> {
        let range = format!("&offset=0&length={length}");
        let answer: BlocksAnswer = self.ask(path, "GET_BLOCK_LOCATIONS", &range)?;
        let mut blocks: Vec<Block> = answer.located_blocks.located_blocks.into_iter().map(Block::from).collect();
        blocks.sort_by_key(|block| block.offset);
        Ok(blocks)
    }

    /// Who has the bytes `offset .. offset + length` of a file, as the name node chooses; `length` from 1. It leaves out the
    /// data nodes that are `excluded`, by their names.
    pub(crate) fn locate(&self, path: &str, offset: u64, length: u64, excluded: &[String]) -> Result<Source, Error> {
        let url = self.url(path);
        let mut more = format!("&offset={offset}&length={length}");
        if !excluded.is_empty() {
            more.push_str(&format!("&excludedatanodes={}", encoded(&excluded.join(","))));
        }
        let response = self.get(&self.inner.server, &self.query(path, "OPEN", &more), &url, None)?;
        match response.status().as_u16() {
            // A gateway (HttpFS) hands over the bytes itself.
            200 => Ok(Source::Here(reader(response, u64::MAX))),
            307 => {
                let (authority, rest) = elsewhere(&response, &url)?;
                Ok(Source::There { authority, rest })
            }
            _ => Err(refusal(response, &url)),
        }
    }

    /// The bytes that a data node has.
    pub(crate) fn fetch(&self, authority: &str, rest: &str) -> Result<Bytes, Error> {
        let url = format!("http://{}", said(authority));
        let response = self.get(authority, rest, &url, None)?;
        match response.status().as_u16() {
            200 => Ok(reader(response, u64::MAX)),
            300..400 => Err(Error::Senseless { url, problem: "it leads elsewhere once more".to_owned() }),
            _ => Err(refusal(response, &url)),
        }
    }

    /// The name by which the name node knows the data node at this HTTP address, if it has the file's byte there.
    pub(crate) fn name_of(&self, authority: &str, path: &str, offset: u64) -> Option<String> {
        let (host, port) = authority.rsplit_once(':')?;
        let answer: BlocksAnswer = self.ask(path, "GET_BLOCK_LOCATIONS", &format!("&offset={offset}&length=1")).ok()?;
        let mut nodes = answer.located_blocks.located_blocks.into_iter().flat_map(|block| block.locations);
        let found = nodes.find(|node| {
            node.info_port.to_string() == port && [&node.host_name, &node.ip_addr].iter().any(|name| *name == host)
        });
        found.map(|node| node.name).filter(|name| !name.is_empty())
    }

    /// A question that is answered in JSON.
    pub(crate) fn ask<T: DeserializeOwned>(&self, path: &str, op: &str, more: &str) -> Result<T, Error> {
        let (url, rest, whole) = (self.url(path), self.query(path, op, more), Some(self.inner.patience.answer));
        read_json(self.get(&self.inner.server, &rest, &url, whole)?, &url)
    }

    /// A change that the name node makes by itself, and its answer if the status is 200.
    pub(crate) fn change(
        &self,
        method: Method,
        path: &str,
        op: &str,
        more: &str,
    ) -> Result<(Response<Body>, String), Error> {
        let (url, rest, whole) = (self.url(path), self.query(path, op, more), Some(self.inner.patience.answer));
        let response = self.send(method, &self.inner.server, &rest, &url, whole, Some((0, &mut std::io::empty())))?;
        if response.status().as_u16() == 200 { Ok((response, url)) } else { Err(refusal(response, &url)) }
    }

    /// Where the name node wants a file to be written to: authority, path and query.
    pub(crate) fn place(&self, path: &str, more: &str) -> Result<(String, String), Error> {
        let (url, rest, whole) = (self.url(path), self.query(path, "CREATE", more), Some(self.inner.patience.answer));
        let response =
            self.send(Method::PUT, &self.inner.server, &rest, &url, whole, Some((0, &mut std::io::empty())))?;
        match response.status().as_u16() {
            307 => elsewhere(&response, &url),
            200..300 => Err(Error::Senseless { url, problem: "it leads to no data node".to_owned() }),
            _ => Err(refusal(response, &url)),
        }
    }

    /// Hands so many bytes to a data node. They are in the file when this is done.
    pub(crate) fn hand_over(
        &self,
        (authority, rest): (&str, &str),
        length: u64,
        bytes: &mut dyn Read,
    ) -> Result<(), Error> {
        let url = format!("http://{}", said(authority));
        let response = self.send(Method::PUT, authority, rest, &url, None, Some((length, bytes)))?;
        match response.status().as_u16() {
            200 | 201 => Ok(()),
            300..400 => Err(Error::Senseless { url, problem: "it leads elsewhere once more".to_owned() }),
            _ => Err(refusal(response, &url)),
        }
    }

    fn get(&self, authority: &str, rest: &str, url: &str, whole: Option<Duration>) -> Result<Response<Body>, Error> {
        self.send(Method::GET, authority, rest, url, whole, None)
    }

    /// One request, and no redirect followed. `url` is for errors, `rest` the path and the query, `body` so many bytes.
    fn send(
        &self,
        method: Method,
        authority: &str,
        rest: &str,
        url: &str,
        whole: Option<Duration>,
        body: Option<(u64, &mut dyn Read)>,
    ) -> Result<Response<Body>, Error> {
        let unreached = |problem: String| Error::Unreached { url: url.to_owned(), problem: said(&problem) };
        let address = self.address(authority).map_err(unreached)?;
        let mut request = Request::builder().method(method).uri(format!("http://{address}{rest}"));
        request = request.header("host", authority);
        let run = |request: Request<SendBody<'_>>| {
            let request = self.inner.agent.configure_request(request).timeout_global(whole).build();
            self.inner.agent.run(request).map_err(|error| unreached(error.to_string()))
        };
        let wrong = |error: ureq::http::Error| unreached(error.to_string());
        let Some((length, bytes)) = body else { return run(request.body(SendBody::none()).map_err(wrong)?) };
        // A gateway (HttpFS) takes bytes of this type alone.
        request = request.header("content-type", "application/octet-stream").header("content-length", length);
        if length > 0 {
            // A refusal comes before the bytes go, so that it is not lost with a connection that breaks under them.
            request = request.header("expect", "100-continue");
        }
        run(request.body(SendBody::from_reader(bytes)).map_err(wrong)?)
    }

    pub(crate) fn address(&self, authority: &str) -> Result<SocketAddr, String> {
        let mut known = self.inner.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&address) = known.get(authority) {
            return Ok(address);
        }
        let address = resolve::socket(authority, HTTP_PORT)?;
        // A cluster has thousands of data nodes; more names are somebody's mischief.
        if known.len() < 10_000 {
            known.insert(authority.to_owned(), address);
        }
        Ok(address)
    }

    fn query(&self, path: &str, op: &str, more: &str) -> String {
        let (path, user) = (encoded(path), encoded(&self.inner.user).replace('/', "%2F"));
        format!("/webhdfs/v1{path}?op={op}&user.name={user}{more}")
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/webhdfs/v1{}", self.inner.server, encoded(path))
    }
}

/// An answer in JSON.
pub(crate) fn read_json<T: DeserializeOwned>(response: Response<Body>, url: &str) -> Result<T, Error> {
    if response.status().as_u16() != 200 {
        return Err(refusal(response, url));
    }
    let senseless = |problem| Error::Senseless { url: url.to_owned(), problem };
    let mut body = std::io::BufReader::new(reader(response, MOST_ANSWER_BYTES));
    let read = serde_json::from_reader(&mut body);
    if body.into_inner().limit() == 0 {
        return Err(senseless(format!("it has more than {} MiB", MOST_ANSWER_BYTES >> 20)));
    }
    read.map_err(|error: serde_json::Error| match error.is_io() {
        true => Error::Unreached { url: url.to_owned(), problem: said(&error.to_string()) },
        false => senseless(said(&error.to_string())),
    })
}

/// Where a redirect leads: authority, path and query.
fn elsewhere(response: &Response<Body>, url: &str) -> Result<(String, String), Error> {
    let target = response.headers().get("location").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let senseless = || {
        let problem = format!("it leads to `{}`, expected http://HOST:PORT/…", said(target));
        Error::Senseless { url: url.to_owned(), problem }
    };
    let rest = target.strip_prefix("http://").ok_or_else(senseless)?;
    let (authority, rest) = rest.split_at(rest.find('/').ok_or_else(senseless)?);
    Ok((authority.to_owned(), rest.to_owned()))
}

fn reader(response: Response<Body>, most: u64) -> Bytes {
    // The client's own limit is an error; ours is looked at.
    response.into_body().into_with_config().limit(u64::MAX).reader().take(most)
}

/// What an answer that is none says.
fn refusal(response: Response<Body>, url: &str) -> Error {
    let status = response.status();
    let mut text = String::new();
    let _ = reader(response, MOST_ERROR_BYTES).read_to_string(&mut text);
    let (exception, message) = match serde_json::from_str::<ErrorAnswer>(&text) {
        Ok(answer) => (answer.remote_exception.exception, answer.remote_exception.message.unwrap_or_default()),
        Err(_) => (format!("HTTP status {status}"), String::new()),
    };
    Error::Refused { url: url.to_owned(), exception: said(&exception), message: said(&message) }
}
