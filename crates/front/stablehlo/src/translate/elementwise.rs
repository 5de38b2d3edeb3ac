//! Operations that compute each element from one element of each operand.

use super::element::TensorElement;
use super::error::TranslateResult;
use super::scalar::{ElementValue, ElementwiseCall, ElementwiseOperation, ScalarBuilder};
use super::translator::{StablehloTranslator, TypedTensor};
use crate::dialect::MlirOpcode;
use crate::mlir::MlirOp as Mlir;
use spirula_program::{ScalarOp, ScalarType};
use spirula_tensor::ir::{ScalarNode, StructuredOp, TensorShape, TensorValue};

impl StablehloTranslator<'_> {
    /// An element of a tensor.
    pub fn read_element(
        &self,
        s: &mut StructuredOp,
        tensor: &TypedTensor,
        position: &[ScalarNode],
    ) -> ElementValue {
        let ty = tensor.element.storage_type();
        let parts = tensor.parts.iter();
        ElementValue {
            element: tensor.element,
            nodes: parts
                .map(|part| s.body.intern_element(*part, ty, position))
                .collect(),
        }
    }

    /// The integer at a position of a tensor as an index. A `ui64` beyond the range of `i64`
    /// becomes the largest index, which is beyond the end of every tensor.
    pub fn read_index(
        &self,
        s: &mut StructuredOp,
        tensor: &TypedTensor,
        position: &[ScalarNode],
    ) -> ScalarNode {
        let value = self.read_element(s, tensor, position).node();
        let mut c = ScalarBuilder::new(&mut s.body);
        let is_unsigned = tensor.element.is_unsigned();
        if is_unsigned && c.node_type(value) == ScalarType::I64 {
            return c.apply_with_constant(ScalarOp::UMin, value, i64::MAX as u64);
        }
        c.resize_integer(ScalarType::I64, !is_unsigned, value)
    }

    /// Finishes a structured operation that yields one value at each point.
    pub fn finish_structured(&mut self, mut s: StructuredOp, value: &ElementValue) -> TypedTensor {
        for node in &value.nodes {
            s.add_yield(*node);
        }
        let parts: Vec<TensorValue> = self.builder.add_structured(s);
        TypedTensor::from_components(value.element, &parts)
    }

    /// A tensor with a computed value at each point of a shape.
    pub fn map_points(
        &mut self,
        shape: &TensorShape,
        compute: impl FnOnce(
            &mut Self,
            &mut StructuredOp,
            &[ScalarNode],
        ) -> TranslateResult<ElementValue>,
    ) -> TranslateResult<TypedTensor> {
        let mut s = StructuredOp::with_parallel_axes(shape);
        let point = s.axis_indices();
        let value = compute(self, &mut s, &point)?;
        Ok(self.finish_structured(s, &value))
    }

    /// Elements of a tensor at positions computed from the index in a shape.
    pub fn gather_elements(
        &mut self,
        tensor: &TypedTensor,
        shape: &TensorShape,
        position: impl FnOnce(&mut ScalarBuilder<'_>, &[ScalarNode]) -> Vec<ScalarNode>,
    ) -> TranslateResult<TypedTensor> {
        self.map_points(shape, |t, s, point| {
            let position = position(&mut ScalarBuilder::new(&mut s.body), point);
            Ok(t.read_element(s, tensor, &position))
        })
    }
}

impl ElementwiseCall<'_> {
    /// Checks that all operands have one element type; the condition of a `select` is Boolean.
    pub(super) fn check_operands(
        &self,
        t: &StablehloTranslator<'_>,
        operands: &[ElementValue],
    ) -> TranslateResult<()> {
        let is_select = t.module.opcode(self.op) == Some(MlirOpcode::Select);
        let (first, rest) = operands.split_at(usize::from(is_select).min(operands.len()));
        let condition = first.iter().all(|val| val.element == TensorElement::Bool);
        let mut pairs = rest.windows(2);
        let same = pairs.all(|pair| pair[0].element == pair[1].element);
        t.ensure_holds(
            self.op,
            condition && same,
            "has operands of different types",
        )
    }
}

/// Translates an operation that a row of the scalar table computes.
pub(super) fn translate_elementwise(
    t: &mut StablehloTranslator<'_>,
    op: Mlir,
    operation: ElementwiseOperation,
) -> TranslateResult<()> {
    let module = t.module;
    let operands = t.tensor_operands(op)?;
    t.ensure_holds(
        op,
        operands.len() == operation.arity,
        "has too few or many operands",
    )?;
    let result = t.result_element(op, 0)?;
    // Conditions and bounds may be scalars that apply to all elements.
    let whole = operands
        .iter()
        .filter(|operand| !t.tensor_shape(operand).is_empty());
    let whole: Vec<TypedTensor> = whole.cloned().collect();
    let shape = t.common_shape(op, &whole)?;
    let tensor = t.map_points(&shape, |t, s, point| {
        let mut values = Vec::new();
        for operand in &operands {
            let position = if t.tensor_shape(operand).is_empty() {
                &[]
            } else {
                point
            };
            values.push(t.read_element(s, operand, position));
        }
        let call = ElementwiseCall { module, op, result };
        call.check_operands(t, &values)?;
        let value = (operation.function)(&mut ScalarBuilder::new(&mut s.body), &call, &values);
        value.ok_or_else(|| {
            let of = operands.first().map(|operand| operand.element.to_string());
            let what = format!("{} of {}", module.op_name(op), of.unwrap_or_default());
            t.unsupported_error(op, what)
        })
    })?;
    t.bind_result(op, tensor)
}
