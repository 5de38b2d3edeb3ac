//! Arrays of scalars: creation from elements, and access to elements.

use crate::context::{ContextState, SpirulaFutharkContext};
use crate::failure::{CallFailure, run_guarded, run_guarded_pointer};
use crate::handle::{get_slice, get_slice_mut, get_text};
use crate::value::SpirulaFutharkValue;
use crate::word::TypeWord;
use spirula_program::ResidentValue;
use std::ffi::{c_char, c_int, c_void};

/// Sizes of a shape, which are not negative.
pub(crate) fn convert_sizes(sizes: &[i64]) -> Result<Vec<u64>, CallFailure> {
    let sizes = sizes.iter().map(|size| u64::try_from(*size));
    sizes
        .collect::<Result<_, _>>()
        .map_err(|_| CallFailure::from_message("a size is negative"))
}

/// The number of an element among all of its array.
pub(crate) fn find_element(shape: &[u64], indices: &[i64]) -> Result<u64, CallFailure> {
    let mut number = 0;
    for (index, size) in indices.iter().zip(shape) {
        match u64::try_from(*index) {
            Ok(index) if index < *size => number = number * size + index,
            _ => return Err(CallFailure::from_message("Index out of bounds.")),
        }
    }
    Ok(number)
}

/// Creates an array of a type such as `[][]f32` from its elements in row-major order, which are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_array_new(
    context: *mut SpirulaFutharkContext,
    type_word: *const c_char,
    data: *const c_void,
    sizes: *const i64,
) -> *mut SpirulaFutharkValue {
    let body = |state: &mut ContextState| {
        // SAFETY: the crate's contract.
        let word = TypeWord::parse(&unsafe { get_text(type_word) }?)?;
        // SAFETY: the crate's contract.
        let shape = convert_sizes(unsafe { get_slice(sizes, word.rank) }?)?;
        let size = word.element_size();
        let mut sizes = shape.iter();
        let length = sizes.try_fold(size, |n, s| n.checked_mul(usize::try_from(*s).ok()?));
        let length = length.filter(|length| isize::try_from(*length).is_ok());
        let length = length.ok_or_else(|| CallFailure::from_message("the array is too large"))?;
        // SAFETY: the crate's contract.
        let bytes = unsafe { get_slice(data.cast::<u8>(), length) }?;
        let session = state.session()?;
        let array = session.upload_array(word.element, word.unsigned, shape, bytes)?;
        Ok(state.make_value(vec![array]))
    };
    // SAFETY: the crate's contract.
    unsafe { run_guarded_pointer(context, body) }
}

/// The only part of an array.
fn find_array(value: &SpirulaFutharkValue) -> Result<&ResidentValue, CallFailure> {
    match &value.parts[..] {
        [array] => Ok(array),
        _ => Err(CallFailure::from_message(
            "the value is no array of scalars",
        )),
    }
}

/// Copies all elements of an array to memory that has room for them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_array_values(
    context: *mut SpirulaFutharkContext,
    array: *const SpirulaFutharkValue,
    data: *mut c_void,
) -> c_int {
    let body = |state: &mut ContextState| {
        // SAFETY: the crate's contract.
        let array = find_array(unsafe { state.find_value(array) }?)?;
        let length = array.byte_count() as usize;
        // SAFETY: the crate's contract.
        let out = unsafe { get_slice_mut(data.cast::<u8>(), length) }?;
        Ok(state.session()?.read_resident(array, 0, out)?)
    };
    // SAFETY: the crate's contract.
    unsafe { run_guarded(context, body) }
}

/// Copies an element of an array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_array_index(
    context: *mut SpirulaFutharkContext,
    array: *const SpirulaFutharkValue,
    indices: *const i64,
    out: *mut c_void,
) -> c_int {
    let body = |state: &mut ContextState| {
        // SAFETY: the crate's contract.
        let array = find_array(unsafe { state.find_value(array) }?)?;
        // SAFETY: the crate's contract.
        let indices = unsafe { get_slice(indices, array.shape.len()) }?;
        let size = array.element.size();
        let at = find_element(&array.shape, indices)? * size;
        // SAFETY: the crate's contract.
        let out = unsafe { get_slice_mut(out.cast::<u8>(), size as usize) }?;
        Ok(state.session()?.read_resident(array, at, out)?)
    };
    // SAFETY: the crate's contract.
    unsafe { run_guarded(context, body) }
}

/// The elements of an array in memory of the host: a copy that is made once, and freed with the value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_array_raw(
    context: *mut SpirulaFutharkContext,
    array: *const SpirulaFutharkValue,
) -> *mut u8 {
    let body = |state: &mut ContextState| {
        // SAFETY: the crate's contract.
        let value = unsafe { state.find_value(array) }?;
        if value.copy.get().is_none() {
            let array = find_array(value)?;
            let mut bytes = vec![0; array.byte_count() as usize];
            state.session()?.read_resident(array, 0, &mut bytes)?;
            let _ = value.copy.set(bytes.into_boxed_slice());
        }
        let copy = value.copy.get();
        Ok(copy.map_or(std::ptr::null_mut(), |copy| copy.as_ptr().cast_mut()))
    };
    // SAFETY: the crate's contract.
    unsafe { run_guarded_pointer(context, body) }
}
