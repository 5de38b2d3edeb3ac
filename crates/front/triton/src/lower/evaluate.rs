//! Evaluation of single elements of tensors, and of scalars.

use super::binding::{TileBinding, TileLowering};
use super::{MAX_ASSEMBLY, fault};
use crate::TritonResult;
use crate::emit::{ScalarUse, emit_constant, emit_scalar, storage_type, value_type};
use crate::ir::{TileAttribute, TileElement, TileOperation, ValueId};

impl<'m> TileLowering<'m, '_> {
    /// The value of an element of a tensor, or of a scalar, whose index is ignored.
    pub fn evaluate(&mut self, value: ValueId, index: &[String]) -> TritonResult<String> {
        if let Some(known) = self.recall(value, index) {
            return Ok(known);
        }
        let element = match self.binding(value).cloned() {
            Some(TileBinding::Scalar(scalar)) => return Ok(scalar),
            Some(TileBinding::Buffer(buffer)) => self.load_element(&buffer, index),
            Some(TileBinding::Expression {
                operation, number, ..
            }) => self.evaluate_operation(operation, number, index)?,
            Some(TileBinding::Stepped { initial, offset }) => {
                let first = self.evaluate(initial, index)?;
                self.add_offset(value, &first, &offset)
            }
            None => {
                return Err(fault(
                    &self.function.place,
                    "a value is used before it is computed",
                ));
            }
        };
        self.remember(value, index, &element);
        Ok(element)
    }

    /// The value of a scalar.
    pub fn evaluate_scalar(&mut self, value: ValueId) -> TritonResult<String> {
        self.evaluate(value, &[])
    }

    /// Adds an `i64` to an element of a stepped tensor.
    fn add_offset(&mut self, value: ValueId, first: &str, offset: &str) -> String {
        let element = &self.type_of(value).element;
        let text = &mut self.kernel.text;
        match element {
            TileElement::Pointer(pointee) => text.compute(format!(
                "getelementptr {}, ptr addrspace(1) {first}, i64 {offset}",
                storage_type(pointee)
            )),
            _ => {
                let ty = value_type(element);
                let mut step = offset.to_owned();
                if ty != "i64" {
                    step = text.compute(format!("trunc i64 {step} to {ty}"));
                }
                text.compute(format!("add {ty} {first}, {step}"))
            }
        }
    }

    /// An element of a result of an operation that is an expression.
    pub fn evaluate_operation(
        &mut self,
        operation: &'m TileOperation,
        number: usize,
        index: &[String],
    ) -> TritonResult<String> {
        if self.kernel.text.length() > MAX_ASSEMBLY {
            return Err(fault(&operation.place, "the kernel is too large"));
        }
        match operation.name.as_str() {
            "arith.constant" => self.evaluate_constant(operation),
            "tt.load" => self.emit_load(operation, index),
            name if super::binding::is_shape_operation(name) => {
                self.evaluate_move(operation, number, index)
            }
            _ => self.evaluate_scalar_operation(operation, number, index),
        }
    }

    /// A constant, whose elements are equal.
    fn evaluate_constant(&mut self, operation: &TileOperation) -> TritonResult<String> {
        let element = &self.type_of(operation.results[0]).element;
        let mut value = operation.words.first();
        while let Some(TileAttribute::List(list)) = value {
            let is_uniform = list.windows(2).all(|pair| pair[0] == pair[1]);
            value = list.first().filter(|_| is_uniform);
        }
        let constant = value.and_then(|value| emit_constant(element, value));
        constant.ok_or_else(|| fault(&operation.place, "constants of this form are not supported"))
    }

    /// An operation that computes each element from one element of each operand.
    fn evaluate_scalar_operation(
        &mut self,
        operation: &'m TileOperation,
        number: usize,
        index: &[String],
    ) -> TritonResult<String> {
        let mut operands = Vec::new();
        for operand in &operation.operands {
            let element = self.type_of(*operand).element.clone();
            operands.push((element, self.evaluate(*operand, index)?));
        }
        let scalar = ScalarUse {
            operation,
            operands: &operands,
            number,
            result: &self.type_of(operation.results[number]).element,
        };
        emit_scalar(&mut self.kernel.text, &scalar)
            .map_err(|reason| fault(&operation.place, reason))
    }

    /// An operation that only moves elements.
    fn evaluate_move(
        &mut self,
        operation: &'m TileOperation,
        number: usize,
        index: &[String],
    ) -> TritonResult<String> {
        let malformed = || fault(&operation.place, format!("malformed {}", operation.name));
        if operation.name == "tt.make_range" {
            let start = operation.integer("start").unwrap_or(0);
            let position = index.first().ok_or_else(malformed)?;
            if start == 0 {
                return Ok(position.clone());
            }
            let sum = format!("add i32 {position}, {start}");
            return Ok(self.kernel.text.compute(sum));
        }
        let source = *operation.operands.first().ok_or_else(malformed)?;
        let shape = self.type_of(source).dimensions();
        let moved = match operation.name.as_str() {
            "tt.splat" => Vec::new(),
            "tt.unsplat" => vec!["0".to_owned(); shape.len()],
            "tt.broadcast" => broadcast_index(shape, index),
            "tt.expand_dims" => {
                let axis = operation.integer("axis").unwrap_or(0) as usize;
                let mut index = index.to_vec();
                if axis >= index.len() {
                    return Err(malformed());
                }
                index.remove(axis);
                index
            }
            "tt.trans" => {
                let order = operation.integers("order").ok_or_else(malformed)?;
                let mut moved = vec!["0".to_owned(); shape.len()];
                for (position, axis) in index.iter().zip(order) {
                    *moved.get_mut(axis as usize).ok_or_else(malformed)? = position.clone();
                }
                moved
            }
            "tt.reshape" => {
                let result = self.type_of(operation.results[number]).dimensions();
                let linear = self.linearise(result, index);
                self.delinearise(shape, &linear)
            }
            "tt.split" => {
                let mut index = index.to_vec();
                index.push(number.to_string());
                index
            }
            "tt.gather" => self.gather_index(operation, index)?,
            _ => return self.evaluate_choice(operation, index),
        };
        self.evaluate(source, &moved)
    }

    /// The index in the source of `tt.gather`.
    fn gather_index(
        &mut self,
        operation: &'m TileOperation,
        index: &[String],
    ) -> TritonResult<Vec<String>> {
        let malformed = || fault(&operation.place, "malformed tt.gather");
        let axis = operation.integer("axis").unwrap_or(0) as usize;
        let indices = *operation.operands.get(1).ok_or_else(malformed)?;
        let mut chosen = self.evaluate(indices, index)?;
        let ty = value_type(&self.type_of(indices).element);
        let text = &mut self.kernel.text;
        match ty.as_str() {
            "i32" => {}
            "i64" => chosen = text.compute(format!("trunc i64 {chosen} to i32")),
            _ => chosen = text.compute(format!("zext {ty} {chosen} to i32")),
        }
        let mut index = index.to_vec();
        *index.get_mut(axis).ok_or_else(malformed)? = chosen;
        Ok(index)
    }

    /// `tt.join` and `tt.cat`: an element of one of two operands.
    fn evaluate_choice(
        &mut self,
        operation: &'m TileOperation,
        index: &[String],
    ) -> TritonResult<String> {
        let ([first, second], [.., last]) = (operation.operands.as_slice(), index) else {
            return Err(fault(
                &operation.place,
                format!("malformed {}", operation.name),
            ));
        };
        let ty = value_type(&self.type_of(*first).element);
        let (is_second, index_in_both) = if operation.name == "tt.join" {
            let is_second = self.kernel.text.compute(format!("icmp ne i32 {last}, 0"));
            (is_second, index[..index.len() - 1].to_vec())
        } else {
            let size = self
                .type_of(*first)
                .dimensions()
                .first()
                .copied()
                .unwrap_or(1);
            let text = &mut self.kernel.text;
            let is_second = text.compute(format!("icmp uge i32 {}, {size}", index[0]));
            let mut index = index.to_vec();
            index[0] = text.compute(format!("urem i32 {}, {size}", index[0]));
            (is_second, index)
        };
        let a = self.evaluate(*first, &index_in_both)?;
        let b = self.evaluate(*second, &index_in_both)?;
        let choice = format!("select i1 {is_second}, {ty} {b}, {ty} {a}");
        Ok(self.kernel.text.compute(choice))
    }
}

/// The index in a tensor that is broadcast: 0 in the dimensions of size 1.
fn broadcast_index(shape: &[u64], index: &[String]) -> Vec<String> {
    let pairs = shape.iter().zip(index);
    pairs
        .map(|(size, position)| match size {
            1 => "0".to_owned(),
            _ => position.clone(),
        })
        .collect()
}
