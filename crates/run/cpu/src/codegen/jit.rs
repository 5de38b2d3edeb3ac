//! JIT code: compiles functions through Cranelift's JIT and keeps their machine code.
//!
//! The entry function for single invocations may be compiled when it is first needed. Most launches of kernels that
//! have code for gangs run nothing else.
//!
//! # Unsafe code
//! - An address becomes a function pointer ([`CompiledEntry`]). The function has the signature of [`EntryFn`], as only
//!   entry functions are registered, and its memory lives as long as the [`JitCode`].
//! - Machine code is freed when the [`JitCode`] is dropped. Every call borrows it, so that none is running then.
#![allow(unsafe_code)]

use super::crowded_functions::is_crowded;
use super::gang_loop::GangTarget;
use super::loop_exits::leave_first;
use super::non_temporal_stub::CODE;
use crate::layout::launch_context::EntryFn;
use crate::memory::kept_memory::KeptMemory;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{AbiParam, FuncRef, Function, Signature, UserFuncName, types};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa, TargetFrontendConfig};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleReloc, default_libcall_names};
use spirula_spirv::ir::Func;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Generated code and the memory that it refers to.
pub(crate) struct JitCode {
    /// None after the code is dropped.
    module: Mutex<Option<JITModule>>,
    functions: Vec<(Func, FuncId)>,
    /// The entry function for gangs before it is finished.
    gang_id: Option<FuncId>,
    /// Memory that the code refers to.
    pub memory: KeptMemory,
    /// The entry function for single invocations, or the reason why it could not be compiled.
    single: OnceLock<Result<CompiledEntry, String>>,
    /// The entry function for single invocations before it is compiled.
    deferred: Mutex<Option<(FuncId, Box<cranelift_codegen::Context>)>>,
    has_single: bool,
    gang: Option<CompiledEntry>,
    /// Sizes in bytes of the compiled functions.
    sizes: Vec<(FuncId, usize)>,
    /// Functions that preserve all registers.
    keeping: Vec<(PreserveAllStub, FuncId)>,
}

/// The purpose of a function that preserves all registers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PreserveAllStub {
    /// Calls the host function at an address.
    Host(usize),
    /// Decides about accesses of one kind, by its number.
    Deed(u8),
    /// Stores past the caches.
    NonTemporal,
}

/// An entry function that can be called.
pub(crate) struct CompiledEntry {
    /// The function.
    pub entry: EntryFn,
    /// Address ranges of its code and of the functions that it calls.
    pub pieces: Vec<(usize, usize)>,
}

impl JitCode {
    /// Empty code for the host.
    ///
    /// # Errors
    /// When Cranelift does not support the host.
    pub fn new() -> Result<JitCode, String> {
        let builder = JITBuilder::with_isa(
            build_host_isa(RegisterAllocator::Backtracking)?,
            default_libcall_names(),
        );
        Ok(JitCode {
            module: Mutex::new(Some(JITModule::new(builder))),
            functions: Vec::new(),
            gang_id: None,
            memory: KeptMemory::default(),
            single: OnceLock::new(),
            deferred: Mutex::new(None),
            has_single: false,
            gang: None,
            sizes: Vec::new(),
            keeping: Vec::new(),
        })
    }

    fn module(&mut self) -> &mut JITModule {
        match get_locked_mut(&mut self.module) {
            Some(module) => module,
            None => unreachable!("the module is taken when the code is dropped"),
        }
    }

    /// The calling convention of the host's C functions.
    pub fn host_convention(&mut self) -> CallConv {
        self.module().isa().default_call_conv()
    }

    /// The target's configuration for Cranelift's front end.
    pub fn frontend_config(&mut self) -> TargetFrontendConfig {
        self.module().target_config()
    }

    /// Declares a function. Returns the context in which it is built.
    pub fn begin_function(
        &mut self,
        func: Func,
        signature: Signature,
    ) -> Result<cranelift_codegen::Context, String> {
        let name = format!("f{}", func.index());
        let module = self.module();
        let id = module
            .declare_function(&name, Linkage::Local, &signature)
            .map_err(|e| e.to_string())?;
        let mut context = module.make_context();
        context.func = Function::with_name_signature(UserFuncName::user(0, id.as_u32()), signature);
        self.functions.push((func, id));
        Ok(context)
    }

    /// Compiles the entry function for gangs.
    ///
    /// # Errors
    /// When the target cannot compile it.
    pub fn define_gang(&mut self, func: Function) -> Result<(), String> {
        let module = self.module();
        let id = module
            .declare_function("gang", Linkage::Local, &func.signature)
            .map_err(|e| e.to_string())?;
        let mut context = module.make_context();
        context.func = func;
        context.func.name = UserFuncName::user(0, id.as_u32());
        leave_first(&mut context.func);
        verify_function(&context, module)?;
        compile_function(module, id, &mut context)?;
        self.sizes.push((id, code_size(&context)));
        self.gang_id = Some(id);
        Ok(())
    }

    /// Declares in `within` a function that preserves all registers. `make` builds it on first use. None where the
    /// target has no such functions.
    pub fn get_preserving_stub(
        &mut self,
        kept: PreserveAllStub,
        make: impl FnOnce(&mut JitCode) -> Function,
        within: &mut Function,
    ) -> Option<FuncRef> {
        if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            return None;
        }
        let known = self.keeping.iter().find(|row| row.0 == kept);
        let id = match known {
            Some(row) => row.1,
            None => {
                let func = make(self);
                let name = format!("kept{}", self.keeping.len());
                let module = self.module();
                let id = module.declare_function(&name, Linkage::Local, &func.signature);
                let id = id.ok()?;
                let mut context = module.make_context();
                context.func = func;
                context.func.name = UserFuncName::user(0, id.as_u32());
                module.define_function(id, &mut context).ok()?;
                self.sizes.push((id, code_size(&context)));
                self.keeping.push((kept, id));
                id
            }
        };
        Some(self.declare_far(id, within))
    }

    /// Declares in `within` the function that stores two vectors past the caches; none where the target has none.
    pub fn get_non_temporal_stub(&mut self, within: &mut Function) -> Option<FuncRef> {
        let code = CODE?;
        let known = self
            .keeping
            .iter()
            .find(|row| row.0 == PreserveAllStub::NonTemporal);
        let id = match known {
            Some(row) => row.1,
            None => {
                let mut signature = Signature::new(CallConv::PreserveAll);
                let params = [types::I64, types::I32X4, types::I32X4].map(AbiParam::new);
                signature.params.extend(params);
                let module = self.module();
                let id = module.declare_function("stream", Linkage::Local, &signature);
                let id = id.ok()?;
                module.define_function_bytes(id, 16, code, &[]).ok()?;
                self.sizes.push((id, code.len()));
                self.keeping.push((PreserveAllStub::NonTemporal, id));
                id
            }
        };
        Some(self.declare_far(id, within))
    }

    /// Declares a function in another one by a far call. Large functions get memory of their own, which may be farther
    /// away than near calls reach.
    fn declare_far(&mut self, id: FuncId, within: &mut Function) -> FuncRef {
        let callee = self.module().declare_func_in_func(id, within);
        within.dfg.ext_funcs[callee].colocated = false;
        callee
    }

    /// Properties of the target that the code for gangs depends on.
    pub fn gang_target(&mut self) -> GangTarget {
        let module = self.module();
        let flags = module.isa().isa_flags();
        let fma = flags.iter().find(|flag| flag.name == "has_fma");
        GangTarget {
            config: module.target_config(),
            has_fma: fma.is_none_or(|flag| flag.as_bool() == Some(true)),
        }
    }

    /// Compiles a function that was begun.
    ///
    /// # Errors
    /// When its IR is invalid or cannot be compiled.
    pub fn define_function(
        &mut self,
        func: Func,
        context: &mut cranelift_codegen::Context,
    ) -> Result<(), String> {
        let Some(id) = self.function_id(func) else {
            return Err("the function was not begun".to_owned());
        };
        leave_first(&mut context.func);
        let module = self.module();
        verify_function(context, module)?;
        compile_function(module, id, context)?;
        self.sizes.push((id, code_size(context)));
        Ok(())
    }

    /// Keeps the entry function for single invocations uncompiled until it is needed.
    ///
    /// # Errors
    /// When its IR is invalid.
    pub fn defer_function(
        &mut self,
        func: Func,
        mut context: cranelift_codegen::Context,
    ) -> Result<(), String> {
        let Some(id) = self.function_id(func) else {
            return Err("the function was not begun".to_owned());
        };
        leave_first(&mut context.func);
        verify_function(&context, self.module())?;
        *get_locked_mut(&mut self.deferred) = Some((id, Box::new(context)));
        Ok(())
    }

    /// Makes the code callable. `entry` is none where only gangs run.
    ///
    /// # Errors
    /// When there is no entry function, or memory for the code cannot be had.
    pub fn make_callable(&mut self, entry: Option<Func>) -> Result<(), String> {
        let id = entry.and_then(|entry| self.function_id(entry));
        let gang = self.gang_id;
        if id.is_none() && gang.is_none() {
            return Err("the entry function was not made".to_owned());
        }
        let is_deferred = get_locked_mut(&mut self.deferred).is_some();
        let sizes = std::mem::take(&mut self.sizes);
        let module = self.module();
        module.finalize_definitions().map_err(|e| e.to_string())?;
        let gang = gang.map(|id| CompiledEntry::new(module, id, &sizes));
        let single = id.filter(|_| !is_deferred);
        let single = single.map(|id| CompiledEntry::new(module, id, &sizes));
        self.has_single = id.is_some();
        self.gang = gang;
        if let Some(single) = single {
            self.single = OnceLock::from(Ok(single));
        }
        self.sizes = sizes;
        Ok(())
    }

    /// Compiles the entry function for single invocations if it was deferred.
    ///
    /// # Errors
    /// When it cannot be compiled.
    pub fn prepare_serialised(&self) -> Result<(), String> {
        let made = self.single.get_or_init(|| {
            // The code generator panics on input that it does not expect.
            let compile = || self.compile_deferred();
            let made = catch_unwind(AssertUnwindSafe(compile));
            made.unwrap_or_else(|_| Err("no code could be made".to_owned()))
        });
        made.as_ref().map(|_| ()).map_err(String::clone)
    }

    fn compile_deferred(&self) -> Result<CompiledEntry, String> {
        let deferred = self.deferred.lock();
        let deferred = deferred.unwrap_or_else(PoisonError::into_inner).take();
        let mut module = self.module.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some((id, mut context)), Some(module)) = (deferred, &mut *module) else {
            return Err("there is no code for single invocations".to_owned());
        };
        compile_function(module, id, &mut context)?;
        module.finalize_definitions().map_err(|e| e.to_string())?;
        let mut sizes = self.sizes.clone();
        sizes.push((id, code_size(&context)));
        Ok(CompiledEntry::new(module, id, &sizes))
    }

    /// Whether there is code for gangs or for single invocations. Deferred code counts.
    pub fn has_entry(&self, gangs: bool) -> bool {
        if gangs {
            self.gang.is_some()
        } else {
            self.has_single
        }
    }

    fn function_id(&self, func: Func) -> Option<FuncId> {
        let row = self.functions.iter().rev().find(|row| row.0 == func);
        row.map(|row| row.1)
    }

    /// Declares a function that was begun before in another one, which may then call it.
    pub fn reference_function(&mut self, func: Func, within: &mut Function) -> Option<FuncRef> {
        let id = self.function_id(func)?;
        Some(self.declare_far(id, within))
    }

    /// The entry function for gangs, or that for single invocations; none where there is none or it is not compiled
    /// yet.
    pub fn entry(&self, gangs: bool) -> Option<&CompiledEntry> {
        if gangs {
            self.gang.as_ref()
        } else {
            self.single.get().and_then(|single| single.as_ref().ok())
        }
    }
}

impl CompiledEntry {
    /// An entry function and the code ranges of all compiled functions. `sizes` has their sizes in bytes.
    fn new(module: &JITModule, entry: FuncId, sizes: &[(FuncId, usize)]) -> CompiledEntry {
        let piece = |(id, size): &(FuncId, usize)| {
            let start = module.get_finalized_function(*id) as usize;
            (start, start + size)
        };
        let address = module.get_finalized_function(entry);
        CompiledEntry {
            // SAFETY: the function has the signature of [`EntryFn`].
            entry: unsafe { std::mem::transmute::<*const u8, EntryFn>(address) },
            pieces: sizes.iter().map(piece).collect(),
        }
    }
}

fn get_locked_mut<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// Refuses invalid IR, which modules with mismatched types are lowered to.
fn verify_function(context: &cranelift_codegen::Context, module: &JITModule) -> Result<(), String> {
    context.verify(module.isa()).map_err(|e| format!("{e:?}"))
}

/// Compiles a function with the register allocator that suits it.
fn compile_function(
    module: &mut JITModule,
    id: FuncId,
    context: &mut cranelift_codegen::Context,
) -> Result<(), String> {
    if !is_crowded(&context.func) {
        let defined = module.define_function(id, context);
        return defined.map_err(|e| format!("{e:?}"));
    }
    let isa = build_host_isa(RegisterAllocator::SinglePass)?;
    let compiled = context.compile(&*isa, &mut ControlPlane::default());
    compiled.map_err(|e| format!("{:?}", e.inner))?;
    let Some(code) = context.compiled_code() else {
        return Err("the function was not compiled".to_owned());
    };
    let least = isa.function_alignment().minimum;
    let align = u64::from(code.buffer.alignment.max(least));
    let relocs = code.buffer.relocs().iter();
    let relocs: Vec<ModuleReloc> = relocs
        .map(|reloc| ModuleReloc::from_mach_reloc(reloc, &context.func, id))
        .collect();
    let defined = module.define_function_bytes(id, align, code.code_buffer(), &relocs);
    defined.map_err(|e| format!("{e:?}"))
}

/// Bytes of a compiled function.
fn code_size(context: &cranelift_codegen::Context) -> usize {
    let code = context.compiled_code();
    code.map_or(0, |code| code.code_info().total_size as usize)
}

impl Drop for JitCode {
    fn drop(&mut self) {
        if let Some(module) = get_locked_mut(&mut self.module).take() {
            // SAFETY: every call borrows the code, so that none is running.
            unsafe { module.free_memory() };
        }
    }
}

/// The algorithm of register allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RegisterAllocator {
    /// Moves values that were placed before. It gives the better code.
    Backtracking,
    /// Takes time linear in the size of the code.
    SinglePass,
}

/// The host's instruction set with all features of the processor.
fn build_host_isa(allocator: RegisterAllocator) -> Result<OwnedTargetIsa, String> {
    static ISAS: [OnceLock<Result<OwnedTargetIsa, String>>; 2] = [const { OnceLock::new() }; 2];
    let algorithm = match allocator {
        RegisterAllocator::Backtracking => "backtracking",
        RegisterAllocator::SinglePass => "single_pass",
    };
    ISAS[allocator as usize]
        .get_or_init(|| {
            let mut flags = settings::builder();
            for (name, value) in [
                ("regalloc_algorithm", algorithm),
                ("opt_level", "speed"),
                ("is_pic", "false"),
                // Probes notice an exhausted stack, however large a frame is.
                ("enable_probestack", "true"),
                ("probestack_strategy", "inline"),
                ("use_colocated_libcalls", "false"),
                ("enable_multi_ret_implicit_sret", "true"),
                // Each function is verified once before it is compiled instead.
                ("enable_verifier", "false"),
            ] {
                flags.set(name, value).map_err(|e| e.to_string())?;
            }
            let builder = cranelift_native::builder().map_err(str::to_owned)?;
            builder
                .finish(settings::Flags::new(flags))
                .map_err(|e| e.to_string())
        })
        .clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_codegen::ir::InstBuilder;
    use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

    /// A function that does nothing.
    fn build_empty_function() -> Function {
        let mut function = Function::new();
        let mut context = FunctionBuilderContext::new();
        let mut builder = FunctionBuilder::new(&mut function, &mut context);
        let block = builder.create_block();
        builder.switch_to_block(block);
        builder.ins().return_(&[]);
        builder.seal_all_blocks();
        let isa = build_host_isa(RegisterAllocator::Backtracking).unwrap();
        builder.finalize(isa.frontend_config());
        function
    }

    /// Code of a large kernel lay more than 2 GiB from its callees, which near calls do not reach.
    #[test]
    fn calls_reach_any_distance() {
        let mut code = JitCode::new().unwrap();
        let mut within = Function::new();
        if let Some(callee) = code.get_preserving_stub(
            PreserveAllStub::Host(1),
            |_| build_empty_function(),
            &mut within,
        ) {
            assert!(!within.dfg.ext_funcs[callee].colocated);
        }
    }
}
