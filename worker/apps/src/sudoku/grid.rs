//! A sudoku grid as a line of 81 characters, row by row, and the rule of the game.
//!
//! [`Grid::is_solution`] checks by the rule alone and shares nothing with the solver, so that it can judge it.

use std::fmt;

/// Cells of a grid.
pub const CELLS: usize = 81;

/// The 27 units: 9 rows, 9 columns, 9 boxes; each lists its cells.
pub(crate) const UNITS: [[u8; 9]; 27] = units();

/// For each cell, the 20 other cells that share a unit with it.
pub(crate) const PEERS: [[u8; 20]; CELLS] = peers();

const fn units() -> [[u8; 9]; 27] {
    let mut units = [[0; 9]; 27];
    let mut unit = 0;
    while unit < 9 {
        let mut i = 0;
        while i < 9 {
            units[unit][i] = (unit * 9 + i) as u8;
            units[9 + unit][i] = (i * 9 + unit) as u8;
            units[18 + unit][i] = ((unit / 3 * 3 + i / 3) * 9 + unit % 3 * 3 + i % 3) as u8;
            i += 1;
        }
        unit += 1;
    }
    units
}

const fn peers() -> [[u8; 20]; CELLS] {
    let mut peers = [[0; 20]; CELLS];
    let mut a = 0;
    while a < CELLS {
        let (mut b, mut n) = (0, 0);
        while b < CELLS {
            let (row_a, column_a, row_b, column_b) = (a / 9, a % 9, b / 9, b % 9);
            let same_box = row_a / 3 == row_b / 3 && column_a / 3 == column_b / 3;
            if a != b && (row_a == row_b || column_a == column_b || same_box) {
                peers[a][n] = b as u8;
                n += 1;
            }
            b += 1;
        }
        a += 1;
    }
    peers
}

/// Digits 1 to 9, and 0 for an empty cell. It need not obey the rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Grid([u8; CELLS]);

/// A line that is not a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    /// Too long or too short.
    #[error("a puzzle of {found} characters, expected 81")]
    Length {
        /// Characters there.
        found: usize,
    },
    /// A character that is neither a digit nor a dot.
    #[error("character {byte:?} at place {place}, expected a digit or a dot", byte = char::from(*byte))]
    Character {
        byte: u8,
        /// From 1.
        place: usize,
    },
}

impl Grid {
    /// No digit anywhere.
    pub const EMPTY: Grid = Grid([0; CELLS]);

    /// Reads 81 characters: `1` to `9`, and `.` or `0` for an empty cell.
    ///
    /// # Errors
    /// When there are more, fewer or other characters.
    pub fn parse(line: &[u8]) -> Result<Grid, GridError> {
        if line.len() != CELLS {
            return Err(GridError::Length { found: line.len() });
        }
        let mut cells = [0; CELLS];
        for (place, (&byte, cell)) in line.iter().zip(&mut cells).enumerate() {
            *cell = match byte {
                b'.' => 0,
                b'0'..=b'9' => byte - b'0',
                _ => return Err(GridError::Character { byte, place: place + 1 }),
            };
        }
        Ok(Grid(cells))
    }

    /// The 81 characters, with `.` for an empty cell.
    pub fn to_line(self) -> [u8; CELLS] {
        self.0.map(|digit| if digit == 0 { b'.' } else { b'0' + digit })
    }

    /// The digit of a cell (0 to 80, row by row); 0 when it is empty.
    pub fn get(&self, cell: usize) -> u8 {
        self.0[cell]
    }

    /// Writes a digit, 0 to empty the cell.
    pub(crate) fn set(&mut self, cell: usize, digit: u8) {
        self.0[cell] = digit;
    }

    /// Number of cells with a digit.
    pub fn clues(&self) -> usize {
        self.0.iter().filter(|&&digit| digit != 0).count()
    }

    /// Whether each row, column and box holds each of the nine digits once.
    pub fn is_solution(&self) -> bool {
        let exactly_once = |cells: &mut dyn Iterator<Item = usize>| {
            let mut seen = [false; 10];
            cells.for_each(|cell| seen[usize::from(self.0[cell])] = true);
            seen[1..].iter().all(|&digit| digit)
        };
        (0..9).all(|n| {
            exactly_once(&mut (0..9).map(|i| n * 9 + i))
                && exactly_once(&mut (0..9).map(|i| i * 9 + n))
                && exactly_once(&mut (0..9).map(|i| (n / 3 * 3 + i / 3) * 9 + n % 3 * 3 + i % 3))
        })
    }

    /// Whether this grid has every digit of `puzzle` at its place.
    pub fn keeps_clues_of(&self, puzzle: &Grid) -> bool {
        self.0.iter().zip(&puzzle.0).all(|(mine, clue)| *clue == 0 || mine == clue)
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_line().iter().try_for_each(|&byte| fmt::Write::write_char(f, char::from(byte)))
    }
}

impl fmt::Debug for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOLUTION: &[u8] = b"534678912672195348198342567859761423426853791713924856961537284287419635345286179";

    #[test]
    fn lines_read_back_with_zeros_as_dots() {
        let mut line = [b'.'; CELLS];
        line[3] = b'7';
        let grid = Grid::parse(&line).expect("81 characters");
        assert_eq!(grid.to_line(), line);
        assert_eq!(grid.clues(), 1);
        line[0] = b'0';
        assert_eq!(Grid::parse(&line), Ok(grid));
        assert_eq!(Grid::parse(b"123"), Err(GridError::Length { found: 3 }));
        line[80] = b'x';
        assert_eq!(Grid::parse(&line), Err(GridError::Character { byte: b'x', place: 81 }));
    }

    #[test]
    fn the_rule_finds_two_swapped_digits() {
        let good = Grid::parse(SOLUTION).expect("81 digits");
        assert!(good.is_solution() && good.keeps_clues_of(&good));
        for (a, b) in [(0, 1), (0, 9), (0, 80), (30, 31)] {
            let mut bad = good;
            bad.0.swap(a, b);
            assert_eq!(bad.is_solution(), bad == good, "{a} and {b}");
        }
        assert!(!Grid::EMPTY.is_solution());
    }

    #[test]
    fn every_cell_has_twenty_peers_and_three_units() {
        for (cell, peers) in PEERS.iter().enumerate() {
            assert_eq!(UNITS.iter().filter(|unit| unit.contains(&(cell as u8))).count(), 3);
            assert!(peers.windows(2).all(|pair| pair[0] < pair[1]), "ascending, hence distinct");
            assert!(!peers.contains(&(cell as u8)));
        }
    }
}
