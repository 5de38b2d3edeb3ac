//! Symbolic evaluation of shapes: sizes that are known only at run time.
//!
//! Programs compute shapes with tensors: sizes of dimensions are added, concatenated, and passed to
//! operations as shapes. So the elements of small integer tensors are tracked symbolically, as
//! nodes of one body over the sizes of the parameters. Equal sizes become equal nodes; a size that
//! evaluates to a number is static.

use super::constant::scalar_list;
use super::element::TensorElement;
use super::error::TranslateResult;
use super::scalar::{
    ElementValue, ElementwiseCall, ElementwiseOperation, ScalarBuilder, find_elementwise_function,
};
use super::translator::{StablehloTranslator, TranslatedValue, TypedTensor};
use crate::dialect::records::{ConcatenateAttributes, DimensionSizeAttributes, SliceAttributes};
use crate::dialect::{AttributeRecord, MlirOpcode};
use crate::mlir::MlirOp;
use spirula_program::ScalarType;
use spirula_tensor::ir::{DimExtent, NodeData, ScalarNode, StructuredOp, TensorShape};
use std::rc::Rc;

/// Maximum number of elements of a tensor that is tracked.
const MAX_TRACKED: usize = 64;

impl StablehloTranslator<'_> {
    /// A size as a node of the sizes' body.
    pub fn node_from_dim(&mut self, dim: DimExtent) -> ScalarNode {
        self.dims.body.intern_size(dim)
    }

    /// A size computed from sizes.
    pub fn compute_dim(
        &mut self,
        sizes: &[DimExtent],
        compute: impl FnOnce(&mut ScalarBuilder<'_>, &[ScalarNode]) -> ScalarNode,
    ) -> DimExtent {
        let nodes: Vec<ScalarNode> = sizes
            .iter()
            .map(|dim| self.dims.body.intern_size(*dim))
            .collect();
        let node = compute(&mut ScalarBuilder::new(&mut self.dims.body), &nodes);
        self.dim_from_node(node)
    }

    /// A node of the sizes' body as a size.
    pub fn dim_from_node(&mut self, node: ScalarNode) -> DimExtent {
        if let Some(literal) = self.dims.body.as_literal(node) {
            return DimExtent::Static(literal.to_signed().max(0) as u64);
        }
        if let NodeData::Size(value) = self.dims.body.node(node) {
            return DimExtent::Value(*value);
        }
        let made = self.dims.made.iter().find(|(of, _)| *of == node);
        if let Some((_, value)) = made {
            return DimExtent::Value(*value);
        }
        let mut s = StructuredOp::default();
        let copy = s
            .body
            .import_nodes(&self.dims.body, &[node], |_, _, _| None);
        s.add_yield(copy[0]);
        let value = self.builder.add_structured(s)[0];
        self.dims.made.push((node, value));
        DimExtent::Value(value)
    }

    /// The tracked elements of an operand as sizes.
    pub fn number_dims(&mut self, op: MlirOp, at: usize) -> TranslateResult<Vec<DimExtent>> {
        let nodes = self.find_tracked_operand(op, at)?;
        Ok(nodes.iter().map(|node| self.dim_from_node(*node)).collect())
    }

    /// A node of the sizes' body in the body of an operation.
    pub fn import_node(&self, s: &mut StructuredOp, node: ScalarNode) -> ScalarNode {
        s.body
            .import_nodes(&self.dims.body, &[node], |_, _, _| None)[0]
    }

    /// The tracked elements of an operand.
    pub fn find_tracked_operand(&self, op: MlirOp, at: usize) -> TranslateResult<Rc<[ScalarNode]>> {
        let nodes = self.tensor_operand(op, at)?.tracked;
        nodes.ok_or_else(|| self.unsupported_error(op, "shape that depends on elements"))
    }

    /// The elements of an operand as numbers, if they are known.
    pub fn known_numbers(&self, op: MlirOp, at: usize) -> TranslateResult<Vec<i64>> {
        let nodes = self.find_tracked_operand(op, at)?;
        let literal = |node: &ScalarNode| Some(self.dims.body.as_literal(*node)?.to_signed());
        let numbers: Option<Vec<i64>> = nodes.iter().map(literal).collect();
        numbers.ok_or_else(|| self.dynamic_dimension_error(op))
    }

    /// Numbers as nodes of the sizes' body.
    pub fn number_nodes(&mut self, numbers: &[i64]) -> Vec<ScalarNode> {
        let all = numbers.iter();
        all.map(|number| self.dims.body.intern_i64(*number))
            .collect()
    }

    /// A node computed from nodes of the sizes' body.
    pub fn compute_node<T>(&mut self, compute: impl FnOnce(&mut ScalarBuilder<'_>) -> T) -> T {
        compute(&mut ScalarBuilder::new(&mut self.dims.body))
    }

    /// The number of a node of the sizes' body, if it is known.
    pub fn known_node(&self, node: ScalarNode) -> Option<i64> {
        let literal = self.dims.body.as_literal(node);
        literal.map(|literal| literal.to_signed())
    }

    /// Tracks the elements of an integer parameter that may be sizes; `known` is its value, if it
    /// is known.
    pub fn track_parameter(&mut self, tensor: &mut TypedTensor, known: Option<i64>) {
        let count = self.builder.ty(tensor.first_component()).element_count();
        let count = count.filter(|count| *count as usize <= MAX_TRACKED && self.is_dynamic);
        let (TensorElement::Int { signed, .. }, Some(count)) = (tensor.element, count) else {
            return;
        };
        let rank = self.builder.ty(tensor.first_component()).rank();
        if rank > 1 {
            return;
        }
        if let (0, Some(known)) = (rank, known) {
            tensor.tracked = Some(Rc::from([self.dims.body.intern_i64(known)]));
            return;
        }
        let nodes = (0..count).map(|at| {
            let mut position = Vec::new();
            if rank == 1 {
                position.push(self.dims.body.intern_i64(at as i64));
            }
            let ty = tensor.element.storage_type();
            let element = self
                .dims
                .body
                .intern_element(tensor.parts[0], ty, &position);
            ScalarBuilder::new(&mut self.dims.body).resize_integer(ScalarType::I64, signed, element)
        });
        tensor.tracked = Some(nodes.collect());
    }

    /// The tracked elements of an operand as a shape.
    pub fn shape_operand(&mut self, op: MlirOp, at: usize) -> TranslateResult<TensorShape> {
        let nodes = self.find_tracked_operand(op, at)?;
        Ok(nodes.iter().map(|node| self.dim_from_node(*node)).collect())
    }

    /// Tracks the elements of an operation's result, if it is a small integer tensor.
    pub fn track_results(&mut self, op: MlirOp) {
        let Some(result) = self.module.results(op).next() else {
            return;
        };
        let Ok(TranslatedValue::Tensor(mut tensor)) = self.resolve_value(op, result) else {
            return;
        };
        let is_tracked = matches!(
            tensor.element,
            TensorElement::Int { .. } | TensorElement::Bool
        );
        if tensor.tracked.is_some() || !is_tracked || !self.is_dynamic {
            return;
        }
        let count = self.builder.ty(tensor.first_component()).element_count();
        if count.is_none_or(|count| count as usize > MAX_TRACKED) {
            return;
        }
        if let Some(nodes) = self.compute_tracked_result(op, &tensor, count.unwrap_or(0) as usize) {
            tensor.tracked = Some(Rc::from(nodes));
            self.bind_value(result, TranslatedValue::Tensor(tensor));
        }
    }

    /// The elements of a result as nodes, if they can be tracked.
    fn compute_tracked_result(
        &mut self,
        op: MlirOp,
        result: &TypedTensor,
        count: usize,
    ) -> Option<Vec<ScalarNode>> {
        let opcode = self.module.opcode(op)?;
        if opcode == MlirOpcode::Constant {
            let numbers = scalar_list(self, op, result.element, count)?;
            let numbers = numbers.into_iter().map(|number| match result.element {
                TensorElement::Bool => {
                    ScalarBuilder::new(&mut self.dims.body).truth_constant(number != 0)
                }
                _ => self.dims.body.intern_i64(number),
            });
            return Some(numbers.collect());
        }
        let module = self.module;
        let operands = module.operands(op).iter();
        let operands: Vec<Rc<[ScalarNode]>> = operands
            .map(|value| self.resolve_tensor(op, *value).ok()?.tracked)
            .collect::<Option<_>>()?;
        match opcode {
            MlirOpcode::Reshape => Some(operands.first()?.to_vec()),
            MlirOpcode::Concatenate => {
                let attributes = ConcatenateAttributes::read(module, op).ok()?;
                (attributes.dimension.value == 0).then(|| operands.concat())
            }
            MlirOpcode::BroadcastInDim | MlirOpcode::Broadcast => match operands.first()?.len() {
                1 => Some(vec![operands[0][0]; count]),
                same if same == count => Some(operands[0].to_vec()),
                _ => None,
            },
            MlirOpcode::Slice if self.tensor_shape(result).len() == 1 => {
                let attributes = SliceAttributes::read(module, op).ok()?;
                let start = *attributes.start_indices.values.first()?;
                let stride = *attributes.strides.values.first()?;
                let at = |index: usize| {
                    let step = stride.checked_mul(index as i64)?;
                    usize::try_from(start.checked_add(step)?).ok()
                };
                let nodes = (0..count).map(|index| operands.first()?.get(at(index)?).copied());
                nodes.collect()
            }
            _ => {
                let operation = find_elementwise_function(opcode)?;
                let mut element = |index: usize| {
                    let call = ElementwiseCall {
                        module,
                        op,
                        result: match result.element {
                            TensorElement::Bool => TensorElement::Bool,
                            _ => TensorElement::I64,
                        },
                    };
                    let result =
                        self.evaluate_symbolic_element(operation, &call, &operands, index)?;
                    Some(result.node())
                };
                (0..count).map(&mut element).collect()
            }
        }
    }

    /// An element of the result of an operation on symbols. Numbers are `i64` here, whatever their
    /// type, as sizes are far from the limits of all types.
    fn evaluate_symbolic_element(
        &mut self,
        operation: ElementwiseOperation,
        call: &ElementwiseCall<'_>,
        operands: &[Rc<[ScalarNode]>],
        index: usize,
    ) -> Option<ElementValue> {
        let body = &self.dims.body;
        let element = |nodes: &Rc<[ScalarNode]>| {
            let at = if nodes.len() == 1 { 0 } else { index };
            let node = *nodes.get(at)?;
            let element = match body.ty(node) {
                ScalarType::Bool => TensorElement::Bool,
                _ => TensorElement::I64,
            };
            Some(ElementValue::new(element, node))
        };
        let values: Vec<ElementValue> = operands.iter().map(element).collect::<Option<_>>()?;
        let mut builder = ScalarBuilder::new(&mut self.dims.body);
        let value = (operation.function)(&mut builder, call, &values)?;
        (values.len() == operation.arity).then_some(value)
    }
}

/// `get_dimension_size`
pub(super) fn get_dimension_size(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let operand = t.tensor_operand(op, 0)?;
    let shape = t.tensor_shape(&operand);
    let attributes: DimensionSizeAttributes = t.read_attributes(op)?;
    let dimension = t.check_dimension(op, attributes.dimension, shape.len())?;
    let element = t.result_element(op, 0)?;
    let mut result = t.map_points(&TensorShape::new(), |t, s, _| {
        let size = ElementValue::new(TensorElement::I64, s.body.intern_size(shape[dimension]));
        let converted = ScalarBuilder::new(&mut s.body).convert_value(&size, element);
        converted.ok_or_else(|| t.unsupported_error(op, "type of a size"))
    })?;
    let node = t.node_from_dim(shape[dimension]);
    result.tracked = Some(Rc::from([node]));
    t.bind_result(op, result)
}
