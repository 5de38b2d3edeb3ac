//! Images: reads, writes and queries.
//!
//! Samplers of OpenCL may take coordinates in texels with any image; samplers of Vulkan may not with volumes and layers. Every sampler of
//! a shader therefore takes normalised coordinates. Coordinates in texels are divided by the size of the image. Where the nearest texel is
//! meant, its centre is taken, so that rounding cannot reach a neighbour. Push constants say whether the coordinates of a sampler argument
//! are in texels, and whether it interpolates.

use super::ShaderLowering;
use super::composites::expect_result;
use super::descriptors::{ImageArgumentBinding, KernelImageUsage, SourceSampler, TexelClass, mask};
use crate::kernels::module_info::MemoryScalar;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::{Dim, ImageOperands};
use spirula_spirv::grammar::{Op, glsl_std_450 as glsl};
use spirula_spirv::ir::InstRef;

/// Difference between the numbers of a channel order in OpenCL's interface and in SPIR-V.
const FIRST_ORDER: u64 = 0x10B0;
/// The same difference for channel data types.
const FIRST_DATA_TYPE: u64 = 0x10D0;

/// Operands of an instruction on an image.
#[derive(Default)]
struct ImageInstOperands {
    /// The level of detail.
    lod: Option<Id>,
    /// Gradients of the coordinates in both directions of the picture.
    grad: Option<[Id; 2]>,
    is_signed: bool,
}

impl ImageInstOperands {
    /// Reads the image operands that begin at operand `n`.
    fn new(
        l: &ShaderLowering<'_>,
        inst: InstRef<'_>,
        n: usize,
    ) -> Result<ImageInstOperands, SourceDiagnostic> {
        let mut extra = ImageInstOperands::default();
        let Some(&flags) = inst.operands().get(n) else {
            return Ok(extra);
        };
        let has = |flag: ImageOperands| flags & flag.0 != 0;
        let known = ImageOperands::Lod.0
            | ImageOperands::Grad.0
            | ImageOperands::SignExtend.0
            | ImageOperands::ZeroExtend.0
            | ImageOperands::Nontemporal.0;
        if flags & !known != 0 {
            return Err(l
                .info
                .diagnose_id(inst.id_operand(0), "this kind of access to an image"));
        }
        let mut next = n + 1;
        if has(ImageOperands::Lod) {
            extra.lod = inst.get_id(next);
            next += 1;
        }
        if has(ImageOperands::Grad) {
            extra.grad = inst
                .get_id(next)
                .zip(inst.get_id(next + 1))
                .map(|(x, y)| [x, y]);
        }
        extra.is_signed = has(ImageOperands::SignExtend);
        Ok(extra)
    }
}

/// The type of texels in the source.
struct SourceTexelType {
    texels: TexelClass,
    /// Whether they are 16-bit floats, which are converted from and to 32-bit floats.
    is_half: bool,
    /// Whether it is one component of a depth image.
    is_one: bool,
}

impl ShaderLowering<'_> {
    fn texel_shape(
        &self,
        value: Id,
        extra: &ImageInstOperands,
    ) -> Result<SourceTexelType, SourceDiagnostic> {
        let (scalar, count) = self.find_component_scalar(value)?;
        let texels = match scalar {
            MemoryScalar::Float(16 | 32) => TexelClass::Floats,
            MemoryScalar::Int(32) if extra.is_signed => TexelClass::Signed,
            MemoryScalar::Int(32) => TexelClass::Unsigned,
            _ => return Err(self.info.diagnose_id(value, "a texel of such components")),
        };
        if !matches!(count, 1 | 4) {
            return Err(self
                .info
                .diagnose_id(value, "a texel of so many components"));
        }
        Ok(SourceTexelType {
            texels,
            is_half: scalar == MemoryScalar::Float(16),
            is_one: count == 1,
        })
    }

    /// Converts a texel of the shader to the source's type.
    fn convert_read_texel(&mut self, shape: &SourceTexelType, texel: Id) -> Id {
        let mut part = self.make_texel_type(shape.texels);
        let mut value = texel;
        let count = if shape.is_one { 1 } else { 4 };
        if shape.is_one {
            value = self.extract_component(part, value, 0);
        }
        if shape.is_half {
            part = self.make_float_type(16);
            let ty = self.make_vector_type(part, count);
            value = self.emit_value(Op::FConvert, ty, &[value]);
        }
        if shape.texels == TexelClass::Signed {
            part = self.make_int_type(32);
            let ty = self.make_vector_type(part, count);
            value = self.emit_value(Op::Bitcast, ty, &[value]);
        }
        value
    }

    /// Converts a texel of the source to the shader's type.
    fn convert_written_texel(&mut self, shape: &SourceTexelType, value: Id) -> Id {
        let part = self.make_texel_type(shape.texels);
        let count = if shape.is_one { 1 } else { 4 };
        let ty = self.make_vector_type(part, count);
        let value = match shape {
            SourceTexelType { is_half: true, .. } => self.emit_value(Op::FConvert, ty, &[value]),
            SourceTexelType {
                texels: TexelClass::Signed,
                ..
            } => self.emit_value(Op::Bitcast, ty, &[value]),
            _ => value,
        };
        if !shape.is_one {
            return value;
        }
        let all = self.make_vector_type(part, 4);
        self.construct_composite(all, vec![value; 4])
    }

    /// The components of a coordinate, and their scalar type.
    fn split_coordinates(
        &mut self,
        source: Id,
        picture: &ImageArgumentBinding,
    ) -> Result<(MemoryScalar, Vec<Id>), SourceDiagnostic> {
        let (scalar, count) = self.find_component_scalar(source)?;
        let wanted = picture.count_axes() + u32::from(picture.is_arrayed);
        if count < wanted || !matches!(scalar, MemoryScalar::Int(32) | MemoryScalar::Float(32)) {
            return Err(self.info.diagnose_id(source, "a coordinate of this type"));
        }
        let value = self.lower_operand(source)?;
        if count == 1 {
            return Ok((scalar, vec![value]));
        }
        let part = self.make_scalar_type(scalar);
        let parts = (0..wanted).map(|n| self.extract_component(part, value, n));
        Ok((scalar, parts.collect()))
    }

    /// The coordinate of an access without a sampler: integers.
    fn texel_coordinate(
        &mut self,
        source: Id,
        picture: &ImageArgumentBinding,
    ) -> Result<Id, SourceDiagnostic> {
        let (scalar, parts) = self.split_coordinates(source, picture)?;
        if scalar != MemoryScalar::Int(32) {
            return Err(self
                .info
                .diagnose_id(source, "a coordinate of floats without a sampler"));
        }
        let part = self.make_int_type(32);
        let ty = self.make_vector_type(part, parts.len() as u32);
        Ok(self.construct_composite(ty, parts))
    }

    /// A float constant.
    fn float_number(&mut self, value: f32) -> Id {
        let ty = self.make_float_type(32);
        self.b.constant_bits(ty, 32, value.to_bits().into())
    }

    /// The normalised coordinate of an access by a sampler.
    fn sample_coordinate(
        &mut self,
        source: Id,
        picture: &ImageArgumentBinding,
        image: Id,
        sampler: SourceSampler,
    ) -> Result<Id, SourceDiagnostic> {
        let (scalar, mut parts) = self.split_coordinates(source, picture)?;
        let is_int = scalar == MemoryScalar::Int(32);
        let float = self.make_float_type(32);
        if is_int {
            for part in &mut parts {
                *part = self.emit_value(Op::ConvertSToF, float, &[*part]);
            }
        }
        let ty = self.make_vector_type(float, parts.len() as u32);
        let is_normalized = match sampler {
            SourceSampler::Constant { is_normalized, .. } => is_normalized && !is_int,
            SourceSampler::Argument { .. } => false,
        };
        if is_normalized {
            return Ok(self.construct_composite(ty, parts));
        }
        let choices = match sampler {
            // Integers are coordinates in texels, regardless of the sampler.
            SourceSampler::Argument { mask, .. } if !is_int => Some(self.load_sampler_flags(mask)),
            _ => None,
        };
        let is_linear = matches!(
            sampler,
            SourceSampler::Constant {
                is_linear: true,
                ..
            }
        );
        let sizes = self.query_image_size(picture, image);
        let half = self.float_number(0.5);
        for (n, part) in (0..picture.count_axes()).zip(&mut parts) {
            let given = *part;
            let whole = if is_int {
                given
            } else {
                self.emit_glsl(glsl::FLOOR, float, &[given])
            };
            let middle = self.emit_value(Op::FAdd, float, &[whole, half]);
            let texel = match choices {
                Some([_, nearest]) => self.emit_value(Op::Select, float, &[nearest, middle, given]),
                None if is_linear && !is_int => given,
                None => middle,
            };
            let size = sizes[n as usize];
            let size = self.emit_value(Op::ConvertUToF, float, &[size]);
            let share = self.emit_value(Op::FDiv, float, &[texel, size]);
            *part = match choices {
                Some([normalized, _]) => {
                    self.emit_value(Op::Select, float, &[normalized, given, share])
                }
                None => share,
            };
        }
        Ok(self.construct_composite(ty, parts))
    }

    /// Whether a sampler argument takes normalised coordinates, and whether it takes the nearest texel.
    fn load_sampler_flags(&mut self, at: u32) -> [Id; 2] {
        let (word, truth) = (self.make_int_type(32), self.b.bool_type());
        let pushed = self.load_push_scalar(MemoryScalar::Int(32), at);
        let zero = self.make_uint_constant(32, 0);
        [mask::NORMALIZED, mask::NEAREST].map(|bit| {
            let bit = self.make_uint_constant(32, bit.into());
            let bit = self.emit_value(Op::BitwiseAnd, word, &[pushed, bit]);
            self.emit_value(Op::INotEqual, truth, &[bit, zero])
        })
    }

    /// The components of an image's size: its axes, and its layers.
    fn query_image_size(&mut self, picture: &ImageArgumentBinding, image: Id) -> Vec<Id> {
        let word = self.make_int_type(32);
        let count = picture.count_axes() + u32::from(picture.is_arrayed);
        let ty = self.make_vector_type(word, count);
        let size = if picture.usage == KernelImageUsage::Reads && picture.dim != Dim::Buffer {
            let level = self.make_uint_constant(32, 0);
            self.emit_value(Op::ImageQuerySizeLod, ty, &[image, level])
        } else {
            self.emit_value(Op::ImageQuerySize, ty, &[image])
        };
        match count {
            1 => vec![size],
            _ => (0..count)
                .map(|n| self.extract_component(word, size, n))
                .collect(),
        }
    }

    /// Refuses a level other than the first for accesses without samplers.
    fn first_level(&self, inst: InstRef<'_>, lod: Option<Id>) -> Result<(), SourceDiagnostic> {
        if lod.is_none_or(|lod| self.info.read_constant(lod) == Some(0)) {
            Ok(())
        } else {
            Err(self
                .info
                .diagnose_id(inst.id_operand(0), "a level of an image that is written"))
        }
    }

    /// A fact of an image that the launch pushes.
    fn lower_pushed_query(
        &mut self,
        inst: InstRef<'_>,
        at: Option<u32>,
        first: u64,
    ) -> Result<Id, SourceDiagnostic> {
        let at = at.ok_or_else(|| {
            self.info
                .diagnose_id(inst.id_operand(0), "what is asked of this image")
        })?;
        let (word, first) = (self.make_int_type(32), self.make_uint_constant(32, first));
        let pushed = self.load_push_scalar(MemoryScalar::Int(32), at);
        let number = self.emit_value(Op::ISub, word, &[pushed, first]);
        let (scalar, _) = self.find_component_scalar(expect_result(inst))?;
        Ok(self.resize_int(number, 32, scalar.size() * 8))
    }
}

/// `OpImageSampleExplicitLod`, and the implicit form, which takes the first level in a kernel.
pub fn lower_image_sample(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let both = l
        .info
        .find_definition(super::descriptors::find_copied_object(
            l.info,
            inst.id_operand(0),
        ))?;
    if both.op() != Op::SampledImage {
        return Err(l
            .info
            .diagnose_id(inst.id_operand(0), "an image with a sampler of its own"));
    }
    let extra = ImageInstOperands::new(l, inst, 2)?;
    let shape = l.texel_shape(expect_result(inst), &extra)?;
    let ((id, picture), sampler) = (
        l.resolve_image(both.id_operand(0))?,
        l.resolve_sampler(both.id_operand(1))?,
    );
    if picture.usage != KernelImageUsage::Reads || picture.dim == Dim::Buffer {
        return Err(l.info.diagnose_id(
            both.id_operand(0),
            "a sampler for an image that is none to sample",
        ));
    }
    let (image_type, image) = l.load_image(id, picture, shape.texels);
    let at = l.sample_coordinate(inst.id_operand(1), &picture, image, sampler)?;
    let sampler = l.load_sampler(sampler);
    let combined = l.b.declare_type(Op::TypeSampledImage, &[image_type.word()]);
    let combined = l.emit_value(Op::SampledImage, combined, &[image, sampler]);
    let mut words = vec![combined.word(), at.word()];
    match extra.grad {
        Some(grad) => {
            words.push(ImageOperands::Grad.0);
            for direction in grad {
                words.push(l.lower_operand(direction)?.word());
            }
        }
        None => {
            let lod = match extra.lod {
                Some(lod) => l.lower_operand(lod)?,
                None => l.float_number(0.0),
            };
            words.extend([ImageOperands::Lod.0, lod.word()]);
        }
    }
    let part = l.make_texel_type(shape.texels);
    let ty = l.make_vector_type(part, 4);
    let texel = l.b.append_value(Op::ImageSampleExplicitLod, ty, &words);
    Ok(l.convert_read_texel(&shape, texel))
}

/// `OpImageRead`.
pub fn lower_image_read(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let extra = ImageInstOperands::new(l, inst, 2)?;
    let shape = l.texel_shape(expect_result(inst), &extra)?;
    let (id, picture) = l.resolve_image(inst.id_operand(0))?;
    let (_, image) = l.load_image(id, picture, shape.texels);
    let at = l.texel_coordinate(inst.id_operand(1), &picture)?;
    let part = l.make_texel_type(shape.texels);
    let ty = l.make_vector_type(part, 4);
    let mut words = vec![image.word(), at.word()];
    let op = match picture.usage {
        KernelImageUsage::Reads => {
            if picture.dim != Dim::Buffer {
                let lod = match extra.lod {
                    Some(lod) => l.lower_operand(lod)?,
                    None => l.make_uint_constant(32, 0),
                };
                words.extend([ImageOperands::Lod.0, lod.word()]);
            }
            Op::ImageFetch
        }
        KernelImageUsage::Both | KernelImageUsage::Writes => {
            l.first_level(inst, extra.lod)?;
            words.push(ImageOperands::NonPrivateTexel.0);
            Op::ImageRead
        }
    };
    let texel = l.b.append_value(op, ty, &words);
    Ok(l.convert_read_texel(&shape, texel))
}

/// `OpImageWrite`.
pub fn lower_image_write(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<(), SourceDiagnostic> {
    let extra = ImageInstOperands::new(l, inst, 3)?;
    let shape = l.texel_shape(inst.id_operand(2), &extra)?;
    let (id, picture) = l.resolve_image(inst.id_operand(0))?;
    if picture.usage == KernelImageUsage::Reads {
        return Err(l.info.diagnose_id(
            inst.id_operand(0),
            "a store into an image that is only read",
        ));
    }
    l.first_level(inst, extra.lod)?;
    let (_, image) = l.load_image(id, picture, shape.texels);
    let at = l.texel_coordinate(inst.id_operand(1), &picture)?;
    let value = l.lower_operand(inst.id_operand(2))?;
    let texel = l.convert_written_texel(&shape, value);
    let mut words = vec![image.word(), at.word(), texel.word()];
    if picture.usage == KernelImageUsage::Both {
        words.push(ImageOperands::NonPrivateTexel.0);
    }
    l.b.append_effect(Op::ImageWrite, &words);
    Ok(())
}

/// `OpImageQuerySizeLod` and `OpImageQuerySize`.
pub fn lower_image_size(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let (id, picture) = l.resolve_image(inst.id_operand(0))?;
    let (_, image) = l.load_image(id, picture, TexelClass::Floats);
    let level = inst
        .get_id(1)
        .filter(|_| inst.op() == Op::ImageQuerySizeLod);
    let is_first = level.is_none_or(|level| l.info.read_constant(level) == Some(0));
    let (scalar, count) = l.find_component_scalar(expect_result(inst))?;
    let mut parts = match (is_first, level) {
        (false, Some(level)) => {
            if picture.usage != KernelImageUsage::Reads || picture.dim == Dim::Buffer {
                return Err(l
                    .info
                    .diagnose_id(inst.id_operand(0), "a level of an image that is written"));
            }
            let (word, level) = (l.make_int_type(32), l.lower_operand(level)?);
            let wanted = picture.count_axes() + u32::from(picture.is_arrayed);
            let ty = l.make_vector_type(word, wanted);
            let size = l.emit_value(Op::ImageQuerySizeLod, ty, &[image, level]);
            match wanted {
                1 => vec![size],
                _ => (0..wanted)
                    .map(|n| l.extract_component(word, size, n))
                    .collect(),
            }
        }
        _ => l.query_image_size(&picture, image),
    };
    if parts.len() != count as usize {
        return Err(l
            .info
            .diagnose_id(expect_result(inst), "a size of so many components"));
    }
    for part in &mut parts {
        *part = l.resize_int(*part, 32, scalar.size() * 8);
    }
    let part = l.make_scalar_type(scalar);
    let ty = l.make_vector_type(part, count);
    Ok(l.construct_composite(ty, parts))
}

/// `OpImageQueryLevels`.
pub fn lower_image_levels(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let (id, picture) = l.resolve_image(inst.id_operand(0))?;
    if picture.usage != KernelImageUsage::Reads || picture.dim == Dim::Buffer {
        return Ok(l.make_uint_constant(32, 1));
    }
    let (_, image) = l.load_image(id, picture, TexelClass::Floats);
    let word = l.make_int_type(32);
    Ok(l.emit_value(Op::ImageQueryLevels, word, &[image]))
}

/// `OpImageQueryOrder`.
pub fn lower_image_order(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let (_, picture) = l.resolve_image(inst.id_operand(0))?;
    l.lower_pushed_query(inst, picture.order, FIRST_ORDER)
}

/// `OpImageQueryFormat`.
pub fn data_type(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let (_, picture) = l.resolve_image(inst.id_operand(0))?;
    l.lower_pushed_query(inst, picture.data_type, FIRST_DATA_TYPE)
}
