//! Lifting of functions: names, signatures and attributes.

use super::lifter::SpirvLifter;
use crate::ir::{
    AttrKind, AttrSet, CallingConvention, ConstKind, Linkage, LlvmAttribute, LlvmFunc, LlvmSymbol,
};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::{
    Decoration, FunctionControl, FunctionParameterAttribute, LinkageType,
};
use spirula_spirv::grammar::literal_string;
use spirula_spirv::ir as spirv;

/// Parameter attributes that LLVM also has, without a type.
const PLAIN: &[(FunctionParameterAttribute, AttrKind)] = &[
    (FunctionParameterAttribute::Zext, AttrKind::ZeroExt),
    (FunctionParameterAttribute::Sext, AttrKind::SignExt),
    (FunctionParameterAttribute::NoAlias, AttrKind::NoAlias),
    (FunctionParameterAttribute::NoCapture, AttrKind::NoCapture),
    (FunctionParameterAttribute::NoWrite, AttrKind::ReadOnly),
    (FunctionParameterAttribute::NoReadWrite, AttrKind::ReadNone),
];

/// Parameter attributes that state the pointee type.
const TYPED: &[(FunctionParameterAttribute, AttrKind)] = &[
    (FunctionParameterAttribute::ByVal, AttrKind::ByVal),
    (FunctionParameterAttribute::Sret, AttrKind::StructRet),
];

impl SpirvLifter<'_> {
    /// Declares all functions, so that calls find them.
    pub(super) fn declare_functions(&mut self) {
        let source = self.source;
        for &func in source.functions() {
            let def = source.inst(source.function(func).def);
            if let Err(why) = self.find_declared_function(source.function_id(func)) {
                self.report_unlifted(def, &why.to_string());
            }
        }
    }

    /// Finds the functions of the module by their ids.
    pub(super) fn find_bodies(&mut self) {
        for &func in self.source.functions() {
            self.bodies.set(self.source.function_id(func), Some(func));
        }
    }

    /// The LLVM function, which is declared at the first request.
    pub(super) fn find_declared_function(&mut self, id: Id) -> LlvmResult<LlvmFunc> {
        if let Some(known) = self.functions[id] {
            return Ok(known);
        }
        let func =
            self.bodies[id].ok_or_else(|| make_refusal(format!("{id} is not a function")))?;
        self.declare_function(func)
    }

    fn declare_function(&mut self, func: spirv::Func) -> LlvmResult<LlvmFunc> {
        let source = self.source;
        let function = source.function(func);
        let def = source.inst(function.def);
        let id = source.function_id(func);
        let ty = self.find_type(def.id_operand(1))?;
        let (name, convention, linkage) = self.function_name(id);
        let made = self.push_function(name, ty, convention, linkage);
        let params: Vec<Id> = source
            .list_insts(function.params)
            .filter_map(|inst| inst.result())
            .collect();
        self.function_attributes(made, id, &params, FunctionControl(def.operand_word(0)))?;
        self.decorations_of_function(made, id, &params);
        if self.is_shader {
            self.state_parameter_types(made, &params)?;
        }
        if self.is_shader && self.entries[id].is_some() {
            self.add_string_attribute(made, "hlsl.shader", "compute");
        }
        self.functions.set(id, Some(made));
        let address = self.function_address(made);
        self.values.set(id, Some(address));
        Ok(made)
    }

    /// Name, calling convention and linkage of a function. An entry point has the name that it is
    /// launched by. A function that is also exported under this name gets internal linkage.
    fn function_name(&mut self, id: Id) -> (LlvmSymbol, CallingConvention, Linkage) {
        if let Some(entry) = self.entries[id] {
            let name = self.source.inst(entry).string_operand(2);
            let name = self.out.strings.intern_text(&name);
            let convention = if self.is_shader {
                CallingConvention::SPIR_FUNC
            } else {
                CallingConvention::SPIR_KERNEL
            };
            return (name, convention, Linkage::External);
        }
        let convention = CallingConvention::SPIR_FUNC;
        let stated = self.find_decoration(id, Decoration::LinkageAttributes);
        if let Some(words) = stated {
            let asked = literal_string(words).into_owned();
            let wanted = self.out.strings.intern_text(&asked);
            let name = self.global_name(&asked);
            let linkage = match LinkageType(words[words.len() - 1]) {
                _ if name != wanted => Linkage::Internal,
                LinkageType::LinkOnceODR => Linkage::LinkOnceOdr,
                _ => Linkage::External,
            };
            return (name, convention, linkage);
        }
        let given = self.names.get(self.source, id);
        let name = self.global_name(&given.unwrap_or_else(|| format!("function.{}", id.word())));
        (name, convention, Linkage::Internal)
    }

    fn function_attributes(
        &mut self,
        func: LlvmFunc,
        id: Id,
        params: &[Id],
        control: FunctionControl,
    ) -> LlvmResult<()> {
        let mut own = vec![LlvmAttribute::Plain(AttrKind::NoUnwind)];
        if control.contains(FunctionControl::Inline) {
            own.push(LlvmAttribute::Plain(AttrKind::AlwaysInline));
        } else if control.contains(FunctionControl::DontInline) {
            own.push(LlvmAttribute::Plain(AttrKind::NoInline));
        }
        let own = self.out.attributes.intern_set(own);
        let result = self.value_attributes(id, None)?;
        let mut sets = Vec::with_capacity(params.len());
        for &param in params {
            let ty = self.type_of(param)?;
            sets.push(self.value_attributes(param, Some(ty))?);
        }
        let list = self.out.attributes.intern_list(own, result, sets);
        self.out.functions[func.index()].attributes = list;
        Ok(())
    }

    /// The attributes of a parameter, or of the result of the function `id`.
    fn value_attributes(&mut self, id: Id, param: Option<Id>) -> LlvmResult<AttrSet> {
        let mut attributes = Vec::new();
        let pointer = match param {
            Some(ty) => self.is_pointer(self.find_type(ty)?),
            None => false,
        };
        for (decoration, words) in self.decorations.decorations_of(self.source, id, u32::MAX) {
            if decoration != Decoration::FuncParamAttr {
                continue;
            }
            let attribute = FunctionParameterAttribute(words[0]);
            let plain = PLAIN.iter().find(|row| row.0 == attribute);
            let typed = TYPED.iter().find(|row| row.0 == attribute);
            let extends = matches!(
                attribute,
                FunctionParameterAttribute::Zext | FunctionParameterAttribute::Sext
            );
            match (plain, typed, param) {
                // A pointer attribute is only valid on pointers, an integer attribute only on other
                // types.
                (Some((_, kind)), ..) if extends != pointer => {
                    attributes.push(LlvmAttribute::Plain(*kind));
                }
                (_, Some((_, kind)), Some(ty)) if pointer => {
                    if let Ok(pointee) = self.find_pointee(ty) {
                        let pointee = self.find_type(pointee)?;
                        attributes.push(LlvmAttribute::Type(*kind, Some(pointee)));
                    }
                }
                _ => {}
            }
        }
        if pointer
            && let Some(words) = self.find_decoration(id, Decoration::Alignment)
            && words[0].is_power_of_two()
        {
            attributes.push(LlvmAttribute::Number(AttrKind::Align, words[0].into()));
        }
        Ok(self.out.attributes.intern_set(attributes))
    }

    /// States the pointee types of parameters. Shaders cannot cast a pointer whose type was
    /// inferred wrongly.
    fn state_parameter_types(&mut self, func: LlvmFunc, params: &[Id]) -> LlvmResult<()> {
        let mut parts = Vec::with_capacity(params.len());
        let mut any = false;
        for &param in params {
            let ty = self.type_of(param)?;
            let stated = self.find_pointee(ty).ok();
            any |= stated.is_some();
            let stated = self.find_type(stated.unwrap_or(ty))?;
            let undefined = self.out.consts.intern_constant(stated, ConstKind::Undef);
            parts.push(self.md_constant(undefined));
        }
        if any {
            let node = self.md_node(&parts);
            self.attach_to_function(func, "spirv.ParameterTypes", node);
        }
        Ok(())
    }

    /// Decorations of a function and of its parameters that LLVM cannot express.
    fn decorations_of_function(&mut self, func: LlvmFunc, id: Id, params: &[Id]) {
        let global = self.out.function(func).global;
        let mut attached = Vec::new();
        if let Some(node) = self.decoration_node(id) {
            attached.push(("spirv.Decorations", node));
        }
        let nodes: Vec<_> = params.iter().map(|p| self.decoration_node(*p)).collect();
        if nodes.iter().any(Option::is_some) {
            let none = self.md_node(&[]);
            let nodes: Vec<_> = nodes.into_iter().map(|n| n.unwrap_or(none)).collect();
            let node = self.md_node(&nodes);
            attached.push(("spirv.ParameterDecorations", node));
        }
        for (kind, node) in attached {
            let kind = self.out.strings.intern_text(kind);
            self.out.globals[global.index()].metadata.push((kind, node));
        }
    }
}
