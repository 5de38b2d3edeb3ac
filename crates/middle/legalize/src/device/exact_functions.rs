//! Exact functions: sines, cosines and tangents of large angles, and hyperbolic functions.
//!
//! Vulkan bounds the error of sines within half a turn from zero only, and drivers make use of that. The sine of 1e9 is 1 on lavapipe;
//! graphics cards lose one bit for each bit that the angle has above half a turn. Angles are therefore reduced to half a turn first.
//! For hyperbolic functions Vulkan gives formulas by which the tangent of 1e-38 is 3e-8 and the inverse sine of 1e20 is infinite.
//! They are replaced by functions of this crate.

use spirula_spirv::Id;
use spirula_spirv::analysis::{IdDefinitions, IdNames};
use spirula_spirv::grammar::{Op, glsl_std_450 as glsl};
use spirula_spirv::ir::{IdWords, Inst, InstRef, SpirvModule};
use spirula_spirv::link::{GlobalValueTable, SpirvImporter};
use spirula_spirv::text;

/// Replacements of an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MathReplacement {
    /// A function is applied to its operand.
    Through,
    /// It becomes a call of a function.
    Call,
}

/// The functions in assembly.
const ANGLE: &str = include_str!("angle.spvasm");
const HYPERBOLIC: &str = include_str!("hyperbolic.spvasm");

/// Instructions of GLSL.std.450 with one operand, and the function for each.
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

/// The module with exact functions of 32-bit floats; `None` where it uses none of them.
pub fn replace_inexact_functions(module: &SpirvModule) -> Option<SpirvModule> {
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

/// The row for an instruction on a 32-bit float.
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

/// Imports a function in assembly into a module.
pub(super) fn import_function(module: &mut SpirvModule, text: &str, name: &str) -> Option<Id> {
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
