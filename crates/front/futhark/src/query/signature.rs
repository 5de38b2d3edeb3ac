//! Signatures: the function of the application at a place, and the parameter that is written.

use super::{SourceAnalysis, touches};
use crate::syntax::token::TextRange;
use crate::syntax::tree::{ExpressionId, ExpressionKind, SyntaxTree};
use crate::typed::{FileId, ProgramPlace};

/// The function that is applied at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureHelp {
    /// The function with its type.
    pub label: String,
    /// The documentation of the function.
    pub documentation: Option<String>,
    /// The parameters, as they stand in the label. None if the function has no declaration in the source.
    pub parameters: Vec<String>,
    /// The number of arguments in front of the place.
    pub active: usize,
}

impl SourceAnalysis {
    /// The innermost application of a named function around a byte of a file. Its last argument may end in front of
    /// the byte, with spaces between them.
    pub fn find_signature(&self, file: FileId, at: u32) -> Option<SignatureHelp> {
        let tree = &self.files.files[file].tree;
        let text = &self.files.files[file].text;
        let before = text.get(..at as usize)?;
        let end = before.trim_end_matches([' ', '\t']).len() as u32;
        let applications = tree.expressions.iter().filter(|(_, node)| {
            touches(node.range, at) || (node.range.end == end && node.range.start < at)
        });
        let inner = applications
            .filter_map(|(_, node)| match &node.kind {
                ExpressionKind::Application {
                    function,
                    arguments,
                } => Some((node.range, *function, arguments)),
                _ => None,
            })
            .min_by_key(|(range, ..)| range.end - range.start);
        let (_, function, arguments) = inner?;
        let name = function_name(tree, function)?;
        let hover = self.describe_name(file, name.start)?;
        let active = arguments.iter().filter(|&&argument| {
            let range = tree.expressions[argument].range;
            range.end < at
        });
        let active = active.count();
        let declared = self.find_definition(file, name.start);
        let declared = declared.and_then(|(_, place)| self.describe_parameters(place));
        let (label, parameters) = declared.unwrap_or_else(|| {
            let line = hover.code.lines().next().unwrap_or_default();
            (line.to_owned(), Vec::new())
        });
        Some(SignatureHelp {
            label,
            documentation: hover.documentation,
            parameters,
            active,
        })
    }

    /// The declaration of a function without its body, and its parameters.
    fn describe_parameters(&self, place: ProgramPlace) -> Option<(String, Vec<String>)> {
        let program = &self.checked.program;
        let mut definitions = program.definitions.iter();
        let (_, definition) = definitions.find(|(_, definition)| definition.place == place)?;
        let label = self.print_symbol(place.file, self.symbols.find(place)?);
        let parameters = definition.parameters.iter();
        let parameters =
            parameters.map(|&pattern| self.text_at(program.patterns[pattern].place).to_owned());
        Some((label, parameters.collect()))
    }
}

/// Where the name of a function stands.
fn function_name(tree: &SyntaxTree, function: ExpressionId) -> Option<TextRange> {
    match &tree.expressions[function].kind {
        ExpressionKind::Name(path) => Some(path.name.range),
        ExpressionKind::Parentheses(inner) => function_name(tree, *inner),
        _ => None,
    }
}
