//! `master`: from flags and settings to a running master.

pub(crate) mod args;

use self::args::MasterArgs;
use crate::config::{Context, Flag, Section, warn_of_misspelt};
use crate::daemon::{check_root, choose_scheduler, run};
use crate::define::params;
use crate::failure::{Failure, Outcome};
use crate::log::Destination;

/// `howdah master`
pub(crate) fn master(context: &Context, args: &MasterArgs) -> Outcome {
    let flags = vec![
        Flag::new("--dir", "dir", &args.dir),
        Flag::new("--new-cluster", "new_cluster", &args.new_cluster.then_some(true)),
        Flag::new("--listen", "listen", &args.listen),
        Flag::new("--as-root", "as_root", &args.as_root.then_some(true)),
        Flag::new("--scheduler", "scheduler", &args.scheduler),
        Flag::new("--keep-jobs", "keep_jobs.number", &args.keep_jobs),
        Flag::new("--seed", "seed", &args.seed),
    ];
    let (mut config, settings) = context.settings::<howdah_master::MasterConfig>(Section::Master, flags)?;
    warn_of_misspelt(&settings);
    config.without_journal = args.without_journal;
    choose_scheduler(&mut config, &settings, args.mapred_site.as_deref(), params(&args.define)?)?;
    howdah_master::prediction::check(&config).map_err(|error| Failure::usage(format!("{error:#}")))?;
    check_root("master", config.serves_others(), config.as_root)?;
    let log = Destination::of(context, &config.dir)?;
    howdah_master::heap::keep_small();
    run(args.leash, &log, |stop| howdah_master::run(config, stop))
}
