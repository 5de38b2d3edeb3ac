//! Extension of PJRT for foreign functions, version 2: registration of functions and types, and data of executions.

use super::api::UserData;
use super::interface::{FfiDeleter, FfiHandler, FfiHandlerBundle};
use super::registry::{UntypedFunction, register_handlers, register_type, register_untyped};
use crate::boundary::{PluginCall, declare_arguments, enter_call};
use crate::error::{PluginError, PluginResult};
use crate::execute::ExecutionContext;
use crate::generated::{
    PjrtError, PjrtErrorCode, PjrtExecuteContext, PjrtExtensionBase, PjrtExtensionType,
};
use crate::handle::{get_ref, get_text};
use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

declare_arguments! {
    TypeRegisterArgs, "PJRT_FFI_TypeID_Register", type_id: i64 {
        extension_start: *mut PjrtExtensionBase,
        type_name: *const c_char,
        type_name_size: usize,
    }
    UserDataAddArgs, "PJRT_FFI_UserData_Add", user_data: UserDataArgument {
        extension_start: *mut PjrtExtensionBase,
        context: *mut PjrtExecuteContext,
    }
    RegisterHandlerArgs, "PJRT_FFI_Register_Handler", traits: u32 {
        target_name: *const c_char,
        target_name_size: usize,
        api_version: c_int,
        handler: *mut c_void,
        platform_name: *const c_char,
        platform_name_size: usize,
    }
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
