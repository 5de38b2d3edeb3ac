//! Built-in input variables.

use super::ClifScalars;
use super::lowering::{ClifLowering, SymbolicPointer, clif_type};
use crate::layout::launch_context::at;
use crate::module::types::ScalarRepr;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::{BuiltIn, Decoration};

/// The sources of the components of a built-in value, all of them 64-bit numbers.
#[derive(Clone, Copy)]
enum BuiltinSource {
    /// Three fields of the launch context.
    Context(i32),
    /// One field of the launch context.
    Single(i32),
    /// The local id.
    LocalId,
    /// The local index.
    LocalIndex,
    GlobalId,
    GlobalLinearId,
    /// The size of the workgroup, which the module may fix.
    GroupSize(i32),
    Constant(u64),
    SubgroupSize,
    SubgroupMaxSize,
    SubgroupCount(i32),
    SubgroupId,
    SubgroupLocalId,
    /// A mask of lanes compared with the lane's own number.
    Mask(IntCC),
}

const ROWS: &[(BuiltIn, BuiltinSource)] = &[
    (BuiltIn::NumWorkgroups, BuiltinSource::Context(at::GROUPS)),
    (BuiltIn::WorkgroupId, BuiltinSource::Context(at::GROUP)),
    (BuiltIn::WorkgroupSize, BuiltinSource::GroupSize(at::LOCAL)),
    (
        BuiltIn::EnqueuedWorkgroupSize,
        BuiltinSource::GroupSize(at::ENQUEUED),
    ),
    (BuiltIn::GlobalSize, BuiltinSource::Context(at::GLOBAL)),
    (BuiltIn::GlobalOffset, BuiltinSource::Context(at::OFFSET)),
    (BuiltIn::WorkDim, BuiltinSource::Single(at::DIMENSIONS)),
    (BuiltIn::LocalInvocationId, BuiltinSource::LocalId),
    (BuiltIn::LocalInvocationIndex, BuiltinSource::LocalIndex),
    (BuiltIn::GlobalInvocationId, BuiltinSource::GlobalId),
    (BuiltIn::GlobalLinearId, BuiltinSource::GlobalLinearId),
    (BuiltIn::SubgroupSize, BuiltinSource::SubgroupSize),
    (BuiltIn::SubgroupMaxSize, BuiltinSource::SubgroupMaxSize),
    (
        BuiltIn::NumSubgroups,
        BuiltinSource::SubgroupCount(at::LOCAL),
    ),
    (
        BuiltIn::NumEnqueuedSubgroups,
        BuiltinSource::SubgroupCount(at::ENQUEUED),
    ),
    (BuiltIn::SubgroupId, BuiltinSource::SubgroupId),
    (
        BuiltIn::SubgroupLocalInvocationId,
        BuiltinSource::SubgroupLocalId,
    ),
    (BuiltIn::SubgroupEqMask, BuiltinSource::Mask(IntCC::Equal)),
    (
        BuiltIn::SubgroupGeMask,
        BuiltinSource::Mask(IntCC::UnsignedGreaterThanOrEqual),
    ),
    (
        BuiltIn::SubgroupGtMask,
        BuiltinSource::Mask(IntCC::UnsignedGreaterThan),
    ),
    (
        BuiltIn::SubgroupLeMask,
        BuiltinSource::Mask(IntCC::UnsignedLessThanOrEqual),
    ),
    (
        BuiltIn::SubgroupLtMask,
        BuiltinSource::Mask(IntCC::UnsignedLessThan),
    ),
    (BuiltIn::DeviceIndex, BuiltinSource::Constant(0)),
    (BuiltIn::BaseInstance, BuiltinSource::Constant(0)),
];

impl ClifLowering<'_, '_, '_> {
    /// The components of a built-in variable, or one of them.
    pub fn read_builtin(
        &mut self,
        variable: Id,
        component: Option<u32>,
    ) -> Result<ClifScalars, SourceDiagnostic> {
        let number = self
            .program
            .decoration_operand(variable, Decoration::BuiltIn);
        let builtin = BuiltIn(number.unwrap_or(u32::MAX));
        let Some((_, source)) = ROWS.iter().find(|row| row.0 == builtin) else {
            return self.fail_unsupported(format!("the built-in variable {builtin}"));
        };
        let Some((scalar, count)) = crate::layout::globals::builtin_type(self.program, variable)
        else {
            return self.fail_unsupported(format!("the type of the built-in variable {builtin}"));
        };
        let which = match component {
            Some(n) => n as usize..n as usize + 1,
            None => 0..count,
        };
        which
            .map(|n| self.builtin_component(*source, n, scalar))
            .collect()
    }

    /// The address of a symbolic pointer: a copy, as such pointers are read only.
    pub fn materialise_pointer(
        &mut self,
        symbol: SymbolicPointer,
    ) -> Result<Value, SourceDiagnostic> {
        let SymbolicPointer::BuiltIn {
            variable,
            component,
        } = symbol
        else {
            return self.fail_unsupported("this use of a pointer");
        };
        let values = self.read_builtin(variable, component)?;
        let (scalar, _) = crate::layout::globals::builtin_type(self.program, variable)
            .unwrap_or((ScalarRepr::Int(32), 1));
        let slot = self.stack_slot(u64::from(scalar.bytes()) * 4)?;
        let address = self.builder.ins().stack_addr(types::I64, slot, 0);
        for (n, value) in values.iter().enumerate() {
            let offset = n as i32 * scalar.bytes() as i32;
            let flags = super::lowering::plain_flags();
            self.builder.ins().store(flags, *value, address, offset);
        }
        Ok(address)
    }

    fn builtin_component(
        &mut self,
        source: BuiltinSource,
        n: usize,
        scalar: ScalarRepr,
    ) -> Result<Value, SourceDiagnostic> {
        let ty = clif_type(scalar);
        let value = match source {
            BuiltinSource::Context(offset) => {
                self.load_context_field(types::I64, component_offset(offset, n))
            }
            BuiltinSource::Single(offset) => self.load_context_field(types::I64, offset),
            BuiltinSource::GroupSize(offset) => self.group_axis_size(offset, n),
            BuiltinSource::LocalId => self.item.local[n.min(2)],
            BuiltinSource::LocalIndex => self.item.linear,
            BuiltinSource::GlobalId => self.global_id(n, ty),
            BuiltinSource::GlobalLinearId => self.global_linear_id(),
            BuiltinSource::Constant(value) => self.emit_iconst(types::I64, value as i64),
            BuiltinSource::SubgroupMaxSize => {
                self.emit_iconst(types::I32, self.shared.subgroup_size.into())
            }
            // In OpenCL the last subgroup may be smaller, and its size is the smaller number.
            BuiltinSource::SubgroupSize if !self.program.entry.is_kernel => {
                self.emit_iconst(types::I32, self.shared.subgroup_size.into())
            }
            BuiltinSource::SubgroupSize => self.subgroup_size(),
            BuiltinSource::SubgroupCount(offset) => self.subgroup_count(offset),
            BuiltinSource::SubgroupId => {
                let shift = self.shared.subgroup_size.trailing_zeros();
                let linear = self.item.linear;
                self.builder.ins().ushr_imm_u(linear, i64::from(shift))
            }
            BuiltinSource::SubgroupLocalId => self.emit_lane_index(),
            BuiltinSource::Mask(condition) => self.emit_lane_mask(condition, n),
        };
        Ok(self.resize_integer(value, ty, false))
    }

    /// The number of the invocation within its subgroup, 32 bits.
    pub fn emit_lane_index(&mut self) -> Value {
        let linear = self.item.linear;
        let mask = i64::from(self.shared.subgroup_size - 1);
        self.builder.ins().band_imm_u(linear, mask)
    }

    fn global_id(&mut self, n: usize, ty: cranelift_codegen::ir::Type) -> Value {
        let base = self.load_context_field(types::I64, component_offset(at::BASE, n.min(2)));
        let base = self.resize_integer(base, ty, false);
        let local = self.item.local[n.min(2)];
        let local = self.resize_integer(local, ty, false);
        self.builder.ins().iadd(base, local)
    }

    fn global_linear_id(&mut self) -> Value {
        let mut linear = self.emit_iconst(types::I64, 0);
        for n in (0..3).rev() {
            let id = self.global_id(n, types::I64);
            let offset = self.load_context_field(types::I64, component_offset(at::OFFSET, n));
            let size = self.load_context_field(types::I64, component_offset(at::GLOBAL, n));
            let id = self.builder.ins().isub(id, offset);
            linear = self.builder.ins().imul(linear, size);
            linear = self.builder.ins().iadd(linear, id);
        }
        linear
    }

    /// The size along an axis of the workgroup, or of whole workgroups, as `offset` says. 64 bits.
    fn group_axis_size(&mut self, offset: i32, n: usize) -> Value {
        let entry = &self.program.entry;
        let known = match entry.local_size {
            Some(_) if n > 2 => Some(1),
            Some(size) if offset == at::ENQUEUED => Some(size[n]),
            _ => entry.uniform_axis_size(n.min(2)),
        };
        match known {
            Some(size) => self.emit_iconst(types::I64, size.into()),
            None => self.load_context_field(types::I64, component_offset(offset, n)),
        }
    }

    /// Invocations of the workgroup, or of whole workgroups, as `offset` says. 64 bits.
    fn group_invocations(&mut self, offset: i32) -> Value {
        let entry = &self.program.entry;
        let is_uniform = !entry.is_kernel || offset == at::ENQUEUED;
        if let Some(size) = entry.local_size.filter(|_| is_uniform) {
            let count = size.iter().map(|s| i64::from(*s)).product();
            return self.emit_iconst(types::I64, count);
        }
        let [x, y, z] = [0, 1, 2].map(|n| self.group_axis_size(offset, n));
        let xy = self.builder.ins().imul(x, y);
        self.builder.ins().imul(xy, z)
    }

    fn subgroup_count(&mut self, offset: i32) -> Value {
        let all = self.group_invocations(offset);
        let size = self.shared.subgroup_size;
        let up = self.builder.ins().iadd_imm_s(all, i64::from(size - 1));
        let shift = i64::from(size.trailing_zeros());
        self.builder.ins().ushr_imm_u(up, shift)
    }

    fn subgroup_size(&mut self) -> Value {
        let all = self.group_invocations(at::LOCAL);
        let size = i64::from(self.shared.subgroup_size);
        let linear = self.item.linear;
        let linear = self.builder.ins().uextend(types::I64, linear);
        let first = self.builder.ins().band_imm_s(linear, -size);
        let rest = self.builder.ins().isub(all, first);
        let full = self.emit_iconst(types::I64, size);
        let fewer = self.builder.ins().icmp(IntCC::UnsignedLessThan, rest, full);
        self.builder.ins().select(fewer, rest, full)
    }

    /// Component `n` of a mask of lanes. Subgroups of up to 64 lanes use two components.
    fn emit_lane_mask(&mut self, condition: IntCC, n: usize) -> Value {
        let lane = self.emit_lane_index();
        let mut mask = self.emit_iconst(types::I32, 0);
        let first = n as u32 * 32;
        let last = self.shared.subgroup_size.min(first + 32);
        for other in first..last {
            let number = self.emit_iconst(types::I32, other.into());
            let set = self.builder.ins().icmp(condition, number, lane);
            let set = self.builder.ins().uextend(types::I32, set);
            let bit = self.builder.ins().ishl_imm_u(set, i64::from(other - first));
            mask = self.builder.ins().bor(mask, bit);
        }
        mask
    }
}

fn component_offset(offset: i32, n: usize) -> i32 {
    offset + 8 * n.min(2) as i32
}
