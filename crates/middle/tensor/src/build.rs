//! Making functions.

use crate::ir::{
    Block, Body, Combiner, Constant, Demand, Destination, Dim, Function, Node, NodeData, Op,
    OpKind, Reduction, Relation, RunAssertion, Shape, Sort, Structured, TensorType, Value,
};
use rustc_hash::FxHashMap;
use spirula_diagnostics::Place;
use spirula_program::{Literal, Scalar};

/// Makes a function. Operations are appended to the innermost block that is open; the function's
/// own is from the beginning.
#[derive(Debug)]
pub struct Builder {
    function: Function,
    /// What values of rank 0 hold, where that is known.
    known: FxHashMap<Value, Literal>,
    open: Vec<Block>,
    place: Place,
}

impl Builder {
    /// A builder of a function without parameters.
    pub fn new(name: &str) -> Self {
        let mut function = Function {
            name: name.to_owned(),
            ..Function::default()
        };
        let body = function.new_block();
        Builder {
            function,
            known: FxHashMap::default(),
            open: vec![body],
            place: Place::Unknown,
        }
    }

    /// The function so far.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> &TensorType {
        self.function.ty(value)
    }

    /// What a tensor of rank 0 holds, if that is known: a constant, or what is computed of constants.
    pub fn scalar(&self, value: Value) -> Option<Literal> {
        self.known.get(&value).copied()
    }

    /// Sets the place of the operations that follow.
    pub fn at(&mut self, place: Place) {
        self.place = place;
    }

    /// Adds a parameter of the function.
    pub fn parameter(&mut self, name: &str, ty: TensorType, is_unsigned: bool) -> Value {
        let value = self.function.new_value(ty);
        let entry = &mut self.function.entry;
        entry.parameters.push(name.to_owned());
        entry.unsigned_parameters.push(is_unsigned);
        let body = self.function.body();
        self.function.block_mut(body).parameters.push(value);
        value
    }

    /// The size of a dimension of parameters that are added afterwards: known with an argument.
    pub fn size(&mut self) -> Value {
        self.function.new_value(TensorType::scalar(Scalar::I64))
    }

    /// Demands that two sizes are equal, where only a run can tell.
    pub fn demand_equal(&mut self, a: Dim, b: Dim) {
        self.demand([a, b], Relation::Equal);
    }

    /// Demands that a dimension of some size can be repeated to another, where only a run can tell.
    pub fn demand_repeated(&mut self, size: Dim, to: Dim) {
        if size != Dim::Static(1) {
            self.demand([size, to], Relation::Repeated);
        }
    }

    fn demand(&mut self, sizes: [Dim; 2], relation: Relation) {
        let is_open = sizes[0] != sizes[1] && sizes.iter().any(|dim| dim.known().is_none());
        let demand = Demand { sizes, relation };
        if is_open && !self.function.demands.contains(&demand) {
            self.function.demands.push(demand);
        }
    }

    /// Adds a result of the function; nothing may be appended afterwards but more results.
    pub fn result(&mut self, value: Value, is_unsigned: bool) {
        self.function.entry.unsigned_results.push(is_unsigned);
        let body = self.function.body();
        self.function.block_mut(body).results.push(value);
    }

    /// The finished function.
    pub fn finish(self) -> Function {
        self.function
    }

    /// Opens a block with parameters.
    pub fn begin_block(&mut self, parameters: &[TensorType]) -> Vec<Value> {
        let block = self.function.new_block();
        self.open.push(block);
        let values: Vec<Value> = parameters
            .iter()
            .map(|ty| self.function.new_value(ty.clone()))
            .collect();
        self.function.block_mut(block).parameters = values.clone();
        values
    }

    /// Closes the innermost block. Without one but the function's, gives that.
    pub fn end_block(&mut self, results: &[Value]) -> Block {
        let block = match self.open.len() {
            1 => return self.open[0],
            last => self.open.remove(last - 1),
        };
        self.function.block_mut(block).results = results.to_vec();
        block
    }

    fn push(&mut self, kind: OpKind, types: Vec<TensorType>) -> Vec<Value> {
        let new = |ty| self.function.new_value(ty);
        let results: Vec<Value> = types.into_iter().map(new).collect();
        for (at, result) in results.iter().enumerate() {
            let known = self.literal(&kind, at);
            self.known.extend(known.map(|literal| (*result, literal)));
        }
        let op = Op {
            kind,
            results: results.clone(),
            place: self.place,
        };
        let block = self.open[self.open.len() - 1];
        self.function.block_mut(block).ops.push(op);
        results
    }

    /// What a result of an operation holds, if that is known and it is of rank 0.
    fn literal(&self, kind: &OpKind, result: usize) -> Option<Literal> {
        match kind {
            OpKind::Constant(constant) if constant.ty.rank() == 0 => {
                Some(Literal::new(constant.ty.element, constant.bits(0)))
            }
            OpKind::Structured(op) if op.axes.is_empty() => {
                let root = op.yields.get(result)?.value;
                let mut known = Body::default();
                let copies = known.import(&op.body, &[root], |known, _, data| match data {
                    NodeData::Element(of, position) if position.is_empty() => {
                        let literal = self.scalar(*of)?;
                        Some(known.literal(literal))
                    }
                    _ => None,
                });
                known.as_literal(copies[0])
            }
            OpKind::Reshape(of) => self.scalar(*of),
            _ => None,
        }
    }

    fn push_one(&mut self, kind: OpKind, ty: TensorType) -> Value {
        self.push(kind, vec![ty])[0]
    }

    /// A tensor that is known.
    pub fn constant(&mut self, constant: Constant) -> Value {
        let ty = constant.ty.clone();
        self.push_one(OpKind::Constant(Box::new(constant)), ty)
    }

    /// A tensor of equal elements.
    pub fn splat(&mut self, literal: Literal, shape: &[Dim]) -> Value {
        let mut op = Structured::parallel(shape);
        let value = op.body.literal(literal);
        op.give(value);
        self.structured(op)[0]
    }

    /// Work over an index space.
    pub fn structured(&mut self, op: Structured) -> Vec<Value> {
        let shape: Shape = op.parallel_shape().collect();
        let types = op.yields.iter().map(|result| match &result.destination {
            Destination::Point | Destination::Each(_) => TensorType {
                element: op.body.ty(result.value),
                shape: shape.clone(),
            },
            Destination::Prefix { shape, .. } => TensorType {
                element: op.body.ty(result.value),
                shape: shape.clone(),
            },
            Destination::Scatter { base, .. } => self.function.ty(*base).clone(),
        });
        let types = types.collect();
        self.push(OpKind::Structured(Box::new(op)), types)
    }

    /// A function of the elements of tensors of one shape.
    pub fn elementwise(
        &mut self,
        operands: &[Value],
        compute: impl FnOnce(&mut Body, &[Node]) -> Node,
    ) -> Value {
        let shape = match operands {
            [first, ..] => self.ty(*first).shape.clone(),
            [] => Shape::new(),
        };
        let mut op = Structured::parallel(&shape);
        let point = op.point();
        let elements: Vec<Node> = operands
            .iter()
            .map(|value| {
                let element = self.function.ty(*value).element;
                op.body.element(*value, element, &point)
            })
            .collect();
        let value = compute(&mut op.body, &elements);
        op.give(value);
        self.structured(op)[0]
    }

    /// Elements of one tensor at positions computed from the index in a result's shape.
    pub fn moved(
        &mut self,
        operand: Value,
        shape: &[Dim],
        position: impl FnOnce(&mut Body, &[Node]) -> Vec<Node>,
    ) -> Value {
        let element = self.ty(operand).element;
        let mut op = Structured::parallel(shape);
        let point = op.point();
        let position = position(&mut op.body, &point);
        let value = op.body.element(operand, element, &position);
        op.give(value);
        self.structured(op)[0]
    }

    /// The same elements in another shape.
    pub fn reshape(&mut self, value: Value, shape: Shape) -> Value {
        if self.ty(value).shape == shape {
            return value;
        }
        let element = self.ty(value).element;
        self.push_one(OpKind::Reshape(value), TensorType { element, shape })
    }

    /// Sorted tensors.
    pub fn sort(&mut self, sort: Sort) -> Vec<Value> {
        let types = sort.operands.iter().map(|v| self.ty(*v).clone()).collect();
        self.push(OpKind::Sort(Box::new(sort)), types)
    }

    /// The results of one of two blocks of equal types.
    pub fn choose(&mut self, condition: Value, then: Block, otherwise: Block) -> Vec<Value> {
        let results = self.function.block(then).results.iter();
        let types = results.map(|v| self.ty(*v).clone()).collect();
        let kind = OpKind::If {
            condition,
            then,
            otherwise,
        };
        self.push(kind, types)
    }

    /// A block repeated while a condition holds.
    pub fn repeat(&mut self, initial: &[Value], condition: Block, body: Block) -> Vec<Value> {
        let types = initial.iter().map(|v| self.ty(*v).clone()).collect();
        let initial = initial.to_vec();
        let kind = OpKind::While {
            initial,
            condition,
            body,
        };
        self.push(kind, types)
    }

    /// Ends the run with a message unless a condition holds.
    pub fn assert(&mut self, assertion: RunAssertion) {
        self.push(OpKind::Assert(Box::new(assertion)), Vec::new());
    }

    /// A fold of a tensor over some of its dimensions, from a tensor of rank 0.
    pub fn reduce(
        &mut self,
        operands: &[Value],
        initial: &[Value],
        dimensions: &[usize],
        combiner: Combiner,
    ) -> Vec<Value> {
        let mut op = Structured::default();
        let shape = match operands {
            [first, ..] => self.ty(*first).shape.clone(),
            [] => Shape::new(),
        };
        let position = op.reduced_position(&shape, dimensions);
        let read = |body: &mut Body, value: &Value, at: &[Node], element: Scalar| {
            body.element(*value, element, at)
        };
        let values = operands
            .iter()
            .map(|v| read(&mut op.body, v, &position, self.function.ty(*v).element))
            .collect();
        let initial = initial
            .iter()
            .map(|v| read(&mut op.body, v, &[], self.function.ty(*v).element))
            .collect();
        let results = op.fold(Reduction {
            initial,
            values,
            combiner,
        });
        for result in results {
            op.give(result);
        }
        self.structured(op)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirula_program::Op as ScalarOp;

    /// Also at the end of a chain that is longer than any stack.
    #[test]
    fn what_is_computed_of_constants_is_known() {
        let mut b = Builder::new("main");
        let given = b.parameter("given", TensorType::scalar(Scalar::I64), false);
        let mut sum = b.splat(Literal::new(Scalar::I64, 0), &[]);
        for _ in 0..100_000 {
            let mut op = Structured::default();
            let before = op.body.element(sum, Scalar::I64, &[]);
            let one = op.body.i64(1);
            let after = op.body.op(ScalarOp::Add, &[before, one]);
            op.give(after);
            sum = b.structured(op)[0];
        }
        assert_eq!(b.scalar(sum).map(|literal| literal.bits), Some(100_000));
        assert_eq!(b.scalar(given), None);
    }
}
