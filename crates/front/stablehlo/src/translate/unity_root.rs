//! Roots of unity of discrete Fourier transforms.

/// The sign of the exponent of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FourierDirection {
    /// `e^(-2πi/n)` is the first root.
    Forward,
    /// `e^(2πi/n)` is the first root.
    Inverse,
}

impl FourierDirection {
    /// The real and the imaginary part of a power of the first root of order `n`.
    pub fn unity_root(self, power: u64, n: u64) -> [f64; 2] {
        let turns = (power % n) as f64 / n as f64;
        let sine = sin_of_turns(turns);
        match self {
            FourierDirection::Forward => [cos_of_turns(turns), -sine],
            FourierDirection::Inverse => [cos_of_turns(turns), sine],
        }
    }
}

/// Sine of a number of turns from 0 to 1; exact at eighths.
fn sin_of_turns(turns: f64) -> f64 {
    match turns {
        _ if turns > 0.5 => -sin_of_turns(1.0 - turns),
        _ if turns > 0.25 => sin_of_turns(0.5 - turns),
        _ if turns > 0.125 => libm::cos((0.25 - turns) * std::f64::consts::TAU),
        _ => libm::sin(turns * std::f64::consts::TAU),
    }
}

fn cos_of_turns(turns: f64) -> f64 {
    let quarter = turns + 0.25;
    sin_of_turns(if quarter > 1.0 {
        quarter - 1.0
    } else {
        quarter
    })
}
