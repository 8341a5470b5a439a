//! What `howdah submit APP …` becomes, application by application, and what it is refused for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use howdah_apps::{JobPlan, PlanRequest, apps, plan};
use howdah_core::job::{App, InputFormat};

/// A request with one input and an output, and these arguments between spaces.
fn request(args: &str) -> PlanRequest {
    PlanRequest {
        inputs: vec!["in".to_owned()],
        output: Some("out".to_owned()),
        args: args.split_whitespace().map(str::to_owned).collect(),
        ..PlanRequest::default()
    }
}

/// A request without input.
fn generate(args: &str) -> PlanRequest {
    PlanRequest { inputs: Vec::new(), ..request(args) }
}

fn one(app: &str, request: &PlanRequest) -> JobPlan {
    let mut jobs = plan(app, request).unwrap_or_else(|error| panic!("{app}: {error}"));
    assert_eq!(jobs.len(), 1, "{app}");
    jobs.remove(0)
}

fn refusal(app: &str, request: &PlanRequest) -> String {
    plan(app, request).expect_err("must be refused").to_string()
}

fn built_in(name: &str) -> App {
    App::BuiltIn { name: name.to_owned() }
}

#[test]
fn word_count_reads_text_and_has_one_reduce_unless_told_otherwise() {
    let mut asked = request("--combiner reducer");
    asked.properties.insert("io.sort.mb".to_owned(), "4".to_owned());
    let job = one("wordcount", &asked);
    assert_eq!((job.app, job.input_format, job.n_reduces), (built_in("wordcount"), InputFormat::Text, 1));
    assert_eq!((job.inputs, job.output), (vec!["in".to_owned()], Some("out".to_owned())));
    assert_eq!(job.properties["wordcount.combiner"], "reducer");
    assert_eq!(job.properties["io.sort.mb"], "4");

    asked.properties.insert("mapreduce.job.reduces".to_owned(), "3".to_owned());
    assert_eq!(one("wordcount", &asked).n_reduces, 3);
    asked.n_reduces = Some(7);
    assert_eq!(one("wordcount", &asked).n_reduces, 7);
}

#[test]
fn what_is_missing_unknown_or_wrong_is_named_with_advice() {
    assert!(refusal("wordcount", &generate("")).contains("wordcount: expected at least one --input PATH\nhelp: "));
    let no_output = PlanRequest { output: None, ..request("") };
    assert!(refusal("wordcount", &no_output).contains("--output"));
    assert!(refusal("wordcount", &request("--colour red")).contains("unexpected argument `--colour`"));
    assert!(refusal("wordcount", &request("--combiner x")).contains("`x` is not fold, reducer or none"));
    assert!(refusal("wordcount", &request("--combiner")).contains("after --combiner"));
    let mut bad = request("");
    bad.properties.insert("mapred.reduce.tasks".to_owned(), "many".to_owned());
    assert!(refusal("wordcount", &bad).contains("mapred.reduce.tasks `many` is not a number of tasks"));
    assert!(refusal("teragen", &request("5")).contains("would not be read"));
}

#[test]
fn grep_is_two_jobs_with_a_directory_between() {
    let asked = PlanRequest { n_reduces: Some(4), ..request("-- h(.)w 1") };
    let jobs = plan("grep", &asked).expect("a good expression");
    let [search, sort] = jobs.as_slice() else { panic!("{jobs:?}") };
    assert_eq!((&search.app, search.n_reduces), (&built_in("grep"), 4));
    assert_eq!((&sort.app, sort.n_reduces), (&built_in("grep-sort"), 1));
    assert_eq!(search.properties["mapred.mapper.regex"], "h(.)w");
    assert_eq!(search.properties["mapred.mapper.regex.group"], "1");
    let between = search.output.clone().expect("a directory");
    assert_ne!(between, "out");
    assert_eq!((&sort.inputs, &sort.removes), (&vec![between.clone()], &vec![between]));
    assert_eq!(sort.output.as_deref(), Some("out"));

    assert!(refusal("grep", &request("")).contains("a regular expression"));
    assert!(refusal("grep", &request("a(b")).contains("unclosed group"));
    assert!(refusal("grep", &request("a 1")).contains("has 0 groups"));
    assert!(refusal("grep", &request("a x")).contains("group `x` is not a number"));
}

#[test]
fn generated_jobs_have_maps_and_no_input() {
    let rows = one("teragen", &generate("-m 5 10k"));
    assert_eq!((rows.input_format, rows.n_reduces), (InputFormat::Generated { n_maps: 5 }, 0));
    assert_eq!(rows.properties["mapreduce.terasort.num-rows"], "10000");
    assert!(refusal("teragen", &generate("")).contains("the number of rows"));

    let text = one("randomtextwriter", &generate("--bytes 1g --words 5 --exponent 0.9 --seed 3"));
    assert_eq!(text.properties["test.randomtextwrite.total_bytes"], (1_u64 << 30).to_string());
    assert_eq!(text.properties["randomtextwriter.exponent"], "0.9");
    assert!(refusal("randomtextwriter", &generate("--words 0")).contains("0 distinct words"));

    let puzzles = one("sudokugen", &generate("--puzzles 500 --clues hard,40"));
    assert_eq!(puzzles.properties["sudoku.puzzles"], "500");
    assert!(refusal("sudokugen", &generate("--clues 12")).contains("12 clues: expected 17 to 81"));
    assert!(refusal("sudokugen", &generate("-m 0")).contains("-m `0` is not"));
}

#[test]
fn sudoku_splits_by_puzzles() {
    let job = one("sudoku", &request("--puzzles-per-map 10 --work 3"));
    assert_eq!(job.properties["mapred.max.split.size"], "820");
    assert_eq!(job.properties["sudoku.work"], "3");
    assert_eq!(one("sudoku", &PlanRequest { n_reduces: Some(0), ..request("") }).n_reduces, 0);
    assert!(refusal("sudoku", &request("--work many")).contains("`many` is not"));
}

#[test]
fn sleep_writes_nothing_and_a_list_of_times_says_how_many_tasks_there_are() {
    let bare = PlanRequest::default();
    let job = one("sleep", &bare);
    assert_eq!((job.output, job.n_reduces), (None, 0));
    assert_eq!(job.input_format, InputFormat::Generated { n_maps: 1 });

    let args = |text: &str| PlanRequest { args: request(text).args, ..PlanRequest::default() };
    let job = one("sleep", &args("-m 100 -r 3 -mt 20 -rt 2s"));
    assert_eq!((job.input_format, job.n_reduces), (InputFormat::Generated { n_maps: 100 }, 3));
    assert_eq!(job.properties["sleep.job.map.sleep.time"], "20");
    assert_eq!(job.properties["sleep.job.reduce.sleep.time"], "2000", "as Hadoop has it");

    let job = one("sleep", &args("--map-times 1,2,3 --reduce-times=4"));
    assert_eq!((job.input_format, job.n_reduces), (InputFormat::Generated { n_maps: 3 }, 1));
    assert!(refusal("sleep", &args("--map-times 1,x")).contains("times separated by commas"));
}

#[test]
fn tera_jobs_read_rows_and_terasort_samples_its_input() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let rows: Vec<u8> = (0..5000).flat_map(howdah_apps::tera::row).collect();
    std::fs::write(dir.path().join("part-m-00000"), rows).expect("half a megabyte");
    let input = |path: &Path| vec![path.to_str().expect("UTF-8").to_owned()];
    let asked = PlanRequest { inputs: input(dir.path()), n_reduces: Some(4), ..request("") };
    let job = one("terasort", &asked);
    assert_eq!(job.input_format, InputFormat::FixedLength { record_bytes: 100 });
    let cuts: Vec<&str> = job.properties["total.order.cuts"].split(',').collect();
    assert_eq!(cuts.len(), 3);
    // Keys are uniform, so the cuts are near the quarters.
    assert!(cuts[0].starts_with(['3', '4']) && cuts[1].starts_with(['7', '8']) && cuts[2].starts_with(['b', 'c']));

    let missing = PlanRequest { inputs: input(&dir.path().join("none")), ..asked.clone() };
    assert!(refusal("terasort", &missing).contains("list `"));
    assert!(refusal("terasort", &PlanRequest { n_reduces: Some(0), ..asked.clone() }).contains("at least 1"));
    assert_eq!(one("teravalidate", &PlanRequest { n_reduces: None, ..asked.clone() }).n_reduces, 1);
    assert!(refusal("teravalidate", &asked).contains("one reduce"));
    assert_eq!(one("sort", &PlanRequest { inputs: vec!["in".into()], ..asked }).properties, BTreeMap::new());
}

#[test]
fn streaming_takes_commands_and_none_means_maps_alone() {
    let args = ["--mapper", "tr a-z A-Z", "-reducer", "uniq -c", "-cmdenv", "A=1", "--cmdenv=B=2"];
    let asked = PlanRequest { args: args.map(str::to_owned).into(), ..request("") };
    let job = one("streaming", &asked);
    let app =
        App::Streaming { mapper: Some("tr a-z A-Z".to_owned()), reducer: Some("uniq -c".to_owned()), combiner: None };
    assert_eq!((job.app, job.n_reduces), (app, 1));
    assert_eq!(job.properties["stream.addenvironment"], "A=1 B=2");

    let job = one("streaming", &request("--reducer NONE"));
    assert_eq!((job.app, job.n_reduces), (App::Streaming { mapper: None, reducer: None, combiner: None }, 0));
    assert!(
        refusal("streaming", &PlanRequest { args: vec!["--mapper= ".to_owned()], ..request("") }).contains("command")
    );
}

#[test]
fn a_users_program_is_named_by_its_absolute_path() {
    let program = std::env::current_exe().expect("this test");
    let path = program.to_str().expect("UTF-8").to_owned();
    let job = one("program", &PlanRequest { args: vec![path.clone(), "--fast".to_owned()], ..request("") });
    assert_eq!(job.app, App::Program { path, args: vec!["--fast".to_owned()] });
    assert!(refusal("program", &request("/no/such/program")).contains("find `/no/such/program`"));
}

#[test]
fn every_application_says_what_it_is_for() {
    let names: BTreeSet<&str> = apps().map(|app| app.name).collect();
    assert!(["wordcount", "streaming", "pi"].iter().all(|name| names.contains(name)), "{names:?}");
    assert_eq!(names.len(), apps().count(), "a name twice: {names:?}");
    assert!(apps().all(|app| !app.about.is_empty() && !app.about.ends_with('.')));
}
