//! Windows along a dimension that devices share: the elements that they need of their neighbours' parts.

use crate::rule::{FactorIndex, WindowHalo, WindowProperty};

/// The windows of a dimension. That of element `o` of the output begins at element `o * step - low` of the input, whose
/// elements are `base` apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowGeometry {
    /// Size of the input.
    pub(super) input: u64,
    /// Size of the output.
    pub(super) output: u64,
    /// Elements from the first to the last of a window.
    pub(super) extent: i64,
    /// Elements between the beginnings of windows.
    pub(super) step: i64,
    /// The dilation of the input.
    pub(super) base: i64,
    /// Elements of padding before the input.
    pub(super) low: i64,
    /// The row of the properties that is about the dimension, and the number of their rows.
    pub(super) row: usize,
    pub(super) rows: usize,
}

pub(super) fn greatest_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl WindowGeometry {
    /// Number of equal parts of input and output, if the windows of each part begin at the same elements of it.
    pub(super) fn find_parts(&self) -> Option<u64> {
        let scale = |size: u64, by: i64| size.checked_mul(u64::try_from(by).ok()?);
        let (windows, elements) = (
            scale(self.output, self.step)?,
            scale(self.input, self.base)?,
        );
        let is_regular = windows == elements && windows > 0 && self.extent > 0;
        is_regular.then(|| greatest_divisor(self.input, self.output))
    }

    /// The halo of a factor of the parts, for inputs that have it; none where windows reach over a half of the dimension.
    pub(super) fn find_halo(
        &self,
        factor: FactorIndex,
        inputs: usize,
        dimension: usize,
    ) -> Option<WindowHalo> {
        let rest = self
            .extent
            .checked_sub(self.step)?
            .checked_sub(self.low)?
            .checked_sub(1)?;
        let before = self.low.div_euclid(self.base);
        let after = rest.div_euclid(self.base) + 1;
        let reach = u64::try_from(before.max(after)).unwrap_or(0);
        (reach <= self.input / 2).then_some(WindowHalo {
            factor,
            inputs,
            dimension,
            size: self.input,
            before,
            after,
            property: WindowProperty::default(),
            row: self.row,
            rows: self.rows,
            padding: [self.low.rem_euclid(self.base), rest.rem_euclid(self.base)],
            has_fill: false,
        })
    }
}
