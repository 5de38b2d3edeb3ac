//! Contenders that take turns.

use crate::corpus::{Corpus, Sample};
use cpu_time::ThreadTime;
use std::time::Duration;

const ROUNDS: usize = 5;

/// A kind of work on a module, by one contender.
#[derive(Clone, Copy)]
pub struct Work {
    pub name: &'static str,
    /// Does the work; whether the contender takes the module.
    pub run: fn(&Sample) -> bool,
}

/// What one contender took.
pub struct Taken {
    /// Best time for each sample; none where the contender refuses it.
    times: Vec<Option<Duration>>,
}

/// Best times of contenders for each module of a corpus: they take turns at each module.
pub fn times(corpus: &Corpus, contenders: &[Work]) -> Vec<Taken> {
    let samples = corpus.samples.len();
    let mut all: Vec<Taken> = contenders
        .iter()
        .map(|_| Taken {
            times: vec![Some(Duration::MAX); samples],
        })
        .collect();
    for _ in 0..ROUNDS {
        for (at, sample) in corpus.samples.iter().enumerate() {
            for (work, taken) in contenders.iter().zip(&mut all) {
                let Some(best) = taken.times[at] else {
                    continue;
                };
                let start = ThreadTime::now();
                let accepted = (work.run)(sample);
                let time = start.elapsed().min(best);
                taken.times[at] = accepted.then_some(time);
            }
        }
    }
    all
}

impl Taken {
    /// Number of modules that are refused.
    pub fn refused(&self) -> usize {
        self.times.iter().filter(|t| t.is_none()).count()
    }

    /// Megabytes per second over what is taken.
    pub fn rate(&self, corpus: &Corpus) -> f64 {
        let mut bytes = 0;
        let mut time = Duration::ZERO;
        for (sample, taken) in corpus.samples.iter().zip(&self.times) {
            if let Some(taken) = taken {
                bytes += sample.bytes.len();
                time += *taken;
            }
        }
        bytes as f64 / 1e6 / time.as_secs_f64()
    }

    /// How often faster this is than another, over the modules that both take.
    pub fn ratio(&self, other: &Taken) -> f64 {
        let (mut own, mut others) = (Duration::ZERO, Duration::ZERO);
        for pair in self.times.iter().zip(&other.times) {
            if let (Some(a), Some(b)) = pair {
                own += *a;
                others += *b;
            }
        }
        others.as_secs_f64() / own.as_secs_f64()
    }
}
