//! An HDFS of Apache's on loopback: a name node and data nodes, each a Java process.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU16, Ordering};

use tempfile::TempDir;

use super::java::{Java, Server, write_site};
use crate::harness::wait_for;

const NAME_NODE: &str = "org.apache.hadoop.hdfs.server.namenode.NameNode";
const DATA_NODE: &str = "org.apache.hadoop.hdfs.server.datanode.DataNode";

/// Bytes of a block, of all files.
pub(super) const BLOCK: usize = 1 << 20;

/// It stops when it is dropped.
pub(super) struct MiniHdfs {
    data_nodes: Vec<Option<Server>>,
    _name_node: Server,
    java: Java,
    /// Port of the RPC, as in `hdfs://127.0.0.1:PORT`.
    rpc: u16,
    http: u16,
    _folder: TempDir,
}

impl MiniHdfs {
    /// Starts it and waits until all data nodes are live. They are called 127.0.0.2 and so on.
    pub(super) fn start(n_data_nodes: usize) -> MiniHdfs {
        let folder = tempfile::Builder::new().prefix("howdah-hdfs-").tempdir().expect("make a folder");
        let ports = free_ports(2 + 3 * n_data_nodes);
        let (rpc, http) = (ports[0], ports[1]);
        let java = Java::new(folder.path());
        // It looks for its pages on the class path and does not mind that they are empty.
        for page in ["hdfs", "datanode", "static", "secondary", "journal"] {
            std::fs::create_dir_all(folder.path().join("webapps").join(page)).expect("make a folder");
        }
        let name_dir = folder.path().join("name").display().to_string();
        let (address, tmp) = (format!("127.0.0.1:{http}"), folder.path().join("tmp").display().to_string());
        write_site(
            folder.path(),
            "core-site",
            &[("fs.defaultFS", &format!("hdfs://127.0.0.1:{rpc}")), ("hadoop.tmp.dir", &tmp)],
        );
        let properties = [
            ("dfs.namenode.name.dir", name_dir.as_str()),
            ("dfs.namenode.http-address", &address),
            ("dfs.blocksize", &BLOCK.to_string()),
            ("dfs.permissions.enabled", "false"),
            // Each data node listens on an address of its own, and others are to use that one.
            ("dfs.client.use.datanode.hostname", "true"),
            ("dfs.datanode.use.datanode.hostname", "true"),
            ("dfs.namenode.safemode.extension", "0"),
        ];
        write_site(folder.path(), "hdfs-site", &properties);
        java.run(NAME_NODE, &["-format", "-force", "-nonInteractive"]).expect_code(0);
        let name_node = java.serve("name-node.log", NAME_NODE, &[]);
        let data_node = |node: usize| {
            let host = format!("127.0.0.{}", node + 2);
            let port = |n: usize| format!("{host}:{}", ports[2 + 3 * node + n]);
            let properties = [
                format!("dfs.datanode.data.dir={}", folder.path().join(format!("data-{node}")).display()),
                format!("dfs.datanode.hostname={host}"),
                format!("dfs.datanode.address={}", port(0)),
                format!("dfs.datanode.http.address={}", port(1)),
                format!("dfs.datanode.ipc.address={}", port(2)),
            ];
            let args: Vec<&str> = properties.iter().flat_map(|property| ["-D", property]).collect();
            Some(java.serve(&format!("data-node-{node}.log"), DATA_NODE, &args))
        };
        let data_nodes = (0..n_data_nodes).map(data_node).collect();
        let hdfs = MiniHdfs { data_nodes, _name_node: name_node, java, rpc, http, _folder: folder };
        let wanted = format!("\"NumLiveDataNodes\" : {n_data_nodes},");
        wait_for("the data nodes of HDFS to be live", || {
            hdfs.ask("/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState").filter(|said| said.contains(&wanted))
        });
        hdfs
    }

    /// The name node as inputs name it.
    pub(super) fn authority(&self) -> String {
        format!("127.0.0.1:{}", self.rpc)
    }

    /// `host:port` of its WebHDFS.
    pub(super) fn http(&self) -> String {
        format!("127.0.0.1:{}", self.http)
    }

    /// Copies a file of this machine to an absolute path, with so many copies of each block.
    pub(super) fn put(&self, local: &str, path: &str, copies: usize) {
        let copies = format!("dfs.replication={copies}");
        let shell = "org.apache.hadoop.fs.FsShell";
        let parent = path.rsplit_once('/').map_or("/", |(parent, _)| parent);
        self.java.run(shell, &["-mkdir", "-p", parent]).expect_code(0);
        self.java.run(shell, &["-D", &copies, "-put", local, path]).expect_code(0);
    }

    /// Copies a directory from there to a new one of this machine, by Apache's own client.
    pub(super) fn get(&self, path: &str, local: &str) {
        self.java.run("org.apache.hadoop.fs.FsShell", &["-get", path, local]).expect_code(0);
    }

    /// Kills a data node, which the name node believes to be live for minutes.
    pub(super) fn kill_data_node(&mut self, node: usize) {
        drop(self.data_nodes[node].take());
    }

    fn ask(&self, target: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.http)).ok()?;
        write!(stream, "GET {target} HTTP/1.0\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    }
}

/// Ports that nobody has now, and that no other process is given before they are listened on: they lie below those from which
/// connections and listeners without a port of their own get one, and this process hands each out once.
fn free_ports(n: usize) -> Vec<u16> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    const FIRST: u16 = 20_000;
    const COUNT: u16 = 10_000;
    let start = (std::process::id() % u32::from(COUNT)) as u16;
    let candidates = std::iter::repeat_with(|| FIRST + (start + NEXT.fetch_add(1, Ordering::Relaxed)) % COUNT);
    candidates.take(usize::from(COUNT)).filter(|&port| TcpListener::bind(("127.0.0.1", port)).is_ok()).take(n).collect()
}
