//! The key-value store that a caller gives by callbacks.

use crate::boundary::{SizedStruct, make_cleared};
use crate::error::{PluginError, PluginResult};
use crate::generated::{
    PjrtClientCreateArgs, PjrtError, PjrtErrorCode, PjrtKeyValueGetCallback,
    PjrtKeyValueGetCallbackArgs, PjrtKeyValuePutCallback, PjrtKeyValuePutCallbackArgs,
};
use crate::handle::get_text;
use spirula_exchange::KeyValueStore;
use std::ffi::{c_char, c_int, c_void};
use std::time::Duration;

/// A store of the caller.
pub struct CallbackStore {
    get: PjrtKeyValueGetCallback,
    get_argument: *mut c_void,
    put: PjrtKeyValuePutCallback,
    put_argument: *mut c_void,
}

impl CallbackStore {
    /// The store of the arguments for a new client.
    ///
    /// # Errors
    /// When they have none.
    pub fn from_arguments(arguments: &PjrtClientCreateArgs) -> PluginResult<CallbackStore> {
        if arguments.kv_get_callback.is_none() || arguments.kv_put_callback.is_none() {
            return Err(PluginError::invalid(
                "a client of several processes has no key-value store",
            ));
        }
        Ok(CallbackStore {
            get: arguments.kv_get_callback,
            get_argument: arguments.kv_get_user_arg,
            put: arguments.kv_put_callback,
            put_argument: arguments.kv_put_user_arg,
        })
    }
}

/// Makes an error of this library for a callback of the caller.
unsafe extern "C" fn make_callback_error(
    code: PjrtErrorCode,
    message: *const c_char,
    size: usize,
) -> *mut PjrtError {
    let message = get_text(message, size).unwrap_or_default();
    PluginError::new(code, message).into_raw()
}

/// The message of an error that a callback returned.
unsafe fn take_message(error: *mut PjrtError) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    let error: Box<PluginError> = Box::from_raw(error.cast());
    Err(error.message)
}

impl KeyValueStore for CallbackStore {
    fn put(&self, key: &str, value: &str) -> Result<(), String> {
        let put = self.put.ok_or("there is none")?;
        let mut make_error = Some(make_callback_error as _);
        let mut arguments = PjrtKeyValuePutCallbackArgs {
            struct_size: PjrtKeyValuePutCallbackArgs::SIZE,
            key: key.as_ptr().cast(),
            key_size: key.len(),
            value: value.as_ptr().cast(),
            value_size: value.len(),
            callback_error: &raw mut make_error,
            user_arg: self.put_argument,
            ..make_cleared()
        };
        // SAFETY: the caller gave the function for such arguments, and texts live as long as the call.
        unsafe { take_message(put(&raw mut arguments)) }
    }

    fn get(&self, key: &str, timeout: Duration) -> Result<String, String> {
        let get = self.get.ok_or("there is none")?;
        let mut make_error = Some(make_callback_error as _);
        let mut arguments = PjrtKeyValueGetCallbackArgs {
            struct_size: PjrtKeyValueGetCallbackArgs::SIZE,
            key: key.as_ptr().cast(),
            key_size: key.len(),
            timeout_in_ms: c_int::try_from(timeout.as_millis()).unwrap_or(c_int::MAX),
            callback_error: &raw mut make_error,
            user_arg: self.get_argument,
            ..make_cleared()
        };
        // SAFETY: as above; the callback sets the value and the function that frees it.
        unsafe {
            take_message(get(&raw mut arguments))?;
            let value = get_text(arguments.value, arguments.value_size);
            if let Some(delete) = arguments.value_deleter_callback {
                delete(arguments.value);
            }
            value.map_err(|error| error.message)
        }
    }
}
