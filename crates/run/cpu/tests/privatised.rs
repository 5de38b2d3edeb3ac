//! Privatised atomics have the same results as direct updates.

mod common;

use common::{compile_with, run_shader, shader};
use spirula_cpu::{CpuMode, JitOptions};

const GROUPS: u32 = 500;
const INVOCATIONS: u32 = 64 * GROUPS;

fn given() -> Vec<u32> {
    let numbers = 0..INVOCATIONS;
    numbers.map(|n| n.wrapping_mul(0x9e37_79b9) >> 3).collect()
}

/// The second buffer, with its initial value `begun`, after a shader, with and without gangs.
fn both(body: &str, begun: u32) -> Vec<u32> {
    both_with(body, begun, 7)
}

/// The same with a number of bins.
fn both_with(body: &str, begun: u32, bins: u32) -> Vec<u32> {
    let globals = format!("%scope = OpConstant %uint 1\n%bins = OpConstant %uint {bins}");
    let text = shader([64, 1, 1], &globals, body);
    let results = [CpuMode::Gangs, CpuMode::Scalar].map(|mode| {
        let options = JitOptions {
            mode,
            ..JitOptions::default()
        };
        let kernel = compile_with(&text, &[], &options).unwrap_or_else(|f| panic!("{}", f[0]));
        let mut buffers = [given(), vec![begun; bins as usize + 1]];
        run_shader(&kernel, [GROUPS, 1, 1], &mut buffers, &[]).expect("it runs");
        let [_, y] = buffers;
        y
    });
    assert_eq!(results[0], results[1], "{body}");
    let [result, _] = results;
    result
}

/// Changes one of seven numbers.
fn counting(change: &str) -> String {
    format!(
        "%from = OpAccessChain %puint %x %n0 %global
        %own = OpLoad %uint %from
        %bin = OpUMod %uint %own %bins
        %to = OpAccessChain %puint %y %n0 %bin
        {change}"
    )
}

#[test]
fn every_change_is_made() {
    type Change = fn(u32, u32) -> u32;
    let cases: [(&str, u32, Change); 10] = [
        ("OpAtomicIAdd", 5, u32::wrapping_add),
        ("OpAtomicISub", 5, u32::wrapping_sub),
        ("OpAtomicIIncrement", 5, |old, _| old + 1),
        ("OpAtomicIDecrement", 5, |old, _| old.wrapping_sub(1)),
        ("OpAtomicAnd", u32::MAX - 8, |old, own| old & own),
        ("OpAtomicOr", 1, |old, own| old | own),
        ("OpAtomicXor", 77, |old, own| old ^ own),
        ("OpAtomicUMin", 1 << 28, u32::min),
        ("OpAtomicUMax", 3, u32::max),
        ("OpAtomicSMax", u32::MAX, |old, own| {
            (old as i32).max(own as i32) as u32
        }),
    ];
    for (op, begun, change) in cases {
        let operand = if op.ends_with("crement") { "" } else { " %own" };
        let body = counting(&format!("%old = {op} %uint %to %scope %n0{operand}"));
        let mut wanted = vec![begun; 8];
        for own in given() {
            let to = &mut wanted[own as usize % 7];
            *to = change(*to, own);
        }
        assert_eq!(both(&body, begun), wanted, "{op}");
    }
}

/// Updates with used results, updates that order others, and updates of two kinds are made directly.
#[test]
fn others_are_as_ever() {
    let add = "%old = OpAtomicIAdd %uint %to %scope %n0 %n1";
    let mut counts = vec![0; 8];
    for own in given() {
        counts[own as usize % 7] += 1;
    }
    // Each gets another number, so that their sum is known.
    let asked = format!(
        "{add}
        %sum = OpAccessChain %puint %y %n0 %bins
        %all = OpAtomicIAdd %uint %sum %scope %n0 %old"
    );
    let mut wanted = counts.clone();
    wanted[7] = counts.iter().map(|n| n * (n.max(&1) - 1) / 2).sum();
    assert_eq!(both(&counting(&asked), 0), wanted);
    let two = format!("{add}\n%all = OpAtomicOr %uint %to %scope %n0 %n64");
    let either = both(&counting(&two), 0);
    assert!(either[..7].iter().all(|n| n & 64 != 0));
}

/// Numbers of bins for which threads have copies, share their merge, or update the memory itself.
#[test]
fn any_number_of_bins_is_counted() {
    let add = counting("%old = OpAtomicIAdd %uint %to %scope %n0 %own");
    for bins in [1, 255, 4001, 15_999, 16_384, 31_999, 40_000] {
        let mut wanted = vec![9u32; bins as usize + 1];
        for own in given() {
            let to = &mut wanted[(own % bins) as usize];
            *to = to.wrapping_add(own);
        }
        assert_eq!(both_with(&add, 9, bins), wanted, "{bins}");
    }
}
