//! Two more things that the paper leaves open: its own draw of the workload, and how much work its jobs are.
//!
//! Both are asked for the one effect that does not come out in size, FBQ's halving of FIFO's variability at a load of 0.9.
//! *Draws*: order, arrivals and shapes drawn again and again. *Wider*: more tasks in each job, so that FIFO's figures are
//! the paper's. Beside FBQ stands the job with the fewest tasks left first, which knows what FBQ has to find out.

use anyhow::Result;
use howdah_core::models::moments::sorted;
use howdah_core::time::Span;
use howdah_planning::tune::{Figures, Objective, Played, best_of};

use super::bench::{Bench, MAIN, Reading, Shape};
use super::policy::Policy;
use super::runs::{LOADS, mean, play_each};
use super::sweep::two_queues;
use crate::framework::{Lab, Table};

/// Limits among which FBQ has its best, in seconds, and those for wider jobs.
const LIMITS_S: [u64; 3] = [12_000, 18_000, 24_000];
const WIDER_LIMITS_S: [u64; 4] = [12_000, 24_000, 48_000, 96_000];

/// Figures under FIFO, FBQ with its best limit, and the fewest tasks left first.
#[derive(Clone, Copy, Debug)]
struct Three {
    fifo: Figures,
    fbq: Figures,
    fewest: Figures,
}

pub(super) struct Further {
    /// One per draw at a load of 0.9.
    draws: Vec<Three>,
    /// At each load: the three, and COMP.
    wider: Vec<(u32, Three, Figures)>,
    /// Of the wider workload: its work on the scarcest slots, and its jobs alone.
    hours: [f64; 2],
}

pub(super) fn run(lab: &Lab<'_>, repeats: usize, jobs: Option<usize>) -> Result<Further> {
    let draws = lab.size(12, 2);
    let bench = Bench::new(lab.seed, draws, jobs, MAIN)?;
    let (policies, groups) = policies(&LIMITS_S);
    let runs: Vec<(Policy, u32)> = policies.iter().map(|policy| (policy.clone(), LOADS[1])).collect();
    let played = play_each(lab, &bench, "further readings: draws", &runs)?;
    let draws = (0..draws).map(|draw| groups.three(|at| one(&played[at], draw))).collect();

    let bench = Bench::new(lab.seed, repeats, jobs, Reading { shape: Shape::Wider, ..MAIN })?;
    let (mut policies, groups) = self::policies(&WIDER_LIMITS_S);
    let comp = policies.len();
    policies.push(Policy::new("comp", &[]).with("fit", "history"));
    let mut wider = Vec::new();
    for load in LOADS {
        let runs: Vec<(Policy, u32)> = policies.iter().map(|policy| (policy.clone(), load)).collect();
        let played = play_each(lab, &bench, "further readings: wider jobs", &runs)?;
        wider.push((load, groups.three(|at| mean(&played[at])), mean(&played[comp])));
    }
    let hours = bench.sets.first().map_or([0.0; 2], |set| set.hours());
    Ok(Further { draws, wider, hours })
}

/// Where the policies of a [`Three`] stand in a list: FIFO first, the fewest left second, then FBQ's limits.
struct Groups {
    limits: usize,
}

fn policies(limits_s: &[u64]) -> (Vec<Policy>, Groups) {
    let mut policies = vec![Policy::new("fifo", &[]), Policy::new("shortest", &[])];
    policies.extend(limits_s.iter().map(|&limit| two_queues("fbq", 0, Span::from_secs(limit))));
    (policies, Groups { limits: limits_s.len() })
}

impl Groups {
    fn three(&self, figures: impl Fn(usize) -> Figures) -> Three {
        let (fifo, fewest) = (figures(0), figures(1));
        let fbq: Vec<Figures> = (2..2 + self.limits).map(&figures).collect();
        let best = best_of(&fbq, &fifo, Objective::Variability).map_or(fifo, |place| fbq[place]);
        Three { fifo, fbq: best, fewest }
    }
}

fn one(repeats: &[Played], draw: usize) -> Figures {
    repeats.get(draw).map(Played::figures).unwrap_or_default()
}

impl Three {
    fn share(&self, of: &Figures) -> f64 {
        of.variability / self.fifo.variability
    }
}

impl Further {
    /// What it says, in words.
    pub(super) fn text(&self) -> String {
        let range = |of: &dyn Fn(&Three) -> f64| {
            let all = sorted(self.draws.iter().map(of));
            let at = |n: usize| all.get(n).copied().unwrap_or(f64::NAN);
            format!("{:.2} to {:.2}, median {:.2}", at(0), at(all.len().saturating_sub(1)), at(all.len() / 2))
        };
        let half = |of: &dyn Fn(&Three) -> f64| self.draws.iter().filter(|three| of(three) <= 0.5).count();
        let (fbq, fewest) = (|three: &Three| three.share(&three.fbq), |three: &Three| three.share(&three.fewest));
        let drawn = format!(
            "*Draws*: of {} draws of the workload at a load of 0.9, FBQ with the best of three limits has {} of FIFO's \
             variability, and at most half of it in {}; the job with the fewest tasks left first, which knows all, has {}, \
             and at most half in {}. ",
            self.draws.len(),
            range(&fbq),
            half(&fbq),
            range(&fewest),
            half(&fewest),
        );
        let [(_, low, _), (_, high, comp)] = &self.wider[..] else { return drawn };
        let wider = format!(
            "*Work*: the paper does not state the size of its jobs. With 3.5 times the tasks in each ({:.0} h of work on \
             the scarcest slots; {:.0} h for all jobs alone one after the other, the text has about 60), FIFO at a load of \
             0.7 has a median of {:.1} and a 95th percentile of {:.1} (the text: 2.8 and 23.8), and COMP at 0.9 a 95th \
             percentile of {:.1} (the text: above 60); FBQ at 0.9 then has {:.2} of FIFO's variability.",
            self.hours[0],
            self.hours[1],
            low.fifo.median,
            low.fifo.p95,
            comp.p95,
            high.share(&high.fbq),
        );
        drawn + &wider
    }

    /// The wider workload, a row for each policy and load.
    pub(super) fn table(&self) -> Table {
        let mut table =
            Table::new(&[">load", "policy", ">median", ">95th percentile", ">variability", ">of FIFO's", "paper"]);
        for (load, three, comp) in &self.wider {
            let rows = [
                ("FIFO", &three.fifo),
                ("FBQ", &three.fbq),
                ("fewest tasks left first", &three.fewest),
                ("COMP", comp),
            ];
            for (policy, figures) in rows {
                table.row([
                    format!("{:.1}", f64::from(*load) / 1_000.0),
                    policy.to_owned(),
                    format!("{:.2}", figures.median),
                    format!("{:.2}", figures.p95),
                    format!("{:.2}", figures.variability),
                    format!("{:.2}", three.share(figures)),
                    stated(*load, policy).to_owned(),
                ]);
            }
        }
        table
    }
}

fn stated(load_milli: u32, policy: &str) -> &'static str {
    match (load_milli == LOADS[0], policy) {
        (true, "FIFO") => "2.8, 23.8, 8.5",
        (_, "FBQ") => "half of FIFO's variability",
        (false, "COMP") => "95th percentile above 60",
        _ => "figure only",
    }
}
