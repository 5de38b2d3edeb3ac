//! Functions that drivers compute as they like.
//!
//! Vulkan says how exact sines are within half a turn from zero only, and drivers make use of it: lavapipe has the
//! sine of 1e9 as 1, and graphics cards lose a bit with each bit that the angle has above. Angles are
//! brought to within half a turn first. Of hyperbolic functions it says what formulas they are derived from, by which the
//! tangent of 1e-38 is 3e-8, and the inverse sine of 1e20 infinite: they are functions of this crate.

use spirula_spirv::Id;
use spirula_spirv::analysis::{IdDefinitions, IdNames};
use spirula_spirv::grammar::{Op, glsl_std_450 as glsl};
use spirula_spirv::ir::{IdWords, Inst, InstRef, SpirvModule};
use spirula_spirv::link::{GlobalValueTable, SpirvImporter};
use spirula_spirv::text;

/// What becomes of an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MathReplacement {
    /// Its operand goes through a function.
    Through,
    /// It is a call of a function.
    Call,
}

/// The texts of functions.
const ANGLE: &str = include_str!("angle.spvasm");
const HYPERBOLIC: &str = include_str!("hyperbolic.spvasm");

/// Instructions of GLSL.std.450 of one operand, and the function for each.
#[rustfmt::skip]
const FUNCTIONS: &[(u32, MathReplacement, &str, &str)] = &[
    (glsl::SIN, MathReplacement::Through, ANGLE, "reduced_angle"),
    (glsl::COS, MathReplacement::Through, ANGLE, "reduced_angle"),
    (glsl::TAN, MathReplacement::Through, ANGLE, "reduced_angle"),
    (glsl::SINH, MathReplacement::Call, HYPERBOLIC, "sinh"),
    (glsl::COSH, MathReplacement::Call, HYPERBOLIC, "cosh"),
    (glsl::TANH, MathReplacement::Call, HYPERBOLIC, "tanh"),
    (glsl::ASINH, MathReplacement::Call, HYPERBOLIC, "asinh"),
    (glsl::ACOSH, MathReplacement::Call, HYPERBOLIC, "acosh"),
    (glsl::ATANH, MathReplacement::Call, HYPERBOLIC, "atanh"),
];

/// The module with such functions of floats of 32 bits as exact as they should be; `None` where it has none.
pub fn with_exact_functions(module: &SpirvModule) -> Option<SpirvModule> {
    let (ids, definitions) = (IdWords::new(module), IdDefinitions::from_module(module));
    let row = |inst: InstRef<'_>| match_function(module, &ids, &definitions, inst);
    let calls = module.all_insts();
    let calls: Vec<(Inst, usize)> = calls.filter_map(|i| Some((i.handle(), row(i)?))).collect();
    if calls.is_empty() {
        return None;
    }
    let mut module = module.clone();
    let mut known: Vec<(&str, Id)> = Vec::new();
    for (at, row) in calls {
        let (_, way, text, name) = FUNCTIONS[row];
        let found = known.iter().find(|(other, _)| *other == name);
        let function = match found {
            Some((_, function)) => *function,
            None => {
                let function = import_function(&mut module, text, name)?;
                known.push((name, function));
                function
            }
        };
        // Type, result, set, number, operand.
        let mut words = module.inst(at).words().to_vec();
        if way == MathReplacement::Call {
            let call = [words[0], words[1], function.word(), words[4]];
            module.replace_inst(at, Op::FunctionCall, &call);
            continue;
        }
        let operand = module.fresh_id();
        let call = [words[0], operand.word(), function.word(), words[4]];
        words[4] = operand.word();
        let call = module.create_inst(Op::FunctionCall, &call);
        module.insert_before(at, call);
        module.replace_inst(at, Op::ExtInst, &words);
    }
    Some(module)
}

/// The row for an instruction of a float.
fn match_function(
    module: &SpirvModule,
    ids: &IdWords,
    definitions: &IdDefinitions,
    inst: InstRef<'_>,
) -> Option<usize> {
    if inst.op() != Op::ExtInst || ids.ext_inst_set(inst)?.name != "GLSL.std.450" {
        return None;
    }
    let ty = definitions.get(module, inst.result_type()?)?;
    let is_single = ty.op() == Op::TypeFloat && ty.operand_word(0) == 32;
    let row = FUNCTIONS
        .iter()
        .position(|row| row.0 == inst.operand_word(1));
    row.filter(|_| is_single)
}

/// Puts a function of a text into a module.
fn import_function(module: &mut SpirvModule, text: &str, name: &str) -> Option<Id> {
    let words = text::parse_assembly(text, &text::ParseOptions::default()).ok()?;
    let library = SpirvModule::from_words(words).ok()?;
    let names = IdNames::from_module(&library);
    let mut functions = library.functions().iter();
    let function = functions.find_map(|func| {
        let id = library.function_id(*func);
        (names.get(&library, id).as_deref() == Some(name)).then_some(id)
    })?;
    let mut values = GlobalValueTable::from_module(module);
    let made = SpirvImporter::new(&library).import_ids(module, &mut values, &[function]);
    made.ok()?.first().copied()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{parse_module, run_shader};
    use super::with_exact_functions;
    use spirula_spirv::verify;

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
        let exact = with_exact_functions(&plain).expect("there is one");
        let faults = verify::verify_module(&exact, &verify::VerifyOptions::default());
        assert!(faults.is_ok(), "{faults:?}");
        for numbers in numbers.chunks(64) {
            let mut words: Vec<u32> = numbers.iter().map(|x| x.to_bits()).collect();
            words.resize(64, 0);
            let (wanted, found) = (run_shader(&plain, 0, &words), run_shader(&exact, 0, &words));
            for ((number, wanted), found) in numbers.iter().zip(wanted).zip(found) {
                let [wanted, found] = [wanted, found].map(f32::from_bits);
                let is_right = match wanted.is_finite() && wanted != 0.0 {
                    true => (wanted - found).abs() <= bound(wanted),
                    false => {
                        wanted.to_bits() == found.to_bits() || wanted.is_nan() && found.is_nan()
                    }
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
        for quarters in (1..4000_u16).step_by(7) {
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
        assert!(with_exact_functions(&parse_module(&build_shader("Exp"))).is_none());
    }
}
