//! Instructions that consumers with a narrower input lack, naga's front end among them, are written
//! in terms of others. Results are the same, bit by bit.
//!
//! | instruction | becomes |
//! | --- | --- |
//! | `OpUMulExtended`, `OpSMulExtended` | products of halves ("Hacker's Delight", section 8-2) |
//! | `OpIAddCarry`, `OpISubBorrow` | the sum or difference, and a comparison |
//! | `OpSDot`, `OpUDot`, `OpSUDot` and their sums | products of the parts, which are added |
//! | `OpSNegate` of an unsigned type | a difference |
//! | `OpCopyLogical` | its parts, put together |
//! | `OpGroupNonUniformElect` | whether no active invocation comes before |
//! | `OpGroupNonUniformAllEqual` | whether all equal the first |
//! | `OpTerminateInvocation` | `OpKill`, its older name |
//! | `OpExpectKHR`, `OpAssumeTrueKHR` | the value; nothing |
//!
//! Before:
//! ```text
//! %r = OpIAddCarry %pair %a %b
//! ```
//! After:
//! ```text
//! %s = OpIAdd %uint %a %b
//! %o = OpULessThan %bool %s %a
//! %c = OpSelect %uint %o %one %zero
//! %r = OpCompositeConstruct %pair %s %c
//! ```

mod dot;

use crate::analyses::AnalysisCache;
use crate::pass::PassOutcome;
use crate::structure::declare_capability;
use crate::values::ModuleValues;
use spirula_diagnostics::SourceDiagnostic;
use spirula_scalar::fold::FoldType;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Capability, GroupOperation};
use spirula_spirv::ir::{Inst, InstRef, SpirvModule};

/// Rewrites an instruction; `None` if it stays.
type ExpandRule = fn(&mut InstExpander<'_>) -> Option<()>;

/// The instructions that are rewritten, with their rules.
const RULES: &[(Op, ExpandRule)] = &[
    (Op::UMulExtended, |e| expand_extended_product(e, false)),
    (Op::SMulExtended, |e| expand_extended_product(e, true)),
    (Op::IAddCarry, |e| expand_carry(e, Op::IAdd)),
    (Op::ISubBorrow, |e| expand_carry(e, Op::ISub)),
    (Op::SDot, dot::expand_dot),
    (Op::UDot, dot::expand_dot),
    (Op::SUDot, dot::expand_dot),
    (Op::SDotAccSat, dot::expand_dot),
    (Op::UDotAccSat, dot::expand_dot),
    (Op::SUDotAccSat, dot::expand_dot),
    (Op::SNegate, expand_negate),
    (Op::CopyLogical, expand_copy_logical),
    (Op::GroupNonUniformElect, expand_elect),
    (Op::GroupNonUniformAllEqual, expand_all_equal),
    (Op::TerminateInvocation, |e| {
        e.module.replace_inst(e.at, Op::Kill, &[]);
        Some(())
    }),
    (Op::ExpectKHR, |e| {
        e.rewrite_as(Op::CopyObject, &[e.operand_word(0)])
    }),
    (Op::AssumeTrueKHR, |e| {
        e.module.remove_inst(e.at);
        Some(())
    }),
];

/// Most members by which a composite is copied.
const MOST_PARTS: u32 = 256;

pub fn run_expand(
    module: &mut SpirvModule,
    _cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let rule = |inst: InstRef<'_>| RULES.iter().find(|r| r.0 == inst.op());
    let funcs = module.functions().iter();
    let insts = funcs.flat_map(|f| module.function_insts(*f));
    let found: Vec<_> = insts
        .filter_map(|i| Some((i.handle(), rule(i)?.1)))
        .collect();
    let mut expanded = 0;
    if !found.is_empty() {
        let mut facts = ModuleValues::new(module);
        for (at, rule) in found {
            let facts = &mut facts;
            expanded += usize::from(rule(&mut InstExpander { module, facts, at }).is_some());
        }
    }
    Ok(PassOutcome {
        statistics: vec![("instructions expanded", expanded)],
    })
}

/// Emits instructions before the one that is rewritten.
struct InstExpander<'m> {
    module: &'m mut SpirvModule,
    facts: &'m mut ModuleValues,
    at: Inst,
}

impl InstExpander<'_> {
    fn operand_word(&self, at: usize) -> u32 {
        self.module.inst(self.at).operands()[at]
    }

    fn value_operand(&self, at: usize) -> Option<Id> {
        Id::new(self.operand_word(at))
    }

    fn type_of(&self, value: Id) -> Option<Id> {
        self.facts.type_of(self.module, value)
    }

    fn emit_op(&mut self, op: Op, ty: Id, operands: &[Id]) -> Id {
        let words: Vec<u32> = operands.iter().map(|id| id.word()).collect();
        self.facts.insert_inst(self.module, self.at, op, ty, &words)
    }

    fn emit_extract(&mut self, ty: Id, value: Id, at: u32) -> Id {
        let words = [value.word(), at];
        let op = Op::CompositeExtract;
        self.facts.insert_inst(self.module, self.at, op, ty, &words)
    }

    fn rewrite_as(&mut self, op: Op, operands: &[u32]) -> Option<()> {
        self.facts.rewrite_inst(self.module, self.at, op, operands);
        Some(())
    }

    fn become_pair(&mut self, low: Id, high: Id) -> Option<()> {
        self.rewrite_as(Op::CompositeConstruct, &[low.word(), high.word()])
    }

    /// A number in each component of a type.
    fn splat_constant(&mut self, ty: Id, number: u64) -> Option<Id> {
        self.facts.intern_lanes(self.module, ty, &[number])
    }

    /// The width of the integers of a type.
    fn integer_width(&self, ty: Id) -> Option<u32> {
        match self.facts.scalar_shape(self.module, ty)?.0 {
            FoldType::Int { width } => Some(width),
            _ => None,
        }
    }

    /// The type of comparisons of values of a type.
    fn comparison_type(&mut self, ty: Id) -> Id {
        let bool = self.facts.intern_type(self.module, Op::TypeBool, &[]);
        self.facts.intern_same_shape(self.module, ty, bool)
    }
}

/// Both halves of a product.
fn expand_extended_product(e: &mut InstExpander<'_>, signed: bool) -> Option<()> {
    let (a, b) = (e.value_operand(0)?, e.value_operand(1)?);
    let ty = e.type_of(a)?;
    let width = e.integer_width(ty)?;
    let half = e.splat_constant(ty, u64::from(width / 2))?;
    let mask = e.splat_constant(ty, (1 << (width / 2)) - 1)?;
    let split = |e: &mut InstExpander<'_>, value: Id| {
        let low = e.emit_op(Op::BitwiseAnd, ty, &[value, mask]);
        let high = e.emit_op(Op::ShiftRightLogical, ty, &[value, half]);
        (low, high)
    };
    let low = e.emit_op(Op::IMul, ty, &[a, b]);
    let ((a_low, a_high), (b_low, b_high)) = (split(e, a), split(e, b));
    let lows = e.emit_op(Op::IMul, ty, &[a_low, b_low]);
    let carried = e.emit_op(Op::ShiftRightLogical, ty, &[lows, half]);
    let middle = e.emit_op(Op::IMul, ty, &[a_high, b_low]);
    let middle = e.emit_op(Op::IAdd, ty, &[middle, carried]);
    let (middle_low, middle_high) = split(e, middle);
    let other = e.emit_op(Op::IMul, ty, &[a_low, b_high]);
    let other = e.emit_op(Op::IAdd, ty, &[other, middle_low]);
    let other = e.emit_op(Op::ShiftRightLogical, ty, &[other, half]);
    let highs = e.emit_op(Op::IMul, ty, &[a_high, b_high]);
    let sum = e.emit_op(Op::IAdd, ty, &[middle_high, other]);
    let mut high = e.emit_op(Op::IAdd, ty, &[highs, sum]);
    if signed {
        // A negative factor was interpreted as 2^width more.
        let last = e.splat_constant(ty, u64::from(width - 1))?;
        for (sign, factor) in [(a, b), (b, a)] {
            let negative = e.emit_op(Op::ShiftRightArithmetic, ty, &[sign, last]);
            let excess = e.emit_op(Op::BitwiseAnd, ty, &[negative, factor]);
            high = e.emit_op(Op::ISub, ty, &[high, excess]);
        }
    }
    e.become_pair(low, high)
}

/// A sum or difference, and its carry or borrow.
fn expand_carry(e: &mut InstExpander<'_>, op: Op) -> Option<()> {
    let (a, b) = (e.value_operand(0)?, e.value_operand(1)?);
    let ty = e.type_of(a)?;
    let truth = e.comparison_type(ty);
    let (zero, one) = (e.splat_constant(ty, 0)?, e.splat_constant(ty, 1)?);
    let result = e.emit_op(op, ty, &[a, b]);
    let pair = if op == Op::IAdd { [result, a] } else { [a, b] };
    let over = e.emit_op(Op::ULessThan, truth, &pair);
    let carry = e.emit_op(Op::Select, ty, &[over, one, zero]);
    e.become_pair(result, carry)
}

/// The difference from zero, if the type is unsigned.
fn expand_negate(e: &mut InstExpander<'_>) -> Option<()> {
    let ty = e.module.inst(e.at).result_type()?;
    let scalar = e
        .facts
        .def_of(e.module, ty, Op::TypeVector)
        .map(|v| v.id_operand(0));
    let scalar = e.facts.definition(e.module, scalar.unwrap_or(ty))?;
    if scalar.operand_word(1) == 1 {
        return None;
    }
    let zero = e.splat_constant(ty, 0)?;
    let value = e.operand_word(0);
    e.rewrite_as(Op::ISub, &[zero.word(), value])
}

/// A composite of another type with the same members.
fn expand_copy_logical(e: &mut InstExpander<'_>) -> Option<()> {
    let value = e.value_operand(0)?;
    let (from, to) = (e.type_of(value)?, e.module.inst(e.at).result_type()?);
    let mut parts = 0;
    if !is_small(e, to, &mut parts) {
        return None;
    }
    let count = e.facts.part_count(e.module, to)?;
    let parts: Option<Vec<u32>> = (0..count)
        .map(|at| Some(copy_member(e, value, [from, to], at)?.word()))
        .collect();
    e.rewrite_as(Op::CompositeConstruct, &parts?)
}

/// Counts the members of a type. Returns whether they are few.
fn is_small(e: &InstExpander<'_>, ty: Id, parts: &mut u32) -> bool {
    if !is_aggregate(e, ty) {
        *parts += 1;
        return *parts <= MOST_PARTS;
    }
    let count = e.facts.part_count(e.module, ty);
    count.is_some_and(|count| {
        (0..count).all(|at| {
            let part = e.facts.part_type(e.module, ty, at);
            part.is_some_and(|part| is_small(e, part, parts))
        })
    })
}

fn is_aggregate(e: &InstExpander<'_>, ty: Id) -> bool {
    matches!(
        e.facts.defining_op(e.module, ty),
        Op::TypeStruct | Op::TypeArray
    )
}

/// A member of a value of one type as a member of the other.
fn copy_member(e: &mut InstExpander<'_>, value: Id, [from, to]: [Id; 2], at: u32) -> Option<Id> {
    let from = e.facts.part_type(e.module, from, at)?;
    let to = e.facts.part_type(e.module, to, at)?;
    let part = e.emit_extract(from, value, at);
    if from == to {
        return Some(part);
    }
    let count = e.facts.part_count(e.module, to)?;
    let parts: Option<Vec<Id>> = (0..count)
        .map(|at| copy_member(e, part, [from, to], at))
        .collect();
    Some(e.emit_op(Op::CompositeConstruct, to, &parts?))
}

/// Whether no active invocation of the subgroup has a lower number: the exclusive sum of ones is zero.
fn expand_elect(e: &mut InstExpander<'_>) -> Option<()> {
    let scope = e.operand_word(0);
    let uint = e.facts.intern_type(e.module, Op::TypeInt, &[32, 0]);
    let (zero, one) = (e.splat_constant(uint, 0)?, e.splat_constant(uint, 1)?);
    let before = [scope, GroupOperation::ExclusiveScan.0, one.word()];
    let op = Op::GroupNonUniformIAdd;
    let before = e.facts.insert_inst(e.module, e.at, op, uint, &before);
    declare_capability(e.module, Capability::GroupNonUniformArithmetic);
    e.rewrite_as(Op::IEqual, &[before.word(), zero.word()])
}

/// Whether all values equal that of the first active invocation.
fn expand_all_equal(e: &mut InstExpander<'_>) -> Option<()> {
    let (scope, value) = (e.value_operand(0)?, e.value_operand(1)?);
    let ty = e.type_of(value)?;
    let (scalar, count) = e.facts.scalar_shape(e.module, ty)?;
    let equal = match scalar {
        FoldType::Int { .. } => Op::IEqual,
        FoldType::Float(_) => Op::FOrdEqual,
        FoldType::Bool => Op::LogicalEqual,
    };
    let truth = e.comparison_type(ty);
    let first = e.emit_op(Op::GroupNonUniformBroadcastFirst, ty, &[scope, value]);
    let mut same = e.emit_op(equal, truth, &[value, first]);
    if count > 1 {
        let bool = e.facts.intern_type(e.module, Op::TypeBool, &[]);
        same = e.emit_op(Op::All, bool, &[same]);
    }
    declare_capability(e.module, Capability::GroupNonUniformBallot);
    e.rewrite_as(Op::GroupNonUniformAll, &[scope.word(), same.word()])
}
