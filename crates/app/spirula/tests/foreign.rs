//! Foreign functions: programs call them by name.

use spirula::{CompileOptions, CompileOutput, ForeignTargets, compile_input};
use spirula_program::archive::{read_archive, write_archive};
use spirula_program::{
    CallProgress, CompiledProgram, ForeignAttribute, ForeignFailureKind, ForeignFunctionCall,
    ForeignFunctionError, ForeignFunctionTable, ForeignResult, ProgramError, ProgramHeap,
    ProgramSession, ProgramValue, ScalarType,
};
use spirula_runtime::{ComputeDevice, DeviceMachine, DeviceOptions};
use std::sync::{Arc, Mutex};

fn compile_program(source: &str) -> CompiledProgram {
    let compiled = compile_input(source.as_bytes(), &CompileOptions::default());
    match compiled.expect("the program compiles").output {
        CompileOutput::Program(program) => *program,
        CompileOutput::Module(_) => panic!("it is a program"),
    }
}

fn make_value(shape: &[u64], numbers: &[i32]) -> ProgramValue {
    ProgramValue {
        element: ScalarType::I32,
        unsigned: false,
        shape: shape.to_vec(),
        bytes: numbers.iter().flat_map(|n| n.to_le_bytes()).collect(),
    }
}

fn numbers_of(bytes: &[u8]) -> Vec<i32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|word| i32::from_le_bytes(word.try_into().expect("four bytes")))
        .collect()
}

fn open_machine() -> DeviceMachine<'static> {
    let device = ComputeDevice::open("cpu", &DeviceOptions::default());
    DeviceMachine::from_device(device.expect("there is a processor"))
}

/// The results of the entry point `main` on the processor, as numbers.
fn run_main(
    program: &CompiledProgram,
    functions: &ForeignFunctionTable,
    arguments: &[ProgramValue],
) -> Result<Vec<Vec<i32>>, String> {
    let mut session = ProgramSession::new(program, open_machine()).expect("it begins");
    session.set_foreign_functions(functions.clone());
    let results = session.call_entry("main", arguments);
    let results = results.map_err(|error| error.to_string())?;
    let results = results.into_iter().flatten();
    Ok(results.map(|value| numbers_of(&value.bytes)).collect())
}

/// A function that adds its attribute `by` to the numbers of its operand.
fn add_attribute(call: &mut ForeignFunctionCall<'_>) -> Result<(), ForeignFunctionError> {
    let attributes = call.signature.attributes.iter();
    let by = attributes.clone().find_map(|(name, value)| match value {
        ForeignAttribute::Scalar(_, bytes) if name == "by" => Some(numbers_of(bytes)[0]),
        _ => None,
    });
    let by = by.ok_or_else(|| ForeignFunctionError::new("there is no number"))?;
    let sums = numbers_of(call.operands[0]).into_iter().map(|n| n + by);
    let bytes: Vec<u8> = sums.flat_map(i32::to_le_bytes).collect();
    call.results[0].copy_from_slice(&bytes);
    Ok(())
}

const ADDING: &str = r#"
func.func @main(%a: tensor<3xi32>, %n: tensor<i32>) -> (tensor<3xi32>, tensor<i32>) {
  %0 = stablehlo.custom_call @add(%a) {api_version = 4 : i32, backend_config = {by = 5 : i32}} : (tensor<3xi32>) -> tensor<3xi32>
  %1 = stablehlo.add %0, %0 : tensor<3xi32>
  %2 = stablehlo.custom_call @add(%n) {api_version = 4 : i32, backend_config = {by = 7 : i32}} : (tensor<i32>) -> tensor<i32>
  %3 = stablehlo.multiply %2, %2 : tensor<i32>
  %unused = stablehlo.custom_call @missing(%a) : (tensor<3xi32>) -> tensor<3xi32>
  return %1, %3 : tensor<3xi32>, tensor<i32>
}"#;

/// Arrays and scalars are passed, before and after an archive. A pure call whose results nobody uses is removed.
#[test]
fn foreign_functions_are_called() {
    let mut functions = ForeignFunctionTable::default();
    functions.register("add", add_attribute);
    let program = compile_program(ADDING);
    let archive = write_archive(&program).expect("it is stored");
    let stored = read_archive(&archive).expect("it is read");
    for program in [&program, &stored] {
        let arguments = [make_value(&[3], &[1, 2, 3]), make_value(&[], &[2])];
        let results = run_main(program, &functions, &arguments);
        assert_eq!(results, Ok(vec![vec![12, 14, 16], vec![81]]));
    }
}

/// A program without its function fails with the name and the place, and the session goes on.
#[test]
fn missing_and_failing_functions_are_named() {
    let program = compile_program(ADDING);
    let mut session = ProgramSession::new(&program, open_machine()).expect("it begins");
    let arguments = [make_value(&[3], &[1, 2, 3]), make_value(&[], &[2])];
    let Err(ProgramError::Foreign(missing)) = session.call_entry("main", &arguments) else {
        panic!("there is no function");
    };
    assert_eq!(missing.kind, ForeignFailureKind::Missing);
    assert_eq!(missing.target, "add");
    assert_eq!(missing.origin, "input:3:8");
    let text = missing.to_string();
    assert_eq!(text, r#"input:3:8: no foreign function is named "add""#);
    let mut functions = ForeignFunctionTable::default();
    functions.register("add", |_: &mut ForeignFunctionCall<'_>| {
        Err(ForeignFunctionError::new("not today"))
    });
    session.set_foreign_functions(functions.clone());
    let failed = session.call_entry("main", &arguments);
    let failed = failed.err().map(|error| error.to_string());
    let expected = r#"input:3:8: the foreign function "add" failed: not today"#;
    assert_eq!(failed.as_deref(), Some(expected));
    functions.register("add", add_attribute);
    session.set_foreign_functions(functions);
    assert!(session.call_entry("main", &arguments).is_ok());
}

/// Calls with an effect keep their order in loops and branches, and are never removed.
#[test]
fn effects_keep_their_order() {
    let program = compile_program(
        r#"
func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %t0 = stablehlo.create_token : !stablehlo.token
  %0:2 = stablehlo.while(%i = %zero, %t = %t0) : tensor<i32>, !stablehlo.token
  cond {
    stablehlo.custom_call @log(%i) {has_side_effect = true, backend_config = "cond"} : (tensor<i32>) -> ()
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %odd = stablehlo.and %i, %one : tensor<i32>
    %is = stablehlo.compare EQ, %odd, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.if"(%is) ({
      stablehlo.custom_call @log(%i) {has_side_effect = true, backend_config = "odd"} : (tensor<i32>) -> ()
      stablehlo.return
    }, {
      stablehlo.return
    }) : (tensor<i1>) -> ()
    %1 = stablehlo.custom_call @log(%t) {has_side_effect = true, backend_config = "token"} : (!stablehlo.token) -> !stablehlo.token
    stablehlo.return %next, %1 : tensor<i32>, !stablehlo.token
  }
  return %0#0 : tensor<i32>
}"#,
    );
    let log = Arc::new(Mutex::new(Vec::new()));
    let mut functions = ForeignFunctionTable::default();
    let seen = log.clone();
    functions.register("log", move |call: &mut ForeignFunctionCall<'_>| {
        let Some((_, ForeignAttribute::Text(text))) = call.signature.attributes.first() else {
            return Err(ForeignFunctionError::new("there is no text"));
        };
        let numbers = numbers_of(call.operands[0]);
        let mut seen = seen.lock().expect("nobody panics");
        seen.push(format!("{text}{numbers:?}"));
        Ok(())
    });
    let results = run_main(&program, &functions, &[make_value(&[], &[2])]);
    assert_eq!(results, Ok(vec![vec![2]]));
    let expected = [
        "cond[0]", "token[]", "cond[1]", "odd[1]", "token[]", "cond[2]",
    ];
    assert_eq!(*log.lock().expect("nobody panics"), expected);
}

/// Complex numbers are pairs, layouts are orders of memory, and a result may begin with an operand.
#[test]
fn operands_have_the_form_that_the_call_names() {
    let program = compile_program(
        r#"
func.func @main(%a: tensor<2x3xi32>, %b: tensor<2xf32>) -> (tensor<2x3xi32>, tensor<2xf32>) {
  %0 = stablehlo.custom_call @turned(%a) {
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>],
    output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]
  } : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %1 = stablehlo.complex %b, %b : tensor<2xcomplex<f32>>
  %2 = stablehlo.custom_call @conjugate(%1) : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  %3 = stablehlo.imag %2 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  return %0, %3 : tensor<2x3xi32>, tensor<2xf32>
}"#,
    );
    let mut functions = ForeignFunctionTable::default();
    functions.register("turned", |call: &mut ForeignFunctionCall<'_>| {
        assert_eq!(numbers_of(call.operands[0]), [1, 4, 2, 5, 3, 6]);
        assert_eq!(numbers_of(call.results[0]), [1, 4, 2, 5, 3, 6]);
        assert_eq!(call.signature.operands[0].shape, [2, 3]);
        assert_eq!(call.signature.operands[0].layout, [1, 0]);
        call.results[0][4..8].copy_from_slice(&9i32.to_le_bytes());
        Ok(())
    });
    functions.register("conjugate", |call: &mut ForeignFunctionCall<'_>| {
        assert_eq!(call.signature.operands[0].element, "complex<f32>");
        call.results[0].copy_from_slice(call.operands[0]);
        for pair in call.results[0].chunks_exact_mut(8) {
            pair[7] ^= 0x80;
        }
        Ok(())
    });
    let halves = ProgramValue {
        element: ScalarType::F32,
        ..make_value(&[2], &[0x3f00_0000, 0x3f80_0000])
    };
    let results = run_main(
        &program,
        &functions,
        &[make_value(&[2, 3], &[1, 2, 3, 4, 5, 6]), halves],
    );
    let signs = vec![0xbf00_0000_u32 as i32, 0xbf80_0000_u32 as i32];
    assert_eq!(results, Ok(vec![vec![1, 2, 3, 9, 5, 6], signs]));
}

/// While a call is paused, the heap serves another program, and the same one.
#[test]
fn a_paused_call_leaves_the_heap_to_others() {
    let program = compile_program(ADDING);
    let mut heap = ProgramHeap::new(open_machine());
    let arguments = [make_value(&[3], &[1, 2, 3]), make_value(&[], &[2])];
    let mut session = ProgramSession::begin_on_heap(&program, &mut heap).expect("it begins");
    let prepared = session.prepare_call("main", &arguments).expect("they fit");
    let Ok(CallProgress::Paused(paused)) = session.start_call(prepared) else {
        panic!("it calls a function");
    };
    assert_eq!(paused.signature(&program).target, "add");
    let operands = session.read_operands(&paused).expect("they are there");
    assert_eq!(numbers_of(&operands[0]), [1, 2, 3]);
    let suspended = session.suspend();
    let mut functions = ForeignFunctionTable::default();
    functions.register("add", add_attribute);
    let mut inner = ProgramSession::begin_on_heap(&program, &mut heap).expect("it begins");
    inner.set_foreign_functions(functions);
    assert!(inner.call_entry("main", &arguments).is_ok());
    let ended = inner.suspend();
    heap.release_program(ended);
    let mut session = ProgramSession::resume(&program, &mut heap, suspended);
    let answer = make_value(&[3], &[10, 20, 30]).bytes;
    let progress = session.resume_call(paused, vec![ForeignResult::Bytes(answer)]);
    let Ok(CallProgress::Paused(second)) = progress else {
        panic!("it calls another function");
    };
    let wrong = vec![ForeignResult::Bytes(vec![0; 3])];
    assert!(session.resume_call(second, wrong).is_err());
    let ended = session.suspend();
    heap.release_program(ended);
    assert_eq!(heap.memory_use().in_use, 0);
}

/// Targets that are not among those of the options are refused when the program is compiled.
#[test]
fn other_targets_are_refused() {
    for foreign in [ForeignTargets::None, ForeignTargets::Named(Arc::default())] {
        let options = CompileOptions {
            foreign,
            ..CompileOptions::default()
        };
        let error = compile_input(ADDING.as_bytes(), &options).expect_err("it is refused");
        assert!(error.to_string().contains("custom_call @add"), "{error}");
    }
}
