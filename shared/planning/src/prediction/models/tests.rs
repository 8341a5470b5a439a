//! What holds for every listed model, and what tests of single ones share.

use super::super::history::Sample;
use super::{Estimate, MODELS, by_name};
use howdah_core::time::Span;

pub(super) fn sample(mib: u64, ms: u64, worker: &str) -> Sample {
    Sample { bytes: Some(mib << 20), time: Span::from_ms(ms), worker: worker.to_owned(), place: None }
}

pub(super) fn estimate(model: &str, samples: &[Sample], mib: u64, worker: Option<&str>) -> Option<Estimate> {
    let samples: Vec<&Sample> = samples.iter().collect();
    Some(by_name(model).expect("it is listed").fit(&samples)?.estimate(mib << 20, worker))
}

pub(super) fn ms(estimate: Option<Estimate>) -> u64 {
    (estimate.expect("there are samples").expected / 1e3).round() as u64
}

#[test]
fn every_listed_model_is_found_under_its_name_and_says_nothing_without_samples() {
    for name in MODELS {
        assert_eq!(MODELS.iter().filter(|&&other| other == name).count(), 1, "{name} is listed once");
        assert_eq!(estimate(name, &[], 1, None), None, "{name}");
    }
    assert!(by_name("oracle").is_none());
}

// Fifty tasks of two workers, of all sizes and of one.
#[test]
fn every_listed_model_tells_the_same_again_and_within_its_own_interval() {
    let draws = |seed: u64| (0..50).map(move |i| (i * 7 + seed) % 64 + 1);
    let sized: Vec<Sample> =
        draws(3).map(|mib| sample(mib, 900 + 45 * mib, if mib % 2 == 0 { "a" } else { "b" })).collect();
    let alike: Vec<Sample> = draws(5).map(|ms| sample(16, 900 + ms, "a")).collect();
    for name in MODELS {
        for (samples, mib, worker) in [(&sized, 1, None), (&sized, 500, Some("b")), (&alike, 16, Some("c"))] {
            let told = estimate(name, samples, mib, worker).expect("there are samples");
            assert_eq!(estimate(name, samples, mib, worker), Some(told), "{name}");
            let Estimate { expected, low, high } = told;
            assert!(0.0 <= low && low <= expected && expected <= high && high.is_finite(), "{name}: {told:?}");
            assert!(expected >= 1.0, "{name}: {told:?}");
        }
    }
}

#[test]
fn every_listed_model_is_in_the_guide() {
    for (page, text) in [
        ("forecast-models.md", include_str!("../../../../../docs/guide/forecast-models.md")),
        ("settings.md", include_str!("../../../../../docs/guide/settings.md")),
    ] {
        for name in MODELS {
            assert!(text.contains(&format!("`{name}`")), "{page} does not name the model `{name}`");
        }
    }
}

/// The chapter's code is the file, so that what people copy has been compiled and tested.
#[test]
fn the_guides_chapter_shows_a_model_and_its_line_as_they_are() {
    let chapter = include_str!("../../../../../docs/guide/own-models.md");
    let (model, _) = include_str!("quantile.rs").split_once("\n#[cfg(test)]").expect("it has tests");
    assert!(chapter.contains(&format!("```rust\n{model}```\n")), "own-models.md and models/quantile.rs differ");
    let line = r#"    ("quantile", || Box::new(Quantile)),"#;
    assert!(include_str!("list.rs").contains(line) && chapter.contains(line), "the chapter's line is not the list's");
}
