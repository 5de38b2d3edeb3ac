//! Samplers as words, which generated code passes on.

use super::axis_sampling::AxisSampling;
use spirula_resource::{
    BORDER_COLOURS, DEPTH_COMPARISONS, MAX_LOD, SAMPLER_ADDRESSINGS, SAMPLER_FILTERS,
    SamplerFilter, SamplerState, TexelFormat,
};

/// Fields of the word that generated code has of a sampler: where they begin.
mod at {
    pub const FILTERS: u32 = 6;
    pub const NORMALIZED: u32 = 9;
    pub const BORDER: u32 = 10;
    pub const COMPARE: u32 = 12;
    pub const LODS: u32 = 32;
}

/// The word of a sampler, which generated code passes on.
pub(crate) fn encode_sampler(sampler: &SamplerState) -> u64 {
    let place = |n: usize, at: u32| (n as u64) << at;
    let mut word = 0;
    for (n, address) in sampler.address.into_iter().enumerate() {
        word |= place(address.table_index(), 2 * n as u32);
    }
    for (n, filter) in [sampler.magnify, sampler.minify, sampler.mips]
        .into_iter()
        .enumerate()
    {
        word |= place(
            usize::from(filter == SamplerFilter::Linear),
            at::FILTERS + n as u32,
        );
    }
    let border = BORDER_COLOURS.iter().position(|b| *b == sampler.border);
    let compare = DEPTH_COMPARISONS
        .iter()
        .position(|c| Some(*c) == sampler.compare);
    word |= place(usize::from(sampler.normalized), at::NORMALIZED);
    word |= place(border.unwrap_or(0), at::BORDER);
    word |= place(compare.map_or(0, |c| c + 1), at::COMPARE);
    for (n, lod) in sampler.lods.into_iter().enumerate() {
        let steps = (lod.clamp(0.0, MAX_LOD) * 256.0) as usize;
        word |= place(steps, at::LODS + 16 * n as u32);
    }
    word
}

/// The sampler of a word.
pub(crate) fn decode_sampler(word: u64) -> SamplerState {
    let field = |at: u32, bits: u32| (word >> at) as usize & ((1 << bits) - 1);
    let filter = |n| SAMPLER_FILTERS[field(at::FILTERS + n, 1)];
    let lod = |n: u32| field(at::LODS + 16 * n, 16) as f32 / 256.0;
    let compare = field(at::COMPARE, 4).checked_sub(1);
    SamplerState {
        address: [0, 2, 4].map(|at| SAMPLER_ADDRESSINGS[field(at, 2)]),
        magnify: filter(0),
        minify: filter(1),
        mips: filter(2),
        normalized: field(at::NORMALIZED, 1) != 0,
        border: BORDER_COLOURS[field(at::BORDER, 2)],
        lods: [lod(0), lod(1)],
        compare: compare.map(|n| DEPTH_COMPARISONS[n % DEPTH_COMPARISONS.len()]),
    }
}

/// The filter of a sampler that has one for magnification and minification.
#[inline(always)]
pub(super) fn single_filter(word: u64) -> Option<SamplerFilter> {
    match word >> at::FILTERS & 3 {
        0 => Some(SamplerFilter::Nearest),
        3 => Some(SamplerFilter::Linear),
        _ => None,
    }
}

/// Whether coordinates are normalised.
#[inline(always)]
pub(super) fn is_normalized(word: u64) -> bool {
    word >> at::NORMALIZED & 1 != 0
}

/// The colour outside of an image of a format.
pub(super) fn border_colour(word: u64, format: TexelFormat) -> [f32; 4] {
    let border = BORDER_COLOURS[(word >> at::BORDER) as usize & 3];
    border.to_floats(format)
}

/// The sampling along an axis.
#[inline(always)]
pub(super) fn axis_sampling(word: u64, axis: usize, filter: SamplerFilter) -> AxisSampling {
    AxisSampling {
        address: SAMPLER_ADDRESSINGS[(word >> (2 * axis)) as usize & 3],
        normalized: is_normalized(word),
        filter,
    }
}

#[cfg(test)]
mod tests {
    use super::{decode_sampler, encode_sampler};
    use spirula_resource::{
        BorderColour, DepthComparison, SamplerAddressing, SamplerFilter, SamplerState,
    };

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
            assert_eq!(decode_sampler(encode_sampler(&sampler)), sampler);
        }
    }
}
