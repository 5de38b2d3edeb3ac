//! Specialisation ahead of use: specialisation constants get other values or become constants, and workgroups get a
//! size.
//!
//! - `set-spec-const=ID:VALUE` gives the constant with this `SpecId` another default.
//! - `freeze-spec-const` turns all of them into constants, folds operations on them, and writes the size of
//!   workgroups in numbers; sizes that are 0 until they are specialised stay.
//! - `workgroup-size=X:Y:Z` sets the size for every compute entry point whose size is open: a specialisation
//!   constant, or not given at all. Kernels that read the size read constants.
//!
//! Before:
//! ```text
//!      OpDecorate %n SpecId 3
//! %n = OpSpecConstant %uint 4
//! %m = OpSpecConstantOp %uint IMul %n %two
//! ```
//! After `freeze-spec-const`:
//! ```text
//! %n = OpConstant %uint 4
//! %m = OpConstant %uint 8
//! ```

use crate::analyses::AnalysisCache;
use crate::pass::PassOutcome;
use crate::values::ModuleValues;
use spirula_diagnostics::SourceDiagnostic;
use spirula_scalar::fold::{FoldConstant, FoldType};
use spirula_scalar::{FloatEncoding, FloatRounding, convert};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, ExecutionMode};
use spirula_spirv::ir::{Inst, InstRef, ModuleSection, SpirvModule};

/// What `set-spec-const` is told: the constant and its value.
fn parse_assignment(text: &str) -> Option<(u32, &str)> {
    let (id, value) = text.split_once(':')?;
    Some((id.parse().ok()?, value)).filter(|(_, v)| parse_number(v).is_some())
}

/// A number as its bits, and whether they are those of a 64-bit float.
fn parse_number(text: &str) -> Option<(u64, bool)> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(|n| (n, false));
    }
    match text {
        "true" => return Some((1, false)),
        "false" => return Some((0, false)),
        _ => {}
    }
    let signed = text.parse::<i64>().map(|n| (n as u64, false));
    let unsigned = text.parse::<u64>().map(|n| (n, false));
    let float = || text.parse::<f64>().map(|n| (n.to_bits(), true));
    unsigned.or(signed).or_else(|_| float()).ok()
}

/// Whether a text is an assignment.
pub fn is_assignment(text: &str) -> bool {
    parse_assignment(text).is_some()
}

/// Gives a specialisation constant another default.
pub fn run_set(
    module: &mut SpirvModule,
    _cache: &mut AnalysisCache,
    argument: &str,
) -> Result<PassOutcome, SourceDiagnostic> {
    let facts = ModuleValues::new(module);
    let (id, text) = parse_assignment(argument).unwrap_or((0, "0"));
    let targets: Vec<Id> = module
        .section_insts(ModuleSection::Annotations)
        .filter(|d| is_spec_id(d) && d.operands().get(2) == Some(&id))
        .map(|d| d.id_operand(0))
        .collect();
    let mut set = 0;
    for target in targets {
        let Some(constant) = facts.definition(module, target) else {
            continue;
        };
        let ty = constant
            .result_type()
            .and_then(|ty| facts.scalar_type(module, ty));
        let (Some(ty), Some(bits)) = (ty, parse_number(text)) else {
            continue;
        };
        let handle = constant.handle();
        let words = [constant.words()[0], constant.words()[1]];
        match ty {
            FoldType::Bool => {
                let yes = bits.0 & 1 == 1 && !bits.1;
                let op = if yes {
                    Op::SpecConstantTrue
                } else {
                    Op::SpecConstantFalse
                };
                module.replace_inst(handle, op, &words);
            }
            _ => {
                let value = [
                    &words[..],
                    &encode_literal(module, &facts, handle, ty, bits),
                ]
                .concat();
                module.replace_words(handle, &value);
            }
        }
        set += 1;
    }
    Ok(PassOutcome {
        statistics: vec![("constants set", set)],
    })
}

/// The words of a number as a constant of a type.
fn encode_literal(
    module: &SpirvModule,
    facts: &ModuleValues,
    inst: Inst,
    ty: FoldType,
    bits: (u64, bool),
) -> Vec<u32> {
    let value = match (ty, bits) {
        (FoldType::Float(format), (bits, true)) => {
            convert::float_to_float(bits, FloatEncoding::F64, format, FloatRounding::NearestEven)
        }
        (FoldType::Float(format), (bits, false)) => {
            let float = (bits as i64 as f64).to_bits();
            convert::float_to_float(
                float,
                FloatEncoding::F64,
                format,
                FloatRounding::NearestEven,
            )
        }
        (_, (bits, true)) => f64::from_bits(bits) as i64 as u64,
        (_, (bits, false)) => bits,
    };
    let signed = module
        .inst(inst)
        .result_type()
        .and_then(|ty| facts.definition(module, ty));
    let signed = signed.is_some_and(|t| t.op() == Op::TypeInt && t.operand_word(1) == 1);
    number_words(ty, signed, value)
}

/// The words of a number's bits; narrow ones are extended as the specification demands (section
/// 2.2.1).
fn number_words(ty: FoldType, signed: bool, bits: u64) -> Vec<u32> {
    let width = ty.width();
    let bits = bits & (u64::MAX >> (64 - width));
    let bits = match signed && width < 32 {
        true => ((bits << (64 - width)) as i64 >> (64 - width)) as u64,
        false => bits,
    };
    let words = [bits as u32, (bits >> 32) as u32];
    words[..if width > 32 { 2 } else { 1 }].to_vec()
}

fn is_spec_id(decoration: &InstRef<'_>) -> bool {
    decoration.op() == Op::Decorate && decoration.operand_word(1) == Decoration::SpecId.0
}

/// Makes all specialisation constants constants.
pub fn run_freeze(
    module: &mut SpirvModule,
    _cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let open = open_sizes(module);
    let frozen = freeze_constants(module, |id| !open.contains(&id));
    let sizes = freeze_sizes(module);
    Ok(PassOutcome {
        statistics: vec![("constants frozen", frozen), ("sizes said", sizes)],
    })
}

/// Constants of 0 that say how large workgroups are: only as long as they may become others is that
/// right.
fn open_sizes(module: &SpirvModule) -> Vec<Id> {
    let modes = module.section_insts(ModuleSection::ExecutionModes);
    let mut open: Vec<Id> = modes
        .filter(is_size)
        .flat_map(|m| m.id_operands(2))
        .collect();
    let globals = module.section_insts(ModuleSection::Globals);
    if !open.is_empty() {
        let zero = |i: &InstRef<'_>| i.op() == Op::SpecConstant && i.operands() == [0];
        let zeros: Vec<Id> = globals.filter(zero).filter_map(|i| i.result()).collect();
        open.retain(|id| zeros.contains(id));
    }
    open
}

/// Whether an execution mode says by constants how large workgroups are.
fn is_size(mode: &InstRef<'_>) -> bool {
    mode.op() == Op::ExecutionModeId && mode.operand_word(1) == ExecutionMode::LocalSizeId.0
}

/// Says in numbers how large workgroups are that were said so by constants.
fn freeze_sizes(module: &mut SpirvModule) -> usize {
    let modes = module.section_insts(ModuleSection::ExecutionModes);
    let modes: Vec<Inst> = modes.filter(is_size).map(InstRef::handle).collect();
    if modes.is_empty() {
        return 0;
    }
    let facts = ModuleValues::new(module);
    let mut said = 0;
    for mode in modes {
        let inst = module.inst(mode);
        let size: Option<Vec<u32>> = inst
            .id_operands(2)
            .map(|id| u32::try_from(facts.scalar_constant_bits(module, id)?.bits).ok())
            .collect();
        if let Some(size) = size {
            let head = [inst.operand_word(0), ExecutionMode::LocalSize.0];
            module.replace_inst(mode, Op::ExecutionMode, &[&head[..], &size].concat());
            said += 1;
        }
    }
    said
}

/// Makes constants of those that are picked, and of what is computed of constants only.
pub fn freeze_constants(module: &mut SpirvModule, picked: impl Fn(Id) -> bool) -> usize {
    let mut facts = ModuleValues::new(module);
    let decorations: Vec<Inst> = module
        .section_insts(ModuleSection::Annotations)
        .filter(|d| is_spec_id(d) && picked(d.id_operand(0)))
        .map(InstRef::handle)
        .collect();
    for decoration in decorations {
        module.remove_inst(decoration);
    }
    let globals: Vec<Inst> = module
        .section_insts(ModuleSection::Globals)
        .map(InstRef::handle)
        .collect();
    let mut frozen = 0;
    for inst in globals {
        let i = module.inst(inst);
        let own = i.result().is_some_and(&picked);
        let op = match i.op() {
            Op::SpecConstant if own => Op::Constant,
            Op::SpecConstantTrue if own => Op::ConstantTrue,
            Op::SpecConstantFalse if own => Op::ConstantFalse,
            Op::SpecConstantComposite if i.id_operands(0).all(|p| is_known(module, &facts, p)) => {
                Op::ConstantComposite
            }
            Op::SpecConstantOp => {
                frozen += usize::from(fold_spec_constant_op(module, &mut facts, inst).is_some());
                continue;
            }
            _ => continue,
        };
        let words = i.words().to_vec();
        module.replace_inst(inst, op, &words);
        frozen += 1;
    }
    frozen
}

fn is_known(module: &SpirvModule, facts: &ModuleValues, id: Id) -> bool {
    facts.is_constant(module, id) || facts.defining_op(module, id) == Op::Undef
}

/// Makes a computed constant one, where what it is computed of is constant.
fn fold_spec_constant_op(
    module: &mut SpirvModule,
    facts: &mut ModuleValues,
    inst: Inst,
) -> Option<()> {
    let i = module.inst(inst);
    let (ty, id) = (i.result_type()?, i.result()?);
    let op = Op(u16::try_from(i.operand_word(0)).ok()?);
    let operands = i.operands()[1..].to_vec();
    let head = [ty.word(), id.word()];
    if op == Op::CompositeExtract {
        let mut part = Id::new(operands[0])?;
        for at in &operands[1..] {
            let composite = facts.definition(module, part)?;
            part = match composite.op() {
                Op::ConstantComposite => composite.get_id(*at as usize)?,
                Op::ConstantNull => {
                    module.replace_inst(inst, Op::ConstantNull, &head);
                    return Some(());
                }
                _ => return None,
            };
        }
        let known = facts
            .definition(module, part)
            .filter(|_| facts.is_constant(module, part))?;
        let words = [&head, known.operands()].concat();
        let op = known.op();
        module.replace_inst(inst, op, &words);
        return Some(());
    }
    // As an instruction, to be computed like one.
    let words = [&head[..], &operands].concat();
    let like = module.create_inst(op, &words);
    if !facts.is_foldable(module.inst(like)) {
        return None;
    }
    let mut lanes: Vec<Vec<FoldConstant>> = Vec::new();
    for operand in operands {
        let mut values = Vec::new();
        facts.read_constant_lanes(module, Id::new(operand)?, &mut values)?;
        lanes.push(values);
    }
    let results = facts.evaluate_components(module, module.inst(like), &lanes)?;
    let vector = facts
        .def_of(module, ty, Op::TypeVector)
        .map(|v| v.id_operand(0));
    let part = vector.unwrap_or(ty);
    let scalar = facts.scalar_type(module, part)?;
    let signed = facts.definition(module, part)?;
    let signed = signed.op() == Op::TypeInt && signed.operand_word(1) == 1;
    let constant = |bits: u64| match scalar {
        FoldType::Bool if bits & 1 == 1 => (Op::ConstantTrue, Vec::new()),
        FoldType::Bool => (Op::ConstantFalse, Vec::new()),
        _ => (Op::Constant, number_words(scalar, signed, bits)),
    };
    if vector.is_none() {
        let (op, words) = constant(*results.first()?);
        module.replace_inst(inst, op, &[&head[..], &words].concat());
        return Some(());
    }
    let mut parts = head.to_vec();
    for bits in results {
        let (op, words) = constant(bits);
        let words: Vec<u32> = words;
        parts.push(facts.insert_inst(module, inst, op, part, &words).word());
    }
    module.replace_inst(inst, Op::ConstantComposite, &parts);
    Some(())
}
