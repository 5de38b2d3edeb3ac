//! Needs of numbers by their width: types, and uses of narrow numbers beyond moves.

use super::rules::RequirementRules;
use super::tables::{FLOAT16, INT8, INT16, NARROW, NARROW_ROWS, OPAQUE, STORED};
use crate::grammar::enumerants::Capability;
use crate::grammar::{InstructionClass, Op};
use crate::ir::{IdWords, InstRef};

impl<'a> RequirementRules<'a> {
    pub(super) fn inspect_integer_type(&mut self, inst: InstRef<'_>) -> u8 {
        let width = inst.operand_word(0);
        let what = format!("an integer of {width} bits");
        match width {
            8 => {
                self.any_use(INT8, inst);
                INT8
            }
            16 => {
                self.any_use(INT16, inst);
                INT16
            }
            32 => 0,
            64 => {
                self.require_any(&[Capability::Int64], inst, &what);
                0
            }
            4 => {
                self.require_any(&[Capability::Int4TypeINTEL], inst, &what);
                0
            }
            _ => {
                self.require_any(&[Capability::ArbitraryPrecisionIntegersALTERA], inst, &what);
                0
            }
        }
    }

    pub(super) fn inspect_float_type(&mut self, inst: InstRef<'_>) -> u8 {
        // Formats other than IEEE's are enumerants with capabilities of their own.
        match inst.operands() {
            [16] => {
                let half = "SPV_AMD_gpu_shader_half_float_fetch";
                if !self.needs.has_extension(half) {
                    self.any_use(FLOAT16, inst);
                    if self.needs.is_emitted && !self.is_shader {
                        let any = [Capability::Float16Buffer];
                        self.require_any(&any, inst, "a float of 16 bits");
                    }
                }
                FLOAT16
            }
            [64] => {
                self.require_any(&[Capability::Float64], inst, "a float of 64 bits");
                0
            }
            _ => 0,
        }
    }

    /// Records any use of a narrow number, a store included.
    pub(super) fn any_use(&mut self, number: u8, inst: InstRef<'_>) {
        for (bit, what, capability, extension) in NARROW_ROWS {
            if *bit == number && !self.needs.has_extension(extension) {
                let mut any = vec![*capability];
                if number == FLOAT16 {
                    any.push(Capability::Float16Buffer);
                }
                let stored = STORED.iter().filter(|row| row.0 & number != 0);
                any.extend(stored.flat_map(|row| row.2));
                self.require_any(&any, inst, what);
            }
        }
    }

    /// Records uses of narrow numbers beyond stores and conversions, which require full support.
    pub(super) fn require_full_width(&mut self, inst: InstRef<'a>) {
        let class = inst.op().info().map(|i| i.class);
        let only_moves = matches!(
            inst.op(),
            Op::Load
                | Op::Store
                | Op::CopyMemory
                | Op::CopyObject
                | Op::UConvert
                | Op::SConvert
                | Op::FConvert
                | Op::Variable
                | Op::FunctionParameter
        );
        if only_moves
            || matches!(
                class,
                Some(
                    InstructionClass::Annotation
                        | InstructionClass::Debug
                        | InstructionClass::TypeDeclaration
                )
            )
        {
            return;
        }
        if inst.op() == Op::ExtInst
            && inst
                .get_id(0)
                .is_some_and(|set| self.silent_sets.contains(&set))
        {
            return;
        }
        let mut used = inst.result_type().map_or(0, |ty| self.types[ty]);
        let module = self.module;
        let words = self.words.get_or_insert_with(|| IdWords::new(module));
        let (values, types) = (&self.values, &self.types);
        words.visit_uses(inst, |_, id| {
            used |= values[id].map_or(0, |ty| types[ty]);
        });
        if used & NARROW == 0 {
            return;
        }
        let fetch = "SPV_AMD_gpu_shader_half_float_fetch";
        for (bit, what, capability, extension) in NARROW_ROWS {
            if used & bit == 0 {
                continue;
            }
            let by_extension = self.needs.has_extension(extension)
                || *bit == FLOAT16 && self.needs.has_extension(fetch);
            // Consumers do not require it of kernels, and matrices have capabilities of their own.
            if self.is_shader && used & OPAQUE == 0 && !by_extension {
                let mut any = vec![*capability];
                if *bit == FLOAT16 {
                    any.extend([Capability::Float16Buffer, Capability::BFloat16TypeKHR]);
                }
                let what = format!("{} of {what}", inst.op());
                self.require_any(&any, inst, &what);
            }
            self.keep_declared(&[*capability], inst, what);
        }
    }
}
