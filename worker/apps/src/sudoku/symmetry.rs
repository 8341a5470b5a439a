//! The changes of a grid that keep the rule: rows and columns trade places within and among bands, the grid is
//! mirrored along its diagonal, digits trade names. An equivalent puzzle has the equivalent solution.

use super::grid::{CELLS, Grid};
use crate::random::Random;

/// One such change.
#[derive(Clone, Debug)]
pub struct Symmetry {
    /// Where each cell of the new grid comes from.
    source: [u8; CELLS],
    /// The new name of each digit; 0 stays 0.
    digits: [u8; 10],
}

impl Symmetry {
    /// A random one.
    pub fn random(seed: u64, index: u64) -> Symmetry {
        let mut random = Random::new(seed, index);
        let rows = lines(&mut random);
        let columns = lines(&mut random);
        let mirrored = random.below(2) == 1;
        let source = std::array::from_fn(|cell| {
            let (row, column) = (rows[cell / 9], columns[cell % 9]);
            if mirrored { column * 9 + row } else { row * 9 + column }
        });
        let mut digits = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
        random.shuffle(&mut digits[1..]);
        Symmetry { source, digits }
    }

    /// The changed grid.
    pub fn apply(&self, grid: &Grid) -> Grid {
        let mut changed = Grid::EMPTY;
        for (cell, &source) in self.source.iter().enumerate() {
            changed.set(cell, self.digits[usize::from(grid.get(usize::from(source)))]);
        }
        changed
    }
}

/// An order of nine rows or columns that keeps the three bands together.
fn lines(random: &mut Random) -> [u8; 9] {
    let mut bands = [0, 1, 2];
    random.shuffle(&mut bands);
    let mut order = [0; 9];
    for (place, band) in bands.into_iter().enumerate() {
        let mut within = [0, 1, 2];
        random.shuffle(&mut within);
        for (offset, line) in within.into_iter().enumerate() {
            order[place * 3 + offset] = band * 3 + line;
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::super::{Generator, Mix, Verdict, solve};
    use super::*;

    #[test]
    fn an_equivalent_puzzle_has_the_equivalent_solution() {
        let (puzzle, solution) = Generator::new(5, Mix::default()).puzzle(0).expect("24 clues or more");
        for index in 0..20 {
            let symmetry = Symmetry::random(9, index);
            let changed = symmetry.apply(&puzzle);
            assert_ne!(changed, puzzle);
            assert_eq!(changed.clues(), puzzle.clues());
            assert_eq!(solve(&changed).0, Verdict::Unique(symmetry.apply(&solution)));
        }
    }
}
