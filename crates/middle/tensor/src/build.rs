//! Builder of functions.

use crate::ir::{
    DenseTensorType, DimExtent, ForeignCall, NodeData, NodeGraph, OpKind, RunAssertion,
    ScalarCombiner, ScalarNode, SizeConstraint, SizeRelation, StructuredOp, TensorBlock,
    TensorConstant, TensorFunction, TensorOp, TensorReduction, TensorShape, TensorSort,
    TensorValue, YieldDestination,
};
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceLocation;
use spirula_program::{ScalarLiteral, ScalarType};

/// Builds a function. Operations are appended to the innermost open block. The function's body is open from the beginning.
#[derive(Debug)]
pub struct TensorBuilder {
    function: TensorFunction,
    /// Literals of values of rank 0, where they are known.
    known: FxHashMap<TensorValue, ScalarLiteral>,
    open: Vec<TensorBlock>,
    place: SourceLocation,
}

impl TensorBuilder {
    /// A builder of a function without parameters.
    pub fn new(name: &str) -> Self {
        let mut function = TensorFunction {
            name: name.to_owned(),
            ..TensorFunction::default()
        };
        let body = function.new_block();
        TensorBuilder {
            function,
            known: FxHashMap::default(),
            open: vec![body],
            place: SourceLocation::Unknown,
        }
    }

    /// The function so far.
    pub fn function(&self) -> &TensorFunction {
        &self.function
    }

    /// The type of a value.
    pub fn ty(&self, value: TensorValue) -> &DenseTensorType {
        self.function.ty(value)
    }

    /// The literal of a tensor of rank 0, if it is a constant or computed of constants.
    pub fn as_literal(&self, value: TensorValue) -> Option<ScalarLiteral> {
        self.known.get(&value).copied()
    }

    /// Sets the place of the operations that follow.
    pub fn set_place(&mut self, place: SourceLocation) {
        self.place = place;
    }

    /// Adds a parameter of the function.
    pub fn add_parameter(
        &mut self,
        name: &str,
        ty: DenseTensorType,
        is_unsigned: bool,
    ) -> TensorValue {
        let value = self.function.new_value(ty);
        let entry = &mut self.function.entry;
        entry.parameters.push(name.to_owned());
        entry.unsigned_parameters.push(is_unsigned);
        let body = self.function.body();
        self.function.block_mut(body).parameters.push(value);
        value
    }

    /// Adds a size for the types of parameters that are added afterwards. An argument determines it.
    pub fn add_parameter_size(&mut self) -> TensorValue {
        self.function
            .new_value(DenseTensorType::from_scalar(ScalarType::I64))
    }

    /// Adds the constraint that two sizes are equal, if it can only be checked at run time.
    pub fn demand_equal(&mut self, a: DimExtent, b: DimExtent) {
        self.add_size_constraint([a, b], SizeRelation::Equal);
    }

    /// Adds the constraint that a size is 1 or equal to another, if it can only be checked at run time.
    pub fn demand_repeated(&mut self, size: DimExtent, to: DimExtent) {
        if size != DimExtent::Static(1) {
            self.add_size_constraint([size, to], SizeRelation::Repeated);
        }
    }

    fn add_size_constraint(&mut self, sizes: [DimExtent; 2], relation: SizeRelation) {
        let is_open = sizes[0] != sizes[1] && sizes.iter().any(|dim| dim.as_static().is_none());
        let demand = SizeConstraint { sizes, relation };
        if is_open && !self.function.demands.contains(&demand) {
            self.function.demands.push(demand);
        }
    }

    /// Adds a result of the function. Only more results may be appended afterwards.
    pub fn add_result(&mut self, value: TensorValue, is_unsigned: bool) {
        self.function.entry.unsigned_results.push(is_unsigned);
        let body = self.function.body();
        self.function.block_mut(body).results.push(value);
    }

    /// The finished function.
    pub fn finish_function(self) -> TensorFunction {
        self.function
    }

    /// Opens a block with parameters.
    pub fn begin_block(&mut self, parameters: &[DenseTensorType]) -> Vec<TensorValue> {
        let block = self.function.new_block();
        self.open.push(block);
        let values: Vec<TensorValue> = parameters
            .iter()
            .map(|ty| self.function.new_value(ty.clone()))
            .collect();
        self.function.block_mut(block).parameters = values.clone();
        values
    }

    /// Closes the innermost block and returns it. The function's body stays open.
    pub fn end_block(&mut self, results: &[TensorValue]) -> TensorBlock {
        let block = match self.open.len() {
            1 => return self.open[0],
            last => self.open.remove(last - 1),
        };
        self.function.block_mut(block).results = results.to_vec();
        block
    }

    fn append_op(&mut self, kind: OpKind, types: Vec<DenseTensorType>) -> Vec<TensorValue> {
        let new = |ty| self.function.new_value(ty);
        let results: Vec<TensorValue> = types.into_iter().map(new).collect();
        for (at, result) in results.iter().enumerate() {
            let known = self.find_result_literal(&kind, at);
            self.known.extend(known.map(|literal| (*result, literal)));
        }
        let op = TensorOp {
            kind,
            results: results.clone(),
            place: self.place,
        };
        let block = self.open[self.open.len() - 1];
        self.function.block_mut(block).ops.push(op);
        results
    }

    /// The literal of an operation's result, if that is known and of rank 0.
    fn find_result_literal(&self, kind: &OpKind, result: usize) -> Option<ScalarLiteral> {
        match kind {
            OpKind::Constant(constant) if constant.ty.rank() == 0 => Some(ScalarLiteral::new(
                constant.ty.element,
                constant.element_bits(0),
            )),
            OpKind::Structured(op) if op.axes.is_empty() => {
                let root = op.yields.get(result)?.value;
                let mut known = NodeGraph::default();
                let copies = known.import_nodes(&op.body, &[root], |known, _, data| match data {
                    NodeData::Element(of, position) if position.is_empty() => {
                        let literal = self.as_literal(*of)?;
                        Some(known.intern_literal(literal))
                    }
                    _ => None,
                });
                known.as_literal(copies[0])
            }
            OpKind::Reshape(of) => self.as_literal(*of),
            _ => None,
        }
    }

    fn push_one(&mut self, kind: OpKind, ty: DenseTensorType) -> TensorValue {
        self.append_op(kind, vec![ty])[0]
    }

    /// Adds a constant.
    pub fn add_constant(&mut self, constant: TensorConstant) -> TensorValue {
        let ty = constant.ty.clone();
        self.push_one(OpKind::Constant(Box::new(constant)), ty)
    }

    /// Adds a tensor of equal elements.
    pub fn add_splat(&mut self, literal: ScalarLiteral, shape: &[DimExtent]) -> TensorValue {
        let mut op = StructuredOp::with_parallel_axes(shape);
        let value = op.body.intern_literal(literal);
        op.add_yield(value);
        self.add_structured(op)[0]
    }

    /// Adds a structured operation.
    pub fn add_structured(&mut self, op: StructuredOp) -> Vec<TensorValue> {
        let shape: TensorShape = op.parallel_shape().collect();
        let types = op.yields.iter().map(|result| match &result.destination {
            YieldDestination::Point | YieldDestination::Each(_) => DenseTensorType {
                element: op.body.ty(result.value),
                shape: shape.clone(),
            },
            YieldDestination::Prefix { shape, .. } => DenseTensorType {
                element: op.body.ty(result.value),
                shape: shape.clone(),
            },
            YieldDestination::Scatter { base, .. } => self.function.ty(*base).clone(),
        });
        let types = types.collect();
        self.append_op(OpKind::Structured(Box::new(op)), types)
    }

    /// Adds a function of the elements of tensors of one shape.
    pub fn add_elementwise(
        &mut self,
        operands: &[TensorValue],
        compute: impl FnOnce(&mut NodeGraph, &[ScalarNode]) -> ScalarNode,
    ) -> TensorValue {
        let shape = match operands {
            [first, ..] => self.ty(*first).shape.clone(),
            [] => TensorShape::new(),
        };
        let mut op = StructuredOp::with_parallel_axes(&shape);
        let point = op.axis_indices();
        let elements: Vec<ScalarNode> = operands
            .iter()
            .map(|value| {
                let element = self.function.ty(*value).element;
                op.body.intern_element(*value, element, &point)
            })
            .collect();
        let value = compute(&mut op.body, &elements);
        op.add_yield(value);
        self.add_structured(op)[0]
    }

    /// Adds a gather: elements of a tensor at positions that are computed of the index in the result's shape.
    pub fn add_gather(
        &mut self,
        operand: TensorValue,
        shape: &[DimExtent],
        position: impl FnOnce(&mut NodeGraph, &[ScalarNode]) -> Vec<ScalarNode>,
    ) -> TensorValue {
        let element = self.ty(operand).element;
        let mut op = StructuredOp::with_parallel_axes(shape);
        let point = op.axis_indices();
        let position = position(&mut op.body, &point);
        let value = op.body.intern_element(operand, element, &position);
        op.add_yield(value);
        self.add_structured(op)[0]
    }

    /// Adds a reshape: the same elements in another shape.
    pub fn add_reshape(&mut self, value: TensorValue, shape: TensorShape) -> TensorValue {
        if self.ty(value).shape == shape {
            return value;
        }
        let element = self.ty(value).element;
        self.push_one(OpKind::Reshape(value), DenseTensorType { element, shape })
    }

    /// Adds a sort.
    pub fn add_sort(&mut self, sort: TensorSort) -> Vec<TensorValue> {
        let types = sort.operands.iter().map(|v| self.ty(*v).clone()).collect();
        self.append_op(OpKind::Sort(Box::new(sort)), types)
    }

    /// Adds a branch between two blocks with results of equal types.
    pub fn add_if(
        &mut self,
        condition: TensorValue,
        then: TensorBlock,
        otherwise: TensorBlock,
    ) -> Vec<TensorValue> {
        let results = self.function.block(then).results.iter();
        let types = results.map(|v| self.ty(*v).clone()).collect();
        let kind = OpKind::If {
            condition,
            then,
            otherwise,
        };
        self.append_op(kind, types)
    }

    /// Adds a loop that repeats a block while a condition holds.
    pub fn add_while(
        &mut self,
        initial: &[TensorValue],
        condition: TensorBlock,
        body: TensorBlock,
    ) -> Vec<TensorValue> {
        let types = initial.iter().map(|v| self.ty(*v).clone()).collect();
        let initial = initial.to_vec();
        let kind = OpKind::While {
            initial,
            condition,
            body,
        };
        self.append_op(kind, types)
    }

    /// Adds an assertion.
    pub fn add_assertion(&mut self, assertion: RunAssertion) {
        self.append_op(OpKind::Assert(Box::new(assertion)), Vec::new());
    }

    /// Adds a foreign call with results of these types.
    pub fn add_foreign(
        &mut self,
        call: ForeignCall,
        results: Vec<DenseTensorType>,
    ) -> Vec<TensorValue> {
        self.append_op(OpKind::Foreign(Box::new(call)), results)
    }

    /// Adds a reduction of tensors over some dimensions, from initial tensors of rank 0.
    pub fn add_reduction(
        &mut self,
        operands: &[TensorValue],
        initial: &[TensorValue],
        dimensions: &[usize],
        combiner: ScalarCombiner,
    ) -> Vec<TensorValue> {
        let mut op = StructuredOp::default();
        let shape = match operands {
            [first, ..] => self.ty(*first).shape.clone(),
            [] => TensorShape::new(),
        };
        let position = op.reduced_position(&shape, dimensions);
        let read =
            |body: &mut NodeGraph, value: &TensorValue, at: &[ScalarNode], element: ScalarType| {
                body.intern_element(*value, element, at)
            };
        let values = operands
            .iter()
            .map(|v| read(&mut op.body, v, &position, self.function.ty(*v).element))
            .collect();
        let initial = initial
            .iter()
            .map(|v| read(&mut op.body, v, &[], self.function.ty(*v).element))
            .collect();
        let results = op.add_reduction(TensorReduction {
            initial,
            values,
            combiner,
        });
        for result in results {
            op.add_yield(result);
        }
        self.add_structured(op)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirula_program::ScalarOp;

    /// The chain of operations is longer than any stack.
    #[test]
    fn what_is_computed_of_constants_is_known() {
        let mut b = TensorBuilder::new("main");
        let given = b.add_parameter(
            "given",
            DenseTensorType::from_scalar(ScalarType::I64),
            false,
        );
        let mut sum = b.add_splat(ScalarLiteral::new(ScalarType::I64, 0), &[]);
        for _ in 0..100_000 {
            let mut op = StructuredOp::default();
            let before = op.body.intern_element(sum, ScalarType::I64, &[]);
            let one = op.body.intern_i64(1);
            let after = op.body.apply_op(ScalarOp::Add, &[before, one]);
            op.add_yield(after);
            sum = b.add_structured(op)[0];
        }
        assert_eq!(b.as_literal(sum).map(|literal| literal.bits), Some(100_000));
        assert_eq!(b.as_literal(given), None);
    }
}
