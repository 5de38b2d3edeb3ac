//! Array types: arrays, vectors and strings, whose sizes may be known only at run time.

use super::DebugInfoEmitter;
use super::DebugInfoOperand;
use crate::ir::{LlvmMetadata, MetadataField};
use crate::translate::options::DebugInfo;
use spirula_spirv::Id;

use DebugInfoOperand::{Id as I, Number as N};

/// Fields of arrays whose descriptors are evaluated at run time.
const DYNAMIC: [&str; 4] = ["dataLocation", "associated", "allocated", "rank"];

/// The fields of ranges, in the order of operands.
const BOUNDS: [&str; 3] = ["lowerBound", "upperBound", "count"];

/// Greatest number of components of a vector; longer vectors are described as arrays.
const MOST_COMPONENTS: u32 = 4;

/// Most names of a type that are looked through.
const MOST_NAMES: usize = 64;

/// Tags of types that differ from another only in name or qualifiers.
const NAMES_OF_TYPES: &[(&str, u64, u32)] = &[
    ("DW_TAG_typedef", 0x16, 0),
    ("DW_TAG_const_type", 0x26, 0),
    ("DW_TAG_volatile_type", 0x35, 0),
];

impl DebugInfoEmitter<'_, '_> {
    /// Whether arrays have ranges, and strings are types.
    fn has_array_ranges(&self) -> bool {
        self.t.options.debug == DebugInfo::NonSemantic200
    }

    /// The type of an array or vector.
    pub(super) fn emit_array(&mut self, node: LlvmMetadata) -> Id {
        let ranges = self.read_list(node, "elements");
        let vector = self.flag_field(node, "flags", &[("DIFlagVector", 1 << 11, 1)]) != 0;
        if vector && let [range] = &ranges[..] {
            let count = self.number_field(*range, "count");
            let basic = self.basic_type(node);
            if let Some(basic) = basic.filter(|_| (2..=MOST_COMPONENTS).contains(&count)) {
                let base = self.emit_type(Some(basic));
                return self.emit_instruction("DebugTypeVector", &[I(base), N(count)]);
            }
        }
        let base = self.emit_type_of(node, "baseType");
        if self.has_array_ranges() && self.has_ranges(node, &ranges) {
            return self.emit_ranged_array(node, base, &ranges);
        }
        let mut arguments = vec![I(base)];
        for &range in &ranges {
            let count = self.number_field(range, "count");
            match self.find_length_variable(range) {
                Some(id) => arguments.push(I(id)),
                // An unknown length becomes `DebugInfoNone`.
                None if count == 0 => return self.emit_none(),
                None => arguments.push(N(count)),
            }
        }
        if ranges.is_empty() {
            self.emit_none()
        } else {
            self.emit_instruction("DebugTypeArray", &arguments)
        }
    }

    /// The component type of a vector, with typedefs and qualifiers removed.
    fn basic_type(&self, vector: LlvmMetadata) -> Option<LlvmMetadata> {
        let mut node = vector;
        for _ in 0..MOST_NAMES {
            node = self.node_field(node, "baseType")?;
            match self.class_of(node) {
                "DIBasicType" => return Some(node),
                "DIDerivedType" => self.row_field(node, "tag", NAMES_OF_TYPES)?,
                _ => return None,
            };
        }
        None
    }

    /// The variable that holds an array's length. The specification permits only unsigned 32-bit or
    /// 64-bit variables.
    fn find_length_variable(&mut self, range: LlvmMetadata) -> Option<Id> {
        let variable = self.node_field(range, "count")?;
        let ty = self.node_field(variable, "type")?;
        let fits = self.class_of(variable) == "DILocalVariable"
            && self.class_of(ty) == "DIBasicType"
            && matches!(self.number_field(ty, "size"), 32 | 64)
            && self
                .row_field(ty, "encoding", &[("DW_ATE_unsigned", 7, 1)])
                .is_some();
        fits.then(|| self.emit_node(Some(variable)))
    }

    /// Whether more than the lengths of an array is known.
    fn has_ranges(&self, node: LlvmMetadata, ranges: &[LlvmMetadata]) -> bool {
        let dynamic = DYNAMIC
            .iter()
            .any(|field| self.find_field(node, field).is_some());
        let bound = |range: &LlvmMetadata| {
            let mut fields = BOUNDS.iter().chain(["stride"].iter());
            fields.any(|field| *field != "count" && self.find_field(*range, field).is_some())
        };
        dynamic || ranges.iter().any(bound)
    }

    /// An array with ranges. For other sets the validator would take the ranges for lengths.
    fn emit_ranged_array(&mut self, node: LlvmMetadata, base: Id, ranges: &[LlvmMetadata]) -> Id {
        let mut arguments = vec![I(base)];
        arguments.extend(DYNAMIC.map(|field| I(self.emit_bound(node, field))));
        for &range in ranges {
            let range = self.emit_range(range);
            arguments.push(I(range));
        }
        self.emit_instruction("DebugTypeArrayDynamic", &arguments)
    }

    fn emit_range(&mut self, node: LlvmMetadata) -> Id {
        let bounds = BOUNDS.map(|field| I(self.emit_bound(node, field)));
        let mut arguments = bounds.to_vec();
        if self.find_field(node, "stride").is_some() {
            arguments.push(I(self.emit_bound(node, "stride")));
        }
        self.emit_instruction("DebugTypeSubrange", &arguments)
    }

    /// A number, a variable or an expression, or `DebugInfoNone` if it is none of these.
    fn emit_bound(&mut self, node: LlvmMetadata, field: &str) -> Id {
        let number = match self.find_field(node, field) {
            Some(MetadataField::Int(number)) => i64::try_from(number).ok(),
            Some(MetadataField::Node(Some(bound))) => {
                let Some(constant) = self.t.module.metadata.as_constant(bound) else {
                    return self.emit_node(Some(bound));
                };
                let ty = self.t.module.consts.ty(constant);
                let unused = 64 - self.t.module.types.int_width(ty).unwrap_or(64).clamp(1, 64);
                let bits = self.t.module.consts.as_u64(constant);
                bits.map(|bits| ((bits << unused) as i64) >> unused)
            }
            _ => None,
        };
        match number {
            Some(number) => {
                let ty = self.t.b.int_type(64, false);
                self.t.scalar_constant(ty, 64, number as u64)
            }
            None => self.emit_none(),
        }
    }

    /// A string type; `None` if the set has no string types.
    pub(super) fn emit_string_type(&mut self, node: LlvmMetadata) -> Option<Id> {
        if !self.has_array_ranges() {
            return None;
        }
        let name = self.emit_name(node, "name");
        let place = self.emit_bound(node, "stringLocationExpression");
        let size = self.number_field(node, "size");
        let length = match self.node_field(node, "stringLengthExpression") {
            Some(expression) => self.emit_node(Some(expression)),
            None => self.emit_bound(node, "stringLength"),
        };
        let none = self.emit_none();
        let arguments = [I(name), I(none), I(place), N(size), I(length)];
        Some(self.emit_instruction("DebugTypeString", &arguments))
    }

    /// A module; `None` if the set has no modules.
    pub(super) fn emit_module(&mut self, node: LlvmMetadata) -> Option<Id> {
        if !self.has_array_ranges() {
            return None;
        }
        let name = self.emit_name(node, "name");
        let source = self.emit_file(node);
        let line = self.number_field(node, "line");
        let parent = self.emit_scope_of(node);
        let texts = ["configMacros", "includePath", "apinotes"];
        let texts = texts.map(|field| I(self.emit_name(node, field)));
        let declares = self.number_field(node, "isDecl");
        let mut arguments = vec![I(name), I(source), N(line), I(parent)];
        arguments.extend(texts);
        arguments.push(N(declares));
        Some(self.emit_instruction("DebugModule", &arguments))
    }
}
