//! More distinct words than a sort buffer holds: hundreds of spills and merges in several rounds.

use crate::harness::reference::{assert_same_parts, read_parts, word_count_parts};
use crate::harness::{Cluster, Setup, scratch, text};

#[test]
fn a_million_distinct_words_over_hundreds_of_spills_give_the_bytes_of_an_independent_count() {
    // Every word once in a shuffled order, then a skewed text over all of them.
    let words = text::words(1_200_000);
    let mut chance = text::Chance::new(5);
    let mut bytes = Vec::new();
    let mut order: Vec<usize> = (0..words.len()).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, chance.below(last as u64 + 1) as usize);
    }
    for round in 0..8 {
        for (at, &index) in order.iter().enumerate() {
            let index = if round == 0 { index } else { chance.below(words.len() as u64) as usize };
            bytes.extend_from_slice(words[index].as_bytes());
            bytes.push(if at % 9 == 8 { b'\n' } else { b' ' });
        }
    }
    let input = scratch().join("many-words.txt");
    std::fs::write(&input, &bytes).expect("write the generated text");
    let expected = word_count_parts(&bytes, 4);
    let distinct: usize = expected.iter().map(|part| part.iter().filter(|&&b| b == b'\n').count()).sum();
    assert!(distinct >= 1_000_000, "{distinct} distinct words");

    let cluster = Cluster::start(Setup::default());
    let out = cluster.output("out");
    let input = input.to_str().expect("a plain path").to_owned();
    let args = [
        "wordcount",
        "--input",
        &input,
        "--output",
        &out,
        "--reduces",
        "4",
        "-D",
        "io.sort.mb=1",
        "-D",
        "wordcount.combiner=reducer",
    ];
    let job = cluster.submit(&[&args[..], &["-D", "io.sort.factor=5", "-D", "dfs.block.size=16777216"]].concat());
    cluster.wait_job(&job, 0);
    assert_same_parts(&read_parts(out.as_ref()), &expected, "word count over a million words");
    let spills = cluster.n_spills(&job);
    assert!(spills >= 200, "only {spills} spills");
    cluster.stop_and_replay();
}
