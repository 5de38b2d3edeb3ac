//! Calls.

use crate::ir::Inst;
use crate::ir::{Func, Type};
use crate::translate::body::Body;
use crate::translate::builtins::{Call, Callee};
use crate::translate::refusal::{Lowered, refuse};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

impl Body<'_, '_> {
    pub(super) fn call(&mut self, inst: Inst) -> Lowered<Option<Id>> {
        let callee = self
            .function
            .callee(inst)
            .and_then(|value| value.as_const());
        let Some(func) = callee.and_then(|constant| self.t.callee_of(constant)) else {
            let inline = callee.is_some_and(|constant| {
                matches!(
                    self.t.module.consts.kind(constant),
                    crate::ir::ConstKind::InlineAsm(_)
                )
            });
            return Err(refuse(match inline {
                true => "inline assembly has no counterpart in SPIR-V",
                false => "a call through a pointer has no counterpart in SPIR-V",
            }));
        };
        let called = self.function.call(inst).map(|info| info.function_type);
        if called != Some(self.t.module.function(func).ty) {
            return Err(refuse("a call with other types than its callee has"));
        }
        let target = self.t.callee(func);
        let (name, params) = match &*target {
            Callee::Function => return self.call_function(inst, func),
            Callee::Intrinsic(_, name) => (*name, &[][..]),
            Callee::Builtin(_, demangled) | Callee::Spirv(demangled) => {
                (demangled.name, &demangled.params[..])
            }
        };
        let call = Call {
            inst,
            name,
            args: self.function.arguments(inst),
            params,
        };
        match &*target {
            Callee::Intrinsic(intrinsic, _) => self.intrinsic(*intrinsic, &call),
            Callee::Builtin(lower, _) => self.builtin(lower, &call),
            _ => self.spirv_function(&call),
        }
        .map_err(|refusal| refusal.in_call_of(name))
    }

    fn call_function(&mut self, inst: Inst, func: Func) -> Lowered<Option<Id>> {
        let signature = self.t.signature(func)?;
        let arguments = self.function.arguments(inst);
        if arguments.len() != signature.params.len() {
            return Err(refuse(
                "a call with another number of arguments than its callee takes",
            ));
        }
        let mut words = vec![signature.id.word()];
        for (&argument, &ty) in arguments.iter().zip(&signature.params) {
            words.push(self.value_as(argument, ty)?.word());
        }
        self.t.called[func.index()] = true;
        let functions = &mut self.t.uses[self.func.index()].functions;
        if functions.last() != Some(&func) {
            functions.push(func);
        }
        let id = self.t.b.value(Op::FunctionCall, signature.result, &words);
        Ok((self.function.inst(inst).ty != Type::VOID).then_some(id))
    }
}
