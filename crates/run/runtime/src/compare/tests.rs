//! Devices that differ and devices that agree.

use super::difference::{ComparedBuffer, find_difference};
use super::*;
use crate::data::ElementType;
use crate::drivers::cpu::CpuDriver;
use crate::{DeviceOptions, KernelSource, LaunchBinding};

/// The CPU device, whose third launch changes a buffer.
struct FaultyDriver {
    cpu: CpuDriver,
    launches: u32,
    /// The number that is added to the first float.
    by: f32,
}

impl DeviceDriver for FaultyDriver {
    fn info(&self) -> &DeviceInfo {
        self.cpu.info()
    }

    fn create_buffer(&mut self, buffer: BufferHandle, size: u64) -> Result<(), DeviceError> {
        self.cpu.create_buffer(buffer, size)
    }

    fn destroy_resource(&mut self, resource: ResourceHandle) {
        self.cpu.destroy_resource(resource);
    }

    fn write_resource(
        &mut self,
        resource: ResourceHandle,
        offset: u64,
        data: &[u8],
    ) -> Result<(), DeviceError> {
        self.cpu.write_resource(resource, offset, data)
    }

    fn read_resource(
        &mut self,
        resource: ResourceHandle,
        offset: u64,
        out: &mut [u8],
    ) -> Result<(), DeviceError> {
        self.cpu.read_resource(resource, offset, out)
    }

    fn buffer_address(&mut self, buffer: BufferHandle) -> Result<u64, DeviceError> {
        self.cpu.buffer_address(buffer)
    }

    fn create_kernel(
        &mut self,
        kernel: KernelHandle,
        source: KernelSource<'_>,
    ) -> Result<(), DeviceError> {
        self.cpu.create_kernel(kernel, source)
    }

    fn launch_kernel(
        &mut self,
        launch: &KernelLaunch,
        reached: ReachedMemory<'_>,
    ) -> Result<(), DeviceError> {
        self.cpu.launch_kernel(launch, reached)?;
        self.launches += 1;
        if self.launches == 3 {
            let mut word = [0; 4];
            self.cpu
                .read_resource(BufferHandle(1).into(), 4, &mut word)?;
            let value = f32::from_le_bytes(word) + self.by;
            self.cpu
                .write_resource(BufferHandle(1).into(), 4, &value.to_le_bytes())?;
        }
        Ok(())
    }

    fn wait_idle(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }
}

fn saxpy() -> SpirvModule {
    let options = spirula_spirv::text::ParseOptions {
        version: Some(spirula_spirv::grammar::SpirvVersion::new(1, 3)),
        ..Default::default()
    };
    let text = include_str!("../../tests/vulkan/saxpy.spvasm");
    let words = spirula_spirv::text::parse_assembly(text, &options).unwrap();
    SpirvModule::from_words(words).unwrap()
}

/// Three launches of `y += 2 x` on the CPU device and on a faulty one.
fn run(by: f32) -> Result<Vec<f32>, DeviceError> {
    let options = DeviceOptions::default();
    let cpu = ComputeDevice::open("cpu", &options)?;
    let faulty = ComputeDevice::with_driver(Box::new(FaultyDriver {
        cpu: CpuDriver::new(&options),
        launches: 0,
        by,
    }));
    let mut device = ComputeDevice::with_comparison(vec![cpu, faulty], FloatTolerance::default())?;
    let x = device.upload_data(&[1_f32, 2.0, 3.0])?;
    let y = device.upload_data(&[0_f32; 3])?;
    let kernel = device.create_kernel(&saxpy(), "saxpy", &[(0, 4)])?;
    for _ in 0..4 {
        let call = device
            .prepare_launch(kernel)
            .with_workgroups(1)
            .bind_resource(0, 0, x)
            .bind_resource(1, 2, y);
        call.push_constant(2_f32)
            .push_constant(3_u32)
            .run_and_wait()?;
    }
    device.download_as(y)
}

#[test]
fn the_first_launch_that_parts_is_named_with_its_inputs() {
    let Err(DeviceError::Parted(parted)) = run(1.0) else {
        panic!("they do not part")
    };
    assert_eq!(
        parted.to_string(),
        "launch 3, of saxpy: set 1, binding 2 on cpu and on cpu part: 12 and 13 at 1, \
         1 of 3 f32 differ"
    );
    // The inputs of the launch give the right result when it is repeated alone.
    let case = &parted.case;
    let mut device = ComputeDevice::open("cpu", &DeviceOptions::default()).unwrap();
    let module = SpirvModule::from_words(case.module.clone()).unwrap();
    let kernel = device.create_kernel(&module, "saxpy", &[]).unwrap();
    let mut bindings = Vec::new();
    for input in &case.inputs {
        let CaseInput::Buffer(Some((set, binding, index)), bytes) = input else {
            panic!("{input:?}")
        };
        bindings.push(LaunchBinding {
            set: *set,
            binding: *binding,
            index: *index,
            resource: device.upload_data(bytes).unwrap().into(),
            region: None,
        });
    }
    let y = bindings.iter().find(|b| b.set == 1).unwrap().resource;
    let ResourceHandle::Buffer(y) = y else {
        panic!("it is a buffer");
    };
    let push = case.push.clone();
    let launch = KernelLaunch {
        kernel,
        size: case.size,
        inputs: LaunchInputs::Resources { bindings, push },
    };
    device.launch_kernel(&launch).unwrap();
    assert_eq!(device.download_as::<f32>(y).unwrap(), [6.0, 12.0, 18.0]);
}

#[test]
fn what_is_within_the_tolerance_goes_on() {
    assert_eq!(run(1e-5).unwrap(), [8.0, 16.0, 24.0]);
}

#[test]
fn bytes_are_floats_only_where_they_look_like_some() {
    let used = |is_said| ComparedBuffer {
        resource: BufferHandle(0).into(),
        start: 0,
        place: String::new(),
        elements: vec![(ElementType::U8, true), (ElementType::F32, is_said)],
    };
    let part =
        |a: [u8; 4], b: [u8; 4]| find_difference(&a, &b, &used(false), &FloatTolerance::default());
    let (one, near) = (1_f32, 1.000_001_f32);
    assert_eq!(part(one.to_le_bytes(), near.to_le_bytes()), None);
    assert!(part(7_u32.to_le_bytes(), 8_u32.to_le_bytes()).is_some());
    assert!(part(one.to_le_bytes(), 2_f32.to_le_bytes()).is_some());
}

/// A module whose only buffer is declared as words, with a body over a pointer `%at` into it.
fn words_with(body: &str) -> SpirvModule {
    let text = format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\" %buffer\n\
         OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %array ArrayStride 4\nOpDecorate %block Block\n\
         OpMemberDecorate %block 0 Offset 0\nOpDecorate %buffer DescriptorSet 0\nOpDecorate %buffer Binding 0\n\
         %void = OpTypeVoid\n%function = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%float = OpTypeFloat 32\n\
         %array = OpTypeRuntimeArray %uint\n%block = OpTypeStruct %array\n%blocks = OpTypePointer StorageBuffer %block\n\
         %words = OpTypePointer StorageBuffer %uint\n%buffer = OpVariable %blocks StorageBuffer\n%zero = OpConstant %uint 0\n\
         %one = OpConstant %uint 1\n%main = OpFunction %void None %function\n%start = OpLabel\n\
         %at = OpAccessChain %words %buffer %zero %zero\n{body}\nOpReturn\nOpFunctionEnd\n"
    );
    let options = spirula_spirv::text::ParseOptions {
        version: Some(spirula_spirv::grammar::SpirvVersion::new(1, 5)),
        ..Default::default()
    };
    SpirvModule::from_words(spirula_spirv::text::parse_assembly(&text, &options).unwrap()).unwrap()
}

#[test]
fn words_that_only_become_floats_are_floats() {
    let floats = |body: &str| {
        let module = words_with(body);
        let interface = EntryInterface::from_module(&module, "main").unwrap();
        let variables: Vec<Id> = interface.bindings.iter().map(|b| b.variable).collect();
        ElementTypes::from_module(&module).infer_float_type(&variables)
    };
    let read = "%w = OpLoad %uint %at\n%f = OpBitcast %float %w\n%g = OpFAdd %float %f %f";
    assert_eq!(floats(read), Some(ElementType::F32));
    let write = "%h = OpBitcast %uint %g\nOpStore %at %h";
    assert_eq!(floats(&format!("{read}\n{write}")), Some(ElementType::F32));
    let copy = "%w = OpLoad %uint %at\nOpStore %at %w";
    assert_eq!(floats(copy), None);
    assert_eq!(
        floats(&format!("{read}\nOpStore %at %w")),
        Some(ElementType::F32)
    );
    let sum = "%s = OpIAdd %uint %w %one";
    assert_eq!(floats(&format!("{read}\n{sum}")), None);
    assert_eq!(
        floats(&format!(
            "{read}\n%t = OpISub %uint %one %one\nOpStore %at %t"
        )),
        None
    );
}

#[test]
fn zeros_and_nans_of_any_bits_agree_as_floats_alone() {
    let used = |is_said| ComparedBuffer {
        resource: BufferHandle(0).into(),
        start: 0,
        place: String::new(),
        elements: if is_said {
            vec![(ElementType::F32, true)]
        } else {
            vec![(ElementType::U32, true), (ElementType::F32, false)]
        },
    };
    let part = |a: u32, b: u32, is_said| {
        let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
        find_difference(&a, &b, &used(is_said), &FloatTolerance::default())
    };
    for (a, b) in [(0, 0x8000_0000), (0x7fff_ffff, 0xffc0_0000)] {
        assert_eq!(part(a, b, true), None);
        let told = part(a, b, false).unwrap();
        let hint =
            "1 of 1 u32 differ, if they are no f32: the module does not say what these bytes are";
        assert!(told.ends_with(hint), "{told}");
    }
    assert!(part(1_f32.to_bits(), 2_f32.to_bits(), true).is_some());
}
