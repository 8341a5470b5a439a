//! What holds for every listed rule, how the rules differ, and what tests of single ones share.

use howdah_core::models::Random;
use howdah_core::time::{Span, Time};

use super::super::forecast::{Forecast, JobForecast};
use super::{RULES, RuleName, SwitchOptions, Switcher};

/// A forecast at a second whose only job ends at another one.
pub(super) fn forecast(at_s: u64, ends_s: u64) -> Forecast {
    let at = Time::from_ms(at_s * 1_000);
    let told = JobForecast::told(Some(Time::from_ms(ends_s * 1_000)));
    let [deadline, alone] = [50, 20].map(|s| Some(Span::from_secs(s)));
    let job = JobForecast { deadline, alone, ..told };
    let until = at + Span::from_secs(3_600);
    Forecast {
        at,
        until,
        scheduler: String::new(),
        jobs: vec![job],
        starts: Vec::new(),
        events: 0,
        running: Vec::new(),
    }
}

/// The defaults, by a rule and with so many seconds between two switches.
pub(super) fn options(rule: RuleName, dwell_s: u64) -> SwitchOptions {
    SwitchOptions { rule, dwell: Span::from_secs(dwell_s), ..SwitchOptions::default() }
}

/// When a rule switched, and to whom: rounds are at a second, with the end that is forecast for each candidate, of which the first
/// one begins.
pub(super) fn followed<const N: usize>(
    rule: &str,
    dwell_s: u64,
    rounds: impl IntoIterator<Item = (u64, [u64; N])>,
) -> Vec<(u64, usize)> {
    let rule = rule.parse().expect("it is listed");
    let mut switcher = Switcher::new(&options(rule, dwell_s));
    let mut present = 0;
    let mut all = Vec::new();
    for (at, ends) in rounds {
        if let Some(switch) = switcher.consider(present, &ends.map(|ends| forecast(at, ends))) {
            assert!(switch.switching < switch.staying && switch.from == present, "{rule}: {switch:?}");
            present = switch.to;
            all.push((at, present));
        }
    }
    all
}

// A lead that changes sides in every round is luck: waiting for it to last, nobody switches.
#[test]
fn best_follows_every_turn_that_lasting_waits_out() {
    let turns = || (0..30).map(|i| (i * 10, if i % 2 == 0 { [10_000, 9_400] } else { [9_400, 10_000] }));
    assert_eq!(followed("lasting", 0, turns()), []);
    let each: Vec<(u64, usize)> = (0..30).map(|i| (i * 10, usize::from(i % 2 == 0))).collect();
    assert_eq!(followed("best", 0, turns()), each, "in every round");
    // The dwell time makes it switch less often, and never stop.
    let held: Vec<u64> = followed("best", 60, turns()).into_iter().map(|(at, _)| at).collect();
    assert_eq!(held, [0, 70, 140, 210, 280]);
}

// Whoever is in charge looks worse: the most that comes of it is a switch for each dwell time.
#[test]
fn under_every_rule_two_policies_that_take_turns_in_being_better_switch_once_in_the_dwell_time() {
    for rule in RuleName::all() {
        let mut switcher = Switcher::new(&options(rule, 60));
        let (mut present, mut n) = (0, 0);
        for i in 0..360 {
            let ends = if present == 0 { [4_000, 2_000] } else { [2_000, 4_000] };
            if let Some(switch) = switcher.consider(present, &ends.map(|ends| forecast(i, ends))) {
                (present, n) = (switch.to, n + 1);
            }
        }
        assert!((1..=6).contains(&n), "{rule}: {n} switches in 360 s");
    }
}

// Four candidates whose forecasts are drawn anew in every round.
#[test]
fn every_listed_rule_chooses_the_same_again_and_keeps_the_dwell_time() {
    let mut any = 0;
    for (rule, seed) in RULES.into_iter().flat_map(|rule| (0..20).map(move |seed| (rule, seed))) {
        let drawn = || {
            let mut random = Random::new(5, seed);
            (0..200).map(move |i| (i * 7, [(); 4].map(|()| 5_000 + random.below(1_000) as u64)))
        };
        let switches = followed(rule, 60, drawn());
        assert_eq!(followed(rule, 60, drawn()), switches, "{rule}");
        assert!(switches.windows(2).all(|two| two[1].0 - two[0].0 >= 60), "{rule}: {switches:?}");
        any += switches.len();
    }
    assert!(any > 0, "nobody ever switched");
}

#[test]
fn every_listed_rule_is_in_the_guide() {
    for (page, text) in [
        ("prediction.md", include_str!("../../../../../docs/guide/prediction.md")),
        ("settings.md", include_str!("../../../../../docs/guide/settings.md")),
    ] {
        for name in RULES {
            assert!(text.contains(&format!("`{name}`")), "{page} does not name the rule `{name}`");
        }
    }
}

/// The chapter's code is the file, so that what people copy has been compiled and tested.
#[test]
fn the_guides_chapter_shows_a_rule_and_its_line_as_they_are() {
    let chapter = include_str!("../../../../../docs/guide/own-models.md");
    let (rule, _) = include_str!("best.rs").split_once("\n#[cfg(test)]").expect("it has tests");
    assert!(chapter.contains(&format!("```rust\n{rule}```\n")), "own-models.md and switch/best.rs differ");
    let line = r#"    ("best", |thresholds| Box::new(Best::new(thresholds))),"#;
    assert!(include_str!("list.rs").contains(line) && chapter.contains(line), "the chapter's line is not the list's");
}
