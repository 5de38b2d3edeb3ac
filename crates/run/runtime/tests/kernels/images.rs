//! Kernels with images and samplers: what shaders that were made of them compute is what the kernels themselves do
//! on the processor.

use super::{module, on_devices, open};
use spirula_runtime::{
    ComputeDevice, ImageDimensions, ImageHandle, ImageShape, SamplerAddressing, SamplerFilter,
    SamplerState, TexelFormat,
};
use spirula_spirv::ir::SpirvModule;

const KERNELS: &str = include_str!("images.spvasm");

fn processor() -> ComputeDevice {
    open("cpu")
}

fn shape(dimensions: ImageDimensions, format: &str, size: [u32; 3]) -> ImageShape {
    ImageShape::new(dimensions, TexelFormat::from_name(format).unwrap(), size)
}

fn layers(shape: ImageShape, layers: u32) -> ImageShape {
    ImageShape {
        arrayed: true,
        layers,
        ..shape
    }
}

/// An image with texels from `fill`, which receives the number of the component.
fn image(device: &mut ComputeDevice, shape: ImageShape, fill: impl Fn(u32) -> f32) -> ImageHandle {
    let made = device
        .create_image(&shape, &SamplerState::default())
        .unwrap();
    let (ty, _) = shape.format.stored_elements();
    let count = shape.total_bytes().unwrap() / if ty == "f32" { 4 } else { 1 };
    let values = (0..count as u32).map(fill);
    let bytes: Vec<u8> = match ty {
        "f32" => values.flat_map(f32::to_le_bytes).collect(),
        _ => values.map(|v| v as i32 as u8).collect(),
    };
    device.write_image(made, 0, &bytes).unwrap();
    made
}

/// The samplers that are tried as an argument.
fn samplers() -> Vec<SamplerState> {
    let mut all = Vec::new();
    for filter in [SamplerFilter::Nearest, SamplerFilter::Linear] {
        for normalized in [false, true] {
            for address in [SamplerAddressing::ClampToEdge, SamplerAddressing::Border] {
                all.push(SamplerState::from_opencl(address, filter, normalized));
            }
        }
    }
    all
}

fn sampled(device: &mut ComputeDevice, module: &SpirvModule, sampler: &SamplerState) -> Vec<f32> {
    let kernel = device.create_kernel(module, "sample", &[]).unwrap();
    let fill = |n: u32| (n * 7 % 23) as f32;
    let a = image(
        device,
        shape(ImageDimensions::D2, "rgba32f", [5, 3, 1]),
        fill,
    );
    let v = image(
        device,
        shape(ImageDimensions::D3, "rgba8", [5, 3, 3]),
        |n| fill(n) * 9.0,
    );
    let l = layers(shape(ImageDimensions::D2, "rg32f", [7, 3, 1]), 3);
    let l = image(device, l, fill);
    let sampler = device.create_sampler(sampler).unwrap();
    let out = device.create_buffer(6 * 4 * 16).unwrap();
    let call = device
        .prepare_launch(kernel)
        .with_global_size([6, 4])
        .with_argument(a)
        .with_argument(sampler);
    call.with_argument(v)
        .with_argument(l)
        .with_argument(out)
        .run_and_wait()
        .unwrap();
    device.destroy_sampler(sampler).unwrap();
    device.download_as(out).unwrap()
}

#[test]
fn sampling_by_every_sampler() {
    let kernels = module(KERNELS);
    let mut processor = processor();
    let wanted: Vec<_> = samplers()
        .iter()
        .map(|s| sampled(&mut processor, &kernels, s))
        .collect();
    on_devices(KERNELS, |device, module| {
        for (sampler, wanted) in samplers().iter().zip(&wanted) {
            let got = sampled(device, module, sampler);
            // Weights of interpolation have few bits, of sums of up to 63 values of at most 22.
            for (n, (got, wanted)) in got.iter().zip(wanted).enumerate() {
                let takes_integers =
                    !sampler.normalized && sampler.magnify == SamplerFilter::Nearest;
                if !takes_integers && n % 4 == 3 {
                    // Integers are texels, and must not be given to such a sampler.
                    continue;
                }
                let is_near = (got - wanted).abs() <= 63.0 * 22.0 / 256.0;
                assert!(is_near, "{sampler:?}, component {n}: {got}, not {wanted}");
            }
        }
    });
}

/// Sizes of images are odd, so that nothing fits by chance.
fn copied(device: &mut ComputeDevice, module: &SpirvModule) -> Vec<Vec<u8>> {
    let kernel = device.create_kernel(module, "copy", &[]).unwrap();
    let fill = |n: u32| (n * 5 % 31) as f32;
    let flat = |format| shape(ImageDimensions::D2, format, [5, 3, 1]);
    let row = |format| shape(ImageDimensions::D1, format, [5, 1, 1]);
    let texels = |format| shape(ImageDimensions::Buffer, format, [5, 1, 1]);
    let shapes = [
        flat("rgba32f"),
        flat("rgba8"),
        flat("rgba8i"),
        row("rgba8ui"),
        row("rgba8ui"),
        texels("r32f"),
        texels("r32f"),
        layers(row("rgba32f"), 2),
        shape(ImageDimensions::D3, "r32f", [5, 3, 2]),
    ];
    let images = shapes.map(|shape| image(device, shape, fill));
    let call = device.prepare_launch(kernel).with_global_size([5, 3]);
    let call = images
        .into_iter()
        .fold(call, |call, image| call.with_argument(image));
    call.run_and_wait().unwrap();
    let images = images.into_iter();
    images
        .map(|image| device.download_image(image).unwrap())
        .collect()
}

#[test]
fn reading_and_writing() {
    let wanted = copied(&mut processor(), &module(KERNELS));
    // One of them by hand: signed bytes, 7 less.
    let less: Vec<u8> = (0..60).map(|n| (n * 5 % 31 - 7_i32) as u8).collect();
    assert_eq!(wanted[2], less);
    on_devices(KERNELS, |device, module| {
        assert_eq!(copied(device, module), wanted);
    });
}

/// Without optimisation arguments are kept in variables, and passed to functions.
#[test]
fn kept_in_variables() {
    let text = include_str!("../../../../middle/legalize/tests/compile/kept.spvasm");
    let copy = |device: &mut ComputeDevice, module: &SpirvModule| {
        let kernel = device.create_kernel(module, "kept", &[]).unwrap();
        let [from, to] = ["rgba8", "rgba32f"].map(|f| shape(ImageDimensions::D2, f, [5, 3, 1]));
        let from = image(device, from, |n| (n % 6 * 51) as f32);
        let to = device.create_image(&to, &SamplerState::default()).unwrap();
        let how =
            SamplerState::from_opencl(SamplerAddressing::Border, SamplerFilter::Nearest, false);
        let how = device.create_sampler(&how).unwrap();
        let call = device.prepare_launch(kernel).with_global_size([5, 3]);
        call.with_argument(from)
            .with_argument(how)
            .with_argument(to)
            .run_and_wait()
            .unwrap();
        let got: Vec<f32> = device.download_as(to).unwrap();
        for (n, texel) in got.iter().enumerate() {
            assert!((texel - (n % 6) as f32 * 0.2).abs() < 1e-6, "{n}: {texel}");
        }
    };
    copy(&mut processor(), &module(text));
    on_devices(text, copy);
}

#[test]
fn asking() {
    let ask = |device: &mut ComputeDevice, module: &SpirvModule| {
        let kernel = device.create_kernel(module, "ask", &[]).unwrap();
        let shapes = [
            shape(ImageDimensions::D2, "rgba8", [5, 3, 1]),
            shape(ImageDimensions::D3, "r32f", [4, 6, 7]),
            layers(shape(ImageDimensions::D2, "rgba32f", [8, 9, 1]), 3),
            shape(ImageDimensions::Buffer, "rgba16f", [10, 1, 1]),
            layers(shape(ImageDimensions::D1, "rg32f", [11, 1, 1]), 2),
        ];
        let images = shapes.map(|s| device.create_image(&s, &SamplerState::default()).unwrap());
        let out = device.create_buffer(60).unwrap();
        let call = device.prepare_launch(kernel).with_global_size(1);
        let call = images
            .into_iter()
            .fold(call, |call, image| call.with_argument(image));
        call.with_argument(out).run_and_wait().unwrap();
        device.download_as::<u32>(out).unwrap()
    };
    // CL_RGBA and CL_UNORM_INT8, CL_RG, CL_HALF_FLOAT.
    let wanted = [
        5, 3, 0x10B5, 0x10D2, 4, 6, 7, 8, 9, 3, 10, 2, 11, 0x10B2, 0x10DD,
    ];
    assert_eq!(ask(&mut processor(), &module(KERNELS)), wanted);
    on_devices(KERNELS, |device, module| {
        assert_eq!(ask(device, module), wanted)
    });
}

#[test]
fn what_does_not_fit_is_told() {
    on_devices(KERNELS, |device, module| {
        let kernel = device.create_kernel(module, "sample", &[]).unwrap();
        let out = device.create_buffer(16).unwrap();
        let error = device
            .prepare_launch(kernel)
            .with_global_size(1)
            .with_argument(out)
            .run_and_wait()
            .unwrap_err();
        assert!(error.to_string().contains("takes 5 arguments"), "{error}");
        let call = device
            .prepare_launch(kernel)
            .with_global_size(1)
            .with_argument(out)
            .with_argument(out);
        let error = call
            .with_argument(out)
            .with_argument(out)
            .with_argument(out)
            .run_and_wait()
            .unwrap_err();
        assert!(error.to_string().contains("a buffer is given"), "{error}");
    });
}
