//! Writes one part file.

use std::fs::File;
use std::path::PathBuf;

use howdah_core::job::{LAZY_OUTPUT, OUTPUT_SYNC, OutputFormat, TaskKind};

use super::encoder::{Encoder, OutputCodec};
use crate::api::context::{Context, private_output};
use crate::api::error::TaskError;
use crate::api::record_format::RecordFormat;

/// Bytes that are written at once.
const BUFFER_BYTES: usize = 128 * 1024;

/// A part file, or nothing for jobs without output. Memory: [`BUFFER_BYTES`] and one record.
pub(crate) struct PartWriter {
    /// Where it is to be, and with what compression.
    place: Option<(PathBuf, OutputCodec)>,
    /// Open from the start, with lazy output from the first record.
    file: Option<(Encoder, PathBuf)>,
    format: RecordFormat,
    separator: Vec<u8>,
    buffer: Vec<u8>,
    records: u64,
    bytes: u64,
    sync: bool,
    context: Context,
}

impl PartWriter {
    /// Creates the attempt's directory, if the job has output, and the file, unless it waits for a record.
    pub(crate) fn create(format: RecordFormat, context: &Context) -> Result<PartWriter, TaskError> {
        let properties = context.properties();
        let keys = ["mapred.textoutputformat.separator", "mapreduce.output.textoutputformat.separator"];
        let separator = properties.first(&keys).map_or("\t", |(_, value)| value).as_bytes().to_vec();
        let sync = properties.parse_or(&[OUTPUT_SYNC], true, "true or false")?;
        let place = match &context.spec().output {
            OutputFormat::None => None,
            OutputFormat::Files { directory } => Some(place(directory, context)?),
        };
        let mut writer = PartWriter {
            place,
            file: None,
            format,
            separator,
            buffer: Vec::new(),
            records: 0,
            bytes: 0,
            sync,
            context: context.clone(),
        };
        if properties.get(LAZY_OUTPUT).is_none() {
            writer.open()?;
        }
        Ok(writer)
    }

    fn open(&mut self) -> Result<(), TaskError> {
        if let Some((path, codec)) = self.place.take() {
            let file = File::create(&path).map_err(TaskError::io("create", &path))?;
            let encoder = Encoder::new(codec, file).map_err(TaskError::io("start to compress", &path))?;
            self.file = Some((encoder, path));
        }
        Ok(())
    }

    /// Writes a record.
    #[inline]
    pub(crate) fn write(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<(), TaskError> {
        self.records += 1;
        let before = self.buffer.len();
        self.buffer.extend_from_slice(key);
        if let Some(value) = value {
            if self.format == RecordFormat::Text {
                self.buffer.extend_from_slice(&self.separator);
            }
            self.buffer.extend_from_slice(value);
        }
        if self.format == RecordFormat::Text {
            self.buffer.push(b'\n');
        }
        self.bytes += (self.buffer.len() - before) as u64;
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), TaskError> {
        self.open()?;
        if let Some((encoder, path)) = &mut self.file {
            encoder.write_all(&self.buffer).map_err(TaskError::io("write", &*path))?;
        }
        self.buffer.clear();
        self.context.beat()
    }

    /// Completes the file. Its records are counted as the output of the attempt's kind.
    pub(crate) fn finish(mut self) -> Result<(), TaskError> {
        // A record may have no bytes.
        if self.records > 0 {
            self.flush()?;
        }
        let mut written = 0;
        if let Some((encoder, path)) = self.file {
            let file = encoder.finish().map_err(TaskError::io("complete", &path))?;
            written = file.metadata().map_err(TaskError::io("examine", &path))?.len();
            if self.sync && written > 0 {
                file.sync_data().map_err(TaskError::io("sync", &path))?;
            }
        }
        let tally = self.context.tally();
        tally.bytes_written.add(written);
        match self.context.kind() {
            TaskKind::Map => {
                tally.map_output_records.add(self.records);
                tally.map_output_bytes.add(self.bytes);
            }
            TaskKind::Reduce => tally.reduce_output_records.add(self.records),
        }
        Ok(())
    }
}

/// Makes the attempt's directory. With lazy output too: that it is there and empty says that nothing was lost.
fn place(output: &str, context: &Context) -> Result<(PathBuf, OutputCodec), TaskError> {
    let codec = OutputCodec::new(context.properties())?;
    let directory = private_output(context.spec(), output);
    // Mostly the parent exists; one call is cheaper than looking first. Where the master made it, nobody else does: that
    // would be on this machine's own disk.
    let made = std::fs::create_dir(&directory).or_else(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Ok(()),
        _ if context.spec().marked => Err(error),
        _ => std::fs::create_dir_all(&directory),
    });
    made.map_err(TaskError::io("create directory", &directory))?;
    let name = format!("part-{}-{:05}{}", context.kind().letter(), context.task_index(), codec.suffix());
    Ok((directory.join(name), codec))
}
