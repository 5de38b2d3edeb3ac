//! Images and samplers: what the CPU device does, Vulkan does.

#[path = "../../../../run/cpu/tests/images/shaders.rs"]
mod shaders;

use super::{bound, module, one, text};
use shaders::{block, shader};
use spirula_runtime::{
    ComputeDevice, DeviceError, DeviceOptions, ImageDimensions, ImageShape, IndexSpace,
    KernelLaunch, ResourceHandle, SamplerAddressing, SamplerFilter, SamplerState, TexelFormat,
};

/// A device that reads and writes images of any format.
fn device() -> Option<ComputeDevice> {
    let mut device = super::device()?;
    match device.create_kernel(&module(&shaders::count()), "main", &[]) {
        Err(DeviceError::Unsupported(why)) => {
            eprintln!("NOT TESTED: {}", why[0].message);
            None
        }
        _ => Some(device),
    }
}

/// The resources that are bound.
enum ImageTestBinding {
    Image(ImageShape, SamplerState, Vec<u8>),
    Sampler(SamplerState),
    Bytes(Vec<u8>),
}

/// An image with bytes that differ from place to place, and are no NaN in any format.
fn filled(shape: ImageShape) -> ImageTestBinding {
    let bytes = (0..shape.total_bytes().unwrap()).map(|n| (n * 37) as u8 & 0x77);
    ImageTestBinding::Image(shape, SamplerState::default(), bytes.collect())
}

fn empty(shape: ImageShape) -> ImageTestBinding {
    ImageTestBinding::Image(shape, SamplerState::default(), Vec::new())
}

fn flat(format: TexelFormat, width: u32, height: u32) -> ImageShape {
    ImageShape::new(ImageDimensions::D2, format, [width, height, 1])
}

fn format(name: &str) -> TexelFormat {
    TexelFormat::from_name(name).unwrap()
}

fn upload(
    device: &mut ComputeDevice,
    given: &ImageTestBinding,
) -> Result<ResourceHandle, DeviceError> {
    match given {
        ImageTestBinding::Image(shape, sampler, bytes) => {
            let image = device.create_image(shape, sampler)?;
            if !bytes.is_empty() {
                device.write_image(image, 0, bytes)?;
            }
            Ok(image.into())
        }
        ImageTestBinding::Sampler(sampler) => Ok(device.create_sampler(sampler)?.into()),
        ImageTestBinding::Bytes(bytes) => Ok(device.upload_data(bytes)?.into()),
    }
}

/// Runs a shader with its resources at bindings 0, 1, … of set 0; their bytes after it.
fn run(
    device: &mut ComputeDevice,
    text: &str,
    groups: u32,
    given: &[ImageTestBinding],
) -> Result<Vec<Vec<u8>>, DeviceError> {
    let kernel = device.create_kernel(&module(text), "main", &[])?;
    let handles = given.iter().map(|g| upload(device, g));
    let handles = handles.collect::<Result<Vec<_>, _>>()?;
    let places = (0..).zip(&handles).map(|(n, h)| bound(0, n, 0, *h));
    let launch = KernelLaunch {
        size: IndexSpace::Groups([groups, 1, 1]),
        ..one(kernel, places.collect(), vec![])
    };
    device.launch_kernel(&launch)?;
    let downloads = handles.iter().map(|h| device.download_resource(*h));
    downloads.collect()
}

fn processor() -> ComputeDevice {
    ComputeDevice::open("cpu", &DeviceOptions::default()).unwrap()
}

/// Has both devices do the same, with equal results.
fn agree(vulkan: &mut ComputeDevice, text: &str, groups: u32, given: &[ImageTestBinding]) {
    let wanted = run(&mut processor(), text, groups, given).unwrap();
    let got = run(vulkan, text, groups, given).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(got, wanted, "{text}");
}

/// A copy between images, for devices that need 64 bits declared.
fn copy(format: TexelFormat) -> String {
    let is_long = format.name().starts_with("r64");
    let text = shaders::copy(format.is_integer(), is_long);
    let more = "OpCapability Int64\nOpCapability Int64ImageEXT\n\
        OpExtension \"SPV_EXT_shader_image_int64\"\n";
    if is_long {
        text.replace("OpCapability Int64\n", more)
    } else {
        text
    }
}

#[test]
fn every_format_there_and_back() {
    let Some(mut device) = device() else { return };
    let mut refused = Vec::new();
    for format in TexelFormat::all_formats() {
        let shape = flat(format, 8, 3);
        let given = [filled(shape), empty(shape)];
        match run(&mut device, &copy(format), 3, &given) {
            Ok(images) => assert_eq!(images[0], images[1], "{format}"),
            Err(error) => {
                let error = text(&error);
                let names = [format.name(), "Int64ImageEXT"];
                assert!(names.iter().any(|n| error.contains(n)), "{error}");
                refused.push(format.name());
            }
        }
    }
    eprintln!("no storage images of {}", refused.join(", "));
    // Those that Vulkan has no format for are at most sampled.
    assert!(refused.len() <= 10, "{refused:?}");
}

#[test]
fn texels_that_are_not_there() {
    let Some(mut device) = device() else { return };
    let given = [
        filled(flat(format("rgba32f"), 4, 4)),
        ImageTestBinding::Bytes(vec![7; 4 * 4 * 8]),
    ];
    agree(&mut device, &shaders::far(), 1, &given);
}

#[test]
fn atomics_on_texels() {
    let Some(mut device) = device() else { return };
    let given = [empty(flat(format("r32ui"), 4, 2))];
    agree(&mut device, &shaders::count(), 10, &given);
}

#[test]
fn sizes_are_told() {
    let Some(mut device) = device() else { return };
    let shape = ImageShape {
        arrayed: true,
        layers: 5,
        levels: 3,
        ..flat(format("rgba8"), 12, 6)
    };
    let given = [filled(shape), ImageTestBinding::Bytes(vec![0; 64])];
    agree(&mut device, &shaders::sizes(), 1, &given);
}

/// Samples an image at places, of four floats each, eight to a workgroup.
fn sampling(image: &str) -> String {
    let (decorations, globals) = block("float4");
    let decorations = decorations.replace("ArrayStride 4", "ArrayStride 16");
    let globals = format!(
        "%image = OpTypeImage %float {image} 1 Unknown
%pair = OpTypeSampledImage %image
%sampler = OpTypeSampler
%pimage = OpTypePointer UniformConstant %image
%psampler = OpTypePointer UniformConstant %sampler
%from = OpVariable %pimage UniformConstant
%smp = OpVariable %psampler UniformConstant
%f0 = OpConstant %float 0
{globals}%places = OpVariable %pblock StorageBuffer"
    );
    let body = "%source = OpLoad %image %from
%used = OpLoad %sampler %smp
%sampled = OpSampledImage %pair %source %used
%pplace = OpAccessChain %pnumber %places %n0 %global
%place = OpLoad %float4 %pplace
%texel = OpImageSampleExplicitLod %float4 %sampled %place Lod %f0
%p = OpAccessChain %pnumber %out %n0 %global
OpStore %p %texel";
    let names = ["from", "smp", "places", "out"];
    let capability = if image.starts_with("1D") {
        "OpCapability Sampled1D\n"
    } else {
        ""
    };
    capability.to_owned() + &shader(&(shaders::bound(&names) + &decorations), &globals, body)
}

/// Places inside of an image of this size, at its edges and beyond.
fn places(scale: [f32; 3]) -> Vec<u8> {
    let steps = [-1.7, -1.0, -0.3, 0.01, 0.1, 0.26, 0.5, 0.62, 0.99, 1.2, 2.4];
    let mut places = Vec::new();
    for (n, x) in steps.iter().enumerate() {
        for (m, y) in steps.iter().enumerate() {
            let z = steps[(n * 3 + m) % steps.len()];
            places.extend([x * scale[0], y * scale[1], z * scale[2], 0.0]);
        }
    }
    // Whole workgroups of eight.
    places.truncate(120 * 4);
    places.into_iter().flat_map(f32::to_le_bytes).collect()
}

fn sampled_alike(
    vulkan: &mut ComputeDevice,
    image: &str,
    shape: ImageShape,
    sampler: SamplerState,
) {
    let scale = if sampler.normalized {
        [1.0; 3]
    } else {
        shape.size.map(|n| n as f32)
    };
    let texels = (0..shape.total_bytes().unwrap() / 4).map(|n| (n * 7 % 23) as f32 / 8.0 - 1.0);
    let given = [
        ImageTestBinding::Image(
            shape,
            SamplerState::default(),
            texels.flat_map(f32::to_le_bytes).collect(),
        ),
        ImageTestBinding::Sampler(sampler),
        ImageTestBinding::Bytes(places(scale)),
        ImageTestBinding::Bytes(vec![0; 120 * 16]),
    ];
    let text = sampling(image);
    let floats = |bytes: &[u8]| {
        let (words, _) = bytes.as_chunks();
        words
            .iter()
            .map(|w| f32::from_le_bytes(*w))
            .collect::<Vec<_>>()
    };
    let wanted = run(&mut processor(), &text, 15, &given).unwrap();
    let got = run(vulkan, &text, 15, &given).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let pairs = floats(&got[3]).into_iter().zip(floats(&wanted[3]));
    for (n, (got, wanted)) in pairs.enumerate() {
        // Vulkan gives weights eight bits at least.
        let near = (got - wanted).abs() < 4.0 / 256.0;
        assert!(
            near,
            "{image} {sampler:?}, place {}: {got}, {wanted}",
            n / 4
        );
    }
}

#[test]
fn filters_and_addresses() {
    let Some(mut device) = device() else { return };
    let floats = format("rgba32f");
    let shapes = [
        ("2D 0 0 0", flat(floats, 5, 3)),
        (
            "3D 0 0 0",
            ImageShape::new(ImageDimensions::D3, floats, [3, 4, 2]),
        ),
        (
            "1D 0 0 0",
            ImageShape::new(ImageDimensions::D1, floats, [7, 1, 1]),
        ),
        (
            "Cube 0 0 0",
            ImageShape::new(ImageDimensions::Cube, floats, [4, 4, 1]),
        ),
    ];
    for (image, shape) in shapes {
        for filter in [SamplerFilter::Nearest, SamplerFilter::Linear] {
            let addresses = match shape.dimensions {
                // Across edges other faces are.
                ImageDimensions::Cube if filter == SamplerFilter::Linear => &[][..],
                ImageDimensions::Cube => &[SamplerAddressing::ClampToEdge][..],
                _ => &[
                    SamplerAddressing::ClampToEdge,
                    SamplerAddressing::Border,
                    SamplerAddressing::Repeat,
                    SamplerAddressing::Mirror,
                ],
            };
            for address in addresses {
                let sampler = SamplerState::from_opencl(*address, filter, true);
                sampled_alike(&mut device, image, shape, sampler);
            }
        }
    }
    let (shape, filter) = (flat(floats, 5, 3), SamplerFilter::Nearest);
    let sampler = SamplerState::from_opencl(SamplerAddressing::ClampToEdge, filter, false);
    sampled_alike(&mut device, "2D 0 0 0", shape, sampler);
    let sampler = SamplerState::from_opencl(SamplerAddressing::Repeat, filter, false);
    let error = text(&device.create_sampler(&sampler).unwrap_err());
    assert_eq!(
        error,
        "vulkan:0 has no sampler of unnormalised coordinates that repeats"
    );
}

#[test]
fn an_image_and_its_sampler() {
    let Some(mut device) = device() else { return };
    let sampler = SamplerState {
        magnify: SamplerFilter::Linear,
        minify: SamplerFilter::Linear,
        ..SamplerState::default()
    };
    let ImageTestBinding::Image(shape, _, bytes) = filled(flat(format("r32f"), 4, 4)) else {
        return;
    };
    let out = || ImageTestBinding::Bytes(vec![0; 64]);
    let image = || ImageTestBinding::Image(shape, sampler, bytes.clone());
    let both = [image(), out()];
    let apart = [image(), ImageTestBinding::Sampler(sampler), out()];
    let both = run(&mut device, &shaders::sampled(true), 1, &both).unwrap();
    let apart = run(&mut device, &shaders::sampled(false), 1, &apart).unwrap();
    assert_eq!(both[1], apart[2]);
    assert_ne!(both[1], vec![0; 64]);
}

#[test]
fn texels_in_a_buffer() {
    let Some(mut device) = device() else { return };
    let globals = "%image = OpTypeImage %float Buffer 0 0 0 1 Unknown
%stored = OpTypeImage %float Buffer 0 0 0 2 Rgba32f
%pimage = OpTypePointer UniformConstant %image
%pstored = OpTypePointer UniformConstant %stored
%from = OpVariable %pimage UniformConstant
%to = OpVariable %pstored UniformConstant";
    let body = "%source = OpLoad %image %from
%texel = OpImageFetch %float4 %source %global
%target = OpLoad %stored %to
OpImageWrite %target %global %texel";
    let text = shader(&shaders::bound(&["from", "to"]), globals, body);
    let text = format!("OpCapability SampledBuffer\nOpCapability ImageBuffer\n{text}");
    let row = |name| ImageShape::new(ImageDimensions::Buffer, format(name), [16, 1, 1]);
    agree(
        &mut device,
        &text,
        2,
        &[filled(row("rgba32f")), empty(row("rgba32f"))],
    );
}

#[test]
fn bytes_and_texels_are_one() {
    let Some(mut device) = device() else { return };
    let shape = flat(format("rgba8"), 8, 3);
    let size = shape.total_bytes().unwrap() as usize;
    let kernel = device.create_kernel(&module(&copy(shape.format)), "main", &[]);
    let kernel = kernel.unwrap();
    let [from, to] = [(); 2].map(|()| {
        device
            .create_image(&shape, &SamplerState::default())
            .unwrap()
    });
    let mut wanted = vec![0; size];
    assert_eq!(device.download_image(from).unwrap(), wanted);
    for round in 1..4_u8 {
        // A part by the host, the rest as it was.
        let at = usize::from(round) * 5;
        wanted[at..at + 7].fill(round);
        device.write_image(from, at as u64, &[round; 7]).unwrap();
        device.write_image(to, 0, &[99]).unwrap();
        let launch = KernelLaunch {
            size: IndexSpace::Groups([3, 1, 1]),
            ..one(
                kernel,
                vec![bound(0, 0, 0, from), bound(0, 1, 0, to)],
                vec![],
            )
        };
        device.launch_kernel(&launch).unwrap();
        assert_eq!(device.download_image(to).unwrap(), wanted);
        device.write_image(to, 3, &[7]).unwrap();
        let mut got = vec![0; 4];
        device.read_image(to, 1, &mut got).unwrap();
        assert_eq!(got, [wanted[1], wanted[2], 7, wanted[4]]);
    }
    device.destroy_image(from).unwrap();
    assert!(device.download_image(from).is_err());
}

#[test]
fn what_does_not_fit_is_said() {
    let Some(mut device) = device() else { return };
    let text_of = copy(format("rgba8")).replace("2 Unknown", "2 Rgba8");
    let good = || empty(flat(format("rgba8"), 8, 3));
    let line = ImageShape::new(ImageDimensions::D1, format("rgba8"), [8, 1, 1]);
    let pairs = [
        (
            empty(flat(format("rgba16f"), 8, 3)),
            "set 0, binding 0: it takes rgba8, rgba16f is given",
        ),
        (
            empty(line),
            "set 0, binding 0: it takes an image of 2D, 1D is given",
        ),
        (
            ImageTestBinding::Sampler(SamplerState::default()),
            "set 0, binding 0: it takes an image, a sampler is given",
        ),
        (
            ImageTestBinding::Bytes(vec![0; 96]),
            "set 0, binding 0: it takes an image, a buffer is given",
        ),
    ];
    for (wrong, wanted) in pairs {
        let error = run(&mut device, &text_of, 1, &[wrong, good()]).unwrap_err();
        assert_eq!(text(&error), wanted);
    }
    let huge = flat(format("rgba8"), 1 << 20, 1);
    let error = device.create_image(&huge, &SamplerState::default());
    let error = text(&error.unwrap_err());
    assert!(
        error.contains("has no images of two dimensions and rgba8 larger than"),
        "{error}"
    );
    // The device goes on.
    let given = [filled(flat(format("rgba8"), 8, 3)), good()];
    agree(&mut device, &copy(format("rgba8")), 3, &given);
}
