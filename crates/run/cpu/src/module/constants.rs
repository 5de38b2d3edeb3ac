//! The values of a module's constants, specialisation included.

use super::types::{LoweredTypeKind, LoweredTypeTable, ScalarRepr};
use crate::image::SamplerState;
use crate::image::sampler_word::encode_sampler;
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;
use spirula_scalar::fold;
use spirula_spirv::analysis::{IdDecorations, IdDefinitions};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::ir::{InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// Most scalars in the constants of a module.
const MAX_SCALARS: usize = 1 << 24;

/// A scalar of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConstantScalar {
    /// The bits, zero-extended.
    Plain(u64),
    /// The address of a global variable, plus bytes.
    Address { variable: Id, offset: i64 },
    /// A component of an `OpSpecConstantOp` on addresses: see [`super::address_arithmetic`].
    Computed { id: Id, lane: u32 },
}

/// Range of a constant's scalars in the pool.
#[derive(Clone, Copy, Debug)]
enum ConstantEntry {
    /// Not a constant, or one that cannot be computed.
    None,
    /// Zeros of any number: `OpConstantNull` and `OpUndef`.
    Zero,
    /// A range of the pool.
    Scalars { start: u32, count: u32 },
}

/// The constants of a module.
pub(crate) struct SpirvConstants {
    rows: IdMap<ConstantEntry>,
    pool: Vec<ConstantScalar>,
    /// Operations on addresses. Each follows the operations that it uses.
    computed: Vec<Id>,
}

impl SpirvConstants {
    /// Evaluates the module's constants in one pass. `spec` gives values by `SpecId`.
    pub fn from_module(
        module: &SpirvModule,
        definitions: &IdDefinitions,
        decorations: &IdDecorations,
        types: &LoweredTypeTable,
        spec: &[(u32, u64)],
    ) -> Result<SpirvConstants, SourceDiagnostic> {
        let mut pass = ConstantEvaluator {
            module,
            definitions,
            decorations,
            types,
            spec: spec.iter().copied().collect(),
            out: SpirvConstants {
                rows: IdMap::new(module.bound(), ConstantEntry::None),
                pool: Vec::new(),
                computed: Vec::new(),
            },
        };
        for inst in module.section_insts(ModuleSection::Globals) {
            let (Some(id), Some(ty)) = (inst.result(), inst.result_type()) else {
                continue;
            };
            let row = pass.evaluate_constant(inst, id, ty);
            pass.out.rows.set(id, row);
            if pass.out.pool.len() > MAX_SCALARS {
                let message = format!("the constants have more than {MAX_SCALARS} scalars");
                return Err(SourceDiagnostic::error(inst.place(), message));
            }
        }
        Ok(pass.out)
    }

    /// Whether an id is a constant.
    pub fn contains(&self, id: Id) -> bool {
        !matches!(self.rows[id], ConstantEntry::None)
    }

    /// Whether an id is a constant of zeros only, by its instruction.
    pub fn is_zero(&self, id: Id) -> bool {
        matches!(self.rows[id], ConstantEntry::Zero)
    }

    /// The scalars of a constant; none for constants of zeros.
    pub fn scalars(&self, id: Id) -> &[ConstantScalar] {
        match self.rows[id] {
            ConstantEntry::Scalars { start, count } => {
                &self.pool[start as usize..(start + count) as usize]
            }
            _ => &[],
        }
    }

    /// Operations whose values depend on the addresses of variables. Each follows the operations that it uses.
    pub fn address_dependent_ids(&self) -> &[Id] {
        &self.computed
    }

    /// The value of a scalar constant.
    pub fn get_u64(&self, id: Id) -> Option<u64> {
        match (self.rows[id], self.scalars(id)) {
            (ConstantEntry::Zero, _) => Some(0),
            (_, [ConstantScalar::Plain(bits)]) => Some(*bits),
            _ => None,
        }
    }
}

struct ConstantEvaluator<'a> {
    module: &'a SpirvModule,
    definitions: &'a IdDefinitions,
    decorations: &'a IdDecorations,
    types: &'a LoweredTypeTable,
    spec: FxHashMap<u32, u64>,
    out: SpirvConstants,
}

impl ConstantEvaluator<'_> {
    fn evaluate_constant(&mut self, inst: InstRef<'_>, id: Id, ty: Id) -> ConstantEntry {
        match inst.op() {
            Op::ConstantTrue | Op::SpecConstantTrue => {
                let value = self
                    .find_specialisation(id)
                    .map_or(1, |v| u64::from(v != 0));
                self.push_scalars(&[ConstantScalar::Plain(value)])
            }
            Op::ConstantFalse | Op::SpecConstantFalse => {
                let value = self
                    .find_specialisation(id)
                    .map_or(0, |v| u64::from(v != 0));
                self.push_scalars(&[ConstantScalar::Plain(value)])
            }
            Op::Constant | Op::SpecConstant => {
                let high = inst.operands().get(1).copied().unwrap_or(0);
                let written = u64::from(inst.operand_word(0)) | u64::from(high) << 32;
                let value = self.find_specialisation(id).unwrap_or(written);
                let bits = self.types.component_scalar(ty).map_or(64, |s| s.bits());
                self.push_scalars(&[ConstantScalar::Plain(truncate_to_bits(value, bits))])
            }
            Op::ConstantNull | Op::Undef => ConstantEntry::Zero,
            // The value is the function's number. Calls compare it with the numbers of all functions that fit.
            Op::ConstantFunctionPointerINTEL => {
                self.push_scalars(&[ConstantScalar::Plain(inst.id_operand(0).index() as u64)])
            }
            Op::ConstantComposite
            | Op::SpecConstantComposite
            | Op::ConstantCompositeReplicateEXT
            | Op::SpecConstantCompositeReplicateEXT => self.evaluate_composite(inst, ty),
            Op::ConstantSampler => {
                let sampler = SamplerState::of_module(
                    inst.operand_word(0),
                    inst.operand_word(1),
                    inst.operand_word(2),
                );
                self.push_scalars(&[ConstantScalar::Plain(encode_sampler(&sampler))])
            }
            Op::SpecConstantOp => self
                .evaluate_spec_op(inst, ty)
                .unwrap_or(ConstantEntry::None),
            Op::Variable | Op::UntypedVariableKHR | Op::ConstantPipeStorage => {
                self.push_scalars(&[ConstantScalar::Address {
                    variable: id,
                    offset: 0,
                }])
            }
            _ => ConstantEntry::None,
        }
    }

    fn find_specialisation(&self, id: Id) -> Option<u64> {
        if self.spec.is_empty() {
            return None;
        }
        let operands = self.decorations.get(self.module, id, Decoration::SpecId)?;
        self.spec.get(operands.first()?).copied()
    }

    fn push_scalars(&mut self, scalars: &[ConstantScalar]) -> ConstantEntry {
        let start = self.out.pool.len() as u32;
        self.out.pool.extend_from_slice(scalars);
        ConstantEntry::Scalars {
            start,
            count: scalars.len() as u32,
        }
    }

    fn evaluate_composite(&mut self, inst: InstRef<'_>, ty: Id) -> ConstantEntry {
        let wanted = self.types.scalar_count(ty);
        if inst.id_operands(0).all(|part| self.out.is_zero(part)) {
            return ConstantEntry::Zero;
        }
        if wanted > MAX_SCALARS {
            return ConstantEntry::None;
        }
        let start = self.out.pool.len();
        // All components of a cooperative matrix are the same.
        let is_matrix =
            self.definitions.defining_op(self.module, ty) == Some(Op::TypeCooperativeMatrixKHR);
        let replicate = is_matrix
            || matches!(
                inst.op(),
                Op::ConstantCompositeReplicateEXT | Op::SpecConstantCompositeReplicateEXT
            );
        let times = match self.types.kind(ty) {
            LoweredTypeKind::Vector { count, .. } | LoweredTypeKind::Matrix { count, .. }
                if replicate =>
            {
                count.into()
            }
            LoweredTypeKind::Array { count, .. } if replicate => count,
            _ => 1,
        };
        for _ in 0..times {
            for part in inst.id_operands(0) {
                match self.out.rows[part] {
                    ConstantEntry::None => return ConstantEntry::None,
                    ConstantEntry::Zero => {
                        let part_type = self.type_of(part);
                        let zeros = part_type.map_or(0, |ty| self.types.scalar_count(ty));
                        let length = self.out.pool.len() + zeros.min(MAX_SCALARS);
                        self.out.pool.resize(length, ConstantScalar::Plain(0));
                    }
                    ConstantEntry::Scalars { start, count } => self
                        .out
                        .pool
                        .extend_from_within(start as usize..(start + count) as usize),
                }
            }
        }
        ConstantEntry::Scalars {
            start: start as u32,
            count: (self.out.pool.len() - start) as u32,
        }
    }

    fn type_of(&self, id: Id) -> Option<Id> {
        self.definitions
            .get(self.module, id)
            .and_then(InstRef::result_type)
    }

    /// The scalars of an operand, zeros written out.
    fn read_operand_scalars(&self, id: Id) -> Option<Vec<ConstantScalar>> {
        match self.out.rows[id] {
            ConstantEntry::None => None,
            ConstantEntry::Zero => {
                let count = self.types.scalar_count(self.type_of(id)?);
                (count <= MAX_SCALARS).then(|| vec![ConstantScalar::Plain(0); count])
            }
            ConstantEntry::Scalars { .. } => Some(self.out.scalars(id).to_vec()),
        }
    }

    /// `OpSpecConstantOp`: operand 0 is the opcode.
    fn evaluate_spec_op(&mut self, inst: InstRef<'_>, ty: Id) -> Option<ConstantEntry> {
        let op = Op(u16::try_from(inst.operand_word(0)).ok()?);
        let out = match op {
            Op::CompositeExtract => {
                let (part, at) = self.walk_indexes(inst.get_id(1)?, &inst.operands()[2..])?;
                let count = self.types.scalar_count(part);
                self.read_operand_scalars(inst.get_id(1)?)?
                    .get(at..at + count)?
                    .to_vec()
            }
            Op::CompositeInsert => {
                let object = self.read_operand_scalars(inst.get_id(1)?)?;
                let mut whole = self.read_operand_scalars(inst.get_id(2)?)?;
                let (_, at) = self.walk_indexes(inst.get_id(2)?, &inst.operands()[3..])?;
                whole
                    .get_mut(at..at + object.len())?
                    .copy_from_slice(&object);
                whole
            }
            Op::VectorShuffle => {
                let mut both = self.read_operand_scalars(inst.get_id(1)?)?;
                both.extend(self.read_operand_scalars(inst.get_id(2)?)?);
                let picks = inst.operands()[3..].iter();
                picks
                    .map(|n| {
                        both.get(*n as usize)
                            .copied()
                            .unwrap_or(ConstantScalar::Plain(0))
                    })
                    .collect()
            }
            op if op.access_chain_form().is_some() => {
                vec![self.evaluate_address(inst, op)?]
            }
            Op::Bitcast
            | Op::PtrCastToGeneric
            | Op::GenericCastToPtr
            | Op::ConvertPtrToU
            | Op::ConvertUToPtr
            | Op::CopyObject
                if self.is_pointer(ty) || self.is_pointer(self.type_of(inst.get_id(1)?)?) =>
            {
                let mut bits = self.read_operand_scalars(inst.get_id(1)?)?;
                if let (Some(to), [ConstantScalar::Plain(bits)]) =
                    (self.types.component_scalar(ty), &mut bits[..])
                {
                    *bits = truncate_to_bits(*bits, to.bits());
                }
                bits
            }
            _ => self.evaluate_componentwise(inst, op, ty)?,
        };
        let own = |bits: &ConstantScalar| matches!(bits, ConstantScalar::Computed { id, .. } if Some(*id) == inst.result());
        if out.iter().any(own) {
            self.out.computed.extend(inst.result());
        }
        Some(self.push_scalars(&out))
    }

    fn is_pointer(&self, ty: Id) -> bool {
        self.types.component_scalar(ty) == Some(ScalarRepr::Pointer)
    }

    fn walk_indexes(&self, composite: Id, indexes: &[u32]) -> Option<(Id, usize)> {
        let mut ty = self.type_of(composite)?;
        let mut at = 0;
        for index in indexes {
            let (part, offset) = self.types.find_part(ty, *index)?;
            (ty, at) = (part, at + offset);
        }
        Some((ty, at))
    }

    fn evaluate_address(&self, inst: InstRef<'_>, op: Op) -> Option<ConstantScalar> {
        let untyped = op.is_untyped_access_chain();
        // The type that an untyped pointer is taken to point to stands before it.
        let at = if untyped { 2 } else { 1 };
        let base = inst.get_id(at)?;
        let [from] = self.read_operand_scalars(base)?[..] else {
            return None;
        };
        let mut ty = match self.types.kind(self.type_of(base)?) {
            _ if untyped => inst.get_id(1)?,
            LoweredTypeKind::Pointer {
                pointee: Some(ty), ..
            } => ty,
            _ => return None,
        };
        let mut offset = match from {
            ConstantScalar::Address { offset, .. } => offset,
            ConstantScalar::Plain(address) => address as i64,
            ConstantScalar::Computed { .. } => return None,
        };
        let mut indexes = inst.id_operands(at + 1);
        let by_element = op.selects_element();
        if by_element {
            let layout = self.types.layouts.get(ty);
            let stride = layout.size.next_multiple_of(layout.align.into());
            let bytes = self.out.get_u64(indexes.next()?)?.wrapping_mul(stride) as i64;
            offset = offset.wrapping_add(bytes);
        }
        for index in indexes {
            let index = self.out.get_u64(index)?;
            let (bytes, _) = self.types.part_offset(ty, index, None);
            offset = offset.wrapping_add(bytes as i64);
            ty = match self.types.kind(ty) {
                LoweredTypeKind::Array { element, .. }
                | LoweredTypeKind::RuntimeArray { element } => element,
                _ => self.types.find_part(ty, u32::try_from(index).ok()?)?.0,
            };
        }
        Some(match from {
            ConstantScalar::Address { variable, .. } => {
                ConstantScalar::Address { variable, offset }
            }
            _ => ConstantScalar::Plain(offset as u64),
        })
    }

    /// An instruction that works on each component by itself.
    fn evaluate_componentwise(
        &self,
        inst: InstRef<'_>,
        op: Op,
        ty: Id,
    ) -> Option<Vec<ConstantScalar>> {
        let to = self.types.component_scalar(ty)?;
        let id = inst.result()?;
        let operands: Vec<(ScalarRepr, Vec<ConstantScalar>)> = inst
            .id_operands(1)
            .map(|id| {
                let scalar = self.types.component_scalar(self.type_of(id)?)?;
                Some((scalar, self.read_operand_scalars(id)?))
            })
            .collect::<Option<_>>()?;
        let lane = |n: usize| {
            let mut values = Vec::with_capacity(operands.len());
            for (scalar, bits) in &operands {
                let ConstantScalar::Plain(bits) = *lane_of(bits, n)? else {
                    let lane = n as u32;
                    return Some(ConstantScalar::Computed { id, lane });
                };
                values.push((*scalar, bits));
            }
            evaluate_scalar_op(op, to, &values).map(ConstantScalar::Plain)
        };
        (0..self.types.scalar_count(ty)).map(lane).collect()
    }
}

/// The scalar of an operand that a component of a result is computed of.
pub(crate) fn lane_of(bits: &[ConstantScalar], lane: usize) -> Option<&ConstantScalar> {
    bits.get(if bits.len() == 1 { 0 } else { lane })
}

/// The result of an instruction on scalars; none where it cannot be computed.
pub(crate) fn evaluate_scalar_op(
    op: Op,
    to: ScalarRepr,
    operands: &[(ScalarRepr, u64)],
) -> Option<u64> {
    let values: Vec<fold::FoldConstant> = operands
        .iter()
        .map(|(scalar, bits)| {
            Some(fold::FoldConstant {
                ty: fold_type(*scalar)?,
                bits: truncate_to_bits(*bits, scalar.bits()),
            })
        })
        .collect::<Option<_>>()?;
    fold::eval_core(op.0.into(), fold_type(to)?, &values)
}

/// The low bits of a value.
fn truncate_to_bits(value: u64, bits: u32) -> u64 {
    if bits >= 64 {
        value
    } else {
        value & ((1 << bits) - 1)
    }
}

fn fold_type(scalar: ScalarRepr) -> Option<fold::FoldType> {
    Some(match scalar {
        ScalarRepr::Bool => fold::FoldType::Bool,
        ScalarRepr::Int(bits) => fold::FoldType::Int { width: bits.into() },
        ScalarRepr::Pointer => return None,
        float => fold::FoldType::Float(float.float_format()?),
    })
}
