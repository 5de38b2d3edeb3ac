//! Programs of modules: builds, links, binaries and specialisation constants.

use crate::caller::{ObjectKind, OwnedHandle, ask_list, ask_text, ask_value, check};
use crate::session::{BASIC, TestSession, assemble, build, create_kernel, load_module, set_object};
use opencl_sys::*;
use std::ffi::CString;
use std::ptr::{null, null_mut};

const CALLER: &str = include_str!("kernels/caller.spvasm");
const CALLEE: &str = include_str!("kernels/callee.spvasm");
const CONSTANT: &str = include_str!("kernels/constant.spvasm");
const VARIABLE: &str = include_str!("kernels/variable.spvasm");

pub fn compile(program: &OwnedHandle, options: &str) -> Result<(), cl_int> {
    let options = CString::new(options).expect("options have no zeros");
    let (none, text) = (null(), options.as_ptr());
    check(cl!(clCompileProgram(
        program.raw,
        0,
        none,
        text,
        0,
        null(),
        null_mut(),
        None,
        null_mut()
    )))
}

/// Links programs. One that failed is returned with its code.
pub fn link(
    context: cl_context,
    options: &str,
    inputs: &[&OwnedHandle],
) -> (Option<OwnedHandle>, cl_int) {
    let options = CString::new(options).expect("options have no zeros");
    let list: Vec<cl_program> = inputs.iter().map(|input| input.raw).collect();
    let (count, first, text) = (list.len() as cl_uint, list.as_ptr(), options.as_ptr());
    let mut code = 1;
    let raw = cl!(clLinkProgram(
        context,
        0,
        null(),
        text,
        count,
        first,
        None,
        null_mut(),
        &raw mut code
    ));
    let kind = ObjectKind::Program;
    let made = (!raw.is_null()).then(|| OwnedHandle { raw, kind });
    (made, code)
}

pub fn build_info(session: &TestSession, program: &OwnedHandle, name: u32) -> u32 {
    let told = ask_value(|size, value, out| {
        let device = session.device;
        cl!(clGetProgramBuildInfo(
            program.raw,
            device,
            name,
            size,
            value,
            out
        ))
    });
    told.expect("programs tell it")
}

pub fn build_log(session: &TestSession, program: &OwnedHandle) -> String {
    let told = ask_text(|size, value, out| {
        let (device, name) = (session.device, CL_PROGRAM_BUILD_LOG);
        cl!(clGetProgramBuildInfo(
            program.raw,
            device,
            name,
            size,
            value,
            out
        ))
    });
    told.expect("programs have a log")
}

/// Runs a kernel of one buffer, and returns its first numbers.
pub fn run_kernel(session: &TestSession, program: &OwnedHandle, name: &str) -> [u32; 2] {
    let kernel = create_kernel(program, name).expect("it is there");
    let output = session.filled(&[0_u32; 2]);
    set_object(&kernel, 0, &output);
    assert_eq!(session.launch(&kernel, &[1]), Ok(()));
    let found = session.read::<u32>(&output, 2);
    [found[0], found[1]]
}

fn load(session: &TestSession, text: &str) -> OwnedHandle {
    load_module(session.context.raw, &assemble(text)).expect("it is a module")
}

#[test]
fn wrong_modules_are_refused() {
    let session = TestSession::new();
    let context = session.context.raw;
    let bytes = assemble(BASIC);
    for wrong in [
        &b""[..],
        b"SPIR",
        &bytes[..bytes.len() - 4],
        &bytes[1..],
        &[0; 20],
    ] {
        let made = load_module(context, wrong);
        assert_eq!(made.err(), Some(CL_INVALID_VALUE), "{} bytes", wrong.len());
    }
    for cut in (0..bytes.len()).step_by(97) {
        if let Ok(program) = load_module(context, &bytes[..cut])
            && build(&program, "").is_ok()
        {
            let made = create_kernel(&program, "walk_list").err();
            assert_eq!(made, Some(CL_INVALID_KERNEL_NAME), "it is cut off");
        }
    }
}

#[test]
fn damaged_modules_are_errors_at_most() {
    let session = TestSession::new();
    let bytes = assemble(CONSTANT);
    for at in (20..bytes.len()).step_by(3) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        let Ok(program) = load_module(session.context.raw, &damaged) else {
            continue;
        };
        if build(&program, "").is_err() {
            continue;
        }
        let mut count = 0;
        let code = cl!(clCreateKernelsInProgram(
            program.raw,
            0,
            null_mut(),
            &raw mut count
        ));
        assert_eq!(code, CL_SUCCESS);
        if let Ok(kernel) = create_kernel(&program, "write_constants") {
            assert!(
                session.launch(&kernel, &[0]).is_err(),
                "it has no arguments"
            );
        }
    }
}

#[test]
fn builds_have_states() {
    let session = TestSession::new();
    let program = load(&session, BASIC);
    let status =
        |program: &OwnedHandle| build_info(&session, program, CL_PROGRAM_BUILD_STATUS) as cl_int;
    let kind = |program: &OwnedHandle| build_info(&session, program, CL_PROGRAM_BINARY_TYPE);
    assert_eq!(status(&program), CL_BUILD_NONE);
    assert_eq!(kind(&program), CL_PROGRAM_BINARY_TYPE_NONE);
    let early = create_kernel(&program, "count_up").err();
    assert_eq!(early, Some(CL_INVALID_PROGRAM_EXECUTABLE));
    let names = ask_text(|size, value, out| {
        cl!(clGetProgramInfo(
            program.raw,
            CL_PROGRAM_KERNEL_NAMES,
            size,
            value,
            out
        ))
    });
    assert_eq!(names, Err(CL_INVALID_PROGRAM_EXECUTABLE));
    assert_eq!(build(&program, "-cl-fast-relaxed-math"), Ok(()));
    assert_eq!(status(&program), CL_BUILD_SUCCESS);
    assert_eq!(kind(&program), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    let options = ask_text(|size, value, out| {
        let (device, name) = (session.device, CL_PROGRAM_BUILD_OPTIONS);
        cl!(clGetProgramBuildInfo(
            program.raw,
            device,
            name,
            size,
            value,
            out
        ))
    });
    assert_eq!(options, Ok("-cl-fast-relaxed-math".to_owned()));
    let module: Result<Vec<u8>, _> = ask_list(|size, value, out| {
        cl!(clGetProgramInfo(
            program.raw,
            CL_PROGRAM_IL,
            size,
            value,
            out
        ))
    });
    assert_eq!(module, Ok(assemble(BASIC)));
}

#[test]
fn builds_refuse_wrong_devices_and_options() {
    let session = TestSession::new();
    let program = load(&session, BASIC);
    assert_eq!(
        build(&program, "-no-such-option"),
        Err(CL_INVALID_BUILD_OPTIONS)
    );
    assert_eq!(
        compile(&program, "-no-such-option"),
        Err(CL_INVALID_COMPILER_OPTIONS)
    );
    let (none, data) = (null(), null_mut());
    let code = cl!(clBuildProgram(program.raw, 1, null(), none, None, data));
    assert_eq!(code, CL_INVALID_VALUE);
    let list = &raw const session.device;
    let code = cl!(clBuildProgram(program.raw, 0, list, none, None, data));
    assert_eq!(code, CL_INVALID_VALUE);
    let code = cl!(clBuildProgram(
        program.raw,
        0,
        null(),
        none,
        None,
        session.device
    ));
    assert_eq!(code, CL_INVALID_VALUE);
    let code = cl!(clBuildProgram(
        program.raw,
        1,
        &raw const program.raw,
        none,
        None,
        data
    ));
    assert_eq!(code, CL_INVALID_DEVICE);
}

#[test]
fn programs_are_linked() {
    let session = TestSession::new();
    let context = session.context.raw;
    let (caller, callee) = (load(&session, CALLER), load(&session, CALLEE));
    let unresolved = build(&caller, "");
    assert_eq!(unresolved, Err(CL_BUILD_PROGRAM_FAILURE));
    assert!(build_log(&session, &caller).contains("other"));
    assert_eq!(
        link(context, "", &[&caller, &callee]).1,
        CL_INVALID_OPERATION
    );
    assert_eq!(compile(&caller, ""), Ok(()));
    assert_eq!(compile(&callee, ""), Ok(()));
    let kind = build_info(&session, &caller, CL_PROGRAM_BINARY_TYPE);
    assert_eq!(kind, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    let early = create_kernel(&caller, "call_other").err();
    assert_eq!(early, Some(CL_INVALID_PROGRAM_EXECUTABLE));
    let (linked, code) = link(context, "", &[&caller, &callee]);
    assert_eq!(code, CL_SUCCESS);
    let linked = linked.expect("it is linked");
    assert_eq!(run_kernel(&session, &linked, "call_other")[0], 23);
    let (failed, code) = link(context, "", &[&caller]);
    assert_eq!(code, CL_LINK_PROGRAM_FAILURE);
    if let Some(failed) = failed {
        let status = build_info(&session, &failed, CL_PROGRAM_BUILD_STATUS) as cl_int;
        assert_eq!(status, CL_BUILD_ERROR);
        assert!(build_log(&session, &failed).contains("other"));
    }
    assert_eq!(
        link(context, "-no-such-option", &[&caller]).1,
        CL_INVALID_LINKER_OPTIONS
    );
    assert_eq!(link(context, "", &[]).1, CL_INVALID_VALUE);
}

#[test]
fn libraries_are_linked_later() {
    let session = TestSession::new();
    let context = session.context.raw;
    let (caller, callee) = (load(&session, CALLER), load(&session, CALLEE));
    assert_eq!(compile(&caller, ""), Ok(()));
    assert_eq!(compile(&callee, ""), Ok(()));
    let (library, code) = link(context, "-create-library", &[&callee]);
    assert_eq!(code, CL_SUCCESS);
    let library = library.expect("it is linked");
    let kind = build_info(&session, &library, CL_PROGRAM_BINARY_TYPE);
    assert_eq!(kind, CL_PROGRAM_BINARY_TYPE_LIBRARY);
    let restored = restore(&session, &save(&library)).expect("it is a binary");
    for library in [&library, &restored] {
        let (linked, code) = link(context, "", &[&caller, library]);
        assert_eq!(code, CL_SUCCESS);
        let linked = linked.expect("it is linked");
        assert_eq!(run_kernel(&session, &linked, "call_other")[0], 23);
    }
}

/// The binary of a program of one device.
fn save(program: &OwnedHandle) -> Vec<u8> {
    let sizes: Vec<usize> = ask_list(|size, value, out| {
        cl!(clGetProgramInfo(
            program.raw,
            CL_PROGRAM_BINARY_SIZES,
            size,
            value,
            out
        ))
    })
    .expect("it is told");
    let mut bytes = vec![0_u8; sizes[0]];
    let mut to = bytes.as_mut_ptr();
    let (value, name) = ((&raw mut to).cast(), CL_PROGRAM_BINARIES);
    let code = cl!(clGetProgramInfo(program.raw, name, 8, value, null_mut()));
    assert_eq!(code, CL_SUCCESS);
    bytes
}

fn restore(session: &TestSession, bytes: &[u8]) -> Result<OwnedHandle, cl_int> {
    let (mut status, mut code) = (1, 1);
    let (size, mut first) = (bytes.len(), bytes.as_ptr());
    let raw = cl!(clCreateProgramWithBinary(
        session.context.raw,
        1,
        &raw const session.device,
        &raw const size,
        &raw mut first,
        &raw mut status,
        &raw mut code
    ));
    assert_eq!(status, code);
    OwnedHandle::new(ObjectKind::Program, raw, code)
}

#[test]
fn binaries_are_loaded_again() {
    let session = TestSession::new();
    let program = session.program(BASIC);
    let restored = restore(&session, &save(&program)).expect("it is a binary");
    assert_eq!(build(&restored, ""), Ok(()));
    assert_eq!(run_kernel(&session, &restored, "count_up"), [1, 0]);
    assert_eq!(save(&restored), save(&program));
}

#[test]
fn damaged_binaries_are_errors_at_most() {
    let session = TestSession::new();
    let program = session.program(CONSTANT);
    let binary = save(&program);
    for cut in 0..binary.len() {
        if let Ok(program) = restore(&session, &binary[..cut]) {
            let _ = build(&program, "");
        }
    }
    for at in 0..binary.len() {
        let mut damaged = binary.clone();
        damaged[at] ^= 0x80 >> (at % 8);
        let Ok(program) = restore(&session, &damaged) else {
            continue;
        };
        if build(&program, "").is_ok()
            && let Ok(kernel) = create_kernel(&program, "write_constants")
        {
            assert!(
                session.launch(&kernel, &[0]).is_err(),
                "it has no arguments"
            );
        }
    }
    assert_eq!(restore(&session, &[]).err(), Some(CL_INVALID_VALUE));
    assert_eq!(restore(&session, b"binary").err(), Some(CL_INVALID_BINARY));
}

fn specialize<T>(program: &OwnedHandle, id: u32, value: &T) -> Result<(), cl_int> {
    let (size, from) = (size_of::<T>(), std::ptr::from_ref(value).cast());
    check(cl!(clSetProgramSpecializationConstant(
        program.raw,
        id,
        size,
        from
    )))
}

#[test]
fn constants_are_specialised() {
    let session = TestSession::new();
    let program = load(&session, CONSTANT);
    assert_eq!(specialize(&program, 7, &77_u32), Ok(()));
    assert_eq!(specialize(&program, 7, &78_u32), Ok(()));
    assert_eq!(build(&program, ""), Ok(()));
    assert_eq!(run_kernel(&session, &program, "write_constants"), [78, 6]);
    let binary = save(&program);
    let restored = restore(&session, &binary).expect("it is a binary");
    assert_eq!(build(&restored, ""), Ok(()));
    assert_eq!(run_kernel(&session, &restored, "write_constants"), [78, 6]);
    assert_eq!(specialize(&program, 9, &500_u16), Ok(()));
    assert_eq!(build(&program, ""), Ok(()));
    assert_eq!(run_kernel(&session, &program, "write_constants"), [78, 500]);
    let plain = session.program(CONSTANT);
    assert_eq!(run_kernel(&session, &plain, "write_constants"), [5, 6]);
}

#[test]
fn wrong_constants_are_refused() {
    let session = TestSession::new();
    let program = load(&session, CONSTANT);
    assert_eq!(specialize(&program, 8, &0_u32), Err(CL_INVALID_SPEC_ID));
    assert_eq!(specialize(&program, 7, &[0_u8; 3]), Err(CL_INVALID_VALUE));
    assert_eq!(specialize(&program, 7, &0_u64), Err(CL_INVALID_VALUE));
    assert_eq!(specialize(&program, 7, &0_u16), Err(CL_INVALID_VALUE));
    assert_eq!(specialize(&program, 9, &0_u32), Err(CL_INVALID_VALUE));
    let code = cl!(clSetProgramSpecializationConstant(
        program.raw,
        7,
        4,
        null()
    ));
    assert_eq!(code, CL_INVALID_VALUE);
    let binary = restore(&session, &save(&session.program(CONSTANT))).expect("it is a binary");
    assert_eq!(specialize(&binary, 7, &0_u32), Err(CL_INVALID_PROGRAM));
}

#[test]
fn kernels_of_a_program_share_its_variables() {
    let session = TestSession::new();
    let programs = [0, 1].map(|_| {
        let program = load(&session, VARIABLE);
        assert_eq!(build(&program, ""), Ok(()));
        program
    });
    let bytes: Result<usize, _> = ask_value(|size, value, out| {
        let (device, name) = (session.device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE);
        let program = programs[0].raw;
        cl!(clGetProgramBuildInfo(
            program, device, name, size, value, out
        ))
    });
    assert_eq!(bytes, Ok(4));
    assert_eq!(run_kernel(&session, &programs[0], "count"), [41, 0]);
    assert_eq!(run_kernel(&session, &programs[0], "count"), [42, 0]);
    assert_eq!(run_kernel(&session, &programs[0], "tell"), [42, 0]);
    let other = run_kernel(&session, &programs[1], "tell");
    assert_eq!(other, [40, 0], "a program of the same module has its own");
}
