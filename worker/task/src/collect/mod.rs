//! Map output.
use crate::api::error::TaskError;

pub(crate) struct Collector;
impl Collector {
    pub(crate) fn collect(&mut self, _key: &[u8], _value: &[u8]) -> Result<(), TaskError> {
        Ok(())
    }
    pub(crate) fn collect_long(&mut self, _key: &[u8], _value: i64) -> Result<(), TaskError> {
        Ok(())
    }
}
