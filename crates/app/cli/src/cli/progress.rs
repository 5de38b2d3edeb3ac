//! Progress on standard error, on terminals only, and only for work that takes longer than a second.

use super::verbosity::is_quiet;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time after which progress is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// A progress indicator. It is visible from a second after its creation until it is dropped.
pub struct ProgressIndicator {
    bar: ProgressBar,
    waiting: Option<(Sender<()>, JoinHandle<()>)>,
}

impl ProgressIndicator {
    /// An indicator for work of unknown length.
    pub fn new_spinner(message: &'static str) -> Self {
        let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})");
        Self::new(ProgressBar::hidden(), style, message)
    }

    /// An indicator for work of `steps` steps.
    pub fn new_bar(message: &'static str, steps: u64) -> Self {
        let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} ({eta})");
        Self::new(
            ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::hidden()),
            style,
            message,
        )
    }

    fn new(
        bar: ProgressBar,
        style: Result<ProgressStyle, indicatif::style::TemplateError>,
        message: &'static str,
    ) -> Self {
        if let Ok(style) = style {
            bar.set_style(style);
        }
        bar.set_message(message);
        // Without a terminal nothing is shown, and a process of one thread is faster.
        let waiting = (stderr().is_terminal() && !is_quiet()).then(|| show_later(bar.clone()));
        ProgressIndicator { bar, waiting }
    }

    /// Sets the message.
    pub fn set_message(&self, message: String) {
        self.bar.set_message(message);
    }

    /// Prints a line to standard error, above the indicator.
    pub fn print_line(&self, text: &str) {
        self.bar.suspend(|| {
            // A failure has no one to be reported to.
            let _ = writeln!(stderr(), "{text}");
        });
    }

    /// Counts a step as done.
    pub fn advance_step(&self) {
        self.bar.inc(1);
    }
}

/// Shows a bar after [`PATIENCE`], unless the returned sender is dropped before.
fn show_later(bar: ProgressBar) -> (Sender<()>, JoinHandle<()>) {
    let (stop, stopped) = channel();
    let waiter = std::thread::spawn(move || {
        if stopped.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(Duration::from_millis(100));
        }
    });
    (stop, waiter)
}

impl Drop for ProgressIndicator {
    fn drop(&mut self) {
        if let Some((stop, waiter)) = self.waiting.take() {
            drop(stop);
            // The thread only waits and draws, and has no result.
            let _ = waiter.join();
        }
        self.bar.finish_and_clear();
    }
}
