//! Bounds on what programs and users can say: one table for the task library, the worker, the master and the client.
//!
//! Whoever passes something on keeps it within these bounds first (a name is cut, a counter that finds no room is left
//! out), counts that in a [`Cut`], and says it once in the attempt's diagnostics. Whoever receives something keeps it
//! within them again and never refuses a whole report for one field. The wire crate passes this table on.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::counters::{Counters, KNOWN};

/// Counters of one attempt, the framework's own among them. Hadoop allows 120 for a whole job.
pub const COUNTERS: usize = 1_000;
/// Counters of one job: attempts may have different ones.
pub const COUNTERS_OF_JOB: usize = 10_000;
/// Bytes of a counter's name, and of its group's.
pub const COUNTER_NAME_BYTES: usize = 128;
/// Bytes of an attempt's status line.
pub const STATUS_BYTES: usize = 1_024;
/// Bytes of an attempt's diagnostics.
pub const DIAGNOSTICS_BYTES: usize = 16 << 10;
/// Bytes of the end of its standard error that a failed attempt's report carries.
pub const STDERR_TAIL_BYTES: usize = 4 << 10;
/// Bytes of one line on the umbilical, from the attempt: its counters at their bounds fit. A longer one ends the attempt.
pub const LINE_BYTES: usize = 1 << 20;
/// Map outputs that one attempt may report at once as impossible to fetch.
pub const FETCH_FAILURES: usize = 4_096;
/// Map outputs that a worker which registers may name as still there.
pub const KEPT_OUTPUTS: usize = 65_536;
/// Bytes of a name: job, user, queue, worker, host, rack, attribute.
pub const NAME_BYTES: usize = 1_024;
/// Bytes of a path: an input, an output, a program. The kernel's own bound.
pub const PATH_BYTES: usize = 4_096;
/// Shared folders that one examination of the workers looks at.
pub const SHARES: usize = 8;
/// Properties of one job.
pub const PROPERTIES: usize = 10_000;
/// Bytes of one property, name and value.
pub const PROPERTY_BYTES: usize = 1 << 20;
/// Bytes of all properties of one job.
pub const PROPERTIES_BYTES: usize = 16 << 20;
/// Bytes of one variable of a command's environment, name and value: the kernel takes 128 KiB.
pub const VARIABLE_BYTES: usize = 120 << 10;
/// Bytes of a command's whole environment: the kernel takes a quarter of the stack's bound, commonly 2 MiB.
pub const ENVIRONMENT_BYTES: usize = 1 << 20;

/// What was left out to keep within the bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Names that were shortened or held control characters.
    #[serde(default)]
    pub names: u64,
    /// Additions to counters that found no room.
    #[serde(default)]
    pub counters: u64,
    /// Status lines that were shortened.
    #[serde(default)]
    pub statuses: u64,
}

impl Cut {
    /// Whether everything fitted.
    pub fn is_nothing(&self) -> bool {
        *self == Cut::default()
    }

    /// The larger of each: the same counters are cut again in every report.
    pub fn or_more(self, other: Cut) -> Cut {
        Cut {
            names: self.names.max(other.names),
            counters: self.counters.max(other.counters),
            statuses: self.statuses.max(other.statuses),
        }
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.names, format!("counter names over {COUNTER_NAME_BYTES} bytes or with control characters")),
            (self.counters, format!("additions to counters beyond {COUNTERS}")),
            (self.statuses, format!("status lines over {STATUS_BYTES} bytes")),
        ];
        f.write_str("cut to what an attempt may say: ")?;
        let said = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
        f.write_str(&said.collect::<Vec<_>>().join(", "))
    }
}

/// A counter's or group's name within its bound, on one line.
pub fn counter_name(name: &str) -> Cow<'_, str> {
    if name.len() <= COUNTER_NAME_BYTES && !name.contains(char::is_control) {
        return Cow::Borrowed(name);
    }
    let one_line = name.replace(char::is_control, "?");
    Cow::Owned(first_part(&one_line, COUNTER_NAME_BYTES).to_owned())
}

/// The first bytes of a text, of whole characters.
pub fn first_part(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The last bytes of a text, of whole characters.
pub fn last_part(text: &str, bytes: usize) -> &str {
    let mut from = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

/// A text within its bound. One that is longer loses its middle: what it is about is said first, the cause last.
pub fn without_middle(text: String, bytes: usize) -> String {
    const GAP: &str = " … ";
    if text.len() <= bytes {
        return text;
    }
    let room = bytes.saturating_sub(GAP.len());
    format!("{}{GAP}{}", first_part(&text, room / 2), last_part(&text, room / 2))
}

/// A status line within its bound.
pub fn status(message: String, cut: &mut Cut) -> String {
    if message.len() <= STATUS_BYTES {
        return message;
    }
    cut.statuses += 1;
    first_part(&message, STATUS_BYTES).to_owned()
}

/// An attempt's diagnostics within their bound, with what was cut from the rest of what it said.
pub fn diagnostics(text: String, cut: Cut) -> String {
    let text = without_middle(text, DIAGNOSTICS_BYTES);
    match (cut.is_nothing(), text.is_empty()) {
        (true, _) => text,
        (false, true) => cut.to_string(),
        (false, false) => format!("{text}\n{cut}"),
    }
}

/// Adds to a counter under its name within the bounds; a new one only while there are fewer than `most`.
pub fn count(counters: &mut Counters, (group, name): (&str, &str), amount: i64, most: usize, cut: &mut Cut) {
    // By far the most common, and what is there is within the bounds.
    if let Some(value) = counters.0.get_mut(group).and_then(|values| values.get_mut(name)) {
        *value = value.saturating_add(amount);
        return;
    }
    let (in_group, short) = (counter_name(group), counter_name(name));
    let known = counters.0.get(&*in_group).is_some_and(|values| values.contains_key(&*short));
    if !known {
        if entries(counters) >= most {
            cut.counters += 1;
            return;
        }
        cut.names += u64::from(matches!(in_group, Cow::Owned(_)) || matches!(short, Cow::Owned(_)));
    }
    counters.add(&in_group, &short, amount);
}

/// Counters within the bounds, `most` of them; the framework's own are kept before others.
pub fn within(counters: Counters, most: usize) -> (Counters, Cut) {
    let fits = |name: &String| matches!(counter_name(name), Cow::Borrowed(_));
    let all_fit = || counters.0.iter().all(|(group, values)| fits(group) && values.keys().all(fits));
    if entries(&counters) <= most && all_fit() {
        return (counters, Cut::default());
    }
    let (mut kept, mut cut) = (Counters::default(), Cut::default());
    for &(group, name) in KNOWN {
        if let Some(&value) = counters.0.get(group).and_then(|values| values.get(name)) {
            kept.add(group, name, value);
        }
    }
    for (group, values) in &counters.0 {
        for (name, &value) in values {
            if !KNOWN.contains(&(group, name)) {
                count(&mut kept, (group, name), value, most, &mut cut);
            }
        }
    }
    (kept, cut)
}

/// Counters, and groups without any.
fn entries(counters: &Counters) -> usize {
    counters.0.values().map(|values| values.len().max(1)).sum()
}

#[cfg(test)]
mod tests {
    use super::super::counters::FRAMEWORK;
    use super::*;

    #[test]
    fn what_fits_stays_as_it_is() {
        let mut counters = Counters::default();
        counters.add("Group", "größer", 3);
        counters.0.insert("empty".to_owned(), Default::default());
        assert_eq!(within(counters.clone(), COUNTERS), (counters, Cut::default()));
    }

    #[test]
    fn too_many_counters_leave_the_frameworks_and_say_how_many_went() {
        let mut counters = Counters::default();
        (0..5_000).for_each(|i| counters.add("A", &format!("{i:04}"), 1));
        counters.add(FRAMEWORK, "Map input records", 9);
        let (kept, cut) = within(counters, COUNTERS);
        assert_eq!((entries(&kept), cut.counters), (COUNTERS, 4_001));
        assert_eq!(kept.get(FRAMEWORK, "Map input records"), 9);
        assert_eq!(cut.to_string(), "cut to what an attempt may say: 4001 additions to counters beyond 1000");
    }

    #[test]
    fn groups_without_counters_are_bounded_too() {
        let groups = (0..5_000).map(|i| (i.to_string(), Default::default())).collect();
        assert!(entries(&within(Counters(groups), COUNTERS).0) <= COUNTERS);
    }

    #[test]
    fn a_long_name_is_cut_once_however_often_it_is_counted() {
        let (mut counters, mut cut) = (Counters::default(), Cut::default());
        let long = "ä".repeat(1_000);
        (0..10).for_each(|_| count(&mut counters, ("G\n", &long), 1, COUNTERS, &mut cut));
        assert_eq!(counters.get("G?", &"ä".repeat(64)), 10);
        assert_eq!(cut, Cut { names: 1, ..Cut::default() });
    }

    #[test]
    fn long_texts_keep_whole_characters_of_both_ends() {
        assert_eq!(
            (first_part("äb", 1), first_part("äb", 2), last_part("bä", 1), last_part("bä", 9)),
            ("", "ä", "", "bä")
        );
        let text = without_middle("ä".repeat(100), 50);
        assert!(text.len() <= 50 && text.starts_with('ä') && text.ends_with('ä') && text.contains('…'), "{text}");
        assert_eq!(
            diagnostics("broke".to_owned(), Cut { statuses: 2, ..Cut::default() }),
            "broke\ncut to what an attempt may say: 2 status lines over 1024 bytes"
        );
    }
}
