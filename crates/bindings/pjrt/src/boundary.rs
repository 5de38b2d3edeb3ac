//! Boundary to C: structs bounded by their `struct_size`, errors for panics, and answers of functions that are not
//! implemented.
//!
//! A function works on a copy of its struct of arguments, in which the fields that the caller does not know are zero. The
//! fields that it knows are copied back. So a caller of an older or newer interface is served without a check of each field.

use crate::error::{PluginError, PluginResult, catch_panic};
use crate::generated::PjrtError;
use std::ptr;

/// A struct that begins with its size in bytes, `struct_size`.
///
/// # Safety
/// The struct is `repr(C)`, begins with a `usize`, and any bytes are valid for its fields.
pub unsafe trait SizedStruct: Copy {
    /// Bytes up to the end of the last field.
    const SIZE: usize;
}

/// A struct of arguments of a function of the table.
///
/// # Safety
/// As for [`SizedStruct`].
pub unsafe trait CallArguments: SizedStruct {
    /// The name of the function.
    const FUNCTION: &'static str;
}

/// A function of the table that is implemented.
pub trait PluginCall: CallArguments {
    /// Runs the function on a copy of its arguments, and writes its results there.
    ///
    /// # Safety
    /// The contract of the crate.
    ///
    /// # Errors
    /// Those that the function returns to the caller.
    unsafe fn answer(&mut self) -> PluginResult<()>;
}

/// Declares structs of arguments with their functions: the fields after the size, the last of them first.
macro_rules! declare_arguments {
    ($($name:ident, $function:literal, $last:ident: $last_type:ty { $($field:ident: $ty:ty,)* })*) => {
        $(
            #[derive(Clone, Copy)]
            #[repr(C)]
            #[allow(missing_docs, reason = "the header of the interface documents the fields")]
            pub struct $name {
                pub struct_size: usize,
                $(pub $field: $ty,)*
                pub $last: $last_type,
            }

            // SAFETY: the struct consists of numbers and pointers.
            unsafe impl $crate::boundary::SizedStruct for $name {
                const SIZE: usize = std::mem::offset_of!($name, $last) + size_of::<$last_type>();
            }

            // SAFETY: as above.
            unsafe impl $crate::boundary::CallArguments for $name {
                const FUNCTION: &'static str = $function;
            }
        )*
    };
}

pub(crate) use declare_arguments;

/// Bytes of the fields that every struct begins with: its size and its extensions.
const HEAD: usize = size_of::<usize>() + size_of::<*mut ()>();

/// Copies a struct. Fields beyond its `struct_size` are zero.
///
/// # Errors
/// When there is no struct, or its size is impossible.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn read_struct<T: SizedStruct>(from: *const T) -> PluginResult<T> {
    if from.is_null() {
        return Err(PluginError::invalid("a struct is missing"));
    }
    let size = ptr::read_unaligned(from.cast::<usize>());
    if size < HEAD {
        let message = format!("a struct_size of {size} is less than that of any struct");
        return Err(PluginError::invalid(message));
    }
    let mut copy = make_cleared::<T>();
    ptr::copy_nonoverlapping(from.cast::<u8>(), (&raw mut copy).cast(), size.min(T::SIZE));
    Ok(copy)
}

/// A struct whose fields are zero. Callers do not initialise the fields of results.
pub fn make_cleared<T: SizedStruct>() -> T {
    // SAFETY: any bytes are valid for the fields.
    unsafe { std::mem::zeroed() }
}

/// Copies the fields back that the caller knows.
///
/// # Safety
/// The contract of the crate; `copy` came from [`read_struct`] for `to`.
pub unsafe fn write_struct<T: SizedStruct>(to: *mut T, copy: &T) {
    let size = ptr::read_unaligned(to.cast::<usize>());
    ptr::copy_nonoverlapping(
        ptr::from_ref(copy).cast::<u8>(),
        to.cast(),
        size.min(T::SIZE),
    );
}

/// A function of the table that is implemented.
///
/// # Safety
/// The contract of the crate.
pub unsafe extern "C" fn enter_call<A: PluginCall>(arguments: *mut A) -> *mut PjrtError {
    return_error(answer_call(arguments))
}

/// The error of an answer for the caller, who frees it.
fn return_error(answered: PluginResult<()>) -> *mut PjrtError {
    answered.map_or_else(PluginError::into_raw, |()| ptr::null_mut())
}

/// The same where callers leave `struct_size` uninitialised, as XLA does for profilers. They have the whole struct.
///
/// # Safety
/// The contract of the crate, with a struct that is null or whole.
pub unsafe extern "C" fn enter_unsized_call<A: PluginCall>(arguments: *mut A) -> *mut PjrtError {
    let answered = catch_panic(|| match arguments.as_mut() {
        Some(arguments) => arguments.answer(),
        None => Err(PluginError::invalid("a struct is missing")),
    });
    let answered = answered.flatten();
    return_error(answered.map_err(|error| error.within(A::FUNCTION)))
}

/// The same for functions that return nothing.
///
/// # Safety
/// The contract of the crate.
pub unsafe extern "C" fn enter_infallible_call<A: PluginCall>(arguments: *mut A) {
    // There is nobody to tell of a malformed call.
    let _ = answer_call(arguments);
}

unsafe fn answer_call<A: PluginCall>(arguments: *mut A) -> PluginResult<()> {
    let answered = catch_panic(|| {
        let copy = read_struct(arguments).map_err(|mut error| {
            error.message = format!("{}: {}", A::FUNCTION, error.message);
            error
        });
        let mut copy = copy?;
        let answered = copy.answer();
        if answered.is_ok() {
            write_struct(arguments, &copy);
        }
        answered
    });
    answered
        .flatten()
        .map_err(|error| error.within(A::FUNCTION))
}

/// A function of the table that is not implemented.
///
/// # Safety
/// Any pointer is allowed.
pub unsafe extern "C" fn refuse_call<A: CallArguments>(_: *mut A) -> *mut PjrtError {
    PluginError::unimplemented(format!("{} is not implemented", A::FUNCTION)).into_raw()
}

/// A function of the table that is not implemented and returns nothing.
///
/// # Safety
/// Any pointer is allowed.
pub unsafe extern "C" fn ignore_call<A: CallArguments>(_: *mut A) {}
