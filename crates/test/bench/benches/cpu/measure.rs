//! Timing: contenders take turns, so that noise of the machine affects all alike.

use cpu_time::ProcessTime;
use std::time::{Duration, Instant};

/// A way to do a piece of work.
pub struct Contender<'a> {
    /// Name in the report.
    pub name: &'static str,
    /// Does the work once.
    pub run: Box<dyn FnMut() + 'a>,
}

/// The times of the rounds.
pub struct Times {
    cpu: Vec<Duration>,
    wall: Vec<Duration>,
}

impl Times {
    /// Median of the processor time of all threads.
    pub fn cpu(&self) -> Duration {
        median(self.cpu.clone())
    }

    /// Median of the wall time.
    pub fn wall(&self) -> Duration {
        median(self.wall.clone())
    }

    /// Processor time relative to another contender: the median of the ratios within a round, because all
    /// contenders of a round meet the same conditions.
    pub fn ratio(&self, other: &Times) -> f64 {
        let rounds = self.cpu.iter().zip(&other.cpu);
        let mut ratios: Vec<f64> = rounds
            .map(|(a, b)| a.as_secs_f64() / b.as_secs_f64())
            .collect();
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied().unwrap_or_default()
    }
}

/// Runs the contenders in turn: one round to warm up, then `rounds` that count.
pub fn measure(contenders: &mut [Contender<'_>], rounds: usize) -> Vec<Times> {
    let none = || Times {
        cpu: Vec::with_capacity(rounds),
        wall: Vec::with_capacity(rounds),
    };
    let mut times: Vec<Times> = contenders.iter().map(|_| none()).collect();
    for round in 0..=rounds {
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            let (cpu, wall) = (ProcessTime::now(), Instant::now());
            (contender.run)();
            if round > 0 {
                times.cpu.push(cpu.elapsed());
                times.wall.push(wall.elapsed());
            }
        }
    }
    times
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
