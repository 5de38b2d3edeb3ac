//! Shared virtual memory, and unified shared memory.

use crate::caller::{ObjectKind, OwnedHandle, check, platform};
use crate::events::{end_event, status, wait};
use crate::session::{BASIC, TestSession, create_buffer, launch, set_object, set_value};
use opencl_sys::*;
use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

fn allocate(session: &TestSession, size: usize, alignment: cl_uint) -> *mut c_void {
    cl!(clSVMAlloc(
        session.context.raw,
        CL_MEM_READ_WRITE,
        size,
        alignment
    ))
}

fn free(session: &TestSession, pointer: *mut c_void) {
    cl!(clSVMFree(session.context.raw, pointer));
}

fn set_pointer(kernel: cl_kernel, index: cl_uint, pointer: *const c_void) -> Result<(), cl_int> {
    check(cl!(clSetKernelArgSVMPointer(kernel, index, pointer)))
}

/// The numbers of an allocation.
fn numbers<'a>(pointer: *mut c_void, count: usize) -> &'a mut [u32] {
    // SAFETY: the test has allocated these bytes, and uses them while no kernel does.
    unsafe { std::slice::from_raw_parts_mut(pointer.cast(), count) }
}

#[test]
fn allocations_refuse_wrong_sizes_and_flags() {
    let session = TestSession::new();
    let context = session.context.raw;
    let fine = CL_MEM_SVM_FINE_GRAIN_BUFFER;
    let wrong = [
        (CL_MEM_READ_WRITE, 0, 0),
        (CL_MEM_READ_WRITE, usize::MAX, 0),
        (CL_MEM_READ_WRITE, 64, 3),
        (CL_MEM_READ_WRITE, 64, 1 << 30),
        (CL_MEM_SVM_ATOMICS, 64, 0),
        (CL_MEM_COPY_HOST_PTR, 64, 0),
        (1 << 50, 64, 0),
    ];
    for (flags, size, alignment) in wrong {
        let made = cl!(clSVMAlloc(context, flags, size, alignment));
        assert!(made.is_null(), "{flags:#x} {size} {alignment}");
    }
    assert!(cl!(clSVMAlloc(null_mut(), 0, 64, 0)).is_null());
    for alignment in [0, 1, 2, 4, 8, 16, 32, 64, 128] {
        for flags in [
            0,
            CL_MEM_READ_ONLY,
            CL_MEM_WRITE_ONLY,
            fine,
            fine | CL_MEM_SVM_ATOMICS,
        ] {
            let made = cl!(clSVMAlloc(context, flags, 100, alignment));
            assert!(!made.is_null());
            assert!((made as usize).is_multiple_of(alignment.max(1) as usize));
            free(&session, made);
        }
    }
    free(&session, null_mut());
    free(&session, 64 as *mut c_void);
}

#[test]
fn kernels_follow_pointers_in_shared_memory() {
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "walk_list");
    let node = |next: *mut c_void, value: u64| {
        let made = allocate(&session, 16, 8);
        // SAFETY: the allocation has room for a pointer and a number.
        unsafe {
            made.cast::<*mut c_void>().write(next);
            made.cast::<u64>().add(1).write(value);
        }
        made
    };
    let mut nodes = vec![null_mut()];
    for value in 1..=100 {
        nodes.push(node(nodes[value - 1], value as u64));
    }
    let sum = allocate(&session, 8, 8);
    assert_eq!(set_pointer(kernel.raw, 0, nodes[100]), Ok(()));
    assert_eq!(set_pointer(kernel.raw, 1, sum), Ok(()));
    let list = nodes[1..].as_ptr().cast();
    let code = cl!(clSetKernelExecInfo(
        kernel.raw,
        CL_KERNEL_EXEC_INFO_SVM_PTRS,
        800,
        list
    ));
    assert_eq!(code, CL_SUCCESS);
    assert_eq!(session.launch(&kernel, &[1]), Ok(()));
    session.finish();
    // SAFETY: the kernel has ended.
    assert_eq!(unsafe { *sum.cast::<u64>() }, 5050);
    assert_eq!(set_pointer(kernel.raw, 0, null()), Ok(()));
    assert_eq!(session.launch(&kernel, &[1]), Ok(()));
    session.finish();
    // SAFETY: as above.
    assert_eq!(unsafe { *sum.cast::<u64>() }, 0, "there is no first node");
    nodes.push(sum);
    nodes
        .into_iter()
        .for_each(|pointer| free(&session, pointer));
}

#[test]
fn buffers_may_be_over_shared_memory() {
    let session = TestSession::new();
    let made = allocate(&session, 256, 0);
    numbers(made, 64).fill(5);
    let buffer = create_buffer(session.context.raw, CL_MEM_USE_HOST_PTR, 256, made);
    let buffer = buffer.expect("there is memory");
    let uses = crate::caller::ask_value::<cl_bool>(|size, value, out| {
        cl!(clGetMemObjectInfo(
            buffer.raw,
            CL_MEM_USES_SVM_POINTER,
            size,
            value,
            out
        ))
    });
    assert_eq!(uses, Ok(CL_TRUE));
    let kernel = session.kernel(BASIC, "add_value");
    set_object(&kernel, 0, &buffer);
    assert_eq!(set_value(&kernel, 1, &3_u32), Ok(()));
    assert_eq!(session.launch(&kernel, &[32]), Ok(()));
    assert_eq!(
        session.read::<u32>(&buffer, 64),
        [[8; 32], [5; 32]].concat()
    );
    drop(buffer);
    free(&session, made);
}

#[test]
fn commands_copy_and_fill_shared_memory() {
    let session = TestSession::new();
    let (queue, none) = (session.queue.raw, null_mut());
    let (first, second) = (allocate(&session, 256, 0), allocate(&session, 256, 0));
    let pattern = 0xabcd_u32;
    let from = (&raw const pattern).cast();
    let code = cl!(clEnqueueSVMMemFill(
        queue,
        first,
        from,
        4,
        256,
        0,
        null(),
        none
    ));
    assert_eq!(code, CL_SUCCESS);
    let code = cl!(clEnqueueSVMMemcpy(
        queue,
        CL_TRUE,
        second,
        first,
        128,
        0,
        null(),
        none
    ));
    assert_eq!(code, CL_SUCCESS);
    assert_eq!(numbers(second, 64), [[0xabcd; 32], [0; 32]].concat());
    let inside = first.wrapping_byte_add(64);
    let code = cl!(clEnqueueSVMMemcpy(
        queue,
        CL_TRUE,
        inside,
        first,
        128,
        0,
        null(),
        none
    ));
    assert_eq!(code, CL_MEM_COPY_OVERLAP);
    let code = cl!(clEnqueueSVMMemcpy(
        queue,
        CL_TRUE,
        null_mut(),
        first,
        4,
        0,
        null(),
        none
    ));
    assert_eq!(code, CL_INVALID_VALUE);
    let odd = first.wrapping_byte_add(2);
    let fills = [
        (odd, 4, 8),
        (first, 3, 9),
        (first, 4, 6),
        (null_mut(), 4, 4),
        (first, 256, 256),
    ];
    for (to, size, count) in fills {
        let code = cl!(clEnqueueSVMMemFill(
            queue,
            to,
            from,
            size,
            count,
            0,
            null(),
            none
        ));
        assert_eq!(code, CL_INVALID_VALUE, "{size} bytes, {count} times");
    }
    let code = cl!(clEnqueueSVMMap(
        queue,
        CL_TRUE,
        CL_MAP_READ,
        first,
        256,
        0,
        null(),
        none
    ));
    assert_eq!(code, CL_SUCCESS);
    assert_eq!(
        cl!(clEnqueueSVMUnmap(queue, first, 0, null(), none)),
        CL_SUCCESS
    );
    let code = cl!(clEnqueueSVMMap(
        queue,
        CL_TRUE,
        CL_MAP_READ,
        first,
        0,
        0,
        null(),
        none
    ));
    assert_eq!(code, CL_INVALID_VALUE);
    [first, second]
        .into_iter()
        .for_each(|pointer| free(&session, pointer));
}

#[test]
fn shared_memory_is_freed_by_a_command() {
    let session = TestSession::new();
    let mut list = [allocate(&session, 64, 0), allocate(&session, 64, 0)];
    let gate = session.user_event();
    let mut event = null_mut();
    let (queue, waits, out) = (session.queue.raw, &raw const gate.raw, &raw mut event);
    let code = cl!(clEnqueueSVMFree(
        queue,
        2,
        list.as_mut_ptr(),
        None,
        null_mut(),
        1,
        waits,
        out
    ));
    assert_eq!(code, CL_SUCCESS);
    let event = OwnedHandle::new(ObjectKind::Event, event, code).expect("it is one");
    numbers(list[0], 16).fill(1);
    assert_eq!(status(&event), CL_QUEUED);
    end_event(&gate, CL_COMPLETE);
    assert_eq!(wait(&[event.raw]), Ok(()));
    let code = cl!(clEnqueueSVMFree(
        queue,
        0,
        list.as_mut_ptr(),
        None,
        null_mut(),
        0,
        null(),
        null_mut()
    ));
    assert_eq!(code, CL_INVALID_VALUE);
}

/// A function of the extension by its name.
fn find_function(name: &CStr) -> *mut c_void {
    let found = cl!(clGetExtensionFunctionAddressForPlatform(
        platform(),
        name.as_ptr()
    ));
    assert!(!found.is_null(), "{name:?}");
    found
}

type AllocateFunction = unsafe extern "C" fn(
    cl_context,
    cl_device_id,
    *const u64,
    usize,
    cl_uint,
    *mut cl_int,
) -> *mut c_void;
type FreeFunction = unsafe extern "C" fn(cl_context, *mut c_void) -> cl_int;
type PointerFunction = unsafe extern "C" fn(cl_kernel, cl_uint, *const c_void) -> cl_int;

#[test]
fn unified_memory_is_used_by_kernels() {
    let session = TestSession::new();
    let (context, device) = (session.context.raw, session.device);
    // SAFETY: the extension says what the functions take.
    let (shared, free, set) = unsafe {
        (
            std::mem::transmute::<*mut c_void, AllocateFunction>(find_function(
                c"clSharedMemAllocINTEL",
            )),
            std::mem::transmute::<*mut c_void, FreeFunction>(find_function(
                c"clMemBlockingFreeINTEL",
            )),
            std::mem::transmute::<*mut c_void, PointerFunction>(find_function(
                c"clSetKernelArgMemPointerINTEL",
            )),
        )
    };
    let mut code = 1;
    let code_out = &raw mut code;
    // SAFETY: as above.
    let made = unsafe { shared(context, device, null(), 256, 64, code_out) };
    assert_eq!(code, CL_SUCCESS);
    numbers(made, 64).fill(1);
    let kernel = session.kernel(BASIC, "add_value");
    // SAFETY: as above.
    assert_eq!(unsafe { set(kernel.raw, 0, made) }, CL_SUCCESS);
    assert_eq!(set_value(&kernel, 1, &6_u32), Ok(()));
    assert_eq!(
        launch(session.queue.raw, kernel.raw, None, &[64], None, &[]),
        Ok(())
    );
    session.finish();
    assert_eq!(numbers(made, 64), [7; 64]);
    // SAFETY: as above.
    unsafe {
        assert_eq!(set(kernel.raw, 1, made), CL_INVALID_ARG_VALUE);
        assert_eq!(free(context, made), CL_SUCCESS);
        assert!(shared(context, device, null(), 0, 0, code_out).is_null());
        assert_eq!(code, CL_INVALID_BUFFER_SIZE);
        assert!(shared(context, context, null(), 64, 0, code_out).is_null());
        assert_eq!(code, CL_INVALID_DEVICE);
        assert!(shared(context, device, null(), 64, 3, code_out).is_null());
        assert_eq!(code, CL_INVALID_VALUE);
    }
}

#[test]
fn extension_functions_are_found_by_name() {
    assert!(!find_function(c"clCreateCommandQueueWithPropertiesKHR").is_null());
    let unknown = cl!(clGetExtensionFunctionAddressForPlatform(
        platform(),
        c"clNone".as_ptr()
    ));
    assert!(unknown.is_null());
    let none = cl!(clGetExtensionFunctionAddressForPlatform(platform(), null()));
    assert!(none.is_null());
    let wrong = cl!(clGetExtensionFunctionAddressForPlatform(
        null_mut(),
        c"clMemFreeINTEL".as_ptr()
    ));
    assert!(wrong.is_null());
}

/// Runs in a process of its own, with a processor that checks accesses.
#[test]
#[ignore = "accesses_to_shared_memory_are_checked runs it"]
fn check_accesses() {
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "add_value");
    let run = |pointer: *mut c_void, count: usize| {
        assert_eq!(set_pointer(kernel.raw, 0, pointer), Ok(()));
        assert_eq!(set_value(&kernel, 1, &5_u32), Ok(()));
        let (mut event, size) = (null_mut(), &raw const count);
        let (queue, none) = (session.queue.raw, null());
        let code = cl!(clEnqueueNDRangeKernel(
            queue,
            kernel.raw,
            1,
            none,
            size,
            none,
            0,
            null(),
            &raw mut event
        ));
        let event = OwnedHandle::new(ObjectKind::Event, event, code)?;
        wait(&[event.raw])
    };
    let memory = allocate(&session, 64, 0);
    numbers(memory, 16).fill(1);
    assert_eq!(run(memory, 16), Ok(()));
    assert_eq!(numbers(memory, 16), [6; 16]);
    let middle = memory.wrapping_byte_add(32);
    assert_eq!(
        run(middle, 8),
        Ok(()),
        "a pointer may point into the middle"
    );
    assert!(run(middle, 9).is_err(), "the allocation ends before");
    free(&session, memory);
    assert!(run(memory, 1).is_err(), "the allocation is free");
}

#[test]
fn accesses_to_shared_memory_are_checked() {
    let own = std::env::current_exe().expect("tests are a program");
    let mut child = std::process::Command::new(own);
    child.args(["--exact", "shared_memory::check_accesses", "--ignored"]);
    let output = child.env("SPIRULA_OPENCL_CHECK", "1").output();
    let output = output.expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
}
