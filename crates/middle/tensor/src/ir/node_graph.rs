//! Node graphs: scalars that are computed at the points of an index space.
//!
//! A graph has pure nodes in an arena, operands before their users, each node once. Nodes are simplified when they are
//! created: operators on literals are evaluated, and index arithmetic is brought to a normal form ([`super::AffineSum`]).
//!
//! The operand of [`ScalarOp::Cond`] that is not chosen is not evaluated, so it may read outside of a tensor.

use super::{AffineSum, DimExtent, ScalarNode, TensorValue};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// Operands of a node, or the position of an element.
pub type NodeList = SmallVec<[ScalarNode; 4]>;

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NodeData {
    /// A literal.
    Literal(ScalarLiteral),
    /// The index along an axis, an `i64`.
    Index(u32),
    /// The counter of a schedule's loop, an `i64`.
    Counter(u32),
    /// The size of a dimension: the value of a tensor of type `i64[]`.
    Size(TensorValue),
    /// An element of a tensor at a position of `i64`s.
    Element(TensorValue, NodeList),
    /// An operator on operands.
    Apply(ScalarOperator, NodeList),
    /// An accumulator after the reduction; numbered through all reductions.
    Reduced(u32),
    /// An argument of a combiner.
    Argument(u32),
}

/// The least and the greatest value of an integer node.
pub type NodeBounds = (i64, i64);

#[derive(Clone, Debug)]
struct NodeInfo {
    data: NodeData,
    ty: ScalarType,
    range: Option<NodeBounds>,
}

/// The nodes of a structured operation or a combiner.
#[derive(Clone, Debug, Default)]
pub struct NodeGraph {
    nodes: Vec<NodeInfo>,
    known: FxHashMap<NodeData, ScalarNode>,
}

impl NodeGraph {
    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Ids of all nodes, operands first.
    pub fn node_ids(&self) -> impl DoubleEndedIterator<Item = ScalarNode> + use<> {
        (0..self.nodes.len()).map(ScalarNode::new)
    }

    /// A node.
    pub fn node(&self, node: ScalarNode) -> &NodeData {
        &self.nodes[node.index()].data
    }

    /// The type of a node.
    pub fn ty(&self, node: ScalarNode) -> ScalarType {
        self.nodes[node.index()].ty
    }

    /// The bounds of an integer node, if they are known.
    pub fn node_bounds(&self, node: ScalarNode) -> Option<NodeBounds> {
        self.nodes[node.index()].range
    }

    /// The value of a node, if it is a literal.
    pub fn as_literal(&self, node: ScalarNode) -> Option<ScalarLiteral> {
        match self.node(node) {
            NodeData::Literal(literal) => Some(*literal),
            _ => None,
        }
    }

    /// The number of an argument, if the node is one.
    pub fn as_argument(&self, node: ScalarNode) -> Option<u32> {
        match self.node(node) {
            NodeData::Argument(number) => Some(*number),
            _ => None,
        }
    }

    /// The number of an axis, if the node is its index.
    pub fn as_index(&self, node: ScalarNode) -> Option<u32> {
        match self.node(node) {
            NodeData::Index(axis) => Some(*axis),
            _ => None,
        }
    }

    /// Operator and operands of a node, if it has an operator.
    pub fn as_apply(&self, node: ScalarNode) -> Option<(ScalarOperator, &[ScalarNode])> {
        match self.node(node) {
            NodeData::Apply(operator, operands) => Some((*operator, operands)),
            _ => None,
        }
    }

    /// The operands of a node, or its position.
    pub fn operands(&self, node: ScalarNode) -> &[ScalarNode] {
        match self.node(node) {
            NodeData::Apply(_, operands) | NodeData::Element(_, operands) => operands,
            _ => &[],
        }
    }

    /// All tensors that are read, in the order of the nodes, with repetitions.
    pub fn values_read(&self) -> impl Iterator<Item = TensorValue> + '_ {
        self.nodes.iter().filter_map(|info| match info.data {
            NodeData::Element(value, _) | NodeData::Size(value) => Some(value),
            _ => None,
        })
    }

    pub(super) fn intern_node(
        &mut self,
        data: NodeData,
        ty: ScalarType,
        range: Option<NodeBounds>,
    ) -> ScalarNode {
        if let Some(node) = self.known.get(&data) {
            return *node;
        }
        let node = ScalarNode::new(self.nodes.len());
        self.known.insert(data.clone(), node);
        self.nodes.push(NodeInfo { data, ty, range });
        node
    }

    /// A literal.
    pub fn intern_literal(&mut self, literal: ScalarLiteral) -> ScalarNode {
        let value = literal.to_signed();
        let range = literal.ty.is_int().then_some((value, value));
        self.intern_node(NodeData::Literal(literal), literal.ty, range)
    }

    /// A literal of type `i64`.
    pub fn intern_i64(&mut self, value: i64) -> ScalarNode {
        self.intern_literal(ScalarLiteral::from_i64(value))
    }

    /// The index along an axis whose size is `extent`.
    pub fn intern_index(&mut self, axis: u32, extent: DimExtent) -> ScalarNode {
        let range = bound_index(extent);
        self.intern_node(NodeData::Index(axis), ScalarType::I64, Some(range))
    }

    /// The counter of a loop with `extent` iterations.
    pub fn intern_counter(&mut self, number: u32, extent: DimExtent) -> ScalarNode {
        if extent == DimExtent::Static(1) {
            return self.intern_i64(0);
        }
        let range = bound_index(extent);
        self.intern_node(NodeData::Counter(number), ScalarType::I64, Some(range))
    }

    /// The size of a dimension.
    pub fn intern_size(&mut self, dim: DimExtent) -> ScalarNode {
        match dim {
            DimExtent::Static(size) => self.intern_i64(size as i64),
            DimExtent::Value(value) => {
                let range = Some((0, i64::from(u32::MAX)));
                self.intern_node(NodeData::Size(value), ScalarType::I64, range)
            }
        }
    }

    /// An element of a tensor.
    pub fn intern_element(
        &mut self,
        value: TensorValue,
        ty: ScalarType,
        indices: &[ScalarNode],
    ) -> ScalarNode {
        self.intern_node(NodeData::Element(value, indices.into()), ty, None)
    }

    /// An accumulator after the reduction.
    pub fn intern_accumulator(&mut self, number: u32, ty: ScalarType) -> ScalarNode {
        self.intern_node(NodeData::Reduced(number), ty, None)
    }

    /// An argument of a combiner.
    pub fn intern_argument(&mut self, number: u32, ty: ScalarType) -> ScalarNode {
        self.intern_node(NodeData::Argument(number), ty, None)
    }

    /// An operator whose types follow from its first operand; those of a choice follow from the last.
    pub fn apply_op(&mut self, op: ScalarOp, operands: &[ScalarNode]) -> ScalarNode {
        let typed = match op {
            ScalarOp::Cond => operands.last(),
            _ => operands.first(),
        };
        let ty = typed.map_or(ScalarType::Unit, |node| self.ty(*node));
        self.apply_operator(ScalarOperator::with_type(op, ty), operands)
    }

    /// A conversion.
    pub fn apply_conversion(
        &mut self,
        op: ScalarOp,
        to: ScalarType,
        operand: ScalarNode,
    ) -> ScalarNode {
        let from = self.ty(operand);
        if from == to && op != ScalarOp::ToBool {
            operand
        } else {
            self.apply_operator(ScalarOperator::from_conversion(op, from, to), &[operand])
        }
    }

    /// An operator on operands.
    pub fn apply_operator(
        &mut self,
        operator: ScalarOperator,
        operands: &[ScalarNode],
    ) -> ScalarNode {
        if let Some(node) = self.fold_constants(operator, operands) {
            return node;
        }
        if operator.op == ScalarOp::FDiv
            && let Some(by) = self.exact_reciprocal(operands)
        {
            return self.apply_op(ScalarOp::FMul, &[operands[0], by]);
        }
        if operator.op == ScalarOp::Cond
            && let Some(chosen) = self.simplify_select(operands)
        {
            return chosen;
        }
        if let Some(wide) = self.skip_narrowing(operator, operands) {
            return self.apply_conversion(operator.op, operator.to, wide);
        }
        if operator.from == ScalarType::I64
            && let Some(node) = AffineSum::simplify_operator(self, operator.op, operands)
        {
            return node;
        }
        self.apply_unsimplified(operator, operands)
    }

    /// An operator without simplification, except that known comparisons are evaluated.
    pub(super) fn apply_unsimplified(
        &mut self,
        operator: ScalarOperator,
        operands: &[ScalarNode],
    ) -> ScalarNode {
        let range = self.compute_bounds(operator, operands);
        if let (ScalarType::Bool, Some(known)) =
            (operator.to, self.decide_comparison(operator.op, operands))
        {
            return self.intern_literal(ScalarLiteral::new(ScalarType::Bool, known.into()));
        }
        let data = NodeData::Apply(operator, operands.into());
        self.intern_node(data, operator.to, range)
    }

    /// An operator exactly as it is: the text form is read back without simplification.
    pub(crate) fn intern_operator(
        &mut self,
        operator: ScalarOperator,
        operands: &[ScalarNode],
    ) -> ScalarNode {
        let range = self.compute_bounds(operator, operands);
        let data = NodeData::Apply(operator, operands.into());
        self.intern_node(data, operator.to, range)
    }

    /// The result of an operator on literals.
    fn fold_constants(
        &mut self,
        operator: ScalarOperator,
        operands: &[ScalarNode],
    ) -> Option<ScalarNode> {
        let bits: Option<SmallVec<[u64; 4]>> = operands
            .iter()
            .map(|node| self.as_literal(*node).map(|l| l.bits))
            .collect();
        let result = operator.eval_operands(&bits?);
        Some(self.intern_literal(ScalarLiteral::new(operator.to, result)))
    }

    /// The reciprocal of a known divisor, where the product with it equals the quotient for all numbers: powers of two,
    /// infinity, and zero. Some drivers compute quotients by zero and infinity wrongly.
    fn exact_reciprocal(&mut self, operands: &[ScalarNode]) -> Option<ScalarNode> {
        let divisor = self.as_literal(*operands.get(1)?)?;
        let format = divisor.ty.format()?;
        let convert = |from, to, bits| {
            ScalarOperator::from_conversion(ScalarOp::FConv, from, to).eval_operands(&[bits])
        };
        let value = f64::from_bits(convert(divisor.ty, ScalarType::F64, divisor.bits));
        let is_power = value.to_bits() << 12 == 0;
        let bits = convert(ScalarType::F64, divisor.ty, (1.0 / value).to_bits());
        let has_exponent = bits & format.infinity() != 0;
        let is_exact = value == 0.0 || value.is_infinite() || has_exponent;
        let reciprocal = ScalarLiteral::new(divisor.ty, bits);
        (is_power && is_exact).then(|| self.intern_literal(reciprocal))
    }

    /// The integer before a narrowing, where the narrowing lost no bits that a conversion reads.
    fn skip_narrowing(
        &self,
        operator: ScalarOperator,
        operands: &[ScalarNode],
    ) -> Option<ScalarNode> {
        let has_sign = match operator.op {
            ScalarOp::SExt | ScalarOp::SToF => true,
            ScalarOp::ZExt | ScalarOp::UToF => false,
            _ => return None,
        };
        let (narrowed, wide) = self.as_apply(*operands.first()?)?;
        let is_narrowed = matches!(narrowed.op, ScalarOp::SExt | ScalarOp::ZExt)
            && narrowed.to == operator.from
            && narrowed.from.width() > narrowed.to.width();
        if !is_narrowed {
            return None;
        }
        let wide = *wide.first()?;
        let (low, high) = self.node_bounds(wide)?;
        let half = 1i64 << (narrowed.to.width() - 1);
        let is_kept = if has_sign {
            -half <= low && high < half
        } else {
            0 <= low && high < 2 * half
        };
        is_kept.then_some(wide)
    }

    fn simplify_select(&self, operands: &[ScalarNode]) -> Option<ScalarNode> {
        let [condition, then, otherwise] = *operands else {
            return None;
        };
        if then == otherwise {
            return Some(then);
        }
        let condition = self.as_literal(condition)?;
        Some(if condition.bits != 0 { then } else { otherwise })
    }

    /// The result of a comparison, where the bounds decide it.
    fn decide_comparison(&self, op: ScalarOp, operands: &[ScalarNode]) -> Option<bool> {
        let [a, b] = *operands else { return None };
        let ((a_low, a_high), (b_low, b_high)) = (self.node_bounds(a)?, self.node_bounds(b)?);
        match op {
            ScalarOp::SLt if a_high < b_low => Some(true),
            ScalarOp::SLt if a_low >= b_high => Some(false),
            ScalarOp::SLe if a_high <= b_low => Some(true),
            ScalarOp::SLe if a_low > b_high => Some(false),
            ScalarOp::Eq if a_high < b_low || a_low > b_high => Some(false),
            _ => None,
        }
    }

    /// The bounds of an operator's result; none where it may overflow.
    fn compute_bounds(
        &self,
        operator: ScalarOperator,
        operands: &[ScalarNode],
    ) -> Option<NodeBounds> {
        if !operator.to.is_int() {
            return None;
        }
        let of = |at: usize| operands.get(at).and_then(|node| self.node_bounds(*node));
        // The bounds of a type bound a result where an operator makes it wider, or limits it.
        let of_type = |at: usize| of(at).or_else(|| bound_type(operator.from));
        let range = match operator.op {
            ScalarOp::SExt => of_type(0)?,
            ScalarOp::Cond => unite_bounds(of(1)?, of(2)?),
            ScalarOp::And => match (of(0), of(1)) {
                (Some((0.., high)), _) | (_, Some((0.., high))) => (0, high),
                _ => return None,
            },
            ScalarOp::SMin => {
                let ((a, b), (c, d)) = (of_type(0)?, of_type(1)?);
                (a.min(c), b.min(d))
            }
            ScalarOp::SMax => {
                let ((a, b), (c, d)) = (of_type(0)?, of_type(1)?);
                (a.max(c), b.max(d))
            }
            op => bound_arithmetic(op, of(0)?, of(1)?)?,
        };
        let half = 1i128 << (operator.to.width() - 1);
        let fits = |value: i64| (-half..half).contains(&i128::from(value));
        (fits(range.0) && fits(range.1)).then_some(range)
    }

    /// Copies nodes of another graph with all their operands. A node is replaced by the result of `replace`, if there is
    /// one. The function is given the node's id in the other graph and the node; an element has a position of copies.
    pub fn import_nodes(
        &mut self,
        from: &NodeGraph,
        roots: &[ScalarNode],
        mut replace: impl FnMut(&mut NodeGraph, ScalarNode, &NodeData) -> Option<ScalarNode>,
    ) -> Vec<ScalarNode> {
        let needed = from.mark_reachable(roots);
        let mut copies = vec![None; from.len()];
        for node in from.node_ids().filter(|node| needed[node.index()]) {
            let replaced = match from.node(node) {
                NodeData::Element(value, position) => {
                    let position = position.iter();
                    let position = position.filter_map(|n| copies[n.index()]).collect();
                    replace(self, node, &NodeData::Element(*value, position))
                }
                data => replace(self, node, data),
            };
            let copy = match replaced {
                Some(copy) => copy,
                None => self.copy_of(from, node, &copies),
            };
            copies[node.index()] = Some(copy);
        }
        let copy = |root: &ScalarNode| copies[root.index()];
        roots.iter().filter_map(copy).collect()
    }

    fn copy_of(
        &mut self,
        from: &NodeGraph,
        node: ScalarNode,
        copies: &[Option<ScalarNode>],
    ) -> ScalarNode {
        let info = &from.nodes[node.index()];
        let operands = from.operands(node).iter();
        let operands: NodeList = operands.filter_map(|n| copies[n.index()]).collect();
        match &info.data {
            NodeData::Apply(operator, _) => self.apply_operator(*operator, &operands),
            NodeData::Element(value, _) => self.intern_element(*value, info.ty, &operands),
            data => self.intern_node(data.clone(), info.ty, info.range),
        }
    }

    /// Marks the nodes that roots depend on.
    pub fn mark_reachable(&self, roots: &[ScalarNode]) -> Vec<bool> {
        let mut needed = vec![false; self.len()];
        for root in roots {
            needed[root.index()] = true;
        }
        for node in self.node_ids().rev().filter(|n| n.index() < self.len()) {
            if needed[node.index()] {
                for operand in self.operands(node) {
                    needed[operand.index()] = true;
                }
            }
        }
        needed
    }
}

/// The bounds of all integers of a type.
fn bound_type(ty: ScalarType) -> Option<NodeBounds> {
    let half = 1i128 << (ty.width().max(1) - 1);
    ty.is_int().then_some((-half as i64, (half - 1) as i64))
}

/// The bounds of an index below a size.
fn bound_index(extent: DimExtent) -> NodeBounds {
    match extent {
        DimExtent::Static(size) => (0, (size as i64).saturating_sub(1).max(0)),
        DimExtent::Value(_) => (0, i64::from(u32::MAX)),
    }
}

fn unite_bounds(one: NodeBounds, other: NodeBounds) -> NodeBounds {
    (one.0.min(other.0), one.1.max(other.1))
}

fn bound_arithmetic(op: ScalarOp, one: NodeBounds, other: NodeBounds) -> Option<NodeBounds> {
    let ((a, b), (c, d)) = (one, other);
    match op {
        ScalarOp::Add => Some((a.checked_add(c)?, b.checked_add(d)?)),
        ScalarOp::Sub => Some((a.checked_sub(d)?, b.checked_sub(c)?)),
        ScalarOp::Mul => {
            let corners = [
                a.checked_mul(c)?,
                a.checked_mul(d)?,
                b.checked_mul(c)?,
                b.checked_mul(d)?,
            ];
            Some((*corners.iter().min()?, *corners.iter().max()?))
        }
        ScalarOp::SDiv if c == d && c > 0 => Some((a.div_euclid(c), b.div_euclid(c))),
        // Division by a size that is known only at run time; it is not 0 where an index exists.
        ScalarOp::SDiv if c < d && a >= 0 && c >= 0 => Some((0, b)),
        ScalarOp::SMod if c < d && a >= 0 && c >= 0 => Some((0, b.min(d - 1))),
        ScalarOp::SMod if c == d && c > 0 && 0 <= a && b < c => Some((a, b)),
        ScalarOp::SMod if c == d && c > 0 => Some((0, c - 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_reciprocals_are_multiplied_by() {
        let mut body = NodeGraph::default();
        let x = body.intern_argument(0, ScalarType::F32);
        let mut by = |value: f32| {
            let divisor =
                body.intern_literal(ScalarLiteral::new(ScalarType::F32, value.to_bits().into()));
            let node = body.apply_op(ScalarOp::FDiv, &[x, divisor]);
            let (operator, operands) = body.as_apply(node).unwrap();
            let literal = body.as_literal(operands[1]).unwrap();
            (operator.op, f32::from_bits(literal.bits as u32))
        };
        assert_eq!(by(8.0), (ScalarOp::FMul, 0.125));
        assert_eq!(by(-0.5), (ScalarOp::FMul, -2.0));
        assert_eq!(by(0.0), (ScalarOp::FMul, f32::INFINITY));
        assert_eq!(by(-0.0), (ScalarOp::FMul, f32::NEG_INFINITY));
        assert_eq!(by(f32::INFINITY), (ScalarOp::FMul, 0.0));
        assert_eq!(by(3.0), (ScalarOp::FDiv, 3.0));
        let below_all_normal = 2f32.powi(127);
        assert_eq!(by(below_all_normal), (ScalarOp::FDiv, below_all_normal));
    }

    #[test]
    fn conversions_of_narrowed_numbers_that_fit_read_what_was_narrowed() {
        let mut body = NodeGraph::default();
        let word = body.intern_argument(0, ScalarType::I32);
        let mut reads_word = |mask, op, to| {
            let mask = body.intern_literal(ScalarLiteral::from_i32(mask));
            let masked = body.apply_op(ScalarOp::And, &[word, mask]);
            let byte = body.apply_conversion(ScalarOp::SExt, ScalarType::I8, masked);
            let number = body.apply_conversion(op, to, byte);
            number == masked || body.operands(number) == [masked]
        };
        assert!(reads_word(15, ScalarOp::SExt, ScalarType::I32));
        assert!(reads_word(15, ScalarOp::SToF, ScalarType::F32));
        assert!(reads_word(255, ScalarOp::UToF, ScalarType::F16));
        assert!(!reads_word(255, ScalarOp::SToF, ScalarType::F32));
        assert!(!reads_word(256, ScalarOp::ZExt, ScalarType::I64));
        assert!(!reads_word(-1, ScalarOp::SExt, ScalarType::I64));
    }
}
