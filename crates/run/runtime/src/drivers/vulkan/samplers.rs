//! Samplers of Vulkan.

use super::device::{OwnedHandle, VulkanDevice};
use super::error::unsupported_error;
use crate::DeviceError;
use ash::vk;
use spirula_resource::{
    BorderColour, DepthComparison, SamplerAddressing, SamplerFilter, SamplerState,
};
use std::sync::Arc;

/// Creates a sampler. `integers` says that it is for images with integer components, as far as that is known.
pub fn create_sampler(
    device: &Arc<VulkanDevice>,
    sampler: &SamplerState,
    integers: bool,
) -> Result<OwnedHandle<vk::Sampler>, DeviceError> {
    if let Some(problem) = find_sampler_problem(sampler) {
        let text = format!("{} has no sampler {problem}", device.physical.info.id);
        return Err(unsupported_error(text));
    }
    let [u, v, w] = sampler.address.map(to_vk_address_mode);
    let [least, most] = if sampler.normalized {
        sampler.lods
    } else {
        [0.0; 2]
    };
    let info = vk::SamplerCreateInfo::default()
        .mag_filter(to_vk_filter(sampler.magnify))
        .min_filter(to_vk_filter(sampler.minify))
        .mipmap_mode(match sampler.mips {
            SamplerFilter::Nearest => vk::SamplerMipmapMode::NEAREST,
            SamplerFilter::Linear => vk::SamplerMipmapMode::LINEAR,
        })
        .address_mode_u(u)
        .address_mode_v(v)
        .address_mode_w(w)
        .compare_enable(sampler.compare.is_some())
        .compare_op(
            sampler
                .compare
                .map_or(vk::CompareOp::NEVER, to_vk_compare_op),
        )
        .min_lod(least)
        .max_lod(most)
        .border_color(to_vk_border_color(sampler.border, integers))
        .unnormalized_coordinates(!sampler.normalized);
    // SAFETY: the device is alive; `problem` has seen to what unnormalised coordinates demand.
    let made = unsafe { device.raw().create_sampler(&info, None) };
    OwnedHandle::new(device, "vkCreateSampler", made)
}

/// The combinations of states that Vulkan does not support.
fn find_sampler_problem(sampler: &SamplerState) -> Option<&'static str> {
    if sampler.normalized {
        return None;
    }
    let clamps = |a: &SamplerAddressing| {
        matches!(
            a,
            SamplerAddressing::ClampToEdge | SamplerAddressing::Border
        )
    };
    let problems = [
        (
            sampler.magnify != sampler.minify,
            "of unnormalised coordinates with two filters",
        ),
        (
            sampler.mips == SamplerFilter::Linear,
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

fn to_vk_filter(filter: SamplerFilter) -> vk::Filter {
    match filter {
        SamplerFilter::Nearest => vk::Filter::NEAREST,
        SamplerFilter::Linear => vk::Filter::LINEAR,
    }
}

fn to_vk_address_mode(address: SamplerAddressing) -> vk::SamplerAddressMode {
    match address {
        SamplerAddressing::ClampToEdge => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        SamplerAddressing::Border => vk::SamplerAddressMode::CLAMP_TO_BORDER,
        SamplerAddressing::Repeat => vk::SamplerAddressMode::REPEAT,
        SamplerAddressing::Mirror => vk::SamplerAddressMode::MIRRORED_REPEAT,
    }
}

/// Zeros are the same as integers and as floats. Alpha is one where the format has none.
fn to_vk_border_color(border: BorderColour, integers: bool) -> vk::BorderColor {
    match (border, integers) {
        (BorderColour::ByFormat | BorderColour::Transparent, false) => {
            vk::BorderColor::FLOAT_TRANSPARENT_BLACK
        }
        (BorderColour::ByFormat | BorderColour::Transparent, true) => {
            vk::BorderColor::INT_TRANSPARENT_BLACK
        }
        (BorderColour::Black, false) => vk::BorderColor::FLOAT_OPAQUE_BLACK,
        (BorderColour::Black, true) => vk::BorderColor::INT_OPAQUE_BLACK,
        (BorderColour::White, false) => vk::BorderColor::FLOAT_OPAQUE_WHITE,
        (BorderColour::White, true) => vk::BorderColor::INT_OPAQUE_WHITE,
    }
}

fn to_vk_compare_op(compare: DepthComparison) -> vk::CompareOp {
    match compare {
        DepthComparison::Never => vk::CompareOp::NEVER,
        DepthComparison::Less => vk::CompareOp::LESS,
        DepthComparison::Equal => vk::CompareOp::EQUAL,
        DepthComparison::LessOrEqual => vk::CompareOp::LESS_OR_EQUAL,
        DepthComparison::Greater => vk::CompareOp::GREATER,
        DepthComparison::NotEqual => vk::CompareOp::NOT_EQUAL,
        DepthComparison::GreaterOrEqual => vk::CompareOp::GREATER_OR_EQUAL,
        DepthComparison::Always => vk::CompareOp::ALWAYS,
    }
}
