//! Wrong handles: every function refuses what is no object of its kind.

use crate::caller::{OBJECT_KINDS, ObjectKind, platform};
use crate::objects::SampleObjects;
use crate::session::{TestSession, hold_handles};
use opencl_sys::*;
use std::ffi::c_void;
use std::ptr::{from_mut, null, null_mut};

/// Calls with a handle, of which each answers with the code of a wrong one.
type HandleCall<'a> = (&'static str, Box<dyn Fn(*mut c_void) -> cl_int + 'a>);

/// A call that returns a code.
macro_rules! code {
    ($raw:ident => $name:ident($($argument:expr),* $(,)?)) => {
        (stringify!($name), Box::new(move |$raw: *mut c_void| cl!($name($($argument),*))) as Box<_>)
    };
}

/// A call that returns an object or an address, and writes a code.
macro_rules! made {
    ($raw:ident => $name:ident($($argument:expr),* $(,)?)) => {
        (stringify!($name), Box::new(move |$raw: *mut c_void| {
            let mut code = 1;
            let made = cl!($name($($argument,)* &raw mut code));
            assert!(made.is_null(), "an object was made");
            code
        }) as Box<_>)
    };
}

const ONES: [usize; 3] = [1; 3];

fn context_calls(samples: &SampleObjects) -> Vec<HandleCall<'_>> {
    let device = samples.session.device;
    let format = &cl_image_format {
        image_channel_order: CL_RGBA,
        image_channel_data_type: CL_UNSIGNED_INT8,
    };
    vec![
        made!(c => clCreateCommandQueue(c, device, 0)),
        made!(c => clCreateCommandQueueWithProperties(c, device, null())),
        made!(c => clCreateBuffer(c, 0, 8, null_mut())),
        made!(c => clCreateBufferWithProperties(c, null(), 0, 8, null_mut())),
        made!(c => clCreateImage2D(c, 0, &raw const *format, 2, 2, 0, null_mut())),
        made!(c => clCreateImage3D(c, 0, &raw const *format, 2, 2, 2, 0, 0, null_mut())),
        made!(c => clCreatePipe(c, 0, 4, 4, null())),
        made!(c => clCreateSampler(c, 0, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST)),
        made!(c => clCreateSamplerWithProperties(c, null())),
        made!(c => clCreateUserEvent(c)),
        made!(c => clCreateProgramWithSource(c, 1, from_mut(&mut c"".as_ptr()), null())),
        made!(c => clCreateProgramWithIL(c, ONES.as_ptr().cast(), 8)),
        made!(c => clLinkProgram(c, 0, null(), null(), 1, &raw const samples.program.raw, None, null_mut())),
        code!(c => clGetSupportedImageFormats(c, 0, CL_MEM_OBJECT_IMAGE2D, 0, null_mut(), null_mut())),
        code!(c => clSetContextDestructorCallback(c, Some(forget), null_mut())),
        code!(c => clSetDefaultDeviceCommandQueue(c, device, samples.session.queue.raw)),
    ]
}

unsafe extern "C" fn forget(_: *mut c_void, _: *mut c_void) {}

fn queue_calls(samples: &SampleObjects) -> Vec<HandleCall<'_>> {
    let (memory, kernel) = (samples.memory.raw, samples.kernel.raw);
    let (none, at) = (null_mut(), ONES.as_ptr());
    let to = samples.session.device;
    let mut calls: Vec<HandleCall<'_>> = vec![
        code!(q => clFlush(q)),
        code!(q => clFinish(q)),
        code!(q => clSetCommandQueueProperty(q, 0, 0, null_mut())),
        code!(q => clEnqueueReadBuffer(q, memory, 1, 0, 4, to, 0, null(), none)),
        code!(q => clEnqueueWriteBuffer(q, memory, 1, 0, 4, to, 0, null(), none)),
        code!(q => clEnqueueCopyBuffer(q, memory, memory, 0, 8, 4, 0, null(), none)),
        code!(q => clEnqueueFillBuffer(q, memory, at.cast(), 4, 0, 4, 0, null(), none)),
        code!(q => clEnqueueReadBufferRect(q, memory, 1, at, at, at, 0, 0, 0, 0, to, 0, null(), none)),
        code!(q => clEnqueueWriteBufferRect(q, memory, 1, at, at, at, 0, 0, 0, 0, to, 0, null(), none)),
        code!(q => clEnqueueCopyBufferRect(q, memory, memory, at, at, at, 0, 0, 0, 0, 0, null(), none)),
        code!(q => clEnqueueReadImage(q, memory, 1, at, at, 0, 0, to, 0, null(), none)),
        code!(q => clEnqueueWriteImage(q, memory, 1, at, at, 0, 0, to, 0, null(), none)),
        code!(q => clEnqueueCopyImage(q, memory, memory, at, at, at, 0, null(), none)),
        code!(q => clEnqueueFillImage(q, memory, at.cast(), at, at, 0, null(), none)),
        code!(q => clEnqueueCopyImageToBuffer(q, memory, memory, at, at, 0, 0, null(), none)),
        code!(q => clEnqueueCopyBufferToImage(q, memory, memory, 0, at, at, 0, null(), none)),
        code!(q => clEnqueueUnmapMemObject(q, memory, to, 0, null(), none)),
        code!(q => clEnqueueMigrateMemObjects(q, 1, &raw const samples.memory.raw, 0, 0, null(), none)),
        made!(q => clEnqueueMapBuffer(q, memory, 1, CL_MAP_READ, 0, 4, 0, null(), none)),
        made!(q => clEnqueueMapImage(q, memory, 1, CL_MAP_READ, at, at, none.cast(), none.cast(), 0, null(), none)),
    ];
    calls.extend([
        code!(q => clEnqueueNDRangeKernel(q, kernel, 1, null(), at, null(), 0, null(), none)),
        code!(q => clEnqueueTask(q, kernel, 0, null(), none)),
        code!(q => clEnqueueNativeKernel(q, None, null_mut(), 0, 0, null(), null_mut(), 0, null(), none)),
        code!(q => clEnqueueMarker(q, from_mut(&mut null_mut()))),
        code!(q => clEnqueueMarkerWithWaitList(q, 0, null(), none)),
        code!(q => clEnqueueBarrier(q)),
        code!(q => clEnqueueBarrierWithWaitList(q, 0, null(), none)),
        code!(q => clEnqueueWaitForEvents(q, 1, &raw const samples.event.raw)),
        code!(q => clEnqueueSVMFree(q, 0, null_mut(), None, null_mut(), 0, null(), none)),
        code!(q => clEnqueueSVMMemcpy(q, 1, to, to, 0, 0, null(), none)),
        code!(q => clEnqueueSVMMemFill(q, to, at.cast(), 4, 4, 0, null(), none)),
        code!(q => clEnqueueSVMMap(q, 1, 0, to, 4, 0, null(), none)),
        code!(q => clEnqueueSVMUnmap(q, to, 0, null(), none)),
        code!(q => clEnqueueSVMMigrateMem(q, 1, null_mut(), null(), 0, 0, null(), none)),
    ]);
    calls
}

fn memory_calls(samples: &SampleObjects) -> Vec<HandleCall<'_>> {
    let (q, memory, none) = (samples.session.queue.raw, samples.memory.raw, null_mut());
    let at = ONES.as_ptr();
    let to = samples.session.device;
    let region = &cl_buffer_region { origin: 0, size: 4 };
    let info = (&raw const *region).cast();
    vec![
        made!(m => clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, info)),
        code!(m => clSetMemObjectDestructorCallback(m, Some(forget), null_mut())),
        code!(m => clGetImageInfo(m, CL_IMAGE_WIDTH, 0, null_mut(), null_mut())),
        code!(m => clGetPipeInfo(m, CL_PIPE_PACKET_SIZE, 0, null_mut(), null_mut())),
        code!(m => clEnqueueReadBuffer(q, m, 1, 0, 4, to, 0, null(), none)),
        code!(m => clEnqueueWriteBuffer(q, m, 1, 0, 4, to, 0, null(), none)),
        code!(m => clEnqueueCopyBuffer(q, m, memory, 0, 8, 4, 0, null(), none)),
        code!(m => clEnqueueCopyBuffer(q, memory, m, 0, 8, 4, 0, null(), none)),
        code!(m => clEnqueueFillBuffer(q, m, at.cast(), 4, 0, 4, 0, null(), none)),
        code!(m => clEnqueueReadBufferRect(q, m, 1, at, at, at, 0, 0, 0, 0, to, 0, null(), none)),
        code!(m => clEnqueueWriteBufferRect(q, m, 1, at, at, at, 0, 0, 0, 0, to, 0, null(), none)),
        code!(m => clEnqueueCopyBufferRect(q, m, memory, at, at, at, 0, 0, 0, 0, 0, null(), none)),
        code!(m => clEnqueueReadImage(q, m, 1, at, at, 0, 0, to, 0, null(), none)),
        code!(m => clEnqueueWriteImage(q, m, 1, at, at, 0, 0, to, 0, null(), none)),
        code!(m => clEnqueueCopyImage(q, m, m, at, at, at, 0, null(), none)),
        code!(m => clEnqueueFillImage(q, m, at.cast(), at, at, 0, null(), none)),
        code!(m => clEnqueueCopyImageToBuffer(q, m, memory, at, at, 0, 0, null(), none)),
        code!(m => clEnqueueCopyBufferToImage(q, memory, m, 0, at, at, 0, null(), none)),
        code!(m => clEnqueueUnmapMemObject(q, m, to, 0, null(), none)),
        code!(m => clEnqueueMigrateMemObjects(q, 1, &raw const m, 0, 0, null(), none)),
        made!(m => clEnqueueMapBuffer(q, m, 1, CL_MAP_READ, 0, 4, 0, null(), none)),
        made!(m => clEnqueueMapImage(q, m, 1, CL_MAP_READ, at, at, none.cast(), none.cast(), 0, null(), none)),
    ]
}

fn other_calls(samples: &SampleObjects, kind: ObjectKind) -> Vec<HandleCall<'_>> {
    let (q, none) = (samples.session.queue.raw, null_mut());
    let device = samples.session.device;
    let at = ONES.as_ptr();
    match kind {
        ObjectKind::Context => context_calls(samples),
        ObjectKind::Queue => queue_calls(samples),
        ObjectKind::Memory => memory_calls(samples),
        ObjectKind::Sampler => Vec::new(),
        ObjectKind::Program => vec![
            code!(p => clBuildProgram(p, 0, null(), null(), None, null_mut())),
            code!(p => clCompileProgram(p, 0, null(), null(), 0, null(), null_mut(), None, null_mut())),
            code!(p => clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_LOG, 0, null_mut(), null_mut())),
            code!(p => clSetProgramSpecializationConstant(p, 7, 4, at.cast())),
            code!(p => clSetProgramReleaseCallback(p, Some(forget), null_mut())),
            made!(p => clCreateKernel(p, c"add_value".as_ptr())),
            code!(p => clCreateKernelsInProgram(p, 0, null_mut(), null_mut())),
            made!(p => clLinkProgram(samples.session.context.raw, 0, null(), null(), 1, &raw const p, None, null_mut())),
        ],
        ObjectKind::Kernel => vec![
            code!(k => clSetKernelArg(k, 0, 4, at.cast())),
            code!(k => clSetKernelArgSVMPointer(k, 0, null())),
            code!(k => clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, at.cast())),
            code!(k => clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_NAME, 0, null_mut(), null_mut())),
            code!(k => clGetKernelWorkGroupInfo(k, device, CL_KERNEL_WORK_GROUP_SIZE, 0, null_mut(), null_mut())),
            code!(k => clGetKernelSubGroupInfo(k, device, CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, null(), 0, null_mut(), null_mut())),
            made!(k => clCloneKernel(k)),
            code!(k => clEnqueueNDRangeKernel(q, k, 1, null(), at, null(), 0, null(), none)),
            code!(k => clEnqueueTask(q, k, 0, null(), none)),
        ],
        ObjectKind::Event => vec![
            code!(e => clWaitForEvents(1, &raw const e)),
            code!(e => clSetUserEventStatus(e, CL_COMPLETE)),
            code!(e => clSetEventCallback(e, CL_COMPLETE, Some(ignore_status), null_mut())),
            code!(e => clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_END, 0, null_mut(), null_mut())),
            code!(e => clEnqueueWaitForEvents(q, 1, &raw const e)),
        ],
    }
}

unsafe extern "C" fn ignore_status(_: cl_event, _: cl_int, _: *mut c_void) {}

/// Handles that are no object of a kind: numbers, addresses, a released object, and objects of other kinds.
fn wrong_handles(samples: &SampleObjects, kind: ObjectKind, place: &mut u64) -> Vec<*mut c_void> {
    let released = SampleObjects::new();
    let gone = released.find(kind).raw;
    drop(released);
    let mut wrong: Vec<*mut c_void> = vec![null_mut(), gone, (&raw mut *place).cast()];
    wrong.extend([1, 8, 0x1234_5678_9abc_usize, usize::MAX].map(|n| n as *mut c_void));
    wrong.extend([platform(), samples.session.device]);
    let others = OBJECT_KINDS.iter().filter(|other| **other != kind);
    wrong.extend(others.map(|other| samples.find(*other).raw));
    wrong
}

#[test]
fn functions_refuse_wrong_handles() {
    let _guard = hold_handles();
    let samples = SampleObjects::new();
    for kind in OBJECT_KINDS {
        let calls = other_calls(&samples, kind);
        for wrong in wrong_handles(&samples, kind, &mut 0) {
            for (name, call) in &calls {
                let code = call(wrong);
                assert_eq!(code, kind.invalid_code(), "{name} of {wrong:?}");
            }
            let invalid = kind.invalid_code();
            assert_eq!(kind.retain(wrong), invalid, "{kind:?} {wrong:?}");
            assert_eq!(kind.release(wrong), invalid, "{kind:?} {wrong:?}");
            assert_eq!(kind.count(wrong), Err(invalid), "{kind:?} {wrong:?}");
        }
        assert_eq!(kind.count(samples.find(kind).raw), Ok(1), "{kind:?}");
    }
}

#[test]
fn functions_refuse_wrong_devices() {
    let samples = SampleObjects::new();
    let (context, kernel) = (samples.session.context.raw, samples.kernel.raw);
    let program = samples.program.raw;
    let calls: Vec<HandleCall<'_>> = vec![
        made!(d => clCreateContext(null(), 1, &raw const d, None, null_mut())),
        made!(d => clCreateCommandQueue(context, d, 0)),
        made!(d => clCreateCommandQueueWithProperties(context, d, null())),
        code!(d => clGetDeviceInfo(d, CL_DEVICE_NAME, 0, null_mut(), null_mut())),
        code!(d => clRetainDevice(d)),
        code!(d => clReleaseDevice(d)),
        code!(d => clCreateSubDevices(d, null(), 0, null_mut(), null_mut())),
        code!(d => clGetHostTimer(d, from_mut(&mut 0))),
        code!(d => clGetProgramBuildInfo(program, d, CL_PROGRAM_BUILD_LOG, 0, null_mut(), null_mut())),
        code!(d => clSetDefaultDeviceCommandQueue(context, d, null_mut())),
    ];
    let mut wrong: Vec<*mut c_void> = [1, usize::MAX].map(|n| n as *mut c_void).to_vec();
    wrong.extend([null_mut(), platform(), context, program, kernel]);
    for wrong in wrong {
        for (name, call) in &calls {
            assert_eq!(call(wrong), CL_INVALID_DEVICE, "{name} of {wrong:?}");
        }
    }
}

#[test]
fn functions_refuse_wrong_platforms() {
    let session = TestSession::new();
    for wrong in [8 as *mut c_void, session.context.raw, session.device] {
        let mut count = 0;
        let code = cl!(clGetDeviceIDs(
            wrong,
            CL_DEVICE_TYPE_ALL,
            0,
            null_mut(),
            &raw mut count
        ));
        assert_eq!(code, CL_INVALID_PLATFORM);
        let code = cl!(clGetPlatformInfo(
            wrong,
            CL_PLATFORM_NAME,
            0,
            null_mut(),
            null_mut()
        ));
        assert_eq!(code, CL_INVALID_PLATFORM);
        assert_eq!(cl!(clUnloadPlatformCompiler(wrong)), CL_INVALID_PLATFORM);
        let properties = [CL_CONTEXT_PLATFORM, wrong as isize, 0];
        let mut code = 1;
        let (list, out) = (&raw const session.device, &raw mut code);
        let made = cl!(clCreateContext(
            properties.as_ptr(),
            1,
            list,
            None,
            null_mut(),
            out
        ));
        assert_eq!((made.is_null(), code), (true, CL_INVALID_PLATFORM));
    }
}

#[test]
fn wait_lists_refuse_wrong_events() {
    let samples = SampleObjects::new();
    let other = TestSession::new();
    let foreign = other.user_event();
    let (q, none) = (samples.session.queue.raw, null_mut());
    let mut wrong: Vec<(u32, *const cl_event, cl_int)> = vec![
        (1, null(), CL_INVALID_EVENT_WAIT_LIST),
        (0, &raw const samples.event.raw, CL_INVALID_EVENT_WAIT_LIST),
        (1, &raw const samples.memory.raw, CL_INVALID_EVENT_WAIT_LIST),
        (1, &raw const foreign.raw, CL_INVALID_CONTEXT),
    ];
    let mixed = [samples.event.raw, samples.kernel.raw];
    wrong.push((2, mixed.as_ptr(), CL_INVALID_EVENT_WAIT_LIST));
    for (count, list, expected) in wrong {
        let mut bytes = [0_u8; 4];
        let to = bytes.as_mut_ptr().cast();
        let memory = samples.memory.raw;
        let read = cl!(clEnqueueReadBuffer(
            q, memory, 1, 0, 4, to, count, list, none
        ));
        assert_eq!(read, expected);
        let marked = cl!(clEnqueueMarkerWithWaitList(q, count, list, none));
        assert_eq!(marked, expected);
        let barrier = cl!(clEnqueueBarrierWithWaitList(q, count, list, none));
        assert_eq!(barrier, expected);
    }
    assert_eq!(cl!(clWaitForEvents(0, null())), CL_INVALID_VALUE);
    let pair = [samples.event.raw, foreign.raw];
    assert_eq!(cl!(clWaitForEvents(2, pair.as_ptr())), CL_INVALID_CONTEXT);
}
