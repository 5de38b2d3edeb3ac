//! Compilation of source to the soac form.

use crate::check::{SourceFault, check_program};
use crate::constants::find_used_constants;
use crate::internalise::internalise_entry;
use crate::sizes::shape::ShapeTable;
use crate::source::{FaultyFile, SourceFiles, read_program};
use crate::typed::{DefinitionId, FileId, ProgramPlace, TypedProgram};
use crate::value_structure::{ValueStructure, describe_structure};
use rustc_hash::FxHashMap;
use spirula_diagnostics::{
    ColumnUnit, LineColumn, SourceDiagnostic, SourceLocation, find_line_column,
};
use spirula_soac::fuse::FusionScope;
use spirula_soac::ir::{SoacEntry, SoacFunction, SoacOperation};
use spirula_soac::optimise::optimise_function;
use std::sync::{Arc, Mutex};

/// The beginning of the names of the prelude's files.
const PRELUDE: &str = "/prelude/";

/// Bytes of stack for passes over deeply nested programs.
const STACK_BYTES: usize = 256 << 20;

/// The text of a file by its path, or a message.
pub type FileReader<'a> = dyn FnMut(&str) -> Result<String, String> + Send + 'a;

/// A program as its source was checked, with its files.
#[derive(Debug)]
pub struct CheckedSource {
    /// The files.
    pub files: SourceFiles,
    /// The program.
    pub program: TypedProgram,
    /// The types with sizes of its definitions.
    pub shapes: ShapeTable,
    /// Warnings: constructs that are allowed but probably not intended.
    pub warnings: Vec<FileFault>,
}

/// A fault of a program with the file that it is in.
#[derive(Clone, Debug)]
pub struct FileFault {
    /// The name of the file.
    pub name: Arc<str>,
    /// The text of the file. Empty if it could not be read.
    pub text: Arc<str>,
    /// Whether it is the main file.
    pub is_main: bool,
    /// The fault, with its place in the file.
    pub diagnostic: SourceDiagnostic,
}

/// Reads and checks a program as [`check_source`] does. Each fault has its file.
///
/// # Errors
///
/// The faults of the program, at least one.
pub fn check_files(main: &str, read: &mut FileReader<'_>) -> Result<CheckedSource, Vec<FileFault>> {
    with_large_stack(|| check_on_stack(main, read))
}

/// Reads and checks a program. `main` is the path of its main file, `read` gives the text of each file.
///
/// # Errors
///
/// The faults of the program, at least one. Those of other files than the main one name the file and the line.
pub fn check_source(
    main: &str,
    read: &mut FileReader<'_>,
) -> Result<CheckedSource, Vec<SourceDiagnostic>> {
    check_files(main, read).map_err(describe_all)
}

/// A program with the functions of the soac form that it was compiled to.
#[derive(Debug)]
pub struct InternalisedSource {
    /// The program.
    pub checked: CheckedSource,
    /// A function for each entry point. After them are functions for the constants whose evaluation may fail; these run
    /// when the program begins.
    pub functions: Vec<(SoacFunction, SoacEntry)>,
}

/// Compiles a program to a function of the soac form for each of its entry points. After them are functions for the constants
/// whose evaluation may fail; these run when the program begins.
///
/// # Errors
///
/// As [`check_source`], and what cannot be compiled yet.
pub fn internalise_source(
    main: &str,
    read: &mut FileReader<'_>,
) -> Result<Vec<(SoacFunction, SoacEntry)>, Vec<SourceDiagnostic>> {
    internalise_with_warnings(main, read, &mut Vec::new()).map(|source| source.functions)
}

/// Compiles a program as [`internalise_source`] does, and keeps it. Its warnings are appended to `warnings`.
///
/// # Errors
///
/// As [`internalise_source`].
pub fn internalise_with_warnings(
    main: &str,
    read: &mut FileReader<'_>,
    warnings: &mut Vec<SourceDiagnostic>,
) -> Result<InternalisedSource, Vec<SourceDiagnostic>> {
    let source = with_large_stack(|| {
        let mut checked = check_on_stack(main, read).map_err(describe_all)?;
        warnings.extend(describe_all(std::mem::take(&mut checked.warnings)));
        let entries = checked.program.entries.iter();
        let functions = entries.map(|&entry| checked.make_function(entry));
        let mut functions = functions.collect::<Result<Vec<_>, _>>()?;
        functions.extend(checked.make_initialisers());
        Ok::<_, Vec<SourceDiagnostic>>(InternalisedSource { checked, functions })
    })?;
    if source.functions.is_empty() {
        let fault =
            SourceDiagnostic::error(SourceLocation::Unknown, "the program has no entry point");
        return Err(vec![
            fault.with_hint("declare a function with `entry`, or call it `main`"),
        ]);
    }
    Ok(source)
}

/// An entry point without parameters, compiled by itself.
#[derive(Debug)]
pub struct CompiledConstant {
    /// The function of the soac form, with its interface.
    pub function: (SoacFunction, SoacEntry),
    /// The structure of its value.
    pub structure: ValueStructure,
}

/// Compiles the last entry point of a name, which has no parameters. Other entry points are checked only.
///
/// # Errors
///
/// The faults of the program, at least one.
pub fn internalise_constant(
    main: &str,
    read: &mut FileReader<'_>,
    name: &str,
) -> Result<CompiledConstant, Vec<FileFault>> {
    with_large_stack(|| {
        let checked = check_on_stack(main, read)?;
        let fail = |diagnostic: SourceDiagnostic| {
            let file = &checked.files.files[checked.files.main];
            FileFault {
                name: Arc::from(file.name.as_str()),
                text: Arc::from(file.text.as_str()),
                is_main: true,
                diagnostic,
            }
        };
        let program = &checked.program;
        let mut entries = program.entries.iter().rev();
        let id = entries.find(|&&id| program.names[program.definitions[id].name] == *name);
        let Some(&id) = id else {
            let message = format!("there is no entry point `{name}`");
            let fault = SourceDiagnostic::error(SourceLocation::Unknown, message);
            return Err(vec![fail(fault)]);
        };
        let structure = describe_structure(program, program.definitions[id].type_id);
        let function = checked.make_function(id);
        let function =
            function.map_err(|faults| faults.into_iter().map(fail).collect::<Vec<_>>())?;
        Ok(CompiledConstant {
            function,
            structure,
        })
    })
}

impl CheckedSource {
    /// The function of an entry point, simplified.
    fn make_function(
        &self,
        entry: DefinitionId,
    ) -> Result<(SoacFunction, SoacEntry), Vec<SourceDiagnostic>> {
        let internalised = internalise_entry(&self.files, &self.program, entry);
        let (mut function, entry) =
            internalised.map_err(|fault| vec![self.locate(fault.place, fault.message)])?;
        optimise_function(&mut function, FusionScope::All);
        Ok((function, entry))
    }

    /// Functions that evaluate the constants which entry points use, as far as their evaluation may fail.
    fn make_initialisers(&self) -> Vec<(SoacFunction, SoacEntry)> {
        let constants = find_used_constants(&self.program).into_iter();
        let is_own = |id: &DefinitionId| {
            let file = self.program.definitions[*id].place.file;
            !self.files.files[file].name.starts_with(PRELUDE)
        };
        // A constant that cannot be compiled by itself fails where it is used.
        let functions = constants
            .filter(is_own)
            .filter_map(|id| self.make_function(id).ok());
        let fallible = functions.filter(|(function, _)| can_fail(function));
        let initialisers = fallible.map(|(function, entry)| {
            let entry = SoacEntry {
                is_initialiser: true,
                ..entry
            };
            (function, entry)
        });
        initialisers.collect()
    }

    /// A fault at a place of the program.
    fn locate(&self, place: Option<ProgramPlace>, message: String) -> SourceDiagnostic {
        let Some(place) = place else {
            return SourceDiagnostic::error(SourceLocation::Unknown, message);
        };
        let location =
            SourceLocation::from_text_range(place.range.start as usize, place.range.end as usize);
        let fault = SourceDiagnostic::error(location, message);
        if place.file == self.files.main {
            return fault;
        }
        let file = &self.files.files[place.file];
        describe_elsewhere(&file.name, &file.text, fault)
    }
}

/// Whether a function has checks.
fn can_fail(function: &SoacFunction) -> bool {
    let mut has_check = false;
    let callees = function.callees.iter().map(|(_, callee)| &callee.body);
    for body in callees.chain([&function.body]) {
        body.for_each_statement(&mut |statement| {
            has_check |= matches!(statement.operation, SoacOperation::Check(..));
        });
    }
    has_check
}

fn check_on_stack(main: &str, read: &mut FileReader<'_>) -> Result<CheckedSource, Vec<FileFault>> {
    let mut files = read_program(main, &mut |path| read(path))
        .map_err(|faulty| name_faulty_file(main, faulty))?;
    match check_program(&mut files) {
        Ok((mut program, shapes)) => {
            let warnings = std::mem::take(&mut program.warnings);
            Ok(CheckedSource {
                warnings: add_files(&files, warnings),
                files,
                program,
                shapes,
            })
        }
        Err(faults) => Err(add_files(&files, faults)),
    }
}

/// Faults with their files.
pub(crate) fn add_files(files: &SourceFiles, faults: Vec<SourceFault>) -> Vec<FileFault> {
    let mut named: FxHashMap<FileId, FileFault> = FxHashMap::default();
    let faults = faults.into_iter().map(|fault| {
        let diagnostic = fault.diagnostic;
        let file = &files.files[fault.file];
        let named = named.entry(fault.file).or_insert_with(|| FileFault {
            name: Arc::from(file.name.as_str()),
            text: Arc::from(file.text.as_str()),
            is_main: fault.file == files.main,
            diagnostic: diagnostic.clone(),
        });
        FileFault {
            diagnostic,
            ..named.clone()
        }
    });
    faults.collect()
}

/// The faults of a file that could not be read or parsed.
pub(crate) fn name_faulty_file(main: &str, faulty: FaultyFile) -> Vec<FileFault> {
    let is_main =
        faulty.name.strip_suffix(".fut") == Some(main.strip_suffix(".fut").unwrap_or(main));
    let (name, text) = (Arc::from(faulty.name), Arc::from(faulty.text));
    let faults = faulty.faults.into_iter();
    faults
        .map(|diagnostic| FileFault {
            name: Arc::clone(&name),
            text: Arc::clone(&text),
            is_main,
            diagnostic,
        })
        .collect()
}

/// The diagnostics of faults. Those of other files than the main one, which diagnostics are shown against, name the
/// file.
fn describe_all(faults: Vec<FileFault>) -> Vec<SourceDiagnostic> {
    let faults = faults.into_iter().map(|fault| {
        if fault.is_main {
            fault.diagnostic
        } else {
            describe_elsewhere(&fault.name, &fault.text, fault.diagnostic)
        }
    });
    faults.collect()
}

/// The fault with file, line and column in its message.
fn describe_elsewhere(name: &str, text: &str, fault: SourceDiagnostic) -> SourceDiagnostic {
    let SourceLocation::Text { start, .. } = fault.place else {
        return fault;
    };
    let LineColumn { line, column } =
        find_line_column(text.as_bytes(), start as usize, ColumnUnit::Character);
    SourceDiagnostic {
        message: format!("{name}:{line}:{column}: {}", fault.message),
        place: SourceLocation::Unknown,
        ..fault
    }
}

/// Runs a function on a thread with a large stack, or on this one if there are no threads.
pub fn with_large_stack<T: Send>(function: impl FnOnce() -> T + Send) -> T {
    let slot = Mutex::new(Some(function));
    let run = || {
        let function = slot.lock().ok()?.take()?;
        Some(function())
    };
    let value = std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        match builder.spawn_scoped(scope, run) {
            Ok(thread) => thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => run(),
        }
    });
    value.expect("the function runs once")
}
