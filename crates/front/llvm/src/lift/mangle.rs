//! Name mangling: names of functions that SPIR-V provides, as Clang mangles them.
//!
//! This is the subset of the Itanium C++ ABI (section 5.1) that built-in functions need: built-in
//! types, vectors, pointers with address spaces, named types, and substitutions for repeated types.

use super::entry_points::{float_name, int_name};
use super::lifter::SpirvLifter;
use crate::ir::LlvmTypeKind;
use crate::text::print_type;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// A parameter type: its full mangling, and its components from the innermost outwards, each with
/// its prefix.
#[derive(Clone, Debug)]
pub(super) struct MangledType {
    /// The type within.
    scalar: String,
    /// Whether the innermost type can be substituted.
    named: bool,
    /// Enclosing components: vectors, address spaces, pointers.
    enclosing: Vec<String>,
}

/// A name being mangled.
pub(super) struct MangledNameBuilder {
    text: String,
    /// Types that were already written, in full.
    written: Vec<String>,
}

impl MangledNameBuilder {
    /// A name without parameters so far.
    pub(super) fn new(name: &str) -> Self {
        MangledNameBuilder {
            text: format!("_Z{}{name}", name.len()),
            written: Vec::new(),
        }
    }

    /// Adds builtin types by their letters.
    pub(super) fn push_letters(&mut self, letters: &str) {
        self.text.push_str(letters);
    }

    /// Adds a parameter.
    pub(super) fn push_param(&mut self, ty: &MangledType) {
        let mut parts = vec![ty.scalar.clone()];
        for enclosing in &ty.enclosing {
            let inner = &parts[parts.len() - 1];
            parts.push(format!("{enclosing}{inner}"));
        }
        // The longest component that was written before is substituted.
        let known = (0..parts.len()).rev().find_map(|at| {
            let index = self
                .written
                .iter()
                .position(|written| *written == parts[at])?;
            Some((at, index))
        });
        let outside = known.map_or(0, |(at, _)| at);
        for enclosing in ty.enclosing[outside..].iter().rev() {
            self.text.push_str(enclosing);
        }
        match known {
            Some((_, index)) => self.text.push_str(&format_substitution(index)),
            None => self.text.push_str(&ty.scalar),
        }
        let fresh = match known {
            Some((at, _)) => at + 1,
            None => usize::from(!ty.named),
        };
        self.written.extend(parts.drain(fresh..));
    }

    /// The whole name.
    pub(super) fn finish_name(self) -> String {
        self.text
    }
}

/// The seq-id of the ABI: `S_`, `S0_`, …, in base 36.
fn format_substitution(index: usize) -> String {
    let Some(mut rest) = index.checked_sub(1) else {
        return "S_".to_owned();
    };
    let mut digits = Vec::new();
    loop {
        digits.push(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[rest % 36]);
        rest /= 36;
        if rest == 0 {
            break;
        }
    }
    let digits: String = digits.iter().rev().map(|d| char::from(*d)).collect();
    format!("S{digits}_")
}

impl SpirvLifter<'_> {
    /// A type as a parameter of a mangled name.
    pub(super) fn mangle_type(&self, id: Id) -> MangledType {
        let mut enclosing = Vec::new();
        let mut at = id;
        let mut scalar = None;
        // A pointer, an array in it, a vector, and its lanes.
        for _ in 0..4 {
            let Some(inst) = self.definitions.get(self.source, at) else {
                break;
            };
            match inst.op() {
                Op::TypePointer if enclosing.is_empty() => {
                    enclosing.push("P".to_owned());
                    let ty = self.types[at].map(|lowered| lowered.ty);
                    let space = ty.and_then(|ty| self.out.types.address_space(ty));
                    if let Some(space) = space.filter(|space| *space != 0) {
                        let name = format!("AS{space}");
                        enclosing.push(format!("U{}{name}", name.len()));
                    }
                    at = inst.id_operand(1);
                }
                Op::TypeVector => {
                    enclosing.push(format!("Dv{}_", inst.operand_word(1)));
                    at = inst.id_operand(0);
                }
                Op::TypeVoid => scalar = Some("v"),
                Op::TypeBool => scalar = Some("b"),
                Op::TypeInt => scalar = int_letter(inst.operand_word(0)),
                Op::TypeFloat => {
                    let brain = inst.operands().len() > 1;
                    scalar = float_letter(inst.operand_word(0), brain);
                }
                _ => break,
            }
            if scalar.is_some() {
                break;
            }
        }
        enclosing.reverse();
        match scalar {
            Some(scalar) => MangledType {
                scalar: scalar.to_owned(),
                named: false,
                enclosing,
            },
            None => MangledType {
                scalar: self.mangle_opaque_type(at),
                named: true,
                enclosing,
            },
        }
    }

    /// A name for a type that has no letter in the ABI.
    fn mangle_opaque_type(&self, id: Id) -> String {
        let lowered = self.types[id].map(|lowered| self.out.types.kind(lowered.ty));
        let name = match lowered {
            Some(LlvmTypeKind::Target { name, .. })
                if self.out.symbol_text(*name) == "spirv.Event" =>
            {
                "ocl_event".to_owned()
            }
            Some(LlvmTypeKind::Target { name, types, ints }) => {
                let mut text = self.out.symbol_text(*name).replace('.', "_");
                for ty in types.iter() {
                    text.push('_');
                    text.push_str(&print_type(&self.out, *ty));
                }
                for int in ints.iter() {
                    text.push_str(&format!("_{int}"));
                }
                text
            }
            _ => format!("type{}", id.word()),
        };
        format!("{}{name}", name.len())
    }

    /// The type name after `_R`, which distinguishes functions by their result types.
    pub(super) fn result_name(&self, id: Id) -> String {
        let Some(inst) = self.definitions.get(self.source, id) else {
            return String::new();
        };
        match inst.op() {
            Op::TypeInt if matches!(inst.operand_word(0), 8 | 16 | 32 | 64) => {
                int_name(inst.operand_word(0)).to_owned()
            }
            Op::TypeInt => format!("int{}", inst.operand_word(0)),
            Op::TypeFloat if inst.operands().len() > 1 => "bfloat16".to_owned(),
            Op::TypeFloat => float_name(inst.operand_word(0)).to_owned(),
            Op::TypeBool => "bool".to_owned(),
            Op::TypeVector => {
                let of = self.definitions.get(self.source, inst.id_operand(0));
                let of = of.and_then(|of| of.result());
                let scalar = of.filter(|of| *of != id).map(|of| self.scalar_result(of));
                format!("{}{}", scalar.unwrap_or_default(), inst.operand_word(1))
            }
            Op::TypePointer | Op::TypeUntypedPointerKHR => format!("ptr{}", inst.operand_word(0)),
            _ => format!("type{}", id.word()),
        }
    }

    fn scalar_result(&self, id: Id) -> String {
        match self.definitions.defining_op(self.source, id) {
            Some(Op::TypeVector) => String::new(),
            _ => self.result_name(id),
        }
    }
}

fn int_letter(width: u32) -> Option<&'static str> {
    Some(match width {
        8 => "c",
        16 => "s",
        32 => "i",
        64 => "l",
        _ => return None,
    })
}

fn float_letter(width: u32, brain: bool) -> Option<&'static str> {
    Some(match (width, brain) {
        (16, true) => "DF16b",
        (16, false) => "Dh",
        (32, false) => "f",
        (64, false) => "d",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_mangled(scalar: &str, enclosing: &[&str]) -> MangledType {
        MangledType {
            scalar: scalar.to_owned(),
            named: scalar.starts_with(|c: char| c.is_ascii_digit()),
            enclosing: enclosing.iter().map(|a| (*a).to_owned()).collect(),
        }
    }

    #[test]
    fn repeated_types_are_substituted() {
        let mut name = MangledNameBuilder::new("clamp");
        let vector = make_mangled("f", &["Dv4_"]);
        name.push_param(&vector);
        name.push_param(&make_mangled("f", &[]));
        name.push_param(&vector);
        assert_eq!(name.finish_name(), "_Z5clampDv4_ffS_");
        let mut name = MangledNameBuilder::new("f");
        name.push_param(&make_mangled("f", &["Dv4_", "U3AS1", "P"]));
        name.push_param(&vector);
        name.push_param(&make_mangled("f", &["Dv4_", "U3AS3", "P"]));
        name.push_param(&make_mangled("9ocl_event", &[]));
        name.push_param(&make_mangled("9ocl_event", &["P"]));
        assert_eq!(
            name.finish_name(),
            "_Z1fPU3AS1Dv4_fS_PU3AS3S_9ocl_eventPS4_"
        );
    }

    #[test]
    fn substitutions_count_in_base_36() {
        let all = [0, 1, 11, 36, 37].map(format_substitution);
        assert_eq!(all, ["S_", "S0_", "SA_", "SZ_", "S10_"]);
    }
}
