//! Measurement of contenders, which take turns.

use crate::corpus::{Corpus, Sample};
use cpu_time::ThreadTime;
use std::time::Duration;

const ROUNDS: usize = 5;

/// A kind of work on a module, done by one contender.
#[derive(Clone, Copy)]
pub struct Work {
    pub name: &'static str,
    /// Does the work; returns whether the contender accepts the module.
    pub run: fn(&Sample) -> bool,
}

/// The measurements of one contender.
pub struct Taken {
    /// Best time for each sample; `None` if the contender rejects it.
    times: Vec<Option<Duration>>,
}

/// Best times of contenders for each module of a corpus. The contenders take turns at each module.
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
    /// The measurements for some modules only.
    pub fn of(&self, corpus: &Corpus, wanted: impl Fn(&Sample) -> bool) -> Taken {
        let pairs = corpus.samples.iter().zip(&self.times);
        Taken {
            times: pairs
                .map(|(sample, time)| time.filter(|_| wanted(sample)))
                .collect(),
        }
    }

    /// Number of modules that are accepted.
    pub fn accepted(&self) -> usize {
        self.times.len() - self.refused()
    }

    /// Number of modules that are refused.
    pub fn refused(&self) -> usize {
        self.times.iter().filter(|t| t.is_none()).count()
    }

    /// Megabytes per second over the accepted modules.
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

    /// Speed relative to another contender, over the modules that both accept.
    pub fn ratio(&self, other: &Taken) -> f64 {
        let (mut own, mut others) = (0.0, 0.0);
        for (a, b) in self.pairs(other) {
            own += a;
            others += b;
        }
        others / own
    }

    /// The geometric mean over modules of the speed relative to another.
    pub fn mean_ratio(&self, other: &Taken) -> f64 {
        let logarithms: Vec<f64> = self.pairs(other).map(|(a, b)| (b / a).ln()).collect();
        (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp()
    }

    /// Seconds of this and another contender for each module that both accept.
    fn pairs(&self, other: &Taken) -> impl Iterator<Item = (f64, f64)> {
        let pairs = self.times.iter().zip(&other.times);
        pairs.filter_map(|(a, b)| Some(((*a)?.as_secs_f64(), (*b)?.as_secs_f64())))
    }
}
