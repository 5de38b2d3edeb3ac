//! Preparation of arguments: their values as arrays and bytes.

use super::bind::BoundParameter;
use crate::cli::{CommandFailure, files};
use crate::values::{ArrayContents, ArrayFiles, ValueSpec, read_npy_file};
use spirula_runtime::data::{
    ElementArray, ElementNumber, ElementType, generate_elements, measure_shape,
};
use spirula_runtime::type_names::TypeNames;
use spirula_runtime::{DeviceError, ImageShape, PipeShape, SamplerState};
use spirula_spirv::reflect::{EntryInterface, InterfaceParam, ParamKind};

/// A value, ready for the device.
#[derive(Debug)]
pub enum PreparedValue {
    /// Contents of a buffer.
    Buffer(ElementArray),
    /// A value by its bytes.
    Bytes(Vec<u8>),
    /// Bytes of workgroup memory.
    Local(u64),
    /// An image with the sampler that it is bound with, and its texels.
    Image(ImageShape, SamplerState, ElementArray),
    /// A sampler.
    Sampler(SamplerState),
    /// An empty pipe.
    Pipe(PipeShape),
    /// The address of a buffer with these contents.
    Address(ElementArray),
}

/// Push constants: their bytes, and the buffers whose addresses are among them.
#[derive(Debug, Default)]
pub struct PushConstantData {
    /// The bytes; addresses are zero.
    pub bytes: Vec<u8>,
    /// The buffers whose addresses are push constants.
    pub buffers: Vec<AddressedBuffer>,
}

/// A buffer whose address is a push constant.
#[derive(Debug)]
pub struct AddressedBuffer {
    /// Offset of the address in the push constants, in bytes.
    pub offset: usize,
    /// Number of the push constant.
    pub number: usize,
    /// Contents of the buffer.
    pub contents: ElementArray,
}

impl PreparedValue {
    /// Size of the value in memory, in bytes.
    pub fn byte_size(&self) -> u64 {
        match self {
            PreparedValue::Buffer(array)
            | PreparedValue::Image(_, _, array)
            | PreparedValue::Address(array) => array.bytes().len() as u64,
            PreparedValue::Bytes(bytes) => bytes.len() as u64,
            PreparedValue::Local(_) | PreparedValue::Sampler(_) => 0,
            PreparedValue::Pipe(shape) => shape.memory_bytes().unwrap_or(0),
        }
    }
}

/// Prepares the value of a parameter. `limit` is the most bytes of an array.
pub fn prepare_value(
    slot: &BoundParameter,
    interface: &EntryInterface,
    types: &TypeNames<'_>,
    seed: u64,
    limit: u64,
) -> Result<PreparedValue, CommandFailure> {
    let bad = |text: String| {
        CommandFailure::from_message(format!(
            "{} of {}: {text}",
            slot.label.title(),
            interface.name
        ))
    };
    let told = |f: CommandFailure| match f {
        CommandFailure::Message { text, .. } => bad(text),
        other => other,
    };
    let seed = seed.wrapping_add(slot.label.number as u64);
    let param = slot.param.as_ref();
    let by_value = param.and_then(|param| match param.kind {
        ParamKind::Value { size, .. } => Some(ValueParam { param, size, types }),
        _ => None,
    });
    if let (Some(wanted), ValueSpec::Scalar(element, number)) = (&by_value, &slot.value) {
        return wanted.take_scalar(*element, *number).map_err(bad);
    }
    let array = match &slot.value {
        ValueSpec::Local(bytes) => return Ok(PreparedValue::Local(*bytes)),
        ValueSpec::Sampler(sampler) => return Ok(PreparedValue::Sampler(*sampler)),
        ValueSpec::Pipe(shape) => return Ok(PreparedValue::Pipe(*shape)),
        ValueSpec::Address(contents) => {
            if by_value.is_none_or(|wanted| wanted.size != BYTES_OF_ADDRESS) {
                return Err(bad("it takes no address".to_owned()));
            }
            return make_buffer_array(contents, seed, limit)
                .map(PreparedValue::Address)
                .map_err(told);
        }
        ValueSpec::Image(image) => {
            let texels =
                make_filled_array(image.element, &image.sizes, &image.contents, seed, limit);
            return Ok(PreparedValue::Image(
                image.shape,
                image.sampler,
                texels.map_err(told)?,
            ));
        }
        ValueSpec::Bytes(bytes) if by_value.is_some() => {
            return Ok(PreparedValue::Bytes(bytes.clone()));
        }
        ValueSpec::Scalar(element, _) => {
            return Err(bad(format!(
                "it takes a buffer: give its size, such as 16x{element}"
            )));
        }
        given => make_buffer_array(given, seed, limit).map_err(told)?,
    };
    if let Some(wanted) = by_value {
        return wanted.take_array(array).map_err(bad);
    }
    let is_binding = slot.label.binding.is_some();
    match param.map(|param| param.kind) {
        Some(ParamKind::Workgroup { .. }) => {
            Err(bad("it takes workgroup memory: give local=BYTES".to_owned()))
        }
        None if !is_binding => Err(bad("it takes nothing".to_owned())),
        _ => Ok(PreparedValue::Buffer(array)),
    }
}

/// The contents of a buffer.
fn make_buffer_array(
    value: &ValueSpec,
    seed: u64,
    limit: u64,
) -> Result<ElementArray, CommandFailure> {
    match value {
        ValueSpec::Bytes(bytes) => {
            ElementArray::new(ElementType::U8, vec![bytes.len()], bytes.clone())
                .map_err(|e| CommandFailure::from_message(e.to_string()))
        }
        value => of_spec(value, seed, limit),
    }
}

/// The array of a value outside of any kernel. Scalars are arrays without dimensions.
pub fn of_spec(value: &ValueSpec, seed: u64, limit: u64) -> Result<ElementArray, CommandFailure> {
    let failed = |text: String| CommandFailure::from_message(text);
    match value {
        ValueSpec::Scalar(element, number) => {
            let mut bytes = Vec::new();
            element.encode_number(*number, &mut bytes);
            ElementArray::new(*element, Vec::new(), bytes).map_err(|e| failed(e.to_string()))
        }
        ValueSpec::Array {
            element,
            shape,
            contents,
        } => make_filled_array(*element, shape, contents, seed, limit),
        ValueSpec::File(path) => ArrayFiles::default().read_array(path),
        ValueSpec::Local(_) => Err(failed("workgroup memory is not a value".to_owned())),
        ValueSpec::Image(_) | ValueSpec::Sampler(_) | ValueSpec::Pipe(_) => Err(failed(
            "images, samplers and pipes are not values".to_owned(),
        )),
        ValueSpec::Bytes(_) => Err(failed("bytes without a type are no value".to_owned())),
        ValueSpec::Address(_) => Err(failed("an address is not a value of a program".to_owned())),
    }
}

/// A parameter that a kernel takes by value.
struct ValueParam<'a> {
    param: &'a InterfaceParam,
    /// Bytes of the value.
    size: u64,
    types: &'a TypeNames<'a>,
}

impl ValueParam<'_> {
    /// The value of a scalar, or of a structure of one, from a number.
    fn take_scalar(
        &self,
        element: ElementType,
        number: ElementNumber,
    ) -> Result<PreparedValue, String> {
        let fits = element.size() as u64 == self.size;
        if !fits || !self.types.takes_elements(self.param, element) {
            let name = self.types.param_name(self.param);
            return Err(format!("it takes {name}, {element} is given"));
        }
        let mut bytes = Vec::new();
        element.encode_number(number, &mut bytes);
        Ok(PreparedValue::Bytes(bytes))
    }

    /// The value of a vector or structure from an array of its scalars.
    fn take_array(&self, array: ElementArray) -> Result<PreparedValue, String> {
        let ValueParam { param, size, types } = *self;
        let (shape, name) = (array.shape_text(), types.param_name(param));
        let (count, wanted) = (array.element_count(), types.param_value(param));
        if !types.takes_elements(param, array.element()) {
            let more = if types.takes_integers(param) {
                " (integers with or without a sign)"
            } else if wanted.is_none() {
                " (hex=BYTES gives a structure of several types)"
            } else {
                ""
            };
            return Err(format!("it takes {name}{more}, {shape} is given"));
        }
        let mut bytes = array.into_bytes();
        // A vector of three components has the size of one of four.
        if wanted.is_some_and(|v| v.count == 3 && count == 3) {
            bytes.resize(bytes.len() / 3 * 4, 0);
        }
        if bytes.len() as u64 == size {
            Ok(PreparedValue::Bytes(bytes))
        } else {
            Err(format!(
                "it takes {name} of {size} bytes by value, {shape} is given"
            ))
        }
    }
}

fn make_filled_array(
    element: ElementType,
    shape: &[usize],
    contents: &ArrayContents,
    seed: u64,
    limit: u64,
) -> Result<ElementArray, CommandFailure> {
    let shape_text = spirula_runtime::data::ArrayTypeDisplay(shape, element).to_string();
    let too_large = || CommandFailure::from_message(format!("no memory for {shape_text}"));
    let (count, size) = measure_shape(element, shape).ok_or_else(too_large)?;
    if size as u64 > limit {
        let error = DeviceError::Memory {
            size: size as u64,
            limit,
        };
        return Err(CommandFailure::from_message(error.to_string()));
    }
    let bytes = match (contents, contents.to_buffer_fill(element, count, seed)) {
        (_, Err(text)) => return Err(CommandFailure::from_message(text)),
        (_, Ok(Some(fill))) => generate_elements(element, count, &fill).map_err(|_| too_large())?,
        (ArrayContents::File(path), _) if files::has_extension(path, "npy") => {
            let array = read_npy_file(path)?;
            if array.element() != element || array.element_count() != count {
                let (path, has) = (path.display(), array.shape_text());
                return Err(CommandFailure::from_message(format!(
                    "{path} has {has}, not {shape_text}"
                )));
            }
            array.into_bytes()
        }
        (ArrayContents::File(path), _) => files::read_input_file(path)?.bytes,
        (_, Ok(None)) => Vec::new(),
    };
    ElementArray::new(element, shape.to_vec(), bytes)
        .map_err(|e| CommandFailure::from_message(e.to_string()))
}

/// Size of an address, in bytes.
const BYTES_OF_ADDRESS: u64 = 8;

/// Prepares push constants. Each value has the next offset that is a multiple of its element's size.
pub fn push_constants(
    values: &[ValueSpec],
    seed: u64,
    limit: u64,
) -> Result<PushConstantData, CommandFailure> {
    let mut pushed = PushConstantData::default();
    for (number, value) in values.iter().enumerate() {
        let out = &mut pushed.bytes;
        let (align, bytes) = match value {
            ValueSpec::Bytes(bytes) => (1, bytes.clone()),
            ValueSpec::Address(contents) => {
                let size = BYTES_OF_ADDRESS as usize;
                let at = out.len().next_multiple_of(size);
                let seed = seed.wrapping_add(number as u64);
                pushed.buffers.push(AddressedBuffer {
                    offset: at,
                    number,
                    contents: make_buffer_array(contents, seed, limit)?,
                });
                (size, vec![0; size])
            }
            value => {
                let array = of_spec(value, seed, limit)?;
                (array.element().size(), array.into_bytes())
            }
        };
        out.resize(out.len().next_multiple_of(align), 0);
        out.extend_from_slice(&bytes);
    }
    Ok(pushed)
}
