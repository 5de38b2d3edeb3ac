//! Rotations of C. G. J. Jacobi's method: all disjoint pairs of an iteration at once.
//!
//! A sweep rotates every pair of indices once, in iterations of disjoint pairs. The order is that
//! of a round-robin tournament, in which one player stays and the others move on (R. P. Brent, F.
//! T. Luk, 1985). In iteration r the partner of i is the index with i + partner = 2r modulo the
//! number of moving players.

use super::{append_index, read_iteration_number};
use crate::translate::element::TensorElement;
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::{DimExtent, ScalarNode, StructuredOp, TensorValue};

/// Indices that are paired.
#[derive(Clone, Copy)]
pub(super) struct JacobiPairing {
    pub count: u64,
}

/// Two indices that are paired.
pub(super) struct JacobiPair {
    /// The lower one.
    pub first: ScalarNode,
    pub second: ScalarNode,
    /// Whether the requested index is the lower one.
    pub is_first: ScalarNode,
    /// Whether there are two.
    pub exists: ScalarNode,
}

impl JacobiPairing {
    /// Players that move: an odd number.
    fn moving_count(self) -> i64 {
        (self.count.max(2).next_multiple_of(2) - 1) as i64
    }

    /// Number of iterations until the matrix is diagonal in the type's precision.
    pub fn iteration_count(self, element: TensorElement) -> DimExtent {
        let levels = 64 - u64::from(self.count.max(1).leading_zeros());
        let sweeps = match element.storage_type().width() {
            64 => levels + 7,
            _ => levels + 4,
        };
        let rounds = sweeps * self.moving_count() as u64;
        DimExtent::Static(if self.count < 2 { 0 } else { rounds })
    }

    /// Number of iterations that rotate each pair once.
    pub fn sweep_length(self) -> DimExtent {
        DimExtent::Static(self.moving_count() as u64)
    }

    /// The partner of an index in an iteration, and whether there is one; without one, the index
    /// itself.
    pub fn find_partner(
        self,
        c: &mut ScalarBuilder<'_>,
        index: ScalarNode,
        round: ScalarNode,
    ) -> (ScalarNode, ScalarNode) {
        let moving = c.body.intern_i64(self.moving_count());
        let round = c.apply_binary(Scalar::SMod, round, moving);
        let twice = c.add(round, round);
        let rest = c.sub(twice, index);
        let partner = c.apply_binary(Scalar::SMod, rest, moving);
        let is_self = c.eq(partner, index);
        let partner = c.select(is_self, moving, partner);
        let stays = c.eq(index, moving);
        let partner = c.select(stays, round, partner);
        let count = c.body.intern_i64(self.count as i64);
        let exists = c.lt(partner, count);
        (c.select(exists, partner, index), exists)
    }

    /// An index and its partner in an iteration, in order.
    pub fn find_pair(
        self,
        c: &mut ScalarBuilder<'_>,
        index: ScalarNode,
        round: ScalarNode,
    ) -> JacobiPair {
        let (partner, exists) = self.find_partner(c, index, round);
        let is_first = c.lt(index, partner);
        JacobiPair {
            first: c.select(is_first, index, partner),
            second: c.select(is_first, partner, index),
            is_first,
            exists,
        }
    }
}

/// The column of the rotation for one index of a pair. It is 1 minus its element on the diagonal, which is real, and
/// the element in the partner's row. Of small angles, a rounded cosine would be too large on the average (H.
/// Rutishauser, "The Jacobi method for real symmetric matrices", 1966). The rotation annihilates `between`, the
/// off-diagonal element of a Hermitian matrix with `first` and `second` on the diagonal.
pub(super) fn compute_rotation_column(
    c: &mut ScalarBuilder<'_>,
    first: ScalarNode,
    second: ScalarNode,
    between: &ElementValue,
    is_first: ScalarNode,
) -> (ScalarNode, ElementValue) {
    let element = between.element;
    let size = match between.nodes[..] {
        [re, im] => c.apply_binary(Scalar::Hypot, re, im),
        _ => c.abs(between.node()),
    };
    let (zero, one) = (c.constant_like(size, 0.0), c.constant_like(size, 1.0));
    // A number below all normal ones cannot be a divisor.
    let least = match c.node_type(size).width() {
        64 => f64::MIN_POSITIVE,
        _ => f32::MIN_POSITIVE.into(),
    };
    let is_zero = c.lt_constant(size, least);
    let divisor = c.select(is_zero, one, size);
    let difference = c.sub(second, first);
    let twice = c.add(divisor, divisor);
    let tau = c.div(difference, twice);
    let tau_size = c.abs(tau);
    let root = c.apply_binary(Scalar::Hypot, tau, one);
    let sum = c.add(tau_size, root);
    let tangent = c.reciprocal(sum);
    let tangent = c.copy_sign(tangent, tau);
    let tangent = c.select(is_zero, zero, tangent);
    let root = c.apply_binary(Scalar::Hypot, tangent, one);
    let cosine = c.reciprocal(root);
    let sine = c.mul(tangent, cosine);
    let square = c.square(sine);
    let above_one = c.add(one, cosine);
    let versine = c.div(square, above_one);
    let divisor = c.of_real(element, divisor);
    let phase = c.divide_values(between, &divisor);
    let above = c.scale_value(&phase, sine);
    let below = c.conjugate_value(&above);
    let minus = c.neg(one);
    let below = c.scale_value(&below, minus);
    let nothing = c.make_constant_value(element, 0.0);
    let sine = c.select_value(is_first, &below, &above);
    (versine, c.select_value(is_zero, &nothing, &sine))
}

/// An element times the cosine, of which `versine` is the difference from 1, plus another element.
pub(super) fn rotate_value(
    c: &mut ScalarBuilder<'_>,
    own: &ElementValue,
    versine: ScalarNode,
    other: &ElementValue,
) -> ElementValue {
    let less = c.scale_value(own, versine);
    let change = c.subtract_values(other, &less);
    c.add_values(own, &change)
}

/// The partner of an index in an iteration.
pub(super) fn find_iteration_partner(
    s: &mut StructuredOp,
    pairs: JacobiPairing,
    index: ScalarNode,
    round: TensorValue,
) -> ScalarNode {
    let round = read_iteration_number(s, round);
    pairs
        .find_partner(&mut ScalarBuilder::new(&mut s.body), index, round)
        .0
}

/// The column of a rotation at an index.
pub(super) struct RotationColumn {
    index: ScalarNode,
    partner: ScalarNode,
    /// 1 minus the cosine.
    pub versine: ScalarNode,
    pub sine: ElementValue,
}

impl RotationColumn {
    /// Reads the column of an index.
    pub fn from_rotations(
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        rotations: &[TypedTensor],
        pairs: JacobiPairing,
        outer: &[ScalarNode],
        index: ScalarNode,
        round: TensorValue,
    ) -> RotationColumn {
        RotationColumn {
            index,
            partner: find_iteration_partner(s, pairs, index, round),
            versine: t
                .read_element(s, &rotations[0], &append_index(outer, index))
                .node(),
            sine: t.read_element(s, &rotations[1], &append_index(outer, index)),
        }
    }

    /// An element of a matrix times the rotation; a function computes positions in its row.
    pub fn rotate_element(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        tensor: &TypedTensor,
        position: impl Fn(ScalarNode) -> Vec<ScalarNode>,
    ) -> ElementValue {
        let own = t.read_element(s, tensor, &position(self.index));
        let other = t.read_element(s, tensor, &position(self.partner));
        let mut c = ScalarBuilder::new(&mut s.body);
        let other = c.multiply_values(&other, &self.sine);
        rotate_value(&mut c, &own, self.versine, &other)
    }
}
