//! The kinds of changes.

mod binding;
mod declaration;
mod expression;
mod name;
mod token;
mod types;

use crate::source::{MutableSource, MutationChoice, TextEdit};

/// The edits of a change. None if the program has no place for it.
type MutationEdits = Option<Vec<TextEdit>>;

/// A kind of change.
#[derive(Debug)]
pub struct MutationKind {
    /// Its name.
    pub name: &'static str,
    /// Chooses a place and gives the edits.
    pub make_edits: fn(&MutableSource, &mut MutationChoice) -> Option<Vec<TextEdit>>,
}

/// Rows of the table from functions of the same names.
macro_rules! mutation_kinds {
    ($($module:ident :: $function:ident,)*) => {
        &[$(MutationKind {
            name: stringify!($function),
            make_edits: $module::$function,
        },)*]
    };
}

/// All kinds of changes.
pub const MUTATION_KINDS: &[MutationKind] = mutation_kinds![
    types::swap_types,
    types::replace_type,
    types::drop_star,
    types::add_star,
    types::change_size,
    types::drop_dimension,
    types::add_dimension,
    types::drop_result_type,
    types::add_function_type,
    name::rename_use,
    name::rename_binding,
    name::rename_field,
    name::rename_constructor,
    expression::swap_operators,
    expression::swap_operands,
    expression::swap_arguments,
    expression::drop_argument,
    expression::repeat_argument,
    expression::replace_expression,
    expression::consume_variable,
    expression::change_literal,
    expression::swap_branches,
    expression::change_ascription,
    expression::change_index,
    expression::alias_update,
    binding::drop_binding,
    binding::swap_bindings,
    binding::drop_parameter,
    binding::repeat_parameter,
    binding::change_type_parameter,
    binding::drop_type_parameter,
    binding::change_pattern,
    binding::drop_case,
    binding::swap_cases,
    binding::change_loop,
    declaration::drop_declaration,
    declaration::swap_declarations,
    declaration::repeat_declaration,
    declaration::change_keyword,
    declaration::hide_declaration,
    declaration::drop_specification,
    declaration::swap_specifications,
    declaration::change_module,
    token::drop_token,
    token::repeat_token,
    token::swap_tokens,
    token::replace_token,
];
