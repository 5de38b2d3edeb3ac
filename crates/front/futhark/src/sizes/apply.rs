//! Application of functions.

use super::replace::SizeReplacement;
use super::shape::{ShapeSubstitution, ShapedForm, ShapedTypeId, SizeForm, SizeId};
use super::variable::SizeVariables;
use super::{SizeInference, SizeResult};
use crate::typed::{LocalId, TypedExpressionId, TypedKind};

/// A function that is applied to its arguments, one after the other.
pub(super) struct AppliedFunction {
    /// The type of the function with the arguments so far.
    pub(super) shape: ShapedTypeId,
    /// The sizes that the application produces.
    pub(super) produced: Vec<LocalId>,
    /// The function, for messages.
    pub(super) name: String,
}

impl SizeInference<'_> {
    /// Infers the sizes of an application.
    pub(super) fn infer_application(
        &mut self,
        id: TypedExpressionId,
        function: TypedExpressionId,
        arguments: &[TypedExpressionId],
    ) -> SizeResult<ShapedTypeId> {
        let place = self.place;
        let mut applied = AppliedFunction {
            shape: self.infer(function)?,
            produced: Vec::new(),
            name: self.describe_function(function),
        };
        let mut shapes = Vec::with_capacity(arguments.len());
        for &argument in arguments {
            shapes.push(self.infer(argument)?);
        }
        self.place = place;
        for (&argument, shape) in arguments.iter().zip(shapes) {
            self.apply(&mut applied, argument, shape)?;
        }
        self.record
            .results
            .push((id, applied.produced, applied.shape));
        Ok(applied.shape)
    }

    /// A function for messages.
    fn describe_function(&self, id: TypedExpressionId) -> String {
        let name = match &self.program.expressions[id].kind {
            TypedKind::Global(definition, _) => self.program.definitions[*definition].name,
            TypedKind::Local(local, _) => self.program.locals[*local].name,
            TypedKind::Intrinsic(intrinsic, _) => self.program.intrinsics[*intrinsic],
            _ => return "the function".to_owned(),
        };
        format!("`{}`", &self.program.names[name])
    }

    /// Applies a function to an argument.
    fn apply(
        &mut self,
        applied: &mut AppliedFunction,
        argument: TypedExpressionId,
        shape: ShapedTypeId,
    ) -> SizeResult<()> {
        let ShapedForm::Function(function) = self.expand(applied.shape) else {
            applied.shape = self.table.add_any();
            return Ok(());
        };
        let place = self.program.expressions[argument].place;
        if let Err(clash) = self.unify(function.parameter, shape, place) {
            let role = format!("the argument of {}", applied.name);
            return Err(self.fail_clash(clash, place, &role, function.parameter, shape));
        }
        let result = self.variables.resolve_shape(self.table, function.result);
        let mut substitution = ShapeSubstitution::default();
        let first_produced = applied.produced.len();
        for local in function.sizes {
            let name = self.program.names[self.program.locals[local].name].to_owned();
            let description = format!("by {}", applied.name);
            let produced = self.add_produced(&name, self.place, description);
            applied.produced.push(produced);
            substitution
                .sizes
                .insert(local, self.table.add_local(produced));
        }
        if let Some(name) = function.name
            && self.mentions(result, name)
        {
            let size = self.read_argument(argument, &applied.name);
            substitution.sizes.insert(name, size);
        }
        let result = self.table.substitute(result, &substitution);
        self.check_applied_result(result, &applied.produced[first_produced..], &applied.name)?;
        let (result, produced) = self.replace_absorbed(result, &applied.name);
        applied.produced.extend(produced);
        applied.shape = result;
        Ok(())
    }

    /// An argument as a size: itself, or a new size if it is no size expression.
    fn read_argument(&mut self, argument: TypedExpressionId, function: &str) -> SizeId {
        if let Some(size) = self.read_size(argument) {
            return size;
        }
        let place = self.program.expressions[argument].place;
        let description = format!("as the value of an argument of {function}");
        let local = self.add_produced("n", place, description);
        self.record.values.push((argument, local));
        self.table.add_local(local)
    }

    /// Whether a type refers to a variable of the program.
    pub(super) fn mentions(&self, id: ShapedTypeId, local: LocalId) -> bool {
        self.table.mentions(id, local)
    }

    /// The type of a result, with new sizes for those that functions among the arguments choose.
    fn replace_absorbed(
        &mut self,
        id: ShapedTypeId,
        function: &str,
    ) -> (ShapedTypeId, Vec<LocalId>) {
        let description = format!("by {function}");
        let is_replaced = |inference: &SizeInference<'_>, size: SizeId| {
            let mut is_absorbed = false;
            SizeVariables::visit_variables(inference.table, size, &mut |variable| {
                is_absorbed |= inference.variables.is_absorbed(variable);
            });
            is_absorbed
        };
        self.replace_sizes(
            id,
            &SizeReplacement {
                is_replaced: &is_replaced,
                description: &description,
                name: "d",
                is_lenient: true,
            },
        )
    }

    /// The variables of inference that occur in a type and are not found yet.
    pub(super) fn free_variables(&mut self, id: ShapedTypeId) -> Vec<super::shape::SizeVariableId> {
        let id = self.variables.resolve_shape(self.table, id);
        let mut sizes = Vec::new();
        SizeVariables::visit_sizes(self.table, id, &mut |size| sizes.push(size));
        let mut free = Vec::new();
        for size in sizes {
            SizeVariables::visit_variables(self.table, size, &mut |variable| {
                if self.variables.is_free(variable) && !free.contains(&variable) {
                    free.push(variable);
                }
            });
        }
        free
    }

    /// Whether a size is a single variable of the program.
    pub(super) fn as_local(&self, size: SizeId) -> Option<LocalId> {
        match self.table.size(size) {
            SizeForm::Local(local) => Some(*local),
            _ => None,
        }
    }
}
