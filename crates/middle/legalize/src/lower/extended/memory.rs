//! Functions that read or write memory.

use super::super::composites::result;
use super::super::memory::ShaderMemoryLocation;
use super::ShaderLowering;
use crate::facts::MemoryScalar;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::FPRoundingMode;
use spirula_spirv::grammar::{Op, glsl_std_450 as glsl, opencl_std as cl};
use spirula_spirv::ir::InstRef;

impl ShaderLowering<'_> {
    /// Where a function writes its second result.
    fn second(
        &mut self,
        inst: InstRef<'_>,
        pointer: Id,
    ) -> Result<(ShaderMemoryLocation, Id), SourceDiagnostic> {
        let ty = self.facts.pointee(pointer)?;
        let align = self.facts.layouts.get(ty).align;
        Ok((self.place(inst, pointer, usize::MAX, align)?, ty))
    }

    /// A function of one float that gives two values, for each component.
    fn two(
        &mut self,
        inst: InstRef<'_>,
        mut make: impl FnMut(&mut Self, Id, MemoryScalar, Id) -> (Id, Id),
    ) -> Result<Id, SourceDiagnostic> {
        let (scalar, count) = self.scalars(inst.id(2))?;
        let (part, _) = self.shape(inst.id(2))?;
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for lane in self.lanes_of(inst.id(2))? {
            let (a, b) = make(self, part, scalar, lane);
            first.push(a);
            second.push(b);
        }
        let (place, ty) = self.second(inst, inst.id(3))?;
        let (kept, _) = self.facts.components(ty);
        let kept = self.ty(kept)?;
        let kept = self.vector(kept, count);
        let second = self.construct(kept, second);
        self.store(place, ty, second)?;
        let made = self.vector(part, count);
        Ok(self.construct(made, first))
    }
}

/// `fract`.
pub fn fract(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    l.two(inst, |l, ty, scalar, x| {
        let width = scalar.size() * 8;
        let whole = l.glsl(glsl::FLOOR, ty, &[x]);
        let rest = l.op(Op::FSub, ty, &[x, whole]);
        let below_one = match width {
            16 => 1.0 - f64::exp2(-11.0),
            32 => 1.0 - f64::exp2(-24.0),
            _ => 1.0 - f64::exp2(-53.0),
        };
        let (most, zero) = (l.real(width, below_one), l.real(width, 0.0));
        let rest = l.glsl(glsl::FMIN, ty, &[rest, most]);
        let truth = l.b.bool();
        let infinite = l.op(Op::IsInf, truth, &[x]);
        let rest = l.op(Op::Select, ty, &[infinite, zero, rest]);
        let nan = l.op(Op::IsNan, truth, &[x]);
        (l.op(Op::Select, ty, &[nan, x, rest]), whole)
    })
}

/// `modf`.
pub fn modf(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    l.two(inst, |l, ty, _, x| {
        let pair = l.b.structure(&[ty, ty]);
        let both = l.glsl(glsl::MODF_STRUCT, pair, &[x]);
        (l.extract(ty, both, 0), l.extract(ty, both, 1))
    })
}

/// `frexp`.
pub fn frexp(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    l.two(inst, |l, ty, scalar, x| {
        let word = l.int(32);
        // Halves go through floats, of which none of them is denormal.
        let wide = match scalar {
            MemoryScalar::Float(16) => l.scalar(MemoryScalar::Float(32)),
            _ => ty,
        };
        let x = if wide == ty {
            x
        } else {
            l.op(Op::FConvert, wide, &[x])
        };
        let pair = l.b.structure(&[wide, word]);
        let both = l.glsl(glsl::FREXP_STRUCT, pair, &[x]);
        let mut part = l.extract(wide, both, 0);
        if wide != ty {
            part = l.op(Op::FConvert, ty, &[part]);
        }
        (part, l.extract(word, both, 1))
    })
}

/// `sincos`.
pub fn sincos(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let (scalar, _) = l.scalars(inst.id(2))?;
    if scalar.size() == 8 {
        return Err(crate::facts::refuse(inst, "sincos of 64 bits"));
    }
    l.two(inst, |l, ty, _, x| {
        (l.glsl(glsl::SIN, ty, &[x]), l.glsl(glsl::COS, ty, &[x]))
    })
}

impl ShaderLowering<'_> {
    /// The place of vector `index` of so many elements behind a pointer to the first.
    fn vector_place(
        &mut self,
        inst: InstRef<'_>,
        pointer: Id,
        index: Id,
        bytes: u64,
        align: u32,
    ) -> Result<ShaderMemoryLocation, SourceDiagnostic> {
        let place = self.place(inst, pointer, usize::MAX, align)?;
        let ty = self.pointer_type(place.class);
        let to = self.classes.memory(place.class).pointer_width();
        let (scalar, _) = self.scalars(index)?;
        let index = self.value(index)?;
        let index = self.resize(index, scalar.size() * 8, to);
        let bytes = self.number(to, bytes);
        let offset = self.op(Op::IMul, ty, &[index, bytes]);
        Ok(ShaderMemoryLocation {
            pointer: self.op(Op::IAdd, ty, &[place.pointer, offset]),
            ..place
        })
    }

    /// Loads or stores by pieces of at most four.
    fn pieces(
        place: ShaderMemoryLocation,
        scalar: MemoryScalar,
        count: u32,
    ) -> impl Iterator<Item = (ShaderMemoryLocation, u32)> {
        (0..count).step_by(4).map(move |n| {
            let place = place.after(u64::from(n * scalar.size()));
            (place, (count - n).min(4))
        })
    }
}

/// Elements from one vector to the next: three take the room of four in the aligned forms.
fn stride(number: u32, count: u32) -> u32 {
    match number {
        cl::VLOADA_HALFN | cl::VSTOREA_HALFN | cl::VSTOREA_HALFN_R if count == 3 => 4,
        _ => count,
    }
}

/// `vloadn`, `vload_half` and its vectors.
pub fn vector_load(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let (number, index, pointer) = (inst.word(1), inst.id(2), inst.id(3));
    let (to, count) = l.scalars(result(inst))?;
    let from = match number {
        cl::VLOADN => to,
        _ => MemoryScalar::Float(16),
    };
    let bytes = u64::from(stride(number, count) * from.size());
    let place = l.vector_place(inst, pointer, index, bytes, from.size())?;
    let (part, kept) = (l.scalar(to), l.scalar(from));
    let mut parts = Vec::new();
    for (place, few) in ShaderLowering::pieces(place, from, count) {
        let loaded = l.load_scalars(place, from, few)?;
        for lane in l.lanes(kept, loaded, few) {
            parts.push(match from == to {
                true => lane,
                false => l.op(Op::FConvert, part, &[lane]),
            });
        }
    }
    let ty = l.vector(part, count);
    Ok(l.construct(ty, parts))
}

/// `vstoren`, `vstore_half` and its vectors.
pub fn vector_store(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let (number, value, index, pointer) = (inst.word(1), inst.id(2), inst.id(3), inst.id(4));
    let (from, count) = l.scalars(value)?;
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
    let bytes = u64::from(stride(number, count) * to.size());
    let place = l.vector_place(inst, pointer, index, bytes, to.size())?;
    let part = l.scalar(to);
    let mut lanes = l.lanes_of(value)?;
    if from != to {
        let width = from.size() * 8;
        let narrowed = lanes.iter().map(|v| l.narrow(*v, width, 16, mode));
        lanes = narrowed.collect();
    }
    for (n, (place, few)) in ShaderLowering::pieces(place, to, count).enumerate() {
        let ty = l.vector(part, few);
        let some = lanes[4 * n..4 * n + few as usize].to_vec();
        let some = l.construct(ty, some);
        l.store_scalars(place, to, few, some)?;
    }
    Ok(l.number(32, 0))
}
