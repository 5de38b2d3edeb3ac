//! Tuning: values of a program's thresholds with which its data sets run fast.
//!
//! The host of a program compares sizes with thresholds to choose between forms of its operations. A data set is
//! measured with a threshold below all sizes, and with one above all. If the kernels that run are the same, the data
//! set has no preference. Otherwise the size at which they change is found by bisection over powers of two, without
//! measuring time. The value that makes the product of all times least stays, and the next threshold is tuned. A form
//! that fails, for example because the device has no memory for it, is slower than every other. Futhark's autotuner
//! does the same with the comparisons that its programs log. See Munksgaard et al., "Dataset sensitive autotuning of
//! multi-versioned code based on monotonic properties", TFP 2021.

use super::{BenchBudget, BenchWorkload, time_runs};
use crate::test::{TestOutcome, session};
use spirula_program::SizeClass;
use spirula_runtime::ComputeDevice;
use std::collections::BTreeMap;
use std::time::Duration;

/// Exponents of the sizes that thresholds are compared with: every `i64` lies below the last.
const EXPONENTS: u32 = 62;

/// Seconds that count for a form that fails.
const FAILED: f64 = 1e9;

/// Share of the time that a value must save in place of the default.
const LEAST_GAIN: f64 = 0.02;

/// How a data set reacts to a threshold: the times on both sides of the size that it is compared with.
#[derive(Clone, Copy, Debug)]
struct ThresholdReaction {
    /// The exponent of the least power of two above the size.
    exponent: u32,
    /// The logarithm of the time with a threshold that is not above the size.
    below: f64,
    /// The logarithm of the time with a threshold above the size.
    above: f64,
}

/// The data sets of a program, with the thresholds that are tuned already.
pub struct ThresholdTuner<'w> {
    workloads: &'w mut [BenchWorkload],
    device: ComputeDevice,
    effort: BenchBudget,
}

impl<'w> ThresholdTuner<'w> {
    /// Begins to tune a program by data sets.
    ///
    /// # Errors
    ///
    /// If the device cannot be opened.
    pub fn new(
        workloads: &'w mut [BenchWorkload],
        environment: &session::TestEnvironment,
        effort: BenchBudget,
    ) -> Result<Self, TestOutcome> {
        let mut environment = environment.clone();
        environment.options.times = true;
        let device = environment.open_device()?;
        Ok(ThresholdTuner {
            workloads,
            device,
            effort,
        })
    }

    /// Tunes all thresholds, one after the other: their names, and the values of those that data sets have a preference for.
    ///
    /// # Errors
    ///
    /// If a data set fails on both sides of a threshold.
    pub fn tune_all(&mut self) -> Result<Vec<(String, Option<u64>)>, TestOutcome> {
        let mut names: Vec<String> = Vec::new();
        for workload in self.workloads.iter() {
            let parameters = workload.compiled.parameters.iter();
            let thresholds = parameters.filter(|one| matches!(one.class, SizeClass::Threshold(..)));
            for threshold in thresholds {
                if !names.contains(&threshold.name) {
                    names.push(threshold.name.clone());
                }
            }
        }
        let tuned = names.into_iter().map(|name| self.tune(name));
        tuned.collect()
    }

    fn tune(&mut self, name: String) -> Result<(String, Option<u64>), TestOutcome> {
        for workload in self.workloads.iter_mut() {
            workload.sizes.retain(|(other, _)| *other != name);
        }
        let mut reactions = Vec::new();
        for number in 0..self.workloads.len() {
            reactions.extend(self.find_reaction(number, &name)?);
        }
        let value = choose_exponent(&reactions).map(|exponent| 1 << exponent);
        if let Some(value) = value {
            for workload in self.workloads.iter_mut() {
                workload.sizes.push((name.clone(), value));
            }
        }
        Ok((name, value))
    }

    /// How a data set reacts to a threshold. `None` if the same kernels run whatever it is.
    fn find_reaction(
        &mut self,
        number: usize,
        name: &str,
    ) -> Result<Option<ThresholdReaction>, TestOutcome> {
        let (low, high) = (1, 1 << EXPONENTS);
        let (first, last) = match self.find_launches(number, name, low) {
            Ok(first) => (Some(first), self.find_launches(number, name, high).ok()),
            Err(_) => (None, Some(self.find_launches(number, name, high)?)),
        };
        if first == last {
            return Ok(None);
        }
        let (mut least, mut most) = (0, EXPONENTS);
        while most - least > 1 {
            let middle = least.midpoint(most);
            if self.find_launches(number, name, 1 << middle).ok() == first {
                least = middle;
            } else {
                most = middle;
            }
        }
        Ok(Some(ThresholdReaction {
            exponent: most,
            below: self.measure(number, name, low),
            above: self.measure(number, name, high),
        }))
    }

    /// The kernels that a run launches, with the number of launches of each.
    fn find_launches(
        &mut self,
        number: usize,
        name: &str,
        value: u64,
    ) -> Result<BTreeMap<String, u64>, TestOutcome> {
        let before = count_launches(&mut self.device);
        let effort = BenchBudget {
            runs: 1,
            time: Duration::ZERO,
            ..self.effort
        };
        self.run_with(number, name, value, effort)?;
        let mut launches = count_launches(&mut self.device);
        for (kernel, count) in &before {
            if let Some(after) = launches.get_mut(kernel) {
                *after -= count;
            }
        }
        launches.retain(|_, count| *count > 0);
        Ok(launches)
    }

    /// The logarithm of the least time of a run, that of [`FAILED`] seconds where a run fails.
    fn measure(&mut self, number: usize, name: &str, value: u64) -> f64 {
        let times = self.run_with(number, name, value, self.effort);
        let least = times.ok().and_then(|times| times.into_iter().min());
        let seconds = least.map_or(FAILED, |least| least.as_secs_f64());
        seconds.max(f64::MIN_POSITIVE).ln()
    }

    fn run_with(
        &mut self,
        number: usize,
        name: &str,
        value: u64,
        effort: BenchBudget,
    ) -> Result<Vec<Duration>, TestOutcome> {
        let workload = &mut self.workloads[number];
        workload.sizes.push((name.to_owned(), value));
        let times = time_runs(workload, &mut self.device, effort);
        workload.sizes.pop();
        times
    }
}

/// The launches of each kernel since the device was opened.
fn count_launches(device: &mut ComputeDevice) -> BTreeMap<String, u64> {
    let mut launches = BTreeMap::new();
    for kernel in device.kernel_times() {
        *launches.entry(kernel.name).or_insert(0) += kernel.launches;
    }
    launches
}

/// The exponent of the value of a threshold that makes the product of all times least. `None` if the default is as
/// good. The side of a size on which the default is is not known, so a value must gain over the worse one in sum.
fn choose_exponent(reactions: &[ThresholdReaction]) -> Option<u32> {
    let total = |exponent: u32| -> f64 {
        let times = reactions.iter().map(|reaction| {
            if exponent < reaction.exponent {
                reaction.below
            } else {
                reaction.above
            }
        });
        times.sum()
    };
    let candidates = [0]
        .into_iter()
        .chain(reactions.iter().map(|reaction| reaction.exponent));
    let best = candidates.min_by(|&left, &right| total(left).total_cmp(&total(right)))?;
    let worst: f64 = reactions
        .iter()
        .map(|reaction| reaction.below.max(reaction.above))
        .sum();
    (total(best) < worst - LEAST_GAIN).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn react(exponent: u32, below: f64, above: f64) -> ThresholdReaction {
        ThresholdReaction {
            exponent,
            below,
            above,
        }
    }

    #[test]
    fn the_value_lies_between_sizes_that_prefer_different_forms() {
        // A small size is faster above it, a large one below it.
        let both = [react(5, 1.0, 0.0), react(20, 0.0, 1.0)];
        assert_eq!(choose_exponent(&both), Some(5));
        assert_eq!(choose_exponent(&[react(9, 0.0, 1.0)]), Some(0));
        assert_eq!(choose_exponent(&[react(9, 1.0, 0.0)]), Some(9));
    }

    #[test]
    fn thresholds_without_a_preference_keep_their_default() {
        assert_eq!(choose_exponent(&[]), None);
        assert_eq!(choose_exponent(&[react(9, 1.0, 1.001)]), None);
    }
}
