//! An HDFS in the test's own process: a name node and data nodes that speak as much WebHDFS as the client asks for, and
//! misbehave when told to.
//!
//! Block `b` of every file is on data node `b mod n`, whose host is `127.0.0.(2 + b mod n)`.

mod changes;
mod mood;
mod state;
mod tree;
mod wire;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

pub use mood::Mood;
use state::{Shared, host, node_name};
use tree::{File, list, status};
use wire::{decoded, json, missing, redirect, refuse};

/// A running fake. It stops when it is dropped.
#[derive(Debug)]
pub struct FakeHdfs {
    shared: Arc<Shared>,
    name_node: SocketAddr,
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
        self.shared.state().tree.write(path, bytes.into(), block_bytes);
    }

    /// The bytes of a file, if it is there.
    pub fn read(&self, path: &str) -> Option<Vec<u8>> {
        Some(self.shared.state().tree.files.get(path)?.bytes.to_vec())
    }

    /// The files in a directory and below it, in order.
    pub fn files(&self, folder: &str) -> Vec<String> {
        let below = format!("{}/", folder.trim_end_matches('/'));
        self.shared.state().tree.files.keys().filter(|path| path.starts_with(&below)).cloned().collect()
    }

    /// Whether a file or a directory is there.
    pub fn is_there(&self, path: &str) -> bool {
        let state = self.shared.state();
        state.tree.files.contains_key(path) || state.tree.is_folder(path)
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
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = text.trim().parse().unwrap_or(0);
        }
    }
    let first = first.trim_end();
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
    if !first.starts_with("GET ") {
        let change = changes::Change { shared, node, target: &target, path: &path, query: &query, mood, length };
        return change.answer(&mut reader, &mut stream);
    }
    let file = shared.state().tree.files.get(&path).cloned();
    match (node, op, mood) {
        (None, _, Mood::Leaves(0)) => {}
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
                _ => shared.state().tree.entries(&path, &mood).map(|entries| {
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

/// The data nodes that have a block.
fn copies(mood: &Mood, block: usize, n_nodes: usize) -> Vec<usize> {
    let first = block % n_nodes;
    if matches!(mood, Mood::Dead(dead) if *dead == first) { vec![first, (first + 1) % n_nodes] } else { vec![first] }
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
