//! An application: which functions a job runs.

use super::choices::{Combiner, Fold, Make, MakePartitioner, Partitioner};
use super::error::Result;
use super::key_order::{KeyComparator, MakeComparator};
use super::mapper::{LineMapper, MapOutput, Mapper};
use super::properties::Properties;
use super::record_format::RecordFormat;
use super::reducer::{ReduceOutput, Reducer, Values};

/// A mapper, and what goes with it. Whether there are reduces is the job's choice (`n_reduces`), not the program's:
/// with none, the mapper's records are the output.
pub struct Application {
    pub(crate) mapper: Make<dyn Mapper>,
    pub(crate) combiner: Combiner,
    pub(crate) reducer: Option<Make<dyn Reducer>>,
    pub(crate) partitioner: Option<MakePartitioner>,
    pub(crate) comparator: Option<MakeComparator>,
    pub(crate) records: RecordFormat,
}

impl Application {
    /// An application with this mapper. `make` is called once per attempt.
    pub fn new<M: Mapper + 'static>(make: impl Fn() -> M + 'static) -> Application {
        Application {
            mapper: Box::new(move || Box::new(make())),
            combiner: Combiner::None,
            reducer: None,
            partitioner: None,
            comparator: None,
            records: RecordFormat::Text,
        }
    }

    /// An application whose mapper is a function of a line (or of a fixed-length record), without its offset.
    pub fn lines(map: impl Fn(&[u8], &mut MapOutput) -> Result + Clone + 'static) -> Application {
        Application::new(move || LineMapper(map.clone()))
    }

    /// An application whose mapper passes its records on.
    pub fn identity() -> Application {
        Application::new(|| |key: &[u8], value: &[u8], out: &mut MapOutput| out.emit(key, value))
    }

    /// Sets the reducer. Without it, reduces write what they get, or what [`Application::fold`] makes of it.
    #[must_use]
    pub fn reducer<R: Reducer + 'static>(mut self, make: impl Fn() -> R + 'static) -> Application {
        self.reducer = Some(Box::new(move || Box::new(make())));
        self
    }

    /// Sets the reducer to a function.
    #[must_use]
    pub fn reduce(
        self,
        reduce: impl Fn(&[u8], &mut Values<'_>, &mut ReduceOutput) -> Result + Clone + 'static,
    ) -> Application {
        self.reducer(move || reduce.clone())
    }

    /// Sets a reducer that runs over each sorted spill, and over merged ones, before records travel. It may run
    /// any number of times, so what it emits must have the same key and mean the same as what it got.
    #[must_use]
    pub fn combiner<R: Reducer + 'static>(mut self, make: impl Fn() -> R + 'static) -> Application {
        self.combiner = Combiner::Reducer(Box::new(move || Box::new(make())));
        self
    }

    /// Combines longs while mapping (see [`Fold`]); values must be decimal text, as
    /// [`MapOutput::emit_long`] writes them. Without a reducer of its own, the job's reduces fold too.
    #[must_use]
    pub fn fold(mut self, fold: Fold) -> Application {
        self.combiner = Combiner::Fold(fold);
        self
    }

    /// Sets the partitioner; Hadoop's hash of the key otherwise. `make` is called once per map attempt.
    #[must_use]
    pub fn partitioner<P: Partitioner + 'static>(
        mut self,
        make: impl Fn(&Properties) -> Result<P> + 'static,
    ) -> Application {
        self.partitioner = Some(Box::new(move |properties| Ok(Box::new(make(properties)?))));
        self
    }

    /// Sets the order in which keys reach reducers, and which keys are one group; that of their bytes otherwise. `make`
    /// is called once per attempt.
    #[must_use]
    pub fn key_comparator<C: KeyComparator + 'static>(
        mut self,
        make: impl Fn(&Properties) -> Result<C> + 'static,
    ) -> Application {
        self.comparator = Some(Box::new(move |properties| Ok(Box::new(make(properties)?))));
        self
    }

    /// Sets how output records are written.
    #[must_use]
    pub fn records(mut self, records: RecordFormat) -> Application {
        self.records = records;
        self
    }
}
