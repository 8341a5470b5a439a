//! Lines of a split, each line of a file exactly once whatever the splits.
//!
//! A line belongs to the split in which its first byte lies. A split that does not start the file begins one byte
//! early and drops what it finds up to the first line end: if that byte ends a line, nothing but the end is dropped.
//! The last line is read to its end beyond the split. Lines end with LF, CR LF or a lone CR; the last one may have no
//! end. Source: MR1 LineRecordReader and LineReader. A file's mark of UTF-8 belongs to no line, as in Hadoop 2
//! (MAPREDUCE-5777).

use super::file::InputFile;
use super::source::Source;
use super::{Record, Records};
use crate::api::error::TaskError;
use crate::api::line_length::too_long;

/// Bytes read at once; small enough to stay in the cache beside a program's own data.
const BUFFER_BYTES: usize = 256 * 1024;

/// What some editors begin a text with.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads the lines of a split. Memory: [`BUFFER_BYTES`], or twice the longest line.
pub(crate) struct LineRecords {
    file: InputFile,
    buffer: Vec<u8>,
    /// Unread bytes are `buffer[start..end]`.
    start: usize,
    end: usize,
    /// Offset in the (uncompressed) file of `buffer[start]`.
    position: u64,
    at_eof: bool,
    split_start: u64,
    split_end: u64,
    /// Bytes of a line at most, without its end.
    most: usize,
}

impl LineRecords {
    /// Opens `length` bytes at `offset`; for compressed files everything, as `length` counts other bytes.
    /// A line of more than `most` bytes is an error.
    pub(crate) fn open(source: &Source, offset: u64, length: u64, most: usize) -> Result<LineRecords, TaskError> {
        LineRecords::with_buffer(source, offset, length, most, BUFFER_BYTES)
    }

    fn with_buffer(
        source: &Source,
        offset: u64,
        length: u64,
        most: usize,
        buffer: usize,
    ) -> Result<LineRecords, TaskError> {
        let first = offset.saturating_sub(1);
        let file = InputFile::open(source, first, (offset, offset.saturating_add(length)))?;
        let compressed = file.compressed_progress().is_some();
        let split_end = if compressed { u64::MAX } else { offset.saturating_add(length) };
        // A small split needs no large buffer: most of what is read lies within it.
        let wanted = usize::try_from(length).unwrap_or(usize::MAX).saturating_add(4096);
        let capacity = if compressed { buffer } else { buffer.min(wanted) };
        let mut records = LineRecords {
            file,
            buffer: vec![0; capacity.max(2)],
            start: 0,
            end: 0,
            position: first,
            at_eof: false,
            split_start: offset,
            split_end,
            most,
        };
        if offset > 0 {
            records.next_line()?;
        }
        Ok(records)
    }

    /// Reads more behind the unread bytes, which move to the front; a full buffer grows.
    fn fill(&mut self) -> Result<(), TaskError> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        // The last byte may be the first one of its end.
        if self.end > self.most.saturating_add(1) {
            return Err(self.too_long());
        }
        if self.end == self.buffer.len() {
            let doubled = self.buffer.len() * 2;
            self.buffer.resize(doubled, 0);
        }
        let at = self.position + self.end as u64;
        let n = self.file.read(&mut self.buffer[self.end..], at)?;
        self.end += n;
        self.at_eof = n == 0;
        Ok(())
    }

    /// Finds the next line: where it is in the buffer, and its length with its end. Steps past it.
    fn next_line(&mut self) -> Result<Option<(usize, usize, usize)>, TaskError> {
        let mut searched = 0;
        loop {
            let unread = &self.buffer[self.start..self.end];
            if let Some(found) = memchr::memchr2(b'\n', b'\r', &unread[searched..]) {
                let length = searched + found;
                let line_feed = unread[length] == b'\n';
                match unread.get(length + 1) {
                    Some(b'\n') if !line_feed => return self.step(length, length + 2).map(Some),
                    None if !line_feed && !self.at_eof => {
                        // A carriage return ends the buffer: what follows decides.
                        searched = length;
                        self.fill()?;
                        continue;
                    }
                    _ => return self.step(length, length + 1).map(Some),
                }
            }
            searched = unread.len();
            if self.at_eof {
                return if searched == 0 { Ok(None) } else { self.step(searched, searched).map(Some) };
            }
            self.fill()?;
        }
    }

    fn step(&mut self, length: usize, consumed: usize) -> Result<(usize, usize, usize), TaskError> {
        if length > self.most {
            return Err(self.too_long());
        }
        let line = (self.start, self.start + length, consumed);
        self.start += consumed;
        self.position += consumed as u64;
        Ok(line)
    }

    #[cold]
    fn too_long(&self) -> TaskError {
        TaskError::Rule(too_long(&format!("at byte {} ", self.position), self.most))
    }
}

impl Records for LineRecords {
    #[inline]
    fn next_record(&mut self) -> Result<Option<Record<'_>>, TaskError> {
        let offset = self.position;
        if offset >= self.split_end {
            return Ok(None);
        }
        let Some((mut from, to, consumed)) = self.next_line()? else { return Ok(None) };
        if offset == 0 && self.buffer[from..to].starts_with(MARK) {
            from += MARK.len();
        }
        Ok(Some(Record { offset, value: &self.buffer[from..to], consumed: consumed as u64 }))
    }

    fn bytes_read(&self) -> u64 {
        self.file.bytes_read()
    }

    fn progress(&self) -> f64 {
        self.file.compressed_progress().unwrap_or_else(|| {
            let length = (self.split_end - self.split_start).max(1);
            self.position.saturating_sub(self.split_start) as f64 / length as f64
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use howdah_core::job::splits::stretches;
    use proptest::prelude::*;

    use super::*;

    fn lines(path: &str, offset: u64, length: u64, buffer: usize) -> Vec<(u64, Vec<u8>)> {
        let mut records = LineRecords::with_buffer(&path.into(), offset, length, 1 << 30, buffer).expect("open");
        let mut found = Vec::new();
        while let Some(record) = records.next_record().expect("read") {
            found.push((record.offset, record.value.to_vec()));
        }
        found
    }

    /// What the lines are, said in the simplest way.
    fn naive(content: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let mut found = Vec::new();
        let (mut start, mut at) = (0, 0);
        while at < content.len() {
            let end = match (content[at], content.get(at + 1)) {
                (b'\r', Some(b'\n')) => Some(2),
                (b'\r' | b'\n', _) => Some(1),
                _ => None,
            };
            if let Some(n) = end {
                found.push((start as u64, content[start..at].to_vec()));
                at += n;
                start = at;
            } else {
                at += 1;
            }
        }
        if start < content.len() {
            found.push((start as u64, content[start..].to_vec()));
        }
        found
    }

    fn file_with(content: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("temporary file");
        file.write_all(content).expect("write");
        file
    }

    proptest! {
        #[test]
        fn every_line_comes_once_whatever_the_split_size(
            content in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a'), Just(b'b')], 0..60),
            split_size in 1_u64..20,
            buffer in 2_usize..12,
        ) {
            let file = file_with(&content);
            let path = file.path().to_str().expect("path");
            let mut found = Vec::new();
            for (offset, length) in stretches(content.len() as u64, split_size, true) {
                let part = lines(path, offset, length, buffer);
                prop_assert!(part.iter().all(|(at, _)| (offset..offset + length).contains(at)));
                found.extend(part);
            }
            prop_assert_eq!(found, naive(&content));
        }
    }

    #[test]
    fn a_carriage_return_split_from_its_line_feed_is_one_line_end() {
        let file = file_with(b"ab\r\ncd\r\n");
        let path = file.path().to_str().expect("path");
        for cut in 1..8 {
            let mut found = lines(path, 0, cut, 4);
            found.extend(lines(path, cut, 8 - cut, 4));
            assert_eq!(found, [(0, b"ab".to_vec()), (4, b"cd".to_vec())], "cut at {cut}");
        }
    }

    /// The longest line that is accepted, with each kind of end and in buffers of all sizes, is one byte shorter than the
    /// shortest that is not.
    #[test]
    fn a_line_of_the_largest_length_is_accepted_and_one_byte_more_is_not() {
        for end in ["\n", "\r", "\r\n", ""] {
            let file = file_with(format!("ab\nlonger{end}").as_bytes());
            let path = file.path().to_str().expect("a plain path");
            for buffer in 2..12 {
                let read = |most| {
                    let mut records = LineRecords::with_buffer(&path.into(), 0, 20, most, buffer)?;
                    let mut found = Vec::new();
                    while let Some(record) = records.next_record()? {
                        found.push(record.value.to_vec());
                    }
                    Ok::<_, TaskError>(found)
                };
                assert_eq!(read(6).expect("none is longer"), [b"ab".to_vec(), b"longer".to_vec()], "{end:?}, {buffer}");
                let said = read(5).expect_err("it is longer").to_string();
                let expected = "the line at byte 3 has more than 5 bytes, which is the most (`howdah.line.max.bytes`)";
                assert_eq!(said, expected, "{end:?}, {buffer}");
            }
        }
    }

    /// However long a line is, no more of it is held than the bound and what is read at once.
    #[test]
    fn a_line_that_is_too_long_is_not_read_to_its_end() {
        let file = file_with(&vec![b'x'; 100_000]);
        let path = file.path().to_str().expect("a plain path");
        let mut records = LineRecords::with_buffer(&path.into(), 0, 100_000, 1_000, 64).expect("open");
        records.next_record().map(|_| ()).expect_err("it is longer");
        assert!(records.buffer.len() <= 2_048, "{}", records.buffer.len());
        assert!(records.bytes_read() <= 2_048, "{}", records.bytes_read());
        // Nor where a split begins in its middle.
        let opened = LineRecords::with_buffer(&path.into(), 50_000, 10, 1_000, 64);
        opened.map(|_| ()).expect_err("it is longer");
    }

    #[test]
    fn the_mark_of_utf_8_is_no_part_of_the_first_line_and_of_others_it_is() {
        let file = file_with(b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n");
        let path = file.path().to_str().expect("a plain path");
        let expected = [(0, b"a".to_vec()), (5, b"\xef\xbb\xbfb".to_vec())];
        assert_eq!(lines(path, 0, 10, 64), expected);
    }

    #[test]
    fn compressed_files_of_several_members_are_read_whole() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let (one, two) = (b"one\ntw", b"o\nthree");
        let mut gz = Vec::new();
        let mut bz = Vec::new();
        let mut zst = Vec::new();
        for part in [&one[..], &two[..]] {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(part).expect("compress");
            gz.extend(encoder.finish().expect("compress"));
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            encoder.write_all(part).expect("compress");
            bz.extend(encoder.finish().expect("compress"));
            zst.extend(zstd::bulk::compress(part, 1).expect("compress"));
        }
        for (name, bytes) in [("t.gz", gz), ("t.bz2", bz), ("t.zst", zst)] {
            let path = dir.path().join(name);
            std::fs::write(&path, &bytes).expect("write");
            let path = path.to_str().expect("path");
            let found: Vec<_> = lines(path, 0, bytes.len() as u64, 4).into_iter().map(|(_, line)| line).collect();
            assert_eq!(found, [b"one".to_vec(), b"two".to_vec(), b"three".to_vec()], "{name}");
        }
    }

    #[test]
    fn a_cut_compressed_file_is_an_error_that_names_it() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let path = dir.path().join("cut.gz");
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(b"some lines\nof text\n").expect("compress");
        let bytes = encoder.finish().expect("compress");
        std::fs::write(&path, &bytes[..bytes.len() - 6]).expect("write");
        let mut records = LineRecords::open(&path.to_str().expect("path").into(), 0, 10, 1 << 30).expect("open");
        let error = loop {
            match records.next_record() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the cut was not noticed"),
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.contains("cut.gz"), "{error}");
    }
}
