//! `spirula dis`: disassembles a SPIR-V module.

use crate::cli::args::{ColorChoice, DisArgs};
use crate::cli::finding::print_json;
use crate::cli::output_form::check_output_form;
use crate::cli::{CommandFailure, CommandResult, files};
use serde::Serialize;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::binary::{InstructionStream, SpirvHeader};
use spirula_spirv::grammar::ResultForm;
use spirula_spirv::{binary, text};
use std::io::{self, IsTerminal};

/// Runs `spirula dis`. The module may be invalid.
pub fn run_dis(args: &DisArgs) -> CommandResult {
    super::grammar::add_grammar_files(&args.grammar)?;
    let ends: &[&str] = if args.json { &["json"] } else { &["spvasm"] };
    check_output_form(&args.output, ends)?;
    let input = files::read_input_file(&args.path)?;
    let options = text::PrintOptions {
        header: !args.no_header,
        indent: !args.no_indent,
        friendly_names: args.friendly_names,
        colors: wants_color(args),
        offsets: args.offsets,
        comments: args.comment,
        nested_indent: args.nested_indent,
        reorder_blocks: args.reorder_blocks,
    };
    let words = match read_module_words(&input.bytes) {
        Ok(words) => words,
        Err(error) => return Err(CommandFailure::from_diagnostics(input, vec![error])),
    };
    let outcome = if args.json {
        describe_instructions(&words, &options).map(|module| print_json(&args.output, &module))
    } else {
        text::ModuleDisassembly::new(&words, options)
            .map(|text| files::write_displayed(&args.output, &text))
    };
    outcome.unwrap_or_else(|error| Err(CommandFailure::from_diagnostics(input, vec![error])))
}

/// Whether the text is coloured.
fn wants_color(args: &DisArgs) -> bool {
    match args.color {
        _ if args.no_color || args.json => false,
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            files::is_standard(&args.output) && io::stdout().is_terminal() && !is_plain
        }
    }
}

/// The words of a SPIR-V binary.
///
/// # Errors
/// When the bytes are none.
pub fn read_module_words(bytes: &[u8]) -> Result<Vec<u32>, SourceDiagnostic> {
    let format = spirula::detect_input_format(bytes)?;
    if *format == spirula::SPIRV_BINARY {
        return binary::words_from_bytes(bytes);
    }
    let message = format!("the input is {}, not a SPIR-V binary", format.name);
    let hint = "spirula compile --emit spvasm translates LLVM IR to assembly";
    Err(SourceDiagnostic::error(SourceLocation::Unknown, message).with_hint(hint))
}

/// A module in JSON.
#[derive(Serialize)]
struct ModuleListing {
    version: String,
    generator: u32,
    bound: u32,
    schema: u32,
    instructions: Vec<InstructionListing>,
}

/// An instruction in JSON. The first word, with the opcode and the length, is not among its words.
#[derive(Serialize)]
struct InstructionListing {
    /// Offset in the module in bytes.
    offset: usize,
    opcode: u16,
    /// Name of the opcode; absent where the grammar has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<u32>,
    words: Vec<u32>,
    text: String,
}

fn describe_instructions(
    words: &[u32],
    options: &text::PrintOptions,
) -> Result<ModuleListing, SourceDiagnostic> {
    let header = SpirvHeader::from_words(words)?;
    let plain = text::PrintOptions {
        indent: false,
        ..*options
    };
    let texts = text::print_instructions(words, &plain)?;
    let insts = InstructionStream::new(words).map_while(Result::ok);
    let instructions = insts.zip(texts).map(|(inst, text)| {
        let row = inst.op.info();
        let result = row.and_then(|row| match row.result {
            ResultForm::None => None,
            ResultForm::Untyped => inst.words.first(),
            ResultForm::Typed => inst.words.get(1),
        });
        InstructionListing {
            offset: inst.at * size_of::<u32>(),
            opcode: inst.op.0,
            name: row.map(|row| row.name),
            result: result.copied(),
            words: inst.words.to_vec(),
            text,
        }
    });
    Ok(ModuleListing {
        version: header.version.to_string(),
        generator: header.generator,
        bound: header.bound,
        schema: header.schema,
        instructions: instructions.collect(),
    })
}
