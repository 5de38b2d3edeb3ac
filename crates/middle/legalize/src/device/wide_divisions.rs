//! Wide divisions: 64-bit divisions are done in 32 bits where the operands fit.
//!
//! NVIDIA's driver 580 miscompiles the components `x = t / (m * n)`, `y = (t - x * m * n) / n` and `z` of an index `t` in some shaders
//! where both quotients have 64 bits: the second quotient is that of other numbers. 32-bit quotients, taken where both operands fit
//! in 32 bits, are correct and no slower. Each kind of division becomes a function. Divisions by constants stay.

use spirula_spirv::Id;
use spirula_spirv::analysis::IdDefinitions;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Inst, InstRef, SpirvModule};
use spirula_spirv::link::{GlobalValueTable, SpirvImporter};
use spirula_spirv::text;

/// A kind of division, and the function that replaces it.
struct GuardedDivision {
    op: Op,
    signed: bool,
    function: Id,
}

/// The module with calls of such functions; `None` where it has no 64-bit divisions.
pub fn guard_wide_divisions(module: &SpirvModule) -> Option<SpirvModule> {
    let definitions = IdDefinitions::from_module(module);
    let divisions: Vec<(Inst, bool)> = module
        .all_insts()
        .filter_map(|inst| Some((inst.handle(), is_signed(module, &definitions, &inst)?)))
        .collect();
    if divisions.is_empty() {
        return None;
    }
    let mut module = module.clone();
    let mut kinds: Vec<GuardedDivision> = Vec::new();
    for (at, signed) in divisions {
        let inst = module.inst(at);
        let (op, words) = (inst.op(), inst.words().to_vec());
        let known = kinds.iter().find(|k| k.op == op && k.signed == signed);
        let function = match known {
            Some(kind) => kind.function,
            None => {
                let function = import_division(&mut module, op, signed)?;
                #[rustfmt::skip]
                kinds.push(GuardedDivision { op, signed, function });
                function
            }
        };
        let called = [words[0], words[1], function.word(), words[2], words[3]];
        module.replace_inst(at, Op::FunctionCall, &called);
    }
    Some(module)
}

/// The signedness of a 64-bit division whose operands and result have one type.
fn is_signed(
    module: &SpirvModule,
    definitions: &IdDefinitions,
    inst: &InstRef<'_>,
) -> Option<bool> {
    let ops = [Op::SDiv, Op::UDiv, Op::SRem, Op::SMod, Op::UMod];
    if !ops.contains(&inst.op()) {
        return None;
    }
    let ty = inst.result_type()?;
    let info = definitions.get(module, ty)?;
    let mut numbers = inst.id_operands(0).map(|id| definitions.get(module, id));
    let fits = |number: Option<InstRef<'_>>| {
        number.is_some_and(|n| n.result_type() == Some(ty) && n.op() != Op::Constant)
    };
    let is_wide = info.op() == Op::TypeInt && info.operand_word(0) == 64;
    (is_wide && numbers.all(fits)).then(|| info.operand_word(1) == 1)
}

/// Imports the function for a kind of division into a module.
fn import_division(module: &mut SpirvModule, op: Op, signed: bool) -> Option<Id> {
    let words = text::parse_assembly(
        &build_division_text(op, signed),
        &text::ParseOptions::default(),
    )
    .ok()?;
    let library = SpirvModule::from_words(words).ok()?;
    let function = library.function_id(*library.functions().first()?);
    let mut values = GlobalValueTable::from_module(module);
    let made = SpirvImporter::new(&library).import_ids(module, &mut values, &[function]);
    made.ok()?.first().copied()
}

/// A module with the function for a kind of division.
fn build_division_text(op: Op, signed: bool) -> String {
    let name = op.info().map_or("", |info| info.name);
    let narrow = match op {
        Op::SDiv | Op::UDiv => "OpUDiv",
        _ => "OpUMod",
    };
    let (types, converted) = if signed {
        (
            "%long = OpTypeInt 64 1\n%ulong = OpTypeInt 64 0",
            "%wide = OpUConvert %ulong %quotient\n%fast = OpBitcast %long %wide",
        )
    } else {
        (
            "%long = OpTypeInt 64 0",
            "%fast = OpUConvert %long %quotient",
        )
    };
    format!(
        "OpCapability Shader
OpCapability Int64
OpCapability Linkage
OpMemoryModel Logical GLSL450
%bool = OpTypeBool
%uint = OpTypeInt 32 0
{types}
%type = OpTypeFunction %long %long %long
%zero = OpConstant %long 0
%half = OpConstant %long 32
%function = OpFunction %long None %type
%a = OpFunctionParameter %long
%b = OpFunctionParameter %long
%entry = OpLabel
%both = OpBitwiseOr %long %a %b
%upper = OpShiftRightLogical %long %both %half
%fits = OpIEqual %bool %upper %zero
OpSelectionMerge %end None
OpBranchConditional %fits %short %whole
%short = OpLabel
%low_a = OpUConvert %uint %a
%low_b = OpUConvert %uint %b
%quotient = {narrow} %uint %low_a %low_b
{converted}
OpBranch %end
%whole = OpLabel
%slow = {name} %long %a %b
OpBranch %end
%end = OpLabel
%result = OpPhi %long %fast %short %slow %whole
OpReturnValue %result
OpFunctionEnd
"
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::build_module;
    use super::guard_wide_divisions;
    use spirula_spirv::grammar::Op;
    use spirula_spirv::verify;

    #[test]
    fn divisions_become_calls_of_one_function_for_each_kind() {
        let body = "%x = OpSDiv %ulong %a %b
%y = OpSDiv %ulong %x %b
%z = OpUMod %ulong %x %y";
        let changed = guard_wide_divisions(&build_module(body)).expect("there are some");
        let faults = verify::verify_module(&changed, &verify::VerifyOptions::default());
        assert!(faults.is_ok(), "{faults:?}");
        assert_eq!(changed.functions().len(), 3);
        let calls = changed.all_insts().filter(|i| i.op() == Op::FunctionCall);
        assert_eq!(calls.count(), 3);
    }

    #[test]
    fn others_stay() {
        for body in ["%x = OpUDiv %ulong %a %three", "%x = OpUDiv %uint %n %n"] {
            assert!(
                guard_wide_divisions(&build_module(body)).is_none(),
                "{body}"
            );
        }
    }
}
