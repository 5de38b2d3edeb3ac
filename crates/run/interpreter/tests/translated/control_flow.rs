//! Loops with several entries, nested loops, switches, and waits within all of them.

use crate::{check_equal, write_kernel};

/// The words of the buffer at first.
const WORDS: [u32; 16] = [
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
    12,
    13,
    14,
    1_000_000_000,
];

#[test]
fn a_loop_with_two_entries_is_dispatched() {
    // Even numbers enter at %even, odd ones at %odd; each goes to the other.
    let body = "
%start = OpLoad %u32 %place
%bit = OpBitwiseAnd %u32 %start %one
%isodd = OpIEqual %bool %bit %one
OpBranchConditional %isodd %odd %even
%even = OpLabel
%e = OpPhi %u32 %start %entry %onext %odd
%ecount = OpPhi %u32 %zero %entry %ocount1 %odd
%enext = OpUDiv %u32 %e %two
%ecount1 = OpIAdd %u32 %ecount %one
%edone = OpIEqual %bool %enext %zero
OpBranchConditional %edone %done %odd
%odd = OpLabel
%o = OpPhi %u32 %start %entry %enext %even
%ocount = OpPhi %u32 %ten %entry %ecount1 %even
%onext = OpUDiv %u32 %o %three
%ocount1 = OpIAdd %u32 %ocount %one
%odone = OpIEqual %bool %onext %zero
OpBranchConditional %odone %done %even
%done = OpLabel
%result = OpPhi %u32 %ecount1 %even %ocount1 %odd
OpStore %place %result
OpReturn";
    let found = check_equal(&write_kernel("", body, ""), 8, &WORDS);
    assert_eq!(&found[..4], &[1, 11, 2, 12]);
}

#[test]
fn a_switch_in_a_loop_falls_through() {
    let body = "
OpBranch %head
%head = OpLabel
%n = OpPhi %u32 %zero %entry %n1 %tail
%sum = OpPhi %u32 %zero %entry %sum1 %tail
%kind = OpUMod %u32 %n %three
OpSwitch %kind %other 0 %first 1 %second
%first = OpLabel
%a = OpIAdd %u32 %sum %number
OpBranch %second
%second = OpLabel
%b = OpPhi %u32 %sum %head %a %first
%b1 = OpIMul %u32 %b %three
OpBranch %tail
%other = OpLabel
%early = OpUGreaterThan %bool %sum %ten
OpBranchConditional %early %done %tail
%tail = OpLabel
%sum1 = OpPhi %u32 %b1 %second %sum %other
%n1 = OpIAdd %u32 %n %one
%more = OpULessThan %bool %n1 %ten
OpBranchConditional %more %head %done
%done = OpLabel
%result = OpPhi %u32 %sum %other %sum1 %tail
OpStore %place %result
OpReturn";
    let found = check_equal(&write_kernel("", body, ""), 8, &WORDS);
    assert_ne!(found[1], found[2]);
}

/// A workgroup array, and a function that waits twice and returns the word of the next invocation.
const EXCHANGE: &str = "
%eight = OpConstant %u32 8
%array = OpTypeArray %u32 %eight
%shared_array = OpTypePointer Workgroup %array
%shared_word = OpTypePointer Workgroup %u32
%next = OpTypeFunction %u32 %u32 %u32
%shared = OpVariable %shared_array Workgroup
%order = OpConstant %u32 272
";

const NEXT_WORD: &str = "
%next_word = OpFunction %u32 None %next
%lane = OpFunctionParameter %u32
%word = OpFunctionParameter %u32
%begin = OpLabel
%own = OpInBoundsAccessChain %shared_word %shared %lane
OpStore %own %word
OpControlBarrier %two %two %order
%after = OpIAdd %u32 %lane %one
%other_lane = OpUMod %u32 %after %eight
%other = OpInBoundsAccessChain %shared_word %shared %other_lane
%loaded = OpLoad %u32 %other
OpControlBarrier %two %two %order
OpReturnValue %loaded
OpFunctionEnd
";

#[test]
fn calls_that_wait_resume_in_loops() {
    // Each invocation adds the words of all others, one in each round. Rounds of odd numbers have another wait.
    let body = "
%own_lane = OpUMod %u32 %number %eight
%start = OpLoad %u32 %place
OpBranch %head
%head = OpLabel
%n = OpPhi %u32 %zero %entry %n1 %tail
%value = OpPhi %u32 %start %entry %got %tail
%sum = OpPhi %u32 %start %entry %sum1 %tail
%got = OpFunctionCall %u32 %next_word %own_lane %value
%bit = OpBitwiseAnd %u32 %n %one
%isodd = OpIEqual %bool %bit %one
OpBranchConditional %isodd %wait %tail
%wait = OpLabel
%ballot = OpGroupAll %bool %two %isodd
%vote = OpSelect %u32 %ballot %ten %zero
%before = OpGroupIAdd %u32 %two ExclusiveScan %one
%scanned = OpIAdd %u32 %vote %before
OpBranch %tail
%tail = OpLabel
%extra = OpPhi %u32 %zero %head %scanned %wait
%sum0 = OpIAdd %u32 %sum %got
%sum1 = OpIAdd %u32 %sum0 %extra
%n1 = OpIAdd %u32 %n %one
%more = OpULessThan %bool %n1 %eight
OpBranchConditional %more %head %done
%done = OpLabel
OpStore %place %sum1
OpReturn";
    let found = check_equal(&write_kernel(EXCHANGE, body, NEXT_WORD), 8, &WORDS);
    // The sum of all words with the own one twice; four rounds add 10 and the number of the lane.
    assert_eq!(&found[..2], &[28 + 40, 28 + 1 + 40 + 4]);
}

#[test]
fn a_constant_address_before_its_variable_is_valid_with_an_index() {
    // The constant is 16 bytes before the variable, in the numbers of another region.
    let globals = format!(
        "{EXCHANGE}
%back = OpConstant %u64 18446744073709551612
%four = OpConstant %u64 4
%first = OpSpecConstantOp %shared_word InBoundsAccessChain %shared %zero
%before = OpSpecConstantOp %shared_word PtrAccessChain %first %back"
    );
    let body = "
%index = OpIAdd %u64 %number64 %four
%small = OpBitwiseAnd %u64 %index %seven
%after = OpBitwiseOr %u64 %small %four
%element = OpPtrAccessChain %shared_word %before %after
OpStore %element %ten
%loaded = OpLoad %u32 %element
OpStore %place %loaded
OpReturn";
    let globals = format!("{globals}\n%seven = OpConstant %u64 7");
    assert_eq!(
        check_equal(&write_kernel(&globals, body, ""), 8, &WORDS),
        [10; 16]
    );
}

#[test]
fn a_kernel_without_values_waits() {
    let text = write_kernel(EXCHANGE, "OpControlBarrier %two %two %order\nOpReturn", "");
    let unused = "%ids = OpLoad %v3u64 %id
%number64 = OpCompositeExtract %u64 %ids 0
%number = OpUConvert %u32 %number64
%place = OpPtrAccessChain %pointer %data %number64
";
    assert!(text.contains(unused));
    assert_eq!(check_equal(&text.replace(unused, ""), 8, &WORDS), WORDS);
}

#[test]
fn an_invocation_that_ends_is_not_waited_for() {
    let body = "
%is_first = OpIEqual %bool %number %zero
OpBranchConditional %is_first %leave %stay
%leave = OpLabel
OpReturn
%stay = OpLabel
OpControlBarrier %two %two %order
OpStore %place %number
OpReturn";
    let found = check_equal(&write_kernel(EXCHANGE, body, ""), 8, &[7; 16]);
    assert_eq!(&found[..3], &[7, 1, 2]);
}
