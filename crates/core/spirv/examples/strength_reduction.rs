//! A pass as a stranger would write it: products, quotients and remainders of unsigned integers and
//! powers of two become shifts and masks. GUIDE.md walks through it.
//!
//! `cargo run -p spirula-spirv --example strength_reduction IN OUT` runs it on a module, binary or
//! assembly, and writes a binary.

use spirula_diagnostics::{SourceDiagnostic, SourceFile, SourceLocation, render_diagnostic};
use spirula_spirv::Id;
use spirula_spirv::analysis::IdDefinitions;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Inst, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{binary, text, verify};
use std::process::ExitCode;

/// The replacement of an operation with a power of two.
enum Cheaper {
    /// A shift by the exponent.
    Shift(Op),
    /// A mask of the bits below.
    Mask,
}

/// The operations, what they become, and whether the power of two may also stand first.
const CHEAPER: &[(Op, Cheaper, bool)] = &[
    (Op::IMul, Cheaper::Shift(Op::ShiftLeftLogical), true),
    (Op::UDiv, Cheaper::Shift(Op::ShiftRightLogical), false),
    (Op::UMod, Cheaper::Mask, false),
];

/// An operation that can be made cheaper.
struct Found {
    inst: Inst,
    op: Op,
    /// The operand that stays.
    value: Id,
    /// Type and value of the constant that takes the place of the other.
    ty: Id,
    constant: u32,
}

/// Runs the pass; returns how many operations became cheaper.
fn reduce_strength(module: &mut SpirvModule) -> usize {
    let definitions = IdDefinitions::from_module(module);
    // First look, then change: what was computed holds until the first change.
    let functions = module.functions().iter();
    let blocks = functions.flat_map(|f| module.function(*f).blocks.iter());
    let insts = blocks.flat_map(|b| module.body(*b));
    let found: Vec<Found> = insts
        .filter_map(|inst| find_reduction(module, &definitions, inst))
        .collect();
    let count = found.len();
    for Found {
        inst,
        op,
        value,
        ty,
        constant,
    } in found
    {
        let constant = find_constant(module, ty, constant);
        // The result keeps its id, so that its uses, name and decorations stay.
        let (ty, id) = (module.inst(inst).words()[0], module.inst(inst).words()[1]);
        let new = module.create_inst(op, &[ty, id, value.word(), constant.word()]);
        module.insert_before(inst, new);
        module.remove_inst(inst);
    }
    count
}

fn find_reduction(
    module: &SpirvModule,
    definitions: &IdDefinitions,
    inst: InstRef<'_>,
) -> Option<Found> {
    let (_, cheaper, either) = CHEAPER.iter().find(|(op, ..)| *op == inst.op())?;
    // Numbers of 32 bits: others have constants of other forms.
    let ty = inst.result_type()?;
    let int = definitions.get(module, ty)?;
    if int.op() != Op::TypeInt || int.operand_word(0) != 32 {
        return None;
    }
    let exponent = |id: Id| {
        let value = u32::try_from(definitions.constant_value(module, id)?).ok()?;
        value.is_power_of_two().then(|| value.trailing_zeros())
    };
    let (left, right) = (inst.id_operand(0), inst.id_operand(1));
    let (value, exponent) = match (exponent(right), exponent(left)) {
        (Some(exponent), _) => (left, exponent),
        (None, Some(exponent)) if *either => (right, exponent),
        _ => return None,
    };
    let (op, constant) = match *cheaper {
        Cheaper::Shift(op) => (op, exponent),
        Cheaper::Mask => (Op::BitwiseAnd, (1 << exponent) - 1),
    };
    let inst = inst.handle();
    Some(Found {
        inst,
        op,
        value,
        ty,
        constant,
    })
}

/// A constant of the module, made if it has none.
fn find_constant(module: &mut SpirvModule, ty: Id, value: u32) -> Id {
    let same = |i: &InstRef<'_>| i.op() == Op::Constant && i.result_type() == Some(ty);
    let mut known = module.section_insts(ModuleSection::Globals).filter(same);
    if let Some(id) = known
        .find(|i| i.operand_word(0) == value)
        .and_then(InstRef::result)
    {
        return id;
    }
    let id = module.fresh_id();
    let inst = module.create_inst(Op::Constant, &[ty.word(), id.word(), value]);
    module.append_inst(ModuleSection::Globals.list(), inst);
    id
}

/// A module from a file's bytes, whichever form they have.
fn read_module(bytes: &[u8]) -> Result<SpirvModule, Vec<SourceDiagnostic>> {
    let words = if binary::is_spirv(bytes) {
        binary::words_from_bytes(bytes).map_err(|d| vec![d])?
    } else {
        let source = std::str::from_utf8(bytes);
        let source = source.map_err(|e| {
            let place = SourceLocation::Byte(e.valid_up_to() as u64);
            vec![SourceDiagnostic::error(
                place,
                "neither a module nor assembly",
            )]
        })?;
        text::parse_assembly(source, &text::ParseOptions::default())?
    };
    SpirvModule::from_words(words).map_err(|d| vec![d])
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let [_, input, output] = &args[..] else {
        eprintln!("usage: strength_reduction IN OUT");
        return ExitCode::from(2);
    };
    let bytes = match std::fs::read(input) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("{input}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let done = read_module(&bytes).and_then(|mut module| {
        let count = reduce_strength(&mut module);
        verify::verify_module(&module, &verify::VerifyOptions::default())?;
        Ok((count, module))
    });
    match done {
        Ok((count, module)) => {
            eprintln!("{count} operations became cheaper");
            match std::fs::write(output, module.to_bytes()) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("{output}: {error}");
                    ExitCode::FAILURE
                }
            }
        }
        Err(faults) => {
            let name = input.as_str();
            let source = SourceFile {
                name,
                bytes: &bytes,
            };
            for fault in faults {
                eprint!("{}", render_diagnostic(&fault, source, false));
            }
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirula_testing::{GoldenFiles, find_corpus, list_files};
    use std::path::Path;

    #[test]
    fn the_file_becomes_what_is_expected() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/strength_reduction");
        let bytes = std::fs::read(folder.join("powers.spvasm")).expect("the input is there");
        let mut module = read_module(&bytes).expect("it is a module");
        assert_eq!(reduce_strength(&mut module), 4);
        verify::verify_module(&module, &verify::VerifyOptions::default()).expect("it stays valid");
        let options = text::PrintOptions {
            friendly_names: true,
            ..text::PrintOptions::default()
        };
        let printed = text::print_assembly(&module.to_words(), &options).expect("it has a header");
        let mut expected = GoldenFiles::new();
        expected.compare_file(&folder.join("powers.expected"), &printed);
        expected.finish_comparison();
    }

    #[test]
    fn modules_of_the_corpus_stay_valid() {
        let Some(folder) = find_corpus("spirv") else {
            return;
        };
        let options = verify::VerifyOptions {
            scalar_block_layout: true,
            ..verify::VerifyOptions::default()
        };
        let mut cheaper = 0;
        for file in list_files(&folder, ".spv").iter().step_by(9) {
            let bytes = std::fs::read(file).expect("the corpus can be read");
            let mut module = read_module(&bytes).expect("the corpus is well-formed");
            let was_valid = verify::verify_module(&module, &options).is_ok();
            cheaper += reduce_strength(&mut module);
            if was_valid {
                let verdict = verify::verify_module(&module, &options);
                assert!(verdict.is_ok(), "{}: {verdict:?}", file.display());
            }
        }
        assert!(cheaper > 0, "nothing became cheaper");
    }
}
