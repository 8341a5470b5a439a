//! An allocation file in Hadoop's XML, as a list of entries.

use roxmltree::Node;

use super::entries::{Entries, Entry, Place, SyntaxError};
use crate::schedulers::hadoop_xml::{XmlError, line_of, parse, text_of};

/// Reads `fair-scheduler.xml`. Document type declarations are refused, so that no entity can grow a small file.
pub(super) fn entries(text: &str) -> Entries {
    let document = parse(text).map_err(|XmlError { line, problem }| SyntaxError { line, problem })?;
    let root = document.root_element();
    if !root.has_tag_name("allocations") {
        let problem = format!("the root element is `{}`, expected `allocations`", root.tag_name().name());
        return Err(SyntaxError { line: line_of(&root), problem });
    }
    let (mut entries, mut warnings) = (Vec::new(), Vec::new());
    for node in root.children().filter(Node::is_element) {
        let key = node.tag_name().name();
        let place: fn(String) -> Place = match key {
            "pool" => Place::Pool,
            "user" => Place::User,
            _ if node.children().any(|child| child.is_element()) || node.text().is_none() => {
                warnings.push(format!("line {}: unknown element `{key}`; it is ignored", line_of(&node)));
                continue;
            }
            _ => {
                entries.push(Entry {
                    place: Place::Top,
                    key: key.to_owned(),
                    value: text_of(&node),
                    line: line_of(&node),
                });
                continue;
            }
        };
        let Some(name) = node.attribute("name") else {
            return Err(SyntaxError {
                line: line_of(&node),
                problem: format!("`{key}`: expected an attribute `name`"),
            });
        };
        let place = place(name.trim().to_owned());
        entries.push(Entry { place: place.clone(), key: String::new(), value: String::new(), line: line_of(&node) });
        for child in node.children().filter(Node::is_element) {
            let key = child.tag_name().name().to_owned();
            entries.push(Entry { place: place.clone(), key, value: text_of(&child), line: line_of(&child) });
        }
    }
    Ok((entries, warnings))
}
