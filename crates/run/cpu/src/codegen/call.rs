//! Function calls: inlined ones, and ones of generated functions.

use super::access_hooks::CopyEndpoint;
use super::lowering::{
    ClifKernelContext, ClifLowering, IdLocation, InlineScope, InvocationValues, PointeeInfo,
    clif_type,
};
use super::values::PointerOperand;
use super::{ClifResult, ClifScalars};
use crate::analysis::analysed_module::AnalysedModule;
use crate::analysis::promoted_variables::MAX_SCALARS;
use crate::layout::frames::FrameExtent;
use crate::module::types::LoweredTypeKind;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, Type, Value, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Variable};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::ir::{Func, InstRef};

/// Parameters that every generated function has: context, local id, local index, private
/// memory.
const HIDDEN: [Type; 6] = [
    types::I64,
    types::I32,
    types::I32,
    types::I32,
    types::I32,
    types::I64,
];

/// The signature of a function that is not inlined.
pub(crate) fn build_signature(
    program: &AnalysedModule<'_>,
    func: Func,
    convention: CallConv,
) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params.extend(HIDDEN.map(AbiParam::new));
    for param in &program.functions.get(func).params {
        let ty = program.type_of(*param);
        let params = ty.map(|ty| scalar_types(program, ty)).unwrap_or_default();
        signature
            .params
            .extend(params.into_iter().map(AbiParam::new));
    }
    let def = program.module.inst(program.module.function(func).def);
    let results = def.result_type().map(|ty| scalar_types(program, ty));
    let results = results.unwrap_or_default();
    signature
        .returns
        .extend(results.into_iter().map(AbiParam::new));
    signature
}

/// The types by which a value is passed: those of its scalars, or of an address for a large value.
fn scalar_types(program: &AnalysedModule<'_>, ty: Id) -> Vec<Type> {
    if program.types.scalar_count(ty) > MAX_SCALARS {
        return vec![types::I64];
    }
    let mut leaves = Vec::new();
    program.types.append_leaves(ty, 0, None, &mut leaves);
    leaves.iter().map(|leaf| clif_type(leaf.scalar)).collect()
}

/// `OpFunctionCall`.
pub(crate) fn lower_call(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let program = lower.program;
    let Some(func) = program.functions.by_id(inst.id_operand(0)) else {
        return Err(lower.instruction_fault(format!("{} is no function", inst.id_operand(0))));
    };
    let info = program.functions.get(func);
    if info.params.len() != inst.id_operands(1).count() {
        return Err(
            lower.instruction_fault("the number of arguments is not that of the parameters")
        );
    }
    lower.hooks().begin_result(lower, inst.result());
    if info.inline {
        inline_call(lower, inst, func)
    } else {
        call_generated(lower, inst, func)
    }
}

/// `OpFunctionPointerCallINTEL`. A pointer is the number of its function, and is compared with that of each possible
/// callee. Pointers to other functions are not called.
pub(crate) fn call_pointer(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let program = lower.program;
    let ty = lower.result_type(inst)?;
    if lower.is_large(ty) {
        return lower.fail_unsupported("a result of more than 64 scalars");
    }
    let pointer = lower.read_value(inst.id_operand(0))?;
    let (first, count) = lower.declare_variables(ty);
    let zeros = lower.emit_zeros(ty);
    lower.assign_variables(first, &zeros);
    let done = lower.builder.create_block();
    for func in program.functions.find_call_targets(program, inst) {
        let info = program.functions.get(func);
        if info.suspends {
            return lower.fail_unsupported("calling a function that waits by a pointer");
        }
        let (call, next) = (lower.builder.create_block(), lower.builder.create_block());
        let number = program.module.function_id(func).index() as i64;
        let ins = lower.builder.ins();
        let same = ins.icmp_imm_u(IntCC::Equal, pointer, number);
        lower.builder.ins().brif(same, call, &[], next, &[]);
        lower.builder.switch_to_block(call);
        if info.inline {
            inline_call(lower, inst, func)?
        } else {
            call_generated(lower, inst, func)?
        }
        if let Some(id) = inst.result().filter(|_| count > 0) {
            let values = lower.read_values(id)?;
            lower.assign_variables(first, &values);
        }
        lower.builder.ins().jump(done, &[]);
        lower.builder.switch_to_block(next);
    }
    lower.hooks().on_invalid_callee(lower);
    lower.builder.ins().jump(done, &[]);
    lower.builder.switch_to_block(done);
    let values = lower.read_variables(first, count as usize);
    lower.set_result(inst.result(), &values)
}

fn call_generated(lower: &mut ClifLowering, inst: InstRef, func: Func) -> ClifResult {
    let item = lower.item;
    let [x, y, z] = item.local;
    let mut args: ClifScalars = [item.context, x, y, z, item.linear, item.rooms]
        .as_slice()
        .into();
    for argument in inst.id_operands(1) {
        let ty = lower.type_of(argument)?;
        if lower.is_large(ty) {
            args.push(lower.large_value_address(argument)?);
        } else {
            args.extend(lower.read_values(argument)?);
        }
    }
    let callee = lower
        .shared
        .code
        .reference_function(func, lower.builder.func);
    let Some(callee) = callee else {
        return Err(lower.instruction_fault("the function called was not lowered before"));
    };
    let call = lower.builder.ins().call(callee, &args);
    let results: ClifScalars = lower.builder.inst_results(call).into();
    match inst.result() {
        Some(id) => lower.set_values(id, &results),
        None => return Err(lower.instruction_fault("it has no result")),
    }
    Ok(())
}

fn inline_call(lower: &mut ClifLowering, inst: InstRef, func: Func) -> ClifResult {
    let program = lower.program;
    let info = program.functions.get(func);
    let exit = lower.builder.create_block();
    let result = lower.result_type(inst)?;
    if lower.is_large(result) {
        return lower.fail_unsupported("a result of more than 64 scalars");
    }
    let (first, count) = lower.declare_variables(result);
    let variables = (0..count).map(|n| Variable::from_u32(first.as_u32() + n));
    let scope = InlineScope::new(lower, func, Some((exit, variables.collect())));
    lower.hooks().begin_inlined_call(lower, inst);
    if info.suspends {
        lower.current_scope().cut = Some(inst.handle());
    }
    let arguments = bind_arguments(lower, inst)?;
    lower.scopes.push(scope);
    for (param, argument) in info.params.iter().zip(arguments) {
        match argument {
            InlinedArgument::Held(held, pointed) => {
                lower.set_id_location(*param, held);
                lower.set_pointee_info(*param, pointed);
            }
            InlinedArgument::Values(values, pointed) => {
                lower.set_values(*param, &values);
                lower.set_pointee_info(*param, pointed);
            }
        }
    }
    for (param, argument) in info.params.iter().zip(inst.id_operands(1)) {
        copy_by_value(lower, *param, argument)?;
    }
    let entry = lower.current_scope().blocks[0];
    lower.builder.ins().jump(entry, &[]);
    lower.lower_body()?;
    lower.scopes.pop();
    lower.hooks().end_inlined_call();
    lower.current = Some(program.module.inst(inst.handle()));
    lower.builder.switch_to_block(exit);
    let values = lower.read_variables(first, count as usize);
    lower.set_result(inst.result(), &values)
}

/// Lets a `ByVal` parameter point to a copy of its argument. `source` is the pointer that a checked copy names.
fn copy_by_value(lower: &mut ClifLowering, param: Id, source: Id) -> ClifResult {
    let program = lower.program;
    if !program.is_by_value(param) {
        return Ok(());
    }
    let Some(ty) = program.pointee_of(param) else {
        return lower.fail_unsupported("a copy of what an untyped pointer points to");
    };
    let given = lower.read_pointer(param)?;
    let from = lower.address_of(given)?;
    let bytes = program.types.layouts.get(ty).size;
    let to = lower.open_room(param, ty, bytes)?;
    lower.set_pointee_info(param, PointeeInfo::default());
    let size = lower.emit_iconst(types::I64, bytes as i64);
    let [to, from] =
        [(param, to), (source, from)].map(|(pointer, address)| CopyEndpoint { pointer, address });
    lower.hooks().copy_memory(lower, to, from, size)
}

enum InlinedArgument {
    /// A pointer or large value, as it is held.
    Held(IdLocation, PointeeInfo),
    Values(ClifScalars, PointeeInfo),
}

/// The arguments as the callee gets them.
fn bind_arguments(
    lower: &mut ClifLowering,
    inst: InstRef,
) -> Result<Vec<InlinedArgument>, SourceDiagnostic> {
    let mut arguments = Vec::new();
    for argument in inst.id_operands(1) {
        let ty = lower.type_of(argument)?;
        arguments.push(if lower.is_large(ty) {
            let held = match lower.id_location(argument) {
                IdLocation::Unset => IdLocation::Constant(argument),
                held => held,
            };
            InlinedArgument::Held(held, PointeeInfo::default())
        } else if matches!(
            lower.program.types.kind(ty),
            LoweredTypeKind::Pointer { .. }
        ) {
            match lower.read_pointer(argument)? {
                PointerOperand::Symbol(symbol) => {
                    InlinedArgument::Held(IdLocation::Symbol(symbol), PointeeInfo::default())
                }
                PointerOperand::Entry(entry) => InlinedArgument::Values(
                    [entry].as_slice().into(),
                    PointeeInfo {
                        strides: None,
                        is_entry: true,
                    },
                ),
                PointerOperand::Address(address, strides) => InlinedArgument::Values(
                    [address].as_slice().into(),
                    PointeeInfo {
                        strides,
                        is_entry: false,
                    },
                ),
            }
        } else {
            InlinedArgument::Values(lower.read_values(argument)?, PointeeInfo::default())
        });
    }
    Ok(arguments)
}

impl InlineScope {
    /// A scope for one call of a function.
    pub fn new(
        lower: &mut ClifLowering<'_, '_, '_>,
        func: Func,
        exit: Option<(cranelift_codegen::ir::Block, Vec<Variable>)>,
    ) -> InlineScope {
        let info = lower.program.functions.get(func);
        let locals = info.locals as usize;
        InlineScope {
            func,
            held: vec![IdLocation::Unset; locals],
            pointed: vec![PointeeInfo::default(); locals],
            phis: vec![None; locals],
            blocks: (0..info.cfg.len())
                .map(|_| lower.builder.create_block())
                .collect(),
            position: 0,
            exit,
            cut: None,
            begun: vec![false; info.cfg.len()],
        }
    }
}

/// Lowers a function that is not inlined.
pub(crate) fn lower_function(
    shared: &mut ClifKernelContext<'_, '_>,
    mut builder: FunctionBuilder<'_>,
    func: Func,
) -> ClifResult {
    let program = shared.program;
    let config = shared.code.frontend_config();
    let start = builder.create_block();
    builder.append_block_params_for_function_params(start);
    builder.switch_to_block(start);
    let params: Vec<Value> = builder.block_params(start).to_vec();
    let item = InvocationValues {
        context: params[0],
        local: [params[1], params[2], params[3]],
        linear: params[4],
        rooms: params[5],
        frame: None,
    };
    let frame = FrameExtent::new(0, shared.rooms);
    let mut lower = ClifLowering::new(shared, builder, item, frame);
    let scope = InlineScope::new(&mut lower, func, None);
    lower.scopes.push(scope);
    let mut rest = &params[HIDDEN.len()..];
    for param in &program.functions.get(func).params {
        let ty = lower.type_of(*param)?;
        let count = scalar_types(program, ty).len();
        let (own, others) = rest.split_at(count);
        rest = others;
        if lower.is_large(ty) {
            lower.set_id_location(*param, IdLocation::Memory(own[0]));
        } else {
            lower.set_values(*param, own);
            copy_by_value(&mut lower, *param, *param)?;
        }
    }
    let entry = lower.current_scope().blocks[0];
    lower.builder.ins().jump(entry, &[]);
    lower.lower_body()?;
    // No function calls itself, so that each has rooms of its own.
    lower.shared.rooms = lower.frame.rooms;
    let mut builder = lower.builder;
    builder.seal_all_blocks();
    builder.finalize(config);
    Ok(())
}
