//! `queue list`: how many jobs wait and run in each queue, and what each is due.

pub(crate) mod args;
pub(crate) mod view;

use howdah_json::Listing;
use howdah_proto::v1::ListQueuesRequest;
use serde_json::json;

use crate::args::Format;
use crate::client::Client;
use crate::cluster::args::LookArgs;
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::output::note;
use crate::output::table::Grid;
use crate::queue::view::Queue;

/// `howdah queue list`
pub(crate) async fn list_queues(context: &Context, args: &LookArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let answer = client.rpc.list_queues(ListQueuesRequest {}).await?.into_inner();
    let queues: Vec<Queue> = answer.queues.iter().map(Queue::from).collect();
    match config.output {
        Format::Json => {
            screen.json(&Listing::new("queues", json!({ "queues": queues, "warnings": answer.warnings })))?;
        }
        Format::Table => {
            let shared = queues.iter().any(|queue| queue.share.is_some());
            let plain = ["queue", ">waiting", ">running"];
            let slots = [">maps", ">due", ">reduces", ">due", ">weight"];
            let columns = if shared { [plain.as_slice(), &slots].concat() } else { plain.to_vec() };
            let mut grid = Grid::new(&columns);
            for queue in queues {
                let mut row = vec![queue.name, queue.waiting_jobs.to_string(), queue.running_jobs.to_string()];
                if let Some(s) = queue.share {
                    row.extend([s.running_maps.to_string(), format!("{:.1}", s.share_maps)]);
                    row.extend([s.running_reduces.to_string(), format!("{:.1}", s.share_reduces)]);
                    row.push(s.weight.to_string());
                }
                grid.row(row);
            }
            screen.line(grid.render(&screen))?;
            answer.warnings.iter().for_each(|warning| note(format!("warning: {warning}")));
        }
    }
    Ok(Exit::Done)
}
