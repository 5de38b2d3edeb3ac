//! The imperative IR: Futhark's printed form and our own text.

use spirula_futhark::read_futhark;
use spirula_kernel::ir::KernelProgram;
use spirula_kernel::{compile_program, parse_program, print_program, verify_program};

/// What is read of Futhark's form is checked, printed and compiled.
pub fn check_futhark(bytes: &[u8]) {
    if let Ok(source) = std::str::from_utf8(bytes)
        && let Ok(program) = read_futhark(source)
    {
        go_on(&program);
    }
}

/// The same of our own text.
pub fn check_text(bytes: &[u8]) {
    if let Ok(source) = std::str::from_utf8(bytes)
        && let Ok(program) = parse_program(source)
    {
        go_on(&program);
    }
}

/// A program that the checker takes comes back from its text, and is compiled or refused.
fn go_on(program: &KernelProgram) {
    if verify_program(program).is_err() {
        return;
    }
    let text = print_program(program);
    match parse_program(&text) {
        Ok(again) => assert_eq!(print_program(&again), text, "the text comes back"),
        Err(fault) => panic!("{fault}\n{text}"),
    }
    _ = compile_program(program);
}
