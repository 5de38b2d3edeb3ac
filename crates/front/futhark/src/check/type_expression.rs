//! Types that are written in the source.

use super::environment::{TermBinding, TypeBinding, TypeParameterBinding};
use super::name_record::{NameMeaning, PathTarget};
use super::types::{TypeForm, TypeId, TypeParameterId};
use super::unify::ScalarClass;
use super::{CheckResult, SourceChecker};
use crate::sizes::substitute::substitute_size;
use crate::syntax::token::TextRange;
use crate::syntax::tree::{
    ExpressionId, QualifiedName, SourceName, SourceNameId, TypeArgument, TypeDeclaration,
    TypeExpressionId, TypeKind, TypeLiftedness, TypeParameter, TypeParameterKind,
};
use crate::typed::{
    LocalId, LocalVariable, ProgramPlace, SizeTerm, SizedType, SizedTypeId, TypedKind,
};
use rustc_hash::FxHashMap;

/// A type that is written in the source: with its sizes, and without.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenType {
    /// The type with sizes.
    pub(super) sized: SizedTypeId,
    /// The type without sizes.
    pub(super) type_id: TypeId,
    /// Whether values of the type may have sizes that are not known, or functions in them.
    pub(super) liftedness: TypeLiftedness,
}

/// The arguments for the parameters of an abbreviation.
#[derive(Default)]
struct TypeSubstitution {
    types: FxHashMap<TypeParameterId, WrittenType>,
    sizes: FxHashMap<LocalId, SizeTerm>,
}

impl SourceChecker<'_> {
    /// Adds a type with sizes.
    pub(super) fn add_sized(&mut self, sized: SizedType) -> SizedTypeId {
        self.program.sized_types.push(sized)
    }

    /// A type without arrays as a type with sizes.
    pub(super) fn add_plain(&mut self, type_id: TypeId) -> WrittenType {
        let sized = self.add_sized(SizedType::Plain(type_id));
        WrittenType {
            sized,
            type_id,
            liftedness: TypeLiftedness::Unlifted,
        }
    }

    /// Checks a type expression.
    pub(super) fn check_type(&mut self, id: TypeExpressionId) -> CheckResult<WrittenType> {
        let node = &self.tree().types[id];
        match &node.kind {
            TypeKind::Name(path) => self.check_named_type(path, &[], node.range),
            TypeKind::Application { .. } => self.check_type_application(id),
            TypeKind::Parentheses(inner) => self.check_type(*inner),
            TypeKind::Unique(inner) => {
                let inner = self.check_type(*inner)?;
                let sized = self.add_sized(SizedType::Unique(inner.sized));
                Ok(WrittenType { sized, ..inner })
            }
            TypeKind::Tuple(elements) => {
                let fields = elements.iter().enumerate();
                let fields = fields.map(|(index, element)| {
                    (self.program.names.intern(&index.to_string()), *element)
                });
                let fields: Vec<_> = fields.collect();
                self.check_record_type(&fields)
            }
            TypeKind::Record(fields) => {
                for (index, (name, _)) in fields.iter().enumerate() {
                    let before = fields[..index]
                        .iter()
                        .find(|(other, _)| other.name == name.name);
                    if let Some((before, _)) = before {
                        return Err(self.fail_twice(*name, before.range));
                    }
                }
                let names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
                let fields: Vec<_> = fields
                    .iter()
                    .map(|(name, field)| (name.name, *field))
                    .collect();
                let record = self.check_record_type(&fields)?;
                self.record_type_parts(&names, record.type_id);
                Ok(record)
            }
            TypeKind::Sum(clauses) => self.check_sum_type(clauses),
            TypeKind::Array { size, element } => self.check_array_type(*size, *element),
            TypeKind::Function {
                name,
                parameter,
                result,
            } => self.check_function_type(*name, *parameter, *result),
            TypeKind::Existential { sizes, body } => {
                let mark = self.mark_scope();
                let locals: Vec<_> = sizes.iter().map(|size| self.bind_size(*size)).collect();
                let body = self.check_type(*body)?;
                self.end_scope(mark);
                for (size, &local) in sizes.iter().zip(&locals) {
                    if !self.is_array_size(local, body.sized) {
                        return Err(self.fail_unused_size(*size));
                    }
                }
                let sized = self.add_sized(SizedType::Existential(locals, body.sized));
                Ok(WrittenType {
                    sized,
                    liftedness: body.liftedness.max(TypeLiftedness::SizeLifted),
                    ..body
                })
            }
        }
    }

    /// Checks the type of an array.
    fn check_array_type(
        &mut self,
        size: Option<ExpressionId>,
        element: TypeExpressionId,
    ) -> CheckResult<WrittenType> {
        let size = self.check_size(size)?;
        let range = self.tree().types[element].range;
        let element = self.check_type(element)?;
        if element.liftedness > TypeLiftedness::Unlifted {
            let text = self.source_text(range);
            let reason = describe_lifted(element.liftedness);
            let message = format!("the elements of an array cannot be of the lifted type `{text}`");
            return Err(self.fail_with(range, message, |fault| fault.with_note(reason)));
        }
        let type_id = self.program.types.array(element.type_id);
        let sized = self.add_sized(SizedType::Array(size, element.sized));
        Ok(WrittenType {
            sized,
            type_id,
            liftedness: TypeLiftedness::Unlifted,
        })
    }

    /// The text at a range of the file at hand.
    fn source_text(&self, range: TextRange) -> &str {
        let text = &self.files.files[self.file].text;
        text.get(range.start as usize..range.end as usize)
            .unwrap_or_default()
    }

    /// Binds the name of a size until the scope ends.
    pub(super) fn bind_size(&mut self, size: SourceName) -> LocalId {
        let type_id = self.program.types.int64();
        self.bind_size_variable(size, type_id)
    }

    /// Binds the name of a variable that sizes refer to until the scope ends.
    fn bind_size_variable(&mut self, variable: SourceName, type_id: TypeId) -> LocalId {
        let name = variable.name;
        let local = self.program.locals.push(LocalVariable { name, type_id });
        self.bind_term(name, TermBinding::Local(local, None));
        self.record_local(variable, local);
        local
    }

    /// Checks the type of a record.
    fn check_record_type(
        &mut self,
        fields: &[(SourceNameId, TypeExpressionId)],
    ) -> CheckResult<WrittenType> {
        let mut sized = Vec::with_capacity(fields.len());
        let mut plain = Vec::with_capacity(fields.len());
        let mut liftedness = TypeLiftedness::Unlifted;
        for (name, field) in fields {
            let field = self.check_type(*field)?;
            liftedness = liftedness.max(field.liftedness);
            sized.push((*name, field.sized));
            plain.push((*name, field.type_id));
        }
        let names = &self.program.names;
        super::types::sort_fields(&mut sized, names);
        let type_id = self.program.types.record(plain, names);
        let sized = self.add_sized(SizedType::Record(sized));
        Ok(WrittenType {
            sized,
            type_id,
            liftedness,
        })
    }

    /// Checks the type of a sum.
    fn check_sum_type(
        &mut self,
        clauses: &[(SourceName, Vec<TypeExpressionId>)],
    ) -> CheckResult<WrittenType> {
        let mut sized = Vec::with_capacity(clauses.len());
        let mut plain = Vec::with_capacity(clauses.len());
        let mut liftedness = TypeLiftedness::Unlifted;
        for (index, (name, payload)) in clauses.iter().enumerate() {
            let before = clauses[..index]
                .iter()
                .find(|(other, _)| other.name == name.name);
            if let Some((before, _)) = before {
                return Err(self.fail_twice(*name, before.range));
            }
            let payload = payload.iter().map(|&payload| self.check_type(payload));
            let payload: Vec<_> = payload.collect::<CheckResult<_>>()?;
            let parts = payload.iter().map(|part| part.liftedness);
            liftedness = parts.fold(liftedness, TypeLiftedness::max);
            sized.push((
                name.name,
                payload.iter().map(|payload| payload.sized).collect(),
            ));
            plain.push((
                name.name,
                payload.iter().map(|payload| payload.type_id).collect(),
            ));
        }
        let names = &self.program.names;
        sized.sort_by(|(left, _): &(SourceNameId, Vec<_>), (right, _)| {
            names[*left].cmp(&names[*right])
        });
        let type_id = self.program.types.sum(plain, names);
        let names: Vec<_> = clauses.iter().map(|(name, _)| *name).collect();
        self.record_type_parts(&names, type_id);
        let sized = self.add_sized(SizedType::Sum(sized));
        Ok(WrittenType {
            sized,
            type_id,
            liftedness,
        })
    }

    /// Checks the type of a function.
    fn check_function_type(
        &mut self,
        name: Option<SourceName>,
        parameter: TypeExpressionId,
        result: TypeExpressionId,
    ) -> CheckResult<WrittenType> {
        let parameter = self.check_type(parameter)?;
        let mark = self.mark_scope();
        let local = name.map(|name| self.bind_size_variable(name, parameter.type_id));
        let result = self.check_type(result)?;
        self.end_scope(mark);
        let type_id = self
            .program
            .types
            .function(parameter.type_id, result.type_id);
        let sized = self.add_sized(SizedType::Function(local, parameter.sized, result.sized));
        Ok(WrittenType {
            sized,
            type_id,
            liftedness: TypeLiftedness::FullyLifted,
        })
    }

    /// Checks a size.
    fn check_size(&mut self, size: Option<ExpressionId>) -> CheckResult<SizeTerm> {
        let Some(size) = size else {
            return Ok(SizeTerm::Anonymous);
        };
        let typed = self.check_expression(size)?;
        let int64 = self.program.types.int64();
        let range = self.tree().expressions[size].range;
        self.require_type(self.type_of(typed), int64, range, "the size")?;
        Ok(match &self.program.expressions[typed].kind {
            TypedKind::Local(local, _) => SizeTerm::Local(*local),
            _ => SizeTerm::Expression(typed),
        })
    }

    /// Checks an abbreviation with its arguments.
    fn check_type_application(&mut self, id: TypeExpressionId) -> CheckResult<WrittenType> {
        let mut arguments = Vec::new();
        let mut head = id;
        let tree = self.tree();
        loop {
            match &tree.types[head].kind {
                TypeKind::Application {
                    constructor,
                    argument,
                } => {
                    arguments.push(*argument);
                    head = *constructor;
                }
                TypeKind::Parentheses(inner) => head = *inner,
                TypeKind::Name(path) => {
                    arguments.reverse();
                    return self.check_named_type(path, &arguments, tree.types[id].range);
                }
                _ => return Err(self.fail(tree.types[head].range, "this type takes no arguments")),
            }
        }
    }

    /// Checks a named type with its arguments.
    fn check_named_type(
        &mut self,
        path: &QualifiedName,
        arguments: &[TypeArgument],
        range: TextRange,
    ) -> CheckResult<WrittenType> {
        self.record_path(path, PathTarget::Types);
        let binding = self.find_type(path)?;
        if binding.parameters.len() != arguments.len() {
            let text = self.name_text(path.name.name);
            let (needed, found) = (binding.parameters.len(), arguments.len());
            return Err(self.fail(
                range,
                format!("type `{text}` takes {needed} arguments, but {found} are given"),
            ));
        }
        let mut substitution = TypeSubstitution::default();
        let mut liftedness = binding.liftedness;
        let mut own_sizes = Vec::new();
        for (parameter, argument) in binding.parameters.iter().zip(arguments) {
            match (*parameter, *argument) {
                (TypeParameterBinding::Size(local), TypeArgument::Size(size, _)) => {
                    let mut size = self.check_size(size)?;
                    if size == SizeTerm::Anonymous {
                        let unnamed = self.program.locals[local];
                        let unnamed = self.program.locals.push(unnamed);
                        own_sizes.push(unnamed);
                        size = SizeTerm::Local(unnamed);
                    }
                    substitution.sizes.insert(local, size);
                }
                (TypeParameterBinding::Type(parameter, _), TypeArgument::Type(argument)) => {
                    let argument = self.check_type(argument)?;
                    liftedness = liftedness.max(argument.liftedness);
                    substitution.types.insert(parameter, argument);
                }
                (TypeParameterBinding::Size(_), TypeArgument::Type(argument)) => {
                    let range = self.tree().types[argument].range;
                    return Err(self.fail(range, "a size in brackets is expected here, not a type"));
                }
                (TypeParameterBinding::Type(..), TypeArgument::Size(_, range)) => {
                    return Err(self.fail(range, "a type is expected here, not a size"));
                }
            }
        }
        if arguments.is_empty() {
            return Ok(WrittenType {
                sized: binding.sized,
                type_id: binding.type_id,
                liftedness,
            });
        }
        let (parameters, types): (Vec<_>, Vec<_>) = substitution
            .types
            .iter()
            .map(|(parameter, argument)| (*parameter, argument.type_id))
            .unzip();
        let type_id = self
            .program
            .types
            .substitute(binding.type_id, &parameters, &types);
        let mut sized = self.substitute_sized(binding.sized, &substitution);
        if !own_sizes.is_empty() {
            sized = self.add_sized(SizedType::Existential(own_sizes, sized));
        }
        Ok(WrittenType {
            sized,
            type_id,
            liftedness,
        })
    }

    /// A type with sizes with arguments in place of parameters.
    fn substitute_sized(
        &mut self,
        id: SizedTypeId,
        substitution: &TypeSubstitution,
    ) -> SizedTypeId {
        let sized = match self.program.sized_types[id].clone() {
            SizedType::Plain(plain) => {
                let TypeForm::Parameter(parameter) = self.program.types.form(plain) else {
                    return id;
                };
                return substitution
                    .types
                    .get(parameter)
                    .map_or(id, |argument| argument.sized);
            }
            SizedType::Array(length, element) => {
                let length = substitute_size(&mut self.program, length, &substitution.sizes);
                SizedType::Array(length, self.substitute_sized(element, substitution))
            }
            SizedType::Record(fields) => {
                let fields = fields.into_iter();
                SizedType::Record(
                    fields
                        .map(|(name, field)| (name, self.substitute_sized(field, substitution)))
                        .collect(),
                )
            }
            SizedType::Sum(clauses) => {
                let mut clauses = clauses;
                for payload in clauses.iter_mut().flat_map(|(_, payload)| payload) {
                    *payload = self.substitute_sized(*payload, substitution);
                }
                SizedType::Sum(clauses)
            }
            SizedType::Function(name, parameter, result) => SizedType::Function(
                name,
                self.substitute_sized(parameter, substitution),
                self.substitute_sized(result, substitution),
            ),
            SizedType::Abstract(name, sizes, arguments) => {
                let arguments = arguments.into_iter();
                let arguments = arguments
                    .map(|argument| self.substitute_sized(argument, substitution))
                    .collect();
                let sizes = sizes.into_iter();
                let sizes =
                    sizes.map(|size| substitute_size(&mut self.program, size, &substitution.sizes));
                SizedType::Abstract(name, sizes.collect(), arguments)
            }
            SizedType::Unique(inner) => {
                SizedType::Unique(self.substitute_sized(inner, substitution))
            }
            SizedType::Existential(sizes, inner) => {
                SizedType::Existential(sizes, self.substitute_sized(inner, substitution))
            }
        };
        self.add_sized(sized)
    }

    /// Binds size and type parameters until the scope ends.
    pub(super) fn bind_type_parameters(
        &mut self,
        parameters: &[TypeParameter],
    ) -> CheckResult<Vec<TypeParameterBinding>> {
        let mut bound = Vec::with_capacity(parameters.len());
        for (index, parameter) in parameters.iter().enumerate() {
            let name = parameter.name.name;
            let before = parameters[..index]
                .iter()
                .find(|other| other.name.name == name);
            if let Some(before) = before {
                return Err(self.fail_twice(parameter.name, before.name.range));
            }
            bound.push(match parameter.kind {
                TypeParameterKind::Size => {
                    TypeParameterBinding::Size(self.bind_size(parameter.name))
                }
                TypeParameterKind::Type(liftedness) => {
                    self.record_definition(parameter.name, NameMeaning::Type);
                    let id = self.program.types.add_parameter(name, Some(liftedness));
                    self.variables.begin_parameter(id);
                    let type_id = self.program.types.intern(TypeForm::Parameter(id));
                    let plain = self.add_plain(type_id);
                    self.bind_type(
                        name,
                        TypeBinding {
                            parameters: [].into(),
                            liftedness,
                            sized: plain.sized,
                            type_id,
                            place: self.place(parameter.name.range),
                        },
                    );
                    TypeParameterBinding::Type(id, liftedness)
                }
            });
        }
        Ok(bound)
    }

    /// Checks a type abbreviation, or makes an abstract type of a declaration without a definition. In the prelude it may
    /// belong to a class of scalars.
    pub(super) fn check_type_declaration(
        &mut self,
        declaration: &TypeDeclaration,
        class: Option<ScalarClass>,
    ) -> CheckResult<TypeBinding> {
        let mark = self.mark_scope();
        let parameters = self.bind_type_parameters(&declaration.parameters)?;
        let written = match declaration.definition {
            Some(definition) => {
                let written = self.check_type(definition)?;
                self.require_named_sizes(written.sized, declaration.name.range)?;
                self.require_used_sizes(&declaration.parameters, &parameters, written.sized)?;
                written
            }
            None => self.add_abstract(declaration, &parameters, class),
        };
        self.end_scope(mark);
        if declaration.liftedness == TypeLiftedness::Unlifted && self.has_unwritten(written.sized) {
            let text = self.name_text(declaration.name.name);
            let message = format!("the abbreviation `{text}` has a size without a name");
            return Err(self.fail_with(declaration.name.range, message, |fault| {
                fault.with_hint(
                    "make the size a parameter of the abbreviation, or declare it with `type~`",
                )
            }));
        }
        if written.liftedness > declaration.liftedness {
            let text = self.name_text(declaration.name.name);
            let (content, keyword) = match written.liftedness {
                TypeLiftedness::FullyLifted => ("functions", "type^"),
                _ => ("size-lifted types", "type~"),
            };
            let message = format!("the abbreviation `{text}` may not contain {content}");
            return Err(self.fail_with(declaration.name.range, message, |fault| {
                fault.with_hint(format!("declare it with `{keyword}`"))
            }));
        }
        Ok(TypeBinding {
            parameters: parameters.into(),
            liftedness: declaration.liftedness,
            sized: written.sized,
            type_id: written.type_id,
            place: self.place(declaration.name.range),
        })
    }

    /// A new abstract type, applied to parameters.
    fn add_abstract(
        &mut self,
        declaration: &TypeDeclaration,
        parameters: &[TypeParameterBinding],
        class: Option<ScalarClass>,
    ) -> WrittenType {
        let text = self.name_text(declaration.name.name).to_owned();
        let liftedness = declaration.liftedness;
        let id = self.program.types.add_abstract(text, liftedness, class);
        let mut types = Vec::new();
        let mut sizes = Vec::new();
        let mut sized = Vec::new();
        for parameter in parameters {
            match *parameter {
                TypeParameterBinding::Size(local) => sizes.push(SizeTerm::Local(local)),
                TypeParameterBinding::Type(parameter, _) => {
                    let type_id = self.program.types.intern(TypeForm::Parameter(parameter));
                    types.push(type_id);
                    sized.push(self.add_plain(type_id).sized);
                }
            }
        }
        if !sizes.is_empty() {
            self.shapes.abstract_sizes.insert(id, sizes.len());
        }
        let type_id = self.program.types.intern(TypeForm::Abstract(id, types));
        let sized = self.add_sized(SizedType::Abstract(id, sizes, sized));
        WrittenType {
            sized,
            type_id,
            liftedness,
        }
    }

    /// The binding of a built-in type.
    pub(super) fn bind_scalar_type(&mut self, scalar: super::types::PrimitiveType) -> TypeBinding {
        let type_id = self.program.types.scalar(scalar);
        let plain = self.add_plain(type_id);
        TypeBinding {
            parameters: [].into(),
            liftedness: TypeLiftedness::Unlifted,
            sized: plain.sized,
            type_id,
            place: self.built_in_place(),
        }
    }

    /// The place of what no source defines.
    pub(super) fn built_in_place(&self) -> ProgramPlace {
        ProgramPlace {
            file: self.files.intrinsics,
            range: TextRange::default(),
        }
    }
}

/// Why a type is lifted, for messages.
fn describe_lifted(liftedness: TypeLiftedness) -> &'static str {
    match liftedness {
        TypeLiftedness::FullyLifted => "it may contain functions",
        _ => "its values may have sizes that differ from each other",
    }
}
