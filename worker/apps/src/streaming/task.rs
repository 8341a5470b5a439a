//! Commands as mapper and reducer.

use howdah_task::{Context, MapOutput, Mapper, ReduceOutput, Reducer, Result, Values};

use super::fields::{self, Separator};
use super::pipe::Pipe;

/// The mapper of a job without one: the line is split as a command's output would be.
pub(super) fn pass_line_on(line: &[u8], out: &mut MapOutput) -> Result {
    let separator = map_separator(out.context())?;
    let (key, value) = separator.split(line);
    out.emit(key, value)
}

fn map_separator(context: &Context) -> Result<Separator> {
    Separator::of(context.properties(), "stream.map.output.field.separator", "stream.num.map.output.key.fields")
}

/// A command that gets the lines of the split.
pub(super) struct StreamMapper {
    command: String,
    running: Option<(Pipe, Separator)>,
    /// Whether lines go in with their byte offset before them, and what is between.
    with_offset: Option<Vec<u8>>,
}

impl StreamMapper {
    pub(super) fn new(command: &str) -> StreamMapper {
        StreamMapper { command: command.to_owned(), running: None, with_offset: None }
    }
}

impl Mapper for StreamMapper {
    fn setup(&mut self, context: &Context) -> Result {
        let properties = context.properties();
        let ignore = properties.parse_or(&["stream.map.input.ignoreKey"], true, "true or false")?;
        self.with_offset = (!ignore).then(|| fields::text(properties, "stream.map.input.field.separator"));
        self.running = Some((Pipe::start(&self.command, context)?, map_separator(context)?));
        Ok(())
    }

    fn map(&mut self, offset: &[u8], line: &[u8], out: &mut MapOutput) -> Result {
        let (pipe, separator) = self.running.as_mut().ok_or("the command is not running")?;
        let mut emit = |line: &[u8]| {
            let (key, value) = separator.split(line);
            out.emit(key, value)
        };
        match &self.with_offset {
            None => pipe.feed(&[line], &mut emit),
            Some(between) => {
                let offset = howdah_task::text::offset(offset).unwrap_or_default().to_string();
                pipe.feed(&[offset.as_bytes(), between, line], &mut emit)
            }
        }
    }

    fn close(&mut self, out: &mut MapOutput) -> Result {
        let (mut pipe, separator) = self.running.take().ok_or("the command is not running")?;
        pipe.finish(&mut |line| {
            let (key, value) = separator.split(line);
            out.emit(key, value)
        })
    }
}

/// A command that gets `key TAB value` lines in order of keys.
pub(super) struct StreamReducer {
    command: String,
    running: Option<(Pipe, Separator)>,
    between: Vec<u8>,
    /// Of the key that is being fed.
    fed: bool,
}

impl StreamReducer {
    pub(super) fn new(command: &str) -> StreamReducer {
        StreamReducer { command: command.to_owned(), running: None, between: Vec::new(), fed: false }
    }
}

impl Reducer for StreamReducer {
    fn setup(&mut self, context: &Context) -> Result {
        let properties = context.properties();
        self.between = fields::text(properties, "stream.reduce.input.field.separator");
        let separator =
            Separator::of(properties, "stream.reduce.output.field.separator", "stream.num.reduce.output.key.fields")?;
        self.running = Some((Pipe::start(&self.command, context)?, separator));
        Ok(())
    }

    fn reduce(&mut self, key: &[u8], values: &mut Values<'_>, out: &mut ReduceOutput) -> Result {
        let (pipe, separator) = self.running.as_mut().ok_or("the command is not running")?;
        self.fed = true;
        while let Some(value) = values.next()? {
            pipe.feed(&[key, &self.between, value], &mut |line| {
                let (key, value) = separator.split(line);
                out.emit(key, value)
            })?;
        }
        Ok(())
    }

    /// A reducer without input runs too, but what it says is dropped: Hadoop's rule.
    fn close(&mut self, out: &mut ReduceOutput) -> Result {
        let (mut pipe, separator) = self.running.take().ok_or("the command is not running")?;
        let fed = self.fed;
        pipe.finish(&mut |line| {
            let (key, value) = separator.split(line);
            if fed { out.emit(key, value) } else { Ok(()) }
        })
    }
}
