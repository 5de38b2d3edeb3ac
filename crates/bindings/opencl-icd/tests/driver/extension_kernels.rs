//! Kernels that use what extensions of OpenCL C and of SPIR-V add, compared with their definitions.

use crate::buffer_boxes::random_bytes;
use crate::caller::{OwnedHandle, ask_list, ask_text, ask_value};
use crate::program_sources::{load, open, open_all};
use crate::programs::{build_log, compile, link};
use crate::session::{
    TestSession, assemble, build, create_kernel, launch, load_module, set_object,
};
use opencl_sys::*;
use std::ptr::null;

fn random_words(seed: u64, count: usize) -> Vec<u32> {
    let bytes = random_bytes(seed, 4 * count);
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Runs a kernel of one input and one output, an invocation for each word.
fn run_words(session: &TestSession, program: &OwnedHandle, name: &str, words: &[u32]) -> Vec<u32> {
    let kernel = create_kernel(program, name).expect("it is there");
    let (input, output) = (session.filled(words), session.filled(words));
    set_object(&kernel, 0, &input);
    set_object(&kernel, 1, &output);
    assert_eq!(
        session.launch(&kernel, &[words.len() / 4]),
        Ok(()),
        "{name}"
    );
    session.read(&output, words.len())
}

const SOURCE: &str = "
kernel void bits(global const uint4 *in, global uint4 *out) {
    uint4 own = in[get_global_id(0)];
    uint offset = own.z % 32, count = own.w % (33 - offset);
    out[get_global_id(0)] = (uint4)(
        bit_reverse(own.x),
        bitfield_insert(own.x, own.y, offset, count),
        bitfield_extract_signed(own.x, offset, count),
        bitfield_extract_unsigned(own.x, offset, count));
}
kernel void dots(global const uint4 *in, global uint4 *out) {
    uint4 own = in[get_global_id(0)];
    out[get_global_id(0)] = (uint4)(
        dot(as_char4(own.x), as_uchar4(own.y)),
        dot_4x8packed_uu_uint(own.x, own.y),
        dot_acc_sat_4x8packed_ss_int(own.x, own.y, (int)own.z),
        dot_acc_sat(as_uchar4(own.x), as_uchar4(own.y), own.w));
}
kernel void hints(global const uint4 *in, global uint4 *out) {
    uint4 own = in[get_global_id(0)];
    __builtin_assume(get_global_size(0) > 0);
    if (__builtin_expect(own.x > own.y, 1)) own.zw = own.wz;
    out[get_global_id(0)] = own;
}
";

fn expect_bits(row: &[u32]) -> [u32; 4] {
    let (offset, first) = (row[2] % 32, row[0]);
    let count = row[3] % (33 - offset);
    let mask = (u64::pow(2, count) - 1) as u32;
    let field = (u64::from(first) >> offset) as u32 & mask;
    let placed = (u64::from(mask) << offset) as u32;
    let inserted = (u64::from(row[1] & mask) << offset) as u32;
    let signed = match count {
        0 => 0,
        count => ((field << (32 - count)) as i32 >> (32 - count)) as u32,
    };
    [
        first.reverse_bits(),
        first & !placed | inserted,
        signed,
        field,
    ]
}

fn expect_dots(row: &[u32]) -> [u32; 4] {
    let (a, b) = (row[0].to_le_bytes(), row[1].to_le_bytes());
    let sum =
        |term: &dyn Fn(u8, u8) -> i64| -> i64 { a.iter().zip(b).map(|(x, y)| term(*x, y)).sum() };
    let unsigned = sum(&|x, y| i64::from(x) * i64::from(y));
    let signed = sum(&|x, y| i64::from(x as i8) * i64::from(y as i8));
    let mixed = sum(&|x, y| i64::from(x as i8) * i64::from(y));
    let most = (i64::from(i32::MIN), i64::from(i32::MAX));
    let added = (signed + i64::from(row[2] as i32)).clamp(most.0, most.1);
    let capped = (unsigned + i64::from(row[3])).min(u32::MAX.into());
    [mixed as u32, unsigned as u32, added as u32, capped as u32]
}

#[test]
fn bit_fields_and_dot_products_are_exact() {
    for session in open_all() {
        check_bits_and_dots(&session);
    }
}

fn check_bits_and_dots(session: &TestSession) {
    let program = load(session, &[SOURCE]);
    assert_eq!(build(&program, "-cl-std=CL3.0"), Ok(()));
    let mut words = random_words(11, 4 * 500);
    // Sums at the ends of the numbers.
    words[..8].copy_from_slice(&[
        0x8080_8080,
        0x8080_8080,
        0x7FFF_FFFF,
        0xFFFF_FFFF,
        0x7F7F_7F7F,
        0x8080_8080,
        0x8000_0000,
        0xFFFF_FF00,
    ]);
    let check = |name: &str, expect: &dyn Fn(&[u32]) -> [u32; 4]| {
        let found = run_words(session, &program, name, &words);
        for (row, found) in words.chunks(4).zip(found.chunks(4)) {
            assert_eq!(found, expect(row), "{name} of {row:x?}");
        }
    };
    check("bits", &expect_bits);
    check("dots", &expect_dots);
    check("hints", &|row| match row[0] > row[1] {
        true => [row[0], row[1], row[3], row[2]],
        false => [row[0], row[1], row[2], row[3]],
    });
    let told: Vec<u64> = ask_list(|size, value, out| {
        let name = CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR;
        cl!(clGetDeviceInfo(session.device, name, size, value, out))
    })
    .expect("the device tells it");
    assert_eq!(told, [3]);
    let fast: Vec<cl_bool> = ask_list(|size, value, out| {
        let name = CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT_KHR;
        cl!(clGetDeviceInfo(session.device, name, size, value, out))
    })
    .expect("the device tells it");
    assert_eq!(fast, [0; 6]);
}

/// A module whose function of the linkage `LinkOnceODR` adds a number, and whose kernel calls it.
fn once_module(number: u32, name: &str) -> String {
    format!(
        "OpCapability Kernel
        OpCapability Addresses
        OpCapability Linkage
        OpCapability Int8
        OpCapability Int64
        OpExtension \"SPV_KHR_linkonce_odr\"
        OpExtension \"SPV_KHR_no_integer_wrap_decoration\"
        %debug = OpExtInstImport \"OpenCL.DebugInfo.100\"
        OpMemoryModel Physical64 OpenCL
        OpEntryPoint Kernel %main \"{name}\" %id
        %file = OpString \"file.cl\"
        %kind = OpString \"uint\"
        OpDecorate %id BuiltIn GlobalInvocationId
        OpDecorate %add LinkageAttributes \"add_number\" LinkOnceODR
        OpDecorate %sum NoUnsignedWrap
        %void = OpTypeVoid
        %uint = OpTypeInt 32 0
        %ulong = OpTypeInt 64 0
        %v3 = OpTypeVector %ulong 3
        %v4 = OpTypeVector %uint 4
        %input = OpTypePointer Input %v3
        %global = OpTypePointer CrossWorkgroup %v4
        %one = OpTypeFunction %uint %uint
        %two = OpTypeFunction %void %global %global
        %number = OpConstant %uint {number}
        %bits = OpConstant %uint 32
        %id = OpVariable %input Input
        %source = OpExtInst %void %debug DebugSource %file
        %basic = OpExtInst %void %debug DebugTypeBasic %kind %bits Unsigned
        %add = OpFunction %uint None %one
        %value = OpFunctionParameter %uint
        %begin = OpLabel
        %sum = OpIAdd %uint %value %number
        OpReturnValue %sum
        OpFunctionEnd
        %main = OpFunction %void None %two
        %in = OpFunctionParameter %global
        %out = OpFunctionParameter %global
        %start = OpLabel
        %ids = OpLoad %v3 %id
        %at = OpCompositeExtract %ulong %ids 0
        %from = OpInBoundsPtrAccessChain %global %in %at
        %to = OpInBoundsPtrAccessChain %global %out %at
        %all = OpLoad %v4 %from Aligned 16
        %first = OpCompositeExtract %uint %all 0
        %added = OpFunctionCall %uint %add %first
        %result = OpCompositeInsert %v4 %added %all 0
        OpStore %to %result Aligned 16
        OpReturn
        OpFunctionEnd"
    )
}

#[test]
fn functions_of_several_modules_are_linked_once() {
    let session = TestSession::new();
    let part = |name| {
        let bytes = assemble(&once_module(5, name));
        let program = load_module(session.context.raw, &bytes).expect("it is a module");
        compile(&program, "").expect("it can be compiled");
        program
    };
    let (one, other) = (part("one"), part("other"));
    let (linked, code) = link(session.context.raw, "", &[&one, &other]);
    assert_eq!(code, CL_SUCCESS, "they have one function");
    let linked = linked.expect("it is linked");
    for name in ["one", "other"] {
        let found = run_words(&session, &linked, name, &[1, 2, 3, 4, 10, 20, 30, 40]);
        assert_eq!(found, [6, 2, 3, 4, 15, 20, 30, 40], "{name}");
    }
}

/// A module that imports intrinsics of LLVM, as the translator of SYCL's compiler makes it.
const INTRINSICS: &str = "OpCapability Kernel
    OpCapability Addresses
    OpCapability Linkage
    OpCapability Int64
    OpMemoryModel Physical64 OpenCL
    OpEntryPoint Kernel %main \"main\" %id
    OpDecorate %id BuiltIn GlobalInvocationId
    OpDecorate %usub LinkageAttributes \"llvm.usub.sat.i32\" Import
    OpDecorate %sadd LinkageAttributes \"llvm.sadd.sat.v4i32\" Import
    OpDecorate %fshl LinkageAttributes \"llvm.fshl.i32\" Import
    %void = OpTypeVoid
    %uint = OpTypeInt 32 0
    %ulong = OpTypeInt 64 0
    %v3 = OpTypeVector %ulong 3
    %v4 = OpTypeVector %uint 4
    %input = OpTypePointer Input %v3
    %global = OpTypePointer CrossWorkgroup %v4
    %binary = OpTypeFunction %uint %uint %uint
    %ternary = OpTypeFunction %uint %uint %uint %uint
    %wide = OpTypeFunction %v4 %v4 %v4
    %two = OpTypeFunction %void %global %global
    %id = OpVariable %input Input
    %usub = OpFunction %uint None %binary
    %u0 = OpFunctionParameter %uint
    %u1 = OpFunctionParameter %uint
    OpFunctionEnd
    %sadd = OpFunction %v4 None %wide
    %s0 = OpFunctionParameter %v4
    %s1 = OpFunctionParameter %v4
    OpFunctionEnd
    %fshl = OpFunction %uint None %ternary
    %f0 = OpFunctionParameter %uint
    %f1 = OpFunctionParameter %uint
    %f2 = OpFunctionParameter %uint
    OpFunctionEnd
    %main = OpFunction %void None %two
    %in = OpFunctionParameter %global
    %out = OpFunctionParameter %global
    %start = OpLabel
    %ids = OpLoad %v3 %id
    %at = OpCompositeExtract %ulong %ids 0
    %from = OpInBoundsPtrAccessChain %global %in %at
    %to = OpInBoundsPtrAccessChain %global %out %at
    %all = OpLoad %v4 %from Aligned 16
    %x = OpCompositeExtract %uint %all 0
    %y = OpCompositeExtract %uint %all 1
    %z = OpCompositeExtract %uint %all 2
    %less = OpFunctionCall %uint %usub %x %y
    %turned = OpFunctionCall %uint %fshl %x %y %z
    %twice = OpFunctionCall %v4 %sadd %all %all
    %first = OpCompositeInsert %v4 %less %twice 0
    %both = OpCompositeInsert %v4 %turned %first 1
    OpStore %to %both Aligned 16
    OpReturn
    OpFunctionEnd";

#[test]
fn intrinsics_that_modules_import_are_defined() {
    let session = TestSession::new();
    let module = assemble(INTRINSICS);
    let program = load_module(session.context.raw, &module).expect("it is a module");
    assert_eq!(build(&program, ""), Ok(()));
    let words = random_words(12, 4 * 100);
    let found = run_words(&session, &program, "main", &words);
    for (row, found) in words.chunks(4).zip(found.chunks(4)) {
        let joined = (u64::from(row[0]) << 32 | u64::from(row[1])) << (row[2] % 32);
        let twice = |word: u32| word.cast_signed().saturating_add(word.cast_signed());
        let expected = [
            row[0].saturating_sub(row[1]),
            (joined >> 32) as u32,
            twice(row[2]).cast_unsigned(),
            twice(row[3]).cast_unsigned(),
        ];
        assert_eq!(found, expected, "{row:x?}");
    }
    let unknown = INTRINSICS.replace("llvm.usub.sat.i32", "llvm.mystery.i32");
    let program = load_module(session.context.raw, &assemble(&unknown));
    let program = program.expect("it is a module");
    assert!(build(&program, "").is_err(), "nothing defines it");
    assert!(build_log(&session, &program).contains("llvm.mystery.i32"));
}

/// Kernels that demand sub-groups of a size. Each word is the sum over its sub-group, with size and lane.
fn sized_kernels(sizes: &[usize]) -> String {
    let kernels = sizes.iter().map(|size| {
        format!(
            "__attribute__((intel_reqd_sub_group_size({size})))
            kernel void sum{size}(global const uint4 *in, global uint4 *out) {{
                size_t i = get_global_id(0);
                uint4 v = in[i];
                v.x = sub_group_reduce_add(v.x);
                v.y = get_sub_group_size();
                v.z = get_sub_group_local_id();
                v.w = sub_group_scan_inclusive_max(v.w);
                out[i] = v;
            }}\n"
        )
    });
    kernels.collect()
}

#[test]
fn kernels_have_the_sub_groups_that_they_demand() {
    let Some(session) = open() else { return };
    let sizes: Vec<usize> = ask_list(|size, value, out| {
        let name = CL_DEVICE_SUB_GROUP_SIZES_INTEL;
        cl!(clGetDeviceInfo(session.device, name, size, value, out))
    })
    .expect("the device tells it");
    assert_eq!(sizes, [1, 2, 4, 8, 16, 32, 64]);
    let program = load(&session, &[&sized_kernels(&sizes)]);
    assert_eq!(build(&program, "-cl-std=CL3.0"), Ok(()));
    let words = random_words(13, 4 * 256);
    let rows: Vec<&[u32]> = words.chunks(4).collect();
    for size in sizes {
        let name = format!("sum{size}");
        let kernel = create_kernel(&program, &name).expect("it is there");
        let told: usize = ask_value(|bytes, value, out| {
            let (name, none) = (CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL, null());
            cl!(clGetKernelSubGroupInfo(
                kernel.raw,
                session.device,
                name,
                0,
                none,
                bytes,
                value,
                out
            ))
        })
        .expect("the kernel tells it");
        assert_eq!(told, size);
        let (input, output) = (session.filled(&words), session.filled(&words));
        set_object(&kernel, 0, &input);
        set_object(&kernel, 1, &output);
        assert_eq!(
            launch(
                session.queue.raw,
                kernel.raw,
                None,
                &[256],
                Some(&[64]),
                &[]
            ),
            Ok(())
        );
        let found = session.read::<u32>(&output, words.len());
        for (at, found) in found.chunks(4).enumerate() {
            let group = &rows[at / size * size..][..size];
            let lane = at % size;
            let sum = group
                .iter()
                .fold(0_u32, |sum, row| sum.wrapping_add(row[0]));
            let most = group[..=lane].iter().map(|row| row[3]).max();
            let expected = [sum, size as u32, lane as u32, most.unwrap_or(0)];
            assert_eq!(found, expected, "{name}, invocation {at}");
        }
    }
    let odd = load(&session, &[&sized_kernels(&[3])]);
    assert_eq!(build(&odd, "-cl-std=CL3.0"), Err(CL_BUILD_PROGRAM_FAILURE));
    assert!(build_log(&session, &odd).contains("sum3 demands subgroups of 3 invocations"));
}

#[test]
fn extensions_are_those_that_were_tested() {
    let session = TestSession::new();
    let names = ask_text(|size, value, out| {
        let name = CL_DEVICE_EXTENSIONS;
        cl!(clGetDeviceInfo(session.device, name, size, value, out))
    });
    let names = names.expect("devices tell it");
    let versions: Vec<cl_name_version> = {
        let ask = |size, value, out| {
            let name = CL_DEVICE_EXTENSIONS_WITH_VERSION;
            cl!(clGetDeviceInfo(session.device, name, size, value, out))
        };
        let mut size = 0;
        assert_eq!(ask(0, std::ptr::null_mut(), &raw mut size), CL_SUCCESS);
        let empty = cl_name_version {
            version: 0,
            name: [0; 64],
        };
        let mut rows = vec![empty; size / size_of::<cl_name_version>()];
        let room = rows.as_mut_ptr().cast();
        assert_eq!(ask(size, room, std::ptr::null_mut()), CL_SUCCESS);
        rows
    };
    assert_eq!(versions.len(), names.split(' ').count());
    let version_of = |wanted: &str| {
        let is_it = |row: &&cl_name_version| row.name.starts_with(format!("{wanted}\0").as_bytes());
        versions.iter().find(is_it).map(|row| row.version)
    };
    let pack = |major: u32, minor: u32, patch: u32| Some(major << 22 | minor << 12 | patch);
    assert_eq!(version_of("cl_khr_command_buffer"), pack(0, 9, 8));
    assert_eq!(version_of("cl_khr_integer_dot_product"), pack(2, 0, 0));
    assert_eq!(version_of("cl_khr_extended_bit_ops"), pack(1, 0, 0));
}

#[test]
fn fused_products_are_rounded_once() {
    let source = "kernel void fuse(global const float4 *in, global float4 *out) {
        float4 v = in[get_global_id(0)];
        out[get_global_id(0)] = (float4)(fma(v.x, v.y, v.z), fma(v.x, v.y, -(v.x * v.y)), v.z, v.w);
    }";
    let mut words = random_words(19, 4 * 2000);
    // Normal numbers, whose products and remainders are normal.
    for word in &mut words {
        *word = *word & 0x807F_FFFF | (110 + (*word >> 23) % 30) << 23;
    }
    for session in open_all() {
        let program = load(&session, &[source]);
        assert_eq!(build(&program, "-cl-std=CL3.0"), Ok(()));
        let found = run_words(&session, &program, "fuse", &words);
        for (row, found) in words.chunks(4).zip(found.chunks(4)) {
            let [a, b, c] = [row[0], row[1], row[2]].map(f32::from_bits);
            let expected = [a.mul_add(b, c), a.mul_add(b, -(a * b))];
            let found = [found[0], found[1]].map(f32::from_bits);
            assert_eq!(found, expected, "{a:e} * {b:e} + {c:e}");
        }
    }
}
