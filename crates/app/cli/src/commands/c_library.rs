//! `spirula compile --library`: the C interface of a Futhark program, in the form of Futhark's generated libraries.
//!
//! The source embeds two compiled programs: one for the processor, and one for graphics devices. `--schedule` with a kind of
//! device leaves the other one out.

use super::compile::compile_options;
use crate::cli::args::CompileArgs;
use crate::cli::futhark::check_program_file;
use crate::cli::input_file::InputFile;
use crate::cli::schedule::choose_library_schedules;
use crate::cli::{CommandFailure, CommandResult, failure, files};
use spirula::{
    CLibraryParts, CompileOptions, CompileOutput, ScheduleProfile, generate_c_library,
    read_located_input,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_futhark::export::{ProgramExports, describe_exports};
use spirula_program::{ProgramParameter, archive};
use std::path::{Path, PathBuf};

/// Writes the header, the source and the manifest of a program.
pub fn write_c_library(args: &CompileArgs) -> CommandResult {
    let path = &args.from.path;
    if !files::has_extension(path, "fut") {
        let text = "--library is for Futhark source, whose name ends in .fut";
        return Err(CommandFailure::Usage(text.to_owned()));
    }
    let stem = choose_stem(path, &args.output);
    let name = stem.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| {
        let text = "--library needs the name of the files with -o, without extension";
        CommandFailure::Usage(text.to_owned())
    })?;
    let schedules = choose_library_schedules(args.how.schedule.as_ref());
    let input = files::read_input_file(path)?;
    let processor = schedules
        .processor
        .map(|profile| compile_for(args, &input, profile));
    let processor = processor.transpose()?;
    let graphics = schedules
        .graphics
        .map(|profile| compile_for(args, &input, profile));
    let graphics = graphics.transpose()?;
    let programs: Vec<&LibraryProgram> = [&processor, &graphics].into_iter().flatten().collect();
    if let Some(first) = programs.first() {
        failure::report_diagnostics(&input.name, &input.bytes, &first.diagnostics);
    }
    let exports = read_exports(path)?;
    let parameters = gather_parameters(&programs);
    let library = generate_c_library(&CLibraryParts {
        name,
        exports: &exports,
        processor: processor.as_ref().map(|program| &program.archive[..]),
        graphics: graphics.as_ref().map(|program| &program.archive[..]),
        parameters: &parameters,
    });
    for (extension, text) in [
        ("h", &library.header),
        ("c", &library.source),
        ("json", &library.manifest),
    ] {
        files::write_text(&stem.with_file_name(format!("{name}.{extension}")), text)?;
    }
    Ok(())
}

/// The path of the files without extension: that of the output, or of the source.
fn choose_stem(source: &Path, output: &Path) -> PathBuf {
    if files::is_standard(output) {
        source.with_extension("")
    } else {
        output.to_owned()
    }
}

/// A program that is compiled for a kind of device.
struct LibraryProgram {
    archive: Vec<u8>,
    parameters: Vec<ProgramParameter>,
    diagnostics: Vec<SourceDiagnostic>,
}

fn compile_for(
    args: &CompileArgs,
    input: &InputFile,
    profile: ScheduleProfile,
) -> Result<LibraryProgram, CommandFailure> {
    let options = CompileOptions {
        profile,
        ..compile_options(&args.how, None)
    };
    let compiled =
        read_located_input(&input.bytes, &input.name).and_then(|read| read.compile_with(&options));
    let compiled = match compiled {
        Ok(compiled) => compiled,
        Err(error) => return Err(CommandFailure::from_compile_error(input.clone(), error)),
    };
    let CompileOutput::Program(program) = compiled.output else {
        let text = format!("{} is {}", input.name, compiled.format.name);
        return Err(CommandFailure::from_message(text));
    };
    let archive = archive::write_archive(&program);
    Ok(LibraryProgram {
        archive: archive.map_err(|error| CommandFailure::from_message(error.to_string()))?,
        parameters: program.parameters,
        diagnostics: compiled.diagnostics,
    })
}

/// The entry points of a source with their types.
fn read_exports(path: &Path) -> Result<ProgramExports, CommandFailure> {
    match check_program_file(path) {
        Ok(checked) => describe_exports(&checked).map_err(CommandFailure::from_message),
        Err(faults) => Err(CommandFailure::from_message(&faults[0].diagnostic.message)),
    }
}

/// The tuning parameters of programs, each once.
fn gather_parameters(programs: &[&LibraryProgram]) -> Vec<ProgramParameter> {
    let parameters = programs.iter().flat_map(|program| &program.parameters);
    let mut parameters: Vec<ProgramParameter> = parameters.cloned().collect();
    parameters.sort_by(|left, right| left.name.cmp(&right.name));
    parameters.dedup_by(|left, right| left.name == right.name);
    parameters
}
