//! Image instructions: calls of the functions of [`crate::image::access`], with a request on the stack.

use super::lowering::{ClifLowering, clif_type, invariant_flags, plain_flags};
use super::{ClifResult, ClifScalars};
use crate::image::ImageType;
use crate::image::access::{self, TextureQuery};
use crate::image::image_request::{ask, at};
use crate::image::texture_view::SAMPLER;
use crate::module::types::ScalarRepr;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Dim, ImageOperands};
use spirula_spirv::ir::InstRef;

/// Image operands without effect here: texels are always visible to all invocations.
const IGNORED: u32 = ImageOperands::MakeTexelAvailable.0
    | ImageOperands::MakeTexelVisible.0
    | ImageOperands::NonPrivateTexel.0
    | ImageOperands::VolatileTexel.0
    | ImageOperands::SignExtend.0
    | ImageOperands::ZeroExtend.0
    | ImageOperands::Nontemporal.0;

/// `OpSampledImage`.
pub(crate) fn lower_sampled_image(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let (image, sampler) = (
        lower.read_value(inst.id_operand(0))?,
        lower.read_value(inst.id_operand(1))?,
    );
    lower.set_result(inst.result(), &[image, sampler])
}

/// `OpImage`: the image of one with a sampler.
pub(crate) fn lower_image(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let image = lower.read_value(inst.id_operand(0))?;
    lower.set_result(inst.result(), &[image])
}

/// `OpImageSampleExplicitLod` and its relatives with a reference or a divisor.
pub(crate) fn lower_image_sample(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let compares = matches!(
        inst.op(),
        Op::ImageSampleDrefExplicitLod | Op::ImageSampleProjDrefExplicitLod
    );
    let divides = matches!(
        inst.op(),
        Op::ImageSampleProjExplicitLod | Op::ImageSampleProjDrefExplicitLod
    );
    let (image, sampler) = lower.sampled_image(inst.id_operand(0))?;
    let mut request = lower.begin_image_request(inst.id_operand(0))?;
    lower.store_coordinates(&mut request, inst.id_operand(1), divides)?;
    if compares {
        lower.store_depth_reference(&mut request, inst.id_operand(2))?;
    }
    lower.image_operands(&mut request, inst, if compares { 3 } else { 2 })?;
    let callee = access::sample_image as *const () as usize;
    lower.call_image_function(&request, inst, callee, image, Some(sampler))
}

/// `OpImageGather` and `OpImageDrefGather`.
pub(crate) fn lower_image_gather(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let (image, sampler) = lower.sampled_image(inst.id_operand(0))?;
    let mut request = lower.begin_image_request(inst.id_operand(0))?;
    lower.store_coordinates(&mut request, inst.id_operand(1), false)?;
    match inst.op() {
        Op::ImageDrefGather => lower.store_depth_reference(&mut request, inst.id_operand(2))?,
        _ => request.asks |= (lower.read_constant(inst.id_operand(2))? & 3) << ask::COMPONENT_SHIFT,
    }
    lower.image_operands(&mut request, inst, 3)?;
    let callee = access::gather_image as *const () as usize;
    lower.call_image_function(&request, inst, callee, image, Some(sampler))
}

/// `OpImageRead` and `OpImageFetch`.
pub(crate) fn lower_image_read(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let image = lower.read_value(inst.id_operand(0))?;
    let mut request = lower.begin_image_request(inst.id_operand(0))?;
    lower.store_coordinates(&mut request, inst.id_operand(1), false)?;
    lower.image_operands(&mut request, inst, 2)?;
    let callee = access::read_image as *const () as usize;
    lower.call_image_function(&request, inst, callee, image, None)
}

/// `OpImageWrite`.
pub(crate) fn lower_image_write(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let image = lower.read_value(inst.id_operand(0))?;
    let mut request = lower.begin_image_request(inst.id_operand(0))?;
    lower.store_coordinates(&mut request, inst.id_operand(1), false)?;
    lower.image_operands(&mut request, inst, 3)?;
    let scalar = lower.scalar_of(inst.id_operand(2))?;
    request.asks |= integer_request_flags(scalar);
    let texel = lower.read_values(inst.id_operand(2))?;
    for n in 0..4 {
        let value = match texel.get(n) {
            Some(value) => *value,
            None => lower.scalar_constant(scalar, 0),
        };
        let value = if scalar.is_float() {
            lower.widen_half(scalar, value)
        } else {
            lower.extend_to(value, types::I64, true)
        };
        request.store_field(lower, value, at::TEXEL + 8 * n as i32);
    }
    let request_kind = lower.emit_iconst(types::I64, request.asks as i64);
    let callee = access::write_image as *const () as usize;
    lower.call_host(
        callee,
        &[types::I64; 3],
        &[],
        &[image, request.address, request_kind],
    );
    Ok(())
}

/// `OpImageTexelPointer`.
pub(crate) fn lower_texel_pointer(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let pointer = lower.read_pointer(inst.id_operand(0))?;
    let image = lower.address_of(pointer)?;
    let Some(ty) = lower.program.pointee_of(inst.id_operand(0)) else {
        return lower.fail_unsupported("a texel of an untyped pointer");
    };
    let mut request = lower.request_of(ty)?;
    lower.store_coordinates(&mut request, inst.id_operand(1), false)?;
    let callee = access::texel_address as *const () as usize;
    let args = [image, request.address];
    let address = lower.call_host(callee, &[types::I64; 2], &[types::I64], &args);
    lower.set_result(inst.result(), &address)
}

/// The queries.
pub(crate) fn lower_image_query(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let image = lower.read_value(inst.id_operand(0))?;
    let request = lower.begin_image_request(inst.id_operand(0))?;
    let request_kind = match inst.op() {
        Op::ImageQueryLevels => TextureQuery::Levels,
        Op::ImageQueryFormat => TextureQuery::Format,
        Op::ImageQueryOrder => TextureQuery::Order,
        _ => TextureQuery::Size,
    };
    let lod = if inst.op() == Op::ImageQuerySizeLod {
        let lod = lower.read_value(inst.id_operand(1))?;
        lower.resize_integer(lod, types::I32, false)
    } else {
        lower.emit_iconst(types::I32, 0)
    };
    request.store_field(lower, lod, at::LOD);
    let request_kind = lower.emit_iconst(types::I64, request_kind as i64);
    let args = [image, request.address, request_kind];
    let callee = access::query_image as *const () as usize;
    lower.call_host(callee, &[types::I64; 3], &[], &args);
    let values = lower.read_image_result(&request, inst)?;
    lower.set_result(inst.result(), &values)
}

/// A request on the stack.
struct ImageRequestSlot {
    address: Value,
    asks: u64,
    image: ImageType,
}

impl ImageRequestSlot {
    fn store_field(&self, lower: &mut ClifLowering, value: Value, offset: i32) {
        let address = self.address;
        lower
            .builder
            .ins()
            .store(plain_flags(), value, address, offset);
    }

    /// Stores zeros into fields of 32 bits.
    fn clear_fields(&self, lower: &mut ClifLowering, offset: i32, count: i32) {
        let zero = lower.emit_iconst(types::I32, 0);
        for n in 0..count {
            self.store_field(lower, zero, offset + 4 * n);
        }
    }
}

fn integer_request_flags(scalar: ScalarRepr) -> u64 {
    match scalar {
        ScalarRepr::Int(64) => ask::INTEGERS | ask::WIDE,
        _ if scalar.is_float() => 0,
        _ => ask::INTEGERS,
    }
}

impl ClifLowering<'_, '_, '_> {
    /// Loads the scalars of an image or sampler.
    pub fn load_handle(&mut self, address: Value, count: u32) -> ClifScalars {
        let mut values = ClifScalars::from_slice(&[address]);
        if count > 1 {
            let flags = invariant_flags();
            values.push(self.builder.ins().load(types::I64, flags, address, SAMPLER));
        }
        values
    }

    fn sampled_image(&mut self, id: Id) -> Result<(Value, Value), SourceDiagnostic> {
        match self.read_values(id)?[..] {
            [image, sampler] => Ok((image, sampler)),
            _ => Err(self.instruction_fault(format!("{id} is no image with a sampler"))),
        }
    }

    /// An empty request for an image.
    fn begin_image_request(&mut self, image: Id) -> Result<ImageRequestSlot, SourceDiagnostic> {
        let ty = self.type_of(image)?;
        self.request_of(ty)
    }

    fn request_of(&mut self, ty: Id) -> Result<ImageRequestSlot, SourceDiagnostic> {
        let Some(image) = self.program.image_type(ty) else {
            return Err(self.instruction_fault(format!("{ty} is no type of images")));
        };
        if image.multisampled {
            return self.fail_unsupported("an image of several samples");
        }
        let is_known = matches!(
            image.dim,
            Dim::Dim1D | Dim::Dim2D | Dim::Dim3D | Dim::Cube | Dim::Rect | Dim::Buffer
        );
        if !is_known {
            return self.fail_unsupported(format!("an image of the dimensionality {}", image.dim));
        }
        let slot = self.stack_slot(at::SIZE)?;
        let address = self.builder.ins().stack_addr(types::I64, slot, 0);
        Ok(ImageRequestSlot {
            address,
            asks: 0,
            image,
        })
    }

    /// Stores coordinates into a request. With projection, they are divided by the component after them.
    fn store_coordinates(
        &mut self,
        request: &mut ImageRequestSlot,
        id: Id,
        divides: bool,
    ) -> ClifResult {
        let scalar = self.scalar_of(id)?;
        let values = self.read_values(id)?;
        let count = request.image.coordinate_count();
        if values.len() < count + usize::from(divides) {
            return Err(self.instruction_fault(format!("{count} coordinates are needed")));
        }
        let mut bits = ClifScalars::new();
        for value in values.iter().take(count + usize::from(divides)) {
            bits.push(match scalar {
                ScalarRepr::F64 => self.builder.ins().fdemote(types::F32, *value),
                _ if scalar.is_float() => self.widen_half(scalar, *value),
                _ => self.resize_integer(*value, types::I32, true),
            });
        }
        if !scalar.is_float() {
            request.asks |= ask::INTEGER_COORDINATES;
        } else if divides {
            let divisor = bits[count];
            for value in &mut bits[..count] {
                *value = self.builder.ins().fdiv(*value, divisor);
            }
        }
        for (n, value) in bits.iter().take(count).enumerate() {
            request.store_field(self, *value, at::COORDINATE + 4 * n as i32);
        }
        Ok(())
    }

    fn store_depth_reference(&mut self, request: &mut ImageRequestSlot, id: Id) -> ClifResult {
        let scalar = self.scalar_of(id)?;
        let value = self.read_value(id)?;
        let value = self.widen_half(scalar, value);
        request.asks |= ask::COMPARES;
        request.store_field(self, value, at::REFERENCE);
        Ok(())
    }

    /// The image operands from word `first` on.
    fn image_operands(
        &mut self,
        request: &mut ImageRequestSlot,
        inst: InstRef,
        first: usize,
    ) -> ClifResult {
        let Some(mask) = inst.operands().get(first).copied() else {
            return Ok(());
        };
        let mut next = first + 1;
        for bit in (0..32).map(|n| 1u32 << n).filter(|bit| mask & bit != 0) {
            match ImageOperands(bit) {
                // A bias needs a fragment shader.
                ImageOperands::Bias | ImageOperands::Sample | ImageOperands::MinLod => next += 1,
                ImageOperands::Lod => {
                    request.asks |= ask::LOD;
                    let lod = self.read_level_of_detail(inst.id_operand(next))?;
                    request.store_field(self, lod, at::LOD);
                    next += 1;
                }
                ImageOperands::Grad => {
                    request.asks |= ask::GRADIENTS;
                    request.clear_fields(self, at::GRADIENTS, 6);
                    for n in 0..2 {
                        let gradient = self.read_values(inst.id_operand(next + n))?;
                        for (axis, value) in gradient.iter().take(3).enumerate() {
                            let offset = at::GRADIENTS + 4 * (3 * n + axis) as i32;
                            request.store_field(self, *value, offset);
                        }
                    }
                    next += 2;
                }
                ImageOperands::ConstOffset | ImageOperands::Offset => {
                    request.asks |= ask::OFFSET;
                    request.clear_fields(self, at::OFFSET, 3);
                    let offsets = self.read_values(inst.id_operand(next))?;
                    for (axis, value) in offsets.iter().take(3).enumerate() {
                        let value = self.resize_integer(*value, types::I32, true);
                        request.store_field(self, value, at::OFFSET + 4 * axis as i32);
                    }
                    next += 1;
                }
                _ if bit & IGNORED != 0 => {
                    let has_scope =
                        ImageOperands::MakeTexelAvailable.0 | ImageOperands::MakeTexelVisible.0;
                    next += usize::from(bit & has_scope != 0);
                }
                other => return self.fail_unsupported(format!("the image operand {other}")),
            }
        }
        Ok(())
    }

    /// A level of detail: a number where an image is sampled, else an integer.
    fn read_level_of_detail(&mut self, id: Id) -> Result<Value, SourceDiagnostic> {
        let scalar = self.scalar_of(id)?;
        let value = self.read_value(id)?;
        Ok(if scalar.is_float() {
            self.widen_half(scalar, value)
        } else {
            self.resize_integer(value, types::I32, false)
        })
    }

    /// Calls a function and takes the result out of the request.
    fn call_image_function(
        &mut self,
        request: &ImageRequestSlot,
        inst: InstRef,
        callee: usize,
        image: Value,
        sampler: Option<Value>,
    ) -> ClifResult {
        let ty = self.result_type(inst)?;
        let asks = request.asks | integer_request_flags(self.component_scalar(ty)?);
        let asks = self.emit_iconst(types::I64, asks as i64);
        let args: ClifScalars = [Some(image), sampler, Some(request.address), Some(asks)]
            .into_iter()
            .flatten()
            .collect();
        let params = vec![types::I64; args.len()];
        self.call_host(callee, &params, &[], &args);
        let values = self.read_image_result(request, inst)?;
        self.set_result(inst.result(), &values)
    }

    /// The result in a request.
    fn read_image_result(
        &mut self,
        request: &ImageRequestSlot,
        inst: InstRef,
    ) -> Result<ClifScalars, SourceDiagnostic> {
        let ty = self.result_type(inst)?;
        let scalar = self.component_scalar(ty)?;
        let count = self.program.types.scalar_count(ty);
        if count > 4 {
            return self.fail_unsupported("a result that tells of memory");
        }
        let mut values = ClifScalars::new();
        for n in 0..count as i32 {
            let (flags, address) = (plain_flags(), request.address);
            let offset = at::TEXEL + 8 * n;
            let ty = match clif_type(scalar) {
                _ if scalar.is_float() => types::F32,
                types::I64 => types::I64,
                _ => types::I32,
            };
            // Of an integer, the lower half comes first.
            let value = self.builder.ins().load(ty, flags, address, offset);
            values.push(match scalar {
                ScalarRepr::F64 => self.builder.ins().fpromote(types::F64, value),
                _ if scalar.is_float() => self.narrow_to_half(scalar, value),
                _ => self.resize_integer(value, clif_type(scalar), false),
            });
        }
        Ok(values)
    }
}
