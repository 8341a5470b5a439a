//! `submit --batch`: a file of jobs, submitted in the order that the optimiser finds for this cluster.
//!
//! With pools, each job goes to its pool's queue, whose name says the pool's slots (`pool-1:3+3`): under the policy
//! `balanced-pools` the batch so brings its pools with it. Everything is read, planned and checked before the first
//! job is submitted.

use std::path::Path;

use howdah_apps::JobPlan;
use howdah_core::job::profile::Trace;
use howdah_core::job::{JobProfile, Requirement};
use howdah_json::{Job, Listing};
use howdah_planning::optimize::{Batch, Objective, Plan, Slots, plan};
use howdah_proto::v1::{GetClusterRequest, GetClusterResponse, JobStatus, ListQueuesRequest};
use serde_json::json;

use super::plan::{SubmitAs, plans, submit_plan, tell_doubts};
use super::replan;
use super::replan::Earlier;
use crate::args::Format;
use crate::client::{Client, succeeded, unless_interrupted};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::job_end::not_succeeded;
use crate::optimize::args::MethodChoice;
use crate::optimize::choices;
use crate::optimize::write::queue;
use crate::output::progress::JobProgress;
use crate::output::table::Grid;
use crate::output::{Screen, note};
use crate::submit::args::{BatchOrder, SubmitArgs};
use crate::submit::batch_file::{BatchFile, BatchJob};
use crate::units::{counted, parse_duration, seconds};

/// A job ready to be submitted.
struct Ready {
    plan: JobPlan,
    how: SubmitAs,
}

/// `howdah submit --batch FILE`
pub(super) async fn submit(context: &Context, args: &SubmitArgs, path: &Path) -> Outcome {
    let (output, format) = args.outputs().map_err(Failure::usage)?;
    if let Some(output) = output {
        let output = output.display();
        return Err(Failure::usage(format!(
            "--output: found `{output}`, expected table or json: each job of a batch names its own"
        )));
    }
    args.check_plan().map_err(Failure::usage)?;
    let config = context.client(&args.cluster, format)?;
    let screen = context.screen(config.color);
    let batch = BatchFile::read(path)?;
    let mut ready = batch.jobs.iter().map(|job| ready(args, job)).collect::<Outcome<Vec<Ready>>>()?;
    check_queues(args, &ready)?;
    let mut client = Client::connect(&config).await?;
    let cluster = client.rpc.get_cluster(GetClusterRequest {}).await?.into_inner();
    let pooled = args.order.unwrap_or_default() == BatchOrder::default();
    let earlier = if pooled { replan::earlier(&mut client, &cluster).await? } else { Vec::new() };
    let found = planned(args, &batch, &mut ready, &cluster, &earlier)?;
    if let Some(plan) = &found {
        check_policy(&mut client, plan, args, &cluster.scheduler).await?;
    }
    let order: Vec<usize> = match &found {
        None => (0..ready.len()).collect(),
        Some(plan) => {
            let jobs = plan.submissions().into_iter().map(|(_, job)| job);
            jobs.filter_map(|job| job.checked_sub(earlier.len())).collect()
        }
    };
    let moved = found.as_ref().map_or_else(Vec::new, |plan| replan::pools(&earlier, plan));
    // Asked for before any job of the batch was submitted.
    let others = (cluster.jobs_prep + cluster.jobs_running).saturating_sub(earlier.len() as u32);
    let mut jobs = Vec::new();
    if !args.dry_run {
        if let Some(plan) = &found {
            replan::apply(&mut client, &cluster, &earlier, plan).await?;
        }
        for &place in &order {
            let Ready { plan, how } = &ready[place];
            jobs.push(submit_plan(&mut client, plan, how).await?);
        }
        tell_doubts(&mut client).await?;
    }
    let quiet = config.output == Format::Json;
    if !quiet {
        let outlook = found.as_ref().map_or_else(String::new, |plan| outlook(plan, &moved, others));
        screen.line(table(&screen, &ready, &order, &jobs) + &outlook)?;
    }
    let ends =
        if args.wait { unless_interrupted(wait(&screen, &mut client, &jobs, quiet), &jobs).await? } else { Vec::new() };
    let measured = measured_s(&ends);
    if quiet {
        let listed: Vec<_> = order
            .iter()
            .enumerate()
            .map(|(n, &place)| json!({ "job": jobs.get(n), "name": ready[place].plan.name, "queue": ready[place].how.queue }))
            .collect();
        screen.json(&Listing::new(
            "batch",
            json!({
                "order": args.order.unwrap_or_default().name(),
                "scheduler": cluster.scheduler,
                "other_jobs": others,
                "planned_again": moved.iter().map(|(job, queue)| json!({ "job": job, "queue": queue })).collect::<Vec<_>>(),
                "planned_mean_delay_s": found.as_ref().map(|plan| plan.mean_delay().as_secs_f64()),
                "planned_makespan_s": found.as_ref().map(|plan| plan.makespan().as_secs_f64()),
                "measured_makespan_s": measured,
                "jobs": listed,
            }),
        ))?;
    } else if let Some(measured) = measured {
        screen.line(format!("all over after {}", seconds(measured)))?;
    }
    match ends.iter().find(|status| !succeeded(status)) {
        Some(status) => Err(not_succeeded(&Job::from(status))),
        None => Ok(Exit::Done),
    }
}

/// A job as `submit` would take it, with the flags that hold for all.
fn ready(args: &SubmitArgs, job: &BatchJob) -> Outcome<Ready> {
    let one = SubmitArgs {
        app: Some(job.app.clone()),
        args: job.args.clone(),
        input: job.input.clone(),
        define: args.define.iter().cloned().chain(job.properties.clone()).collect(),
        reduces: job.reduces,
        name: job.name.clone(),
        ..args.clone()
    };
    let mut plans = plans(&one, job.output.as_deref())?;
    let n = plans.len();
    let (Some(plan), 1) = (plans.pop(), n) else {
        let message = format!("batch: `{}` is a chain of {n} jobs, expected one job", job.app);
        return Err(Failure::usage(message).help("submit it by itself, before or after the batch"));
    };
    let deadline = job.deadline.as_deref().map(parse_duration).transpose();
    let deadline =
        deadline.map_err(|problem| Failure::usage(format!("batch job `{}`: deadline: {problem}", plan.name)))?;
    let how = SubmitAs {
        queue: job.queue.clone().or_else(|| args.queue.clone()),
        priority: job.priority.or(args.priority),
        deadline: deadline.or(args.deadline),
        requires: requires(args, job),
        profile: None,
        follows: None,
        remote_paths: args.remote_paths,
    };
    Ok(Ready { plan, how })
}

/// A plan with pools gives each job its pool's queue, and no plan looks at priorities.
fn check_queues(args: &SubmitArgs, ready: &[Ready]) -> Outcome<()> {
    let order = args.order.unwrap_or_default();
    let asked = ready.iter().find_map(|job| Some((&job.plan.name, job.how.queue.as_ref()?)));
    if let (BatchOrder::Planned(MethodChoice::BalancedPools), Some((job, queue))) = (order, asked) {
        let said = format!("batch job `{job}`: queue `{queue}`: the plan's pools are the queues, expected none");
        return Err(Failure::usage(said).help("all other orders, such as --order johnson, leave queues alone"));
    }
    let differ = ready.windows(2).any(|pair| pair[0].how.priority != pair[1].how.priority);
    if differ && order != BatchOrder::Asis {
        note("note: the jobs have different priorities, which go before the planned order and are not in the plan");
    }
    Ok(())
}

/// The job's own requirements, and those of the command line on attributes that it does not speak of.
fn requires(args: &SubmitArgs, job: &BatchJob) -> Vec<Requirement> {
    let own = |name: &str| job.requires.iter().any(|requirement| requirement.name() == name);
    let common = args.requires.iter().filter(|requirement| !own(requirement.name()));
    common.chain(&job.requires).cloned().collect()
}

/// The plan, and with it each job's queue and profile; `None` for the file's own order.
fn planned(
    args: &SubmitArgs,
    batch: &BatchFile,
    ready: &mut [Ready],
    cluster: &GetClusterResponse,
    earlier: &[Earlier],
) -> Outcome<Option<Plan>> {
    let BatchOrder::Planned(method) = args.order.unwrap_or_default() else { return Ok(None) };
    let method = choices::method(method, &args.pools);
    let names: Vec<String> = ready.iter().map(|job| job.plan.name.clone()).collect();
    let reduces: Vec<u32> = ready.iter().map(|job| job.plan.n_reduces).collect();
    let templates = batch.templates(&names, &reduces)?;
    let all = earlier.iter().map(|job| &job.rest).chain(&templates).cloned();
    let trace = Trace { jobs: all.collect(), ..Trace::default() };
    let slots = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
    let slots = Slots { maps: slots(cluster.map_slots), reduces: slots(cluster.reduce_slots) };
    let of = Batch { small_by: choices::small_by(&args.pools), ..Batch::new(&trace, slots) };
    let found = plan(&of, method).map_err(|error| {
        let cluster = format!("the cluster's {} map and {} reduce slots", slots.maps, slots.reduces);
        Failure::usage(format!("plan the batch for {cluster}: {error}"))
    })?;
    for (job, template) in ready.iter_mut().zip(&templates) {
        job.how.profile = JobProfile::of(template);
    }
    if found.pools.len() > 1 {
        for (pool, job) in found.submissions() {
            if let Some(job) = job.checked_sub(earlier.len()) {
                ready[job].how.queue = Some(queue(&found, pool));
            }
        }
    }
    Ok(Some(found))
}

/// Whether the cluster will do what the plan says.
async fn check_policy(client: &mut Client, plan: &Plan, args: &SubmitArgs, scheduler: &str) -> Outcome<()> {
    let order = args.order.unwrap_or_default();
    let planned = |method| order == BatchOrder::Planned(method);
    let johnsons = (planned(MethodChoice::Johnson) || planned(MethodChoice::BalancedPools))
        && choices::objective(&args.pools) == Objective::Makespan;
    if scheduler == "balanced-pools" && !johnsons {
        // Whether the policy was notified already, the master does not say.
        note(
            "note: the cluster's scheduler is `balanced-pools`, which by itself has each pool's jobs in Johnson's order; \
             the planned one holds under `howdah scheduler set balanced-pools -D order=submitted`",
        );
        return Ok(());
    }
    if plan.pools.len() == 1 {
        // Policies with an order of their own do not mind the order of submission.
        let own = johnsons && ["johnson", "balanced-pools"].contains(&scheduler);
        if !own && !["fifo", "capacity"].contains(&scheduler) {
            note(format!(
                "note: the cluster's scheduler is `{scheduler}`, which has its own order; the planned one holds under fifo"
            ));
        }
        return Ok(());
    }
    if scheduler == "balanced-pools" {
        return Ok(());
    }
    let names: Vec<String> = (0..plan.pools.len()).map(|pool| queue(plan, pool)).collect();
    let missing = if scheduler == "capacity" {
        let known = client.rpc.list_queues(ListQueuesRequest {}).await?.into_inner().queues;
        names.iter().find(|name| known.iter().all(|queue| queue.name != **name)).cloned()
    } else {
        names.first().cloned()
    };
    match missing {
        None => Ok(()),
        Some(queue) => {
            Err(Failure::usage(format!("scheduler `{scheduler}` has no pool `{queue}`, expected balanced-pools"))
                .help("`howdah scheduler set balanced-pools` puts a policy in charge under which a batch brings its pools with it")
                .help("or with capacity and the queues that `howdah optimize --write-capacity` writes"))
        }
    }
}

async fn wait(screen: &Screen, client: &mut Client, jobs: &[String], quiet: bool) -> Outcome<Vec<JobStatus>> {
    let mut ends = Vec::new();
    for job in jobs {
        let mut progress = if quiet { JobProgress::Quiet } else { JobProgress::new(screen, job, true) };
        let status =
            client.watch(job, |status| if screen.is_terminal() { progress.show(screen, status) } else { Ok(()) }).await;
        progress.finish();
        ends.push(status?);
    }
    Ok(ends)
}

/// From the first submission to the last end.
fn measured_s(ends: &[JobStatus]) -> Option<f64> {
    let first = ends.iter().map(|status| status.submit_ms_epoch).min()?;
    let last = ends.iter().map(|status| status.finish_ms_epoch).max()?;
    Some(last.saturating_sub(first) as f64 / 1e3)
}

fn table(screen: &Screen, ready: &[Ready], order: &[usize], jobs: &[String]) -> String {
    let mut grid = Grid::new(&["job", "name", "queue"]);
    for (n, &place) in order.iter().enumerate() {
        let job = jobs.get(n).map_or("-", String::as_str);
        let Ready { plan, how } = &ready[place];
        grid.row([job, &plan.name, how.queue.as_deref().unwrap_or("default")]);
    }
    let said = if jobs.is_empty() { "planned" } else { "submitted" };
    format!("{}\n{} {said}", grid.render(screen), counted(order.len() as u64, "job"))
}

/// What a plan promises, and what it leaves out.
fn outlook(plan: &Plan, moved: &[(String, String)], others: u32) -> String {
    let (end, delay) = (plan.makespan().as_secs_f64(), plan.mean_delay().as_secs_f64());
    let mut text = format!(", to be over after {}, mean delay {}", seconds(end), seconds(delay));
    if !moved.is_empty() {
        let pools = moved.iter().map(|(job, queue)| format!("{job} in {queue}")).collect::<Vec<_>>().join(", ");
        let earlier = counted(moved.len() as u64, "earlier job");
        text += &format!("\nplanned together with what is left of {earlier}: {pools}");
    }
    if others > 0 {
        let others = counted(u64::from(others), "other job");
        text += &format!(
            "\nplanned for a cluster with nothing else to do: {others} came before, so that it may take longer"
        );
    }
    text
}
