//! Hostile calls: null pointers, short structs, and functions that are not implemented.

use crate::caller::{CallError, make_arguments, table, take_error};
use spirula_pjrt::boundary::SizedStruct;
use spirula_pjrt::generated::*;
use std::mem::offset_of;

type AnyFunction = unsafe extern "C" fn(*mut u8) -> *mut PjrtError;

/// Bytes of the largest struct of arguments, and more.
const SPACE: usize = 1024;
/// The content of memory that no call may touch.
const CANARY: u8 = 0xa5;

/// All functions that return an error, in the order of the table.
fn list_functions() -> Vec<AnyFunction> {
    let first = offset_of!(PjrtApi, error_get_code);
    let count = (size_of::<PjrtApi>() - first) / size_of::<usize>();
    let start = std::ptr::from_ref(table()).cast::<u8>();
    let read = |at: usize| {
        // SAFETY: the rest of the table consists of such functions, and all are there.
        unsafe {
            start
                .add(first + at * size_of::<usize>())
                .cast::<Option<AnyFunction>>()
                .read()
        }
    };
    (0..count)
        .map(|at| read(at).expect("every function is there"))
        .collect()
}

#[test]
fn the_table_is_whole() {
    assert_eq!(table().struct_size, size_of::<PjrtApi>());
    assert_eq!(list_functions().len(), 116);
    assert_eq!(table().pjrt_api_version.struct_size, PjrtApiVersion::SIZE);
}

#[test]
fn null_structs_are_refused() {
    for function in list_functions() {
        // SAFETY: null is allowed.
        let refused = unsafe { take_error(function(std::ptr::null_mut())) };
        let error = refused.expect_err("there is no struct");
        let codes = [
            PjrtErrorCode::INVALID_ARGUMENT,
            PjrtErrorCode::UNIMPLEMENTED,
        ];
        assert!(codes.contains(&error.code), "{error:?}");
    }
    // SAFETY: as above.
    unsafe {
        table().error_destroy.unwrap()(std::ptr::null_mut());
        table().error_message.unwrap()(std::ptr::null_mut());
    }
}

/// Structs of every size that a caller may know, with null pointers everywhere. Nothing beyond them is written.
#[test]
fn short_structs_are_not_exceeded() {
    for function in list_functions() {
        for size in (0..SPACE / 2).step_by(size_of::<usize>()) {
            let mut memory = vec![CANARY as usize; SPACE / size_of::<usize>()];
            let bytes = memory.as_mut_ptr().cast::<u8>();
            let known = size.max(size_of::<usize>());
            // SAFETY: the memory has as many bytes as the struct says.
            let answered: Result<(), CallError> = unsafe {
                bytes.write_bytes(CANARY, SPACE);
                bytes.write_bytes(0, known);
                bytes.cast::<usize>().write(size);
                take_error(function(bytes))
            };
            // SAFETY: as above.
            let rest = unsafe { std::slice::from_raw_parts(bytes.add(known), SPACE - known) };
            assert!(rest.iter().all(|byte| *byte == CANARY), "{answered:?}");
            if size < 2 * size_of::<usize>() {
                answered.expect_err("no struct is so small");
            }
        }
    }
}

#[test]
fn absent_functions_say_their_names() {
    let mut arguments = make_arguments::<PjrtClientDmaMapArgs>();
    let error = crate::caller::call(table().client_dma_map, &mut arguments).expect_err("absent");
    assert_eq!(error.code, PjrtErrorCode::UNIMPLEMENTED);
    assert!(
        error.message.contains("PJRT_Client_DmaMap"),
        "{}",
        error.message
    );
}

/// A caller of an earlier interface does not know the last field of a struct, and is served.
#[test]
fn earlier_callers_are_served() {
    let client = crate::caller::TestClient::new();
    let source = "module { func.func public @main(%a: tensor<f32>) -> tensor<f32> {
        return %a : tensor<f32> } }";
    let stored = client.compile(source).expect("it compiles").serialize();
    assert!(client.deserialize(&stored).is_ok());
    let mut stats = make_arguments::<PjrtDeviceMemoryStatsArgs>();
    stats.device = client.device;
    stats.struct_size = offset_of!(PjrtDeviceMemoryStatsArgs, peak_bytes_in_use);
    stats.num_allocs = -7;
    crate::caller::call(table().device_memory_stats, &mut stats).expect("it is served");
    assert_eq!(stats.num_allocs, -7);
}
