//! Module listings: the text form that a test's expectations are written for.
//!
//! A zero may be `OpConstant` or `OpConstantNull`. Khronos' translator writes the former, LLVM's
//! backend the latter. Each text form has the one that the tests of its tool expect, whichever tool
//! produced the module.

use super::patterns::collapse_blanks;
use super::runs::ListingForm;
use spirula_spirv::binary::{InstructionStream, RawInst};
use spirula_spirv::grammar::{ExtInstSet, Kind, Op, OperandIter, literal_string};
use spirula_spirv::text::{PrintOptions, print_assembly};
use std::collections::HashMap;
use std::fmt::Write;

/// The text of a module.
pub fn print_listing(words: &[u32], form: ListingForm) -> String {
    let text = match form {
        ListingForm::Internal => print_internal_form(&rewrite_zeros(words, form)),
        ListingForm::Raw => print_with_names(&rewrite_zeros(words, form), false),
        ListingForm::Friendly => print_with_names(&rewrite_zeros(words, form), true),
    };
    collapse_blanks(&text)
}

fn print_with_names(words: &[u32], friendly_names: bool) -> String {
    let options = PrintOptions {
        header: true,
        indent: false,
        friendly_names,
        ..PrintOptions::default()
    };
    print_assembly(words, &options).unwrap_or_default()
}

/// The module with all zeros in the form that the tests of a text form expect.
pub fn rewrite_zeros(words: &[u32], form: ListingForm) -> Vec<u32> {
    let as_null = form == ListingForm::Raw;
    let mut out = words[..words.len().min(5)].to_vec();
    let mut widths: HashMap<u32, usize> = HashMap::new();
    for inst in InstructionStream::new(words).flatten() {
        if let (Op::TypeInt | Op::TypeFloat, [id, width, ..]) = (inst.op, inst.words) {
            widths.insert(*id, *width as usize);
        }
        let width = inst.words.first().and_then(|ty| widths.get(ty)).copied();
        let mut push = |op: Op, words: &[u32]| {
            out.push(((words.len() as u32 + 1) << 16) | u32::from(op.0));
            out.extend_from_slice(words);
        };
        match (inst.op, inst.words, width) {
            (Op::Constant, [ty, id, value @ ..], Some(_))
                if as_null && value.iter().all(|w| *w == 0) =>
            {
                push(Op::ConstantNull, &[*ty, *id]);
            }
            (Op::ConstantNull, [ty, id], Some(width)) if !as_null => {
                let mut words = vec![*ty, *id];
                words.resize(2 + width.div_ceil(32), 0);
                push(Op::Constant, &words);
            }
            _ => push(inst.op, inst.words),
        }
    }
    out
}

/// Khronos' internal form: the number of words, the name without `Op`, and the operands. These are
/// numbers, except for capabilities, decorations, extended instructions and strings.
fn print_internal_form(words: &[u32]) -> String {
    let mut out = String::new();
    let Some(header) = words.get(..5) else {
        return out;
    };
    for word in header {
        _ = write!(out, "{word} ");
    }
    out.push('\n');
    let mut sets = HashMap::new();
    for inst in InstructionStream::new(words).flatten() {
        if let (Op::ExtInstImport, [id, name @ ..]) = (inst.op, inst.words) {
            let name = literal_string(name);
            // The later set of debug information has the instruction numbers of the earlier one.
            let known = name.replace("Shader.DebugInfo.200", "Shader.DebugInfo.100");
            sets.insert(*id, ExtInstSet::by_name(&known));
        }
        if matches!(inst.op, Op::FunctionEnd | Op::Label) {
            out.push('\n');
        }
        print_instruction(&inst, &sets, &mut out);
    }
    out
}

fn print_instruction(
    inst: &RawInst<'_>,
    sets: &HashMap<u32, Option<&'static ExtInstSet>>,
    out: &mut String,
) {
    let name = inst.op.info().map_or("Unknown", |row| row.name);
    let name = name.trim_start_matches("Op");
    _ = write!(out, "{} {name} ", inst.words.len() + 1);
    let mut operands = OperandIter::new(inst.op, inst.words);
    let set = match (inst.op, inst.words) {
        (Op::ExtInst | Op::ExtInstWithForwardRefsKHR, [_, _, set, ..]) => {
            sets.get(set).copied().flatten()
        }
        _ => None,
    };
    operands = operands.with_ext(set);
    if inst.op == Op::Switch {
        for word in inst.words {
            _ = write!(out, "{word} ");
        }
        out.push('\n');
        return;
    }
    for operand in operands.flatten() {
        let word = operand.words[0];
        let named = match operand.kind {
            Kind::Capability | Kind::Decoration => operand
                .kind
                .info()
                .enumerant_by_value(word)
                .map(|row| row.name),
            Kind::LiteralExtInstInteger => set
                .and_then(|set| set.instruction_by_number(word))
                .map(|row| row.name)
                .or_else(|| later_debug_instruction(word)),
            _ => None,
        };
        if let Some(name) = named {
            _ = write!(out, "{name} ");
        } else if operand.kind == Kind::LiteralString {
            _ = write!(out, "\"{}\" ", literal_string(operand.words));
        } else {
            for word in operand.words {
                _ = write!(out, "{word} ");
            }
        }
    }
    out.push('\n');
}

/// The instructions that only the later set of debug information has.
fn later_debug_instruction(number: u32) -> Option<&'static str> {
    match number {
        200 => Some("DebugModule"),
        201 => Some("DebugTypeSubrange"),
        202 => Some("DebugTypeArrayDynamic"),
        203 => Some("DebugTypeString"),
        _ => None,
    }
}
