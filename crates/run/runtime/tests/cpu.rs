//! The CPU device through the interface of devices.

use spirula_runtime::{
    ComputeDevice, DeviceError, DeviceOptions, IndexSpace, KernelArgument, KernelLaunch,
    LaunchBinding, LaunchInputs, PipeShape,
};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{ParseOptions, parse_assembly};

fn device() -> ComputeDevice {
    ComputeDevice::open("cpu", &DeviceOptions::default()).expect("there is a CPU")
}

/// `out[i] = in[i] * factor`, for `GLCompute` with workgroups of 4.
fn shader() -> SpirvModule {
    let words = parse_assembly(include_str!("cpu/scale.spvasm"), &ParseOptions::default());
    SpirvModule::from_words(words.expect("the text is correct")).expect("the module is correct")
}

#[test]
fn buffers_hold_what_is_written() {
    let mut device = device();
    let buffer = device.create_buffer(100).unwrap();
    assert_eq!(device.download_buffer(buffer).unwrap(), [0; 100]);
    assert_eq!(device.buffer_address(buffer).unwrap() % 128, 0);
    device.write_buffer(buffer, 98, &[1, 2]).unwrap();
    let mut end = [9; 3];
    device.read_buffer(buffer, 97, &mut end).unwrap();
    assert_eq!(end, [0, 1, 2]);
    let beyond = device.write_buffer(buffer, 99, &[1, 2]).unwrap_err();
    assert_eq!(
        beyond.to_string(),
        "bytes 99 to 101 are not within a buffer of 100 bytes"
    );
    device.destroy_buffer(buffer).unwrap();
    assert_eq!(
        device.download_buffer(buffer),
        Err(DeviceError::Handle("a buffer"))
    );
    assert!(device.destroy_buffer(buffer).is_err());
}

#[test]
fn sizes_beyond_memory_are_an_error() {
    let mut device = device();
    for size in [u64::MAX, 1 << 60, 1 << 45] {
        assert!(
            matches!(device.create_buffer(size), Err(DeviceError::Memory { .. })),
            "{size}"
        );
    }
    assert!(device.create_buffer(0).is_ok());
}

#[test]
fn shaders_run_with_their_constants() {
    let mut device = device();
    let words = |n: [u32; 4]| n.map(u32::to_le_bytes).concat();
    let from = device.upload_data(&words([1, 2, 3, 4])).unwrap();
    let to = device.create_buffer(16).unwrap();
    let mut run = |spec: &[(u32, u64)]| {
        let kernel = device.create_kernel(&shader(), "main", spec)?;
        let bound = |binding, buffer| LaunchBinding::with_whole_buffer(binding, buffer);
        device.launch_kernel(&KernelLaunch {
            kernel,
            size: IndexSpace::Groups([1; 3]),
            inputs: LaunchInputs::Resources {
                bindings: vec![bound(0, from), bound(1, to)],
                push: Vec::new(),
            },
        })?;
        device.download_buffer(to)
    };
    assert_eq!(run(&[]).unwrap(), words([2, 4, 6, 8]));
    assert_eq!(run(&[(7, 10)]).unwrap(), words([10, 20, 30, 40]));
    let error = |spec| run(spec).unwrap_err().to_string();
    let mut error = error;
    assert_eq!(
        error(&[(1, 1)]),
        "specialisation constant 1: the module has no such constant; it has: 7"
    );
    assert_eq!(
        error(&[(7, 1 << 32)]),
        "specialisation constant 7: 0x100000000 has more than 32 bits"
    );
    assert_eq!(
        error(&[(7, 1), (7, 1)]),
        "specialisation constant 7: it is given twice"
    );
}

#[test]
fn launches_name_what_does_not_fit() {
    let mut device = device();
    let kernel = device.create_kernel(&shader(), "main", &[]).unwrap();
    let buffer = device.create_buffer(16).unwrap();
    let mut said = |inputs| {
        let size = IndexSpace::Groups([1; 3]);
        let launch = KernelLaunch {
            kernel,
            size,
            inputs,
        };
        device.launch_kernel(&launch).unwrap_err().to_string()
    };
    let unbound = said(LaunchInputs::Resources {
        bindings: Vec::new(),
        push: Vec::new(),
    });
    assert_eq!(unbound, "set 0, binding 0 (from): no buffer is bound");
    let arguments = said(LaunchInputs::Arguments(vec![KernelArgument::from(buffer)]));
    assert_eq!(
        arguments,
        "main is a shader: it takes buffers by set and binding"
    );
    let missing = device.create_kernel(&shader(), "other", &[]).unwrap_err();
    assert!(matches!(missing, DeviceError::Module(_)), "{missing}");
}

#[test]
fn pipes_are_given_to_kernels() {
    let words = parse_assembly(include_str!("cpu/pipe.spvasm"), &ParseOptions::default()).unwrap();
    let module = SpirvModule::from_words(words).unwrap();
    for name in ["cpu", "cpu+scalar", "cpu+san"] {
        let options = DeviceOptions {
            threads: Some(1),
            ..DeviceOptions::default()
        };
        let mut device = ComputeDevice::open(name, &options).unwrap();
        let shape = PipeShape {
            packet: 4,
            capacity: 16,
        };
        let pipe = device.create_pipe(shape).unwrap();
        let from = device.upload_data(&[7_u32, 8, 9, 10]).unwrap();
        let into = device.create_buffer(20).unwrap();
        let mut run = |name: &str, count, arguments: [KernelArgument; 2]| {
            let kernel = device.create_kernel(&module, name, &[])?;
            let size = IndexSpace::Items {
                dimensions: 1,
                global: [count, 1, 1],
                local: Some([1; 3]),
                offset: [0; 3],
            };
            let inputs = LaunchInputs::Arguments(arguments.to_vec());
            device.launch_kernel(&KernelLaunch {
                kernel,
                size,
                inputs,
            })
        };
        run("write", 4, [from.into(), pipe.into()]).unwrap();
        run("read", 5, [pipe.into(), into.into()]).unwrap();
        let wrong = run("read", 5, [from.into(), into.into()])
            .unwrap_err()
            .to_string();
        assert!(wrong.contains("a pipe, a buffer is given"), "{wrong}");
        device.wait_idle().unwrap();
        assert_eq!(device.download_as::<u32>(into).unwrap(), [7, 8, 9, 10, 0]);
        let none = PipeShape {
            packet: 4,
            capacity: 0,
        };
        assert!(device.create_pipe(none).is_err());
    }
}

/// `out[i] = i`, however large `out` is.
const BEYOND: &str = "\
OpCapability Kernel
OpCapability Addresses
OpCapability Int64
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %fill \"fill\" %gid
OpDecorate %gid BuiltIn GlobalInvocationId
%void = OpTypeVoid
%long = OpTypeInt 64 0
%long3 = OpTypeVector %long 3
%pin = OpTypePointer Input %long3
%pout = OpTypePointer CrossWorkgroup %long
%gid = OpVariable %pin Input
%fn = OpTypeFunction %void %pout
%fill = OpFunction %void None %fn
%out = OpFunctionParameter %pout
%entry = OpLabel
%id3 = OpLoad %long3 %gid
%id = OpCompositeExtract %long %id3 0
%at = OpInBoundsPtrAccessChain %pout %out %id
OpStore %at %id
OpReturn
OpFunctionEnd
";

#[test]
#[cfg(target_os = "linux")]
fn kernels_that_go_past_a_buffer_harm_nothing_else() {
    let words = parse_assembly(BEYOND, &ParseOptions::default()).expect("the text is correct");
    let module = SpirvModule::from_words(words).expect("the module is correct");
    for name in ["cpu", "cpu+scalar"] {
        let mut device = ComputeDevice::open(name, &DeviceOptions::default()).unwrap();
        let before = device.upload_data(&[7_u8; 5000]).unwrap();
        let out = device.create_buffer(64).unwrap();
        let after = device.upload_data(&[8_u8; 5000]).unwrap();
        let kernel = device.create_kernel(&module, "fill", &[]).unwrap();
        for count in [1000, 1_000_000, u64::MAX] {
            let call = device
                .prepare_launch(kernel)
                .with_global_size(count)
                .with_argument(out);
            let error = call.run_and_wait().unwrap_err().to_string();
            assert!(error.contains("where no memory is"), "{name}: {error}");
        }
        assert_eq!(device.download_buffer(before).unwrap(), [7; 5000]);
        assert_eq!(device.download_buffer(after).unwrap(), [8; 5000]);
        device
            .prepare_launch(kernel)
            .with_global_size(8)
            .with_argument(out)
            .run_and_wait()
            .unwrap();
        let wanted: Vec<u64> = (0..8).collect();
        assert_eq!(device.download_as::<u64>(out).unwrap(), wanted);
    }
}
