//! `spirula compile`: compiles an input and writes a representation of it.

use super::c_library::write_c_library;
use super::server_script::write_server_script;
use crate::cli::args::{CompileArgs, EmitFormat, LoweringArgs, SpirvFileFormat};
use crate::cli::input_file::InputFile;
use crate::cli::level::build_level_pipeline;
use crate::cli::output_form::check_output_form;
use crate::cli::progress::ProgressIndicator;
use crate::cli::schedule::ScheduleSpec;
use crate::cli::shader_source::read_compilable_file;
use crate::cli::stages::StagePrinter;
use crate::cli::{CommandFailure, CommandResult, failure, files};
use spirula::{CompileOptions, CompileOutput, ScheduledProgram};
use spirula_kernel::ir::KernelProgram;
use spirula_kernel::{draw_dispatches, print_program};
use spirula_opt::{PassPipeline, PipelineOptions, optimise_module};
use spirula_program::program::ProgramKernel;
use spirula_program::{CompiledProgram, archive};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text;
use std::path::{Path, PathBuf};

/// Runs `spirula compile`.
pub fn run_compile(args: &CompileArgs) -> CommandResult {
    if args.library {
        return write_c_library(args);
    }
    if args.emit.is_none() && !args.server {
        let ends: Vec<_> = ENDS.iter().map(|(end, _)| *end).collect();
        check_output_form(&args.output, &ends)?;
    }
    let input = read_compilable_file(&args.from.path)?;
    let emit = args.emit.unwrap_or_else(|| emit_format_of(&args.output));
    match emit {
        EmitFormat::Kernel => return write_kernel_ir(args, input, print_program),
        EmitFormat::Svg => return write_kernel_ir(args, input, draw_dispatches),
        EmitFormat::Tensor => {
            return write_schedule_text(args, input, ScheduledProgram::print_dispatches);
        }
        EmitFormat::Dot => return write_schedule_text(args, input, ScheduledProgram::draw_graph),
        _ => {}
    }
    let progress = ProgressIndicator::new_spinner("compiling");
    let options = read_tuned_options(args)?;
    let mut printer = StagePrinter::new(args.print_after.as_ref());
    let compiled = spirula::read_located_input(&input.bytes, &input.name).and_then(|read| {
        read.compile_watched(&options, &mut |stage, text| {
            printer.print_stage(stage, text)
        })
    });
    let compiled = match compiled {
        Ok(compiled) => compiled,
        Err(error) => return Err(CommandFailure::from_compile_error(input, error)),
    };
    drop(progress);
    printer.warn_of_absent_stage();
    failure::report_diagnostics(&input.name, &input.bytes, &compiled.diagnostics);
    if args.server {
        return write_server_script(&args.from.path, &args.output);
    }
    let output = match &args.level {
        Some(level) => optimise_output(compiled.output, &build_level_pipeline(level)?)?,
        None => compiled.output,
    };
    match output {
        CompileOutput::Module(module) => of_module(args, input, &module, emit),
        CompileOutput::Program(program) => of_program(args, input, &program, emit),
    }
}

/// Runs passes over a module, or over those of a program's kernels.
fn optimise_output(
    output: CompileOutput,
    pipeline: &PassPipeline,
) -> Result<CompileOutput, CommandFailure> {
    let optimise = |module: &mut SpirvModule| -> CommandResult {
        let optimised = optimise_module(module, pipeline, &mut PipelineOptions::default());
        optimised.map_err(|error| CommandFailure::from_message(error.to_string()))?;
        Ok(())
    };
    match output {
        CompileOutput::Module(mut module) => {
            optimise(&mut module)?;
            Ok(CompileOutput::Module(module))
        }
        CompileOutput::Program(mut program) => {
            let kernels = program.kernels.iter_mut();
            kernels
                .flat_map(ProgramKernel::modules_mut)
                .try_for_each(optimise)?;
            Ok(CompileOutput::Program(program))
        }
    }
}

fn of_module(
    args: &CompileArgs,
    input: InputFile,
    module: &SpirvModule,
    emit: EmitFormat,
) -> CommandResult {
    let only_programs = |what: &str| {
        let text = format!("{what} is for programs, the input is a module");
        Err(CommandFailure::Usage(text))
    };
    match emit {
        _ if args.kernel.is_some() => only_programs("--kernel"),
        EmitFormat::Tensor
        | EmitFormat::Kernel
        | EmitFormat::Dot
        | EmitFormat::Svg
        | EmitFormat::Spb => only_programs("this form"),
        EmitFormat::Ll => write_lifted(input, module, &args.output),
        EmitFormat::Spv => {
            write_spirv_module(input, module, &args.output, Some(SpirvFileFormat::Spv))
        }
        EmitFormat::Spvasm => {
            write_spirv_module(input, module, &args.output, Some(SpirvFileFormat::Spvasm))
        }
    }
}

fn of_program(
    args: &CompileArgs,
    input: InputFile,
    program: &CompiledProgram,
    emit: EmitFormat,
) -> CommandResult {
    let form = match emit {
        EmitFormat::Spb if args.kernel.is_some() => {
            let text = "--kernel chooses a module, a program is written as a whole";
            return Err(CommandFailure::Usage(text.to_owned()));
        }
        EmitFormat::Spb => {
            let bytes = archive::write_archive(program)
                .map_err(|e| CommandFailure::from_message(e.to_string()))?;
            return files::write_binary(&args.output, &bytes);
        }
        EmitFormat::Tensor
        | EmitFormat::Kernel
        | EmitFormat::Dot
        | EmitFormat::Svg
        | EmitFormat::Ll => {
            let text = "--emit ll is for modules, the input is a program";
            return Err(CommandFailure::Usage(text.to_owned()));
        }
        EmitFormat::Spv => SpirvFileFormat::Spv,
        EmitFormat::Spvasm => SpirvFileFormat::Spvasm,
    };
    if program.kernels.is_empty() && args.kernel.is_none() {
        let hint = "--emit spb writes the program as a whole, --emit kernel what the host does";
        let text = "the program has no kernels, so no module is written";
        failure::report_line("note", text, Some(hint));
        return Ok(());
    }
    let chosen = choose_kernels(program, args.kernel)?;
    write_kernels(input, &chosen, &args.output, form)
}

/// Lifts a module to LLVM IR and writes it as assembly.
fn write_lifted(input: InputFile, module: &SpirvModule, output: &Path) -> CommandResult {
    match spirula_llvm::lift_module(module) {
        Ok(lifted) => files::write_text(output, &spirula_llvm::print_assembly(&lifted)),
        Err(all) => Err(CommandFailure::from_diagnostics(input, all)),
    }
}

/// Writes the kernel IR that the input passes through.
fn write_kernel_ir(
    args: &CompileArgs,
    input: InputFile,
    text: fn(&KernelProgram) -> String,
) -> CommandResult {
    let options = read_tuned_options(args)?;
    let mut printer = StagePrinter::new(args.print_after.as_ref());
    let kernels = spirula::read_located_input(&input.bytes, &input.name).and_then(|read| {
        read.into_kernels(&options, &mut |stage, text| {
            printer.print_stage(stage, text)
        })
    });
    match kernels {
        Ok(kernels) => {
            printer.warn_of_absent_stage();
            files::write_text(&args.output, &text(&kernels.program))
        }
        Err(error) => Err(CommandFailure::from_compile_error(input, error)),
    }
}

/// Writes a text about the dispatches of a tensor program.
fn write_schedule_text(
    args: &CompileArgs,
    input: InputFile,
    text: fn(&ScheduledProgram) -> String,
) -> CommandResult {
    let options = read_tuned_options(args)?;
    let scheduled = spirula::read_located_input(&input.bytes, &input.name)
        .and_then(|read| read.schedule_dispatches(&options));
    match scheduled {
        Ok(scheduled) => files::write_text(&args.output, &text(&scheduled)),
        Err(error) => Err(CommandFailure::from_compile_error(input, error)),
    }
}

/// The options of the compilation, with the results of tuning.
fn read_tuned_options(args: &CompileArgs) -> Result<CompileOptions, CommandFailure> {
    Ok(CompileOptions {
        tuning: args.how.read_dispatch_tuning()?,
        ..compile_options(&args.how, args.entry.as_deref())
    })
}

/// Writes a module in the requested form, or in the form that the extension of the output states.
pub fn write_spirv_module(
    input: InputFile,
    module: &SpirvModule,
    output: &Path,
    form: Option<SpirvFileFormat>,
) -> CommandResult {
    if form.is_none() {
        check_output_form(output, &["spv", "spvasm"])?;
    }
    match form.unwrap_or_else(|| by_name(output)) {
        SpirvFileFormat::Spv => files::write_module(output, module),
        SpirvFileFormat::Spvasm => {
            let words = module.to_words();
            match text::ModuleDisassembly::new(&words, text::PrintOptions::default()) {
                Ok(text) => files::write_displayed(output, &text),
                Err(error) => Err(CommandFailure::from_diagnostics(input, vec![error])),
            }
        }
    }
}

/// The options of a compilation from those of the command line. `entry` is the function of a tensor program.
pub fn compile_options(how: &LoweringArgs, entry: Option<&str>) -> CompileOptions {
    CompileOptions {
        target: how.target_env,
        llvm: how.llvm.library_options(),
        function: entry.map(str::to_owned),
        partitions: how.partitions,
        precision: how.precision.map(Into::into),
        profile: how
            .schedule
            .as_ref()
            .map(ScheduleSpec::profile)
            .unwrap_or_default(),
        ..CompileOptions::default()
    }
}

/// A kernel of a program that is written.
struct ChosenKernel<'p> {
    number: usize,
    module: &'p SpirvModule,
}

/// The chosen kernels of a program. It is an error if one of them was refused.
fn choose_kernels(
    program: &CompiledProgram,
    asked: Option<usize>,
) -> Result<Vec<ChosenKernel<'_>>, CommandFailure> {
    let count = program.kernels.len();
    let chosen = match asked {
        Some(number) if number >= count => {
            let text = format!("the program has no kernel {number}");
            return Err(CommandFailure::with_hint(
                text,
                format!("it has {count} kernels"),
            ));
        }
        Some(number) => number..number + 1,
        None => 0..count,
    };
    let chosen = chosen.map(|number| match &program.kernels[number].module {
        Ok(module) => Ok(ChosenKernel { number, module }),
        Err(why) => {
            let text = format!("kernel {number}: {why}");
            Err(CommandFailure::from_message(text))
        }
    });
    chosen.collect()
}

/// Writes kernels. A single one goes to the output itself. Several go to numbered files, or as assembly to standard
/// output.
fn write_kernels(
    input: InputFile,
    chosen: &[ChosenKernel<'_>],
    output: &Path,
    form: SpirvFileFormat,
) -> CommandResult {
    let several = chosen.len() > 1;
    if several && files::is_standard(output) && form == SpirvFileFormat::Spv {
        let text = format!("the program has {} kernels, each a module", chosen.len());
        let hint = "give a file with -o for numbered files beside it, choose one with --kernel N, \
                    or see them all with --emit spvasm";
        return Err(CommandFailure::with_hint(text, hint));
    }
    if several && !files::is_standard(output) {
        note_numbered_outputs(output, chosen);
    }
    let mut listing = String::new();
    for &ChosenKernel { number, module } in chosen {
        let path = if several {
            number_output_path(output, number)
        } else {
            output.to_owned()
        };
        if form == SpirvFileFormat::Spv {
            files::write_binary(&path, &module.to_bytes())?;
            continue;
        }
        let text = match text::print_assembly(&module.to_words(), &text::PrintOptions::default()) {
            Ok(text) => text,
            Err(error) => return Err(CommandFailure::from_diagnostics(input, vec![error])),
        };
        if files::is_standard(output) && several {
            listing += &format!("; Kernel {number}\n{text}")
        } else {
            files::write_text(&path, &text)?
        }
    }
    if listing.is_empty() {
        Ok(())
    } else {
        files::write_text(output, &listing)
    }
}

/// Reports the files of several modules, and how many of them are replaced.
fn note_numbered_outputs(output: &Path, chosen: &[ChosenKernel<'_>]) {
    let paths: Vec<_> = chosen
        .iter()
        .map(|kernel| number_output_path(output, kernel.number))
        .collect();
    let (Some(first), Some(last)) = (paths.first(), paths.last()) else {
        return;
    };
    let (first, last, count) = (first.display(), last.display(), paths.len());
    let there = paths.iter().filter(|path| path.exists()).count();
    let replaced = match there {
        0 => String::new(),
        1 => ", one of which replaces a file".to_owned(),
        there => format!(", {there} of which replace files"),
    };
    let text = format!("{count} modules are written, {first} to {last}{replaced}");
    failure::report_line("note", &text, None);
}

/// The path with the number before the extension, such as `out.3.spv`.
fn number_output_path(output: &Path, number: usize) -> PathBuf {
    let mut name = output.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{number}"));
    if let Some(extension) = output.extension() {
        name.push(".");
        name.push(extension);
    }
    output.with_file_name(name)
}

/// Extensions of outputs, and the forms that they state.
const ENDS: &[(&str, EmitFormat)] = &[
    ("spv", EmitFormat::Spv),
    ("spvasm", EmitFormat::Spvasm),
    ("tensor", EmitFormat::Tensor),
    ("kernel", EmitFormat::Kernel),
    ("ll", EmitFormat::Ll),
    ("dot", EmitFormat::Dot),
    ("svg", EmitFormat::Svg),
    ("spb", EmitFormat::Spb),
];

/// The form that the extension of an output states.
fn emit_format_of(output: &Path) -> EmitFormat {
    let found = ENDS
        .iter()
        .find(|(end, _)| files::has_extension(output, end));
    found.map_or(EmitFormat::Spv, |(_, emit)| *emit)
}

fn by_name(output: &Path) -> SpirvFileFormat {
    match emit_format_of(output) {
        EmitFormat::Spvasm => SpirvFileFormat::Spvasm,
        _ => SpirvFileFormat::Spv,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_before_the_extension() {
        let path = |text: &str| number_output_path(Path::new(text), 3);
        assert_eq!(path("a/out.spv"), Path::new("a/out.3.spv"));
        assert_eq!(path("out"), Path::new("out.3"));
    }

    #[test]
    fn names_ask_for_forms() {
        let form = |text: &str| emit_format_of(Path::new(text));
        assert_eq!(form("-"), EmitFormat::Spv);
        assert_eq!(form("x.spvasm"), EmitFormat::Spvasm);
        assert_eq!(form("x.tensor"), EmitFormat::Tensor);
        assert_eq!(form("x.kernel"), EmitFormat::Kernel);
        assert_eq!(form("x.ll"), EmitFormat::Ll);
        assert_eq!(form("x.spb"), EmitFormat::Spb);
    }
}
