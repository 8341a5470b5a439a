//! The shapes of jobs, tasks and attempts, which the ApplicationMaster and the History Server share.

use std::collections::BTreeMap;

use howdah_proto::v1::{AttemptInfo, Counters, GetJobResponse, JobStatus};
use howdah_traces::jhist::{class_of, constant};
use serde_json::{Value, json};

use super::answer::{Answer, Refusal};
use super::query::Query;

const SUCCEEDED: &str = "SUCCEEDED";

fn is_over(state: &str) -> bool {
    matches!(state, SUCCEEDED | "FAILED" | "KILLED")
}

fn state(status: &JobStatus) -> &str {
    if status.state == "COMMITTING" { "RUNNING" } else { &status.state }
}

fn elapsed(start: u64, end: u64) -> u64 {
    let until = if end == 0 { crate::clock::now_ms_epoch() } else { end };
    if start == 0 { 0 } else { until.saturating_sub(start) }
}

fn is_map(attempt: &AttemptInfo) -> bool {
    attempt.task.contains("_m_")
}

fn brief(status: &JobStatus) -> Value {
    json!({
        "id": status.job, "name": status.name, "queue": status.queue, "user": status.user, "state": state(status),
        "submitTime": status.submit_ms_epoch, "startTime": status.launch_ms_epoch,
        "finishTime": status.finish_ms_epoch, "mapsTotal": status.n_maps, "mapsCompleted": status.maps_done,
        "reducesTotal": status.n_reduces, "reducesCompleted": status.reduces_done,
    })
}

/// Jobs that are over, by the History Server's filters.
pub(super) fn history(jobs: &[JobStatus], query: &Query) -> Answer {
    let limit = query.number("limit")?.unwrap_or(u64::MAX);
    let mut found = Vec::new();
    for job in jobs.iter().filter(|job| is_over(&job.state)) {
        let wanted = query.allows(&["state"], state(job))
            && query.allows(&["user"], &job.user)
            && query.allows(&["queue"], &job.queue)
            && query.spans("startedTime", job.launch_ms_epoch)?
            && query.spans("finishedTime", job.finish_ms_epoch)?;
        if wanted && (found.len() as u64) < limit {
            found.push(brief(job));
        }
    }
    Ok(json!({ "jobs": { "job": found } }))
}

/// Everything about a job.
pub(super) fn of(answer: &GetJobResponse) -> Value {
    let status = answer.status.clone().unwrap_or_default();
    let count = |map: bool, wanted: &str| {
        answer.attempts.iter().filter(|attempt| is_map(attempt) == map && attempt.state == wanted).count()
    };
    let mean = |map: bool, span: fn(&AttemptInfo) -> u64| {
        let done = answer.attempts.iter().filter(|attempt| is_map(attempt) == map && attempt.state == SUCCEEDED);
        let spans: Vec<u64> = done.map(span).collect();
        if spans.is_empty() { 0 } else { spans.iter().sum::<u64>() / spans.len() as u64 }
    };
    let mut job = brief(&status);
    let more = json!({
        "elapsedTime": elapsed(status.launch_ms_epoch, status.finish_ms_epoch), "uberized": false,
        "diagnostics": status.why, "mapProgress": status.map_progress * 100.0,
        "reduceProgress": status.reduce_progress * 100.0,
        "mapsRunning": status.maps_running, "reducesRunning": status.reduces_running,
        "mapsPending": status.n_maps.saturating_sub(status.maps_done + status.maps_running),
        "reducesPending": status.n_reduces.saturating_sub(status.reduces_done + status.reduces_running),
        "avgMapTime": mean(true, |a| elapsed(a.assigned_ms_epoch, a.ended_ms_epoch)),
        "avgReduceTime": mean(false, |a| phases(a)[2]), "avgShuffleTime": mean(false, |a| phases(a)[0]),
        "avgMergeTime": mean(false, |a| phases(a)[1]),
        "failedMapAttempts": count(true, "FAILED"), "killedMapAttempts": count(true, "KILLED"),
        "successfulMapAttempts": count(true, SUCCEEDED), "failedReduceAttempts": count(false, "FAILED"),
        "killedReduceAttempts": count(false, "KILLED"), "successfulReduceAttempts": count(false, SUCCEEDED),
        "acls": [],
    });
    if let (Some(job), Value::Object(more)) = (job.as_object_mut(), more) {
        job.extend(more);
    }
    job
}

/// Times of a reduce's shuffle, merge and reduce, by its worker's clock.
fn phases(attempt: &AttemptInfo) -> [u64; 3] {
    let Some(end) = &attempt.end else { return [0; 3] };
    let shuffled = end.shuffle_done_ms_epoch.max(end.started_ms_epoch);
    let sorted = end.sort_done_ms_epoch.max(shuffled);
    [shuffled - end.started_ms_epoch, sorted - shuffled, end.finished_ms_epoch.saturating_sub(sorted)]
}

pub(super) fn master_info(app: &str, answer: &GetJobResponse) -> Answer {
    let status = answer.status.clone().unwrap_or_default();
    Ok(json!({ "info": {
        "appId": app, "name": status.name, "user": status.user, "startedOn": status.launch_ms_epoch,
        "elapsedTime": elapsed(status.launch_ms_epoch, status.finish_ms_epoch),
    } }))
}

pub(super) fn master_attempts(answer: &GetJobResponse) -> Value {
    let status = answer.status.clone().unwrap_or_default();
    let numbers = status.job.strip_prefix("job").unwrap_or(&status.job).to_owned();
    json!({ "jobAttempts": { "jobAttempt": [{
        "id": 1, "nodeId": "", "nodeHttpAddress": "", "logsLink": "", "startTime": status.submit_ms_epoch,
        "containerId": format!("container{numbers}_01_000001"),
    }] } })
}

/// Values by group and name.
type Table = BTreeMap<(String, String), i64>;

fn table<'a>(all: impl Iterator<Item = &'a Counters>) -> Table {
    let mut table = Table::new();
    for group in all.flat_map(|counters| &counters.groups) {
        for counter in &group.counters {
            *table.entry((group.name.clone(), counter.name.clone())).or_default() += counter.value;
        }
    }
    table
}

/// The job's counters, those of its maps and those of its reduces side by side.
pub(super) fn counters(answer: &GetJobResponse) -> Value {
    let done = |map: bool| {
        let winners = answer.attempts.iter().filter(move |a| is_map(a) == map && a.state == SUCCEEDED);
        table(winners.filter_map(|attempt| attempt.counters.as_ref()))
    };
    let (total, maps, reduces) = (table(answer.counters.iter()), done(true), done(false));
    let mut groups: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (key, value) in &total {
        let of = |table: &Table| table.get(key).copied().unwrap_or(0);
        groups.entry(&key.0).or_default().push(json!({
            "name": constant(&key.0, &key.1), "totalCounterValue": value, "mapCounterValue": of(&maps),
            "reduceCounterValue": of(&reduces),
        }));
    }
    let id = answer.status.as_ref().map_or("", |status| status.job.as_str());
    json!({ "jobCounters": { "id": id, "counterGroup": groups.into_iter().map(group("counter")).collect::<Vec<_>>() } })
}

fn group(list: &'static str) -> impl Fn((&str, Vec<Value>)) -> Value {
    move |(group, counters)| json!({ "counterGroupName": class_of(group), list: counters })
}

fn own_counters(what: &str, id: &str, counters: Option<&Counters>) -> Value {
    let mut groups: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for ((group, name), value) in table(counters.into_iter()) {
        let one = json!({ "name": constant(&group, &name), "value": value });
        groups.entry(group).or_default().push(one);
    }
    let groups: Vec<Value> = groups.into_iter().map(|(name, list)| group("counter")((name.as_str(), list))).collect();
    json!({ what: { "id": id, "taskCounterGroup": groups } })
}

pub(super) fn conf(answer: &GetJobResponse) -> Value {
    let sorted: BTreeMap<&String, &String> = answer.properties.iter().collect();
    let properties: Vec<Value> = sorted
        .into_iter()
        .map(|(name, value)| json!({ "name": name, "value": value, "source": ["job.xml"] }))
        .collect();
    json!({ "conf": { "path": "", "property": properties } })
}

/// A job's attempts by task, in order, and its tasks that have none.
fn by_task(answer: &GetJobResponse) -> Vec<(String, Vec<&AttemptInfo>)> {
    let status = answer.status.clone().unwrap_or_default();
    let numbers = status.job.strip_prefix("job").unwrap_or(&status.job).to_owned();
    let mut attempts: BTreeMap<&str, Vec<&AttemptInfo>> = BTreeMap::new();
    answer.attempts.iter().for_each(|attempt| attempts.entry(&attempt.task).or_default().push(attempt));
    let ids = [("m", status.n_maps), ("r", status.n_reduces)].into_iter().flat_map(|(letter, n)| {
        let numbers = numbers.clone();
        (0..n).map(move |index| format!("task{numbers}_{letter}_{index:06}"))
    });
    ids.map(|id| {
        let own = attempts.get(id.as_str()).cloned().unwrap_or_default();
        (id, own)
    })
    .collect()
}

fn task_of(id: &str, attempts: &[&AttemptInfo]) -> Value {
    let winner = attempts.iter().find(|attempt| attempt.state == SUCCEEDED);
    let runs = attempts.iter().any(|attempt| !is_over(&attempt.state));
    let state = match (winner, runs, attempts.last()) {
        (Some(_), ..) => SUCCEEDED,
        (None, true, _) => "RUNNING",
        (None, false, Some(last)) => last.state.as_str(),
        (None, false, None) => "SCHEDULED",
    };
    let start = attempts.iter().map(|attempt| attempt.assigned_ms_epoch).min().unwrap_or(0);
    let last = attempts.iter().map(|attempt| attempt.ended_ms_epoch).max().unwrap_or(0);
    let finish = if runs { 0 } else { winner.map_or(last, |winner| winner.ended_ms_epoch) };
    let progress = attempts.iter().map(|attempt| attempt.progress).fold(0.0, f64::max);
    json!({
        "id": id, "state": state, "type": if id.contains("_m_") { "MAP" } else { "REDUCE" },
        "progress": progress * 100.0, "startTime": start, "finishTime": finish,
        "elapsedTime": elapsed(start, finish), "successfulAttempt": winner.map_or("", |a| a.attempt.as_str()),
    })
}

pub(super) fn tasks(answer: &GetJobResponse, query: &Query) -> Answer {
    let kind = match query.get("type") {
        None => "_",
        Some("m" | "MAP") => "_m_",
        Some("r" | "REDUCE") => "_r_",
        Some(other) => return Err(Refusal::bad(format!("tasktype {other}: expected m or r"))),
    };
    let all = by_task(answer);
    let tasks: Vec<Value> = all.iter().filter(|(id, _)| id.contains(kind)).map(|(id, own)| task_of(id, own)).collect();
    Ok(json!({ "tasks": { "task": tasks } }))
}

fn attempt_of(attempt: &AttemptInfo) -> Value {
    let why = attempt.end.as_ref().map_or("", |end| end.diagnostics.as_str());
    let why = if why.is_empty() { &attempt.cause } else { why };
    let mut value = json!({
        "id": attempt.attempt, "type": if is_map(attempt) { "MAP" } else { "REDUCE" }, "state": attempt.state,
        "rack": "", "nodeHttpAddress": attempt.worker, "assignedContainerId": "", "diagnostics": why,
        "status": attempt.message, "progress": attempt.progress * 100.0, "startTime": attempt.assigned_ms_epoch,
        "finishTime": attempt.ended_ms_epoch,
        "elapsedTime": elapsed(attempt.assigned_ms_epoch, attempt.ended_ms_epoch),
    });
    if !is_map(attempt) {
        let [shuffle, merge, reduce] = phases(attempt);
        let end = attempt.end.clone().unwrap_or_default();
        value["shuffleFinishTime"] = end.shuffle_done_ms_epoch.into();
        value["mergeFinishTime"] = end.sort_done_ms_epoch.into();
        value["elapsedShuffleTime"] = shuffle.into();
        value["elapsedMergeTime"] = merge.into();
        value["elapsedReduceTime"] = reduce.into();
    }
    value
}

/// A task, its counters or its attempts.
pub(super) fn task(answer: &GetJobResponse, id: &str, parts: &[&str]) -> Answer {
    let all = by_task(answer);
    let found = all.iter().find(|(known, _)| known == id);
    let (_, attempts) = found.ok_or_else(|| Refusal::not_found(format!("task not found with id {id}")))?;
    let one = |wanted: &str| {
        let found = attempts.iter().find(|attempt| attempt.attempt == wanted);
        found.ok_or_else(|| Refusal::not_found(format!("Error getting info on task attempt id {wanted}")))
    };
    match parts {
        [] => Ok(json!({ "task": task_of(id, attempts) })),
        ["counters"] => {
            let winner = attempts.iter().find(|attempt| attempt.state == SUCCEEDED);
            Ok(own_counters("jobTaskCounters", id, winner.and_then(|winner| winner.counters.as_ref())))
        }
        ["attempts"] => {
            let list: Vec<Value> = attempts.iter().map(|attempt| attempt_of(attempt)).collect();
            Ok(json!({ "taskAttempts": { "taskAttempt": list } }))
        }
        ["attempts", attempt] => Ok(json!({ "taskAttempt": attempt_of(one(attempt)?) })),
        ["attempts", attempt, "state"] => Ok(json!({ "state": one(attempt)?.state })),
        ["attempts", attempt, "counters"] => {
            Ok(own_counters("jobTaskAttemptCounters", attempt, one(attempt)?.counters.as_ref()))
        }
        _ => Err(Refusal::not_found(format!("task {id} has no {}", parts.join("/")))),
    }
}
