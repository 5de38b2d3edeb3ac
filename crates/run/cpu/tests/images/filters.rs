//! Filters and address modes against the formulas of section 8.2 of the OpenCL C specification, as they are written
//! there.

use super::{ImageFixture, all_ways, compile, flat, format, memory, run_kernel};
use spirula_cpu::{
    ImageDimensions, ImageShape, JitArgument, SamplerAddressing, SamplerFilter, SamplerState,
};

/// A kernel that samples a 2D image at given positions, with a literal sampler if there is one.
pub fn kernel(literal: Option<&str>) -> String {
    sampling("2D 0 0 0 0 Unknown ReadOnly", literal, false)
}

fn sampling(image: &str, literal: Option<&str>, integers: bool) -> String {
    let constant = literal.map_or(String::new(), |l| {
        format!("%literal = OpConstantSampler %sampler {l}")
    });
    let sampler = if literal.is_some() { "literal" } else { "smp" };
    let place = if integers {
        "%where = OpConvertFToS %int4 %given"
    } else {
        "%where = OpCopyObject %float4 %given"
    };
    format!(
        "OpCapability Kernel
OpCapability Addresses
OpCapability ImageBasic
OpCapability LiteralSampler
OpCapability Int64
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main \"main\" %gid
OpDecorate %gid BuiltIn GlobalInvocationId
%void = OpTypeVoid
%int = OpTypeInt 32 0
%long = OpTypeInt 64 0
%long3 = OpTypeVector %long 3
%int4 = OpTypeVector %int 4
%float = OpTypeFloat 32
%float4 = OpTypeVector %float 4
%image = OpTypeImage %void {image}
%sampler = OpTypeSampler
%pair = OpTypeSampledImage %image
{constant}
%pin = OpTypePointer Input %long3
%gid = OpVariable %pin Input
%pfloat4 = OpTypePointer CrossWorkgroup %float4
%f0 = OpConstant %float 0
%fn = OpTypeFunction %void %image %sampler %pfloat4 %pfloat4
%main = OpFunction %void None %fn
%img = OpFunctionParameter %image
%smp = OpFunctionParameter %sampler
%places = OpFunctionParameter %pfloat4
%out = OpFunctionParameter %pfloat4
%entry = OpLabel
%gid3 = OpLoad %long3 %gid
%global = OpCompositeExtract %long %gid3 0
%from = OpInBoundsPtrAccessChain %pfloat4 %places %global
%given = OpLoad %float4 %from Aligned 16
{place}
%sampled = OpSampledImage %pair %img %{sampler}
%texel = OpImageSampleExplicitLod %float4 %sampled %where Lod %f0
%to = OpInBoundsPtrAccessChain %pfloat4 %out %global
OpStore %to %texel Aligned 16
OpReturn
OpFunctionEnd
"
    )
}

/// The texels on both sides of a coordinate, and the weight of the second.
fn axis(s: f32, n: i64, sampler: &SamplerState) -> (i64, i64, f32) {
    let w = n as f32;
    let linear = sampler.magnify == SamplerFilter::Linear;
    let fraction = |u: f32| (u - 0.5) - (u - 0.5).floor();
    let clamped = |i: i64| match sampler.address[0] {
        SamplerAddressing::Border => i.clamp(-1, n),
        _ => i.clamp(0, n - 1),
    };
    let u = match (sampler.normalized, sampler.address[0]) {
        (true, SamplerAddressing::Repeat) => (s - s.floor()) * w,
        (true, SamplerAddressing::Mirror) => {
            let even = 2.0 * (0.5 * s).round_ties_even();
            (s - even).abs() * w
        }
        (true, _) => s * w,
        (false, _) => s,
    };
    if !linear {
        let i = u.floor() as i64;
        let i = match sampler.address[0] {
            SamplerAddressing::Repeat if i > n - 1 => i - n,
            SamplerAddressing::Mirror => i.min(n - 1),
            SamplerAddressing::Repeat => i,
            _ => clamped(i),
        };
        return (i, i, 0.0);
    }
    let (i0, i1) = ((u - 0.5).floor() as i64, (u - 0.5).floor() as i64 + 1);
    let (i0, i1) = match sampler.address[0] {
        SamplerAddressing::Repeat => (
            if i0 < 0 { i0 + n } else { i0 },
            if i1 > n - 1 { i1 - n } else { i1 },
        ),
        SamplerAddressing::Mirror => (i0.max(0), i1.min(n - 1)),
        _ => (clamped(i0), clamped(i1)),
    };
    (i0, i1, fraction(u))
}

/// The value at a position of an image of `rgba32f`.
fn reference(picture: &ImageFixture, sampler: &SamplerState, [s, t, r, _]: [f32; 4]) -> [f32; 4] {
    let [w, h, d] = picture.shape.size.map(i64::from);
    let (i0, i1, a) = axis(s, w, sampler);
    let (j0, j1, b) = axis(t, h, sampler);
    let (k0, k1, c) = match d {
        1 => (0, 0, 0.0),
        _ => axis(r, d, sampler),
    };
    let texel = |i: i64, j: i64, k: i64| {
        if !(0..w).contains(&i) || !(0..h).contains(&j) || !(0..d).contains(&k) {
            return [0.0; 4];
        }
        let at = ((k * h + j) * w + i) as usize * 16;
        [0, 4, 8, 12].map(|n| {
            let part = &picture.bytes[at + n..][..4];
            f32::from_le_bytes([part[0], part[1], part[2], part[3]])
        })
    };
    let mut sum = [0.0; 4];
    for (k, wk) in [(k0, 1.0 - c), (k1, c)] {
        for (j, wj) in [(j0, 1.0 - b), (j1, b)] {
            for (i, wi) in [(i0, 1.0 - a), (i1, a)] {
                for (to, part) in sum.iter_mut().zip(texel(i, j, k)) {
                    *to += wi * wj * wk * part;
                }
            }
        }
    }
    sum
}

fn picture(shape: ImageShape) -> ImageFixture {
    let mut picture = ImageFixture::new(shape);
    for (n, texel) in picture.bytes.chunks_mut(4).enumerate() {
        let value = (n * 7 % 23) as f32 / 8.0 - 1.0;
        texel.copy_from_slice(&value.to_le_bytes());
    }
    picture
}

fn places(scale: [f32; 3]) -> Vec<[f32; 4]> {
    let steps = [
        -1.7, -1.0, -0.3, -0.01, 0.0, 0.1, 0.25, 0.5, 0.62, 0.99, 1.0, 1.2, 2.4,
    ];
    let mut places = Vec::new();
    for (n, x) in steps.iter().enumerate() {
        for (m, y) in steps.iter().enumerate() {
            let z = steps[(n * 3 + m) % steps.len()];
            places.push([x * scale[0], y * scale[1], z * scale[2], 0.0]);
        }
    }
    places
}

fn check(image: &str, shape: ImageShape, sampler: SamplerState, integers: bool) {
    let mut picture = picture(shape);
    let scale = if sampler.normalized {
        [1.0; 3]
    } else {
        shape.size.map(|n| n as f32)
    };
    let mut places = places(scale);
    if integers {
        for place in &mut places {
            *place = place.map(f32::trunc);
        }
    }
    for way in all_ways() {
        let kernel = compile(&sampling(image, None, integers), &way);
        let mut out = vec![[f32::NAN; 4]; places.len()];
        let arguments = [
            JitArgument::Image(picture.image()),
            JitArgument::Sampler(sampler),
            JitArgument::Memory(memory(&mut places)),
            JitArgument::Memory(memory(&mut out)),
        ];
        run_kernel(&kernel, places.len() as u64, &arguments).expect("it runs");
        for (place, got) in places.iter().zip(&out) {
            let want = reference(&picture, &sampler, *place);
            let near = got.iter().zip(want).all(|(g, w)| (g - w).abs() < 2e-5);
            assert!(near, "{sampler:?} at {place:?}: {got:?}, not {want:?}");
        }
    }
}

fn all(image: &str, shape: ImageShape) {
    for filter in [SamplerFilter::Nearest, SamplerFilter::Linear] {
        for address in [
            SamplerAddressing::ClampToEdge,
            SamplerAddressing::Border,
            SamplerAddressing::Repeat,
            SamplerAddressing::Mirror,
        ] {
            check(
                image,
                shape,
                SamplerState::from_opencl(address, filter, true),
                false,
            );
        }
        for address in [SamplerAddressing::ClampToEdge, SamplerAddressing::Border] {
            check(
                image,
                shape,
                SamplerState::from_opencl(address, filter, false),
                false,
            );
        }
    }
    let clamped =
        SamplerState::from_opencl(SamplerAddressing::Border, SamplerFilter::Nearest, false);
    check(image, shape, clamped, true);
}

#[test]
fn of_two_dimensions() {
    all("2D 0 0 0 0 Unknown ReadOnly", flat("rgba32f", 5, 3));
}

#[test]
fn of_three_dimensions() {
    let shape = ImageShape::new(ImageDimensions::D3, format("rgba32f"), [3, 4, 2]);
    all("3D 0 0 0 0 Unknown ReadOnly", shape);
}
