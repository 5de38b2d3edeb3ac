//! Arguments to try: random ones of every magnitude, random ones in the interesting range, and the
//! neighbourhoods of special values. Always the same ones.

use std::f64::consts;
use std::marker::PhantomData;

use spirula_scalar::NativeFloat;

/// Which arguments a function is tried with.
#[derive(Clone, Copy)]
pub struct SampleDomain {
    low: f64,
    high: f64,
    /// Whether the ends are left out.
    open: bool,
    /// Where the poles are that are left out.
    poles: DomainPoles,
}

/// Arguments without a finite value.
#[derive(Clone, Copy, PartialEq)]
enum DomainPoles {
    None,
    /// Integers at and below zero.
    Gamma,
    /// Odd multiples of ½.
    Halves,
}

impl SampleDomain {
    pub const ANY: Self = Self::linear(f64::MIN, f64::MAX);
    pub const POSITIVE: Self = Self::above(0.0);
    pub const UNIT: Self = Self::linear(-1.0, 1.0);

    /// Numbers between `low` and `high`.
    pub const fn linear(low: f64, high: f64) -> Self {
        Self {
            low,
            high,
            open: false,
            poles: DomainPoles::None,
        }
    }

    /// Numbers above `low`.
    pub const fn above(low: f64) -> Self {
        Self {
            low,
            high: f64::MAX,
            open: true,
            poles: DomainPoles::None,
        }
    }

    /// The same without its ends.
    pub const fn inside(self) -> Self {
        Self { open: true, ..self }
    }

    /// Where Γ is neither infinite nor zero.
    pub const fn gamma() -> Self {
        Self {
            low: -190.0,
            high: 172.0,
            open: false,
            poles: DomainPoles::Gamma,
        }
    }

    /// Where tan(πx) is finite, with results that samples of every magnitude reach.
    pub const fn tanpi() -> Self {
        Self {
            poles: DomainPoles::Halves,
            ..Self::linear(-100.0, 100.0)
        }
    }

    fn contains(self, x: f64) -> bool {
        let ends = if self.open {
            x > self.low && x < self.high
        } else {
            true
        };
        let pole = match self.poles {
            DomainPoles::None => false,
            DomainPoles::Gamma => x <= 0.0 && x.trunc() == x,
            DomainPoles::Halves => (2.0 * x).trunc() == 2.0 * x && x.trunc() != x,
        };
        x != 0.0 && x >= self.low && x <= self.high && ends && !pole
    }
}

/// Gives a number of arguments from a domain.
pub struct DomainSampler<T> {
    domain: SampleDomain,
    left: usize,
    state: u64,
    real: PhantomData<T>,
}

/// Numbers around which functions change their method, or are hard.
const SPECIAL: [f64; 24] = [
    1e-300,
    1e-38,
    1e-20,
    1e-8,
    2e-3,
    0.015625,
    0.1,
    0.25,
    0.35,
    0.5,
    0.6324,
    consts::FRAC_1_SQRT_2,
    consts::FRAC_PI_4,
    1.0,
    consts::SQRT_2,
    consts::FRAC_PI_2,
    2.0,
    consts::PI,
    6.5,
    22.0,
    88.7,
    710.0,
    33554432.0,
    3e38,
];

impl<T: NativeFloat + Into<f64>> DomainSampler<T> {
    pub fn new(domain: SampleDomain, points: usize) -> Self {
        Self {
            domain,
            left: points,
            state: 1,
            real: PhantomData,
        }
    }

    /// Other arguments than [`DomainSampler::new`] gives.
    pub fn shuffled(domain: SampleDomain, points: usize) -> Self {
        Self {
            state: 0x1234_5678_9ABC_DEF0,
            ..Self::new(domain, points)
        }
    }

    /// The next random number (SplitMix64).
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A random number in [0, 1).
    fn fraction(&mut self) -> f64 {
        (self.random() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn candidate(&mut self) -> T {
        let sign = if self.random() & 1 == 0 { 1.0 } else { -1.0 };
        match self.random() % 4 {
            // Every magnitude, subnormal numbers among them.
            0 => T::from_raw(self.random() >> (64 - T::FORMAT.width())),
            // The domain, or where it is endless, what people use.
            1 => {
                let (low, high) = (self.domain.low.max(-100.0), self.domain.high.min(100.0));
                let (low, high) = match self.random() & 1 {
                    0 => (self.domain.low.max(-1e5), self.domain.high.min(1e5)),
                    _ => (low, high),
                };
                T::from_f64(low + (high - low) * self.fraction())
            }
            2 => T::from_f64(sign * libm::exp2(self.fraction() * 16.0 - 12.0)),
            _ => {
                let place = SPECIAL[self.random() as usize % SPECIAL.len()];
                let near = T::from_f64(place * (1.0 + (self.fraction() - 0.5) * 1e-3));
                let exact = T::from_f64(place);
                let step = T::from_raw(
                    exact
                        .to_raw()
                        .wrapping_add(self.random() % 7)
                        .wrapping_sub(3),
                );
                let value = if self.random() & 1 == 0 { near } else { step };
                if sign < 0.0 { -value } else { value }
            }
        }
    }
}

impl<T: NativeFloat + Into<f64>> Iterator for DomainSampler<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        loop {
            let candidate = self.candidate();
            if candidate.is_finite() && self.domain.contains(candidate.into()) {
                return Some(candidate);
            }
        }
    }
}
