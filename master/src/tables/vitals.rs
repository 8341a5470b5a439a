//! Vitals as pages show them: what of a report no decision reads, and a short history of each worker.

use std::collections::VecDeque;

use howdah_core::job::limits;
use howdah_core::time::{Span, Time};
use howdah_proto::v1;

use crate::clock::now_ms_epoch;

/// What is kept of each worker at most: some 10 KiB.
const MAX_PAST: usize = 60;
/// Processes that do not end, or that wait, of which a worker may tell, and what it may say of one.
const UNDYING: usize = 64;
const UNDYING_BYTES: usize = 256;
/// Between two entries at least, so that they cover five minutes.
const PAST_EVERY: Span = Span::from_ms(5_000);

/// Of a report's vitals what stays out of the journal.
#[derive(Debug, Default)]
pub(crate) struct PageVitals {
    /// Use of each core in ten-thousandths; empty when the report has none.
    pub(crate) core_use_parts: Vec<u32>,
    pub(crate) details: Option<v1::VitalsDetails>,
    /// The worker's clock less ours.
    pub(crate) clock_offset_ms: Option<i64>,
}

impl PageVitals {
    /// Takes them out of the message.
    pub(crate) fn take(vitals: &mut v1::Vitals) -> PageVitals {
        let mut details = vitals.details.take();
        if let Some(details) = &mut details {
            // A word of ours; a longer one would only be memory.
            details.source.truncate(details.source.floor_char_boundary(16));
            for attempts in [&mut details.undying, &mut details.held_up] {
                attempts.truncate(UNDYING);
                for text in attempts {
                    *text = limits::without_middle(std::mem::take(text), UNDYING_BYTES);
                }
            }
        }
        // Nothing else reads it.
        let sent = details.as_mut().map(|details| std::mem::take(&mut details.sent_ms_epoch)).filter(|&sent| sent > 0);
        let clock_offset_ms = sent.map(|sent| (sent as i64).saturating_sub(now_ms_epoch() as i64));
        PageVitals { core_use_parts: std::mem::take(&mut vitals.core_use_parts), details, clock_offset_ms }
    }
}

/// The last minutes of a worker, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Past(VecDeque<v1::PastVitals>);

impl Past {
    /// Keeps this report's vitals if the last ones are old enough.
    pub(crate) fn note(&mut self, vitals: &v1::Vitals, running: u32, now: Time) {
        let next = self.0.back().map_or(0, |last| last.at_ms_epoch + PAST_EVERY.as_ms());
        if now.as_ms() < next {
            return;
        }
        if self.0.len() == MAX_PAST {
            self.0.pop_front();
        }
        self.0.push_back(v1::PastVitals {
            at_ms_epoch: now.as_ms(),
            running,
            run_queue_milli: vitals.run_queue_milli,
            foreign_milli: vitals.foreign_milli,
            cpu_use_parts: vitals.cpu_use_parts,
            cpu_khz: vitals.cpu_khz,
            effective_khz: vitals.effective_khz,
            memory_free_kib: vitals.memory_free_kib,
            load1_milli: vitals.load1_milli,
            load5_milli: vitals.load5_milli,
            load15_milli: vitals.load15_milli,
            disk_free_kib: vitals.disk_free_kib,
            // Its source is the same for all of them.
            details: vitals.details.clone().map(|details| v1::VitalsDetails {
                source: String::new(),
                undying: Vec::new(),
                held_up: Vec::new(),
                ..details
            }),
        });
    }

    /// As `GetWorkerVitals` answers.
    pub(crate) fn list(&self) -> Vec<v1::PastVitals> {
        self.0.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vitals(foreign_milli: u32) -> v1::Vitals {
        v1::Vitals { foreign_milli, ..v1::Vitals::default() }
    }

    #[test]
    fn the_history_is_thinned_and_bounded() {
        let mut past = Past::default();
        for n in 0..1_000 {
            past.note(&vitals(n), 1, Time::from_ms(10_000 + u64::from(n) * 1_000));
        }
        let list = past.list();
        assert_eq!(list.len(), MAX_PAST);
        assert!(list.windows(2).all(|pair| pair[1].at_ms_epoch - pair[0].at_ms_epoch == 5_000));
        assert_eq!(list.last().map(|last| last.foreign_milli), Some(995));
    }

    #[test]
    fn the_history_holds_what_a_worker_measures_but_what_never_changes() {
        let details = v1::VitalsDetails {
            source: "host".to_owned(),
            disk_read_per_s: 1,
            disk_written_per_s: 2,
            net_received_per_s: 3,
            net_sent_per_s: 4,
            pressure_cpu_parts: Some(5),
            pressure_memory_parts: None,
            pressure_io_parts: Some(7),
            prefetch: None,
            sent_ms_epoch: 0,
            undying: Vec::new(),
            held_up: Vec::new(),
        };
        let now = v1::Vitals {
            load1_milli: 11,
            load5_milli: 12,
            load15_milli: 13,
            run_queue_milli: 14,
            cpu_use_parts: 15,
            cpu_khz: 16,
            effective_khz: 17,
            memory_free_kib: 18,
            disk_free_kib: 19,
            details: Some(details.clone()),
            ..vitals(20)
        };
        let mut past = Past::default();
        past.note(&now, 21, Time::from_ms(1));
        let kept = v1::PastVitals {
            at_ms_epoch: 1,
            running: 21,
            run_queue_milli: 14,
            foreign_milli: 20,
            cpu_use_parts: 15,
            cpu_khz: 16,
            effective_khz: 17,
            memory_free_kib: 18,
            load1_milli: 11,
            load5_milli: 12,
            load15_milli: 13,
            disk_free_kib: 19,
            details: Some(v1::VitalsDetails { source: String::new(), ..details }),
        };
        assert_eq!(past.list(), [kept]);
    }

    #[test]
    fn the_offset_of_a_workers_clock_is_what_it_said_less_what_ours_says() {
        let offset = |sent_ms_epoch: u64| {
            let details = v1::VitalsDetails { sent_ms_epoch, ..v1::VitalsDetails::default() };
            PageVitals::take(&mut v1::Vitals { details: Some(details), ..vitals(7) }).clock_offset_ms
        };
        let behind = offset(now_ms_epoch() - 3_600_000).expect("it said");
        assert!((-3_700_000..=-3_600_000).contains(&behind), "{behind}");
        assert!(offset(u64::MAX).is_some() && offset(0).is_none(), "nothing that it may say is a panic");
    }

    #[test]
    fn what_pages_show_is_taken_out_of_the_report() {
        let details = v1::VitalsDetails { source: "x".repeat(100), ..v1::VitalsDetails::default() };
        let details = v1::VitalsDetails { undying: vec!["y".repeat(1_000); 100], ..details };
        let mut wire = v1::Vitals { core_use_parts: vec![1, 2], details: Some(details), ..vitals(7) };
        let pages = PageVitals::take(&mut wire);
        assert_eq!((wire, pages.clock_offset_ms), (vitals(7), None));
        let undying = &pages.details.as_ref().unwrap().undying;
        assert!(undying.len() == UNDYING && undying.iter().all(|text| text.len() <= UNDYING_BYTES));
        assert_eq!((pages.core_use_parts, pages.details.map(|details| details.source.len())), (vec![1, 2], Some(16)));
    }
}
