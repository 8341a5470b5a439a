//! An exact solver: propagation over candidate bit masks, then search at the cell with the fewest candidates.
//!
//! Two rules propagate: a cell with one candidate left takes it (naked single), and a digit with one place left
//! in a unit goes there (hidden single). Where both rest, the search tries each candidate of the most constrained
//! cell. It stops at the second solution, so "unique" is proved, not assumed. Invariant of [`State`]: a fixed
//! cell's digit is no candidate of its peers.

use super::grid::{CELLS, Grid, PEERS, UNITS};

/// What a puzzle turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No grid keeps its clues and the rule.
    Unsolvable,
    /// Exactly one does.
    Unique(Grid),
    /// At least these two do.
    Ambiguous(Grid, Grid),
}

/// How much search the verdict took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// States of the search, the first included.
    pub nodes: u64,
    /// Candidates tried where propagation rested; 0 when singles alone solve the puzzle.
    pub guesses: u64,
}

/// A scale for people, by the number of guesses that the proof of uniqueness took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difficulty {
    /// Singles suffice.
    Easy,
    /// Up to 8 guesses.
    Medium,
    /// Up to 64 guesses.
    Hard,
    /// More.
    Extreme,
}

impl Effort {
    /// Where the puzzle stands on the scale.
    pub fn difficulty(self) -> Difficulty {
        match self.guesses {
            0 => Difficulty::Easy,
            1..=8 => Difficulty::Medium,
            9..=64 => Difficulty::Hard,
            _ => Difficulty::Extreme,
        }
    }
}

impl Difficulty {
    /// All four, easiest first.
    pub const ALL: [Difficulty; 4] = [Difficulty::Easy, Difficulty::Medium, Difficulty::Hard, Difficulty::Extreme];

    /// The counter's name.
    pub const fn name(self) -> &'static str {
        match self {
            Difficulty::Easy => "Easy",
            Difficulty::Medium => "Medium",
            Difficulty::Hard => "Hard",
            Difficulty::Extreme => "Extreme",
        }
    }
}

/// Solves a puzzle, or proves that it has no or more than one solution.
pub fn solve(puzzle: &Grid) -> (Verdict, Effort) {
    let mut search = Search { effort: Effort::default(), found: [Grid::EMPTY; 2], n_found: 0 };
    if let Some(state) = State::of(puzzle) {
        search.visit(state);
    }
    let verdict = match search.n_found {
        0 => Verdict::Unsolvable,
        1 => Verdict::Unique(search.found[0]),
        _ => Verdict::Ambiguous(search.found[0], search.found[1]),
    };
    (verdict, search.effort)
}

struct Search {
    effort: Effort,
    found: [Grid; 2],
    n_found: usize,
}

impl Search {
    /// Depth is at most 81: each level fixes a cell.
    fn visit(&mut self, mut state: State) {
        self.effort.nodes += 1;
        if !state.propagate() {
            return;
        }
        let Some(cell) = state.narrowest() else {
            self.found[self.n_found] = state.grid();
            self.n_found += 1;
            return;
        };
        for bit in bits(state.candidates[cell]) {
            self.effort.guesses += 1;
            let mut next = state;
            if next.fix(cell, bit) {
                self.visit(next);
            }
            if self.n_found == self.found.len() {
                return;
            }
        }
    }
}

/// The single bits of a mask, lowest first.
pub(crate) fn bits(mut mask: u16) -> impl Iterator<Item = u16> {
    std::iter::from_fn(move || {
        let bit = mask & mask.wrapping_neg();
        mask ^= bit;
        (bit != 0).then_some(bit)
    })
}

/// What is known of each cell.
#[derive(Clone, Copy)]
pub(crate) struct State {
    /// Bit `d - 1` is set while digit `d` is possible; exactly one bit once the cell is fixed.
    pub(crate) candidates: [u16; CELLS],
    /// Cells that are not fixed yet.
    open: u128,
    /// Open cells with one candidate, waiting to be fixed.
    singles: u128,
}

impl State {
    /// The state after the clues alone; `None` when two clues contradict each other.
    pub(crate) fn of(puzzle: &Grid) -> Option<State> {
        let mut state = State { candidates: [0x1ff; CELLS], open: (1 << CELLS) - 1, singles: 0 };
        for cell in 0..CELLS {
            let digit = puzzle.get(cell);
            if digit != 0 {
                let bit = 1 << (digit - 1);
                if state.candidates[cell] & bit == 0 || !state.fix(cell, bit) {
                    return None;
                }
            }
        }
        Some(state)
    }

    /// Fixes a cell and takes the digit from its peers; false when a peer has no candidate left.
    pub(crate) fn fix(&mut self, cell: usize, bit: u16) -> bool {
        self.candidates[cell] = bit;
        self.open &= !(1 << cell);
        self.singles &= !(1 << cell);
        for &peer in &PEERS[cell] {
            let peer = usize::from(peer);
            let before = self.candidates[peer];
            let after = before & !bit;
            if after == before {
                continue;
            }
            if after == 0 {
                return false;
            }
            self.candidates[peer] = after;
            if after.is_power_of_two() {
                self.singles |= 1 << peer;
            }
        }
        true
    }

    /// Applies both rules until neither says more; false at a contradiction.
    pub(crate) fn propagate(&mut self) -> bool {
        loop {
            while self.singles != 0 {
                let cell = self.singles.trailing_zeros() as usize;
                if !self.fix(cell, self.candidates[cell]) {
                    return false;
                }
            }
            match self.hidden_single() {
                Err(()) => return false,
                Ok(None) => return true,
                Ok(Some((cell, bit))) => {
                    if !self.fix(cell, bit) {
                        return false;
                    }
                }
            }
        }
    }

    /// A digit with a single place in some unit whose cell has other candidates too; an error when a digit has
    /// no place left.
    fn hidden_single(&self) -> Result<Option<(usize, u16)>, ()> {
        for unit in &UNITS {
            let (mut once, mut twice) = (0, 0);
            for &cell in unit {
                let mask = self.candidates[usize::from(cell)];
                twice |= once & mask;
                once |= mask;
            }
            if once != 0x1ff {
                return Err(());
            }
            let alone = once & !twice;
            if alone == 0 {
                continue;
            }
            for &cell in unit {
                let cell = usize::from(cell);
                let bit = self.candidates[cell] & alone;
                if bit == 0 || self.open & (1 << cell) == 0 {
                    continue;
                }
                // Two digits that both have this cell as their only place contradict each other.
                return if bit.is_power_of_two() { Ok(Some((cell, bit))) } else { Err(()) };
            }
        }
        Ok(None)
    }

    /// The open cell with the fewest candidates, the first of equals; `None` when all are fixed.
    pub(crate) fn narrowest(&self) -> Option<usize> {
        let mut best = None;
        let mut fewest = u32::MAX;
        let mut open = self.open;
        while open != 0 {
            let cell = open.trailing_zeros() as usize;
            open &= open - 1;
            let count = self.candidates[cell].count_ones();
            if count < fewest {
                (best, fewest) = (Some(cell), count);
                if count == 2 {
                    break;
                }
            }
        }
        best
    }

    /// The fixed cells' digits.
    pub(crate) fn grid(&self) -> Grid {
        let mut grid = Grid::EMPTY;
        for cell in 0..CELLS {
            if self.open & (1 << cell) == 0 {
                grid.set(cell, self.candidates[cell].trailing_zeros() as u8 + 1);
            }
        }
        grid
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Generator, Mix};
    use super::*;

    fn grid(line: &str) -> Grid {
        Grid::parse(line.as_bytes()).expect("a grid")
    }

    /// Published puzzles with 17 clues and with a reputation; each has one solution.
    const KNOWN: &[&str] = &[
        "000000010400000000020000000000050407008000300001090000300400200050100000000806000",
        "800000000003600000070090200050007000000045700000100030001000068008500010090000400",
        "100007090030020008009600500005300900010080002600004000300000010040000007007000300",
    ];

    #[test]
    fn hard_puzzles_are_solved_and_proved_unique() {
        for line in KNOWN {
            let puzzle = grid(line);
            let (verdict, effort) = solve(&puzzle);
            let Verdict::Unique(solution) = verdict else { panic!("{line}: {verdict:?}") };
            assert!(solution.is_solution() && solution.keeps_clues_of(&puzzle), "{line}");
            assert!(effort.nodes > effort.guesses / 9, "{effort:?}");
        }
    }

    #[test]
    fn a_solved_grid_needs_no_search() {
        let Verdict::Unique(solution) = solve(&grid(KNOWN[0])).0 else { panic!("unique above") };
        assert_eq!(solve(&solution), (Verdict::Unique(solution), Effort { nodes: 1, guesses: 0 }));
        assert_eq!(solve(&solution).1.difficulty(), Difficulty::Easy);
    }

    #[test]
    fn an_empty_grid_and_a_puzzle_without_a_needed_clue_are_ambiguous() {
        let (Verdict::Ambiguous(a, b), _) = solve(&Grid::EMPTY) else { panic!("empty") };
        assert!(a != b && a.is_solution() && b.is_solution());
        // 17 clues are the fewest that any unique puzzle has, so each of them is needed.
        let mut puzzle = grid(KNOWN[0]);
        assert_eq!(puzzle.clues(), 17);
        puzzle.set(7, 0);
        let (Verdict::Ambiguous(a, b), _) = solve(&puzzle) else { panic!("16 clues") };
        assert!(a != b && [a, b].iter().all(|s| s.is_solution() && s.keeps_clues_of(&puzzle)));
    }

    #[test]
    fn contradictions_are_found_before_and_during_the_search() {
        let twice_in_a_row = format!("11{}", ".".repeat(79));
        assert_eq!(solve(&grid(&twice_in_a_row)), (Verdict::Unsolvable, Effort::default()));
        // The last cell of the first row has no candidate: 1 to 8 in its row, 9 in its column.
        let starved = format!("12345678.{}9{}", ".".repeat(8), ".".repeat(63));
        assert_eq!(solve(&grid(&starved)).0, Verdict::Unsolvable);
        // A wrong digit in place of a right one leaves no solution, which only search shows.
        let mut wrong = grid(KNOWN[1]);
        let Verdict::Unique(solution) = solve(&wrong).0 else { panic!("unique above") };
        wrong.set(1, solution.get(1) % 9 + 1);
        assert_eq!(solve(&wrong).0, Verdict::Unsolvable);
    }

    /// Counts solutions, not far beyond two, by trying every digit in every empty cell.
    fn count_naively(grid: &mut Grid, from: usize) -> usize {
        let Some(cell) = (from..CELLS).find(|&cell| grid.get(cell) == 0) else { return 1 };
        let mut found = 0;
        for digit in 1..=9 {
            if PEERS[cell].iter().all(|&peer| grid.get(usize::from(peer)) != digit) {
                grid.set(cell, digit);
                found += count_naively(grid, cell + 1);
                grid.set(cell, 0);
            }
            if found > 1 {
                break;
            }
        }
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn verdicts_agree_with_trying_everything(seed: u64, emptied in proptest::collection::vec(0..CELLS, 35..60), wrong in 0..CELLS, digit in 1_u8..=9) {
            let (_, mut grid) = Generator::new(seed, Mix::default()).puzzle(0).expect("24 clues are reachable");
            emptied.iter().for_each(|&cell| grid.set(cell, 0));
            // Sometimes a clue that contradicts no other at once and leaves no solution.
            if grid.get(wrong) == 0 && PEERS[wrong].iter().all(|&peer| grid.get(usize::from(peer)) != digit) {
                grid.set(wrong, digit);
            }
            let expected = count_naively(&mut grid.clone(), 0).min(2);
            match solve(&grid).0 {
                Verdict::Unsolvable => prop_assert_eq!(expected, 0),
                Verdict::Unique(solution) => {
                    prop_assert_eq!(expected, 1);
                    prop_assert!(solution.is_solution() && solution.keeps_clues_of(&grid));
                }
                Verdict::Ambiguous(a, b) => {
                    prop_assert_eq!(expected, 2);
                    prop_assert!(a != b && [a, b].iter().all(|s| s.is_solution() && s.keeps_clues_of(&grid)));
                }
            }
        }
    }
}
