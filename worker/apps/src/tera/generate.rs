//! `teragen`: rows that depend on nothing but their number, byte for byte those of Hadoop 2 and of gensort.
//!
//! Row `n` is made of the `n + 1`-th value of a 128-bit linear congruential generator that starts at 0; any row can
//! be reached in logarithmic time. A test compares the checksum of the first million rows with the published one.

use howdah_task::{Application, MapOutput, Properties, RecordFormat, Result};

use super::{KEY, ROW};
use crate::args::Rows;
use crate::built_in::BuiltIn;
use crate::request::{JobPlan, PlanError, Planner};
use crate::share::share;

/// Hadoop's name.
const ROWS: &str = "mapreduce.terasort.num-rows";
/// Rows between two reports of progress.
const BEAT: u64 = 4096;

/// The generator: `x` becomes `x · MULTIPLIER + INCREMENT`, modulo 2^128.
const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;
const INCREMENT: u128 = 0x4a69_6d47_7261_7952_4950_2020_2020_2001;

pub(crate) const APP: BuiltIn = BuiltIn {
    name: "teragen",
    about: "make rows of 100 bytes for terasort, the same as Hadoop's",
    usage: "ROWS [-m MAPS]    (10m is ten million)",
    plan,
    stages: &[("teragen", application)],
};

fn plan(planner: &mut Planner<'_>) -> Result<Vec<JobPlan>, PlanError> {
    let mut job = planner.generated_job("teragen", 2)?;
    let rows = planner.positional().or_else(|| planner.properties.get(ROWS).cloned());
    let rows = rows.ok_or_else(|| planner.missing("the number of rows"))?;
    let Ok(Rows(n)) = rows.parse() else { return Err(planner.not("ROWS", &rows, "a number of rows")) };
    job.properties.insert(ROWS.to_owned(), n.to_string());
    Ok(vec![job])
}

fn application(properties: &Properties) -> Result<Application> {
    let n: u64 = properties.parse_or(&[ROWS], 0, "a number of rows")?;
    let map = move |_: &[u8], out: &mut MapOutput| -> Result {
        let mine = share(n, out.context().task_index(), out.context().n_maps());
        let mut state = skip(mine.start);
        for number in mine.clone() {
            state = next(state);
            let row = format(state, number);
            out.emit(&row[..KEY], &row[KEY..])?;
            if number % BEAT == 0 {
                let done = (number - mine.start) as f64 / (mine.end - mine.start) as f64;
                out.context().set_progress(done)?;
            }
        }
        Ok(())
    };
    Ok(Application::lines(map).records(RecordFormat::Raw))
}

pub fn row(number: u64) -> [u8; ROW] {
    format(next(skip(number)), number)
}

fn next(state: u128) -> u128 {
    state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT)
}

/// The generator's state after `steps` steps from 0: the step is composed with itself, as in fast exponentiation.
fn skip(mut steps: u64) -> u128 {
    let (mut multiplier, mut increment) = (MULTIPLIER, INCREMENT);
    let mut state = 0_u128;
    while steps > 0 {
        if steps & 1 == 1 {
            state = state.wrapping_mul(multiplier).wrapping_add(increment);
        }
        increment = multiplier.wrapping_mul(increment).wrapping_add(increment);
        multiplier = multiplier.wrapping_mul(multiplier);
        steps >>= 1;
    }
    state
}

/// Ten random bytes, a break, the number in 32 hexadecimal digits, a break, twelve random digits four times each,
/// a break.
fn format(random: u128, number: u64) -> [u8; ROW] {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut row = [0; ROW];
    row[..KEY].copy_from_slice(&random.to_be_bytes()[..KEY]);
    row[10..12].copy_from_slice(&[0x00, 0x11]);
    for place in 0..32 {
        let digit = u128::from(number) >> (4 * (31 - place)) & 0xf;
        row[12 + place] = DIGITS[digit as usize];
    }
    row[44..48].copy_from_slice(&[0x88, 0x99, 0xaa, 0xbb]);
    for place in 0..12 {
        let digit = random >> (4 * (11 - place)) & 0xf;
        row[48 + 4 * place..52 + 4 * place].fill(DIGITS[digit as usize]);
    }
    row[96..].copy_from_slice(&[0xcc, 0xdd, 0xee, 0xff]);
    row
}

#[cfg(test)]
mod tests {
    use super::super::Checksum;
    use super::*;

    #[test]
    fn the_first_row_is_the_published_one() {
        let first = row(0);
        assert_eq!(&first[..KEY], b"JimGrayRIP");
        assert_eq!(&first[12..44], &[b'0'; 32]);
        assert_eq!(&first[48..96], b"222200002222000022220000222200002222000000001111");
    }

    #[test]
    fn skipping_ahead_ends_where_single_steps_do() {
        let mut state = 0;
        for steps in 0..1000 {
            assert_eq!(skip(steps), state);
            state = next(state);
        }
        assert_eq!(next(skip(u64::from(u32::MAX))), skip(1 << 32));
    }

    #[test]
    fn a_million_rows_have_the_checksum_that_gensort_and_hadoop_print() {
        let mut checksum = Checksum::default();
        let mut state = 0;
        for number in 0..1_000_000 {
            state = next(state);
            checksum.add(&format(state, number));
        }
        assert_eq!(checksum.to_string(), "7a27e2d0d55de");
    }
}
