//! The two worked examples of the document on IREE's code generation, in StableHLO and in the older
//! dialect: every stage as text, down to kernels, and the results on the CPU device.

use spirula_program::{ProgramSession, ProgramValue, ScalarType};
use spirula_runtime::{ComputeDevice, DeviceMachine, DeviceOptions};
use spirula_stablehlo::{mlir, translate::translate_entry};
use spirula_tensor::schedule::{DispatchTuning, ScheduleProfile};
use spirula_testing::GoldenFiles;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// All stages of a model, and its program.
fn stages(model: &Path) -> (String, spirula_kernel::ir::KernelProgram) {
    let bytes = fs::read(model).expect("the model can be read");
    let module = mlir::parse_text(&bytes).expect("the model is well formed");
    let function = translate_entry(&module, "main").expect("the model is translated");
    let function = function.function;
    let mut text = format!("# translate\n{}", spirula_tensor::print_function(&function));
    // As the document has it, with the factors in the workgroup's memory.
    let profile = ScheduleProfile {
        direct: 1,
        ..ScheduleProfile::CPU
    };
    let program = spirula_tensor::compile_function(
        function,
        profile,
        &DispatchTuning::default(),
        &mut |stage, shown| {
            let _ = write!(text, "\n# {stage}\n{}", shown());
        },
    );
    let program = program.expect("the model is compiled");
    let _ = write!(
        text,
        "\n# kernels\n{}",
        spirula_kernel::print_program(&program)
    );
    (text, program)
}

fn floats(count: usize) -> Vec<f32> {
    let mut state = 1u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(next).collect()
}

fn array(values: &[f32], shape: &[u64]) -> ProgramValue {
    ProgramValue {
        element: ScalarType::F32,
        unsigned: false,
        shape: shape.to_vec(),
        bytes: values.iter().flat_map(|v| v.to_le_bytes()).collect(),
    }
}

fn run(program: &spirula_kernel::ir::KernelProgram, inputs: &[ProgramValue]) -> Vec<f32> {
    spirula_kernel::verify_program(program).expect("the program is well formed");
    let program = spirula_kernel::compile_program(program).expect("the kernels are lowered");
    let mut device =
        ComputeDevice::open("cpu", &DeviceOptions::default()).expect("the CPU is there");
    let machine = DeviceMachine::new(&mut device);
    let mut session = ProgramSession::new(&program, machine).expect("the program begins");
    let results = session
        .call_entry("main", inputs)
        .expect("the program runs");
    let elements = results[0].as_ref().expect("a result").elements();
    elements.map(|bits| f32::from_bits(bits as u32)).collect()
}

/// Stages of a model as the file beside it has them.
fn staged(name: &str) -> spirula_kernel::ir::KernelProgram {
    let model = Path::new("tests/worked").join(name).with_extension("mlir");
    let (text, program) = stages(&model);
    let mut expected = GoldenFiles::new();
    expected.compare_file(&model.with_extension("expected"), &text);
    expected.finish_comparison();
    program
}

#[test]
fn a_product_of_matrices() {
    let (x, y) = (floats(32 * 24), floats(24 * 16));
    for name in ["dot", "dot_mhlo"] {
        let program = staged(name);
        let found = run(&program, &[array(&x, &[32, 24]), array(&y, &[24, 16])]);
        for i in 0..32 {
            for j in 0..16 {
                let sum: f32 = (0..24).map(|k| x[i * 24 + k] * y[k * 16 + j]).sum();
                assert!((found[i * 16 + j] - sum).abs() < 1e-5, "at {i}, {j}");
            }
        }
    }
}

#[test]
fn elements_with_a_broadcast() {
    let (x, y, z) = (floats(150), floats(150), floats(15));
    let shape = [10, 15];
    for name in ["pointwise", "pointwise_mhlo"] {
        let program = staged(name);
        let inputs = [array(&x, &shape), array(&y, &shape), array(&z, &[15])];
        let found = run(&program, &inputs);
        for at in 0..150 {
            assert_eq!(found[at], (x[at] + y[at]) * z[at % 15], "at {at}");
        }
    }
}
