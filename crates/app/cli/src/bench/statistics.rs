//! Statistics: the mean of few measurements with its confidence interval.

use std::fmt;
use std::time::Duration;

/// The mean of measurements with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanEstimate {
    /// Mean, in microseconds.
    pub mean: f64,
    /// Half the width of the interval, in microseconds; 0 for a single measurement.
    pub margin: f64,
}

impl MeanEstimate {
    /// The estimate from measurements in microseconds, at least one.
    pub fn from_times(times: &[f64]) -> MeanEstimate {
        let count = times.len() as f64;
        let mean = times.iter().sum::<f64>() / count;
        let squares = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>();
        let margin = match times.len() {
            0 | 1 => 0.0,
            _ => student_quantile(count - 1.0) * (squares / (count - 1.0) / count).sqrt(),
        };
        MeanEstimate { mean, margin }
    }
}

/// Converts durations to microseconds.
pub fn to_microseconds(times: &[Duration]) -> Vec<f64> {
    times.iter().map(|time| time.as_secs_f64() * 1e6).collect()
}

/// The 97.5 % quantile of Student's distribution. It is exact for one and two degrees of freedom. From three on it is
/// expanded around the quantile of the normal distribution, with an error of at most 1 %. See Abramowitz and Stegun,
/// Handbook of Mathematical Functions, 26.7.5.
fn student_quantile(degrees: f64) -> f64 {
    const NORMAL: f64 = 1.959_963_984_540_054;
    match degrees {
        1.0 => 12.706_204_736,
        2.0 => 4.302_652_730,
        _ => {
            let x = NORMAL;
            let terms = [
                x,
                (x.powi(3) + x) / 4.0,
                (5.0 * x.powi(5) + 16.0 * x.powi(3) + 3.0 * x) / 96.0,
                (3.0 * x.powi(7) + 19.0 * x.powi(5) + 17.0 * x.powi(3) - 15.0 * x) / 384.0,
            ];
            terms
                .iter()
                .rev()
                .fold(0.0, |sum, term| sum / degrees + term)
        }
    }
}

/// Prints `1234.5 µs (±3.2)` with the significant digits.
impl fmt::Display for MeanEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = match self.margin {
            margin if margin >= 10.0 => 0,
            margin if margin >= 1.0 => 1,
            _ => 2,
        };
        write!(f, "{:.digits$} µs (±{:.digits$})", self.mean, self.margin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        let table = [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (9, 2.262),
            (29, 2.045),
        ];
        for (degrees, expected) in table {
            let found = student_quantile(f64::from(degrees));
            assert!((found / expected - 1.0).abs() < 0.01, "{degrees}: {found}");
        }
    }

    #[test]
    fn a_summary_of_few_and_of_equal_measurements() {
        let one = MeanEstimate::from_times(&[5.0]);
        assert_eq!((one.mean, one.margin), (5.0, 0.0));
        let equal = MeanEstimate::from_times(&[2.0; 10]);
        assert_eq!((equal.mean, equal.margin), (2.0, 0.0));
        let some = MeanEstimate::from_times(&[8.0, 10.0, 12.0]);
        assert_eq!(some.to_string(), "10.0 µs (±5.0)");
    }
}
