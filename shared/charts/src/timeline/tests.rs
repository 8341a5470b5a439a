//! Lanes, pictures and tables of made-up replays.

use howdah_core::cluster::EndCause;
use howdah_core::job::{AttemptState, JobId, Locality, TaskId, TaskKind, WorkerId};
use howdah_core::replay::AttemptRecord;

use super::*;

fn at(ms: u64) -> Time {
    Time::from_ms(ms)
}

/// An attempt of job 1 from `from` to `to` milliseconds.
fn attempt(kind: TaskKind, index: u32, from: u64, to: u64) -> AttemptRecord {
    AttemptRecord {
        attempt: TaskId { job: JobId(1), kind, index }.attempt(0),
        worker: WorkerId(0),
        state: AttemptState::Succeeded,
        cause: EndCause::Reported,
        start: at(from),
        maps_done: None,
        sorted: None,
        end: at(to),
        locality: Locality::Unknown,
        speculative: false,
    }
}

fn map(index: u32, from: u64, to: u64) -> AttemptRecord {
    attempt(TaskKind::Map, index, from, to)
}

fn timeline(attempts: Vec<AttemptRecord>, jobs: usize) -> Timeline {
    let bar = |n: usize| JobBar {
        id: format!("job_1_{:04}", n + 1),
        name: "count <&> \"quote\", \u{1}".to_owned(),
        submit: at(n as u64),
        start: Some(at(n as u64 + 1)),
        maps_done: Some(at(n as u64 + 5)),
        finish: at(n as u64 + 9),
    };
    Timeline {
        title: "a & b".to_owned(),
        subtitle: "1 < 2".to_owned(),
        jobs: (0..jobs).map(bar).collect(),
        attempts,
        slots: [2, 1],
        workers: Vec::new(),
    }
}

fn svg(timeline: &Timeline, lanes: Lanes) -> String {
    let mut out = Vec::new();
    timeline.write_svg(lanes, &mut out).expect("a vector takes all");
    let text = String::from_utf8(out).expect("UTF-8");
    check_well_formed(&text);
    text
}

/// Tags nest and close, attributes are quoted, every `&` begins an entity, no number is NaN.
fn check_well_formed(text: &str) {
    let mut open = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        check_text(before);
        let (tag, behind) = after.split_once('>').expect("a tag ends");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "near {tag}");
        } else {
            let name = tag.split([' ', '/']).next().expect("a name");
            assert!(!name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase()), "tag {tag}");
            assert_eq!(tag.matches('"').count() % 2, 0, "quotes of {tag}");
            check_text(tag);
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
        rest = behind;
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} left open");
    assert!(!text.contains("NaN") && !text.contains("inf\""), "a number is none");
}

fn check_text(text: &str) {
    let is_entity = |after: &str| ["amp;", "lt;", "gt;", "quot;"].iter().any(|entity| after.starts_with(entity));
    assert!(text.split('&').skip(1).all(is_entity), "{text}");
    assert!(!text.chars().any(|c| c < ' ' && c != '\n'), "{text}");
}

#[test]
fn an_attempt_takes_the_lowest_slot_that_is_free() {
    let placed = lanes::place(&[map(0, 0, 10), map(1, 0, 5), map(2, 5, 8), map(3, 6, 9), map(4, 10, 12)]);
    let lane_of = |index: usize| placed.attempts.iter().find(|place| place.attempt == index).expect("placed").lane;
    // The shorter of the two first ones is placed first.
    assert_eq!([0, 1, 2, 3, 4].map(lane_of), [1, 0, 0, 2, 0]);
    assert_eq!(placed.lanes[&(0, TaskKind::Map)], 3);
}

#[test]
fn no_two_attempts_share_a_slot_at_one_time() {
    let mut attempts = Vec::new();
    for n in 0..400u32 {
        let from = u64::from(n * 7919 % 1000);
        attempts.push(map(n, from, from + u64::from(n * 104_729 % 90)));
    }
    let placed = lanes::place(&attempts);
    let mut until = vec![Time::ZERO; placed.lanes[&(0, TaskKind::Map)] as usize];
    for &lanes::Place { attempt: index, lane, .. } in &placed.attempts {
        assert!(until[lane as usize] <= attempts[index].start, "lane {lane}");
        until[lane as usize] = attempts[index].end;
    }
}

#[test]
fn a_slots_second_attempt_of_a_job_is_its_second_wave() {
    let mut other = map(9, 20, 30);
    other.attempt.job = JobId(2);
    let placed = lanes::place(&[map(0, 0, 10), map(1, 0, 12), map(2, 10, 20), other]);
    let waves: Vec<(u32, u32)> = placed.attempts.iter().map(|place| (place.lane, place.wave)).collect();
    assert_eq!(waves, [(0, 1), (1, 1), (0, 2), (0, 1)]);
}

#[test]
fn kinds_and_workers_have_lanes_of_their_own() {
    let mut elsewhere = map(1, 0, 10);
    elsewhere.worker = WorkerId(3);
    let placed = lanes::place(&[map(0, 0, 10), elsewhere, attempt(TaskKind::Reduce, 0, 0, 10)]);
    assert_eq!(placed.lanes.values().copied().collect::<Vec<_>>(), [1, 1, 1]);
}

#[test]
fn a_reduce_waits_then_shuffles_then_reduces() {
    let mut reduce = attempt(TaskKind::Reduce, 0, 2, 20);
    (reduce.maps_done, reduce.sorted) = (Some(at(9)), Some(at(15)));
    let found: Vec<_> = stages::stretches(&reduce).map(|s| (s.stage, s.from.as_ms(), s.to.as_ms())).collect();
    assert_eq!(found, [(stages::Stage::Wait, 2, 9), (stages::Stage::Shuffle, 9, 15), (stages::Stage::Reduce, 15, 20)]);
    reduce.maps_done = Some(at(2));
    assert_eq!(
        stages::stretches(&reduce).map(|s| s.stage).collect::<Vec<_>>(),
        [stages::Stage::Shuffle, stages::Stage::Reduce]
    );
    reduce.state = AttemptState::Failed;
    assert_eq!(stages::stretches(&reduce).map(|s| s.stage).collect::<Vec<_>>(), [stages::Stage::Failed]);
}

#[test]
fn a_picture_of_one_slot_names_its_parts_in_text() {
    let text = svg(&timeline(vec![map(0, 0, 10), map(1, 10, 20)], 1), Lanes::Slot);
    for wanted in ["map slots", "a &amp; b", "1 &lt; 2", "milliseconds", "job_1_0001 count &lt;&amp;&gt;"] {
        assert!(text.contains(wanted), "no {wanted} in {text}");
    }
    assert_eq!(text.matches("class=\"m x\"").count(), 2);
}

#[test]
fn a_jobs_lane_has_the_jobs_whole_name_and_room_for_it() {
    let mut named = timeline(vec![map(0, 0, 10)], 1);
    let begins = |text: &str| {
        let (_, rest) = text.split_once("text-anchor=\"end\"").expect("a lane's name");
        let (before, _) = text.split_once(rest).expect("it is a part");
        let (_, x) = before.rsplit_once(" x=\"").expect("its place");
        x.split('"').next().and_then(|x| x.parse::<f64>().ok()).expect("a number")
    };
    named.jobs[0].name = "x".to_owned();
    let short = begins(&svg(&named, Lanes::Job));
    named.jobs[0].name = "nightly-sessions-by-country-and-browser-of-the-week".to_owned();
    let text = svg(&named, Lanes::Job);
    assert!(text.contains(">1 nightly-sessions-by-country-and-browser-of-the-week</text>"), "{text}");
    assert!(begins(&text) > short + 100.0 && begins(&text) < 620.0, "{} {short}", begins(&text));
    named.jobs[0].name = "n".repeat(500);
    assert!(svg(&named, Lanes::Job).contains("nnn…</text>"));
}

#[test]
fn a_reduce_that_waits_is_dotted_and_one_that_shuffles_is_not() {
    let mut reduce = attempt(TaskKind::Reduce, 0, 0, 30);
    (reduce.maps_done, reduce.sorted) = (Some(at(10)), Some(at(20)));
    for lanes in [Lanes::Slot, Lanes::Job] {
        let text = svg(&timeline(vec![map(0, 0, 10), reduce], 1), lanes);
        for part in
            [".w{fill:url(#waits)}", "<pattern id=\"waits\"", "<circle", ".s{fill:#E69F00}", "reduce waits for maps"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

#[test]
fn pictures_of_nothing_and_of_jobs_without_tasks_are_well_formed() {
    for lanes in [Lanes::Slot, Lanes::Job] {
        svg(&timeline(Vec::new(), 0), lanes);
        svg(&timeline(Vec::new(), 3), lanes);
        svg(&timeline(Vec::new(), 3_000), lanes);
    }
}

#[test]
fn many_slots_become_areas_and_many_jobs_thin_bars() {
    let attempts = (0..1_000).map(|n| map(n, u64::from(n % 7), 50)).collect();
    let mut many = timeline(attempts, 2_000);
    many.slots = [1_000, 0];
    let text = svg(&many, Lanes::Slot);
    assert!(text.contains("map slots in use, of 1,000") && text.contains("job 2,000"), "{text}");
    assert!(!text.contains("reduce slots"), "there are none");
}

#[test]
fn a_picture_stays_small_however_much_happened() {
    let mut attempts = Vec::new();
    for n in 0..200_000u32 {
        let mut one = map(n, u64::from(n / 100) * 3, u64::from(n / 100) * 3 + 3);
        one.attempt.job = JobId(n / 10 + 1);
        attempts.push(one);
    }
    let many = timeline(attempts, 20_000);
    for lanes in [Lanes::Slot, Lanes::Job] {
        let size = svg(&many, lanes).len();
        assert!(size < 3_000_000, "{lanes:?}: {size} bytes");
    }
}

#[test]
fn the_table_has_a_row_per_attempt_with_exact_times() {
    let mut lost = attempt(TaskKind::Reduce, 4, 1, 3);
    (lost.state, lost.cause) = (AttemptState::Killed, EndCause::WorkerLost);
    let mut out = Vec::new();
    timeline(vec![map(7, 0, 1_500), lost], 1).write_csv(&mut out).expect("a vector takes all");
    let text = String::from_utf8(out).expect("UTF-8").replace('\u{1}', "?");
    let name = "\"count <&> \"\"quote\"\", ?\"";
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1], format!("job_1_0001,{name},map,7,0,,0,1,0.000000,,,1.500000,SUCCEEDED,,,false"));
    assert_eq!(lines[2], format!("job_1_0001,{name},reduce,4,0,,0,1,0.001000,,,0.003000,KILLED,worker_lost,,false"));
    assert_eq!(lines[0].split(',').count(), 16);
}
