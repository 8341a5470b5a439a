//! Makes valid puzzles: each has one solution and the number of clues asked for.
//!
//! A random solution is drawn, then clues are taken away in random order as long as the solution stays the only
//! one. Puzzle `i` of a seed is drawn from its own random stream, so it does not depend on the others and many
//! maps can make them together. Solutions are not drawn uniformly: the search for one prefers some.

use super::grid::{CELLS, Grid};
use super::solve::{State, Verdict, solve};
use crate::random::Random;

/// Solutions tried for one puzzle before its number of clues is given up. Taking clues away ends at about 24
/// on average; 22 takes some thirty tries, 20 some thousands.
const TRIES: u32 = 2_000;

/// A puzzle that could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// No unique puzzle has that few clues, or no grid that many cells.
    #[error("a puzzle of {clues} clues: expected 17 to 81")]
    Range {
        /// As asked.
        clues: usize,
    },
    /// The search gave up.
    #[error("no puzzle of {clues} clues in {tries} tries (seed {seed}, puzzle {index}); the fewest were {fewest}")]
    NotReached {
        /// As asked.
        clues: usize,
        /// Solutions tried.
        tries: u32,
        /// Clues of the best try.
        fewest: usize,
        /// The generator's seed.
        seed: u64,
        /// Which puzzle.
        index: u64,
    },
    /// A mix that does not read as one.
    #[error(
        "clues `{text}`: expected a number, a range as `24-40`, or easy, medium, hard or mixed, separated by commas"
    )]
    Mix {
        /// As given.
        text: String,
    },
}

/// Which numbers of clues a set of puzzles has: each puzzle takes one of the ranges, then a number in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mix {
    /// Lowest and highest number of clues; never empty, each within 17 to 81.
    ranges: Vec<(u32, u32)>,
}

impl Default for Mix {
    fn default() -> Mix {
        Mix { ranges: vec![(24, 40)] }
    }
}

impl Mix {
    /// Reads `30`, `24-40`, a name (`easy` 34 to 40 clues, `medium` 28 to 33, `hard` 24 to 27, `mixed` 24 to 40),
    /// or several of these separated by commas.
    ///
    /// # Errors
    /// When it reads as nothing of that, or leaves 17 to 81.
    pub fn parse(text: &str) -> Result<Mix, GenerateError> {
        let wrong = || GenerateError::Mix { text: text.to_owned() };
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
        let mut ranges = Vec::new();
        for part in text.split(',') {
            let (low, high) = match part.trim() {
                "easy" => (34, 40),
                "medium" => (28, 33),
                "hard" => (24, 27),
                "mixed" => (24, 40),
                range => match range.split_once('-') {
                    Some((low, high)) => (number(low)?, number(high)?),
                    None => (number(range)?, number(range)?),
                },
            };
            for clues in [low, high] {
                if !(17..=81).contains(&clues) {
                    return Err(GenerateError::Range { clues: clues as usize });
                }
            }
            if low > high {
                return Err(wrong());
            }
            ranges.push((low, high));
        }
        Ok(Mix { ranges })
    }

    fn draw(&self, random: &mut Random) -> usize {
        let (low, high) = self.ranges[random.below(self.ranges.len() as u32) as usize];
        (low + random.below(high - low + 1)) as usize
    }
}

/// Puzzles of a seed.
#[derive(Clone, Debug)]
pub struct Generator {
    seed: u64,
    mix: Mix,
}

impl Generator {
    /// The same seed and mix give the same puzzles, on every machine.
    pub fn new(seed: u64, mix: Mix) -> Generator {
        Generator { seed, mix }
    }

    /// The puzzle of that index and its solution.
    ///
    /// # Errors
    /// When no puzzle with so few clues is found.
    pub fn puzzle(&self, index: u64) -> Result<(Grid, Grid), GenerateError> {
        self.search(index, TRIES)
    }

    fn search(&self, index: u64, tries: u32) -> Result<(Grid, Grid), GenerateError> {
        let mut random = Random::new(self.seed, index);
        let clues = self.mix.draw(&mut random);
        let mut fewest = CELLS;
        for _ in 0..tries {
            let solution = random_solution(&mut random);
            let puzzle = take_away(solution, clues, &mut random);
            if puzzle.clues() == clues {
                return Ok((puzzle, solution));
            }
            fewest = fewest.min(puzzle.clues());
        }
        Err(GenerateError::NotReached { clues, tries, fewest, seed: self.seed, index })
    }

    /// Writes puzzles `0 .. n`, a line each.
    ///
    /// # Errors
    /// When one cannot be made, or `out` fails.
    pub fn write(&self, n: u64, out: &mut dyn std::io::Write) -> anyhow::Result<()> {
        for index in 0..n {
            let mut line = [b'\n'; CELLS + 1];
            line[..CELLS].copy_from_slice(&self.puzzle(index)?.0.to_line());
            out.write_all(&line)?;
        }
        Ok(())
    }
}

/// Empties cells in random order while the solution stays the only one, down to `clues` if it can.
fn take_away(solution: Grid, clues: usize, random: &mut Random) -> Grid {
    let mut puzzle = solution;
    let mut left = CELLS;
    let mut order: [usize; CELLS] = std::array::from_fn(|cell| cell);
    random.shuffle(&mut order);
    for cell in order {
        if left == clues {
            break;
        }
        let digit = puzzle.get(cell);
        puzzle.set(cell, 0);
        if matches!(solve(&puzzle).0, Verdict::Unique(_)) {
            left -= 1;
        } else {
            puzzle.set(cell, digit);
        }
    }
    puzzle
}

/// A full grid that obeys the rule.
fn random_solution(random: &mut Random) -> Grid {
    let empty = State::of(&Grid::EMPTY).expect("an empty grid has no clues to contradict each other");
    fill(empty, random).expect("an empty grid has solutions")
}

fn fill(mut state: State, random: &mut Random) -> Option<Grid> {
    if !state.propagate() {
        return None;
    }
    let Some(cell) = state.narrowest() else { return Some(state.grid()) };
    let mut digits = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    random.shuffle(&mut digits);
    digits.into_iter().find_map(|digit: u8| {
        let bit = 1 << (digit - 1);
        let mut next = state;
        if next.candidates[cell] & bit == 0 || !next.fix(cell, bit) {
            return None;
        }
        fill(next, random)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_puzzles() {
        let generator = Generator::new(2026, Mix::default());
        let mut lines = Vec::new();
        generator.write(3, &mut lines).expect("a vector takes everything");
        assert_eq!(lines.len(), 3 * 82);
        assert_eq!(lines[..81], generator.puzzle(0).expect("made before").0.to_line());
        // If this changes, every recorded set of puzzles changes with it.
        let first = "...4.6.38147.....66385..1....3....82..6.4..57.2478.36..79....1...13.82.9..2..9.7.";
        assert_eq!(generator.puzzle(0).expect("made before").0.to_string(), first);
    }

    #[test]
    fn chosen_numbers_of_clues_are_met() {
        for clues in [23, 24, 26, 30, 40, 60, 81] {
            let mix = Mix::parse(&clues.to_string()).expect("in range");
            assert_eq!(Generator::new(1, mix).puzzle(0).expect("reachable").0.clues(), clues);
        }
    }

    #[test]
    fn mixes_read_as_written_or_say_what_was_expected() {
        assert_eq!(Mix::parse("24-26, easy,81"), Ok(Mix { ranges: vec![(24, 26), (34, 40), (81, 81)] }));
        assert_eq!(Mix::parse("16"), Err(GenerateError::Range { clues: 16 }));
        for text in ["", "30-24", "many", "24-", "1.5"] {
            assert_eq!(Mix::parse(text), Err(GenerateError::Mix { text: text.to_owned() }));
        }
    }

    #[test]
    fn a_number_of_clues_that_is_out_of_reach_is_an_error_with_the_best_try() {
        let generator = Generator::new(1, Mix::parse("17").expect("in range"));
        match generator.search(0, 3) {
            Err(GenerateError::NotReached { clues: 17, tries: 3, fewest, .. }) => assert!((18..40).contains(&fewest)),
            other => panic!("17 clues are not found by taking away, yet: {other:?}"),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn every_puzzle_has_its_solution_and_no_other(seed: u64, index: u64) {
            let (puzzle, solution) = Generator::new(seed, Mix::default()).puzzle(index).expect("24 clues are reachable");
            prop_assert!((24..=40).contains(&puzzle.clues()));
            prop_assert!(solution.is_solution() && solution.keeps_clues_of(&puzzle));
            prop_assert_eq!(solve(&puzzle).0, Verdict::Unique(solution));
        }
    }
}
