//! The built-in applications, written against the same public task library as users' programs.
//!
//! [`plan`](plan::plan) turns a request into jobs at the client, [`task_main`] runs their attempts on workers,
//! [`check`] judges results without sharing code with them. An application is a file or folder of this crate and a
//! line of the table in `registry`.

mod args;
mod built_in;
pub mod cache;
pub mod check;
mod grep;
mod paths;
pub mod pi;
mod plan;
mod program;
mod random;
mod random_text;
mod registry;
mod request;
mod share;
mod sleep;
mod sort;
mod streaming;
pub mod sudoku;
pub mod tera;
pub mod text;
mod total_order;
mod wordcount;

/// Counts what tests hold.
#[cfg(test)]
#[global_allocator]
static ALLOCATOR: howdah_fuzz::Counting = howdah_fuzz::Counting;

pub use plan::{AppHelp, JobPlan, PlanError, PlanRequest, apps, plan};
pub use registry::{application, task_main};
