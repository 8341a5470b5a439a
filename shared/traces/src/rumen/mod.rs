//! Rumen's JSON traces: what Hadoop's own tools extract from job histories and what Mumak and Gridmix replay.
//!
//! A trace is a stream of job objects with every task and attempt. Many keys are for other uses and are ignored;
//! -1 means not known. Times of tasks are the master's, times of attempts their workers' (see the profiler).
//! Source: Hadoop's LoggedJob, LoggedTask and LoggedTaskAttempt, and the real traces beside the project.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::read;
pub use write::write;
