//! How long a line may be, of an input and of what a streaming command writes.
//!
//! A text without line ends must not take the machine's memory: its attempt fails at this bound. It is the largest record's unless
//! the job sets a smaller one.

use howdah_core::job::quantity::Bytes;
use howdah_guards::Guard;

use super::error::TaskError;
use super::properties::Properties;

/// Bytes of a record at most, as everywhere.
const MOST_RECORD: u64 = 1 << 30;
const PROPERTY: &str = "howdah.line.max.bytes";

/// Bytes of a line at most, without its end; a longer one fails its attempt.
///
/// # Errors
/// When the property is no size.
pub fn longest_line(properties: &Properties) -> Result<usize, TaskError> {
    let Bytes(most) = properties.parse_or(&[PROPERTY], Bytes(MOST_RECORD), "a number of bytes from 1 to 1 GiB")?;
    if !Guard::LineLength.stands() {
        return Ok(usize::MAX);
    }
    Ok(usize::try_from(most.min(MOST_RECORD)).unwrap_or(usize::MAX))
}

/// What an attempt says of a longer one, which begins at `place`.
pub fn too_long(place: &str, most: usize) -> String {
    format!("the line {place}has more than {most} bytes, which is the most (`{PROPERTY}`)")
}
