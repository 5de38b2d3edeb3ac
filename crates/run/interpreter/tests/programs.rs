//! Whole programs: the interpreter returns what the CPU device returns.

use spirula::{CompileOptions, CompileOutput, compile_input};
use spirula_interpreter::InterpreterMachine;
use spirula_program::{ProgramSession, ProgramValue};
use spirula_runtime::{ComputeDevice, DeviceMachine};

/// Programs with arguments in Futhark's data format.
const PROGRAMS: &[(&str, &str)] = &[
    (
        "entry main (xs: []f32) (k: f32): ([]f32, f32) = (map (\\x -> f32.sqrt x * k) xs, reduce (+) 0 xs)",
        "[1f32, 4f32, 9f32, 2f32, 0.5f32] 3f32",
    ),
    (
        "entry main (n: i64): ([n]i32, []i32) =\n  \
         let xs = map (\\i -> i32.i64 i * 7919 % 101) (iota n)\n  \
         in (scan (+) 0 xs, filter (\\x -> x % 3 == 0) xs)",
        "1000i64",
    ),
    (
        "entry main (n: i64): []i32 =\n  \
         hist (+) 0 16 (map (\\i -> i * i % 16) (iota n)) (map i32.i64 (iota n))",
        "777i64",
    ),
    (
        "entry main [n][m] (a: [n][m]f64) (b: [m][n]f64): [n][n]f64 =\n  \
         map (\\r -> map (\\c -> reduce (+) 0 (map2 (*) r c)) (transpose b)) a",
        "[[1f64, 2f64, 3f64], [4f64, 5f64, 6f64]] [[1f64, 0.5f64], [2f64, 0.25f64], [3f64, 4f64]]",
    ),
    (
        "func.func @main(%a: tensor<3x4xf32>, %b: tensor<4x2xf32>) -> tensor<3x2xf32> {\n  \
         %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>\n  \
         %1 = stablehlo.exponential %0 : tensor<3x2xf32>\n  return %1 : tensor<3x2xf32>\n}",
        "[[1f32, 2f32, 3f32, 4f32], [0f32, 1f32, 0f32, 1f32], [0.5f32, 0.25f32, 0.125f32, 1f32]] \
         [[0.1f32, 0.2f32], [0.3f32, 0.4f32], [0.5f32, 0.6f32], [0.7f32, 0.8f32]]",
    ),
];

#[test]
fn programs_return_what_they_return_on_the_cpu_device() {
    for (source, arguments) in PROGRAMS {
        let compiled = compile_input(source.as_bytes(), &CompileOptions::default());
        let CompileOutput::Program(program) = compiled.expect("it compiles").output else {
            panic!("no program: {source}");
        };
        let values = ProgramValue::read_all(arguments.as_bytes()).expect("values");
        let mut device = ComputeDevice::open("cpu", &Default::default()).expect("a device");
        let machine = DeviceMachine::new(&mut device);
        let mut session = ProgramSession::new(&program, machine)
            .map_err(|e| e.to_string())
            .expect("it begins");
        let expected = session
            .call_entry("main", &values)
            .map_err(|e| e.to_string());
        let machine = InterpreterMachine::with_step_limit(1 << 30);
        let mut session = ProgramSession::new(&program, machine)
            .map_err(|e| e.to_string())
            .expect("it begins");
        let found = session
            .call_entry("main", &values)
            .map_err(|e| e.to_string());
        assert_eq!(found, expected, "{source}");
    }
}

#[test]
fn programs_with_too_many_steps_are_stopped() {
    let source = "entry main (n: i64): []i64 =\n  \
         map (\\i -> loop x = i + 27 while x != 1 do if x % 2 == 0 then x / 2 else 3 * x + 1) (iota n)";
    let compiled = compile_input(source.as_bytes(), &CompileOptions::default());
    let CompileOutput::Program(program) = compiled.expect("it compiles").output else {
        panic!("no program");
    };
    let machine = InterpreterMachine::with_step_limit(200);
    let mut session = ProgramSession::new(&program, machine)
        .map_err(|e| e.to_string())
        .expect("it begins");
    let values = ProgramValue::read_all(b"4i64").expect("values");
    let error = session
        .call_entry("main", &values)
        .map_err(|e| e.to_string());
    assert!(error.is_err_and(|error| error.contains("more steps than it may")));
}
