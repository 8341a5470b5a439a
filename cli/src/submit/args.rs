//! Flags of `submit`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use howdah_core::job::Requirement;

use crate::args::{ClusterArgs, Format};
use crate::flag_values::parse_pair;
use crate::optimize::args::{MethodChoice, PoolArgs};
use crate::units::parse_duration;

const EXAMPLES: &str = "\
Examples:
  howdah submit wordcount --input books --input 'more/*.txt' --output counts --wait
  howdah submit grep --input logs --output found 'timeout|refused' --wait
  howdah submit sudoku --input puzzles.txt --output solved --reduces 1
  howdah submit sort --input big --output sorted --reduces 8 -D io.sort.mb=200
  howdah submit sleep -m 100 -mt 50
  howdah submit wordcount --input books --output counts --deadline 10m --admit check
  howdah submit streaming --mapper 'cut -f1' --reducer 'uniq -c' --input in --output out
  howdah submit ./target/release/my-job --input in --output out
  howdah submit --batch nightly.toml --order balanced-pools --wait
  howdah submit --batch nightly.toml --pools 3 --small-by length --dry-run

Inputs are files, directories (names that start with _ or . are left out) or globs; relative \
paths are taken from here. The output directory must not exist. For scripts, `--output json` \
answers with the job's id, and with --wait also with how it ended.";

/// `howdah submit`
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES, after_long_help = format!("{}\n\n{EXAMPLES}", applications()))]
pub(crate) struct SubmitArgs {
    /// An application of the list in `--help`, or the path, with a `/` in it, of a program built with the task library
    #[arg(required_unless_present = "batch")]
    pub(crate) app: Option<String>,
    /// The application's own options and arguments, such as grep's regular expression
    #[arg(value_name = "ARG")]
    pub(crate) args: Vec<String>,
    /// File, directory or glob to read; may be repeated
    #[arg(long, short, value_name = "PATH")]
    pub(crate) input: Vec<String>,
    /// Directory to write, which must not exist; the bare words table and json choose the form of the answer
    #[arg(long, short, value_name = "PATH")]
    pub(crate) output: Vec<String>,
    /// Set a property, Hadoop's names included; may be repeated
    #[arg(short = 'D', value_name = "KEY=VALUE", value_parser = parse_pair)]
    pub(crate) define: Vec<(String, String)>,
    /// Paths mean what the master's machine has there: whether the output is the same here is not looked at
    #[arg(long)]
    pub(crate) remote_paths: bool,
    /// Number of reduces; 0 makes the maps' output the job's output
    #[arg(long, short, value_name = "N")]
    pub(crate) reduces: Option<u32>,
    /// Queue or pool
    #[arg(long, short, value_name = "NAME")]
    pub(crate) queue: Option<String>,
    /// VERY_HIGH, HIGH, NORMAL, LOW or VERY_LOW
    #[arg(long, short, value_name = "P")]
    pub(crate) priority: Option<howdah_core::job::Priority>,
    /// When it should be done, counted from now: 90s, 15m, 2h
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) deadline: Option<Duration>,
    /// With --deadline: forecast first whether it can be met and who would be later by it. check submits only if it
    /// can, force submits anyway, off asks nothing
    #[arg(long, value_name = "RULE", value_enum, default_value_t = Admit::Off, requires = "deadline", conflicts_with = "batch")]
    pub(crate) admit: Admit,
    /// Trace of an earlier run, and the job in it, whose task times policies such as minedf plan with; without JOB the
    /// last one of the job's name
    #[arg(long, value_name = "TRACE[:JOB]")]
    pub(crate) profile: Option<String>,
    /// What a worker's attribute must be: gpu, rack=r2, 'ram>=8', zone!=b; may be repeated
    #[arg(long, value_name = "ATTR[>=VALUE]")]
    pub(crate) requires: Vec<Requirement>,
    /// Name of the job, for people
    #[arg(long, short, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Map command line of a streaming job
    #[arg(long, value_name = "CMD")]
    pub(crate) mapper: Option<String>,
    /// Reduce command line of a streaming job
    #[arg(long, value_name = "CMD")]
    pub(crate) reducer: Option<String>,
    /// Combine command line of a streaming job
    #[arg(long, value_name = "CMD")]
    pub(crate) combiner: Option<String>,
    /// Wait for the end: progress, then counters; exit code 1 if the job fails
    #[arg(long, short)]
    pub(crate) wait: bool,
    /// Submit the jobs of a file instead, in a planned order: TOML, a `[[job]]` each, or a JSON object per line, with
    /// app, args, name, input, output, reduces, properties, queue, priority, deadline, requires; trace (an earlier run)
    /// and profile (its job, unless of the same name) tell what a job takes
    #[arg(long, value_name = "FILE", conflicts_with_all = ["app", "input", "reduces", "name", "profile", "mapper", "reducer", "combiner"])]
    pub(crate) batch: Option<PathBuf>,
    /// Order of the batch: balanced-pools, johnson, reverse-johnson, shortest-first, longest-first, or asis [default:
    /// balanced-pools]
    #[arg(long, value_name = "ORDER", value_enum, hide_possible_values = true)]
    pub(crate) order: Option<BatchOrder>,
    /// Refused: jobs come when they are submitted
    #[arg(long, value_name = "RULE", hide = true)]
    pub(crate) arrivals: Option<String>,
    #[command(flatten)]
    pub(crate) pools: PoolArgs,
    /// Show the plan of the batch, and submit nothing
    #[arg(long, conflicts_with = "wait")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

/// `--admit`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Admit {
    /// Only if the deadline can be met.
    Check,
    /// Says whether it can, and submits anyway.
    Force,
    /// Asks nothing.
    #[default]
    Off,
}

/// `--order`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BatchOrder {
    /// What the optimiser finds.
    Planned(MethodChoice),
    /// The file's.
    Asis,
}

impl Default for BatchOrder {
    fn default() -> BatchOrder {
        BatchOrder::Planned(MethodChoice::BalancedPools)
    }
}

impl ValueEnum for BatchOrder {
    fn value_variants<'a>() -> &'a [BatchOrder] {
        &[
            BatchOrder::Planned(MethodChoice::BalancedPools),
            BatchOrder::Planned(MethodChoice::Johnson),
            BatchOrder::Planned(MethodChoice::ReverseJohnson),
            BatchOrder::Planned(MethodChoice::ShortestFirst),
            BatchOrder::Planned(MethodChoice::LongestFirst),
            BatchOrder::Asis,
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            BatchOrder::Planned(method) => method.to_possible_value(),
            BatchOrder::Asis => Some(PossibleValue::new("asis")),
        }
    }
}

impl BatchOrder {
    /// As typed.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

impl SubmitArgs {
    /// Whether what was asked of the plan has a plan to be about, and one with pools where it is about these.
    ///
    /// # Errors
    /// Names the flag and what it is of no use with.
    pub(crate) fn check_plan(&self) -> Result<(), String> {
        if let Some(rule) = &self.arrivals {
            return Err(format!(
                "--arrivals: found {rule}, expected none: jobs come when they are submitted, and a batch that comes while \
                 another runs is planned together with what is left of that"
            ));
        }
        // Not clap's `requires`: it is waived where `app` is, as that conflicts with the batch.
        let of_batches = [("--order", self.order.is_some()), ("--dry-run", self.dry_run)];
        let about_plan = of_batches.into_iter().find_map(|(flag, given)| given.then_some(flag));
        if let (None, Some(flag)) = (&self.batch, about_plan.or(self.pools.given())) {
            return Err(format!("{flag}: found no --batch, expected one: it is about the plan of a batch"));
        }
        let Some(flag) = self.pools.given() else { return Ok(()) };
        let order = self.order.unwrap_or_default();
        if order == BatchOrder::default() {
            return Ok(());
        }
        let order = order.name();
        Err(format!("{flag}: found --order {order}, expected balanced-pools: all other orders have one pool"))
    }

    /// `--output` carries the job's directory and, as everywhere, the form of the answer.
    ///
    /// # Errors
    /// When it names two directories.
    pub(crate) fn outputs(&self) -> Result<(Option<PathBuf>, Option<Format>), String> {
        let (mut path, mut format) = (None, None);
        for value in &self.output {
            match value.as_str() {
                "json" => format = Some(Format::Json),
                "table" => format = Some(Format::Table),
                other => {
                    if let Some(first) = path.replace(PathBuf::from(other)) {
                        let first: PathBuf = first;
                        return Err(format!("--output names two directories, `{}` and `{other}`", first.display()));
                    }
                }
            }
        }
        Ok((path, format))
    }
}

/// Moves what belongs to the application behind a `--`: clap would refuse options that it does not know, or take
/// known ones for the application's once it has begun to take any. The order within each group stays.
pub(crate) fn separate_app_args(argv: Vec<OsString>) -> Vec<OsString> {
    let own = SubmitArgs::augment_args(crate::args::GlobalArgs::augment_args(clap::Command::new("submit")));
    let at = argv.iter().position(|word| word == "submit").unwrap_or(argv.len());
    // Only global flags and their values may stand before the command.
    let is_command = argv.iter().take(at).skip(1).all(|word| word.as_encoded_bytes().starts_with(b"--"))
        || at == 3 && argv[1].as_encoded_bytes().starts_with(b"--");
    if at >= argv.len() || !is_command {
        return argv;
    }
    let mut words = argv.into_iter();
    let mut ours: Vec<OsString> = words.by_ref().take(at + 1).collect();
    let mut theirs = Vec::new();
    while let Some(word) = words.next() {
        match known(&own, &word.to_string_lossy()) {
            Some(takes_value) => {
                ours.push(word);
                ours.extend(takes_value.then(|| words.next()).flatten());
            }
            None if word != "--" => theirs.push(word),
            None => {}
        }
    }
    if !theirs.is_empty() {
        ours.push("--".into());
        ours.append(&mut theirs);
    }
    ours
}

/// Whether `word` is one of our flags, and whether its value is the next word.
fn known(own: &clap::Command, word: &str) -> Option<bool> {
    if matches!(word, "-h" | "--help") {
        return Some(false);
    }
    let takes = |arg: &clap::Arg| arg.get_action().takes_values();
    if let Some(long) = word.strip_prefix("--").filter(|long| !long.is_empty()) {
        let (name, inline) = long.split_once('=').map_or((long, false), |(name, _)| (name, true));
        let arg = own.get_arguments().find(|arg| arg.get_long() == Some(name))?;
        return Some(takes(arg) && !inline);
    }
    let mut rest = word.strip_prefix('-')?.chars();
    let arg = own.get_arguments().find(|arg| arg.get_short().is_some() && arg.get_short() == word.chars().nth(1))?;
    rest.next();
    match rest.as_str() {
        "" => Some(takes(arg)),
        // -Dkey=value and -r4, but not sleep's -rt 50.
        value if value.contains('=') || value.chars().all(|c| c.is_ascii_digit()) => Some(false),
        _ => None,
    }
}

/// The flag of ours that a word which went to the application most likely meant: `--wiat`.
pub(crate) fn meant(word: &str) -> Option<String> {
    let typed = word.strip_prefix("--")?.split('=').next().filter(|typed| !typed.is_empty())?;
    let own = SubmitArgs::augment_args(crate::args::GlobalArgs::augment_args(clap::Command::new("submit")));
    let flags: Vec<&str> =
        own.get_arguments().filter(|flag| !flag.is_hide_set()).filter_map(clap::Arg::get_long).collect();
    let (slips, flag) = flags.into_iter().map(|flag| (strsim::osa_distance(typed, flag), flag)).min()?;
    (slips * 3 <= typed.len()).then(|| format!("--{flag}"))
}

/// The applications, as they describe themselves.
fn applications() -> String {
    let lines =
        howdah_apps::apps().map(|app| format!("  {:<17} {}\n  {:<17}   {}", app.name, app.about, "", app.usage));
    format!(
        "Applications, and options of their own:\n{}",
        lines.map(|l| l.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(line: &str) -> String {
        let words = separate_app_args(line.split(' ').map(OsString::from).collect());
        words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn an_applications_options_go_behind_a_double_dash() {
        assert_eq!(
            sorted("howdah submit sleep -m 3 --wait -rt 5 -r 2"),
            "howdah submit --wait -r 2 -- sleep -m 3 -rt 5"
        );
        assert_eq!(
            sorted("howdah submit grep -D a=b x* --output=o --seed=1"),
            "howdah submit -D a=b --output=o -- grep x* --seed=1"
        );
        assert_eq!(sorted("howdah --color never submit a -Dk=v"), "howdah --color never submit -Dk=v -- a");
    }

    #[test]
    fn a_misspelt_flag_of_ours_is_recognised_among_the_applications_words() {
        assert_eq!(meant("--wiat").as_deref(), Some("--wait"));
        assert_eq!(meant("--ouput=x").as_deref(), Some("--output"));
        assert_eq!((meant("--puzzles-per-map"), meant("wiat"), meant("--")), (None, None, None));
    }

    #[test]
    fn other_commands_are_left_alone() {
        assert_eq!(sorted("howdah job kill submit"), "howdah job kill submit");
        assert_eq!(sorted("howdah submit --help"), "howdah submit --help");
    }

    #[test]
    fn options_of_one_job_are_refused_beside_a_batch() {
        use clap::Parser;
        let line = |flag: &str| format!("howdah submit --batch b.toml {flag} x");
        for flag in ["--profile", "--input", "--name", "--mapper"] {
            let error = crate::commands::Cli::try_parse_from(line(flag).split(' ')).expect_err("the batch has its own");
            assert_eq!(error.kind(), clap::error::ErrorKind::ArgumentConflict, "{flag}");
        }
        assert!(crate::commands::Cli::try_parse_from(line("--queue").split(' ')).is_ok());
    }

    #[test]
    fn what_is_asked_of_a_plan_needs_one_with_pools() {
        use clap::Parser;
        let said = |line: &str| {
            let words = separate_app_args(format!("howdah submit {line}").split(' ').map(OsString::from).collect());
            match crate::commands::Cli::parse_from(words).command {
                crate::commands::Command::Submit(args) => args.check_plan(),
                _ => panic!("not a submit"),
            }
        };
        assert_eq!(said("--batch b.toml --pools 3 --sizes apart --small-by length --objective mean-delay"), Ok(()));
        assert_eq!(said("--batch b.toml --order longest-first"), Ok(()));
        for order in ["johnson", "longest-first", "asis"] {
            let expected = "expected balanced-pools: all other orders have one pool";
            let line = format!("--batch b.toml --order {order} --objective mean-delay");
            assert_eq!(said(&line), Err(format!("--objective: found --order {order}, {expected}")));
        }
        let refused = said("--batch b.toml --arrivals asis").expect_err("they come when they come");
        assert!(
            refused.starts_with("--arrivals: found asis, expected none: jobs come when they are submitted"),
            "{refused}"
        );
        for flag in ["--pools 3", "--dry-run", "--order johnson"] {
            let name = flag.split(' ').next().unwrap_or(flag);
            let expected = format!("{name}: found no --batch, expected one: it is about the plan of a batch");
            assert_eq!(said(&format!("sleep -m 1 {flag}")), Err(expected));
        }
    }

    #[test]
    fn output_names_a_directory_and_a_form_in_any_order() {
        use clap::Parser;
        let parse = |line: &str| match crate::commands::Cli::parse_from(separate_app_args(
            line.split(' ').map(OsString::from).collect(),
        ))
        .command
        {
            crate::commands::Command::Submit(args) => args.outputs(),
            _ => panic!("not a submit"),
        };
        assert_eq!(parse("howdah submit sort --output o --output json"), Ok((Some("o".into()), Some(Format::Json))));
        assert_eq!(parse("howdah submit sort --output json"), Ok((None, Some(Format::Json))));
        assert!(parse("howdah submit sort --output o --output p").is_err());
    }
}
