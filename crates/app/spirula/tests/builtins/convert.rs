//! Conversions in every rounding mode, and loads and stores of vectors.

use crate::case::{
    BuiltinArg, BuiltinCase, ExpectedLane, ITEMS, LANES, LanewiseEval, XorshiftRandom, each,
    lanewise,
};
use crate::number::{FLOATS, INTS, OpenClScalar, RoundingDirection, to_int};
use std::rc::Rc;

use OpenClScalar::{F16, F32, F64, Int};

/// Inputs of a conversion.
const POOL: usize = 64;

const MODES: [(&str, Option<RoundingDirection>); 5] = [
    ("", None),
    ("_rte", Some(RoundingDirection::Even)),
    ("_rtz", Some(RoundingDirection::Zero)),
    ("_rtp", Some(RoundingDirection::Up)),
    ("_rtn", Some(RoundingDirection::Down)),
];

/// Numbers of a type that are hard to convert, and random ones.
fn pool(from: OpenClScalar) -> Vec<Vec<u64>> {
    let mut random = XorshiftRandom(0xdead_beef_1234_5678);
    let mut all: Vec<Vec<u64>> = Vec::new();
    if from.is_float() {
        let edges = [
            0.5,
            -0.5,
            1.5,
            -1.5,
            2.5,
            126.5,
            127.5,
            128.0,
            -128.5,
            -129.0,
            255.5,
            256.0,
            32767.5,
            -32768.5,
            65535.5,
            2147483647.5,
            -2147483649.0,
            4294967295.5,
            9.3e18,
            -9.3e18,
            1.9e19,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            65519.0,
            65520.0,
            1e-8,
            3.5e38,
            1e-40,
            1e-46,
            1.0 + 1e-9,
            -1.0 - 1e-9,
            0.0,
        ];
        all.extend(edges.iter().map(|edge| vec![from.of(*edge)]));
    }
    while all.len() < POOL {
        let bits = match (from.is_float(), all.len() % 2) {
            (true, 0) => random.next() & from.mask(),
            (true, _) => random.float(from, -1e30, 1e30),
            (false, _) => random.int(from),
        };
        all.push(vec![bits]);
    }
    all
}

/// Expected result of a conversion.
fn converted(
    from: OpenClScalar,
    to: OpenClScalar,
    saturates: bool,
    mode: Option<RoundingDirection>,
    bits: u64,
) -> ExpectedLane {
    let value = from.exact(bits);
    if to.is_float() {
        let rounded = to.rounded(value, mode.unwrap_or(RoundingDirection::Even));
        return if to.float(rounded).is_nan() {
            ExpectedLane::Value(f64::NAN)
        } else {
            ExpectedLane::Bits(rounded)
        };
    }
    let Some(whole) = to_int(value, mode.unwrap_or(RoundingDirection::Zero)) else {
        return if saturates {
            ExpectedLane::Bits(0)
        } else {
            ExpectedLane::Any
        };
    };
    let (low, high) = to.range();
    match (saturates, from.is_float()) {
        (true, _) => ExpectedLane::Bits(to.saturated(whole)),
        // A number that does not fit is undefined then.
        (false, true) if whole < low || whole > high => ExpectedLane::Any,
        (false, _) => ExpectedLane::Bits(to.wrapped(whole)),
    }
}

/// Conversions between all types.
pub fn conversions(from: OpenClScalar) -> Vec<BuiltinCase> {
    let pool = pool(from);
    let mut cases = Vec::new();
    for to in INTS.into_iter().chain(FLOATS) {
        for (suffix, mode) in MODES {
            for saturates in [false, true] {
                if saturates && to.is_float() {
                    continue;
                }
                for &lanes in &LANES {
                    let count = if lanes == 1 {
                        String::new()
                    } else {
                        lanes.to_string()
                    };
                    let sat = if saturates { "_sat" } else { "" };
                    let name = format!("convert_{}{count}{sat}{suffix}", to.name());
                    let eval: LanewiseEval = Rc::new(move |args: &[u64]| {
                        vec![converted(from, to, saturates, mode, args[0])]
                    });
                    let args = [(from, false)];
                    cases.extend(lanewise(&name, &args, &[to], &[lanes], &pool, eval));
                }
            }
        }
    }
    cases
}

/// Elements that a load or store passes over.
const OFFSET: u64 = 1;

/// Loads and stores of vectors at an offset.
pub fn vectors() -> Vec<BuiltinCase> {
    let mut cases = Vec::new();
    for ty in INTS.into_iter().chain(FLOATS) {
        for &lanes in &LANES[1..] {
            cases.push(load(&format!("vload{lanes}"), ty, ty, lanes, lanes));
            cases.push(store(&format!("vstore{lanes}"), ty, ty, lanes, lanes, None));
        }
    }
    for &lanes in &LANES {
        let count = if lanes == 1 {
            String::new()
        } else {
            lanes.to_string()
        };
        // Three aligned lanes have the size of four.
        for (kind, step) in [
            ("vload_half", lanes),
            ("vloada_half", lanes.next_power_of_two()),
        ] {
            cases.push(load(&format!("{kind}{count}"), F16, F32, lanes, step));
        }
        for (kind, step) in [
            ("vstore_half", lanes),
            ("vstorea_half", lanes.next_power_of_two()),
        ] {
            for (suffix, mode) in MODES {
                for from in [F32, F64] {
                    let name = format!("{kind}{count}{suffix}");
                    let mode = mode.unwrap_or(RoundingDirection::Even);
                    cases.push(store(&name, from, F16, lanes, step, Some(mode)));
                }
            }
        }
    }
    cases
}

fn load(name: &str, from: OpenClScalar, to: OpenClScalar, lanes: u32, step: u32) -> BuiltinCase {
    let mut random = XorshiftRandom(21);
    let room = 2 * step;
    let inputs = (0..ITEMS).map(|_| {
        let lane = |_| {
            if from.is_float() {
                random.float(from, -1e4, 1e4)
            } else {
                random.int(from)
            }
        };
        vec![(0..room).map(lane).collect::<Vec<u64>>()]
    });
    BuiltinCase {
        name: name.to_owned(),
        args: vec![
            BuiltinArg::Const(Int(64, false), OFFSET),
            BuiltinArg::Read(from, room),
        ],
        result: Some((to, lanes)),
        inputs: inputs.collect(),
        eval: each(move |args| {
            let start = OFFSET as usize * step as usize;
            let lanes = args[0][start..].iter().take(lanes as usize);
            let expect = lanes.map(|bits| {
                if from == to {
                    ExpectedLane::Bits(*bits)
                } else {
                    ExpectedLane::Value(from.float(*bits))
                }
            });
            vec![expect.collect()]
        }),
    }
}

fn store(
    name: &str,
    from: OpenClScalar,
    to: OpenClScalar,
    lanes: u32,
    step: u32,
    mode: Option<RoundingDirection>,
) -> BuiltinCase {
    let mut random = XorshiftRandom(22);
    let inputs = (0..ITEMS).map(|_| {
        let lane = |_| {
            if from.is_float() {
                random.float(from, -1e4, 1e4)
            } else {
                random.int(from)
            }
        };
        vec![(0..lanes).map(lane).collect::<Vec<u64>>()]
    });
    BuiltinCase {
        name: name.to_owned(),
        args: vec![
            BuiltinArg::Value(from, lanes),
            BuiltinArg::Const(Int(64, false), OFFSET),
            BuiltinArg::Write(to, 2 * step),
        ],
        result: None,
        inputs: inputs.collect(),
        eval: each(move |args| {
            // Bytes that are not written keep their contents.
            let mut all = vec![ExpectedLane::Bits(0xa5a5_a5a5_a5a5_a5a5); 2 * step as usize];
            for (lane, bits) in args[0].iter().enumerate() {
                let stored = match mode {
                    Some(mode) => to.rounded(from.exact(*bits), mode),
                    None => *bits,
                };
                all[OFFSET as usize * step as usize + lane] = ExpectedLane::Bits(stored);
            }
            if lanes == 3 && step == 4 {
                all[7] = ExpectedLane::Any;
            }
            vec![all]
        }),
    }
}
