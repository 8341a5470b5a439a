//! Independent checkers: they read a job's input and output as plain files and share no code with the job.
//!
//! Memory grows with the number of distinct words, not with the input.

mod lines;
mod sudoku;
mod wordcount;

pub use self::lines::CheckError;
pub use sudoku::{SudokuReport, sudoku};
pub use wordcount::{WordCountReport, wordcount};

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::path::PathBuf;

    use super::*;

    /// A directory with an input and the output of a job.
    fn output(parts: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a temporary directory");
        for (index, text) in parts.iter().enumerate() {
            fs::write(dir.path().join(format!("part-r-{index:05}")), text).expect("a small file");
        }
        fs::write(dir.path().join("_SUCCESS"), "").expect("a small file");
        dir
    }

    fn count(input: &str, parts: &[&str]) -> Result<WordCountReport, CheckError> {
        let output = output(parts);
        let text = output.path().join("_input");
        fs::write(&text, input).expect("a small file");
        wordcount(&[text], output.path())
    }

    #[test]
    fn a_right_count_is_accepted_with_its_figures() {
        let report = count("b a\ta\r\nb\x0c a ", &["a\t3\nb\t2\n"]).expect("right");
        assert_eq!((report.words, report.distinct, report.parts), (5, 2, 1));
        // The hashes of a (128) and b (129) differ in their lowest bit.
        assert_eq!(count("a b", &["a\t1\n", "b\t1\n"]).expect("right").parts, 2);
    }

    #[test]
    fn compressed_files_and_nested_directories_are_read() {
        let output = output(&["a\t3\nb\t1\n"]);
        let input = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(input.path().join("below")).expect("a directory");
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"a b").expect("a vector takes everything");
        fs::write(input.path().join("x.gz"), gzip.finish().expect("in memory")).expect("a small file");
        let zstd = zstd::encode_all(&b"a"[..], 1).expect("in memory");
        fs::write(input.path().join("below/y.zst"), zstd).expect("a small file");
        let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        bzip2.write_all(b"a\n").expect("a vector takes everything");
        fs::write(input.path().join("below/z.bz2"), bzip2.finish().expect("in memory")).expect("a small file");
        assert_eq!(wordcount(&[input.path()], output.path()).expect("right").words, 4);
    }

    #[test]
    fn every_kind_of_wrong_count_is_found() {
        let message = |input, parts: &[&str]| count(input, parts).expect_err("wrong").to_string();
        assert!(message("a a", &["a\t1\n"]).contains("says 1, the input has it 2"));
        assert!(message("a b", &["a\t1\n"]).contains("`b`: the output says 0"));
        assert!(message("a", &["a\t1\nb\t1\n"]).contains("`b`: the output says 1, the input has it 0"));
        assert!(message("a", &["a\t1\na\t1\n"]).contains("line 2"));
        assert!(message("a b", &["b\t1\na\t1\n"]).contains("order"));
        assert!(message("a", &["", "a\t1\n"]).contains("part 0"));
        assert!(message("a", &["a 1\n"]).contains("tab"));
        assert!(message("a", &["a\tx\n"]).contains("`x`"));
    }

    #[test]
    fn an_unfinished_or_missing_output_is_said_to_be_so() {
        let dir = output(&["a\t1\n"]);
        fs::remove_file(dir.path().join("_SUCCESS")).expect("just written");
        assert!(matches!(wordcount::<PathBuf>(&[], dir.path()), Err(CheckError::NotFinished { .. })));
        assert!(matches!(sudoku(&dir.path().join("none")), Err(CheckError::Io { .. })));
    }

    #[test]
    fn solutions_are_judged_by_rule_and_by_their_puzzle() {
        let solution = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";
        let puzzle = format!("{}{}", ".".repeat(40), &solution[40..]);
        let dir = output(&[&format!("{puzzle}\t{solution}\n"), ""]);
        assert_eq!(sudoku(dir.path()).expect("right"), SudokuReport { solutions: 1, parts: 2 });
        let swapped = solution.replace('1', "x").replace('2', "1").replace('x', "2");
        for (answer, why) in [(swapped.as_str(), "another puzzle"), (&puzzle, "rule"), ("12", "81")] {
            let error = sudoku(output(&[&format!("{puzzle}\t{answer}\n")]).path()).expect_err("wrong").to_string();
            assert!(error.contains("line 1") && error.contains(why), "{error}");
        }
    }
}
