//! Barriers, group operations and subgroup operations.

mod common;

use common::{compile, compile_with, run_shader, shader};
use spirula_cpu::{JitOptions, LaunchError};

const SHARED: &str = "%n256 = OpConstant %uint 256
%shared_array = OpTypeArray %uint %n64
%pshared = OpTypePointer Workgroup %shared_array
%pword = OpTypePointer Workgroup %uint
%shared = OpVariable %pshared Workgroup
%pfn = OpTypePointer Function %uint";

/// A tree of sums with a barrier in a loop. The loop counter and an accumulator are live across it.
const TREE: &str = "OpBranch %begin
%begin = OpLabel
%from = OpAccessChain %puint %x %n0 %global
%own = OpLoad %uint %from
%slot = OpAccessChain %pword %shared %local
OpStore %slot %own
OpBranch %head
%head = OpLabel
%step = OpPhi %uint %n1 %begin %twice %continue
%rounds = OpPhi %uint %n0 %begin %more %continue
OpLoopMerge %after %continue None
OpBranch %test
%test = OpLabel
%goes = OpULessThan %bool %step %n64
OpBranchConditional %goes %work %after
%work = OpLabel
OpControlBarrier %n2 %n2 %barrier
%partner = OpBitwiseXor %uint %local %step
%other = OpAccessChain %pword %shared %partner
%theirs = OpLoad %uint %other
%mine = OpLoad %uint %slot
OpControlBarrier %n2 %n2 %barrier
%sum = OpIAdd %uint %mine %theirs
OpStore %slot %sum
OpBranch %continue
%continue = OpLabel
%twice = OpIMul %uint %step %n2
%more = OpIAdd %uint %rounds %n1
OpBranch %head
%after = OpLabel
%total = OpLoad %uint %slot
%shifted = OpShiftLeftLogical %uint %rounds %n8
%result = OpBitwiseXor %uint %total %shifted
%to = OpAccessChain %puint %y %n0 %global
OpStore %to %result";

#[test]
fn barriers_stand_in_loops() {
    let kernel = compile(&shader([64, 1, 1], SHARED, TREE)).expect("the shader is supported");
    let input: Vec<u32> = (0..256).map(|n| n * n + 3).collect();
    let mut buffers = [input.clone(), vec![0; 256]];
    run_shader(&kernel, [4, 1, 1], &mut buffers, &[]).expect("all invocations meet");
    for (group, sums) in input.chunks(64).zip(buffers[1].chunks(64)) {
        let want = group.iter().sum::<u32>() ^ 6 << 8;
        assert!(sums.iter().all(|s| *s == want), "{sums:?} are not {want}");
    }
}

/// Half of the invocations wait at one barrier, the others at another one.
const DIVERGENT: &str = "%low = OpULessThan %bool %local %n4
OpSelectionMerge %join None
OpBranchConditional %low %left %right
%left = OpLabel
OpControlBarrier %n2 %n2 %barrier
OpBranch %join
%right = OpLabel
OpControlBarrier %n2 %n2 %barrier
OpBranch %join
%join = OpLabel";

#[test]
fn different_barriers_are_an_error() {
    let kernel = compile(&shader([8, 1, 1], "", DIVERGENT)).expect("the shader is supported");
    let mut buffers = [vec![0; 8], vec![0; 8]];
    let error = run_shader(&kernel, [1, 1, 1], &mut buffers, &[]).expect_err("the barriers differ");
    let LaunchError::BarrierDivergence { first, second, .. } = &error else {
        panic!("{error}");
    };
    assert!(first.contains("OpControlBarrier at word"), "{error}");
    assert_ne!(first, second);
}

#[test]
fn an_invocation_that_has_ended_is_not_waited_for() {
    let body = "%low = OpULessThan %bool %local %n4
OpSelectionMerge %join None
OpBranchConditional %low %left %join
%left = OpLabel
OpReturn
%join = OpLabel
OpControlBarrier %n2 %n2 %barrier
%to = OpAccessChain %puint %y %n0 %global
OpStore %to %n3";
    let kernel = compile(&shader([8, 1, 1], "", body)).expect("the shader is supported");
    let mut buffers = [vec![0; 8], vec![0; 8]];
    run_shader(&kernel, [1, 1, 1], &mut buffers, &[]).expect("all that are left meet");
    assert_eq!(buffers[1], [0, 0, 0, 0, 3, 3, 3, 3]);
}

/// Runs a subgroup operation on 16 invocations in subgroups of 8.
fn subgroup(body: &str) -> Vec<u32> {
    let body = format!(
        "%from = OpAccessChain %puint %x %n0 %global
%v = OpLoad %uint %from
{body}
%to = OpAccessChain %puint %y %n0 %global
OpStore %to %r"
    );
    let text = shader([16, 1, 1], "%n8x = OpConstant %uint 7", &body);
    let kernel = compile_with(&text, &[], &JitOptions::default()).expect("it is supported");
    let input: Vec<u32> = (0..16).map(|n| n * 3 + 1).collect();
    let mut buffers = [input, vec![0; 16]];
    run_shader(&kernel, [1, 1, 1], &mut buffers, &[]).expect("subgroups need no agreement");
    buffers[1].clone()
}

fn each(f: impl Fn(usize, &[u32]) -> u32) -> Vec<u32> {
    let input: Vec<u32> = (0..16).map(|n| n * 3 + 1).collect();
    (0..16)
        .map(|n| f(n % 8, &input[n / 8 * 8..][..8]))
        .collect()
}

#[test]
fn subgroups_reduce_scan_and_shuffle() {
    let reduce = subgroup("%r = OpGroupNonUniformIAdd %uint %n3 Reduce %v");
    assert_eq!(reduce, each(|_, s| s.iter().sum()));
    let scan = subgroup("%r = OpGroupNonUniformIAdd %uint %n3 InclusiveScan %v");
    assert_eq!(scan, each(|n, s| s[..=n].iter().sum()));
    let scan = subgroup("%r = OpGroupNonUniformUMax %uint %n3 ExclusiveScan %v");
    assert_eq!(scan, each(|n, s| s[..n].iter().copied().max().unwrap_or(0)));
    let clusters = subgroup("%r = OpGroupNonUniformIMul %uint %n3 ClusteredReduce %v %n4");
    assert_eq!(clusters, each(|n, s| s[n / 4 * 4..][..4].iter().product()));
    let swapped = subgroup("%r = OpGroupNonUniformShuffleXor %uint %n3 %v %n3");
    assert_eq!(swapped, each(|n, s| s[n ^ 3]));
    let sent = subgroup("%r = OpGroupNonUniformBroadcast %uint %n3 %v %n2");
    assert_eq!(sent, each(|_, s| s[2]));
    let quad = subgroup("%r = OpGroupNonUniformQuadSwap %uint %n3 %v %n1");
    assert_eq!(quad, each(|n, s| s[n ^ 2]));
}

#[test]
fn ballots_see_the_lanes_that_take_part() {
    // Lanes 0 to 3 skip the ballot.
    let body = "%high = OpUGreaterThanEqual %bool %laneid %n4
%even = OpBitwiseAnd %uint %local %n1
%odd = OpIEqual %bool %even %n1
OpSelectionMerge %join None
OpBranchConditional %high %vote %skip
%vote = OpLabel
%ballot = OpGroupNonUniformBallot %uint4 %n3 %odd
%mask = OpCompositeExtract %uint %ballot 0
%elected = OpGroupNonUniformElect %bool %n3
%bonus = OpSelect %uint %elected %n64 %n0
%sum = OpIAdd %uint %mask %bonus
%elsum = OpIMul %uint %sum %n8
OpBranch %join
%skip = OpLabel
OpBranch %join
%join = OpLabel
%r = OpPhi %uint %elsum %vote %n1 %skip";
    let want = [1, 1, 1, 1, (0b1010_0000 + 64) * 8, 0b1010_0000 * 8];
    let got = subgroup(body);
    assert_eq!(got[..6], want);
    assert_eq!(got[6], 0b1010_0000 * 8);
}

#[test]
fn functions_with_barriers_are_inlined() {
    // The callee waits, the caller's variable and the result live across.
    let globals = format!(
        "{SHARED}
%fnu = OpTypeFunction %uint %pfn %uint
%exchange = OpFunction %uint None %fnu
%kept = OpFunctionParameter %pfn
%at = OpFunctionParameter %uint
%e0 = OpLabel
%slot = OpAccessChain %pword %shared %at
%have = OpLoad %uint %kept
OpStore %slot %have
OpControlBarrier %n2 %n2 %barrier
%next = OpBitwiseXor %uint %at %n1
%other = OpAccessChain %pword %shared %next
%got = OpLoad %uint %other
%old = OpLoad %uint %kept
%both = OpIAdd %uint %old %got
OpStore %kept %both
OpControlBarrier %n2 %n2 %barrier
OpReturnValue %got
OpFunctionEnd"
    );
    let body = "%var = OpVariable %pfn Function
%from = OpAccessChain %puint %x %n0 %global
%v = OpLoad %uint %from
OpStore %var %v
%first = OpFunctionCall %uint %exchange %var %local
%second = OpFunctionCall %uint %exchange %var %local
%end = OpLoad %uint %var
%scaled = OpIMul %uint %first %n256
%r0 = OpIAdd %uint %scaled %second
%r = OpIAdd %uint %r0 %end
%to = OpAccessChain %puint %y %n0 %global
OpStore %to %r";
    let text = shader([4, 1, 1], &globals, body).replace(
        "%entry = OpLabel\n",
        "%entry = OpLabel\n%var = OpVariable %pfn Function\n",
    );
    let text = text.replacen("\n%var = OpVariable %pfn Function\n%from", "\n%from", 1);
    let kernel = compile(&text).expect("the shader is supported");
    let mut buffers = [vec![1, 20, 300, 4000], vec![0; 4]];
    run_shader(&kernel, [1, 1, 1], &mut buffers, &[]).expect("all invocations meet");
    let pair = |own: u32, other: u32| {
        let (mine, theirs) = (own + other, other + own);
        other * 256 + theirs + (mine + theirs)
    };
    let want = [pair(1, 20), pair(20, 1), pair(300, 4000), pair(4000, 300)];
    assert_eq!(buffers[1], want);
}
