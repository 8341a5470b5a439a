//! What the REST interfaces know of the cluster: taken from the core at most once a second.

use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_proto::v1;
use howdah_proto::v1::client_service_server::ClientService;
use tokio::sync::Mutex;
use tonic::{Request, Status};

use crate::services::ClientApi;

/// How old an answer may be.
const AGE: Duration = Duration::from_secs(1);

/// The cluster at one time.
#[derive(Debug)]
pub(super) struct View {
    pub(super) cluster: v1::GetClusterResponse,
    pub(super) jobs: Vec<v1::JobStatus>,
    pub(super) workers: Vec<v1::WorkerInfo>,
    pub(super) queues: Vec<v1::QueueInfo>,
}

/// Gives all who ask the same view.
pub(super) struct Published {
    api: ClientApi,
    last: Mutex<Option<(Instant, Arc<View>)>>,
}

impl Published {
    pub(super) fn new(api: ClientApi) -> Published {
        Published { api, last: Mutex::new(None) }
    }

    /// The last view, or a new one if that is old. Who asks meanwhile waits for it and asks nothing himself.
    pub(super) async fn get(&self) -> Result<Arc<View>, Status> {
        let mut last = self.last.lock().await;
        if let Some((_, view)) = last.as_ref().filter(|(taken, _)| taken.elapsed() < AGE) {
            return Ok(Arc::clone(view));
        }
        let view = Arc::new(View {
            cluster: self.api.get_cluster(Request::new(v1::GetClusterRequest {})).await?.into_inner(),
            jobs: self.api.list_jobs(Request::new(v1::ListJobsRequest {})).await?.into_inner().jobs,
            workers: self
                .api
                .list_workers(Request::new(v1::ListWorkersRequest { all: true }))
                .await?
                .into_inner()
                .workers,
            queues: self.api.list_queues(Request::new(v1::ListQueuesRequest {})).await?.into_inner().queues,
        });
        *last = Some((Instant::now(), Arc::clone(&view)));
        Ok(view)
    }
}
