//! Machine code: the one module that talks to Cranelift's JIT, and that calls what it made.
//!
//! # Unsafe code
//! - Calling generated code: the address is that of a function with the signature of
//!   [`JitCode::call_range`], as only entry functions are registered with it, and the memory it lies in
//!   lives as long as the `Code`. What generated code does to memory is the caller's promise.
//! - Freeing generated code: `Code` is dropped when nothing can call it any more, as every call
//!   borrows it.
//!
//! The entry function for single invocations may be compiled when it is first needed, as most launches of
//! kernels that have code for bundles run nothing else.
#![allow(unsafe_code)]

use super::crowded_functions::is_crowded;
use super::loop_exits::leave_first;
use crate::exec::guard::{self, EntryFn, TrapReason};
use crate::layout::launch_context::LaunchContext;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{AbiParam, FuncRef, Function, Signature, UserFuncName, types};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa, TargetFrontendConfig};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleReloc, default_libcall_names};
use spirula_spirv::ir::Func;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Generated code and the data that it refers to.
pub(crate) struct JitCode {
    /// None once it is dropped.
    module: Mutex<Option<JITModule>>,
    functions: Vec<(Func, FuncId)>,
    /// The entry function for bundles, until it is finished.
    bundle_id: Option<FuncId>,
    kept: Vec<Box<[u128]>>,
    /// For invocations one by one; why there is none where it could not be compiled.
    alone: OnceLock<Result<CompiledEntry, String>>,
    /// The same, before it is compiled.
    deferred: Mutex<Option<(FuncId, Box<cranelift_codegen::Context>)>>,
    has_alone: bool,
    bundle: Option<CompiledEntry>,
    /// Sizes of the functions that were compiled.
    sizes: Vec<(FuncId, usize)>,
    /// Functions that keep all registers.
    keeping: Vec<(PreserveAllStub, FuncId)>,
}

/// What a function that keeps all registers is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PreserveAllStub {
    /// It calls the host's function at an address.
    Host(usize),
    /// It decides about accesses of a kind, by its number.
    Deed(u8),
    /// It stores past the caches.
    Stream,
}

/// An entry function that can be called, and where it and what it calls lie.
struct CompiledEntry {
    entry: EntryFn,
    pieces: Vec<(usize, usize)>,
}

impl JitCode {
    /// No code yet, for the host.
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
            bundle_id: None,
            kept: Vec::new(),
            alone: OnceLock::new(),
            deferred: Mutex::new(None),
            has_alone: false,
            bundle: None,
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

    /// What Cranelift's front end has to know of the target.
    pub fn frontend_config(&mut self) -> TargetFrontendConfig {
        self.module().target_config()
    }

    /// A context for a function to be made.
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

    /// Compiles the entry function for bundles, if the target can.
    pub fn define_bundle(&mut self, func: Function) -> Result<(), String> {
        let module = self.module();
        let id = module
            .declare_function("bundle", Linkage::Local, &func.signature)
            .map_err(|e| e.to_string())?;
        let mut context = module.make_context();
        context.func = func;
        context.func.name = UserFuncName::user(0, id.as_u32());
        leave_first(&mut context.func);
        verify_function(&context, module)?;
        compile_function(module, id, &mut context)?;
        self.sizes.push((id, code_size(&context)));
        self.bundle_id = Some(id);
        Ok(())
    }

    /// A function that keeps all registers; made where there is none yet. None where the target has no such functions.
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

    /// The function that stores two vectors past the caches, to be called by another one; none where the target has none.
    pub fn get_streaming_stub(&mut self, within: &mut Function) -> Option<FuncRef> {
        let code = crate::analysis::non_temporal_stores::CODE?;
        let known = self
            .keeping
            .iter()
            .find(|row| row.0 == PreserveAllStub::Stream);
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
                self.keeping.push((PreserveAllStub::Stream, id));
                id
            }
        };
        Some(self.declare_far(id, within))
    }

    /// A function to be called by another one, wherever the two come to lie: large functions get memory of
    /// their own, which may be farther away than near calls reach.
    fn declare_far(&mut self, id: FuncId, within: &mut Function) -> FuncRef {
        let callee = self.module().declare_func_in_func(id, within);
        within.dfg.ext_funcs[callee].colocated = false;
        callee
    }

    /// What the target can do for bundles.
    pub fn bundle_target(&mut self) -> crate::simd::GangTarget {
        let module = self.module();
        let flags = module.isa().isa_flags();
        let fma = flags.iter().find(|flag| flag.name == "has_fma");
        crate::simd::GangTarget {
            config: module.target_config(),
            has_fma: fma.is_none_or(|flag| flag.as_bool() == Some(true)),
        }
    }

    /// Compiles a function that was begun.
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

    /// Keeps a function that was begun, the entry function for invocations one by one, until it is needed.
    ///
    /// # Errors
    /// When it could not be compiled.
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

    /// Makes the code callable. `entry` has none where only bundles are run.
    pub fn make_callable(&mut self, entry: Option<Func>) -> Result<(), String> {
        let id = entry.and_then(|entry| self.function_id(entry));
        let bundle = self.bundle_id;
        if id.is_none() && bundle.is_none() {
            return Err("the entry function was not made".to_owned());
        }
        let is_deferred = get_locked_mut(&mut self.deferred).is_some();
        let sizes = std::mem::take(&mut self.sizes);
        let module = self.module();
        module.finalize_definitions().map_err(|e| e.to_string())?;
        let bundle = bundle.map(|id| CompiledEntry::new(module, id, &sizes));
        let alone = id.filter(|_| !is_deferred);
        let alone = alone.map(|id| CompiledEntry::new(module, id, &sizes));
        self.has_alone = id.is_some();
        self.bundle = bundle;
        if let Some(alone) = alone {
            self.alone = OnceLock::from(Ok(alone));
        }
        self.sizes = sizes;
        Ok(())
    }

    /// Sees to it that there is code for invocations one by one, where there is any.
    ///
    /// # Errors
    /// When it cannot be compiled.
    pub fn prepare_serialised(&self) -> Result<(), String> {
        let made = self.alone.get_or_init(|| {
            // What the code generator does not expect ends in a panic.
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

    /// Whether there is code for bundles, and for invocations one by one, be it only once it is needed.
    pub fn has_entry(&self, bundles: bool) -> bool {
        match bundles {
            true => self.bundle.is_some(),
            false => self.has_alone,
        }
    }

    fn function_id(&self, func: Func) -> Option<FuncId> {
        let row = self.functions.iter().rev().find(|row| row.0 == func);
        row.map(|row| row.1)
    }

    /// A function made before, to be called by another one.
    pub fn reference_function(&mut self, func: Func, within: &mut Function) -> Option<FuncRef> {
        let id = self.function_id(func)?;
        Some(self.declare_far(id, within))
    }

    /// Runs the invocations `lo..hi` that are at the point `resume`, one by one or in bundles.
    ///
    /// # Safety
    /// The context describes memory that the code may use as the program says. The code exists, and was
    /// prepared.
    /// Bundles divide the workgroup's size in x, `lo`, `hi` and the first global id in x.
    ///
    /// # Errors
    /// When the code does not come to its end.
    pub unsafe fn call_range(
        &self,
        context: &LaunchContext,
        [lo, hi]: [u32; 2],
        resume: u32,
        bundles: bool,
    ) -> Result<u64, TrapReason> {
        let form = match bundles {
            true => self.bundle.as_ref(),
            false => self.alone.get().and_then(|alone| alone.as_ref().ok()),
        };
        match form {
            // SAFETY: the entry function lives as long as `self`; its use of memory is the caller's
            // promise.
            Some(form) => unsafe {
                guard::call_guarded(form.entry, context, [lo, hi, resume], &form.pieces)
            },
            None => Ok(0),
        }
    }

    /// Zeroed memory that lives as long as the code, aligned to 16; its address.
    pub fn keep_zeros(&mut self, bytes: u64) -> usize {
        let block = vec![0u128; (bytes as usize).div_ceil(16).max(1)].into_boxed_slice();
        self.kept.push(block);
        self.kept.last().map_or(0, |b| b.as_ptr() as usize)
    }

    /// Memory with these contents, likewise.
    pub fn keep_bytes(&mut self, bytes: &[u8]) -> usize {
        let address = self.keep_zeros(bytes.len() as u64);
        self.fill_kept(address, bytes);
        address
    }

    /// Sets the contents of memory that was kept.
    pub fn fill_kept(&mut self, address: usize, bytes: &[u8]) {
        let block = self
            .kept
            .iter_mut()
            .find(|b| b.as_ptr() as usize == address);
        let Some(block) = block else { return };
        for (to, from) in block.iter_mut().zip(bytes.chunks(16)) {
            let mut word = [0; 16];
            word[..from.len()].copy_from_slice(from);
            *to = u128::from_ne_bytes(word);
        }
    }
}

impl CompiledEntry {
    /// An entry function that was compiled, as were all functions whose sizes are given.
    fn new(module: &JITModule, entry: FuncId, sizes: &[(FuncId, usize)]) -> CompiledEntry {
        let piece = |(id, size): &(FuncId, usize)| {
            let start = module.get_finalized_function(*id) as usize;
            (start, start + size)
        };
        let address = module.get_finalized_function(entry);
        CompiledEntry {
            // SAFETY: the function was made with the signature of `Entry`.
            entry: unsafe { std::mem::transmute::<*const u8, EntryFn>(address) },
            pieces: sizes.iter().map(piece).collect(),
        }
    }
}

fn get_locked_mut<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// Refuses what modules whose types do not fit are lowered to.
fn verify_function(context: &cranelift_codegen::Context, module: &JITModule) -> Result<(), String> {
    context.verify(module.isa()).map_err(|e| format!("{e:?}"))
}

/// Compiles a function, with the allocator that suits it.
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

/// Bytes of code that was compiled.
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

/// How registers are allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RegisterAllocator {
    /// By moving what was placed before: the better code.
    Backtracking,
    /// In time that is linear in the code.
    SinglePass,
}

/// The host's instruction set with all that the processor has.
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
                // A stack that is used up has to be noticed, however large a function's frame is.
                ("enable_probestack", "true"),
                ("probestack_strategy", "inline"),
                ("use_colocated_libcalls", "false"),
                ("enable_multi_ret_implicit_sret", "true"),
                // What comes of modules is verified once instead, before it is compiled.
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

    /// Code of a large kernel lay more than 2 GiB from what it calls, which near calls do not reach.
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
