//! Scalars of the values of regions.

use super::scalar::ElementValue;
use crate::mlir::MlirValue as Mlir;

/// Scalar of each value of a region, with the number of the body that its nodes are in.
#[derive(Debug)]
pub(super) struct RegionScalars {
    values: Vec<Option<(u32, ElementValue)>>,
    body: u32,
}

impl RegionScalars {
    /// No value has a scalar yet.
    pub fn new(values: usize) -> Self {
        RegionScalars {
            values: vec![None; values],
            body: 0,
        }
    }

    /// Begins another body; the scalars of the last one are forgotten.
    pub fn begin_body(&mut self) {
        self.body += 1;
    }

    /// Says what a value is in the body that is being built.
    pub fn bind_value(&mut self, value: Mlir, val: ElementValue) {
        self.values[value.index()] = Some((self.body, val));
    }

    /// The scalar of a value in the body that is being built.
    pub fn get(&self, value: Mlir) -> Option<&ElementValue> {
        let (body, val) = self.values[value.index()].as_ref()?;
        (*body == self.body).then_some(val)
    }
}
