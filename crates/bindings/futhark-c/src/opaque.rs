//! Values of any type: records, sums, and arrays of these.

use crate::array::{convert_sizes, find_element};
use crate::context::{ContextState, SpirulaFutharkContext};
use crate::failure::{CallFailure, run_guarded};
use crate::handle::{get_slice, get_text};
use crate::owned_session::OwnedSession;
use crate::value::SpirulaFutharkValue;
use crate::word::TypeWord;
use spirula_program::{ResidentValue, ScalarType};
use std::ffi::{c_char, c_int, c_void};

/// Frees a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_value_free(
    context: *mut SpirulaFutharkContext,
    value: *mut SpirulaFutharkValue,
) -> c_int {
    // SAFETY: the crate's contract.
    unsafe { run_guarded(context, |state| state.free_value(value)) }
}

/// The sizes of an array, valid until it is freed. Null for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_value_shape(
    value: *const SpirulaFutharkValue,
) -> *const i64 {
    // SAFETY: null or a value, by the contract.
    let value = unsafe { value.as_ref() };
    value.map_or(std::ptr::null(), |value| value.shape.as_ptr())
}

/// Makes a value of others. `words` has a word for each of its fields, with blanks between them. The type word of a scalar and
/// `*` for a value need a pointer in `fields`. `=3` is the number of a constructor, and `-` before a type word a scalar that is
/// zero or an array without elements. The first `rank` sizes of all parts have to be equal.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_value_new(
    context: *mut SpirulaFutharkContext,
    words: *const c_char,
    rank: usize,
    fields: *const *const c_void,
    out: *mut *mut SpirulaFutharkValue,
) -> c_int {
    let body = |state: &mut ContextState| {
        // SAFETY: the crate's contract.
        let words = unsafe { get_text(words) }?;
        let is_given = |word: &&str| !word.starts_with(['=', '-']);
        let count = words.split_whitespace().filter(is_given).count();
        // SAFETY: there is a pointer for each word that needs one.
        let mut fields = unsafe { get_slice(fields, count) }?.iter();
        let mut parts = Vec::new();
        for word in words.split_whitespace() {
            let field = is_given(&word).then(|| fields.next()).flatten();
            let made = match field {
                // SAFETY: the crate's contract.
                Some(field) => unsafe { state.read_argument(word, *field) }
                    .and_then(|given| state.share_parts(given.parts())),
                None => state.session().and_then(|session| make_part(session, word)),
            };
            match made {
                Ok(made) => parts.extend(made),
                Err(failure) => return release_and_fail(state, parts, failure),
            }
        }
        let arrays = parts.iter().filter(|part| !part.shape.is_empty());
        if rank > 0 && !is_constant(arrays.map(|part| part.shape.get(..rank))) {
            let failure = CallFailure::from_message("Cannot zip arrays with different shapes.");
            return release_and_fail(state, parts, failure);
        }
        // SAFETY: the crate's contract.
        unsafe { state.write_output("*", parts, out.cast()) }
    };
    // SAFETY: the crate's contract.
    unsafe { run_guarded(context, body) }
}

/// Whether all items are equal, and there is a value in each.
fn is_constant<T: PartialEq>(mut items: impl Iterator<Item = Option<T>>) -> bool {
    match items.next() {
        None => true,
        Some(first) => first.is_some() && items.all(|item| item == first),
    }
}

/// Releases parts before a failure is reported.
fn release_and_fail<T>(
    state: &mut ContextState,
    parts: Vec<ResidentValue>,
    failure: CallFailure,
) -> Result<T, CallFailure> {
    let session = state.session()?;
    parts
        .into_iter()
        .for_each(|part| session.release_value(part));
    Err(failure)
}

/// A part that no pointer is needed for.
fn make_part(session: &mut OwnedSession, word: &str) -> Result<Vec<ResidentValue>, CallFailure> {
    if let Some(number) = word.strip_prefix('=') {
        let number = number.parse();
        let number =
            number.map_err(|_| CallFailure::from_message(format!("{word} is no number")))?;
        return Ok(vec![ResidentValue::from_scalar(
            ScalarType::I8,
            false,
            number,
        )]);
    }
    let word = TypeWord::parse(word.trim_start_matches('-'))?;
    let part = match word.rank {
        0 => ResidentValue::from_scalar(word.element, word.unsigned, 0),
        rank => session.upload_array(word.element, word.unsigned, vec![0; rank], &[])?,
    };
    Ok(vec![part])
}

/// Extracts parts of a value: a scalar of the type of `word`, or for `*` a new value that shares the arrays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_value_project(
    context: *mut SpirulaFutharkContext,
    value: *const SpirulaFutharkValue,
    first: usize,
    count: usize,
    word: *const c_char,
    out: *mut c_void,
) -> c_int {
    let body = |state: &mut ContextState| {
        // SAFETY: the crate's contract.
        let (value, word) = unsafe { (state.find_value(value)?, get_text(word)?) };
        let end = first.saturating_add(count);
        let parts = value.parts.get(first..end);
        let parts = parts.ok_or_else(|| CallFailure::from_message("the value has fewer parts"))?;
        let parts = state.share_parts(parts)?;
        // SAFETY: the crate's contract.
        unsafe { state.write_output(&word, parts, out) }
    };
    // SAFETY: the crate's contract.
    unsafe { run_guarded(context, body) }
}

/// The number of a sum's constructor; negative for a value that is no sum.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_value_variant(
    context: *mut SpirulaFutharkContext,
    value: *const SpirulaFutharkValue,
) -> c_int {
    let mut variant = -1;
    let body = |state: &mut ContextState| {
        // SAFETY: the crate's contract.
        variant = read_variant(unsafe { state.find_value(value) }?)?;
        Ok(())
    };
    // SAFETY: the crate's contract.
    unsafe { run_guarded(context, body) };
    variant
}

/// Fails where a sum has another constructor than that of a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_value_check_variant(
    context: *mut SpirulaFutharkContext,
    value: *const SpirulaFutharkValue,
    variant: c_int,
) -> c_int {
    let body = |state: &mut ContextState| {
        // SAFETY: the crate's contract.
        let found = read_variant(unsafe { state.find_value(value) }?)?;
        if found == variant {
            return Ok(());
        }
        let message = format!("the value has the constructor {found}, not {variant}");
        Err(CallFailure::from_message(message))
    };
    // SAFETY: the crate's contract.
    unsafe { run_guarded(context, body) }
}

/// The number of a sum's constructor.
fn read_variant(value: &SpirulaFutharkValue) -> Result<c_int, CallFailure> {
    let tag = value.parts.first().and_then(ResidentValue::scalar_bits);
    let tag = tag.ok_or_else(|| CallFailure::from_message("the value is no sum"))?;
    Ok(tag as c_int)
}

/// Extracts an element of an array of records or sums, below its first `rank` dimensions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_value_index(
    context: *mut SpirulaFutharkContext,
    array: *const SpirulaFutharkValue,
    rank: usize,
    indices: *const i64,
    out: *mut *mut SpirulaFutharkValue,
) -> c_int {
    let body = |state: &mut ContextState| {
        // SAFETY: the crate's contract.
        let (array, indices) = unsafe { (state.find_value(array)?, get_slice(indices, rank)?) };
        check_bounds(array, indices)?;
        let mut parts = Vec::new();
        for part in element_parts(array, rank) {
            let made = state
                .session()
                .and_then(|session| copy_element(session, part, indices));
            match made {
                Ok(made) => parts.push(made),
                Err(failure) => return release_and_fail(state, parts, failure),
            }
        }
        // SAFETY: the crate's contract.
        unsafe { state.write_output("*", parts, out.cast()) }
    };
    // SAFETY: the crate's contract.
    unsafe { run_guarded(context, body) }
}

/// The parts of an array that the elements have parts of. The sizes of an array without data are not among them.
fn element_parts(array: &SpirulaFutharkValue, rank: usize) -> &[ResidentValue] {
    let has_data = array.parts.iter().any(|part| !part.shape.is_empty());
    let first = if has_data { 0 } else { rank };
    array.parts.get(first..).unwrap_or_default()
}

/// Fails where indices are not those of an element.
fn check_bounds(array: &SpirulaFutharkValue, indices: &[i64]) -> Result<(), CallFailure> {
    let shape = convert_sizes(&array.shape)?;
    if shape.len() < indices.len() {
        return Err(CallFailure::from_message("the array has fewer dimensions"));
    }
    find_element(&shape, indices).map(|_| ())
}

/// An element of a part of an array, as a new scalar or array.
fn copy_element(
    session: &mut OwnedSession,
    part: &ResidentValue,
    indices: &[i64],
) -> Result<ResidentValue, CallFailure> {
    if part.shape.is_empty() {
        return Ok(session.share_value(part));
    }
    let shape = part.shape[indices.len()..].to_vec();
    let length = shape.iter().product::<u64>() * part.element.size();
    let mut bytes = vec![0; length as usize];
    let at = find_element(&part.shape, indices)? * length;
    session.read_resident(part, at, &mut bytes)?;
    if !shape.is_empty() {
        return Ok(session.upload_array(part.element, part.unsigned, shape, &bytes)?);
    }
    let mut bits = [0; 8];
    bits[..bytes.len()].copy_from_slice(&bytes);
    let bits = u64::from_le_bytes(bits);
    Ok(ResidentValue::from_scalar(
        part.element,
        part.unsigned,
        bits,
    ))
}

/// Replaces an element of an array of records or sums. Values that share the array change, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_value_set(
    context: *mut SpirulaFutharkContext,
    array: *const SpirulaFutharkValue,
    element: *const SpirulaFutharkValue,
    rank: usize,
    indices: *const i64,
) -> c_int {
    let body = |state: &mut ContextState| {
        // SAFETY: the crate's contract.
        let (array, indices) = unsafe { (state.find_value(array)?, get_slice(indices, rank)?) };
        // SAFETY: the crate's contract.
        let element = unsafe { state.find_value(element) }?;
        check_bounds(array, indices)?;
        let parts = element_parts(array, rank);
        let targets = parts.iter().zip(&element.parts);
        let fits = |(to, from)| fits_array(to, from, rank);
        if parts.len() != element.parts.len() || !targets.clone().all(fits) {
            let message = "Element shape differs from array shape";
            return Err(CallFailure::from_message(message));
        }
        for (to, from) in targets.filter(|(to, _)| !to.shape.is_empty()) {
            let length = from.byte_count();
            let at = find_element(&to.shape, indices)? * length;
            write_element(state.session()?, to, at, from)?;
        }
        Ok(())
    };
    // SAFETY: the crate's contract.
    unsafe { run_guarded(context, body) }
}

/// Whether a part of an element can be stored in a part of an array. Both have the same sizes of arrays without data.
fn fits_array(to: &ResidentValue, from: &ResidentValue, rank: usize) -> bool {
    to.element == from.element
        && match to.shape.get(rank..) {
            Some(row) => *row == from.shape,
            None => to.scalar_bits() == from.scalar_bits(),
        }
}

/// Copies all elements of a part into an array.
fn write_element(
    session: &mut OwnedSession,
    to: &ResidentValue,
    at: u64,
    from: &ResidentValue,
) -> Result<(), CallFailure> {
    let mut bytes = vec![0; from.byte_count() as usize];
    session.read_resident(from, 0, &mut bytes)?;
    Ok(session.write_resident(to, at, &bytes)?)
}

/// Makes an array of records or sums of its elements, in row-major order. `words` has the type word of each part of an element,
/// with blanks between them. The elements of an array without elements have no elements either.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_values_join(
    context: *mut SpirulaFutharkContext,
    words: *const c_char,
    rank: usize,
    elements: *const *const SpirulaFutharkValue,
    sizes: *const i64,
    out: *mut *mut SpirulaFutharkValue,
) -> c_int {
    let body = |state: &mut ContextState| {
        // SAFETY: the crate's contract.
        let words = TypeWord::parse_all(&unsafe { get_text(words) }?)?;
        // SAFETY: the crate's contract.
        let outer = convert_sizes(unsafe { get_slice(sizes, rank) }?)?;
        let mut sizes = outer.iter();
        let count = sizes.try_fold(1u64, |n, size| n.checked_mul(*size));
        let count = count.and_then(|count| isize::try_from(count).ok());
        let count = count.ok_or_else(|| CallFailure::from_message("the array is too large"))?;
        // SAFETY: the crate's contract.
        let elements = unsafe { get_slice(elements, count as usize) }?.iter();
        // SAFETY: the crate's contract.
        let elements = elements.map(|element| unsafe { state.find_value(*element) });
        let elements = elements.collect::<Result<Vec<_>, CallFailure>>()?;
        let mut parts = Vec::new();
        if words.iter().all(|word| word.is_size) {
            parts.extend(outer.iter().map(|size| make_size(*size)));
        }
        for (number, word) in words.iter().enumerate() {
            let rows = elements.iter().map(|element| element.parts.get(number));
            let rows: Vec<Option<&ResidentValue>> = rows.collect();
            let made = state
                .session()
                .and_then(|session| join_rows(session, *word, &outer, &rows));
            match made {
                Ok(made) => parts.push(made),
                Err(failure) => return release_and_fail(state, parts, failure),
            }
        }
        // SAFETY: the crate's contract.
        unsafe { state.write_output("*", parts, out.cast()) }
    };
    // SAFETY: the crate's contract.
    unsafe { run_guarded(context, body) }
}

/// A size as a part.
fn make_size(size: u64) -> ResidentValue {
    ResidentValue::from_scalar(ScalarType::I64, false, size)
}

/// The array of a part of all elements, or the size that all elements have.
fn join_rows(
    session: &mut OwnedSession,
    word: TypeWord,
    outer: &[u64],
    rows: &[Option<&ResidentValue>],
) -> Result<ResidentValue, CallFailure> {
    let differ = || {
        let message = "Cannot construct arrays with elements of different shapes.";
        CallFailure::from_message(message)
    };
    if word.is_size {
        let mut sizes = rows
            .iter()
            .map(|row| row.and_then(ResidentValue::scalar_bits));
        let first = sizes.next().flatten();
        let is_equal = sizes.all(|size| size == first);
        return is_equal
            .then(|| make_size(first.unwrap_or(0)))
            .ok_or_else(differ);
    }
    let inner = match rows.first() {
        Some(Some(row)) => row.shape.clone(),
        _ => vec![0; word.rank],
    };
    let mut bytes = Vec::new();
    for row in rows {
        let fits = row.filter(|row| row.element == word.element && row.shape == inner);
        let row = fits.ok_or_else(differ)?;
        let start = bytes.len();
        bytes.resize(start + row.byte_count() as usize, 0);
        session.read_resident(row, 0, &mut bytes[start..])?;
    }
    let shape = outer.iter().copied().chain(inner).collect();
    Ok(session.upload_array(word.element, word.unsigned, shape, &bytes)?)
}
