//! Windows that reach from an element to the first or the last one: scans, as `cumsum` of JAX is
//! written.

use super::error::Result;
use super::reduction::{Window, fold, given};
use super::scalar::{Calc, Val};
use super::translator::{Tensor, Translator};
use crate::mlir::{Block, Op};
use spirula_tensor::ir::{Destination, Dim, Node, Structured, Yield};

/// Windows up to this size are folded each by itself, which may be fused with what follows.
const SHORT: u64 = 8;

/// A scan along a dimension.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan {
    dimension: usize,
    /// Whether it begins with the last element.
    is_reverse: bool,
}

impl Scan {
    /// The scan that windows are, if they are one of known length.
    pub fn of(t: &Translator<'_>, windows: &[Window]) -> Option<Scan> {
        let number = |node: Node| t.known_node(node);
        let is_dense = |w: &Window| (w.stride, w.base_dilation, w.dilation) == (1, 1, 1);
        let is_point = |w: &Window| {
            w.size == Dim::Static(1) && number(w.low) == Some(0) && number(w.high) == Some(0)
        };
        let mut wide = (0..windows.len()).filter(|at| !is_point(&windows[*at]));
        let dimension = wide.next()?;
        if wide.next().is_some() || !windows.iter().all(is_dense) {
            return None;
        }
        let window = &windows[dimension];
        let size = window.size.known().filter(|size| *size > SHORT)?;
        let rest = size as i64 - 1;
        let is_reverse = match (number(window.low)?, number(window.high)?) {
            (low, 0) if low == rest => false,
            (0, high) if high == rest => true,
            _ => return None,
        };
        (window.input == window.size).then_some(Scan {
            dimension,
            is_reverse,
        })
    }

    /// Gives what is folded up to each element.
    pub fn translate(
        self,
        t: &mut Translator<'_>,
        op: Op,
        block: Block,
        (operands, initial): (&[Tensor], &[Tensor]),
    ) -> Result<()> {
        let shape = t.shape(&operands[0]);
        let mut s = Structured::default();
        let mut position = s.reduced_position(&shape, &[self.dimension]);
        if self.is_reverse {
            let mut c = Calc::new(&mut s.body);
            let size = c.body.size(shape[self.dimension]);
            let last = c.plus(size, -1.0);
            position[self.dimension] = c.sub(last, position[self.dimension]);
        }
        let initial: Vec<Val> = initial.iter().map(|v| t.read(&mut s, v, &[])).collect();
        let values = operands.iter().map(|v| t.read(&mut s, v, &position));
        let values: Vec<Val> = values.collect();
        let results = fold(t, op, &mut s, block, (&initial, &values))?;
        for value in results.iter().flat_map(|val| &val.nodes) {
            s.yields.push(Yield {
                value: *value,
                destination: Destination::Prefix {
                    indices: position.clone(),
                    shape: shape.clone(),
                },
            });
        }
        let results = given(t, s, &results);
        t.give(op, results)
    }
}
