//! Non-temporal stores have the same effect as others.

mod common;

use common::{compile_with, run_shader, shader};
use spirula_cpu::{CpuMode, JitOptions};

/// Number of invocations. Their words exceed the caches.
const COUNT: usize = 1 << 22;

/// The results of a shader with 32 invocations in a row, with and without gangs.
fn both(body: &str) -> Vec<u32> {
    let text = shader([32, 1, 1], "", body);
    let results = [CpuMode::Gangs, CpuMode::Scalar].map(|mode| {
        let options = JitOptions {
            mode,
            ..JitOptions::default()
        };
        let kernel = compile_with(&text, &[], &options).unwrap_or_else(|f| panic!("{}", f[0]));
        assert_eq!(kernel.runs_gangs(), mode == CpuMode::Gangs);
        let x = (0..COUNT as u32).map(|n| n.wrapping_mul(0x9e37_79b9));
        let mut buffers = [x.collect(), vec![0; COUNT + 64]];
        run_shader(&kernel, [COUNT as u32 / 32, 1, 1], &mut buffers, &[]).expect("it runs");
        let [_, y] = buffers;
        y
    });
    assert_eq!(results[0], results[1], "{body}");
    let [result, _] = results;
    result
}

/// Copies `x` to `y`, from an element on.
fn copied(first: &str) -> Vec<u32> {
    both(&format!(
        "%from = OpAccessChain %puint %x %n0 %global
        %own = OpLoad %uint %from
        %at = OpIAdd %uint %global {first}
        %to = OpAccessChain %puint %y %n0 %at
        OpStore %to %own"
    ))
}

#[test]
fn vectors_are_stored_wherever_they_begin() {
    let [even, odd] = ["%n0", "%n1"].map(copied);
    for n in 0..COUNT {
        let wanted = (n as u32).wrapping_mul(0x9e37_79b9);
        assert_eq!((even[n], odd[n + 1]), (wanted, wanted), "element {n}");
    }
}

/// A load by the same invocation returns the stored value, and the last store to an address counts.
#[test]
fn stores_to_one_place_keep_their_order() {
    let result = both(
        "%to = OpAccessChain %puint %y %n0 %global
        OpStore %to %n3
        OpStore %to %global",
    );
    assert!((0..COUNT).all(|n| result[n] == n as u32));
}

#[test]
fn some_invocations_store_alone() {
    let result = both(
        "%odd = OpBitwiseAnd %uint %global %n1
        %is_odd = OpINotEqual %bool %odd %n0
        %to = OpAccessChain %puint %y %n0 %global
        OpSelectionMerge %end None
        OpBranchConditional %is_odd %then %end
        %then = OpLabel
        OpStore %to %global
        OpBranch %end
        %end = OpLabel",
    );
    assert!((0..COUNT).all(|n| result[n] == if n % 2 == 1 { n as u32 } else { 0 }));
}
