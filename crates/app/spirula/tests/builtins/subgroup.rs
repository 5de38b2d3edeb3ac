//! Functions of the invocations of a subgroup.

use crate::case::{BuiltinArg, BuiltinCase, BuiltinInputs, ExpectedLane, ITEMS, XorshiftRandom};
use crate::memory::positioned;
use crate::number::{INTS, OpenClScalar};
use std::rc::Rc;

use OpenClScalar::Int;

const I32: OpenClScalar = Int(32, true);
const U32: OpenClScalar = Int(32, false);

/// Invocations of a subgroup on the CPU device.
const SIZE: usize = 8;

/// Result of an invocation, from the values of its subgroup and its index.
type SubgroupEval = Rc<dyn Fn(&[BuiltinInputs], usize) -> Vec<ExpectedLane>>;

fn case(
    name: &str,
    args: Vec<BuiltinArg>,
    result: (OpenClScalar, u32),
    inputs: Vec<BuiltinInputs>,
    eval: SubgroupEval,
) -> BuiltinCase {
    BuiltinCase {
        name: name.to_owned(),
        args,
        result: Some(result),
        inputs,
        eval: Rc::new(move |all| {
            let groups = all.chunks(SIZE);
            let results = groups.flat_map(|group| {
                let items = 0..group.len();
                items
                    .map(|item| vec![eval(group, item)])
                    .collect::<Vec<_>>()
            });
            results.collect()
        }),
    }
}

/// One random value for each invocation.
fn values(ty: OpenClScalar) -> Vec<BuiltinInputs> {
    let mut random = XorshiftRandom(41);
    (0..ITEMS).map(|_| vec![vec![random.int(ty)]]).collect()
}

fn bits(value: u64) -> Vec<ExpectedLane> {
    vec![ExpectedLane::Bits(value)]
}

fn first(group: &[BuiltinInputs], item: usize) -> u64 {
    group[item][0][0]
}

/// All functions of subgroups.
pub fn all() -> Vec<BuiltinCase> {
    let mut cases = places();
    cases.extend(votes());
    cases.extend(ballots());
    for ty in INTS.into_iter().filter(|ty| ty.bits() >= 32) {
        cases.extend(reductions(ty));
        cases.extend(exchanges(ty));
    }
    cases
}

fn places() -> Vec<BuiltinCase> {
    let size = SIZE as u64;
    let groups = (ITEMS / SIZE) as u64;
    let mut cases = vec![
        positioned("get_sub_group_size", vec![], U32, move |_| size),
        positioned("get_max_sub_group_size", vec![], U32, move |_| size),
        positioned("get_num_sub_groups", vec![], U32, move |_| groups),
        positioned("get_enqueued_num_sub_groups", vec![], U32, move |_| groups),
        positioned("get_sub_group_id", vec![], U32, move |item| item / size),
        positioned("get_sub_group_local_id", vec![], U32, move |item| {
            item % size
        }),
    ];
    type Mask = (&'static str, fn(usize, usize) -> bool);
    let masks: [Mask; 5] = [
        ("eq", |lane, item| lane == item),
        ("ge", |lane, item| lane >= item),
        ("gt", |lane, item| lane > item),
        ("le", |lane, item| lane <= item),
        ("lt", |lane, item| lane < item),
    ];
    for (name, holds) in masks {
        let eval: SubgroupEval = Rc::new(move |_, item| {
            let lanes = (0..SIZE).filter(|lane| holds(*lane, item));
            let mask = lanes.fold(0, |mask, lane| mask | 1 << lane);
            ballot(mask)
        });
        let name = format!("get_sub_group_{name}_mask");
        let inputs = vec![Vec::new(); ITEMS];
        cases.push(case(&name, vec![], (U32, 4), inputs, eval));
    }
    cases
}

fn ballot(mask: u64) -> Vec<ExpectedLane> {
    [mask, 0, 0, 0].map(ExpectedLane::Bits).to_vec()
}

fn votes() -> Vec<BuiltinCase> {
    let mut cases = Vec::new();
    let truths: [Vec<u64>; 3] = [
        vec![0; ITEMS],
        vec![1; ITEMS],
        (0..ITEMS as u64).map(|item| item % 3).collect(),
    ];
    for truths in truths {
        let inputs: Vec<BuiltinInputs> = truths.iter().map(|t| vec![vec![*t]]).collect();
        let all: SubgroupEval = Rc::new(|group, _| {
            let holds = group.iter().all(|args| args[0][0] != 0);
            bits(holds.into())
        });
        let any: SubgroupEval = Rc::new(|group, _| {
            let holds = group.iter().any(|args| args[0][0] != 0);
            bits(holds.into())
        });
        let equal: SubgroupEval = Rc::new(|group, _| {
            let holds = group.iter().all(|args| args == &group[0]);
            bits(holds.into())
        });
        let voted: SubgroupEval = Rc::new(|group, _| {
            let lanes = group.iter().enumerate();
            let set = lanes.filter(|(_, args)| args[0][0] != 0);
            ballot(set.fold(0, |mask, (lane, _)| mask | 1 << lane))
        });
        let rows: [(&str, &SubgroupEval); 5] = [
            ("sub_group_all", &all),
            ("sub_group_any", &any),
            ("sub_group_non_uniform_all", &all),
            ("sub_group_non_uniform_any", &any),
            ("sub_group_non_uniform_all_equal", &equal),
        ];
        let arg = vec![BuiltinArg::Value(I32, 1)];
        for (name, eval) in rows {
            cases.push(case(
                name,
                arg.clone(),
                (I32, 1),
                inputs.clone(),
                eval.clone(),
            ));
        }
        cases.push(case("sub_group_ballot", arg, (U32, 4), inputs, voted));
    }
    let elected: SubgroupEval = Rc::new(|_, item| bits((item == 0).into()));
    let none = vec![Vec::new(); ITEMS];
    cases.push(case("sub_group_elect", vec![], (I32, 1), none, elected));
    cases
}

fn ballots() -> Vec<BuiltinCase> {
    let mut random = XorshiftRandom(43);
    // The value is uniform in a subgroup, and never zero.
    let masks: Vec<u64> = (0..ITEMS / SIZE)
        .map(|_| random.next() & 0xff | 4)
        .collect();
    let inputs: Vec<BuiltinInputs> = (0..ITEMS)
        .map(|item| vec![vec![masks[item / SIZE], 0, 0, 0]])
        .collect();
    type Row = (&'static str, fn(u64, usize) -> u64);
    let rows: [Row; 6] = [
        ("bit_count", |mask, _| mask.count_ones().into()),
        ("inclusive_scan", |mask, item| {
            (mask & ((2 << item) - 1)).count_ones().into()
        }),
        ("exclusive_scan", |mask, item| {
            (mask & ((1 << item) - 1)).count_ones().into()
        }),
        ("find_lsb", |mask, _| mask.trailing_zeros().into()),
        ("find_msb", |mask, _| (63 - mask.leading_zeros()).into()),
        ("bit_extract", |mask, _| mask >> 2 & 1),
    ];
    let mut cases = Vec::new();
    for (name, of) in rows {
        let mut args = vec![BuiltinArg::Value(U32, 4)];
        args.extend((name == "bit_extract").then_some(BuiltinArg::Const(U32, 2)));
        let eval: SubgroupEval = Rc::new(move |group, item| bits(of(first(group, item), item)));
        let name = format!("sub_group_ballot_{name}");
        cases.push(case(&name, args, (U32, 1), inputs.clone(), eval));
    }
    let inverse: SubgroupEval = Rc::new(|group, item| bits(first(group, item) >> item & 1));
    let args = vec![BuiltinArg::Value(U32, 4)];
    cases.push(case(
        "sub_group_inverse_ballot",
        args,
        (I32, 1),
        inputs,
        inverse,
    ));
    cases
}

type SubgroupJoinFn = fn(i128, i128) -> i128;

fn reductions(ty: OpenClScalar) -> Vec<BuiltinCase> {
    let (low, high) = ty.range();
    let operations: [(&str, SubgroupJoinFn, i128, bool); 7] = [
        ("add", |a, b| a + b, 0, true),
        ("min", i128::min, high, true),
        ("max", i128::max, low, true),
        ("mul", i128::wrapping_mul, 1, false),
        ("and", |a, b| a & b, -1, false),
        ("or", |a, b| a | b, 0, false),
        ("xor", |a, b| a ^ b, 0, false),
    ];
    let mut cases = Vec::new();
    for (operation, join, neutral, uniform) in operations {
        let over = move |group: &[BuiltinInputs]| {
            let values = group.iter().map(|args| ty.int(args[0][0]));
            let joined = values.fold(neutral, |a, b| ty.int(ty.wrapped(join(a, b))));
            bits(ty.wrapped(joined))
        };
        let rows: [(&str, SubgroupEval); 3] = [
            ("reduce", Rc::new(move |group, _| over(group))),
            (
                "scan_inclusive",
                Rc::new(move |group, item| over(&group[..=item])),
            ),
            (
                "scan_exclusive",
                Rc::new(move |group, item| over(&group[..item])),
            ),
        ];
        for (kind, eval) in rows {
            for prefix in ["sub_group", "sub_group_non_uniform"] {
                if prefix == "sub_group" && !uniform {
                    continue;
                }
                let name = format!("{prefix}_{kind}_{operation}");
                let arg = vec![BuiltinArg::Value(ty, 1)];
                cases.push(case(&name, arg, (ty, 1), values(ty), eval.clone()));
            }
        }
        let clustered: SubgroupEval = Rc::new(move |group, item| {
            let start = item / 4 * 4;
            over(&group[start..start + 4])
        });
        let name = format!("sub_group_clustered_reduce_{operation}");
        let args = vec![BuiltinArg::Value(ty, 1), BuiltinArg::Const(U32, 4)];
        cases.push(case(&name, args, (ty, 1), values(ty), clustered));
    }
    cases
}

fn exchanges(ty: OpenClScalar) -> Vec<BuiltinCase> {
    let from = |lane: fn(usize) -> Option<usize>| -> SubgroupEval {
        Rc::new(move |group, item| match lane(item) {
            Some(lane) => bits(first(group, lane)),
            None => vec![ExpectedLane::Any],
        })
    };
    let rows: [(&str, Option<BuiltinArg>, SubgroupEval); 9] = [
        (
            "sub_group_broadcast",
            Some(BuiltinArg::Const(U32, 5)),
            from(|_| Some(5)),
        ),
        (
            "sub_group_non_uniform_broadcast",
            Some(BuiltinArg::Const(U32, 5)),
            from(|_| Some(5)),
        ),
        ("sub_group_broadcast_first", None, from(|_| Some(0))),
        (
            "sub_group_shuffle",
            Some(BuiltinArg::Const(U32, 6)),
            from(|_| Some(6)),
        ),
        (
            "sub_group_shuffle_xor",
            Some(BuiltinArg::Const(U32, 3)),
            from(|item| Some(item ^ 3)),
        ),
        (
            "sub_group_shuffle_up",
            Some(BuiltinArg::Const(U32, 2)),
            from(|item| item.checked_sub(2)),
        ),
        (
            "sub_group_shuffle_down",
            Some(BuiltinArg::Const(U32, 2)),
            from(|item| Some(item + 2).filter(|lane| *lane < SIZE)),
        ),
        (
            "sub_group_rotate",
            Some(BuiltinArg::Const(I32, 3)),
            from(|item| Some((item + 3) % SIZE)),
        ),
        (
            "sub_group_clustered_rotate",
            Some(BuiltinArg::Const(I32, 3)),
            from(|item| Some(item / 4 * 4 + (item + 3) % 4)),
        ),
    ];
    let mut cases = Vec::new();
    for (name, extra, eval) in rows {
        let mut args = vec![BuiltinArg::Value(ty, 1)];
        args.extend(extra);
        args.extend((name == "sub_group_clustered_rotate").then_some(BuiltinArg::Const(U32, 4)));
        cases.push(case(name, args, (ty, 1), values(ty), eval));
    }
    cases
}
