//! Samplers as Vulkan has them.

use super::device::{Device, Owned};
use super::error::unsupported;
use crate::Error;
use ash::vk;
use spirula_cpu::{Address, Border, Compare, Filter, Sampler};
use std::sync::Arc;

/// Makes a sampler. `integers` says whether it is for images whose components are such, as far as one knows.
pub fn sampler(
    device: &Arc<Device>,
    sampler: &Sampler,
    integers: bool,
) -> Result<Owned<vk::Sampler>, Error> {
    if let Some(problem) = problem(sampler) {
        let text = format!("{} has no sampler {problem}", device.physical.info.id);
        return Err(unsupported(text));
    }
    let [u, v, w] = sampler.address.map(address);
    let [least, most] = match sampler.normalized {
        true => sampler.lods,
        false => [0.0; 2],
    };
    let info = vk::SamplerCreateInfo::default()
        .mag_filter(filter(sampler.magnify))
        .min_filter(filter(sampler.minify))
        .mipmap_mode(match sampler.mips {
            Filter::Nearest => vk::SamplerMipmapMode::NEAREST,
            Filter::Linear => vk::SamplerMipmapMode::LINEAR,
        })
        .address_mode_u(u)
        .address_mode_v(v)
        .address_mode_w(w)
        .compare_enable(sampler.compare.is_some())
        .compare_op(sampler.compare.map_or(vk::CompareOp::NEVER, compare))
        .min_lod(least)
        .max_lod(most)
        .border_color(border(sampler.border, integers))
        .unnormalized_coordinates(!sampler.normalized);
    // SAFETY: the device is alive; `problem` has seen to what unnormalised coordinates demand.
    let made = unsafe { device.raw().create_sampler(&info, None) };
    Owned::new(device, "vkCreateSampler", made)
}

/// What Vulkan has no sampler with.
fn problem(sampler: &Sampler) -> Option<&'static str> {
    if sampler.normalized {
        return None;
    }
    let clamps = |a: &Address| matches!(a, Address::ClampToEdge | Address::Border);
    let problems = [
        (
            sampler.magnify != sampler.minify,
            "of unnormalised coordinates with two filters",
        ),
        (
            sampler.mips == Filter::Linear,
            "of unnormalised coordinates between levels",
        ),
        (
            !sampler.address[..2].iter().all(clamps),
            "of unnormalised coordinates that repeats",
        ),
        (
            sampler.compare.is_some(),
            "of unnormalised coordinates that compares",
        ),
    ];
    let found = problems.into_iter().find(|(is, _)| *is);
    found.map(|(_, text)| text)
}

fn filter(filter: Filter) -> vk::Filter {
    match filter {
        Filter::Nearest => vk::Filter::NEAREST,
        Filter::Linear => vk::Filter::LINEAR,
    }
}

fn address(address: Address) -> vk::SamplerAddressMode {
    match address {
        Address::ClampToEdge => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        Address::Border => vk::SamplerAddressMode::CLAMP_TO_BORDER,
        Address::Repeat => vk::SamplerAddressMode::REPEAT,
        Address::Mirror => vk::SamplerAddressMode::MIRRORED_REPEAT,
    }
}

/// Zeros are the same as integers and as floats, and alpha is one where the format has none.
fn border(border: Border, integers: bool) -> vk::BorderColor {
    match (border, integers) {
        (Border::ByFormat | Border::Transparent, false) => vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
        (Border::ByFormat | Border::Transparent, true) => vk::BorderColor::INT_TRANSPARENT_BLACK,
        (Border::Black, false) => vk::BorderColor::FLOAT_OPAQUE_BLACK,
        (Border::Black, true) => vk::BorderColor::INT_OPAQUE_BLACK,
        (Border::White, false) => vk::BorderColor::FLOAT_OPAQUE_WHITE,
        (Border::White, true) => vk::BorderColor::INT_OPAQUE_WHITE,
    }
}

fn compare(compare: Compare) -> vk::CompareOp {
    match compare {
        Compare::Never => vk::CompareOp::NEVER,
        Compare::Less => vk::CompareOp::LESS,
        Compare::Equal => vk::CompareOp::EQUAL,
        Compare::LessOrEqual => vk::CompareOp::LESS_OR_EQUAL,
        Compare::Greater => vk::CompareOp::GREATER,
        Compare::NotEqual => vk::CompareOp::NOT_EQUAL,
        Compare::GreaterOrEqual => vk::CompareOp::GREATER_OR_EQUAL,
        Compare::Always => vk::CompareOp::ALWAYS,
    }
}
