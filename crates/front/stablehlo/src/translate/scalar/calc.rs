//! Builder of expressions over the nodes of a body.

use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};
use spirula_tensor::ir::{NodeGraph, ScalarNode};

/// Builds nodes. Operations on numbers follow from the type of their first operand.
pub struct ScalarBuilder<'a> {
    /// The body that the nodes belong to.
    pub body: &'a mut NodeGraph,
}

impl<'a> ScalarBuilder<'a> {
    /// A builder of nodes in a body.
    pub fn new(body: &'a mut NodeGraph) -> Self {
        ScalarBuilder { body }
    }

    /// The type of a node.
    pub fn node_type(&self, node: ScalarNode) -> ScalarType {
        self.body.ty(node)
    }

    fn is_float(&self, node: ScalarNode) -> bool {
        self.node_type(node).is_float()
    }

    /// A number of a type, rounded to it.
    pub fn make_constant(&mut self, ty: ScalarType, value: f64) -> ScalarNode {
        let bits = match ty {
            ScalarType::F64 => value.to_bits(),
            ScalarType::F32 => (value as f32).to_bits().into(),
            ScalarType::F16 => crate::mlir::MlirFloat::F16.format().encode_value(value),
            _ => value as i64 as u64,
        };
        self.body.intern_literal(ScalarLiteral::new(ty, bits))
    }

    /// A number of the type that a node has.
    pub fn constant_like(&mut self, node: ScalarNode, value: f64) -> ScalarNode {
        self.make_constant(self.node_type(node), value)
    }

    /// The largest finite number of the type of a float.
    pub fn largest_finite_like(&mut self, node: ScalarNode) -> ScalarNode {
        let ty = self.node_type(node);
        let bits = ty.format().map_or(0, |format| format.infinity() - 1);
        self.integer_constant(ty, bits)
    }

    /// An integer of a type by its bits.
    pub fn integer_constant(&mut self, ty: ScalarType, bits: u64) -> ScalarNode {
        self.body.intern_literal(ScalarLiteral::new(ty, bits))
    }

    /// A Boolean value.
    pub fn truth_constant(&mut self, value: bool) -> ScalarNode {
        self.integer_constant(ScalarType::Bool, value.into())
    }

    /// An operator on one operand.
    pub fn apply_unary(&mut self, op: ScalarOp, a: ScalarNode) -> ScalarNode {
        self.body.apply_op(op, &[a])
    }

    /// An operator on two operands.
    pub fn apply_binary(&mut self, op: ScalarOp, a: ScalarNode, b: ScalarNode) -> ScalarNode {
        self.body.apply_op(op, &[a, b])
    }

    fn apply_float_or_int(
        &mut self,
        float: ScalarOp,
        int: ScalarOp,
        a: ScalarNode,
        b: ScalarNode,
    ) -> ScalarNode {
        let op = if self.is_float(a) { float } else { int };
        self.apply_binary(op, a, b)
    }

    /// Sum.
    pub fn add(&mut self, a: ScalarNode, b: ScalarNode) -> ScalarNode {
        self.apply_float_or_int(ScalarOp::FAdd, ScalarOp::Add, a, b)
    }

    /// Difference.
    pub fn sub(&mut self, a: ScalarNode, b: ScalarNode) -> ScalarNode {
        self.apply_float_or_int(ScalarOp::FSub, ScalarOp::Sub, a, b)
    }

    /// Product.
    pub fn mul(&mut self, a: ScalarNode, b: ScalarNode) -> ScalarNode {
        self.apply_float_or_int(ScalarOp::FMul, ScalarOp::Mul, a, b)
    }

    /// Quotient of floats.
    pub fn div(&mut self, a: ScalarNode, b: ScalarNode) -> ScalarNode {
        self.apply_binary(ScalarOp::FDiv, a, b)
    }

    /// Negative.
    pub fn neg(&mut self, a: ScalarNode) -> ScalarNode {
        let op = if self.is_float(a) {
            ScalarOp::FNeg
        } else {
            ScalarOp::Neg
        };
        self.apply_unary(op, a)
    }

    /// Absolute value of a float.
    pub fn abs(&mut self, a: ScalarNode) -> ScalarNode {
        self.apply_unary(ScalarOp::FAbs, a)
    }

    /// Whether one is less than the other, as signed numbers.
    pub fn lt(&mut self, a: ScalarNode, b: ScalarNode) -> ScalarNode {
        self.apply_float_or_int(ScalarOp::FLt, ScalarOp::SLt, a, b)
    }

    /// Whether one is less than or equal to the other, as signed numbers.
    pub fn le(&mut self, a: ScalarNode, b: ScalarNode) -> ScalarNode {
        self.apply_float_or_int(ScalarOp::FLe, ScalarOp::SLe, a, b)
    }

    /// Whether a number is in a half-open range.
    pub fn is_between(&mut self, number: ScalarNode, [first, end]: [ScalarNode; 2]) -> ScalarNode {
        let not_before = self.le(first, number);
        let not_behind = self.lt(number, end);
        self.and(not_before, not_behind)
    }

    /// Whether they are equal.
    pub fn eq(&mut self, a: ScalarNode, b: ScalarNode) -> ScalarNode {
        self.apply_binary(ScalarOp::Eq, a, b)
    }

    /// Whether a node is less than a constant.
    pub fn lt_constant(&mut self, a: ScalarNode, value: f64) -> ScalarNode {
        let value = self.constant_like(a, value);
        self.lt(a, value)
    }

    /// Whether both are true.
    pub fn and(&mut self, a: ScalarNode, b: ScalarNode) -> ScalarNode {
        let known = |body: &NodeGraph, node| body.as_literal(node).map(|l| l.bits);
        match (known(self.body, a), known(self.body, b)) {
            (Some(1), _) => b,
            (_, Some(1)) => a,
            (Some(0), _) => a,
            (_, Some(0)) => b,
            _ => self.apply_binary(ScalarOp::LogAnd, a, b),
        }
    }

    /// Whether one of them is true.
    pub fn or(&mut self, a: ScalarNode, b: ScalarNode) -> ScalarNode {
        self.apply_binary(ScalarOp::LogOr, a, b)
    }

    /// Whether it is false.
    pub fn not(&mut self, a: ScalarNode) -> ScalarNode {
        self.apply_unary(ScalarOp::Not, a)
    }

    /// One of two values, by a condition.
    pub fn select(
        &mut self,
        condition: ScalarNode,
        then: ScalarNode,
        otherwise: ScalarNode,
    ) -> ScalarNode {
        self.body
            .apply_op(ScalarOp::Cond, &[condition, then, otherwise])
    }

    /// A node plus a constant.
    pub fn add_constant(&mut self, a: ScalarNode, value: f64) -> ScalarNode {
        let value = self.constant_like(a, value);
        self.add(a, value)
    }

    /// A node times a constant.
    pub fn mul_constant(&mut self, a: ScalarNode, value: f64) -> ScalarNode {
        let value = self.constant_like(a, value);
        self.mul(a, value)
    }

    /// Square.
    pub fn square(&mut self, a: ScalarNode) -> ScalarNode {
        self.mul(a, a)
    }

    /// `1 / a`
    pub fn reciprocal(&mut self, a: ScalarNode) -> ScalarNode {
        let one = self.constant_like(a, 1.0);
        self.div(one, a)
    }

    /// A value with the sign of another.
    pub fn copy_sign(&mut self, size: ScalarNode, sign: ScalarNode) -> ScalarNode {
        self.apply_binary(ScalarOp::CopySign, size, sign)
    }

    /// A polynomial, highest coefficient first.
    pub fn evaluate_polynomial(&mut self, x: ScalarNode, coefficients: &[f64]) -> ScalarNode {
        let mut sum = self.constant_like(x, coefficients.first().copied().unwrap_or(0.0));
        for coefficient in coefficients.iter().skip(1) {
            sum = self.mul(sum, x);
            sum = self.add_constant(sum, *coefficient);
        }
        sum
    }

    /// The same bits as another type.
    pub fn cast_bits(&mut self, to: ScalarType, a: ScalarNode) -> ScalarNode {
        self.body.apply_conversion(ScalarOp::Bits, to, a)
    }

    /// An integer of another width; one of fewer bits is truncated.
    pub fn resize_integer(&mut self, to: ScalarType, signed: bool, a: ScalarNode) -> ScalarNode {
        let op = if signed {
            ScalarOp::SExt
        } else {
            ScalarOp::ZExt
        };
        self.body.apply_conversion(op, to, a)
    }

    /// A float of another width.
    pub fn resize_float(&mut self, to: ScalarType, a: ScalarNode) -> ScalarNode {
        self.body.apply_conversion(ScalarOp::FConv, to, a)
    }

    /// An integer operation with a constant.
    pub fn apply_with_constant(&mut self, op: ScalarOp, a: ScalarNode, bits: u64) -> ScalarNode {
        let bits = self.integer_constant(self.node_type(a), bits);
        self.apply_binary(op, a, bits)
    }
}
