//! Faults: translated code stops with the message and the place of the interpreter.

use crate::{read_module, run_both, run_with_limit, write_kernel};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_interpreter::WasmKernel;

/// Checks that both executors stop with a message, at one place.
fn check_fault(globals: &str, body: &str, message: &str) {
    let text = write_kernel(globals, body, "");
    let [interpreted, translated] = run_both(&text, 4, &[0; 32]);
    let interpreted = interpreted.expect_err("the interpreter stops");
    let translated = translated.expect_err("WebAssembly stops");
    assert!(translated.message.contains(message), "{translated}");
    assert_eq!(translated.to_string(), interpreted.to_string());
    assert_eq!(translated.place, interpreted.place);
    assert_eq!(translated.notes, interpreted.notes);
}

#[test]
fn accesses_outside_have_places() {
    for index in ["8", "1000000000000", "18446744073709551615"] {
        let globals = format!("%far = OpConstant %u64 {index}\n%mask = OpConstant %u64 7");
        let body = "
%outside = OpPtrAccessChain %pointer %data %far
%word = OpLoad %u32 %outside
OpReturn";
        check_fault(&globals, body, "outside of memory");
        // The index is not known, so that the pointer is checked at run time alone.
        let body = "
%index = OpIAdd %u64 %number64 %far
%outside = OpPtrAccessChain %pointer %data %index
OpStore %outside %one
OpReturn";
        if index != "18446744073709551615" {
            check_fault(&globals, body, "outside of memory");
        }
    }
}

#[test]
fn null_pointers_and_unknown_pointers_are_checked() {
    let body = "
%word = OpLoad %u32 %null
OpReturn";
    check_fault("%null = OpConstantNull %pointer", body, "null pointer");
    let body = "
%address = OpIMul %u64 %number64 %odd
%anywhere = OpConvertUToPtr %pointer %address
OpStore %anywhere %one
OpReturn";
    check_fault("%odd = OpConstant %u64 1234567890123", body, "an access");
}

#[test]
fn variables_of_functions_have_bounds() {
    let globals = "
%four = OpConstant %u32 4
%array = OpTypeArray %u32 %four
%local_array = OpTypePointer Function %array
%large = OpConstant %u32 1000000";
    let body = "
%own = OpVariable %local_array Function
%far = OpIAdd %u32 %number %large
%element = OpAccessChain %local %own %far
OpStore %element %one
OpReturn";
    check_fault(globals, body, "outside of memory");
}

#[test]
fn unreachable_code_and_endless_waits_are_errors() {
    check_fault("", "OpUnreachable", "unreachable code");
    let body = "
%is_first = OpIEqual %bool %number %zero
OpBranchConditional %is_first %here %there
%here = OpLabel
OpControlBarrier %two %two %order
OpReturn
%there = OpLabel
OpControlBarrier %two %two %order
OpReturn";
    check_fault("%order = OpConstant %u32 272", body, "different barriers");
}

/// Runs a kernel of four invocations by both executors with a limit of steps, and returns their errors.
fn run_limited(body: &str, functions: &str, most_steps: u64) -> [Option<SourceDiagnostic>; 2] {
    let text = write_kernel(ENDLESS_GLOBALS, body, functions);
    let results = run_with_limit(&text, 4, &[0; 32], most_steps);
    results.map(Result::err)
}

/// The type of functions without parameters, and semantics of barriers.
const ENDLESS_GLOBALS: &str = "%plain = OpTypeFunction %void\n%order = OpConstant %u32 272";

/// Loops that never end: of one block, with a barrier, with several entries, and in a called function. Each with the functions
/// after its kernel.
const ENDLESS: &[(&str, &str)] = &[
    (
        "OpBranch %again
%again = OpLabel
OpStore %place %one
OpBranch %again",
        "",
    ),
    (
        "OpBranch %again
%again = OpLabel
OpControlBarrier %two %two %order
OpBranch %again",
        "",
    ),
    (
        "%is_first = OpIEqual %bool %number %zero
OpBranchConditional %is_first %here %there
%here = OpLabel
OpStore %place %one
OpBranch %there
%there = OpLabel
OpStore %place %two
OpBranch %here",
        "",
    ),
    (
        "%called = OpFunctionCall %void %endless
OpReturn",
        "%endless = OpFunction %void None %plain
%begin = OpLabel
OpBranch %turn
%turn = OpLabel
OpBranch %turn
OpFunctionEnd",
    ),
];

#[test]
fn endless_loops_end_with_a_place() {
    for (body, functions) in ENDLESS {
        for fault in run_limited(body, functions, 10_000) {
            let fault = fault.expect("it is stopped");
            assert!(fault.message.contains("more steps"), "{body}: {fault}");
            assert_ne!(fault.place, SourceLocation::Unknown, "{body}");
            assert_eq!(fault.notes.len(), 1, "{body}");
        }
    }
}

#[test]
fn loops_that_end_run_within_their_limit() {
    // Three iterations, of which two follow another one.
    let body = "OpBranch %head
%head = OpLabel
%turn = OpPhi %u32 %zero %entry %next %head
%next = OpIAdd %u32 %turn %one
%more = OpULessThan %bool %next %three
OpBranchConditional %more %head %end
%end = OpLabel
OpStore %place %next
OpReturn";
    assert_eq!(run_limited(body, "", 1000), [None, None]);
    for fault in run_limited(body, "", 20) {
        let fault = fault.expect("two workgroups of four invocations need more steps");
        assert!(fault.message.contains("more steps"), "{fault}");
    }
}

#[test]
fn functions_that_call_themselves_are_refused() {
    let text = write_kernel(
        "%again = OpTypeFunction %void",
        "%called = OpFunctionCall %void %recursive\nOpReturn",
        "%recursive = OpFunction %void None %again
%begin = OpLabel
%nested = OpFunctionCall %void %recursive
OpReturn
OpFunctionEnd",
    );
    let refused = WasmKernel::from_module(&read_module(&text), "main", &[]);
    let refused = refused.expect_err("it is refused");
    assert!(refused.message.contains("call themselves"), "{refused}");
}
