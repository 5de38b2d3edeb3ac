//! Relations between floats, special values among them.

use crate::case::{BuiltinCase, ExpectedLane, LANES, LanewiseEval, lanewise};
use crate::number::OpenClScalar;
use std::rc::Rc;

use OpenClScalar::Int;

type RelationRow = (&'static str, usize, fn(f64, f64) -> bool);

const RELATIONS: &[RelationRow] = &[
    ("isequal", 2, |x, y| x == y),
    ("isnotequal", 2, |x, y| x != y),
    ("isgreater", 2, |x, y| x > y),
    ("isgreaterequal", 2, |x, y| x >= y),
    ("isless", 2, |x, y| x < y),
    ("islessequal", 2, |x, y| x <= y),
    ("islessgreater", 2, |x, y| (x - y).abs() > 0.0),
    ("isordered", 2, |x, y| !x.is_nan() && !y.is_nan()),
    ("isunordered", 2, |x, y| x.is_nan() || y.is_nan()),
    ("isfinite", 1, |x, _| x.is_finite()),
    ("isinf", 1, |x, _| x.is_infinite()),
    ("isnan", 1, |x, _| x.is_nan()),
    ("signbit", 1, |x, _| x.is_sign_negative()),
];

/// Relations: 1 for scalars, all bits for vectors, of integers as wide as the floats.
pub fn relations(scalar: OpenClScalar) -> Vec<BuiltinCase> {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        2.5,
    ];
    let mut all = Vec::new();
    for (index, x) in special.iter().enumerate() {
        for by in 0..special.len() {
            let y = special[(index + by) % special.len()];
            all.push(vec![scalar.of(*x), scalar.of(y)]);
        }
    }
    let normal = move |bits: u64| {
        let x = scalar.float(bits).abs();
        x.is_finite() && x >= libm::ldexp(1.0, scalar.format().1)
    };
    let mut cases = Vec::new();
    let rows = RELATIONS
        .iter()
        .copied()
        .chain([("isnormal", 1, (|_, _| false) as _)]);
    for (name, count, holds) in rows {
        for &lanes in &LANES {
            let int = if lanes == 1 {
                Int(32, true)
            } else {
                scalar.as_int()
            };
            let eval: LanewiseEval = Rc::new(move |args: &[u64]| {
                let y = args.get(1).map_or(0.0, |bits| scalar.float(*bits));
                let holds = match name {
                    "isnormal" => normal(args[0]),
                    _ => holds(scalar.float(args[0]), y),
                };
                let truth = if lanes == 1 { 1 } else { u64::MAX };
                vec![ExpectedLane::Bits(if holds { truth } else { 0 })]
            });
            let args = &[(scalar, false); 2][..count];
            cases.extend(lanewise(name, args, &[int], &[lanes], &all, eval));
        }
    }
    cases
}
