//! Affine maps and integer sets.
//!
//! Expressions are in MLIR's canonical form: constants are folded and on the right, sums are
//! `variable first`, differences are sums with negative multiples.

/// An affine expression over dimensions and symbols.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AffineExpr {
    /// `d0`
    Dim(u32),
    /// `s0`
    Symbol(u32),
    /// A number.
    Constant(i64),
    /// An operator and its two operands.
    Binary(AffineOp, Box<AffineExpr>, Box<AffineExpr>),
}

/// An operator on two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AffineOp {
    /// `+`
    Add,
    /// `*`
    Mul,
    /// `mod`
    Mod,
    /// `floordiv`
    FloorDiv,
    /// `ceildiv`
    CeilDiv,
}

/// `(d0, d1)[s0] -> (d0 + s0, d1)`
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AffineMap {
    /// Number of dimensions.
    pub dims: u32,
    /// Number of symbols.
    pub symbols: u32,
    /// One expression for each result.
    pub results: Vec<AffineExpr>,
}

/// `(d0)[s0] : (d0 - 1 >= 0, s0 - d0 == 0)`
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IntegerSet {
    /// Number of dimensions.
    pub dims: u32,
    /// Number of symbols.
    pub symbols: u32,
    /// Expressions that are zero (`true`) or at least zero.
    pub constraints: Vec<(AffineExpr, bool)>,
}

impl AffineExpr {
    /// Whether no dimension occurs.
    pub fn is_symbolic(&self) -> bool {
        match self {
            AffineExpr::Dim(_) => false,
            AffineExpr::Symbol(_) | AffineExpr::Constant(_) => true,
            AffineExpr::Binary(_, a, b) => a.is_symbolic() && b.is_symbolic(),
        }
    }

    fn as_constant(&self) -> Option<i64> {
        match *self {
            AffineExpr::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// `self op other` in MLIR's form; `None` if the arithmetic of constants overflows or divides
    /// by a number that is not positive.
    pub fn combine_with(self, op: AffineOp, other: AffineExpr) -> Option<AffineExpr> {
        let (mut a, mut b) = (self, other);
        if let (Some(x), Some(y)) = (a.as_constant(), b.as_constant()) {
            return op.fold_constants(x, y).map(AffineExpr::Constant);
        }
        if matches!(op, AffineOp::Add | AffineOp::Mul) {
            let swap = a.as_constant().is_some() || (a.is_symbolic() && !b.is_symbolic());
            if swap {
                std::mem::swap(&mut a, &mut b);
            }
        }
        match (op, b.as_constant()) {
            (AffineOp::Add, Some(0)) | (AffineOp::Mul, Some(1)) => return Some(a),
            (AffineOp::FloorDiv | AffineOp::CeilDiv, Some(1)) => return Some(a),
            (AffineOp::Mul, Some(0)) | (AffineOp::Mod, Some(1)) => {
                return Some(AffineExpr::Constant(0));
            }
            (AffineOp::Mod | AffineOp::FloorDiv | AffineOp::CeilDiv, Some(y)) if y < 1 => {
                return None;
            }
            _ => {}
        }
        if let (AffineExpr::Binary(inner, _, c), Some(y)) = (&a, b.as_constant())
            && *inner == op
            && matches!(op, AffineOp::Add | AffineOp::Mul)
            && let Some(x) = c.as_constant()
        {
            let AffineExpr::Binary(_, a, _) = a else {
                return None;
            };
            return a.combine_with(op, AffineExpr::Constant(op.fold_constants(x, y)?));
        }
        // A constant moves to the end of a sum.
        if op == AffineOp::Add
            && let AffineExpr::Binary(AffineOp::Add, x, c) = &a
            && c.as_constant().is_some()
        {
            let sum = x.as_ref().clone().combine_with(op, b)?;
            return sum.combine_with(op, c.as_ref().clone());
        }
        Some(AffineExpr::Binary(op, Box::new(a), Box::new(b)))
    }
}

impl AffineOp {
    fn fold_constants(self, x: i64, y: i64) -> Option<i64> {
        match self {
            AffineOp::Add => x.checked_add(y),
            AffineOp::Mul => x.checked_mul(y),
            _ if y < 1 => None,
            AffineOp::Mod => x.checked_rem_euclid(y),
            AffineOp::FloorDiv => x.checked_div_euclid(y),
            AffineOp::CeilDiv => x.checked_neg()?.checked_div_euclid(y)?.checked_neg(),
        }
    }
}
