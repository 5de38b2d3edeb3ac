//! Timing: several contenders in turn, so that noise of the machine meets all alike.

use cpu_time::ProcessTime;
use std::time::{Duration, Instant};

/// One way to do a piece of work.
pub struct Contender<'a> {
    /// Name in the report.
    pub name: &'static str,
    /// Does the work once.
    pub run: Box<dyn FnMut() + 'a>,
}

/// Medians over the rounds.
#[derive(Clone, Copy)]
pub struct Time {
    /// Processor time of all threads.
    pub cpu: Duration,
    /// Time on the wall.
    pub wall: Duration,
}

/// Runs the contenders in turn, one round to warm up and then `rounds` that count.
pub fn measure(contenders: &mut [Contender<'_>], rounds: usize) -> Vec<Time> {
    let mut times = vec![Vec::with_capacity(rounds); contenders.len()];
    for round in 0..=rounds {
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            let (cpu, wall) = (ProcessTime::now(), Instant::now());
            (contender.run)();
            if round > 0 {
                times.push((cpu.elapsed(), wall.elapsed()));
            }
        }
    }
    times
        .into_iter()
        .map(|times| Time {
            cpu: median(times.iter().map(|t| t.0).collect()),
            wall: median(times.iter().map(|t| t.1).collect()),
        })
        .collect()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
