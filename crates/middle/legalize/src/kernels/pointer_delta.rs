//! Pointer deltas: the bytes from a pointer to another one that is derived from it.

use crate::kernels::module_info::{KernelModuleInfo, MemoryScalar};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// Most operations of a constant pointer expression.
const DEEPEST: u32 = 64;

/// The distance from a pointer to another one: bytes, and indices with their strides.
pub struct PointerDelta {
    /// Constant bytes.
    pub bytes: i64,
    /// Dynamic indices, each with its stride in bytes.
    pub indices: Vec<(Id, u64)>,
}

impl PointerDelta {
    /// The delta of an access chain.
    ///
    /// # Errors
    /// When an index is invalid.
    pub fn new(
        info: &KernelModuleInfo<'_>,
        op: Op,
        base: Id,
        indices: &[Id],
    ) -> Result<PointerDelta, SourceDiagnostic> {
        let mut steps = PointerDelta {
            bytes: 0,
            indices: Vec::new(),
        };
        let mut indices = indices.iter().copied();
        let mut ty = info.find_pointee(base)?;
        if op.is_element_access_chain() {
            let layout = info.layouts.get(ty);
            let stride = layout.size.next_multiple_of(layout.align.into());
            if let Some(index) = indices.next() {
                steps.add_index(info, index, stride);
            }
        }
        for index in indices {
            let def = info.find_definition(ty)?;
            match def.op() {
                Op::TypeStruct => {
                    let n = info.read_constant(index).unwrap_or(u64::MAX);
                    let member = def.get_id(usize::try_from(n).unwrap_or(usize::MAX));
                    ty = member
                        .ok_or_else(|| info.diagnose_id(index, "this index of a structure"))?;
                    let structure = def.result().unwrap_or(ty);
                    let offset = info.layouts.member_layout(structure, n as u32).offset;
                    steps.bytes = steps.bytes.wrapping_add(offset as i64);
                }
                Op::TypeArray | Op::TypeRuntimeArray | Op::TypeVector => {
                    let outer = def.result().unwrap_or(ty);
                    steps.add_index(info, index, info.layouts.get(outer).stride);
                    ty = def.id_operand(0);
                }
                op => return Err(info.diagnose_id(ty, &format!("a pointer into {op}"))),
            }
        }
        Ok(steps)
    }

    fn add_index(&mut self, info: &KernelModuleInfo<'_>, index: Id, stride: u64) {
        let ty = info.type_of(index).and_then(|ty| info.classify_scalar(ty));
        match (info.read_constant(index), ty) {
            (Some(value), Some(MemoryScalar::Int(width))) => {
                let unused = 64 - width;
                let signed = (value << unused) as i64 >> unused;
                self.bytes = self.bytes.wrapping_add(signed.wrapping_mul(stride as i64));
            }
            _ => self.indices.push((index, stride)),
        }
    }
}

/// The variable that a pointer is derived from by constants alone, and the offset in bytes. Instructions of functions are traced as
/// constant expressions are.
///
/// # Errors
/// When it is derived from something else, or by a dynamic index.
pub fn trace_pointer_origin(
    info: &KernelModuleInfo<'_>,
    pointer: Id,
) -> Result<(Id, i64), SourceDiagnostic> {
    let (mut at, mut offset) = (pointer, 0_i64);
    for _ in 0..DEEPEST {
        let def = info.find_definition(at)?;
        let first = usize::from(def.op() == Op::SpecConstantOp);
        let op = match first {
            1 => Op(def.operand_word(0) as u16),
            _ => def.op(),
        };
        match op {
            Op::Variable => return Ok((at, offset)),
            Op::Bitcast | Op::PtrCastToGeneric | Op::GenericCastToPtr | Op::CopyObject => {}
            op if op.is_access_chain() => {
                let indices: Vec<Id> = def.id_operands(first + 1).collect();
                let steps = PointerDelta::new(info, op, def.id_operand(first), &indices)?;
                if !steps.indices.is_empty() {
                    return Err(info.diagnose_id(pointer, "this constant pointer"));
                }
                offset = offset.wrapping_add(steps.bytes);
            }
            op => return Err(info.diagnose_id(pointer, &format!("a constant pointer by {op}"))),
        }
        at = def.id_operand(first);
    }
    Err(info.diagnose_id(pointer, "so deep a constant expression"))
}
