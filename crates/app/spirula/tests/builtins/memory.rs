//! Atomic accesses, positions of invocations, and functions of the workgroup.

use crate::case::{BuiltinArg, BuiltinCase, ExpectedLane, ITEMS, XorshiftRandom, each};
use crate::number::{INTS, OpenClScalar};
use std::rc::Rc;

use OpenClScalar::Int;

const U32: OpenClScalar = Int(32, false);
const U64: OpenClScalar = Int(64, false);

type AtomicChangeRow = (&'static str, fn(i128, i128) -> i128);

/// Result of an atomic access, from the old value and the operand.
const CHANGES: &[AtomicChangeRow] = &[
    ("add", |old, by| old + by),
    ("sub", |old, by| old - by),
    ("and", |old, by| old & by),
    ("or", |old, by| old | by),
    ("xor", |old, by| old ^ by),
    ("min", |old, by| old.min(by)),
    ("max", |old, by| old.max(by)),
];

/// Sequentially consistent, in the scope of the device.
const ORDER: BuiltinArg = BuiltinArg::Const(Int(32, true), 5);
const SCOPE: BuiltinArg = BuiltinArg::Const(Int(32, true), 2);

fn inputs(ty: OpenClScalar, count: usize) -> Vec<Vec<Vec<u64>>> {
    let mut random = XorshiftRandom(31);
    (0..ITEMS)
        .map(|_| (0..count).map(|_| vec![random.int(ty)]).collect())
        .collect()
}

/// An access that returns the old value and stores another.
fn change(
    name: &str,
    ty: OpenClScalar,
    extra: &[BuiltinArg],
    operand: bool,
    new: fn(i128, i128) -> i128,
) -> BuiltinCase {
    let mut args = vec![BuiltinArg::Change(ty)];
    args.extend(operand.then_some(BuiltinArg::Value(ty, 1)));
    args.extend_from_slice(extra);
    BuiltinCase {
        name: name.to_owned(),
        args,
        result: Some((ty, 1)),
        inputs: inputs(ty, 1 + usize::from(operand)),
        eval: each(move |args| {
            let by = args.get(1).map_or(0, |by| ty.int(by[0]));
            let left = ty.wrapped(new(ty.int(args[0][0]), by));
            vec![
                vec![ExpectedLane::Bits(args[0][0])],
                vec![ExpectedLane::Bits(left)],
            ]
        }),
    }
}

/// Atomic accesses of OpenCL 1 and 2.
pub fn atomics() -> Vec<BuiltinCase> {
    let mut cases = Vec::new();
    for ty in INTS.into_iter().filter(|ty| ty.bits() >= 32) {
        // Those of 64 bits had another prefix.
        let prefixes: &[&str] = match ty.bits() {
            32 => &["atomic", "atom"],
            _ => &["atom"],
        };
        for prefix in prefixes {
            for &(name, new) in CHANGES {
                cases.push(change(&format!("{prefix}_{name}"), ty, &[], true, new));
            }
            cases.push(change(&format!("{prefix}_xchg"), ty, &[], true, |_, by| by));
            cases.push(change(
                &format!("{prefix}_inc"),
                ty,
                &[],
                false,
                |old, _| old + 1,
            ));
            cases.push(change(
                &format!("{prefix}_dec"),
                ty,
                &[],
                false,
                |old, _| old - 1,
            ));
            cases.push(exchange_if_equal(&format!("{prefix}_cmpxchg"), ty));
        }
        for &(name, new) in CHANGES {
            let name = format!("atomic_fetch_{name}");
            cases.push(change(&name, ty, &[], true, new));
            let explicit = format!("{name}_explicit");
            cases.push(change(&explicit, ty, &[ORDER], true, new));
            cases.push(change(&explicit, ty, &[ORDER, SCOPE], true, new));
        }
        cases.push(change("atomic_exchange", ty, &[], true, |_, by| by));
        let extra = [ORDER, SCOPE];
        cases.push(change(
            "atomic_exchange_explicit",
            ty,
            &extra,
            true,
            |_, by| by,
        ));
        cases.push(change("atomic_load", ty, &[], false, |old, _| old));
        cases.push(change(
            "atomic_load_explicit",
            ty,
            &extra,
            false,
            |old, _| old,
        ));
        for (name, extra) in [
            ("atomic_store", &[][..]),
            ("atomic_store_explicit", &extra),
            ("atomic_init", &[]),
        ] {
            let mut case = change(name, ty, extra, true, |_, by| by);
            case.result = None;
            let both = case.eval.clone();
            case.eval = Rc::new(move |all| {
                let all = both(all).into_iter();
                all.map(|results| results[1..].to_vec()).collect()
            });
            cases.push(case);
        }
        cases.extend(exchanges(ty));
    }
    cases.extend(flags());
    cases
}

/// Exchanges that return whether they took place, and flags.
fn exchanges(ty: OpenClScalar) -> Vec<BuiltinCase> {
    let mut cases = Vec::new();
    for strength in ["strong", "weak"] {
        for explicit in [false, true] {
            let name = format!("atomic_compare_exchange_{strength}");
            let mut case = exchange_if_equal(&name, ty);
            case.args[1] = BuiltinArg::Guess(ty);
            if explicit {
                case.name.push_str("_explicit");
                case.args.extend([ORDER, ORDER, SCOPE]);
            }
            case.result = Some((Int(32, true), 1));
            case.eval = each(|args| {
                let equal = args[0] == args[1];
                let left = if equal { args[2][0] } else { args[0][0] };
                [equal.into(), left, args[0][0]]
                    .map(|bits| vec![ExpectedLane::Bits(bits)])
                    .to_vec()
            });
            cases.push(case);
        }
    }
    cases
}

/// `atomic_flag_test_and_set` and `atomic_flag_clear`
fn flags() -> Vec<BuiltinCase> {
    let flag = Int(32, true);
    let mut cases = Vec::new();
    for extra in [&[][..], &[ORDER, SCOPE]] {
        let suffix = if extra.is_empty() { "" } else { "_explicit" };
        let mut args = vec![BuiltinArg::Change(flag)];
        args.extend_from_slice(extra);
        let inputs: Vec<_> = (0..ITEMS as u64).map(|item| vec![vec![item % 2]]).collect();
        cases.push(BuiltinCase {
            name: format!("atomic_flag_test_and_set{suffix}"),
            args: args.clone(),
            result: Some((flag, 1)),
            inputs: inputs.clone(),
            eval: each(|args| {
                vec![
                    vec![ExpectedLane::Bits(args[0][0])],
                    vec![ExpectedLane::Any],
                ]
            }),
        });
        cases.push(BuiltinCase {
            name: format!("atomic_flag_clear{suffix}"),
            args,
            result: None,
            inputs,
            eval: each(|_| vec![vec![ExpectedLane::Bits(0)]]),
        });
    }
    cases
}

/// An exchange whose expected value matches in half of the cases.
fn exchange_if_equal(name: &str, ty: OpenClScalar) -> BuiltinCase {
    let mut inputs = inputs(ty, 3);
    for args in inputs.iter_mut().step_by(2) {
        args[1] = args[0].clone();
    }
    BuiltinCase {
        name: name.to_owned(),
        args: vec![
            BuiltinArg::Change(ty),
            BuiltinArg::Value(ty, 1),
            BuiltinArg::Value(ty, 1),
        ],
        result: Some((ty, 1)),
        inputs,
        eval: each(move |args| {
            let left = if args[0] == args[1] {
                args[2][0]
            } else {
                args[0][0]
            };
            vec![
                vec![ExpectedLane::Bits(args[0][0])],
                vec![ExpectedLane::Bits(left)],
            ]
        }),
    }
}

/// Functions of positions, in the only workgroup.
pub fn positions() -> Vec<BuiltinCase> {
    let size = ITEMS as u64;
    let position = |item: u64| item;
    let all = move |_: u64| size;
    type Row = (&'static str, Box<dyn Fn(u64) -> u64>, u64);
    let rows: Vec<Row> = vec![
        ("get_global_id", Box::new(position), 0),
        ("get_local_id", Box::new(position), 0),
        ("get_global_size", Box::new(all), 1),
        ("get_local_size", Box::new(all), 1),
        ("get_enqueued_local_size", Box::new(all), 1),
        ("get_num_groups", Box::new(|_| 1), 1),
        ("get_group_id", Box::new(|_| 0), 0),
        ("get_global_offset", Box::new(|_| 0), 0),
    ];
    let mut cases = Vec::new();
    for (name, eval, beyond) in rows {
        let eval: Rc<dyn Fn(u64) -> u64> = eval.into();
        for dimension in 0..4 {
            let eval = eval.clone();
            let args = vec![BuiltinArg::Const(U32, dimension)];
            cases.push(positioned(name, args, U64, move |item| match dimension {
                0 => eval(item),
                _ => beyond,
            }));
        }
    }
    cases.push(positioned("get_work_dim", vec![], U32, |_| 1));
    cases.push(positioned("get_global_linear_id", vec![], U64, |item| item));
    cases.push(positioned("get_local_linear_id", vec![], U64, |item| item));
    cases
}

pub fn positioned(
    name: &str,
    args: Vec<BuiltinArg>,
    ty: OpenClScalar,
    eval: impl Fn(u64) -> u64 + 'static,
) -> BuiltinCase {
    BuiltinCase {
        name: name.to_owned(),
        args,
        result: Some((ty, 1)),
        inputs: vec![Vec::new(); ITEMS],
        eval: Rc::new(move |all| {
            let items = 0..all.len() as u64;
            items
                .map(|item| vec![vec![ExpectedLane::Bits(eval(item))]])
                .collect()
        }),
    }
}

/// Functions of all invocations of the workgroup.
pub fn groups() -> Vec<BuiltinCase> {
    let mut cases = Vec::new();
    for ty in INTS.into_iter().filter(|ty| ty.bits() >= 32) {
        type Operation = (&'static str, fn(i128, i128) -> i128, i128);
        let operations: [Operation; 3] = [
            ("add", |a, b| a + b, 0),
            ("min", i128::min, ty.range().1),
            ("max", i128::max, ty.range().0),
        ];
        for (operation, join, neutral) in operations {
            for kind in ["reduce", "scan_exclusive", "scan_inclusive"] {
                cases.push(BuiltinCase {
                    name: format!("work_group_{kind}_{operation}"),
                    args: vec![BuiltinArg::Value(ty, 1)],
                    result: Some((ty, 1)),
                    inputs: inputs(ty, 1),
                    eval: Rc::new(move |all| {
                        let upto = |end: usize| {
                            let values = all[..end].iter().map(|args| ty.int(args[0][0]));
                            ty.wrapped(values.fold(neutral, join))
                        };
                        let result = |item: usize| match kind {
                            "reduce" => upto(all.len()),
                            "scan_exclusive" => upto(item),
                            _ => upto(item + 1),
                        };
                        let items = 0..all.len();
                        items
                            .map(|item| vec![vec![ExpectedLane::Bits(result(item))]])
                            .collect()
                    }),
                });
            }
        }
        cases.push(BuiltinCase {
            name: "work_group_broadcast".to_owned(),
            args: vec![BuiltinArg::Value(ty, 1), BuiltinArg::Const(U64, 3)],
            result: Some((ty, 1)),
            inputs: inputs(ty, 1),
            eval: Rc::new(|all| vec![vec![vec![ExpectedLane::Bits(all[3][0][0])]]; all.len()]),
        });
    }
    for (name, wanted) in [("work_group_all", 0), ("work_group_any", 1)] {
        for chosen in [vec![0; ITEMS], vec![1; ITEMS], (0..ITEMS as u64).collect()] {
            cases.push(BuiltinCase {
                name: name.to_owned(),
                args: vec![BuiltinArg::Value(Int(32, true), 1)],
                result: Some((Int(32, true), 1)),
                inputs: chosen.iter().map(|value| vec![vec![*value]]).collect(),
                eval: Rc::new(move |all| {
                    let mut truths = all.iter().map(|args| args[0][0] != 0);
                    let holds = match wanted {
                        0 => truths.all(|truth| truth),
                        _ => truths.any(|truth| truth),
                    };
                    vec![vec![vec![ExpectedLane::Bits(holds.into())]]; all.len()]
                }),
            });
        }
    }
    cases
}
