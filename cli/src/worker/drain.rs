//! `worker drain`: no more tasks for workers, or tasks again.

use howdah_proto::v1::{DrainWorkerRequest, ListWorkersRequest};

use super::args::DrainArgs;
use crate::client::Client;
use crate::config::Context;
use crate::failure::{Failure, Outcome};
use crate::output::Steering;
use crate::output::escape::cell;

/// `howdah worker drain`
pub(crate) async fn drain(context: &Context, args: &DrainArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let workers = if args.all || args.workers.iter().any(|name| is_pattern(name)) {
        let answer = client.rpc.list_workers(ListWorkersRequest { all: false }).await?.into_inner();
        let known: Vec<String> = answer.workers.into_iter().map(|worker| worker.name).collect();
        if args.all { known } else { named(&args.workers, &known)? }
    } else {
        args.workers.clone()
    };
    let (action, said) = match args.undo {
        true => ("undrain", "takes tasks again"),
        false => ("drain", "gets no more tasks; what it runs may end"),
    };
    let mut steering = Steering::new(&screen, config.output, action);
    for worker in workers {
        match client.rpc.drain_worker(DrainWorkerRequest { worker: worker.clone(), drain: !args.undo }).await {
            Ok(_) => steering.done(&worker, format!("{} {said}", cell(&worker)))?,
            Err(status) => steering.failed(status),
        }
    }
    steering.end("no worker to drain: none is registered")
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// Whether a set in a pattern looks like a range of numbers: `[8-12]` would be the characters from 8 to 1, and 2.
fn has_numbers(pattern: &str) -> bool {
    let two_digits = |set: &str| set.as_bytes().windows(2).any(|pair| pair.iter().all(u8::is_ascii_digit));
    pattern.split('[').skip(1).filter_map(|rest| rest.split(']').next()).any(two_digits)
}

/// Names as they are, and patterns as the workers that fit, each once.
fn named(words: &[String], known: &[String]) -> Outcome<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for word in words {
        if !is_pattern(word) {
            names.push(word.clone());
            continue;
        }
        let wrong = |error: glob::PatternError| Failure::usage(format!("worker pattern `{word}`: {error}"));
        let pattern = glob::Pattern::new(word).map_err(wrong)?;
        if has_numbers(word) {
            let problem = format!("worker pattern `{word}`: a set has single characters, expected such as `lab[1-9]`");
            return Err(Failure::usage(problem));
        }
        let before = names.len();
        names.extend(known.iter().filter(|name| pattern.matches(name)).cloned());
        if names.len() == before {
            return Err(Failure::usage(format!("worker pattern `{word}`: it matches no worker")));
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    Ok(names)
}

#[cfg(test)]
mod tests {
    #[test]
    fn workers_are_named_or_fit_patterns_and_ranges() {
        let known: Vec<String> = (1..=4).map(|n| format!("lab{n}")).collect();
        let named = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            super::named(&words, &known).map_err(|failure| failure.to_string())
        };
        assert_eq!(named(&["lab[2-3]", "lab2", "gone"]).unwrap(), ["lab2", "lab3", "gone"]);
        assert_eq!(named(&["*"]).unwrap().len(), 4);
        assert!(named(&["x*"]).unwrap_err().contains("it matches no worker"));
        assert!(named(&["lab[1-12]"]).unwrap_err().contains("single characters"));
        assert!(named(&["lab[2"]).unwrap_err().contains("worker pattern `lab[2`"));
    }
}
