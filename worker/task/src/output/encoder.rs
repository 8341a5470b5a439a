//! Compression of output files.

use std::fs::File;
use std::io::{self, Write};

use crate::api::error::TaskError;
use crate::api::properties::Properties;

/// What `mapred.output.compress` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputCodec {
    Plain,
    Gzip,
    Bzip2,
    Zstd,
}

impl OutputCodec {
    pub(crate) fn new(properties: &Properties) -> Result<OutputCodec, TaskError> {
        let keys = ["mapred.output.compress", "mapreduce.output.fileoutputformat.compress"];
        if !properties.parse_or(&keys, false, "true or false")? {
            return Ok(OutputCodec::Plain);
        }
        let keys = ["mapred.output.compression.codec", "mapreduce.output.fileoutputformat.compress.codec"];
        let Some((key, value)) = properties.first(&keys) else { return Ok(OutputCodec::Gzip) };
        let name = value.to_ascii_lowercase();
        if name.contains("zstd") || name.contains("zstandard") {
            Ok(OutputCodec::Zstd)
        } else if name.contains("bzip2") {
            Ok(OutputCodec::Bzip2)
        } else if name.contains("gzip") {
            Ok(OutputCodec::Gzip)
        } else {
            let expected = "gzip, bzip2 or zstd, or a Hadoop class of one of them".to_owned();
            Err(TaskError::Property { key: key.to_owned(), value: value.to_owned(), expected })
        }
    }

    /// Suffix of file names, with its dot.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            OutputCodec::Plain => "",
            OutputCodec::Gzip => ".gz",
            OutputCodec::Bzip2 => ".bz2",
            OutputCodec::Zstd => ".zst",
        }
    }
}

/// A file being written, compressed or not.
pub(crate) enum Encoder {
    Plain(File),
    Gzip(flate2::write::GzEncoder<File>),
    Bzip2(bzip2::write::BzEncoder<File>),
    Zstd(zstd::stream::write::Encoder<'static, File>),
}

impl Encoder {
    pub(crate) fn new(codec: OutputCodec, file: File) -> io::Result<Encoder> {
        Ok(match codec {
            OutputCodec::Plain => Encoder::Plain(file),
            OutputCodec::Gzip => Encoder::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default())),
            OutputCodec::Bzip2 => Encoder::Bzip2(bzip2::write::BzEncoder::new(file, bzip2::Compression::default())),
            OutputCodec::Zstd => Encoder::Zstd(zstd::stream::write::Encoder::new(file, 0)?),
        })
    }

    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Encoder::Plain(file) => file.write_all(bytes),
            Encoder::Gzip(encoder) => encoder.write_all(bytes),
            Encoder::Bzip2(encoder) => encoder.write_all(bytes),
            Encoder::Zstd(encoder) => encoder.write_all(bytes),
        }
    }

    /// Writes the end of the stream and gives the file back.
    pub(crate) fn finish(self) -> io::Result<File> {
        match self {
            Encoder::Plain(file) => Ok(file),
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Bzip2(encoder) => encoder.finish(),
            Encoder::Zstd(encoder) => encoder.finish(),
        }
    }
}
