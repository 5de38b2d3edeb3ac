//! Statements: scalars, checks, choices and loops.

use super::view::{ArrayView, ElementOrder, ScalarRef};
use super::{FunctionLowering, LoweredValue};
use crate::ir::{HostOperation, SegmentBody, SegmentStatement};
use crate::translate::is_combinator;
use spirula_kernel::ir::{MemorySpace, MessageData, MessageSegment, StmtKind, VarId, VariableType};
use spirula_program::ScalarType;
use spirula_soac::ir::{
    SoacBody, SoacLoopForm, SoacMessage, SoacMessagePart, SoacOperand, SoacOperation,
    SoacStatement, SoacType, SoacVariableId,
};

/// Where the results of a body go.
#[derive(Clone, Debug)]
pub(super) enum ResultSlot {
    /// To a scalar variable.
    Scalar(VarId),
    /// To a variable of the host that refers to a block. The view has strides if these are variables, too. Otherwise the elements are
    /// in row-major order.
    Block(VarId, ArrayView),
    /// To the elements of an array.
    Elements(ArrayView),
}

/// A body of the host, or of a kernel.
#[derive(Clone, Copy, Debug)]
pub(super) enum BodyRef<'b> {
    /// Of the host.
    Host(&'b SegmentBody),
    /// Of a kernel.
    Kernel(&'b SoacBody),
}

impl FunctionLowering<'_> {
    /// Lowers statements of the host in their order.
    pub(super) fn lower_host_statements(
        &mut self,
        statements: &[SegmentStatement],
    ) -> Result<(), String> {
        // A reduction that waits for the map that takes its results.
        let mut reduction: Option<&SegmentStatement> = None;
        for statement in statements {
            let results = &statement.results;
            match &statement.operation {
                _ if self.epilogues.contains(statement) => reduction = Some(statement),
                HostOperation::Plain(operation) => self.lower_plain(results, operation)?,
                HostOperation::If(condition, accept, reject) => {
                    let bodies = [BodyRef::Host(accept), BodyRef::Host(reject)];
                    self.lower_if(results, *condition, bodies)?;
                }
                HostOperation::Loop(parameters, form, body) => {
                    self.lower_loop(results, parameters, *form, BodyRef::Host(body))?;
                }
                HostOperation::WithAccumulators(accumulators, body) => {
                    self.lower_accumulation(results, accumulators, BodyRef::Host(body))?;
                }
                HostOperation::Parallel(operation) => match reduction.take() {
                    Some(reduction) => self.lower_reduce_and_map(reduction, statement)?,
                    None => self.lower_parallel(results, operation)?,
                },
                HostOperation::Grouped(operation, otherwise) => {
                    self.lower_grouped(results, operation, otherwise)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn lower_body_ref(
        &mut self,
        body: BodyRef<'_>,
    ) -> Result<Vec<LoweredValue>, String> {
        let results = match body {
            BodyRef::Kernel(body) => return self.lower_body(body),
            BodyRef::Host(body) => {
                self.lower_host_statements(&body.statements)?;
                &body.results
            }
        };
        results.iter().map(|&result| self.value(result)).collect()
    }

    /// Lowers statements of a kernel in their order.
    pub(super) fn lower_statements(&mut self, statements: &[SoacStatement]) -> Result<(), String> {
        statements
            .iter()
            .try_for_each(|statement| self.lower_statement(statement))
    }

    /// Lowers the statements of a body. Returns its results.
    pub(super) fn lower_body(&mut self, body: &SoacBody) -> Result<Vec<LoweredValue>, String> {
        self.lower_statements(&body.statements)?;
        body.results
            .iter()
            .map(|&result| self.value(result))
            .collect()
    }

    /// The type of a variable with its sizes as scalars. Sizes must be known.
    pub(super) fn result_shape(
        &self,
        id: SoacVariableId,
    ) -> Result<(ScalarType, Vec<ScalarRef>), String> {
        let variable_type = &self.function.variables[id].variable_type;
        Ok((
            variable_type.element(),
            self.scalars(variable_type.shape())?,
        ))
    }

    pub(super) fn lower_statement(&mut self, statement: &SoacStatement) -> Result<(), String> {
        let results = &statement.results;
        match &statement.operation {
            SoacOperation::If(condition, accept, reject) => {
                let bodies = [BodyRef::Kernel(accept), BodyRef::Kernel(reject)];
                self.lower_if(results, *condition, bodies)
            }
            SoacOperation::Loop(parameters, form, body) => {
                self.lower_loop(results, parameters, *form, BodyRef::Kernel(body))
            }
            SoacOperation::WithAccumulators(accumulation) => {
                let body = BodyRef::Kernel(&accumulation.body);
                self.lower_accumulation(results, &accumulation.accumulators, body)
            }
            operation if self.is_streamed(statement) => self.begin_stream(results, operation),
            operation if is_combinator(operation) => self.lower_combinator(results, operation),
            operation => self.lower_plain(results, operation),
        }
    }

    /// Lowers an operation without bodies, of the host or of a kernel.
    fn lower_plain(
        &mut self,
        results: &[SoacVariableId],
        operation: &SoacOperation,
    ) -> Result<(), String> {
        if let [result] = *results
            && let Some(array) = self.find_virtual_array(result, operation)?
        {
            self.set(result, LoweredValue::Virtual(array));
            return Ok(());
        }
        let value = match operation {
            SoacOperation::Scalar(operator, operands) => {
                if let Some(value) = self.defer_operation(results[0], *operator, operands) {
                    self.set(results[0], value);
                    return Ok(());
                }
                let operands = self.scalars(operands)?;
                let operands: Vec<_> = operands
                    .into_iter()
                    .map(|operand| self.read(operand))
                    .collect();
                let value = self.builder.apply_operator(*operator, &operands);
                LoweredValue::Scalar(self.assign("s", operator.to, value))
            }
            SoacOperation::Parameter(name, default) => {
                LoweredValue::Scalar(self.lower_parameter(name, *default)?)
            }
            SoacOperation::Check(condition, message) => {
                self.lower_check(*condition, message)?;
                LoweredValue::Certificate
            }
            SoacOperation::Slice(array, selectors) => self.lower_slice(*array, selectors)?,
            SoacOperation::Update(array, selectors, value) => {
                let view = self.array(*array)?;
                let part = self.select(&view, selectors)?;
                let value = self.value(*value)?;
                self.write_value(&part, &value)?;
                LoweredValue::Array(view)
            }
            SoacOperation::Literal(elements) => {
                let (element, shape) = self.result_shape(results[0])?;
                self.lower_literal(elements, element, shape)?
            }
            SoacOperation::Iota(count, first, step) => self.lower_iota(*count, *first, *step)?,
            SoacOperation::Replicate(sizes, value) => {
                let array = self.make_result_array(results[0])?;
                self.lower_replicate(array, sizes.len(), *value)?
            }
            SoacOperation::Concat(arrays) => {
                let (element, shape) = self.result_shape(results[0])?;
                self.lower_concat(arrays, element, shape)?
            }
            SoacOperation::Reshape(array, sizes) => {
                let sizes = self.scalars(sizes)?;
                self.lower_reshape(*array, sizes)?
            }
            SoacOperation::Rearrange(array, permutation) => {
                self.lower_rearrange(*array, permutation)?
            }
            SoacOperation::Manifest(array) => {
                let view = self.array(*array)?;
                let (_, shape) = self.result_shape(results[0])?;
                LoweredValue::Array(self.manifest_with(&view, shape))
            }
            SoacOperation::Accumulate(accumulator, position, values) => {
                return self.lower_write(*accumulator, *position, values);
            }
            SoacOperation::Call(function, arguments) => {
                return self.lower_call(results, *function, arguments);
            }
            _ => return Err("an operation has no lowering".into()),
        };
        self.set(results[0], value);
        Ok(())
    }

    fn lower_check(&mut self, condition: SoacOperand, message: &SoacMessage) -> Result<(), String> {
        let mut segments = Vec::with_capacity(message.parts.len());
        for part in &message.parts {
            segments.push(match part {
                SoacMessagePart::Text(text) => MessageSegment::Text(text.clone()),
                SoacMessagePart::Value(value) => {
                    let value = self.scalar(*value)?;
                    MessageSegment::Value(self.read(value))
                }
            });
        }
        let message = self.builder.add_message(MessageData {
            parts: segments,
            backtrace: message.places.to_string(),
        });
        let condition = self.scalar(condition)?;
        let condition = self.read(condition);
        self.builder
            .push_statement(StmtKind::Assert { condition, message });
        self.leave_after_check();
        Ok(())
    }

    /// Variables for results: scalars first, as sizes are among them. In a kernel arrays are new arrays.
    pub(super) fn declare_slots(
        &mut self,
        results: &[SoacVariableId],
        places: &[Option<ArrayView>],
    ) -> Result<Vec<(SoacVariableId, ResultSlot)>, String> {
        let mut slots = Vec::with_capacity(results.len());
        for &id in results {
            if let SoacType::Scalar(scalar) = self.function.variables[id].variable_type {
                let var = self
                    .builder
                    .declare_var("r", VariableType::Scalar(scalar), false);
                slots.push((id, ResultSlot::Scalar(var)));
            }
        }
        for (&id, place) in results.iter().zip(places) {
            let SoacType::Array(element, shape) = self.function.variables[id].variable_type.clone()
            else {
                continue;
            };
            if let Some(view) = place {
                slots.push((id, ResultSlot::Elements(view.clone())));
                continue;
            }
            if self.kernel.is_some() {
                slots.push((id, ResultSlot::Elements(self.make_result_array(id)?)));
                continue;
            }
            let var =
                self.builder
                    .declare_var("b", VariableType::Memory(MemorySpace::Device), false);
            let has_strides = self.row_arrays.contains(id);
            let rank = if has_strides { shape.len() } else { 0 };
            let stride = |_| {
                let int64 = VariableType::Scalar(ScalarType::I64);
                ScalarRef::Var(self.builder.declare_var("stride", int64, false))
            };
            let view = ArrayView {
                memory: var,
                element,
                offset: ScalarRef::from_int64(0),
                strides: (0..rank).map(stride).collect(),
                shape: Vec::new(),
                order: ElementOrder::Chosen,
            };
            slots.push((id, ResultSlot::Block(var, view)));
        }
        slots.sort_by_key(|(id, _)| results.iter().position(|other| other == id));
        Ok(slots)
    }

    /// Moves values to slots. Those that are scalars go by way of new variables if `is_parallel`: the slots may be read by
    /// the values.
    pub(super) fn move_results(
        &mut self,
        slots: &[(SoacVariableId, ResultSlot)],
        values: &[LoweredValue],
        is_parallel: bool,
    ) -> Result<(), String> {
        let mut values = if is_parallel {
            self.settle_values(values, &slot_places(slots))
        } else {
            values.to_vec()
        };
        for (value, (id, slot)) in values.iter_mut().zip(slots) {
            *value = match (&*value, slot) {
                (LoweredValue::Scalar(scalar @ ScalarRef::Var(_)), ResultSlot::Scalar(_))
                    if is_parallel =>
                {
                    let copy = self.read(*scalar);
                    let element = self.function.variables[*id].variable_type.element();
                    LoweredValue::Scalar(self.assign("t", element, copy))
                }
                (LoweredValue::Array(view), ResultSlot::Block(_, slot)) => {
                    let is_at_start = view.offset == ScalarRef::from_int64(0);
                    let block = if is_at_start && !slot.strides.is_empty() {
                        view.clone()
                    } else {
                        self.make_dense(view.clone())?
                    };
                    LoweredValue::Array(if is_parallel {
                        self.name_block(block)
                    } else {
                        block
                    })
                }
                (other, _) => other.clone(),
            };
        }
        for (value, (_, slot)) in values.iter().zip(slots) {
            match (value, slot) {
                (LoweredValue::Scalar(scalar), ResultSlot::Scalar(var)) => {
                    let value = self.read(*scalar);
                    self.builder.push_assignment(*var, value);
                }
                (LoweredValue::Array(view), ResultSlot::Block(var, slot)) => {
                    let (to, from) = (*var, view.memory);
                    self.builder.push_statement(StmtKind::Alias { to, from });
                    for (stride, &value) in slot.strides.iter().zip(&view.strides) {
                        if let ScalarRef::Var(stride) = *stride {
                            let value = self.read(value);
                            self.builder.push_assignment(stride, value);
                        }
                    }
                }
                (LoweredValue::Array(_), ResultSlot::Elements(target)) => {
                    self.write_value(&target.clone(), value)?;
                }
                _ => return Err("a result has another form than its variable".into()),
            }
        }
        Ok(())
    }

    /// The array under new variables, which the slots that it is moved to are not among.
    fn name_block(&mut self, block: ArrayView) -> ArrayView {
        let device = VariableType::Memory(MemorySpace::Device);
        let to = self.builder.declare_var("t", device, false);
        let from = block.memory;
        self.builder.push_statement(StmtKind::Alias { to, from });
        let strides = block.strides.iter().map(|&stride| match stride {
            ScalarRef::Constant(_) => stride,
            ScalarRef::Var(_) => {
                let value = self.read(stride);
                self.assign("t", ScalarType::I64, value)
            }
        });
        ArrayView {
            memory: to,
            strides: strides.collect(),
            ..block
        }
    }

    /// Binds variables to the slots of their values. The sizes of arrays are known by then.
    pub(super) fn bind_slots(
        &mut self,
        slots: &[(SoacVariableId, ResultSlot)],
    ) -> Result<(), String> {
        for (id, slot) in slots {
            if let ResultSlot::Scalar(var) = slot {
                self.set(*id, LoweredValue::Scalar(ScalarRef::Var(*var)));
            }
        }
        for (id, slot) in slots {
            let view = match slot {
                ResultSlot::Scalar(_) => continue,
                ResultSlot::Elements(view) => view.clone(),
                ResultSlot::Block(var, view) => {
                    let (element, shape) = (view.element, self.result_shape(*id)?.1);
                    if view.strides.is_empty() {
                        self.dense_view(*var, element, shape)
                    } else {
                        ArrayView {
                            shape,
                            ..view.clone()
                        }
                    }
                }
            };
            self.set(*id, LoweredValue::Array(view));
        }
        Ok(())
    }

    /// The places of the results of a choice in a kernel that both branches only change in place.
    fn find_common_places(
        &self,
        bodies: [BodyRef<'_>; 2],
    ) -> Result<Vec<Option<ArrayView>>, String> {
        let (accept, reject) = match bodies {
            [BodyRef::Kernel(accept), BodyRef::Kernel(reject)] => (accept, reject),
            [BodyRef::Host(body), _] | [_, BodyRef::Host(body)] => {
                return Ok(vec![None; body.results.len()]);
            }
        };
        let pairs = accept.results.iter().zip(&reject.results);
        let place = |(&accept, &reject): (&SoacOperand, &SoacOperand)| {
            let Some(origin) = self.in_place.common_origin(accept, reject) else {
                return Ok(None);
            };
            match &self.values[origin.index()] {
                Some(LoweredValue::Array(view)) => Ok(Some(view.clone())),
                Some(_) => Ok(None),
                None => Err(format!("{origin:?} is used before it is bound")),
            }
        };
        pairs.map(place).collect()
    }

    /// The places of the parameters of a loop in a kernel that its body only changes in place.
    fn find_loop_places(
        &self,
        parameters: &[SoacVariableId],
        initial: &[LoweredValue],
        body: BodyRef<'_>,
    ) -> Vec<Option<ArrayView>> {
        let BodyRef::Kernel(body) = body else {
            return vec![None; parameters.len()];
        };
        let pairs = parameters.iter().zip(initial).zip(&body.results);
        let place =
            |((&parameter, initial), &result): ((&SoacVariableId, &LoweredValue), _)| match initial
            {
                LoweredValue::Array(view) if self.in_place.keeps_parameter(parameter, result) => {
                    Some(view.clone())
                }
                _ => None,
            };
        pairs.map(place).collect()
    }

    fn lower_if(
        &mut self,
        results: &[SoacVariableId],
        condition: SoacOperand,
        bodies: [BodyRef<'_>; 2],
    ) -> Result<(), String> {
        let places = self.find_common_places(bodies)?;
        let slots = self.declare_slots(results, &places)?;
        let condition = self.scalar(condition)?;
        let condition = self.read(condition);
        let mut blocks = Vec::with_capacity(2);
        for body in bodies {
            self.builder.begin_block();
            self.forget_accesses();
            if let BodyRef::Kernel(body) = body {
                self.aim_results(body, &new_places(&slots, &places));
            }
            let values = self.lower_body_ref(body)?;
            self.move_results(&slots, &values, false)?;
            blocks.push(self.builder.end_block());
        }
        self.forget_accesses();
        self.builder.push_statement(StmtKind::If {
            condition,
            then: blocks[0],
            otherwise: blocks[1],
        });
        self.bind_slots(&slots)
    }

    fn lower_loop(
        &mut self,
        results: &[SoacVariableId],
        parameters: &[(SoacVariableId, SoacOperand)],
        form: SoacLoopForm,
        body: BodyRef<'_>,
    ) -> Result<(), String> {
        let ids: Vec<_> = parameters.iter().map(|(id, _)| *id).collect();
        let initial = parameters.iter().map(|(_, initial)| self.value(*initial));
        let initial = initial.collect::<Result<Vec<_>, _>>()?;
        let replaced = match body {
            BodyRef::Host(body) => self.arrange_loop_rows(body)?,
            BodyRef::Kernel(_) => Vec::new(),
        };
        let places = self.find_loop_places(&ids, &initial, body);
        let slots = self.declare_loop_slots(&ids, &initial, &places)?;
        self.move_results(&slots, &initial, false)?;
        self.bind_slots(&slots)?;
        match form {
            SoacLoopForm::For(counter, bound) => {
                let scalar = self.function.variables[counter].variable_type.element();
                let var = self.builder.new_var("k", VariableType::Scalar(scalar));
                self.set(counter, LoweredValue::Scalar(ScalarRef::Var(var)));
                let bound = self.scalar(bound)?;
                let bound = self.read(bound);
                self.builder.begin_block();
                self.lower_iteration(&slots, body)?;
                let body = self.builder.end_block();
                self.builder.push_statement(StmtKind::For {
                    counter: var,
                    bound,
                    body,
                });
            }
            SoacLoopForm::While(position) => {
                let condition = self.scalar(SoacOperand::Variable(ids[position]))?;
                let condition = self.read(condition);
                self.builder.begin_block();
                self.lower_iteration(&slots, body)?;
                let body = self.builder.end_block();
                self.builder
                    .push_statement(StmtKind::While { condition, body });
            }
        }
        self.restore_values(replaced);
        let slots: Vec<_> = slots
            .into_iter()
            .zip(results)
            .map(|((_, slot), &id)| (id, slot))
            .collect();
        self.bind_slots(&slots)
    }

    /// Slots for the parameters of a loop. The sizes of arrays may be parameters, too; in a kernel they are those of the
    /// first values.
    fn declare_loop_slots(
        &mut self,
        ids: &[SoacVariableId],
        initial: &[LoweredValue],
        places: &[Option<ArrayView>],
    ) -> Result<Vec<(SoacVariableId, ResultSlot)>, String> {
        for (&id, value) in ids.iter().zip(initial) {
            if let LoweredValue::Scalar(_) = value {
                self.set(id, value.clone());
            }
        }
        self.declare_slots(ids, places)
    }

    fn lower_iteration(
        &mut self,
        slots: &[(SoacVariableId, ResultSlot)],
        body: BodyRef<'_>,
    ) -> Result<(), String> {
        self.forget_accesses();
        if let BodyRef::Kernel(body) = body {
            let parameters: Vec<_> = slots.iter().map(|(id, _)| *id).collect();
            self.aim_at_parameters(body, &parameters, &slot_places(slots));
        }
        let values = self.lower_body_ref(body)?;
        self.move_results(slots, &values, true)?;
        self.forget_accesses();
        Ok(())
    }
}

/// The arrays of a kernel that slots are.
fn slot_places(slots: &[(SoacVariableId, ResultSlot)]) -> Vec<Option<&ArrayView>> {
    let places = slots.iter().map(|(_, slot)| match slot {
        ResultSlot::Elements(view) => Some(view),
        _ => None,
    });
    places.collect()
}

/// The arrays of a kernel that slots are, apart from those with a place that was there before.
fn new_places<'s>(
    slots: &'s [(SoacVariableId, ResultSlot)],
    places: &[Option<ArrayView>],
) -> Vec<Option<&'s ArrayView>> {
    let all = slot_places(slots).into_iter().zip(places);
    all.map(|(place, before)| place.filter(|_| before.is_none()))
        .collect()
}
