//! Storage of values as bytes, in Futhark's binary data format: one value for each part.
//!
//! A part is `b`, the version 2, the number of dimensions, the type in four characters, the sizes in 64 bits each, and the
//! elements. Source: Futhark's user's guide, "Binary Data Format".

use crate::context::{ContextState, SpirulaFutharkContext};
use crate::failure::{CallFailure, run_guarded, run_guarded_pointer};
use crate::handle::{
    SpirulaFutharkAllocate, allocate_bytes, get_slice, get_slice_mut, get_text, set_result,
};
use crate::value::SpirulaFutharkValue;
use crate::word::TypeWord;
use spirula_program::{ResidentValue, element_type_name};
use std::ffi::{c_char, c_int, c_void};

/// The bytes before the sizes.
fn make_header(word: TypeWord) -> [u8; 7] {
    let mut header = [b'b', 2, word.rank as u8, b' ', b' ', b' ', b' '];
    let name = element_type_name(word.element, word.unsigned);
    header[7 - name.len()..].copy_from_slice(name.as_bytes());
    header
}

/// The type of a part.
fn find_word(part: &ResidentValue) -> TypeWord {
    TypeWord {
        element: part.element,
        unsigned: part.unsigned,
        rank: part.shape.len(),
        is_size: false,
    }
}

/// Stores a value as bytes. Their number is written to `size`. Nothing else happens where `bytes` is null. Where `*bytes` is
/// null, it becomes memory of `allocate` that the caller frees; otherwise it has room for all bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_value_store(
    context: *mut SpirulaFutharkContext,
    value: *const SpirulaFutharkValue,
    bytes: *mut *mut c_void,
    size: *mut usize,
    allocate: SpirulaFutharkAllocate,
) -> c_int {
    let body = |state: &mut ContextState| {
        // SAFETY: the crate's contract.
        let value = unsafe { state.find_value(value) }?;
        let sizes = value.parts.iter();
        let sizes = sizes.map(|part| 7 + 8 * part.shape.len() + part.byte_count() as usize);
        // SAFETY: the crate's contract.
        unsafe { set_result(size, sizes.sum::<usize>()) }?;
        // SAFETY: null or the pointer to a pointer, by the contract.
        let Some(target) = (unsafe { bytes.as_mut() }) else {
            return Ok(());
        };
        let stored = write_parts(state, &value.parts)?;
        if target.is_null() {
            // SAFETY: the crate's contract.
            *target = unsafe { allocate_bytes(&stored, allocate) }.cast();
            let is_allocated = !target.is_null();
            return is_allocated.then_some(()).ok_or_else(|| CallFailure {
                code: crate::SPIRULA_FUTHARK_OUT_OF_MEMORY,
                message: format!("no memory for {} bytes", stored.len()),
            });
        }
        // SAFETY: the crate's contract.
        let out = unsafe { get_slice_mut(target.cast::<u8>(), stored.len()) }?;
        out.copy_from_slice(&stored);
        Ok(())
    };
    // SAFETY: the crate's contract.
    unsafe { run_guarded(context, body) }
}

fn write_parts(state: &mut ContextState, parts: &[ResidentValue]) -> Result<Vec<u8>, CallFailure> {
    let mut out = Vec::new();
    for part in parts {
        out.extend(make_header(find_word(part)));
        out.extend(part.shape.iter().flat_map(|size| size.to_le_bytes()));
        let start = out.len();
        out.resize(start + part.byte_count() as usize, 0);
        state.session()?.read_resident(part, 0, &mut out[start..])?;
    }
    Ok(out)
}

/// Restores a value that was stored. `words` has the type word of each of its parts, with blanks between them. Null where the
/// bytes are no value of this type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_value_restore(
    context: *mut SpirulaFutharkContext,
    words: *const c_char,
    bytes: *const c_void,
) -> *mut SpirulaFutharkValue {
    let body = |state: &mut ContextState| {
        // SAFETY: the crate's contract.
        let words = TypeWord::parse_all(&unsafe { get_text(words) }?)?;
        let mut reader = StoredBytes {
            next: bytes.cast::<u8>(),
        };
        let mut parts = Vec::new();
        for word in words {
            // SAFETY: the bytes are those of a value, by the contract, as far as their headers are those of this type.
            match unsafe { read_part(state, word, &mut reader) } {
                Ok(part) => parts.push(part),
                Err(failure) => {
                    let session = state.session()?;
                    parts
                        .into_iter()
                        .for_each(|part| session.release_value(part));
                    return Err(failure);
                }
            }
        }
        Ok(state.make_value(parts))
    };
    // SAFETY: the crate's contract.
    unsafe { run_guarded_pointer(context, body) }
}

/// Bytes of a stored value whose number only their content tells.
struct StoredBytes {
    next: *const u8,
}

impl StoredBytes {
    unsafe fn take<'a>(&mut self, count: usize) -> Result<&'a [u8], CallFailure> {
        // SAFETY: the caller knows that there are as many bytes.
        let bytes = unsafe { get_slice(self.next, count) }?;
        self.next = self.next.wrapping_add(count);
        Ok(bytes)
    }
}

unsafe fn read_part(
    state: &mut ContextState,
    word: TypeWord,
    reader: &mut StoredBytes,
) -> Result<ResidentValue, CallFailure> {
    let fault = || CallFailure::from_message("the bytes are no value of this type");
    // SAFETY: a value begins with the header of its first part, and each part is followed by the next.
    let header = unsafe { reader.take(7) }?;
    if *header != make_header(word) {
        return Err(fault());
    }
    // SAFETY: a header is followed by as many sizes as it says.
    let sizes = unsafe { reader.take(8 * word.rank) }?;
    let (sizes, _) = sizes.as_chunks();
    let shape: Vec<u64> = sizes.iter().map(|size| u64::from_le_bytes(*size)).collect();
    let size = word.element_size();
    let mut sizes = shape.iter();
    let length = sizes.try_fold(size, |n, s| n.checked_mul(usize::try_from(*s).ok()?));
    let length = length.filter(|length| isize::try_from(*length).is_ok());
    // SAFETY: the sizes are followed by the elements.
    let content = unsafe { reader.take(length.ok_or_else(fault)?) }?;
    if word.rank > 0 {
        let session = state.session()?;
        return Ok(session.upload_array(word.element, word.unsigned, shape, content)?);
    }
    let mut bits = [0; 8];
    bits[..size].copy_from_slice(content);
    let bits = u64::from_le_bytes(bits);
    Ok(ResidentValue::from_scalar(
        word.element,
        word.unsigned,
        bits,
    ))
}
