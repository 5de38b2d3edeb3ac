//! Layouts that programs ask for while they are compiled: `jax.debug.inspect_array_sharding`.

use crate::error::{PluginError, PluginResult};
use crate::module::ENTRY;
use crate::module_sharding::ModuleSharding;
use spirula::{InspectedLayout, PartitionOptions, asks_for_layouts, inspect_layouts};
use spirula_stablehlo::mlir::MlirModule;
use std::ffi::{CStr, c_char};
use std::sync::{Mutex, PoisonError};

/// A layout as functions of C have it. The pointers are valid during the call.
#[repr(C)]
#[derive(Debug)]
pub struct LayoutReport {
    /// The text of the call.
    key: *const c_char,
    key_size: usize,
    /// Number of parts of each dimension, and of the devices of each part. None in a manual computation.
    tiles: *const u64,
    tile_count: usize,
    /// The devices of the parts in row-major order.
    devices: *const u64,
    device_count: usize,
}

/// A function that takes a layout. It returns null or the text of an error, which stays valid until its next call.
pub type LayoutInspector = unsafe extern "C" fn(*const LayoutReport) -> *const c_char;

static INSPECTOR: Mutex<Option<LayoutInspector>> = Mutex::new(None);

/// Sets the function that takes layouts.
pub fn set_inspector(inspector: Option<LayoutInspector>) {
    let mut own = INSPECTOR.lock().unwrap_or_else(PoisonError::into_inner);
    *own = inspector;
}

/// Reports the layouts that a program asks for.
///
/// # Errors
/// When a sharding is malformed, or the function that takes a layout fails.
pub fn report_layouts(module: &MlirModule) -> PluginResult<()> {
    let inspector = *INSPECTOR.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(inspector) = inspector.filter(|_| asks_for_layouts(module)) else {
        return Ok(());
    };
    let options = PartitionOptions {
        shardings: Some(ModuleSharding::read_partition(module)?),
        devices: None,
    };
    let layouts = inspect_layouts(module, ENTRY, &options);
    let layouts = layouts.map_err(|error| PluginError::unimplemented(error.to_string()))?;
    for layout in &layouts {
        report_layout(inspector, layout)?;
    }
    Ok(())
}

fn report_layout(inspector: LayoutInspector, layout: &InspectedLayout) -> PluginResult<()> {
    let report = LayoutReport {
        key: layout.key.as_ptr().cast(),
        key_size: layout.key.len(),
        tiles: layout.tiles.as_ptr(),
        tile_count: layout.tiles.len(),
        devices: layout.devices.as_ptr(),
        device_count: layout.devices.len(),
    };
    // SAFETY: the report and its lists outlive the call, and the function has the type that it was set with.
    let message = unsafe { inspector(&raw const report) };
    if message.is_null() {
        return Ok(());
    }
    // SAFETY: the function returns a text that ends in zero and is valid until its next call.
    let message = unsafe { CStr::from_ptr(message) };
    Err(PluginError::internal(message.to_string_lossy()))
}
