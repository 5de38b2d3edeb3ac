//! Image sampling: from coordinates to texels and their weights.
//!
//! The rules are those of section 8.2 of the OpenCL C specification. Vulkan's rules (16.5 and following) agree where
//! they overlap, and define levels of detail.

use super::axis_sampling::{AxisSampling, AxisTexels};
use super::texture_view::TextureView;
use spirula_resource::{ImageDimensions, SamplerAddressing, SamplerFilter, SamplerState};
use spirula_scalar::math;

/// A position at which an image is sampled.
#[derive(Clone, Copy, Debug)]
pub(super) struct SamplePosition {
    pub coordinate: [f32; 4],
    /// Texels that are added.
    pub offset: [i32; 3],
    /// The level of detail.
    pub lod: f32,
}

/// An image with a sampler.
pub(super) struct SampledTexture<'a> {
    pub texture: &'a TextureView,
    pub sampler: SamplerState,
}

impl SampledTexture<'_> {
    /// The value at a position.
    pub fn sample_floats(&self, position: &SamplePosition, reference: Option<f32>) -> [f32; 4] {
        let levels = self.select_levels(position.lod);
        let filter = self.select_filter(position.lod);
        let first = self.sample_level(position, levels.0, filter, reference);
        if levels.2 == 0.0 {
            return first;
        }
        let second = self.sample_level(position, levels.1, filter, reference);
        std::array::from_fn(|n| first[n] * (1.0 - levels.2) + second[n] * levels.2)
    }

    /// The nearest texel's integers.
    pub fn sample_ints(&self, position: &SamplePosition) -> [i64; 4] {
        let level = self.select_levels(position.lod).0;
        let (axes, layer) = self.locate_axes(position, level, SamplerFilter::Nearest);
        let [x, y, z] = axes.map(|axis| axis.texels[0]);
        let format = self.texture.shape.format;
        let border = self.border_colour().map(|n| n as i64);
        let at = x.zip(y).zip(z).map(|((x, y), z)| [x, y, z]);
        let texel = at.and_then(|at| self.texture.read_texel(level, at, layer));
        texel.map_or(border, |texel| format.decode_ints(&texel))
    }

    /// The four texels around a position, of which a component is taken: from the lower left one
    /// against the clock, rows going up.
    pub fn gather_texels<T: Copy>(
        &self,
        position: &SamplePosition,
        mut take: impl FnMut([i64; 3], i64) -> T,
    ) -> [T; 4] {
        let (axes, layer) = self.locate_axes(position, 0, SamplerFilter::Linear);
        [(0, 1), (1, 1), (1, 0), (0, 0)].map(|(i, j)| {
            let [x, y, z] = [axes[0].texels[i], axes[1].texels[j], axes[2].texels[0]];
            take([x, y, z].map(|n| n.unwrap_or(-1)), layer)
        })
    }

    /// The colour outside of the image.
    pub fn border_colour(&self) -> [f32; 4] {
        self.sampler.border.to_floats(self.texture.shape.format)
    }

    /// A texel, or the result of its comparison with the reference.
    pub fn fetch_texel(
        &self,
        level: u32,
        at: [i64; 3],
        layer: i64,
        reference: Option<f32>,
    ) -> [f32; 4] {
        let format = self.texture.shape.format;
        let texel = self.texture.read_texel(level, at, layer);
        let value = texel.map_or_else(
            || self.border_colour(),
            |texel| format.decode_floats(&texel),
        );
        match (reference, self.sampler.compare) {
            (Some(reference), Some(compare)) => {
                let held = compare.is_satisfied_by(reference, value[0]);
                [f32::from(u8::from(held)); 4]
            }
            _ => value,
        }
    }

    fn select_filter(&self, lod: f32) -> SamplerFilter {
        if self.clamp_lod(lod) <= 0.0 {
            self.sampler.magnify
        } else {
            self.sampler.minify
        }
    }

    fn clamp_lod(&self, lod: f32) -> f32 {
        let [least, most] = self.sampler.lods;
        lod.max(least).min(most.max(least))
    }

    /// Two levels and the weight of the second.
    fn select_levels(&self, lod: f32) -> (u32, u32, f32) {
        let last = self.texture.shape.levels - 1;
        if last == 0 || !self.sampler.normalized {
            return (0, 0, 0.0);
        }
        let lod = self.clamp_lod(lod).clamp(0.0, last as f32);
        match self.sampler.mips {
            SamplerFilter::Nearest => {
                let level = ((lod + 0.5).ceil() as u32).saturating_sub(1).min(last);
                (level, level, 0.0)
            }
            SamplerFilter::Linear => {
                let low = lod.floor();
                let level = (low as u32).min(last);
                (level, (level + 1).min(last), lod - low)
            }
        }
    }

    fn sample_level(
        &self,
        position: &SamplePosition,
        level: u32,
        filter: SamplerFilter,
        reference: Option<f32>,
    ) -> [f32; 4] {
        let (axes, layer) = self.locate_axes(position, level, filter);
        if filter == SamplerFilter::Nearest {
            let at = axes.map(|axis| axis.texels[0].unwrap_or(-1));
            return self.fetch_texel(level, at, layer, reference);
        }
        let mut sum = [0.0; 4];
        // Axes that the image lacks have one texel.
        let corners = match self.texture.shape.dimensions {
            ImageDimensions::D1 | ImageDimensions::Buffer => 2,
            ImageDimensions::D2 | ImageDimensions::Cube => 4,
            ImageDimensions::D3 => 8,
        };
        for corner in 0..corners {
            let side = [corner & 1, corner >> 1 & 1, corner >> 2 & 1];
            let weight: f32 = (0..3)
                .map(|n| match side[n] {
                    0 => 1.0 - axes[n].weight,
                    _ => axes[n].weight,
                })
                .product();
            // A texel without weight must not count, even if it is infinite.
            if weight == 0.0 {
                continue;
            }
            let at = [0, 1, 2].map(|n| axes[n].texels[side[n]].unwrap_or(-1));
            let texel = self.fetch_texel(level, at, layer, reference);
            for (to, part) in sum.iter_mut().zip(texel) {
                *to += weight * part;
            }
        }
        sum
    }

    /// The axes of a position in a level, and its layer.
    fn locate_axes(
        &self,
        position: &SamplePosition,
        level: u32,
        filter: SamplerFilter,
    ) -> ([AxisTexels; 3], i64) {
        let shape = &self.texture.shape;
        let size = shape.level_size(level);
        let axis = |n: usize, coordinate: f32| {
            let sampling = AxisSampling {
                address: self.sampler.address[n],
                normalized: self.sampler.normalized,
                filter,
            };
            sampling.locate_texels(coordinate, position.offset[n], size[n])
        };
        let layer = |n: usize| {
            if shape.arrayed {
                let layer = position.coordinate[n].round_ties_even() as i64;
                layer.clamp(0, i64::from(shape.layers) - 1)
            } else {
                0
            }
        };
        let [x, y, z, _] = position.coordinate;
        match shape.dimensions {
            ImageDimensions::D1 | ImageDimensions::Buffer => (
                [
                    axis(0, x),
                    AxisTexels::single_texel(),
                    AxisTexels::single_texel(),
                ],
                layer(1),
            ),
            ImageDimensions::D2 => (
                [axis(0, x), axis(1, y), AxisTexels::single_texel()],
                layer(2),
            ),
            ImageDimensions::D3 => ([axis(0, x), axis(1, y), axis(2, z)], 0),
            ImageDimensions::Cube => {
                let (face, s, t) = select_cube_face([x, y, z]);
                // Coordinates are clamped to the edges of the face.
                let edges = AxisSampling {
                    address: SamplerAddressing::ClampToEdge,
                    normalized: self.sampler.normalized,
                    filter,
                };
                let axis = |n: usize, at: f32| edges.locate_texels(at, 0, size[n]);
                let cube = if shape.arrayed {
                    position.coordinate[3].round_ties_even() as i64
                } else {
                    0
                };
                let cube = cube.clamp(0, i64::from(shape.layers) / 6 - 1);
                (
                    [axis(0, s), axis(1, t), AxisTexels::single_texel()],
                    cube * 6 + face,
                )
            }
        }
    }
}

/// The face of a cube that a direction goes through, and the coordinates there; by the table of
/// Vulkan's section on cube maps.
fn select_cube_face([x, y, z]: [f32; 3]) -> (i64, f32, f32) {
    let [ax, ay, az] = [x.abs(), y.abs(), z.abs()];
    let (face, s, t, major) = if az >= ax && az >= ay {
        if z < 0.0 {
            (5, -x, -y, az)
        } else {
            (4, x, -y, az)
        }
    } else if ay >= ax {
        if y < 0.0 {
            (3, x, -z, ay)
        } else {
            (2, x, z, ay)
        }
    } else {
        if x < 0.0 {
            (1, z, -y, ax)
        } else {
            (0, -z, -y, ax)
        }
    };
    let on_face = |c: f32| (c / major + 1.0) / 2.0;
    (face, on_face(s), on_face(t))
}

/// The level of detail that derivatives in two directions select.
pub(super) fn lod_of(texture: &TextureView, gradients: [[f32; 3]; 2]) -> f32 {
    let size = texture.shape.size.map(|n| n as f32);
    let lengths = gradients.map(|gradient| {
        let squares = gradient.iter().zip(size).map(|(g, n)| (g * n) * (g * n));
        squares.sum::<f32>()
    });
    // Half the logarithm of the larger square.
    let square = f64::from(lengths[0].max(lengths[1]));
    (math::log2(square) / 2.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_of_a_cube() {
        assert_eq!(select_cube_face([1.0, 0.0, 0.0]).0, 0);
        assert_eq!(select_cube_face([0.0, -2.0, 1.0]).0, 3);
        assert_eq!(select_cube_face([0.5, 0.25, 1.0]), (4, 0.75, 0.375));
    }
}
