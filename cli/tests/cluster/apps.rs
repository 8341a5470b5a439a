//! The built-in applications, compressed input and streaming, end to end.

use std::io::Write;

use crate::harness::reference::{assert_same_parts, read_parts, word_count_parts};
use crate::harness::{Cluster, Setup, text, wait_for};

#[test]
fn terasort_sorts_what_teragen_makes_and_teravalidate_agrees() {
    let cluster = Cluster::start(Setup::default());
    let (made, sorted, report) = (cluster.output("made"), cluster.output("sorted"), cluster.output("report"));
    cluster
        .run(&[
            "submit",
            "teragen",
            "--output",
            &made,
            "-D",
            "mapreduce.terasort.num-rows=200000",
            "-D",
            "mapred.map.tasks=3",
            "--wait",
        ])
        .expect_code(0);
    let bytes: usize = read_parts(made.as_ref()).iter().map(Vec::len).sum();
    assert_eq!(bytes, 200_000 * 100);
    let args = ["submit", "terasort", "--input", &made, "--output", &sorted, "--reduces", "3"];
    cluster.run(&[&args[..], &["-D", "dfs.block.size=1000000", "--wait"]].concat()).expect_code(0);

    let mut expected: Vec<Vec<u8>> = read_parts(made.as_ref()).concat().chunks(100).map(<[u8]>::to_vec).collect();
    let found: Vec<Vec<u8>> = read_parts(sorted.as_ref()).concat().chunks(100).map(<[u8]>::to_vec).collect();
    assert!(found.windows(2).all(|pair| pair[0][..10] <= pair[1][..10]), "keys out of order");
    let mut all = found;
    all.sort();
    expected.sort();
    assert_eq!(all.len(), expected.len());
    assert!(all == expected, "terasort lost or changed records");

    cluster.run(&["submit", "teravalidate", "--input", &sorted, "--output", &report, "--wait"]).expect_code(0);
    let said = String::from_utf8(read_parts(report.as_ref()).concat()).expect("text");
    assert!(said.contains("rows") && !said.contains("error"), "{said}");
    cluster.stop_and_replay();
}

#[test]
fn teravalidate_finds_records_out_of_order() {
    let cluster = Cluster::start(Setup { workers: 1, ..Setup::default() });
    let (made, report) = (cluster.output("made"), cluster.output("report"));
    cluster
        .run(&[
            "submit",
            "teragen",
            "--output",
            &made,
            "-D",
            "mapreduce.terasort.num-rows=1000",
            "-D",
            "mapred.map.tasks=2",
            "--wait",
        ])
        .expect_code(0);
    // Unsorted as it is.
    cluster.run(&["submit", "teravalidate", "--input", &made, "--output", &report, "--wait"]).expect_code(0);
    let said = String::from_utf8(read_parts(report.as_ref()).concat()).expect("text");
    let n_errors = said.lines().filter(|line| line.starts_with("error\t")).count();
    assert!(n_errors > 100, "{n_errors} places out of order in {} lines", said.lines().count());
}

#[test]
fn sort_puts_lines_in_order_of_their_bytes() {
    let cluster = Cluster::start(Setup::default());
    let input = cluster.output("input.txt");
    text::write_text(input.as_ref(), 2 << 20, &text::words(5_000), 9);
    let out = cluster.output("out");
    let job = cluster.submit(&["sort", "--input", &input, "--output", &out, "--reduces", "1"]);
    cluster.wait_job(&job, 0);
    let found = read_parts(out.as_ref()).concat();
    let text = std::fs::read(&input).expect("read the input");
    let mut expected: Vec<&[u8]> = text.split(|&b| b == b'\n').collect();
    expected.sort_unstable();
    let lines: Vec<&[u8]> = found.strip_suffix(b"\n").expect("a last line end").split(|&b| b == b'\n').collect();
    assert_eq!(lines.len(), expected.len());
    assert!(lines == expected, "lines out of order");
    cluster.stop_and_replay();
}

#[test]
fn sudokus_are_made_and_solved_and_every_solution_fits_its_puzzle() {
    let cluster = Cluster::start(Setup::default());
    let (puzzles, solved) = (cluster.output("puzzles"), cluster.output("solved"));
    let args = ["submit", "sudokugen", "--output", &puzzles, "-D", "sudoku.puzzles=200", "-D", "sudoku.clues=27"];
    cluster.run(&[&args[..], &["--wait"]].concat()).expect_code(0);
    let text = String::from_utf8(read_parts(puzzles.as_ref()).concat()).expect("text");
    assert_eq!(text.lines().count(), 200);
    cluster.run(&["submit", "sudoku", "--input", &puzzles, "--output", &solved, "--wait"]).expect_code(0);
    let solutions = String::from_utf8(read_parts(solved.as_ref()).concat()).expect("text");
    let mut n_solved = 0;
    for line in solutions.lines() {
        let grids: Vec<&str> = line.split_whitespace().filter(|word| word.len() == 81).collect();
        if let [puzzle, solution] = grids[..] {
            assert_solves(puzzle, solution);
            n_solved += 1;
        }
    }
    assert_eq!(n_solved, 200, "{}", solutions.lines().next().unwrap_or("nothing"));
    cluster.stop_and_replay();
}

/// A map that has read its input is not at its end when it goes on for a time; what is slow shows by that.
#[test]
fn a_sudoku_map_that_works_for_a_time_tells_how_much_of_it_has_passed() {
    let cluster = Cluster::start(Setup { workers: 1, ..Setup::default() });
    let puzzle = "...4.6.38147.....66385..1....3....82..6.4..57.2478.36..79....1...13.82.9..2..9.7.\n";
    let (input, output) = (cluster.text("puzzle", puzzle), cluster.output("solved"));
    let work = ["--work-ms", "600000", "--reduces", "0"];
    let job = cluster.submit(&[&["sudoku", "--input", &input, "--output", &output], &work[..]].concat());
    let progress = || cluster.status(&job)["map_progress"].as_f64().expect("a share");
    let first = wait_for("some progress", || Some(progress()).filter(|&share| share > 0.0));
    let second = wait_for("more of it", || Some(progress()).filter(|&share| share > first));
    assert!(second < 0.5, "{first} and {second} of ten minutes");
    cluster.run(&["job", "kill", &job]).expect_code(0);
    cluster.wait_job(&job, 1);
    cluster.stop_and_replay();
}

/// By the rules alone: each digit once in each row, column and box, and every clue kept.
fn assert_solves(puzzle: &str, solution: &str) {
    let (clues, cells) = (puzzle.as_bytes(), solution.as_bytes());
    for unit in 0..9 {
        let (mut row, mut column, mut square) = (0_u16, 0_u16, 0_u16);
        for at in 0..9 {
            let bit = |cell: u8| 1_u16 << (cell - b'0');
            row |= bit(cells[unit * 9 + at]);
            column |= bit(cells[at * 9 + unit]);
            square |= bit(cells[(unit / 3 * 3 + at / 3) * 9 + unit % 3 * 3 + at % 3]);
        }
        assert_eq!((row, column, square), (0x3fe, 0x3fe, 0x3fe), "{solution}");
    }
    let kept = clues.iter().zip(cells).all(|(clue, cell)| !(b'1'..=b'9').contains(clue) || clue == cell);
    assert!(kept, "{puzzle} {solution}");
}

#[test]
fn compressed_files_are_read_as_what_they_hold() {
    let cluster = Cluster::start(Setup::default());
    let folder = cluster.path("input");
    std::fs::create_dir(&folder).expect("make a folder");
    let plain = cluster.path("plain.txt");
    text::write_text(&plain, 3 << 20, &text::words(20_000), 4);
    let bytes = std::fs::read(&plain).expect("read the text");

    let file = |name: &str| std::fs::File::create(folder.join(name)).expect("create a file");
    let mut gzip = flate2::write::GzEncoder::new(file("a.gz"), flate2::Compression::fast());
    gzip.write_all(&bytes).expect("compress");
    gzip.finish().expect("compress");
    let mut bzip2 = bzip2::write::BzEncoder::new(file("b.bz2"), bzip2::Compression::fast());
    bzip2.write_all(&bytes).expect("compress");
    bzip2.finish().expect("compress");
    let mut zstd = zstd::Encoder::new(file("c.zst"), 1).expect("compress");
    zstd.write_all(&bytes).expect("compress");
    zstd.finish().expect("compress");

    let out = cluster.output("out");
    let input = folder.to_str().expect("a plain path");
    let args = ["wordcount", "--input", input, "--output", &out, "--reduces", "2", "-D", "dfs.block.size=65536"];
    let job = cluster.submit(&args);
    cluster.wait_job(&job, 0);
    assert_eq!(cluster.status(&job)["maps"], 3, "a compressed file is one split");
    let mut three = Vec::new();
    for _ in 0..3 {
        three.extend_from_slice(&bytes);
        three.push(b'\n');
    }
    assert_same_parts(&read_parts(out.as_ref()), &word_count_parts(&three, 2), "compressed input");
    cluster.stop_and_replay();
}

#[test]
fn streaming_commands_count_words_like_the_built_in_application() {
    let cluster = Cluster::start(Setup::default());
    let input = cluster.output("input.txt");
    text::write_text(input.as_ref(), 256 << 10, &text::words(500), 8);
    let out = cluster.output("out");
    let mapper = cluster.script("mapper.sh", r#"tr -s ' ' '\n' | sed -e '/^$/d' -e 's/$/\t1/'"#);
    let sum = r#"$1 != last { if (NR > 1) print last "\t" n; last = $1; n = 0 } { n += $2 } END { if (NR) print last "\t" n }"#;
    let reducer = cluster.script("reducer.sh", &format!("awk -F '\\t' '{sum}'"));
    let args = ["streaming", "--mapper", &mapper, "--reducer", &reducer, "--input", &input, "--output", &out];
    let job = cluster.submit(&[&args[..], &["--reduces", "2"]].concat());
    cluster.wait_job(&job, 0);
    let text = std::fs::read(&input).expect("read the input");
    assert_same_parts(&read_parts(out.as_ref()), &word_count_parts(&text, 2), "streaming word count");
    cluster.stop_and_replay();
}
