//! Debug types: derived, composite, enumeration and function types.

use super::DebugInfoEmitter;
use super::DebugInfoOperand;
use super::dwarf_encodings::{
    ARRAY, COMPOSITES, ENUMERATION, INHERITANCE, MEMBER, MEMBER_POINTER, POINTERS, QUALIFIERS,
    TYPEDEF,
};
use crate::ir::{LlvmMetadata, MetadataField};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::StorageClass;

/// Members that a composite may list.
const MAX_MEMBERS: usize = 16_000;

use DebugInfoOperand::{Id as I, Number as N};

/// The flag of a static member, which may have a value.
const STATIC_MEMBER: u32 = 1 << 9;

impl DebugInfoEmitter<'_, '_> {
    pub(super) fn emit_derived(&mut self, node: LlvmMetadata) -> Option<Id> {
        if let Some(flags) = self.row_field(node, "tag", POINTERS) {
            let base = self.emit_type_of(node, "baseType");
            let space = self.number_field(node, "dwarfAddressSpace");
            let class = self
                .t
                .storage_class(space)
                .unwrap_or(StorageClass::Function);
            let arguments = [I(base), N(class.0), N(flags)];
            return Some(self.emit_instruction("DebugTypePointer", &arguments));
        }
        if let Some(qualifier) = self.row_field(node, "tag", QUALIFIERS) {
            let base = self.emit_type_of(node, "baseType");
            let arguments = [I(base), N(qualifier)];
            return Some(self.emit_instruction("DebugTypeQualifier", &arguments));
        }
        if self.row_field(node, "tag", MEMBER_POINTER).is_some() {
            let member = self.emit_type_of(node, "baseType");
            let class = self.node_field(node, "extraData");
            let class = self.emit_node(class);
            return Some(self.emit_instruction("DebugTypePtrToMember", &[I(member), I(class)]));
        }
        if self.row_field(node, "tag", TYPEDEF).is_some() {
            let name = self.emit_name(node, "name");
            // `void` cannot have another name.
            let named = self.node_field(node, "baseType")?;
            let base = self.emit_type(Some(named));
            // The validator accepts names of basic types only; typedefs of other types are replaced
            // by the type.
            if self.class_of(named) != "DIBasicType" {
                return Some(base);
            }
            let [source, line, column] = self.emit_source_position(node);
            let parent = self.emit_scope_of(node);
            let arguments = [I(name), I(base), source, line, column, I(parent)];
            return Some(self.emit_instruction("DebugTypedef", &arguments));
        }
        None
    }

    pub(super) fn emit_composite(&mut self, node: LlvmMetadata) -> Option<Id> {
        if self.row_field(node, "tag", ARRAY).is_some() {
            return Some(self.emit_array(node));
        }
        if self.row_field(node, "tag", ENUMERATION).is_some() {
            return Some(self.emit_enumeration(node));
        }
        let tag = self.row_field(node, "tag", COMPOSITES)?;
        let name = self.emit_name(node, "name");
        let [source, line, column] = self.emit_source_position(node);
        let parent = self.emit_scope_of(node);
        // Translating the enclosing scope may have translated this node too.
        if let Some(id) = self.find_emitted(node) {
            return Some(id);
        }
        let linkage = self.emit_name(node, "identifier");
        let size = self.number_field(node, "size");
        let flags = self.read_access_and_flags(node);
        let elements = self.node_field(node, "elements");
        let elements = elements.map_or(Vec::new(), |list| {
            self.t.module.metadata.operands(list).to_vec()
        });
        let members: Vec<LlvmMetadata> = elements
            .into_iter()
            .flatten()
            .filter(|m| self.row_field(*m, "tag", MEMBER).is_some())
            .take(MAX_MEMBERS)
            .collect();
        let id = self.t.b.fresh_id();
        let mut arguments = vec![I(name), N(tag), source, line, column, I(parent), I(linkage)];
        arguments.extend([N(size), N(flags)]);
        if self.t.is_non_semantic() {
            self.emit_composite_after_members(node, id, arguments, &members);
            return Some(id);
        }
        self.t.debug.nodes[node.index()] = Some(id);
        let ids: Vec<Id> = members.iter().map(|_| self.t.b.fresh_id()).collect();
        arguments.extend(ids.iter().map(|id| I(*id)));
        self.define_instruction(id, "DebugTypeComposite", &arguments);
        for (&member, &own) in members.iter().zip(&ids) {
            self.t.debug.nodes[member.index()] = Some(own);
            self.emit_member(member, own, Some(id));
        }
        self.emit_bases(node, id);
        Some(id)
    }

    /// A composite that follows its members. The members do not reference it, because instructions
    /// of non-semantic sets must not reference later ones.
    pub(super) fn emit_composite_after_members(
        &mut self,
        node: LlvmMetadata,
        id: Id,
        mut arguments: Vec<DebugInfoOperand>,
        members: &[LlvmMetadata],
    ) {
        let none = self.emit_none();
        self.t.debug.nodes[node.index()] = Some(none);
        for &member in members {
            let own = self.t.b.fresh_id();
            self.emit_member(member, own, None);
            self.t.debug.nodes[member.index()] = Some(own);
            arguments.push(I(own));
        }
        // Base classes are omitted: the Khronos validator takes the tags of composites for literals
        // there.
        self.define_instruction(id, "DebugTypeComposite", &arguments);
        self.t.debug.nodes[node.index()] = Some(id);
    }

    pub(super) fn emit_member(&mut self, node: LlvmMetadata, id: Id, parent: Option<Id>) {
        let name = self.emit_name(node, "name");
        let ty = self.emit_type_of(node, "baseType");
        let [source, line, column] = self.emit_source_position(node);
        let offset = self.number_field(node, "offset");
        let size = self.number_field(node, "size");
        let flags = self.read_access_and_flags(node);
        let mut arguments = vec![I(name), I(ty), source, line, column];
        arguments.extend(parent.map(I));
        arguments.extend([N(offset), N(size), N(flags)]);
        if flags & STATIC_MEMBER != 0 && self.find_field(node, "extraData").is_some() {
            let value = self.number_field(node, "extraData");
            arguments.push(I(self.t.make_u32(value)));
        }
        self.define_instruction(id, "DebugTypeMember", &arguments);
    }

    /// The classes that a class is derived from.
    pub(super) fn emit_bases(&mut self, node: LlvmMetadata, id: Id) {
        let elements = self.node_field(node, "elements");
        let elements = elements.map_or(Vec::new(), |list| {
            self.t.module.metadata.operands(list).to_vec()
        });
        for element in elements.into_iter().flatten() {
            if self.row_field(element, "tag", INHERITANCE).is_none() {
                continue;
            }
            let base = self.node_field(element, "baseType");
            let base = self.emit_node(base);
            let offset = self.number_field(element, "offset");
            let size = self.number_field(element, "size");
            let flags = self.read_access_and_flags(element);
            let arguments = [I(id), I(base), N(offset), N(size), N(flags)];
            self.emit_instruction("DebugTypeInheritance", &arguments);
        }
    }

    pub(super) fn emit_enumeration(&mut self, node: LlvmMetadata) -> Id {
        let name = self.emit_name(node, "name");
        let base = self.emit_type_of(node, "baseType");
        let [source, line, column] = self.emit_source_position(node);
        let parent = self.emit_scope_of(node);
        let size = self.number_field(node, "size");
        let flags = self.read_access_and_flags(node);
        let mut arguments = vec![I(name), I(base), source, line, column, I(parent)];
        arguments.extend([N(size), N(flags)]);
        let elements = self.node_field(node, "elements");
        let elements = elements.map_or(Vec::new(), |list| {
            self.t.module.metadata.operands(list).to_vec()
        });
        for element in elements.into_iter().flatten().take(MAX_MEMBERS / 2) {
            let value = match self.find_field(element, "value") {
                Some(MetadataField::Int(value)) => value as u32,
                _ => 0,
            };
            let name = self.emit_name(element, "name");
            arguments.extend([N(value), I(name)]);
        }
        self.emit_instruction("DebugTypeEnum", &arguments)
    }

    pub(super) fn emit_function_type(&mut self, node: LlvmMetadata) -> Id {
        let flags = self.read_access_and_flags(node);
        let types = self.node_field(node, "types");
        let types = types.map_or(Vec::new(), |list| {
            self.t.module.metadata.operands(list).to_vec()
        });
        let mut arguments = vec![N(flags)];
        let mut types = types.into_iter();
        let result = match types.next() {
            Some(Some(ty)) => self.emit_type(Some(ty)),
            _ => self.t.b.void_type(),
        };
        arguments.push(I(result));
        for ty in types {
            let ty = self.emit_type(ty);
            arguments.push(I(ty));
        }
        self.emit_instruction("DebugTypeFunction", &arguments)
    }
}
