//! Asynchronous copies between a buffer and memory of the workgroup.

use crate::{check_equal, write_kernel};

/// Every second word of the first eight goes to memory of the workgroup, and from there to every third word behind them.
#[test]
fn strided_copies_pass_through_the_workgroup() {
    let globals = "
%event = OpTypeEvent
%eight = OpConstant %u64 8
%four = OpConstant %u32 4
%four64 = OpConstant %u64 4
%two64 = OpConstant %u64 2
%three64 = OpConstant %u64 3
%array = OpTypeArray %u32 %four
%arrays = OpTypePointer Workgroup %array
%words = OpTypePointer Workgroup %u32
%events = OpTypePointer Function %event
%none = OpConstantNull %event
%group = OpVariable %arrays Workgroup";
    let body = "
%list = OpVariable %events Function
%own = OpAccessChain %words %group %zero
%read = OpGroupAsyncCopy %event %two %own %data %four64 %two64 %none
OpStore %list %read
OpGroupWaitEvents %two %one %list
%behind = OpPtrAccessChain %pointer %data %eight
%written = OpGroupAsyncCopy %event %two %behind %own %four64 %three64 %none
OpStore %list %written
OpGroupWaitEvents %two %one %list
OpReturn";
    let mut words: Vec<u32> = (100..120).collect();
    let found = check_equal(&write_kernel(globals, body, ""), 4, &words);
    for n in 0..4 {
        words[8 + 3 * n] = words[2 * n];
    }
    assert_eq!(found, words);
}

/// Variables of the module whose initial values have addresses of each other.
#[test]
fn initial_values_have_addresses() {
    let globals = "
%five = OpConstant %u32 5
%six = OpConstant %u32 6
%pair = OpTypeArray %u32 %two
%pairs = OpTypePointer UniformConstant %pair
%word = OpTypePointer UniformConstant %u32
%values = OpConstantComposite %pair %five %six
%table = OpVariable %pairs UniformConstant %values
%first = OpSpecConstantOp %word Bitcast %table
%second = OpSpecConstantOp %word PtrAccessChain %first %one
%pointers = OpTypeArray %word %two
%lists = OpTypePointer CrossWorkgroup %pointers
%entry_of = OpTypePointer CrossWorkgroup %word
%addresses = OpSpecConstantComposite %pointers %second %first
%list = OpVariable %lists CrossWorkgroup %addresses";
    let body = "
%parity = OpBitwiseAnd %u32 %number %one
%chosen = OpAccessChain %entry_of %list %parity
%address = OpLoad %word %chosen
%value = OpLoad %u32 %address
OpStore %place %value
OpReturn";
    let found = check_equal(&write_kernel(globals, body, ""), 2, &[0; 4]);
    assert_eq!(found, [6, 5, 6, 5]);
}
