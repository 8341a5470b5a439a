//! `makespan`: what the order of a batch, and pools for it, do to its makespan (balanced-pools Fig. 10 to 13).
//!
//! Every workload of §4.1 on clusters of many sizes, one map and one reduce slot per machine, under the five strategies
//! of §4.2. The paper's text states effects, its figures show curves that no number can be cited from; what the text
//! leaves open (negative draws, whether maps and reduces of a job share their factor, the draw itself, the sizes) is
//! swept apart, in `readings`, and what it leaves open of the algorithms in `rules`; what any schedule could gain, and who
//! does, in `causes`.

mod causes;
mod figures;
mod open;
mod page;
mod readings;
mod rules;
mod sweep;
pub(crate) mod testbed;
mod why;

pub(super) use self::open::Open;

use anyhow::Result;

use crate::framework::{About, Experiment, Lab, Needs, Outcome, papers};
use sweep::Case;

/// The experiment.
pub(crate) struct Makespan;

/// Machines of the clusters, by the paper's figure.
pub(super) const SMALL: &[u16] = &[10, 20, 30, 40, 50, 75, 100, 150, 200];
const LARGE: &[u16] = &[25, 50, 100, 150, 200, 300, 400, 500, 1_000, 2_000];
/// Workload, figure, sizes.
const CASES: &[Case] = &[
    Case { workload: "synthetic1-unimodal", figure: "10 (a)", sizes: SMALL },
    Case { workload: "synthetic1-bimodal", figure: "10 (b)", sizes: SMALL },
    Case { workload: "synthetic1-bimodal-20", figure: "11 (a)", sizes: SMALL },
    Case { workload: "synthetic1-bimodal-10", figure: "11 (b)", sizes: SMALL },
    Case { workload: "synthetic1-unimodal-20", figure: "none", sizes: SMALL },
    Case { workload: "synthetic1-unimodal-10", figure: "none", sizes: SMALL },
    Case { workload: "synthetic2-bimodal", figure: "12 (a)", sizes: SMALL },
    Case { workload: "synthetic2-bimodal-20", figure: "12 (b)", sizes: SMALL },
    Case { workload: "synthetic2-bimodal-10", figure: "12 (c)", sizes: SMALL },
    Case { workload: "yahoo-m45-unimodal", figure: "13 (a)", sizes: LARGE },
    Case { workload: "yahoo-m45-bimodal", figure: "13 (b)", sizes: LARGE },
    Case { workload: "facebook-table1", figure: "13 (c)", sizes: LARGE },
];

impl Experiment for Makespan {
    fn about(&self) -> About {
        About {
            name: "makespan",
            line: "What Johnson's order and balanced pools do to the makespan of a batch",
            paper: papers::BALANCED_POOLS,
            figure: "Figures 10 to 13",
            needs: Needs::Simulation,
            estimate_s: [900, 30],
        }
    }

    fn takes_repeats(&self) -> bool {
        false
    }

    fn run(&self, lab: &Lab<'_>) -> Result<Outcome> {
        let mut curves = Vec::new();
        for case in CASES {
            curves.push(sweep::curve(lab, case)?);
        }
        let open = Open {
            readings: readings::run(lab)?,
            ties: readings::ties(lab)?,
            draws: readings::draws(lab)?,
            causes: causes::run(lab)?,
            rules: rules::run(lab)?,
        };
        let checks = page::checks(lab, &curves);
        let files = page::write(lab, &self.about(), &curves, &open, &checks)?;
        Ok(Outcome { files, checks })
    }
}
