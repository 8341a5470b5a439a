//! Accepting a job: everything that can be checked is checked before the core receives it.
//!
//! Order: request, properties, input and splits, output directory, a [look](super::shown) at it by whoever submits, then the
//! [entrance](super::entrance): job file on disk, core. What was made on disk is removed again when a later step refuses.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use howdah_core::job::{
    App, InputFormat, JobConf, JobFile, JobSpec, OutputFormat, Priority, Requirements, Split, SplitHosts, WISHED_MAPS,
    heeds_wished_maps, known,
};
use howdah_core::time::Span;
use howdah_guards::Guard;
use howdah_proto::{limits, v1};
use howdah_webhdfs::{AddressError, RemotePath};
use tokio::sync::OwnedSemaphorePermit;
use tonic::Status;

use super::admit::admit;
use super::entrance::Entered;
use super::input_error::{InputError, NAME_NODE_HELP, NAME_NODES_HELP};
use super::places::Place;
use super::room::Room;
use super::silence::{alive, answered};
use super::turns::Turns;
use super::viewer::Viewer;
use super::walk::Cancel;
use super::{SharedRef, blocking, names, places, remote_files, remote_store, splits, status};
use crate::commit::{self, Output};
use crate::config::MasterConfig;
use crate::engine::{Clearer, View};
use crate::mounts::{mount_of, mounts_of};
use crate::name_nodes::NameNodes;
use crate::random::token;

/// Submissions at a time that work on each file system of this machine, and on each name node and the store.
pub(crate) const LOCAL_SUBMISSIONS: usize = 32;
pub(crate) const REMOTE_SUBMISSIONS: usize = 4;
/// How long a submission waits for its turn.
const LISTING_PATIENCE: Duration = Duration::from_secs(30);
/// Where the bound is that a submission met.
const REDUCES_HELP: &str = "`reduces_per_job` in [master.limits] lets jobs have more";
/// Properties that name a job's priority.
const PRIORITY_KEYS: [&str; 2] = ["mapred.job.priority", "mapreduce.job.priority"];
/// Properties that name a job's queue.
const QUEUE_KEYS: [&str; 2] = ["mapred.job.queue.name", "mapreduce.job.queuename"];

/// Accepts a job and gives its printed id. Its splits are made of its inputs, unless they are `given`. A `viewer` is shown its
/// output and may refuse.
pub(super) async fn submit(
    shared: SharedRef,
    request: v1::SubmitJobRequest,
    given: Option<Vec<Split>>,
    cancel: Cancel,
    viewer: Option<Viewer>,
) -> Result<String, Status> {
    if shared.stop.is_wanted() {
        return Err(Status::unavailable("the master is stopping and takes no new jobs"));
    }
    has_room(&shared, user_of(&request)).await?;
    let file = prepared(&shared, request, given, cancel).await?;
    let output = Output::of(&file);
    if let Some(output) = &output {
        let missing = missing_above(output, viewer.is_some()).await?;
        reserve(&shared, output).await?;
        if let Some(viewer) = viewer.filter(|_| !output.is_remote())
            && let Err(refusal) = viewer.show(&shared, output).await
        {
            let (refused, clearer) = (output.clone(), shared.clearer.clone());
            let clear = move || {
                settle(refused, Fate::Refused, &clearer);
                commit::remove_above(&missing);
            };
            let _ = answered(output.directory(), clear, drop).await;
            return Err(refusal);
        }
    }
    let Entered { job, warning, may_be_kept } = shared.entrance.enter(file).await;
    shared.warn(warning);
    if let Some(output) = output {
        let fate = match job {
            Ok(_) => Fate::Taken,
            Err(_) if may_be_kept => Fate::Open,
            Err(_) => Fate::Refused,
        };
        let clearer = shared.clearer.clone();
        let _ = blocking(move || settle(output, fate, &clearer)).await;
    }
    job.map(|job| shared.cluster.job(job))
}

/// What is made above an output, if somebody is to be shown it.
async fn missing_above(output: &Output, is_shown: bool) -> Result<Vec<PathBuf>, Status> {
    if !is_shown || output.is_remote() {
        return Ok(Vec::new());
    }
    let (of, directory) = (output.clone(), output.directory());
    answered(directory, move || commit::missing_above(&of), drop).await
}

/// What became of a job whose output was made for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Taken,
    /// The journal has no such job.
    Refused,
    /// The journal may have it.
    Open,
}

/// An output that was made has its job now, or goes again. Where nobody knows it stays as it is: the next start does, and clears
/// away what has no job in the journal.
fn settle(output: Output, fate: Fate, clearer: &Clearer) {
    match (fate, output.is_remote()) {
        (Fate::Taken, true) => clearer.let_go(&output),
        (Fate::Refused, true) => clearer.clear(output),
        (Fate::Refused, false) => drop(commit::abort(&output, true)),
        (Fate::Taken, false) | (Fate::Open, _) => {}
    }
}

/// Refuses a job that there is no room for, before anything is listed or made for it.
async fn has_room(shared: &SharedRef, user: &str) -> Result<(), Status> {
    let (limits, user) = (shared.config.limits.clone(), user.to_owned());
    let check = move |view: &View<'_>| Room::new(&limits, view.tables).check(&user);
    shared.questions.ask(check).await.map_err(status::core)?
}

/// Whose job it will be.
fn user_of(request: &v1::SubmitJobRequest) -> &str {
    if request.user.is_empty() { "unknown" } else { &request.user }
}

/// What the core would get of a job, and what it runs, if it were submitted now. Nothing is made.
pub(super) async fn would_enter(
    shared: &SharedRef,
    request: v1::SubmitJobRequest,
    cancel: Cancel,
) -> Result<(JobSpec, App), Status> {
    let JobFile { spec, properties, app, .. } = prepared(shared, request, None, cancel).await?;
    let queue_names = shared.config.queue_names.clone();
    let ask = move |view: &crate::engine::View<'_>| admit(spec, &properties, &queue_names, view);
    let (spec, accepted) = shared.core.ask(ask).await.map_err(status::core)?;
    accepted.map_err(Status::failed_precondition)?;
    Ok((spec, app))
}

/// A job's file without its number, with its input listed.
async fn prepared(
    shared: &SharedRef,
    request: v1::SubmitJobRequest,
    given: Option<Vec<Split>>,
    cancel: Cancel,
) -> Result<JobFile, Status> {
    let config = shared.config.clone();
    // A file system that hangs holds up as many submissions, and nothing else; nor do others wait for a name node or a store.
    let (servers, remote) = remote_places(&request.inputs, &config.name_nodes).map_err(|e| refused(&e))?;
    let local: Vec<PathBuf> =
        request.inputs.iter().filter(|input| !RemotePath::is_one(input)).map(PathBuf::from).collect();
    // A name node's or a store's patience is its own.
    let watched = if remote.is_empty() { local.clone() } else { Vec::new() };
    let turn = async {
        let here = shared.local_turns.take(mounts_of(local.iter().map(PathBuf::as_path))).await;
        (here, shared.remote_turns.take(remote).await)
    };
    let Ok(listing) = tokio::time::timeout(LISTING_PATIENCE, turn).await else {
        return Err(Status::unavailable("the master lists the inputs of too many jobs at a time; try again"));
    };
    let life = cancel.clone();
    let prepare = move || {
        let _listing = listing;
        prepare(request, given, servers, &config, &cancel)
    };
    alive(&watched, &life, prepare).await?
}

/// Makes the output directory, which must not exist.
async fn reserve(shared: &SharedRef, output: &Output) -> Result<(), Status> {
    let directory = output.directory().display().to_string();
    let turn = match output.server() {
        Some(server) => turn_at(&shared.remote_turns, server.to_owned(), &format!("`{server}`")).await?,
        None => {
            let mount = mount_of(output.directory());
            let called = format!("the file system at `{}`", mount.display());
            let turn = turn_at(&shared.local_turns, mount, &called).await?;
            refuse_daemons_places(shared, &directory, output.directory()).await?;
            turn
        }
    };
    shared.clearing.wait(output.directory()).await;
    let Err(e) = make_in_time(shared, output, turn).await? else { return Ok(()) };
    if e.kind() != io::ErrorKind::AlreadyExists {
        return Err(cannot_make(&directory, &e));
    }
    let wanted = directory.clone();
    let find = move |view: &crate::engine::View<'_>| {
        let uses = |output: &OutputFormat| matches!(output, OutputFormat::Files { directory } if *directory == wanted);
        let mut live = view.tables.jobs.values().filter(|row| !row.state.is_final());
        live.find(|row| uses(&row.meta.file.output)).map(|row| row.meta.file.id.clone())
    };
    let message = match shared.core.ask(find).await.map_err(status::core)? {
        Some(job) => format!("output directory `{directory}` belongs to {job}, which is not over"),
        None => format!("output directory `{directory}` exists already"),
    };
    Err(Status::already_exists(status::with_help(message, "choose another output, or remove the directory first")))
}

/// Makes an output. One here that is made only when nobody waits for it any more goes again.
async fn make_in_time(
    shared: &SharedRef,
    output: &Output,
    turn: Vec<OwnedSemaphorePermit>,
) -> Result<io::Result<()>, Status> {
    let (reserved, clearer) = (output.clone(), shared.clearer.clone());
    let work = move || {
        let _turn = turn;
        make(&reserved, &clearer)
    };
    if output.is_remote() {
        return blocking(work).await;
    }
    let (late, clearer) = (output.clone(), shared.clearer.clone());
    let undo = move |made: io::Result<()>| {
        if made.is_ok() {
            settle(late, Fate::Refused, &clearer)
        }
    };
    answered(output.directory(), work, undo).await
}

/// Makes an output; of one elsewhere there is a note from before it is there until it has a job.
fn make(output: &Output, clearer: &Clearer) -> io::Result<()> {
    let mut is_noted = false;
    let made = commit::reserve(output, || {
        is_noted = true;
        clearer.hold(output)
    });
    match &made {
        Err(error) if is_noted && error.kind() == io::ErrorKind::AlreadyExists => clearer.let_go(output),
        // Whether it was made is not known.
        Err(_) if is_noted => clearer.clear_later(output.clone()),
        _ => {}
    }
    made
}

/// A name node or a file system that hangs holds up the few submissions that ask it, and none of the threads that others need.
async fn turn_at<K: Ord>(turns: &Turns<K>, place: K, called: &str) -> Result<Vec<OwnedSemaphorePermit>, Status> {
    let turn = turns.take(BTreeSet::from([place]));
    let late = |_| Status::unavailable(format!("too many jobs wait for {called} at a time; try again"));
    tokio::time::timeout(LISTING_PATIENCE, turn).await.map_err(late)
}

/// Output must not lie in a directory of the master or of a worker, wherever links lead.
async fn refuse_daemons_places(shared: &SharedRef, directory: &str, path: &Path) -> Result<(), Status> {
    let workers = |view: &crate::engine::View<'_>| {
        let announced = view.tables.workers.iter().filter(|row| !row.directory.is_empty());
        let place = |row: &crate::tables::WorkerRow| Place {
            whose: format!("worker `{}`'s", row.name),
            directory: PathBuf::from(&row.directory),
        };
        announced.map(place).collect::<Vec<_>>()
    };
    let mut all = shared.core.ask(workers).await.map_err(status::core)?;
    let (resolved, own) = (path.to_owned(), shared.config.dir.clone());
    let resolve = move || {
        let own = fs::canonicalize(own)?;
        all.insert(0, Place { whose: "the master's".to_owned(), directory: own });
        let resolved = places::resolve(&resolved)?;
        Ok(places::collides(&resolved, &all).filter(|_| Guard::OutputPlace.stands()).cloned())
    };
    match answered(path, resolve, drop).await? {
        Ok(None) => Ok(()),
        Ok(Some(Place { whose, directory: place })) => {
            let message = format!("output directory `{directory}` lies in {whose} own directory `{}`", place.display());
            Err(Status::invalid_argument(status::with_help(message, "choose an --output outside of it")))
        }
        Err(e) => Err(cannot_make(directory, &e)),
    }
}

fn cannot_make(directory: &str, e: &io::Error) -> Status {
    let message = format!("output directory `{directory}` cannot be made: {e}");
    let of_hdfs = e.get_ref().and_then(|inner| inner.downcast_ref::<howdah_webhdfs::Error>());
    let of_store = e.get_ref().and_then(|inner| inner.downcast_ref::<howdah_s3::Error>());
    if of_hdfs.is_some_and(howdah_webhdfs::Error::is_trouble) {
        return Status::unavailable(status::with_help(message, NAME_NODE_HELP));
    }
    match of_store.and_then(splits::store_help) {
        Some(help) if of_store.is_some_and(howdah_s3::Error::is_trouble) => {
            Status::unavailable(status::with_help(message, help))
        }
        Some(help) => Status::invalid_argument(status::with_help(message, help)),
        None => Status::invalid_argument(message),
    }
}

/// Everything that needs no cluster: a job file without its number.
fn prepare(
    request: v1::SubmitJobRequest,
    given: Option<Vec<Split>>,
    servers: BTreeMap<String, String>,
    config: &MasterConfig,
    cancel: &Cancel,
) -> Result<JobFile, Status> {
    let limits = &config.limits;
    let app: App = json("app", &request.app_json)?;
    let input_format: InputFormat = json("input_format", &request.input_format_json)?;
    check_app(&app)?;
    check_texts(&request)?;
    let user = user_of(&request).to_owned();
    let mut properties: BTreeMap<String, String> = request.properties.into_iter().collect();
    known::check(&properties).map_err(|e| status::spec(&e))?;
    howdah_s3::check_secrets(&properties)
        .map_err(|e| Status::invalid_argument(status::with_help(e.to_string(), super::input_error::S3_WHO_HELP)))?;
    check_store(&request.inputs, &properties).map_err(|e| refused(&e))?;
    let mut conf = JobConf::from_properties(&config.memory.over(&properties)).map_err(|e| status::spec(&e))?;
    let mut servers = servers;
    let output = output(&request.output, &properties, &config.name_nodes, &mut servers)?;
    conf.commits_output = matches!(output, OutputFormat::Files { .. });
    if request.deadline_ms > 0 {
        conf.deadline = Some(Span::from_us(request.deadline_ms.saturating_mul(1_000)));
    }
    conf.requires = Requirements::parse(&request.requires).map_err(|e| Status::invalid_argument(e.to_string()))?;
    let profile = match request.profile_json.as_str() {
        "" => None,
        text => Some(json("profile", text)?),
    };
    let priority = priority(&request.priority, &properties)?;
    if request.n_reduces > limits.reduces_per_job {
        let message = format!("{} reduces, expected at most {}", request.n_reduces, limits.reduces_per_job);
        return Err(Status::invalid_argument(status::with_help(message, REDUCES_HELP)));
    }
    let max_maps = limits.tasks_per_job.saturating_sub(request.n_reduces);
    let places = splits::Places { host: &config.split_host, nodes: &config.name_nodes, user: &user };
    let wished = wished_maps(&app, &input_format, &properties);
    let made = || splits::splits(&request.inputs, &input_format, &properties, places, max_maps, wished, cancel);
    let splits = given.map_or_else(made, Ok).map_err(|e| refused(&e))?;
    // Where attempts fetch, and as whom, is the master's to say.
    let of_master = [howdah_webhdfs::PROPERTIES, howdah_s3::PROPERTIES];
    properties.retain(|key, _| !of_master.iter().any(|start| key.starts_with(start)));
    if servers.keys().any(|key| key.starts_with(howdah_webhdfs::PROPERTIES)) {
        properties.insert(howdah_webhdfs::USER_PROPERTY.to_owned(), user.clone());
        properties.insert(howdah_webhdfs::MARK_PROPERTY.to_owned(), token().map_err(random)?);
    }
    properties.extend(servers);
    if matches!(&output, OutputFormat::Files { directory } if directory.starts_with("s3:")) {
        properties.insert(howdah_s3::MARK_PROPERTY.to_owned(), token().map_err(random)?);
    }
    let spec = JobSpec {
        name: request.name.into(),
        user: user.into(),
        queue: queue(request.queue, &properties).into(),
        priority,
        n_maps: splits.len() as u32,
        n_reduces: request.n_reduces,
        map_input_bytes: splits.iter().map(Split::length).collect(),
        split_hosts: SplitHosts::new(splits.iter().map(|split| match split {
            Split::File { hosts, .. } => hosts.iter().map(String::as_str).collect::<Vec<_>>(),
            Split::Generated => Vec::new(),
        })),
        conf,
        profile,
    };
    spec.check().map_err(|e| status::spec(&e))?;
    Ok(JobFile {
        marked: false,
        id: String::new(),
        submit_ms_epoch: crate::clock::now_ms_epoch(),
        spec,
        app,
        input_format,
        splits,
        output,
        properties,
        token: token().map_err(random)?,
    })
}

/// The properties that tell attempts whom to ask for these inputs, and at whom there are turns to wait for.
fn remote_places(
    inputs: &[String],
    nodes: &NameNodes,
) -> Result<(BTreeMap<String, String>, BTreeSet<String>), InputError> {
    let (mut properties, mut turns) = (BTreeMap::new(), BTreeSet::new());
    for input in inputs.iter().filter(|input| RemotePath::is_one(input)) {
        let path = remote_files::remote_path(input)?;
        if path.is_object() {
            let store = remote_store::store();
            let store = store.map_err(|source| InputError::Remote { path: input.clone(), source: source.into() })?;
            properties.extend(store.properties());
            turns.insert(commit::STORE.to_owned());
        } else {
            let server = remote_files::server(nodes, &path)?;
            properties.insert(howdah_webhdfs::server_property(&path), server.to_owned());
            turns.insert(server.to_owned());
        }
    }
    Ok((properties, turns))
}

/// Whether a job that reads from a bucket brings a secret or names another store.
fn check_store(inputs: &[String], properties: &BTreeMap<String, String>) -> Result<(), InputError> {
    let is_object = |input: &&String| input.parse::<RemotePath>().is_ok_and(|path| path.is_object());
    let Some(input) = inputs.iter().find(is_object) else { return Ok(()) };
    let checked = remote_store::store().and_then(|store| Ok(store.check(properties)?));
    checked.map_err(|source| InputError::Remote { path: input.clone(), source: source.into() })
}

/// A submission with such an input. Where the name node is at fault, the job may be good and is worth another try.
fn refused(error: &InputError) -> Status {
    let message = error.to_string();
    let message = error.help().map_or(message.clone(), |help| status::with_help(message, help));
    if error.is_trouble() { Status::unavailable(message) } else { Status::invalid_argument(message) }
}

/// The priority asked for, else the one of the job's properties, else `NORMAL` (docs/hadoop.md#properties).
fn priority(asked: &str, properties: &BTreeMap<String, String>) -> Result<Priority, Status> {
    if !asked.is_empty() {
        return asked.parse().map_err(|e| status::spec(&e));
    }
    let named = PRIORITY_KEYS.iter().find_map(|key| Some((key, properties.get(*key)?)));
    named.map_or(Ok(Priority::Normal), |(key, text)| {
        let wrong = |e| Status::invalid_argument(format!("property `{key}`: {e}"));
        text.trim().parse::<Priority>().map_err(wrong)
    })
}

/// The queue asked for, else the one of the job's properties, else `default` (docs/hadoop.md#properties).
fn queue(asked: String, properties: &BTreeMap<String, String>) -> String {
    let named = || QUEUE_KEYS.iter().find_map(|key| properties.get(*key));
    let found = if asked.is_empty() { named().cloned().unwrap_or_default() } else { asked };
    if found.trim().is_empty() { "default".to_owned() } else { found.trim().to_owned() }
}

/// How many maps somebody wishes for, where that counts (docs/hadoop.md#tasks-and-attempts).
fn wished_maps(app: &App, input_format: &InputFormat, properties: &BTreeMap<String, String>) -> Option<u64> {
    let wish = || WISHED_MAPS.iter().find_map(|key| properties.get(*key))?.trim().parse().ok();
    // `Deviation:` without a wish there is a split a block. Hadoop's streaming takes 2 for one, of `mapred-default.xml`, and so
    // cuts every input of less than two blocks in halves: a second process, where one may be done sooner.
    if heeds_wished_maps(app, input_format) { wish() } else { None }
}

fn json<T: serde::de::DeserializeOwned>(what: &str, text: &str) -> Result<T, Status> {
    serde_json::from_str(text).map_err(|e| Status::invalid_argument(format!("{what}: not understood: {e}")))
}

fn check_app(app: &App) -> Result<(), Status> {
    match app {
        App::BuiltIn { name } if name.is_empty() => Err(Status::invalid_argument("app: its name is empty")),
        App::Program { path, .. } if !path.starts_with('/') => {
            Err(Status::invalid_argument(format!("program `{path}`: expected an absolute path")))
        }
        _ => Ok(()),
    }
}

fn check_texts(request: &v1::SubmitJobRequest) -> Result<(), Status> {
    let queues = QUEUE_KEYS.iter().filter_map(|key| Some(("queue", request.properties.get(*key)?)));
    let texts = [("name", &request.name), ("user", &request.user), ("queue", &request.queue)];
    for (what, text) in texts.into_iter().chain(queues) {
        names::check(&format!("job's {what}"), text, names::MAX_JOB_NAME_BYTES)?;
    }
    let long = request.inputs.iter().chain([&request.output]).find(|path| path.len() > limits::PATH_BYTES);
    if let Some(path) = long {
        let (n, most, start) = (path.len(), limits::PATH_BYTES, limits::first_part(path, 60));
        return Err(Status::invalid_argument(format!("path `{start}…` has {n} bytes, expected at most {most}")));
    }
    check_properties(&request.properties)
}

fn check_properties(properties: &HashMap<String, String>) -> Result<(), Status> {
    let refuse = |what: String, most: usize| Err(Status::invalid_argument(format!("{what}, expected at most {most}")));
    if properties.len() > limits::PROPERTIES {
        return refuse(format!("the job has {} properties", properties.len()), limits::PROPERTIES);
    }
    let mut total = 0;
    for (key, value) in properties {
        let bytes = key.len() + value.len();
        if bytes > limits::PROPERTY_BYTES {
            let name = limits::first_part(key, 60);
            return refuse(format!("property `{name}` has {bytes} bytes, name and value"), limits::PROPERTY_BYTES);
        }
        total += bytes;
    }
    if total > limits::PROPERTIES_BYTES {
        return refuse(format!("the job's properties have {total} bytes in all"), limits::PROPERTIES_BYTES);
    }
    Ok(())
}

fn random(error: io::Error) -> Status {
    status::internal("read random bytes", error)
}

/// Where the output goes; `servers` gets the one of an HDFS or the store.
fn output(
    text: &str,
    properties: &BTreeMap<String, String>,
    nodes: &NameNodes,
    servers: &mut BTreeMap<String, String>,
) -> Result<OutputFormat, Status> {
    if text.is_empty() {
        return Ok(OutputFormat::None);
    }
    if text.parse::<RemotePath>().is_ok_and(|path| path.is_object()) {
        return bucket_output(text, properties, servers);
    }
    if RemotePath::is_one(text) {
        let (path, server) = hdfs_output(text, nodes)?;
        servers.insert(howdah_webhdfs::server_property(&path), server);
        return Ok(OutputFormat::Files { directory: path.to_string() });
    }
    let path = Path::new(text);
    let climbs = path.components().any(|part| matches!(part, std::path::Component::ParentDir));
    if !path.is_absolute() || climbs {
        let message = format!("output directory `{text}`: expected an absolute path without `..`");
        return Err(Status::invalid_argument(message));
    }
    if path.file_name().is_none() {
        let message = format!("output directory `{text}`: found the root directory, expected one that does not exist");
        return Err(Status::invalid_argument(message));
    }
    // One spelling per directory.
    let directory: PathBuf = path.components().collect();
    Ok(OutputFormat::Files { directory: directory.to_string_lossy().into_owned() })
}

/// An output in a bucket; `servers` gets the store.
fn bucket_output(
    text: &str,
    properties: &BTreeMap<String, String>,
    servers: &mut BTreeMap<String, String>,
) -> Result<OutputFormat, Status> {
    let wrong = |problem: String| Status::invalid_argument(format!("output directory {problem}"));
    let path: RemotePath = text.parse().map_err(|error: AddressError| wrong(error.to_string()))?;
    if path.path == "/" {
        return Err(wrong(format!("`{text}`: expected one below the bucket")));
    }
    let store = remote_store::store().and_then(|store| store.check(properties).map(|()| store).map_err(Into::into));
    let store = store.map_err(|error| {
        let message = format!("output directory `{text}`: {error}");
        Status::invalid_argument(match splits::store_help(&error) {
            Some(help) => status::with_help(message, help),
            None => message,
        })
    })?;
    servers.extend(store.properties());
    Ok(OutputFormat::Files { directory: path.to_string() })
}

/// An output in an HDFS, in its one spelling, and the HTTP server.
fn hdfs_output(text: &str, nodes: &NameNodes) -> Result<(RemotePath, String), Status> {
    let wrong = |error: AddressError| Status::invalid_argument(format!("output directory {error}"));
    let path: RemotePath = text.parse().map_err(wrong)?;
    if path.path == "/" {
        return Err(Status::invalid_argument(format!("output directory `{text}`: expected one below the root")));
    }
    let (path, server) = nodes.named(&path).ok_or_else(|| {
        let name_node = format!("{}://{}", path.scheme, path.authority);
        let message = format!("output directory `{text}`: this master writes nothing to {name_node}");
        Status::invalid_argument(status::with_help(message, NAME_NODES_HELP))
    })?;
    Ok((path, server.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_priority_is_asked_for_or_a_property_or_normal() {
        let properties = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
        for key in PRIORITY_KEYS {
            assert_eq!(priority("", &properties(key, " LOW ")).expect("it is one"), Priority::Low);
            assert_eq!(priority("HIGH", &properties(key, "LOW")).expect("it is one"), Priority::High);
            let said = priority("", &properties(key, "urgent")).expect_err("it is none").message().to_owned();
            assert!(said.starts_with(&format!("property `{key}`: ")) && said.contains("`urgent`"), "{said}");
        }
        assert_eq!(priority("", &properties("other", "LOW")).expect("it is one"), Priority::Normal);
    }

    #[test]
    fn maps_are_wished_for_by_streaming_jobs_of_text_and_not_by_others() {
        let streaming = App::Streaming { mapper: None, reducer: None, combiner: None };
        let built_in = App::BuiltIn { name: "wordcount".to_owned() };
        let wish = |app: &App, format: &InputFormat, key: &str| {
            wished_maps(app, format, &BTreeMap::from([(key.to_owned(), " 7 ".to_owned())]))
        };
        for key in WISHED_MAPS {
            assert_eq!(wish(&streaming, &InputFormat::Text, key), Some(7));
            assert_eq!(wish(&streaming, &InputFormat::NLine { lines: 1 }, key), None);
            assert_eq!(wish(&built_in, &InputFormat::Text, key), None);
        }
        assert_eq!(wish(&streaming, &InputFormat::Text, "mapred.map.task"), None);
    }

    #[test]
    fn an_output_goes_only_where_the_journal_has_no_job_for_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let clearer = Clearer::start(commit::Owed::of(dir.path()), &[]);
        for (fate, stays) in [(Fate::Taken, true), (Fate::Open, true), (Fate::Refused, false)] {
            let directory = dir.path().join(format!("{fate:?}"));
            let output = Output::new(directory.to_str().expect("it is UTF-8"), &BTreeMap::new());
            commit::reserve(&output, || Ok(())).expect("it is made");
            commit::mark(&output, "job_1_0001").expect("it is marked");
            settle(output, fate, &clearer);
            let mark = directory.join(howdah_core::job::OUTPUT_MARK);
            assert_eq!((directory.exists(), mark.exists()), (stays, stays), "{fate:?}");
        }
    }

    #[test]
    fn a_queue_is_asked_for_or_a_property_or_the_default() {
        let properties = |key: &str| BTreeMap::from([(key.to_owned(), " etl ".to_owned())]);
        for key in ["mapred.job.queue.name", "mapreduce.job.queuename"] {
            assert_eq!(queue(String::new(), &properties(key)), "etl");
            assert_eq!(queue("nightly".to_owned(), &properties(key)), "nightly");
        }
        assert_eq!(queue(String::new(), &properties("other")), "default");
    }
}
