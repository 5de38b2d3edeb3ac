//! Cooperative matrices that the invocations of a subgroup hold together.
//!
//! Each invocation holds components at a stride of the subgroup's size, as a vector (`exec/cooperative_product`).

use super::ClifResult;
use super::access_hooks::{MemoryAccessKind, PointerAccess};
use super::lowering::{ClifLowering, clif_type, plain_flags};
use crate::analysis::suspension::SuspensionPoint;
use crate::matrix::cooperative_product::CooperativeProduct;
use crate::module::types::{LoweredTypeKind, ScalarLeaf, ScalarRepr};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::CooperativeMatrixLayout;
use spirula_spirv::ir::InstRef;

/// The shape of a matrix.
#[derive(Clone, Copy)]
struct CooperativeShape {
    rows: u32,
    columns: u32,
    /// Components of an invocation.
    parts: u32,
    scalar: ScalarRepr,
}

impl CooperativeShape {
    /// A component in memory.
    fn component_leaf(self) -> ScalarLeaf {
        ScalarLeaf {
            scalar: self.scalar,
            offset: 0,
        }
    }
}

/// `OpCooperativeMatrixLoadKHR`.
pub(crate) fn lower_cooperative_load(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let ty = lower.result_type(inst)?;
    if lower.program.is_in_memory_matrix(ty) {
        return super::in_memory_matrix::lower_in_memory_load(lower, inst, ty);
    }
    let shape = lower.cooperative_shape(ty)?;
    let (pointer, layout, stride) = (inst.id_operand(0), inst.id_operand(1), inst.get_id(2));
    let mut values = super::ClifScalars::new();
    for n in 0..shape.parts {
        let (address, there) = lower.component_address(shape, n, pointer, layout, stride)?;
        let zero = lower.scalar_constant(shape.scalar, 0);
        let value = lower.emit_where_present(there, Some(zero), |lower| {
            let leaves = [shape.component_leaf()];
            let access = PointerAccess {
                pointer,
                address,
                kind: MemoryAccessKind::Read,
            };
            let address = lower
                .hooks()
                .before_scalar_access(lower, access, &leaves, &[])?;
            let ty = clif_type(shape.scalar);
            Ok(Some(lower.builder.ins().load(
                ty,
                plain_flags(),
                address,
                0,
            )))
        })?;
        values.push(value.unwrap_or(zero));
    }
    lower.set_result(inst.result(), &values)
}

/// `OpCooperativeMatrixStoreKHR`.
pub(crate) fn lower_cooperative_store(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let ty = lower.type_of(inst.id_operand(1))?;
    if lower.program.is_in_memory_matrix(ty) {
        return super::in_memory_matrix::lower_in_memory_store(lower, inst, ty);
    }
    let shape = lower.cooperative_shape(ty)?;
    let (pointer, layout, stride) = (inst.id_operand(0), inst.id_operand(2), inst.get_id(3));
    let values = lower.read_values(inst.id_operand(1))?;
    for n in 0..shape.parts {
        let (address, there) = lower.component_address(shape, n, pointer, layout, stride)?;
        let value = values[n as usize];
        lower.emit_where_present(there, None, |lower| {
            let leaves = [shape.component_leaf()];
            let access = PointerAccess {
                pointer,
                address,
                kind: MemoryAccessKind::Write,
            };
            let address = lower
                .hooks()
                .before_scalar_access(lower, access, &leaves, &[value])?;
            lower.builder.ins().store(plain_flags(), value, address, 0);
            Ok(None)
        })?;
    }
    Ok(())
}

/// `OpCooperativeMatrixLengthKHR`: components of an invocation.
pub(crate) fn lower_cooperative_length(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let shape = lower.cooperative_shape(inst.id_operand(0))?;
    let count = lower.emit_iconst(types::I32, shape.parts.into());
    lower.set_result(inst.result(), &[count])
}

impl ClifLowering<'_, '_, '_> {
    fn cooperative_shape(&self, ty: Id) -> Result<CooperativeShape, SourceDiagnostic> {
        let program = self.program;
        let def = program.definitions.get(program.module, ty);
        let def = def.filter(|d| d.op() == Op::TypeCooperativeMatrixKHR);
        let (Some(def), LoweredTypeKind::Vector { count, .. }) = (def, program.types.kind(ty))
        else {
            return self.fail_unsupported(format!("the cooperative matrix {ty}"));
        };
        if self.is_large(ty) {
            return self.fail_unsupported("a cooperative matrix of so many components");
        }
        Ok(CooperativeShape {
            rows: self.read_constant(def.id_operand(2))? as u32,
            columns: self.read_constant(def.id_operand(3))? as u32,
            parts: count,
            scalar: self.component_scalar(ty)?,
        })
    }

    /// Bytes between rows or columns in memory. The stride counts pointees, or components of `component` bytes where
    /// the pointer is untyped.
    pub(super) fn matrix_stride(
        &mut self,
        pointer: Id,
        stride: Option<Id>,
        component: u64,
    ) -> Result<Value, SourceDiagnostic> {
        let stride = match stride {
            Some(id) => {
                let stride = self.read_value(id)?;
                self.extend_to(stride, types::I64, false)
            }
            None => self.emit_iconst(types::I64, 0),
        };
        let pointee = self.program.pointee_of(pointer);
        let unit = pointee.map_or(component, |ty| self.program.types.layouts.get(ty).size);
        Ok(self.builder.ins().imul_imm_s(stride, unit as i64))
    }

    /// The address of an invocation's component, and whether there is such a component where that is not certain.
    fn component_address(
        &mut self,
        shape: CooperativeShape,
        n: u32,
        pointer: Id,
        layout: Id,
        stride: Option<Id>,
    ) -> Result<(Value, Option<Value>), SourceDiagnostic> {
        let by_rows = match CooperativeMatrixLayout(self.read_constant(layout)? as u32) {
            CooperativeMatrixLayout::RowMajorKHR => true,
            CooperativeMatrixLayout::ColumnMajorKHR => false,
            other => return self.fail_unsupported(format!("the layout {other}")),
        };
        let bytes = u64::from(shape.scalar.bytes());
        let base = self.read_pointer(pointer)?;
        let base = self.address_of(base)?;
        let size = self.shared.subgroup_size;
        let lane = self.emit_lane_index();
        let own = self.builder.ins().iadd_imm_s(lane, i64::from(n * size));
        let columns = i64::from(shape.columns.max(1));
        let row = self.builder.ins().udiv_imm_u(own, columns);
        let before = self.builder.ins().imul_imm_s(row, columns);
        let column = self.builder.ins().isub(own, before);
        let (line, within) = if by_rows {
            (row, column)
        } else {
            (column, row)
        };
        let stride = self.matrix_stride(pointer, stride, bytes)?;
        let line = self.extend_to(line, types::I64, false);
        let line = self.builder.ins().imul(line, stride);
        let within = self.extend_to(within, types::I64, false);
        let within = self.builder.ins().imul_imm_s(within, bytes as i64);
        let offset = self.builder.ins().iadd(line, within);
        let address = self.builder.ins().iadd(base, offset);
        let all = shape.rows * shape.columns;
        let there = ((n + 1) * size > all).then(|| {
            let less = IntCC::UnsignedLessThan;
            self.builder.ins().icmp_imm_u(less, own, i64::from(all))
        });
        Ok((address, there))
    }

    /// Emits `work` under a condition, if there is one. The result is that of `work`, or `other` where the condition
    /// is false.
    fn emit_where_present(
        &mut self,
        there: Option<Value>,
        other: Option<Value>,
        work: impl FnOnce(&mut Self) -> Result<Option<Value>, SourceDiagnostic>,
    ) -> Result<Option<Value>, SourceDiagnostic> {
        let Some(there) = there else {
            return work(self);
        };
        let (inside, after) = (self.builder.create_block(), self.builder.create_block());
        let arguments =
            |value: Option<Value>| -> Vec<_> { value.map(BlockArg::Value).into_iter().collect() };
        if let Some(other) = other {
            let ty = self.value_type(other);
            self.builder.append_block_param(after, ty);
        }
        let otherwise = arguments(other);
        self.builder
            .ins()
            .brif(there, inside, &[], after, &otherwise);
        self.builder.switch_to_block(inside);
        let made = work(self)?;
        let made = arguments(made);
        self.builder.ins().jump(after, &made);
        self.builder.switch_to_block(after);
        Ok(self.builder.block_params(after).first().copied())
    }

    /// The operands of a product, all of them components of matrices.
    pub fn product_operands(
        &mut self,
        inst: InstRef<'_>,
        point: &mut SuspensionPoint,
    ) -> Result<super::ClifScalars, SourceDiagnostic> {
        let ids = [inst.id_operand(0), inst.id_operand(1), inst.id_operand(2)];
        let mut slots = super::ClifScalars::new();
        let mut shapes = Vec::new();
        for id in ids {
            let ty = self.type_of(id)?;
            shapes.push(self.cooperative_shape(ty)?);
            slots.extend(self.read_values(id)?);
        }
        let result = self.result_type(inst)?;
        let result = self.cooperative_shape(result)?;
        let [a, b, c] = shapes[..] else {
            return Err(self.instruction_fault("it has too few operands"));
        };
        let fits = a.columns == b.rows
            && (a.rows, b.columns) == (c.rows, c.columns)
            && (c.rows, c.columns) == (result.rows, result.columns);
        if !fits {
            return Err(self.instruction_fault("its matrices do not fit each other"));
        }
        point.product = Some(CooperativeProduct {
            rows: a.rows,
            columns: b.columns,
            depth: a.columns,
            scalars: [a.scalar, b.scalar, c.scalar, result.scalar],
            parts: [a.parts, b.parts, c.parts],
            operands: inst.operands().get(3).copied().unwrap_or(0),
        });
        Ok(slots)
    }
}
