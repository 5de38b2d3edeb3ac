//! Image and sampler functions.

use crate::ir::{ConstKind, GlobalKind, LlvmOpcode, LlvmType, LlvmTypeKind, LlvmValue};
use crate::translate::call_rules::ExternalCall;
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::translate::translator::LlvmTranslator;
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::{Dim, ImageOperands};
use spirula_spirv::grammar::{Op, SpirvVersion};

/// Image accesses: the index of the image operands, and that of the texel if it is not the result.
const TEXELS: &[(Op, usize, Option<usize>)] = &[
    (Op::ImageRead, 2, None),
    (Op::ImageFetch, 2, None),
    (Op::ImageSampleExplicitLod, 2, None),
    (Op::ImageSampleImplicitLod, 2, None),
    (Op::ImageWrite, 3, Some(2)),
];

/// Whether a type of OpenCL C has signed integers; `None` if it has no integers.
fn parse_signedness(name: &str) -> Option<bool> {
    match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "char" | "short" | "int" | "long" => Some(true),
        "uchar" | "ushort" | "uint" | "ulong" => Some(false),
        _ => None,
    }
}

/// The properties of an image type.
#[derive(Clone, Copy)]
struct BuiltinImageType {
    dim: Dim,
    depth: bool,
    arrayed: bool,
    multisampled: bool,
    ty: LlvmType,
}

impl BuiltinImageType {
    /// Lanes of its size, layers included.
    fn size_lanes(self) -> u32 {
        let own = match self.dim {
            Dim::Dim3D => 3,
            Dim::Dim2D | Dim::Cube | Dim::Rect => 2,
            _ => 1,
        };
        own + u32::from(self.arrayed)
    }

    /// Whether its size is queried for a mip level.
    fn has_levels(self) -> bool {
        self.dim != Dim::Buffer && !self.multisampled
    }
}

/// `read_imageX(image, sampler, coordinate[, lod | gradients])`,
/// `read_imageX(image, coordinate[, sample])`
pub(super) fn lower_read_image(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let image = body.find_image_type(call.arg(0)?)?;
    if body.is_sampler_argument(call) {
        return body.emit_image_sample(image, call).map(Some);
    }
    let id = body.lower_value(call.arg(0)?)?;
    let coordinate = body.lower_value(call.arg(1)?)?;
    let mut words = vec![id.word(), coordinate.word()];
    let mut operands = body.extension_of(call.name);
    let mut parameters = Vec::new();
    if let Some(&sample) = call.args.get(2) {
        operands |= if image.multisampled {
            ImageOperands::Sample
        } else {
            ImageOperands::Lod
        };
        parameters.push(body.lower_value(sample)?.word());
    }
    if operands != ImageOperands::default() {
        words.push(operands.0);
        words.extend(parameters);
    }
    let ty = body.call_type(call)?;
    Ok(Some(body.t.b.append_value(Op::ImageRead, ty, &words)))
}

/// `write_imageX(image, coordinate[, lod], colour)`
pub(super) fn lower_write_image(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.find_image_type(call.arg(0)?)?;
    let colour = call.args.len() - 1;
    let image = body.lower_value(call.arg(0)?)?;
    let coordinate = body.lower_value(call.arg(1)?)?;
    let texel = body.lower_value(call.arg(colour)?)?;
    let mut words = [image, coordinate, texel].map(Id::word).to_vec();
    let mut operands = body.extension_of(call.name);
    let level = (colour == 3).then(|| call.args[2]);
    if level.is_some() {
        operands |= ImageOperands::Lod;
    }
    if operands != ImageOperands::default() {
        words.push(operands.0);
    }
    if let Some(level) = level {
        words.push(body.lower_value(level)?.word());
    }
    body.t.b.append_effect(Op::ImageWrite, &words);
    Ok(None)
}

/// `get_image_width(image)`
pub(super) fn lower_image_width(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.query_image_extent(0, call).map(Some)
}

/// `get_image_height(image)`
pub(super) fn lower_image_height(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.query_image_extent(1, call).map(Some)
}

/// `get_image_depth(image)`
pub(super) fn lower_image_depth(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.query_image_extent(2, call).map(Some)
}

/// `get_image_array_size(image)`
pub(super) fn lower_array_size(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let image = body.find_image_type(call.arg(0)?)?;
    body.query_image_extent(image.size_lanes() - 1, call)
        .map(Some)
}

/// `get_image_dim(image)`: two lanes, or four whose last is 0.
pub(super) fn lower_image_dimensions(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let image = body.find_image_type(call.arg(0)?)?;
    let size = body.query_image_size(image, call)?;
    let from = NumericShape::new_int(32, image.size_lanes());
    let to = body.result_shape(call.inst)?;
    if to.elem != NumericElement::Int || to.width != 32 {
        return Err(make_refusal("the size of an image has 32 bits"));
    }
    let mut lanes = Vec::new();
    for lane in 0..to.lanes {
        lanes.push(if lane < image.size_lanes() - u32::from(image.arrayed) {
            body.extract_lane(from, size, lane)
        } else {
            body.t.make_u32(0)
        });
    }
    Ok(Some(body.compose_vector(to, &lanes)))
}

/// `get_image_num_mip_levels(image)`
pub(super) fn lower_image_mip_levels(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_image_query(Op::ImageQueryLevels, call).map(Some)
}

/// `get_image_num_samples(image)`
pub(super) fn lower_image_samples(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_image_query(Op::ImageQuerySamples, call).map(Some)
}

/// `CLK_SNORM_INT8`, the first channel data type of OpenCL.
const FIRST_TYPE: u32 = 0x10d0;
/// `CLK_R`, the first channel order of OpenCL.
const FIRST_ORDER: u32 = 0x10b0;

/// `get_image_channel_data_type(image)`
pub(super) fn lower_channel_type(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.query_from_base(Op::ImageQueryFormat, FIRST_TYPE, call)
}

/// `get_image_channel_order(image)`
pub(super) fn lower_channel_order(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.query_from_base(Op::ImageQueryOrder, FIRST_ORDER, call)
}

/// `__translate_sampler_initializer(literal)`
pub(super) fn literal_sampler(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_sampler(call.arg(0)?).map(Some)
}

impl LlvmTranslator<'_> {
    /// Whether a type is that of samplers.
    pub(in crate::translate) fn is_sampler(&self, ty: LlvmType) -> bool {
        match self.module.types.kind(ty) {
            LlvmTypeKind::Target { name, .. } => self.module.symbol_text(*name) == "spirv.Sampler",
            _ => false,
        }
    }

    /// A literal sampler as OpenCL C encodes it. Normalised coordinates are bit 0, addressing bits 1 to 3, and the
    /// filter, counted from 1, is from bit 4 on.
    pub(in crate::translate) fn literal_sampler(&mut self, literal: u64) -> Id {
        let addressing = (literal >> 1 & 7) as u32;
        let normalised = (literal & 1) as u32;
        let filter = u32::from(literal >> 4 > 1);
        let ty = self.b.declare_type(Op::TypeSampler, &[]);
        let words = [addressing, normalised, filter];
        self.b.declare_constant(Op::ConstantSampler, ty, &words)
    }
}

impl FunctionTranslator<'_, '_> {
    /// The image type of an argument.
    fn find_image_type(&self, value: LlvmValue) -> LlvmResult<BuiltinImageType> {
        let ty = self.type_of(value);
        if let LlvmTypeKind::Target { name, ints, .. } = self.t.module.types.kind(ty)
            && self.t.module.symbol_text(*name) == "spirv.Image"
            && let [dim, depth, arrayed, multisampled, ..] = ints[..]
        {
            return Ok(BuiltinImageType {
                dim: Dim(dim),
                depth: depth == 1,
                arrayed: arrayed == 1,
                multisampled: multisampled == 1,
                ty,
            });
        }
        Err(make_refusal("the first argument is not an image"))
    }

    fn is_sampler_argument(&self, call: &ExternalCall<'_>) -> bool {
        let named = call.param(1).map(|param| param.base);
        let typed = call.args.get(1);
        named == Some(super::MangledBaseType::Named("ocl_sampler"))
            || typed.is_some_and(|value| self.t.is_sampler(self.type_of(*value)))
    }

    /// A sampler: a value of its type, or a literal, possibly in a constant variable.
    fn lower_sampler(&mut self, value: LlvmValue) -> LlvmResult<Id> {
        if self.t.is_sampler(self.type_of(value)) {
            return self.lower_value(value);
        }
        match self.known_number(value) {
            Some(literal) => Ok(self.t.literal_sampler(literal)),
            None => Err(make_refusal("a sampler is only known at run time")),
        }
    }

    /// The number of a value that is a constant, or loaded from a constant variable.
    fn known_number(&self, value: LlvmValue) -> Option<u64> {
        let module = self.t.module;
        if let Some(number) = module.as_u64(value) {
            return Some(number);
        }
        let inst = self.function.inst_of(value.as_local()?)?;
        if self.function.inst(inst).opcode != LlvmOpcode::Load {
            return None;
        }
        let pointer = self.function.operands(inst)[0].as_const()?;
        match module.global(module.as_global(pointer)?).kind {
            GlobalKind::Variable(variable) if variable.constant => {
                match module.consts.kind(variable.initializer?) {
                    ConstKind::Int(number) => Some(*number),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The extension of a texel's integer components, which SPIR-V can state since version 1.4.
    fn extension_of(&self, name: &str) -> ImageOperands {
        if self.t.version < SpirvVersion::new(1, 4) {
            return ImageOperands::default();
        }
        match name
            .strip_prefix("read_image")
            .or(name.strip_prefix("write_image"))
        {
            Some("i") => ImageOperands::SignExtend,
            Some("ui") => ImageOperands::ZeroExtend,
            _ => ImageOperands::default(),
        }
    }

    /// Adds the extension of integers to an image access that was called by the name of its
    /// instruction.
    pub(super) fn state_texels(&self, op: Op, call: &ExternalCall<'_>, words: &mut Vec<u32>) {
        let Some((_, at, texel)) = TEXELS.iter().find(|row| row.0 == op) else {
            return;
        };
        let signed = match texel {
            Some(texel) => call
                .param(*texel)
                .and_then(super::MangledParameter::integer_signedness),
            None => call
                .result
                .as_ref()
                .and_then(super::MangledParameter::integer_signedness),
        };
        let named = || {
            call.name
                .split_once("_R")
                .and_then(|(_, name)| parse_signedness(name))
        };
        let bit = match signed.or_else(named) {
            Some(true) => ImageOperands::SignExtend,
            Some(false) => ImageOperands::ZeroExtend,
            None => return,
        };
        let either = ImageOperands::SignExtend.0 | ImageOperands::ZeroExtend.0;
        let new = self.t.version >= SpirvVersion::new(1, 4) && !self.t.is_shader();
        match words.get_mut(*at) {
            Some(mask) if new && *mask & either == 0 => *mask |= bit.0,
            None if new => words.push(bit.0),
            _ => {}
        }
    }

    fn emit_image_sample(
        &mut self,
        image: BuiltinImageType,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Id> {
        let id = self.lower_value(call.arg(0)?)?;
        let sampler = self.lower_sampler(call.arg(1)?)?;
        let image_type = self.t.register_type(image.ty)?;
        let ty = self
            .t
            .b
            .declare_type(Op::TypeSampledImage, &[image_type.word()]);
        let sampled = self.emit_op(Op::SampledImage, ty, [id, sampler]);
        let coordinate = self.lower_value(call.arg(2)?)?;
        let mut operands = self.extension_of(call.name);
        let mut parameters = Vec::new();
        match call.args.len() {
            3 => {
                operands |= ImageOperands::Lod;
                let float = self.t.b.float_type(32);
                parameters.push(self.t.b.constant_bits(float, 32, 0));
            }
            4 => {
                operands |= ImageOperands::Lod;
                parameters.push(self.lower_value(call.args[3])?);
            }
            _ => {
                operands |= ImageOperands::Grad;
                parameters.push(self.lower_value(call.arg(3)?)?);
                parameters.push(self.lower_value(call.arg(4)?)?);
            }
        }
        let mut words = vec![sampled.word(), coordinate.word(), operands.0];
        words.extend(parameters.iter().map(|id| id.word()));
        let shape = self.result_shape(call.inst)?;
        // A sample has four lanes; one of them is the depth.
        if image.depth && shape.lanes == 1 {
            let four = NumericShape {
                lanes: 4,
                padded: 4,
                ..shape
            };
            let ty = self.t.shape_type(four);
            let all = self
                .t
                .b
                .append_value(Op::ImageSampleExplicitLod, ty, &words);
            return Ok(self.extract_lane(four, all, 0));
        }
        let ty = self.call_type(call)?;
        Ok(self
            .t
            .b
            .append_value(Op::ImageSampleExplicitLod, ty, &words))
    }

    /// All lanes of the size of an image.
    fn query_image_size(
        &mut self,
        image: BuiltinImageType,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Id> {
        let id = self.lower_value(call.arg(0)?)?;
        let ty = self
            .t
            .shape_type(NumericShape::new_int(32, image.size_lanes()));
        Ok(if image.has_levels() {
            let level = self.t.make_u32(0);
            self.emit_op(Op::ImageQuerySizeLod, ty, [id, level])
        } else {
            self.emit_op(Op::ImageQuerySize, ty, [id])
        })
    }

    /// One lane of the size of an image.
    fn query_image_extent(&mut self, lane: u32, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let image = self.find_image_type(call.arg(0)?)?;
        if lane >= image.size_lanes() {
            return Err(make_refusal("the image has too few dimensions"));
        }
        let size = self.query_image_size(image, call)?;
        let shape = NumericShape::new_int(32, image.size_lanes());
        let id = self.extract_lane(shape, size, lane);
        let to = self.result_shape(call.inst)?;
        Ok(self.resize_integer(shape.to_scalar(), to, id, false))
    }

    fn emit_image_query(&mut self, op: Op, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        self.find_image_type(call.arg(0)?)?;
        let image = self.lower_value(call.arg(0)?)?;
        let ty = self.call_type(call)?;
        Ok(self.emit_op(op, ty, [image]))
    }

    /// A query whose enumeration begins at another number in OpenCL than in SPIR-V.
    fn query_from_base(
        &mut self,
        op: Op,
        first: u32,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Option<Id>> {
        let id = self.emit_image_query(op, call)?;
        let ty = self.call_type(call)?;
        let first = self.t.make_u32(first);
        Ok(Some(self.emit_op(Op::IAdd, ty, [id, first])))
    }
}
