//! Definitions of the text.

use super::types::parameter_sign;
use super::{ExpressionNesting, TypedPrinter};
use crate::check::types::TypeParameterId;
use crate::typed::{DefinitionId, LocalId, SizedTypeId, TypedExpressionId, TypedPatternId};

/// A function or constant without its name.
pub(super) struct PrintedFunction<'p> {
    /// Whether parameters have their inferred types with sizes. Those of local functions may be consumed, and those of
    /// recursive functions are equal for all calls only as long as they are not written.
    pub(super) has_inferred_sizes: bool,
    /// The size parameters.
    pub(super) sizes: &'p [LocalId],
    /// The type parameters.
    pub(super) types: &'p [TypeParameterId],
    /// The parameters.
    pub(super) parameters: &'p [TypedPatternId],
    /// The type of the result, if it is written.
    pub(super) result: Option<SizedTypeId>,
    /// The body.
    pub(super) body: TypedExpressionId,
}

impl TypedPrinter<'_> {
    /// A definition. Empty if it has no body.
    pub(super) fn print_definition(&mut self, id: DefinitionId) -> String {
        let program = self.program;
        let definition = &program.definitions[id];
        let (Some(body), Some(name)) = (definition.body, self.names.find(id)) else {
            return String::new();
        };
        let name = name.to_owned();
        let keyword = if program.entries.contains(&id) {
            "entry"
        } else {
            "def"
        };
        let mut text = String::new();
        for attribute in &definition.attributes {
            text.push_str(&self.print_attribute(attribute));
            text.push('\n');
        }
        let mark = self.scope.mark();
        let function = self.print_function(&PrintedFunction {
            has_inferred_sizes: !definition.is_recursive,
            sizes: &definition.size_parameters,
            types: &definition.type_parameters,
            parameters: &definition.parameters,
            result: definition.result,
            body,
        });
        self.scope.close(mark);
        format!("{text}{keyword} {name}{function}\n")
    }

    /// The part of a function or constant behind its name. Parameters that were inferred and that the text does not
    /// mention are left out: they are inferred again.
    pub(super) fn print_function(&mut self, parts: &PrintedFunction<'_>) -> String {
        let program = self.program;
        for &size in parts.sizes {
            self.bind(size);
        }
        let types = parts.types.iter();
        let types = types.filter(|parameter| !program.types.is_inferred(**parameter));
        let types = types.map(|&parameter| {
            let sign = parameter_sign(program.types.parameter_liftedness(parameter));
            format!(" {sign}{}", self.scope.bind_type(parameter, program))
        });
        let types: String = types.collect();
        let parameters = parts.parameters.iter();
        let parameters = parameters.map(|&parameter| {
            let pattern = if parts.has_inferred_sizes {
                self.print_definition_parameter(parameter)
            } else {
                self.print_parameter_pattern(parameter)
            };
            format!(" {pattern}")
        });
        let parameters: String = parameters.collect();
        let result = match parts.result {
            Some(result) => Some(self.print_sized(result).nest(ExpressionNesting::Whole)),
            None => self.print_inferred(program.expressions[parts.body].type_id),
        };
        let result = result.map(|result| format!(": {result}"));
        let body = self.print_expression(parts.body, ExpressionNesting::Whole);
        let sizes = parts.sizes.iter();
        let sizes = sizes.filter(|size| self.mentioned.contains(size));
        let sizes = sizes.filter_map(|size| self.scope.find_local(*size));
        let sizes: String = sizes.map(|name| format!(" [{name}]")).collect();
        let head = format!("{sizes}{types}{parameters}{} =", result.unwrap_or_default());
        if body.contains('\n') {
            format!("{head}\n{body}")
        } else {
            format!("{head} {body}")
        }
    }
}
