//! Clients that speak to the master without the command: many calls at once, answers that are not read.

use std::future::Future;

use howdah_core::job::{App, InputFormat};
use howdah_proto::dial;
use howdah_proto::v1::SubmitJobRequest;
use howdah_proto::v1::client_service_client::ClientServiceClient;
use howdah_proto::v1::worker_service_client::WorkerServiceClient;
use tokio::runtime::Runtime;
use tonic::transport::{Channel, Endpoint};

use crate::harness::Cluster;

/// Bytes that the master may send before somebody reads: the least that HTTP/2 allows.
const WINDOW: u32 = 65_535;

/// Where the calls run.
pub(crate) struct Attacker {
    runtime: Runtime,
    address: String,
}

impl Attacker {
    pub(super) fn of(cluster: &Cluster) -> Attacker {
        Attacker::at(&cluster.address)
    }

    /// Of the master at this address.
    pub(crate) fn at(address: &str) -> Attacker {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        Attacker { runtime: runtime.expect("a runtime"), address: address.to_owned() }
    }

    pub(crate) fn run<T>(&self, calls: impl Future<Output = T>) -> T {
        self.runtime.block_on(calls)
    }

    /// A new connection.
    async fn connect(&self) -> Channel {
        let endpoint = Endpoint::from_shared(format!("http://{}", self.address)).expect("an address");
        let endpoint = endpoint.initial_stream_window_size(WINDOW).initial_connection_window_size(WINDOW);
        dial::channel(&endpoint).await.expect("connect")
    }

    /// A client on a new connection, which refuses to read answers of any size.
    pub(super) async fn deaf_client(&self) -> ClientServiceClient<Channel> {
        self.client().await.max_decoding_message_size(1)
    }

    pub(super) async fn client(&self) -> ClientServiceClient<Channel> {
        ClientServiceClient::new(self.connect().await)
    }

    pub(crate) async fn worker(&self) -> WorkerServiceClient<Channel> {
        WorkerServiceClient::new(self.connect().await)
    }
}

/// A job of one map that makes its own input, and that only a worker with this attribute may run.
pub(super) fn sleeper(requires: &str) -> SubmitJobRequest {
    SubmitJobRequest {
        requires: vec![requires.to_owned()],
        ..job(&App::BuiltIn { name: "sleep".to_owned() }, &InputFormat::Generated { n_maps: 1 })
    }
}

/// A word count of whatever is below a directory.
pub(super) fn word_count(input: String, output: String) -> SubmitJobRequest {
    SubmitJobRequest {
        inputs: vec![input],
        output,
        n_reduces: 1,
        properties: [("mapred.input.dir.recursive".to_owned(), "true".to_owned())].into(),
        ..job(&App::BuiltIn { name: "wordcount".to_owned() }, &InputFormat::Text)
    }
}

fn job(app: &App, input_format: &InputFormat) -> SubmitJobRequest {
    SubmitJobRequest {
        name: "attack".to_owned(),
        app_json: serde_json::to_string(app).expect("it is plain"),
        input_format_json: serde_json::to_string(input_format).expect("it is plain"),
        ..SubmitJobRequest::default()
    }
}
