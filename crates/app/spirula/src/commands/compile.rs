//! `spirula compile`.

use crate::cli::args::{Compile, Emit, Form, How};
use crate::cli::files::Input;
use crate::cli::progress::Progress;
use crate::cli::say::say_line;
use crate::cli::schedule::Schedule;
use crate::cli::{Failure, Outcome, failure, files};
use spirula::{CompileOptions, Known, Output, Scheduled, Tuning};
use spirula_program::{Program, archive};
use spirula_spirv::ir::Module;
use spirula_spirv::text;
use std::path::{Path, PathBuf};

/// Compiles the input and writes what comes of it.
pub fn run(args: &Compile) -> Outcome {
    let input = files::read(&args.from.path)?;
    let emit = args.emit.unwrap_or_else(|| emit(&args.output));
    if emit == Emit::Kernel {
        return kernels(args, input);
    }
    match emit {
        Emit::Tensor => return scheduled(args, input, Scheduled::print),
        Emit::Dot => return scheduled(args, input, Scheduled::draw),
        _ => {}
    }
    let progress = Progress::spinner("compiling");
    let options = tuned(args)?;
    let compiled = spirula::read(&input.bytes).and_then(|read| {
        read.compile_watched(&options, &mut |stage, text| show(args, stage, text))
    });
    let compiled = match compiled {
        Ok(compiled) => compiled,
        Err(error) => return Err(Failure::compile(input, error)),
    };
    drop(progress);
    failure::tell(&input.name, &input.bytes, &compiled.diagnostics);
    match compiled.output {
        Output::Module(module) => of_module(args, input, &module, emit),
        Output::Program(program) => of_program(args, input, &program, emit),
    }
}

fn of_module(args: &Compile, input: Input, module: &Module, emit: Emit) -> Outcome {
    let only_programs = |what: &str| {
        let text = format!("{what} is for programs, the input is a module");
        Err(Failure::Usage(text))
    };
    match emit {
        _ if args.kernel.is_some() => only_programs("--kernel"),
        Emit::Tensor | Emit::Kernel | Emit::Dot | Emit::Spb => only_programs("this form"),
        Emit::Ll => write_lifted(input, module, &args.output),
        Emit::Spv => write(input, module, &args.output, Some(Form::Spv)),
        Emit::Spvasm => write(input, module, &args.output, Some(Form::Spvasm)),
    }
}

fn of_program(args: &Compile, input: Input, program: &Program, emit: Emit) -> Outcome {
    let form = match emit {
        Emit::Spb if args.kernel.is_some() => {
            let text = "--kernel chooses a module, a program is written as a whole";
            return Err(Failure::Usage(text.to_owned()));
        }
        Emit::Spb => {
            let bytes = archive::write(program).map_err(|e| Failure::message(e.to_string()))?;
            return files::write_binary(&args.output, &bytes);
        }
        Emit::Tensor | Emit::Kernel | Emit::Dot | Emit::Ll => {
            let text = "--emit ll is for modules, the input is a program";
            return Err(Failure::Usage(text.to_owned()));
        }
        Emit::Spv => Form::Spv,
        Emit::Spvasm => Form::Spvasm,
    };
    let chosen = choose(program, args.kernel)?;
    write_kernels(input, program, &chosen, &args.output, form)
}

/// Writes a module as the LLVM assembly that it is lifted to.
fn write_lifted(input: Input, module: &Module, output: &Path) -> Outcome {
    match spirula_llvm::lift(module) {
        Ok(lifted) => files::write_text(output, &spirula_llvm::print(&lifted)),
        Err(all) => Err(Failure::diagnostics(input, all)),
    }
}

/// Prints what a stage left, if that is asked for.
fn show(args: &Compile, stage: &str, text: &dyn Fn() -> String) {
    if args
        .print_after
        .as_ref()
        .is_some_and(|after| after.is(stage))
    {
        say_line!("// After {stage}\n{}", text().trim_end());
    }
}

/// Writes the imperative IR that the input passes through.
fn kernels(args: &Compile, input: Input) -> Outcome {
    let options = tuned(args)?;
    let kernels = spirula::read(&input.bytes)
        .and_then(|read| read.into_kernels(&options, &mut |stage, text| show(args, stage, text)));
    match kernels {
        Ok(kernels) => files::write_text(&args.output, &spirula_kernel::print(&kernels.program)),
        Err(error) => Err(Failure::compile(input, error)),
    }
}

/// Writes a text for the dispatches of a tensor program.
fn scheduled(args: &Compile, input: Input, text: fn(&Scheduled) -> String) -> Outcome {
    let options = tuned(args)?;
    let scheduled = spirula::read(&input.bytes).and_then(|read| read.scheduled(&options));
    match scheduled {
        Ok(scheduled) => files::write_text(&args.output, &text(&scheduled)),
        Err(error) => Err(Failure::compile(input, error)),
    }
}

/// The options of the compilation with what tuning found.
fn tuned(args: &Compile) -> Result<CompileOptions, Failure> {
    Ok(CompileOptions {
        tuning: args.how.tuning()?,
        ..options(&args.how, args.entry.as_deref())
    })
}

/// Writes a module in the form that was asked for, or that the output's name asks for.
pub fn write(input: Input, module: &Module, output: &Path, form: Option<Form>) -> Outcome {
    match form.unwrap_or_else(|| by_name(output)) {
        Form::Spv => files::write_module(output, module),
        Form::Spvasm => {
            let words = module.to_words();
            match text::Disassembly::new(&words, text::PrintOptions::default()) {
                Ok(text) => files::write_displayed(output, &text),
                Err(error) => Err(Failure::diagnostics(input, vec![error])),
            }
        }
    }
}

/// The options of a compilation from those of the command line; `entry` is the function of a
/// StableHLO module.
pub fn options(how: &How, entry: Option<&str>) -> CompileOptions {
    CompileOptions {
        target: how.target_env,
        llvm: how.llvm.options(),
        function: entry.map(str::to_owned),
        known: Known::default(),
        profile: how
            .schedule
            .as_ref()
            .map(Schedule::profile)
            .unwrap_or_default(),
        tuning: Tuning::default(),
    }
}

/// The kernels of a program that are meant, by number. None of them may have been refused.
fn choose(program: &Program, asked: Option<usize>) -> Result<Vec<usize>, Failure> {
    let count = program.kernels.len();
    let chosen = match asked {
        Some(number) if number >= count => {
            let text = format!("the program has no kernel {number}");
            return Err(Failure::hinted(text, format!("it has {count} kernels")));
        }
        Some(number) => vec![number],
        None => (0..count).collect(),
    };
    if chosen.is_empty() {
        return Err(Failure::message("the program has no kernels"));
    }
    for number in &chosen {
        if let Some(why) = &program.kernels[*number].refusal {
            return Err(Failure::message(format!("kernel {number}: {why}")));
        }
    }
    Ok(chosen)
}

/// Writes kernels: one to the output itself, several to numbered files, or to standard output one
/// after the other as assembly.
fn write_kernels(
    input: Input,
    program: &Program,
    chosen: &[usize],
    output: &Path,
    form: Form,
) -> Outcome {
    let several = chosen.len() > 1;
    if several && files::is_standard(output) && form == Form::Spv {
        let text = format!("the program has {} kernels, each a module", chosen.len());
        let hint = "give a file with -o for numbered files beside it, choose one with --kernel N, \
                    or see them all with --emit spvasm";
        return Err(Failure::hinted(text, hint));
    }
    let mut listing = String::new();
    for &number in chosen {
        let words = &program.kernels[number].words;
        let path = match several {
            true => numbered(output, number),
            false => output.to_owned(),
        };
        if form == Form::Spv {
            files::write_binary(&path, &spirula_spirv::binary::to_bytes(words))?;
            continue;
        }
        let text = match text::print(words, &text::PrintOptions::default()) {
            Ok(text) => text,
            Err(error) => return Err(Failure::diagnostics(input, vec![error])),
        };
        match files::is_standard(output) && several {
            true => listing += &format!("; Kernel {number}\n{text}"),
            false => files::write_text(&path, &text)?,
        }
    }
    match listing.is_empty() {
        true => Ok(()),
        false => files::write_text(output, &listing),
    }
}

/// The number before the extension: `out.3.spv`.
fn numbered(output: &Path, number: usize) -> PathBuf {
    let mut name = output.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{number}"));
    if let Some(extension) = output.extension() {
        name.push(".");
        name.push(extension);
    }
    output.with_file_name(name)
}

/// Ends of names, and the forms that they ask for.
const ENDS: &[(&str, Emit)] = &[
    ("spvasm", Emit::Spvasm),
    ("tensor", Emit::Tensor),
    ("kernel", Emit::Kernel),
    ("ll", Emit::Ll),
    ("dot", Emit::Dot),
    ("spb", Emit::Spb),
];

/// The form that an output's name asks for.
fn emit(output: &Path) -> Emit {
    let found = ENDS
        .iter()
        .find(|(end, _)| files::has_extension(output, end));
    found.map_or(Emit::Spv, |(_, emit)| *emit)
}

fn by_name(output: &Path) -> Form {
    match emit(output) {
        Emit::Spvasm => Form::Spvasm,
        _ => Form::Spv,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_before_the_extension() {
        let path = |text: &str| numbered(Path::new(text), 3);
        assert_eq!(path("a/out.spv"), Path::new("a/out.3.spv"));
        assert_eq!(path("out"), Path::new("out.3"));
    }

    #[test]
    fn names_ask_for_forms() {
        let form = |text: &str| emit(Path::new(text));
        assert_eq!(form("-"), Emit::Spv);
        assert_eq!(form("x.spvasm"), Emit::Spvasm);
        assert_eq!(form("x.tensor"), Emit::Tensor);
        assert_eq!(form("x.kernel"), Emit::Kernel);
        assert_eq!(form("x.ll"), Emit::Ll);
        assert_eq!(form("x.spb"), Emit::Spb);
    }
}
