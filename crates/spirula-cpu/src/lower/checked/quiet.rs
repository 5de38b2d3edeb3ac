//! Calls of what checks seldom need.
//!
//! They go through functions that keep all registers as they are, so that code which does not call them is as
//! good as if the calls were not there.

use super::Lower;
use crate::check::runtime;
use crate::context::at;
use crate::lower::Values;
use cranelift_codegen::ir::{
    AbiParam, Function, InstBuilder, MemFlagsData, Signature, Type, Value, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

impl Lower<'_, '_, '_> {
    /// Calls a function of the host whose first parameter is the context, and which gives 64 bits.
    pub(super) fn call_quietly(&mut self, address: usize, args: &[Value]) -> Value {
        let params: Vec<Type> = args.iter().map(|arg| self.clif(*arg)).collect();
        let code = &mut self.shared.code;
        let (host, config) = (code.host_convention(), code.frontend_config());
        let make = || keeping(address, &params, host, config);
        let callee = code.keeping(address, make, self.builder.func);
        let Some(callee) = callee else {
            return self.call_host(address, &params, &[types::I64], args)[0];
        };
        self.builder.ins().call(callee, args);
        let live = self.context(types::I64, at::CHECK);
        let flags = MemFlagsData::trusted();
        let ins = self.builder.ins();
        ins.load(types::I64, flags, live, runtime::at::RESULT)
    }
}

/// A function that calls another one, notes what it gives, and keeps all registers.
fn keeping(
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
    let args: Values = builder.block_params(block).into();
    let called = builder.import_signature(called);
    let callee = builder.ins().iconst(types::I64, address as i64);
    let call = builder.ins().call_indirect(called, callee, &args);
    let result = builder.inst_results(call)[0];
    let flags = MemFlagsData::trusted();
    let live = builder.ins().load(types::I64, flags, args[0], at::CHECK);
    builder
        .ins()
        .store(flags, result, live, runtime::at::RESULT);
    builder.ins().return_(&[]);
    builder.seal_all_blocks();
    builder.finalize(config);
    func
}
