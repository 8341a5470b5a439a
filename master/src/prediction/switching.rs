//! The scheduler chosen by forecast: each candidate is simulated in every round, and the best takes over by the chosen
//! rule, on the path that `howdah scheduler set` takes, journal included.
//!
//! Each switch is kept with the two figures that justified it, and scored once the jobs it was made for are over. Whoever
//! puts a policy in charge that is no candidate ends the choosing until a candidate is in charge again. Source: Wang et
//! al., ICPADS 2013, §IV-B.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, bail};
use howdah_core::job::{JobId, JobState};
use howdah_core::time::Time;
use howdah_core::tracker::SchedulerChoice;
use howdah_planning::prediction::{Changes, Forecast, ForecastOptions, Measure, Switch, Switcher};
use howdah_proto::v1;

use crate::config::MasterConfig;
use crate::engine::CoreHandle;
use crate::reload::{InForce, SetError};
use crate::tables::Tables;
use crate::{policies, reload};

/// Switches that are kept; the log has all.
const KEPT: usize = 100;

/// A switch, and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Switched {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) measure: Measure,
    pub(crate) switch: Switch,
    /// The figure that its jobs had in the end, once all are over.
    pub(crate) came: Option<f64>,
    /// As it was forecast for the policy that took over.
    forecast: Forecast,
    /// Of its jobs that are over.
    ended: BTreeMap<JobId, Time>,
}

/// All that are kept, oldest first.
pub(crate) type Switches = Arc<Mutex<VecDeque<Switched>>>;

/// The configured candidates with their parameters.
///
/// # Errors
/// When one cannot be in charge or is alone, or the rule makes no sense.
pub(crate) fn candidates(config: &MasterConfig) -> anyhow::Result<Vec<SchedulerChoice>> {
    let wanted = &config.prediction.switch;
    if wanted.candidates.is_empty() {
        return Ok(Vec::new());
    }
    if wanted.candidates.len() < 2 {
        bail!("[master] prediction.switch.candidates: one scheduler, expected at least two to choose from");
    }
    if config.prediction.every_ms == 0 {
        bail!("[master] prediction.switch.candidates: nothing is forecast with every_ms = 0, expected e.g. 20000");
    }
    let margin = wanted.margin;
    if !(margin > 0.0 && margin < 1.0) {
        bail!("[master] prediction.switch.margin: {margin} is no gain, expected a share between 0 and 1, e.g. 0.05");
    }
    let choice = |name: &String| {
        if name == policies::EXTERNAL {
            bail!(
                "[master] prediction.switch.candidates: `external` decides from the start of a master on or not at all"
            );
        }
        // Its parameters are the configured ones; the others have their defaults.
        let given = if *name == config.scheduler { config.scheduler_params.clone() } else { BTreeMap::new() };
        let params = policies::with_files(name, &given).context("[master] prediction.switch.candidates")?;
        policies::make(name, &params).context("[master] prediction.switch.candidates")?;
        Ok(SchedulerChoice { name: name.clone(), params })
    };
    wanted.candidates.iter().map(choice).collect()
}

/// Chooses.
#[derive(Debug)]
pub(crate) struct Switching {
    candidates: Vec<SchedulerChoice>,
    measure: Measure,
    switcher: Switcher,
    in_force: InForce,
    switches: Switches,
}

impl Switching {
    /// Among these; `None` without any.
    pub(crate) fn new(
        config: &MasterConfig,
        candidates: Vec<SchedulerChoice>,
        in_force: InForce,
        switches: Switches,
    ) -> Option<Switching> {
        let wanted = &config.prediction.switch;
        let switcher = Switcher::new(&wanted.options());
        let switching = Switching { candidates, measure: wanted.measure, switcher, in_force, switches };
        (!switching.candidates.is_empty()).then_some(switching)
    }

    /// The place of the policy in charge; `None` if it is no candidate.
    fn present(&self) -> Option<usize> {
        let name = self.in_force.get().name;
        self.candidates.iter().position(|candidate| candidate.name == name)
    }

    /// What to forecast beside the present course: nothing but ends, of every other candidate.
    pub(crate) fn others(&self, options: &ForecastOptions) -> Vec<(Changes, ForecastOptions)> {
        let Some(present) = self.present() else { return Vec::new() };
        let options = ForecastOptions { draws: 0, starts: 0, ..*options };
        let others = self.candidates.iter().zip(0..).filter(|&(_, index)| index != present);
        others.map(|(choice, _)| (Changes { scheduler: Some(choice.clone()), ..Changes::default() }, options)).collect()
    }

    /// Whether forecasts are to tell how long jobs would take alone.
    pub(crate) fn compares_slowdowns(&self) -> bool {
        self.measure == Measure::SlowdownVariability
    }

    /// Looks at a round's forecasts, in the order of [`Switching::others`], and switches if the rule says so.
    pub(crate) async fn consider(&mut self, core: &CoreHandle, stay: &Forecast, others: Vec<Forecast>) {
        let Some(present) = self.present().filter(|_| others.len() + 1 == self.candidates.len()) else { return };
        let mut forecasts = others;
        forecasts.insert(present, stay.clone());
        let Some(switch) = self.switcher.consider(present, &forecasts) else { return };
        let (from, to) = (&self.candidates[present], self.candidates[switch.to].clone());
        let switched = Switched {
            from: from.name.clone(),
            to: to.name.clone(),
            measure: self.measure,
            forecast: forecasts.swap_remove(switch.to),
            switch,
            came: None,
            ended: BTreeMap::new(),
        };
        let note = switched.sentence();
        match reload::set(core, to, &self.in_force).await {
            Ok(()) => {
                tracing::info!("{note}");
                let at = switched.switch.at;
                let _ = core.change(move |tables| tables.noted(vec![note], at)).await;
                let mut switches = self.switches.lock().unwrap_or_else(PoisonError::into_inner);
                if switches.len() >= KEPT {
                    switches.pop_front();
                }
                switches.push_back(switched);
            }
            Err(SetError::Core(_)) => {}
            Err(error) => {
                tracing::warn!(error = %error, scheduler = switched.to, "the best candidate cannot take over")
            }
        }
    }

    /// Scores the switches whose jobs are over by now.
    pub(crate) async fn score(&self, core: &CoreHandle) {
        let waiting: Vec<JobId> = {
            let switches = self.switches.lock().unwrap_or_else(PoisonError::into_inner);
            switches.iter().filter(|switched| switched.came.is_none()).flat_map(Switched::waits_for).collect()
        };
        if waiting.is_empty() {
            return;
        }
        let Ok(ends) = core.change(move |tables| ends_of(tables, &waiting)).await else { return };
        let mut switches = self.switches.lock().unwrap_or_else(PoisonError::into_inner);
        for switched in switches.iter_mut().filter(|switched| switched.came.is_none()) {
            switched.note(&ends);
            if let Some(came) = switched.came {
                let Switch { staying, switching, .. } = switched.switch;
                let (from, to, measure) = (&switched.from, &switched.to, switched.measure);
                tracing::info!(
                    "{measure} after {to} took over from {from}: {came:.1} came, {switching:.1} was forecast, \
                     {staying:.1} without"
                );
            }
        }
    }
}

/// When those of the jobs that are over ended. One that nobody knows any more is left out of its score.
fn ends_of(tables: &Tables, jobs: &[JobId]) -> BTreeMap<JobId, Option<Time>> {
    let ms = |ms: u64| (ms > 0).then(|| Time::from_ms(ms));
    let end = |&job: &JobId| match tables.status(job) {
        Some(status) if status.finish_ms_epoch == 0 => None,
        Some(status) if status.state == JobState::Killed.name() => Some((job, None)),
        Some(status) => Some((job, ms(status.finish_ms_epoch))),
        None => Some((job, None)),
    };
    jobs.iter().filter_map(end).collect()
}

impl Switched {
    /// As it is sent.
    pub(crate) fn message(&self) -> v1::SchedulerSwitch {
        let Switch { at, staying, switching, .. } = self.switch;
        v1::SchedulerSwitch {
            at_ms_epoch: at.as_ms(),
            from: self.from.clone(),
            to: self.to.clone(),
            measure: self.measure.name().to_owned(),
            staying,
            switching,
            came: self.came,
        }
    }

    /// For the log and for pages.
    fn sentence(&self) -> String {
        let Switch { staying, switching, .. } = self.switch;
        let n = self.forecast.jobs.len();
        format!(
            "scheduler `{}` takes over from `{}`: its forecast has a {} of {switching:.1} instead of {staying:.1} over the \
             {n} jobs that are not over",
            self.to, self.from, self.measure
        )
    }

    /// Jobs that it was made for and that are not over.
    fn waits_for(&self) -> Vec<JobId> {
        self.forecast.jobs.iter().map(|job| job.job).filter(|job| !self.ended.contains_key(job)).collect()
    }

    /// Takes the ends of its jobs; with the last of them it has its score.
    fn note(&mut self, ends: &BTreeMap<JobId, Option<Time>>) {
        for job in self.waits_for() {
            match ends.get(&job) {
                Some(Some(end)) => drop(self.ended.insert(job, *end)),
                // What was killed, or is forgotten, tells nothing.
                Some(None) => self.forecast.jobs.retain(|forecast| forecast.job != job),
                None => {}
            }
        }
        if !self.waits_for().is_empty() {
            return;
        }
        let mut came = self.forecast.clone();
        for job in &mut came.jobs {
            job.finish = self.ended.get(&job.job).copied();
        }
        self.came = Some(self.measure.of(&came));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use howdah_core::time::Span;
    use howdah_planning::prediction::JobForecast;

    fn job(number: u32, finish_ms: u64) -> JobForecast {
        JobForecast {
            job: JobId(number),
            name: String::new(),
            submitted: Time::ZERO,
            deadline: None,
            alone: None,
            start: None,
            finish: Some(Time::from_ms(finish_ms)),
            low: None,
            high: None,
            drawn: None,
            ends: Vec::new(),
            in_time: None,
            seen: true,
            sized: true,
            hypothetical: false,
        }
    }

    fn switched(jobs: Vec<JobForecast>) -> Switched {
        let until = Time::ZERO + Span::from_secs(3_600);
        let forecast = Forecast {
            at: Time::ZERO,
            until,
            scheduler: String::new(),
            jobs,
            starts: Vec::new(),
            events: 0,
            running: Vec::new(),
        };
        Switched {
            from: "fifo".to_owned(),
            to: "shortest".to_owned(),
            measure: Measure::MeanCompletion,
            switch: Switch { at: Time::ZERO, from: 0, to: 1, staying: 30.0, switching: 15.0 },
            came: None,
            forecast,
            ended: BTreeMap::new(),
        }
    }

    #[test]
    fn a_switch_is_scored_when_the_last_of_its_jobs_is_over_and_by_those_that_came_to_an_end() {
        let mut switched = switched(vec![job(1, 10_000), job(2, 20_000), job(3, 15_000)]);
        let end = |ms| Some(Time::from_ms(ms));
        switched.note(&[(JobId(1), end(12_000))].into());
        assert_eq!((switched.came, switched.waits_for()), (None, vec![JobId(2), JobId(3)]));
        switched.note(&[(JobId(3), None)].into());
        switched.note(&[(JobId(2), end(24_000))].into());
        assert_eq!(switched.came, Some(18.0));
    }

    #[test]
    fn candidates_are_checked_before_a_master_starts() {
        let refused = |wanted: &[&str], margin: f64, every_ms: u64| {
            let mut config = MasterConfig::default();
            config.prediction.every_ms = every_ms;
            config.prediction.switch.candidates = wanted.iter().map(|&name| name.to_owned()).collect();
            config.prediction.switch.margin = margin;
            candidates(&config).map(|made| made.len()).map_err(|error| format!("{error:#}"))
        };
        assert_eq!(refused(&[], 0.05, 0), Ok(0));
        assert_eq!(refused(&["fifo", "shortest"], 0.05, 1_000), Ok(2));
        for (wanted, margin, every_ms, said) in [
            (&["fifo"][..], 0.05, 1_000, "at least two"),
            (&["fifo", "fair"][..], 0.0, 1_000, "a share between 0 and 1"),
            (&["fifo", "fair"][..], f64::NAN, 1_000, "a share between 0 and 1"),
            (&["fifo", "fair"][..], 0.05, 0, "every_ms = 0"),
            (&["fifo", "external"][..], 0.05, 1_000, "from the start of a master"),
            (&["fifo", "fare"][..], 0.05, 1_000, "scheduler `fare`: no such scheduler"),
        ] {
            let error = refused(wanted, margin, every_ms).expect_err(said);
            assert!(error.contains(said), "{error}");
        }
    }
}
