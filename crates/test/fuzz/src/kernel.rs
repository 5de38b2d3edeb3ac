//! Targets of the kernel representation: Futhark's printed form and the text form.

use spirula_futhark::read_futhark;
use spirula_kernel::ir::KernelProgram;
use spirula_kernel::{
    compile_program, draw_dispatches, parse_program, print_program, verify_program,
};

/// A program in Futhark's printed form is verified, printed and compiled if it is read.
pub fn check_futhark(bytes: &[u8]) {
    if let Ok(source) = std::str::from_utf8(bytes)
        && let Ok(program) = read_futhark(source)
    {
        go_on(&program);
    }
}

/// A program in the text form is verified, printed and compiled if it is read.
pub fn check_text(bytes: &[u8]) {
    if let Ok(source) = std::str::from_utf8(bytes)
        && let Ok(program) = parse_program(source)
    {
        go_on(&program);
    }
}

/// A verified program must survive a round trip through its text; compiling and drawing it must not panic.
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
    assert!(draw_dispatches(program).starts_with("<svg"));
}
