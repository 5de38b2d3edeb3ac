//! Stubs: calls that checked code seldom makes.
//!
//! They go through functions that preserve all registers, so that the code around them is as good as without them.

use super::shadow_state::{CellBlocks, ShadowCodegen, SharedAccess, cell_flags};
use super::{ClifLowering, SanitizerHooks};
use crate::codegen::ClifScalars;
use crate::codegen::jit::{JitCode, PreserveAllStub};
use crate::layout::launch_context::at;
use crate::sanitizer::shadow_cell::SITE_SHIFT;
use crate::sanitizer::{access_info as info, runtime};
use cranelift_codegen::ir::{
    AbiParam, FuncRef, Function, InstBuilder, MemFlagsData, Signature, Type, Value, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

impl SanitizerHooks {
    /// Calls a host function whose first parameter is the context and whose result has 64 bits.
    pub(super) fn call_quietly(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        address: usize,
        args: &[Value],
    ) -> Value {
        let params: Vec<Type> = args.iter().map(|arg| lower.value_type(*arg)).collect();
        let callee =
            make_register_preserving_stub(lower.shared.code, address, &params, lower.builder.func);
        let Some(callee) = callee else {
            return lower.call_host(address, &params, &[types::I64], args)[0];
        };
        lower.builder.ins().call(callee, args);
        let live = lower.load_context_field(types::I64, at::SANITIZER);
        let flags = MemFlagsData::trusted();
        let ins = lower.builder.ins();
        ins.load(types::I64, flags, live, runtime::at::RESULT)
    }

    /// Calls the function that decides about an access to a scalar, from its address and the address of its cell.
    pub(super) fn call_decide(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        access: SharedAccess,
        [address, cell]: [Value; 2],
        access_word: u64,
        value: Option<Value>,
    ) {
        let make = |code: &mut JitCode| build_decide_stub(code, access);
        let code = &mut *lower.shared.code;
        match code.get_preserving_stub(
            PreserveAllStub::Deed(access.variant_index()),
            make,
            lower.builder.func,
        ) {
            Some(callee) => {
                let touch = self.access_arguments(lower, address, access_word, value);
                let args = [&touch[..], &[cell]].concat();
                lower.builder.ins().call(callee, &args);
            }
            None => _ = self.call_access_check(lower, address, access_word, value),
        }
    }
}

/// The function that calls one of the host and keeps all registers.
fn make_register_preserving_stub(
    code: &mut JitCode,
    address: usize,
    params: &[Type],
    within: &mut Function,
) -> Option<FuncRef> {
    let make = |code: &mut JitCode| {
        let (host, config) = (code.host_convention(), code.frontend_config());
        build_preserving_stub(address, params, host, config)
    };
    code.get_preserving_stub(PreserveAllStub::Host(address), make, within)
}

/// Builds the function that decides about accesses of one kind. It emits the same decision as in place, from the
/// arguments of `sanitize_access` and the address of the cell.
fn build_decide_stub(code: &mut JitCode, access: SharedAccess) -> Function {
    let mut func = Function::new();
    func.signature = Signature::new(CallConv::PreserveAll);
    let touch = [types::I64, types::I32, types::I64, types::I64, types::I64];
    let params = touch.iter().chain(&[types::I64]);
    func.signature.params = params.copied().map(AbiParam::new).collect();
    let host = runtime::sanitize_access as *const () as usize;
    let callee = make_register_preserving_stub(code, host, &touch, &mut func);
    let mut builders = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(&mut func, &mut builders);
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let args: ClifScalars = builder.block_params(entry).into();
    let site = builder.ins().band_imm_u(args[3], info::SITE as i64);
    let site = builder.ins().ishl_imm_u(site, i64::from(SITE_SHIFT));
    let [done, slow, store] = [(); 3].map(|()| builder.create_block());
    let new = builder.append_block_param(store, types::I64);
    let mut state = ShadowCodegen {
        builder: &mut builder,
        context: args[0],
        linear: args[1],
    };
    let blocks = CellBlocks {
        done,
        slow,
        store,
        released: None,
    };
    state.emit_all_tests(access, args[5], site, &blocks);
    builder.switch_to_block(slow);
    if let Some(callee) = callee {
        builder.ins().call(callee, &args[..5]);
    }
    builder.ins().jump(done, &[]);
    builder.switch_to_block(store);
    builder.ins().store(cell_flags(), new, args[5], 0);
    builder.ins().jump(done, &[]);
    builder.switch_to_block(done);
    builder.ins().return_(&[]);
    builder.seal_all_blocks();
    builder.finalize(code.frontend_config());
    func
}

/// Builds a function that calls another one, stores its result in the workgroup's state, and preserves all registers.
fn build_preserving_stub(
    address: usize,
    params: &[Type],
    host: CallConv,
    config: cranelift_codegen::isa::TargetFrontendConfig,
) -> Function {
    let mut signature = Signature::new(CallConv::PreserveAll);
    signature
        .params
        .extend(params.iter().copied().map(AbiParam::new));
    let mut called = signature.clone();
    called.call_conv = host;
    called.returns.push(AbiParam::new(types::I64));
    let mut func = Function::new();
    func.signature = signature;
    let mut builders = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(&mut func, &mut builders);
    let block = builder.create_block();
    builder.append_block_params_for_function_params(block);
    builder.switch_to_block(block);
    let args: ClifScalars = builder.block_params(block).into();
    let called = builder.import_signature(called);
    let callee = builder.ins().iconst(types::I64, address as i64);
    let call = builder.ins().call_indirect(called, callee, &args);
    let result = builder.inst_results(call)[0];
    let flags = MemFlagsData::trusted();
    let live = builder
        .ins()
        .load(types::I64, flags, args[0], at::SANITIZER);
    builder
        .ins()
        .store(flags, result, live, runtime::at::RESULT);
    builder.ins().return_(&[]);
    builder.seal_all_blocks();
    builder.finalize(config);
    func
}
