//! Products and lengths of vectors.

use crate::case::{BuiltinArg, BuiltinCase, ExpectedLane, ITEMS, XorshiftRandom, each};
use crate::float::ROUGH_LIMIT;
use crate::number::{FLOATS, OpenClScalar};

use OpenClScalar::F32;

/// All functions of vectors.
pub fn geometry() -> Vec<BuiltinCase> {
    let mut cases = Vec::new();
    for scalar in FLOATS {
        for lanes in 1..=4 {
            cases.extend(lengths(scalar, lanes));
        }
        for lanes in [3, 4] {
            cases.push(cross(scalar, lanes));
        }
    }
    cases
}

/// Vectors of numbers up to 20. With `extremes`, the squares of the components of a half of them overflow or vanish.
fn vectors(scalar: OpenClScalar, lanes: u32, count: usize, extremes: bool) -> Vec<Vec<Vec<u64>>> {
    let mut random = XorshiftRandom(7);
    let (_, least) = scalar.format();
    let scales = match extremes {
        true => [
            1.0,
            libm::ldexp(1.0, -least - 7),
            1.0,
            libm::ldexp(1.0, least),
        ],
        false => [1.0; 4],
    };
    let vector = |random: &mut XorshiftRandom, scale: f64| {
        let lane = |_| {
            let number = scalar.float(random.float(scalar, -20.0, 20.0));
            let is_whole = scale >= 1.0 || number.abs() >= 1.0;
            scalar.of(if is_whole { number * scale } else { scale })
        };
        (0..lanes).map(lane).collect::<Vec<u64>>()
    };
    let item = |n: usize| {
        (0..count)
            .map(|_| vector(&mut random, scales[n % 4]))
            .collect()
    };
    (0..ITEMS).map(item).collect()
}

fn lengths(scalar: OpenClScalar, lanes: u32) -> Vec<BuiltinCase> {
    let numbers =
        move |bits: &[u64]| -> Vec<f64> { bits.iter().map(|bits| scalar.float(*bits)).collect() };
    let unit = libm::ldexp(1.0, -(scalar.format().0 as i32));
    let square = |all: &[f64]| all.iter().map(|x| x * x).sum::<f64>();
    let n = f64::from(lanes);
    let mut rows: Vec<(&str, usize, f64)> = vec![
        ("dot", 2, n),
        ("length", 1, 2.75 + 0.5 * n),
        ("distance", 2, 2.5 + 2.0 * n),
        ("normalize", 1, 2.0 + n),
    ];
    if scalar == F32 {
        let rough = ROUGH_LIMIT + n;
        rows.extend([
            ("fast_length", 1, rough),
            ("fast_distance", 2, rough),
            ("fast_normalize", 1, rough),
        ]);
    }
    let mut cases = Vec::new();
    for (name, count, limit) in rows {
        let whole = name.ends_with("normalize");
        let eval = each(move |args| {
            let x = numbers(&args[0]);
            let y = args.get(1).map_or(vec![0.0; x.len()], |y| numbers(y));
            let near = |exact: f64, scale: f64| ExpectedLane::Near(exact, scale * unit * limit);
            let difference: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x - y).collect();
            let largest = difference
                .iter()
                .fold(0.0, |a: f64, x| a.max(x.abs()))
                .max(f64::MIN_POSITIVE);
            let shares: Vec<f64> = difference.iter().map(|x| x / largest).collect();
            let length = largest * square(&shares).sqrt();
            vec![match name {
                "dot" => {
                    let parts: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x * y).collect();
                    let scale = parts.iter().map(|p| p.abs()).sum::<f64>();
                    vec![near(parts.iter().sum(), 2.0 * scale)]
                }
                _ if whole => x
                    .iter()
                    .map(|x| near(x / length, (x / length).abs()))
                    .collect(),
                // Differences are rounded before they are squared.
                _ => {
                    let scale = x.iter().chain(&y).fold(length, |a, b| a.max(b.abs()));
                    vec![near(
                        length,
                        if name.ends_with("distance") {
                            scale
                        } else {
                            length
                        },
                    )]
                }
            }]
        });
        cases.push(BuiltinCase {
            name: name.to_owned(),
            args: vec![BuiltinArg::Value(scalar, lanes); count],
            result: Some((scalar, if whole { lanes } else { 1 })),
            inputs: vectors(
                scalar,
                lanes,
                count,
                name != "dot" && !name.starts_with("fast"),
            ),
            eval,
        });
    }
    cases
}

fn cross(scalar: OpenClScalar, lanes: u32) -> BuiltinCase {
    let unit = libm::ldexp(1.0, 1 - (scalar.format().0 as i32));
    let eval = each(move |args| {
        let at = |vector: usize, lane: usize| scalar.float(args[vector][lane % 3]);
        let mut all: Vec<ExpectedLane> = (0..3)
            .map(|lane| {
                let [a, b] = [
                    at(0, lane + 1) * at(1, lane + 2),
                    at(0, lane + 2) * at(1, lane + 1),
                ];
                ExpectedLane::Near(a - b, (a.abs() + b.abs()) * unit)
            })
            .collect();
        if lanes == 4 {
            all.push(ExpectedLane::Value(0.0));
        }
        vec![all]
    });
    BuiltinCase {
        name: "cross".to_owned(),
        args: vec![BuiltinArg::Value(scalar, lanes); 2],
        result: Some((scalar, lanes)),
        inputs: vectors(scalar, lanes, 2, false),
        eval,
    }
}
