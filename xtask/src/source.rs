//! Rust source as the checks see it: comments, literals and test modules blanked out, lines kept.
//!
//! Not a parser. It knows enough of the lexical grammar (nested comments, raw strings, lifetimes) that a word in
//! a comment or a string is never mistaken for code.

/// `text` with comments, string and character literals replaced by blanks.
pub(crate) fn code_only(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = token_to_blank(bytes, at);
        for byte in &mut out[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end.max(at + 1);
    }
    String::from_utf8(out).expect("blanks replace whole tokens")
}

/// Where the comment or literal that starts at `at` ends; `at` itself when none starts there.
fn token_to_blank(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    match rest[0] {
        b'/' if rest.starts_with(b"//") => at + rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len()),
        b'/' if rest.starts_with(b"/*") => at + block_comment(rest),
        b'"' => at + quoted(rest, b'"'),
        b'r' if starts_raw_string(bytes, at) => at + raw_string(rest),
        b'\'' if rest.get(1) == Some(&b'\\') => at + quoted(rest, b'\''),
        b'\'' => at + short_char(rest),
        _ => at,
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0_u32, 0);
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    at
}

fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

fn starts_raw_string(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|i| bytes[i]);
    // `br"…"` is one token, `foo_r"…"` is not Rust.
    let inside_word = before.is_some_and(|b| (b.is_ascii_alphanumeric() || b == b'_') && b != b'b');
    let hashes = bytes[at + 1..].iter().take_while(|&&b| b == b'#').count();
    !inside_word && bytes.get(at + 1 + hashes) == Some(&b'"')
}

fn raw_string(rest: &[u8]) -> usize {
    let hashes = rest[1..].iter().take_while(|&&b| b == b'#').count();
    let mut close = vec![b'"'];
    close.resize(hashes + 1, b'#');
    let body = hashes + 2;
    match rest[body..].windows(close.len()).position(|window| window == close) {
        Some(found) => body + found + close.len(),
        None => rest.len(),
    }
}

/// `'x'` with any one character; 0 for a lifetime.
fn short_char(rest: &[u8]) -> usize {
    let width = match rest.get(1) {
        Some(&b) if b >= 0xf0 => 4,
        Some(&b) if b >= 0xe0 => 3,
        Some(&b) if b >= 0xc0 => 2,
        Some(_) => 1,
        None => return 0,
    };
    if rest.get(1 + width) == Some(&b'\'') { width + 2 } else { 0 }
}

/// `code` (from [`code_only`]) without the items marked `#[cfg(test)]`.
pub(crate) fn without_tests(code: &str) -> String {
    let mut out = code.to_owned();
    while let Some(from) = out.find("#[cfg(test)]") {
        let to = end_of_item(&out, from + "#[cfg(test)]".len());
        let blank: String = out[from..to].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        out.replace_range(from..to, &blank);
    }
    out
}

/// Past the item's closing brace, or its semicolon when that comes first.
fn end_of_item(code: &str, from: usize) -> usize {
    let mut depth = 0_u32;
    for (at, byte) in code.bytes().enumerate().skip(from) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth <= 1 => return at + 1,
            b'}' => depth -= 1,
            b';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

/// Number of the line that holds byte `at`, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_lines_kept() {
        let text = "a // HashMap\n/* x /* HashMap */ */ b \"Hash\\\"Map\" r#\"Hash\"Map\"# 'H' '\\'' &'a str é\n'ü' c";
        let code = code_only(text);
        assert_eq!(code.lines().count(), text.lines().count());
        assert!(!code.contains("Hash") && !code.contains('ü'), "{code}");
        assert!(code.contains("&'a str é") && code.ends_with('c'), "{code}");
    }

    #[test]
    fn test_modules_and_test_imports_go() {
        let code =
            "use a;\n#[cfg(test)]\nuse HashMap;\nfn f() {}\n#[cfg(test)]\nmod tests { fn g() { HashMap } }\nfn h() {}";
        let kept = without_tests(code);
        assert!(!kept.contains("HashMap"), "{kept}");
        assert!(kept.contains("fn f()") && kept.contains("fn h()"), "{kept}");
        assert_eq!(line_of(&kept, kept.find("fn h").expect("kept")), 7);
    }
}
