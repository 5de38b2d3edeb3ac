//! Dynamic sizes: the host's variables for sizes that are known only at run time, and checks of them.

use super::super::node_emitter::TensorStorage;
use super::HostProgramLowering;
use crate::ir::{DimExtent, OpKind, SizeRelation, TensorFunction, TensorValue};
use spirula_kernel::ir::{ExprId, MessageData, MessageSegment, StmtKind, VariableType};
use spirula_program::{ScalarOp, ScalarType};

/// Whether each value is the size of a dimension.
pub(super) fn mark_sizes(function: &TensorFunction) -> Vec<bool> {
    let mut is_size = vec![false; function.value_count()];
    let values = (0..function.value_count()).map(TensorValue::new);
    let mut mark = |size: TensorValue| is_size[size.index()] = true;
    for value in values {
        function.ty(value).dynamic_sizes().for_each(&mut mark);
    }
    for block in function.block_ids() {
        for op in &function.block(block).ops {
            if let OpKind::Structured(op) = &op.kind {
                op.dynamic_sizes().for_each(&mut mark);
            }
        }
    }
    is_size
}

impl HostProgramLowering<'_> {
    /// The number of elements of a value.
    pub(in crate::lower) fn emit_element_count(&mut self, value: TensorValue) -> ExprId {
        let ty = self.function.ty(value);
        if let Some(count) = ty.element_count() {
            return self.b.make_i64(count as i64);
        }
        let known = ty.shape.iter().filter_map(|dim| dim.as_static());
        let mut count = self.b.make_i64(known.product::<u64>() as i64);
        for size in ty.dynamic_sizes() {
            let size = self.as_scalar(size);
            count = self.b.apply_op(ScalarOp::Mul, &[count, size]);
        }
        count
    }

    /// Reads a size that the device has computed, so that launches need not read it.
    pub(super) fn read_size(&mut self, value: TensorValue) {
        if self.is_size[value.index()]
            && let Some(TensorStorage::Memory(_)) = self.sources.get(&value)
        {
            let scalar = self.as_scalar(value);
            let var = self
                .b
                .declare_var("n", VariableType::Scalar(ScalarType::I64), false);
            self.b.push_assignment(var, scalar);
            self.sources.insert(value, TensorStorage::Scalar(var));
        }
    }

    /// Emits an assertion that computed sizes are not negative.
    pub(super) fn check_sizes(&mut self, results: &[TensorValue]) {
        let sizes = results.iter().filter(|v| self.is_size[v.index()]);
        for result in sizes.copied().collect::<Vec<TensorValue>>() {
            let size = self.as_scalar(result);
            let zero = self.b.make_i64(0);
            let condition = self.b.apply_op(ScalarOp::SLe, &[zero, size]);
            self.emit_assertion(
                condition,
                ["a dimension cannot have a size of ", ""],
                [size, size],
            );
        }
    }

    /// Emits assertions for the constraints on sizes that are known by now.
    pub(super) fn compare_sizes(&mut self) {
        let has = |host: &Self, dim: DimExtent| {
            dim.as_value().is_none_or(|v| host.sources.contains_key(&v))
        };
        for demand in std::mem::take(&mut self.demands) {
            let [a, b] = demand.sizes;
            if !has(self, a) || !has(self, b) {
                self.demands.push(demand);
                continue;
            }
            let [a, b] = [a, b].map(|dim| self.emit_dim_size(dim));
            let equal = self.b.apply_op(ScalarOp::Eq, &[a, b]);
            let (condition, texts) = match demand.relation {
                SizeRelation::Equal => (equal, ["dimensions have to be equal, not ", " and "]),
                SizeRelation::Repeated => {
                    let one = self.b.make_i64(1);
                    let is_one = self.b.apply_op(ScalarOp::Eq, &[a, one]);
                    let either = self.b.apply_op(ScalarOp::LogOr, &[is_one, equal]);
                    (
                        either,
                        ["a dimension of ", " elements cannot be repeated to "],
                    )
                }
            };
            self.emit_assertion(condition, texts, [a, b]);
        }
    }

    fn emit_dim_size(&mut self, dim: DimExtent) -> ExprId {
        match dim {
            DimExtent::Static(size) => self.b.make_i64(size as i64),
            DimExtent::Value(value) => self.as_scalar(value),
        }
    }

    /// Emits an assertion of a condition. Its message has a text before each of two values.
    pub(in crate::lower) fn emit_assertion(
        &mut self,
        condition: ExprId,
        texts: [&str; 2],
        values: [ExprId; 2],
    ) {
        let mut parts = Vec::new();
        for (text, value) in texts.into_iter().zip(values) {
            if !text.is_empty() {
                parts.extend([
                    MessageSegment::Text(text.to_owned()),
                    MessageSegment::Value(value),
                ]);
            }
        }
        let message = self.b.add_message(MessageData {
            parts,
            backtrace: String::new(),
        });
        self.b
            .push_statement(StmtKind::Assert { condition, message });
    }

    /// Emits an assertion that a reshaped tensor has as many elements as before, where that is known only at run time.
    pub(super) fn check_reshape(&mut self, to: TensorValue, from: TensorValue) {
        let (wanted, found) = (self.function.ty(to), self.function.ty(from));
        let is_sized = wanted
            .dynamic_sizes()
            .chain(found.dynamic_sizes())
            .next()
            .is_some();
        if !is_sized || wanted.shape == found.shape {
            return;
        }
        let (wanted, found) = (self.emit_element_count(to), self.emit_element_count(from));
        let condition = self.b.apply_op(ScalarOp::Eq, &[wanted, found]);
        let texts = [
            "a tensor cannot have a shape of as many elements as ",
            ", but of ",
        ];
        self.emit_assertion(condition, texts, [wanted, found]);
    }
}
