//! Which map outputs are fetched, under way, or to be fetched from where.
//!
//! ```text
//!            event                next                on_fetched
//!  Unknown ─────────► Ready ────────────► Fetching ────────────► Fetched
//!     ▲  ◄─────────┘   ▲  obsolete           │
//!     │                └──────────────────────┤ on_failed: again later, or the newer attempt at once
//!     └───────────────────────────────────────┘ on_failed: the attempt is obsolete
//! ```
//!
//! Each map is pinned to one attempt while it is fetched. What was fetched completely was verified and is kept even if
//! its attempt becomes obsolete later. A fetch that failed is tried again, later each time, until another attempt is
//! announced; every failure is reported, as it takes several reports before the master gives a map up.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use super::fetcher::Fetch;
use crate::umbilical::MapEvent;

/// Wait after a first failed fetch (itself several tries); doubles each time.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// Longest wait between two fetches of the same output.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// What to do about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Tell the worker.
    Report,
    /// The attempt is obsolete: nobody needs to know.
    Ignore,
}

/// Where an attempt's output is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    attempt: String,
    address: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum MapState {
    Unknown,
    Ready {
        source: Source,
        failures: u32,
    },
    /// `newest` is what is known meanwhile; `None` when the attempt being fetched is obsolete.
    Fetching {
        attempt: String,
        newest: Option<Source>,
        failures: u32,
    },
    Fetched,
}

/// The state of all maps of the job.
pub(crate) struct MapStates {
    maps: Vec<MapState>,
    /// Ready maps in order of their events.
    ready: VecDeque<u32>,
    /// Ready maps that must wait for their next try.
    later: BTreeSet<(Instant, u32)>,
    n_fetched: u32,
}

impl MapStates {
    pub(crate) fn new(n_maps: u32) -> MapStates {
        MapStates {
            maps: vec![MapState::Unknown; n_maps as usize],
            ready: VecDeque::new(),
            later: BTreeSet::new(),
            n_fetched: 0,
        }
    }

    pub(crate) fn n_fetched(&self) -> u32 {
        self.n_fetched
    }

    /// Whether some output is announced that was not fetched yet.
    pub(crate) fn has_sources(&self) -> bool {
        self.maps.iter().any(|state| matches!(state, MapState::Ready { .. } | MapState::Fetching { .. }))
    }

    pub(crate) fn all_fetched(&self) -> bool {
        self.n_fetched as usize == self.maps.len()
    }

    /// Takes an event; `false` when there is no such map.
    pub(crate) fn on_event(&mut self, event: MapEvent) -> bool {
        let MapEvent { map, attempt, address, failed } = event;
        let Some(state) = self.maps.get_mut(map as usize) else { return false };
        if failed {
            // The job goes on without this map; nothing of it is left to wait for.
            self.unqueue(map);
            self.on_fetched(map);
            return true;
        }
        match (&mut *state, address) {
            (MapState::Fetched, _) => {}
            (MapState::Fetching { newest, .. }, Some(address)) => *newest = Some(Source { attempt, address }),
            (MapState::Fetching { newest, .. }, None) => {
                if newest.as_ref().is_some_and(|source| source.attempt == attempt) {
                    *newest = None;
                }
            }
            (MapState::Unknown | MapState::Ready { .. }, Some(address)) => {
                *state = MapState::Ready { source: Source { attempt, address }, failures: 0 };
                self.unqueue(map);
                self.ready.push_back(map);
            }
            (MapState::Ready { source, .. }, None) => {
                if source.attempt == attempt {
                    *state = MapState::Unknown;
                    self.unqueue(map);
                }
            }
            (MapState::Unknown, None) => {}
        }
        true
    }

    fn unqueue(&mut self, map: u32) {
        self.ready.retain(|&other| other != map);
        self.later.retain(|&(_, other)| other != map);
    }

    /// The next fetch to start, if one is due.
    pub(crate) fn next(&mut self, now: Instant) -> Option<Fetch> {
        let map = match self.later.first() {
            Some(&(at, map)) if at <= now => {
                self.later.pop_first();
                map
            }
            _ => self.ready.pop_front()?,
        };
        let state = &mut self.maps[map as usize];
        let MapState::Ready { source, failures } = state.clone() else { return None };
        *state = MapState::Fetching { attempt: source.attempt.clone(), newest: Some(source.clone()), failures };
        Some(Fetch { fetcher: 0, map, attempt: source.attempt, address: source.address })
    }

    /// When the next waiting map may be tried again.
    pub(crate) fn next_retry(&self) -> Option<Instant> {
        self.later.first().map(|&(at, _)| at)
    }

    /// A fetch ended well.
    pub(crate) fn on_fetched(&mut self, map: u32) {
        let state = &mut self.maps[map as usize];
        if *state != MapState::Fetched {
            *state = MapState::Fetched;
            self.n_fetched += 1;
        }
    }

    /// A fetch failed.
    pub(crate) fn on_failed(&mut self, map: u32, attempt: &str, now: Instant) -> Verdict {
        let state = &mut self.maps[map as usize];
        let MapState::Fetching { newest, failures, .. } = state.clone() else { return Verdict::Ignore };
        match newest {
            None => {
                *state = MapState::Unknown;
                Verdict::Ignore
            }
            Some(source) if source.attempt == attempt => {
                let wait = FIRST_WAIT.saturating_mul(1 << failures.min(10)).min(LONGEST_WAIT);
                *state = MapState::Ready { source, failures: failures + 1 };
                self.later.insert((now + wait, map));
                Verdict::Report
            }
            Some(source) => {
                *state = MapState::Ready { source, failures: 0 };
                self.ready.push_back(map);
                Verdict::Ignore
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(map: u32, attempt: &str, address: Option<&str>) -> MapEvent {
        MapEvent { map, attempt: attempt.to_owned(), address: address.map(str::to_owned), failed: false }
    }

    fn next(maps: &mut MapStates, now: Instant) -> Option<(u32, String, String)> {
        maps.next(now).map(|fetch| (fetch.map, fetch.attempt, fetch.address))
    }

    #[test]
    fn announced_maps_are_fetched_once_each() {
        let (mut maps, now) = (MapStates::new(2), Instant::now());
        assert_eq!(next(&mut maps, now), None);
        assert!(maps.on_event(event(1, "b", Some("h:1"))) && maps.on_event(event(0, "a", Some("h:1"))));
        assert!(!maps.on_event(event(2, "c", Some("h:1"))));
        assert_eq!(next(&mut maps, now), Some((1, "b".to_owned(), "h:1".to_owned())));
        assert_eq!(next(&mut maps, now), Some((0, "a".to_owned(), "h:1".to_owned())));
        assert_eq!(next(&mut maps, now), None);
        maps.on_fetched(1);
        maps.on_event(event(1, "b", None));
        maps.on_event(event(1, "b2", Some("h:2")));
        assert_eq!(next(&mut maps, now), None, "what was fetched is kept");
        maps.on_fetched(0);
        assert!(maps.all_fetched());
    }

    #[test]
    fn a_failed_fetch_is_reported_and_tried_again_later_each_time() {
        let (mut maps, now) = (MapStates::new(1), Instant::now());
        maps.on_event(event(0, "a", Some("h:1")));
        let mut waits = Vec::new();
        let mut at = now;
        for _ in 0..7 {
            assert!(next(&mut maps, at).is_some());
            assert_eq!(maps.on_failed(0, "a", at), Verdict::Report);
            assert_eq!(next(&mut maps, at), None);
            let retry = maps.next_retry().expect("a retry");
            waits.push((retry - at).as_millis());
            at = retry;
        }
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
        maps.on_event(event(0, "a2", Some("h:2")));
        assert_eq!(next(&mut maps, now), Some((0, "a2".to_owned(), "h:2".to_owned())), "news are tried at once");
    }

    #[test]
    fn a_map_that_failed_for_good_is_not_waited_for() {
        let (mut maps, now) = (MapStates::new(2), Instant::now());
        maps.on_event(event(0, "a", Some("h:1")));
        maps.on_event(MapEvent { failed: true, ..event(0, "a", None) });
        assert_eq!(next(&mut maps, now), None);
        maps.on_event(MapEvent { failed: true, ..event(1, "b", None) });
        assert!(maps.all_fetched());
    }

    #[test]
    fn obsolete_attempts_are_dropped_unless_fetched() {
        let (mut maps, now) = (MapStates::new(1), Instant::now());
        maps.on_event(event(0, "a", Some("h:1")));
        maps.on_event(event(0, "a", None));
        assert_eq!(next(&mut maps, now), None);
        maps.on_event(event(0, "b", Some("h:1")));
        assert!(next(&mut maps, now).is_some());
        maps.on_event(event(0, "b", None));
        assert_eq!(maps.on_failed(0, "b", now), Verdict::Ignore);
        assert_eq!(next(&mut maps, now), None);
        maps.on_event(event(0, "c", Some("h:1")));
        assert!(next(&mut maps, now).is_some());
        maps.on_event(event(0, "d", Some("h:2")));
        assert_eq!(maps.on_failed(0, "c", now), Verdict::Ignore);
        assert_eq!(next(&mut maps, now), Some((0, "d".to_owned(), "h:2".to_owned())));
    }
}
