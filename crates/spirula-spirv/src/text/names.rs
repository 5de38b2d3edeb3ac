//! Readable names for ids, by the rules of SPIRV-Tools' disassembler.
//!
//! A name comes from `OpName`, from a `BuiltIn` decoration, or from what a type or constant is
//! made of; everything else keeps its number. The first name an id is given stays; a name that is
//! taken gets `_0`, `_1` and so on behind it.

use super::ids::IdTable;
use super::literal::LiteralTypes;
use crate::binary::{RawInst, Stream};
use crate::grammar::enumerants::{BuiltIn, Decoration, FPEncoding};
use crate::grammar::{Kind, Op, ResultForm};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::fmt::{self, Write as _};

/// The names of built-in variables.
const BUILT_INS: [(BuiltIn, &str); 45] = [
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
    (BuiltIn::SubgroupEqMask, "SubgroupEqMask"),
    (BuiltIn::SubgroupGeMask, "SubgroupGeMask"),
    (BuiltIn::SubgroupGtMask, "SubgroupGtMask"),
    (BuiltIn::SubgroupLeMask, "SubgroupLeMask"),
];

/// Longer names are not given, not counting a suffix. This keeps the size of a text in proportion
/// to its module's: names of types are made of other names.
const LONGEST: usize = 256;

/// How an id is called.
#[derive(Clone, Copy, Debug, Default)]
enum Name {
    #[default]
    Unnamed,
    /// By its number.
    Number,
    /// The bytes of [`Names::text`] from here, so many.
    Text(u32, u32),
}

/// The names of a module's ids.
#[derive(Debug, Default)]
pub struct Names {
    names: IdTable<Name>,
    text: String,
    /// Every name but plain numbers, with the next suffix to try behind it.
    taken: FxHashMap<Box<str>, u32>,
    /// Whether a name in `taken` could be that of a number.
    numeric: bool,
    scratch: String,
}

impl Names {
    /// Names the ids of a module as far as its instructions can be walked.
    pub fn of(words: &[u32]) -> Names {
        let mut names = Names::default();
        let mut types = LiteralTypes::default();
        for inst in Stream::new(words).map_while(Result::ok) {
            types.define(inst.op, inst.words);
            names.take(&inst, &types);
        }
        names
    }

    /// Writes the name of an id.
    pub fn write(&self, id: u32, out: &mut String) {
        match self.names.get(id) {
            Name::Text(start, length) => {
                out.push_str(&self.text[start as usize..][..length as usize]);
            }
            Name::Unnamed | Name::Number => super::print::push_number(u64::from(id), out),
        }
    }

    /// Names what an instruction defines or decorates.
    fn take(&mut self, inst: &RawInst<'_>, types: &LiteralTypes) {
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
                    && matches!(self.names.get(*id), Name::Unnamed)
                    && !self.describe(op, words, types, &mut name)
                {
                    self.keep_number(*id);
                }
                id.copied()
            }
        };
        if let Some(id) = id
            && matches!(self.names.get(id), Name::Unnamed)
        {
            if name.len() > LONGEST {
                self.keep_number(id);
            } else {
                self.give(id, &mut name);
            }
        }
        self.scratch = name;
    }

    /// Describes a type or constant; `false` for what is called by its number.
    fn describe(&self, op: Op, words: &[u32], types: &LiteralTypes, name: &mut String) -> bool {
        // Writing to a string does not fail.
        let _ = match (op, words) {
            (Op::TypeVoid, _) => name.write_str("void"),
            (Op::TypeBool, _) => name.write_str("bool"),
            (Op::TypeInt, &[_, width, signed, ..]) => {
                let prefix = if signed == 0 { "u" } else { "" };
                match width {
                    8 => write!(name, "{prefix}char"),
                    16 => write!(name, "{prefix}short"),
                    32 => write!(name, "{prefix}int"),
                    64 => write!(name, "{prefix}long"),
                    _ => write!(name, "{}{width}", if signed == 0 { "u" } else { "i" }),
                }
            }
            (Op::TypeFloat, &[_, width, ref encoding @ ..]) => {
                describe_float(width, encoding.first().map(|e| FPEncoding(*e)), name)
            }
            (Op::TypeVector, &[_, component, count, ..]) => {
                let _ = write!(name, "v{count}");
                self.write(component, name);
                Ok(())
            }
            (Op::TypeMatrix, &[_, column, count, ..]) => {
                let _ = write!(name, "mat{count}");
                self.write(column, name);
                Ok(())
            }
            (Op::TypeArray, &[_, element, length, ..]) => {
                name.push_str("_arr_");
                self.write(element, name);
                name.push('_');
                self.write(length, name);
                Ok(())
            }
            (Op::TypeRuntimeArray, &[_, element, ..]) => {
                name.push_str("_runtimearr_");
                self.write(element, name);
                Ok(())
            }
            (Op::TypePointer, &[_, class, pointee, ..]) => {
                name.push_str("_ptr_");
                describe_value(Kind::StorageClass, class, name);
                name.push('_');
                self.write(pointee, name);
                Ok(())
            }
            (Op::TypeUntypedPointerKHR, &[_, class, ..]) => {
                name.push_str("_ptr_");
                describe_value(Kind::StorageClass, class, name);
                Ok(())
            }
            (Op::TypePipe, &[_, access, ..]) => {
                name.push_str("Pipe");
                describe_value(Kind::AccessQualifier, access, name);
                Ok(())
            }
            (Op::TypeEvent, _) => name.write_str("Event"),
            (Op::TypeDeviceEvent, _) => name.write_str("DeviceEvent"),
            (Op::TypeReserveId, _) => name.write_str("ReserveId"),
            (Op::TypeQueue, _) => name.write_str("Queue"),
            (Op::TypePipeStorage, _) => name.write_str("PipeStorage"),
            (Op::TypeNamedBarrier, _) => name.write_str("NamedBarrier"),
            (Op::TypeOpaque, [_, string @ ..]) => {
                name.push_str("Opaque_");
                push_clean(string, name);
                Ok(())
            }
            (Op::TypeStruct, &[id, ..]) => write!(name, "_struct_{id}"),
            (Op::ConstantTrue, _) => name.write_str("true"),
            (Op::ConstantFalse, _) => name.write_str("false"),
            (Op::Constant, &[ty, _, ref literal @ ..]) => match types.number(ty) {
                Some(number) if number.words() == literal.len() => {
                    self.write(ty, name);
                    name.push('_');
                    let at = name.len();
                    number.print(literal, name);
                    let value = name.split_off(at).replace('-', "n");
                    name.extend(value.bytes().map(clean));
                    Ok(())
                }
                _ => return false,
            },
            _ => return false,
        };
        true
    }

    /// An id without a name of its own is called by its number, unless that name is taken.
    fn keep_number(&mut self, id: u32) {
        if self.numeric && self.taken.contains_key(id.to_string().as_str()) {
            self.give(id, &mut id.to_string());
        } else {
            self.names.set(id, Name::Number);
        }
    }

    /// Gives an id a name made of a suggestion, which is changed in place.
    fn give(&mut self, id: u32, name: &mut String) {
        let base = name.len();
        let mut suffix = match self.taken.get(name.as_str()) {
            Some(next) => *next,
            None if self.is_number_taken(name) => 0,
            None => return self.record(id, name),
        };
        let base_name: Box<str> = name.as_str().into();
        loop {
            name.truncate(base);
            let _ = write!(name, "_{suffix}");
            suffix += 1;
            if !self.taken.contains_key(name.as_str()) {
                break;
            }
        }
        self.taken.insert(base_name, suffix);
        self.record(id, name);
    }

    /// Whether a name is the number of an id that is called so.
    fn is_number_taken(&self, name: &str) -> bool {
        let number = name.parse().ok().filter(|_| is_plain_number(name));
        number.is_some_and(|id| matches!(self.names.get(id), Name::Number))
    }

    fn record(&mut self, id: u32, name: &str) {
        self.numeric |= is_plain_number(name);
        if let Entry::Vacant(entry) = self.taken.entry(name.into()) {
            entry.insert(0);
        }
        // A text too long for the span cannot come from a module that fits into memory twice.
        let start = self.text.len() as u32;
        self.text.push_str(name);
        self.names.set(id, Name::Text(start, name.len() as u32));
    }
}

/// Whether a name is a decimal number as an id would be printed.
fn is_plain_number(name: &str) -> bool {
    name.bytes().all(|c| c.is_ascii_digit()) && (name == "0" || !name.starts_with('0'))
}

fn describe_float(width: u32, encoding: Option<FPEncoding>, name: &mut String) -> fmt::Result {
    match (width, encoding) {
        (16, Some(FPEncoding::BFloat16KHR)) => name.write_str("bfloat16"),
        (8, Some(FPEncoding::Float8E4M3EXT)) => name.write_str("fp8e4m3"),
        (8, Some(FPEncoding::Float8E5M2EXT)) => name.write_str("fp8e5m2"),
        (16, _) => name.write_str("half"),
        (32, _) => name.write_str("float"),
        (64, _) => name.write_str("double"),
        _ => write!(name, "fp{width}"),
    }
}

fn describe_value(kind: Kind, value: u32, name: &mut String) {
    match kind.info().enumerant(value) {
        Some(row) => name.push_str(row.name),
        None => {
            let _ = write!(name, "StorageClass{value}");
        }
    }
}

/// What may not stand in an id becomes an underscore.
fn clean(c: u8) -> char {
    let allowed = c.is_ascii_alphanumeric() || c == b'_';
    if allowed { char::from(c) } else { '_' }
}

/// Adds a literal string, one character for each byte.
fn push_clean(string: &[u32], name: &mut String) {
    let start = name.len();
    let bytes = string.iter().flat_map(|w| w.to_le_bytes());
    name.extend(bytes.take_while(|b| *b != 0).map(clean));
    if name.len() == start {
        name.push('_');
    }
}
