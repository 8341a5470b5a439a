//! What a heartbeat says to people only: counters, messages, how an attempt ended.
//!
//! Of running attempts it stays out of the journal; of ended ones the journal keeps it, or a master that starts again
//! would not know the counters and the last words of what was done before.

use howdah_core::tracker::Report;
use howdah_proto::limits::{self, Cut};
use howdah_proto::{convert, v1};

use super::{Extra, PackedCounters};

/// Takes from a heartbeat what decisions do not read, within the bounds of the contract, and leaves in it what the journal
/// is to keep. A program's words can make it lose a field, never its worker's report.
pub(crate) fn extras(request: &mut v1::HeartbeatRequest, report: &Report) -> Vec<Extra> {
    let mut extras = Vec::new();
    for (status, attempt) in request.attempts.iter_mut().zip(&report.attempts) {
        let (counters, end) = (status.counters.take(), status.end.take());
        let mut cut = Cut::default();
        let message = limits::status(std::mem::take(&mut status.message), &mut cut);
        if counters.is_none() && end.is_none() && message.is_empty() {
            continue;
        }
        let counters = counters.map(|counters| {
            let (counters, more) = convert::counters(&counters);
            cut = cut.or_more(more);
            convert::numbered(&counters)
        });
        let end = end.map(|end| bounded_end(end, cut));
        let packed = counters.as_ref().map(PackedCounters::new);
        if attempt.state.is_final() {
            status.counters = counters;
            status.end.clone_from(&end);
            status.message.clone_from(&message);
        }
        extras.push(Extra { attempt: attempt.attempt, counters: packed, end, message });
    }
    extras
}

/// Keeps texts within what the contract promises.
fn bounded_end(mut end: v1::AttemptEnd, cut: Cut) -> v1::AttemptEnd {
    end.diagnostics = limits::diagnostics(end.diagnostics, cut);
    end.stderr_tail = limits::last_part(&end.stderr_tail, limits::STDERR_TAIL_BYTES).to_owned();
    end.unseen = limits::last_part(&end.unseen, limits::STDERR_TAIL_BYTES).to_owned();
    end
}
