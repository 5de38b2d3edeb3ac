//! `spirula opt`: optimises a SPIR-V module.

use super::compile::write_spirv_module;
use super::module::read_module;
use super::opt_report::PassPageReport;
use crate::cli::args::OptArgs;
use crate::cli::level::build_level_pipeline;
use crate::cli::output_form::{check_distinct_outputs, check_output_form};
use crate::cli::passes::PrintAfterPass;
use crate::cli::shader_source::read_compilable_file;
use crate::cli::stderr::{print_stderr, print_stderr_line};
use crate::cli::verbosity::report_work;
use crate::cli::{CommandFailure, CommandResult, files};
use spirula_opt::{
    OptimiseError, PassObserver, PassOutcome as Done, PassPipeline, PipelineOptions, SpirvPass,
    optimise_module,
};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text;
use std::time::{Duration, Instant};

/// Runs `spirula opt`.
pub fn run_opt(args: &OptArgs) -> CommandResult {
    super::grammar::add_grammar_files(&args.grammar)?;
    let outputs = args.html.iter().chain([&args.output]);
    check_distinct_outputs(outputs.map(|path| path.as_path()))?;
    if let Some(path) = &args.html {
        check_output_form(path, &["html"])?;
    }
    let input = read_compilable_file(&args.from.path)?;
    let (input, mut module) = read_module(input, &args.how, Some(&args.validation))?;
    let mut watcher = PassReporter {
        print_after: args.print_after,
        began: Instant::now(),
        times: Vec::new(),
        changed: 0,
        page: args.html.as_ref().map(|_| PassPageReport::new(&module)),
    };
    let mut settings = PipelineOptions {
        verify_each: args.verify_each,
        observer: Some(&mut watcher),
    };
    let report = match optimise_module(&mut module, &build_pipeline(args)?, &mut settings) {
        Ok(report) => report,
        Err(OptimiseError::Module(error)) => {
            return Err(CommandFailure::from_diagnostics(input, vec![*error]));
        }
        Err(error) => return Err(CommandFailure::from_message(error.to_string())),
    };
    if args.statistics || report.skipped {
        print_stderr!("{report}");
    }
    if args.time_passes {
        for (name, time) in &watcher.times {
            print_stderr_line!("{name:>14}  {:.3} ms", time.as_secs_f64() * 1e3);
        }
    }
    report_work(|| {
        let changed = watcher.changed;
        format!(
            "{} passes ran, {changed} of them changed the module",
            watcher.times.len()
        )
    });
    if let (Some(path), Some(page)) = (&args.html, watcher.page.take()) {
        files::write_text(path, &page.finish(&input.name))?;
    }
    write_spirv_module(input, &module, &args.output, args.emit)
}

fn build_pipeline(args: &OptArgs) -> Result<PassPipeline, CommandFailure> {
    let level = || build_level_pipeline(&args.level);
    let mut pipeline = args.passes.clone().map_or_else(level, Ok)?;
    if let Some(strip) = SpirvPass::by_name("strip-debug").filter(|_| args.strip_debug) {
        pipeline.push_front(strip);
    }
    Ok(pipeline)
}

/// Observer that prints modules and measures passes.
struct PassReporter {
    print_after: Option<PrintAfterPass>,
    began: Instant,
    times: Vec<(&'static str, Duration)>,
    /// How many passes changed the module.
    changed: usize,
    /// The page of `--html`.
    page: Option<PassPageReport>,
}

impl PassObserver for PassReporter {
    fn before_pass(&mut self, _pass: &SpirvPass, _module: &SpirvModule) {
        self.began = Instant::now();
    }

    fn after_pass(&mut self, pass: &SpirvPass, module: &SpirvModule, outcome: &Done) {
        let time = self.began.elapsed();
        self.times.push((pass.name, time));
        if let Some(page) = &mut self.page {
            page.add_pass(pass.name, time, module, outcome.has_changed());
        }
        self.changed += usize::from(outcome.has_changed());
        let shown = match self.print_after {
            None => false,
            Some(PrintAfterPass::All) => true,
            Some(PrintAfterPass::Changed) => outcome.has_changed(),
            Some(PrintAfterPass::Pass(only)) => only.name == pass.name,
        };
        if shown {
            print_stderr_line!("; after {}", pass.name);
            match text::print_assembly(&module.to_words(), &text::PrintOptions::default()) {
                Ok(text) => print_stderr!("{text}"),
                Err(error) => print_stderr_line!("; {error}"),
            }
        }
    }
}
