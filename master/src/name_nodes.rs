//! The HDFS whose files may be input and output: which name nodes this master and its workers speak to.
//!
//! An address of HDFS's RPC (`hdfs://nn:9000`) does not say where its HTTP server listens, and a job must not be able to make
//! the master call whom it likes. So an administrator names both.

use std::collections::BTreeMap;

use howdah_proto::names::HostPort;
use howdah_webhdfs::RemotePath;
use serde::{Deserialize, Serialize};

/// The port of HDFS's RPC where none is said.
const RPC_PORT: u16 = 8020;

/// Name nodes as inputs name them, and the addresses of their HTTP servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, String>", into = "BTreeMap<String, String>")]
pub struct NameNodes(BTreeMap<String, String>);

impl NameNodes {
    /// `host:port` of the HTTP server of the file system that a path lies in; `None` if nobody speaks to it.
    pub(crate) fn server(&self, path: &RemotePath) -> Option<&str> {
        let same = |a: &str, b: &str| match (a.parse::<HostPort>(), b.parse::<HostPort>()) {
            (Ok(a), Ok(b)) => a.with_port(RPC_PORT).eq_ignore_ascii_case(&b.with_port(RPC_PORT)),
            _ => false,
        };
        let servers = || self.0.values().map(|url| url.trim_start_matches("http://"));
        match path.scheme.as_str() {
            "webhdfs" => servers().find(|server| server.eq_ignore_ascii_case(&path.authority)),
            _ => self.0.keys().zip(servers()).find(|(key, _)| same(key, &path.authority)).map(|(_, server)| server),
        }
    }

    /// The same path as the table names its file system, so that each has one spelling, and the HTTP server.
    pub(crate) fn named(&self, path: &RemotePath) -> Option<(RemotePath, &str)> {
        let server = self.server(path)?;
        let name = self.0.iter().find(|(_, url)| url.trim_start_matches("http://") == server).map(|(name, _)| name)?;
        Some((RemotePath { scheme: "hdfs".to_owned(), authority: name.clone(), path: path.path.clone() }, server))
    }
}

impl TryFrom<BTreeMap<String, String>> for NameNodes {
    type Error = String;

    fn try_from(table: BTreeMap<String, String>) -> Result<NameNodes, String> {
        for (name, url) in &table {
            name.parse::<HostPort>().map_err(|error| error.to_string())?;
            let server = url.strip_prefix("http://").map(str::parse::<HostPort>);
            if !matches!(server, Some(Ok(HostPort { port: Some(_), .. }))) {
                return Err(format!("`{url}` of `{name}`: expected its WebHDFS as http://HOST:PORT"));
            }
        }
        Ok(NameNodes(table))
    }
}

impl From<NameNodes> for BTreeMap<String, String> {
    fn from(nodes: NameNodes) -> BTreeMap<String, String> {
        nodes.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(pairs: &[(&str, &str)]) -> Result<NameNodes, String> {
        pairs.iter().map(|(name, url)| ((*name).to_owned(), (*url).to_owned())).collect::<BTreeMap<_, _>>().try_into()
    }

    #[test]
    fn a_name_node_is_found_with_and_without_its_usual_port_and_by_its_http_server() {
        let nodes = nodes(&[("nn", "http://nn:9870"), ("other:9000", "http://10.0.0.1:50070")]).unwrap();
        let server = |text: &str| nodes.server(&text.parse().unwrap()).map(str::to_owned);
        for text in ["hdfs://nn/a", "hdfs://NN:8020/a", "webhdfs://nn:9870/a"] {
            assert_eq!(server(text).as_deref(), Some("nn:9870"), "{text}");
        }
        assert_eq!(server("hdfs://other:9000/").as_deref(), Some("10.0.0.1:50070"));
        for text in ["hdfs://other/", "hdfs://nn:9870/a", "webhdfs://nn/a", "hdfs://evil:8020/a", "hdfs://[x]/a"] {
            assert_eq!(server(text), None, "{text}");
        }
        let named = |text: &str| nodes.named(&text.parse().unwrap()).map(|(path, server)| format!("{path} {server}"));
        for text in ["hdfs://nn/a", "hdfs://NN:8020//a/", "webhdfs://nn:9870/a"] {
            assert_eq!(named(text).as_deref(), Some("hdfs://nn/a nn:9870"), "{text}");
        }
        assert_eq!(named("hdfs://evil/a"), None);
        assert_eq!(NameNodes::default().server(&"hdfs://nn/a".parse().unwrap()), None);
    }

    #[test]
    fn only_plain_http_with_a_port_is_taken() {
        for url in ["https://nn:9871", "nn:9870", "http://nn", "http://nn:9870/webhdfs", "http://u@nn:1"] {
            let error = nodes(&[("nn:8020", url)]).unwrap_err();
            assert_eq!(error, format!("`{url}` of `nn:8020`: expected its WebHDFS as http://HOST:PORT"));
        }
        assert!(nodes(&[("hdfs://nn", "http://nn:1")]).unwrap_err().contains("is no address"));
    }
}
