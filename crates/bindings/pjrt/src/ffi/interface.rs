//! Structs of XLA's foreign function interface, version 0.5, as `xla/ffi/api/c_api.h` declares them.

#![allow(missing_docs, reason = "the header documents its declarations")]

use std::ffi::{c_char, c_int, c_void};

pub const MAJOR: c_int = 0;
pub const MINOR: c_int = 5;

/// Kinds of attributes.
pub const ARRAY: u32 = 1;
pub const DICTIONARY: u32 = 2;
pub const SCALAR: u32 = 3;
pub const STRING: u32 = 4;

/// The kind of all arguments and results.
pub const BUFFER: u32 = 1;

/// Stages of an execution.
pub const INSTANTIATE: u32 = 0;
pub const PREPARE: u32 = 1;
pub const INITIALIZE: u32 = 2;
pub const EXECUTE: u32 = 3;

/// A function that handles a stage of calls.
pub type FfiHandler = unsafe extern "C" fn(*mut FfiCallFrame) -> *mut FfiErrorObject;

/// A function that frees an object.
pub type FfiDeleter = unsafe extern "C" fn(*mut c_void);

/// A task of a pool of threads.
pub type FfiTask = unsafe extern "C" fn(*mut c_void);

/// Declares structs of C.
macro_rules! declare_structs {
    ($($name:ident { $($field:ident: $ty:ty,)* })*) => {
        $(
            #[derive(Clone, Copy)]
            #[repr(C)]
            pub struct $name {
                $(pub $field: $ty,)*
            }
        )*
    };
}

/// Declares structs of C that begin with their size.
macro_rules! declare_sized_structs {
    ($($name:ident { $($field:ident: $ty:ty,)* })*) => {
        declare_structs! {
            $($name {
                struct_size: usize,
                extension_start: *mut c_void,
                $($field: $ty,)*
            })*
        }
    };
}

/// Declares types of objects that C does not look into.
macro_rules! declare_opaque {
    ($($name:ident)*) => {
        $(
            #[repr(C)]
            pub struct $name {
                _private: [u8; 0],
            }
        )*
    };
}

declare_opaque! {
    FfiErrorObject
    FfiFutureObject
    FfiContextObject
    FfiInternalApi
}

declare_structs! {
    FfiByteSpan {
        ptr: *const c_char,
        len: usize,
    }
    FfiScalar {
        dtype: u32,
        value: *const c_void,
    }
    FfiArray {
        dtype: u32,
        size: usize,
        data: *const c_void,
    }
    FfiTypeId {
        type_id: i64,
    }
    FfiHandlerBundle {
        instantiate: Option<FfiHandler>,
        prepare: Option<FfiHandler>,
        initialize: Option<FfiHandler>,
        execute: Option<FfiHandler>,
    }
}

declare_sized_structs! {
    FfiVersion {
        major_version: c_int,
        minor_version: c_int,
    }
    FfiErrorCreateArgs {
        message: *const c_char,
        errc: u32,
    }
    FfiErrorGetDetailsArgs {
        error: *mut FfiErrorObject,
        message: *const c_char,
        errc: u32,
    }
    FfiErrorDestroyArgs {
        error: *mut FfiErrorObject,
    }
    FfiBuffer {
        dtype: u32,
        data: *mut c_void,
        rank: i64,
        dims: *const i64,
    }
    FfiTypeInfo {
        deleter: Option<FfiDeleter>,
    }
    FfiFutureCreateArgs {
        future: *mut FfiFutureObject,
    }
    FfiFutureSetAvailableArgs {
        future: *mut FfiFutureObject,
    }
    FfiFutureSetErrorArgs {
        future: *mut FfiFutureObject,
        error: *mut FfiErrorObject,
    }
    FfiArguments {
        size: i64,
        types: *const u32,
        args: *const *const FfiBuffer,
    }
    FfiResults {
        size: i64,
        types: *const u32,
        rets: *const *const FfiBuffer,
    }
    FfiAttributes {
        size: i64,
        types: *const u32,
        names: *const *const FfiByteSpan,
        attrs: *const *const c_void,
    }
    FfiCallFrame {
        api: *const FfiApi,
        ctx: *mut FfiContextObject,
        stage: u32,
        args: FfiArguments,
        rets: FfiResults,
        attrs: FfiAttributes,
        future: *mut FfiFutureObject,
    }
    FfiHandlerRegisterArgs {
        name: FfiByteSpan,
        platform: FfiByteSpan,
        bundle: FfiHandlerBundle,
        traits: u32,
    }
    FfiTypeRegisterArgs {
        name: FfiByteSpan,
        type_id: *mut FfiTypeId,
        type_info: *const FfiTypeInfo,
    }
    FfiContextGetArgs {
        ctx: *mut FfiContextObject,
        type_id: *mut FfiTypeId,
        data: *mut c_void,
    }
    FfiStateArgs {
        ctx: *mut FfiContextObject,
        stage: u32,
        type_id: *mut FfiTypeId,
        state: *mut c_void,
    }
    FfiStreamGetArgs {
        ctx: *mut FfiContextObject,
        stream: *mut c_void,
    }
    FfiAllocateArgs {
        ctx: *mut FfiContextObject,
        size: usize,
        alignment: usize,
        data: *mut c_void,
    }
    FfiFreeArgs {
        ctx: *mut FfiContextObject,
        size: usize,
        data: *mut c_void,
    }
    FfiScheduleArgs {
        ctx: *mut FfiContextObject,
        task: Option<FfiTask>,
        data: *mut c_void,
    }
    FfiThreadCountArgs {
        ctx: *mut FfiContextObject,
        num_threads: *mut i64,
    }
    FfiRunIdArgs {
        ctx: *mut FfiContextObject,
        run_id: i64,
    }
    FfiDeviceOrdinalArgs {
        ctx: *mut FfiContextObject,
        device_ordinal: i32,
    }
    FfiFindExtensionArgs {
        ctx: *mut FfiContextObject,
        extension_type: i64,
        extension: *const c_void,
    }
    FfiCustomOptionsArgs {
        ctx: *mut FfiContextObject,
        attrs: *const FfiAttributes,
    }
}

/// A function of the table that may fail.
pub type FfiFunction<A> = unsafe extern "C" fn(*mut A) -> *mut FfiErrorObject;

/// The table of functions that handlers call.
#[repr(C)]
pub struct FfiApi {
    pub struct_size: usize,
    pub extension_start: *mut c_void,
    pub api_version: FfiVersion,
    pub internal_api: *const FfiInternalApi,
    pub error_create: unsafe extern "C" fn(*mut FfiErrorCreateArgs) -> *mut FfiErrorObject,
    pub error_get_details: unsafe extern "C" fn(*mut FfiErrorGetDetailsArgs),
    pub error_destroy: unsafe extern "C" fn(*mut FfiErrorDestroyArgs),
    pub handler_register: FfiFunction<FfiHandlerRegisterArgs>,
    pub stream_get: FfiFunction<FfiStreamGetArgs>,
    pub type_register: FfiFunction<FfiTypeRegisterArgs>,
    pub context_get: FfiFunction<FfiContextGetArgs>,
    pub state_set: FfiFunction<FfiStateArgs>,
    pub state_get: FfiFunction<FfiStateArgs>,
    pub memory_allocate: FfiFunction<FfiAllocateArgs>,
    pub memory_free: FfiFunction<FfiFreeArgs>,
    pub pool_schedule: FfiFunction<FfiScheduleArgs>,
    pub pool_thread_count: FfiFunction<FfiThreadCountArgs>,
    pub future_create: FfiFunction<FfiFutureCreateArgs>,
    pub future_set_available: FfiFunction<FfiFutureSetAvailableArgs>,
    pub future_set_error: FfiFunction<FfiFutureSetErrorArgs>,
    pub run_id_get: FfiFunction<FfiRunIdArgs>,
    pub device_ordinal_get: FfiFunction<FfiDeviceOrdinalArgs>,
    pub extension_find: FfiFunction<FfiFindExtensionArgs>,
    pub custom_options_get: FfiFunction<FfiCustomOptionsArgs>,
}
