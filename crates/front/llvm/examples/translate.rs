//! Minimal use of the library, from bytes to a file: `cargo run -p spirula-llvm --example translate
//! IN.bc OUT.spv`.

use std::fs::{self, File};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let (Some(input), Some(output)) = (args.next(), args.next()) else {
        eprintln!("usage: translate IN OUT");
        return ExitCode::from(2);
    };
    let bytes = match fs::read(&input) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("{}: {error}", input.display());
            return ExitCode::FAILURE;
        }
    };
    let module = spirula_llvm::read_module(&bytes).map_err(|error| vec![error]);
    let translated = module.and_then(|module| {
        spirula_llvm::translate_module(&module, &spirula_llvm::TranslationOptions::default())
    });
    let module = match translated {
        Ok(module) => module,
        Err(all) => {
            all.iter().for_each(|error| eprintln!("{error}"));
            return ExitCode::FAILURE;
        }
    };
    match File::create(&output).and_then(|mut file| module.write_to(&mut file)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", output.display());
            ExitCode::FAILURE
        }
    }
}
