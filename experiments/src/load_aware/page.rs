//! Page, tables and figures of the four experiments.

use std::path::PathBuf;

use anyhow::Result;

use super::checks::ENOUGH;
use super::compared::Compared;
use super::figures::Runs;
use super::found::Found;
use super::paired::Paired;
use super::rule::Rule;
use super::scenario::Section;
use super::signed::signed;
use super::simulated::{CURVE, WORKERS};
use super::{live, sweep};
use crate::framework::{About, Bars, Curve, Lab, Page, Plot, Series, Table};

/// Writes everything; the page comes first.
pub(super) fn write(lab: &Lab<'_>, about: &About, found: &Found) -> Result<Vec<PathBuf>> {
    let Found { section, simulated, sweeps, readings, measured, checks } = found;
    let section = *section;
    let mut page = Page::new(about, lab.quick);
    let n = simulated.first().and_then(|one| one.runs.first()).map_or(0, |(_, runs)| runs.0.len());
    page.heading("In replay, at the thesis's size");
    page.paragraph(&format!(
        "{WORKERS} workers of one map slot on eight hardware threads, maps of about a minute (lognormal, σ 0.1), \
         heartbeats of 3 s, {n} seeds; each seed gives the same maps to every rule. Loaded workers slow down by \
         `{CURVE}`: the thesis prints the exponent; below the cores it prints a slope of 17,700, read here as \
         milliseconds a task on a map of a minute (against the 500 s that one machine takes for all games, no task \
         would fall behind). Without speculation, Hadoop's rule and LATE (cap 2) stand under \
         FIFO, Load-Aware under fair order, as in the thesis, and once under FIFO. The lag of a minute goes with the \
         maps' time. Total time is the median; the range covers all seeds. The difference from Hadoop is taken seed by seed, \
         as its seed makes a run long or short under every rule: the middle one, the quartiles, and the seeds in which \
         the rule was faster."
    ));
    page.table(&table(simulated));
    let name = about.name;
    let mut files = Vec::new();
    let mut figures =
        vec![(format!("{name}-time.svg"), times(section, simulated, "in replay")?, "total time in replay")];
    figures.push((format!("{name}-attempts.svg"), attempts(section, simulated)?, "speculative attempts in replay"));
    if section == Section::Jobs {
        let idle = curves("Idle time of a worker", "seconds", section, simulated, |runs| runs.at(50.0, |f| f.idle_s));
        figures.push((format!("{name}-idle.svg"), idle.svg()?, "idle time in replay"));
    }
    for (file, _, alt) in &figures {
        page.image(file, alt);
    }
    page.heading("What there was to win");
    page.paragraph(
        "Medians over the same seeds. *Listed*: each task in order goes where it ends first, by somebody who knows all \
         times and all loads to come and whose ends nobody learns 3 s late. *Least*: what no schedule can beat, second \
         attempts or not, by counting whole tasks and all work. In brackets the middle difference from Hadoop, seed by \
         seed: the most that any rule could have won here lies between the last two.",
    );
    page.table(&bounds(simulated));
    if !sweeps.is_empty() {
        page.heading("How many maps a job has");
        page.paragraph(&about_maps());
        page.table(&sweep::table(sweeps));
        let file = format!("{name}-maps.svg");
        page.image(&file, "total time against Hadoop's over the number of maps");
        figures.push((file, sweep::figure(sweeps).svg()?, ""));
    }
    if !readings.is_empty() {
        page.heading("Other readings");
        page.paragraph(
            "What the thesis leaves open, each changed alone: total time against Hadoop's, the middle of the seeds' \
             differences, and speculative attempts a run. The thesis's text says 25 and 20 % for §4.1 and up to 15 % for §4.2, \
             without these choices.",
        );
        page.table(&others(readings));
    }
    page.heading("Live, on this machine");
    if let Err(why) = measured {
        page.paragraph(&format!("The live half is missing: {why}"));
    }
    if let Ok(measured) = measured {
        page.paragraph(&live::about());
        let compared: Vec<Compared> = live::compared(measured);
        page.table(&table(&compared));
        if let Some(text) = too_few(&compared) {
            page.paragraph(&text);
        }
        let svg = times(section, &compared, "live")?;
        page.image(&format!("{name}-live.svg"), "total time live");
        figures.push((format!("{name}-live.svg"), svg, "total time live"));
        files.push(lab.write(&format!("{name}-live.csv"), &csv(&compared).csv())?);
    }
    page.heading("The thesis's own numbers");
    page.paragraph("What its text states; the curves of its figures are not in the text and are not invented here.");
    let mut paper = Table::new(&["what", "the thesis"]);
    section.paper().iter().for_each(|(what, number)| paper.row([*what, *number]));
    page.table(&paper);
    page.checks(checks);
    let mut all = vec![lab.write(&format!("{name}.md"), page.text())?];
    all.push(lab.write(&format!("{name}.csv"), &csv(simulated).csv())?);
    all.append(&mut files);
    for (file, svg, _) in figures {
        all.push(lab.write(&file, &svg)?);
    }
    Ok(all)
}

fn table(compared: &[Compared]) -> Table {
    let mut table = Table::new(&[
        "",
        "rule",
        ">total",
        ">range",
        ">against Hadoop",
        ">quartiles",
        ">faster in",
        ">launched",
        ">won",
        ">lost",
        ">wasted",
        ">idle",
    ]);
    let s = |value: f64| format!("{value:.1} s");
    for one in compared {
        for (place, (rule, runs)) in one.runs.iter().enumerate() {
            let (least, most) = runs.range();
            let [middle, quartiles, won] = against_hadoop(one, *rule);
            table.row([
                if place == 0 { one.point.label.clone() } else { String::new() },
                rule.name().to_owned(),
                s(runs.total()),
                format!("{least:.1} to {most:.1}"),
                middle,
                quartiles,
                won,
                format!("{:.1}", runs.mean(|f| f.launched as f64)),
                format!("{:.1}", runs.mean(|f| f.won as f64)),
                format!("{:.1}", runs.mean(|f| f.lost() as f64)),
                s(runs.at(50.0, |f| f.wasted_s)),
                s(runs.at(50.0, |f| f.idle_s)),
            ]);
        }
    }
    table
}

/// The middle difference, its quartiles, and how often the rule was faster; empty for Hadoop's own.
fn against_hadoop(one: &Compared, rule: Rule) -> [String; 3] {
    let paired = one.paired(rule, Rule::Hadoop);
    if rule == Rule::Hadoop || paired.n() == 0 {
        return Default::default();
    }
    let (first, third) = paired.quartiles();
    let quartiles = format!("{} to {}", signed(first), signed(third));
    [signed(paired.median()), quartiles, format!("{} of {}", paired.won(), paired.n())]
}

/// Where several jobs ran and even Hadoop had hardly any speculative attempts to avoid.
fn too_few(compared: &[Compared]) -> Option<String> {
    let few = |one: &&Compared| one.point.has_several() && one.of(Rule::Hadoop).launched() < ENOUGH;
    let said = |one: &Compared| {
        let hadoop = one.of(Rule::Hadoop);
        format!("{} ({} in {} runs)", one.point.label, hadoop.launched(), hadoop.0.len())
    };
    let all: Vec<String> = compared.iter().filter(few).map(said).collect();
    let text = format!(
        "Hadoop launched fewer than {ENOUGH} speculative attempts here in {}: too few to show what Load-Aware avoids.",
        all.join(", ")
    );
    (!all.is_empty()).then_some(text)
}

/// How far from Hadoop's the shortest possible times are.
fn bounds(compared: &[Compared]) -> Table {
    let mut table = Table::new(&["", ">Hadoop", ">Load-Aware", ">listed", ">least"]);
    for one in compared {
        let hadoop = one.of(Rule::Hadoop);
        let cell = |runs: &Runs| format!("{:.1} s ({})", runs.total(), signed(Paired::new(runs, &hadoop).median()));
        table.row([
            one.point.label.clone(),
            format!("{:.1} s", hadoop.total()),
            cell(&one.of(Rule::LoadAware)),
            cell(&one.bound(|bounds| bounds.listed_s)),
            cell(&one.bound(|bounds| bounds.least_s)),
        ]);
    }
    table
}

/// Why the number of maps is swept.
fn about_maps() -> String {
    format!(
        "The thesis does not say how many maps its jobs of 9,000 games have. One for each worker, as above, goes with 500 s \
         on one machine and 60 s a map, and leaves little to win. Total time goes by waves: slots that speculative attempts hold \
         cost nothing while they would have been idle, and a whole wave once they push a job's last maps into it. So the \
         same two jobs with {WORKERS} to {} maps each, and a clear win, against Hadoop's rule, LATE and no speculation alike, is \
         asked of all of them together, seed by seed. The thesis's 25 and 20 % are one wave less of four and of five.",
        2 * WORKERS
    )
}

fn others(readings: &[(&'static str, Vec<Compared>)]) -> Table {
    let mut table =
        Table::new(&["reading", "", ">none", ">LATE", ">Load-Aware", ">attempts, Hadoop", ">attempts, Load-Aware"]);
    for (name, points) in readings {
        for one in points {
            let hadoop = one.of(Rule::Hadoop);
            let against = |rule| signed(one.paired(rule, Rule::Hadoop).median());
            let launched = |runs: &Runs| format!("{:.1}", runs.mean(|f| f.launched as f64));
            table.row([
                (*name).to_owned(),
                one.point.label.clone(),
                against(Rule::None),
                against(Rule::Late),
                against(Rule::LoadAware),
                launched(&hadoop),
                launched(&one.of(Rule::LoadAware)),
            ]);
        }
    }
    table
}

fn csv(compared: &[Compared]) -> Table {
    let mut table = Table::new(&["point", "rule", "run", "total_s", "launched", "won", "wasted_s", "idle_s"]);
    for one in compared {
        for (rule, runs) in &one.runs {
            for (n, f) in runs.0.iter().enumerate() {
                table.row([
                    one.point.label.clone(),
                    rule.name().to_owned(),
                    (n + 1).to_string(),
                    format!("{:.3}", f.total_s),
                    f.launched.to_string(),
                    f.won.to_string(),
                    format!("{:.3}", f.wasted_s),
                    format!("{:.3}", f.idle_s),
                ]);
            }
        }
    }
    table
}

/// Total times, as bars with their ranges or as curves over what varies.
fn times(section: Section, compared: &[Compared], how: &str) -> Result<String> {
    let title = format!("Total time {how}");
    match section.axis() {
        Some(_) => curves(&title, "seconds", section, compared, Runs::total).svg(),
        None => Bars {
            title,
            y_label: "seconds".to_owned(),
            groups: compared.iter().map(|one| one.point.label.clone()).collect(),
            series: rules(compared)
                .map(|rule| {
                    let ranges = compared.iter().map(|one| one.of(rule).range()).collect();
                    let values = compared.iter().map(|one| one.of(rule).total()).collect();
                    Series { ranges, ..Series::new(rule.name(), values) }
                })
                .collect(),
        }
        .svg(),
    }
}

/// Speculative attempts of a run, on average.
fn attempts(section: Section, compared: &[Compared]) -> Result<String> {
    let launched = |runs: &Runs| runs.mean(|f| f.launched as f64);
    match section.axis() {
        Some(_) => curves("Speculative attempts in replay", "attempts a run", section, compared, launched).svg(),
        None => Bars {
            title: "Speculative attempts in replay".to_owned(),
            y_label: "attempts a run".to_owned(),
            groups: compared.iter().map(|one| one.point.label.clone()).collect(),
            series: rules(compared)
                .map(|rule| Series::new(rule.name(), compared.iter().map(|one| launched(&one.of(rule))).collect()))
                .collect(),
        }
        .svg(),
    }
}

fn curves(title: &str, unit: &str, section: Section, compared: &[Compared], of: impl Fn(&Runs) -> f64) -> Plot {
    let x = |one: &Compared| one.point.label.parse::<f64>().unwrap_or(0.0);
    Plot {
        title: title.to_owned(),
        x_label: section.axis().unwrap_or_default().to_owned(),
        y_label: unit.to_owned(),
        x_log: false,
        y_log: false,
        curves: rules(compared)
            .map(|rule| Curve {
                name: rule.name().to_owned(),
                points: compared.iter().map(|one| (x(one), of(&one.of(rule)))).collect(),
                joined: true,
            })
            .collect(),
        across: Vec::new(),
    }
}

/// The rules that ran.
fn rules(compared: &[Compared]) -> impl Iterator<Item = Rule> {
    let ran = |rule: &Rule| compared.iter().any(|one| !one.of(*rule).0.is_empty());
    Rule::ALL.into_iter().filter(ran)
}

#[cfg(test)]
mod tests {
    use super::super::bound::Bounds;
    use super::super::figures::Figures;
    use super::super::live::Measured;
    use super::*;

    #[test]
    fn a_live_scenario_with_hardly_any_speculative_attempts_is_named() {
        let point = Section::Unnecessary.points().remove(0);
        let measured = |launched| Measured {
            point: point.clone(),
            rule: Rule::Hadoop,
            figures: Figures { launched, ..Figures::default() },
            decisions: (1, 1),
        };
        let text = too_few(&live::compared(&[measured(4), measured(5)])).expect("nine are too few");
        assert!(text.contains("one worker loaded (9 in 2 runs)"), "{text}");
        assert_eq!(too_few(&live::compared(&[measured(4), measured(6)])), None);
    }

    #[test]
    fn a_rule_stands_beside_hadoops_seed_by_seed() {
        let point = Section::Unnecessary.points().remove(0);
        let run = |total_s| Figures { total_s, ..Figures::default() };
        let one = Compared {
            point,
            runs: vec![
                (Rule::Hadoop, Runs(vec![run(100.0), run(200.0), run(300.0)])),
                (Rule::LoadAware, Runs(vec![run(90.0), run(190.0), run(303.0)])),
            ],
            bounds: vec![Bounds { least_s: 80.0, listed_s: 90.0 }; 3],
        };
        let table = table(std::slice::from_ref(&one)).markdown();
        assert!(table.contains("| -5.0 % | -7.5 % to -2.0 % | 2 of 3 |"), "{table}");
        assert!(bounds(&[one]).markdown().contains("| 90.0 s (-55.0 %) | 80.0 s (-60.0 %) |"));
    }
}
