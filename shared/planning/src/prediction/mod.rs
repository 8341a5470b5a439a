//! Online prediction: when jobs will end, from a fork of a cluster's present state.
//!
//! Two parts, as in the paper. The *Task Predictor* ([`TaskPredictor`]) learns from finished tasks how long tasks of a class
//! take, by the size of their input. The *Job Simulator* ([`forecast`]) forks the JobTracker, puts the predicted times in
//! and lets the same scheduler run ahead in virtual time. Everything here is a function of its arguments: equal state and
//! history give equal forecasts. Source: Wang, Khasymski, Krish K. R. and Butt, ICPADS 2013, §II.

mod calibration;
mod changes;
mod class;
mod course;
mod end_score;
mod fallback;
mod forecast;
mod history;
mod input;
mod learner;
mod listed;
mod looks;
mod model_name;
mod models;
mod place;
mod predicted;
mod predictor;
mod progress;
mod reach;
mod running_score;
mod score;
mod silence;
mod start_watch;
mod switch;
mod watch;

pub use calibration::STATED;
pub use changes::{Changes, ChangesError, Hypothetical};
pub use class::{Class, Part, family};
pub use course::{Heartbeats, OfJob, TaskTimes};
pub use end_score::EndScore;
pub use fallback::Fallback;
pub use forecast::{Forecast, ForecastOptions, JobForecast, TaskStart, forecast, outlook};
pub use history::{Sample, TaskHistory};
pub use learner::{Learned, Learner};
pub use listed::NoSuchName;
pub use model_name::ModelName;
pub use models::{Estimate, Fitted, MODELS, TaskTimeModel, by_name};
pub use place::{Place, Speeds};
pub use predictor::TaskPredictor;
pub use progress::{Look, Seen};
pub use running_score::RunningScore;
pub use score::{JobError, RunScore, Score, StartError, TaskError, WindowScore, job_error, score_starts};
pub use start_watch::{StartScore, StartWatch};
pub use switch::{Measure, RULES, RuleName, Standing, Switch, SwitchOptions, Switcher, SwitchingRule, Thresholds};
pub use watch::EndWatch;
