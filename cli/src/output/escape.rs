//! Text of others on a terminal: whatever could steer it is shown instead of sent.
//!
//! Names, statuses and diagnostics come from jobs and workers, and a terminal obeys what it is sent: escape sequences
//! move the cursor and rewrite earlier lines, C1 codes do the same in one character, bidirectional controls reorder what
//! is read. All of them are printed as Rust writes them, `\u{1b}`. Only a file's own content passes unchanged
//! (`Screen::raw`). Our own colours travel as marks until a whole line is written, so that nobody can forge them.

use std::borrow::Cow;
use std::fmt::Write as _;

use howdah_guards::Guard;

use super::Style;

/// Stands before a style's letter, and alone for the end of a style. Unicode keeps these two free for programs' own use
/// (noncharacters).
const BEGIN: char = '\u{fdd0}';
const END: char = '\u{fdd1}';

/// `text` between the marks of a style.
pub(super) fn marked(style: Style, text: &str) -> String {
    format!("{BEGIN}{}{text}{END}", style.letter())
}

/// A cell or a name: one line in which nothing steers the terminal, marks included.
pub(crate) fn cell(text: &str) -> Cow<'_, str> {
    escaped(text, |c| steers(c) || matches!(c, BEGIN | END | '\n' | '\t'))
}

/// One line that may carry our marks.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, |c| steers(c) || matches!(c, '\n' | '\t'))
}

/// Whole lines, ready to be written: marks become colours or vanish, everything else that steers is escaped.
pub(super) fn lines(text: &str, colour: bool) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            BEGIN => match rest.next_if(|&letter| Style::of_letter(letter).is_some()).and_then(Style::of_letter) {
                Some(style) if colour => _ = write!(out, "\x1b[{}m", style.code()),
                Some(_) => {}
                None => out.extend(c.escape_unicode()),
            },
            END if colour => out.push_str("\x1b[0m"),
            END => {}
            c if steers(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// JSON that says the same with escapes of its own.
pub(super) fn json(text: &str) -> Cow<'_, str> {
    if !text.chars().any(steers) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        // All of them are in the first plane.
        if steers(c) { _ = write!(out, "\\u{:04x}", u32::from(c)) } else { out.push(c) }
    }
    Cow::Owned(out)
}

fn escaped(text: &str, is_shown: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_shown) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' | '\t' if is_shown(c) => out.extend(c.escape_default()),
            c if is_shown(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// C0 without line feed and tab, DEL, C1, what ends lines elsewhere, and what reorders or hides text.
fn steers(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        _ if !Guard::Escapes.stands() => false,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' => true,
        '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fff9}'..='\u{fffb}' => true,
        c => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "job\u{1b}[2J\u{9b}31m\u{202e}txt.exe\u{7}\r\u{7f}";

    #[test]
    fn a_hostile_name_reaches_a_terminal_as_text() {
        let shown = r"job\u{1b}[2J\u{9b}31m\u{202e}txt.exe\u{7}\u{d}\u{7f}";
        assert_eq!(cell(HOSTILE), shown);
        assert_eq!(lines(HOSTILE, true), shown);
        assert_eq!(cell("two\nlines\tand a tab"), r"two\nlines\tand a tab");
        assert_eq!(lines("two\nlines\tand a tab", true), "two\nlines\tand a tab");
    }

    #[test]
    fn only_our_own_marks_become_colours() {
        let ours = marked(Style::Bad, "FAILED");
        assert_eq!(lines(&ours, true), "\u{1b}[31mFAILED\u{1b}[0m");
        assert_eq!(lines(&ours, false), "FAILED");
        assert_eq!(cell(&ours), "\\u{fdd0}rFAILED\\u{fdd1}");
        assert_eq!(lines("\u{fdd0}?x", true), "\\u{fdd0}?x");
    }

    #[test]
    fn json_stays_the_same_value() {
        let text = serde_json::to_string(HOSTILE).unwrap();
        let safe = json(&text);
        assert!(!safe.chars().any(steers), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), HOSTILE);
    }

    #[test]
    fn names_in_any_language_stay_as_they_are() {
        for name in ["Zählung", "单词计数", "счёт", "عدد", "naïve 🎉"] {
            assert_eq!(cell(name), name);
            assert_eq!(lines(name, true), name);
        }
    }
}
