//! Regions that combine two elements by one operation.

use super::context::RuleContext;
use crate::neutral::find_neutral_bytes;
use crate::rule::{InitialOperands, NeutralElement};
use spirula_stablehlo::MlirOpcode as Op;
use spirula_stablehlo::mlir::{AttributeKind, MlirModule, MlirOp, MlirValue};
use std::ops::Range;

/// The operation of a region that combines two elements. Partial results of it can be combined in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegionCombiner {
    /// Combining an element again changes nothing.
    Idempotent,
    /// A sum or product, with its neutral element.
    Neutral(NeutralElement),
}

impl RegionCombiner {
    /// The combiner of an operation whose region has one operation of both arguments.
    pub(super) fn find(module: &MlirModule, op: MlirOp) -> Option<RegionCombiner> {
        let region = module.regions(op).next()?;
        let [block] = module.blocks(region) else {
            return None;
        };
        // JAX constrains results inside of manual computations, which says nothing of an element.
        let ops = module.ops(*block).iter().copied();
        let ops: Vec<MlirOp> = ops
            .filter(|op| module.opcode(*op) != Some(Op::SdyShardingConstraint))
            .collect();
        let [combine, last] = ops[..] else {
            return None;
        };
        let arguments: Vec<MlirValue> = module.arguments(*block).collect();
        let mut operands = module.operands(combine).to_vec();
        operands.sort();
        let mut returned = *module.operands(last).first()?;
        while let Some(op) = module.defining_op(returned)
            && module.opcode(op) == Some(Op::SdyShardingConstraint)
        {
            returned = *module.operands(op).first()?;
        }
        let is_one = module.operands(last).len() == 1;
        if operands != arguments || !is_one || module.defining_op(returned) != Some(combine) {
            return None;
        }
        match module.opcode(combine)? {
            Op::Maximum | Op::Minimum | Op::And | Op::Or => Some(RegionCombiner::Idempotent),
            Op::Add | Op::Xor => Some(RegionCombiner::Neutral(NeutralElement::Zero)),
            Op::Multiply => Some(RegionCombiner::Neutral(NeutralElement::One)),
            _ => None,
        }
    }

    /// The operands among some that partial results must have once: none where their elements are neutral. There is no
    /// answer where the type has no neutral element.
    pub(super) fn find_initial(
        self,
        context: &RuleContext<'_>,
        operands: Range<usize>,
    ) -> Option<Option<InitialOperands>> {
        let RegionCombiner::Neutral(neutral) = self else {
            return Some(None);
        };
        let module = context.module;
        let values = module.operands(context.op).get(operands.clone())?;
        let first = *values.first()?;
        let element = module.types.element_type(module.type_of(first));
        let bytes = find_neutral_bytes(&module.types, element, neutral)?;
        let is_neutral = |value: &MlirValue| is_constant(module, *value, &bytes);
        let has_others = !values.iter().all(is_neutral);
        Some(has_others.then_some(InitialOperands { operands, neutral }))
    }
}

/// Whether a value is a constant whose elements are all this one, without regard to the sign of a zero. Broadcasts are of no
/// account.
fn is_constant(module: &MlirModule, value: MlirValue, bytes: &[u8]) -> bool {
    let Some(mut op) = module.defining_op(value) else {
        return false;
    };
    while module.opcode(op) == Some(Op::BroadcastInDim)
        && let Some(source) = module.operands(op).first()
        && let Some(source) = module.defining_op(*source)
    {
        op = source;
    }
    if module.opcode(op) != Some(Op::Constant) {
        return false;
    }
    let attr = module.find_attribute(op, "value");
    let is_stored =
        attr.is_some_and(|attr| matches!(module.attributes.kind(attr), AttributeKind::Elements(_)));
    let Some(elements) = module.find_elements(op, "value").filter(|_| is_stored) else {
        return false;
    };
    let element = module.types.element_type(elements.ty);
    let zero = vec![0; bytes.len()];
    let has_signed_zero = find_neutral_bytes(&module.types, element, NeutralElement::Zero)
        .is_some_and(|zero| zero == bytes);
    elements
        .data
        .chunks(bytes.len())
        .all(|chunk| chunk == bytes || has_signed_zero && chunk == zero)
}
