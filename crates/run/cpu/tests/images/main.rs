//! Images and samplers: every format in both directions, filters against a plain reference, and the other
//! instructions.
#![allow(unsafe_code)] // Kernels are run on images that the tests own.

#[path = "../common/mod.rs"]
mod common;
mod filters;
mod shaders;

use common::{compile_with, module};
use spirula_cpu::{
    CpuMode, DescriptorResource, HostImage, ImageDimensions, ImageShape, InvocationRange,
    JitArgument, JitKernel, JitLaunch, JitOptions, LaunchError, MemorySpan, ResourceBinding,
    SamplerState, TexelFormat,
};
use spirula_spirv::grammar::enumerants::ExecutionModel;

/// An image with its texels.
struct ImageFixture {
    shape: ImageShape,
    bytes: Vec<u8>,
    sampler: SamplerState,
}

impl ImageFixture {
    fn new(shape: ImageShape) -> ImageFixture {
        shape.check_dimensions().expect("the shape is one");
        let bytes = shape.total_bytes().expect("it is small") as usize;
        ImageFixture {
            shape,
            bytes: vec![0; bytes],
            sampler: SamplerState::default(),
        }
    }

    /// An image with bytes that differ by position and are no NaN in any format.
    fn filled(shape: ImageShape) -> ImageFixture {
        let mut picture = ImageFixture::new(shape);
        for (n, byte) in picture.bytes.iter_mut().enumerate() {
            *byte = (n * 37) as u8 & 0x77;
        }
        picture
    }

    fn image(&mut self) -> HostImage {
        HostImage {
            shape: self.shape,
            memory: memory(&mut self.bytes),
            sampler: self.sampler,
        }
    }
}

fn memory<T>(buffer: &mut [T]) -> MemorySpan {
    MemorySpan {
        address: buffer.as_mut_ptr().cast(),
        length: size_of_val(buffer) as u64,
    }
}

fn format(name: &str) -> TexelFormat {
    TexelFormat::from_name(name).unwrap_or_else(|| panic!("there is no format {name}"))
}

fn flat(name: &str, width: u32, height: u32) -> ImageShape {
    ImageShape::new(ImageDimensions::D2, format(name), [width, height, 1])
}

/// Options for every mode.
fn all_ways() -> [JitOptions; 3] {
    [CpuMode::Gangs, CpuMode::Scalar, CpuMode::Sanitizer].map(|mode| JitOptions {
        mode,
        ..JitOptions::default()
    })
}

/// Runs a shader with its resources at bindings 0, 1, … of set 0.
fn run(
    kernel: &JitKernel,
    groups: u32,
    resources: &[DescriptorResource],
) -> Result<(), LaunchError> {
    let bindings: Vec<ResourceBinding> = (0..)
        .zip(resources)
        .map(|(binding, resource)| ResourceBinding {
            set: 0,
            binding,
            index: 0,
            resource: *resource,
        })
        .collect();
    let launch = JitLaunch {
        size: InvocationRange::Groups([groups, 1, 1]),
        arguments: &[],
        bindings: &bindings,
        push: &[],
        threads: 1,
        timeout: None,
    };
    // SAFETY: the shaders stay within their resources, which live in the caller.
    unsafe { kernel.run_launch(&launch) }
}

/// Runs a kernel with a number of invocations.
fn run_kernel(
    kernel: &JitKernel,
    count: u64,
    arguments: &[JitArgument<'_>],
) -> Result<(), LaunchError> {
    let launch = JitLaunch {
        size: InvocationRange::Items {
            global: [count, 1, 1],
            local: None,
            offset: [0; 3],
            dimensions: 1,
        },
        arguments,
        bindings: &[],
        push: &[],
        threads: 1,
        timeout: None,
    };
    // SAFETY: as above.
    unsafe { kernel.run_launch(&launch) }
}

fn compile(text: &str, options: &JitOptions) -> JitKernel {
    compile_with(text, &[], options).unwrap_or_else(|f| panic!("{}\n{text}", f[0]))
}

#[test]
fn every_format_there_and_back() {
    for way in all_ways() {
        for format in TexelFormat::all_formats() {
            let integers = format.is_integer();
            let wide = format.name().starts_with("r64");
            let kernel = compile(&shaders::copy(integers, wide), &way);
            let shape = ImageShape::new(ImageDimensions::D2, format, [8, 3, 1]);
            let (mut from, mut to) = (ImageFixture::filled(shape), ImageFixture::new(shape));
            run(
                &kernel,
                3,
                &[
                    DescriptorResource::Image(from.image()),
                    DescriptorResource::Image(to.image()),
                ],
            )
            .expect("it runs");
            assert_eq!(from.bytes, to.bytes, "{format}");
        }
    }
}

#[test]
fn the_image_has_to_be_of_the_type() {
    let text = shaders::copy(false, false).replace("2 Unknown", "2 Rgba8");
    let kernel = compile(&text, &JitOptions::default());
    let mut good = ImageFixture::new(flat("rgba8", 8, 3));
    let (mut other, mut line) = (
        ImageFixture::new(flat("rgba16f", 8, 3)),
        ImageFixture::new(ImageShape::new(
            ImageDimensions::D1,
            format("rgba8"),
            [8, 1, 1],
        )),
    );
    let mut layers = ImageFixture::new(ImageShape {
        arrayed: true,
        layers: 2,
        ..flat("rgba8", 8, 3)
    });
    let mut short = good.image();
    short.memory.length -= 1;
    let mut said = |wrong: DescriptorResource| {
        let error = run(
            &kernel,
            1,
            &[wrong, DescriptorResource::Image(good.image())],
        );
        error.expect_err("it does not fit").to_string()
    };
    let sampler = DescriptorResource::Sampler(SamplerState::default());
    let pairs = [
        (
            said(DescriptorResource::Image(other.image())),
            "set 0 binding 0 element 0: it takes rgba8, rgba16f is given",
        ),
        (
            said(DescriptorResource::Image(line.image())),
            "set 0 binding 0 element 0: it takes an image of 2D, 1D is given",
        ),
        (
            said(DescriptorResource::Image(layers.image())),
            "set 0 binding 0 element 0: it takes an image without layers",
        ),
        (
            said(DescriptorResource::Image(short)),
            "set 0 binding 0 element 0: its texels take 96 bytes, it has 95",
        ),
        (
            said(sampler),
            "set 0 binding 0 element 0: it takes an image",
        ),
    ];
    for (said, wanted) in pairs {
        assert_eq!(said, wanted);
    }
}

#[test]
fn texels_that_are_not_there() {
    for way in all_ways() {
        let kernel = compile(&shaders::far(), &way);
        let mut from = ImageFixture::filled(flat("rgba32f", 4, 4));
        let mut out = vec![7f32; 4 * 8];
        let before = from.bytes.clone();
        run(
            &kernel,
            1,
            &[
                DescriptorResource::Image(from.image()),
                DescriptorResource::Memory(memory(&mut out)),
            ],
        )
        .expect("it runs");
        assert_eq!(out, [0.0; 32]);
        assert_eq!(from.bytes, before, "nothing is written beyond the image");
    }
}

#[test]
fn atomics_on_texels() {
    for way in all_ways() {
        let kernel = compile(&shaders::count(), &way);
        let mut counts = ImageFixture::new(flat("r32ui", 4, 2));
        run(&kernel, 10, &[DescriptorResource::Image(counts.image())]).expect("it runs");
        let words: Vec<u32> = counts
            .bytes
            .chunks(4)
            .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
            .collect();
        // Eight invocations of ten workgroups, two to a column, all in row 1.
        assert_eq!(words, [0, 0, 0, 0, 20, 20, 20, 20]);
    }
}

#[test]
fn sizes_are_told() {
    let mut shape = flat("rgba8", 12, 6);
    (shape.arrayed, shape.layers, shape.levels) = (true, 5, 3);
    for way in all_ways() {
        let kernel = compile(&shaders::sizes(), &way);
        let mut picture = ImageFixture::new(shape);
        let mut out = vec![0u32; 16];
        run(
            &kernel,
            1,
            &[
                DescriptorResource::Image(picture.image()),
                DescriptorResource::Memory(memory(&mut out)),
            ],
        )
        .expect("it runs");
        assert_eq!(out[..4], [6, 3, 5, 3], "level 1, and levels");
    }
}

#[test]
fn an_image_and_its_sampler() {
    // The same through one combined binding, and through two bindings.
    let mut picture = ImageFixture::filled(flat("r8", 4, 4));
    picture.sampler = SamplerState {
        magnify: spirula_cpu::SamplerFilter::Linear,
        minify: spirula_cpu::SamplerFilter::Linear,
        ..SamplerState::default()
    };
    for way in all_ways() {
        let mut results = Vec::new();
        for both in [true, false] {
            let kernel = compile(&shaders::sampled(both), &way);
            let mut out = vec![0f32; 16];
            let mut resources = vec![DescriptorResource::Image(picture.image())];
            if !both {
                resources.push(DescriptorResource::Sampler(picture.sampler));
            }
            resources.push(DescriptorResource::Memory(memory(&mut out)));
            run(&kernel, 1, &resources).expect("it runs");
            results.push(out);
        }
        assert_eq!(results[0], results[1]);
        // Half way between the middles of the first texels of rows 0 and 1, and so on along x.
        let texel = |n: usize| f32::from(picture.bytes[n]) / 255.0;
        let want = (texel(0) + texel(1) + texel(4) + texel(5)) / 4.0;
        assert!((results[0][0] - want).abs() < 1e-6, "{results:?} {want}");
    }
}

#[test]
fn literal_samplers() {
    let text = filters::kernel(Some("Repeat 1 Nearest"));
    let kernel = JitKernel::compile_entry_point(
        &module(&text),
        "main",
        ExecutionModel::Kernel,
        &[],
        &JitOptions::default(),
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let mut picture = ImageFixture::filled(flat("rgba8", 4, 1));
    let mut places = vec![[1.3f32, 0.0, 0.0, 0.0]; 4];
    let mut out = vec![[0f32; 4]; 4];
    let arguments = [
        JitArgument::Image(picture.image()),
        JitArgument::Sampler(SamplerState::default()),
        JitArgument::Memory(memory(&mut places)),
        JitArgument::Memory(memory(&mut out)),
    ];
    run_kernel(&kernel, 4, &arguments).expect("it runs");
    assert_eq!(out[0][0], f32::from(picture.bytes[4]) / 255.0);
}
