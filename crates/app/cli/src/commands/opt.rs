//! `spirula opt`: optimises a SPIR-V module.

use super::compile::write_spirv_module;
use super::module::read_module;
use crate::cli::args::OptArgs;
use crate::cli::passes::PrintAfterPass;
use crate::cli::stderr::{print_stderr, print_stderr_line};
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
    let input = files::read_input_file(&args.from.path)?;
    let (input, mut module) = read_module(input, &args.how, Some(&args.validation))?;
    let mut watcher = PassReporter {
        print_after: args.print_after,
        began: Instant::now(),
        times: Vec::new(),
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
    write_spirv_module(input, &module, &args.output, args.emit)
}

fn build_pipeline(args: &OptArgs) -> Result<PassPipeline, CommandFailure> {
    let preset = || format!("O{}", args.level).parse();
    let chosen = args.passes.clone().map_or_else(preset, Ok);
    let mut pipeline = chosen.map_err(|e| CommandFailure::Usage(e.to_string()))?;
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
}

impl PassObserver for PassReporter {
    fn before_pass(&mut self, _pass: &SpirvPass, _module: &SpirvModule) {
        self.began = Instant::now();
    }

    fn after_pass(&mut self, pass: &SpirvPass, module: &SpirvModule, outcome: &Done) {
        self.times.push((pass.name, self.began.elapsed()));
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
