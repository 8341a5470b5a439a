//! Hadoop's XML files: what is common to reading them.
//!
//! Entities, which could refer to each other without end, need a document type, and XInclude could include the file
//! itself; neither is followed: both are errors that say so. Texts are trimmed. Source:
//! `docs/hadoop.md#allocation-files`.

use roxmltree::{Document, Node, ParsingOptions};

/// Most elements, texts and comments of a file; one of 10,000 queues has fewer.
const MAX_NODES: u32 = 1_000_000;

/// One `<property>` of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Its key.
    pub name: String,
    /// Its text; may be empty.
    pub value: String,
    /// Where it begins, from 1.
    pub line: u32,
}

/// Whether a text is XML at all: whether it begins with `<`, perhaps after a byte order mark, as editors on Windows
/// write one.
pub fn is_xml(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
}

/// A text that is no XML that is read here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct XmlError {
    /// From 1.
    pub line: u32,
    /// A sentence.
    pub problem: String,
}

/// The document of a text.
///
/// # Errors
/// When the text is not well-formed, has a document type or includes other files.
pub fn parse(text: &str) -> Result<Document<'_>, XmlError> {
    let options = ParsingOptions { nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| match error {
        roxmltree::Error::DtdDetected => XmlError {
            line: text.split("<!DOCTYPE").next().map_or(1, |before| before.matches('\n').count() as u32 + 1),
            problem: "a document type is not allowed, as its entities could refer to each other; write the values out"
                .to_owned(),
        },
        error => XmlError { line: error.pos().row.max(1), problem: format!("not well-formed XML: {error}") },
    })?;
    let include = document.descendants().find(|node| node.is_element() && node.tag_name().name() == "include");
    match include {
        None => Ok(document),
        Some(node) => Err(XmlError {
            line: line_of(&node),
            problem: "other files are not included, as they could include this one; expected their contents".to_owned(),
        }),
    }
}

/// The properties of a `<configuration>`, in the file's order. Of those with equal names, Hadoop takes the last.
///
/// # Errors
/// A sentence with the line, when the file is not of this form.
pub fn properties(text: &str) -> Result<Vec<Property>, String> {
    let document = parse(text).map_err(|error| error.to_string())?;
    let root = document.root_element();
    if root.tag_name().name() != "configuration" {
        return Err(format!("root element is <{}>, expected <configuration>", root.tag_name().name()));
    }
    root.children().filter(Node::is_element).map(|node| property(&node)).collect()
}

fn property(node: &Node<'_, '_>) -> Result<Property, String> {
    let line = line_of(node);
    if node.tag_name().name() != "property" {
        return Err(format!("line {line}: element <{}>, expected <property>", node.tag_name().name()));
    }
    let part = |wanted: &str| node.children().find(|child| child.tag_name().name() == wanted);
    let name = part("name").map(|name| text_of(&name)).filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| format!("line {line}: a <property> without <name>"))?;
    let value = part("value").ok_or_else(|| format!("line {line}: property `{name}` has no <value>"))?;
    Ok(Property { value: text_of(&value), name, line })
}

/// The text right within an element, trimmed.
pub fn text_of(node: &Node<'_, '_>) -> String {
    node.text().unwrap_or("").trim().to_owned()
}

/// Where an element begins, from 1.
pub fn line_of(node: &Node<'_, '_>) -> u32 {
    node.document().text_pos_at(node.range().start).row
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn properties_come_in_the_order_of_the_file() {
        let text = "<?xml version=\"1.0\"?>\n<configuration>\n <!-- two -->\n <property><name> a.b </name>\
                    <value>\n3 </value><description>x</description></property>\n\
                    <property><name>c</name><value/></property>\n</configuration>";
        let found = properties(text).expect("well-formed");
        let pairs: Vec<_> = found.iter().map(|p| (p.name.as_str(), p.value.as_str())).collect();
        assert_eq!(pairs, [("a.b", "3"), ("c", "")]);
        assert_eq!(found[0].line, 4);
    }

    #[rstest]
    #[case::unclosed("<configuration>", "not well-formed XML")]
    #[case::wrong_root("<allocations/>", "root element is <allocations>, expected <configuration>")]
    #[case::wrong_child("<configuration>\n<pool/></configuration>", "line 2: element <pool>, expected <property>")]
    #[case::no_name("<configuration><property><value>1</value></property></configuration>", "without <name>")]
    #[case::no_value("<configuration><property><name>a</name></property></configuration>", "`a` has no <value>")]
    #[case::entities(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE c [<!ENTITY a \"&b;\"><!ENTITY b \"&a;\">]><configuration>&a;</configuration>",
        "line 2: a document type is not allowed"
    )]
    #[case::include(
        "<configuration xmlns:xi=\"http://www.w3.org/2001/XInclude\">\n<xi:include href=\"self.xml\"/></configuration>",
        "line 2: other files are not included"
    )]
    fn what_is_not_of_the_form_is_named(#[case] text: &str, #[case] expected: &str) {
        let error = properties(text).expect_err("not of the form");
        assert!(error.contains(expected), "{error}");
    }
}
