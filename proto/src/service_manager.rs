//! What a daemon says to the service manager that started it: that it is ready, what it does, that it is alive.
//!
//! systemd and whatever else speaks `sd_notify(3)` is meant; a daemon that nobody of that kind started says nothing. A word
//! that does not arrive is no reason to stop: the manager has time-outs of its own.

use std::future::Future;
use std::time::Duration;

use sd_notify::NotifyState;

/// The variable that names the manager's socket. Programs of users must not get it: they could speak for the daemon.
pub const SOCKET_VARIABLE: &str = "NOTIFY_SOCKET";

/// The daemon serves; `status` says what it does, in the words that `systemctl status` shows.
pub fn ready(status: &str) {
    say(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// What the daemon does now.
pub fn status(status: &str) {
    say(&[NotifyState::Status(status)]);
}

/// The daemon was told to stop; what is under way may take a while.
pub fn stopping(status: &str) {
    say(&[NotifyState::Stopping, NotifyState::Status(status)]);
}

/// To be said by the thread whose death or halt would make the daemon useless, see [`ask_alive`].
pub fn alive() {
    say(&[NotifyState::Watchdog]);
}

/// Where the manager watches (`WatchdogSec=`): calls `ask` three times in each of its periods, for as long as it returns
/// true. What it asks should call [`alive`].
pub async fn ask_alive<F: Future<Output = bool>>(mut ask: impl FnMut() -> F) {
    let Some(period) = sd_notify::watchdog_enabled().filter(|period| *period > Duration::ZERO) else { return };
    let mut times = tokio::time::interval(period / 3);
    times.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        times.tick().await;
        if !ask().await {
            return;
        }
    }
}

fn say(state: &[NotifyState<'_>]) {
    // There is nobody to complain to but the one who did not listen.
    let _ = sd_notify::notify(state);
}
