//! Specialisation ahead of use: specialisation constants get other values or become constants, and workgroups get a
//! size.
//!
//! - `set-spec-const=ID:VALUE` gives the constant with this `SpecId` another default.
//! - `freeze-spec-const` turns all of them into constants, folds operations on them, and writes the size of workgroups
//!   in numbers. Sizes that are 0 until they are specialised stay.
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

/// Parses the argument of `set-spec-const`: the constant and its value.
fn parse_assignment(text: &str) -> Option<(u32, &str)> {
    let (id, value) = text.split_once(':')?;
    Some((id.parse().ok()?, value)).filter(|(_, v)| parse_number(v).is_some())
}

/// A number of the command line.
#[derive(Clone, Copy)]
struct ParsedNumber {
    /// Its bits: a two's complement integer of 64 bits, or a 64-bit float.
    bits: u64,
    is_float: bool,
}

/// Parses a number or Boolean.
fn parse_number(text: &str) -> Option<ParsedNumber> {
    let integer = |bits| ParsedNumber {
        bits,
        is_float: false,
    };
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(integer);
    }
    match text {
        "true" => return Some(integer(1)),
        "false" => return Some(integer(0)),
        _ => {}
    }
    let signed = text.parse::<i64>().map(|n| integer(n as u64));
    let unsigned = text.parse::<u64>().map(integer);
    let float = || {
        text.parse::<f64>().map(|n| ParsedNumber {
            bits: n.to_bits(),
            is_float: true,
        })
    };
    unsigned.or(signed).or_else(|_| float()).ok()
}

/// Whether a text is an assignment.
pub fn is_assignment(text: &str) -> bool {
    parse_assignment(text).is_some()
}

/// Sets the default of a specialisation constant.
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
        let (Some(ty), Some(number)) = (ty, parse_number(text)) else {
            continue;
        };
        let handle = constant.handle();
        let words = [constant.words()[0], constant.words()[1]];
        match ty {
            FoldType::Bool => {
                let yes = number.bits & 1 == 1 && !number.is_float;
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
                    &encode_literal(module, &facts, handle, ty, number),
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

/// The words of a constant of a type with a given number.
fn encode_literal(
    module: &SpirvModule,
    facts: &ModuleValues,
    inst: Inst,
    ty: FoldType,
    number: ParsedNumber,
) -> Vec<u32> {
    let bits = number.bits;
    let value = match ty {
        FoldType::Float(format) => {
            let float = if number.is_float {
                bits
            } else {
                (bits as i64 as f64).to_bits()
            };
            convert::float_to_float(
                float,
                FloatEncoding::F64,
                format,
                FloatRounding::NearestEven,
            )
        }
        _ if number.is_float => f64::from_bits(bits) as i64 as u64,
        _ => bits,
    };
    let signed = module
        .inst(inst)
        .result_type()
        .and_then(|ty| facts.definition(module, ty));
    let signed = signed.is_some_and(|t| t.op() == Op::TypeInt && t.operand_word(1) == 1);
    number_words(ty, signed, value)
}

/// The words of the bits of a number. Narrow ones are extended as the specification requires (section 2.2.1).
fn number_words(ty: FoldType, signed: bool, bits: u64) -> Vec<u32> {
    let width = ty.width();
    let bits = bits & (u64::MAX >> (64 - width));
    let bits = if signed && width < 32 {
        ((bits << (64 - width)) as i64 >> (64 - width)) as u64
    } else {
        bits
    };
    let words = [bits as u32, (bits >> 32) as u32];
    words[..if width > 32 { 2 } else { 1 }].to_vec()
}

fn is_spec_id(decoration: &InstRef<'_>) -> bool {
    decoration.op() == Op::Decorate && decoration.operand_word(1) == Decoration::SpecId.0
}

/// Turns all specialisation constants into constants.
pub fn run_freeze(
    module: &mut SpirvModule,
    _cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let open = find_open_sizes(module);
    let frozen = freeze_constants(module, |id| !open.contains(&id));
    let sizes = freeze_sizes(module);
    Ok(PassOutcome {
        statistics: vec![("constants frozen", frozen), ("sizes said", sizes)],
    })
}

/// Constants of value 0 that give the size of workgroups. They are valid only while they can be specialised.
fn find_open_sizes(module: &SpirvModule) -> Vec<Id> {
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

/// Whether an execution mode gives the size of workgroups by ids of constants.
fn is_size(mode: &InstRef<'_>) -> bool {
    mode.op() == Op::ExecutionModeId && mode.operand_word(1) == ExecutionMode::LocalSizeId.0
}

/// Rewrites the size of workgroups from ids of constants to numbers.
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

/// Turns the selected specialisation constants into constants, and operations on constants as well.
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

/// Folds a specialisation constant operation whose operands are constants.
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
    // Written as an instruction, to be folded like one.
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
