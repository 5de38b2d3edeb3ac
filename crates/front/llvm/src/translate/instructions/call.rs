//! Call instructions.

use crate::ir::{ConstKind, LlvmFunc, LlvmInst, LlvmType};
use crate::translate::call_rules::{ExternalCall, LlvmCallee};
use crate::translate::function_body::FunctionTranslator;
use crate::translate::words::TranslationWords;
use crate::{LlvmResult, make_refusal};
use smallvec::smallvec;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

impl FunctionTranslator<'_, '_> {
    pub(super) fn lower_call(&mut self, inst: LlvmInst) -> LlvmResult<Option<Id>> {
        let callee = self
            .function
            .callee(inst)
            .and_then(|value| value.as_const());
        let Some(func) = callee.and_then(|constant| self.t.callee_of(constant)) else {
            return match callee.map(|constant| self.t.module.consts.kind(constant)) {
                Some(ConstKind::InlineAsm(number)) => self.lower_assembly_call(inst, *number),
                _ => self.lower_pointer_call(inst),
            };
        };
        let target = self.t.find_callee(func);
        let (name, params, result) = match &*target {
            LlvmCallee::Function => {
                let called = self.function.call_info(inst).map(|info| info.function_type);
                if called != Some(self.t.module.function(func).ty) {
                    return Err(make_refusal(
                        "a call with other types than those of its callee",
                    ));
                }
                return self.lower_function_call(inst, func);
            }
            LlvmCallee::Intrinsic(_, name) => (*name, &[][..], None),
            LlvmCallee::Builtin(_, demangled) | LlvmCallee::Spirv(demangled) => {
                (demangled.name, &demangled.params[..], demangled.result)
            }
        };
        let call = ExternalCall {
            inst,
            name,
            args: self.function.arguments(inst),
            params,
            result,
        };
        match &*target {
            LlvmCallee::Intrinsic(intrinsic, _) => self.lower_intrinsic(*intrinsic, &call),
            LlvmCallee::Builtin(lower, _) => self.lower_builtin(lower, &call),
            _ => self.lower_spirv_function(&call),
        }
        .map_err(|refusal| refusal.in_call_of(name))
    }

    /// Whether an instruction is a call that denotes a specialisation constant.
    pub(super) fn is_spec_constant_call(&mut self, inst: LlvmInst) -> bool {
        let callee = self.function.callee(inst).and_then(|v| v.as_const());
        let Some(func) = callee.and_then(|constant| self.t.callee_of(constant)) else {
            return false;
        };
        match &*self.t.find_callee(func) {
            LlvmCallee::Spirv(demangled) => demangled.name == "__spirv_SpecConstant",
            _ => false,
        }
    }

    fn lower_assembly_call(&mut self, inst: LlvmInst, number: u32) -> LlvmResult<Option<Id>> {
        let assembly = self.t.declare_assembly(number)?;
        let mut words = vec![assembly.id.word()];
        let arguments = self.function.arguments(inst);
        for (&argument, &ty) in arguments.iter().zip(&assembly.params) {
            words.push(self.value_as(argument, ty)?.word());
        }
        let id = self
            .t
            .b
            .append_value(Op::AsmCallINTEL, assembly.result, &words);
        Ok((self.function.inst(inst).ty != LlvmType::VOID).then_some(id))
    }

    /// A call through a pointer: of the extension SPV_INTEL_function_pointers.
    fn lower_pointer_call(&mut self, inst: LlvmInst) -> LlvmResult<Option<Id>> {
        let module = self.t.module;
        let called = self.function.call_info(inst).map(|info| info.function_type);
        let signature = called.and_then(|ty| module.types.function_signature(ty));
        let (Some((result, params, false)), Some(callee)) = (signature, self.function.callee(inst))
        else {
            return Err(make_refusal(
                "variadic functions have no counterpart in SPIR-V",
            ));
        };
        let arguments = self.function.arguments(inst);
        let mut types = Vec::with_capacity(params.len());
        for &param in params {
            types.push(self.t.register_type(param)?);
        }
        let result = self.t.register_type(result)?;
        let ty = self.t.b.function_type(result, &types);
        let mut words = vec![self.lower_pointer(callee, ty)?.word()];
        for (&argument, &ty) in arguments.iter().zip(&types) {
            words.push(self.value_as(argument, ty)?.word());
        }
        let id = self
            .t
            .b
            .append_value(Op::FunctionPointerCallINTEL, result, &words);
        Ok((self.function.inst(inst).ty != LlvmType::VOID).then_some(id))
    }

    fn lower_function_call(&mut self, inst: LlvmInst, func: LlvmFunc) -> LlvmResult<Option<Id>> {
        let signature = self.t.intern_signature(func)?;
        let arguments = self.function.arguments(inst);
        if arguments.len() != signature.params.len() {
            return Err(make_refusal(
                "a call with another number of arguments than its callee has parameters",
            ));
        }
        let mut words: TranslationWords = smallvec![signature.id.word()];
        for (&argument, &ty) in arguments.iter().zip(&signature.params) {
            words.push(self.value_as(argument, ty)?.word());
        }
        self.t.called[func.index()] = true;
        let functions = &mut self.t.references[self.func.index()].functions;
        if functions.last() != Some(&func) {
            functions.push(func);
        }
        let id = self
            .t
            .b
            .append_value(Op::FunctionCall, signature.result, &words);
        Ok((self.function.inst(inst).ty != LlvmType::VOID).then_some(id))
    }
}
