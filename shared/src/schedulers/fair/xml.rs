//! An allocation file in Hadoop's XML, as a list of entries.

use roxmltree::{Document, Node};

use super::allocations::{Entries, Entry, Place, SyntaxError};

/// Reads `fair-scheduler.xml`. Document type declarations are refused, so that no entity can grow a small file.
pub(super) fn entries(text: &str) -> Entries {
    let document = Document::parse(text).map_err(|error| {
        let line = error.pos().row.max(1);
        SyntaxError { line, problem: format!("expected XML, but {error}") }
    })?;
    let root = document.root_element();
    let line = |node: Node<'_, '_>| document.text_pos_at(node.range().start).row;
    if !root.has_tag_name("allocations") {
        let problem = format!("the root element is `{}`, expected `allocations`", root.tag_name().name());
        return Err(SyntaxError { line: line(root), problem });
    }
    let (mut entries, mut warnings) = (Vec::new(), Vec::new());
    for node in root.children().filter(Node::is_element) {
        let key = node.tag_name().name();
        let place: fn(String) -> Place = match key {
            "pool" => Place::Pool,
            "user" => Place::User,
            _ if node.children().any(|child| child.is_element()) || node.text().is_none() => {
                warnings.push(format!("line {}: unknown element `{key}`; it is ignored", line(node)));
                continue;
            }
            _ => {
                entries.push(Entry { place: Place::Top, key: key.to_owned(), value: value(node), line: line(node) });
                continue;
            }
        };
        let Some(name) = node.attribute("name") else {
            return Err(SyntaxError { line: line(node), problem: format!("`{key}`: expected an attribute `name`") });
        };
        let place = place(name.trim().to_owned());
        entries.push(Entry { place: place.clone(), key: String::new(), value: String::new(), line: line(node) });
        for child in node.children().filter(Node::is_element) {
            let key = child.tag_name().name().to_owned();
            entries.push(Entry { place: place.clone(), key, value: value(child), line: line(child) });
        }
    }
    Ok((entries, warnings))
}

fn value(node: Node<'_, '_>) -> String {
    node.text().unwrap_or_default().trim().to_owned()
}
