//! Operations on arrays that are no combinators.

use super::offload::InvocationGrid;
use super::view::{ArrayView, ElementOrder, ScalarRef};
use super::{FunctionLowering, LoweredValue};
use spirula_kernel::ir::{CopyOperand, CopyStmt, ExprId, MemorySpace, StmtKind, VariableType};
use spirula_program::{ScalarOp, ScalarType};
use spirula_soac::ir::{SliceSelector, SoacOperand};

impl FunctionLowering<'_> {
    /// The part of an array that selectors select.
    pub(super) fn select(
        &mut self,
        view: &ArrayView,
        selectors: &[SliceSelector],
    ) -> Result<ArrayView, String> {
        let mut selected = ArrayView {
            strides: Vec::new(),
            shape: Vec::new(),
            order: ElementOrder::Strided,
            ..view.clone()
        };
        for (dimension, &stride) in view.strides.iter().enumerate() {
            match selectors.get(dimension) {
                Some(SliceSelector::Point(point)) => {
                    let point = self.scalar(*point)?;
                    let distance = self.int64(ScalarOp::Mul, point, stride);
                    selected.offset = self.int64(ScalarOp::Add, selected.offset, distance);
                }
                Some(SliceSelector::Stride {
                    start,
                    count,
                    stride: step,
                }) => {
                    let (start, count, step) = (
                        self.scalar(*start)?,
                        self.scalar(*count)?,
                        self.scalar(*step)?,
                    );
                    let distance = self.int64(ScalarOp::Mul, start, stride);
                    selected.offset = self.int64(ScalarOp::Add, selected.offset, distance);
                    selected
                        .strides
                        .push(self.int64(ScalarOp::Mul, step, stride));
                    selected.shape.push(count);
                }
                None => {
                    selected.strides.push(stride);
                    selected.shape.push(view.shape[dimension]);
                }
            }
        }
        Ok(selected)
    }

    /// The element or slice of an array.
    pub(super) fn lower_slice(
        &mut self,
        array: SoacOperand,
        selectors: &[SliceSelector],
    ) -> Result<LoweredValue, String> {
        if selectors.is_empty() {
            return self.value(array);
        }
        if let (LoweredValue::Virtual(virtual_array), [SliceSelector::Point(point)]) =
            (self.value(array)?, selectors)
        {
            let position = self.scalar(*point)?;
            let element = self.virtual_element(virtual_array, position);
            return Ok(LoweredValue::Scalar(element));
        }
        let view = self.array(array)?;
        let selected = self.select(&view, selectors)?;
        if selected.shape.is_empty() {
            return Ok(LoweredValue::Scalar(self.load(&selected)));
        }
        Ok(LoweredValue::Array(selected))
    }

    /// Writes a value to a view: a scalar, or the elements of an array.
    pub(super) fn write_value(
        &mut self,
        view: &ArrayView,
        value: &LoweredValue,
    ) -> Result<(), String> {
        match value {
            LoweredValue::Scalar(scalar) => self.store(view, *scalar),
            LoweredValue::Array(from) if from.is_same_place(view) => {}
            LoweredValue::Array(from) => self.copy(view, from),
            LoweredValue::Certificate | LoweredValue::Accumulator(_) => {}
            LoweredValue::Virtual(_) | LoweredValue::Streamed(..) | LoweredValue::Deferred(_) => {
                return Err("what is written has no value".into());
            }
        }
        Ok(())
    }

    /// Copies the elements of an array. Both have the same sizes.
    pub(super) fn copy(&mut self, to: &ArrayView, from: &ArrayView) {
        if self.is_in_group() {
            let copied = self.copy_in_turns(to, from);
            debug_assert!(copied.is_ok(), "a copy cannot fail");
            return;
        }
        if self.kernel.is_some() {
            self.copy_elements(to, from);
            return;
        }
        let shape = to.shape.iter().map(|&size| self.read(size)).collect();
        let side = |lowering: &mut Self, view: &ArrayView| CopyOperand {
            memory: view.memory,
            offset: lowering.read(view.offset),
            strides: view
                .strides
                .iter()
                .map(|&stride| lowering.read(stride))
                .collect(),
        };
        let (to_side, from_side) = (side(self, to), side(self, from));
        self.builder
            .push_statement(StmtKind::Copy(Box::new(CopyStmt {
                ty: to.element,
                shape,
                to: to_side,
                from: from_side,
            })));
    }

    /// Copies elements one after the other, by a loop for each dimension.
    fn copy_elements(&mut self, to: &ArrayView, from: &ArrayView) {
        let Some(&size) = to.shape.first() else {
            let value = self.load(from);
            self.store(to, value);
            return;
        };
        self.count_to(size, |lowering, index| {
            let to = lowering.row_view(to, index);
            let from = lowering.row_view(from, index);
            lowering.copy_elements(&to, &from);
            Ok(())
        })
        .unwrap_or(());
    }

    /// A loop over the numbers below a bound.
    pub(super) fn count_to(
        &mut self,
        bound: ScalarRef,
        body: impl FnOnce(&mut Self, ScalarRef) -> Result<(), String>,
    ) -> Result<(), String> {
        let counter = self
            .builder
            .new_var("k", VariableType::Scalar(ScalarType::I64));
        let bound = self.read(bound);
        self.builder.begin_block();
        body(self, ScalarRef::Var(counter))?;
        let body = self.builder.end_block();
        self.builder.push_statement(StmtKind::For {
            counter,
            bound,
            body,
        });
        Ok(())
    }

    /// The array itself if its elements fill a block in order, or a copy that does.
    pub(super) fn make_dense(&mut self, view: ArrayView) -> Result<ArrayView, String> {
        match view.order {
            ElementOrder::RowMajor => Ok(view),
            ElementOrder::Strided => Ok(self.manifest(&view)),
            ElementOrder::Chosen => self.make_chosen_dense(&view),
        }
    }

    /// The array itself or a copy, as the strides demand when the program runs.
    fn make_chosen_dense(&mut self, view: &ArrayView) -> Result<ArrayView, String> {
        let device = VariableType::Memory(MemorySpace::Device);
        let memory = self.builder.declare_var("dense", device, false);
        let dense = self.dense_view(memory, view.element, view.shape.clone());
        let is_dense = self.compare_strides(view);
        self.alias_or_copy(is_dense, &dense, view)?;
        Ok(dense)
    }

    /// Lets an array of the host be in the block of another one, or else makes it a copy.
    pub(super) fn alias_or_copy(
        &mut self,
        is_alias: ExprId,
        to: &ArrayView,
        from: &ArrayView,
    ) -> Result<(), String> {
        self.choose(
            is_alias,
            |lowering| {
                lowering.alias_arrays(std::slice::from_ref(to), std::slice::from_ref(from));
                Ok(())
            },
            |lowering| {
                lowering.allocate(to.memory, to.element, &to.shape);
                lowering.copy(to, from);
                Ok(())
            },
        )
    }

    /// A copy of an array.
    pub(super) fn manifest(&mut self, view: &ArrayView) -> ArrayView {
        self.manifest_with(view, view.shape.clone())
    }

    /// A copy of an array, whose sizes are given as scalars that the host knows, where it is made by a kernel.
    pub(super) fn manifest_with(&mut self, view: &ArrayView, shape: Vec<ScalarRef>) -> ArrayView {
        let copy = self.new_array(view.element, shape);
        self.copy(&copy, view);
        copy
    }

    /// Does something for each position of a new array: by a kernel on the host, by a loop in a kernel.
    fn fill(
        &mut self,
        count: ScalarRef,
        body: impl FnOnce(&mut Self, ScalarRef) -> Result<(), String>,
    ) -> Result<(), String> {
        if self.kernel.is_some() {
            return self.visit_elements(count, false, body);
        }
        let grid = InvocationGrid {
            width: count,
            group_size: ScalarRef::from_int64(self.profile.group_size),
        };
        self.offload(grid, body)
    }

    /// Integers that follow each other.
    pub(super) fn lower_iota(
        &mut self,
        count: SoacOperand,
        first: SoacOperand,
        step: SoacOperand,
    ) -> Result<LoweredValue, String> {
        let element = self.function.type_of(first).element();
        let (count, first, step) = (self.scalar(count)?, self.scalar(first)?, self.scalar(step)?);
        let array = self.new_array(element, vec![count]);
        self.fill(count, |lowering, index| {
            let value = lowering.number_at(element, first, step, index);
            let place = lowering.row_view(&array, index);
            lowering.store(&place, value);
            Ok(())
        })?;
        Ok(LoweredValue::Array(array))
    }

    /// Gives all elements of an array, along its first dimensions, the same value.
    pub(super) fn lower_replicate(
        &mut self,
        array: ArrayView,
        dimensions: usize,
        value: SoacOperand,
    ) -> Result<LoweredValue, String> {
        let value = self.value(value)?;
        if self.kernel.is_some() && !self.is_in_group() {
            self.replicate_rows(&array, dimensions, &value)?;
            return Ok(LoweredValue::Array(array));
        }
        let count = self.product(&array.shape[..dimensions]);
        let mut rows = vec![count];
        rows.extend(&array.shape[dimensions..]);
        let flat = ArrayView {
            strides: self.strides_like(&array, &rows),
            shape: rows,
            ..array.clone()
        };
        self.fill(count, |lowering, index| {
            let row = lowering.row_view(&flat, index);
            lowering.write_value(&row, &value)
        })?;
        Ok(LoweredValue::Array(array))
    }

    fn replicate_rows(
        &mut self,
        array: &ArrayView,
        dimensions: usize,
        value: &LoweredValue,
    ) -> Result<(), String> {
        if dimensions == 0 {
            return self.write_value(array, value);
        }
        self.count_to(array.shape[0], |lowering, index| {
            let row = lowering.row_view(array, index);
            lowering.replicate_rows(&row, dimensions - 1, value)
        })
    }

    /// An array of its elements.
    pub(super) fn lower_literal(
        &mut self,
        elements: &[SoacOperand],
        element: ScalarType,
        shape: Vec<ScalarRef>,
    ) -> Result<LoweredValue, String> {
        let array = self.new_array(element, shape);
        for (index, &value) in elements.iter().enumerate() {
            let row = self.row_view(&array, ScalarRef::from_int64(index as i64));
            let value = self.value(value)?;
            self.write_value(&row, &value)?;
        }
        Ok(LoweredValue::Array(array))
    }

    /// Arrays one after the other.
    pub(super) fn lower_concat(
        &mut self,
        arrays: &[SoacOperand],
        element: ScalarType,
        shape: Vec<ScalarRef>,
    ) -> Result<LoweredValue, String> {
        let result = self.new_array(element, shape);
        let mut start = ScalarRef::from_int64(0);
        for &array in arrays {
            let from = self.array(array)?;
            let distance = self.int64(ScalarOp::Mul, start, result.strides[0]);
            let part = ArrayView {
                offset: self.int64(ScalarOp::Add, result.offset, distance),
                shape: from.shape.clone(),
                ..result.clone()
            };
            self.copy(&part, &from);
            start = self.int64(ScalarOp::Add, start, from.shape[0]);
        }
        Ok(LoweredValue::Array(result))
    }

    /// An array with its dimensions in another order.
    pub(super) fn lower_rearrange(
        &mut self,
        array: SoacOperand,
        permutation: &[usize],
    ) -> Result<LoweredValue, String> {
        let view = self.array(array)?;
        let pick = |sizes: &[ScalarRef]| {
            let dimensions = permutation.iter();
            dimensions.map(|&dimension| sizes[dimension]).collect()
        };
        Ok(LoweredValue::Array(ArrayView {
            strides: pick(&view.strides),
            shape: pick(&view.shape),
            order: ElementOrder::Strided,
            ..view
        }))
    }

    /// An array with other sizes.
    pub(super) fn lower_reshape(
        &mut self,
        array: SoacOperand,
        shape: Vec<ScalarRef>,
    ) -> Result<LoweredValue, String> {
        let mut view = self.array(array)?;
        if view.order == ElementOrder::Chosen {
            view = self.make_dense(view)?;
        }
        let (flat, strides) = if view.order == ElementOrder::RowMajor {
            (view, self.dense_strides(&shape))
        } else {
            let flat = self.new_array(view.element, shape.clone());
            let as_before = ArrayView {
                strides: self.strides_like(&flat, &view.shape),
                shape: view.shape.clone(),
                ..flat.clone()
            };
            self.copy(&as_before, &view);
            let strides = flat.strides.clone();
            (flat, strides)
        };
        Ok(LoweredValue::Array(ArrayView {
            strides,
            shape,
            ..flat
        }))
    }
}
