//! The imperative IR: Futhark's printed form and our own text.

use spirula_kernel::ir::KernelProgram;
use spirula_kernel::{check, compile, parse, print, read_futhark};

/// What is read of Futhark's form is checked, printed and compiled.
pub fn futhark(bytes: &[u8]) {
    if let Ok(source) = std::str::from_utf8(bytes)
        && let Ok(program) = read_futhark(source)
    {
        go_on(&program);
    }
}

/// The same of our own text.
pub fn text(bytes: &[u8]) {
    if let Ok(source) = std::str::from_utf8(bytes)
        && let Ok(program) = parse(source)
    {
        go_on(&program);
    }
}

/// A program that the checker takes comes back from its text, and is compiled or refused.
fn go_on(program: &KernelProgram) {
    if check(program).is_err() {
        return;
    }
    let text = print(program);
    match parse(&text) {
        Ok(again) => assert_eq!(print(&again), text, "the text comes back"),
        Err(fault) => panic!("{fault}\n{text}"),
    }
    _ = compile(program);
}
