//! Formulas of QR iterations on single numbers: shifts, reflections of a bulge, and the standard form of blocks of two.
//!
//! The shifts are those of J. G. F. Francis ("The QR transformation", 1961) and of J. H. Wilkinson ("The algebraic
//! eigenvalue problem", 1965).

use super::scalar_step::add_sizes;
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::ScalarNode;

/// The elements of a matrix of two rows, row by row.
pub(super) type PairBlock = [ScalarNode; 4];

/// Real and imaginary part of the first of two shifts, which are a conjugate pair or equal. They are the eigenvalues of
/// a block, or twice the one that is closer to its last element.
pub(super) fn compute_real_shift(c: &mut ScalarBuilder<'_>, block: PairBlock) -> [ScalarNode; 2] {
    let sizes = block.map(|node| c.abs(node));
    let total = sizes
        .into_iter()
        .reduce(|a, b| c.add(a, b))
        .unwrap_or(block[0]);
    let zero = c.constant_like(total, 0.0);
    let is_zero = c.eq(total, zero);
    let one = c.constant_like(total, 1.0);
    let scale = c.select(is_zero, one, total);
    let [a, b, low, d] = block.map(|node| c.div(node, scale));
    let sum = c.add(a, d);
    let mean = c.mul_constant(sum, 0.5);
    let (first, last) = (c.sub(a, mean), c.sub(d, mean));
    let (diagonal, product) = (c.mul(first, last), c.mul(b, low));
    let determinant = c.sub(diagonal, product);
    let size = c.abs(determinant);
    let root = c.apply_unary(Scalar::Sqrt, size);
    // The real eigenvalues are on both sides of the mean.
    let is_below = c.lt(last, zero);
    let negative = c.neg(root);
    let closer = c.select(is_below, negative, root);
    let closer = c.add(mean, closer);
    let is_real = c.lt(determinant, zero);
    let re = c.select(is_real, closer, mean);
    let im = c.select(is_real, zero, root);
    [c.mul(re, scale), c.mul(im, scale)]
}

/// The eigenvalue of a block that is closer to its last element.
pub(super) fn compute_complex_shift(
    c: &mut ScalarBuilder<'_>,
    [a, b, low, d]: [ElementValue; 4],
) -> ElementValue {
    let roots = [b, low].map(|value| c.sqrt_value(&value));
    let beside = c.multiply_values(&roots[0], &roots[1]);
    let difference = c.subtract_values(&a, &d);
    let half = c.constant_like(d.node(), 0.5);
    let half = c.scale_value(&difference, half);
    let (size, other) = (add_sizes(c, &half), add_sizes(c, &beside));
    let scale = c.apply_binary(Scalar::FMax, size, other);
    let zero = c.constant_like(scale, 0.0);
    let one = c.constant_like(scale, 1.0);
    let is_zero = c.eq(other, zero);
    let scale = c.select(is_zero, one, scale);
    let [x, u] = [&half, &beside].map(|value| divide_parts(c, value, scale));
    let (xx, uu) = (c.multiply_values(&x, &x), c.multiply_values(&u, &u));
    let sum = c.add_values(&xx, &uu);
    let root = c.sqrt_value(&sum);
    // Of both signs of the root, that which does not cancel x.
    let products: Vec<ScalarNode> = (x.nodes.iter().zip(&root.nodes))
        .map(|(a, b)| c.mul(*a, *b))
        .collect();
    let along = products
        .into_iter()
        .reduce(|a, b| c.add(a, b))
        .unwrap_or(zero);
    let is_against = c.lt(along, zero);
    let minus = c.constant_like(scale, -1.0);
    let opposite = c.scale_value(&root, minus);
    let root = c.select_value(is_against, &opposite, &root);
    let divisor = c.add_values(&x, &root);
    let ratio = c.divide_values(&u, &divisor);
    let change = c.multiply_values(&beside, &ratio);
    let closer = c.subtract_values(&d, &change);
    c.select_value(is_zero, &d, &closer)
}

fn divide_parts(c: &mut ScalarBuilder<'_>, value: &ElementValue, by: ScalarNode) -> ElementValue {
    ElementValue {
        element: value.element,
        nodes: value.nodes.iter().map(|node| c.div(*node, by)).collect(),
    }
}

/// A reflection 1 − τ v vᴴ of a short column, where v begins with 1.
pub(super) struct BulgeReflector {
    /// The first element of the reflected column; the others are zero.
    pub corner: ElementValue,
    pub tau: ElementValue,
    /// v without its first element.
    pub tail: Vec<ElementValue>,
}

/// The reflection of a column. A real column that is zero below its first element is unchanged.
pub(super) fn compute_bulge_reflector(
    c: &mut ScalarBuilder<'_>,
    column: &[ElementValue],
) -> BulgeReflector {
    let element = column[0].element;
    let sizes: Vec<ScalarNode> = column.iter().map(|value| add_sizes(c, value)).collect();
    let largest = sizes
        .into_iter()
        .reduce(|a, b| c.apply_binary(Scalar::FMax, a, b));
    let largest = largest.unwrap_or_else(|| column[0].node());
    let zero = c.constant_like(largest, 0.0);
    let one = c.constant_like(largest, 1.0);
    let is_zero = c.eq(largest, zero);
    let scale = c.select(is_zero, one, largest);
    let scaled: Vec<ElementValue> = column
        .iter()
        .map(|value| divide_parts(c, value, scale))
        .collect();
    let squares: Vec<ScalarNode> = scaled[1..]
        .iter()
        .map(|value| c.square_size(value))
        .collect();
    let below = squares
        .into_iter()
        .reduce(|a, b| c.add(a, b))
        .unwrap_or(zero);
    let first = &scaled[0];
    let square = c.square_size(first);
    let square = c.add(square, below);
    let norm = c.apply_unary(Scalar::Sqrt, square);
    let size = c.copy_sign(norm, first.node());
    let corner = c.neg(size);
    let corner = c.of_real(element, corner);
    let difference = c.subtract_values(&corner, first);
    let tau = c.divide_values(&difference, &corner);
    let divisor = c.subtract_values(first, &corner);
    let mut stays = c.eq(below, zero);
    if let [_, im] = first.nodes[..] {
        let is_real = c.eq(im, zero);
        stays = c.and(stays, is_real);
    }
    let nothing = c.make_constant_value(element, 0.0);
    let corner = c.scale_value(&corner, scale);
    let tail = scaled[1..].iter().map(|value| {
        let ratio = c.divide_values(value, &divisor);
        c.select_value(stays, &nothing, &ratio)
    });
    let tail = tail.collect();
    BulgeReflector {
        corner: c.select_value(stays, &column[0], &corner),
        tau: c.select_value(stays, &nothing, &tau),
        tail,
    }
}

/// The standard form of a real block: it is triangular, or has equal elements on the diagonal and others of opposite signs.
pub(super) struct StandardPair {
    pub block: PairBlock,
    /// Cosine and sine of the rotation that leads to it.
    rotation: [ScalarNode; 2],
}

/// Transforms a block to its standard form by a rotation.
pub(super) fn standardise_pair(
    c: &mut ScalarBuilder<'_>,
    block: PairBlock,
    unit: f64,
) -> StandardPair {
    let [a, b, low, d] = block;
    let zero = c.constant_like(a, 0.0);
    let one = c.constant_like(a, 1.0);
    let difference = c.sub(a, d);
    let half = c.mul_constant(difference, 0.5);
    let (b_size, low_size, half_size) = (c.abs(b), c.abs(low), c.abs(half));
    let largest = c.apply_binary(Scalar::FMax, b_size, low_size);
    let smallest = c.apply_binary(Scalar::FMin, b_size, low_size);
    let signs = {
        let (b_sign, low_sign) = (c.copy_sign(one, b), c.copy_sign(one, low));
        c.mul(b_sign, low_sign)
    };
    let smallest = c.mul(smallest, signs);
    let scale = c.apply_binary(Scalar::FMax, half_size, largest);
    let discriminant = {
        let (first, second) = (c.div(half, scale), c.div(largest, scale));
        let (first, second) = (c.mul(first, half), c.mul(second, smallest));
        c.add(first, second)
    };
    let apart = triangularise_pair(c, block, half, scale, discriminant, [largest, smallest]);
    let equal = equalise_diagonal(c, block, half);
    let bound = c.mul_constant(scale, 4.0 * unit);
    let is_close = c.lt(discriminant, bound);
    let mut best = select_pair(c, is_close, &equal, &apart);
    // Blocks that have the form already, and those that have it with rows and columns exchanged.
    let is_equal = c.eq(difference, zero);
    let is_opposite = c.lt(signs, zero);
    let (is_triangular, is_lower) = (c.eq(low, zero), c.eq(b, zero));
    let is_pair = c.and(is_equal, is_opposite);
    let minus = c.neg(low);
    let exchanged = StandardPair {
        block: [d, minus, zero, a],
        rotation: [zero, one],
    };
    let same = StandardPair {
        block,
        rotation: [one, zero],
    };
    best = select_pair(c, is_pair, &same, &best);
    best = select_pair(c, is_lower, &exchanged, &best);
    select_pair(c, is_triangular, &same, &best)
}

fn select_pair(
    c: &mut ScalarBuilder<'_>,
    condition: ScalarNode,
    a: &StandardPair,
    b: &StandardPair,
) -> StandardPair {
    StandardPair {
        block: [0, 1, 2, 3].map(|at| c.select(condition, a.block[at], b.block[at])),
        rotation: [0, 1].map(|at| c.select(condition, a.rotation[at], b.rotation[at])),
    }
}

/// A block with two real eigenvalues: the rotation to the eigenvector of the one that is further from the last element.
fn triangularise_pair(
    c: &mut ScalarBuilder<'_>,
    [_, b, low, d]: PairBlock,
    half: ScalarNode,
    scale: ScalarNode,
    discriminant: ScalarNode,
    [largest, smallest]: [ScalarNode; 2],
) -> StandardPair {
    let root = {
        let parts = [scale, discriminant].map(|node| c.apply_unary(Scalar::Sqrt, node));
        c.mul(parts[0], parts[1])
    };
    let root = c.copy_sign(root, half);
    let far = c.add(half, root);
    let size = c.apply_binary(Scalar::Hypot, low, far);
    let ratio = c.div(largest, far);
    let change = c.mul(ratio, smallest);
    let zero = c.constant_like(half, 0.0);
    StandardPair {
        block: [c.add(d, far), c.sub(b, low), zero, c.sub(d, change)],
        rotation: [c.div(far, size), c.div(low, size)],
    }
}

/// A block with complex or almost equal eigenvalues: the rotation that makes the diagonal equal. If the eigenvalues turn out
/// to be real, a second rotation makes the block triangular.
fn equalise_diagonal(
    c: &mut ScalarBuilder<'_>,
    [a, b, low, d]: PairBlock,
    half: ScalarNode,
) -> StandardPair {
    let sum = c.add(b, low);
    let difference = c.sub(a, d);
    let size = c.apply_binary(Scalar::Hypot, sum, difference);
    let zero = c.constant_like(a, 0.0);
    let one = c.constant_like(a, 1.0);
    let sum_size = c.abs(sum);
    let ratio = c.div(sum_size, size);
    let ratio = c.add(ratio, one);
    let ratio = c.mul_constant(ratio, 0.5);
    let cosine = c.apply_unary(Scalar::Sqrt, ratio);
    let divisor = c.mul(size, cosine);
    let sine = c.div(half, divisor);
    let sign = c.copy_sign(one, sum);
    let sine = c.mul(sine, sign);
    let sine = c.neg(sine);
    let [a, b, low, d] = rotate_block(c, [a, b, low, d], [cosine, sine]);
    let sum = c.add(a, d);
    let mean = c.mul_constant(sum, 0.5);
    let pair = StandardPair {
        block: [mean, b, low, mean],
        rotation: [cosine, sine],
    };
    // Rounding may leave elements of one sign.
    let product = {
        let (b_sign, low_sign) = (c.copy_sign(one, b), c.copy_sign(one, low));
        c.mul(b_sign, low_sign)
    };
    let is_same = c.lt(zero, product);
    let (b_size, low_size) = (c.abs(b), c.abs(low));
    let roots = [b_size, low_size].map(|node| c.apply_unary(Scalar::Sqrt, node));
    let far = c.mul(roots[0], roots[1]);
    let far = c.copy_sign(far, low);
    let total = c.add(b_size, low_size);
    let total = c.apply_unary(Scalar::Sqrt, total);
    let [second_cosine, second_sine] = roots.map(|root| c.div(root, total));
    let turned = StandardPair {
        block: [c.add(mean, far), c.sub(b, low), zero, c.sub(mean, far)],
        rotation: compose_rotations(c, [cosine, sine], [second_cosine, second_sine]),
    };
    let pair = select_pair(c, is_same, &turned, &pair);
    let is_lower = c.eq(b, zero);
    let minus = c.neg(low);
    let exchanged = StandardPair {
        block: [mean, minus, zero, mean],
        rotation: compose_rotations(c, [cosine, sine], [zero, one]),
    };
    let pair = select_pair(c, is_lower, &exchanged, &pair);
    let is_triangular = c.eq(low, zero);
    let ready = StandardPair {
        block: [mean, b, zero, mean],
        rotation: [cosine, sine],
    };
    select_pair(c, is_triangular, &ready, &pair)
}

fn rotate_block(
    c: &mut ScalarBuilder<'_>,
    [a, b, low, d]: PairBlock,
    [cosine, sine]: [ScalarNode; 2],
) -> PairBlock {
    // [x, y] becomes [x cos + y sin, y cos − x sin].
    let mut turn = |x, y| {
        let (first, second) = (c.mul(x, cosine), c.mul(y, sine));
        let (third, fourth) = (c.mul(y, cosine), c.mul(x, sine));
        [c.add(first, second), c.sub(third, fourth)]
    };
    let ([a, b], [low, d]) = (turn(a, b), turn(low, d));
    let ([a, low], [b, d]) = (turn(a, low), turn(b, d));
    [a, b, low, d]
}

fn compose_rotations(
    c: &mut ScalarBuilder<'_>,
    [cosine, sine]: [ScalarNode; 2],
    [other_cosine, other_sine]: [ScalarNode; 2],
) -> [ScalarNode; 2] {
    let (cc, ss) = (c.mul(cosine, other_cosine), c.mul(sine, other_sine));
    let (cs, sc) = (c.mul(cosine, other_sine), c.mul(sine, other_cosine));
    [c.sub(cc, ss), c.add(cs, sc)]
}

impl StandardPair {
    /// The rotation followed by a change of the second row's sign, as a reflection: τ and the second element of v.
    pub fn as_reflection(&self, c: &mut ScalarBuilder<'_>) -> [ScalarNode; 2] {
        let [cosine, sine] = self.rotation;
        let zero = c.constant_like(cosine, 0.0);
        // Both signs of the rotation lead to the same block; a negative cosine cancels nothing.
        let is_positive = c.lt(zero, cosine);
        let (minus_cosine, minus_sine) = (c.neg(cosine), c.neg(sine));
        let cosine = c.select(is_positive, minus_cosine, cosine);
        let sine = c.select(is_positive, minus_sine, sine);
        let one = c.constant_like(cosine, 1.0);
        let tau = c.sub(one, cosine);
        let ratio = c.div(sine, tau);
        [tau, c.neg(ratio)]
    }

    /// The block after that reflection.
    pub fn reflected_block(&self, c: &mut ScalarBuilder<'_>) -> PairBlock {
        let [a, b, low, d] = self.block;
        [a, c.neg(b), c.neg(low), d]
    }
}
