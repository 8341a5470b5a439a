//! The master over HTTP: howdah's own interface, which only reads, and Hadoop's: the ResourceManager's, the MapReduce
//! ApplicationMaster's and the History Server's, read-only but for killing an application or an attempt and for a priority.
//!
//! ```text
//! GET /api/v1/…                           howdah's own: `api/`
//! GET /ws/v1/cluster[/info|/metrics|/scheduler|/apps…|/appstatistics|/nodes…]     PUT …/apps/ID/[state|priority]
//! GET /metrics                            how forecasts do, for Prometheus
//! GET /proxy/APP/ws/v1/mapreduce/…        PUT …/attempts/ID/state     GET /ws/v1/history[/info|/mapreduce/jobs…]
//! ```
//!
//! Answers come from a view that is taken from the core at most once a second, however many ask, so that no number of
//! clients delays a heartbeat; only so many requests are served at a time. Shapes: `docs/guide/hadoop-clients.md#rest`.

mod answer;
mod api;
mod cluster;
mod jobs;
mod metrics;
mod published;
mod query;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Response, StatusCode, Uri, header};
use axum::middleware::from_fn;
use howdah_proto::bodies::read_first;
use howdah_proto::incoming::HttpIncoming;
use howdah_proto::v1;
use howdah_proto::v1::client_service_server::ClientService;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::services::{ClientApi, SharedRef};
use answer::{Answer, Refusal};
use api::{Api, Refused};
use published::Published;
use query::Query;

/// Requests that are worked on at a time; others are told to come back.
const MAX_REQUESTS: usize = 16;
/// Of a request's body: `{"state":"KILLED"}` and the like.
const MAX_BODY_BYTES: usize = 4 << 10;

struct Desk {
    api: ClientApi,
    own: Api,
    published: Arc<Published>,
    seats: Semaphore,
}

/// Serves until the master closes. `address` is where clients reach it.
pub(crate) async fn serve(
    listener: HttpIncoming,
    shared: SharedRef,
    address: SocketAddr,
    closing: CancellationToken,
) -> std::io::Result<()> {
    let api = ClientApi(shared);
    let published = Arc::new(Published::new(api.clone()));
    let own = Api::new(api.clone(), Arc::clone(&published), address);
    let desk = Arc::new(Desk { published, own, api, seats: Semaphore::new(MAX_REQUESTS) });
    let router = Router::new().fallback(move |method: Method, uri: Uri, body: Body| {
        let desk = Arc::clone(&desk);
        async move { desk.serve(&method, &uri, body).await }
    });
    let router = router.layer(from_fn(read_first));
    axum::serve(listener, router).with_graceful_shutdown(closing.cancelled_owned()).await
}

impl Desk {
    async fn serve(&self, method: &Method, uri: &Uri, body: Body) -> Response<Body> {
        if *method == Method::GET
            && uri.path() == "/metrics"
            && let Ok(_seat) = self.seats.try_acquire()
            && let Ok(view) = self.published.get().await
        {
            let shared = self.api.shared();
            let text = metrics::text(&shared.round_costs, &shared.switches, &view);
            let response = Response::builder().header(header::CONTENT_TYPE, metrics::CONTENT_TYPE);
            return response.body(Body::from(text)).unwrap_or_default();
        }
        let parts: Vec<&str> = uri.path().split('/').filter(|part| !part.is_empty()).collect();
        if let ["api", "v1", rest @ ..] = parts.as_slice() {
            return self.own(method, uri, rest).await;
        }
        let answer = match self.seats.try_acquire() {
            Ok(_seat) => self.answer(method, uri, body).await,
            Err(_) => {
                let message = format!("{MAX_REQUESTS} requests are being served; try again");
                Err(Refusal(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailableException", message))
            }
        };
        let (status, value) = match answer {
            Ok(value) => (StatusCode::OK, value),
            Err(Refusal(status, exception, message)) => {
                let class = format!("org.apache.hadoop.yarn.webapp.{exception}");
                let error = json!({ "exception": exception, "message": message, "javaClassName": class });
                (status, json!({ "RemoteException": error }))
            }
        };
        respond(status, value.to_string())
    }

    /// howdah's own interface.
    async fn own(&self, method: &Method, uri: &Uri, parts: &[&str]) -> Response<Body> {
        let answer = match self.seats.try_acquire() {
            Err(_) => Err(Refused::busy(MAX_REQUESTS)),
            Ok(_) if !matches!(method.as_str(), "GET" | "HEAD") => Err(Refused::method(method.as_str(), uri)),
            Ok(_seat) => self.own.answer(parts, uri).await,
        };
        match answer {
            Ok(text) => respond(StatusCode::OK, text),
            Err(Refused { status, body }) => respond(status, serde_json::to_string(&body).unwrap_or_default()),
        }
    }

    async fn answer(&self, method: &Method, uri: &Uri, body: Body) -> Answer {
        let query = Query::parse(uri.query().unwrap_or_default());
        let parts: Vec<&str> = uri.path().split('/').filter(|part| !part.is_empty()).collect();
        match (method.as_str(), parts.as_slice()) {
            ("PUT", ["ws", "v1", "cluster", "apps", id, "state"]) => self.set_state(id, body).await,
            ("PUT", ["ws", "v1", "cluster", "apps", id, "priority"]) => self.set_priority(id, body).await,
            ("PUT", ["ws", "v1", "cluster", "apps", id, "queue"]) => self.set_queue(id, body).await,
            ("PUT", ["proxy", _, "ws", "v1", "mapreduce", "jobs", _, "tasks", _, "attempts", attempt, "state"]) => {
                self.set_attempt_state(attempt, body).await
            }
            ("GET" | "HEAD", parts) => self.read(parts, &query).await,
            (method, _) => {
                let message = format!("{method} {}: nothing here is changed this way", uri.path());
                Err(Refusal(StatusCode::METHOD_NOT_ALLOWED, "WebApplicationException", message))
            }
        }
    }

    async fn read(&self, parts: &[&str], query: &Query) -> Answer {
        match parts {
            // What clients look for to know which of two masters is active.
            ["cluster"] => Ok(json!({ "howdah": env!("CARGO_PKG_VERSION") })),
            ["ws", "v1", "cluster", rest @ ..] => self.read_cluster(rest, query).await,
            ["proxy", app, "ws", "v1", "mapreduce", rest @ ..] => {
                let own = job_of(app);
                match rest {
                    [] | ["info"] => jobs::master_info(app, &self.job(&own).await?),
                    ["jobs"] => Ok(json!({ "jobs": { "job": [jobs::of(&self.job(&own).await?)] } })),
                    ["jobs", job, rest @ ..] if *job == own => self.read_job(job, rest, query).await,
                    _ => Err(Refusal::not_found(format!("{app} has no {}", rest.join("/")))),
                }
            }
            ["ws", "v1", "history"] | ["ws", "v1", "history", "info"] => {
                Ok(cluster::history_info(&self.published.get().await?.cluster))
            }
            ["ws", "v1", "history", "mapreduce", "jobs"] => {
                let view = self.published.get().await?;
                jobs::history(&view.jobs, query)
            }
            ["ws", "v1", "history", "mapreduce", "jobs", job, rest @ ..] => self.read_job(job, rest, query).await,
            _ => Err(Refusal::not_found(format!("/{}: no such resource", parts.join("/")))),
        }
    }

    async fn read_cluster(&self, parts: &[&str], query: &Query) -> Answer {
        let view = self.published.get().await?;
        let find = |id: &str| {
            let job = view.jobs.iter().find(|job| job.job == job_of(id));
            job.ok_or_else(|| Refusal::not_found(format!("app with id: {id} not found")))
        };
        match parts {
            [] | ["info"] => Ok(cluster::info(&view.cluster)),
            ["metrics"] => Ok(cluster::metrics(&view)),
            ["scheduler"] => Ok(cluster::scheduler(&view)),
            ["appstatistics"] => cluster::statistics(&view.jobs, query),
            ["apps"] => cluster::apps(&view, query),
            ["apps", id] => Ok(json!({ "app": cluster::app(find(id)?, &view) })),
            ["apps", id, "state"] => Ok(json!({ "state": cluster::states(find(id)?)[0] })),
            ["apps", id, "queue"] => Ok(json!({ "queue": find(id)?.queue })),
            ["apps", id, "priority"] => Ok(json!({ "priority": cluster::priority(find(id)?) })),
            ["apps", id, "appattempts"] => Ok(cluster::attempts(find(id)?)),
            ["apps", id, "appattempts", attempt] => cluster::attempt(find(id)?, attempt),
            ["apps", id, "timeouts"] => find(id).map(|_| json!({ "timeouts": { "timeout": [cluster::lifetime()] } })),
            ["apps", id, "timeouts", "LIFETIME"] => find(id).map(|_| json!({ "timeout": cluster::lifetime() })),
            ["nodes"] => cluster::nodes(&view.workers, query),
            ["nodes", id] => {
                let found = view.workers.iter().find(|worker| cluster::node_id(worker) == *id);
                let found = found.ok_or_else(|| Refusal::not_found(format!("nodeId, {id}, is not found")))?;
                Ok(json!({ "node": cluster::node(found) }))
            }
            _ => Err(Refusal::not_found(format!("/ws/v1/cluster/{}: no such resource", parts.join("/")))),
        }
    }

    async fn read_job(&self, job: &str, parts: &[&str], query: &Query) -> Answer {
        let answer = self.job(job).await?;
        match parts {
            [] => Ok(json!({ "job": jobs::of(&answer) })),
            ["jobattempts"] => Ok(jobs::master_attempts(&answer)),
            ["counters"] => Ok(jobs::counters(&answer)),
            ["conf"] => Ok(jobs::conf(&answer)),
            ["tasks"] => jobs::tasks(&answer, query),
            ["tasks", task, rest @ ..] => jobs::task(&answer, task, rest),
            _ => Err(Refusal::not_found(format!("job {job} has no {}", parts.join("/")))),
        }
    }

    async fn job(&self, job: &str) -> Result<v1::GetJobResponse, Refusal> {
        let request = tonic::Request::new(v1::GetJobRequest { job: job.to_owned(), brief: false });
        Ok(self.api.get_job(request).await?.into_inner())
    }

    /// An application that is to be killed.
    async fn set_state(&self, id: &str, body: Body) -> Answer {
        expect_killed(&wanted(body).await?)?;
        let request = tonic::Request::new(v1::KillJobRequest { job: job_of(id) });
        self.api.kill_job(request).await?;
        Ok(json!({ "state": "KILLED" }))
    }

    /// An attempt that is to be killed, which does not count as a failure of its task.
    async fn set_attempt_state(&self, attempt: &str, body: Body) -> Answer {
        expect_killed(&wanted(body).await?)?;
        let request = tonic::Request::new(v1::KillAttemptRequest { attempt: attempt.to_owned(), fail: false });
        self.api.kill_attempt(request).await?;
        Ok(json!({ "state": "KILLED" }))
    }

    async fn set_priority(&self, id: &str, body: Body) -> Answer {
        let number = wanted(body).await?["priority"].clone();
        let name = number.as_u64().and_then(|n| cluster::PRIORITIES.get((n as usize).checked_sub(1)?));
        let name = name.ok_or_else(|| {
            let names = cluster::PRIORITIES;
            Refusal::bad(format!("priority {number}: expected 1 ({}) to {} ({})", names[0], names.len(), names[4]))
        })?;
        let request = tonic::Request::new(v1::SetPriorityRequest { job: job_of(id), priority: (*name).to_owned() });
        self.api.set_priority(request).await?;
        Ok(json!({ "priority": number }))
    }

    async fn set_queue(&self, id: &str, body: Body) -> Answer {
        let wanted = wanted(body).await?["queue"].clone();
        let Some(queue) = wanted.as_str() else {
            return Err(Refusal::bad(format!("queue {wanted}: expected the name of a queue")));
        };
        let request = tonic::Request::new(v1::MoveJobRequest { job: job_of(id), queue: queue.to_owned() });
        self.api.move_job(request).await?;
        Ok(json!({ "queue": queue }))
    }
}

/// What a change says.
async fn wanted(body: Body) -> Answer {
    let bytes = axum::body::to_bytes(body, MAX_BODY_BYTES).await;
    let bytes = bytes.map_err(|_| Refusal::bad(format!("the body is longer than {MAX_BODY_BYTES} bytes")))?;
    serde_json::from_slice(&bytes).map_err(|_| Refusal::bad("the body is not JSON"))
}

/// Of states, this is the only one that anybody may ask for.
fn expect_killed(wanted: &Value) -> Result<(), Refusal> {
    if wanted["state"] == "KILLED" {
        return Ok(());
    }
    Err(Refusal::bad(format!("state {}: expected \"KILLED\"", wanted["state"])))
}

fn respond(status: StatusCode, json: String) -> Response<Body> {
    let response = Response::builder().status(status).header(header::CONTENT_TYPE, "application/json");
    response.body(Body::from(json)).unwrap_or_default()
}

/// The job that an application is: the same numbers.
fn job_of(application: &str) -> String {
    application.strip_prefix("application").map_or_else(|| application.to_owned(), |numbers| format!("job{numbers}"))
}
