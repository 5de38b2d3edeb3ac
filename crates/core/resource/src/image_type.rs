//! Image types of modules, and whether an image fits one.

use crate::{ImageDimensions, ImageShape, TexelFormat};
use spirula_spirv::grammar::enumerants::{Dim, ImageFormat};
use spirula_spirv::ir::InstRef;

/// The type of an image in a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageType {
    /// Dimensions.
    pub dim: Dim,
    /// Whether it has layers.
    pub arrayed: bool,
    /// Whether it is multisampled.
    pub multisampled: bool,
    /// Format of its texels; `None` where the type does not say.
    pub format: Option<TexelFormat>,
}

impl ImageType {
    /// Reads an `OpTypeImage`.
    pub fn from_definition(def: InstRef<'_>) -> ImageType {
        ImageType {
            dim: Dim(def.operand_word(1)),
            arrayed: def.operand_word(3) != 0,
            multisampled: def.operand_word(4) != 0,
            format: TexelFormat::of_module(ImageFormat(def.operand_word(6))),
        }
    }

    /// Number of coordinates of a texel, including the layer.
    pub fn coordinate_count(&self) -> usize {
        let own = match self.dim {
            Dim::Dim1D | Dim::Buffer => 1,
            Dim::Dim3D | Dim::Cube => 3,
            _ => 2,
        };
        own + usize::from(self.arrayed)
    }

    /// The mismatch of an image for this type, as a sentence without a full stop; `None` if it fits.
    pub fn find_mismatch(&self, shape: &ImageShape) -> Option<String> {
        if let Err(problem) = shape.check_dimensions() {
            return Some(problem);
        }
        let is = match shape.dimensions {
            ImageDimensions::D1 => Dim::Dim1D,
            ImageDimensions::D2 => Dim::Dim2D,
            ImageDimensions::D3 => Dim::Dim3D,
            ImageDimensions::Cube => Dim::Cube,
            ImageDimensions::Buffer => Dim::Buffer,
        };
        let wanted = match self.dim {
            Dim::Rect => Dim::Dim2D,
            dim => dim,
        };
        if is != wanted {
            return Some(format!("it takes an image of {wanted}, {is} is given"));
        }
        if self.arrayed != shape.arrayed {
            let text = if self.arrayed {
                "it takes an image with layers"
            } else {
                "it takes an image without layers"
            };
            return Some(text.to_owned());
        }
        let format = self.format.filter(|f| *f != shape.format)?;
        Some(format!("it takes {format}, {} is given", shape.format))
    }
}
