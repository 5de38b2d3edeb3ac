//! Queries of the platform and of its devices.

use crate::caller::{ask_list, ask_text, ask_value, platform};
use crate::session::{TestSession, both_devices, create_context, devices};
use opencl_sys::*;
use std::ptr::{null, null_mut};

fn ask_device<T: Default>(device: cl_device_id, name: cl_device_info) -> Result<T, cl_int> {
    ask_value(|size, value, out| cl!(clGetDeviceInfo(device, name, size, value, out)))
}

fn device_text(device: cl_device_id, name: cl_device_info) -> String {
    let text = ask_text(|size, value, out| cl!(clGetDeviceInfo(device, name, size, value, out)));
    text.expect("devices tell it")
}

#[test]
fn platforms_are_found_with_little_room() {
    let mut count = 7;
    let none = null_mut();
    assert_eq!(cl!(clGetPlatformIDs(0, none, &raw mut count)), CL_SUCCESS);
    assert_eq!(count, 1);
    let mut found = [null_mut(); 2];
    assert_eq!(
        cl!(clGetPlatformIDs(2, found.as_mut_ptr(), null_mut())),
        CL_SUCCESS
    );
    assert_eq!(found, [platform(), null_mut()]);
    assert_eq!(
        cl!(clGetPlatformIDs(0, null_mut(), null_mut())),
        CL_INVALID_VALUE
    );
    let first = found.as_mut_ptr();
    assert_eq!(
        cl!(clGetPlatformIDs(0, first, &raw mut count)),
        CL_INVALID_VALUE
    );
    let room = cl!(clGetPlatformIDs(3, null_mut(), &raw mut count));
    assert_eq!(room, CL_SUCCESS, "the number is asked for");
}

#[test]
fn devices_are_found_by_type() {
    let mut count = 0;
    let out = &raw mut count;
    let types = [
        CL_DEVICE_TYPE_ALL,
        CL_DEVICE_TYPE_CPU,
        CL_DEVICE_TYPE_DEFAULT,
    ];
    for wanted in types {
        let code = cl!(clGetDeviceIDs(platform(), wanted, 0, null_mut(), out));
        assert_eq!(code, CL_SUCCESS);
        let code = cl!(clGetDeviceIDs(platform(), wanted, 9, null_mut(), out));
        assert_eq!(code, CL_SUCCESS, "the number is asked for");
    }
    let mut found = [null_mut(); 3];
    let list = found.as_mut_ptr();
    let code = cl!(clGetDeviceIDs(
        platform(),
        CL_DEVICE_TYPE_ALL,
        1,
        list,
        null_mut()
    ));
    assert_eq!(code, CL_SUCCESS);
    assert_eq!(found, [devices()[0], null_mut(), null_mut()]);
    let code = cl!(clGetDeviceIDs(
        platform(),
        CL_DEVICE_TYPE_CUSTOM,
        1,
        list,
        out
    ));
    assert_eq!(code, CL_DEVICE_NOT_FOUND);
    for wrong in [0, 1 << 20, CL_DEVICE_TYPE_CPU | 1 << 31] {
        let code = cl!(clGetDeviceIDs(platform(), wrong, 1, list, out));
        assert_eq!(code, CL_INVALID_DEVICE_TYPE);
    }
    let all = CL_DEVICE_TYPE_ALL;
    assert_eq!(
        cl!(clGetDeviceIDs(platform(), all, 0, list, out)),
        CL_INVALID_VALUE
    );
    let code = cl!(clGetDeviceIDs(platform(), all, 0, null_mut(), null_mut()));
    assert_eq!(code, CL_INVALID_VALUE);
}

#[test]
fn devices_have_what_every_device_must() {
    for device in devices() {
        assert!(ask_device::<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS).is_ok_and(|n| n > 0));
        let dimensions = ask_device::<cl_uint>(device, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS);
        assert_eq!(dimensions, Ok(3));
        let sizes: Result<Vec<usize>, _> = ask_list(|size, value, out| {
            let name = CL_DEVICE_MAX_WORK_ITEM_SIZES;
            cl!(clGetDeviceInfo(device, name, size, value, out))
        });
        assert!(sizes.is_ok_and(|sizes| sizes.len() == 3 && sizes.iter().all(|n| *n > 0)));
        let least = |name, least: u64| ask_device::<u64>(device, name).is_ok_and(|n| n >= least);
        assert!(least(CL_DEVICE_MAX_MEM_ALLOC_SIZE, 32 << 20));
        assert!(least(CL_DEVICE_GLOBAL_MEM_SIZE, 32 << 20));
        assert!(least(CL_DEVICE_LOCAL_MEM_SIZE, 32 << 10));
        assert!(least(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, 64 << 10));
        let parameters = ask_device::<usize>(device, CL_DEVICE_MAX_PARAMETER_SIZE);
        assert!(parameters.is_ok_and(|size| size >= 1024));
        for name in [CL_DEVICE_AVAILABLE, CL_DEVICE_ENDIAN_LITTLE] {
            assert_eq!(ask_device::<cl_bool>(device, name), Ok(CL_TRUE));
        }
        assert_eq!(
            ask_device::<usize>(device, CL_DEVICE_PLATFORM),
            Ok(platform() as usize)
        );
        assert!(device_text(device, CL_DEVICE_VERSION).starts_with("OpenCL 3.0 "));
        let c_version = device_text(device, CL_DEVICE_OPENCL_C_VERSION);
        assert!(c_version.starts_with("OpenCL C "), "{c_version}");
        assert_eq!(device_text(device, CL_DEVICE_PROFILE), "FULL_PROFILE");
        assert!(device_text(device, CL_DEVICE_IL_VERSION).contains("SPIR-V_"));
        let extensions = device_text(device, CL_DEVICE_EXTENSIONS);
        assert!(extensions.contains("cl_khr_byte_addressable_store"));
        let named: Result<Vec<u8>, _> = ask_list(|size, value, out| {
            let name = CL_DEVICE_EXTENSIONS_WITH_VERSION;
            cl!(clGetDeviceInfo(device, name, size, value, out))
        });
        let count = extensions.split_whitespace().count();
        assert_eq!(
            named.map(|bytes| bytes.len()),
            Ok(count * size_of::<cl_name_version>())
        );
    }
}

#[test]
fn every_query_needs_room() {
    for device in devices() {
        let mut known = 0;
        for name in (0x1000..0x1100).chain(0x4100..0x4200) {
            let mut size = 0;
            let code = cl!(clGetDeviceInfo(device, name, 0, null_mut(), &raw mut size));
            if code == CL_INVALID_VALUE {
                continue;
            }
            assert_eq!(code, CL_SUCCESS, "{name:#x}");
            known += 1;
            if size == 0 {
                continue;
            }
            let mut room = vec![0xa5_u8; size + 8];
            let to = room.as_mut_ptr().cast();
            let code = cl!(clGetDeviceInfo(device, name, size - 1, to, null_mut()));
            assert_eq!(code, CL_INVALID_VALUE, "{name:#x}");
            assert!(room.iter().all(|byte| *byte == 0xa5), "{name:#x}");
            let code = cl!(clGetDeviceInfo(device, name, size + 8, to, null_mut()));
            assert_eq!(code, CL_SUCCESS, "{name:#x}");
            assert_eq!(room[size..], [0xa5; 8], "{name:#x}");
        }
        assert!(known > 90, "{known} queries");
    }
}

#[test]
fn platforms_tell_what_they_are() {
    let text = |name| {
        let told =
            ask_text(|size, value, out| cl!(clGetPlatformInfo(platform(), name, size, value, out)));
        told.expect("platforms tell it")
    };
    assert!(text(CL_PLATFORM_VERSION).starts_with("OpenCL 3.0 "));
    assert!(text(CL_PLATFORM_NAME).contains("Spirula"));
    assert_eq!(text(CL_PLATFORM_PROFILE), "FULL_PROFILE");
    assert!(text(CL_PLATFORM_EXTENSIONS).contains("cl_khr_icd"));
    assert_eq!(text(CL_PLATFORM_ICD_SUFFIX_KHR), "SPIRULA");
    let code = cl!(clGetPlatformInfo(platform(), 1, 0, null_mut(), null_mut()));
    assert_eq!(code, CL_INVALID_VALUE);
}

#[test]
fn contexts_refuse_wrong_properties() {
    let device = devices()[0];
    let name = CL_CONTEXT_PLATFORM;
    let own = platform() as isize;
    let cases: [(&[isize], cl_int); 4] = [
        (&[name, own, 0], CL_SUCCESS),
        (&[0], CL_SUCCESS),
        (&[name, own, name, own, 0], CL_INVALID_PROPERTY),
        (&[0x7777, 1, 0], CL_INVALID_PROPERTY),
    ];
    for (properties, expected) in cases {
        let mut code = 1;
        let (list, first) = (&raw const device, properties.as_ptr());
        let out = &raw mut code;
        let raw = cl!(clCreateContext(first, 1, list, None, null_mut(), out));
        assert_eq!(code, expected);
        if raw.is_null() {
            continue;
        }
        let told: Result<Vec<isize>, _> = ask_list(|size, value, out| {
            cl!(clGetContextInfo(
                raw,
                CL_CONTEXT_PROPERTIES,
                size,
                value,
                out
            ))
        });
        assert_eq!(told.as_deref(), Ok(properties));
        assert_eq!(cl!(clReleaseContext(raw)), CL_SUCCESS);
    }
    assert_eq!(create_context(&[]).err(), Some(CL_INVALID_VALUE));
    let mut code = 1;
    let (none, data) = (null(), device);
    let raw = cl!(clCreateContext(
        none,
        1,
        &raw const device,
        None,
        data,
        &raw mut code
    ));
    assert_eq!((raw.is_null(), code), (true, CL_INVALID_VALUE));
}

#[test]
fn contexts_are_made_of_types() {
    let mut code = 1;
    let out = &raw mut code;
    let (none, data) = (null(), null_mut());
    let raw = cl!(clCreateContextFromType(
        none,
        CL_DEVICE_TYPE_CPU,
        None,
        data,
        out
    ));
    assert_eq!(code, CL_SUCCESS);
    assert_eq!(cl!(clReleaseContext(raw)), CL_SUCCESS);
    let raw = cl!(clCreateContextFromType(
        none,
        CL_DEVICE_TYPE_CUSTOM,
        None,
        data,
        out
    ));
    assert_eq!((raw.is_null(), code), (true, CL_DEVICE_NOT_FOUND));
    let raw = cl!(clCreateContextFromType(none, 1 << 30, None, data, out));
    assert_eq!((raw.is_null(), code), (true, CL_INVALID_DEVICE_TYPE));
}

#[test]
fn timers_do_not_go_back() {
    let session = TestSession::new();
    // Programs ask for whole milliseconds, and take none for a clock that does not work.
    let mut last = 1_000_000_000;
    for _ in 0..100 {
        let (mut device_time, mut host_time) = (0, 0);
        let (first, second) = (&raw mut device_time, &raw mut host_time);
        let code = cl!(clGetDeviceAndHostTimer(session.device, first, second));
        assert_eq!(code, CL_SUCCESS);
        assert!(host_time >= last);
        assert_eq!(
            cl!(clGetHostTimer(session.device, &raw mut last)),
            CL_SUCCESS
        );
        assert!(last >= host_time);
    }
    let none = null_mut();
    let code = cl!(clGetDeviceAndHostTimer(session.device, none, none));
    assert_eq!(code, CL_INVALID_VALUE);
    assert_eq!(
        cl!(clGetHostTimer(session.device, null_mut())),
        CL_INVALID_VALUE
    );
}

#[test]
fn only_the_processor_is_divided() {
    let Some([_, device]) = both_devices() else {
        return;
    };
    let most = ask_device::<cl_uint>(device, CL_DEVICE_PARTITION_MAX_SUB_DEVICES);
    assert_eq!(most, Ok(0));
    let ways = ask_device::<usize>(device, CL_DEVICE_PARTITION_PROPERTIES);
    assert_eq!(ways, Ok(0));
    let words = [CL_DEVICE_PARTITION_EQUALLY, 1, 0];
    let (list, none) = (words.as_ptr(), null_mut());
    let code = cl!(clCreateSubDevices(device, list, 0, none, null_mut()));
    assert_eq!(code, CL_INVALID_VALUE);
}

#[test]
fn extensions_and_features_agree() {
    for device in devices() {
        let extensions = device_text(device, CL_DEVICE_EXTENSIONS);
        let extensions: Vec<&str> = extensions.split_whitespace().collect();
        let features: Vec<u8> = ask_list(|size, value, out| {
            let name = CL_DEVICE_OPENCL_C_FEATURES;
            cl!(clGetDeviceInfo(device, name, size, value, out))
        })
        .expect("devices tell them");
        let features = String::from_utf8_lossy(&features).into_owned();
        for (extension, feature) in [
            ("cl_khr_3d_image_writes", "__opencl_c_3d_image_writes"),
            ("cl_khr_fp64", "__opencl_c_fp64"),
        ] {
            let has_extension = extensions.contains(&extension);
            assert_eq!(has_extension, features.contains(feature), "{extension}");
        }
    }
}
