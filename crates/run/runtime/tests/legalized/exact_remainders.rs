//! Remainders that are as exact on every device as on the CPU device, in shaders and in kernels that became shaders.

use crate::{assert_valid, parse_module};
use spirula_legalize::device::replace_inexact_remainders;
use spirula_legalize::emulate::{MissingNumericTypes, emulate_missing_types};
use spirula_legalize::{VulkanCompileOptions, compile_kernels};
use spirula_runtime::{
    ComputeDevice, DeviceOptions, IndexSpace, KernelArgument, KernelLaunch, LaunchBinding,
    LaunchInputs, list_devices,
};
use spirula_scalar::{ElementaryFloat, math};
use spirula_spirv::grammar::enumerants::Capability;
use spirula_spirv::ir::SpirvModule;

/// A shader that stores two remainders of each pair of vectors of floats.
fn build_shader(width: u32) -> String {
    let (capability, bytes) = match width {
        64 => ("OpCapability Float64", 8),
        _ => ("", 4),
    };
    let pair = 2 * bytes;
    format!(
        "OpCapability Shader
{capability}
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %place %from %to
OpExecutionMode %main LocalSize 64 1 1
OpDecorate %place BuiltIn GlobalInvocationId
OpDecorate %from DescriptorSet 0
OpDecorate %from Binding 0
OpDecorate %to DescriptorSet 0
OpDecorate %to Binding 1
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %pairs ArrayStride {pair}
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%place_type = OpTypeVector %uint 3
%float = OpTypeFloat {width}
%pair = OpTypeVector %float 2
%pairs = OpTypeRuntimeArray %pair
%block = OpTypeStruct %pairs
%to_block = OpTypePointer StorageBuffer %block
%to_pair = OpTypePointer StorageBuffer %pair
%to_place = OpTypePointer Input %place_type
%type = OpTypeFunction %void
%zero = OpConstant %uint 0
%from = OpVariable %to_block StorageBuffer
%to = OpVariable %to_block StorageBuffer
%place = OpVariable %to_place Input
%main = OpFunction %void None %type
%entry = OpLabel
%id = OpLoad %place_type %place
%n = OpCompositeExtract %uint %id 0
%source = OpAccessChain %to_pair %from %zero %n
%given = OpLoad %pair %source
%x = OpCompositeExtract %float %given 0
%y = OpCompositeExtract %float %given 1
%xs = OpCompositeConstruct %pair %x %x
%ys = OpCompositeConstruct %pair %y %y
%rests = OpFRem %pair %xs %ys
%first = OpCompositeExtract %float %rests 1
%second = OpFMod %float %x %y
%both = OpCompositeConstruct %pair %first %second
%target = OpAccessChain %to_pair %to %zero %n
OpStore %target %both
OpReturn
OpFunctionEnd
"
    )
}

/// A kernel that stores the remainders of each pair of floats, and the low bits of the nearest quotient.
fn build_kernel(width: u32) -> String {
    let (capability, bytes) = match width {
        64 => ("OpCapability Float64", 8),
        _ => ("", 4),
    };
    format!(
        "OpCapability Kernel
OpCapability Addresses
OpCapability Int64
{capability}
%std = OpExtInstImport \"OpenCL.std\"
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main \"main\" %place
OpDecorate %place BuiltIn GlobalInvocationId
OpDecorate %place Constant
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%place_type = OpTypeVector %ulong 3
%float = OpTypeFloat {width}
%to_floats = OpTypePointer CrossWorkgroup %float
%to_uints = OpTypePointer CrossWorkgroup %uint
%to_uint = OpTypePointer Function %uint
%to_place = OpTypePointer Input %place_type
%type = OpTypeFunction %void %to_floats %to_floats %to_uints
%one = OpConstant %ulong 1
%two = OpConstant %ulong 2
%four = OpConstant %ulong 4
%three = OpConstant %ulong 3
%place = OpVariable %to_place Input
%main = OpFunction %void None %type
%from = OpFunctionParameter %to_floats
%to = OpFunctionParameter %to_floats
%quotients = OpFunctionParameter %to_uints
%entry = OpLabel
%low = OpVariable %to_uint Function
%id = OpLoad %place_type %place Aligned 32
%n = OpCompositeExtract %ulong %id 0
%at_x = OpIMul %ulong %n %two
%at_y = OpIAdd %ulong %at_x %one
%to_x = OpInBoundsPtrAccessChain %to_floats %from %at_x
%to_y = OpInBoundsPtrAccessChain %to_floats %from %at_y
%x = OpLoad %float %to_x Aligned {bytes}
%y = OpLoad %float %to_y Aligned {bytes}
%r0 = OpFRem %float %x %y
%r1 = OpFMod %float %x %y
%r2 = OpExtInst %float %std fmod %x %y
%r3 = OpExtInst %float %std remquo %x %y %low
%quotient = OpLoad %uint %low Aligned 4
%at_0 = OpIMul %ulong %n %four
%at_1 = OpIAdd %ulong %at_0 %one
%at_2 = OpIAdd %ulong %at_0 %two
%at_3 = OpIAdd %ulong %at_0 %three
%to_0 = OpInBoundsPtrAccessChain %to_floats %to %at_0
%to_1 = OpInBoundsPtrAccessChain %to_floats %to %at_1
%to_2 = OpInBoundsPtrAccessChain %to_floats %to %at_2
%to_3 = OpInBoundsPtrAccessChain %to_floats %to %at_3
%to_quotient = OpInBoundsPtrAccessChain %to_uints %quotients %n
OpStore %to_0 %r0 Aligned {bytes}
OpStore %to_1 %r1 Aligned {bytes}
OpStore %to_2 %r2 Aligned {bytes}
OpStore %to_3 %r3 Aligned {bytes}
OpStore %to_quotient %quotient Aligned 4
OpReturn
OpFunctionEnd
"
    )
}

/// A width of floats: its numbers as words of 64 bits.
struct FloatWidth {
    width: u32,
    fraction_bits: u32,
    from_bits: fn(u64) -> f64,
    to_bits: fn(f64) -> u64,
    /// The remainders of two numbers: that towards zero, towards minus infinity, and of the nearest quotient.
    remainders: fn(u64, u64) -> [u64; 3],
    /// The low bits of the nearest quotient.
    quotient: fn(u64, u64) -> i32,
}

fn find_remainders<T: ElementaryFloat>(x: T, y: T) -> [T; 3] {
    [
        math::fmod(x, y),
        math::floor_mod(x, y),
        math::remainder(x, y),
    ]
}

fn find_quotient<T: ElementaryFloat>(x: T, y: T) -> i32 {
    let mut quotient = 0;
    math::remquo(x, y, &mut quotient);
    quotient
}

fn to_single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

const WIDTHS: [FloatWidth; 2] = [
    FloatWidth {
        width: 32,
        fraction_bits: 23,
        from_bits: |bits| f64::from(to_single(bits)),
        to_bits: |number| u64::from((number as f32).to_bits()),
        remainders: |x, y| {
            let all = find_remainders(to_single(x), to_single(y));
            all.map(|rest| u64::from(rest.to_bits()))
        },
        quotient: |x, y| find_quotient(to_single(x), to_single(y)),
    },
    FloatWidth {
        width: 64,
        fraction_bits: 52,
        from_bits: f64::from_bits,
        to_bits: f64::to_bits,
        remainders: |x, y| {
            let all = find_remainders(f64::from_bits(x), f64::from_bits(y));
            all.map(f64::to_bits)
        },
        quotient: |x, y| find_quotient(f64::from_bits(x), f64::from_bits(y)),
    },
];

impl FloatWidth {
    /// Numbers of every size and both signs, with few and many bits: denormals, and what is none, among them.
    fn list_numbers(&self) -> Vec<u64> {
        let top = 1 << (self.width - 1);
        let implied = 1_u64 << self.fraction_bits;
        let exponents = top >> self.fraction_bits;
        let infinite = (exponents - 1) << self.fraction_bits;
        let mut all = vec![0, 1, 2, 3, 5, implied - 1, implied >> 1, implied >> 3 | 1];
        all.extend([infinite, infinite - 1, infinite | implied >> 1]);
        let steps = [
            0,
            1,
            implied >> 1,
            implied - 1,
            implied / 7 * 3,
            implied / 11 * 4,
        ];
        for (at, exponent) in (1..exponents - 1)
            .step_by(exponents as usize / 24)
            .enumerate()
        {
            all.push(exponent << self.fraction_bits | steps[at % steps.len()]);
        }
        // Numbers of about one, whose quotients are small.
        let middle = exponents / 2;
        for (at, exponent) in (middle - 3..middle + 4).enumerate() {
            all.push(exponent << self.fraction_bits | steps[(at + 2) % steps.len()]);
        }
        let negative: Vec<u64> = all.iter().map(|bits| bits | top).collect();
        all.extend(negative);
        all
    }

    /// All pairs of the numbers, and multiples of numbers with their neighbours, as many as fill workgroups.
    fn list_pairs(&self) -> Vec<[u64; 2]> {
        let numbers = self.list_numbers();
        let pairs = numbers
            .iter()
            .flat_map(|x| numbers.iter().map(|y| [*x, *y]));
        let mut pairs: Vec<[u64; 2]> = pairs.collect();
        let one = (self.to_bits)(1.0);
        for part in 0..16 {
            // The last has all bits.
            let divisor = one + ((1 << self.fraction_bits) - 1) / 15 * part;
            for times in (1..64).chain((64..4200).step_by(97)) {
                let multiple = (self.to_bits)(f64::from(times) * (self.from_bits)(divisor));
                let near = [multiple - 1, multiple, multiple + 1];
                pairs.extend(near.map(|x| [x, divisor]));
            }
        }
        pairs.resize(pairs.len().next_multiple_of(64), [0, 0]);
        pairs
    }

    fn write_words(&self, words: impl Iterator<Item = u64>) -> Vec<u8> {
        let size = self.width as usize / 8;
        words
            .flat_map(|word| word.to_le_bytes()[..size].to_vec())
            .collect()
    }

    fn read_words(&self, bytes: &[u8]) -> Vec<u64> {
        let size = self.width as usize / 8;
        let words = bytes.chunks_exact(size).map(|bytes| {
            let mut word = [0; 8];
            word[..size].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        });
        words.collect()
    }

    fn is_denormal(&self, bits: u64) -> bool {
        let size = bits & !(1 << (self.width - 1));
        size != 0 && size < 1 << self.fraction_bits
    }

    /// Checks the remainders of a pair. Devices may take denormals in the sum of `OpFMod` for zero.
    fn check(&self, [x, y]: [u64; 2], number: usize, found: u64) {
        let wanted = (self.remainders)(x, y)[number];
        let [a, b, w, f] = [x, y, wanted, found].map(self.from_bits);
        let all = [(self.remainders)(x, y)[0], y, wanted];
        let is_flushed = number == 1 && all.iter().any(|bits| self.is_denormal(*bits));
        assert!(
            wanted == found || w.is_nan() && f.is_nan() || is_flushed,
            "{number}: {a:e} by {b:e} is {w:e}, {f:e} found"
        );
    }
}

/// The devices: that of the processor, and the first of Vulkan, if there is one.
fn list_shader_devices() -> Vec<ComputeDevice> {
    let mut names = vec!["cpu"];
    if list_devices().iter().any(|device| device.id == "vulkan:0") {
        names.push("vulkan");
    } else {
        let required = std::env::var_os("SPIRULA_REQUIRE_VULKAN").is_some();
        assert!(!required, "no Vulkan device, and one is required");
        eprintln!("NOT TESTED: this machine has no Vulkan device");
    }
    let opened = names.into_iter().map(|name| {
        ComputeDevice::open(name, &DeviceOptions::default()).expect("the device is there")
    });
    opened.collect()
}

/// Runs the shader of a width, and checks its remainders.
fn check_shader(format: &FloatWidth, module: &SpirvModule) {
    let pairs = format.list_pairs();
    let given = format.write_words(pairs.iter().flatten().copied());
    for mut device in list_shader_devices() {
        let kernel = device
            .create_kernel(module, "main", &[])
            .expect("it is a shader");
        let from = device.upload_data(&given).expect("there is memory");
        let to = device
            .create_buffer(given.len() as u64)
            .expect("there is memory");
        let launch = KernelLaunch {
            kernel,
            size: IndexSpace::Groups([pairs.len() as u32 / 64, 1, 1]),
            inputs: LaunchInputs::Resources {
                bindings: vec![
                    LaunchBinding::with_whole_buffer(0, from),
                    LaunchBinding::with_whole_buffer(1, to),
                ],
                push: Vec::new(),
            },
        };
        device.launch_kernel(&launch).expect("it runs");
        let found = format.read_words(&device.download_buffer(to).expect("it is there"));
        for (pair, found) in pairs.iter().zip(found.chunks_exact(2)) {
            for (number, found) in found.iter().enumerate() {
                format.check(*pair, number, *found);
            }
        }
    }
}

#[test]
fn remainders_in_shaders() {
    for format in &WIDTHS {
        let plain = parse_module(&build_shader(format.width));
        let exact = replace_inexact_remainders(&plain).expect("there are some");
        assert_valid(&exact);
        check_shader(format, &exact);
        assert!(replace_inexact_remainders(&exact).is_none());
    }
}

/// Remainders of 64-bit floats need 64-bit integers, which a device may lack.
#[test]
fn remainders_without_wide_integers() {
    let plain = parse_module(&build_shader(64));
    let exact = replace_inexact_remainders(&plain).expect("there are some");
    let missing = MissingNumericTypes::from_module(&exact, |c| c != Capability::Int64);
    assert_ne!(missing, MissingNumericTypes::default());
    let emulated = emulate_missing_types(&exact, missing).expect("they are emulated");
    assert_valid(&emulated);
    check_shader(&WIDTHS[1], &emulated);
}

#[test]
fn remainders_in_kernels() {
    for format in &WIDTHS {
        let kernel = parse_module(&build_kernel(format.width));
        let shader = compile_kernels(&kernel, &VulkanCompileOptions::default());
        let shader = shader.expect("it can be a shader");
        let pairs = format.list_pairs();
        let given = format.write_words(pairs.iter().flatten().copied());
        for mut device in list_shader_devices() {
            let kernel = device
                .create_kernel(&shader, "main", &[])
                .expect("it is a shader");
            let from = device.upload_data(&given).expect("there is memory");
            let to = device
                .create_buffer(2 * given.len() as u64)
                .expect("there is memory");
            let quotients = device
                .create_buffer(4 * pairs.len() as u64)
                .expect("there is memory");
            let launch = KernelLaunch {
                kernel,
                size: IndexSpace::Items {
                    dimensions: 1,
                    global: [pairs.len() as u64, 1, 1],
                    local: Some([64, 1, 1]),
                    offset: [0; 3],
                },
                inputs: LaunchInputs::Arguments(vec![
                    KernelArgument::from(from),
                    KernelArgument::from(to),
                    KernelArgument::from(quotients),
                ]),
            };
            device.launch_kernel(&launch).expect("it runs");
            let found = format.read_words(&device.download_buffer(to).expect("it is there"));
            let quotients = device.download_as::<i32>(quotients).expect("it is there");
            for ((pair, found), quotient) in pairs.iter().zip(found.chunks_exact(4)).zip(quotients)
            {
                for (number, found) in [0, 1, 0, 2].into_iter().zip(found) {
                    format.check(*pair, number, *found);
                }
                assert_eq!((format.quotient)(pair[0], pair[1]), quotient, "{pair:x?}");
            }
        }
    }
}
