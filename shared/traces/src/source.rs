//! Where bytes come from: a look at the beginning, and gzip taken away.
//!
//! Gzip is recognised by its two magic bytes, not by a file's name; several members one after another are one text.

use std::io::{BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

use super::TraceError;

/// How much of the beginning is looked at to tell formats apart.
const HEAD: usize = 1 << 16;

/// Plain bytes with their beginning known.
pub(super) struct Source<'a> {
    /// The first bytes, at most [`HEAD`]; they are still in `rest`.
    pub(super) head: Vec<u8>,
    /// All bytes.
    pub(super) rest: Box<dyn BufRead + 'a>,
}

impl<'a> Source<'a> {
    /// Takes gzip away if there is some, once.
    pub(super) fn open(source: impl Read + 'a) -> Result<Source<'a>, TraceError> {
        let plain = Source::peek(source)?;
        if plain.head.starts_with(&[0x1f, 0x8b]) { Source::peek(MultiGzDecoder::new(plain.rest)) } else { Ok(plain) }
    }

    fn peek(mut source: impl Read + 'a) -> Result<Source<'a>, TraceError> {
        let mut head = Vec::new();
        source
            .by_ref()
            .take(HEAD as u64)
            .read_to_end(&mut head)
            .map_err(|source| TraceError::Io { place: "the beginning".to_owned(), source })?;
        let rest = BufReader::with_capacity(HEAD, Cursor::new(head.clone()).chain(source));
        Ok(Source { head, rest: Box::new(rest) })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn all(bytes: &[u8]) -> String {
        let mut text = String::new();
        Source::open(bytes).unwrap().rest.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn plain_text_passes_and_gzip_of_several_members_is_taken_away() {
        assert_eq!(all(b"plain"), "plain");
        assert_eq!(all(b""), "");
        assert_eq!(all(&[gzip("one "), gzip("two")].concat()), "one two");
        assert_eq!(Source::open(&gzip("head")[..]).unwrap().head, b"head");
    }

    #[test]
    fn broken_gzip_is_an_error_and_no_panic() {
        let mut bytes = gzip("some text that is long enough");
        bytes.truncate(15);
        assert!(matches!(Source::open(&bytes[..]), Err(TraceError::Io { .. })));
        assert!(matches!(Source::open(&[0x1f, 0x8b, 9, 9][..]), Err(TraceError::Io { .. })));
    }
}
