//! Errors as values that C can inspect.

use crate::body::ask;
use crate::handle::OutPointer;
use spirula_diagnostics::{DiagnosticList, SourceDiagnostic, SourceLocation};
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// The outcome of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpirulaStatus {
    /// Success.
    Ok = 0,
    /// A pointer is null, or a number refers to nothing.
    BadArgument = 1,
    /// The input is malformed or invalid.
    Invalid = 2,
    /// The edit is impossible; the module is unchanged.
    Refused = 3,
    /// An internal error of this library. The module can only be freed.
    Internal = 4,
}

/// The unit of a place.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpirulaPlaceKind {
    /// The place is unknown, or the whole input is meant.
    Unknown = 0,
    /// Bytes of a text.
    Text = 1,
    /// Bytes of a binary input.
    Byte = 2,
    /// Words of a module, its header included.
    Word = 3,
}

/// The place of an error in the input.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SpirulaPlace {
    /// The unit of `start` and `end`.
    pub kind: SpirulaPlaceKind,
    /// The first unit.
    pub start: u64,
    /// One past the last unit; equal to `start` if only a point is known.
    pub end: u64,
}

/// The error of a call: one or more messages, each with its place.
#[derive(Debug)]
pub struct SpirulaError {
    messages: Vec<(CString, SpirulaPlace)>,
}

/// The reason why a call fails, within this crate.
#[derive(Debug)]
pub(crate) enum ApiFailure {
    Null,
    Argument(String),
    Invalid(Vec<SourceDiagnostic>),
    Refused(String),
}

impl From<SourceDiagnostic> for ApiFailure {
    fn from(found: SourceDiagnostic) -> ApiFailure {
        ApiFailure::Invalid(vec![found])
    }
}

impl From<DiagnosticList> for ApiFailure {
    fn from(found: DiagnosticList) -> ApiFailure {
        ApiFailure::Invalid(found.into_vec())
    }
}

impl From<spirula_spirv::ir::EditError> for ApiFailure {
    fn from(error: spirula_spirv::ir::EditError) -> ApiFailure {
        ApiFailure::Refused(error.to_string())
    }
}

impl SpirulaError {
    fn from_message(message: impl Into<String>) -> SpirulaError {
        SpirulaError::from_diagnostics(&[SourceDiagnostic::error(SourceLocation::Unknown, message)])
    }

    fn from_diagnostics(found: &[SourceDiagnostic]) -> SpirulaError {
        let messages = found.iter().map(|d| {
            let notes = d.notes.iter().map(|n| format!(" ({n})"));
            let text: String = std::iter::once(d.message.clone()).chain(notes).collect();
            // NUL bytes are removed, which no message needs; the text is then a string of C.
            let text = CString::new(text.replace('\0', "")).unwrap_or_default();
            (text, to_c_place(d.place))
        });
        SpirulaError {
            messages: messages.collect(),
        }
    }
}

fn to_c_place(place: SourceLocation) -> SpirulaPlace {
    let (kind, start, end) = match place {
        SourceLocation::Unknown | SourceLocation::Bit(_) => (SpirulaPlaceKind::Unknown, 0, 0),
        SourceLocation::Text { start, end } => (SpirulaPlaceKind::Text, start.into(), end.into()),
        SourceLocation::Byte(at) => (SpirulaPlaceKind::Byte, at, at),
        SourceLocation::Word(at) => (SpirulaPlaceKind::Word, at.into(), at.into()),
    };
    SpirulaPlace { kind, start, end }
}

/// Runs the body of an exported function: failures become a status and an error, and panics do not unwind.
pub(crate) unsafe fn run_guarded(
    error: *mut *mut SpirulaError,
    body: impl FnOnce() -> Result<(), ApiFailure>,
) -> SpirulaStatus {
    let (status, value) = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return SpirulaStatus::Ok,
        Ok(Err(ApiFailure::Null)) => (
            SpirulaStatus::BadArgument,
            SpirulaError::from_message("a pointer is null"),
        ),
        Ok(Err(ApiFailure::Argument(what))) => {
            (SpirulaStatus::BadArgument, SpirulaError::from_message(what))
        }
        Ok(Err(ApiFailure::Invalid(found))) => (
            SpirulaStatus::Invalid,
            SpirulaError::from_diagnostics(&found),
        ),
        Ok(Err(ApiFailure::Refused(what))) => {
            (SpirulaStatus::Refused, SpirulaError::from_message(what))
        }
        Err(_) => (
            SpirulaStatus::Internal,
            SpirulaError::from_message("a fault of the library; the module can only be freed"),
        ),
    };
    // SAFETY: the caller's pointer is null or can be written, by the crate's contract.
    if let Ok(out) = unsafe { OutPointer::new(error) } {
        out.set_value(Box::into_raw(Box::new(value)));
    }
    status
}

/// The same for functions that return a value and have a special one for failures.
pub(crate) fn run_guarded_or<T>(otherwise: T, body: impl FnOnce() -> Result<T, ApiFailure>) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => value,
        _ => otherwise,
    }
}

/// The number of messages of an error; 0 for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_error_count(error: *const SpirulaError) -> usize {
    ask!(0, error, |error| Ok(error.messages.len()))
}

/// A message of an error, valid until the error is freed; null if there is no such message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_error_message(
    error: *const SpirulaError,
    index: usize,
) -> *const c_char {
    ask!(ptr::null(), error, |error| {
        let message = error.messages.get(index);
        Ok(message.map_or(ptr::null(), |(text, _)| text.as_ptr()))
    })
}

/// The place in the input that a message refers to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_error_place(
    error: *const SpirulaError,
    index: usize,
) -> SpirulaPlace {
    ask!(to_c_place(SourceLocation::Unknown), error, |error| {
        let message = error.messages.get(index);
        Ok(message.map_or(to_c_place(SourceLocation::Unknown), |(_, place)| *place))
    })
}

/// Frees an error; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_error_free(error: *mut SpirulaError) {
    if !error.is_null() {
        // SAFETY: it came from `Box::into_raw` in `guard`, and by the contract is not freed yet.
        drop(unsafe { Box::from_raw(error) });
    }
}
