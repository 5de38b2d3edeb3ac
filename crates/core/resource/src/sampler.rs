//! Samplers: how images are read between texels and outside of their bounds.

use crate::TexelFormat;

/// Addressing modes: the texel for a coordinate outside of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SamplerAddressing {
    /// The texel at the edge.
    #[default]
    ClampToEdge,
    /// The border colour.
    Border,
    /// The repeated image.
    Repeat,
    /// The repeated image, mirrored every other time.
    Mirror,
}

/// Filters: how a value is computed from the nearest texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SamplerFilter {
    /// The nearest texel.
    #[default]
    Nearest,
    /// The texels weighted by distance.
    Linear,
}

/// Border colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BorderColour {
    /// Zeros; alpha is one where the format has no alpha, as in OpenCL.
    #[default]
    ByFormat,
    /// Zeros.
    Transparent,
    /// Zeros, alpha one.
    Black,
    /// Ones.
    White,
}

impl BorderColour {
    /// The components outside of an image of a format.
    pub fn to_floats(self, format: TexelFormat) -> [f32; 4] {
        match self {
            BorderColour::ByFormat => [0.0, 0.0, 0.0, format.border_alpha()],
            BorderColour::Transparent => [0.0; 4],
            BorderColour::Black => [0.0, 0.0, 0.0, 1.0],
            BorderColour::White => [1.0; 4],
        }
    }
}

/// A comparison of the reference with a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepthComparison {
    /// Never true.
    Never,
    /// The reference is less.
    Less,
    /// They are equal.
    Equal,
    /// The reference is less or equal.
    LessOrEqual,
    /// The reference is greater.
    Greater,
    /// They differ.
    NotEqual,
    /// The reference is greater or equal.
    GreaterOrEqual,
    /// Always true.
    Always,
}

/// The state of a sampler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplerState {
    /// Addressing mode in each direction.
    pub address: [SamplerAddressing; 3],
    /// Filter for magnification.
    pub magnify: SamplerFilter,
    /// Filter for minification.
    pub minify: SamplerFilter,
    /// Filter between levels of detail.
    pub mips: SamplerFilter,
    /// Whether coordinates are normalised: from 0 to 1 instead of 0 to the image's size.
    pub normalized: bool,
    /// The border colour.
    pub border: BorderColour,
    /// Least and greatest level of detail, in steps of 1/256.
    pub lods: [f32; 2],
    /// The comparison, for depth images.
    pub compare: Option<DepthComparison>,
}

impl Default for SamplerState {
    /// The nearest texel by normalised coordinates, clamped to the edge.
    fn default() -> Self {
        SamplerState {
            address: [SamplerAddressing::default(); 3],
            magnify: SamplerFilter::default(),
            minify: SamplerFilter::default(),
            mips: SamplerFilter::default(),
            normalized: true,
            border: BorderColour::default(),
            lods: [0.0, MAX_LOD],
            compare: None,
        }
    }
}

/// A level of detail beyond those of every image.
pub const MAX_LOD: f32 = 64.0;

/// All kinds of addressing, by their numbers in `OpConstantSampler` less one.
pub const SAMPLER_ADDRESSINGS: [SamplerAddressing; 4] = [
    SamplerAddressing::ClampToEdge,
    SamplerAddressing::Border,
    SamplerAddressing::Repeat,
    SamplerAddressing::Mirror,
];
/// All filters, by their numbers in `OpConstantSampler`.
pub const SAMPLER_FILTERS: [SamplerFilter; 2] = [SamplerFilter::Nearest, SamplerFilter::Linear];
/// All colours of borders.
pub const BORDER_COLOURS: [BorderColour; 4] = [
    BorderColour::ByFormat,
    BorderColour::Transparent,
    BorderColour::Black,
    BorderColour::White,
];
/// All comparisons.
pub const DEPTH_COMPARISONS: [DepthComparison; 8] = [
    DepthComparison::Never,
    DepthComparison::Less,
    DepthComparison::Equal,
    DepthComparison::LessOrEqual,
    DepthComparison::Greater,
    DepthComparison::NotEqual,
    DepthComparison::GreaterOrEqual,
    DepthComparison::Always,
];

impl SamplerAddressing {
    /// Its position in [`SAMPLER_ADDRESSINGS`].
    pub fn table_index(self) -> usize {
        SAMPLER_ADDRESSINGS
            .iter()
            .position(|a| *a == self)
            .unwrap_or(0)
    }

    /// Its number in `OpConstantSampler`.
    pub fn to_spirv(self) -> u32 {
        self.table_index() as u32 + 1
    }
}

impl SamplerState {
    /// A sampler of OpenCL: one addressing mode in all directions, and the border colour by the image's format.
    pub fn from_opencl(
        address: SamplerAddressing,
        filter: SamplerFilter,
        normalized: bool,
    ) -> SamplerState {
        SamplerState {
            address: [address; 3],
            magnify: filter,
            minify: filter,
            normalized,
            ..SamplerState::default()
        }
    }

    /// A sampler of a module, by the numbers of `OpConstantSampler`.
    pub fn of_module(address: u32, normalized: u32, filter: u32) -> SamplerState {
        let address = (address as usize).checked_sub(1);
        let address = address.and_then(|n| SAMPLER_ADDRESSINGS.get(n).copied());
        let filter = SAMPLER_FILTERS[(filter & 1) as usize];
        SamplerState::from_opencl(address.unwrap_or_default(), filter, normalized != 0)
    }
}

impl DepthComparison {
    /// Whether the comparison of a reference with a texel is true.
    pub fn is_satisfied_by(self, reference: f32, texel: f32) -> bool {
        match self {
            DepthComparison::Never => false,
            DepthComparison::Less => reference < texel,
            DepthComparison::Equal => reference == texel,
            DepthComparison::LessOrEqual => reference <= texel,
            DepthComparison::Greater => reference > texel,
            DepthComparison::NotEqual => reference != texel,
            DepthComparison::GreaterOrEqual => reference >= texel,
            DepthComparison::Always => true,
        }
    }
}
