//! Configurations: what a context is made with.

use crate::handle::{get_mut, get_text};
use std::ffi::{c_char, c_int};
use std::path::PathBuf;

/// The archives of a program: one for the processor, one for graphics devices. One of them may be null.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SpirulaFutharkProgram {
    /// The archive for the CPU device.
    pub processor: *const u8,
    /// Its bytes.
    pub processor_size: usize,
    /// The archive for graphics devices.
    pub graphics: *const u8,
    /// Its bytes.
    pub graphics_size: usize,
}

/// A configuration.
#[derive(Debug)]
pub struct SpirulaFutharkConfig {
    pub(crate) program: SpirulaFutharkProgram,
    pub(crate) device: Option<String>,
    pub(crate) threads: Option<usize>,
    pub(crate) parameters: Vec<(String, u64)>,
    pub(crate) cache: Option<PathBuf>,
    pub(crate) is_logging: bool,
    pub(crate) is_profiling: bool,
}

/// Creates a configuration for a program, whose archives stay where they are while contexts exist. Null without a program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_config_new(
    program: *const SpirulaFutharkProgram,
) -> *mut SpirulaFutharkConfig {
    // SAFETY: null or a program, by the contract.
    let Some(program) = (unsafe { program.as_ref() }) else {
        return std::ptr::null_mut();
    };
    Box::into_raw(Box::new(SpirulaFutharkConfig {
        program: *program,
        device: None,
        threads: None,
        parameters: Vec::new(),
        cache: None,
        is_logging: false,
        is_profiling: false,
    }))
}

/// Frees a configuration; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_config_free(config: *mut SpirulaFutharkConfig) {
    if !config.is_null() {
        // SAFETY: it came from `Box::into_raw`, and by the contract is not freed yet.
        drop(unsafe { Box::from_raw(config) });
    }
}

/// Chooses the device: by its name (`cpu`, `vulkan:0`), by its number among all devices (`#1`), or as the first whose name
/// contains the text. By default it is the one that the variable `SPIRULA_DEVICE` of the environment names so, or `cpu`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_config_set_device(
    config: *mut SpirulaFutharkConfig,
    name: *const c_char,
) {
    // SAFETY: the crate's contract.
    if let Some(config) = unsafe { get_mut(config) } {
        // SAFETY: the crate's contract.
        config.device = unsafe { get_text(name) }.ok();
    }
}

/// Sets the number of threads of the CPU device; below one it is one for each processor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_config_set_threads(
    config: *mut SpirulaFutharkConfig,
    count: c_int,
) {
    // SAFETY: the crate's contract.
    if let Some(config) = unsafe { get_mut(config) } {
        config.threads = usize::try_from(count).ok().filter(|count| *count > 0);
    }
}

/// Sets a tuning parameter by its name, or all parameters of a class by the name of the class.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_config_set_parameter(
    config: *mut SpirulaFutharkConfig,
    name: *const c_char,
    value: usize,
) {
    // SAFETY: the crate's contract.
    if let (Some(config), Ok(name)) = unsafe { (get_mut(config), get_text(name)) } {
        config.parameters.push((name, value as u64));
    }
}

/// Sets the folder in which compiled kernels are kept between runs; null for none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_config_set_cache(
    config: *mut SpirulaFutharkConfig,
    path: *const c_char,
) {
    // SAFETY: the crate's contract.
    if let Some(config) = unsafe { get_mut(config) } {
        // SAFETY: the crate's contract.
        config.cache = unsafe { get_text(path) }.ok().map(PathBuf::from);
    }
}

/// Says whether calls are logged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_config_set_logging(
    config: *mut SpirulaFutharkConfig,
    flag: c_int,
) {
    // SAFETY: the crate's contract.
    if let Some(config) = unsafe { get_mut(config) } {
        config.is_logging = flag != 0;
    }
}

/// Says whether the time of calls is recorded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_config_set_profiling(
    config: *mut SpirulaFutharkConfig,
    flag: c_int,
) {
    // SAFETY: the crate's contract.
    if let Some(config) = unsafe { get_mut(config) } {
        config.is_profiling = flag != 0;
    }
}
