//! What people and tools ask.

use std::ops::Range;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::PoisonError;
use std::time::Duration;

use howdah_core::job::{AttemptState, JobId, JobState, Priority, Split, TaskKind, WISHED_MAPS, heeds_wished_maps};
use howdah_core::schedulers::{QueueView, SpeculationRule, speculation_rule};
use howdah_core::tracker::{Input, SchedulerChoice, WorkerState};
use howdah_proto::v1;
use howdah_proto::v1::client_service_server::ClientService;
use howdah_proto::v1::submit_step::Step;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

use super::admit::{doubt, doubts, may_move};
use super::connections::streaming;
use super::walk::{Cancel, CancelOnDrop};
use super::{SharedRef, blocking, examine, logs, names, predict, resubmit, shown, status, submit, workers};
use crate::engine::View;
use crate::history::{AttemptHistory, JobHistory, Kept, NoAttempts, find_history, job_file_path, read_excerpt};
use crate::policies::ALLOCATIONS;
use crate::prediction::Switched;
use crate::reload;
use crate::tables::{JobRow, WorkerRow};

/// A watcher is notified of changes at most this often.
const WATCH_INTERVAL: Duration = Duration::from_millis(200);

/// The service for clients.
#[derive(Clone, Debug)]
pub(crate) struct ClientApi(pub(crate) SharedRef);

type Boxed<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

impl ClientApi {
    /// What all services share.
    pub(crate) fn shared(&self) -> &SharedRef {
        &self.0
    }

    async fn ask<T, F>(&self, question: F) -> Result<T, Status>
    where
        T: Send + 'static,
        F: FnOnce(&View<'_>) -> T + Send + 'static,
    {
        self.0.questions.ask(question).await.map_err(status::core)
    }

    fn job(&self, text: &str) -> Result<JobId, Status> {
        self.0.cluster.parse_job(text).map_err(|e| status::id(&e))
    }

    /// A job that is not over.
    async fn live_job(&self, text: &str) -> Result<JobId, Status> {
        let job = self.job(text)?;
        let state = self.state(job).await?.ok_or_else(|| status::no_job(self.0.cluster, job))?;
        if [JobState::Succeeded, JobState::Failed, JobState::Killed].iter().any(|over| over.name() == state) {
            return Err(Status::failed_precondition(format!("job `{text}` is over: it {state}")));
        }
        Ok(job)
    }

    /// The state of a listed job.
    async fn state(&self, job: JobId) -> Result<Option<String>, Status> {
        self.ask(move |view| view.tables.state(job).map(str::to_owned)).await
    }

    /// A job in memory, of which `take` takes what is wanted, or its history on disk.
    async fn look_up<T, F>(&self, job: JobId, take: F) -> Result<Known<T>, Status>
    where
        T: Send + 'static,
        F: FnOnce(&JobRow) -> T + Send + 'static,
    {
        let look = move |view: &View<'_>| (view.tables.jobs.get(&job).map(take), view.tables.status(job).is_some());
        let (row, listed) = self.ask(look).await?;
        let (cluster, run_dir) = (self.0.cluster, &self.0.run_dir);
        if listed && !tokio::fs::try_exists(job_file_path(run_dir, cluster, job)).await.unwrap_or(true) {
            return Err(status::let_go(cluster, job));
        }
        if let Some(row) = row {
            return Ok(Known::InMemory(row));
        }
        // A job leaves the memory when its history is on disk, and not before.
        let run_dir = run_dir.clone();
        let found = blocking(move || find_history(&run_dir, cluster, job)).await?;
        found.map(Known::OnDisk).ok_or_else(|| status::no_job(cluster, job))
    }

    async fn history<A: Kept + Send + 'static>(&self, job: JobId) -> Result<JobHistory<A>, Status> {
        let cluster = self.0.cluster;
        let known = self.look_up(job, move |row| row.snapshot(cluster)).await?;
        let make = move || match known {
            Known::InMemory(snapshot) => Ok(JobHistory::new(&snapshot, cluster)),
            Known::OnDisk(path) => JobHistory::read_as(&path).map_err(|e| status::internal("read a history", e)),
        };
        blocking(make).await?
    }

    /// What submits a job again.
    async fn again(
        &self,
        request: v1::ResubmitJobRequest,
    ) -> Result<(v1::SubmitJobRequest, Option<Vec<Split>>), Status> {
        let job = self.job(&request.job)?;
        let status = self.ask(move |view| view.tables.status(job)).await?;
        let status = match status {
            Some(status) => status,
            None => status_of(&self.history::<NoAttempts>(job).await?),
        };
        resubmit::again(&self.0, job, &status.state, request).await
    }

    /// A job's printed id and those of its attempts that have these places in their order. No others are made.
    pub(crate) async fn attempts(
        &self,
        job: &str,
        places: Range<usize>,
    ) -> Result<(String, Vec<v1::AttemptInfo>), Status> {
        let (job, cluster) = (self.job(job)?, self.0.cluster);
        let wanted = places.clone();
        let known = self.look_up(job, move |row| (row.state, row.page(wanted))).await?;
        let make = move || {
            let mut attempts = Vec::new();
            match known {
                Known::InMemory((state, page)) => {
                    attempts.extend(page.iter().map(|record| record.history(cluster, state)));
                }
                Known::OnDisk(path) => {
                    let read = read_excerpt(&path, places, |attempt| attempts.push(attempt));
                    read.map_err(|e| status::internal("read a history", e))?;
                }
            }
            Ok::<_, Status>(attempts.into_iter().map(attempt_info).collect())
        };
        Ok((cluster.job(job), blocking(make).await??))
    }
}

/// Where a job is found.
enum Known<T> {
    InMemory(T),
    /// In its history.
    OnDisk(PathBuf),
}

/// What is known of a job; `live` if it is not over.
fn job_answer<A: IntoIterator<Item = AttemptHistory>>(
    live: Option<v1::JobStatus>,
    history: JobHistory<A>,
) -> v1::GetJobResponse {
    let status = live.unwrap_or_else(|| status_of(&history));
    let is_heard = heeds_wished_maps(&history.app, &history.input_format);
    let idle = WISHED_MAPS.iter().filter(|key| !is_heard && history.properties.contains_key(**key));
    v1::GetJobResponse {
        idle_properties: idle.map(|key| (*key).to_owned()).collect(),
        counters: Some((&history.counters).into()),
        attempts: history.attempts.into_iter().map(attempt_info).collect(),
        profile_json: history.spec.profile.and_then(|profile| serde_json::to_string(&profile).ok()).unwrap_or_default(),
        properties: history.properties.into_iter().collect(),
        status: Some(status),
        now_ms_epoch: 0,
    }
}

fn status_of<A>(history: &JobHistory<A>) -> v1::JobStatus {
    let share = |done: u32, n: u32| if n == 0 { 1.0 } else { f64::from(done) / f64::from(n) };
    v1::JobStatus {
        job: history.id.clone(),
        name: history.spec.name.to_string(),
        user: history.spec.user.to_string(),
        queue: history.spec.queue.to_string(),
        priority: history.priority.name().to_owned(),
        state: history.state.name().to_owned(),
        n_maps: history.spec.n_maps,
        n_reduces: history.spec.n_reduces,
        maps_done: history.maps_done,
        reduces_done: history.reduces_done,
        maps_running: 0,
        reduces_running: 0,
        failed_attempts: history.failed_attempts,
        killed_attempts: history.killed_attempts,
        map_progress: share(history.maps_done, history.spec.n_maps),
        reduce_progress: share(history.reduces_done, history.spec.n_reduces),
        submit_ms_epoch: history.submit_ms_epoch,
        launch_ms_epoch: history.launch_ms_epoch,
        maps_done_ms_epoch: history.maps_done_ms_epoch,
        finish_ms_epoch: history.finish_ms_epoch,
        output: history.output.clone(),
        why: history.why.clone(),
        node_local_maps: history.maps_by_locality.node,
        rack_local_maps: history.maps_by_locality.rack,
        off_rack_maps: history.maps_by_locality.off_rack,
        unplaced_maps: history.maps_by_locality.unknown,
        requires: history.spec.conf.requires.texts(),
        speculation: Some(history.speculation.into()),
        predicted: None,
        master_restarts: history.master_restarts,
        now_ms_epoch: 0,
    }
}

fn attempt_info(attempt: AttemptHistory) -> v1::AttemptInfo {
    let ended = attempt.finished_ms_epoch > 0 || attempt.exit_code.is_some() || attempt.signal.is_some();
    let end = (ended || !attempt.diagnostics.is_empty()).then_some(v1::AttemptEnd {
        exit_code: attempt.exit_code,
        signal: attempt.signal,
        diagnostics: attempt.diagnostics,
        stderr_tail: attempt.stderr_tail,
        cpu_us: attempt.cpu_us,
        peak_memory_kib: attempt.peak_memory_kib,
        started_ms_epoch: attempt.started_ms_epoch,
        shuffle_done_ms_epoch: attempt.shuffle_done_ms_epoch,
        sort_done_ms_epoch: attempt.sort_done_ms_epoch,
        finished_ms_epoch: attempt.finished_ms_epoch,
        unseen: String::new(),
    });
    let locality = serde_json::to_value(attempt.locality).ok().and_then(|v| v.as_str().map(str::to_owned));
    let phase = serde_json::to_value(attempt.phase).ok().and_then(|v| v.as_str().map(str::to_owned));
    v1::AttemptInfo {
        attempt: attempt.attempt,
        task: attempt.task,
        state: attempt.state.name().to_owned(),
        worker: attempt.worker,
        phase: phase.unwrap_or_default(),
        progress: if attempt.state == AttemptState::Succeeded { 1.0 } else { attempt.progress },
        locality: locality.unwrap_or_default(),
        speculative: attempt.speculative,
        assigned_ms_epoch: attempt.assigned_ms_epoch,
        ended_ms_epoch: attempt.ended_ms_epoch,
        cause: attempt.cause,
        end,
        counters: Some((&attempt.counters).into()),
        message: attempt.message,
    }
}

#[tonic::async_trait]
impl ClientService for ClientApi {
    async fn submit_job(
        &self,
        request: Request<v1::SubmitJobRequest>,
    ) -> Result<Response<v1::SubmitJobResponse>, Status> {
        let request = request.into_inner();
        let name = request.name.clone();
        // A task of its own: a client that hangs up in the middle must not leave an output directory without a
        // job, or a number that is given a second time.
        // Listing its input is given up with it, before anything is made.
        let cancel = Cancel::default();
        let _waits = CancelOnDrop(cancel.clone());
        let submission = tokio::spawn(submit::submit(std::sync::Arc::clone(&self.0), request, None, cancel, None));
        let job = submission.await.map_err(|e| status::internal("finish a submission", e))??;
        tracing::info!(job, name, "accepted a job");
        Ok(Response::new(v1::SubmitJobResponse { job }))
    }

    async fn list_jobs(&self, _: Request<v1::ListJobsRequest>) -> Result<Response<v1::ListJobsResponse>, Status> {
        let (jobs, now) = self.ask(|view| (view.tables.statuses(), view.now)).await?;
        Ok(Response::new(v1::ListJobsResponse { jobs, now_ms_epoch: now.as_ms() }))
    }

    async fn get_job(&self, request: Request<v1::GetJobRequest>) -> Result<Response<v1::GetJobResponse>, Status> {
        let v1::GetJobRequest { job, brief } = request.into_inner();
        let job = self.job(&job)?;
        let (live, now) = self.ask(move |view| (view.tables.status(job), view.now)).await?;
        let mut answer = match brief {
            true => job_answer(live, self.history::<NoAttempts>(job).await?),
            false => job_answer(live, self.history::<Vec<AttemptHistory>>(job).await?),
        };
        answer.now_ms_epoch = now.as_ms();
        Ok(Response::new(answer))
    }

    async fn resubmit_job(
        &self,
        request: Request<v1::ResubmitJobRequest>,
    ) -> Result<Response<v1::SubmitJobResponse>, Status> {
        let request = request.into_inner();
        let before = request.job.clone();
        let (request, given) = self.again(request).await?;
        // As in `submit_job`: what has begun is ended, whoever waits for it.
        let cancel = Cancel::default();
        let _waits = CancelOnDrop(cancel.clone());
        let submission = tokio::spawn(submit::submit(std::sync::Arc::clone(&self.0), request, given, cancel, None));
        let job = submission.await.map_err(|e| status::internal("finish a submission", e))??;
        tracing::info!(job, before, "a job was submitted again");
        Ok(Response::new(v1::SubmitJobResponse { job }))
    }

    type SubmitShownStream = Boxed<v1::SubmitNews>;

    async fn submit_shown(
        &self,
        request: Request<Streaming<v1::SubmitStep>>,
    ) -> Result<Response<Boxed<v1::SubmitNews>>, Status> {
        let stream = streaming(&request);
        let mut steps = request.into_inner();
        let (request, given) = match shown::first(&mut steps).await? {
            Step::Job(request) => (request, None),
            Step::Again(request) => self.again(request).await?,
            Step::Verdict(_) => return Err(Status::invalid_argument("a verdict on nothing, expected a job")),
        };
        let news = shown::submit(std::sync::Arc::clone(&self.0), request, given, steps, stream);
        Ok(Response::new(Box::pin(ReceiverStream::new(news))))
    }

    type WatchJobStream = Boxed<v1::JobStatus>;

    async fn watch_job(&self, request: Request<v1::GetJobRequest>) -> Result<Response<Boxed<v1::JobStatus>>, Status> {
        let streaming = streaming(&request);
        let job = self.job(&request.into_inner().job)?;
        let (send, receive) = mpsc::channel(2);
        let pulse = self.ask(move |view| view.tables.jobs.get(&job).map(|row| row.subscribe())).await?;
        let Some(mut pulse) = pulse else {
            // Over long ago: one status, then the end.
            let (known, now) = self.ask(move |view| (view.tables.status(job), view.now)).await?;
            let status = match known {
                Some(status) => status,
                None => status_of(&self.history::<NoAttempts>(job).await?),
            };
            let _ = send.send(Ok(v1::JobStatus { now_ms_epoch: now.as_ms(), ..status })).await;
            return Ok(Response::new(Box::pin(ReceiverStream::new(receive))));
        };
        let (questions, closing) = (self.0.questions.clone(), self.0.closing.clone());
        tokio::spawn(async move {
            let _streaming = streaming;
            loop {
                let seen = *pulse.borrow_and_update();
                let status = questions.ask(move |view| view.tables.status(job).map(|status| (status, view.now))).await;
                let answer = match status {
                    Ok(Some((status, now))) => Ok(v1::JobStatus { now_ms_epoch: now.as_ms(), ..status }),
                    Ok(None) => return,
                    Err(e) => Err(status::core(e)),
                };
                let broken = answer.is_err();
                if send.send(answer).await.is_err() || broken || seen.is_final {
                    return;
                }
                // Changes within the interval are sent at its end, the last one at once.
                let pause = tokio::time::sleep(WATCH_INTERVAL);
                tokio::select! {
                    over = pulse.wait_for(|pulse| pulse.is_final) => if over.is_err() { return } else { continue },
                    () = pause => {}
                    () = send.closed() => return,
                    () = closing.cancelled() => return,
                }
                tokio::select! {
                    changed = pulse.changed() => if changed.is_err() { return },
                    () = send.closed() => return,
                    () = closing.cancelled() => return,
                }
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receive))))
    }

    async fn kill_job(&self, request: Request<v1::KillJobRequest>) -> Result<Response<v1::KillJobResponse>, Status> {
        let job = self.live_job(&request.into_inner().job).await?;
        self.0.core.request(Input::KillJob { job }).await.map_err(status::core)?;
        let state = self.state(job).await?.unwrap_or_default();
        Ok(Response::new(v1::KillJobResponse { state }))
    }

    async fn kill_attempt(
        &self,
        request: Request<v1::KillAttemptRequest>,
    ) -> Result<Response<v1::KillAttemptResponse>, Status> {
        let v1::KillAttemptRequest { attempt: text, fail } = request.into_inner();
        let attempt = self.0.cluster.parse_attempt(&text).map_err(|e| status::id(&e))?;
        let look = move |view: &View<'_>| {
            let known = view.tables.jobs.get(&attempt.job).and_then(|row| row.attempt(attempt));
            (known.map(|record| record.state), view.tables.status(attempt.job))
        };
        match self.ask(look).await? {
            (Some(state), _) if state.is_final() => {
                return Err(Status::failed_precondition(format!("attempt `{text}` is over: it {}", state.name())));
            }
            (Some(_), _) => {}
            // It has left the memory with its job.
            (None, Some(job)) if job.finish_ms_epoch > 0 => {
                return Err(Status::failed_precondition(format!("attempt `{text}` is over: its job {}", job.state)));
            }
            (None, _) => return Err(Status::not_found(format!("attempt `{text}` is not known here"))),
        }
        self.0.core.request(Input::KillAttempt { attempt, fail }).await.map_err(status::core)?;
        Ok(Response::new(v1::KillAttemptResponse {}))
    }

    async fn set_priority(
        &self,
        request: Request<v1::SetPriorityRequest>,
    ) -> Result<Response<v1::SetPriorityResponse>, Status> {
        let v1::SetPriorityRequest { job, priority } = request.into_inner();
        let priority: Priority = priority.parse().map_err(|e| status::spec(&e))?;
        let job = self.live_job(&job).await?;
        self.0.core.request(Input::SetPriority { job, priority }).await.map_err(status::core)?;
        Ok(Response::new(v1::SetPriorityResponse {}))
    }

    async fn move_job(&self, request: Request<v1::MoveJobRequest>) -> Result<Response<v1::MoveJobResponse>, Status> {
        let v1::MoveJobRequest { job, queue } = request.into_inner();
        let queue = queue.trim().to_owned();
        if queue.is_empty() {
            return Err(Status::invalid_argument("queue: it is empty, expected a name"));
        }
        names::check("job's queue", &queue, names::MAX_JOB_NAME_BYTES)?;
        let job = self.live_job(&job).await?;
        let (names, wanted) = (self.0.config.queue_names.clone(), queue.clone());
        let ask = move |view: &View<'_>| match view.tracker.state().job(job) {
            Some(known) if known.spec().queue != wanted.as_str() => may_move(known.spec(), &wanted, &names, view),
            _ => Ok(()),
        };
        self.0.core.ask(ask).await.map_err(status::core)?.map_err(Status::failed_precondition)?;
        self.0.core.request(Input::SetQueue { job, queue: queue.into() }).await.map_err(status::core)?;
        Ok(Response::new(v1::MoveJobResponse {}))
    }

    async fn set_scheduler(
        &self,
        request: Request<v1::SetSchedulerRequest>,
    ) -> Result<Response<v1::SetSchedulerResponse>, Status> {
        let choice = SchedulerChoice::from(&request.into_inner());
        // To its end, also if whoever asked goes away: the core and the pages would tell different things.
        let shared = self.0.clone();
        let set = tokio::spawn(async move { reload::set(&shared.core, choice, &shared.in_force).await });
        set.await.map_err(|error| status::internal("set the scheduler", error))?.map_err(status::scheduler)?;
        self.0.warn(self.ask(doubt).await?);
        Ok(Response::new(v1::SetSchedulerResponse {}))
    }

    async fn explain(&self, request: Request<v1::GetJobRequest>) -> Result<Response<v1::ExplainResponse>, Status> {
        let text = request.into_inner().job;
        let job = self.live_job(&text).await?;
        let text = self.ask(move |view| workers::explain(view, job)).await?;
        Ok(Response::new(v1::ExplainResponse { text }))
    }

    type GetLogStream = Boxed<v1::LogChunk>;

    async fn get_log(&self, request: Request<v1::GetLogRequest>) -> Result<Response<Boxed<v1::LogChunk>>, Status> {
        let chunks = logs::get(&self.0, request.into_inner()).await?;
        Ok(Response::new(Box::pin(ReceiverStream::new(chunks))))
    }

    async fn list_workers(
        &self,
        request: Request<v1::ListWorkersRequest>,
    ) -> Result<Response<v1::ListWorkersResponse>, Status> {
        let all = request.into_inner().all;
        let (workers, now) = self.ask(move |view| (workers::list(view, all), view.now)).await?;
        Ok(Response::new(v1::ListWorkersResponse { workers, now_ms_epoch: now.as_ms() }))
    }

    async fn get_worker_vitals(
        &self,
        request: Request<v1::GetWorkerVitalsRequest>,
    ) -> Result<Response<v1::GetWorkerVitalsResponse>, Status> {
        let name = request.into_inner().worker;
        let wanted = name.clone();
        let find = move |view: &View<'_>| {
            let worker = view.tables.worker_named(&wanted)?;
            let row = view.tables.workers.get(worker.0 as usize)?;
            let info = workers::info(view, worker, row);
            Some(v1::GetWorkerVitalsResponse { worker: Some(info), past: row.past.list() })
        };
        self.ask(find).await?.map(Response::new).ok_or_else(|| workers::unknown(&name))
    }

    async fn drain_worker(
        &self,
        request: Request<v1::DrainWorkerRequest>,
    ) -> Result<Response<v1::DrainWorkerResponse>, Status> {
        let v1::DrainWorkerRequest { worker: name, drain } = request.into_inner();
        workers::drain(&self.0, &name, drain).await?;
        Ok(Response::new(v1::DrainWorkerResponse {}))
    }

    async fn remove_worker(
        &self,
        request: Request<v1::RemoveWorkerRequest>,
    ) -> Result<Response<v1::RemoveWorkerResponse>, Status> {
        workers::remove(&self.0, &request.into_inner().worker).await?;
        Ok(Response::new(v1::RemoveWorkerResponse {}))
    }

    async fn enable_worker(
        &self,
        request: Request<v1::EnableWorkerRequest>,
    ) -> Result<Response<v1::EnableWorkerResponse>, Status> {
        workers::enable(&self.0, &request.into_inner().worker).await?;
        Ok(Response::new(v1::EnableWorkerResponse {}))
    }

    async fn list_queues(&self, _: Request<v1::ListQueuesRequest>) -> Result<Response<v1::ListQueuesResponse>, Status> {
        let refused = self.0.in_force.doubt();
        let list = |view: &View<'_>| {
            let warnings = doubts(view).into_iter().chain(refused).collect();
            let own = view.tracker.scheduler().queues().list(view.tracker.state());
            if !own.is_empty() {
                return v1::ListQueuesResponse { queues: own.into_iter().map(own_queue).collect(), warnings };
            }
            let mut queues = std::collections::BTreeMap::from([("default".to_owned(), (0, 0))]);
            for row in view.tables.jobs.values() {
                let counts = queues.entry(row.meta.file.spec.queue.to_string()).or_insert((0, 0));
                match row.state {
                    JobState::Prep => counts.0 += 1,
                    JobState::Running | JobState::Committing => counts.1 += 1,
                    _ => {}
                }
            }
            let info =
                |(name, (waiting_jobs, running_jobs))| v1::QueueInfo { name, waiting_jobs, running_jobs, share: None };
            v1::ListQueuesResponse { queues: queues.into_iter().map(info).collect(), warnings }
        };
        Ok(Response::new(self.ask(list).await?))
    }

    async fn examine(&self, request: Request<v1::ExamineRequest>) -> Result<Response<v1::ExamineResponse>, Status> {
        Ok(Response::new(examine::examine(&self.0, request.into_inner()).await?))
    }

    async fn get_cluster(&self, _: Request<v1::GetClusterRequest>) -> Result<Response<v1::GetClusterResponse>, Status> {
        let mut answer = self.ask(count).await?;
        answer.cluster_id = self.0.cluster.0;
        answer.version = env!("CARGO_PKG_VERSION").to_owned();
        let SchedulerChoice { name, mut params } = self.0.in_force.get();
        let SpeculationRule { rule, cap, dry_run } = speculation_rule(&name, &params);
        answer.second_attempts = Some(v1::SpeculationRule { rule, cap, dry_run });
        params.remove(ALLOCATIONS);
        answer.scheduler_params = params.into_iter().collect();
        answer.started_ms_epoch = self.0.started_ms_epoch;
        answer.now_ms_epoch = crate::clock::now_ms_epoch();
        answer.warnings.extend(self.0.in_force.doubt());
        answer.candidates = self.0.config.prediction.switch.candidates.clone();
        let switches = self.0.switches.lock().unwrap_or_else(PoisonError::into_inner);
        answer.switches = switches.iter().map(Switched::message).collect();
        drop(switches);
        Ok(Response::new(answer))
    }

    async fn predict(&self, request: Request<v1::PredictRequest>) -> Result<Response<v1::PredictResponse>, Status> {
        let cancel = Cancel::default();
        // Whoever hangs up needs no list of inputs.
        let _guard = CancelOnDrop(cancel.clone());
        Ok(Response::new(predict::predict(&self.0, request.into_inner(), cancel).await?))
    }

    async fn shutdown(&self, _: Request<v1::ShutdownRequest>) -> Result<Response<v1::ShutdownResponse>, Status> {
        tracing::info!("a client asks the master to stop");
        self.0.stop.drain.cancel();
        Ok(Response::new(v1::ShutdownResponse {}))
    }
}

/// A queue or pool of the scheduler: jobs that it holds back are those that wait.
fn own_queue(queue: QueueView) -> v1::QueueInfo {
    let share = v1::QueueShare {
        running_maps: queue.running[0],
        running_reduces: queue.running[1],
        demand_maps: queue.demand[0],
        demand_reduces: queue.demand[1],
        share_maps: queue.share[0],
        share_reduces: queue.share[1],
        weight: queue.weight,
    };
    v1::QueueInfo {
        name: queue.name,
        waiting_jobs: queue.held_jobs,
        running_jobs: queue.jobs - queue.held_jobs,
        share: Some(share),
    }
}

fn count(view: &View<'_>) -> v1::GetClusterResponse {
    let tables = view.tables;
    let workers = |state: WorkerState| {
        let silent = |row: &&WorkerRow| state != WorkerState::Lost && row.presence.silent;
        tables.workers.iter().filter(|row| row.state == state && !silent(row)).count() as u32
    };
    let up = || tables.workers.iter().filter(|row| row.state != WorkerState::Lost);
    let slots = |kind: TaskKind| up().map(|row| row.slots[kind]).sum();
    let jobs = |wanted: &[JobState]| tables.jobs.values().filter(|row| wanted.contains(&row.state)).count() as u32;
    v1::GetClusterResponse {
        scheduler: view.tracker.scheduler().name().to_owned(),
        live_workers: workers(WorkerState::Live),
        // One that was stopped is where it was meant to be.
        lost_workers: tables.workers.iter().filter(|row| row.state_name() == "LOST").count() as u32,
        blacklisted_workers: workers(WorkerState::Blacklisted),
        draining_workers: workers(WorkerState::Draining),
        silent_workers: up().filter(|row| row.presence.silent).count() as u32,
        map_slots: slots(TaskKind::Map),
        reduce_slots: slots(TaskKind::Reduce),
        maps_running: tables.running(TaskKind::Map),
        reduces_running: tables.running(TaskKind::Reduce),
        jobs_prep: jobs(&[JobState::Prep]),
        jobs_running: jobs(&[JobState::Running, JobState::Committing]),
        jobs_done: tables.jobs_done,
        interval_ms: view.tracker.interval_ms(),
        speculation: Some((*view.tracker.state().costs()).into()),
        notes: tables
            .notes
            .iter()
            .map(|(at, text)| v1::SchedulerNote { at_ms_epoch: at.as_ms(), text: text.clone() })
            .collect(),
        warnings: doubts(view),
        ..Default::default()
    }
}
