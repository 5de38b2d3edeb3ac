//! Lifting of entry points: kernel metadata and source language metadata.

use super::lifter::SpirvLifter;
use crate::ir::{LlvmMetadata, LlvmSymbol, LlvmType, LlvmTypeKind};
use crate::{LlvmResult, make_refusal};
use rustc_hash::FxHashMap;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{
    AccessQualifier, Decoration, ExecutionMode, ExecutionModel, SourceLanguage,
};
use spirula_spirv::ir::{InstRef, ModuleSection};

/// Execution modes that LLVM has as function metadata of their own.
const ATTACHED: &[(ExecutionMode, &str)] = &[
    (ExecutionMode::LocalSize, "reqd_work_group_size"),
    (ExecutionMode::LocalSizeHint, "work_group_size_hint"),
    (ExecutionMode::MaxWorkgroupSizeINTEL, "max_work_group_size"),
    (ExecutionMode::SubgroupSize, "intel_reqd_sub_group_size"),
    (ExecutionMode::MaxWorkDimINTEL, "max_global_work_dim"),
    (ExecutionMode::NumSIMDWorkitemsINTEL, "num_simd_work_items"),
];

/// Scalar types by their numbers in `VecTypeHint`.
const HINTS: &[LlvmType] = &[
    LlvmType::I8,
    LlvmType::I16,
    LlvmType::I32,
    LlvmType::I64,
    LlvmType::HALF,
    LlvmType::FLOAT,
    LlvmType::DOUBLE,
];

/// The number of integer types among the scalar types of `VecTypeHint`; they come first.
const INTEGER_HINTS: u32 = 4;

/// Prefix of the strings that state the unsigned types of hints.
const UNSIGNED_HINT: &str = "vec_type_hint";

/// Prefixes of the strings in which Khronos' translator keeps the source types of arguments.
const TEXTS: &[&str] = &["kernel_arg_type", "kernel_arg_type_qual"];

impl SpirvLifter<'_> {
    /// Finds the entry points and reserves their names.
    pub(super) fn find_entry_points(&mut self) {
        for inst in self.source.section_insts(ModuleSection::EntryPoints) {
            let model = ExecutionModel(inst.operand_word(0));
            let name = self.out.strings.intern_text(&inst.string_operand(2));
            let known = self.used_names.insert(name, 0).is_some();
            let function = inst.id_operand(1);
            let expected = if self.is_shader {
                ExecutionModel::GLCompute
            } else {
                ExecutionModel::Kernel
            };
            if model != expected {
                self.report_unlifted(
                    inst,
                    &format!("entry points of the model {model} are not supported"),
                );
            } else if known || self.entries[function].is_some() {
                self.report_unlifted(
                    inst,
                    "a function or name of two entry points has no counterpart",
                );
            } else {
                self.entries.set(function, Some(inst.handle()));
            }
        }
    }

    /// Attaches the properties of entry points to their functions.
    pub(super) fn lift_entry_points(&mut self) {
        self.lift_source_language();
        let mut modes = Vec::new();
        let texts = self.find_argument_strings();
        for inst in self.source.section_insts(ModuleSection::ExecutionModes) {
            if ExecutionMode(inst.operand_word(1)) == ExecutionMode::VecTypeHint {
                self.attach_vector_hint(inst, &texts);
                continue;
            }
            match self.lift_execution_mode(inst) {
                Ok(node) => modes.extend(node),
                Err(why) => self.report_unlifted(inst, &why.to_string()),
            }
        }
        self.md_named("spirv.ExecutionMode", modes);
        for inst in self.source.section_insts(ModuleSection::EntryPoints) {
            let function = inst.id_operand(1);
            if !self.is_shader
                && self.functions[function].is_some()
                && let Err(why) =
                    self.attach_kernel_arguments(function, &inst.string_operand(2), &texts)
            {
                self.report_unlifted(inst, &why.to_string());
            }
        }
    }

    fn lift_source_language(&mut self) {
        let mut sources = self.source.section_insts(ModuleSection::Sources);
        let Some(inst) = sources.find(|inst| inst.op() == Op::Source) else {
            return;
        };
        let (language, version) = (SourceLanguage(inst.operand_word(0)), inst.operand_word(1));
        if language == SourceLanguage::OpenCL_C {
            let (major, minor) = (version / 100_000, version / 1000 % 100);
            let node = self.md_numbers(&[major, minor]);
            self.md_named("opencl.ocl.version", vec![node]);
        }
        let node = self.md_numbers(&[language.0, version]);
        self.md_named("spirv.Source", vec![node]);
    }

    /// Attaches an execution mode to its function, or returns a row for the list of all modes.
    fn lift_execution_mode(&mut self, inst: InstRef<'_>) -> LlvmResult<Option<LlvmMetadata>> {
        let Some(func) = self.functions[inst.id_operand(0)] else {
            return Ok(None);
        };
        let mode = ExecutionMode(inst.operand_word(1));
        let ids = inst.op() == Op::ExecutionModeId;
        if self.is_shader && mode == ExecutionMode::LocalSizeId {
            let sizes: Vec<Id> = inst.id_operands(2).collect();
            self.size_of_constants(func, &sizes)?;
            return Ok(None);
        }
        if self.is_shader && mode == ExecutionMode::LocalSize && !ids {
            let size = self.workgroup_size;
            if let Some(inst) = size.and_then(|id| self.definitions.get(self.source, id)) {
                let sizes: Vec<Id> = inst.id_operands(0).collect();
                self.size_of_constants(func, &sizes)?;
                return Ok(None);
            }
            let sizes: Vec<String> = inst.operands()[2..].iter().map(u32::to_string).collect();
            self.add_string_attribute(func, "hlsl.numthreads", &sizes.join(","));
            return Ok(None);
        }
        if let (Some((_, name)), false) = (ATTACHED.iter().find(|row| row.0 == mode), ids) {
            let node = self.md_numbers(&inst.operands()[2..]);
            self.attach_to_function(func, name, node);
            return Ok(None);
        }
        // LLVM IR allows contraction only where it is stated, so translators add this mode themselves.
        if mode == ExecutionMode::ContractionOff {
            return Ok(None);
        }
        let address = self.function_address(func);
        let Some(address) = address.as_const() else {
            return Ok(None);
        };
        let mut parts = vec![self.md_constant(address), self.md_number(mode.0)];
        for &word in &inst.operands()[2..] {
            parts.push(match Id::new(word) {
                Some(id) if ids => match self.types[id] {
                    Some(lowered) => {
                        let undefined = crate::ir::ConstKind::Undef;
                        let constant = self.out.consts.intern_constant(lowered.ty, undefined);
                        self.md_constant(constant)
                    }
                    None => {
                        let constant = self.find_constant(id)?;
                        self.md_constant(constant)
                    }
                },
                _ => self.md_number(word),
            });
        }
        Ok(Some(self.md_node(&parts)))
    }

    /// The workgroup size of a shader, given by constants of which some can be specialised: the
    /// default values, and the numbers of the specialisation constants (`spirv.LocalSizeIds`).
    fn size_of_constants(&mut self, func: crate::ir::LlvmFunc, sizes: &[Id]) -> LlvmResult<()> {
        let (mut defaults, mut numbers) = (Vec::new(), Vec::new());
        for &id in sizes {
            let default = self.definitions.default_value(self.source, id);
            let default =
                default.ok_or_else(|| make_refusal(format!("{id} has no number as default")))?;
            defaults.push(default.to_string());
            let number = self.find_decoration(id, Decoration::SpecId);
            numbers.push(match number {
                Some(words) => words.first().map(u32::to_string).unwrap_or_default(),
                None if self.definitions.defining_op(self.source, id) == Some(Op::Constant) => {
                    String::new()
                }
                None => {
                    return Err(make_refusal(format!(
                        "{id} is computed from specialisation constants"
                    )));
                }
            });
        }
        self.add_string_attribute(func, "hlsl.numthreads", &defaults.join(","));
        if numbers.iter().any(|number| !number.is_empty()) {
            self.add_string_attribute(func, "spirv.LocalSizeIds", &numbers.join(","));
        }
        Ok(())
    }

    /// `vec_type_hint`: an undefined value of the type, and whether its integers are signed.
    fn attach_vector_hint(&mut self, inst: InstRef<'_>, stated: &FxHashMap<String, String>) {
        let (function, hint) = (inst.id_operand(0), inst.operand_word(2));
        let (lanes, number) = (hint >> 16, hint & 0xffff);
        let (Some(func), Some(&scalar)) = (self.functions[function], HINTS.get(number as usize))
        else {
            return;
        };
        let name = self.entries[function].map(|entry| self.source.inst(entry).string_operand(2));
        let is_unsigned =
            name.is_some_and(|name| stated.contains_key(&format!("{UNSIGNED_HINT}.{name}")));
        let is_signed = number < INTEGER_HINTS && !is_unsigned;
        let ty = match lanes {
            0 | 1 => scalar,
            lanes => self.out.types.make_vector(scalar, lanes, false),
        };
        let undefined = self
            .out
            .consts
            .intern_constant(ty, crate::ir::ConstKind::Undef);
        let parts = [
            self.md_constant(undefined),
            self.md_number(u32::from(is_signed)),
        ];
        let node = self.md_node(&parts);
        self.attach_to_function(func, "vec_type_hint", node);
    }

    /// Adds a string attribute to a function.
    pub(super) fn add_string_attribute(
        &mut self,
        func: crate::ir::LlvmFunc,
        key: &str,
        value: &str,
    ) {
        let (key, value) = (
            self.out.strings.intern_text(key),
            self.out.strings.intern_text(value),
        );
        let attributes = &mut self.out.attributes;
        let list = attributes.list_data(self.out.functions[func.index()].attributes);
        let (own, result, params) = (list.function, list.result, list.params.to_vec());
        let mut own = attributes.get(own).to_vec();
        own.push(crate::ir::LlvmAttribute::String(key, value));
        let own = attributes.intern_set(own);
        self.out.functions[func.index()].attributes = attributes.intern_list(own, result, params);
    }

    /// Attaches metadata to a function.
    pub(super) fn attach_to_function(
        &mut self,
        func: crate::ir::LlvmFunc,
        name: &str,
        node: LlvmMetadata,
    ) {
        let kind = self.out.strings.intern_text(name);
        let global = self.out.function(func).global;
        let attached = &mut self.out.globals[global.index()].metadata;
        if attached.iter().all(|(at, _)| *at != kind) {
            attached.push((kind, node));
        }
    }

    /// Builds `kernel_arg_*` as Clang does: from the strings of Khronos' translator if they exist,
    /// otherwise from the types.
    fn attach_kernel_arguments(
        &mut self,
        id: Id,
        name: &str,
        stated: &FxHashMap<String, String>,
    ) -> LlvmResult<()> {
        let Some(func) = self.functions[id] else {
            return Ok(());
        };
        let params = self.parameters_of(id);
        let (mut spaces, mut access, mut types) = (Vec::new(), Vec::new(), Vec::new());
        let mut qualifiers = Vec::new();
        for &(param, ty) in &params {
            let lowered = self.find_type(ty)?;
            spaces.push(self.out.types.address_space(lowered).unwrap_or(0));
            access.push(access_of(self.out.types.kind(lowered), &self.out.strings));
            types.push(self.source_type(ty));
            let volatile = self.find_decoration(param, Decoration::Volatile).is_some();
            qualifiers.push(if volatile { "volatile" } else { "" }.to_owned());
        }
        let spaces = self.md_numbers(&spaces);
        self.attach_to_function(func, "kernel_arg_addr_space", spaces);
        self.attach_strings(func, "kernel_arg_access_qual", &access);
        for (kind, default) in TEXTS.iter().zip([types, qualifiers]) {
            let stated = stated.get(&format!("{kind}.{name}"));
            let stated = stated
                .map(|text| split_comma_list(text))
                .unwrap_or_default();
            let texts = if stated.len() == params.len() {
                stated
            } else {
                default
            };
            if *kind == "kernel_arg_type" {
                self.attach_strings(func, "kernel_arg_base_type", &texts);
            }
            self.attach_strings(func, kind, &texts);
        }
        Ok(())
    }

    fn attach_strings<T: AsRef<str>>(
        &mut self,
        func: crate::ir::LlvmFunc,
        name: &str,
        texts: &[T],
    ) {
        let parts: Vec<LlvmMetadata> = texts.iter().map(|t| self.md_text(t.as_ref())).collect();
        let node = self.md_node(&parts);
        self.attach_to_function(func, name, node);
    }

    /// The parameters of a function with their types.
    fn parameters_of(&self, id: Id) -> Vec<(Id, Id)> {
        let Some(func) = self.bodies[id] else {
            return Vec::new();
        };
        let params = self.source.list_insts(self.source.function(func).params);
        params
            .filter_map(|inst| Some((inst.result()?, inst.result_type()?)))
            .collect()
    }

    /// The module's strings `NAME.a,b,c,`, by the text before the last full stop.
    fn find_argument_strings(&self) -> FxHashMap<String, String> {
        let strings = self.source.section_insts(ModuleSection::Sources);
        let strings = strings.filter(|inst| inst.op() == Op::String);
        let texts = strings.filter_map(|inst| {
            let text = inst.string_operand(0);
            let (name, parts) = text.rsplit_once('.')?;
            let mut kinds = TEXTS.iter().chain([&UNSIGNED_HINT]);
            let known = kinds.any(|kind| name.starts_with(kind));
            known.then(|| (name.to_owned(), parts.to_owned()))
        });
        texts.collect()
    }

    /// The name of a type in OpenCL C, if it has one.
    fn source_type(&self, id: Id) -> String {
        let Some(inst) = self.definitions.get(self.source, id) else {
            return String::new();
        };
        match inst.op() {
            Op::TypePointer => format!("{}*", self.scalar_name(inst.id_operand(1))),
            _ => self.scalar_name(id),
        }
    }

    fn scalar_name(&self, id: Id) -> String {
        let Some(inst) = self.definitions.get(self.source, id) else {
            return String::new();
        };
        match inst.op() {
            Op::TypeInt => int_name(inst.operand_word(0)).to_owned(),
            Op::TypeFloat => float_name(inst.operand_word(0)).to_owned(),
            Op::TypeBool => "bool".to_owned(),
            Op::TypeVector => format!(
                "{}{}",
                self.scalar_name(inst.id_operand(0)),
                inst.operand_word(1)
            ),
            _ => self.names.get(self.source, id).unwrap_or_default(),
        }
    }
}

/// The items of `a,b,c,`.
fn split_comma_list(text: &str) -> Vec<String> {
    let text = text.strip_suffix(',').unwrap_or(text);
    text.split(',').map(str::to_owned).collect()
}

/// An integer type of OpenCL C by its width.
pub(super) fn int_name(width: u32) -> &'static str {
    match width {
        8 => "char",
        16 => "short",
        64 => "long",
        _ => "int",
    }
}

/// A floating-point type of OpenCL C by its width.
pub(super) fn float_name(width: u32) -> &'static str {
    match width {
        16 => "half",
        64 => "double",
        _ => "float",
    }
}

/// The access qualifier of an argument: the last operand of image and pipe types.
fn access_of(kind: &LlvmTypeKind, strings: &crate::ir::LlvmStrings) -> &'static str {
    let LlvmTypeKind::Target { name, ints, .. } = kind else {
        return "none";
    };
    let name: LlvmSymbol = *name;
    let access = match strings.get(name) {
        "spirv.Image" => ints.get(6),
        "spirv.Pipe" => ints.first(),
        _ => None,
    };
    match access.copied().map(AccessQualifier) {
        Some(AccessQualifier::ReadOnly) => "read_only",
        Some(AccessQualifier::WriteOnly) => "write_only",
        Some(AccessQualifier::ReadWrite) => "read_write",
        _ => "none",
    }
}
