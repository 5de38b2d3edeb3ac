//! Extension of PJRT for foreign functions, version 2: registration of functions and types, and data of executions.

use super::api::UserData;
use super::interface::{FfiDeleter, FfiHandler, FfiHandlerBundle};
use super::registry::{UntypedFunction, register_handlers, register_type, register_untyped};
use crate::boundary::{CallArguments, PluginCall, SizedStruct, enter_call};
use crate::error::{PluginError, PluginResult};
use crate::execute::ExecutionContext;
use crate::generated::{
    PjrtError, PjrtErrorCode, PjrtExecuteContext, PjrtExtensionBase, PjrtExtensionType,
};
use crate::handle::{get_ref, get_text};
use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;
use std::sync::Arc;

/// Arguments of `PJRT_FFI_TypeID_Register`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct TypeRegisterArgs {
    struct_size: usize,
    extension_start: *mut PjrtExtensionBase,
    type_name: *const c_char,
    type_name_size: usize,
    type_id: i64,
}

// SAFETY: the struct consists of numbers and pointers.
unsafe impl SizedStruct for TypeRegisterArgs {
    const SIZE: usize = offset_of!(TypeRegisterArgs, type_id) + size_of::<i64>();
}

// SAFETY: as above.
unsafe impl CallArguments for TypeRegisterArgs {
    const FUNCTION: &'static str = "PJRT_FFI_TypeID_Register";
}

impl PluginCall for TypeRegisterArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let name = get_text(self.type_name, self.type_name_size)?;
        let registered = register_type(&name, self.type_id, None);
        self.type_id = registered
            .map_err(|message| PluginError::new(PjrtErrorCode::ALREADY_EXISTS, message))?;
        Ok(())
    }
}

/// Data for handlers, with the function that frees it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct UserDataArgument {
    type_id: i64,
    data: *mut c_void,
    deleter: Option<FfiDeleter>,
}

/// Arguments of `PJRT_FFI_UserData_Add`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct UserDataAddArgs {
    struct_size: usize,
    extension_start: *mut PjrtExtensionBase,
    context: *mut PjrtExecuteContext,
    user_data: UserDataArgument,
}

// SAFETY: the struct consists of numbers and pointers.
unsafe impl SizedStruct for UserDataAddArgs {
    const SIZE: usize = offset_of!(UserDataAddArgs, user_data) + size_of::<UserDataArgument>();
}

// SAFETY: as above.
unsafe impl CallArguments for UserDataAddArgs {
    const FUNCTION: &'static str = "PJRT_FFI_UserData_Add";
}

impl PluginCall for UserDataAddArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let context = get_ref::<ExecutionContext>(self.context)?;
        let given = self.user_data;
        context.add_user_data(SharedUserData(Arc::new(OwnedUserData {
            data: UserData {
                type_id: given.type_id,
                data: given.data,
            },
            deleter: given.deleter,
        })));
        Ok(())
    }
}

/// Data for handlers, which is freed after the last execution that has it.
#[derive(Clone)]
pub struct SharedUserData(Arc<OwnedUserData>);

struct OwnedUserData {
    data: UserData,
    deleter: Option<FfiDeleter>,
}

// SAFETY: the contract of the crate lets any thread use the data.
unsafe impl Send for OwnedUserData {}
// SAFETY: as above.
unsafe impl Sync for OwnedUserData {}

impl SharedUserData {
    /// The data.
    pub fn get(&self) -> UserData {
        self.0.data
    }
}

impl Drop for OwnedUserData {
    fn drop(&mut self) {
        if let Some(deleter) = self.deleter {
            // SAFETY: the caller gave the function for this data.
            unsafe { deleter(self.data.data) };
        }
    }
}

/// Arguments of `PJRT_FFI_Register_Handler`.
#[derive(Clone, Copy)]
#[repr(C)]
#[allow(missing_docs, reason = "the extension's header documents the fields")]
pub struct RegisterHandlerArgs {
    pub struct_size: usize,
    pub target_name: *const c_char,
    pub target_name_size: usize,
    pub api_version: c_int,
    pub handler: *mut c_void,
    pub platform_name: *const c_char,
    pub platform_name_size: usize,
    pub traits: u32,
}

// SAFETY: the struct consists of numbers and pointers.
unsafe impl SizedStruct for RegisterHandlerArgs {
    const SIZE: usize = offset_of!(RegisterHandlerArgs, traits) + size_of::<u32>();
}

// SAFETY: as above.
unsafe impl CallArguments for RegisterHandlerArgs {
    const FUNCTION: &'static str = "PJRT_FFI_Register_Handler";
}

impl PluginCall for RegisterHandlerArgs {
    /// Registers a function for all platforms of the plugin: each runs it on the host.
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let name = get_text(self.target_name, self.target_name_size)?;
        if self.handler.is_null() {
            return Err(PluginError::invalid("there is no handler"));
        }
        if self.api_version == 0 {
            let function = std::mem::transmute::<*mut c_void, UntypedFunction>(self.handler);
            register_untyped(&name, function);
            return Ok(());
        }
        let handler = std::mem::transmute::<*mut c_void, FfiHandler>(self.handler);
        let bundle = FfiHandlerBundle {
            instantiate: None,
            prepare: None,
            initialize: None,
            execute: Some(handler),
        };
        register_handlers(&name, bundle);
        Ok(())
    }
}

type ExtensionFunction<A> = unsafe extern "C" fn(*mut A) -> *mut PjrtError;

/// The extension.
#[repr(C)]
pub struct FfiExtension {
    /// The type of the extension, and the next one.
    pub base: PjrtExtensionBase,
    type_id_register: ExtensionFunction<TypeRegisterArgs>,
    user_data_add: ExtensionFunction<UserDataAddArgs>,
    /// Registers a function.
    pub register_handler: ExtensionFunction<RegisterHandlerArgs>,
}

impl FfiExtension {
    /// The extension, before others.
    pub fn new(next: *mut PjrtExtensionBase) -> FfiExtension {
        FfiExtension {
            base: PjrtExtensionBase {
                struct_size: size_of::<FfiExtension>(),
                ty: PjrtExtensionType::FFI,
                next,
            },
            type_id_register: enter_call,
            user_data_add: enter_call,
            register_handler: enter_call,
        }
    }
}
