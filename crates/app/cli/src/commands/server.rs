//! `spirula server`: serves a program by Futhark's line-oriented protocol.

use crate::cli::args::ServerArgs;
use crate::cli::futhark::check_program_file;
use crate::cli::schedule::choose_schedule_profile;
use crate::cli::tuning::TuningParameter;
use crate::cli::{CommandFailure, CommandResult, files};
use crate::server::{ProgramServer, ServerPause, configure_machine};
use spirula::{CompileOptions, CompileOutput};
use spirula_futhark::export::{ProgramExports, describe_exports};
use spirula_program::{CompiledProgram, ProgramSession};
use spirula_runtime::{ComputeDevice, DeviceMachine, DeviceOptions};
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::rc::Rc;

/// Runs `spirula server`.
pub fn run_server(args: &ServerArgs) -> CommandResult {
    let program = Rc::new(load_program(&args.path, &args.device)?);
    let exports = load_exports(&args.path)?;
    let mut server = ProgramServer::new(Rc::clone(&program), exports.as_ref());
    if let Some(path) = &args.tuning {
        server.parameters = read_tuning_file(path)?;
    }
    let given = args.param.iter();
    let given = given.map(|parameter| (parameter.name.clone(), parameter.value));
    server.parameters.extend(given);
    let options = DeviceOptions {
        threads: args.threads.map(usize::from),
        ..DeviceOptions::default()
    };
    let mut device = ComputeDevice::open(&args.device, &options)
        .map_err(|e| CommandFailure::from_message(e.to_string()))?;
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    loop {
        let mut machine = DeviceMachine::new(&mut device);
        configure_machine(&mut machine, &server.parameters);
        let mut session = ProgramSession::new(&program, machine)
            .map_err(|e| CommandFailure::from_message(e.to_string()))?;
        let pause = server.answer_commands(&mut session, &mut input, &mut output)?;
        if pause == ServerPause::Ended {
            return Ok(());
        }
    }
}

fn load_program(path: &Path, device: &str) -> Result<CompiledProgram, CommandFailure> {
    let input = files::read_input_file(path)?;
    let options = CompileOptions {
        profile: choose_schedule_profile(None, device),
        ..CompileOptions::default()
    };
    let compiled = spirula::read_located_input(&input.bytes, &input.name)
        .and_then(|read| read.compile_with(&options));
    match compiled {
        Ok(compiled) => match compiled.output {
            CompileOutput::Program(program) => Ok(*program),
            CompileOutput::Module(_) => Err(CommandFailure::from_message(format!(
                "{} is {}, not a program",
                input.name, compiled.format.name
            ))),
        },
        Err(error) => Err(CommandFailure::from_compile_error(input, error)),
    }
}

/// The exports of a source. Other programs have none.
fn load_exports(path: &Path) -> Result<Option<ProgramExports>, CommandFailure> {
    if path.extension() != Some(OsStr::new("fut")) {
        return Ok(None);
    }
    match check_program_file(path) {
        Ok(checked) => {
            let exports = describe_exports(&checked).map_err(CommandFailure::from_message)?;
            Ok(Some(exports))
        }
        Err(faults) => Err(CommandFailure::from_message(&faults[0].diagnostic.message)),
    }
}

/// Reads a file of tuning parameters, `NAME=VALUE` in each line.
fn read_tuning_file(path: &Path) -> Result<Vec<(String, u64)>, CommandFailure> {
    let input = files::read_input_file(path)?;
    let text = String::from_utf8_lossy(&input.bytes);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let parameters = lines.map(|line| {
        let parameter: Result<TuningParameter, String> = line.parse();
        let parameter = parameter
            .map_err(|text| CommandFailure::from_message(format!("{}: {text}", input.name)))?;
        Ok((parameter.name, parameter.value))
    });
    parameters.collect()
}
