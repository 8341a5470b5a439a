//! What the workers see: their machines, each other, the shared folders.

use howdah_proto::v1::Sight;

use super::checks::{Check, LIMITS};

/// A row for each worker's machine and share, and one for the others that it reaches; one for each that it does not.
pub(super) fn checks(sights: &[Sight], checks: &mut Vec<Check>) {
    let mut workers: Vec<&str> = Vec::new();
    for sight in sights {
        // Those of further folders come after those of all workers.
        if !workers.contains(&&*sight.worker) {
            workers.push(&sight.worker);
        }
    }
    for of in workers {
        let its = || sights.iter().filter(|sight| sight.worker == of);
        checks.extend(its().filter(|sight| sight.what == "machine").map(machine));
        let others: Vec<&Sight> = its().filter(|sight| sight.what == "worker").collect();
        let bad: Vec<&&Sight> = others.iter().filter(|sight| !sight.problem.is_empty()).collect();
        if bad.len() < others.len() {
            let found = format!("it gets to {} of {}", others.len() - bad.len(), others.len());
            checks.push(Check::good(of, "other workers", found));
        }
        checks.extend(bad.into_iter().map(|sight| other(sight)));
        checks.extend(its().filter(|sight| sight.what == "share").map(share));
    }
}

fn machine(sight: &Sight) -> Check {
    if sight.problem.is_empty() {
        return Check::good(&sight.worker, "limits", sight.found.clone());
    }
    Check::bad(&sight.worker, "limits", sight.problem.clone(), LIMITS.to_owned())
}

fn other(sight: &Sight) -> Check {
    let problem = format!("it does not get to {}: {}", sight.at, sight.problem);
    let help = format!(
        "open the HTTP port of {} for {}, or reduces on one cannot fetch from the other",
        sight.at, sight.worker
    );
    Check::bad(&sight.worker, "other workers", problem, help)
}

fn share(sight: &Sight) -> Check {
    if sight.problem.is_empty() {
        return Check::good(&sight.worker, "share", format!("{}: {}", sight.at, sight.found));
    }
    let help = format!("mount {} there as here, writable for the worker's user", sight.at);
    Check::bad(&sight.worker, "share", format!("{}: {}", sight.at, sight.problem), help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_that_does_not_meet_is_a_row_and_the_others_are_one() {
        let sight = |worker: &str, what: &str, at: &str, problem: &str| Sight {
            worker: worker.to_owned(),
            what: what.to_owned(),
            at: at.to_owned(),
            found: "fine".to_owned(),
            problem: problem.to_owned(),
            user: None,
        };
        let sights = [
            sight("lab1", "machine", "", ""),
            sight("lab1", "worker", "lab2", "no answer within 3 s"),
            sight("lab1", "worker", "lab3", ""),
            sight("lab1", "share", "/share", "`/share/p` is not seen: No such file"),
            sight("lab2", "machine", "", "it may open 256 files, expected 1024 at least"),
            sight("lab2", "worker", "lab1", "no answer within 3 s"),
            sight("lab2", "share", "/share", ""),
            sight("lab1", "share", "/ninth", ""),
        ];
        let mut all = Vec::new();
        checks(&sights, &mut all);
        let rows: Vec<(&str, &str, Option<&str>)> =
            all.iter().map(|check| (&*check.of, check.what, check.problem.as_deref())).collect();
        assert_eq!(
            rows,
            [
                ("lab1", "limits", None),
                ("lab1", "other workers", None),
                ("lab1", "other workers", Some("it does not get to lab2: no answer within 3 s")),
                ("lab1", "share", Some("/share: `/share/p` is not seen: No such file")),
                ("lab1", "share", None),
                ("lab2", "limits", Some("it may open 256 files, expected 1024 at least")),
                ("lab2", "other workers", Some("it does not get to lab1: no answer within 3 s")),
                ("lab2", "share", None),
            ]
        );
        assert_eq!(all[1].found, "it gets to 1 of 2");
    }
}
