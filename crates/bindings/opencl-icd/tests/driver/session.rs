//! Contexts with a queue, and the commands that most tests need.

use crate::caller::{ObjectKind, OwnedHandle, check, platform, wait_list};
use opencl_sys::*;
use spirula_runtime::ComputeDevice;
use spirula_spirv::text::{ParseOptions, parse_assembly};
use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Kernels about numbers.
pub const BASIC: &str = include_str!("kernels/basic.spvasm");
/// Kernels about images.
pub const IMAGES: &str = include_str!("kernels/images.spvasm");

/// Tests that use handles of objects which have ended, and tests that create enough for handles to be used again.
static HANDLES: RwLock<()> = RwLock::new(());

/// Keeps other tests from creating many objects.
pub fn hold_handles() -> RwLockWriteGuard<'static, ()> {
    HANDLES.write().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for tests that use handles of objects which have ended.
pub fn use_many_handles() -> RwLockReadGuard<'static, ()> {
    HANDLES.read().unwrap_or_else(PoisonError::into_inner)
}

/// The devices of the platform: the processor, and a Vulkan device if there is one.
pub fn devices() -> Vec<cl_device_id> {
    let mut found = [null_mut(); 4];
    let mut count = 0;
    let all = CL_DEVICE_TYPE_ALL;
    let (list, count_out) = (found.as_mut_ptr(), &raw mut count);
    let code = cl!(clGetDeviceIDs(platform(), all, 4, list, count_out));
    assert_eq!(code, CL_SUCCESS);
    assert!((1..=2).contains(&count), "{count} devices");
    found[..count as usize].to_vec()
}

/// Both devices, if there is a Vulkan device.
pub fn both_devices() -> Option<[cl_device_id; 2]> {
    let found = devices().try_into().ok();
    if found.is_none() {
        let is_required = std::env::var_os("SPIRULA_REQUIRE_VULKAN").is_some();
        let reason = ComputeDevice::find_info("vulkan:0").err();
        assert!(
            !is_required,
            "no Vulkan device, and one is required: {reason:?}"
        );
        eprintln!("NOT TESTED: this machine has no Vulkan device");
    }
    found
}

pub fn create_context(devices: &[cl_device_id]) -> Result<OwnedHandle, cl_int> {
    let mut code = 1;
    let (count, list) = (devices.len() as cl_uint, devices.as_ptr());
    let code_out = &raw mut code;
    let raw = cl!(clCreateContext(
        null(),
        count,
        list,
        None,
        null_mut(),
        code_out
    ));
    OwnedHandle::new(ObjectKind::Context, raw, code)
}

pub fn create_queue(
    context: cl_context,
    device: cl_device_id,
    flags: cl_command_queue_properties,
) -> Result<OwnedHandle, cl_int> {
    let properties = [u64::from(CL_QUEUE_PROPERTIES), flags, 0];
    let mut code = 1;
    let raw = cl!(clCreateCommandQueueWithProperties(
        context,
        device,
        properties.as_ptr(),
        &raw mut code
    ));
    OwnedHandle::new(ObjectKind::Queue, raw, code)
}

/// A context of a device, the processor by default, with a queue.
pub struct TestSession {
    pub queue: OwnedHandle,
    pub context: OwnedHandle,
    pub device: cl_device_id,
}

// SAFETY: the driver may be called by any thread.
unsafe impl Send for TestSession {}
// SAFETY: as above.
unsafe impl Sync for TestSession {}

impl TestSession {
    /// A queue in order.
    pub fn new() -> TestSession {
        TestSession::with_flags(0)
    }

    /// A queue with properties.
    pub fn with_flags(flags: cl_command_queue_properties) -> TestSession {
        TestSession::on_device(devices()[0], flags)
    }

    /// A queue with properties on a device.
    pub fn on_device(device: cl_device_id, flags: cl_command_queue_properties) -> TestSession {
        let context = create_context(&[device]).expect("it is a device");
        let queue = create_queue(context.raw, device, flags).expect("it has queues");
        TestSession {
            queue,
            context,
            device,
        }
    }

    /// A queue out of order.
    pub fn out_of_order() -> TestSession {
        TestSession::with_flags(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
    }

    /// A buffer of `size` bytes.
    pub fn buffer(&self, size: usize) -> OwnedHandle {
        let made = create_buffer(self.context.raw, CL_MEM_READ_WRITE, size, null_mut());
        made.expect("there is memory")
    }

    /// A buffer with content.
    pub fn filled<T>(&self, content: &[T]) -> OwnedHandle {
        let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
        let pointer = content.as_ptr().cast_mut().cast();
        let made = create_buffer(self.context.raw, flags, size_of_val(content), pointer);
        made.expect("there is memory")
    }

    /// The content of a buffer, once the commands so far have ended.
    pub fn read<T: Default + Clone>(&self, buffer: &OwnedHandle, count: usize) -> Vec<T> {
        let mut content = vec![T::default(); count];
        let code = read_buffer(self.queue.raw, buffer.raw, 0, &mut content, &[]);
        assert_eq!(code, Ok(()));
        content
    }

    pub fn finish(&self) {
        assert_eq!(cl!(clFinish(self.queue.raw)), CL_SUCCESS);
    }

    pub fn user_event(&self) -> OwnedHandle {
        let mut code = 1;
        let raw = cl!(clCreateUserEvent(self.context.raw, &raw mut code));
        OwnedHandle::new(ObjectKind::Event, raw, code).expect("contexts have user events")
    }

    /// A program of a module as text, built.
    pub fn program(&self, text: &str) -> OwnedHandle {
        let program = load_module(self.context.raw, &assemble(text)).expect("it is a module");
        build(&program, "").expect("it can be built");
        program
    }

    /// A kernel of a module.
    pub fn kernel(&self, text: &str, name: &str) -> OwnedHandle {
        create_kernel(&self.program(text), name).expect("it is there")
    }

    /// Enqueues a kernel.
    pub fn launch(&self, kernel: &OwnedHandle, global: &[usize]) -> Result<(), cl_int> {
        launch(self.queue.raw, kernel.raw, None, global, None, &[])
    }
}

pub fn create_buffer(
    context: cl_context,
    flags: cl_mem_flags,
    size: usize,
    pointer: *mut c_void,
) -> Result<OwnedHandle, cl_int> {
    let mut code = 1;
    let raw = cl!(clCreateBuffer(context, flags, size, pointer, &raw mut code));
    OwnedHandle::new(ObjectKind::Memory, raw, code)
}

pub fn create_part(
    buffer: &OwnedHandle,
    flags: cl_mem_flags,
    origin: usize,
    size: usize,
) -> Result<OwnedHandle, cl_int> {
    let region = cl_buffer_region { origin, size };
    let mut code = 1;
    let raw = cl!(clCreateSubBuffer(
        buffer.raw,
        flags,
        CL_BUFFER_CREATE_TYPE_REGION,
        (&raw const region).cast(),
        &raw mut code
    ));
    OwnedHandle::new(ObjectKind::Memory, raw, code)
}

/// Reads a buffer, and waits.
pub fn read_buffer<T>(
    queue: cl_command_queue,
    buffer: cl_mem,
    offset: usize,
    to: &mut [T],
    waits: &[cl_event],
) -> Result<(), cl_int> {
    let (count, list) = wait_list(waits);
    let (size, pointer) = (size_of_val(to), to.as_mut_ptr().cast());
    let event = null_mut();
    check(cl!(clEnqueueReadBuffer(
        queue, buffer, CL_TRUE, offset, size, pointer, count, list, event
    )))
}

/// Writes a buffer, and waits.
pub fn write_buffer<T>(
    queue: cl_command_queue,
    buffer: cl_mem,
    offset: usize,
    from: &[T],
    waits: &[cl_event],
) -> Result<(), cl_int> {
    let (count, list) = wait_list(waits);
    let (size, pointer) = (size_of_val(from), from.as_ptr().cast());
    let event = null_mut();
    check(cl!(clEnqueueWriteBuffer(
        queue, buffer, CL_TRUE, offset, size, pointer, count, list, event
    )))
}

/// A marker with its event.
pub fn enqueue_marker(queue: cl_command_queue, waits: &[cl_event]) -> OwnedHandle {
    let mut event = null_mut();
    let (count, list) = wait_list(waits);
    let code = cl!(clEnqueueMarkerWithWaitList(
        queue,
        count,
        list,
        &raw mut event
    ));
    OwnedHandle::new(ObjectKind::Event, event, code).expect("queues have markers")
}

/// A module's bytes.
pub fn assemble(text: &str) -> Vec<u8> {
    let words = parse_assembly(text, &ParseOptions::default()).expect("the text is correct");
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

pub fn load_module(context: cl_context, bytes: &[u8]) -> Result<OwnedHandle, cl_int> {
    let mut code = 1;
    let (first, size) = (bytes.as_ptr().cast(), bytes.len());
    let raw = cl!(clCreateProgramWithIL(context, first, size, &raw mut code));
    OwnedHandle::new(ObjectKind::Program, raw, code)
}

/// Builds a program for all its devices.
pub fn build(program: &OwnedHandle, options: &str) -> Result<(), cl_int> {
    let options = CString::new(options).expect("options have no zeros");
    let (list, data) = (null(), null_mut());
    let text = options.as_ptr();
    check(cl!(clBuildProgram(program.raw, 0, list, text, None, data)))
}

pub fn create_kernel(program: &OwnedHandle, name: &str) -> Result<OwnedHandle, cl_int> {
    let name = CString::new(name).expect("names have no zeros");
    let mut code = 1;
    let raw = cl!(clCreateKernel(program.raw, name.as_ptr(), &raw mut code));
    OwnedHandle::new(ObjectKind::Kernel, raw, code)
}

/// Sets an argument to a value.
pub fn set_value<T>(kernel: &OwnedHandle, index: cl_uint, value: &T) -> Result<(), cl_int> {
    let (size, pointer) = (size_of::<T>(), std::ptr::from_ref(value).cast());
    check(cl!(clSetKernelArg(kernel.raw, index, size, pointer)))
}

/// Sets an argument to an object.
pub fn set_object(kernel: &OwnedHandle, index: cl_uint, object: &OwnedHandle) {
    assert_eq!(set_value(kernel, index, &object.raw), Ok(()));
}

/// Enqueues a kernel.
pub fn launch(
    queue: cl_command_queue,
    kernel: cl_kernel,
    offset: Option<&[usize]>,
    global: &[usize],
    local: Option<&[usize]>,
    waits: &[cl_event],
) -> Result<(), cl_int> {
    let (count, list) = wait_list(waits);
    let first = offset.map_or(null(), <[usize]>::as_ptr);
    let group = local.map_or(null(), <[usize]>::as_ptr);
    let dimensions = global.len() as cl_uint;
    let (all, event) = (global.as_ptr(), null_mut());
    check(cl!(clEnqueueNDRangeKernel(
        queue, kernel, dimensions, first, all, group, count, list, event
    )))
}
