//! Emission of nodes as statements and expressions.
//!
//! Each node is emitted once, operands first, within the innermost scope that needs it. Values of a branch or a loop are
//! dropped at its end. An operand of [`ScalarOp::Cond`] that reads memory is emitted within a branch of its own.
//!
//! Index arithmetic whose bounds fit uses 32 bits, because devices are faster with them. NVIDIA's driver 580 also computes
//! some 64-bit remainders by constants wrongly.

use super::small_quotient::SmallReciprocal;
use crate::ir::{NodeData, NodeGraph, ScalarCombiner, ScalarNode, TensorValue};
use rustc_hash::FxHashMap;
use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::{ExprId, MemoryElement, StmtKind, VarId, VariableType};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// Deepest nesting of expressions.
const DEPTH: u32 = 16;

/// The storage of a tensor that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TensorStorage {
    /// Memory.
    Memory(VarId),
    /// A scalar of the host.
    Scalar(VarId),
}

/// Emits the nodes of one body.
pub(super) struct NodeEmitter<'a> {
    pub b: &'a mut ProgramBuilder,
    /// The nodes; elements have one index each, counted in elements of the memory.
    pub body: NodeGraph,
    /// Storage of the tensors.
    pub sources: FxHashMap<TensorValue, TensorStorage>,
    values: Vec<Option<ExprId>>,
    /// Nesting depths of the expressions.
    depths: Vec<u32>,
    /// Whether nodes are `i64`s whose values are `i32`s.
    narrow: Vec<bool>,
    /// Whether the device divides lanes of a vector one by one.
    pub divides_slowly: bool,
    /// Nodes that have values, in the order of emission.
    log: Vec<ScalarNode>,
}

/// The use of nodes by some roots.
struct NodeUsage {
    /// Whether it depends on memory that is read only under conditions.
    reads: Vec<bool>,
    /// Whether it is evaluated whatever the conditions.
    always: Vec<bool>,
    /// Number of uses.
    uses: Vec<u32>,
}

impl<'a> NodeEmitter<'a> {
    pub fn new(b: &'a mut ProgramBuilder) -> Self {
        NodeEmitter {
            b,
            body: NodeGraph::default(),
            sources: FxHashMap::default(),
            values: Vec::new(),
            depths: Vec::new(),
            narrow: Vec::new(),
            divides_slowly: false,
            log: Vec::new(),
        }
    }

    /// The type in which a node is computed.
    pub fn computed_type(&mut self, node: ScalarNode) -> ScalarType {
        self.grow_tables();
        if self.narrow[node.index()] {
            ScalarType::I32
        } else {
            self.body.ty(node)
        }
    }

    /// Sets the value of a node, of the type in which it is computed.
    pub fn set_value(&mut self, node: ScalarNode, value: ExprId) {
        self.grow_tables();
        self.values[node.index()] = Some(value);
        self.depths[node.index()] = 0;
        self.log.push(node);
    }

    fn grow_tables(&mut self) {
        self.values.resize(self.body.len(), None);
        self.depths.resize(self.body.len(), 0);
        for at in self.narrow.len()..self.body.len() {
            let is_narrow = self.is_narrow(ScalarNode::new(at));
            self.narrow.push(is_narrow);
        }
    }

    /// Whether a node is index arithmetic whose values all fit 32 bits.
    fn is_narrow(&self, node: ScalarNode) -> bool {
        let fits =
            |(low, high): (i64, i64)| i32::try_from(low).is_ok() && i32::try_from(high).is_ok();
        if self.body.ty(node) != ScalarType::I64 || !self.body.node_bounds(node).is_some_and(fits) {
            return false;
        }
        match self.body.node(node) {
            NodeData::Literal(_) | NodeData::Counter(_) => true,
            NodeData::Apply(operator, operands) => match operator.op {
                ScalarOp::Add
                | ScalarOp::Sub
                | ScalarOp::Mul
                | ScalarOp::SDiv
                | ScalarOp::SMod
                | ScalarOp::SMin
                | ScalarOp::SMax => operands.iter().all(|n| self.narrow[n.index()]),
                ScalarOp::Cond => operands[1..].iter().all(|n| self.narrow[n.index()]),
                ScalarOp::SExt => operator.from == ScalarType::I32,
                _ => false,
            },
            _ => false,
        }
    }

    /// The value of a node in its own type.
    fn full_width_value(&mut self, node: ScalarNode) -> Option<ExprId> {
        let value = self.values[node.index()]?;
        if !self.narrow[node.index()] {
            return Some(value);
        }
        if let Some(literal) = self.body.as_literal(node) {
            return Some(self.b.make_literal(literal));
        }
        let convert =
            ScalarOperator::from_conversion(ScalarOp::SExt, ScalarType::I32, ScalarType::I64);
        Some(self.b.apply_operator(convert, &[value]))
    }

    /// Begins a scope; returns a mark for its end.
    pub fn begin_scope(&self) -> usize {
        self.log.len()
    }

    /// Ends a scope: values since the mark are dropped.
    pub fn end_scope(&mut self, mark: usize) {
        for node in self.log.drain(mark..) {
            self.values[node.index()] = None;
        }
    }

    /// Fixed nodes that some roots need and that are operands of nodes which are not fixed. They are nodes that are needed
    /// whatever the conditions, and arithmetic, which is safe to evaluate.
    pub fn find_hoistable(
        &mut self,
        roots: &[ScalarNode],
        fixed: impl Fn(ScalarNode) -> bool,
    ) -> Vec<ScalarNode> {
        self.grow_tables();
        let NodeUsage { reads, always, .. } = self.compute_usage(roots);
        let needed = self.body.mark_reachable(roots);
        let mut ready = Vec::new();
        let mut add = |node: ScalarNode| {
            let at = node.index();
            let is_known = self.values[at].is_some() || self.body.as_literal(node).is_some();
            if fixed(node) && (always[at] || !reads[at]) && !is_known {
                ready.push(node);
            }
        };
        roots.iter().for_each(|root| add(*root));
        for node in self.body.node_ids().filter(|n| needed[n.index()]) {
            let is_ready = fixed(node) && (always[node.index()] || !reads[node.index()]);
            if !is_ready {
                self.body.operands(node).iter().for_each(|n| add(*n));
            }
        }
        ready.sort_unstable();
        ready.dedup();
        ready
    }

    /// Emits code in a scope of its own.
    pub fn emit_in_scope<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.begin_scope();
        let result = inner(self);
        self.end_scope(mark);
        result
    }

    /// Emits code as a block, in a scope of its own.
    pub fn emit_block(&mut self, inner: impl FnOnce(&mut Self)) -> spirula_kernel::ir::StmtBlock {
        self.b.begin_block();
        self.emit_in_scope(inner);
        self.b.end_block()
    }

    /// Emits code under a condition; without one where the condition is known to hold.
    pub fn emit_if(&mut self, condition: ScalarNode, inner: impl FnOnce(&mut Self)) {
        if self.body.as_literal(condition).is_some_and(|l| l.bits != 0) {
            return inner(self);
        }
        let condition = self.emit_nodes(&[condition])[0];
        let then = self.emit_block(inner);
        let otherwise = self.emit_block(|_| {});
        self.b.push_statement(StmtKind::If {
            condition,
            then,
            otherwise,
        });
    }

    /// Emits nodes and returns their values.
    pub fn emit_nodes(&mut self, roots: &[ScalarNode]) -> Vec<ExprId> {
        self.grow_tables();
        let NodeUsage {
            reads,
            always,
            uses,
        } = self.compute_usage(roots);
        for node in self.body.node_ids() {
            if always[node.index()] && self.values[node.index()].is_none() {
                self.emit_node(node, uses[node.index()], &reads);
            }
        }
        let values = roots.iter().filter_map(|root| self.full_width_value(*root));
        let values: Vec<ExprId> = values.collect();
        debug_assert_eq!(values.len(), roots.len(), "every node has a value");
        values
    }

    /// Emits a node and returns its value in the type in which another node of its type is computed.
    pub fn emit_as(&mut self, node: ScalarNode, ty: ScalarType) -> ExprId {
        let whole = self.emit_nodes(&[node])[0];
        match (self.narrow[node.index()], ty) {
            (true, ScalarType::I32) => self.values[node.index()].unwrap_or(whole),
            (false, ScalarType::I32) => {
                let convert = ScalarOperator::from_conversion(
                    ScalarOp::SExt,
                    ScalarType::I64,
                    ScalarType::I32,
                );
                self.b.apply_operator(convert, &[whole])
            }
            _ => whole,
        }
    }

    /// Elements of memory that some roots need whatever the conditions and that have not been read yet, with their tensors
    /// and indices.
    pub fn find_unread_elements(
        &mut self,
        roots: &[ScalarNode],
    ) -> Vec<(ScalarNode, TensorValue, ScalarNode)> {
        self.grow_tables();
        let NodeUsage { always, .. } = self.compute_usage(roots);
        let nodes = self.body.node_ids();
        let nodes = nodes.filter(|n| always[n.index()] && self.values[n.index()].is_none());
        let elements = nodes.filter_map(|node| match self.body.node(node) {
            NodeData::Element(value, position) => Some((node, *value, *position.first()?)),
            _ => None,
        });
        elements.collect()
    }

    /// The use of nodes by roots. A choice between elements that are read in any case needs no branch.
    fn compute_usage(&self, roots: &[ScalarNode]) -> NodeUsage {
        let reads = self.mark_memory_dependent(&[]);
        let (always, uses) = self.mark_unconditional(roots, &reads);
        let mut nodes = self.body.node_ids();
        if !nodes.any(|node| always[node.index()] && self.is_lazy(node, &reads)) {
            return NodeUsage {
                reads,
                always,
                uses,
            };
        }
        let reads = self.mark_memory_dependent(&always);
        let (always, uses) = self.mark_unconditional(roots, &reads);
        NodeUsage {
            reads,
            always,
            uses,
        }
    }

    /// Marks nodes that are evaluated whatever the conditions, and counts uses.
    fn mark_unconditional(&self, roots: &[ScalarNode], reads: &[bool]) -> (Vec<bool>, Vec<u32>) {
        let mut always = vec![false; self.body.len()];
        let mut uses = vec![0; self.body.len()];
        for root in roots {
            always[root.index()] = true;
            uses[root.index()] += 1;
        }
        for node in self.body.node_ids().rev() {
            if !always[node.index()] || self.values[node.index()].is_some() {
                continue;
            }
            let operands = self.body.operands(node);
            let is_lazy = self.is_lazy(node, reads);
            for (at, operand) in operands.iter().enumerate() {
                uses[operand.index()] += 1;
                always[operand.index()] |= !is_lazy || at == 0;
            }
        }
        (always, uses)
    }

    /// Marks nodes that depend on memory that has not been read yet and is not always read.
    fn mark_memory_dependent(&self, always: &[bool]) -> Vec<bool> {
        let mut reads = vec![false; self.body.len()];
        for node in self.body.node_ids() {
            let is_certain = always.get(node.index()).is_some_and(|always| *always);
            let is_read = !is_certain && matches!(self.body.node(node), NodeData::Element(..));
            let operands = self.body.operands(node);
            reads[node.index()] = self.values[node.index()].is_none()
                && (is_read || operands.iter().any(|n| reads[n.index()]));
        }
        reads
    }

    fn is_lazy(&self, node: ScalarNode, reads: &[bool]) -> bool {
        match self.body.as_apply(node) {
            Some((operator, operands)) if operator.op == ScalarOp::Cond => {
                operands[1..].iter().any(|n| reads[n.index()])
            }
            _ => false,
        }
    }

    fn emit_node(&mut self, node: ScalarNode, uses: u32, reads: &[bool]) {
        let data = self.body.node(node).clone();
        let value = match data {
            NodeData::Literal(literal) => {
                if self.narrow[node.index()] {
                    self.b
                        .make_literal(ScalarLiteral::from_i32(literal.to_signed() as i32))
                } else {
                    self.b.make_literal(literal)
                }
            }
            NodeData::Element(value, position) => {
                self.emit_element_read(node, value, position.first())
            }
            NodeData::Size(value) => self.emit_element_read(node, value, None),
            NodeData::Apply(operator, operands) => {
                if self.is_lazy(node, reads) {
                    self.emit_select_branch(node, &operands)
                } else {
                    return self.emit_operator(node, operator, &operands, uses);
                }
            }
            // Counters, accumulators and arguments have values already.
            NodeData::Index(_)
            | NodeData::Counter(_)
            | NodeData::Reduced(_)
            | NodeData::Argument(_) => return,
        };
        self.set_value(node, value);
    }

    fn emit_element_read(
        &mut self,
        node: ScalarNode,
        value: TensorValue,
        index: Option<&ScalarNode>,
    ) -> ExprId {
        let ty = self.body.ty(node);
        let memory = match self.sources.get(&value) {
            Some(TensorStorage::Memory(memory)) => *memory,
            Some(TensorStorage::Scalar(var)) => return self.b.read_var(*var),
            None => return self.b.make_i64(0),
        };
        let index = match index.and_then(|n| self.full_width_value(*n)) {
            Some(index) => index,
            None => self.b.make_i64(0),
        };
        let to = self.b.declare_var("x", VariableType::Scalar(ty), false);
        self.b.push_statement(StmtKind::Read {
            to,
            from: MemoryElement {
                memory,
                ty,
                index,
                volatile: false,
            },
        });
        self.b.read_var(to)
    }

    /// Emits the choice between operands of which at least one reads memory.
    fn emit_select_branch(&mut self, node: ScalarNode, operands: &[ScalarNode]) -> ExprId {
        let ty = self.computed_type(node);
        let result = self
            .b
            .declare_var("either", VariableType::Scalar(ty), false);
        let condition = self.emit_nodes(&operands[..1])[0];
        let [then, otherwise] = [1, 2].map(|at| {
            self.emit_block(|emitter| {
                let whole = emitter.emit_nodes(&operands[at..=at])[0];
                // Operands of a narrow choice are narrow, too.
                let value = match emitter.values[operands[at].index()] {
                    Some(value) if emitter.narrow[node.index()] => value,
                    _ => whole,
                };
                emitter.b.push_assignment(result, value);
            })
        });
        self.b.push_statement(StmtKind::If {
            condition,
            then,
            otherwise,
        });
        self.b.read_var(result)
    }

    fn emit_operator(
        &mut self,
        node: ScalarNode,
        operator: ScalarOperator,
        operands: &[ScalarNode],
        uses: u32,
    ) {
        let operator = self.use_unsigned_division(operator, operands);
        let Some((operator, values)) = self.narrow_operator(node, operator, operands) else {
            // The conversion widens a value that is computed with 32 bits anyway.
            if let Some(value) = self.values[operands[0].index()] {
                self.set_value(node, value);
            }
            return;
        };
        let deepest = operands.iter().map(|n| self.depths[n.index()]).max();
        let depth = deepest.unwrap_or(0) + 1;
        let value = match self.find_reciprocal(operator, operands) {
            Some(reciprocal) => self.divide_by_product(operator, &values, reciprocal),
            None => self.b.apply_operator(operator, &values),
        };
        if uses <= 1 && depth < DEPTH {
            self.set_value(node, value);
            self.depths[node.index()] = depth;
            return;
        }
        let var = self
            .b
            .declare_var("t", VariableType::Scalar(operator.to), false);
        self.b.push_assignment(var, value);
        let value = self.b.read_var(var);
        self.set_value(node, value);
    }

    /// The reciprocal by which a division of a small number can be computed.
    fn find_reciprocal(
        &self,
        operator: ScalarOperator,
        operands: &[ScalarNode],
    ) -> Option<SmallReciprocal> {
        let is_division = matches!(operator.op, ScalarOp::UDiv | ScalarOp::UMod);
        if !is_division || operator.to != ScalarType::I32 || !self.divides_slowly {
            return None;
        }
        let &[number, divisor] = operands else {
            return None;
        };
        let (low, most) = self.body.node_bounds(number)?;
        let divisor = self.body.as_literal(divisor)?.bits;
        if low < 0 {
            return None;
        }
        SmallReciprocal::find(divisor, most.cast_unsigned())
    }

    /// The quotient or the remainder of a small number.
    fn divide_by_product(
        &mut self,
        operator: ScalarOperator,
        values: &[ExprId],
        reciprocal: SmallReciprocal,
    ) -> ExprId {
        let ty = operator.to;
        let number = self.bind_to_variable(values[0], ty);
        let apply = |b: &mut ProgramBuilder, op, values: [ExprId; 2]| {
            b.apply_operator(ScalarOperator::with_type(op, ty), &values)
        };
        let SmallReciprocal { factor, shift } = reciprocal;
        let [factor, shift] =
            [factor, shift].map(|n| self.b.make_literal(ScalarLiteral::new(ty, n.into())));
        let product = apply(self.b, ScalarOp::Mul, [number, factor]);
        let quotient = apply(self.b, ScalarOp::LShr, [product, shift]);
        if operator.op == ScalarOp::UDiv {
            return quotient;
        }
        let multiple = apply(self.b, ScalarOp::Mul, [quotient, values[1]]);
        apply(self.b, ScalarOp::Sub, [number, multiple])
    }

    /// The operator and operands in the types in which they are computed; none where a conversion becomes the identity.
    fn narrow_operator(
        &mut self,
        node: ScalarNode,
        operator: ScalarOperator,
        operands: &[ScalarNode],
    ) -> Option<(ScalarOperator, Vec<ExprId>)> {
        let taken =
            |e: &Self, n: &ScalarNode| e.body.ty(*n) != ScalarType::I64 || e.narrow[n.index()];
        let all_narrow =
            operator.from == ScalarType::I64 && operands.iter().all(|n| taken(self, n));
        let is_narrow = self.narrow[node.index()];
        let by_32 = matches!(
            operator.op,
            ScalarOp::SLt | ScalarOp::SLe | ScalarOp::Eq | ScalarOp::SToF | ScalarOp::SExt
        );
        let as_stored = is_narrow || (all_narrow && by_32);
        if !as_stored {
            let values = operands.iter().filter_map(|n| self.full_width_value(*n));
            return Some((operator, values.collect()));
        }
        let is_kept = operator.op == ScalarOp::SExt
            && (is_narrow || (operator.from, operator.to) == (ScalarType::I64, ScalarType::I32));
        if is_kept {
            return None;
        }
        let to = if is_narrow {
            ScalarType::I32
        } else {
            operator.to
        };
        let narrow = ScalarOperator {
            from: ScalarType::I32,
            to,
            ..operator
        };
        let values = operands.iter().filter_map(|n| self.values[n.index()]);
        Some((narrow, values.collect()))
    }

    /// Replaces division of numbers that are not negative by unsigned division, which is cheaper.
    fn use_unsigned_division(
        &self,
        operator: ScalarOperator,
        operands: &[ScalarNode],
    ) -> ScalarOperator {
        let is_positive =
            |n: &ScalarNode| self.body.node_bounds(*n).is_some_and(|(low, _)| low >= 0);
        let op = match operator.op {
            ScalarOp::SDiv if operands.iter().all(is_positive) => ScalarOp::UDiv,
            ScalarOp::SMod if operands.iter().all(is_positive) => ScalarOp::UMod,
            op => op,
        };
        ScalarOperator { op, ..operator }
    }

    /// Emits a combiner on values and returns its results.
    pub fn emit_combiner(
        &mut self,
        combiner: &ScalarCombiner,
        arguments: &[ExprId],
    ) -> Vec<ExprId> {
        let body = &combiner.body;
        let needed = body.mark_reachable(&combiner.results);
        let mut values: Vec<Option<ExprId>> = vec![None; body.len()];
        for node in body.node_ids().filter(|n| needed[n.index()]) {
            let value = match body.node(node) {
                NodeData::Literal(literal) => self.b.make_literal(*literal),
                NodeData::Argument(number) => arguments[*number as usize],
                NodeData::Apply(operator, operands) => {
                    let operands = operands.iter().filter_map(|n| values[n.index()]);
                    let operands: Vec<ExprId> = operands.collect();
                    let value = self.b.apply_operator(*operator, &operands);
                    self.bind_to_variable(value, operator.to)
                }
                _ => continue,
            };
            values[node.index()] = Some(value);
        }
        let value = |root: &ScalarNode| values[root.index()];
        combiner.results.iter().filter_map(value).collect()
    }

    /// Assigns a value to a new variable.
    pub fn bind_to_variable(&mut self, value: ExprId, ty: ScalarType) -> ExprId {
        let var = self.b.declare_var("t", VariableType::Scalar(ty), false);
        self.b.push_assignment(var, value);
        self.b.read_var(var)
    }
}
