//! Images: texels in the layout of the device, and the views by which shaders access them.
//!
//! An image has the layout `GENERAL` all its life, so that no transition depends on its last use. It has a view of all levels for
//! sampling, and one of the first level for storing. A row of texels that is never filtered is a buffer with a view instead.

use super::device::{OwnedHandle, VulkanDevice};
use super::error::{VulkanCallResult, unsupported_error};
use super::image_formats::{find_swizzle, query_format_features, to_vk_format};
use super::memory::{OwnedAllocation, VulkanBuffer, VulkanMemory};
use super::queue::VulkanQueue;
use super::samplers::create_sampler;
use crate::DeviceError;
use ash::vk;
use gpu_allocator::MemoryLocation;
use spirula_resource::{ImageDimensions, ImageShape, SamplerFilter, SamplerState};
use std::sync::Arc;

/// An image with its memory.
pub struct VulkanImage {
    /// Its shape.
    pub shape: ImageShape,
    /// The sampler for descriptors that combine both, or the reason why there is none.
    pub sampler: Result<OwnedHandle<vk::Sampler>, DeviceError>,
    /// Filter of that sampler.
    pub filters: [SamplerFilter; 3],
    /// Whether it can be filtered.
    pub is_filtered: bool,
    kind: ImageBacking,
}

enum ImageBacking {
    /// Views for sampling and for storing, as far as the format supports them.
    Texels {
        sampled: Option<OwnedHandle<vk::ImageView>>,
        stored: Option<OwnedHandle<vk::ImageView>>,
        raw: OwnedHandle<vk::Image>,
        // Last, since it holds the image.
        _memory: OwnedAllocation,
    },
    /// A view of a buffer, and whether it can be loaded and stored.
    Row {
        view: OwnedHandle<vk::BufferView>,
        can: [bool; 2],
        buffer: Arc<VulkanBuffer>,
    },
}

impl VulkanImage {
    /// Creates an image of zeros, ordered before all commands that are recorded later.
    pub fn new(
        device: &Arc<VulkanDevice>,
        memory: &Arc<VulkanMemory>,
        queue: &mut VulkanQueue,
        shape: &ImageShape,
        wanted: &SamplerState,
    ) -> Result<Arc<VulkanImage>, DeviceError> {
        let [texels, row] = query_format_features(device, shape.format);
        let is_row = shape.dimensions == ImageDimensions::Buffer;
        let kind = if is_row {
            ImageBacking::create_row(device, memory, queue, shape, row)?
        } else {
            ImageBacking::create_texels(device, memory, shape, texels)?
        };
        let image = Arc::new(VulkanImage {
            shape: *shape,
            sampler: create_sampler(device, wanted, shape.format.is_integer()),
            filters: [wanted.magnify, wanted.minify, wanted.mips],
            is_filtered: texels.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR),
            kind,
        });
        if !is_row {
            image.clear_texels(queue)?;
        }
        Ok(image)
    }

    /// The buffer of a row of texels.
    pub fn row_buffer(&self) -> Option<&Arc<VulkanBuffer>> {
        match &self.kind {
            ImageBacking::Row { buffer, .. } => Some(buffer),
            ImageBacking::Texels { .. } => None,
        }
    }

    /// The view for a descriptor that samples or stores; `None` where the device does not support that for the format.
    pub fn image_view(&self, stores: bool) -> Option<vk::ImageView> {
        match &self.kind {
            ImageBacking::Texels {
                sampled, stored, ..
            } => {
                let view = if stores { stored } else { sampled };
                view.as_ref().map(|v| **v)
            }
            ImageBacking::Row { .. } => None,
        }
    }

    /// The view of a row of texels for a descriptor that samples or stores.
    pub fn row_view(&self, stores: bool) -> Option<vk::BufferView> {
        match &self.kind {
            ImageBacking::Row { view, can, .. } => can[usize::from(stores)].then_some(**view),
            ImageBacking::Texels { .. } => None,
        }
    }

    fn raw(&self) -> vk::Image {
        match &self.kind {
            ImageBacking::Texels { raw, .. } => **raw,
            ImageBacking::Row { .. } => vk::Image::null(),
        }
    }

    fn clear_texels(self: &Arc<Self>, queue: &mut VulkanQueue) -> Result<(), DeviceError> {
        let range = cover_all_levels(self.shape.levels);
        let barrier = vk::ImageMemoryBarrier::default()
            .old_layout(vk::ImageLayout::UNDEFINED)
            .new_layout(vk::ImageLayout::GENERAL)
            .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(self.raw())
            .subresource_range(range);
        queue.record_exclusive(|device, batch| {
            batch.keep_image(self);
            // SAFETY: the commands are being recorded; the image is new and is kept.
            unsafe {
                let functions = device.raw();
                functions.cmd_pipeline_barrier(
                    batch.commands,
                    vk::PipelineStageFlags::TOP_OF_PIPE,
                    vk::PipelineStageFlags::TRANSFER,
                    vk::DependencyFlags::empty(),
                    &[],
                    &[],
                    &[barrier],
                );
                functions.cmd_clear_color_image(
                    batch.commands,
                    self.raw(),
                    vk::ImageLayout::GENERAL,
                    &vk::ClearColorValue { uint32: [0; 4] },
                    &[range],
                );
            }
            Ok(())
        })
    }

    /// Copies all texels out of a buffer, or into one, ordered after all recorded commands.
    pub fn copy_texels(
        self: &Arc<Self>,
        queue: &mut VulkanQueue,
        buffer: &Arc<VulkanBuffer>,
        inwards: bool,
    ) -> Result<(), DeviceError> {
        let regions = list_copy_regions(&self.shape);
        let layout = vk::ImageLayout::GENERAL;
        queue.record_exclusive(|device, batch| {
            batch.keep_image(self);
            if inwards {
                batch.note_buffer_read(buffer)
            } else {
                batch.note_buffer_write(buffer)
            }
            let (functions, image) = (device.raw(), self.raw());
            // SAFETY: the commands are being recorded; the buffer has the bytes of all texels, and both are kept.
            unsafe {
                if inwards {
                    functions.cmd_copy_buffer_to_image(
                        batch.commands,
                        buffer.raw(),
                        image,
                        layout,
                        &regions,
                    )
                } else {
                    functions.cmd_copy_image_to_buffer(
                        batch.commands,
                        image,
                        layout,
                        buffer.raw(),
                        &regions,
                    )
                }
            }
            Ok(())
        })
    }
}

impl ImageBacking {
    fn create_row(
        device: &Arc<VulkanDevice>,
        memory: &Arc<VulkanMemory>,
        queue: &mut VulkanQueue,
        shape: &ImageShape,
        can: vk::FormatFeatureFlags,
    ) -> Result<ImageBacking, DeviceError> {
        let can = [
            vk::FormatFeatureFlags::UNIFORM_TEXEL_BUFFER,
            vk::FormatFeatureFlags::STORAGE_TEXEL_BUFFER,
        ]
        .map(|wanted| can.contains(wanted));
        // Views of buffers have no swizzle.
        if can == [false; 2] || find_swizzle(shape.format).is_some() {
            return Err(refuse_shape(device, shape, ""));
        }
        let most = device.physical.limits.max_texel_buffer_elements;
        if shape.size[0] > most {
            let text = format!(" with more than {most} texels in a buffer");
            return Err(refuse_shape(device, shape, &text));
        }
        let pairs = [
            vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER,
            vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER,
        ];
        let usage = pairs.into_iter().zip(can).filter(|(_, can)| *can);
        let usage = usage.fold(vk::BufferUsageFlags::empty(), |all, (one, _)| all | one);
        let size = shape.total_bytes().unwrap_or(u64::MAX);
        let buffer = memory.create_for(size, MemoryLocation::GpuOnly, usage)?;
        let buffer = Arc::new(buffer);
        let info = vk::BufferViewCreateInfo::default()
            .buffer(buffer.raw())
            .format(to_vk_format(shape.format))
            .range(size);
        // SAFETY: the buffer was made for such views, and has the bytes.
        let view = unsafe { device.raw().create_buffer_view(&info, None) };
        let view = OwnedHandle::new(device, "vkCreateBufferView", view)?;
        super::staging::zero_buffer(memory, queue, &buffer)?;
        Ok(ImageBacking::Row { view, can, buffer })
    }

    fn create_texels(
        device: &Arc<VulkanDevice>,
        memory: &Arc<VulkanMemory>,
        shape: &ImageShape,
        can: vk::FormatFeatureFlags,
    ) -> Result<ImageBacking, DeviceError> {
        let samples = can.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE);
        // Stores need exactly Vulkan's format.
        let stores = can.contains(vk::FormatFeatureFlags::STORAGE_IMAGE)
            && find_swizzle(shape.format).is_none();
        let mut usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
        for (can, more) in [
            (samples, vk::ImageUsageFlags::SAMPLED),
            (stores, vk::ImageUsageFlags::STORAGE),
        ] {
            if can {
                usage |= more;
            }
        }
        if !samples && !stores {
            return Err(refuse_shape(device, shape, ""));
        }
        let info = build_create_info(device, shape, usage)?;
        // SAFETY: the device said that it has images of this kind.
        let image = unsafe { device.raw().create_image(&info, None) };
        let image = OwnedHandle::new(device, "vkCreateImage", image)?;
        // SAFETY: the image is of this device.
        let requirements = unsafe { device.raw().get_image_memory_requirements(*image) };
        let size = shape.total_bytes().unwrap_or(u64::MAX);
        let held =
            memory.allocate_memory("image", size, requirements, MemoryLocation::GpuOnly, false)?;
        // SAFETY: the memory was taken for this image, and is held behind it.
        let bound = unsafe {
            device
                .raw()
                .bind_image_memory(*image, held.raw(), held.offset())
        };
        bound.check_call("vkBindImageMemory")?;
        let view = |levels, swizzled: bool| {
            let all = vk::ComponentMapping::default();
            let mapping = find_swizzle(shape.format)
                .filter(|_| swizzled)
                .unwrap_or(all);
            let info = vk::ImageViewCreateInfo::default()
                .image(*image)
                .view_type(view_type(shape))
                .format(to_vk_format(shape.format))
                .components(mapping)
                .subresource_range(cover_all_levels(levels));
            // SAFETY: the image is of this device, has memory, and as many levels.
            let made = unsafe { device.raw().create_image_view(&info, None) };
            OwnedHandle::new(device, "vkCreateImageView", made)
        };
        Ok(ImageBacking::Texels {
            sampled: samples.then(|| view(shape.levels, true)).transpose()?,
            stored: stores.then(|| view(1, false)).transpose()?,
            raw: image,
            _memory: held,
        })
    }
}

/// The structure that creates an image of a supported shape.
fn build_create_info(
    device: &VulkanDevice,
    shape: &ImageShape,
    usage: vk::ImageUsageFlags,
) -> Result<vk::ImageCreateInfo<'static>, DeviceError> {
    let ty = match shape.dimensions {
        ImageDimensions::D1 | ImageDimensions::Buffer => vk::ImageType::TYPE_1D,
        ImageDimensions::D2 | ImageDimensions::Cube => vk::ImageType::TYPE_2D,
        ImageDimensions::D3 => vk::ImageType::TYPE_3D,
    };
    let flags = match shape.dimensions {
        ImageDimensions::Cube => vk::ImageCreateFlags::CUBE_COMPATIBLE,
        _ => vk::ImageCreateFlags::empty(),
    };
    let tiling = vk::ImageTiling::OPTIMAL;
    let functions = device.instance().raw();
    // SAFETY: the device is of this instance.
    let most = unsafe {
        functions.get_physical_device_image_format_properties(
            device.physical.raw,
            to_vk_format(shape.format),
            ty,
            tiling,
            usage,
            flags,
        )
    };
    let most = match most {
        Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED) => return Err(refuse_shape(device, shape, "")),
        most => most.check_call("vkGetPhysicalDeviceImageFormatProperties")?,
    };
    let [width, height, depth] = shape.size;
    let extent = most.max_extent;
    if width > extent.width || height > extent.height || depth > extent.depth {
        let vk::Extent3D {
            width,
            height,
            depth,
        } = extent;
        let text = format!(" larger than {width} by {height} by {depth}");
        return Err(refuse_shape(device, shape, &text));
    }
    if shape.layers > most.max_array_layers || shape.levels > most.max_mip_levels {
        let (layers, levels) = (most.max_array_layers, most.max_mip_levels);
        let text = format!(" with more than {layers} layers or {levels} levels");
        return Err(refuse_shape(device, shape, &text));
    }
    Ok(vk::ImageCreateInfo::default()
        .flags(flags)
        .image_type(ty)
        .format(to_vk_format(shape.format))
        .extent(vk::Extent3D {
            width,
            height,
            depth,
        })
        .mip_levels(shape.levels)
        .array_layers(shape.layers)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(tiling)
        .usage(usage))
}

fn refuse_shape(device: &VulkanDevice, shape: &ImageShape, which: &str) -> DeviceError {
    let how = match shape.dimensions {
        ImageDimensions::D1 => "one dimension",
        ImageDimensions::D2 => "two dimensions",
        ImageDimensions::D3 => "three dimensions",
        ImageDimensions::Cube => "six faces",
        ImageDimensions::Buffer => "texels in a buffer",
    };
    let info = &device.physical.info;
    unsupported_error(format!(
        "{} ({}) has no images of {how} and {}{which}",
        info.id, info.name, shape.format
    ))
}

fn view_type(shape: &ImageShape) -> vk::ImageViewType {
    match (shape.dimensions, shape.arrayed) {
        (ImageDimensions::D1 | ImageDimensions::Buffer, false) => vk::ImageViewType::TYPE_1D,
        (ImageDimensions::D1 | ImageDimensions::Buffer, true) => vk::ImageViewType::TYPE_1D_ARRAY,
        (ImageDimensions::D2, false) => vk::ImageViewType::TYPE_2D,
        (ImageDimensions::D2, true) => vk::ImageViewType::TYPE_2D_ARRAY,
        (ImageDimensions::D3, _) => vk::ImageViewType::TYPE_3D,
        (ImageDimensions::Cube, false) => vk::ImageViewType::CUBE,
        (ImageDimensions::Cube, true) => vk::ImageViewType::CUBE_ARRAY,
    }
}

fn cover_all_levels(levels: u32) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange::default()
        .aspect_mask(vk::ImageAspectFlags::COLOR)
        .level_count(levels)
        .layer_count(vk::REMAINING_ARRAY_LAYERS)
}

/// The positions of the texels of each level in a buffer.
fn list_copy_regions(shape: &ImageShape) -> Vec<vk::BufferImageCopy> {
    let mut offset = 0;
    let level = |level| {
        let [width, height, depth] = shape.level_size(level);
        let region = vk::BufferImageCopy::default()
            .buffer_offset(offset)
            .image_subresource(
                vk::ImageSubresourceLayers::default()
                    .aspect_mask(vk::ImageAspectFlags::COLOR)
                    .mip_level(level)
                    .layer_count(shape.layers),
            )
            .image_extent(vk::Extent3D {
                width,
                height,
                depth,
            });
        offset += shape.level_bytes(level).unwrap_or(0);
        region
    };
    (0..shape.levels).map(level).collect()
}
