//! Null pointers and invalid numbers are errors in every function.
#![allow(unsafe_code)] // The functions of the interface are called as C calls them.

use spirula_c::*;
use std::ptr::{null, null_mut};

const SOURCE: &str = "OpCapability Shader\nOpMemoryModel Logical GLSL450\n\
    OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n\
    %void = OpTypeVoid\n%type = OpTypeFunction %void\n%main = OpFunction %void None %type\n\
    %entry = OpLabel\nOpBranch %end\n%end = OpLabel\nOpReturn\nOpFunctionEnd\n";

fn module() -> *mut SpirulaModule {
    let mut module = null_mut();
    // SAFETY: the text is as long as said, and the result is a variable.
    let status =
        unsafe { spirula_module_from_text(SOURCE.as_ptr(), SOURCE.len(), &mut module, null_mut()) };
    assert_eq!(status, SpirulaStatus::Ok);
    module
}

/// The message of a failure, whose error is freed.
fn message(call: impl FnOnce(*mut *mut SpirulaError) -> SpirulaStatus) -> (SpirulaStatus, String) {
    let mut error = null_mut();
    let status = call(&mut error);
    assert!(!error.is_null(), "{status:?} has no error");
    // SAFETY: the error was just returned, and is not used afterwards.
    unsafe {
        let text = std::ffi::CStr::from_ptr(spirula_error_message(error, 0));
        let text = text.to_string_lossy().into_owned();
        assert!(spirula_error_message(error, 99).is_null());
        spirula_error_free(error);
        (status, text)
    }
}

#[test]
fn null_is_an_error() {
    let bad = SpirulaStatus::BadArgument;
    // SAFETY: null is allowed everywhere.
    unsafe {
        let found = message(|e| spirula_module_from_words(null(), 4, null_mut(), e));
        assert_eq!(found.0, bad);
        assert_eq!(message(|e| spirula_module_verify(null(), null(), e)).0, bad);
        assert_eq!(message(|e| spirula_remove_edge(null_mut(), 0, 0, e)).0, bad);
        assert_eq!(spirula_module_verify(null(), null(), null_mut()), bad);
        assert_eq!(spirula_function_count(null()), 0);
        assert_eq!(spirula_function_at(null(), 0), SPIRULA_NONE);
        assert_eq!(spirula_flow_count(null()), 0);
        assert!(spirula_error_message(null(), 0).is_null());
        assert!(spirula_module_copy(null()).is_null());
        spirula_module_free(null_mut());
        spirula_flow_free(null_mut());
        spirula_error_free(null_mut());
        spirula_text_free(spirula_id_name(null(), 1));
    }
}

#[test]
fn numbers_of_nothing_are_errors() {
    let module = module();
    let bad = SpirulaStatus::BadArgument;
    // SAFETY: the module lives to the end, and arrays have the lengths said.
    unsafe {
        for number in [99, SPIRULA_NONE] {
            assert_eq!(spirula_block_label(module, number), 0);
            assert_eq!(spirula_block_first(module, number), SPIRULA_NONE);
            assert_eq!(spirula_instruction_next(module, number), SPIRULA_NONE);
            assert_eq!(spirula_function_id(module, number), 0);
            assert_eq!(spirula_section_first(module, number), SPIRULA_NONE);
            assert_eq!(spirula_id_definition(module, number), SPIRULA_NONE);
            assert_eq!(spirula_id_uses(module, number, null_mut(), 0), 0);
            assert_eq!(
                message(|e| spirula_remove_edge(module, number, 0, e)).0,
                bad
            );
            assert_eq!(message(|e| spirula_erase(module, number, e)).0, bad);
            assert_eq!(
                message(|e| spirula_replace_uses(module, 1, number, null_mut(), e)).0,
                bad
            );
            let call = |e| spirula_insert(module, 77, number, 1, null(), 0, null_mut(), e);
            assert_eq!(message(call).0, bad);
        }
        let name = c"vulkan9.9";
        let found = message(|e| spirula_module_verify(module, name.as_ptr(), e));
        assert!(found.1.contains("vulkan9.9"), "{}", found.1);
        spirula_module_free(module);
    }
}

#[test]
fn what_would_break_a_module_is_refused() {
    let module = module();
    let (refused, invalid) = (SpirulaStatus::Refused, SpirulaStatus::Invalid);
    // SAFETY: the module lives to the end, and arrays have the lengths said.
    unsafe {
        let last = spirula_block_terminator(module, 0);
        let find = |name: &str| {
            let mut opcode = 0;
            spirula_opcode_by_name(name.as_ptr(), name.len(), &mut opcode, null_mut());
            opcode
        };
        let insert = |op, words: &[u32], at| {
            let (data, count) = (words.as_ptr(), words.len());
            message(|e| spirula_insert(module, 0, at, op, data, count, null_mut(), e))
        };
        assert_eq!(insert(find("OpReturn"), &[], last).0, refused);
        assert_eq!(insert(find("OpLabel"), &[9], last).0, refused);
        let (status, text) = insert(find("OpUndef"), &[1], last);
        assert_eq!(status, invalid, "{text}");
        let (status, text) = insert(find("OpUndef"), &[1, 4711], last);
        assert_eq!((status, text.contains("4711")), (invalid, true), "{text}");
        assert_eq!(message(|e| spirula_erase(module, last, e)).0, refused);
        let label = spirula_block_label(module, 1);
        let found = message(|e| spirula_remove_edge(module, 1, 0, e));
        assert_eq!(found.0, refused, "{}", found.1);
        assert!(found.1.contains(&format!("%{label}")), "{}", found.1);
        let branch = find("OpBranch");
        let call = |e| spirula_set_terminator(module, 0, find("OpNop"), null(), 0, e);
        assert_eq!(message(call).0, refused);
        let call = |e| spirula_set_terminator(module, 0, branch, null(), 0, e);
        assert_eq!(message(call).0, invalid);
        // A refused edit left the module unchanged.
        assert_eq!(
            spirula_module_verify(module, null(), null_mut()),
            SpirulaStatus::Ok
        );
        spirula_module_free(module);
    }
}

#[test]
fn instructions_are_added() {
    let json = r#"{ "name": "C.set", "instructions": [ { "opname": "Ping", "opcode": 1 } ] }"#;
    let other = json.replace("Ping", "Pong");
    // SAFETY: the texts are as long as said.
    unsafe {
        let status = spirula_grammar_add(json.as_ptr(), json.len(), null(), null_mut());
        assert_eq!(status, SpirulaStatus::Ok);
        let found = message(|e| spirula_grammar_add(other.as_ptr(), other.len(), null(), e));
        assert_eq!(found.0, SpirulaStatus::Refused, "{}", found.1);
        let found = message(|e| spirula_grammar_add(json.as_ptr(), 5, null(), e));
        assert_eq!(found.0, SpirulaStatus::Invalid, "{}", found.1);
    }
}
