//! The engine of the page: JavaScript compiles and runs generated modules.
//!
//! The functions that this module imports return −1 where they fail, and keep the message. Generated modules import the
//! exported functions, so calls of the host pass from one module to the other.

#![allow(unsafe_code)] // JavaScript calls exported functions, and copies memory of this module.

use spirula_interpreter::{HostFunctions, HostRow, WasmEngine};
use std::cell::RefCell;
use std::sync::Arc;

/// Most bytes of a message.
const MOST_MESSAGE: usize = 1 << 10;

#[link(wasm_import_module = "spirula_engine")]
unsafe extern "C" {
    fn take_message(text: *mut u8, room: usize) -> usize;
    fn load_module(code: *const u8, bytes: usize) -> i32;
    safe fn reserve_memory(instance: u32, pages: u32) -> i32;
    fn write_memory(instance: u32, at: u32, bytes: *const u8, count: usize) -> i32;
    fn read_memory(instance: u32, at: u32, bytes: *mut u8, count: usize) -> i32;
    safe fn run_group(instance: u32, is_new: u32) -> i32;
    safe fn drop_instance(instance: u32);
}

/// Functions that the running instance may call.
#[derive(Default)]
struct RunningHost {
    functions: Arc<HostFunctions>,
    row: HostRow,
}

thread_local! {
    static HOST: RefCell<RunningHost> = RefCell::default();
}

/// The engine, with the functions of each instance.
#[derive(Default)]
pub(crate) struct HostEngine {
    functions: Vec<(u32, Arc<HostFunctions>)>,
}

/// The result of a call, or its message.
fn check_call(result: i32) -> Result<u32, String> {
    u32::try_from(result).map_err(|_| {
        let mut text = vec![0; MOST_MESSAGE];
        // SAFETY: the text has the stated room.
        let length = unsafe { take_message(text.as_mut_ptr(), text.len()) };
        text.truncate(length);
        String::from_utf8_lossy(&text).into_owned()
    })
}

impl WasmEngine for HostEngine {
    fn load_module(&mut self, code: &[u8], functions: &Arc<HostFunctions>) -> Result<u32, String> {
        // SAFETY: the code has the stated bytes, which are only read.
        let instance = check_call(unsafe { load_module(code.as_ptr(), code.len()) })?;
        self.functions.push((instance, functions.clone()));
        Ok(instance)
    }

    fn reserve_memory(&mut self, instance: u32, bytes: u64) -> Result<(), String> {
        let pages = u32::try_from(bytes.div_ceil(1 << 16)).unwrap_or(u32::MAX);
        check_call(reserve_memory(instance, pages)).map(|_| ())
    }

    fn write_memory(&mut self, instance: u32, at: u32, bytes: &[u8]) -> Result<(), String> {
        // SAFETY: there is that number of bytes, which are only read.
        let written = unsafe { write_memory(instance, at, bytes.as_ptr(), bytes.len()) };
        check_call(written).map(|_| ())
    }

    fn read_memory(&mut self, instance: u32, at: u32, out: &mut [u8]) -> Result<(), String> {
        // SAFETY: there is room for that number of bytes, and nothing else refers to it.
        let read = unsafe { read_memory(instance, at, out.as_mut_ptr(), out.len()) };
        check_call(read).map(|_| ())
    }

    fn run_group(&mut self, instance: u32, is_new: bool) -> Result<u32, String> {
        let mut known = self.functions.iter();
        if let Some((_, functions)) = known.find(|(number, _)| *number == instance) {
            HOST.with_borrow_mut(|host| host.functions = functions.clone());
        }
        check_call(run_group(instance, is_new.into()))
    }

    fn drop_instance(&mut self, instance: u32) {
        self.functions.retain(|(number, _)| *number != instance);
        drop_instance(instance);
    }
}

/// Computes an operation for generated code.
#[unsafe(no_mangle)]
pub extern "C" fn spirula_apply(number: u32, a: u64, b: u64, c: u64, d: u64) -> u64 {
    HOST.with_borrow(|host| host.functions.apply(number, [a, b, c, d]))
}

/// Sets an operand of the next function on vectors.
#[unsafe(no_mangle)]
pub extern "C" fn spirula_put_row(at: u32, bits: u64) {
    HOST.with_borrow_mut(|host| host.row.put(at, bits));
}

/// Computes a function on vectors.
#[unsafe(no_mangle)]
pub extern "C" fn spirula_compute_row(number: u32) {
    HOST.with_borrow_mut(|host| host.row.compute(&host.functions, number));
}

/// A component of the last result.
#[unsafe(no_mangle)]
pub extern "C" fn spirula_take_row(at: u32) -> u64 {
    HOST.with_borrow(|host| host.row.take(at))
}
