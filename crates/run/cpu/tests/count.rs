//! Counting the instructions that run.

mod common;

use common::{compile_with, run_shader, shader};
use spirula_cpu::{CpuMode, JitOptions};

/// Each invocation runs as many iterations of a loop as its local index.
const LOOP: &str = "OpBranch %head
%head = OpLabel
%n = OpPhi %uint %n0 %entry %more %next
OpLoopMerge %after %next None
OpBranch %test
%test = OpLabel
%goes = OpULessThan %bool %n %local
OpBranchConditional %goes %next %after
%next = OpLabel
OpControlBarrier %n3 %n3 %barrier
%more = OpIAdd %uint %n %n1
OpBranch %head
%after = OpLabel
%to = OpAccessChain %puint %y %n0 %global
OpStore %to %n";

#[test]
fn blocks_are_counted_for_every_invocation() {
    let options = JitOptions {
        mode: CpuMode::Counting,
        ..JitOptions::default()
    };
    let kernel =
        compile_with(&shader([8, 1, 1], "", LOOP), &[], &options).expect("it is supported");
    assert!(!kernel.runs_gangs());
    assert_eq!(kernel.instruction_count(), 0);
    for launch in 1..=2 {
        let mut buffers = [vec![0], vec![0; 32]];
        run_shader(&kernel, [4, 1, 1], &mut buffers, &[]).expect("it runs");
        let runs: Vec<u64> = kernel.block_counts().iter().map(|b| b.runs).collect();
        let mut sorted = runs.clone();
        sorted.sort_unstable();
        // Entry and end; then the loop's body, which runs 0 to 7 times in each workgroup, and its head and test.
        let (ends, rounds) = (32 * launch, 28 * 4 * launch);
        assert_eq!(sorted, [ends, ends, rounds, rounds + ends, rounds + ends]);
        let one = |b: &spirula_cpu::BlockCount| b.runs * u64::from(b.instructions);
        let total: u64 = kernel.block_counts().iter().map(one).sum();
        assert_eq!(kernel.instruction_count(), total);
    }
    let body = kernel.block_counts().into_iter().find(|b| b.runs == 28 * 8);
    assert_eq!(body.map(|b| b.instructions), Some(3));
}

#[test]
fn nothing_is_counted_unless_asked_for() {
    let text = shader([8, 1, 1], "", LOOP);
    let kernel = compile_with(&text, &[], &JitOptions::default()).expect("it is supported");
    let mut buffers = [vec![0], vec![0; 8]];
    run_shader(&kernel, [1, 1, 1], &mut buffers, &[]).expect("it runs");
    assert_eq!(
        (kernel.instruction_count(), kernel.block_counts()),
        (0, Vec::new())
    );
}
