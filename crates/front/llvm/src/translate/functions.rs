//! Functions: signatures, attributes, declarations and entry points.

use super::call_rules::LlvmCallee;
use super::function_body::FunctionTranslator;
use super::translated_entities::TranslatedSignature;
use super::translator::LlvmTranslator;
use crate::ir::{AttrKind, CallingConvention, GlobalKind, Linkage, LlvmFunc, LlvmType};
use crate::{LlvmError, LlvmResult, make_refusal};
use spirula_diagnostics::SourceLocation;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{
    Decoration, ExecutionModel, FunctionControl, FunctionParameterAttribute, LinkageType,
};
use std::rc::Rc;

/// Parameters that a function may have (specification, section 2.17).
const MAX_PARAMETERS: usize = 255;
/// Variables that an entry point can list.
const MAX_INTERFACE: usize = 40_000;

/// The extension for functions that must not be optimised, under both names. Modules that are
/// compiled without optimisation consist of such functions.
const OPTIONAL: [&str; 2] = ["SPV_EXT_optnone", "SPV_INTEL_optnone"];

/// Bit of an access that reads.
const READS: u64 = 1;

/// The memory effects of a `memory` attribute over all kinds of memory. It has a pair of bits for
/// each kind.
fn combine_effects(effects: u64) -> u64 {
    (0..32)
        .step_by(2)
        .fold(0, |all, at| all | (effects >> at) & 3)
}

/// Attributes of parameters that SPIR-V has, too.
const PARAMETER_ATTRIBUTES: &[(AttrKind, FunctionParameterAttribute)] = &[
    (AttrKind::ZeroExt, FunctionParameterAttribute::Zext),
    (AttrKind::SignExt, FunctionParameterAttribute::Sext),
    (AttrKind::ByVal, FunctionParameterAttribute::ByVal),
    (AttrKind::StructRet, FunctionParameterAttribute::Sret),
    (AttrKind::NoAlias, FunctionParameterAttribute::NoAlias),
    (AttrKind::NoCapture, FunctionParameterAttribute::NoCapture),
    (AttrKind::ReadOnly, FunctionParameterAttribute::NoWrite),
    (AttrKind::ReadNone, FunctionParameterAttribute::NoReadWrite),
];

impl<'m> LlvmTranslator<'m> {
    /// The SPIR-V types of a function, created at its first use.
    pub(super) fn intern_signature(
        &mut self,
        func: LlvmFunc,
    ) -> LlvmResult<Rc<TranslatedSignature>> {
        if let Some(signature) = &self.signatures[func.index()] {
            return Ok(signature.clone());
        }
        let function = self.module.function(func);
        let Some((result, _, variadic)) = self.module.types.function_signature(function.ty) else {
            return Err(make_refusal("a function without a function type"));
        };
        if variadic {
            return Err(make_refusal(
                "variadic functions have no counterpart in SPIR-V",
            ));
        }
        if function.params.len() > MAX_PARAMETERS {
            let count = function.params.len();
            return Err(make_refusal(format!(
                "{count} parameters are more than SPIR-V allows"
            )));
        }
        let mut params = Vec::with_capacity(function.params.len());
        for (index, &ty) in function.params.iter().enumerate() {
            params.push(self.local_type(func, index, ty)?);
        }
        let result = match self.pointer_space(result) {
            Some(space) => {
                let pointee = self.pointees.result_pointee(self.module, func);
                self.pointer_to(space, pointee)?
            }
            None => self.register_type(result)?,
        };
        let ty = self.b.function_type(result, &params);
        let signature = Rc::new(TranslatedSignature {
            id: self.b.fresh_id(),
            ty,
            result,
            params,
        });
        self.signatures[func.index()] = Some(signature.clone());
        Ok(signature)
    }

    /// The type of a local. A pointer has its inferred pointee.
    pub(super) fn local_type(
        &mut self,
        func: LlvmFunc,
        local: usize,
        ty: LlvmType,
    ) -> LlvmResult<Id> {
        match self.pointer_space(ty) {
            Some(space) => {
                let pointee = match self.stated_pointee(func, local) {
                    Some(stated) => Some(stated),
                    None => self.pointees.local_pointee(func, local),
                };
                self.pointer_to(space, pointee)
            }
            None => self.register_type(ty),
        }
    }

    /// Whether another module defines the function, even if this module has a copy.
    pub(super) fn is_defined_elsewhere(&self, func: LlvmFunc) -> bool {
        let function = self.module.function(func);
        let linkage = self.module.global(function.global).linkage;
        function.is_declaration() || linkage == Linkage::AvailableExternally
    }

    /// Declares the functions that other modules must define.
    pub(super) fn declare_functions(&mut self) {
        for func in self.module.function_ids() {
            let function = self.module.function(func);
            if !self.is_defined_elsewhere(func)
                || !matches!(*self.find_callee(func), LlvmCallee::Function)
            {
                continue;
            }
            // Variadic functions are refused where they are called.
            let signature = self.module.types.function_signature(function.ty);
            if signature.is_some_and(|(_, _, variadic)| variadic) {
                continue;
            }
            match self.intern_signature(func) {
                Ok(signature) => {
                    self.begin_function(func, &signature);
                    let name = self.module.function_name(func);
                    self.b.set_linkage(signature.id, name, LinkageType::Import);
                    self.b.end_function();
                }
                Err(refusal) => self.report_refusal(func, SourceLocation::Unknown, &refusal),
            }
        }
    }

    /// Translates a function with a body.
    pub(super) fn define_function(&mut self, func: LlvmFunc) {
        let signature = match self.intern_signature(func) {
            Ok(signature) => signature,
            Err(refusal) => return self.report_refusal(func, SourceLocation::Unknown, &refusal),
        };
        let function = self.module.function(func);
        let params = self.begin_function(func, &signature);
        let linkage = self.module.global(function.global).linkage;
        let is_entry = self.is_kernel(func) && !self.exports_kernel(func);
        if !linkage.is_local() && !is_entry && !self.is_shader() {
            let name = self.module.function_name(func);
            let linkage = self.choose_export_linkage(linkage);
            self.b.set_linkage(signature.id, name, linkage);
        }
        self.debug_info().emit_defined_function(func);
        FunctionTranslator::new(self, func, signature, &params).translate_body();
        self.b.end_function();
    }

    /// The linkage of a definition that other modules can see.
    pub(super) fn choose_export_linkage(&self, linkage: Linkage) -> LinkageType {
        match linkage {
            Linkage::LinkOnceOdr if self.may_use("SPV_KHR_linkonce_odr") => {
                LinkageType::LinkOnceODR
            }
            _ => LinkageType::Export,
        }
    }

    /// Whether a function is an entry point.
    pub(super) fn is_kernel(&self, func: LlvmFunc) -> bool {
        let convention = self.module.function(func).convention;
        convention == CallingConvention::SPIR_KERNEL || self.is_shader_entry(func)
    }

    /// Reports that something in a function was refused.
    pub(super) fn report_refusal(
        &mut self,
        func: LlvmFunc,
        place: SourceLocation,
        refusal: &LlvmError,
    ) {
        if matches!(refusal, LlvmError::Reported) {
            return;
        }
        let reason = refusal.to_string();
        let name = self.module.function_name(func);
        let global = self.module.global(self.module.function(func).global);
        let place = match place {
            SourceLocation::Unknown => global.place,
            place => place,
        };
        let message = format!("{reason}, in the function {name}");
        self.refusals.push_repeatable(place, message);
    }

    fn begin_function(&mut self, func: LlvmFunc, signature: &TranslatedSignature) -> Vec<Id> {
        let function = self.module.function(func);
        let attributes = &self.module.attributes;
        let set = attributes.function_set(function.attributes);
        let mut control = FunctionControl::default();
        if attributes.has_attribute(set, AttrKind::AlwaysInline) {
            control |= FunctionControl::Inline;
        } else if attributes.has_attribute(set, AttrKind::NoInline) {
            control |= FunctionControl::DontInline;
        }
        if attributes.has_attribute(set, AttrKind::OptNone)
            && OPTIONAL.iter().any(|name| self.is_requested(name))
        {
            control |= FunctionControl::OptNoneEXT;
        }
        if !attributes.has_attribute(set, AttrKind::Convergent) {
            control |= match attributes
                .find_number(set, AttrKind::Memory)
                .map(combine_effects)
            {
                Some(0) => FunctionControl::Const,
                Some(READS) => FunctionControl::Pure,
                _ => FunctionControl::default(),
            };
        }
        self.b
            .begin_function(signature.id, signature.result, control, signature.ty);
        self.name_id(signature.id, self.module.function_name(func));
        let result = attributes.result_set(function.attributes);
        self.apply_parameter_attributes(signature.id, result);
        // Values may have no names, but runtimes can query the names of the source.
        let source_names = self.module.function_strings(func, "kernel_arg_name");
        let mut params = Vec::with_capacity(signature.params.len());
        for (index, &ty) in signature.params.iter().enumerate() {
            let id = self.b.append_parameter(ty);
            let name = match self.module.symbol_text(function.local_name(index)) {
                "" => source_names.get(index).copied().unwrap_or(""),
                name => name,
            };
            self.name_id(id, name);
            params.push(id);
        }
        self.apply_function_decorations(func, signature.id, &params);
        for (index, &id) in params.iter().enumerate() {
            let set = self.module.attributes.param_set(function.attributes, index);
            self.apply_parameter_attributes(id, set);
        }
        params
    }

    fn apply_parameter_attributes(&mut self, id: Id, set: crate::ir::AttrSet) {
        let attributes = &self.module.attributes;
        if attributes.get(set).is_empty() {
            return;
        }
        for (kind, attribute) in PARAMETER_ATTRIBUTES {
            let has = match kind {
                // Since LLVM 21 that of nothing captured.
                AttrKind::NoCapture => {
                    attributes.has_attribute(set, *kind)
                        || attributes.find_number(set, AttrKind::Captures) == Some(0)
                }
                _ => attributes.has_attribute(set, *kind),
            };
            if has {
                self.b
                    .decorate_id(id, Decoration::FuncParamAttr, &[attribute.0]);
            }
        }
        let align = attributes.find_number(set, AttrKind::Align);
        if let Some(align) = align.and_then(|a| u32::try_from(a).ok()) {
            self.b.decorate_id(id, Decoration::Alignment, &[align]);
        }
    }

    /// Whether other modules may call a kernel.
    fn exports_kernel(&self, func: LlvmFunc) -> bool {
        let function = self.module.function(func);
        let is_local = self.module.global(function.global).linkage.is_local();
        self.options.exports_kernels && !is_local && !self.is_shader()
    }

    /// Declares the entry points. A kernel that other functions or modules call gets a separate function as
    /// entry point, because entry points must not be called.
    pub(super) fn declare_entry_points(&mut self) {
        let mut visited = vec![u32::MAX; self.module.functions.len()];
        for func in self.module.function_ids() {
            let function = self.module.function(func);
            if !self.is_kernel(func) || function.is_declaration() {
                continue;
            }
            let Some(signature) = self.signatures[func.index()].clone() else {
                continue;
            };
            let entry = if self.called[func.index()] || self.exports_kernel(func) {
                self.define_entry_wrapper(func, &signature)
            } else {
                signature.id
            };
            let interface = self.collect_interface(func, &mut visited);
            if interface.len() > MAX_INTERFACE {
                self.report_refusal(
                    func,
                    SourceLocation::Unknown,
                    &make_refusal("too many global variables are used"),
                );
                continue;
            }
            let name = self.module.function_name(func);
            let model = if self.is_shader() {
                ExecutionModel::GLCompute
            } else {
                ExecutionModel::Kernel
            };
            self.b.entry_point(model, entry, name, &interface);
            if self.is_shader() {
                self.declare_stated_modes(func, entry);
                self.declare_workgroup_sizes(func, entry);
            } else {
                self.declare_execution_modes(func, entry)
            }
        }
    }

    pub(super) fn define_entry_wrapper(
        &mut self,
        func: LlvmFunc,
        inner: &TranslatedSignature,
    ) -> Id {
        let outer = TranslatedSignature {
            id: self.b.fresh_id(),
            ty: inner.ty,
            result: inner.result,
            params: inner.params.clone(),
        };
        let params = self.begin_function(func, &outer);
        let label = self.b.fresh_id();
        self.b.begin_block(label);
        let mut words = vec![inner.id.word()];
        words.extend(params.iter().map(|p| p.word()));
        self.b.append_value(Op::FunctionCall, inner.result, &words);
        self.b.append_effect(Op::Return, &[]);
        self.b.end_function();
        outer.id
    }

    /// The variables that an entry point must list: before SPIR-V 1.4 the built-in ones, since then
    /// all that it can reach.
    pub(super) fn collect_interface(&self, entry: LlvmFunc, visited: &mut [u32]) -> Vec<Id> {
        let all = self.version >= spirula_spirv::grammar::SpirvVersion::new(1, 4);
        let stamp = entry.index() as u32;
        let mut interface = Vec::new();
        let mut pending = vec![entry];
        visited[entry.index()] = stamp;
        while let Some(func) = pending.pop() {
            let uses = &self.references[func.index()];
            for &id in &uses.variables {
                let listed = all || self.builtin_variables.iter().any(|(_, b)| *b == id);
                if listed && !interface.contains(&id) {
                    interface.push(id);
                }
            }
            for callee in &uses.functions {
                if visited[callee.index()] != stamp {
                    visited[callee.index()] = stamp;
                    pending.push(*callee);
                }
            }
        }
        interface
    }

    /// The function whose address a constant is. Aliases are followed.
    pub(super) fn callee_of(&self, constant: crate::ir::LlvmConst) -> Option<LlvmFunc> {
        let mut constant = constant;
        for _ in 0..16 {
            match self.module.global(self.module.as_global(constant)?).kind {
                GlobalKind::Function(func) => return Some(func),
                GlobalKind::Alias(target) => constant = target.0?,
                _ => return None,
            }
        }
        None
    }
}
