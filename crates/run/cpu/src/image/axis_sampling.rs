//! Axis sampling: the texels around a coordinate along one axis, and their weights.
//!
//! The rules are those of section 8.2 of the OpenCL C specification.

use spirula_resource::{SamplerAddressing, SamplerFilter};

/// The texels of an axis on both sides of a coordinate, and the weight of the second. A texel that is
/// outside is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AxisTexels {
    pub texels: [Option<i64>; 2],
    pub weight: f32,
}

/// The sampling along an axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct AxisSampling {
    pub address: SamplerAddressing,
    /// Whether coordinates are normalised.
    pub normalized: bool,
    pub filter: SamplerFilter,
}

impl AxisSampling {
    /// The texels around a coordinate, of `n`.
    #[inline(always)]
    pub fn locate_texels(self, coordinate: f32, offset: i32, n: u32) -> AxisTexels {
        let size = n as f32;
        let place = match self.address {
            _ if !self.normalized => coordinate,
            SamplerAddressing::Repeat => (coordinate - floor(coordinate)) * size,
            SamplerAddressing::Mirror if offset == 0 => {
                (coordinate - 2.0 * (0.5 * coordinate).round_ties_even()).abs() * size
            }
            _ => coordinate * size,
        };
        let texel = |at: i64| wrap_coordinate(at, n.into(), self.address);
        let offset = i64::from(offset);
        match self.filter {
            SamplerFilter::Nearest => {
                let at = (floor(place) as i64).saturating_add(offset);
                AxisTexels {
                    texels: [texel(at); 2],
                    weight: 0.0,
                }
            }
            SamplerFilter::Linear => {
                let low = floor(place - 0.5);
                let at = (low as i64).saturating_add(offset);
                AxisTexels {
                    texels: [texel(at), texel(at.saturating_add(1))],
                    weight: place - 0.5 - low,
                }
            }
        }
    }
}

impl AxisTexels {
    /// No axis: the one texel that there is.
    pub fn single_texel() -> AxisTexels {
        AxisTexels {
            texels: [Some(0); 2],
            weight: 0.0,
        }
    }
}

/// `f32::floor` without a call of a function, which plain x86-64 needs.
#[inline(always)]
fn floor(value: f32) -> f32 {
    // Larger numbers are integers, infinite, or no number.
    const ALL_INTEGERS: f32 = 8_388_608.0;
    if value.abs() < ALL_INTEGERS {
        let whole = value as i32 as f32;
        let below = if whole > value { whole - 1.0 } else { whole };
        return below.copysign(value);
    }
    value.floor()
}

/// The texel that represents one that may be outside of the image.
#[inline(always)]
fn wrap_coordinate(at: i64, n: i64, address: SamplerAddressing) -> Option<i64> {
    if (0..n).contains(&at) {
        return Some(at);
    }
    match address {
        SamplerAddressing::ClampToEdge => Some(at.clamp(0, n - 1)),
        SamplerAddressing::Border => None,
        SamplerAddressing::Repeat => Some(at.rem_euclid(n)),
        SamplerAddressing::Mirror => {
            let twice = at.rem_euclid(2 * n);
            Some(twice.min(2 * n - 1 - twice))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_axis_texels(
        coordinate: f32,
        address: SamplerAddressing,
        filter: SamplerFilter,
    ) -> [Option<i64>; 2] {
        let sampling = AxisSampling {
            address,
            normalized: true,
            filter,
        };
        sampling.locate_texels(coordinate, 0, 4).texels
    }

    #[test]
    fn floor_is_that_of_the_library() {
        for n in 0..=u16::MAX {
            for low in [0, 1, 0x7FFF, 0x8000, 0xFFFF] {
                let value = f32::from_bits(u32::from(n) << 16 | low);
                let (ours, wanted) = (floor(value), value.floor());
                let same = ours.to_bits() == wanted.to_bits() || wanted.is_nan();
                assert!(same, "{value:e}: {ours:e}, not {wanted:e}");
            }
        }
    }

    #[test]
    fn addresses() {
        let nearest = |c, address| find_axis_texels(c, address, SamplerFilter::Nearest)[0];
        assert_eq!(nearest(1.1, SamplerAddressing::ClampToEdge), Some(3));
        assert_eq!(nearest(-0.1, SamplerAddressing::ClampToEdge), Some(0));
        assert_eq!(nearest(1.0, SamplerAddressing::Border), None);
        assert_eq!(nearest(1.3, SamplerAddressing::Repeat), Some(1));
        assert_eq!(nearest(-0.1, SamplerAddressing::Repeat), Some(3));
        assert_eq!(nearest(1.1, SamplerAddressing::Mirror), Some(3));
        assert_eq!(nearest(-0.3, SamplerAddressing::Mirror), Some(1));
        assert_eq!(nearest(2.3, SamplerAddressing::Mirror), Some(1));
        let linear = |c, address| find_axis_texels(c, address, SamplerFilter::Linear);
        assert_eq!(
            linear(0.0, SamplerAddressing::ClampToEdge),
            [Some(0), Some(0)]
        );
        assert_eq!(linear(0.0, SamplerAddressing::Border), [None, Some(0)]);
        assert_eq!(linear(0.0, SamplerAddressing::Repeat), [Some(3), Some(0)]);
        assert_eq!(linear(1.0, SamplerAddressing::Mirror), [Some(3), Some(3)]);
    }

    #[test]
    fn strange_coordinates_have_a_texel() {
        for address in [
            SamplerAddressing::ClampToEdge,
            SamplerAddressing::Repeat,
            SamplerAddressing::Mirror,
        ] {
            for filter in [SamplerFilter::Nearest, SamplerFilter::Linear] {
                for c in [f32::NAN, f32::INFINITY, -f32::INFINITY, 1e30, -1e30] {
                    for texel in find_axis_texels(c, address, filter) {
                        assert!(
                            texel.is_some_and(|t| (0..4).contains(&t)),
                            "{c} {address:?}"
                        );
                    }
                }
            }
        }
    }
}
