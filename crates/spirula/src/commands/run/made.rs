//! Making the values of arguments.

use super::bind::Slot;
use crate::cli::{Failure, files};
use crate::values::{Contents, ValueSpec};
use spirula_runtime::data::{Array, Element, Number, extent, generate, read_npy};
use spirula_runtime::types::{TypeNames, Value};
use spirula_runtime::{Error, ImageShape, PipeShape, Sampler};
use spirula_spirv::reflect::{Interface, ParamKind};
use std::path::Path;

/// A value, ready for the device.
#[derive(Debug)]
pub enum Made {
    /// Contents of a buffer.
    Buffer(Array),
    /// A value by its bytes.
    Bytes(Vec<u8>),
    /// Bytes of workgroup memory.
    Local(u64),
    /// An image with the sampler that it is bound with, and its texels.
    Image(ImageShape, Sampler, Array),
    /// A sampler.
    Sampler(Sampler),
    /// An empty pipe.
    Pipe(PipeShape),
}

impl Made {
    /// Bytes of memory that it takes.
    pub fn size(&self) -> u64 {
        match self {
            Made::Buffer(array) | Made::Image(_, _, array) => array.bytes().len() as u64,
            Made::Bytes(bytes) => bytes.len() as u64,
            Made::Local(_) | Made::Sampler(_) => 0,
            Made::Pipe(shape) => shape.bytes().unwrap_or(0),
        }
    }
}

/// Makes what a slot is given. `limit` is how many bytes an array may have.
pub fn make(
    slot: &Slot,
    interface: &Interface,
    types: &TypeNames<'_>,
    seed: u64,
    limit: u64,
) -> Result<Made, Failure> {
    let bad = |text: String| {
        Failure::message(format!(
            "{} of {}: {text}",
            slot.label.title(),
            interface.name
        ))
    };
    let told = |f: Failure| match f {
        Failure::Message { text, .. } => bad(text),
        other => other,
    };
    let seed = seed.wrapping_add(slot.label.number as u64);
    let param = slot.param.as_ref();
    let wanted = param.and_then(|p| types.param_value(p));
    let name = param.map_or(String::new(), |p| types.param_name(p));
    let kind = param.map(|p| p.kind);
    if let (Some(ParamKind::Value { size, .. }), ValueSpec::Scalar(element, number)) =
        (kind, &slot.value)
    {
        return scalar(*element, *number, wanted, size, &name).map_err(bad);
    }
    let array = match &slot.value {
        ValueSpec::Local(bytes) => return Ok(Made::Local(*bytes)),
        ValueSpec::Sampler(sampler) => return Ok(Made::Sampler(*sampler)),
        ValueSpec::Pipe(shape) => return Ok(Made::Pipe(*shape)),
        ValueSpec::Image(image) => {
            let texels = array(image.element, &image.sizes, &image.contents, seed, limit);
            return Ok(Made::Image(
                image.shape,
                image.sampler,
                texels.map_err(told)?,
            ));
        }
        ValueSpec::Bytes(bytes) if !is_buffer(slot) => return Ok(Made::Bytes(bytes.clone())),
        ValueSpec::Scalar(element, _) => {
            return Err(bad(format!(
                "it takes a buffer: give its size, such as 16x{element}"
            )));
        }
        ValueSpec::Bytes(bytes) => Array::new(Element::U8, vec![bytes.len()], bytes.clone())
            .map_err(|e| bad(e.to_string()))?,
        given => of_spec(given, seed, limit).map_err(told)?,
    };
    let is_binding = slot.label.binding.is_some();
    match kind {
        Some(ParamKind::Value { size, .. }) => by_value(array, wanted, size, &name).map_err(bad),
        Some(ParamKind::Workgroup { .. }) => {
            Err(bad("it takes workgroup memory: give local=BYTES".to_owned()))
        }
        _ if is_binding || kind.is_some() => Ok(Made::Buffer(array)),
        _ => Err(bad("it takes nothing".to_owned())),
    }
}

/// Whether a slot is a kernel's pointer to a buffer, or a descriptor.
fn is_buffer(slot: &Slot) -> bool {
    let param = slot.param.as_ref();
    let is_pointer = param.is_some_and(|p| matches!(p.kind, ParamKind::Buffer { .. }));
    is_pointer || slot.label.binding.is_some()
}

/// The array that a value is outside of any kernel; scalars are arrays of no dimension.
pub fn of_spec(value: &ValueSpec, seed: u64, limit: u64) -> Result<Array, Failure> {
    let failed = |text: String| Failure::message(text);
    match value {
        ValueSpec::Scalar(element, number) => {
            let mut bytes = Vec::new();
            element.encode(*number, &mut bytes);
            Array::new(*element, Vec::new(), bytes).map_err(|e| failed(e.to_string()))
        }
        ValueSpec::Array {
            element,
            shape,
            contents,
        } => array(*element, shape, contents, seed, limit),
        ValueSpec::File(path) => from_npy(path),
        ValueSpec::Local(_) => Err(failed("workgroup memory is no value".to_owned())),
        ValueSpec::Image(_) | ValueSpec::Sampler(_) | ValueSpec::Pipe(_) => Err(failed(
            "images, samplers and pipes are no values".to_owned(),
        )),
        ValueSpec::Bytes(_) => Err(failed("bytes without a type are no value".to_owned())),
    }
}

fn scalar(
    element: Element,
    number: Number,
    wanted: Option<Value>,
    size: u64,
    name: &str,
) -> Result<Made, String> {
    let fits = match wanted {
        Some(Value {
            element: own,
            count: 1,
        }) => own.is_float() == element.is_float() && own.size() == element.size(),
        Some(_) => false,
        None => element.size() as u64 == size,
    };
    if !fits {
        return Err(format!("it takes {name}, {element} is given"));
    }
    let mut bytes = Vec::new();
    element.encode(number, &mut bytes);
    Ok(Made::Bytes(bytes))
}

/// The value of a vector or structure from an array.
fn by_value(array: Array, wanted: Option<Value>, size: u64, name: &str) -> Result<Made, String> {
    let shape = array.shape_text();
    let count = array.count();
    let mut bytes = array.into_bytes();
    // Vectors of three take the room of four.
    if wanted.is_some_and(|v| v.count == 3 && count == 3) {
        bytes.resize(bytes.len() / 3 * 4, 0);
    }
    match bytes.len() as u64 == size {
        true => Ok(Made::Bytes(bytes)),
        false => Err(format!(
            "it takes {name} of {size} bytes by value, {shape} is given"
        )),
    }
}

fn array(
    element: Element,
    shape: &[usize],
    contents: &Contents,
    seed: u64,
    limit: u64,
) -> Result<Array, Failure> {
    let shape_text = spirula_runtime::data::Shape(shape, element).to_string();
    let too_large = || Failure::message(format!("no memory for {shape_text}"));
    let (count, size) = extent(element, shape).ok_or_else(too_large)?;
    if size as u64 > limit {
        let error = Error::Memory {
            size: size as u64,
            limit,
        };
        return Err(Failure::message(error.to_string()));
    }
    let bytes = match (contents, contents.fill(element, count, seed)) {
        (_, Err(text)) => return Err(Failure::message(text)),
        (_, Ok(Some(fill))) => generate(element, count, &fill).map_err(|_| too_large())?,
        (Contents::File(path), _) if files::has_extension(path, "npy") => {
            let array = from_npy(path)?;
            if array.element() != element || array.count() != count {
                let (path, has) = (path.display(), array.shape_text());
                return Err(Failure::message(format!(
                    "{path} has {has}, not {shape_text}"
                )));
            }
            array.into_bytes()
        }
        (Contents::File(path), _) => files::read(path)?.bytes,
        (_, Ok(None)) => Vec::new(),
    };
    Array::new(element, shape.to_vec(), bytes).map_err(|e| Failure::message(e.to_string()))
}

/// Reads a `.npy` file.
pub fn from_npy(path: &Path) -> Result<Array, Failure> {
    let input = files::read(path)?;
    read_npy(&input.bytes).map_err(|e| Failure::message(format!("{}: {e}", input.name)))
}

/// The bytes of push constants: each value at the next multiple of its element's size.
pub fn push_constants(values: &[ValueSpec], seed: u64, limit: u64) -> Result<Vec<u8>, Failure> {
    let mut out = Vec::new();
    for value in values {
        let (align, bytes) = match value {
            ValueSpec::Bytes(bytes) => (1, bytes.clone()),
            value => {
                let array = of_spec(value, seed, limit)?;
                (array.element().size(), array.into_bytes())
            }
        };
        out.resize(out.len().next_multiple_of(align), 0);
        out.extend_from_slice(&bytes);
    }
    Ok(out)
}
