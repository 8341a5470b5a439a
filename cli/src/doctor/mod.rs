//! `doctor`: what keeps a lab from working, as this machine sees it, and what to do about each.

pub(crate) mod args;
mod checks;
mod machine;
mod share;
mod sights;
mod users;

use howdah_core::job::limits;
use howdah_json::Listing;
use howdah_proto::v1::{ExamineRequest, GetClusterRequest, ListWorkersRequest};
use serde_json::json;
use tonic::Status;

use self::args::DoctorArgs;
use self::checks::Check;
use self::share::Probe;
use crate::args::Format;
use crate::client::Client;
use crate::config::{ClientConfig, Context};
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::job::view::now_ms;
use crate::output::table::Grid;
use crate::output::{Screen, Style, note};

/// What to do about an answer that the master should have had.
const LOG: &str = "look into the master's log, and ask again";

/// `howdah doctor`
pub(crate) async fn doctor(context: &Context, args: &DoctorArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = Screen::new(config.color);
    let mut checks = vec![machine::user(), machine::open_files()];
    checks.extend(machine::free_memory());
    let mut probes = Vec::new();
    for path in &args.share {
        let (found, probe) = share::look(path);
        checks.extend(found);
        probes.extend(probe);
    }
    cluster(&config, &probes, &mut checks).await;
    let bad = checks.iter().filter(|check| check.problem.is_some()).count();
    if config.output == Format::Json {
        screen.json(&Listing::new("doctor", json!({ "checks": checks, "bad": bad })))?;
    } else {
        print(&screen, &checks)?;
    }
    Ok(if bad == 0 { Exit::Done } else { Exit::Failed })
}

async fn cluster(config: &ClientConfig, probes: &[Probe], checks: &mut Vec<Check>) {
    let mut client = match Client::connect(config).await {
        Ok(client) => client,
        Err(failure) => {
            let said = failure.to_string();
            let mut lines = said.lines();
            let problem = lines.next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            let help = lines.next().map_or("look whether the master runs, and what its log says", |help| {
                help.trim_start_matches("help: ")
            });
            let help = help.to_owned();
            checks.push(Check::bad("master", "connection", problem, help));
            return;
        }
    };
    checks.push(Check::good("master", "connection", client.address().to_owned()));
    let asked = now_ms();
    match client.rpc.get_cluster(GetClusterRequest {}).await {
        Ok(answer) => {
            let answer = answer.into_inner();
            checks.push(checks::version("master", &answer.version));
            // Its clock was read somewhere between the question and the answer.
            let (asked, answered) = (asked as i64, now_ms() as i64);
            let doubt = (answered - asked).abs() / 2;
            if answer.now_ms_epoch > 0 {
                let offset = (asked + doubt).saturating_sub_unsigned(answer.now_ms_epoch);
                checks.push(checks::clock("this machine", offset, doubt));
            }
        }
        Err(status) => checks.push(Check::bad("master", "answer", status.message().to_owned(), LOG.to_owned())),
    }
    let workers = match client.rpc.list_workers(ListWorkersRequest { all: false }).await {
        Ok(answer) => answer.into_inner().workers,
        Err(status) => {
            checks.push(Check::bad("workers", "list", status.message().to_owned(), LOG.to_owned()));
            return;
        }
    };
    if workers.is_empty() {
        let help = "start one with `howdah worker --master ADDR --dir DIR`".to_owned();
        checks.push(Check::bad("workers", "number", "none has registered".to_owned(), help));
    }
    for worker in &workers {
        checks::worker(worker, checks);
        if !checks::is_gone(worker) {
            checks.push(checks::port(worker).await);
        }
    }
    if let Err(status) = examine(&mut client, probes, checks).await {
        checks.push(Check::bad("workers", "what they see", status.message().to_owned(), LOG.to_owned()));
    }
}

/// Has the workers look at their machines and each other, and at all shared folders, some at a time.
async fn examine(client: &mut Client, probes: &[Probe], checks: &mut Vec<Check>) -> Result<(), Status> {
    let mut shares = probes.iter().map(Probe::wire).collect::<Vec<_>>();
    let mut rest = shares.split_off(shares.len().min(limits::SHARES));
    let answer = client.rpc.examine(ExamineRequest { shares }).await?.into_inner();
    let master = answer.master.unwrap_or_default();
    checks::master(&master, checks);
    checks.extend(users::compare(&master, &answer.sights));
    let mut all = answer.sights;
    while !rest.is_empty() {
        let shares = rest.drain(..rest.len().min(limits::SHARES)).collect();
        let answer = client.rpc.examine(ExamineRequest { shares }).await?.into_inner();
        // At machines and each other they have looked before.
        all.extend(answer.sights.into_iter().filter(|sight| sight.what == "share"));
    }
    sights::checks(&all, checks);
    Ok(())
}

fn print(screen: &Screen, checks: &[Check]) -> Outcome<()> {
    let mut grid = Grid::new(&["of", "check", "result", "found"]);
    for check in checks {
        let (result, found, style) = match &check.problem {
            None => ("ok", &check.found, Style::Good),
            Some(problem) => ("BAD", problem, Style::Bad),
        };
        grid.row([check.of.as_str(), check.what, result, found.as_str()].map(str::to_owned));
        grid.style(2, style);
    }
    screen.line(grid.render(screen))?;
    for check in checks.iter().filter(|check| !check.help.is_empty()) {
        note(format!("help: {} {}: {}", check.of, check.what, check.help));
    }
    Ok(())
}
