//! Bindings: `let`, loops, updates, indices.

use super::environment::{ParameterClass, TermBinding, TypeParameterBinding, TypeScheme};
use super::types::TypeId;
use super::unify::{ScalarClass, VariableState};
use super::{CheckResult, SourceChecker};
use crate::syntax::token::TextRange;
use crate::syntax::tree::{
    AccessStep, ExpressionId, FunctionSignature, LetBinding, LetKind, LoopForm, PatternId,
    PatternKind, QualifiedName, SliceIndex, SourceLoop, SourceName,
};
use crate::typed::{
    LocalVariable, TypedBinding, TypedExpressionId, TypedIndex, TypedKind, TypedLambda, TypedLoop,
    TypedLoopForm, TypedPatternId, TypedPatternKind, TypedStep,
};
use std::rc::Rc;

impl SourceChecker<'_> {
    /// Checks a chain of bindings and its result.
    pub(super) fn check_let(
        &mut self,
        bindings: &[LetBinding],
        body: ExpressionId,
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let mark = self.mark_scope();
        let mut typed = Vec::with_capacity(bindings.len());
        for binding in bindings {
            let checked = self.check_binding(binding);
            if checked.is_err() {
                self.bind_faulty(binding);
            }
            typed.push(checked);
        }
        let typed = self.collect_checked(typed);
        let body = self.check_expression(body);
        let body = self.close_scope(mark, range, body);
        let (body, typed) = (body?, typed?);
        let type_id = self.type_of(body);
        Ok(self.add_typed(TypedKind::Let(typed, body), type_id, range))
    }

    /// Binds the names of a binding that has a fault, so that their uses are not reported.
    fn bind_faulty(&mut self, binding: &LetBinding) {
        match &binding.kind {
            LetKind::Pattern { sizes, pattern } => {
                for size in sizes {
                    self.bind_term(size.name, TermBinding::Faulty(self.place(size.range)));
                }
                self.bind_faulty_pattern(*pattern);
            }
            LetKind::Function { name, .. } | LetKind::Update { name, .. } => {
                self.bind_term(name.name, TermBinding::Faulty(self.place(name.range)));
            }
        }
    }

    /// Checks a binding. Its names stay in scope.
    fn check_binding(&mut self, binding: &LetBinding) -> CheckResult<TypedBinding> {
        match &binding.kind {
            LetKind::Pattern {
                sizes: written_sizes,
                pattern,
            } => {
                let value = self.check_expression(binding.value)?;
                let sizes = written_sizes
                    .iter()
                    .map(|size| self.bind_size(*size))
                    .collect();
                let pattern =
                    self.check_sized_pattern(written_sizes, *pattern, self.type_of(value))?;
                Ok(TypedBinding {
                    type_parameters: Vec::new(),
                    sizes,
                    pattern,
                    value,
                })
            }
            LetKind::Function { name, signature } => {
                self.require_redefinable(*name)?;
                self.check_local_function(*name, signature, binding)
            }
            LetKind::Update { name, steps } => {
                let path = QualifiedName {
                    modules: Vec::new(),
                    name: *name,
                };
                let source = self.check_name(&path, name.range)?;
                let value = self.check_update(source, steps, binding.value, binding.range)?;
                let pattern = self.bind_name(name.name, self.type_of(value), name.range);
                self.record_pattern(*name, pattern);
                Ok(TypedBinding {
                    type_parameters: Vec::new(),
                    sizes: Vec::new(),
                    pattern,
                    value,
                })
            }
        }
    }

    /// Checks a local function. It is polymorphic in the type parameters that are written.
    fn check_local_function(
        &mut self,
        name: SourceName,
        signature: &FunctionSignature,
        binding: &LetBinding,
    ) -> CheckResult<TypedBinding> {
        let mark = self.mark_scope();
        let checked = self
            .bind_type_parameters(&signature.type_parameters)
            .and_then(|parameters| {
                let sizes = parameters.iter().filter_map(|parameter| match parameter {
                    TypeParameterBinding::Size(size) => Some(*size),
                    TypeParameterBinding::Type(..) => None,
                });
                let sizes = sizes.collect();
                Ok((
                    parameters,
                    self.check_function(signature, binding.value, sizes)?,
                ))
            });
        let checked = self.close_scope(mark, binding.range, checked);
        let (parameters, (lambda, type_id)) = checked?;
        let type_id = self.variables.resolve_all(&mut self.program.types, type_id);
        let value = self.add_typed(TypedKind::Lambda(lambda), type_id, binding.range);
        self.program.local_functions.insert(value);
        let types = parameters.iter().filter_map(|parameter| match *parameter {
            TypeParameterBinding::Size(_) => None,
            TypeParameterBinding::Type(id, liftedness) => {
                Some((id, ParameterClass::Any(liftedness)))
            }
        });
        let types: Vec<_> = types.collect();
        let pattern = self.bind_name(name.name, type_id, name.range);
        self.record_pattern(name, pattern);
        let type_parameters = types.iter().map(|(id, _)| *id).collect();
        if !types.is_empty()
            && let TypedPatternKind::Local(local) = self.program.patterns[pattern].kind
        {
            self.program
                .local_type_parameters
                .insert(local, types.iter().map(|(id, _)| *id).collect());
            let scheme = Rc::new(TypeScheme {
                parameters: types,
                body: type_id,
                specified: None,
            });
            self.bind_term(name.name, TermBinding::Local(local, Some(scheme)));
        }
        Ok(TypedBinding {
            type_parameters,
            sizes: Vec::new(),
            pattern,
            value,
        })
    }

    /// A reference to the variable that a pattern binds.
    pub(super) fn read_pattern(
        &mut self,
        pattern: TypedPatternId,
        range: TextRange,
    ) -> TypedExpressionId {
        let bound = &self.program.patterns[pattern];
        let type_id = bound.type_id;
        let kind = match bound.kind {
            TypedPatternKind::Local(local) => TypedKind::Local(local, Vec::new()),
            _ => TypedKind::Hole,
        };
        self.add_typed(kind, type_id, range)
    }

    /// Checks a loop.
    pub(super) fn check_loop(
        &mut self,
        source: &SourceLoop,
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let initial = match source.initial {
            Some(initial) => self.check_expression(initial)?,
            None => self.check_implicit_initial(source.pattern)?,
        };
        let type_id = self.type_of(initial);
        let mark = self.mark_scope();
        let checked = self.check_loop_parts(source, type_id);
        let checked = self.close_scope(mark, range, checked);
        let (pattern, form, body) = checked?;
        let typed = TypedLoop {
            pattern,
            initial,
            form,
            body,
        };
        Ok(self.add_typed(TypedKind::Loop(Box::new(typed)), type_id, range))
    }

    /// Checks pattern, form and body of a loop, whose value has a type.
    fn check_loop_parts(
        &mut self,
        source: &SourceLoop,
        type_id: TypeId,
    ) -> CheckResult<(TypedPatternId, TypedLoopForm, TypedExpressionId)> {
        let outer = match source.form {
            LoopForm::Count(_, bound) => Some(self.check_expression(bound)?),
            LoopForm::Elements(_, array) => Some(self.check_expression(array)?),
            LoopForm::While(_) => None,
        };
        let pattern = self.check_pattern(source.pattern, type_id)?;
        let form = match (source.form, outer) {
            (LoopForm::Count(name, bound), Some(typed)) => {
                let counter =
                    self.add_variable(VariableState::Scalar(ScalarClass::Integer), name.range);
                self.require_type(
                    self.type_of(typed),
                    counter,
                    self.range_of(bound),
                    "the bound",
                )?;
                let local = LocalVariable {
                    name: name.name,
                    type_id: counter,
                };
                let local = self.program.locals.push(local);
                self.bind_term(name.name, TermBinding::Local(local, None));
                self.record_local(name, local);
                TypedLoopForm::Count(local, typed)
            }
            (LoopForm::Elements(element, array), Some(typed)) => {
                let range = self.range_of(array);
                let element_type = self.add_variable(VariableState::Free, range);
                let array_type = self.program.types.array(element_type);
                self.require_type(
                    self.type_of(typed),
                    array_type,
                    range,
                    "what the loop is over",
                )?;
                TypedLoopForm::Elements(self.check_pattern(element, element_type)?, typed)
            }
            (LoopForm::While(condition), _) => {
                let bool_type = self.program.types.bool();
                TypedLoopForm::While(self.check_expected(condition, bool_type, "the condition")?)
            }
            (LoopForm::Count(name, _), None) => {
                return Err(self.fail(name.range, "the loop has no bound"));
            }
            (LoopForm::Elements(..), None) => return Err(super::CheckFault(None)),
        };
        let body = self.check_expected(source.body, type_id, "the body of the loop")?;
        Ok((pattern, form, body))
    }

    /// The first value of a loop that has none: the variables that the pattern names.
    fn check_implicit_initial(&mut self, pattern: PatternId) -> CheckResult<TypedExpressionId> {
        let node = &self.tree().patterns[pattern];
        match &node.kind {
            PatternKind::Name(name) => {
                let path = QualifiedName {
                    modules: Vec::new(),
                    name: *name,
                };
                self.check_name(&path, name.range)
            }
            PatternKind::Parentheses(inner)
            | PatternKind::Ascription { pattern: inner, .. }
            | PatternKind::Attributed { pattern: inner, .. } => self.check_implicit_initial(*inner),
            PatternKind::Tuple(elements) => {
                let fields = elements.iter().enumerate().map(|(index, &element)| {
                    let name = self.program.names.intern(&index.to_string());
                    Ok((name, self.check_implicit_initial(element)?))
                });
                let fields = fields.collect::<CheckResult<Vec<_>>>()?;
                Ok(self.add_record(fields, node.range))
            }
            PatternKind::Record(fields) => {
                let fields = fields.iter();
                let fields = fields.map(|field| {
                    Ok((field.name.name, self.check_implicit_initial(field.pattern)?))
                });
                let fields = fields.collect::<CheckResult<Vec<_>>>()?;
                Ok(self.add_record(fields, node.range))
            }
            _ => Err(self.fail(
                node.range,
                "the loop needs a first value: this pattern names no variable",
            )),
        }
    }

    /// Checks indices of the outer dimensions of an array. The type is that of the element or slice.
    pub(super) fn check_indices(
        &mut self,
        array: TypeId,
        indices: &[SliceIndex],
        range: TextRange,
    ) -> CheckResult<(Vec<TypedIndex>, TypeId)> {
        let mut typed = Vec::with_capacity(indices.len());
        let mut element = array;
        for index in indices {
            let inner = self.add_variable(VariableState::Free, range);
            let needed = self.program.types.array(inner);
            self.require_type(element, needed, range, "what is indexed")?;
            typed.push(self.check_slice_index(*index)?);
            element = inner;
        }
        for index in typed.iter().rev() {
            if matches!(index, TypedIndex::Slice { .. }) {
                element = self.program.types.array(element);
            }
        }
        Ok((typed, element))
    }

    /// Checks an index or a slice.
    fn check_slice_index(&mut self, index: SliceIndex) -> CheckResult<TypedIndex> {
        let int64 = self.program.types.int64();
        let part = |checker: &mut Self, part: Option<ExpressionId>| {
            part.map(|part| checker.check_expected(part, int64, "the bound of the slice"))
                .transpose()
        };
        match index {
            SliceIndex::Point(point) => {
                let class = VariableState::Scalar(ScalarClass::Signed);
                let index_type = self.add_variable(class, self.range_of(point));
                Ok(TypedIndex::Point(self.check_expected(
                    point,
                    index_type,
                    "the index",
                )?))
            }
            SliceIndex::Slice {
                start, end, step, ..
            } => Ok(TypedIndex::Slice {
                start: part(self, start)?,
                end: part(self, end)?,
                step: part(self, step)?,
            }),
        }
    }

    /// Checks steps into a value. The type is that of what they lead to.
    fn check_steps(
        &mut self,
        source: TypeId,
        steps: &[AccessStep],
        range: TextRange,
    ) -> CheckResult<(Vec<TypedStep>, TypeId)> {
        let mut typed = Vec::with_capacity(steps.len());
        let mut part = source;
        for step in steps {
            match step {
                AccessStep::Field(field) => {
                    part = self.add_field_type(part, *field, field.range)?;
                    typed.push(TypedStep::Field(field.name));
                }
                AccessStep::Indices(indices) => {
                    let (indices, element) = self.check_indices(part, indices, range)?;
                    part = element;
                    typed.push(TypedStep::Indices(indices));
                }
            }
        }
        Ok((typed, part))
    }

    /// Checks an update of a part of a typed value.
    pub(super) fn check_update(
        &mut self,
        source: TypedExpressionId,
        steps: &[AccessStep],
        value: ExpressionId,
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let type_id = self.type_of(source);
        let (steps, part) = self.check_steps(type_id, steps, range)?;
        let value = self.check_expected(value, part, "the new value")?;
        Ok(self.add_typed(
            TypedKind::Update {
                source,
                steps,
                value,
            },
            type_id,
            range,
        ))
    }

    /// Checks `(.a[i])`: a function that reads a part of its argument.
    pub(super) fn check_access_section(
        &mut self,
        steps: &[AccessStep],
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let name = self.program.names.intern("whole");
        let whole_type = self.add_variable(VariableState::Free, range);
        let (steps, part) = self.check_steps(whole_type, steps, range)?;
        let mark = self.mark_scope();
        let parameter = self.bind_name(name, whole_type, range);
        self.end_scope(mark);
        let mut body = self.read_pattern(parameter, range);
        let count = steps.len();
        for (index, step) in steps.into_iter().enumerate() {
            let is_last = index + 1 == count;
            let kind = match step {
                TypedStep::Field(field) => TypedKind::Projection(body, field),
                TypedStep::Indices(indices) => TypedKind::Index(body, indices),
            };
            let type_id = if is_last {
                part
            } else {
                self.step_type(&kind, body, range)?
            };
            body = self.add_typed(kind, type_id, range);
        }
        let type_id = self.program.types.function(whole_type, part);
        let lambda = TypedLambda {
            size_parameters: Vec::new(),
            parameters: vec![parameter],
            result: None,
            body,
        };
        Ok(self.add_typed(TypedKind::Lambda(lambda), type_id, range))
    }

    /// The type of a step that is not the last of a path.
    fn step_type(
        &mut self,
        kind: &TypedKind,
        value: TypedExpressionId,
        range: TextRange,
    ) -> CheckResult<TypeId> {
        match kind {
            TypedKind::Projection(_, field) => {
                let name = *field;
                self.add_field_type(self.type_of(value), SourceName { name, range }, range)
            }
            TypedKind::Index(_, indices) => {
                let mut element = self.type_of(value);
                for _ in indices {
                    let inner = self.add_variable(VariableState::Free, range);
                    let needed = self.program.types.array(inner);
                    self.require_type(element, needed, range, "what is indexed")?;
                    element = inner;
                }
                for index in indices {
                    if matches!(index, TypedIndex::Slice { .. }) {
                        element = self.program.types.array(element);
                    }
                }
                Ok(element)
            }
            _ => Ok(self.type_of(value)),
        }
    }
}
