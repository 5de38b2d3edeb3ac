//! Small quotients: quotients of small numbers by constants, as products and shifts.
//!
//! Processors divide slowly, and the lanes of a vector one by one. They multiply and shift all lanes at once. For numbers up to a
//! bound there is a factor such that the quotient is a product without its lowest bits (T. Granlund, P. L. Montgomery, "Division by
//! Invariant Integers using Multiplication", 1994). For bounds below 2^15 the product fits 32 bits.
//!
//! Quotients by a multiple of the number of lanes are left: they are often the same for all lanes, which the CPU device detects.

/// Most lanes of a vector.
const LANES: u64 = 8;

/// The factor and the shift that give quotients by a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SmallReciprocal {
    /// The factor.
    pub factor: u32,
    /// Number of bits of the product that are dropped.
    pub shift: u32,
}

impl SmallReciprocal {
    /// The reciprocal of a divisor for numbers from 0 to `most`. None where products exceed 32 bits, or where the
    /// quotient is a shift, 0, or the same for all lanes.
    pub fn find(divisor: u64, most: u64) -> Option<SmallReciprocal> {
        let is_easy = divisor.is_power_of_two() || divisor.is_multiple_of(LANES) || divisor > most;
        if divisor == 0 || is_easy || most >= 1 << 16 {
            return None;
        }
        // The factor is 2^shift / divisor, rounded up. Its error times the number must not reach the next quotient.
        let exact = (1..32).find_map(|shift| {
            let factor = (1_u64 << shift).div_ceil(divisor);
            let excess = factor * divisor - (1 << shift);
            (excess * most < 1 << shift).then_some((factor, shift))
        });
        let (factor, shift) = exact?;
        let product = factor.checked_mul(most)?;
        (product <= u64::from(u32::MAX)).then_some(SmallReciprocal {
            factor: factor as u32,
            shift,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_exact() {
        for divisor in (3..200).chain([1000, 12_345, 32_767]) {
            for most in [divisor, 2 * divisor + 1, 255, 4095, 32_767, 65_535] {
                let Some(found) = SmallReciprocal::find(divisor, most) else {
                    let is_easy = divisor.is_power_of_two() || divisor.is_multiple_of(LANES);
                    assert!(is_easy || divisor > most || most > 32_767, "{divisor}");
                    continue;
                };
                for number in 0..=most as u32 {
                    let quotient = number.wrapping_mul(found.factor) >> found.shift;
                    assert_eq!(u64::from(quotient), u64::from(number) / divisor);
                }
            }
        }
    }
}
