//! The fixed baseline of `bench noop`: the least that running a process can cost, two at a time.
//!
//! Two threads spawn `/bin/true` through the standard library (posix_spawn) and reap it, over and over: no logs, no
//! reports, nobody to tell.

use std::process::{Command, Stdio};

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// `howdah bench baseline-spawn N`
pub(crate) fn main(args: &[String]) -> Outcome {
    let [n] = args else { return Err(Failure::usage("expected N")) };
    let n: u32 = n.parse().map_err(|_| Failure::usage(format!("expected a number, found `{n}`")))?;
    let half = |n: u32| -> std::io::Result<()> {
        for _ in 0..n {
            Command::new("/bin/true").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        }
        Ok(())
    };
    let (one, two) = std::thread::scope(|scope| {
        let two = scope.spawn(|| half(n / 2));
        (half(n - n / 2), two.join())
    });
    one.map_err(|error| Failure::broke(format!("cannot run /bin/true: {error}")))?;
    two.map_err(|_| Failure::broke("a spawning thread panicked"))??;
    Ok(Exit::Done)
}
