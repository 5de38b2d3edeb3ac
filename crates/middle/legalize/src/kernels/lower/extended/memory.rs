//! Extended instructions that read or write memory.

use super::super::composites::expect_result;
use super::super::memory::ShaderMemoryLocation;
use super::ShaderLowering;
use crate::kernels::module_info::MemoryScalar;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::FPRoundingMode;
use spirula_spirv::grammar::{Op, glsl_std_450 as glsl, opencl_std as cl};
use spirula_spirv::ir::InstRef;

impl ShaderLowering<'_> {
    /// The location of a function's second result.
    fn locate_second_result(
        &mut self,
        inst: InstRef<'_>,
        pointer: Id,
    ) -> Result<(ShaderMemoryLocation, Id), SourceDiagnostic> {
        let ty = self.info.find_pointee(pointer)?;
        let align = self.info.layouts.get(ty).align;
        Ok((self.locate_access(inst, pointer, usize::MAX, align)?, ty))
    }

    /// Lowers a function of one float with two results, for each component.
    fn emit_paired_results(
        &mut self,
        inst: InstRef<'_>,
        mut make: impl FnMut(&mut Self, Id, MemoryScalar, Id) -> (Id, Id),
    ) -> Result<Id, SourceDiagnostic> {
        let (scalar, count) = self.find_component_scalar(inst.id_operand(2))?;
        let (part, _) = self.find_component_type(inst.id_operand(2))?;
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for lane in self.lanes_of(inst.id_operand(2))? {
            let (a, b) = make(self, part, scalar, lane);
            first.push(a);
            second.push(b);
        }
        let (place, ty) = self.locate_second_result(inst, inst.id_operand(3))?;
        let (kept, _) = self.info.split_vector_type(ty);
        let kept = self.lower_type(kept)?;
        let kept = self.make_vector_type(kept, count);
        let second = self.construct_composite(kept, second);
        self.store_value(place, ty, second)?;
        let made = self.make_vector_type(part, count);
        Ok(self.construct_composite(made, first))
    }
}

/// `fract`.
pub fn lower_fract(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    l.emit_paired_results(inst, |l, ty, scalar, x| {
        let width = scalar.size() * 8;
        let whole = l.emit_glsl(glsl::FLOOR, ty, &[x]);
        let rest = l.emit_value(Op::FSub, ty, &[x, whole]);
        let below_one = match width {
            16 => 1.0 - f64::exp2(-11.0),
            32 => 1.0 - f64::exp2(-24.0),
            _ => 1.0 - f64::exp2(-53.0),
        };
        let (most, zero) = (
            l.make_float_constant(width, below_one),
            l.make_float_constant(width, 0.0),
        );
        let rest = l.emit_glsl(glsl::FMIN, ty, &[rest, most]);
        let truth = l.b.bool_type();
        let infinite = l.emit_value(Op::IsInf, truth, &[x]);
        let rest = l.emit_value(Op::Select, ty, &[infinite, zero, rest]);
        let nan = l.emit_value(Op::IsNan, truth, &[x]);
        (l.emit_value(Op::Select, ty, &[nan, x, rest]), whole)
    })
}

/// `modf`.
pub fn lower_modf(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    l.emit_paired_results(inst, |l, ty, _, x| {
        let pair = l.b.struct_type(&[ty, ty]);
        let both = l.emit_glsl(glsl::MODF_STRUCT, pair, &[x]);
        (
            l.extract_component(ty, both, 0),
            l.extract_component(ty, both, 1),
        )
    })
}

/// `frexp`.
pub fn lower_frexp(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    l.emit_paired_results(inst, |l, ty, scalar, x| {
        let word = l.make_int_type(32);
        // Halves are computed as floats, in which none of them is subnormal.
        let wide = match scalar {
            MemoryScalar::Float(16) => l.make_scalar_type(MemoryScalar::Float(32)),
            _ => ty,
        };
        let x = if wide == ty {
            x
        } else {
            l.emit_value(Op::FConvert, wide, &[x])
        };
        let pair = l.b.struct_type(&[wide, word]);
        let both = l.emit_glsl(glsl::FREXP_STRUCT, pair, &[x]);
        let mut part = l.extract_component(wide, both, 0);
        if wide != ty {
            part = l.emit_value(Op::FConvert, ty, &[part]);
        }
        (part, l.extract_component(word, both, 1))
    })
}

/// `sincos`.
pub fn lower_sincos(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let (scalar, _) = l.find_component_scalar(inst.id_operand(2))?;
    if scalar.size() == 8 {
        return Err(crate::error::diagnose_instruction(
            inst,
            "sincos of 64 bits",
        ));
    }
    l.emit_paired_results(inst, |l, ty, _, x| {
        (
            l.emit_glsl(glsl::SIN, ty, &[x]),
            l.emit_glsl(glsl::COS, ty, &[x]),
        )
    })
}

impl ShaderLowering<'_> {
    /// The location of vector `index` after a pointer to the first vector.
    fn vector_place(
        &mut self,
        inst: InstRef<'_>,
        pointer: Id,
        index: Id,
        bytes: u64,
        align: u32,
    ) -> Result<ShaderMemoryLocation, SourceDiagnostic> {
        let place = self.locate_access(inst, pointer, usize::MAX, align)?;
        let ty = self.pointer_type(place.set);
        let to = self.points_to.memory(place.set).pointer_width();
        let (scalar, _) = self.find_component_scalar(index)?;
        let index = self.lower_operand(index)?;
        let index = self.resize_int(index, scalar.size() * 8, to);
        let bytes = self.make_uint_constant(to, bytes);
        let offset = self.emit_value(Op::IMul, ty, &[index, bytes]);
        Ok(ShaderMemoryLocation {
            pointer: self.emit_value(Op::IAdd, ty, &[place.pointer, offset]),
            ..place
        })
    }

    /// Loads or stores by pieces of at most four.
    fn split_into_chunks(
        place: ShaderMemoryLocation,
        scalar: MemoryScalar,
        count: u32,
    ) -> impl Iterator<Item = (ShaderMemoryLocation, u32)> {
        (0..count).step_by(4).map(move |n| {
            let place = place.advance_by(u64::from(n * scalar.size()));
            (place, (count - n).min(4))
        })
    }
}

/// Stride of vectors in elements: three take the room of four in the aligned forms.
fn compute_vector_stride(number: u32, count: u32) -> u32 {
    match number {
        cl::VLOADA_HALFN | cl::VSTOREA_HALFN | cl::VSTOREA_HALFN_R if count == 3 => 4,
        _ => count,
    }
}

/// `vloadn`, `vload_half` and its vectors.
pub fn vector_load(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let (number, index, pointer) = (inst.operand_word(1), inst.id_operand(2), inst.id_operand(3));
    let (to, count) = l.find_component_scalar(expect_result(inst))?;
    let from = match number {
        cl::VLOADN => to,
        _ => MemoryScalar::Float(16),
    };
    let bytes = u64::from(compute_vector_stride(number, count) * from.size());
    let place = l.vector_place(inst, pointer, index, bytes, from.size())?;
    let (part, kept) = (l.make_scalar_type(to), l.make_scalar_type(from));
    let mut parts = Vec::new();
    for (place, few) in ShaderLowering::split_into_chunks(place, from, count) {
        let loaded = l.load_scalars(place, from, few)?;
        for lane in l.split_components(kept, loaded, few) {
            parts.push(if from == to {
                lane
            } else {
                l.emit_value(Op::FConvert, part, &[lane])
            });
        }
    }
    let ty = l.make_vector_type(part, count);
    Ok(l.construct_composite(ty, parts))
}

/// `vstoren`, `vstore_half` and its vectors.
pub fn vector_store(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let (number, value, index, pointer) = (
        inst.operand_word(1),
        inst.id_operand(2),
        inst.id_operand(3),
        inst.id_operand(4),
    );
    let (from, count) = l.find_component_scalar(value)?;
    let to = match number {
        cl::VSTOREN => from,
        _ => MemoryScalar::Float(16),
    };
    let is_rounded = matches!(
        number,
        cl::VSTORE_HALF_R | cl::VSTORE_HALFN_R | cl::VSTOREA_HALFN_R
    );
    let mode = inst.operands().get(5).filter(|_| is_rounded);
    let mode = mode.map_or(FPRoundingMode::RTE, |m| FPRoundingMode(*m));
    let bytes = u64::from(compute_vector_stride(number, count) * to.size());
    let place = l.vector_place(inst, pointer, index, bytes, to.size())?;
    let part = l.make_scalar_type(to);
    let mut lanes = l.lanes_of(value)?;
    if from != to {
        let width = from.size() * 8;
        let narrowed = lanes.iter().map(|v| l.narrow_float(*v, width, 16, mode));
        lanes = narrowed.collect();
    }
    for (n, (place, few)) in ShaderLowering::split_into_chunks(place, to, count).enumerate() {
        let ty = l.make_vector_type(part, few);
        let some = lanes[4 * n..4 * n + few as usize].to_vec();
        let some = l.construct_composite(ty, some);
        l.store_scalars(place, to, few, some)?;
    }
    Ok(l.make_uint_constant(32, 0))
}
