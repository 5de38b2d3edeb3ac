//! Functions that are as exact on every device as on the CPU device.

use crate::{assert_valid, parse_module, run_shader};
use spirula_legalize::device::replace_inexact_functions;

/// A shader that takes a function of 64 floats.
fn build_shader(function: &str) -> String {
    format!(
        "OpCapability Shader
%glsl = OpExtInstImport \"GLSL.std.450\"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %local %buffer %push
OpExecutionMode %main LocalSize 64 1 1
OpDecorate %local BuiltIn LocalInvocationIndex
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
OpDecorate %block Block
OpDecorate %pushed Block
OpMemberDecorate %block 0 Offset 0
OpMemberDecorate %pushed 0 Offset 0
OpDecorate %floats ArrayStride 4
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%floats = OpTypeRuntimeArray %float
%block = OpTypeStruct %floats
%pushed = OpTypeStruct %uint
%to_block = OpTypePointer StorageBuffer %block
%to_float = OpTypePointer StorageBuffer %float
%to_pushed = OpTypePointer PushConstant %pushed
%to_uint = OpTypePointer Input %uint
%type = OpTypeFunction %void
%zero = OpConstant %uint 0
%buffer = OpVariable %to_block StorageBuffer
%push = OpVariable %to_pushed PushConstant
%local = OpVariable %to_uint Input
%main = OpFunction %void None %type
%entry = OpLabel
%n = OpLoad %uint %local
%place = OpAccessChain %to_float %buffer %zero %n
%x = OpLoad %float %place
%y = OpExtInst %float %glsl {function} %x
OpStore %place %y
OpReturn
OpFunctionEnd
"
    )
}

/// Checks a function of numbers against what the CPU device has, given how much it may be off where the right result
/// is known.
fn check_function(function: &str, numbers: &[f32], bound: impl Fn(f32) -> f32) {
    let plain = parse_module(&build_shader(function));
    let exact = replace_inexact_functions(&plain).expect("there is one");
    assert_valid(&exact);
    for numbers in numbers.chunks(64) {
        let mut words: Vec<u32> = numbers.iter().map(|x| x.to_bits()).collect();
        words.resize(64, 0);
        let (wanted, found) = (run_shader(&plain, 0, &words), run_shader(&exact, 0, &words));
        for ((number, wanted), found) in numbers.iter().zip(wanted).zip(found) {
            let [wanted, found] = [wanted, found].map(f32::from_bits);
            let is_right = if wanted.is_finite() && wanted != 0.0 {
                (wanted - found).abs() <= bound(wanted)
            } else {
                wanted.to_bits() == found.to_bits() || wanted.is_nan() && found.is_nan()
            };
            assert!(
                is_right,
                "{function} {number:e}: {wanted:e}, {found:e} found"
            );
        }
    }
}

/// Angles of every size and both signs, multiples of quarter turns among them, and what is none.
fn list_angles() -> Vec<f32> {
    let mut all = vec![
        0.0,
        -0.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::MAX,
    ];
    for power in -140..128 {
        for mantissa in [1.0, 1.234_567_8, 1.570_796_4, 1.999_999_9] {
            let angle = mantissa * (f64::from(power)).exp2() as f32;
            all.extend([angle, -angle]);
        }
    }
    for quarters in (1..4000).step_by(7).chain((4000..u16::MAX).step_by(61)) {
        all.push(f32::from(quarters) * std::f32::consts::FRAC_PI_2);
    }
    all
}

#[test]
fn functions_of_angles() {
    let angles = list_angles();
    // Half a unit of an angle of up to half a turn, as much as the function makes of it.
    check_function("Sin", &angles, |_| 3e-7);
    check_function("Cos", &angles, |_| 3e-7);
    check_function("Tan", &angles, |tangent| 3e-7 * (1.0 + tangent * tangent));
}

#[test]
fn hyperbolic_functions() {
    let mut numbers = list_angles();
    numbers.extend((0..2000).map(|n| n as f32 * 0.05 - 50.0));
    numbers.extend((0..500).map(|n| n as f32 * 0.004 - 1.0));
    for function in ["Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh"] {
        check_function(function, &numbers, |wanted| 1e-6 * wanted.abs() + 2e-45);
    }
}

#[test]
fn others_stay() {
    assert!(replace_inexact_functions(&parse_module(&build_shader("Exp"))).is_none());
}
