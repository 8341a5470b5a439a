//! An HDFS in the test's own process: a name node and data nodes that speak as much WebHDFS as the client asks for, and
//! misbehave when told to.
//!
//! Block `b` of every file is on data node `b mod n`, whose host is `127.0.0.(2 + b mod n)`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// How the fake behaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mood {
    /// As a name node should.
    #[default]
    Good,
    /// The name node takes questions and never answers.
    Silent,
    /// Answers in JSON never end.
    Endless,
    /// The name node answers questions with a redirect to itself.
    Circular,
    /// The name node sends readers to this URL.
    Elsewhere(String),
    /// Each data node's answer breaks off after so many bytes.
    Brittle(usize),
    /// A data node closes connections without a word, and each of its blocks is on the next one, too.
    Dead(usize),
    /// A directory has an entry of this name.
    Entry(String),
    /// Every directory has a directory in it.
    Bottomless,
    /// Places of blocks are not told.
    Placeless,
}

/// A running fake. It stops when it is dropped.
#[derive(Debug)]
pub struct FakeHdfs {
    shared: Arc<Shared>,
    name_node: SocketAddr,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    data_nodes: Vec<SocketAddr>,
    over: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<String, File>,
    mood: Mood,
    /// `HOST METHOD TARGET` of every request so far.
    asked: Vec<String>,
    /// Connections that are left without an answer.
    held: Vec<TcpStream>,
}

#[derive(Clone, Debug)]
struct File {
    bytes: Arc<Vec<u8>>,
    block_bytes: usize,
    modified_ms: i64,
}

impl FakeHdfs {
    /// Starts a name node on 127.0.0.1 and so many data nodes, on ports of their own.
    ///
    /// # Panics
    /// When it cannot listen there.
    pub fn start(n_data_nodes: usize) -> FakeHdfs {
        let bind = |host: String| TcpListener::bind((host, 0)).expect("listen on loopback");
        let listeners: Vec<TcpListener> = (0..n_data_nodes).map(|node| bind(host(node))).collect();
        let name_node = bind("127.0.0.1".to_owned());
        let at = |listener: &TcpListener| listener.local_addr().expect("it listens");
        let (address, data_nodes) = (at(&name_node), listeners.iter().map(at).collect());
        let shared = Arc::new(Shared { state: Mutex::default(), data_nodes, over: AtomicBool::new(false) });
        for (node, listener) in listeners.into_iter().map(Some).chain([None]).enumerate() {
            let (shared, listener) =
                (Arc::clone(&shared), listener.unwrap_or_else(|| name_node.try_clone().expect("a socket")));
            let node = (node < n_data_nodes).then_some(node);
            thread::spawn(move || serve(&shared, &listener, node));
        }
        FakeHdfs { shared, name_node: address }
    }

    /// `host:port` of the name node's HTTP server.
    pub fn address(&self) -> String {
        self.name_node.to_string()
    }

    /// The host of a data node.
    pub fn host(&self, node: usize) -> String {
        host(node)
    }

    /// Writes a file, whose path is absolute; again with another time of its last change.
    pub fn put(&self, path: &str, bytes: impl Into<Vec<u8>>, block_bytes: usize) {
        let mut state = self.shared.state();
        let before = state.files.get(path).map_or(1_700_000_000_000, |file| file.modified_ms);
        let file = File { bytes: Arc::new(bytes.into()), block_bytes, modified_ms: before + 1_000 };
        state.files.insert(path.to_owned(), file);
    }

    /// Behaves so from now on.
    pub fn be(&self, mood: Mood) {
        self.shared.state().mood = mood;
    }

    /// `HOST METHOD TARGET` of every request so far, in order.
    pub fn asked(&self) -> Vec<String> {
        self.shared.state().asked.clone()
    }
}

impl Drop for FakeHdfs {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        self.shared.state().held.clear();
        for address in self.shared.data_nodes.iter().chain([&self.name_node]) {
            // Wakes who accepts.
            let _ = TcpStream::connect(address);
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn host(node: usize) -> String {
    format!("127.0.0.{}", node + 2)
}

fn serve(shared: &Arc<Shared>, listener: &TcpListener, node: Option<usize>) {
    while let Ok((stream, _)) = listener.accept() {
        if shared.over.load(Ordering::SeqCst) {
            return;
        }
        let shared = Arc::clone(shared);
        // Who asks may go away before the answer is through.
        thread::spawn(move || answer(&shared, stream, node).unwrap_or_default());
    }
}

fn answer(shared: &Shared, mut stream: TcpStream, node: Option<usize>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let target = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let mood = {
        let mut state = shared.state();
        let whose = node.map_or("127.0.0.1".to_owned(), host);
        state.asked.push(format!("{whose} {}", first.trim_end_matches(" HTTP/1.1")));
        state.mood.clone()
    };
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let path = decoded(path.trim_start_matches("/webhdfs/v1"));
    let query: BTreeMap<&str, &str> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
    let op = query.get("op").copied().unwrap_or_default();
    let number = |key: &str| query.get(key).and_then(|text| text.parse::<usize>().ok());
    let file = shared.state().files.get(&path).cloned();
    match (node, op, mood) {
        (None, _, Mood::Silent) => shared.state().held.push(stream),
        (None, "OPEN", Mood::Elsewhere(url)) => redirect(&mut stream, &url)?,
        (Some(node), _, Mood::Dead(dead)) if node == dead => {}
        (None, "OPEN", mood) => match file {
            Some(file) => {
                let block = number("offset").unwrap_or(0) / file.block_bytes;
                let (n_nodes, excluded) =
                    (shared.data_nodes.len(), decoded(query.get("excludedatanodes").unwrap_or(&"")));
                let is_excluded = |node: &usize| excluded.split(',').any(|name| name == node_name(*node));
                match copies(&mood, block, n_nodes).into_iter().find(|node| !is_excluded(node)) {
                    Some(node) => redirect(&mut stream, &format!("http://{}{target}", shared.data_nodes[node]))?,
                    None => refuse(&mut stream, "403 Forbidden", "IOException", "No active nodes contain this block")?,
                }
            }
            None => missing(&mut stream, &path)?,
        },
        (Some(_), "OPEN", mood) => {
            let bytes = file.map(|file| file.bytes).unwrap_or_default();
            let from = number("offset").unwrap_or(0).min(bytes.len());
            let to = from.saturating_add(number("length").unwrap_or(usize::MAX)).min(bytes.len());
            let sent = if let Mood::Brittle(most) = mood { to.min(from + most) } else { to };
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", to - from)?;
            stream.write_all(&bytes[from..sent])?;
        }
        (None, _, Mood::Circular) => redirect(&mut stream, &target)?,
        (None, _, Mood::Endless) => {
            write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{{\"FileStatus\":{{\"a\":\"")?;
            let much = vec![b'a'; 1 << 20];
            while !shared.over.load(Ordering::SeqCst) {
                stream.write_all(&much)?;
            }
        }
        (None, "GET_BLOCK_LOCATIONS", Mood::Placeless) => {
            refuse(&mut stream, "400 Bad Request", "IllegalArgumentException", op)?
        }
        (None, "GET_BLOCK_LOCATIONS", mood) => match file {
            Some(file) => json(&mut stream, "200 OK", &blocks(&file, &mood, &shared.data_nodes))?,
            None => missing(&mut stream, &path)?,
        },
        (None, _, mood) => {
            let text = match (op, file) {
                ("GETFILESTATUS", Some(file)) => Some(format!("{{\"FileStatus\":{}}}", status("", Some(&file)))),
                ("LISTSTATUS", Some(file)) => Some(list(&[status("", Some(&file))])),
                _ => directory(&shared.state().files, &path, &mood).map(|entries| {
                    if op == "LISTSTATUS" { list(&entries) } else { format!("{{\"FileStatus\":{}}}", status("", None)) }
                }),
            };
            match text {
                Some(text) => json(&mut stream, "200 OK", &text)?,
                None => missing(&mut stream, &path)?,
            }
        }
        (Some(_), ..) => refuse(&mut stream, "400 Bad Request", "IllegalArgumentException", op)?,
    }
    Ok(())
}

/// The entries of a directory that some file lies in.
fn directory(files: &BTreeMap<String, File>, path: &str, mood: &Mood) -> Option<Vec<String>> {
    if *mood == Mood::Bottomless {
        return Some(vec![status("d", None)]);
    }
    let below = format!("{}/", path.trim_end_matches('/'));
    let (mut entries, mut folders) = (Vec::new(), BTreeSet::new());
    for (name, file) in files.iter().filter_map(|(path, file)| Some((path.strip_prefix(&below)?, file))) {
        match name.split_once('/') {
            Some((folder, _)) if folders.insert(folder) => entries.push(status(folder, None)),
            Some(_) => {}
            None => entries.push(status(name, Some(file))),
        }
    }
    if let Mood::Entry(name) = mood {
        entries.push(status(name, None));
    }
    // The order of a listing is nobody's to rely on.
    entries.reverse();
    (!entries.is_empty()).then_some(entries)
}

fn status(name: &str, file: Option<&File>) -> String {
    let name = serde_json::Value::from(name);
    let (kind, length, block, modified) = match file {
        Some(file) => ("FILE", file.bytes.len(), file.block_bytes, file.modified_ms),
        None => ("DIRECTORY", 0, 0, 0),
    };
    format!(
        r#"{{"accessTime":0,"blockSize":{block},"length":{length},"modificationTime":{modified},"pathSuffix":{name},"type":"{kind}"}}"#
    )
}

fn list(entries: &[String]) -> String {
    format!(r#"{{"FileStatuses":{{"FileStatus":[{}]}}}}"#, entries.join(","))
}

/// The data nodes that have a block.
fn copies(mood: &Mood, block: usize, n_nodes: usize) -> Vec<usize> {
    let first = block % n_nodes;
    if matches!(mood, Mood::Dead(dead) if *dead == first) { vec![first, (first + 1) % n_nodes] } else { vec![first] }
}

/// By which the name node knows a data node: the address of its own protocol, which nobody speaks here.
fn node_name(node: usize) -> String {
    format!("{}:50010", host(node))
}

fn blocks(file: &File, mood: &Mood, nodes: &[SocketAddr]) -> String {
    let location = |node: usize| {
        let (host, name, port) = (host(node), node_name(node), nodes[node].port());
        format!(r#"{{"hostName":"{host}","ipAddr":"{host}","name":"{name}","infoPort":{port}}}"#)
    };
    let block = |(number, bytes): (usize, &[u8])| {
        let (length, offset) = (bytes.len(), number * file.block_bytes);
        let locations: Vec<String> = copies(mood, number, nodes.len()).into_iter().map(location).collect();
        let locations = locations.join(",");
        format!(
            r#"{{"block":{{"blockId":{number},"numBytes":{length}}},"locations":[{locations}],"startOffset":{offset}}}"#
        )
    };
    let all: Vec<String> = file.bytes.chunks(file.block_bytes).enumerate().map(block).collect();
    let (length, all) = (file.bytes.len(), all.join(","));
    format!(r#"{{"LocatedBlocks":{{"fileLength":{length},"locatedBlocks":[{all}]}}}}"#)
}

fn redirect(stream: &mut TcpStream, to: &str) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
}

fn missing(stream: &mut TcpStream, path: &str) -> std::io::Result<()> {
    refuse(stream, "404 Not Found", "FileNotFoundException", &format!("File does not exist: {path}"))
}

fn refuse(stream: &mut TcpStream, status: &str, exception: &str, message: &str) -> std::io::Result<()> {
    let message = serde_json::Value::from(message);
    json(stream, status, &format!(r#"{{"RemoteException":{{"exception":"{exception}","message":{message}}}}}"#))
}

fn json(stream: &mut TcpStream, status: &str, text: &str) -> std::io::Result<()> {
    let length = text.len();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}")
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes().iter().copied();
    while let Some(byte) = rest.next() {
        let hex = (byte == b'%')
            .then(|| [rest.next(), rest.next()].into_iter().flatten().map(char::from).collect::<String>());
        bytes.push(hex.and_then(|hex| u8::from_str_radix(&hex, 16).ok()).unwrap_or(byte));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
