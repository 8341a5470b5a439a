//! The ResourceManager's shapes. A slot is a container of one core; memory is what workers have, as nothing here counts
//! slots by it: allocated memory is reported as 0 rather than made up.

use howdah_proto::v1::{GetClusterResponse, JobStatus, QueueInfo, WorkerInfo};
use serde_json::{Map, Value, json};

use super::answer::{Answer, Refusal};
use super::published::View;
use super::query::Query;

const STATES: [&str; 8] = ["NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING", "FINISHED", "FAILED", "KILLED"];
/// Whose shapes these are.
const HADOOP: &str = "3.3.4";

pub(super) fn info(cluster: &GetClusterResponse) -> Value {
    let version = format!("howdah {}", cluster.version);
    json!({ "clusterInfo": {
        "id": cluster.cluster_id, "startedOn": cluster.started_ms_epoch, "state": "STARTED", "haState": "ACTIVE",
        "rmStateStoreName": "none", "resourceManagerVersion": HADOOP, "resourceManagerBuildVersion": version,
        "resourceManagerVersionBuiltOn": "", "hadoopVersion": HADOOP, "hadoopBuildVersion": version,
        "hadoopVersionBuiltOn": "", "haZooKeeperConnectionState": "ResourceManager HA is not enabled.",
    } })
}

pub(super) fn history_info(cluster: &GetClusterResponse) -> Value {
    json!({ "historyInfo": {
        "startedOn": cluster.started_ms_epoch, "hadoopVersion": HADOOP,
        "hadoopBuildVersion": format!("howdah {}", cluster.version), "hadoopVersionBuiltOn": "",
    } })
}

pub(super) fn metrics(view: &View) -> Value {
    let cluster = &view.cluster;
    let in_state = |state: &str| view.jobs.iter().filter(|job| states(job)[0] == state).count();
    let ended = |state: &str| view.jobs.iter().filter(|job| job.state == state).count();
    let in_node_state = |state: &str| view.workers.iter().filter(|worker| node_state(worker) == state).count();
    let (slots, used) = (cluster.map_slots + cluster.reduce_slots, cluster.maps_running + cluster.reduces_running);
    let memory_mb: u64 = view.workers.iter().filter(|worker| !is_gone(node_state(worker))).map(free_mb).sum();
    json!({ "clusterMetrics": {
        "appsSubmitted": view.jobs.len(), "appsCompleted": ended("SUCCEEDED"), "appsPending": in_state("ACCEPTED"),
        "appsRunning": in_state("RUNNING"), "appsFailed": ended("FAILED"), "appsKilled": ended("KILLED"),
        "reservedMB": 0, "availableMB": memory_mb, "allocatedMB": 0, "totalMB": memory_mb,
        "reservedVirtualCores": 0, "availableVirtualCores": slots.saturating_sub(used), "allocatedVirtualCores": used,
        "totalVirtualCores": slots, "containersAllocated": used, "containersReserved": 0,
        "containersPending": view.jobs.iter().map(pending).sum::<u32>(), "totalNodes": view.workers.len(),
        "activeNodes": in_node_state("RUNNING"), "lostNodes": in_node_state("LOST"),
        "unhealthyNodes": in_node_state("UNHEALTHY"),
        "decommissioningNodes": in_node_state("DECOMMISSIONING"), "decommissionedNodes": 0, "rebootedNodes": 0,
        "shutdownNodes": in_node_state("SHUTDOWN"),
    } })
}

/// Tasks that wait.
fn pending(job: &JobStatus) -> u32 {
    if is_over(job) {
        return 0;
    }
    let maps = job.n_maps.saturating_sub(job.maps_done + job.maps_running);
    maps + job.n_reduces.saturating_sub(job.reduces_done + job.reduces_running)
}

/// The capacity scheduler as Hadoop's, every other one as one of Hadoop's fair ones: its queues are the leaves below the root.
pub(super) fn scheduler(view: &View) -> Value {
    if view.cluster.scheduler == "capacity" {
        return capacity_scheduler(view);
    }
    let queues: Vec<Value> = view
        .queues
        .iter()
        .map(|queue| {
            let share = queue.share.unwrap_or_default();
            let cores = |n: f64| json!({ "memory": 0, "vCores": n.round() as i64 });
            json!({
                "type": "fairSchedulerLeafQueueInfo", "queueName": format!("root.{}", queue.name),
                "schedulingPolicy": view.cluster.scheduler, "numActiveApps": queue.running_jobs,
                "numPendingApps": queue.waiting_jobs, "maxApps": i32::MAX,
                "usedResources": cores(f64::from(share.running_maps + share.running_reduces)),
                "fairResources": cores(share.share_maps + share.share_reduces),
                "demandResources": cores(f64::from(share.demand_maps + share.demand_reduces)),
            })
        })
        .collect();
    let slots = view.cluster.map_slots + view.cluster.reduce_slots;
    let used = view.cluster.maps_running + view.cluster.reduces_running;
    json!({ "scheduler": { "schedulerInfo": {
        "type": "fairScheduler",
        "rootQueue": {
            "queueName": "root", "schedulingPolicy": view.cluster.scheduler, "maxApps": i32::MAX,
            "clusterResources": { "memory": 0, "vCores": slots }, "usedResources": { "memory": 0, "vCores": used },
            "childQueues": { "queue": queues },
        },
    } } })
}

/// What parts of the cluster's slots queues may have and have, in percent. There are no labels of nodes: one partition, which has no
/// name, is all of it.
fn capacity_scheduler(view: &View) -> Value {
    let slots = f64::from(view.cluster.map_slots + view.cluster.reduce_slots);
    let percent = |of: f64, all: f64| if all > 0.0 { of / all * 100.0 } else { 0.0 };
    let running = view.cluster.maps_running + view.cluster.reduces_running;
    let queue = |queue: &QueueInfo| {
        let share = queue.share.unwrap_or_default();
        let used = share.running_maps + share.running_reduces;
        let own = share.share_maps + share.share_reduces;
        let capacities = json!({
            "capacity": percent(own, slots), "usedCapacity": percent(f64::from(used), own), "maxCapacity": 100.0,
            "absoluteCapacity": percent(own, slots), "absoluteUsedCapacity": percent(f64::from(used), slots),
            "absoluteMaxCapacity": 100.0,
        });
        let mut partition = capacities.clone();
        partition["partitionName"] = "".into();
        let mut told = capacities;
        let more = json!({
            "type": "capacitySchedulerLeafQueueInfo", "queueName": queue.name, "state": "RUNNING",
            "numApplications": queue.running_jobs + queue.waiting_jobs, "numActiveApplications": queue.running_jobs,
            "numPendingApplications": queue.waiting_jobs, "numContainers": used,
            "resourcesUsed": { "memory": 0, "vCores": used },
            "capacities": { "queueCapacitiesByPartition": [partition] },
        });
        if let (Some(told), Value::Object(more)) = (told.as_object_mut(), more) {
            told.extend(more);
        }
        told
    };
    json!({ "scheduler": { "schedulerInfo": {
        "type": "capacityScheduler", "queueName": "root", "capacity": 100.0, "maxCapacity": 100.0,
        "usedCapacity": percent(f64::from(running), slots),
        "queues": { "queue": view.queues.iter().map(queue).collect::<Vec<Value>>() },
    } } })
}

fn is_over(job: &JobStatus) -> bool {
    matches!(job.state.as_str(), "SUCCEEDED" | "FAILED" | "KILLED")
}

/// An application's state and final status.
pub(super) fn states(job: &JobStatus) -> [&'static str; 2] {
    match job.state.as_str() {
        "SUCCEEDED" => ["FINISHED", "SUCCEEDED"],
        "FAILED" => ["FINISHED", "FAILED"],
        "KILLED" => ["KILLED", "KILLED"],
        "PREP" => ["ACCEPTED", "UNDEFINED"],
        _ => ["RUNNING", "UNDEFINED"],
    }
}

/// Priorities by YARN's numbers, from 1; larger is sooner.
pub(super) const PRIORITIES: [&str; 5] = ["VERY_LOW", "LOW", "NORMAL", "HIGH", "VERY_HIGH"];

pub(super) fn priority(job: &JobStatus) -> i32 {
    PRIORITIES.iter().position(|name| *name == job.priority).map_or(3, |at| at as i32 + 1)
}

fn now_ms() -> u64 {
    crate::clock::now_ms_epoch()
}

fn application(job: &JobStatus) -> String {
    format!("application{}", job.job.strip_prefix("job").unwrap_or(&job.job))
}

pub(super) fn app(job: &JobStatus, view: &View) -> Value {
    let [state, end] = states(job);
    let running = job.maps_running + job.reduces_running;
    let progress = match (is_over(job), job.n_reduces) {
        (true, _) => 100.0,
        (false, 0) => job.map_progress * 100.0,
        (false, _) => (job.map_progress + job.reduce_progress) * 50.0,
    };
    let until = if is_over(job) { job.finish_ms_epoch } else { now_ms() };
    json!({
        "id": application(job), "user": job.user, "name": job.name, "queue": job.queue, "state": state,
        "finalStatus": end, "progress": progress, "trackingUI": if is_over(job) { "History" } else { "ApplicationMaster" },
        "trackingUrl": "", "diagnostics": job.why, "clusterId": view.cluster.cluster_id,
        "applicationType": "MAPREDUCE", "applicationTags": "", "priority": priority(job),
        "startedTime": job.submit_ms_epoch, "launchTime": job.launch_ms_epoch, "finishedTime": job.finish_ms_epoch,
        "elapsedTime": until.saturating_sub(job.submit_ms_epoch), "amContainerLogs": "", "amHostHttpAddress": "",
        "allocatedMB": 0, "allocatedVCores": running, "reservedMB": 0, "reservedVCores": 0,
        "runningContainers": running, "memorySeconds": 0, "vcoreSeconds": 0, "preemptedResourceMB": 0,
        "preemptedResourceVCores": 0, "numNonAMContainerPreempted": 0, "numAMContainerPreempted": 0,
        "unmanagedApplication": false, "logAggregationStatus": "DISABLED",
    })
}

pub(super) fn apps(view: &View, query: &Query) -> Answer {
    if let Some(unknown) = query.get("states").and_then(|list| list.split(',').find(|state| !is_state(state))) {
        return Err(Refusal::bad(format!(
            "Invalid application-state {unknown}: expected one of {}",
            STATES.join(", ")
        )));
    }
    let limit = query.number("limit")?.unwrap_or(u64::MAX);
    let mut found = Vec::new();
    for job in &view.jobs {
        let [state, end] = states(job);
        let wanted = query.allows(&["states", "state"], state)
            && query.allows(&["finalStatus"], end)
            && query.allows(&["user"], &job.user)
            && query.allows(&["queue"], &job.queue)
            && query.allows(&["applicationTypes"], "MAPREDUCE")
            && query.spans("startedTime", job.submit_ms_epoch)?
            && query.spans("finishedTime", job.finish_ms_epoch)?;
        if wanted && (found.len() as u64) < limit {
            found.push(app(job, view));
        }
    }
    // Hadoop says null where there is none, and clients know it.
    Ok(if found.is_empty() { json!({ "apps": null }) } else { json!({ "apps": { "app": found } }) })
}

fn is_state(text: &str) -> bool {
    STATES.iter().any(|state| state.eq_ignore_ascii_case(text.trim()))
}

pub(super) fn statistics(jobs: &[JobStatus], query: &Query) -> Answer {
    let wanted = STATES.iter().filter(|state| query.allows(&["states"], state));
    let items = wanted.map(|state| {
        let count = jobs.iter().filter(|job| states(job)[0] == *state).count();
        json!({ "state": state, "type": "*", "count": count })
    });
    Ok(json!({ "appStatInfo": { "statItem": items.collect::<Vec<Value>>() } }))
}

/// One: the master does what an application's own master would.
pub(super) fn attempts(job: &JobStatus) -> Value {
    json!({ "appAttempts": { "appAttempt": [attempt_of(job)] } })
}

fn attempt_id(job: &JobStatus) -> String {
    format!("appattempt{}_000001", job.job.strip_prefix("job").unwrap_or(&job.job))
}

fn attempt_of(job: &JobStatus) -> Value {
    let numbers = job.job.strip_prefix("job").unwrap_or(&job.job);
    json!({
        "id": 1, "startTime": job.submit_ms_epoch, "finishedTime": job.finish_ms_epoch,
        "containerId": format!("container{numbers}_01_000001"), "nodeHttpAddress": "", "nodeId": "", "logsLink": "",
        "appAttemptId": attempt_id(job),
    })
}

/// By itself it has other names for some of it.
pub(super) fn attempt(job: &JobStatus, id: &str) -> Answer {
    if id != attempt_id(job) {
        return Err(Refusal::not_found(format!("app attempt with id: {id} not found")));
    }
    let [state, _] = states(job);
    let own = attempt_of(job);
    Ok(json!({
        "appAttemptId": id, "amContainerId": own["containerId"], "host": "", "rpcPort": 0, "trackingUrl": "",
        "originalTrackingUrl": "", "diagnosticsInfo": job.why, "appAttemptState": state,
        "startedTime": job.submit_ms_epoch, "finishedTime": job.finish_ms_epoch,
    }))
}

/// No application has an end that is set beforehand: a job's deadline is a wish, after which it goes on.
pub(super) fn lifetime() -> Value {
    json!({ "type": "LIFETIME", "expiryTime": "UNLIMITED", "remainingTimeInSeconds": "-1" })
}

pub(super) fn node_id(worker: &WorkerInfo) -> String {
    let port = worker.http_address.rsplit(':').next().unwrap_or("0");
    format!("{}:{port}", worker.host)
}

fn free_mb(worker: &WorkerInfo) -> u64 {
    worker.vitals.as_ref().map_or(0, |vitals| vitals.memory_free_kib / 1_024)
}

fn node_state(worker: &WorkerInfo) -> &'static str {
    match worker.state.as_str() {
        // One whose heartbeats are late is still a node, until it is given up.
        "LIVE" | "SILENT" => "RUNNING",
        "DRAINING" => "DECOMMISSIONING",
        // As of nodes whose disks a NodeManager's health check finds full.
        "BLACKLISTED" | "LOW_DISK" | "UNREACHABLE" => "UNHEALTHY",
        "STOPPED" => "SHUTDOWN",
        _ => "LOST",
    }
}

/// Whether a node in this state is none any more.
fn is_gone(state: &str) -> bool {
    ["LOST", "SHUTDOWN"].contains(&state)
}

pub(super) fn node(worker: &WorkerInfo) -> Value {
    let (slots, used) = (worker.map_slots + worker.reduce_slots, worker.maps_running + worker.reduces_running);
    let mut node = json!({
        "rack": worker.rack, "state": node_state(worker), "id": node_id(worker), "nodeHostName": worker.host,
        "nodeHTTPAddress": worker.http_address, "lastHealthUpdate": worker.last_heartbeat_ms_epoch, "version": HADOOP,
        "healthReport": "", "numContainers": used, "usedMemoryMB": 0, "availMemoryMB": free_mb(worker),
        "usedVirtualCores": used, "availableVirtualCores": slots.saturating_sub(used), "nodeLabels": [],
    });
    let attributes: Map<String, Value> =
        worker.attributes.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
    node["howdahWorker"] = json!({ "name": worker.name, "state": worker.state, "attributes": attributes });
    node
}

pub(super) fn nodes(workers: &[WorkerInfo], query: &Query) -> Answer {
    // Those that are gone only when they are asked for, as in Hadoop.
    let default = query.get("states").is_none();
    let wanted = workers.iter().filter(|worker| {
        let state = node_state(worker);
        if default { !is_gone(state) } else { query.allows(&["states"], state) }
    });
    let found: Vec<Value> = wanted.map(node).collect();
    Ok(if found.is_empty() { json!({ "nodes": null }) } else { json!({ "nodes": { "node": found } }) })
}
