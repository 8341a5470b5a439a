//! The fixed baseline of `bench heartbeat`: a bare tonic server that answers heartbeats and does nothing else.
//!
//! It decodes the same requests and encodes answers of the same size as the master's, on the same kind of runtime.

use howdah_proto::v1 as pb;
use pb::worker_service_server::{WorkerService, WorkerServiceServer};
use tokio_stream::Stream;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

#[derive(Debug)]
struct Echo;

type EventStream = std::pin::Pin<Box<dyn Stream<Item = Result<pb::MapEventsResponse, Status>> + Send>>;

#[tonic::async_trait]
impl WorkerService for Echo {
    async fn register(&self, _: Request<pb::RegisterRequest>) -> Result<Response<pb::RegisterResponse>, Status> {
        Ok(Response::new(pb::RegisterResponse { cluster_id: 202_611_201_200, interval_ms: 300, ..Default::default() }))
    }

    async fn heartbeat(
        &self,
        request: Request<pb::HeartbeatRequest>,
    ) -> Result<Response<pb::HeartbeatResponse>, Status> {
        let response_id = request.into_inner().response_id.wrapping_add(1);
        Ok(Response::new(pb::HeartbeatResponse { response_id, interval_ms: 10_000, ..Default::default() }))
    }

    async fn get_job_file(
        &self,
        _: Request<pb::GetJobFileRequest>,
    ) -> Result<Response<pb::GetJobFileResponse>, Status> {
        Err(Status::unimplemented("an echo has no jobs"))
    }

    type MapEventsStream = EventStream;

    async fn map_events(&self, _: Request<pb::MapEventsRequest>) -> Result<Response<EventStream>, Status> {
        Err(Status::unimplemented("an echo has no jobs"))
    }

    async fn goodbye(&self, _: Request<pb::GoodbyeRequest>) -> Result<Response<pb::GoodbyeResponse>, Status> {
        Ok(Response::new(pb::GoodbyeResponse {}))
    }

    async fn saw(&self, _: Request<pb::SawRequest>) -> Result<Response<pb::SawResponse>, Status> {
        Ok(Response::new(pb::SawResponse {}))
    }
}

/// `howdah bench baseline-echo FILE`: writes its address into FILE and serves until its standard input ends.
pub(crate) fn main(args: &[String]) -> Outcome {
    let [file] = args else { return Err(Failure::usage("expected FILE")) };
    let file = file.clone();
    // We are inside a client's runtime of one thread; the server gets one like the master's.
    let server = std::thread::spawn(move || -> Outcome<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
            std::fs::write(&file, listener.local_addr()?.to_string())?;
            let stream = TcpListenerStream::new(listener);
            let server = tonic::transport::Server::builder().add_service(WorkerServiceServer::new(Echo));
            server.serve_with_incoming(stream).await.map_err(|error| Failure::broke(error.to_string()))
        })
    });
    drop(server);
    let mut sink = Vec::new();
    std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut sink)?;
    Ok(Exit::Done)
}
