//! Boundary to C: answers as codes, handles, values of unknown size, arrays and texts.

use crate::error::{CallError, CallResult, catch_panic, require};
use opencl_sys::{CL_INVALID_VALUE, CL_SUCCESS, cl_int};
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::LazyLock;

/// Whether errors are shown on the standard error stream (`SPIRULA_OPENCL_LOG`).
static IS_LOGGED: LazyLock<bool> =
    LazyLock::new(|| std::env::var_os("SPIRULA_OPENCL_LOG").is_some_and(|value| value != "0"));

/// Shows a message to users who ask for them by `SPIRULA_OPENCL_LOG`.
pub fn log_message(message: impl FnOnce() -> String) {
    if *IS_LOGGED {
        eprintln!("spirula: {}", message());
    }
}

/// Answers a function that returns a code.
pub fn answer_code(function: &str, body: impl FnOnce() -> CallResult<()>) -> cl_int {
    match catch_panic(body) {
        Ok(()) => CL_SUCCESS,
        Err(error) => {
            log_message(|| format!("{function}: {error}"));
            error.code
        }
    }
}

/// Answers a function that returns a handle or an address, and writes a code. Null stands for an error.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn answer_handle(
    function: &str,
    code: *mut cl_int,
    body: impl FnOnce() -> CallResult<*mut c_void>,
) -> *mut c_void {
    let mut made = ptr::null_mut();
    let answered = answer_code(function, || {
        made = body()?;
        Ok(())
    });
    write_optional(code, answered);
    made
}

/// Writes a value where the caller wants it.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn write_optional<T>(to: *mut T, value: T) {
    if !to.is_null() {
        to.write_unaligned(value);
    }
}

/// The elements of an array of C. Null is an array without elements.
///
/// # Errors
/// When there should be elements, and there is no array.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn get_slice<'a, T>(pointer: *const T, count: usize) -> CallResult<&'a [T]> {
    match (count, pointer.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(CallError::invalid_value("an array is missing")),
        (_, false) => Ok(std::slice::from_raw_parts(pointer, count)),
    }
}

/// Refuses an array of elements without a number, or a number without an array.
///
/// # Errors
/// `CL_INVALID_VALUE`.
pub fn require_array<T>(pointer: *const T, count: u32) -> CallResult<()> {
    let fits = (count == 0) == pointer.is_null();
    require(
        fits,
        CL_INVALID_VALUE,
        "an array and its number of elements do not fit",
    )
}

/// A text that ends with a zero. Bytes that are not UTF-8 are replaced, and null is an empty text.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn get_text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        String::new()
    } else {
        CStr::from_ptr(pointer).to_string_lossy().into_owned()
    }
}

/// The pairs of a list of properties that ends with a zero. The second list has all words of the first, for queries.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn read_properties<T: Copy + Default + PartialEq>(
    mut pointer: *const T,
) -> (Vec<(T, T)>, Vec<T>) {
    let (mut pairs, mut words) = (Vec::new(), Vec::new());
    if pointer.is_null() {
        return (pairs, words);
    }
    while *pointer != T::default() {
        pairs.push((*pointer, *pointer.add(1)));
        words.extend([*pointer, *pointer.add(1)]);
        pointer = pointer.add(2);
    }
    words.push(*pointer);
    (pairs, words)
}

/// The memory of a caller that a query writes to.
#[derive(Clone, Copy)]
pub struct QueryOutput {
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
}

impl QueryOutput {
    /// The three arguments that each query has.
    pub fn new(size: usize, value: *mut c_void, size_out: *mut usize) -> QueryOutput {
        QueryOutput {
            size,
            value,
            size_out,
        }
    }

    /// Answers with a value.
    ///
    /// # Errors
    /// When the memory of the caller does not suffice.
    ///
    /// # Safety
    /// The contract of the crate. `T` has no padding.
    pub unsafe fn write_value<T: Copy>(self, value: T) -> CallResult<()> {
        self.write_list(&[value])
    }

    /// Answers with a list of values.
    ///
    /// # Errors
    /// As above.
    ///
    /// # Safety
    /// As above.
    pub unsafe fn write_list<T: Copy>(self, values: &[T]) -> CallResult<()> {
        let bytes = size_of_val(values);
        if !self.value.is_null() {
            require(
                self.size >= bytes,
                CL_INVALID_VALUE,
                format!(
                    "the answer has {bytes} bytes, the caller has room for {}",
                    self.size
                ),
            )?;
            ptr::copy_nonoverlapping(values.as_ptr().cast::<u8>(), self.value.cast(), bytes);
        }
        write_optional(self.size_out, bytes);
        Ok(())
    }

    /// Answers with a text, which ends with a zero.
    ///
    /// # Errors
    /// As above.
    ///
    /// # Safety
    /// As above.
    pub unsafe fn write_text(self, text: &str) -> CallResult<()> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        self.write_list(&bytes)
    }

    /// The memory itself, for answers that are lists of addresses.
    pub fn parts(self) -> (usize, *mut c_void, *mut usize) {
        (self.size, self.value, self.size_out)
    }
}

/// The error of a query that does not exist.
pub fn refuse_query(name: u32) -> CallError {
    CallError::invalid_value(format!("there is no query {name:#x}"))
}
