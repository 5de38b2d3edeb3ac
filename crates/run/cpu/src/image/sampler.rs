//! Samplers: how images are read between and beyond their texels.

/// Treatment of coordinates outside of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SamplerAddressing {
    /// The texel at the edge.
    #[default]
    ClampToEdge,
    /// The border's colour.
    Border,
    /// The image again.
    Repeat,
    /// Repeats the image, mirrored every other time.
    Mirror,
}

/// How a value is computed from the nearest texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SamplerFilter {
    /// The nearest one.
    #[default]
    Nearest,
    /// Weighted by their distances.
    Linear,
}

/// The colour outside of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BorderColour {
    /// Zeros; alpha is one where the format has none, as in OpenCL.
    #[default]
    ByFormat,
    /// Zeros.
    Transparent,
    /// Zeros, alpha one.
    Black,
    /// Ones.
    White,
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
    /// Treatment of coordinates outside of the image, in each direction.
    pub address: [SamplerAddressing; 3],
    /// Filter where texels are larger than the sampled area.
    pub magnify: SamplerFilter,
    /// Filter where texels are smaller than the sampled area.
    pub minify: SamplerFilter,
    /// Between levels.
    pub mips: SamplerFilter,
    /// Whether coordinates go from 0 to 1, not from 0 to the image's size.
    pub normalized: bool,
    /// The colour outside of the image.
    pub border: BorderColour,
    /// Least and greatest level of detail, in steps of 1/256.
    pub lods: [f32; 2],
    /// The comparison with a depth reference, if any.
    pub compare: Option<DepthComparison>,
}

impl Default for SamplerState {
    /// The nearest texel by coordinates from 0 to 1, clamped to the edge.
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

/// A bound above the number of levels of detail of any image.
const MAX_LOD: f32 = 64.0;

/// Address modes by their numbers in `OpConstantSampler`, from the first that defines texels outside.
const ADDRESSES: [SamplerAddressing; 4] = [
    SamplerAddressing::ClampToEdge,
    SamplerAddressing::Border,
    SamplerAddressing::Repeat,
    SamplerAddressing::Mirror,
];
const FILTERS: [SamplerFilter; 2] = [SamplerFilter::Nearest, SamplerFilter::Linear];
const BORDERS: [BorderColour; 4] = [
    BorderColour::ByFormat,
    BorderColour::Transparent,
    BorderColour::Black,
    BorderColour::White,
];
const COMPARES: [DepthComparison; 8] = [
    DepthComparison::Never,
    DepthComparison::Less,
    DepthComparison::Equal,
    DepthComparison::LessOrEqual,
    DepthComparison::Greater,
    DepthComparison::NotEqual,
    DepthComparison::GreaterOrEqual,
    DepthComparison::Always,
];

/// Fields of the word that generated code has of a sampler: where they begin.
mod at {
    pub const FILTERS: u32 = 6;
    pub const NORMALIZED: u32 = 9;
    pub const BORDER: u32 = 10;
    pub const COMPARE: u32 = 12;
    pub const LODS: u32 = 32;
}

impl SamplerAddressing {
    fn table_index(self) -> usize {
        ADDRESSES.iter().position(|a| *a == self).unwrap_or(0)
    }

    /// The address mode's number in `OpConstantSampler`.
    pub fn to_spirv(self) -> u32 {
        self.table_index() as u32 + 1
    }
}

impl SamplerState {
    /// A sampler of OpenCL: the same address mode in all directions, the border by the image's format.
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

    /// A sampler that a module declares, by the numbers of `OpConstantSampler`.
    pub fn of_module(address: u32, normalized: u32, filter: u32) -> SamplerState {
        let address = (address as usize).checked_sub(1);
        let address = address.and_then(|n| ADDRESSES.get(n).copied());
        let filter = FILTERS[(filter & 1) as usize];
        SamplerState::from_opencl(address.unwrap_or_default(), filter, normalized != 0)
    }

    /// The whole state in one word, which generated code passes on.
    pub(crate) fn encode_word(&self) -> u64 {
        let place = |n: usize, at: u32| (n as u64) << at;
        let mut word = 0;
        for (n, address) in self.address.into_iter().enumerate() {
            word |= place(address.table_index(), 2 * n as u32);
        }
        for (n, filter) in [self.magnify, self.minify, self.mips]
            .into_iter()
            .enumerate()
        {
            word |= place(
                usize::from(filter == SamplerFilter::Linear),
                at::FILTERS + n as u32,
            );
        }
        let border = BORDERS.iter().position(|b| *b == self.border);
        let compare = COMPARES.iter().position(|c| Some(*c) == self.compare);
        word |= place(usize::from(self.normalized), at::NORMALIZED);
        word |= place(border.unwrap_or(0), at::BORDER);
        word |= place(compare.map_or(0, |c| c + 1), at::COMPARE);
        for (n, lod) in self.lods.into_iter().enumerate() {
            let steps = (lod.clamp(0.0, MAX_LOD) * 256.0) as usize;
            word |= place(steps, at::LODS + 16 * n as u32);
        }
        word
    }

    /// The sampler of a word.
    pub(crate) fn of_word(word: u64) -> SamplerState {
        let field = |at: u32, bits: u32| (word >> at) as usize & ((1 << bits) - 1);
        let filter = |n| FILTERS[field(at::FILTERS + n, 1)];
        let lod = |n: u32| field(at::LODS + 16 * n, 16) as f32 / 256.0;
        let compare = field(at::COMPARE, 4).checked_sub(1);
        SamplerState {
            address: [0, 2, 4].map(|at| ADDRESSES[field(at, 2)]),
            magnify: filter(0),
            minify: filter(1),
            mips: filter(2),
            normalized: field(at::NORMALIZED, 1) != 0,
            border: BORDERS[field(at::BORDER, 2)],
            lods: [lod(0), lod(1)],
            compare: compare.map(|n| COMPARES[n % COMPARES.len()]),
        }
    }
}

impl DepthComparison {
    /// Whether it holds.
    pub(crate) fn is_satisfied_by(self, reference: f32, texel: f32) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_all_of_a_sampler() {
        let sampler = SamplerState {
            address: [
                SamplerAddressing::Mirror,
                SamplerAddressing::Repeat,
                SamplerAddressing::Border,
            ],
            magnify: SamplerFilter::Linear,
            minify: SamplerFilter::Nearest,
            mips: SamplerFilter::Linear,
            normalized: false,
            border: BorderColour::White,
            lods: [0.5, 7.25],
            compare: Some(DepthComparison::GreaterOrEqual),
        };
        for sampler in [sampler, SamplerState::default()] {
            assert_eq!(SamplerState::of_word(sampler.encode_word()), sampler);
        }
    }
}
