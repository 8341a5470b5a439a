//! Which hosts a cluster has, and in which racks: Rumen's topology, SLS's list of nodes, or a plain list.
//!
//! None of them states slots, so workers have 0 of each kind until somebody says how many. A worker is named after
//! its host. Host names lose the backslashes of Rumen, as they do in traces, so that both still match.
//! The plain list has one `/rack/host`, or a bare host of the default rack, per line; `#` begins a comment.

use std::collections::BTreeSet;
use std::io::{BufRead, Read};

use serde::Deserialize;

use super::facts::Place;
use super::json::{List, Text, for_each};
use super::{ImportNotes, TraceError};
use howdah_core::job::profile::TraceWorker;

/// Rack of hosts without one; Hadoop's own default.
const DEFAULT_RACK: &str = "/default-rack";

/// Longest line of a plain list.
const LONGEST_LINE: u64 = 4_096;

/// A node of Rumen's tree, or a rack of SLS.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Node {
    name: Option<Text>,
    children: Option<List<Node>>,
    rack: Text,
    nodes: Option<List<Entry>>,
}

/// A host of SLS.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    node: Text,
}

/// Reads any of the three. Workers come in the order of the source.
///
/// # Errors
/// When the source breaks, is none of them, or names no host.
pub fn read(mut source: impl BufRead, notes: &mut ImportNotes) -> Result<Vec<TraceWorker>, TraceError> {
    let mut found = Workers { names: BTreeSet::new(), list: Vec::new(), notes };
    // Longer leading space than a buffer is no list of hosts that anybody wrote.
    let head = source.fill_buf().map_err(|source| TraceError::Io { place: "the beginning".to_owned(), source })?;
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    if head.trim_ascii_start().starts_with(b"{") {
        for_each(source, "a Rumen topology or a rack of SLS", |number, node: Node| found.add_object(number, &node))?;
    } else {
        found.add_list(source)?;
    }
    if found.list.is_empty() {
        return Err(TraceError::Format { found: "no host".to_owned(), expected: "a topology".to_owned() });
    }
    Ok(found.list)
}

struct Workers<'a> {
    names: BTreeSet<String>,
    list: Vec<TraceWorker>,
    notes: &'a mut ImportNotes,
}

impl Workers<'_> {
    fn add_object(&mut self, number: u64, node: &Node) -> Result<(), TraceError> {
        if let Some(entries) = &node.nodes {
            for entry in &entries.0 {
                self.add(Place::of(node.rack.as_str(), entry.node.as_str()));
            }
        } else if node.name.is_some() || node.children.is_some() {
            // The root's name is not part of a path.
            for rack in node.children.iter().flat_map(|children| &children.0) {
                self.add_tree(rack, "");
            }
        } else {
            return Err(TraceError::Malformed {
                place: format!("record {number}"),
                found: "an object without name, children, rack and nodes".to_owned(),
                expected: "a Rumen topology or a rack of SLS".to_owned(),
            });
        }
        Ok(())
    }

    /// Leaves are hosts, what is above them is the path of their rack. The parser bounds the depth.
    fn add_tree(&mut self, node: &Node, above: &str) {
        let name = node.name.as_ref().map_or("", Text::as_str);
        match &node.children {
            None => self.add(Place::of(above, name)),
            Some(children) => {
                let path = format!("{above}/{}", name.trim_start_matches('/'));
                for child in &children.0 {
                    self.add_tree(child, &path);
                }
            }
        }
    }

    fn add_list(&mut self, mut source: impl BufRead) -> Result<(), TraceError> {
        let mut line = Vec::new();
        for number in 1u64.. {
            line.clear();
            let mut limited = source.by_ref().take(LONGEST_LINE);
            let read = limited.read_until(b'\n', &mut line);
            let read = read.map_err(|source| TraceError::Io { place: format!("line {number}"), source })?;
            if read == 0 {
                break;
            }
            let text = String::from_utf8_lossy(&line);
            let text = text.split('#').next().unwrap_or("").trim();
            let odd = text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\u{fffd}');
            if odd || read as u64 == LONGEST_LINE {
                return Err(TraceError::Malformed {
                    place: format!("line {number}"),
                    found: format!("`{}`", text.chars().filter(|c| !c.is_control()).take(40).collect::<String>()),
                    expected: "a host, or /rack/host".to_owned(),
                });
            }
            if !text.is_empty() {
                self.add(Place::parse(text));
            }
        }
        Ok(())
    }

    fn add(&mut self, place: Option<Place>) {
        let Some(place) = place else {
            self.notes.add("host without a name: left out", || format!("after {} hosts", self.list.len()));
            return;
        };
        if !self.names.insert(place.host.clone()) {
            self.notes.add("host listed twice: its first rack counts", || place.host.clone());
            return;
        }
        let rack = if place.rack.is_empty() { DEFAULT_RACK.to_owned() } else { place.rack };
        self.list.push(TraceWorker { name: place.host.clone(), host: place.host, rack, ..TraceWorker::default() });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn hosts(text: &str) -> Result<(Vec<String>, Vec<String>), String> {
        let mut notes = ImportNotes::default();
        let workers = read(text.as_bytes(), &mut notes).map_err(|error| error.to_string())?;
        let paths = workers.iter().map(|worker| format!("{}/{}", worker.rack, worker.host)).collect();
        Ok((paths, notes.lines()))
    }

    #[test]
    fn rumen_tree_gives_hosts_with_their_racks() {
        let text = r#"{"name":"<root>","children":[{"name":"1\\.2","children":[{"name":"a\\.b","children":null},
            {"name":"c"},{"name":"a\\.b"}]},{"name":"dc","children":[{"name":"r","children":[{"name":"d"}]}]}]}"#;
        let (paths, notes) = hosts(text).unwrap();
        assert_eq!(paths, ["/1.2/a.b", "/1.2/c", "/dc/r/d"]);
        assert_eq!(notes, ["1 host listed twice: its first rack counts"]);
    }

    #[test]
    fn nodes_of_sls_may_be_empty_objects() {
        let (paths, notes) =
            hosts(r#"{"rack":"r1","nodes":[{"node":"a","memory-mb":8}]} {"rack":"/r2","nodes":[{"node":"b"},{}]}"#)
                .unwrap();
        assert_eq!(paths, ["/r1/a", "/r2/b"]);
        assert_eq!(notes, ["1 host without a name: left out"]);
    }

    #[test]
    fn plain_list_has_a_host_per_line() {
        let (paths, notes) = hosts("# two racks\n/r1/a\r\n\nb # no rack\n/r2/c").unwrap();
        assert_eq!(paths, ["/r1/a", "/default-rack/b", "/r2/c"]);
        assert_eq!(notes, [""; 0]);
    }

    #[rstest]
    #[case("", "format: found no host, expected a topology")]
    #[case("{\"jobID\":1}", "record 1: found an object without name, children, rack and nodes")]
    #[case("a\nb c\n", "line 2: found `b c`, expected a host, or /rack/host")]
    #[case("{\"name\":\"r\",\"children\":7}", "expected a list or null")]
    fn what_is_no_topology_is_refused(#[case] text: &str, #[case] part: &str) {
        let error = hosts(text).unwrap_err();
        assert!(error.contains(part), "{error}");
    }

    #[test]
    fn tree_of_endless_depth_is_refused() {
        let error = hosts(&"{\"children\":[".repeat(10_000)).unwrap_err();
        assert!(error.contains("recursion limit"), "{error}");
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes[..], &mut ImportNotes::default());
        }
    }
}
