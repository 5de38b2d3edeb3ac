//! Random edits of modules, each of them checked.
//!
//! [`edit_module`] edits a valid module through the public interface; bytes decide which edits it makes. An edit
//! that is refused must leave the words unchanged. An edit that succeeds must leave a module that the verifier
//! accepts and that is read back from its words unchanged.

mod blocks;
mod edges;
mod instructions;
mod target;
mod whole_module;

use crate::ChoiceSequence;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text;
use spirula_spirv::verify::{self, VerifyOptions, VerifyRule};
use std::fmt::Write;

/// The outcome of an edit.
enum EditOutcome {
    /// There was nothing to edit.
    Nothing,
    Done,
    /// An error; the module had these words before.
    Refused(Vec<u32>),
}

impl EditOutcome {
    fn from_result<T, E>(result: &Result<T, E>, before: Vec<u32>) -> EditOutcome {
        match result {
            Ok(_) => EditOutcome::Done,
            Err(_) => EditOutcome::Refused(before),
        }
    }
}

/// A kind of edit.
struct ModuleEdit {
    name: &'static str,
    run: fn(&mut SpirvModule, &mut ChoiceSequence<'_>) -> EditOutcome,
    /// Whether values always dominate their uses after the edit. If not, restoring dominance is up to the caller.
    keeps_dominance: bool,
}

const fn edit_of(
    name: &'static str,
    run: fn(&mut SpirvModule, &mut ChoiceSequence<'_>) -> EditOutcome,
) -> ModuleEdit {
    ModuleEdit {
        name,
        run,
        keeps_dominance: true,
    }
}

const EDITS: &[ModuleEdit] = &[
    edit_of("insert", instructions::insert_value),
    edit_of("delete", instructions::delete_instruction),
    edit_of("replace uses", instructions::replace_value),
    edit_of("split a block", blocks::split_block),
    edit_of("put a block on an edge", blocks::on_edge),
    edit_of("make a pre-header", blocks::pre_header),
    edit_of("join blocks", blocks::join_blocks),
    edit_of("delete a block", blocks::delete_block),
    edit_of("remove an edge", edges::remove_edge),
    ModuleEdit {
        keeps_dominance: false,
        ..edit_of("redirect an edge", edges::redirect_edge)
    },
    ModuleEdit {
        keeps_dominance: false,
        ..edit_of("add an edge", edges::add_edge)
    },
    edit_of(
        "remove what is unreachable",
        whole_module::remove_unreachable,
    ),
    edit_of("construct SSA", whole_module::construct_ssa),
    edit_of("compact ids", whole_module::compact_ids),
];

/// Numbers of successful and refused edits of each kind.
#[derive(Clone, Debug, Default)]
pub struct EditCounts {
    rows: Vec<(usize, usize)>,
}

impl EditCounts {
    /// Adds the numbers of another.
    pub fn add_counts(&mut self, other: &EditCounts) {
        self.rows.resize(EDITS.len(), (0, 0));
        for (row, other) in self.rows.iter_mut().zip(&other.rows) {
            row.0 += other.0;
            row.1 += other.1;
        }
    }

    /// The kinds of edits that never succeeded.
    pub fn missing_kinds(&self) -> Vec<&'static str> {
        let made = |at: usize| self.rows.get(at).is_some_and(|r| r.0 > 0);
        let missing = EDITS.iter().enumerate().filter(|(at, _)| !made(*at));
        missing.map(|(_, e)| e.name).collect()
    }
}

/// The options of verification: no particular consumer, any layout.
pub fn verify_options() -> VerifyOptions {
    VerifyOptions {
        scalar_block_layout: true,
        ..VerifyOptions::default()
    }
}

/// Edits a valid module until all choices are used up.
///
/// # Errors
/// If an edit violates what this module says of edits. The text has the edits so far, and the module before and
/// after.
pub fn edit_module(
    mut module: SpirvModule,
    choices: &mut ChoiceSequence<'_>,
) -> Result<EditCounts, String> {
    let mut tally = EditCounts::default();
    tally.add_counts(&EditCounts::default());
    let mut log = String::new();
    while !choices.is_empty() {
        let at = choices.choose_below(EDITS.len());
        let edit = &EDITS[at];
        let mut edited = module.clone();
        match (edit.run)(&mut edited, choices) {
            EditOutcome::Nothing => {}
            EditOutcome::Refused(before) => {
                tally.rows[at].1 += 1;
                if edited.to_words() != before {
                    return Err(format_report(
                        &log,
                        edit,
                        &module,
                        &edited,
                        "it was refused",
                    ));
                }
            }
            EditOutcome::Done => match verify_module(&edited) {
                Ok(()) => {
                    tally.rows[at].0 += 1;
                    _ = write!(log, "{}, ", edit.name);
                    module = edited;
                }
                Err(faults) if !edit.keeps_dominance && faults.iter().all(is_of_dominance) => {}
                Err(faults) => {
                    let faults: Vec<String> =
                        faults.iter().map(SourceDiagnostic::to_string).collect();
                    let faults = faults.join("\n");
                    return Err(format_report(&log, edit, &module, &edited, &faults));
                }
            },
        }
    }
    Ok(tally)
}

/// Checks that a module is valid and is read back from its words unchanged.
fn verify_module(module: &SpirvModule) -> Result<(), Vec<SourceDiagnostic>> {
    verify::verify_module(module, &verify_options())?;
    let words = module.to_words();
    let again = verify::verify_words(words.clone(), &verify_options())?;
    let same = again.to_words() == words;
    let place = spirula_diagnostics::SourceLocation::Unknown;
    let fault = || {
        vec![SourceDiagnostic::error(
            place,
            "it reads back as other words",
        )]
    };
    same.then_some(()).ok_or_else(fault)
}

fn is_of_dominance(fault: &SourceDiagnostic) -> bool {
    fault.notes.contains(&VerifyRule::DefinedBefore.to_string())
}

fn format_report(
    log: &str,
    edit: &ModuleEdit,
    before: &SpirvModule,
    after: &SpirvModule,
    faults: &str,
) -> String {
    let shown = |module: &SpirvModule| {
        let options = text::PrintOptions::default();
        text::print_assembly(&module.to_words(), &options).unwrap_or_else(|e| e.to_string())
    };
    let name = edit.name;
    let (before, after) = (shown(before), shown(after));
    format!("{log}then {name}:\n{faults}\nbefore:\n{before}\nafter:\n{after}")
}
