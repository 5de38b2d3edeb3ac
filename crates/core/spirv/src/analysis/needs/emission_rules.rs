//! Needs of modules that were just emitted: permissions that other modules state by their declarations.

use super::RequirementReason;
use super::rules::RequirementRules;
use super::tables::{FLOAT16, OPAQUE, STORED};
use crate::Id;
use crate::grammar::enumerants::{AccessQualifier, Capability, ImageFormat, StorageClass};
use crate::grammar::{InstructionClass, Op, SpirvVersion};
use crate::ir::InstRef;

impl<'a> RequirementRules<'a> {
    /// Types of a kernel that was just emitted that hold halves, other than pointers.
    pub(super) fn require_held_halves(&mut self, holds: u8, inst: InstRef<'_>) {
        if self.needs.is_emitted && !self.is_shader && holds & (FLOAT16 | OPAQUE) == FLOAT16 {
            self.require_any(&[Capability::Float16], inst, "a float of 16 bits");
            self.watches_halves = false;
        }
    }

    pub(super) fn is_block(&self, ty: InstRef<'_>) -> bool {
        let id = ty.result();
        id.is_some_and(|id| self.blocks.binary_search(&id).is_ok())
    }

    /// Permissions for a type in memory with a layout, of a module that was just emitted.
    pub(super) fn permit_class(&mut self, class: StorageClass, ty: Id, inst: InstRef<'_>) {
        let what = format!("memory of the class {class}");
        if class == StorageClass::Workgroup {
            let any = [Capability::WorkgroupMemoryExplicitLayoutKHR];
            self.require_any(&any, inst, &what);
        }
        for (numbers, classes, any) in STORED {
            if self.types[ty] & numbers != 0 && classes.contains(&class) {
                self.require_any(any, inst, &what);
            }
        }
    }

    /// Pointers to narrow numbers in memory with addresses, which have no variables.
    pub(super) fn inspect_address_type(&mut self, inst: InstRef<'_>) {
        let class = StorageClass(inst.operand_word(0));
        if let Some(pointee) = inst.get_id(1)
            && self.needs.is_emitted
            && class == StorageClass::PhysicalStorageBuffer
        {
            self.permit_class(class, pointee, inst);
        }
    }

    /// Permission for an access of an image whose type has no format, in a shader that was just emitted.
    pub(super) fn require_format(&mut self, capability: Capability, inst: InstRef<'a>) {
        let ty = inst.get_id(0).and_then(|image| self.value_type(image));
        let Some(ty) = ty.and_then(|ty| self.defining_inst(ty)) else {
            return;
        };
        let is_unknown = ty.operands().get(6) == Some(&ImageFormat::Unknown.0);
        if self.needs.is_emitted && self.is_shader && is_unknown {
            self.require_any(&[capability], inst, "an image without a format");
        }
    }

    /// Since SPIR-V 1.5 the invocation that broadcasts may be computed at run time.
    pub(super) fn inspect_broadcast(&mut self, inst: InstRef<'_>) {
        let lane = self.defining_inst(inst.id_operand(2));
        let class = lane.and_then(|lane| lane.op().info()).map(|row| row.class);
        let is_constant = class == Some(InstructionClass::ConstantCreation);
        let since = SpirvVersion::new(1, 5);
        if self.needs.is_emitted && !is_constant && self.needs.version < since {
            let reason = RequirementReason {
                inst: Some(inst.handle()),
                what: inst.op().to_string(),
            };
            self.needs.newer.push((since, reason));
        }
    }

    /// Permission for images and samplers in a kernel that was just emitted.
    pub(super) fn permit_kernel_image(&mut self, inst: InstRef<'_>) {
        if !self.needs.is_emitted || self.is_shader {
            return;
        }
        self.require_any(&[Capability::ImageBasic], inst, "an image");
        if inst.op() == Op::TypeImage
            && inst.operands().get(7) == Some(&AccessQualifier::ReadWrite.0)
        {
            let any = [Capability::ImageReadWrite];
            self.require_any(&any, inst, "an image that is read and written");
        }
    }

    /// Permission for the operands of a dot product: packed bytes, vectors of four bytes, or others.
    pub(super) fn require_dot_product(&mut self, inst: InstRef<'a>) {
        let ty = inst.get_id(0).and_then(|id| self.value_type(id));
        let Some(ty) = ty.and_then(|ty| self.defining_inst(ty)) else {
            return;
        };
        let is_byte = |id: Id| {
            let component = self.defining_inst(id);
            component.is_some_and(|component| component.operands().first() == Some(&8))
        };
        let capability = match (ty.op(), ty.operands()) {
            (Op::TypeInt, [32, ..]) => Capability::DotProductInput4x8BitPacked,
            (Op::TypeVector, [_, 4]) if is_byte(ty.id_operand(0)) => {
                Capability::DotProductInput4x8Bit
            }
            _ => Capability::DotProductInputAll,
        };
        if self.needs.is_emitted {
            self.require_any(&[capability], inst, "the operands of a dot product");
        }
    }
}
