//! Compute shaders: modules of the triple `spirv-unknown-vulkan-compute`, with logical addressing.
//!
//! Resources are globals in the address spaces of their storage classes (see [`crate::lift()`],
//! which writes such modules). Their layouts are rows of `!spirv.Layouts`. Pointers are never cast
//! here: a pointer has the type that its access path leads to, so an address computation must step
//! from member to member. A value whose layout in memory differs is copied member by member when it
//! is loaded or stored. No merge instructions are written; control flow is that of the module.

use super::call_rules::ExternalCall;
use super::function_body::FunctionTranslator;
use super::shapes::NumericShape;
use super::translator::LlvmTranslator;
use crate::ir::{
    InstructionExtra, LlvmFunc, LlvmInst, LlvmInstFlags, LlvmMetadata, LlvmType, LlvmTypeKind,
    LlvmValue,
};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::{
    AddressingModel, BuiltIn, Decoration, ExecutionMode, MemoryModel,
};
use spirula_spirv::grammar::{AccessChainForm, ExtInstSet, Op};
use spirula_spirv::ir::ModuleSection;

/// GLSL's functions of matrices.
const OF_MATRICES: &[&str] = &["Determinant", "MatrixInverse"];

impl LlvmTranslator<'_> {
    /// Whether the module becomes a shader.
    pub(super) fn is_shader(&self) -> bool {
        self.shader.is_some()
    }

    /// Whether a function is the entry point of a shader.
    pub(super) fn is_shader_entry(&self, func: LlvmFunc) -> bool {
        self.is_shader() && self.function_string_attribute(func, "hlsl.shader") == Some("compute")
    }

    /// The pointee of a parameter of a shader's function, if the module states it.
    pub(super) fn stated_pointee(&self, func: LlvmFunc, local: usize) -> Option<LlvmType> {
        let metadata = &self.module.metadata;
        self.shader.as_ref()?;
        let node = self
            .module
            .function_metadata(func, "spirv.ParameterTypes")?;
        let stated = metadata.operands(node).get(local).copied().flatten()?;
        Some(self.module.consts.ty(metadata.as_constant(stated)?))
    }

    /// The value of a function's string attribute.
    fn function_string_attribute(&self, func: LlvmFunc, key: &str) -> Option<&str> {
        let key = self.module.strings.find_symbol(key)?;
        let attributes = &self.module.attributes;
        let set = attributes.function_set(self.module.function(func).attributes);
        let value = attributes.find_string(set, key)?;
        Some(self.module.symbol_text(value))
    }

    /// Declares addressing and memory model of a shader.
    pub(super) fn declare_shader_memory_model(&mut self) {
        let metadata = &self.module.metadata;
        let row = self.module.named_metadata("spirv.MemoryModel").first();
        let stated = row.and_then(|row| metadata.operands(*row).get(1).copied().flatten());
        let stated = stated.and_then(|number| metadata.as_constant(number));
        let stated = stated.and_then(|number| self.module.consts.as_u64(number));
        let model = if stated == Some(MemoryModel::Vulkan.0.into()) {
            MemoryModel::Vulkan
        } else {
            MemoryModel::GLSL450
        };
        let addressing = if self.has_addresses() {
            AddressingModel::PhysicalStorageBuffer64
        } else {
            AddressingModel::Logical
        };
        self.b.memory_model(addressing, model);
    }

    /// Declares the size of a shader's workgroups.
    pub(super) fn declare_workgroup_sizes(&mut self, func: LlvmFunc, entry: Id) {
        let Some(text) = self.function_string_attribute(func, "hlsl.numthreads") else {
            return;
        };
        let sizes = text.split(',').filter_map(|size| size.trim().parse().ok());
        let mut sizes: Vec<u32> = sizes.collect();
        sizes.resize(3, 1);
        self.b
            .execution_mode(entry, ExecutionMode::LocalSize, &sizes);
        if let Some(numbers) = self.function_string_attribute(func, "spirv.LocalSizeIds") {
            let numbers: Vec<Option<u32>> = numbers.split(',').map(|n| n.parse().ok()).collect();
            self.declare_specialised_size(&sizes, &numbers);
        }
    }

    /// The workgroup size as a constant. Its components with numbers can be specialised.
    fn declare_specialised_size(&mut self, sizes: &[u32], numbers: &[Option<u32>]) {
        let mut parts = Vec::with_capacity(3);
        for (n, &size) in sizes.iter().enumerate().take(3) {
            let number = numbers.get(n).copied().flatten();
            parts.push(match number {
                Some(number) => {
                    self.make_spec_constant(number, NumericShape::new_int(32, 1), size.into())
                }
                None => self.b.constant_u32(size),
            });
        }
        let word = self.b.int_type(32, false);
        let vector = self.b.vector_type(word, 3);
        let id = self.b.fresh_id();
        let mut words = vec![vector.word(), id.word()];
        words.extend(parts.iter().map(|part| part.word()));
        self.b
            .push_inst(ModuleSection::Globals, Op::SpecConstantComposite, &words);
        self.b.set_type_of(id, vector);
        self.b
            .decorate_id(id, Decoration::BuiltIn, &[BuiltIn::WorkgroupSize.0]);
    }

    /// A type in memory: its form in registers with the stated layout.
    pub(super) fn shader_type(&mut self, ty: LlvmType, depth: u32) -> LlvmResult<Id> {
        let module = self.module;
        match module.types.kind(ty) {
            LlvmTypeKind::Array { element, len } => {
                let element = self.memory_type_within(*element, depth + 1)?;
                Ok(self.shader_array(element, *len, 0))
            }
            LlvmTypeKind::Struct {
                fields: Some(fields),
                ..
            } if let (Some(length), [array]) = (self.specialised_length(ty), &**fields) => {
                self.specialised_array(*array, length, depth)
            }
            LlvmTypeKind::Struct {
                name,
                fields: Some(fields),
                ..
            } => {
                let rows = self.layout_rows(ty);
                let mut members = Vec::with_capacity(fields.len());
                for (index, field) in fields.iter().enumerate() {
                    let row = rows.get(index + 1).copied().flatten();
                    let strides = row.map_or_else(Vec::new, |row| self.read_strides(row));
                    let row_major = row.is_some_and(|row| self.is_row_major(row));
                    members.push(self.make_strided_array(
                        *field,
                        &strides,
                        row_major,
                        depth + 1,
                    )?);
                }
                Ok(self.shader_struct(module.symbol_text(*name), &members, &rows))
            }
            LlvmTypeKind::Target { name, types, ints } => {
                let numbers = self.specialised_parameters(ty);
                self.target_type_with(module.symbol_text(*name), types, ints, &numbers)
            }
            _ => Err(self.no_type(ty)),
        }
    }

    /// The decoration lists of a structure and of its members.
    fn layout_rows(&self, ty: LlvmType) -> Vec<Option<LlvmMetadata>> {
        let layouts = self.shader.as_ref().map(|shader| &shader.layouts);
        let row = layouts.and_then(|layouts| *layouts.get(ty.index())?);
        row.map_or_else(Vec::new, |row| {
            self.module.metadata.operands(row)[1..].to_vec()
        })
    }

    /// Whether the module states the layout of a type.
    pub(super) fn has_layout(&self, ty: LlvmType) -> bool {
        !self.layout_rows(ty).is_empty()
    }

    /// Whether two types are equal, or differ only in their layout.
    pub(super) fn is_laid_out(&self, ty: Id, other: Id) -> bool {
        if ty == other {
            return true;
        }
        let members = |ty: Id| self.shader.as_ref().and_then(|s| s.members[ty].as_ref());
        let elements = |ty: Id| self.shader.as_ref().and_then(|s| s.elements[ty]);
        match (members(ty), members(other)) {
            (Some(a), Some(b)) => {
                let mut pairs = a.iter().zip(b.iter());
                a.len() == b.len() && pairs.all(|(a, b)| self.is_laid_out(*a, *b))
            }
            _ => match (elements(ty), elements(other)) {
                (Some((a, n)), Some((b, m))) => n == m && self.is_laid_out(a, b),
                _ => false,
            },
        }
    }

    fn read_strides(&self, row: LlvmMetadata) -> Vec<u32> {
        let rows = self.module.metadata.operands(row).iter().flatten();
        let stated = rows.filter_map(|row| self.read_decoration_node(*row));
        stated
            .filter(|(decoration, _)| *decoration == Decoration::ArrayStride)
            .filter_map(|(_, words)| words.first().copied())
            .collect()
    }

    fn is_row_major(&self, row: LlvmMetadata) -> bool {
        let mut rows = self.module.metadata.operands(row).iter().flatten();
        rows.any(|row| {
            let stated = self.read_decoration_node(*row);
            stated.is_some_and(|(decoration, _)| decoration == Decoration::RowMajor)
        })
    }

    /// Declares an array of arrays with their strides, outermost first. The innermost element may
    /// be a row-major matrix.
    fn make_strided_array(
        &mut self,
        ty: LlvmType,
        strides: &[u32],
        row_major: bool,
        depth: u32,
    ) -> LlvmResult<Id> {
        match (self.module.types.kind(ty), strides) {
            (LlvmTypeKind::Array { element, len }, [stride, rest @ ..]) => {
                let (element, len) = (*element, *len);
                let element = self.make_strided_array(element, rest, row_major, depth + 1)?;
                Ok(self.shader_array(element, len, *stride))
            }
            (LlvmTypeKind::Array { element, len }, []) if row_major => {
                let (element, len) = (*element, *len);
                let column = self.memory_type_within(element, depth + 1)?;
                self.row_major_matrix(column, len)
            }
            _ => self.memory_type_within(ty, depth),
        }
    }

    fn shader_array(&mut self, element: Id, len: u64, stride: u32) -> Id {
        let key = (element, len, stride);
        let known = self.shader.as_ref().and_then(|s| s.arrays.get(&key));
        if let Some(id) = known {
            return *id;
        }
        let id = match u32::try_from(len) {
            Ok(0) => self
                .b
                .distinct_type(Op::TypeRuntimeArray, &[element.word()]),
            len => {
                let length = self.b.constant_u32(len.unwrap_or(u32::MAX));
                let words = [element.word(), length.word()];
                self.b.distinct_type(Op::TypeArray, &words)
            }
        };
        if stride != 0 {
            self.b.decorate_id(id, Decoration::ArrayStride, &[stride]);
        }
        self.set_first_member(id, element);
        if let Some(shader) = &mut self.shader {
            shader.arrays.insert(key, id);
            shader.elements.set(id, Some((element, len)));
        }
        self.note_composed(id);
        id
    }

    fn shader_struct(&mut self, name: &str, members: &[Id], rows: &[Option<LlvmMetadata>]) -> Id {
        let words: Vec<u32> = members.iter().map(|m| m.word()).collect();
        let id = if name.is_empty() {
            self.b.struct_type(members)
        } else {
            self.b.distinct_type(Op::TypeStruct, &words)
        };
        self.name_id(id, name);
        for (index, row) in rows.iter().enumerate() {
            let Some(row) = row else { continue };
            for one in self.module.metadata.operands(*row).to_vec() {
                let Some((decoration, words)) = one.and_then(|one| self.read_decoration_node(one))
                else {
                    continue;
                };
                match index.checked_sub(1) {
                    None => self.b.decorate_id(id, decoration, &words),
                    Some(_) if decoration == Decoration::ArrayStride => {}
                    Some(member) => {
                        self.b
                            .decorate_member(id, member as u32, decoration, &words);
                    }
                }
            }
        }
        if let Some(first) = members.first() {
            self.set_first_member(id, *first);
        }
        if let Some(shader) = &mut self.shader {
            shader.members.set(id, Some(members.into()));
        }
        self.note_composed(id);
        id
    }

    /// The type of a member of an aggregate or vector type.
    fn type_of_member(&self, aggregate: Id, n: Option<u64>) -> Option<Id> {
        match self
            .shader
            .as_ref()
            .and_then(|s| s.members[aggregate].as_ref())
        {
            Some(members) => members.get(usize::try_from(n?).ok()?).copied(),
            None => self.first_member(aggregate),
        }
    }

    fn import_glsl(&mut self) -> Id {
        if let Some(id) = self.shader.as_ref().and_then(|s| s.glsl) {
            return id;
        }
        let id = self.b.import_set("GLSL.std.450");
        if let Some(shader) = &mut self.shader {
            shader.glsl = Some(id);
        }
        id
    }
}

impl FunctionTranslator<'_, '_> {
    /// An address computation: one step for each index except the first, which must be zero.
    pub(super) fn lower_shader_address(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let data = self.function.inst(inst);
        let InstructionExtra::SourceType(source) = data.extra else {
            return Err(make_refusal("an address computation without a source type"));
        };
        let operands = self.function.operands(inst);
        if self.is_address(operands[0]) {
            return self.lower_device_address(source, operands, data.flags);
        }
        let base = self.lower_value(operands[0])?;
        if operands.get(1).and_then(|v| self.t.module.as_u64(*v)) != Some(0) {
            return Err(make_refusal(
                "an address computation that leaves its object has no counterpart in shaders",
            ));
        }
        self.access_path(base, source, &operands[2..], data.flags)
    }

    /// A pointer to the member of an object that a path of indices selects.
    pub(super) fn access_path(
        &mut self,
        base: Id,
        source: LlvmType,
        path: &[LlvmValue],
        flags: LlvmInstFlags,
    ) -> LlvmResult<Id> {
        let known = self.t.b.type_of(base).and_then(|ty| self.t.pointee_of(ty));
        let Some((class, mut at)) = known else {
            return Err(make_refusal(
                "an address computation from a value that is not a pointer",
            ));
        };
        let mut words = vec![base.word()];
        let path = self.t.without_wrappers(source, path);
        for &index in path.iter() {
            let number = self.t.module.as_u64(index);
            let Some(part) = self.t.type_of_member(at, number) else {
                return Err(make_refusal(
                    "an address computation steps into a type without members",
                ));
            };
            words.push(self.lower_value(index)?.word());
            at = part;
        }
        if words.len() == 1 {
            return Ok(base);
        }
        let ty = self.t.pointer_type(class, at);
        let is_inbounds = flags.contains_all(LlvmInstFlags::INBOUNDS);
        let chain = AccessChainForm::TYPED.with_inbounds(is_inbounds);
        Ok(self.t.b.append_value(chain.opcode(), ty, &words))
    }

    /// The pointee of a pointer. In shaders its layout may differ from that of `ty`.
    pub(super) fn find_accessed_type(&self, pointer: Id, ty: Id) -> Id {
        let known = self.t.b.type_of(pointer);
        match known.and_then(|ty| self.t.pointee_of(ty)) {
            Some((_, pointee)) if self.t.is_shader() => pointee,
            _ => ty,
        }
    }

    /// The type of the member that a path selects in a value. In shaders its layout may differ from
    /// that of `ty`.
    pub(super) fn member_in_layout(&self, aggregate: Id, path: &[u32], ty: Id) -> Id {
        if !self.t.is_shader() {
            return ty;
        }
        let part = |at, index: &u32| self.t.type_of_member(at, Some((*index).into()));
        let whole = self.t.b.type_of(aggregate);
        let member = whole.and_then(|whole| path.iter().try_fold(whole, part));
        member.unwrap_or(ty)
    }

    /// A value converted to a type that differs only in its layout.
    pub(super) fn in_layout(&mut self, id: Id, ty: Id) -> LlvmResult<Id> {
        match self.t.b.type_of(id) {
            Some(have) if have != ty && self.t.is_shader() => self.copy_to_layout(id, have, ty),
            _ => Ok(id),
        }
    }

    /// `__spirv_glsl_NAME(…)`
    pub(super) fn lower_glsl_function(
        &mut self,
        name: &str,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Id> {
        let name = name.split("_R").next().unwrap_or(name);
        let set = ExtInstSet::by_name("GLSL.std.450");
        let row = set.and_then(|set| set.instruction_by_name(name));
        let (Some(row), true) = (row, self.t.is_shader()) else {
            return Err(make_refusal("there is no such extended instruction"));
        };
        if call.args.len() != row.operands.len() {
            return Err(make_refusal(
                "the number of arguments is not that of operands",
            ));
        }
        let ty = self.result_type(call.inst)?;
        let mut words = vec![self.t.import_glsl().word(), row.number];
        let of_matrices = OF_MATRICES.contains(&name);
        for &argument in call.args {
            let id = self.lower_value(argument)?;
            words.push(if of_matrices {
                self.as_matrix(id, self.type_of(argument))?.word()
            } else {
                id.word()
            });
        }
        if name == "MatrixInverse" {
            let given = self.function.inst(call.inst).ty;
            let matrix = self.matrix_type(given)?;
            let id = self.t.b.append_value(Op::ExtInst, matrix, &words);
            return self.as_columns(id, given, ty);
        }
        let id = self.t.b.append_value(Op::ExtInst, ty, &words);
        self.decorate_fast_math(call.inst, id);
        Ok(id)
    }

    /// The columns of an array that stands for a matrix: their number and type.
    fn find_matrix_columns(&mut self, ty: LlvmType) -> LlvmResult<(u32, Id)> {
        let LlvmTypeKind::Array { element, len } = *self.t.module.types.kind(ty) else {
            return Err(make_refusal("an argument is not a matrix"));
        };
        let count = u32::try_from(len)
            .ok()
            .filter(|count| (2..=4).contains(count));
        let count = count.ok_or_else(|| make_refusal("an argument is not a matrix"))?;
        Ok((count, self.t.memory_type(element)?))
    }

    fn matrix_type(&mut self, ty: LlvmType) -> LlvmResult<Id> {
        let (count, column) = self.find_matrix_columns(ty)?;
        Ok(self
            .t
            .b
            .declare_type(Op::TypeMatrix, &[column.word(), count]))
    }

    /// An array of columns as a matrix.
    fn as_matrix(&mut self, id: Id, ty: LlvmType) -> LlvmResult<Id> {
        let (count, column) = self.find_matrix_columns(ty)?;
        let matrix = self.matrix_type(ty)?;
        self.recompose_matrix(id, count, column, matrix)
    }

    /// A matrix as an array of its columns.
    fn as_columns(&mut self, id: Id, ty: LlvmType, array: Id) -> LlvmResult<Id> {
        let (count, column) = self.find_matrix_columns(ty)?;
        self.recompose_matrix(id, count, column, array)
    }

    fn recompose_matrix(&mut self, id: Id, count: u32, column: Id, whole: Id) -> LlvmResult<Id> {
        let mut words = Vec::new();
        for index in 0..count {
            let operands = [id.word(), index];
            let part = self
                .t
                .b
                .append_value(Op::CompositeExtract, column, &operands);
            words.push(part.word());
        }
        Ok(self.t.b.append_value(Op::CompositeConstruct, whole, &words))
    }
}
