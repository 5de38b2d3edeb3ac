//! Sorts by keys as radix sorts of words.
//!
//! A key becomes one word of 32 bits or two, whose order as unsigned numbers is the order of the keys. The words are sorted
//! from the least significant one to the most significant one. Each sort carries the indices of the elements; the last ones
//! are where the results are read. A single tensor whose key is one word is carried itself, where its elements fit words.

use super::SortExpansion;
use super::sort_keys::{KeyOrder, SortKey};
use crate::ir::{
    DenseTensorType, NodeGraph, OpKind, RadixSort, ScalarNode, StructuredOp, TensorOp, TensorShape,
    TensorValue,
};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};

impl SortExpansion<'_> {
    /// Sorts by keys, the most significant first.
    pub(super) fn sort_by_words(&mut self, keys: &[SortKey], results: &[TensorValue]) {
        let mut shape = self.shape.clone();
        let length = shape.remove(self.sort.dimension);
        shape.push(length);
        if let ([key], [operand]) = (keys, &self.sort.operands[..])
            && self.fits_words(key, *operand)
        {
            return self.sort_elements(key, &shape, results[0]);
        }
        let mut order = None;
        for key in keys.iter().rev() {
            let bits = self.count_key_bits(key);
            for lowest in (0..bits).step_by(32) {
                let words = self.compute_words(key, lowest, &shape, order);
                let sort = RadixSort {
                    words,
                    carried: order,
                    bits: (bits - lowest).min(32),
                };
                order = Some(self.push_radix_sort(sort, &shape));
            }
        }
        if let Some(order) = order {
            self.gather_elements(order, results);
        }
    }

    fn push_radix_sort(&mut self, sort: RadixSort, shape: &TensorShape) -> TensorValue {
        let sorted = self.new_words(shape);
        self.ops.push(TensorOp {
            kind: OpKind::RadixSort(sort),
            results: vec![sorted],
            place: self.place,
        });
        sorted
    }

    fn count_key_bits(&self, key: &SortKey) -> u32 {
        count_bits(self.sort.comparator.body.ty(key.node))
    }

    /// A point of the words, whose last dimension is the sorted one, as a point of the tensors with another index along it.
    fn place_index(&self, words: &[ScalarNode], index: ScalarNode) -> Vec<ScalarNode> {
        let mut point = words[..self.shape.len() - 1].to_vec();
        point.insert(self.sort.dimension, index);
        point
    }

    /// A point of the tensors as a point of the words.
    fn place_last(&self, point: &[ScalarNode]) -> Vec<ScalarNode> {
        let mut words = point.to_vec();
        words[self.sort.dimension..].rotate_left(1);
        words
    }

    /// Whether a key is one word, and the elements of a tensor are numbers that fit words.
    fn fits_words(&self, key: &SortKey, operand: TensorValue) -> bool {
        let element = self.function.ty(operand).element;
        let is_number = element.is_int() || element.is_float();
        is_number && count_bits(element) <= 32 && self.count_key_bits(key) <= 32
    }

    /// Sorts the elements of the only tensor, which are carried as words.
    fn sort_elements(&mut self, key: &SortKey, shape: &TensorShape, result: TensorValue) {
        let operand = self.sort.operands[0];
        let words = self.compute_words(key, 0, shape, None);
        let mut op = StructuredOp::with_parallel_axes(shape);
        let point = op.axis_indices();
        let point = self.place_index(&point, point[shape.len() - 1]);
        let element = self.function.ty(operand).element;
        let value = op.body.intern_element(operand, element, &point);
        let value = emit_bits(&mut op.body, value);
        let value = op
            .body
            .apply_conversion(ScalarOp::ZExt, ScalarType::I32, value);
        op.add_yield(value);
        let carried = self.new_words(shape);
        self.push_structured(op, vec![carried]);
        let sort = RadixSort {
            words,
            carried: Some(carried),
            bits: self.count_key_bits(key),
        };
        let sorted = self.push_radix_sort(sort, shape);
        let mut op = StructuredOp::with_parallel_axes(&self.shape);
        let row = self.place_last(&op.axis_indices());
        let value = op.body.intern_element(sorted, ScalarType::I32, &row);
        let integer = integer_type(count_bits(element));
        let value = op.body.apply_conversion(ScalarOp::SExt, integer, value);
        let value = op.body.apply_conversion(ScalarOp::Bits, element, value);
        op.add_yield(value);
        self.push_structured(op, vec![result]);
    }

    fn new_words(&mut self, shape: &TensorShape) -> TensorValue {
        self.function.new_value(DenseTensorType {
            element: ScalarType::I32,
            shape: shape.clone(),
        })
    }

    /// The word of a key that begins at a bit, for each element in an order.
    fn compute_words(
        &mut self,
        key: &SortKey,
        lowest: u32,
        shape: &TensorShape,
        order: Option<TensorValue>,
    ) -> TensorValue {
        let sort = self.sort;
        let mut op = StructuredOp::with_parallel_axes(shape);
        let point = op.axis_indices();
        let body = &mut op.body;
        let index = match order {
            Some(order) => read_index(body, order, &point),
            None => point[shape.len() - 1],
        };
        let point = self.place_index(&point, index);
        let elements = self.read_elements(body, &sort.operands, &point, index);
        let comparator = &sort.comparator.body;
        let number = body.import_nodes(comparator, &[key.node], |_, node, _| {
            let argument = comparator.as_argument(node)? as usize;
            elements.get(argument / 2).copied()
        });
        let word = emit_word(body, key, number[0], lowest);
        op.add_yield(word);
        let words = self.new_words(shape);
        self.push_structured(op, vec![words]);
        words
    }

    /// Reads the results at the indices that the last sort has left.
    pub(super) fn gather_elements(&mut self, order: TensorValue, results: &[TensorValue]) {
        let sort = self.sort;
        let mut op = StructuredOp::with_parallel_axes(&self.shape);
        let point = op.axis_indices();
        let row = self.place_last(&point);
        let index = read_index(&mut op.body, order, &row);
        for element in self.read_elements(&mut op.body, &sort.operands, &point, index) {
            op.add_yield(element);
        }
        self.push_structured(op, results.to_vec());
    }
}

/// The index that an order has at a point.
fn read_index(body: &mut NodeGraph, order: TensorValue, point: &[ScalarNode]) -> ScalarNode {
    let index = body.intern_element(order, ScalarType::I32, point);
    body.apply_conversion(ScalarOp::SExt, ScalarType::I64, index)
}

fn count_bits(ty: ScalarType) -> u32 {
    ty.size() as u32 * 8
}

/// The integer type of a width.
fn integer_type(bits: u32) -> ScalarType {
    match bits {
        8 => ScalarType::I8,
        16 => ScalarType::I16,
        32 => ScalarType::I32,
        _ => ScalarType::I64,
    }
}

/// The bits of a number as an integer.
fn emit_bits(body: &mut NodeGraph, number: ScalarNode) -> ScalarNode {
    let ty = integer_type(count_bits(body.ty(number)));
    body.apply_conversion(ScalarOp::Bits, ty, number)
}

/// The word of a number whose lowest bit is the number's bit `lowest`.
fn emit_word(body: &mut NodeGraph, key: &SortKey, number: ScalarNode, lowest: u32) -> ScalarNode {
    let unsigned = emit_unsigned(body, key, number);
    let ty = body.ty(unsigned);
    if ty != ScalarType::I64 {
        return body.apply_conversion(ScalarOp::ZExt, ScalarType::I32, unsigned);
    }
    let amount = body.intern_i64(i64::from(lowest));
    let part = body.apply_op(ScalarOp::LShr, &[unsigned, amount]);
    body.apply_conversion(ScalarOp::SExt, ScalarType::I32, part)
}

/// An integer of the number's width whose order, as an unsigned one, is the order of the key.
pub(super) fn emit_unsigned(body: &mut NodeGraph, key: &SortKey, number: ScalarNode) -> ScalarNode {
    let bits = count_bits(body.ty(number));
    let integer = match key.order {
        KeyOrder::Float => emit_float_bits(body, number, bits),
        KeyOrder::Signed | KeyOrder::Unsigned => number,
    };
    let ty = body.ty(integer);
    let sign = 1u64 << (bits - 1);
    let all = u64::MAX >> (64 - bits);
    let mut flipped = 0;
    if key.order != KeyOrder::Unsigned {
        flipped ^= sign;
    }
    if key.is_descending {
        flipped ^= all;
    }
    let flipped = body.intern_literal(ScalarLiteral::new(ty, flipped));
    body.apply_op(ScalarOp::Xor, &[integer, flipped])
}

/// The bits of a floating-point number as a signed integer in the same order. A zero is positive, so both zeros are equal.
fn emit_float_bits(body: &mut NodeGraph, number: ScalarNode, bits: u32) -> ScalarNode {
    let zero = body.intern_literal(ScalarLiteral::new(body.ty(number), 0));
    let is_zero = body.apply_op(ScalarOp::Eq, &[number, zero]);
    let number = body.apply_op(ScalarOp::Cond, &[is_zero, zero, number]);
    let integer = emit_bits(body, number);
    let ty = body.ty(integer);
    let [amount, magnitude] = [u64::from(bits - 1), (u64::MAX >> (64 - bits)) >> 1]
        .map(|value| body.intern_literal(ScalarLiteral::new(ty, value)));
    let sign = body.apply_op(ScalarOp::AShr, &[integer, amount]);
    let negated = body.apply_op(ScalarOp::And, &[sign, magnitude]);
    body.apply_op(ScalarOp::Xor, &[integer, negated])
}
