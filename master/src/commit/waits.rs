//! How long a name node or a store is waited for.

use std::time::Duration;

use howdah_webhdfs::Patience;

/// While somebody waits for a submission's answer.
pub(crate) const SOON: Patience = Patience {
    connect: Duration::from_secs(5),
    idle: Duration::from_secs(10),
    answer: Duration::from_secs(20),
    waits: &[Duration::from_millis(100)],
};
/// While a job's output is promoted: two minutes for a name node or a store to come back.
pub(super) const LONG: Patience =
    Patience { waits: if cfg!(test) { &[Duration::ZERO; 2] } else { &LONG_WAITS }, ..SOON };
const LONG_WAITS: [Duration; 7] = [
    Duration::from_millis(200),
    Duration::from_secs(1),
    Duration::from_secs(4),
    Duration::from_secs(10),
    Duration::from_secs(15),
    Duration::from_secs(30),
    Duration::from_secs(60),
];
