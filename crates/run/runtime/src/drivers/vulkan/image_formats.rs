//! Image formats: formats of texels and the formats of Vulkan.

use super::device::VulkanDevice;
use ash::vk::{self, ComponentSwizzle as Swizzle};
use spirula_resource::TexelFormat;

/// The formats of [`TexelFormat`] by name, and Vulkan's with the same bytes.
const ROWS: &[(&str, vk::Format)] = &[
    ("rgba32f", vk::Format::R32G32B32A32_SFLOAT),
    ("rgba16f", vk::Format::R16G16B16A16_SFLOAT),
    ("rg32f", vk::Format::R32G32_SFLOAT),
    ("rg16f", vk::Format::R16G16_SFLOAT),
    ("r11f_g11f_b10f", vk::Format::B10G11R11_UFLOAT_PACK32),
    ("r32f", vk::Format::R32_SFLOAT),
    ("r16f", vk::Format::R16_SFLOAT),
    ("rgba16", vk::Format::R16G16B16A16_UNORM),
    ("rgb10_a2", vk::Format::A2B10G10R10_UNORM_PACK32),
    ("rgba8", vk::Format::R8G8B8A8_UNORM),
    ("rg16", vk::Format::R16G16_UNORM),
    ("rg8", vk::Format::R8G8_UNORM),
    ("r16", vk::Format::R16_UNORM),
    ("r8", vk::Format::R8_UNORM),
    ("rgba16_snorm", vk::Format::R16G16B16A16_SNORM),
    ("rgba8_snorm", vk::Format::R8G8B8A8_SNORM),
    ("rg16_snorm", vk::Format::R16G16_SNORM),
    ("rg8_snorm", vk::Format::R8G8_SNORM),
    ("r16_snorm", vk::Format::R16_SNORM),
    ("r8_snorm", vk::Format::R8_SNORM),
    ("rgba32i", vk::Format::R32G32B32A32_SINT),
    ("rgba16i", vk::Format::R16G16B16A16_SINT),
    ("rgba8i", vk::Format::R8G8B8A8_SINT),
    ("rg32i", vk::Format::R32G32_SINT),
    ("rg16i", vk::Format::R16G16_SINT),
    ("rg8i", vk::Format::R8G8_SINT),
    ("r64i", vk::Format::R64_SINT),
    ("r32i", vk::Format::R32_SINT),
    ("r16i", vk::Format::R16_SINT),
    ("r8i", vk::Format::R8_SINT),
    ("rgba32ui", vk::Format::R32G32B32A32_UINT),
    ("rgba16ui", vk::Format::R16G16B16A16_UINT),
    ("rgb10_a2ui", vk::Format::A2B10G10R10_UINT_PACK32),
    ("rgba8ui", vk::Format::R8G8B8A8_UINT),
    ("rg32ui", vk::Format::R32G32_UINT),
    ("rg16ui", vk::Format::R16G16_UINT),
    ("rg8ui", vk::Format::R8G8_UINT),
    ("r64ui", vk::Format::R64_UINT),
    ("r32ui", vk::Format::R32_UINT),
    ("r16ui", vk::Format::R16_UINT),
    ("r8ui", vk::Format::R8_UINT),
    ("bgra8", vk::Format::B8G8R8A8_UNORM),
    ("a8", vk::Format::R8_UNORM),
    ("intensity8", vk::Format::R8_UNORM),
    ("luminance8", vk::Format::R8_UNORM),
    ("intensity32f", vk::Format::R32_SFLOAT),
    ("luminance32f", vk::Format::R32_SFLOAT),
    ("depth16", vk::Format::R16_UNORM),
    ("depth32f", vk::Format::R32_SFLOAT),
];

/// Vulkan's format with the same bytes.
pub fn to_vk_format(format: TexelFormat) -> vk::Format {
    let found = ROWS.iter().find(|(name, _)| *name == format.name());
    found.map_or(vk::Format::UNDEFINED, |(_, raw)| *raw)
}

/// The swizzle of sampling, for formats whose components Vulkan's format orders differently.
pub fn find_swizzle(format: TexelFormat) -> Option<vk::ComponentMapping> {
    let [r, g, b, a] = match format.name() {
        "a8" => [Swizzle::ZERO, Swizzle::ZERO, Swizzle::ZERO, Swizzle::R],
        "intensity8" | "intensity32f" => [Swizzle::R; 4],
        "luminance8" | "luminance32f" => [Swizzle::R, Swizzle::R, Swizzle::R, Swizzle::ONE],
        _ => return None,
    };
    Some(vk::ComponentMapping { r, g, b, a })
}

/// The operations that a device supports on images of a format, and on buffers of its texels.
pub fn query_format_features(
    device: &VulkanDevice,
    format: TexelFormat,
) -> [vk::FormatFeatureFlags; 2] {
    let functions = device.instance().raw();
    // SAFETY: the device is of this instance.
    let told = unsafe {
        functions.get_physical_device_format_properties(device.physical.raw, to_vk_format(format))
    };
    [told.optimal_tiling_features, told.buffer_features]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_its_row() {
        for format in TexelFormat::all_formats() {
            assert_ne!(to_vk_format(format), vk::Format::UNDEFINED, "{format}");
        }
        assert_eq!(ROWS.len(), TexelFormat::all_formats().count());
    }
}
