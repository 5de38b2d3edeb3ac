//! Friendly names of ids, by the rules of SPIRV-Tools' disassembler.
//!
//! A name comes from `OpName`, from a `BuiltIn` decoration, or from what a type or constant is
//! made of; everything else keeps its number. The first name of an id counts. A name that is
//! taken gets the suffix `_0`, `_1` and so on.

use super::ids::IdTable;
use super::literal::LiteralTypes;
use super::print::push_number;
use crate::binary::{InstructionStream, RawInst};
use crate::grammar::enumerants::{BuiltIn, Decoration, FPEncoding};
use crate::grammar::{Kind, Op, ResultForm};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// The names of built-in variables.
const BUILT_INS: [(BuiltIn, &str); 47] = [
    (BuiltIn::Position, "gl_Position"),
    (BuiltIn::PointSize, "gl_PointSize"),
    (BuiltIn::ClipDistance, "gl_ClipDistance"),
    (BuiltIn::CullDistance, "gl_CullDistance"),
    (BuiltIn::VertexId, "gl_VertexID"),
    (BuiltIn::InstanceId, "gl_InstanceID"),
    (BuiltIn::PrimitiveId, "gl_PrimitiveID"),
    (BuiltIn::InvocationId, "gl_InvocationID"),
    (BuiltIn::Layer, "gl_Layer"),
    (BuiltIn::ViewportIndex, "gl_ViewportIndex"),
    (BuiltIn::TessLevelOuter, "gl_TessLevelOuter"),
    (BuiltIn::TessLevelInner, "gl_TessLevelInner"),
    (BuiltIn::TessCoord, "gl_TessCoord"),
    (BuiltIn::PatchVertices, "gl_PatchVertices"),
    (BuiltIn::FragCoord, "gl_FragCoord"),
    (BuiltIn::PointCoord, "gl_PointCoord"),
    (BuiltIn::FrontFacing, "gl_FrontFacing"),
    (BuiltIn::SampleId, "gl_SampleID"),
    (BuiltIn::SamplePosition, "gl_SamplePosition"),
    (BuiltIn::SampleMask, "gl_SampleMask"),
    (BuiltIn::FragDepth, "gl_FragDepth"),
    (BuiltIn::HelperInvocation, "gl_HelperInvocation"),
    (BuiltIn::NumWorkgroups, "gl_NumWorkGroups"),
    (BuiltIn::WorkgroupSize, "gl_WorkGroupSize"),
    (BuiltIn::WorkgroupId, "gl_WorkGroupID"),
    (BuiltIn::LocalInvocationId, "gl_LocalInvocationID"),
    (BuiltIn::GlobalInvocationId, "gl_GlobalInvocationID"),
    (BuiltIn::LocalInvocationIndex, "gl_LocalInvocationIndex"),
    (BuiltIn::WorkDim, "WorkDim"),
    (BuiltIn::GlobalSize, "GlobalSize"),
    (BuiltIn::EnqueuedWorkgroupSize, "EnqueuedWorkgroupSize"),
    (BuiltIn::GlobalOffset, "GlobalOffset"),
    (BuiltIn::GlobalLinearId, "GlobalLinearId"),
    (BuiltIn::SubgroupSize, "SubgroupSize"),
    (BuiltIn::SubgroupMaxSize, "SubgroupMaxSize"),
    (BuiltIn::NumSubgroups, "NumSubgroups"),
    (BuiltIn::NumEnqueuedSubgroups, "NumEnqueuedSubgroups"),
    (BuiltIn::SubgroupId, "SubgroupId"),
    (
        BuiltIn::SubgroupLocalInvocationId,
        "SubgroupLocalInvocationId",
    ),
    (BuiltIn::VertexIndex, "gl_VertexIndex"),
    (BuiltIn::InstanceIndex, "gl_InstanceIndex"),
    (BuiltIn::SubgroupEqMask, "SubgroupEqMaskKHR"),
    (BuiltIn::SubgroupGeMask, "SubgroupGeMaskKHR"),
    (BuiltIn::SubgroupGtMask, "SubgroupGtMaskKHR"),
    (BuiltIn::SubgroupLeMask, "SubgroupLeMaskKHR"),
    (BuiltIn::SubgroupLtMask, "SubgroupLtMaskKHR"),
    (BuiltIn::BaseInstance, "gl_BaseInstance"),
];

/// A part of the description that names an id.
enum FriendlyNamePart {
    Text(&'static str),
    /// The name of the id in this word of the instruction.
    Id(usize),
    /// The number in this word.
    Number(usize),
    /// The name of the value of this kind in this word.
    Value(Kind, usize),
    /// The literal string from this word on.
    String(usize),
}

/// Descriptions by increasing opcode; types of numbers and their constants are not among them.
const PATTERNS: [(Op, &[FriendlyNamePart]); 20] = {
    use FriendlyNamePart::{Id, Number, String, Text, Value};
    [
        (Op::TypeVoid, &[Text("void")]),
        (Op::TypeBool, &[Text("bool")]),
        (Op::TypeVector, &[Text("v"), Number(2), Id(1)]),
        (Op::TypeMatrix, &[Text("mat"), Number(2), Id(1)]),
        (Op::TypeArray, &[Text("_arr_"), Id(1), Text("_"), Id(2)]),
        (Op::TypeRuntimeArray, &[Text("_runtimearr_"), Id(1)]),
        (Op::TypeStruct, &[Text("_struct_"), Number(0)]),
        (Op::TypeOpaque, &[Text("Opaque_"), String(1)]),
        (
            Op::TypePointer,
            &[
                Text("_ptr_"),
                Value(Kind::StorageClass, 1),
                Text("_"),
                Id(2),
            ],
        ),
        (Op::TypeEvent, &[Text("Event")]),
        (Op::TypeDeviceEvent, &[Text("DeviceEvent")]),
        (Op::TypeReserveId, &[Text("ReserveId")]),
        (Op::TypeQueue, &[Text("Queue")]),
        (
            Op::TypePipe,
            &[Text("Pipe"), Value(Kind::AccessQualifier, 1)],
        ),
        (Op::ConstantTrue, &[Text("true")]),
        (Op::ConstantFalse, &[Text("false")]),
        (Op::TypePipeStorage, &[Text("PipeStorage")]),
        (Op::TypeNamedBarrier, &[Text("NamedBarrier")]),
        (
            Op::TypeUntypedPointerKHR,
            &[Text("_ptr_"), Value(Kind::StorageClass, 1)],
        ),
        (Op::TypeNodePayloadArrayAMDX, &[Text("_payloadarr_"), Id(1)]),
    ]
};

/// The names of floating-point types with an encoding.
const ENCODINGS: [(FPEncoding, &str); 8] = [
    (FPEncoding::BFloat16KHR, "bfloat16"),
    (FPEncoding::Float8E4M3EXT, "fp8e4m3"),
    (FPEncoding::Float8E5M2EXT, "fp8e5m2"),
    (FPEncoding::Float6E2M3EXT, "fp6e2m3"),
    (FPEncoding::Float6E3M2EXT, "fp6e3m2"),
    (FPEncoding::Float4E2M1EXT, "fp4e2m1"),
    (FPEncoding::Float8UnsignedE8M0EXT, "fp8e8m0"),
    (FPEncoding::MXInt8EXT, "mxint8"),
];

/// Longest name that is assigned, without a suffix. This keeps the size of a text proportional to that of its
/// module, because names of types consist of other names.
const LONGEST: usize = 256;

/// How an id is called.
#[derive(Clone, Copy, Debug, Default)]
enum FriendlyName {
    #[default]
    Unnamed,
    /// By its number.
    Number,
    /// Offset and length of the bytes in [`FriendlyNames::text`].
    Text(u32, u32),
}

/// The names of a module's ids.
#[derive(Debug, Default)]
pub struct FriendlyNames {
    names: IdTable<FriendlyName>,
    text: String,
    /// Every name except plain numbers, with the next suffix to try.
    taken: FxHashMap<Box<str>, u32>,
    /// Whether a name in `taken` could be that of a number.
    numeric: bool,
    scratch: String,
}

impl FriendlyNames {
    /// Names the ids of a module as far as its instructions can be walked.
    pub fn from_words(words: &[u32]) -> FriendlyNames {
        let mut names = FriendlyNames::default();
        let mut types = LiteralTypes::default();
        for inst in InstructionStream::new(words).map_while(Result::ok) {
            types.record_instruction(inst.op, inst.words);
            names.record_instruction(&inst, &types);
        }
        names
    }

    /// Writes the name of an id.
    pub fn write_name(&self, id: u32, out: &mut String) {
        match self.names.get(id) {
            FriendlyName::Text(start, length) => {
                out.push_str(&self.text[start as usize..][..length as usize]);
            }
            FriendlyName::Unnamed | FriendlyName::Number => push_number(u64::from(id), out),
        }
    }

    /// Names the id that an instruction defines or decorates.
    fn record_instruction(&mut self, inst: &RawInst<'_>, types: &LiteralTypes) {
        let mut name = std::mem::take(&mut self.scratch);
        name.clear();
        let id = match (inst.op, inst.words) {
            (Op::Name, [id, string @ ..]) => {
                push_clean(string, &mut name);
                Some(*id)
            }
            (Op::Decorate, &[id, decoration, built_in, ..])
                if Decoration(decoration) == Decoration::BuiltIn =>
            {
                let row = BUILT_INS.iter().find(|(b, _)| b.0 == built_in);
                row.map(|(_, text)| {
                    name.push_str(text);
                    id
                })
            }
            (op, words) => {
                let id = match op.result_form() {
                    ResultForm::None => None,
                    ResultForm::Untyped => words.first(),
                    ResultForm::Typed => words.get(1),
                };
                if let Some(id) = id
                    && matches!(self.names.get(*id), FriendlyName::Unnamed)
                    && !self.describe_definition(op, words, types, &mut name)
                {
                    self.keep_number(*id);
                }
                id.copied()
            }
        };
        if let Some(id) = id
            && matches!(self.names.get(id), FriendlyName::Unnamed)
        {
            if name.len() > LONGEST {
                self.keep_number(id);
            } else {
                self.assign_name(id, &mut name);
            }
        }
        self.scratch = name;
    }

    /// Describes a type or constant; `false` if it is called by its number.
    fn describe_definition(
        &self,
        op: Op,
        words: &[u32],
        types: &LiteralTypes,
        name: &mut String,
    ) -> bool {
        match (op, words) {
            (Op::TypeInt, &[_, width, signed, ..]) => describe_int(width, signed != 0, name),
            (Op::TypeFloat, &[_, width, ref encoding @ ..]) => {
                describe_float(width, encoding.first().map(|e| FPEncoding(*e)), name);
            }
            (Op::Constant, &[ty, _, ref literal @ ..]) => {
                return self.describe_constant(ty, literal, types, name);
            }
            _ => {
                let Ok(at) = PATTERNS.binary_search_by_key(&op, |(op, _)| *op) else {
                    return false;
                };
                return PATTERNS[at]
                    .1
                    .iter()
                    .all(|p| self.describe_part(p, words, name));
            }
        }
        true
    }

    /// Writes a part of a description; `false` when the instruction has too few words.
    fn describe_part(&self, part: &FriendlyNamePart, words: &[u32], name: &mut String) -> bool {
        let word = match *part {
            FriendlyNamePart::Text(text) => {
                name.push_str(text);
                return true;
            }
            FriendlyNamePart::Id(at)
            | FriendlyNamePart::Number(at)
            | FriendlyNamePart::Value(_, at)
            | FriendlyNamePart::String(at) => at,
        };
        let Some(operand @ [first, ..]) = words.get(word..) else {
            return false;
        };
        match part {
            FriendlyNamePart::Text(_) => {}
            FriendlyNamePart::Id(_) => self.write_name(*first, name),
            FriendlyNamePart::Number(_) => push_number(u64::from(*first), name),
            FriendlyNamePart::Value(kind, _) => describe_value(*kind, *first, name),
            FriendlyNamePart::String(_) => push_clean(operand, name),
        }
        true
    }

    /// A constant is its type and its literal, `n` for a minus sign.
    fn describe_constant(
        &self,
        ty: u32,
        literal: &[u32],
        types: &LiteralTypes,
        name: &mut String,
    ) -> bool {
        self.write_name(ty, name);
        name.push('_');
        let start = name.len();
        let number = types.number_type(ty);
        if !number.is_some_and(|number| number.print_literal(literal, name)) {
            return false;
        }
        let value = name.split_off(start);
        let clean = |c| if c == b'-' { 'n' } else { sanitize_char(c) };
        name.extend(value.bytes().map(clean));
        true
    }

    /// An id without a name of its own is called by its number, unless that name is taken.
    fn keep_number(&mut self, id: u32) {
        if self.numeric && self.taken.contains_key(id.to_string().as_str()) {
            self.assign_name(id, &mut id.to_string());
        } else {
            self.names.set(id, FriendlyName::Number);
        }
    }

    /// Assigns a name from a suggestion, which is changed in place.
    fn assign_name(&mut self, id: u32, name: &mut String) {
        let base = name.len();
        let mut suffix = match self.taken.get(name.as_str()) {
            Some(next) => *next,
            None if self.is_number_taken(name) => 0,
            None => return self.record_name(id, name),
        };
        let base_name: Box<str> = name.as_str().into();
        loop {
            name.truncate(base);
            name.push('_');
            push_number(u64::from(suffix), name);
            suffix += 1;
            if !self.taken.contains_key(name.as_str()) {
                break;
            }
        }
        self.taken.insert(base_name, suffix);
        self.record_name(id, name);
    }

    /// Whether a name is the number of an id that is called so.
    fn is_number_taken(&self, name: &str) -> bool {
        let number = name.parse().ok().filter(|_| is_plain_number(name));
        number.is_some_and(|id| matches!(self.names.get(id), FriendlyName::Number))
    }

    fn record_name(&mut self, id: u32, name: &str) {
        self.numeric |= is_plain_number(name);
        if let Entry::Vacant(entry) = self.taken.entry(name.into()) {
            entry.insert(0);
        }
        // A text too long for the span cannot come from a module that fits into memory twice.
        let start = self.text.len() as u32;
        self.text.push_str(name);
        self.names
            .set(id, FriendlyName::Text(start, name.len() as u32));
    }
}

/// Whether a name is a decimal number as an id would be printed.
fn is_plain_number(name: &str) -> bool {
    name.bytes().all(|c| c.is_ascii_digit()) && (name == "0" || !name.starts_with('0'))
}

fn describe_int(width: u32, signed: bool, name: &mut String) {
    let known = match width {
        8 => "char",
        16 => "short",
        32 => "int",
        64 => "long",
        _ => "",
    };
    match (signed, known) {
        (false, _) => name.push('u'),
        (true, "") => name.push('i'),
        (true, _) => {}
    }
    name.push_str(known);
    if known.is_empty() {
        push_number(u64::from(width), name);
    }
}

fn describe_float(width: u32, encoding: Option<FPEncoding>, name: &mut String) {
    let encoded = encoding.and_then(|e| ENCODINGS.iter().find(|row| row.0 == e));
    match (encoded, width) {
        (Some((_, text)), _) => name.push_str(text),
        (None, 16) => name.push_str("half"),
        (None, 32) => name.push_str("float"),
        (None, 64) => name.push_str("double"),
        (None, _) => {
            name.push_str("fp");
            push_number(u64::from(width), name);
        }
    }
}

fn describe_value(kind: Kind, value: u32, name: &mut String) {
    match kind.info().enumerant_by_value(value) {
        Some(row) => name.push_str(row.name),
        None => {
            name.push_str("StorageClass");
            push_number(u64::from(value), name);
        }
    }
}

/// Characters that are not allowed in an id become underscores.
fn sanitize_char(c: u8) -> char {
    let allowed = c.is_ascii_alphanumeric() || c == b'_';
    if allowed { char::from(c) } else { '_' }
}

/// Adds a literal string, one character for each byte.
fn push_clean(string: &[u32], name: &mut String) {
    let start = name.len();
    let bytes = string.iter().flat_map(|w| w.to_le_bytes());
    name.extend(bytes.take_while(|b| *b != 0).map(sanitize_char));
    if name.len() == start {
        name.push('_');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_can_be_searched() {
        assert!(PATTERNS.is_sorted_by_key(|(op, _)| *op));
    }
}
