//! Programs of sources, which Clang compiles.

use crate::caller::{ObjectKind, OwnedHandle, ask_text, check};
use crate::programs::{build_info, build_log, compile, link, run_kernel};
use crate::session::{
    TestSession, both_devices, build, create_context, create_kernel, devices, launch, set_object,
};
use opencl_sys::*;
use std::ffi::{CString, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A session, unless there is no Clang.
pub fn open() -> Option<TestSession> {
    let session = TestSession::new();
    let mut available: cl_bool = CL_FALSE;
    let (name, to) = (CL_DEVICE_COMPILER_AVAILABLE, (&raw mut available).cast());
    let code = cl!(clGetDeviceInfo(session.device, name, 4, to, null_mut()));
    assert_eq!(code, CL_SUCCESS);
    if available == CL_TRUE {
        return Some(session);
    }
    let is_required = std::env::var_os("SPIRULA_REQUIRE_CLANG").is_some();
    assert!(!is_required, "no Clang, and one is required");
    eprintln!("NOT TESTED: this machine has no Clang");
    None
}

/// A session for each device: the processor, and a Vulkan device if there is one. There is none without Clang.
pub fn open_all() -> Vec<TestSession> {
    if open().is_none() {
        return Vec::new();
    }
    // Without a Vulkan device it says so.
    both_devices();
    let all = devices().into_iter();
    all.map(|device| TestSession::on_device(device, 0))
        .collect()
}

/// A program of the parts of a source.
pub fn load(session: &TestSession, parts: &[&str]) -> OwnedHandle {
    let mut list: Vec<*const c_char> = parts.iter().map(|part| part.as_ptr().cast()).collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let mut code = 1;
    let raw = cl!(clCreateProgramWithSource(
        session.context.raw,
        parts.len() as cl_uint,
        list.as_mut_ptr(),
        lengths.as_ptr(),
        &raw mut code
    ));
    OwnedHandle::new(ObjectKind::Program, raw, code).expect("it is a source")
}

/// A session with a program, built as OpenCL C 3.0 after 2.0, unless there is no Clang.
pub fn open_program(source: &str) -> Option<(TestSession, OwnedHandle)> {
    let session = open()?;
    let program = load(&session, &[source]);
    for options in ["-cl-std=CL2.0", "-cl-std=CL3.0"] {
        assert_eq!(build(&program, options), Ok(()), "{options}");
    }
    Some((session, program))
}

/// Functions with the names of built-in functions, beside these functions.
const OVERLOADS: &str = "
    __attribute__((overloadable)) float atom_add(volatile global float *p, float v) { return v; }
    __attribute__((overloadable)) uint max(uint a, uint b, uint c) { return max(max(a, b), c); }
    kernel void write(global uint *out) {
        out[0] = 40;
        out[1] = atom_add(out, 2u) + max(7u, 100u, 50u);
    }";

#[test]
fn sources_add_overloads_to_built_in_functions() {
    let Some(session) = open() else { return };
    let program = load(&session, &[OVERLOADS]);
    for options in ["", "-cl-std=CL1.2", "-cl-std=CL3.0"] {
        assert_eq!(build(&program, options), Ok(()), "{options}");
        let written = run_kernel(&session, &program, "write");
        assert_eq!(written, [42, 140], "{options}");
    }
}

const SOURCE: &str =
    "kernel void write(global uint *out) { out[0] = VALUE; out[1] = sizeof(size_t); }";

#[test]
fn sources_are_built_with_options() {
    let Some(session) = open() else { return };
    let program = load(
        &session,
        &["#ifndef VALUE\n#define VALUE 3\n", "#endif\n", SOURCE],
    );
    assert_eq!(build(&program, ""), Ok(()));
    assert_eq!(run_kernel(&session, &program, "write"), [3, 8]);
    for options in [
        "-DVALUE=41",
        "-D VALUE=41",
        "-cl-std=CL1.2 -DVALUE=41 -w",
        "-cl-std=CL3.0 -DVALUE=41",
    ] {
        assert_eq!(build(&program, options), Ok(()), "{options}");
        assert_eq!(
            run_kernel(&session, &program, "write"),
            [41, 8],
            "{options}"
        );
    }
    assert_eq!(
        build(&program, "-no-such-option"),
        Err(CL_INVALID_BUILD_OPTIONS)
    );
    let text = ask_text(|size, value, out| {
        cl!(clGetProgramInfo(
            program.raw,
            CL_PROGRAM_SOURCE,
            size,
            value,
            out
        ))
    });
    assert!(text.is_ok_and(|text| text.ends_with(SOURCE)));
}

#[test]
fn errors_of_sources_are_in_the_log() {
    let Some(session) = open() else { return };
    let program = load(
        &session,
        &["kernel void f(global int *out) { out[0] = unknown; }"],
    );
    assert_eq!(build(&program, ""), Err(CL_BUILD_PROGRAM_FAILURE));
    let status = build_info(&session, &program, CL_PROGRAM_BUILD_STATUS) as cl_int;
    assert_eq!(status, CL_BUILD_ERROR);
    let log = build_log(&session, &program);
    assert!(log.contains("unknown"), "{log}");
    let early = create_kernel(&program, "f").err();
    assert_eq!(early, Some(CL_INVALID_PROGRAM_EXECUTABLE));
    assert_eq!(
        build(&program, "-Dunknown=1"),
        Ok(()),
        "it can be built again"
    );
    assert_eq!(
        compile(&load(&session, &["int f( {"]), ""),
        Err(CL_COMPILE_PROGRAM_FAILURE)
    );
}

#[test]
fn warnings_are_in_the_log() {
    let Some(session) = open() else { return };
    let program = load(
        &session,
        &["#warning careful\n", "kernel void f(global int *out) {}"],
    );
    assert_eq!(build(&program, ""), Ok(()));
    let log = build_log(&session, &program);
    assert!(log.contains("careful"), "{log}");
}

#[test]
fn sources_of_old_c_are_built_with_warnings() {
    let source = "
        twice(int value) { return 2 * value; }
        kernel void f(global *out, global uint *more) {
            global float *other = more;
            ulong place = other;
            out[0] = twice(20) + (place != 0);
        }";
    let Some(session) = open() else { return };
    let program = load(&session, &[source]);
    let built = build(&program, "");
    let log = build_log(&session, &program);
    assert_eq!(built, Ok(()), "{log}");
    for warning in ["implicit-int", "int-conversion", "pointer-types"] {
        assert!(log.contains(warning), "{log}");
    }
    let kernel = create_kernel(&program, "f").expect("it is a kernel");
    let output = session.filled(&[0_u32]);
    set_object(&kernel, 0, &output);
    set_object(&kernel, 1, &output);
    assert_eq!(session.launch(&kernel, &[1]), Ok(()));
    assert_eq!(session.read::<u32>(&output, 1), [41]);
}

#[test]
fn headers_are_programs() {
    let Some(session) = open() else { return };
    let header = load(&session, &["uint twice(uint n);\n#define NUMBER 21\n"]);
    let body = load(&session, &["uint twice(uint n) { return 2 * n; }"]);
    let main = load(
        &session,
        &[
            "#include \"parts/twice.h\"\nkernel void write(global uint *out) { out[0] = twice(NUMBER); }",
        ],
    );
    let mut name = c"parts/twice.h".as_ptr();
    let (list, names) = (&raw const header.raw, &raw mut name);
    let code = cl!(clCompileProgram(
        main.raw,
        0,
        null(),
        null(),
        1,
        list,
        names,
        None,
        null_mut()
    ));
    assert_eq!(check(code), Ok(()), "{}", build_log(&session, &main));
    assert_eq!(compile(&body, ""), Ok(()));
    let (linked, code) = link(session.context.raw, "", &[&main, &body]);
    assert_eq!(code, CL_SUCCESS);
    let linked = linked.expect("it is linked");
    assert_eq!(run_kernel(&session, &linked, "write")[0], 42);
    let code = cl!(clCompileProgram(
        main.raw,
        0,
        null(),
        null(),
        1,
        list,
        null_mut(),
        None,
        null_mut()
    ));
    assert_eq!(code, CL_INVALID_VALUE);
}

unsafe extern "C" fn count_build(_: cl_program, data: *mut c_void) {
    // SAFETY: the test gives a counter, which lives until the build has ended.
    unsafe { &*data.cast::<AtomicUsize>() }.fetch_add(1, Ordering::AcqRel);
}

#[test]
fn ends_of_builds_are_told() {
    let Some(session) = open() else { return };
    let count = AtomicUsize::new(0);
    let data = (&raw const count).cast_mut().cast();
    for text in ["kernel void f(global int *out) {}", "error"] {
        let program = load(&session, &[text]);
        let _ = cl!(clBuildProgram(
            program.raw,
            0,
            null(),
            null(),
            Some(count_build),
            data
        ));
        let before = count.load(Ordering::Acquire);
        while count.load(Ordering::Acquire) == 0 && before == 0 {
            std::thread::yield_now();
        }
    }
    assert_eq!(count.load(Ordering::Acquire), 2);
}

#[test]
fn sources_of_any_bytes_are_errors_at_most() {
    let Some(session) = open() else { return };
    for text in [
        "\0\0",
        "\u{1}\u{7f}\u{fffd}",
        "#include \"/no/such/file.h\"",
        "\\",
        "}",
    ] {
        let program = load(&session, &[text]);
        let built = build(&program, "");
        let is_known = matches!(built, Ok(()) | Err(CL_BUILD_PROGRAM_FAILURE));
        assert!(is_known, "{text:?}: {built:?}");
    }
    let mut code = 1;
    let mut list = [null::<c_char>()];
    let context = session.context.raw;
    let made = cl!(clCreateProgramWithSource(
        context,
        1,
        list.as_mut_ptr(),
        null(),
        &raw mut code
    ));
    assert_eq!((made.is_null(), code), (true, CL_INVALID_VALUE));
    let made = cl!(clCreateProgramWithSource(
        context,
        0,
        null_mut(),
        null(),
        &raw mut code
    ));
    assert_eq!((made.is_null(), code), (true, CL_INVALID_VALUE));
}

#[test]
fn threads_build_sources_at_once() {
    let Some(session) = open() else { return };
    std::thread::scope(|scope| {
        for number in 0..4_u32 {
            let session = &session;
            scope.spawn(move || {
                let program = load(session, &[SOURCE]);
                assert_eq!(build(&program, &format!("-DVALUE={number}")), Ok(()));
                assert_eq!(run_kernel(session, &program, "write"), [number, 8]);
            });
        }
    });
    let options = CString::new("-DVALUE=1").expect("it has no zeros");
    let program = load(&session, &[SOURCE]);
    let list = &raw const session.device;
    let code = cl!(clBuildProgram(
        program.raw,
        1,
        list,
        options.as_ptr(),
        None,
        null_mut()
    ));
    assert_eq!(code, CL_SUCCESS);
}

#[test]
fn kernels_of_other_programs_are_called() {
    let Some(session) = open() else { return };
    let first = load(
        &session,
        &["kernel void fill(global uint *out) { out[0] = 5; out[1] = get_global_size(0); }"],
    );
    let second = load(
        &session,
        &["extern kernel void fill(global uint *out);\n\
           kernel void call(global uint *out) { fill(out); out[0] += 1; }"],
    );
    for program in [&first, &second] {
        assert_eq!(compile(program, ""), Ok(()));
    }
    let (linked, code) = link(session.context.raw, "", &[&first, &second]);
    let linked = linked.filter(|_| code == CL_SUCCESS).expect("they fit");
    assert_eq!(run_kernel(&session, &linked, "call"), [6, 1]);
    assert_eq!(run_kernel(&session, &linked, "fill"), [5, 1]);
}

#[test]
fn sources_see_the_version_and_alignment() {
    let Some(session) = open() else { return };
    let program = load(
        &session,
        &["constant long16 table = (long16)(3);\n\
           kernel void tell(global uint *out) {\n\
               constant long16 *at = &table;\n\
               out[0] = __OPENCL_VERSION__;\n\
               out[1] = (ulong)at % sizeof(long16) + (*at).s1 - 3;\n\
           }"],
    );
    assert_eq!(build(&program, ""), Ok(()));
    assert_eq!(run_kernel(&session, &program, "tell"), [300, 0]);
}

#[test]
fn kernels_that_demand_a_size_have_smaller_groups_at_the_end() {
    let source = "kernel __attribute__((reqd_work_group_size(4, 1, 1))) void count(global uint *out) {\n\
                      out[get_global_id(0)] = get_local_size(0) * 10 + get_enqueued_local_size(0);\n\
                  }";
    let Some((session, program)) = open_program(source) else {
        return;
    };
    let kernel = create_kernel(&program, "count").expect("it is there");
    let output = session.filled(&[0_u32; 6]);
    set_object(&kernel, 0, &output);
    let launched = launch(session.queue.raw, kernel.raw, None, &[6], Some(&[4]), &[]);
    assert_eq!(launched, Ok(()));
    let sizes = session.read::<u32>(&output, 6);
    assert_eq!(sizes, [44, 44, 44, 44, 24, 24]);
}

#[test]
fn private_variables_have_the_alignment_of_their_types() {
    let source = "typedef struct { char first; double16 numbers; } Holder;\n\
                  ulong rest(private void *at, ulong size) { return (ulong)at % size; }\n\
                  kernel void tell(global uint *out) {\n\
                      char before = 1; long16 wide[3]; char between = 2; Holder holder; int3 three[2];\n\
                      ulong sum = rest(&before, 1) + rest(wide, 128) + rest(&between, 1);\n\
                      sum += rest(&holder, 128) + rest(&holder.numbers, 128) + rest(three, 16);\n\
                      out[0] = sum; out[1] = sizeof(Holder);\n\
                  }";
    let Some((session, program)) = open_program(source) else {
        return;
    };
    assert_eq!(run_kernel(&session, &program, "tell"), [0, 256]);
}

#[test]
fn macros_of_features_are_those_of_the_device() {
    let Some(session) = open() else { return };
    let mut features = [cl_name_version {
        version: 0,
        name: [0; 64],
    }; 64];
    let (name, size) = (CL_DEVICE_OPENCL_C_FEATURES, size_of_val(&features));
    let mut used = 0;
    let to = features.as_mut_ptr().cast();
    let code = cl!(clGetDeviceInfo(
        session.device,
        name,
        size,
        to,
        &raw mut used
    ));
    assert_eq!(code, CL_SUCCESS);
    let known = features[..used / size_of::<cl_name_version>()].iter();
    let known: Vec<String> = known
        .map(|feature| {
            let bytes = feature.name;
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(64);
            String::from_utf8_lossy(&bytes[..end]).into_owned()
        })
        .collect();
    for feature in [
        "3d_image_writes",
        "atomic_order_acq_rel",
        "atomic_order_seq_cst",
        "atomic_scope_all_devices",
        "atomic_scope_device",
        "device_enqueue",
        "fp64",
        "generic_address_space",
        "images",
        "int64",
        "pipes",
        "program_scope_global_variables",
        "read_write_images",
        "subgroups",
        "work_group_collective_functions",
    ] {
        let name = format!("__opencl_c_{feature}");
        let text = format!("#ifndef {name}\n#error it is missing\n#endif\n");
        let built = build(&load(&session, &[&text]), "-cl-std=CL3.0");
        assert_eq!(built.is_ok(), known.contains(&name), "{name}");
    }
}

/// Names of extensions whose macros Clang defines by itself, and one that it does not know.
const CLANG_MACROS: &[&str] = &[
    "cl_amd_media_ops",
    "cl_ext_float_atomics",
    "cl_intel_device_side_avc_motion_estimation",
    "cl_intel_subgroups",
    "cl_khr_3d_image_writes",
    "cl_khr_byte_addressable_store",
    "cl_khr_depth_images",
    "cl_khr_extended_bit_ops",
    "cl_khr_fp16",
    "cl_khr_fp64",
    "cl_khr_gl_msaa_sharing",
    "cl_khr_global_int32_base_atomics",
    "cl_khr_int64_extended_atomics",
    "cl_khr_integer_dot_product",
    "cl_khr_kernel_clock",
    "cl_khr_mipmap_image",
    "cl_khr_srgb_image_writes",
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_rotate",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroups",
    "cl_of_nobody",
];

#[test]
fn macros_of_extensions_are_those_of_the_device() {
    let Some(session) = open() else { return };
    for device in devices() {
        let context = create_context(&[device]).expect("it is a device");
        let known = ask_text(|size, value, out| {
            let name = CL_DEVICE_EXTENSIONS;
            cl!(clGetDeviceInfo(device, name, size, value, out))
        });
        let known = known.expect("devices have extensions");
        for name in CLANG_MACROS {
            let is_known = known.split(' ').any(|known| known == *name);
            assert_eq!(find_macro(context.raw, name), is_known, "{name}");
        }
    }
    // An error is at the line of the source.
    let wrong = load(&session, &["\nunknown_type x;"]);
    assert_eq!(build(&wrong, ""), Err(CL_BUILD_PROGRAM_FAILURE));
    let log = build_log(&session, &wrong);
    assert!(log.contains(":2:1"), "{log}");
}

/// Builds a source that is an error where a macro is defined, or where it is not.
fn find_macro(context: cl_context, name: &str) -> bool {
    let build_with = |word: &str| {
        let text = format!("#{word} {name}\n#error\n#endif\nkernel void none() {{}}\n");
        let (mut part, length, mut code) = (text.as_ptr().cast(), text.len(), 1);
        let (list, out) = (&raw mut part, &raw mut code);
        let raw = cl!(clCreateProgramWithSource(
            context,
            1,
            list,
            &raw const length,
            out
        ));
        let program = OwnedHandle::new(ObjectKind::Program, raw, code).expect("it is a source");
        build(&program, "-cl-std=CL3.0").is_ok()
    };
    let (is_missing, is_there) = (build_with("ifdef"), build_with("ifndef"));
    assert_ne!(is_missing, is_there, "{name}");
    is_there
}

#[test]
fn sources_see_what_the_device_has() {
    let Some(session) = open() else { return };
    let own = ["__opencl_c_pipes", "__opencl_c_device_enqueue"];
    for name in own {
        assert!(find_macro(session.context.raw, name), "{name}");
    }
    assert!(!find_macro(session.context.raw, "cl_khr_mipmap_image"));
    let Some([_, other]) = both_devices() else {
        return;
    };
    let context = create_context(&[other]).expect("it is a device");
    for name in own {
        assert!(!find_macro(context.raw, name), "{name}");
    }
    assert!(find_macro(context.raw, "__opencl_c_images"));
}

/// Kernels with attributes, among them hints of signed and unsigned types.
const ATTRIBUTES: &str = "
    kernel __attribute__((vec_type_hint(uint4))) void unsigned_hint(global uint *out) { out[0] = 1; }
    kernel __attribute__((vec_type_hint(long))) void signed_hint(global uint *out) { out[0] = 1; }
    kernel __attribute__((vec_type_hint(float2), reqd_work_group_size(1, 2, 1))) void size(global uint *out) { out[0] = 1; }";

#[test]
fn attributes_of_sources_are_reported() {
    let Some((_session, program)) = open_program(ATTRIBUTES) else {
        return;
    };
    let rows = [
        ("unsigned_hint", "vec_type_hint(uint4)"),
        ("signed_hint", "vec_type_hint(long)"),
        ("size", "reqd_work_group_size(1,2,1) vec_type_hint(float2)"),
    ];
    for (name, attributes) in rows {
        let kernel = create_kernel(&program, name).expect("it has the kernel");
        let query = CL_KERNEL_ATTRIBUTES;
        let found =
            ask_text(|size, value, out| kernel.kind.ask(kernel.raw, query, size, value, out));
        assert_eq!(found.as_deref(), Ok(attributes), "{name}");
    }
}
