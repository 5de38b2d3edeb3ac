//! Consecutive calls of one session.

use spirula::{CompileOptions, CompileOutput, compile_input};
use spirula_program::{ProgramError, ProgramSession, ProgramValue, ScalarType};
use spirula_runtime::{ComputeDevice, DeviceMachine, DeviceOptions};

/// Counts the calls of a program in its own memory. A failing kernel has counted already.
const COUNTING: &str = "
global %count: device

initialise {
  %count = alloc 4i64
  launch [1i64] size [constant 1i64] uses (%count) {
    store i32 %count[0i64], 0i32
  }
}

function @next(%limit: i32) -> (%before: i32) {
  launch [1i64] size [constant 1i64] uses (%limit, %count) {
    var %old: i32
    %old = atomic add i32 %count[0i64], 1i32
    assert slt.i32(%limit, 9i32), {\"a limit of \", %limit}
  }
  %before = load i32 %count[0i64]
}

entry \"next\" = @next {
  parameter \"limit\": i32 %limit
  result i32 %before
}
";

/// The next call does not see the memory that a failed kernel left.
#[test]
fn a_program_begins_anew_after_a_failure() {
    let compiled = compile_input(COUNTING.as_bytes(), &CompileOptions::default());
    let CompileOutput::Program(program) = compiled.expect("the program compiles").output else {
        panic!("it is a program");
    };
    let mut device =
        ComputeDevice::open("cpu", &DeviceOptions::default()).expect("there is a processor");
    let mut session =
        ProgramSession::new(&program, DeviceMachine::new(&mut device)).expect("it begins");
    let mut next = |limit: i32| {
        let limit = ProgramValue {
            element: ScalarType::I32,
            unsigned: false,
            shape: Vec::new(),
            bytes: limit.to_le_bytes().to_vec(),
        };
        match session.call_entry("next", &[limit]) {
            Ok(results) => results[0].as_ref().map(ProgramValue::to_string),
            Err(ProgramError::Failed(..)) => None,
            Err(other) => panic!("{other}"),
        }
    };
    let counts = [1, 1, 10, 1, 1].map(&mut next);
    let expected = [Some("1i32"), Some("2i32"), None, Some("1i32"), Some("2i32")];
    assert_eq!(counts.each_ref().map(|c| c.as_deref()), expected);
}
