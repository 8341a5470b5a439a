//! The Avro schema above the events of a job history, made from a list of the records' fields.
//!
//! Source: what histories of Hadoop 3.3.4 say of themselves.

use std::collections::BTreeMap;

use serde_json::{Value, json};

const NAMESPACE: &str = "org.apache.hadoop.mapreduce.jobhistory";

/// What an event may be called, in Avro's order.
const TYPES: &str = "
JOB_SUBMITTED JOB_INITED JOB_FINISHED JOB_PRIORITY_CHANGED JOB_STATUS_CHANGED JOB_QUEUE_CHANGED JOB_FAILED
JOB_KILLED JOB_ERROR JOB_INFO_CHANGED TASK_STARTED TASK_FINISHED TASK_FAILED TASK_UPDATED NORMALIZED_RESOURCE
MAP_ATTEMPT_STARTED MAP_ATTEMPT_FINISHED MAP_ATTEMPT_FAILED MAP_ATTEMPT_KILLED REDUCE_ATTEMPT_STARTED
REDUCE_ATTEMPT_FINISHED REDUCE_ATTEMPT_FAILED REDUCE_ATTEMPT_KILLED SETUP_ATTEMPT_STARTED SETUP_ATTEMPT_FINISHED
SETUP_ATTEMPT_FAILED SETUP_ATTEMPT_KILLED CLEANUP_ATTEMPT_STARTED CLEANUP_ATTEMPT_FINISHED
CLEANUP_ATTEMPT_FAILED CLEANUP_ATTEMPT_KILLED AM_STARTED
";

/// What an event may hold, in Avro's order: a record's name and its fields, each with its type; `[x]` is a list of x, `{x}` a
/// table of x by name, `x?` an x or null, and what a field has where it is missing stands behind `=`.
const RECORDS: &str = "
JobFinished jobid:string finishTime:long finishedMaps:int finishedReduces:int failedMaps:int failedReduces:int
    totalCounters:JhCounters mapCounters:JhCounters reduceCounters:JhCounters killedMaps:int=-1 killedReduces:int=-1
JobInfoChange jobid:string submitTime:long launchTime:long
JobInited jobid:string launchTime:long totalMaps:int totalReduces:int jobStatus:string uberized:boolean
AMStarted applicationAttemptId:string startTime:long containerId:string nodeManagerHost:string
    nodeManagerPort:int nodeManagerHttpPort:int
JobPriorityChange jobid:string priority:string
JobQueueChange jobid:string jobQueueName:string
JobStatusChanged jobid:string jobStatus:string
JobSubmitted jobid:string jobName:string userName:string submitTime:long jobConfPath:string acls:{string}
    jobQueueName:string workflowId:string?=null workflowName:string?=null workflowNodeName:string?=null
    workflowAdjacencies:string?=null workflowTags:string?=null
JobUnsuccessfulCompletion jobid:string finishTime:long finishedMaps:int finishedReduces:int jobStatus:string
    diagnostics:string?=null failedMaps:int=-1 failedReduces:int=-1 killedMaps:int=-1 killedReduces:int=-1
MapAttemptFinished taskid:string attemptId:string taskType:string taskStatus:string mapFinishTime:long
    finishTime:long hostname:string port:int rackname:string state:string counters:JhCounters clockSplits:[int]
    cpuUsages:[int] vMemKbytes:[int] physMemKbytes:[int]
ReduceAttemptFinished taskid:string attemptId:string taskType:string taskStatus:string shuffleFinishTime:long
    sortFinishTime:long finishTime:long hostname:string port:int rackname:string state:string counters:JhCounters
    clockSplits:[int] cpuUsages:[int] vMemKbytes:[int] physMemKbytes:[int]
TaskAttemptFinished taskid:string attemptId:string taskType:string taskStatus:string finishTime:long
    rackname:string hostname:string state:string counters:JhCounters
TaskAttemptStarted taskid:string taskType:string attemptId:string startTime:long trackerName:string httpPort:int
    shufflePort:int containerId:string locality:string?=null avataar:string?=null
TaskAttemptUnsuccessfulCompletion taskid:string taskType:string attemptId:string finishTime:long hostname:string
    port:int rackname:string status:string error:string counters:JhCounters?=null clockSplits:[int] cpuUsages:[int]
    vMemKbytes:[int] physMemKbytes:[int]
TaskFailed taskid:string taskType:string finishTime:long error:string failedDueToAttempt:string? status:string
    counters:JhCounters?=null
TaskFinished taskid:string taskType:string finishTime:long status:string counters:JhCounters
    successfulAttemptId:string?=null
TaskStarted taskid:string taskType:string startTime:long splitLocations:string
TaskUpdated taskid:string finishTime:long
";

/// Records within others.
const INNER: &str = "
JhCounters name:string groups:[JhCounterGroup]
JhCounterGroup name:string displayName:string counts:[JhCounter]
JhCounter name:string displayName:string value:long
";

/// The schema as one line.
pub(super) fn schema() -> String {
    let mut writer = Writer { unused: records(RECORDS).chain(records(INNER)).collect() };
    let events: Vec<Value> = records(RECORDS).map(|(name, _)| writer.named(name)).collect();
    let types: Vec<&str> = TYPES.split_whitespace().collect();
    json!({
        "type": "record",
        "name": "Event",
        "namespace": NAMESPACE,
        "fields": [
            { "name": "type", "type": { "type": "enum", "name": "EventType", "symbols": types } },
            { "name": "event", "type": events },
        ],
    })
    .to_string()
}

/// Names, and their fields as words. A line that begins with a blank goes on with the record above.
fn records(list: &'static str) -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    let mut words = list.split_whitespace().peekable();
    std::iter::from_fn(move || {
        let name = words.next()?;
        let mut fields = Vec::new();
        // Only fields have a colon.
        while let Some(field) = words.next_if(|word| word.contains(':')) {
            fields.push(field);
        }
        Some((name, fields))
    })
}

struct Writer {
    /// Records that were not written yet, by name, with their fields: Avro wants only the names of others.
    unused: BTreeMap<&'static str, Vec<&'static str>>,
}

impl Writer {
    /// A record where it stands first, its name later; as it is, if it is no record.
    fn named(&mut self, name: &'static str) -> Value {
        let Some(fields) = self.unused.remove(name) else { return name.into() };
        let fields: Vec<Value> = fields.iter().map(|field| self.field(field)).collect();
        json!({ "type": "record", "name": name, "fields": fields })
    }

    fn field(&mut self, field: &'static str) -> Value {
        let (field, default) = match field.split_once('=') {
            Some((field, default)) => (field, serde_json::from_str::<Value>(default).ok()),
            None => (field, None),
        };
        let (name, kind) = field.split_once(':').unwrap_or((field, "string"));
        let mut written = json!({ "name": name, "type": self.kind(kind) });
        if let Some(default) = default {
            written["default"] = default;
        }
        written
    }

    fn kind(&mut self, kind: &'static str) -> Value {
        let within = |open, close| kind.strip_prefix(open).and_then(|kind: &str| kind.strip_suffix(close));
        if let Some(inner) = kind.strip_suffix('?') {
            return json!(["null", self.kind(inner)]);
        }
        if let Some(items) = within('[', ']') {
            return json!({ "type": "array", "items": self.kind(items) });
        }
        if let Some(values) = within('{', '}') {
            return json!({ "type": "map", "values": self.kind(values) });
        }
        self.named(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_stands_in_full_where_it_is_first_used_and_by_name_later() {
        let schema: Value = serde_json::from_str(&schema()).unwrap();
        let fields = &schema["fields"][1]["type"][0]["fields"];
        assert_eq!(fields[0], json!({ "name": "jobid", "type": "string" }));
        assert_eq!((&fields[6]["type"]["name"], &fields[7]["type"]), (&json!("JhCounters"), &json!("JhCounters")));
        let groups = &fields[6]["type"]["fields"][1]["type"];
        assert_eq!((&groups["type"], &groups["items"]["name"]), (&json!("array"), &json!("JhCounterGroup")));
        assert_eq!(fields[9], json!({ "name": "killedMaps", "type": "int", "default": -1 }));
        let submitted = &schema["fields"][1]["type"][7]["fields"];
        assert_eq!(submitted[5]["type"], json!({ "type": "map", "values": "string" }));
        assert_eq!(submitted[7], json!({ "name": "workflowId", "type": ["null", "string"], "default": null }));
    }

    #[test]
    fn every_type_is_avros_or_a_record_of_the_list() {
        let known: BTreeMap<_, _> = records(RECORDS).chain(records(INNER)).collect();
        assert_eq!(known.len(), 21);
        for (name, fields) in &known {
            assert!(!fields.is_empty(), "{name}");
            for field in fields {
                let kind = field.split(['=', ':']).nth(1).unwrap_or_default().trim_matches(['[', ']', '{', '}', '?']);
                assert!(
                    ["string", "int", "long", "boolean"].contains(&kind) || known.contains_key(kind),
                    "{name}: {field}"
                );
            }
        }
    }
}
