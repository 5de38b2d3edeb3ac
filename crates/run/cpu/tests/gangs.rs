//! Gangs compute the same bits as single invocations.

mod common;

use common::{compile_with, run_shader, shader};
use spirula_cpu::{CpuMode, JitKernel, JitOptions};

const GROUPS: u32 = 3;

fn input(count: usize) -> Vec<u32> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let next = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        match n % 5 {
            // Runs of equal values let neighbours agree here and there.
            0 => (n / 16) as u32,
            _ => (state >> 33) as u32,
        }
    };
    (0..count).map(next).collect()
}

fn both(text: &str) -> [JitKernel; 2] {
    [CpuMode::Gangs, CpuMode::Scalar].map(|mode| {
        let options = JitOptions {
            mode,
            ..JitOptions::default()
        };
        compile_with(text, &[], &options).unwrap_or_else(|f| panic!("{}\n{text}", f[0]))
    })
}

/// Runs a shader both ways; whether gangs are possible is as said.
fn check_with(size: [u32; 3], globals: &str, body: &str, possible: bool) {
    let kernels = both(&shader(size, globals, body));
    assert_eq!(kernels[0].runs_gangs(), possible, "{body}");
    assert!(!kernels[1].runs_gangs());
    let count = (size[0] * size[1] * size[2] * GROUPS) as usize;
    let results = kernels.map(|kernel| {
        let mut buffers = [input(count + 64), vec![0; 4 * count + 64]];
        run_shader(&kernel, [GROUPS, 1, 1], &mut buffers, &[]).expect("it runs");
        buffers
    });
    assert!(results[1][1].iter().any(|w| *w != 0), "nothing is written");
    assert_eq!(results[0], results[1], "{body}");
}

fn check(size: [u32; 3], globals: &str, body: &str) {
    check_with(size, globals, body, true);
}

const OWN: &str = "%from = OpAccessChain %puint %x %n0 %global
%own = OpLoad %uint %from
%to = OpAccessChain %puint %y %n0 %global
";

fn own(body: &str) -> String {
    format!("{OWN}{body}")
}

#[test]
fn consecutive_and_other_addresses() {
    let body = "%reversed = OpISub %uint %n64 %local
%twice = OpIMul %uint %global %n2
%odd = OpIAdd %uint %twice %n1
%here = OpAccessChain %puint %x %n0 %reversed
%a = OpLoad %uint %here
%there = OpAccessChain %puint %x %n0 %group
%b = OpLoad %uint %there
%next = OpIAdd %uint %global %n3
%beside = OpAccessChain %puint %x %n0 %next
%c = OpLoad %uint %beside
%masked = OpBitwiseAnd %uint %c %n64
%any = OpAccessChain %puint %x %n0 %masked
%d = OpLoad %uint %any
%ab = OpIAdd %uint %a %b
%cd = OpBitwiseXor %uint %c %d
%all = OpIMul %uint %ab %cd
%even = OpAccessChain %puint %y %n0 %twice
OpStore %even %all
%uneven = OpAccessChain %puint %y %n0 %odd
OpStore %uneven %d";
    check([64, 1, 1], "", body);
    check([8, 4, 2], "", body);
}

#[test]
fn parts_of_a_flat_index() {
    let body = own("%column = OpUMod %uint %local %n8
%row = OpUDiv %uint %local %n8
%high = OpShiftRightLogical %uint %global %n2
%low = OpBitwiseAnd %uint %local %n3
%none = OpBitwiseAnd %uint %local %n8
%p = OpAccessChain %puint %x %n0 %column
%a = OpLoad %uint %p
%q = OpAccessChain %puint %x %n0 %row
%b = OpLoad %uint %q
%r = OpAccessChain %puint %x %n0 %high
%c = OpLoad %uint %r
%ab = OpIAdd %uint %a %b
%abc = OpBitwiseXor %uint %ab %c
%abcd = OpIMul %uint %abc %low
%abcde = OpIAdd %uint %abcd %none
OpStore %to %abcde");
    check([64, 1, 1], "", &body);
}

/// Numbers that are shifted up and down again by as much, as clang extends indices.
#[test]
fn cut_numbers() {
    let globals = "%long = OpTypeInt 64 0
%up = OpConstant %long 32
%half = OpConstant %uint 16
%mixed = OpConstant %uint 40503";
    let body = own("%many = OpIMul %uint %own %mixed
%wide = OpUConvert %long %local
%high = OpShiftLeftLogical %long %wide %up
%index = OpShiftRightArithmetic %long %high %up
%p = OpAccessChain %puint %x %n0 %index
%a = OpLoad %uint %p
%same = OpShiftRightLogical %long %high %up
%q = OpAccessChain %puint %x %n0 %same
%b = OpLoad %uint %q
%shifted = OpShiftLeftLogical %uint %many %half
%signed = OpShiftRightArithmetic %uint %shifted %half
%unsigned = OpShiftRightLogical %uint %shifted %half
%less = OpShiftRightArithmetic %uint %shifted %n8
%ab = OpIMul %uint %a %b
%c = OpBitwiseXor %uint %ab %signed
%d = OpIAdd %uint %c %unsigned
%e = OpBitwiseXor %uint %d %less
OpStore %to %e");
    check([64, 1, 1], globals, &body);
}

#[test]
fn guards() {
    let body = own("%n150 = OpIMul %uint %n3 %n64
%end = OpISub %uint %n150 %n2
%inside = OpULessThan %bool %global %end
OpSelectionMerge %after None
OpBranchConditional %inside %work %after
%work = OpLabel
%half = OpShiftRightLogical %uint %own %n1
OpStore %to %half
OpBranch %after
%after = OpLabel
%result = OpPhi %uint %own %entry %half %work
%more = OpIAdd %uint %global %n192
%place = OpAccessChain %puint %y %n0 %more
OpStore %place %result");
    check([64, 1, 1], "%n192 = OpConstant %uint 192", &body);
}

/// Of a branch with one empty path, the lanes of the other path store. Each lane has the results of its own path.
#[test]
fn paths_that_store_beside_an_empty_one() {
    for targets in ["%work %after", "%after %work"] {
        let body = own(&format!(
            "%bit = OpBitwiseAnd %uint %own %n1
%odd = OpINotEqual %bool %bit %n0
%big = OpUGreaterThan %bool %own %n64
OpSelectionMerge %after None
OpBranchConditional %odd {targets}
%work = OpLabel
%half = OpShiftRightLogical %uint %own %n1
%small = OpULessThan %bool %half %n64
OpStore %to %half
OpBranch %after
%after = OpLabel
%result = OpPhi %uint %own %entry %half %work
%flag = OpPhi %bool %big %entry %small %work
%chosen = OpSelect %uint %flag %result %global
%more = OpIAdd %uint %global %n192
%place = OpAccessChain %puint %y %n0 %more
OpStore %place %chosen"
        ));
        check([64, 1, 1], "%n192 = OpConstant %uint 192", &body);
    }
}

#[test]
fn an_early_end() {
    let body = own("%bit = OpBitwiseAnd %uint %own %n8
%stop = OpIEqual %bool %bit %n0
OpSelectionMerge %after None
OpBranchConditional %stop %leave %after
%leave = OpLabel
OpReturn
%after = OpLabel
%twice = OpIMul %uint %own %n2
OpStore %to %twice");
    check([64, 1, 1], "", &body);
}

/// Loops that invocations leave at different times. Their counts are used after them.
#[test]
fn loops_of_different_lengths() {
    let body = own("%start = OpBitwiseAnd %uint %own %n64
%first = OpIAdd %uint %start %local
OpBranch %head
%head = OpLabel
%n = OpPhi %uint %first %entry %smaller %continue
%rounds = OpPhi %uint %n0 %entry %more %continue
%sum = OpPhi %uint %own %entry %added %continue
OpLoopMerge %after %continue None
OpBranch %test
%test = OpLabel
%goes = OpUGreaterThan %bool %n %n2
OpBranchConditional %goes %work %after
%work = OpLabel
%bit = OpBitwiseAnd %uint %n %n1
%odd = OpINotEqual %bool %bit %n0
OpSelectionMerge %joined None
OpBranchConditional %odd %yes %joined
%yes = OpLabel
%third = OpIMul %uint %sum %n3
OpBranch %joined
%joined = OpLabel
%added = OpPhi %uint %sum %work %third %yes
%big = OpUGreaterThan %bool %added %n64
OpBranchConditional %big %continue %after
%continue = OpLabel
%smaller = OpShiftRightLogical %uint %n %n1
%more = OpIAdd %uint %rounds %n1
OpBranch %head
%after = OpLabel
%mixed = OpBitwiseXor %uint %sum %rounds
%all = OpIMul %uint %mixed %n
OpStore %to %all");
    check([64, 1, 1], "", &body);
    check([4, 2, 1], "", &body);
}

/// Loops without side effects run under a mask until all lanes have left, by one of two exits. The numbers of 32 and
/// 64 bits and Booleans with which each lane left are used after them.
#[test]
fn loops_that_only_compute() {
    let globals = "%long = OpTypeInt 64 0
%l0 = OpConstant %long 0
%l3 = OpConstant %long 3
%false = OpConstantFalse %bool";
    let body = own("%start = OpBitwiseAnd %uint %own %n64
%first = OpIAdd %uint %start %local
%wide = OpUConvert %long %own
OpBranch %head
%head = OpLabel
%n = OpPhi %uint %first %entry %smaller %continue
%rounds = OpPhi %uint %n0 %entry %more %continue
%sum = OpPhi %uint %own %entry %added %continue
%total = OpPhi %long %l0 %entry %grown %continue
%odd = OpPhi %bool %false %entry %turned %continue
OpLoopMerge %after %continue None
OpBranch %test
%test = OpLabel
%goes = OpUGreaterThan %bool %n %n2
OpBranchConditional %goes %work %after
%work = OpLabel
%divided = OpUDiv %uint %sum %n
%added = OpIAdd %uint %divided %n64
%scaled = OpIMul %long %total %l3
%grown = OpIAdd %long %scaled %wide
%turned = OpLogicalNot %bool %odd
%many = OpUGreaterThan %bool %rounds %start
OpBranchConditional %many %after %continue
%continue = OpLabel
%smaller = OpShiftRightLogical %uint %n %n1
%more = OpIAdd %uint %rounds %n1
OpBranch %head
%after = OpLabel
%last = OpPhi %uint %n1 %test %divided %work
%narrow = OpUConvert %uint %total
%flag = OpSelect %uint %odd %n3 %n64
%mixed = OpBitwiseXor %uint %sum %rounds
%both = OpIAdd %uint %mixed %narrow
%three = OpIAdd %uint %both %flag
%four = OpIMul %uint %three %n
%all = OpIAdd %uint %four %last
OpStore %to %all");
    for size in [[64, 1, 1], [4, 2, 1], [12, 1, 1], [8, 3, 1]] {
        check(size, globals, &body);
    }
}

/// Two paths without side effects are both run. One has a loop with the same number of iterations for all lanes.
#[test]
fn ways_that_only_compute() {
    let globals = "%double = OpTypeFloat 64
%two = OpConstant %double 2.5";
    let body = own("%bit = OpBitwiseAnd %uint %own %n1
%odd = OpINotEqual %bool %bit %n0
OpSelectionMerge %after None
OpBranchConditional %odd %yes %no
%yes = OpLabel
%number = OpConvertUToF %double %own
%half = OpFMul %double %number %two
%nothing = OpULessThan %bool %own %n64
OpBranch %after
%no = OpLabel
%asked = OpULessThan %bool %own %n2
OpBranch %head
%head = OpLabel
%n = OpPhi %uint %n0 %no %next %body
%sum = OpPhi %uint %own %no %added %body
OpLoopMerge %done %body None
OpBranch %body
%body = OpLabel
%rest = OpUMod %uint %sum %n64
%twice = OpIMul %uint %rest %n3
%added = OpIAdd %uint %twice %local
%next = OpIAdd %uint %n %n1
%again = OpULessThan %bool %next %n3
OpBranchConditional %again %head %done
%done = OpLabel
%other = OpConvertUToF %double %added
OpBranch %after
%after = OpLabel
%value = OpPhi %double %half %yes %other %done
%flag = OpPhi %bool %nothing %yes %asked %done
%whole = OpConvertFToU %uint %value
%all = OpSelect %uint %flag %own %whole
OpStore %to %all");
    for size in [[64, 1, 1], [4, 2, 1], [8, 2, 1]] {
        check(size, globals, &body);
    }
}

#[test]
fn switches() {
    let body = own("%case = OpBitwiseAnd %uint %own %n3
OpSelectionMerge %after None
OpSwitch %case %other 0 %zero 1 %one 2 %two
%zero = OpLabel
%a = OpIAdd %uint %own %n8
OpBranch %after
%one = OpLabel
OpBranch %two
%two = OpLabel
%b = OpPhi %uint %n1 %entry %n64 %one
OpBranch %after
%other = OpLabel
OpBranch %after
%after = OpLabel
%result = OpPhi %uint %a %zero %b %two %local %other
OpStore %to %result");
    check([64, 1, 1], "", &body);
}

const SHARED: &str = "%n256 = OpConstant %uint 256
%shared_array = OpTypeArray %uint %n64
%pshared = OpTypePointer Workgroup %shared_array
%pword = OpTypePointer Workgroup %uint
%shared = OpVariable %pshared Workgroup
%pfn = OpTypePointer Function %uint";

/// Numbers, addresses and Booleans that are live over barriers; a barrier in a loop.
#[test]
fn what_is_kept_over_barriers() {
    let body = own("%odd_bit = OpBitwiseAnd %uint %own %n1
%odd = OpINotEqual %bool %odd_bit %n0
%fraction = OpConvertUToF %float %own
%slot = OpAccessChain %pword %shared %local
OpStore %slot %own
OpBranch %head
%head = OpLabel
%step = OpPhi %uint %n1 %entry %twice %continue
%total = OpPhi %uint %own %entry %sum %continue
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
%chosen = OpSelect %uint %odd %theirs %mine
%sum = OpIAdd %uint %chosen %total
%small = OpULessThan %bool %local %step
OpSelectionMerge %stored None
OpBranchConditional %small %store %stored
%store = OpLabel
OpStore %slot %sum
OpBranch %stored
%stored = OpLabel
OpBranch %continue
%continue = OpLabel
%twice = OpIMul %uint %step %n2
OpBranch %head
%after = OpLabel
%float_total = OpConvertUToF %float %total
%quotient = OpFDiv %float %fraction %float_total
%bits = OpBitcast %uint %quotient
OpStore %to %bits");
    check([64, 1, 1], SHARED, &body);
    check([16, 4, 1], SHARED, &body);
}

#[test]
fn arrays_of_each_invocation() {
    let globals = "%own_array = OpTypeArray %uint %n8
%pown = OpTypePointer Function %own_array
%pfn = OpTypePointer Function %uint";
    let body = "%array_ = OpVariable %pown Function
%from = OpAccessChain %puint %x %n0 %global
%own = OpLoad %uint %from
%at = OpUMod %uint %own %n8
%p0 = OpAccessChain %pfn %array_ %n3
OpStore %p0 %n64
%p = OpAccessChain %pfn %array_ %at
OpStore %p %own
%a = OpLoad %uint %p0
%row = OpUMod %uint %group %n8
%q = OpAccessChain %pfn %array_ %row
OpStore %q %local
%b = OpLoad %uint %p
%ab = OpIAdd %uint %a %b
%to = OpAccessChain %puint %y %n0 %global
OpStore %to %ab";
    check([64, 1, 1], globals, body);
}

/// Each invocation takes the number of those before it, as they count in order.
#[test]
fn atomics() {
    let body = own("%counter = OpAccessChain %puint %y %n0 %n0
%before = OpAtomicIAdd %uint %counter %n1 %n0 %own
%next = OpIAdd %uint %global %n1
%place = OpAccessChain %puint %y %n0 %next
OpStore %place %before");
    // One group at a time, so that the order of both is the same.
    let kernels = both(&shader([64, 1, 1], "", &body));
    let results = kernels.map(|kernel| {
        let mut buffers = [input(64), vec![0; 65]];
        run_shader(&kernel, [1, 1, 1], &mut buffers, &[]).expect("it runs");
        buffers
    });
    assert_eq!(results[0], results[1]);
}

/// Changes of workgroup memory, all at one address.
#[test]
fn atomics_in_a_workgroup() {
    let ops = "AtomicIAdd AtomicISub AtomicSMin AtomicUMax AtomicAnd AtomicXor AtomicExchange";
    for op in ops.split_whitespace() {
        let body = own(&format!(
            "%slot = OpAccessChain %pword %shared %n0
OpStore %slot %n64
OpControlBarrier %n2 %n2 %barrier
%before = Op{op} %uint %slot %n2 %n0 %own
OpControlBarrier %n2 %n2 %barrier
%after = OpLoad %uint %slot
%mixed = OpIMul %uint %before %n3
%sum = OpIAdd %uint %mixed %after
OpStore %to %sum"
        ));
        check([64, 1, 1], SHARED, &body);
    }
    let body = own("%slot = OpAccessChain %pword %shared %n0
OpAtomicStore %slot %n2 %n0 %n1
OpControlBarrier %n2 %n2 %barrier
%before = OpAtomicCompareExchange %uint %slot %n2 %n0 %n0 %own %n1
OpControlBarrier %n2 %n2 %barrier
%after = OpAtomicLoad %uint %slot %n2 %n0
%sum = OpIAdd %uint %before %after
OpStore %to %sum");
    check([64, 1, 1], SHARED, &body);
}

#[test]
fn comparisons_and_functions_of_floats() {
    let ops = "FOrdEqual FUnordEqual FOrdNotEqual FUnordNotEqual FOrdLessThan FUnordLessThan \
               FOrdGreaterThan FUnordGreaterThan FOrdLessThanEqual FUnordLessThanEqual \
               FOrdGreaterThanEqual FUnordGreaterThanEqual";
    let functions =
        "Sqrt Exp Exp2 Log Log2 Sin Floor Fract FAbs FSign InverseSqrt Normalize RoundEven";
    let mut body = own("%f = OpBitcast %float %own
%other_at = OpIAdd %uint %global %n1
%other_from = OpAccessChain %puint %x %n0 %other_at
%other = OpLoad %uint %other_from
%g = OpBitcast %float %other
%s0 = OpCopyObject %uint %n0
");
    let mut n = 0;
    for op in ops.split_whitespace() {
        body += &format!("%c{n} = Op{op} %bool %f %g\n%d{n} = OpSelect %uint %c{n} %n1 %n0\n");
        body += &format!("%t{n} = OpIMul %uint %s{n} %n3\n");
        body += &format!("%s{} = OpIAdd %uint %t{n} %d{n}\n", n + 1);
        n += 1;
    }
    for function in functions.split_whitespace() {
        body += &format!("%e{n} = OpExtInst %float %glsl {function} %f\n");
        body += &format!("%d{n} = OpBitcast %uint %e{n}\n%t{n} = OpIMul %uint %s{n} %n3\n");
        body += &format!("%s{} = OpIAdd %uint %t{n} %d{n}\n", n + 1);
        n += 1;
    }
    body += &format!("OpStore %to %s{n}");
    check([64, 1, 1], "", &body);
}

/// A workgroup that does not divide into gangs, and one whose subgroups exchange values.
#[test]
fn what_stays_scalar() {
    check_with([6, 2, 1], "", &own("OpStore %to %own"), false);
    let body = own("%sum = OpGroupNonUniformIAdd %uint %n3 Reduce %own
OpStore %to %sum");
    check_with([64, 1, 1], "", &body, false);
}

/// Invocations that wait for each other, one of which has to continue by itself.
#[test]
fn waiting_in_a_loop_stays_scalar() {
    let body = own("%lock = OpAccessChain %puint %y %n0 %n0
OpBranch %head
%head = OpLabel
OpLoopMerge %after %continue None
OpBranch %try
%try = OpLabel
%old = OpAtomicExchange %uint %lock %n1 %n0 %n1
%got = OpIEqual %bool %old %n0
OpBranchConditional %got %after %continue
%continue = OpLabel
OpBranch %head
%after = OpLabel
%second = OpAccessChain %puint %y %n0 %n1
%count = OpLoad %uint %second
%more = OpIAdd %uint %count %n1
OpStore %second %more
%free = OpAtomicExchange %uint %lock %n1 %n0 %n0");
    check_with([64, 1, 1], "", &body, false);
}

/// `Fma` rounds once, in gangs as elsewhere.
#[test]
fn products_are_added_with_one_rounding() {
    let body = own("%a = OpConvertUToF %float %own
%c = OpFNegate %float %a
%fma = OpExtInst %float %glsl Fma %a %a %c
%bits = OpBitcast %uint %fma
OpStore %to %bits");
    for kernel in both(&shader([64, 1, 1], "", &body)) {
        let mut buffers = [input(64 * GROUPS as usize), vec![0; 64 * GROUPS as usize]];
        run_shader(&kernel, [GROUPS, 1, 1], &mut buffers, &[]).expect("it runs");
        let values = buffers[0].iter().map(|word| *word as f32);
        let expected = values.map(|a| a.mul_add(a, -a).to_bits());
        assert_eq!(buffers[1], expected.collect::<Vec<u32>>());
    }
}

/// Quotients and remainders of all signs and sizes, by divisors of lanes and by one divisor of all.
#[test]
fn divisions_are_exact() {
    let globals = "%mixed = OpConstant %uint 2654435769
%top = OpConstant %uint 31
%most = OpConstant %uint 4294967295";
    let numbers = "%spread = OpIMul %uint %own %mixed
%beside = OpIAdd %uint %global %n64
%there = OpAccessChain %puint %x %n0 %beside
%other = OpLoad %uint %there
%first = OpAccessChain %puint %x %n0 %n3
%shared = OpLoad %uint %first
%small = OpBitwiseAnd %uint %other %n3
%signed = OpIMul %uint %other %mixed
%least = OpShiftLeftLogical %uint %own %top
%minus = OpISub %uint %small %n2
%near = OpISub %uint %spread %small
";
    let pairs = [
        ("%spread", "%signed"),
        ("%spread", "%small"),
        ("%spread", "%minus"),
        ("%spread", "%near"),
        ("%near", "%spread"),
        ("%most", "%small"),
        ("%least", "%minus"),
        ("%least", "%least"),
        ("%global", "%shared"),
        ("%spread", "%shared"),
        ("%small", "%spread"),
    ];
    for op in ["OpUDiv", "OpUMod", "OpSDiv", "OpSRem", "OpSMod"] {
        for (dividend, divisor) in pairs {
            let body = format!(
                "{numbers}%found = {op} %uint {dividend} {divisor}
%written = OpBitwiseXor %uint %found %n64
OpStore %to %written"
            );
            check([64, 1, 1], globals, &own(&body));
        }
    }
}
