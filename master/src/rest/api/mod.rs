//! howdah's own interface, `/api/v1`, read-only: what the commands print with `--output json`, over HTTP.
//!
//! ```text
//! GET /api/v1/cluster  /jobs  /jobs/JOB  /jobs/JOB/attempts  /workers  /scheduler  /predictions  /openapi.json
//! ```
//!
//! The shapes are the commands' own types (`proto/json`), so both say the same. Lists are bounded and come in pages. The
//! cluster, the jobs and the scheduler are read from the view that the Hadoop interfaces share, at most a second old;
//! the rest is asked of the core as other clients ask. The guide: `docs/guide/http.md`.

mod description;
#[cfg(test)]
mod fuzz;
mod query;
mod refused;
mod resource;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::http::Uri;
use howdah_core::job::JobId;
use howdah_json::properties::{pool_property, unread};
use howdah_json::{
    Attempt, Attempts, Cluster, ForecastView, Job, JobView, Jobs, Listed, OneJob, Prediction, Scheduler, Shape, Worker,
    Workers, page_from_the_end,
};
use howdah_proto::v1;
use howdah_proto::v1::client_service_server::ClientService;
use serde::Serialize;
use tonic::Request;

use super::published::Published;
use crate::policies::about;
use crate::services::ClientApi;
use query::{AttemptsQuery, JobsQuery, NoQuery, PredictionsQuery, WorkersQuery, read};
pub(super) use refused::Refused;
use resource::Resource;

/// How long a job's answer waits for a forecast of its end.
const PATIENCE: Duration = Duration::from_secs(2);

/// Answers requests below `/api/v1`.
pub(super) struct Api {
    client: ClientApi,
    published: Arc<Published>,
    /// Where clients reach the master.
    address: SocketAddr,
    description: OnceLock<String>,
}

impl Api {
    pub(super) fn new(client: ClientApi, published: Arc<Published>, address: SocketAddr) -> Api {
        Api { client, published, address, description: OnceLock::new() }
    }

    /// The resource with this path below `/api/v1`, as JSON.
    pub(super) async fn answer(&self, parts: &[&str], uri: &Uri) -> Result<String, Refused> {
        let (resource, job) = Resource::find(parts).ok_or_else(|| Refused::no_resource(uri))?;
        match resource {
            Resource::Cluster => {
                let NoQuery {} = read(uri)?;
                text(Cluster::new(&self.address.to_string(), &self.published.get().await?.cluster).listing())
            }
            Resource::Jobs => self.jobs(read(uri)?, uri).await,
            Resource::Job => {
                let NoQuery {} = read(uri)?;
                self.job(job).await
            }
            Resource::Attempts => self.attempts(job, read(uri)?, uri).await,
            Resource::Workers => self.workers(read(uri)?, uri).await,
            Resource::Scheduler => {
                let NoQuery {} = read(uri)?;
                let view = self.published.get().await?;
                text(Scheduler::new(about(&view.cluster.scheduler), &view.cluster).listing())
            }
            Resource::Predictions => {
                let query: PredictionsQuery = read(uri)?;
                let answer = self.client.predict(Request::new(query.request(uri)?)).await?.into_inner();
                let prediction = Prediction::new(&answer).ok_or_else(|| Refused::internal("no forecast was made"))?;
                text(prediction.listing())
            }
            Resource::Description => {
                let NoQuery {} = read(uri)?;
                Ok(self.description.get_or_init(|| description::document().to_string()).clone())
            }
        }
    }

    async fn jobs(&self, query: JobsQuery, uri: &Uri) -> Result<String, Refused> {
        let (size, page) = query.page(uri)?;
        let filter = query.filter(uri)?;
        let view = self.published.get().await?;
        let mut jobs: Vec<Job> = view.jobs.iter().map(Job::from).filter(|job| filter.fits(job)).collect();
        page_from_the_end(&mut jobs, size, page);
        text(Jobs { jobs: jobs.into_iter().map(Listed::from).collect() }.listing())
    }

    /// A job's id as it is printed; a number stands for it too.
    fn printed(&self, job: &str) -> String {
        let cluster = self.client.shared().cluster;
        job.parse().map_or_else(|_| job.to_owned(), |number| cluster.job(JobId(number)))
    }

    async fn job(&self, job: &str) -> Result<String, Refused> {
        let request = v1::GetJobRequest { job: self.printed(job), brief: true };
        let answer = self.client.get_job(Request::new(request)).await?.into_inner();
        let view = self.published.get().await?;
        let names: BTreeSet<&String> = answer.properties.keys().collect();
        let unread = unread(names, &answer.idle_properties, pool_property(&view.cluster.scheduler_params));
        let over = answer.status.as_ref().is_none_or(|status| status.finish_ms_epoch > 0);
        let id = answer.status.as_ref().map(|status| status.job.clone()).unwrap_or_default();
        let predicted = if over { None } else { self.predicted(&id).await };
        let one = OneJob::new(answer, unread, predicted).ok_or_else(|| Refused::internal("a job without a status"))?;
        text(one.listing())
    }

    /// When a job that is not over will be, if that can be told soon.
    async fn predicted(&self, job: &str) -> Option<JobView> {
        let forecast = self.client.predict(Request::new(v1::PredictRequest::default()));
        let answer = tokio::time::timeout(PATIENCE, forecast).await.ok()?.ok()?.into_inner();
        let forecast = ForecastView::from(answer.present.as_ref()?);
        forecast.jobs.into_iter().find(|end| end.job.as_deref() == Some(job))
    }

    async fn attempts(&self, job: &str, query: AttemptsQuery, uri: &Uri) -> Result<String, Refused> {
        let places = query.places(uri)?;
        let (job, page) = self.client.attempts(&self.printed(job), places).await?;
        text(Attempts { job, attempts: page.iter().map(Attempt::from).collect() }.listing())
    }

    async fn workers(&self, query: WorkersQuery, uri: &Uri) -> Result<String, Refused> {
        let request = Request::new(v1::ListWorkersRequest { all: query.all });
        let page = query.page(uri, self.client.list_workers(request).await?.into_inner().workers)?;
        text(Workers { workers: page.iter().map(Worker::from).collect() }.listing())
    }
}

fn text(answer: impl Serialize) -> Result<String, Refused> {
    serde_json::to_string(&answer).map_err(Refused::internal)
}
