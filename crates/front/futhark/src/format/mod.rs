//! Formatter of Futhark source.
//!
//! The rules are those of Futhark's own formatter: what stands on one line stays on one line, and what spans several
//! lines is broken at each of its parts. Tokens are kept as they are written, with three exceptions: `let` at top level
//! becomes `def`, `in` in front of another `let` disappears, and so does a comma in front of a closing bracket. Comments
//! stay with the token that they follow on its line, or in front of the token that they precede.
//!
//! A formatted text is formatted again until nothing changes, so that formatting twice is formatting once.

mod declaration;
mod expression;
mod module;
mod pattern;
mod printer;
mod type_expression;

use crate::compile::with_large_stack;
use crate::syntax::parse_file;
use crate::syntax::tree::SourceNameId;
use printer::SourcePrinter;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_entity::StringInterner;

/// How often a text is formatted at most.
const ROUNDS: usize = 8;

/// Formats a source file.
///
/// # Errors
///
/// The faults of a text that is not Futhark.
pub fn format_source(text: &str) -> Result<String, Vec<SourceDiagnostic>> {
    with_large_stack(|| {
        let mut formatted = format_once(text)?;
        for _ in 1..ROUNDS {
            let again = format_once(&formatted)?;
            if again == formatted {
                break;
            }
            formatted = again;
        }
        Ok(formatted)
    })
}

fn format_once(text: &str) -> Result<String, Vec<SourceDiagnostic>> {
    let mut names: StringInterner<SourceNameId> = StringInterner::default();
    let tree = parse_file(text, &mut names)?;
    let printer = SourcePrinter::new(text, &tree).map_err(|fault| vec![fault])?;
    printer.print_file().map_err(|place| {
        let message = "bug: the formatter does not know the tokens here";
        let place = SourceLocation::from_text_range(place.start as usize, place.end as usize);
        vec![SourceDiagnostic::error(place, message)]
    })
}
