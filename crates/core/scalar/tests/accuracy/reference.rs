//! Exact values to about 200 bits, from arbitrary-precision arithmetic.

use astro_float_num::{BigFloat, Consts, RoundingMode};

pub const P: usize = 256;
pub const RM: RoundingMode = RoundingMode::ToEven;

/// Evaluates functions in high precision; keeps the constants they share.
pub struct BigFloatReference {
    pub consts: Consts,
    bernoulli: Vec<BigFloat>,
}

/// `value` as a big number, exactly.
pub fn big(value: f64) -> BigFloat {
    // The conversion of subnormal numbers is not exact; scaled ones are none.
    let mut number = BigFloat::from_f64(
        value * 2f64.powi(if value.abs() < 1.0 { 200 } else { 0 }),
        P,
    );
    if let (true, Some(exponent)) = (value.abs() < 1.0 && value != 0.0, number.exponent()) {
        number.set_exponent(exponent - 200);
    }
    number
}

/// `value` to about 60 bits; meant for errors and comparisons.
pub fn to_f64(value: &BigFloat) -> f64 {
    let Some((words, _, sign, exponent, _)) = value.as_raw_parts() else {
        return if value.is_nan() {
            f64::NAN
        } else {
            f64::INFINITY
        };
    };
    if value.is_zero() {
        return 0.0;
    }
    let top = *words.last().unwrap() as f64 / 2f64.powi(64);
    let magnitude = libm::ldexp(top, exponent);
    if sign == astro_float_num::Sign::Neg {
        -magnitude
    } else {
        magnitude
    }
}

fn add(a: &BigFloat, b: &BigFloat) -> BigFloat {
    a.add(b, P, RM)
}

fn sub(a: &BigFloat, b: &BigFloat) -> BigFloat {
    a.sub(b, P, RM)
}

fn mul(a: &BigFloat, b: &BigFloat) -> BigFloat {
    a.mul(b, P, RM)
}

fn div(a: &BigFloat, b: &BigFloat) -> BigFloat {
    a.div(b, P, RM)
}

/// Whether the first terms of a series at zero give more bits than a difference would.
fn tiny(x: f64) -> bool {
    x.abs() < 2f64.powi(-100)
}

impl BigFloatReference {
    pub fn new() -> Self {
        let mut reference = Self {
            consts: Consts::new().unwrap(),
            bernoulli: Vec::new(),
        };
        reference.bernoulli = bernoulli(60);
        reference
    }

    pub fn pi(&mut self) -> BigFloat {
        self.consts.pi(P, RM)
    }

    pub fn exp(&mut self, x: f64) -> BigFloat {
        big(x).exp(P, RM, &mut self.consts)
    }

    pub fn pow(&mut self, x: f64, y: f64) -> BigFloat {
        // The library's power of an integer takes time proportional to the integer.
        let magnitude = mul(&self.log(x.abs()), &big(y)).exp(P, RM, &mut self.consts);
        if x < 0.0 && y % 2.0 != 0.0 {
            magnitude.neg()
        } else {
            magnitude
        }
    }

    pub fn expm1(&mut self, x: f64) -> BigFloat {
        if tiny(x) {
            let x = big(x);
            return add(&x, &div(&mul(&x, &x), &big(2.0)));
        }
        sub(&self.exp(x), &big(1.0))
    }

    pub fn log1p(&mut self, x: f64) -> BigFloat {
        if tiny(x) {
            let x = big(x);
            return sub(&x, &div(&mul(&x, &x), &big(2.0)));
        }
        add(&big(1.0), &big(x)).ln(P, RM, &mut self.consts)
    }

    pub fn log(&mut self, x: f64) -> BigFloat {
        big(x).ln(P, RM, &mut self.consts)
    }

    pub fn log2(&mut self, x: f64) -> BigFloat {
        big(x).log2(P, RM, &mut self.consts)
    }

    pub fn log10(&mut self, x: f64) -> BigFloat {
        big(x).log10(P, RM, &mut self.consts)
    }

    pub fn sin(&mut self, x: f64) -> BigFloat {
        big(x).sin(P, RM, &mut self.consts)
    }

    pub fn cos(&mut self, x: f64) -> BigFloat {
        big(x).cos(P, RM, &mut self.consts)
    }

    pub fn tan(&mut self, x: f64) -> BigFloat {
        big(x).tan(P, RM, &mut self.consts)
    }

    /// π times `x` without whole turns.
    fn half_turns(&mut self, x: f64) -> BigFloat {
        let rest = x - 2.0 * (x / 2.0).round_ties_even();
        mul(&self.pi(), &big(rest))
    }

    pub fn sinpi(&mut self, x: f64) -> BigFloat {
        if x.trunc() == x {
            return big(0.0);
        }
        self.half_turns(x).sin(P, RM, &mut self.consts)
    }

    pub fn cospi(&mut self, x: f64) -> BigFloat {
        if (2.0 * x).trunc() == 2.0 * x && x.trunc() != x {
            return big(0.0);
        }
        self.half_turns(x).cos(P, RM, &mut self.consts)
    }

    pub fn tanpi(&mut self, x: f64) -> BigFloat {
        if x.trunc() == x {
            return big(0.0);
        }
        self.half_turns(x).tan(P, RM, &mut self.consts)
    }

    pub fn asin(&mut self, x: f64) -> BigFloat {
        big(x).asin(P, RM, &mut self.consts)
    }

    pub fn acos(&mut self, x: f64) -> BigFloat {
        big(x).acos(P, RM, &mut self.consts)
    }

    pub fn atan(&mut self, x: f64) -> BigFloat {
        big(x).atan(P, RM, &mut self.consts)
    }

    pub fn atan2(&mut self, y: f64, x: f64) -> BigFloat {
        let angle = div(&big(y), &big(x)).atan(P, RM, &mut self.consts);
        match (x < 0.0, y < 0.0) {
            (false, _) => angle,
            (true, false) => add(&angle, &self.pi()),
            (true, true) => sub(&angle, &self.pi()),
        }
    }

    pub fn over_pi(&mut self, value: BigFloat) -> BigFloat {
        div(&value, &self.pi())
    }

    pub fn sinh(&mut self, x: f64) -> BigFloat {
        big(x).sinh(P, RM, &mut self.consts)
    }

    pub fn cosh(&mut self, x: f64) -> BigFloat {
        big(x).cosh(P, RM, &mut self.consts)
    }

    pub fn tanh(&mut self, x: f64) -> BigFloat {
        big(x).tanh(P, RM, &mut self.consts)
    }

    pub fn asinh(&mut self, x: f64) -> BigFloat {
        big(x).asinh(P, RM, &mut self.consts)
    }

    pub fn acosh(&mut self, x: f64) -> BigFloat {
        big(x).acosh(P, RM, &mut self.consts)
    }

    pub fn atanh(&mut self, x: f64) -> BigFloat {
        big(x).atanh(P, RM, &mut self.consts)
    }

    pub fn cbrt(&mut self, x: f64) -> BigFloat {
        big(x).cbrt(P, RM)
    }

    pub fn rsqrt(&mut self, x: f64) -> BigFloat {
        big(x).sqrt(P, RM).reciprocal(P, RM)
    }

    pub fn hypot(&mut self, x: f64, y: f64) -> BigFloat {
        let (x, y) = (big(x), big(y));
        add(&mul(&x, &x), &mul(&y, &y)).sqrt(P, RM)
    }

    pub fn rootn(&mut self, x: f64, n: i32) -> BigFloat {
        let exponent = big(n.into()).reciprocal(P, RM);
        let root = big(x.abs()).pow(&exponent, P, RM, &mut self.consts);
        if x < 0.0 { root.neg() } else { root }
    }

    /// erf x = 2/√π · e^(−x²) · Σ 2ⁿ x^(2n+1) / (2n+1)!!, all terms of one sign.
    fn erf_to(&mut self, x: f64, p: usize) -> BigFloat {
        let mut number = big(x);
        number.set_precision(p, RM).unwrap();
        let square = number.mul(&number, p, RM);
        let doubled = square.add(&square, p, RM);
        let mut term = number.clone();
        let mut sum = number;
        let mut odd = 1u64;
        while let (Some(t), Some(s)) = (term.exponent(), sum.exponent()) {
            if term.is_zero() || i64::from(t) < i64::from(s) - p as i64 {
                break;
            }
            odd += 2;
            term = term
                .mul(&doubled, p, RM)
                .div(&BigFloat::from_u64(odd, p), p, RM);
            sum = sum.add(&term, p, RM);
        }
        let root = self.consts.pi(p, RM).sqrt(p, RM);
        let scale = square.neg().exp(p, RM, &mut self.consts).div(&root, p, RM);
        sum.mul(&scale, p, RM).mul(&BigFloat::from_u64(2, p), p, RM)
    }

    pub fn erf(&mut self, x: f64) -> BigFloat {
        if x.abs() > 20.0 {
            return big(1f64.copysign(x));
        }
        self.erf_to(x, P)
    }

    pub fn erfc(&mut self, x: f64) -> BigFloat {
        let p = P + (1.5 * x.max(0.0) * x.max(0.0)) as usize;
        if x < -20.0 {
            return big(2.0);
        }
        let one = BigFloat::from_u64(1, p);
        one.sub(&self.erf_to(x, p), p, RM)
    }

    /// ln Γ(x) for x ≥ 60 by Stirling's series.
    fn stirling(&mut self, x: &BigFloat) -> BigFloat {
        let half = big(0.5);
        let two_pi = mul(&self.pi(), &big(2.0));
        let mut sum = mul(&sub(x, &half), &x.ln(P, RM, &mut self.consts));
        sum = sub(&sum, x);
        sum = add(&sum, &mul(&half, &two_pi.ln(P, RM, &mut self.consts)));
        let square = mul(x, x);
        let mut power = x.clone();
        for k in 1..30 {
            let factor = big((2 * k * (2 * k - 1)) as f64);
            sum = add(&sum, &div(&self.bernoulli[2 * k], &mul(&factor, &power)));
            power = mul(&power, &square);
        }
        sum
    }

    /// Γ(x) for x > 0.
    fn gamma_positive(&mut self, x: &BigFloat) -> BigFloat {
        let mut product = big(1.0);
        let mut shifted = x.clone();
        while to_f64(&shifted) < 80.0 {
            product = mul(&product, &shifted);
            shifted = add(&shifted, &big(1.0));
        }
        let value = self.stirling(&shifted).exp(P, RM, &mut self.consts);
        div(&value, &product)
    }

    pub fn gamma(&mut self, x: f64) -> BigFloat {
        if x > 0.0 {
            return self.gamma_positive(&big(x));
        }
        let reflected = self.gamma_positive(&sub(&big(1.0), &big(x)));
        div(&self.pi(), &mul(&self.sinpi(x), &reflected))
    }

    pub fn lgamma(&mut self, x: f64) -> BigFloat {
        if x == 1.0 || x == 2.0 {
            return big(0.0);
        }
        if x > 80.0 {
            return self.stirling(&big(x));
        }
        self.gamma(x).abs().ln(P, RM, &mut self.consts)
    }
}

/// The Bernoulli numbers up to B_`count`, with enough bits to survive the recurrence.
fn bernoulli(count: usize) -> Vec<BigFloat> {
    let p = 1024;
    let mut numbers = vec![BigFloat::from_u64(1, p)];
    for m in 1..=count {
        let mut sum = BigFloat::from_u64(0, p);
        let mut binomial = BigFloat::from_u64(1, p);
        for (k, number) in numbers.iter().enumerate() {
            sum = sum.add(&binomial.mul(number, p, RM), p, RM);
            let (above, below) = ((m + 1 - k) as u64, (k + 1) as u64);
            binomial = binomial.mul(&BigFloat::from_u64(above, p), p, RM).div(
                &BigFloat::from_u64(below, p),
                p,
                RM,
            );
        }
        numbers.push(sum.div(&BigFloat::from_u64(m as u64 + 1, p), p, RM).neg());
    }
    numbers
}
