//! Hadoop's NodeManager REST interface, read-only: the node, the applications and the containers on it.
//!
//! ```text
//! GET /ws/v1/node[/info]    /ws/v1/node/apps[/ID]    /ws/v1/node/containers[/ID]    /ws/v1/node/auxiliaryservices
//! ```
//!
//! A running attempt is a container of one core; an application is here while one of its containers is. Memory is not
//! counted by slots, so it is 0. Nothing is told here that the master would not tell. Shapes:
//! `docs/guide/hadoop-clients.md#rest`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{Response, StatusCode, header};
use axum::routing::get;
use howdah_guards::clock;
use howdah_proto::v1;
use serde_json::{Value, json};

use crate::containers::{Container, Containers};

/// Whose shapes these are.
const HADOOP: &str = "3.3.4";
/// An application's states on a node.
const STATES: [&str; 6] =
    ["NEW", "INITING", "RUNNING", "FINISHING_CONTAINERS_WAIT", "APPLICATION_RESOURCES_CLEANINGUP", "FINISHED"];

/// What there is to tell.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    id: String,
    host: String,
    http_address: String,
    version: String,
    started_ms_epoch: u64,
    containers: Containers,
}

impl Node {
    pub(crate) fn new(hello: &v1::RegisterRequest, containers: Containers) -> Node {
        let port = hello.http_address.rsplit(':').next().unwrap_or("0");
        Node {
            id: format!("{}:{port}", hello.host),
            host: hello.host.clone(),
            http_address: hello.http_address.clone(),
            version: format!("howdah {}", hello.version),
            started_ms_epoch: now_ms_epoch(),
            containers,
        }
    }

    fn info(&self) -> Value {
        json!({ "nodeInfo": {
            "id": self.id, "nodeHostName": self.host, "nodeHealthy": true, "healthReport": "",
            "lastNodeUpdateTime": now_ms_epoch(), "nmStartupTime": self.started_ms_epoch,
            "totalVCoresAllocatedContainers": self.containers.list().len(), "totalPmemAllocatedContainersMB": 0,
            "totalVmemAllocatedContainersMB": 0, "vmemCheckEnabled": false, "pmemCheckEnabled": false,
            "nodeManagerVersion": HADOOP, "nodeManagerBuildVersion": self.version, "nodeManagerVersionBuiltOn": "",
            "hadoopVersion": HADOOP, "hadoopBuildVersion": self.version, "hadoopVersionBuiltOn": "",
        } })
    }

    /// By application: who its user is, and its containers.
    fn apps(&self) -> BTreeMap<String, Value> {
        let mut apps: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
        for container in self.containers.list() {
            let user = container.job.spec.user.to_string();
            apps.entry(container.application()).or_insert((user, Vec::new())).1.push(container.id());
        }
        let app = |(id, (user, ids)): (String, (String, Vec<String>))| {
            let told = json!({ "id": id, "user": user, "state": "RUNNING", "containerids": ids });
            (id, told)
        };
        apps.into_iter().map(app).collect()
    }

    fn container(&self, container: &Container) -> Value {
        let logs = format!("http://{}/logs/{}/syslog", self.http_address, container.attempt_id());
        json!({
            "id": container.id(), "state": "RUNNING", "nodeId": self.id, "user": container.job.spec.user.as_str(),
            "exitCode": -1000, "diagnostics": "", "totalMemoryNeededMB": 0, "totalVCoresNeeded": 1,
            "containerLogsLink": logs, "containerLogFiles": ["stdout", "stderr", "syslog"],
        })
    }
}

fn now_ms_epoch() -> u64 {
    clock::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

/// A list as Hadoop writes it: null where there is none.
fn list(outer: &str, inner: &str, items: Vec<Value>) -> Value {
    if items.is_empty() { json!({ outer: null }) } else { json!({ outer: { inner: items } }) }
}

fn tell(status: StatusCode, value: &Value) -> Response<Body> {
    let response = Response::builder().status(status).header(header::CONTENT_TYPE, "application/json");
    response.body(Body::from(value.to_string())).unwrap_or_default()
}

fn refuse(status: StatusCode, exception: &str, message: &str) -> Response<Body> {
    let class = format!("org.apache.hadoop.yarn.webapp.{exception}");
    let error = json!({ "exception": exception, "message": message, "javaClassName": class });
    tell(status, &json!({ "RemoteException": error }))
}

fn found_or_not(what: &str, id: &str, found: Option<Value>) -> Response<Body> {
    match found {
        Some(found) => tell(StatusCode::OK, &json!({ what: found })),
        None => refuse(StatusCode::NOT_FOUND, "NotFoundException", &format!("{what} with id {id} not found")),
    }
}

pub(crate) fn router(node: Node) -> Router {
    Router::new()
        .route("/ws/v1/node", get(info))
        .route("/ws/v1/node/info", get(info))
        .route("/ws/v1/node/apps", get(apps))
        .route("/ws/v1/node/apps/{id}", get(app))
        .route("/ws/v1/node/containers", get(containers))
        .route("/ws/v1/node/containers/{id}", get(container))
        .route("/ws/v1/node/auxiliaryservices", get(services))
        .with_state(Arc::new(node))
}

async fn info(State(node): State<Arc<Node>>) -> Response<Body> {
    tell(StatusCode::OK, &node.info())
}

/// A name with `%` in it is taken as it stands: names of users have none.
async fn apps(State(node): State<Arc<Node>>, RawQuery(query): RawQuery) -> Response<Body> {
    let query = query.unwrap_or_default();
    let value_of = |key: &str| {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(known, value)| *known == key && !value.is_empty()).map(|(_, value)| value).next_back()
    };
    let state = value_of("state").map(str::to_ascii_uppercase);
    if let Some(state) = state.as_deref().filter(|state| !STATES.contains(state)) {
        let message = format!("Error: application state {state}: expected one of {}", STATES.join(", "));
        return refuse(StatusCode::BAD_REQUEST, "BadRequestException", &message);
    }
    let user = value_of("user");
    let is_wanted = |app: &Value| user.is_none_or(|user| app["user"] == user);
    let found = match state.as_deref() {
        None | Some("RUNNING") => node.apps().into_values().filter(is_wanted).collect(),
        Some(_) => Vec::new(),
    };
    tell(StatusCode::OK, &list("apps", "app", found))
}

async fn app(State(node): State<Arc<Node>>, Path(id): Path<String>) -> Response<Body> {
    found_or_not("app", &id, node.apps().remove(&id))
}

async fn containers(State(node): State<Arc<Node>>) -> Response<Body> {
    let found = node.containers.list().iter().map(|container| node.container(container)).collect();
    tell(StatusCode::OK, &list("containers", "container", found))
}

async fn container(State(node): State<Arc<Node>>, Path(id): Path<String>) -> Response<Body> {
    let found = node.containers.list().into_iter().find(|container| container.id() == id);
    found_or_not("container", &id, found.map(|found| node.container(&found)))
}

/// Map output is served by the worker itself.
async fn services() -> Response<Body> {
    tell(StatusCode::OK, &json!({ "services": [] }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_state_that_is_none_and_ids_that_are_not_here_are_refused() {
        let hello = v1::RegisterRequest { http_address: "h:7".to_owned(), host: "h".to_owned(), ..Default::default() };
        let node = Arc::new(Node::new(&hello, Containers::default()));
        assert_eq!(node.info()["nodeInfo"]["id"], "h:7");
        let asked = |query: &str| apps(State(node.clone()), RawQuery(Some(query.to_owned())));
        assert_eq!(asked("state=running&user=ada").await.status(), StatusCode::OK);
        assert_eq!(asked("state=DONE").await.status(), StatusCode::BAD_REQUEST);
        let missing = app(State(node.clone()), Path("application_1_0001".to_owned())).await;
        assert_eq!(missing.status(), StatusCode::NOT_FOUND);
        let missing = container(State(node), Path("container_1_0001_01_000002".to_owned())).await;
        assert_eq!(missing.status(), StatusCode::NOT_FOUND);
    }
}
