//! Checks of the program, with messages that name places in the source.

use super::SourceInternaliser;
use crate::source::SourceFiles;
use crate::typed::{FileId, ProgramPlace};
use rustc_hash::FxHashMap;
use spirula_diagnostics::{ColumnUnit, LineColumn, LineStarts};
use spirula_soac::ir::{SoacMessage, SoacMessagePart, SoacOperand};

/// Largest number of places that a check names.
const MAX_PLACES: usize = 20;

/// The separator of places, as messages of the machine have it.
const SEPARATOR: &str = " -> ";

/// The folder of the prelude's files.
const PRELUDE: &str = "/prelude/";

/// Printer of places in the source.
pub(super) struct PlacePrinter<'p> {
    files: &'p SourceFiles,
    /// The lines of the files.
    lines: FxHashMap<FileId, LineStarts>,
}

impl<'p> PlacePrinter<'p> {
    pub(super) fn new(files: &'p SourceFiles) -> Self {
        PlacePrinter {
            files,
            lines: FxHashMap::default(),
        }
    }

    /// Whether a place is in the prelude.
    fn is_in_prelude(&self, place: ProgramPlace) -> bool {
        self.files.files[place.file].name.starts_with(PRELUDE)
    }

    /// File, line and columns of a place: `a.fut:3:5-9`, or `a.fut:3:5-4:2` where it has several lines. The last column
    /// is included.
    fn print_place(&mut self, place: ProgramPlace) -> String {
        let file = &self.files.files[place.file];
        let starts = self.lines.entry(place.file);
        let starts = starts.or_insert_with(|| LineStarts::new(file.text.as_bytes()));
        let find = |at: u32| {
            starts.find_position(file.text.as_bytes(), at as usize, ColumnUnit::Character)
        };
        let last = place.range.end.max(place.range.start + 1) - 1;
        let LineColumn { line, column } = find(place.range.start);
        let end = find(last);
        if line == end.line {
            format!("{}:{line}:{column}-{}", file.name, end.column)
        } else {
            format!("{}:{line}:{column}-{}:{}", file.name, end.line, end.column)
        }
    }

    /// The text at a place in one line.
    fn print_text(&self, place: ProgramPlace) -> String {
        let text = &self.files.files[place.file].text;
        let range = place.range.start as usize..place.range.end as usize;
        let words = text.get(range).unwrap_or_default().split_whitespace();
        words.collect::<Vec<_>>().join(" ")
    }

    /// The places of an expression and of the calls that led to it, the innermost first. Those in the prelude are left
    /// out, apart from the first.
    fn print_places(&mut self, places: &[ProgramPlace]) -> String {
        let mut printed: Vec<String> = Vec::new();
        for &place in places {
            if printed.len() == MAX_PLACES {
                break;
            }
            if !printed.is_empty() && self.is_in_prelude(place) {
                continue;
            }
            let place = self.print_place(place);
            if printed.last() != Some(&place) {
                printed.push(place);
            }
        }
        printed.join(SEPARATOR)
    }
}

impl SourceInternaliser<'_> {
    /// Checks a condition when the program runs, unless the source says that it holds. The next operation needs it to hold.
    pub(super) fn add_check(&mut self, condition: SoacOperand, parts: Vec<SoacMessagePart>) {
        if !self.is_unsafe {
            self.add_certain_check(condition, parts);
        }
    }

    /// Checks a condition when the program runs, whatever the source says.
    pub(super) fn add_certain_check(
        &mut self,
        condition: SoacOperand,
        parts: Vec<SoacMessagePart>,
    ) {
        let calls = self.call_places.iter().rev().copied();
        let places: Vec<ProgramPlace> = self.place.into_iter().chain(calls).collect();
        let places = self.printer.print_places(&places).into();
        self.builder
            .add_check(condition, SoacMessage { parts, places });
    }

    /// The text of an assertion that does not hold.
    pub(super) fn describe_assertion(&self, condition: ProgramPlace) -> Vec<SoacMessagePart> {
        let text = self.printer.print_text(condition);
        vec![SoacMessagePart::Text(format!("Assertion is false: {text}"))]
    }
}

/// The parts of a message about positions outside of an array.
pub(super) fn describe_positions(
    positions: Vec<SoacMessagePart>,
    shape: &[SoacOperand],
) -> Vec<SoacMessagePart> {
    let mut parts = vec![SoacMessagePart::Text("Index [".into())];
    parts.extend(positions);
    parts.push(SoacMessagePart::Text(
        "] out of bounds for array of shape ".into(),
    ));
    describe_shape(shape, &mut parts);
    parts.push(SoacMessagePart::Text(".".into()));
    parts
}

/// Appends sizes, each in brackets.
pub(super) fn describe_shape(shape: &[SoacOperand], parts: &mut Vec<SoacMessagePart>) {
    for &size in shape {
        parts.extend([
            SoacMessagePart::Text("[".into()),
            SoacMessagePart::Value(size),
            SoacMessagePart::Text("]".into()),
        ]);
    }
}
