//! Extension of PJRT for profilers, version 1, with the table of functions of XLA's profiler plugins, version 1.

use super::session::ProfilerSession;
use crate::boundary::{PluginCall, declare_arguments, enter_unsized_call};
use crate::error::{PluginError, PluginResult};
use crate::generated::{PjrtError, PjrtExtensionBase, PjrtExtensionType};
use crate::handle::{allocate, free, get_ref};
use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

/// The opaque type of a profiler.
#[repr(C)]
pub struct OpaqueProfiler {
    _private: [u8; 0],
}

declare_arguments! {
    ErrorDestroyArgs, "PLUGIN_Profiler_Error_Destroy", error: *mut PjrtError {
        private: *mut c_void,
    }
    ErrorMessageArgs, "PLUGIN_Profiler_Error_Message", message_size: usize {
        private: *mut c_void,
        error: *const PjrtError,
        message: *const c_char,
    }
    ErrorCodeArgs, "PLUGIN_Profiler_Error_GetCode", code: c_int {
        private: *mut c_void,
        error: *const PjrtError,
    }
    ProfilerCreateArgs, "PLUGIN_Profiler_Create", profiler: *mut OpaqueProfiler {
        options: *const c_char,
        options_size: usize,
    }
    ProfilerDestroyArgs, "PLUGIN_Profiler_Destroy", profiler: *mut OpaqueProfiler {}
    ProfilerStartArgs, "PLUGIN_Profiler_Start", profiler: *mut OpaqueProfiler {}
    ProfilerStopArgs, "PLUGIN_Profiler_Stop", profiler: *mut OpaqueProfiler {}
    ProfilerDataArgs, "PLUGIN_Profiler_CollectData", buffer_size_in_bytes: usize {
        profiler: *mut OpaqueProfiler,
        buffer: *mut u8,
    }
}

type ProfilerCall<A> = unsafe extern "C" fn(*mut A) -> *mut PjrtError;

/// The table of functions.
#[repr(C)]
pub struct ProfilerTable {
    struct_size: usize,
    private: *mut c_void,
    error_destroy: unsafe extern "C" fn(*mut ErrorDestroyArgs),
    error_message: unsafe extern "C" fn(*mut ErrorMessageArgs),
    error_get_code: ProfilerCall<ErrorCodeArgs>,
    create: ProfilerCall<ProfilerCreateArgs>,
    destroy: ProfilerCall<ProfilerDestroyArgs>,
    start: ProfilerCall<ProfilerStartArgs>,
    stop: ProfilerCall<ProfilerStopArgs>,
    collect_data: ProfilerCall<ProfilerDataArgs>,
}

/// The extension.
#[repr(C)]
pub struct ProfilerExtension {
    /// The type of the extension, and the next one.
    pub base: PjrtExtensionBase,
    table: *mut ProfilerTable,
    /// Used in arguments only.
    trace_context: i64,
}

impl ProfilerExtension {
    /// The extension, before others. Its table lives as long as the process.
    pub fn new(next: *mut PjrtExtensionBase) -> ProfilerExtension {
        let table = ProfilerTable {
            struct_size: size_of::<ProfilerTable>(),
            private: null_mut(),
            error_destroy: destroy_error,
            error_message: tell_message,
            error_get_code: enter_unsized_call,
            create: enter_unsized_call,
            destroy: enter_unsized_call,
            start: enter_unsized_call,
            stop: enter_unsized_call,
            collect_data: enter_unsized_call,
        };
        ProfilerExtension {
            base: PjrtExtensionBase {
                struct_size: size_of::<ProfilerExtension>(),
                ty: PjrtExtensionType::PROFILER,
                next,
            },
            table: Box::leak(Box::new(table)),
            trace_context: 0,
        }
    }
}

unsafe extern "C" fn destroy_error(arguments: *mut ErrorDestroyArgs) {
    if let Some(arguments) = arguments.as_mut() {
        free::<PluginError>(arguments.error);
    }
}

unsafe extern "C" fn tell_message(arguments: *mut ErrorMessageArgs) {
    if let Some(arguments) = arguments.as_mut()
        && let Ok(error) = get_ref::<PluginError>(arguments.error)
    {
        arguments.message = error.message.as_ptr().cast();
        arguments.message_size = error.message.len();
    }
}

impl PluginCall for ErrorCodeArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let error = get_ref::<PluginError>(self.error)?;
        self.code = error.code.0 as c_int;
        Ok(())
    }
}

impl PluginCall for ProfilerCreateArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        self.profiler = allocate(ProfilerSession::default());
        Ok(())
    }
}

impl PluginCall for ProfilerDestroyArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        free::<ProfilerSession>(self.profiler);
        Ok(())
    }
}

impl PluginCall for ProfilerStartArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        get_ref::<ProfilerSession>(self.profiler)?.start()
    }
}

impl PluginCall for ProfilerStopArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        get_ref::<ProfilerSession>(self.profiler)?.stop();
        Ok(())
    }
}

impl PluginCall for ProfilerDataArgs {
    /// Fills the caller's buffer, or hands out the bytes where there is none. XLA reads these; its header describes a second
    /// call with a buffer.
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let bytes = get_ref::<ProfilerSession>(self.profiler)?.bytes();
        if self.buffer.is_null() {
            self.buffer = bytes.as_ptr().cast_mut();
        } else {
            let room = self.buffer_size_in_bytes;
            if room < bytes.len() {
                let message = format!("a profile of {} bytes for {room}", bytes.len());
                return Err(PluginError::invalid(message));
            }
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.buffer, bytes.len());
        }
        self.buffer_size_in_bytes = bytes.len();
        Ok(())
    }
}
