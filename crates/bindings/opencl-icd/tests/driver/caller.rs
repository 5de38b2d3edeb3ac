//! A caller of the table: codes as results, owners of objects, and queries.

use opencl_sys::cl_icd::cl_icd_dispatch;
use opencl_sys::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::LazyLock;

/// Calls a function of the table.
macro_rules! cl {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        let function = $crate::caller::table().$name.expect("the table has it");
        // SAFETY: the tests keep the contract of OpenCL, but for handles.
        #[allow(unused_unsafe)]
        unsafe { function($($argument),*) }
    }};
}

/// The table behind the handle of the platform.
pub fn table() -> &'static cl_icd_dispatch {
    let head = platform().cast::<*const cl_icd_dispatch>();
    // SAFETY: each handle begins with the address of the table, which lives as long as the process.
    unsafe { &**head }
}

/// The platform, of the processor and of the first Vulkan device if there is one.
pub fn platform() -> cl_platform_id {
    static PLATFORM: LazyLock<usize> = LazyLock::new(|| {
        // SAFETY: no other thread has come to the driver, which alone reads these.
        unsafe {
            std::env::set_var("SPIRULA_OPENCL_DEVICES", "cpu,vulkan:0");
            std::env::set_var("SPIRULA_CACHE_DIR", "");
        }
        let mut platform = null_mut();
        let mut count = 0;
        // SAFETY: both addresses are good.
        let code =
            unsafe { spirula_opencl::clIcdGetPlatformIDsKHR(1, &raw mut platform, &raw mut count) };
        assert_eq!((code, count), (CL_SUCCESS, 1));
        platform as usize
    });
    *PLATFORM as cl_platform_id
}

/// The result of a code.
pub fn check(code: cl_int) -> Result<(), cl_int> {
    if code == CL_SUCCESS {
        Ok(())
    } else {
        Err(code)
    }
}

/// Kinds of objects that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    Context,
    Queue,
    Memory,
    Sampler,
    Program,
    Kernel,
    Event,
}

/// All kinds.
pub const OBJECT_KINDS: [ObjectKind; 7] = [
    ObjectKind::Context,
    ObjectKind::Queue,
    ObjectKind::Memory,
    ObjectKind::Sampler,
    ObjectKind::Program,
    ObjectKind::Kernel,
    ObjectKind::Event,
];

impl ObjectKind {
    /// The code of a handle that is none of this kind.
    pub fn invalid_code(self) -> cl_int {
        match self {
            ObjectKind::Context => CL_INVALID_CONTEXT,
            ObjectKind::Queue => CL_INVALID_COMMAND_QUEUE,
            ObjectKind::Memory => CL_INVALID_MEM_OBJECT,
            ObjectKind::Sampler => CL_INVALID_SAMPLER,
            ObjectKind::Program => CL_INVALID_PROGRAM,
            ObjectKind::Kernel => CL_INVALID_KERNEL,
            ObjectKind::Event => CL_INVALID_EVENT,
        }
    }

    pub fn release(self, raw: *mut c_void) -> cl_int {
        match self {
            ObjectKind::Context => cl!(clReleaseContext(raw)),
            ObjectKind::Queue => cl!(clReleaseCommandQueue(raw)),
            ObjectKind::Memory => cl!(clReleaseMemObject(raw)),
            ObjectKind::Sampler => cl!(clReleaseSampler(raw)),
            ObjectKind::Program => cl!(clReleaseProgram(raw)),
            ObjectKind::Kernel => cl!(clReleaseKernel(raw)),
            ObjectKind::Event => cl!(clReleaseEvent(raw)),
        }
    }

    pub fn retain(self, raw: *mut c_void) -> cl_int {
        match self {
            ObjectKind::Context => cl!(clRetainContext(raw)),
            ObjectKind::Queue => cl!(clRetainCommandQueue(raw)),
            ObjectKind::Memory => cl!(clRetainMemObject(raw)),
            ObjectKind::Sampler => cl!(clRetainSampler(raw)),
            ObjectKind::Program => cl!(clRetainProgram(raw)),
            ObjectKind::Kernel => cl!(clRetainKernel(raw)),
            ObjectKind::Event => cl!(clRetainEvent(raw)),
        }
    }

    /// A query of an object.
    pub fn ask(
        self,
        raw: *mut c_void,
        name: cl_uint,
        size: usize,
        value: *mut c_void,
        out: *mut usize,
    ) -> cl_int {
        match self {
            ObjectKind::Context => cl!(clGetContextInfo(raw, name, size, value, out)),
            ObjectKind::Queue => cl!(clGetCommandQueueInfo(raw, name, size, value, out)),
            ObjectKind::Memory => cl!(clGetMemObjectInfo(raw, name, size, value, out)),
            ObjectKind::Sampler => cl!(clGetSamplerInfo(raw, name, size, value, out)),
            ObjectKind::Program => cl!(clGetProgramInfo(raw, name, size, value, out)),
            ObjectKind::Kernel => cl!(clGetKernelInfo(raw, name, size, value, out)),
            ObjectKind::Event => cl!(clGetEventInfo(raw, name, size, value, out)),
        }
    }

    /// The queries of a kind that every object answers.
    pub fn queries(self) -> &'static [cl_uint] {
        match self {
            ObjectKind::Context => &[
                CL_CONTEXT_REFERENCE_COUNT,
                CL_CONTEXT_NUM_DEVICES,
                CL_CONTEXT_DEVICES,
            ],
            ObjectKind::Queue => &[
                CL_QUEUE_REFERENCE_COUNT,
                CL_QUEUE_CONTEXT,
                CL_QUEUE_DEVICE,
                CL_QUEUE_PROPERTIES,
                CL_QUEUE_DEVICE_DEFAULT,
            ],
            ObjectKind::Memory => &[
                CL_MEM_REFERENCE_COUNT,
                CL_MEM_TYPE,
                CL_MEM_FLAGS,
                CL_MEM_SIZE,
                CL_MEM_HOST_PTR,
                CL_MEM_MAP_COUNT,
                CL_MEM_CONTEXT,
                CL_MEM_ASSOCIATED_MEMOBJECT,
                CL_MEM_OFFSET,
                CL_MEM_USES_SVM_POINTER,
            ],
            ObjectKind::Sampler => &[
                CL_SAMPLER_REFERENCE_COUNT,
                CL_SAMPLER_CONTEXT,
                CL_SAMPLER_NORMALIZED_COORDS,
                CL_SAMPLER_ADDRESSING_MODE,
                CL_SAMPLER_FILTER_MODE,
            ],
            ObjectKind::Program => &[
                CL_PROGRAM_REFERENCE_COUNT,
                CL_PROGRAM_CONTEXT,
                CL_PROGRAM_NUM_DEVICES,
                CL_PROGRAM_DEVICES,
                CL_PROGRAM_BINARY_SIZES,
                CL_PROGRAM_NUM_KERNELS,
                CL_PROGRAM_KERNEL_NAMES,
            ],
            ObjectKind::Kernel => &[
                CL_KERNEL_REFERENCE_COUNT,
                CL_KERNEL_FUNCTION_NAME,
                CL_KERNEL_NUM_ARGS,
                CL_KERNEL_CONTEXT,
                CL_KERNEL_PROGRAM,
                CL_KERNEL_ATTRIBUTES,
            ],
            ObjectKind::Event => &[
                CL_EVENT_REFERENCE_COUNT,
                CL_EVENT_COMMAND_QUEUE,
                CL_EVENT_CONTEXT,
                CL_EVENT_COMMAND_TYPE,
                CL_EVENT_COMMAND_EXECUTION_STATUS,
            ],
        }
    }

    /// Number of references, if there is such an object.
    pub fn count(self, raw: *mut c_void) -> Result<cl_uint, cl_int> {
        let name = self.queries()[0];
        ask_value(|size, value, out| self.ask(raw, name, size, value, out))
    }
}

/// An object that is released at the end.
#[derive(Debug)]
pub struct OwnedHandle {
    pub raw: *mut c_void,
    pub kind: ObjectKind,
}

// SAFETY: the driver may be called by any thread.
unsafe impl Send for OwnedHandle {}
// SAFETY: as above.
unsafe impl Sync for OwnedHandle {}

impl OwnedHandle {
    /// The owner of what a function returned. Either there is an object, or a code.
    #[track_caller]
    pub fn new(kind: ObjectKind, raw: *mut c_void, code: cl_int) -> Result<OwnedHandle, cl_int> {
        assert_eq!(raw.is_null(), code != CL_SUCCESS, "{kind:?}: code {code}");
        check(code)?;
        Ok(OwnedHandle { raw, kind })
    }
}

impl Drop for OwnedHandle {
    fn drop(&mut self) {
        let code = self.kind.release(self.raw);
        if !std::thread::panicking() {
            assert_eq!(code, CL_SUCCESS, "{:?}", self.kind);
        }
    }
}

/// The answer to a query of a value of known size.
#[track_caller]
pub fn ask_value<T: Default>(
    ask: impl Fn(usize, *mut c_void, *mut usize) -> cl_int,
) -> Result<T, cl_int> {
    let (mut value, mut size) = (T::default(), 0);
    check(ask(size_of::<T>(), (&raw mut value).cast(), &raw mut size))?;
    assert_eq!(size, size_of::<T>(), "the answer has another type");
    Ok(value)
}

/// The answer to a query of a list.
#[track_caller]
pub fn ask_list<T: Default + Clone>(
    ask: impl Fn(usize, *mut c_void, *mut usize) -> cl_int,
) -> Result<Vec<T>, cl_int> {
    let mut size = 0;
    check(ask(0, null_mut(), &raw mut size))?;
    assert_eq!(size % size_of::<T>(), 0, "the answer has another type");
    let mut values = vec![T::default(); size / size_of::<T>()];
    check(ask(size, values.as_mut_ptr().cast(), null_mut()))?;
    Ok(values)
}

/// The answer to a query of a text.
#[track_caller]
pub fn ask_text(ask: impl Fn(usize, *mut c_void, *mut usize) -> cl_int) -> Result<String, cl_int> {
    let mut bytes = ask_list::<u8>(ask)?;
    assert_eq!(bytes.pop(), Some(0), "texts end with a zero");
    Ok(String::from_utf8(bytes).expect("texts are UTF-8"))
}

/// The events of a wait list: their number and their address.
pub fn wait_list(events: &[cl_event]) -> (cl_uint, *const cl_event) {
    if events.is_empty() {
        (0, null())
    } else {
        (events.len() as cl_uint, events.as_ptr())
    }
}
