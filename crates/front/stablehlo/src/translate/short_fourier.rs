//! Discrete Fourier transforms of a few complex numbers, as scalars ("butterflies").
//!
//! Composite lengths are factored (Cooley and Tukey, "An algorithm for the machine calculation of complex Fourier series",
//! 1965). For a prime length, numbers from both ends are added and subtracted in pairs, so that roots of unity count by their
//! real and imaginary parts, each for two results (C. Rader and N. Brenner, "A new principle for fast Fourier transformation", 1976, give
//! this form for real constants).

use super::scalar::{ComplexNodes, ScalarBuilder};
use super::unity_root::FourierDirection;

/// Largest prime factor of a length.
const PRIME: u64 = 13;
/// Greatest length.
const LENGTH: u64 = 16;

/// Whether there is a transform of a length.
pub(super) fn is_short_length(length: u64) -> bool {
    let mut rest = length;
    for factor in 2..=PRIME {
        while rest.is_multiple_of(factor) {
            rest /= factor;
        }
    }
    rest == 1 && (2..=LENGTH).contains(&length)
}

/// The transform of some numbers. Their number is 1 or a short length.
pub(super) fn transform_numbers(
    c: &mut ScalarBuilder<'_>,
    numbers: &[ComplexNodes],
    direction: FourierDirection,
) -> Vec<ComplexNodes> {
    let n = numbers.len();
    let factors = [4, 2, 3, 5, 7, 11, 13];
    let factor = factors.into_iter().find(|factor| n.is_multiple_of(*factor));
    match factor {
        None => numbers.to_vec(),
        Some(2) if n == 2 => transform_pair(c, [numbers[0], numbers[1]]).to_vec(),
        Some(4) if n == 4 => transform_four(c, numbers, direction),
        Some(factor) if n == factor => transform_prime(c, numbers, direction),
        Some(factor) => transform_composite(c, numbers, [factor, n / factor], direction),
    }
}

fn transform_pair(c: &mut ScalarBuilder<'_>, [a, b]: [ComplexNodes; 2]) -> [ComplexNodes; 2] {
    [
        [c.add(a[0], b[0]), c.add(a[1], b[1])],
        [c.sub(a[0], b[0]), c.sub(a[1], b[1])],
    ]
}

fn transform_four(
    c: &mut ScalarBuilder<'_>,
    numbers: &[ComplexNodes],
    direction: FourierDirection,
) -> Vec<ComplexNodes> {
    let [even, even_odd] = transform_pair(c, [numbers[0], numbers[2]]);
    let [odd, odd_odd] = transform_pair(c, [numbers[1], numbers[3]]);
    let [first, third] = transform_pair(c, [even, odd]);
    let [second, fourth] = add_quarter_turned(c, even_odd, odd_odd, direction);
    vec![first, second, third, fourth]
}

/// The sum and the difference of a number and another one that is turned by a quarter.
fn add_quarter_turned(
    c: &mut ScalarBuilder<'_>,
    a: ComplexNodes,
    b: ComplexNodes,
    direction: FourierDirection,
) -> [ComplexNodes; 2] {
    let by_i = [c.sub(a[0], b[1]), c.add(a[1], b[0])];
    let by_minus_i = [c.add(a[0], b[1]), c.sub(a[1], b[0])];
    match direction {
        FourierDirection::Forward => [by_minus_i, by_i],
        FourierDirection::Inverse => [by_i, by_minus_i],
    }
}

/// A transform whose length is an odd prime.
fn transform_prime(
    c: &mut ScalarBuilder<'_>,
    numbers: &[ComplexNodes],
    direction: FourierDirection,
) -> Vec<ComplexNodes> {
    let n = numbers.len();
    let half = n / 2;
    let pairs = (1..=half).map(|j| transform_pair(c, [numbers[j], numbers[n - j]]));
    let pairs: Vec<[ComplexNodes; 2]> = pairs.collect();
    let sum_all = |c: &mut ScalarBuilder<'_>, part: usize| {
        let mut sums = pairs.iter().map(|[sum, _]| sum[part]);
        let first = numbers[0][part];
        sums.by_ref().fold(first, |all, sum| c.add(all, sum))
    };
    let mut results = vec![[sum_all(c, 0), sum_all(c, 1)]; n];
    for k in 1..=half {
        let root = |j: usize| FourierDirection::Inverse.unity_root((j * k) as u64, n as u64);
        let mut real = numbers[0];
        let mut imaginary: Option<ComplexNodes> = None;
        for (at, [sum, difference]) in pairs.iter().enumerate() {
            let [cosine, sine] = root(at + 1);
            for part in 0..2 {
                let product = c.mul_constant(sum[part], cosine);
                real[part] = c.add(real[part], product);
            }
            let product = difference.map(|node| c.mul_constant(node, sine));
            imaginary = Some(match imaginary {
                None => product,
                Some(sum) => [c.add(sum[0], product[0]), c.add(sum[1], product[1])],
            });
        }
        let imaginary = imaginary.unwrap_or(real);
        let [low, high] = add_quarter_turned(c, real, imaginary, direction);
        results[k] = low;
        results[n - k] = high;
    }
    results
}

/// A transform of length `a b`: with `j = j1 b + j2` and `k = k1 + a k2`, transforms over `j1`, times roots of unity, and then
/// over `j2`.
fn transform_composite(
    c: &mut ScalarBuilder<'_>,
    numbers: &[ComplexNodes],
    [a, b]: [usize; 2],
    direction: FourierDirection,
) -> Vec<ComplexNodes> {
    let n = a * b;
    let columns = (0..b).map(|j2| {
        let column: Vec<ComplexNodes> = numbers.iter().skip(j2).step_by(b).copied().collect();
        let column = transform_numbers(c, &column, direction);
        let turned = column.into_iter().enumerate().map(|(k1, number)| {
            let root = direction.unity_root((k1 * j2) as u64, n as u64);
            multiply_by_root(c, number, root)
        });
        turned.collect()
    });
    let columns: Vec<Vec<ComplexNodes>> = columns.collect();
    let mut results = vec![numbers[0]; n];
    for k1 in 0..a {
        let row: Vec<ComplexNodes> = columns.iter().map(|column| column[k1]).collect();
        let row = transform_numbers(c, &row, direction);
        for (k2, number) in row.into_iter().enumerate() {
            results[k1 + a * k2] = number;
        }
    }
    results
}

/// A number times a root of unity, which costs less for roots of order 8.
fn multiply_by_root(
    c: &mut ScalarBuilder<'_>,
    [re, im]: ComplexNodes,
    root: [f64; 2],
) -> ComplexNodes {
    let [x, y] = root;
    if y == 0.0 {
        return if x > 0.0 {
            [re, im]
        } else {
            [c.neg(re), c.neg(im)]
        };
    }
    if x == 0.0 {
        return if y > 0.0 {
            [c.neg(im), re]
        } else {
            [im, c.neg(re)]
        };
    }
    let is_diagonal = (x.abs() - y.abs()).abs() < f64::EPSILON;
    if is_diagonal {
        let (sum, difference) = (c.add(re, im), c.sub(re, im));
        let parts = if (x > 0.0) == (y > 0.0) {
            [difference, sum]
        } else {
            let opposite = c.sub(im, re);
            [sum, opposite]
        };
        return parts.map(|part| c.mul_constant(part, x));
    }
    let [rx, ry] = [x, y].map(|by| c.mul_constant(re, by));
    let [ix, iy] = [x, y].map(|by| c.mul_constant(im, by));
    [c.sub(rx, iy), c.add(ry, ix)]
}
