//! Relaxed precision: `relax-floats` allows less precision for every operation on 32-bit floats. `relaxed-to-half`
//! computes such operations in 16 bits (specification, section 3.20, `RelaxedPrecision`: a precision of at least 16
//! bits is required). Values are converted before and after each operation. The rules of `simplify` remove
//! conversions there and back between two operations.
//!
//! Before:
//! ```text
//!      OpDecorate %s RelaxedPrecision
//! %s = OpFAdd %float %x %y
//! ```
//! After:
//! ```text
//! %a = OpFConvert %half %x
//! %b = OpFConvert %half %y
//! %h = OpFAdd %half %a %b
//! %s = OpFConvert %float %h
//! ```

use crate::analyses::AnalysisCache;
use crate::pass::PassOutcome;
use crate::structure::declare_capability;
use crate::values::{ModuleValues, first_value};
use spirula_diagnostics::SourceDiagnostic;
use spirula_scalar::FloatEncoding;
use spirula_scalar::fold::FoldType;
use spirula_spirv::grammar::enumerants::{Capability, Decoration};
use spirula_spirv::grammar::{InstructionClass, Op};
use spirula_spirv::ir::{Inst, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// Floating-point operations whose result may have less precision.
fn is_arithmetic(op: Op) -> bool {
    let class = op.info().map(|i| i.class);
    class == Some(InstructionClass::Arithmetic) && !matches!(op, Op::OuterProduct | Op::IAddCarry)
}

/// Functions of `GLSL.std.450` that are equally defined in 16 bits. Those with pointers or integers among their
/// operands are left out.
const FUNCTIONS: &[&str] = &[
    "FAbs",
    "FSign",
    "Floor",
    "Ceil",
    "Fract",
    "Radians",
    "Degrees",
    "Sin",
    "Cos",
    "Tan",
    "Asin",
    "Acos",
    "Atan",
    "Pow",
    "Exp",
    "Log",
    "Exp2",
    "Log2",
    "Sqrt",
    "InverseSqrt",
    "FMin",
    "FMax",
    "FClamp",
    "FMix",
    "Step",
    "SmoothStep",
    "Fma",
    "Length",
    "Distance",
    "Cross",
    "Normalize",
    "NMin",
    "NMax",
    "NClamp",
    "Trunc",
    "Round",
    "RoundEven",
];

/// Whether an instruction computes 32-bit floats, scalar or vector, from such floats only.
fn is_float(module: &SpirvModule, facts: &ModuleValues, inst: InstRef<'_>) -> bool {
    let single = |id: Id| {
        let ty = facts.type_of(module, id);
        let shape = ty.and_then(|ty| facts.scalar_shape(module, ty));
        shape.is_some_and(|s| s.0 == FoldType::Float(FloatEncoding::F32))
    };
    let op = inst.op();
    let known = match op {
        Op::ExtInst => {
            let set = facts
                .ids
                .ext_inst_set(inst)
                .filter(|s| s.name == "GLSL.std.450");
            let row = set.and_then(|s| s.instruction_by_number(inst.operand_word(1)));
            row.is_some_and(|r| FUNCTIONS.contains(&r.name))
        }
        op => is_arithmetic(op),
    };
    known && inst.result().is_some_and(single) && inst.id_operands(first_value(op)).all(single)
}

/// All instructions of functions that compute floats.
fn gather_float_insts(module: &SpirvModule, facts: &ModuleValues) -> Vec<Inst> {
    let funcs = module.functions().iter();
    let insts = funcs.flat_map(|f| module.function_insts(*f));
    let found = insts.filter(|i| is_float(module, facts, *i));
    found.map(InstRef::handle).collect()
}

/// Allows less precision for all operations.
pub fn run_relax(
    module: &mut SpirvModule,
    _cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let facts = ModuleValues::new(module);
    let mut relaxed = 0;
    if module.is_structured() {
        for inst in gather_float_insts(module, &facts) {
            let Some(id) = module
                .inst(inst)
                .result()
                .filter(|id| !facts.is_relaxed(*id))
            else {
                continue;
            };
            let words = [id.word(), Decoration::RelaxedPrecision.0];
            let decoration = module.create_inst(Op::Decorate, &words);
            module.append_inst(ModuleSection::Annotations.list(), decoration);
            relaxed += 1;
        }
    }
    Ok(PassOutcome {
        statistics: vec![("operations relaxed", relaxed)],
    })
}

/// Computes relaxed operations in 16 bits.
pub fn run_half(
    module: &mut SpirvModule,
    _cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let mut facts = ModuleValues::new(module);
    let relaxed = |module: &SpirvModule, inst: &Inst| {
        let id = module.inst(*inst).result();
        id.is_some_and(|id| facts.is_relaxed(id) && facts.decoration_marks(id).is_some())
    };
    let mut found = gather_float_insts(module, &facts);
    found.retain(|i| relaxed(module, i));
    if found.is_empty() {
        return Ok(PassOutcome::default());
    }
    let mut halved: IdMap<bool> = IdMap::new(module.bound(), false);
    for inst in &found {
        if let Some(id) = halve_precision(module, &mut facts, *inst) {
            halved.set(id, true);
        }
    }
    // The remaining result is a conversion, which is exact.
    let decorations: Vec<Inst> = module
        .section_insts(ModuleSection::Annotations)
        .filter(|d| d.op() == Op::Decorate && d.operand_word(1) == Decoration::RelaxedPrecision.0)
        .filter(|d| halved[d.id_operand(0)])
        .map(InstRef::handle)
        .collect();
    for decoration in decorations {
        module.remove_inst(decoration);
    }
    declare_capability(module, Capability::Float16);
    Ok(PassOutcome {
        statistics: vec![("operations halved", found.len())],
    })
}

/// Rewrites an instruction to 16 bits. Returns its result, which is converted back.
fn halve_precision(module: &mut SpirvModule, facts: &mut ModuleValues, inst: Inst) -> Option<Id> {
    let i = module.inst(inst);
    let (op, ty, id) = (i.op(), i.result_type()?, i.result()?);
    let mut operands = i.operands().to_vec();
    let half = half_type(module, facts, ty);
    for operand in operands.iter_mut().skip(first_value(op)) {
        let wide = facts.type_of(module, Id::new(*operand)?)?;
        let narrow = half_type(module, facts, wide);
        let words = [*operand];
        let new = facts.insert_inst(module, inst, Op::FConvert, narrow, &words);
        *operand = new.word();
    }
    let computed = facts.insert_inst(module, inst, op, half, &operands);
    facts.rewrite_inst(module, inst, Op::FConvert, &[computed.word()]);
    Some(id)
}

/// The type of the same shape with 16-bit components.
fn half_type(module: &mut SpirvModule, facts: &mut ModuleValues, ty: Id) -> Id {
    let scalar = facts.intern_type(module, Op::TypeFloat, &[16]);
    facts.intern_same_shape(module, ty, scalar)
}
