//! Every application from its plan to its output, against naive models and the checkers.

mod harness;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use harness::{Place, Run, output, run, run_with};
use howdah_apps::sudoku::{Generator, Mix};
use howdah_apps::text::ZipfText;
use howdah_apps::{PlanRequest, check};

/// Text with frequent and rare words, a few hundred kilobytes of it.
fn text(place: &Place, name: &str) -> String {
    let mut text = Vec::new();
    let zipf = ZipfText::new(20_000, 1.0, 11).expect("in range");
    zipf.write(0, 400_000, &mut text, |_| Ok(())).expect("a vector takes everything");
    place.write(name, &text);
    String::from_utf8(text).expect("letters")
}

#[test]
fn word_count_gives_the_same_right_parts_with_every_combiner_split_and_spill() {
    let place = Place::new();
    text(&place, "text");
    let mut outputs = Vec::new();
    for (index, combiner) in ["fold", "reducer", "none"].into_iter().enumerate() {
        let name = format!("out{index}");
        let how = Run {
            n_reduces: Some(3),
            split_size: [1 << 30, 50_000, 130_000][index],
            properties: &[("io.sort.mb", "1"), ("io.sort.factor", "3")],
        };
        let request = place.request("text", &name, &["--combiner", combiner]);
        let done = run_with("wordcount", request, how).expect("word count");
        let report = check::wordcount(&[place.path("text")], &place.path(&name)).expect(combiner);
        assert_eq!((report.parts, report.distinct > 5_000), (3, true));
        outputs.push(output(&done));
    }
    assert!(outputs[0] == outputs[1] && outputs[1] == outputs[2], "parts depend on how they were made");
}

#[test]
fn grep_counts_matches_and_sorts_them_by_frequency_then_text() {
    let place = Place::new();
    let text = text(&place, "text");
    let request = place.request("text", "out", &["b[a-z]a"]);
    let how = Run { n_reduces: Some(2), split_size: 90_000, ..Run::default() };
    let found = output(&run_with("grep", request, how).expect("grep"));

    let regex = regex::Regex::new("b[a-z]a").expect("a good expression");
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    regex.find_iter(&text).for_each(|found| *counts.entry(found.as_str()).or_default() += 1);
    let mut model: Vec<(i64, &str)> = counts.into_iter().map(|(text, n)| (-n, text)).collect();
    model.sort_unstable();
    let model: String = model.iter().map(|(n, text)| format!("{}\t{text}\n", -n)).collect();
    assert!(model.lines().count() > 10 && found == model, "{found}\nexpected\n{model}");
    let left: Vec<_> =
        std::fs::read_dir(place.path("")).expect("there").map(|e| e.expect("there").file_name()).collect();
    assert_eq!(left.len(), 2, "the directory between the jobs is gone: {left:?}");
}

#[test]
fn grep_takes_a_group_of_each_match_and_matches_with_tabs() {
    let place = Place::new();
    place.write("text", "k=a\tb k=c\nk=c x\n\nno\n");
    let whole = run("grep", place.request("text", "whole", &["k=[a-c\t]+"]));
    assert_eq!(output(&whole), "2\tk=c\n1\tk=a\tb\n");
    let group = run("grep", place.request("text", "group", &["k=([a-c])", "1"]));
    assert_eq!(output(&group), "2\tc\n1\ta\n");
    // `\xff` is no UTF-8, and an empty match is a match.
    place.write("bytes", b"\xff\xfe");
    let bytes = run("grep", place.request("bytes", "odd", &["(?-u)\\xfe?"]));
    let bytes: Vec<u8> = bytes.parts.iter().flat_map(|part| std::fs::read(part).expect("a part")).collect();
    assert_eq!(bytes, b"1\t\n1\t\xfe\n");
}

#[test]
fn sort_keeps_every_line_in_order_of_bytes_within_or_over_all_parts() {
    let place = Place::new();
    let mut lines: Vec<String> = text(&place, "text").lines().map(str::to_owned).collect();
    lines.extend(["".to_owned(), "ü".to_owned(), lines[0].clone(), "tab\there".to_owned()]);
    place.write("text", lines.join("\n"));
    lines.sort_unstable();
    let how = Run { n_reduces: Some(3), split_size: 100_000, ..Run::default() };

    let total = run_with("sort", place.request("text", "total", &["--total-order"]), how).expect("sort");
    assert!(output(&total).lines().eq(lines.iter().map(String::as_str)), "the parts together are not sorted");
    assert!(total.parts.iter().all(|part| part.metadata().expect("a part").len() > 50_000), "cuts are uneven");

    let hashed = run_with("sort", place.request("text", "hashed", &[]), how).expect("sort");
    let mut all = Vec::new();
    for part in &hashed.parts {
        let part = std::fs::read_to_string(part).expect("a part");
        assert!(part.lines().is_sorted());
        all.extend(part.lines().map(str::to_owned));
    }
    all.sort_unstable();
    assert!(all == lines, "lines were lost or made up");
}

#[test]
fn tera_rows_are_generated_sorted_and_validated_and_disorder_is_found() {
    let place = Place::new();
    let rows = run("teragen", place.request("", "rows", &["-m", "3", "10k"]));
    assert_eq!(rows.parts.len(), 3);
    let bytes: Vec<u8> = rows.parts.iter().flat_map(|part| std::fs::read(part).expect("a part")).collect();
    let expected: Vec<u8> = (0..10_000).flat_map(howdah_apps::tera::row).collect();
    assert!(bytes == expected, "rows depend on the number of maps");

    let how = Run { n_reduces: Some(4), split_size: 70_000, ..Run::default() };
    let sorted = run_with("terasort", place.request("rows", "sorted", &[]), how).expect("terasort");
    assert!(sorted.parts.iter().all(|part| part.metadata().expect("a part").len() > 150_000), "cuts are uneven");
    let small = Run { split_size: 90_000, ..Run::default() };
    let valid = run_with("teravalidate", place.request("sorted", "valid", &[]), small).expect("teravalidate");
    assert_eq!(output(&valid), "rows\t10000\nchecksum\t139abefd74b2\n");

    // Two parts change places, and two rows within another.
    std::fs::rename(&sorted.parts[0], place.path("first")).expect("rename");
    std::fs::rename(&sorted.parts[1], &sorted.parts[0]).expect("rename");
    std::fs::rename(place.path("first"), &sorted.parts[1]).expect("rename");
    let mut third = std::fs::read(&sorted.parts[2]).expect("a part");
    third[..200].rotate_left(100);
    std::fs::write(&sorted.parts[2], third).expect("write");
    let invalid = run("teravalidate", place.request("sorted", "invalid", &[]));
    let lines: Vec<String> = output(&invalid).lines().map(str::to_owned).collect();
    assert_eq!(lines.iter().filter(|line| line.starts_with("error\t")).count(), 2, "{lines:?}");
    assert!(lines[0].contains("part-r-00002 byte 100: "), "{lines:?}");
    assert_eq!(lines[2..], ["rows\t10000", "checksum\t139abefd74b2"]);
}

#[test]
fn generated_puzzles_are_solved_by_maps_alone_and_with_reduces() {
    let place = Place::new();
    let made = run("sudokugen", place.request("", "puzzles", &["--puzzles", "50", "--seed", "7", "-m", "3"]));
    let mut model = Vec::new();
    Generator::new(7, Mix::default()).write(50, &mut model).expect("24 clues or more");
    assert_eq!(output(&made).as_bytes(), model);

    let how = |n| Run { n_reduces: Some(n), split_size: 500, ..Run::default() };
    for (n_reduces, parts) in [(0, 9), (2, 2)] {
        let name = format!("solved{n_reduces}");
        let done =
            run_with("sudoku", place.request("puzzles", &name, &["--work", "3"]), how(n_reduces)).expect("sudoku");
        let report = check::sudoku(&place.path(&name)).expect("right solutions");
        assert_eq!((report.solutions, report.parts), (50, parts));
        let count = |name| done.counters.get("Sudoku", name);
        assert_eq!(count("Solved"), 50);
        assert_eq!(count("Easy") + count("Medium") + count("Hard") + count("Extreme"), 50);
    }
}

#[test]
fn lines_that_are_no_puzzles_are_counted_and_left_out() {
    let place = Place::new();
    let (puzzle, solution) = Generator::new(1, Mix::default()).puzzle(0).expect("24 clues or more");
    let contradiction = format!("11{}", "0".repeat(79));
    let lines = format!("# a comment\n\nnonsense\n{}\n{contradiction}\r\n{puzzle}\r\n", ".".repeat(81));
    place.write("puzzles", lines);
    let done = run("sudoku", place.request("puzzles", "out", &[]));
    assert_eq!(output(&done), format!("{puzzle}\t{solution}\n"));
    for name in ["Malformed", "Unsolvable", "Ambiguous", "Solved"] {
        assert_eq!(done.counters.get("Sudoku", name), 1, "{name}");
    }
}

#[test]
fn random_text_has_the_bytes_asked_for_and_is_the_same_again() {
    let place = Place::new();
    let args = ["--bytes", "100k", "--words", "50", "-m", "2", "--seed", "5"];
    let first = output(&run("randomtextwriter", place.request("", "first", &args)));
    assert!((102_400..102_600).contains(&first.len()), "{}", first.len());
    let mut words: Vec<&str> = first.split_whitespace().collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), 50);
    assert_eq!(first, output(&run("randomtextwriter", place.request("", "second", &args))));
    let mut stream = Vec::new();
    let zipf = ZipfText::new(50, 1.0, 5).expect("in range");
    zipf.write(0, 51_200, &mut stream, |_| Ok(())).expect("a vector takes everything");
    assert!(first.as_bytes().starts_with(&stream), "the first map writes the first stream");
}

#[test]
fn sleeping_tasks_take_their_own_times_and_no_time_takes_none() {
    let nothing = |args: &[&str]| PlanRequest { output: None, ..Place::new().request("", "", args) };
    let started = Instant::now();
    run("sleep", nothing(&["--map-times", "0,300", "--reduce-times", "200"]));
    assert!(started.elapsed() >= Duration::from_millis(500));
    let started = Instant::now();
    run("sleep", nothing(&["-m", "20", "-r", "2"]));
    assert!(started.elapsed() < Duration::from_secs(20));
}
