//! Texture view: an image as generated code and the functions that it calls see it.
//!
//! Texels lie in a row: rows, slices, layers, then levels. Only between rows may there be gaps.

use super::HostImage;
use super::direct::DirectTexture;
use super::sampler_word;
use spirula_resource::ImageShape;
use std::mem::offset_of;

/// An image as generated code and the functions that it calls see it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureView {
    /// The word of the sampler that it is bound with.
    sampler: u64,
    pub(super) texels: *mut u8,
    pub(super) shape: ImageShape,
    /// Bytes of a texel, which each access needs.
    texel_bytes: u32,
    /// The facts for direct accesses, if the image has any.
    pub(super) direct: Option<DirectTexture>,
}

/// Offset of the sampler's word in a [`TextureView`].
pub(crate) const SAMPLER: i32 = offset_of!(TextureView, sampler) as i32;

// SAFETY: a texture only describes where texels are. The kernel is responsible for accesses to them, as for buffers.
unsafe impl Send for TextureView {}
// SAFETY: as above.
unsafe impl Sync for TextureView {}

impl TextureView {
    /// The view of an image whose memory has room for its texels.
    pub fn new(image: &HostImage) -> TextureView {
        TextureView {
            sampler: sampler_word::encode_sampler(&image.sampler),
            texels: image.memory.address,
            shape: image.shape,
            texel_bytes: image.shape.format.texel_bytes(),
            direct: DirectTexture::new(&image.shape, image.memory.address),
        }
    }

    /// The address of a texel; none outside.
    pub fn texel_address(&self, level: u32, at: [i64; 3], layer: i64) -> Option<*mut u8> {
        let shape = &self.shape;
        if level >= shape.levels || layer < 0 || layer >= i64::from(shape.layers) {
            return None;
        }
        let [width, height, depth] = shape.level_size(level).map(i64::from);
        let [x, y, z] = at;
        if x < 0 || x >= width || y < 0 || y >= height || z < 0 || z >= depth {
            return None;
        }
        let before = match level {
            0 => 0,
            _ => (0..level).filter_map(|l| shape.level_bytes(l)).sum::<u64>(),
        };
        let row = i64::from(shape.row_pitch(level));
        let texel = ((layer * depth + z) * height + y) * row + x;
        let offset = before + texel as u64 * u64::from(self.texel_bytes);
        Some(self.texels.wrapping_add(offset as usize))
    }

    /// The bytes of a texel; none outside.
    pub fn read_texel(&self, level: u32, at: [i64; 3], layer: i64) -> Option<[u8; 16]> {
        let address = self.texel_address(level, at, layer)?;
        let mut texel = [0; 16];
        let to = texel.as_mut_ptr();
        // SAFETY: the texel is inside of the image.
        unsafe { copy_texel(address, to, self.texel_bytes) };
        Some(texel)
    }

    /// Stores the bytes of a texel; nothing outside.
    pub fn store_texel(&self, level: u32, at: [i64; 3], layer: i64, texel: &[u8; 16]) {
        let Some(address) = self.texel_address(level, at, layer) else {
            return;
        };
        // SAFETY: as above.
        unsafe { copy_texel(texel.as_ptr(), address, self.texel_bytes) };
    }
}

/// Copies a texel. Usual sizes are known to the compiler, so that no function is called for them.
///
/// # Safety
/// Both places have room for the bytes.
unsafe fn copy_texel(from: *const u8, to: *mut u8, bytes: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            4 => std::ptr::copy_nonoverlapping(from, to, 4),
            8 => std::ptr::copy_nonoverlapping(from, to, 8),
            16 => std::ptr::copy_nonoverlapping(from, to, 16),
            bytes => std::ptr::copy_nonoverlapping(from, to, bytes as usize),
        }
    }
}
