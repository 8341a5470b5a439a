//! Commands as mapper and reducer.

use howdah_task::{Context, MapOutput, Mapper, ReduceOutput, Reducer, Result, Values};

use super::fields::{self, Separator};
use super::pipe::Pipe;

const INPUT_FORMAT: [&str; 2] = ["mapreduce.job.inputformat.class", "mapred.input.format.class"];
const KEY_VALUE_SEPARATOR: &str = "mapreduce.input.keyvaluelinerecordreader.key.value.separator";
/// That format splits at the first separator, whatever is said of others.
const NEVER_SET: &str = "";

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
    /// What goes in of a line.
    feeds: Feeds,
}

/// What a mapper gets of an input's line.
enum Feeds {
    Line,
    /// The byte offset, this, the line.
    Offset(Vec<u8>),
    /// Key and value of the line, with this between, also where the line has no value.
    KeyValue(Separator, Vec<u8>),
}

impl StreamMapper {
    pub(super) fn new(command: &str) -> StreamMapper {
        StreamMapper { command: command.to_owned(), running: None, feeds: Feeds::Line }
    }
}

impl Mapper for StreamMapper {
    fn setup(&mut self, context: &Context) -> Result {
        let properties = context.properties();
        let key_value =
            properties.first(&INPUT_FORMAT).is_some_and(|(_, name)| name.ends_with("KeyValueTextInputFormat"));
        let ignore = properties.parse_or(&["stream.map.input.ignoreKey"], !key_value, "true or false")?;
        let between = || fields::text(properties, "stream.map.input.field.separator");
        self.feeds = match (ignore, key_value) {
            (true, _) => Feeds::Line,
            (false, false) => Feeds::Offset(between()),
            (false, true) => Feeds::KeyValue(Separator::of(properties, KEY_VALUE_SEPARATOR, NEVER_SET)?, between()),
        };
        self.running = Some((Pipe::start(&self.command, context)?, map_separator(context)?));
        Ok(())
    }

    fn map(&mut self, offset: &[u8], line: &[u8], out: &mut MapOutput) -> Result {
        let (pipe, separator) = self.running.as_mut().ok_or("the command is not running")?;
        let mut emit = |line: &[u8]| {
            let (key, value) = separator.split(line);
            out.emit(key, value)
        };
        match &self.feeds {
            Feeds::Line => pipe.feed(&[line], &mut emit),
            Feeds::KeyValue(splits, between) => {
                let (key, value) = splits.split(line);
                pipe.feed(&[key, between, value], &mut emit)
            }
            Feeds::Offset(between) => {
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
struct Fed {
    pipe: Pipe,
    /// Goes between key and value on the way in.
    between: Vec<u8>,
    separator: Separator,
}

impl Fed {
    fn start(command: &str, context: &Context) -> Result<Fed> {
        let properties = context.properties();
        let between = fields::text(properties, "stream.reduce.input.field.separator");
        let (separator, n_fields) = ("stream.reduce.output.field.separator", "stream.num.reduce.output.key.fields");
        let separator = Separator::of(properties, separator, n_fields)?;
        Ok(Fed { pipe: Pipe::start(command, context)?, between, separator })
    }

    /// Each value goes with its own key: with a comparator, those of a group may differ.
    fn feed(&mut self, values: &mut Values<'_>, out: &mut ReduceOutput) -> Result {
        let Fed { pipe, between, separator } = self;
        let mut emit = |line: &[u8]| {
            let (key, value) = separator.split(line);
            out.emit(key, value)
        };
        while let Some((key, value)) = values.next_record()? {
            pipe.feed(&[key, between, value], &mut emit)?;
        }
        Ok(())
    }

    fn finish(mut self, mut each: impl FnMut(&[u8], &[u8]) -> Result) -> Result {
        let separator = &self.separator;
        self.pipe.finish(&mut |line| {
            let (key, value) = separator.split(line);
            each(key, value)
        })
    }
}

/// One process for all keys of a reduce.
pub(super) struct StreamReducer {
    command: String,
    running: Option<Fed>,
    has_input: bool,
}

impl StreamReducer {
    pub(super) fn new(command: &str) -> StreamReducer {
        StreamReducer { command: command.to_owned(), running: None, has_input: false }
    }
}

impl Reducer for StreamReducer {
    fn setup(&mut self, context: &Context) -> Result {
        self.running = Some(Fed::start(&self.command, context)?);
        Ok(())
    }

    fn reduce(&mut self, _key: &[u8], values: &mut Values<'_>, out: &mut ReduceOutput) -> Result {
        self.has_input = true;
        self.running.as_mut().ok_or("the command is not running")?.feed(values, out)
    }

    /// A reducer without input runs too, but what it says is dropped: Hadoop's rule.
    fn close(&mut self, out: &mut ReduceOutput) -> Result {
        let has_input = self.has_input;
        let fed = self.running.take().ok_or("the command is not running")?;
        fed.finish(|key, value| if has_input { out.emit(key, value) } else { Ok(()) })
    }
}

/// One process for each sorted run that is combined. It must keep the order of keys.
pub(super) struct StreamCombiner {
    command: String,
    running: Option<Fed>,
}

impl StreamCombiner {
    pub(super) fn new(command: &str) -> StreamCombiner {
        StreamCombiner { command: command.to_owned(), running: None }
    }
}

impl Reducer for StreamCombiner {
    fn reduce(&mut self, _key: &[u8], values: &mut Values<'_>, out: &mut ReduceOutput) -> Result {
        let fed = match &mut self.running {
            Some(fed) => fed,
            None => self.running.insert(Fed::start(&self.command, out.context())?),
        };
        fed.feed(values, out)
    }

    fn end_run(&mut self, out: &mut ReduceOutput) -> Result {
        match self.running.take() {
            Some(fed) => fed.finish(|key, value| out.emit(key, value)),
            None => Ok(()),
        }
    }
}
