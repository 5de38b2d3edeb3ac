//! Functions of integers: exact.

use crate::case::{
    BuiltinArg, BuiltinCase, ExpectedLane, ITEMS, LANES, LanewiseEval, XorshiftRandom, each,
    lanewise,
};
use crate::number::{FLOATS, INTS, OpenClScalar};
use std::rc::Rc;

use OpenClScalar::Int;

/// Number of tuples of arguments for a function.
const POOL: usize = 96;

fn pool(types: &[OpenClScalar]) -> Vec<Vec<u64>> {
    let mut random = XorshiftRandom(0x1234_5678_9abc_def1);
    let tuple = |_| types.iter().map(|ty| random.int(*ty)).collect();
    (0..POOL).map(tuple).collect()
}

type IntegerBuiltinRow = (&'static str, usize, fn(OpenClScalar, &[i128]) -> u64);

/// Functions of arguments and a result of one type.
const SAME: &[IntegerBuiltinRow] = &[
    ("add_sat", 2, |t, a| t.saturated(a[0] + a[1])),
    ("sub_sat", 2, |t, a| t.saturated(a[0] - a[1])),
    ("hadd", 2, |t, a| t.wrapped((a[0] + a[1]) >> 1)),
    ("rhadd", 2, |t, a| t.wrapped((a[0] + a[1] + 1) >> 1)),
    ("mul_hi", 2, |t, a| high(t, a)),
    ("mad_hi", 3, |t, a| t.wrapped(i128::from(high(t, a)) + a[2])),
    ("max", 2, |t, a| t.wrapped(a[0].max(a[1]))),
    ("min", 2, |t, a| t.wrapped(a[0].min(a[1]))),
    ("clz", 1, |t, a| {
        u64::from(t.wrapped(a[0]).leading_zeros() - (64 - t.bits()))
    }),
    ("ctz", 1, |t, a| {
        u64::from(t.wrapped(a[0]).trailing_zeros().min(t.bits()))
    }),
    ("popcount", 1, |t, a| t.wrapped(a[0]).count_ones().into()),
    ("bit_reverse", 1, |t, a| {
        t.wrapped(a[0]).reverse_bits() >> (64 - t.bits())
    }),
    ("rotate", 2, |t, a| {
        let by = (a[1].rem_euclid(t.bits().into())) as u32;
        let bits = u128::from(t.wrapped(a[0]));
        t.wrapped((bits << by | bits >> (t.bits() - by)) as i128)
    }),
];

/// The upper half of a product.
fn high(ty: OpenClScalar, args: &[i128]) -> u64 {
    let product = if ty.is_signed() {
        (args[0] * args[1]) >> ty.bits()
    } else {
        ((args[0] as u128 * args[1] as u128) >> ty.bits()) as i128
    };
    ty.wrapped(product)
}

fn numbers(types: &[OpenClScalar], args: &[u64]) -> Vec<i128> {
    types
        .iter()
        .zip(args)
        .map(|(ty, bits)| ty.int(*bits))
        .collect()
}

fn row(
    name: &str,
    args: &[(OpenClScalar, bool)],
    out: OpenClScalar,
    lanes: &[u32],
    eval: impl Fn(&[i128]) -> u64 + 'static,
) -> Vec<BuiltinCase> {
    let types: Vec<OpenClScalar> = args.iter().map(|arg| arg.0).collect();
    let pool = pool(&types);
    let eval: LanewiseEval =
        Rc::new(move |args: &[u64]| vec![ExpectedLane::Bits(eval(&numbers(&types, args)))]);
    lanewise(name, args, &[out], lanes, &pool, eval)
}

/// Functions of integers lane by lane.
pub fn elementary() -> Vec<BuiltinCase> {
    let mut cases = Vec::new();
    for ty in INTS {
        for &(name, count, eval) in SAME {
            let args = &[(ty, false); 3][..count];
            cases.extend(row(name, args, ty, &LANES, move |a| eval(ty, a)));
        }
        let unsigned = ty.as_uint();
        let one = [(ty, false)];
        let two = [(ty, false); 2];
        let three = [(ty, false); 3];
        cases.extend(row("abs", &one, unsigned, &LANES, move |a| {
            unsigned.wrapped(a[0].abs())
        }));
        cases.extend(row("abs_diff", &two, unsigned, &LANES, move |a| {
            unsigned.wrapped((a[0] - a[1]).abs())
        }));
        cases.extend(row("mad_sat", &three, ty, &LANES, move |a| {
            // The product of two of 64 bits and a third fit into 128 when signed.
            match a[0]
                .checked_mul(a[1])
                .and_then(|product| product.checked_add(a[2]))
            {
                Some(sum) => ty.saturated(sum),
                None => ty.saturated(i128::MAX),
            }
        }));
        for name in ["max", "min"] {
            let args = [(ty, false), (ty, true)];
            cases.extend(row(name, &args, ty, &LANES[1..], move |a| match name {
                "max" => ty.wrapped(a[0].max(a[1])),
                _ => ty.wrapped(a[0].min(a[1])),
            }));
        }
        cases.extend(clamps(ty));
        cases.extend(fields(ty));
        if ty.bits() < 64 {
            let wide = Int(ty.bits() * 2, ty.is_signed());
            let args = [(ty, false), (unsigned, false)];
            cases.extend(row("upsample", &args, wide, &LANES, move |a| {
                wide.wrapped(a[0] << ty.bits() | a[1])
            }));
        }
        if ty.bits() == 32 {
            cases.extend(of_24_bits(ty));
        }
    }
    cases
}

fn clamps(ty: OpenClScalar) -> Vec<BuiltinCase> {
    let types = [ty; 3];
    let pool: Vec<Vec<u64>> = pool(&types)
        .into_iter()
        .map(|mut args| {
            if ty.int(args[1]) > ty.int(args[2]) {
                args.swap(1, 2);
            }
            args
        })
        .collect();
    let eval: LanewiseEval = Rc::new(move |args: &[u64]| {
        let a = numbers(&types, args);
        vec![ExpectedLane::Bits(ty.wrapped(a[0].max(a[1]).min(a[2])))]
    });
    let args = [(ty, false); 3];
    let mut cases = lanewise("clamp", &args, &[ty], &LANES, &pool, eval.clone());
    let args = [(ty, false), (ty, true), (ty, true)];
    cases.extend(lanewise("clamp", &args, &[ty], &LANES[1..], &pool, eval));
    cases
}

/// `mul24` and `mad24`: of integers that fit into 24 bits.
fn of_24_bits(ty: OpenClScalar) -> Vec<BuiltinCase> {
    let mut cases = Vec::new();
    for (name, count) in [("mul24", 2), ("mad24", 3)] {
        let narrow = move |bits: u64| {
            if ty.is_signed() {
                ty.wrapped(ty.int(bits) >> 8)
            } else {
                bits >> 8
            }
        };
        let mut pool = pool(&[ty; 3]);
        for args in &mut pool {
            args[0] = narrow(args[0]);
            args[1] = narrow(args[1]);
        }
        let eval: LanewiseEval = Rc::new(move |args: &[u64]| {
            let a = numbers(&[ty; 3], args);
            let third = a.get(2).copied().unwrap_or(0);
            vec![ExpectedLane::Bits(ty.wrapped(a[0] * a[1] + third))]
        });
        let args = &[(ty, false); 3][..count];
        cases.extend(lanewise(name, args, &[ty], &LANES, &pool, eval));
    }
    cases
}

/// Bit fields within the width.
fn fields(ty: OpenClScalar) -> Vec<BuiltinCase> {
    let place = Int(32, false);
    let bits = ty.bits();
    let mut random = XorshiftRandom(99);
    let mut tuple = |count: usize| {
        let mut args: Vec<u64> = (0..count).map(|_| random.int(ty)).collect();
        let offset = random.next() % u64::from(bits);
        let width = random.next() % (u64::from(bits) - offset + 1);
        args.extend([offset, width]);
        args
    };
    let insert: Vec<Vec<u64>> = (0..POOL).map(|_| tuple(2)).collect();
    let extract: Vec<Vec<u64>> = (0..POOL).map(|_| tuple(1)).collect();
    let mask = |width: u64| ((1_u128 << width) - 1) as u64;
    let inserted: LanewiseEval = Rc::new(move |a: &[u64]| {
        let field = mask(a[3]) << a[2];
        vec![ExpectedLane::Bits(a[0] & !field | a[1] << a[2] & field)]
    });
    let args = [(ty, false), (ty, false), (place, true), (place, true)];
    let mut cases = lanewise("bitfield_insert", &args, &[ty], &LANES, &insert, inserted);
    for signed in [true, false] {
        let eval: LanewiseEval = Rc::new(move |a: &[u64]| {
            let field = a[0] >> a[1] & mask(a[2]);
            let negative = signed && a[2] > 0 && field >> (a[2] - 1) & 1 == 1;
            vec![ExpectedLane::Bits(if negative {
                field | !mask(a[2])
            } else {
                field
            })]
        });
        let name = if signed {
            "bitfield_extract_signed"
        } else {
            "bitfield_extract_unsigned"
        };
        let args = [(ty, false), (place, true), (place, true)];
        let out = Int(bits, signed);
        cases.extend(lanewise(name, &args, &[out], &LANES, &extract, eval));
    }
    cases
}

/// Selections by bits and by Booleans.
pub fn choices() -> Vec<BuiltinCase> {
    let mut cases = Vec::new();
    for ty in INTS.into_iter().chain(FLOATS) {
        let bits = ty.as_uint();
        let pool = pool(&[bits; 3]);
        let bitselect: LanewiseEval = Rc::new(move |a: &[u64]| {
            let chosen = a[0] & !a[2] | a[1] & a[2];
            let nan = ty.is_float() && ty.float(chosen).is_nan();
            vec![if nan {
                ExpectedLane::Any
            } else {
                ExpectedLane::Bits(chosen)
            }]
        });
        let args = [(ty, false); 3];
        cases.extend(lanewise(
            "bitselect",
            &args,
            &[ty],
            &LANES,
            &pool,
            bitselect,
        ));
        for signed in [true, false] {
            let condition = Int(ty.bits(), signed);
            for &lanes in &LANES {
                let select: LanewiseEval = Rc::new(move |a: &[u64]| {
                    let holds = match lanes {
                        1 => a[2] != 0,
                        _ => condition.as_int().int(a[2]) < 0,
                    };
                    let chosen = if holds { a[1] } else { a[0] };
                    let nan = ty.is_float() && ty.float(chosen).is_nan();
                    vec![if nan {
                        ExpectedLane::Any
                    } else {
                        ExpectedLane::Bits(chosen)
                    }]
                });
                let args = [(ty, false), (ty, false), (condition, false)];
                cases.extend(lanewise("select", &args, &[ty], &[lanes], &pool, select));
            }
        }
    }
    cases.extend(truths());
    cases
}

/// `any` and `all`: of the highest bits.
fn truths() -> Vec<BuiltinCase> {
    let mut cases = Vec::new();
    for ty in INTS.into_iter().filter(|ty| ty.is_signed()) {
        for &lanes in &LANES {
            for name in ["any", "all"] {
                let mut random = XorshiftRandom(5);
                let inputs = (0..ITEMS).map(|item| {
                    let lane = |_| match item % 3 {
                        0 => random.int(ty),
                        1 => ty.mask(),
                        _ => 1,
                    };
                    vec![(0..lanes).map(lane).collect::<Vec<u64>>()]
                });
                let inputs = inputs.collect();
                cases.push(BuiltinCase {
                    name: name.to_owned(),
                    args: vec![BuiltinArg::Value(ty, lanes)],
                    result: Some((Int(32, true), 1)),
                    inputs,
                    eval: each(move |args| {
                        let mut lanes = args[0].iter().map(|bits| ty.int(*bits) < 0);
                        let holds = match name {
                            "any" => lanes.any(|negative| negative),
                            _ => lanes.all(|negative| negative),
                        };
                        vec![vec![ExpectedLane::Bits(holds.into())]]
                    }),
                });
            }
        }
    }
    cases
}

/// `shuffle` and `shuffle2`, whose masks are as wide as what they choose from.
pub fn shuffles() -> Vec<BuiltinCase> {
    const SIZES: [u32; 4] = [2, 4, 8, 16];
    let mut cases = Vec::new();
    for ty in INTS.into_iter().chain(FLOATS) {
        for from in SIZES {
            for to in SIZES {
                for count in [1, 2] {
                    cases.push(shuffle(ty, from, to, count));
                }
            }
        }
    }
    cases
}

fn shuffle(ty: OpenClScalar, from: u32, to: u32, count: usize) -> BuiltinCase {
    let mask = ty.as_uint();
    let mut random = XorshiftRandom(11);
    let inputs = (0..ITEMS).map(|_| {
        let mut args: Vec<Vec<u64>> = Vec::new();
        for _ in 0..count {
            let lane = |_| {
                if ty.is_float() {
                    random.float(ty, -100.0, 100.0)
                } else {
                    random.int(ty)
                }
            };
            args.push((0..from).map(lane).collect());
        }
        let lane = |_| random.next() & mask.mask();
        args.push((0..to).map(lane).collect());
        args
    });
    let inputs = inputs.collect();
    let mut args = vec![BuiltinArg::Value(ty, from); count];
    args.push(BuiltinArg::Value(mask, to));
    BuiltinCase {
        name: if count == 1 { "shuffle" } else { "shuffle2" }.to_owned(),
        args,
        result: Some((ty, to)),
        inputs,
        eval: each(move |args| {
            let (mask, vectors) = args.split_last().expect("there is a mask");
            let all: Vec<u64> = vectors.concat();
            let chosen = mask.iter().map(|lane| {
                // Only the bits that number the lanes count.
                ExpectedLane::Bits(all[*lane as usize % all.len()])
            });
            vec![chosen.collect()]
        }),
    }
}

/// Products of vectors of bytes.
pub fn byte_products() -> Vec<BuiltinCase> {
    let mut cases = Vec::new();
    for a in [true, false] {
        for b in [true, false] {
            let types = [Int(8, a), Int(8, b)];
            let out = Int(32, a || b);
            for accumulates in [false, true] {
                let args: Vec<BuiltinArg> =
                    types.iter().map(|ty| BuiltinArg::Value(*ty, 4)).collect();
                let name = if accumulates { "dot_acc_sat" } else { "dot" };
                cases.push(product(name, args, types, out, accumulates));
                let letter = |signed| if signed { "s" } else { "u" };
                let kind = format!("{}{}_{}", letter(a), letter(b), out.name());
                let name = format!("{name}_4x8packed_{kind}");
                let args = vec![BuiltinArg::Value(Int(32, false), 1); 2];
                cases.push(product(&name, args, types, out, accumulates));
            }
        }
    }
    cases
}

fn product(
    name: &str,
    args: Vec<BuiltinArg>,
    types: [OpenClScalar; 2],
    out: OpenClScalar,
    accumulates: bool,
) -> BuiltinCase {
    let mut args = args;
    let mut random = XorshiftRandom(3);
    let packed = matches!(args[0], BuiltinArg::Value(_, 1));
    let inputs = (0..ITEMS).map(|_| {
        let mut all: Vec<Vec<u64>> = types
            .iter()
            .map(|ty| {
                let lanes: Vec<u64> = (0..4).map(|_| random.int(*ty)).collect();
                if packed {
                    vec![lanes.iter().rev().fold(0, |all, lane| all << 8 | lane)]
                } else {
                    lanes
                }
            })
            .collect();
        if accumulates {
            all.push(vec![random.int(out)]);
        }
        all
    });
    let inputs = inputs.collect();
    if accumulates {
        args.push(BuiltinArg::Value(out, 1));
    }
    BuiltinCase {
        name: name.to_owned(),
        args,
        result: Some((out, 1)),
        inputs,
        eval: each(move |args| {
            let lane = |arg: usize, lane: usize| {
                let bits = if packed {
                    args[arg][0] >> (8 * lane)
                } else {
                    args[arg][lane]
                };
                types[arg].int(bits)
            };
            let sum: i128 = (0..4).map(|n| lane(0, n) * lane(1, n)).sum();
            vec![vec![ExpectedLane::Bits(if accumulates {
                out.saturated(sum + out.int(args[2][0]))
            } else {
                out.wrapped(sum)
            })]]
        }),
    }
}
