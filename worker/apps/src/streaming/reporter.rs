//! Lines on a command's standard error that are meant for the framework.

/// What such a line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// `reporter:counter:GROUP,NAME,AMOUNT`
    Count { group: String, name: String, amount: i64 },
    /// `reporter:status:MESSAGE`
    Status(String),
    /// Starts like one and is none.
    Malformed,
}

/// Reads a line; `None` when it is an ordinary one.
pub(super) fn parse(line: &[u8], prefix: &str) -> Option<Report> {
    let rest = String::from_utf8_lossy(line.strip_prefix(prefix.as_bytes())?);
    if let Some(message) = rest.strip_prefix("status:") {
        return Some(Report::Status(message.trim().to_owned()));
    }
    let Some(fields) = rest.strip_prefix("counter:") else { return Some(Report::Malformed) };
    let fields: Vec<&str> = fields.trim().split(',').collect();
    let [group, name, amount] = fields[..] else { return Some(Report::Malformed) };
    Some(match amount.parse() {
        Ok(amount) => Report::Count { group: group.to_owned(), name: name.to_owned(), amount },
        Err(_) => Report::Malformed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_and_statuses_are_read_and_bad_ones_known_as_such() {
        let read = |line: &str| parse(line.as_bytes(), "reporter:");
        let count = Report::Count { group: "My Group".into(), name: "n".into(), amount: -2 };
        assert_eq!(read("reporter:counter:My Group,n,-2 "), Some(count));
        assert_eq!(read("reporter:status: half way "), Some(Report::Status("half way".into())));
        for bad in ["reporter:counter:a,b", "reporter:counter:a,b,c,1", "reporter:counter:a,b,x", "reporter:x"] {
            assert_eq!(read(bad), Some(Report::Malformed), "{bad}");
        }
        assert_eq!(read("a warning"), None);
        assert_eq!(parse(b"tell:status:x", "tell:"), Some(Report::Status("x".into())));
    }
}
