//! Tasks of the repository, run as `cargo xtask TASK`.

mod book;
mod c_interface;
mod crate_files;
mod grammar;
mod jax;
mod mutants;
mod opencl;
mod outputs;
mod pjrt;
mod release;
mod rust_version;
mod semver;
mod speed;
mod suite;
mod test;
mod tidy;
mod tools;
mod torch;
mod web;
mod wheel;
mod wheel_features;
mod words;

use clap::{CommandFactory, Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Parser)]
#[command(about = "Tasks of the repository")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build the book as HTML, and check its links
    Book,
    /// Regenerate the SPIR-V tables from Khronos' machine-readable grammar
    Grammar {
        /// Folder with `spirv.core.grammar.json` and the `extinst.*.grammar.json` files
        folder: PathBuf,
    },
    /// Check the rules of the house that no compiler checks
    Tidy,
    /// Check the PJRT plugin with JAX, or run test files of JAX on it
    Jax(jax::JaxOptions),
    /// Compare the verdicts of the verifier with those of Khronos' validator on damaged modules
    Mutants(mutants::Args),
    /// Hash the outputs of the command over a corpus, to compare two builds
    Outputs(outputs::OutputOptions),
    /// Regenerate the interface of PJRT from its C header
    Pjrt {
        /// `pjrt_c_api.h`
        header: PathBuf,
    },
    /// Make the files of a release: archives, packages, wheels, checksums
    Release(release::ReleaseOptions),
    /// Compare the public interfaces of the crates with those of another revision
    Semver(semver::SemverOptions),
    /// Measure time and memory of the translation of LLVM IR, beside LLVM's tools
    Speed(speed::Args),
    /// Check, compile and run the programs of a corpus, and write a table of the results by folder
    Suite(suite::SuiteOptions),
    /// Run all checks that a change must pass
    Test,
    /// Check the backend of `torch.compile` and the plugin for PyTorch/XLA with PyTorch
    Torch(torch::TorchOptions),
    /// Make the page of the playground with the compiler as WebAssembly, or test it
    Web(web::WebOptions),
    /// Make the Python package as a wheel, or test it
    Wheel(wheel::WheelOptions),
    /// Count words per sentence in the documents, and list long sentences
    Words(words::WordOptions),
}

fn main() -> ExitCode {
    let done = match Args::parse().task {
        Task::Book => find_repository_root().and_then(|root| book::build_book(&root)),
        Task::Grammar { folder } => grammar::generate_tables(&folder),
        Task::Tidy => {
            find_repository_root().and_then(|root| tidy::check_tidiness(&root, &list_tasks()))
        }
        Task::Jax(options) => find_repository_root().and_then(|root| jax::run_jax(&root, &options)),
        Task::Mutants(args) => mutants::compare_verifiers(&args),
        Task::Outputs(options) => outputs::print_outputs(&options),
        Task::Pjrt { header } => {
            find_repository_root().and_then(|root| pjrt::generate_interface(&root, &header))
        }
        Task::Release(options) => {
            find_repository_root().and_then(|root| release::make_release(&root, &options))
        }
        Task::Semver(options) => {
            find_repository_root().and_then(|root| semver::compare_interfaces(&root, &options))
        }
        Task::Speed(args) => {
            find_repository_root().and_then(|root| speed::run_speed_comparison(&root, &args))
        }
        Task::Suite(options) => suite::run_suite(&options),
        Task::Test => {
            find_repository_root().and_then(|root| test::run_all_checks(root, &list_tasks()))
        }
        Task::Torch(options) => {
            find_repository_root().and_then(|root| torch::run_torch(&root, &options))
        }
        Task::Web(options) => find_repository_root().and_then(|root| web::run_web(&root, &options)),
        Task::Wheel(options) => {
            find_repository_root().and_then(|root| wheel::run_wheel(&root, &options))
        }
        Task::Words(options) => {
            find_repository_root().and_then(|root| words::print_words(&root, &options))
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Root folder of the repository.
fn find_repository_root() -> anyhow::Result<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    Ok(folder.canonicalize()?)
}

/// The names of all tasks.
fn list_tasks() -> Vec<String> {
    let command = Args::command();
    let names = command.get_subcommands().map(|task| task.get_name());
    names.map(str::to_owned).collect()
}
