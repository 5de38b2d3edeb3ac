//! Image shapes: dimensions, format, size, layers and levels of detail.

use crate::TexelFormat;

/// Most texels in a direction, and most layers.
const MAX_EXTENT: u32 = 1 << 24;
/// Most levels of detail.
const MAX_LEVELS: u32 = 24;

/// Dimensions of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageDimensions {
    /// A row.
    D1,
    /// Rows.
    D2,
    /// Slices of rows.
    D3,
    /// The six faces of a cube: +x, -x, +y, -y, +z, -z.
    Cube,
    /// A row that is never filtered.
    Buffer,
}

/// The shape of an image. Its texels are consecutive: rows, slices, layers, then levels. Only rows of an image of two dimensions may
/// have gaps between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageShape {
    /// Dimensions.
    pub dimensions: ImageDimensions,
    /// Format of the texels.
    pub format: TexelFormat,
    /// Width, height and depth; 1 in missing directions.
    pub size: [u32; 3],
    /// Whether it has layers, which a coordinate selects.
    pub arrayed: bool,
    /// Number of layers, including faces; 1 without layers.
    pub layers: u32,
    /// Number of levels of detail, each half the size of the one before; at least 1.
    pub levels: u32,
    /// Texels from a row to the next where rows have gaps; 0 where they have none.
    pub row_texels: u32,
}

impl ImageShape {
    /// An image with one level of detail and without layers.
    pub fn new(dimensions: ImageDimensions, format: TexelFormat, size: [u32; 3]) -> ImageShape {
        ImageShape {
            dimensions,
            format,
            size,
            arrayed: false,
            layers: if dimensions == ImageDimensions::Cube {
                6
            } else {
                1
            },
            levels: 1,
            row_texels: 0,
        }
    }

    /// Texels from a row of a level to the next.
    pub fn row_pitch(&self, level: u32) -> u32 {
        self.row_texels.max(self.level_size(level)[0])
    }

    /// Checks the shape. The error is a sentence without a full stop.
    ///
    /// # Errors
    /// When no image can have this shape.
    pub fn check_dimensions(&self) -> Result<(), String> {
        let [width, height, depth] = self.size;
        let used = match self.dimensions {
            ImageDimensions::D1 | ImageDimensions::Buffer => 1,
            ImageDimensions::D2 | ImageDimensions::Cube => 2,
            ImageDimensions::D3 => 3,
        };
        let bad = |text: String| Err(text);
        if self.size.iter().any(|n| *n == 0 || *n > MAX_EXTENT) {
            return bad(format!("an image cannot be {width} by {height} by {depth}"));
        }
        if self.size[used..].iter().any(|n| *n != 1) {
            return bad(format!("an image of {used} dimensions has no more sizes"));
        }
        let faces = if self.dimensions == ImageDimensions::Cube {
            6
        } else {
            1
        };
        let fits = self.arrayed || self.layers == faces;
        if self.layers == 0
            || self.layers > MAX_EXTENT
            || !fits
            || !self.layers.is_multiple_of(faces)
        {
            return bad(format!("it cannot have {} layers", self.layers));
        }
        if faces == 6 && width != height {
            return bad("the faces of a cube are squares".to_owned());
        }
        let largest = width.max(height).max(depth);
        if self.levels == 0 || self.levels > MAX_LEVELS.min(32 - largest.leading_zeros()) {
            return bad(format!("it cannot have {} levels", self.levels));
        }
        let is_plain = self.dimensions == ImageDimensions::D2 && !self.arrayed && self.levels == 1;
        if self.row_texels != 0 && !(is_plain && self.row_texels >= width) {
            return bad(format!("its rows cannot have {} texels", self.row_texels));
        }
        if self.total_bytes().is_none() {
            return bad("it has too many texels".to_owned());
        }
        Ok(())
    }

    /// The size of a level.
    pub fn level_size(&self, level: u32) -> [u32; 3] {
        self.size.map(|n| (n >> level.min(31)).max(1))
    }

    /// Bytes of a level with all its layers; `None` where they are too many.
    pub fn level_bytes(&self, level: u32) -> Option<u64> {
        let [_, height, depth] = self.level_size(level).map(u64::from);
        let texels = u64::from(self.row_pitch(level))
            .checked_mul(height)?
            .checked_mul(depth)?;
        let bytes = texels.checked_mul(self.layers.into())?;
        bytes
            .checked_mul(self.format.texel_bytes().into())
            .filter(|b| *b < 1 << 48)
    }

    /// Bytes of all levels; `None` where they are too many.
    pub fn total_bytes(&self) -> Option<u64> {
        let mut levels = 0..self.levels.min(MAX_LEVELS);
        levels.try_fold(0u64, |sum, level| sum.checked_add(self.level_bytes(level)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_checked() {
        let rgba8 = TexelFormat::from_name("rgba8").expect("there is such a format");
        let shape = ImageShape::new(ImageDimensions::D2, rgba8, [5, 3, 1]);
        assert_eq!(
            (shape.check_dimensions(), shape.total_bytes()),
            (Ok(()), Some(60))
        );
        let mips = ImageShape { levels: 3, ..shape };
        assert_eq!(mips.total_bytes(), Some(60 + 8 + 4));
        let gaps = ImageShape {
            row_texels: 8,
            ..shape
        };
        assert_eq!(
            (gaps.check_dimensions(), gaps.total_bytes()),
            (Ok(()), Some(96))
        );
        let wrong = [
            ImageShape {
                row_texels: 4,
                ..shape
            },
            ImageShape { levels: 2, ..gaps },
            ImageShape { levels: 4, ..shape },
            ImageShape { layers: 2, ..shape },
            ImageShape {
                size: [5, 3, 2],
                ..shape
            },
            ImageShape {
                size: [5, 0, 1],
                ..shape
            },
            ImageShape {
                dimensions: ImageDimensions::Cube,
                ..shape
            },
            ImageShape {
                dimensions: ImageDimensions::D3,
                size: [MAX_EXTENT; 3],
                ..shape
            },
        ];
        for shape in wrong {
            assert!(shape.check_dimensions().is_err(), "{shape:?}");
        }
    }
}
