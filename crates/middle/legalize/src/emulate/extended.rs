//! Extended instructions of GLSL.std.450 on emulated types.

use super::emitter::TypeEmulator;
use super::half_floats::EXACT;
use super::type_shapes::{EmulatedScalar, EmulatedShape};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::{Op, glsl_std_450 as glsl};
use spirula_spirv::ir::InstRef;

/// Functions on signed operands.
const SIGNED: &[u32] = &[
    glsl::SABS,
    glsl::SSIGN,
    glsl::SMIN,
    glsl::SMAX,
    glsl::SCLAMP,
];

impl<'a> TypeEmulator<'a> {
    /// Emulates a function of which at least one type changes.
    pub fn emulate_extended(
        &mut self,
        inst: InstRef<'a>,
        shape: Option<EmulatedShape>,
    ) -> Result<(), SourceDiagnostic> {
        let set = self.ids.ext_inst_set(inst).map(|set| set.name);
        if set != Some("GLSL.std.450") {
            // Non-semantic instructions do not compute.
            return match set {
                Some(name) if !name.starts_with("NonSemantic.") => {
                    Err(self.diagnose_instruction(inst, "this extended instruction"))
                }
                _ => Ok(()),
            };
        }
        let number = inst.operand_word(1);
        match shape.map(|s| s.kind) {
            Some(EmulatedScalar::Wide { .. }) => self.wide_function(inst, number),
            Some(EmulatedScalar::Half) => {
                let result_shape = inst.result().and_then(|id| self.find_shape(id));
                let parts = [
                    glsl::MODF,
                    glsl::FREXP,
                    glsl::MODF_STRUCT,
                    glsl::FREXP_STRUCT,
                ];
                if parts.contains(&number) {
                    return Err(self.diagnose_instruction(inst, "a part of a float of 16 bits"));
                }
                if let Some(result_shape) = result_shape
                    .filter(|s| s.kind == EmulatedScalar::Half && !EXACT.contains(&number))
                {
                    let value = self.duplicate_instruction(inst, &[]);
                    let value = self.round_to_half(value, result_shape.count);
                    self.replace_result(inst, value);
                }
                Ok(())
            }
            _ => {
                if !SIGNED.contains(&number) {
                    return Ok(());
                }
                let mut map = Vec::new();
                for operand in inst.id_operands(2).collect::<Vec<_>>() {
                    if let Some(shape) = self.find_shape(operand) {
                        map.push((operand, self.extend_narrow_sign(operand, shape)));
                    }
                }
                let value = self.duplicate_instruction(inst, &map);
                if let Some(result_shape) = inst.result().and_then(|id| self.find_shape(id)) {
                    let value = self.mask_narrow(value, result_shape);
                    self.replace_result(inst, value);
                }
                Ok(())
            }
        }
    }

    fn wide_function(&mut self, inst: InstRef<'a>, number: u32) -> Result<(), SourceDiagnostic> {
        let operands: Vec<Id> = inst.id_operands(2).collect();
        let signed = SIGNED.contains(&number);
        let (less, more) = if signed {
            (Op::SLessThan, Op::SGreaterThan)
        } else {
            (Op::ULessThan, Op::UGreaterThan)
        };
        let result_shape = inst.result().and_then(|id| self.find_shape(id));
        let Some(result_shape) = result_shape else {
            return Ok(());
        };
        let lanes: Vec<Vec<[Id; 2]>> = operands.iter().map(|o| self.wide_lanes(*o)).collect();
        let mut results = Vec::new();
        for n in 0..result_shape.count as usize {
            let v: Vec<[Id; 2]> = lanes.iter().map(|l| l[n]).collect();
            let better = |e: &mut Self, op, a: [Id; 2], b: [Id; 2]| {
                let is_better = e.compare_wide(op, b, a);
                e.select_wide(is_better, b, a)
            };
            results.push(match number {
                glsl::SMIN | glsl::UMIN => better(self, less, v[0], v[1]),
                glsl::SMAX | glsl::UMAX => better(self, more, v[0], v[1]),
                glsl::SCLAMP | glsl::UCLAMP => {
                    let low = better(self, more, v[0], v[1]);
                    better(self, less, low, v[2])
                }
                glsl::SABS => {
                    let is_negative = self.is_negative(v[0]);
                    let other = self.negate_wide(v[0]);
                    self.select_wide(is_negative, other, v[0])
                }
                glsl::SSIGN => {
                    let (zero, one, ones) = (
                        self.make_uint_constant(0),
                        self.make_uint_constant(1),
                        self.make_uint_constant(u32::MAX),
                    );
                    let is_negative = self.is_negative(v[0]);
                    let is_zero = self.compare_wide(Op::IEqual, v[0], [zero, zero]);
                    let found = self.select_wide(is_negative, [ones, ones], [one, zero]);
                    self.select_wide(is_zero, [zero, zero], found)
                }
                _ => return Err(self.diagnose_instruction(inst, "this function of 64 bits")),
            });
        }
        let value = self.join_words(&results, inst.result_type());
        self.replace_result(inst, value);
        Ok(())
    }
}
