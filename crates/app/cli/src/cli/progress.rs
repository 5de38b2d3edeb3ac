//! Progress on standard error: only on terminals, and only of what takes longer than a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long something may take before progress is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shown from a second after its making until it is dropped.
pub struct ProgressIndicator {
    bar: ProgressBar,
    waiting: Option<(Sender<()>, JoinHandle<()>)>,
}

impl ProgressIndicator {
    /// Something whose end is not known.
    pub fn new_spinner(message: &'static str) -> Self {
        let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})");
        Self::new(ProgressBar::hidden(), style, message)
    }

    /// Something of so many steps.
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
        // Where nothing would be shown, a process of one thread is the faster one.
        let waiting = stderr().is_terminal().then(|| show_later(bar.clone()));
        ProgressIndicator { bar, waiting }
    }

    /// Says what is being done.
    pub fn set_message(&self, message: String) {
        self.bar.set_message(message);
    }

    /// Writes a line to standard error, above what is shown.
    pub fn print_line(&self, text: &str) {
        self.bar.suspend(|| {
            // Nobody is left to be told that it cannot be written.
            let _ = writeln!(stderr(), "{text}");
        });
    }

    /// One step is done.
    pub fn advance_step(&self) {
        self.bar.inc(1);
    }
}

/// Shows a bar once it has taken too long; not if what it returns is dropped before.
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
            // The thread only waits and draws; it has no result.
            let _ = waiter.join();
        }
        self.bar.finish_and_clear();
    }
}
