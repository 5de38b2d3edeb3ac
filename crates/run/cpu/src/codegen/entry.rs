//! Entry function: the loop over the invocations of a workgroup.
//!
//! `fn(context, lo, hi, resume) -> summary` runs those invocations `lo..hi` of a workgroup that are at the point
//! `resume`. Each runs to its next suspension point or its end. For a kernel that suspends, the low half of the
//! summary is the least state that was reached, and the high half the greatest.

use super::ClifResult;
use super::call::lower_function;
use super::gang_loop::{GangEntry, GangLoop};
use super::lowering::{
    ClifKernelContext, ClifLowering, InlineScope, InvocationValues, PointeeInfo, clif_type,
    invariant_flags,
};
use super::values::PointerOperand;
use crate::layout::frames::{FrameExtent, PrivateExtent};
use crate::layout::globals::GlobalLocation;
use crate::layout::launch_context::{START, STATE, at};
use crate::layout::parameters::{SlotKind, parameter_slots};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, InstBuilder, InstructionData, JumpTableData, MemFlagsData, Opcode,
    Signature, StackSlot, StackSlotData, StackSlotKind, Value, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::ir::Func;

/// Most bytes of an invocation's frame.
const MAX_FRAME: u64 = 1 << 22;

/// The signature of entry functions.
pub(crate) fn entry_signature(convention: CallConv) -> Signature {
    let mut signature = Signature::new(convention);
    let params = [types::I64, types::I32, types::I32, types::I32];
    signature.params.extend(params.map(AbiParam::new));
    signature.returns.push(AbiParam::new(types::I64));
    signature
}

/// Lowers one function: the entry point with its loop, or a function that it calls.
pub(crate) fn lower_entry(
    shared: &mut ClifKernelContext<'_, '_>,
    builder: FunctionBuilder<'_>,
    func: Func,
) -> Result<FrameExtent, SourceDiagnostic> {
    if func == shared.program.entry.func {
        lower_loop(shared, builder)
    } else {
        lower_function(shared, builder, func)?;
        Ok(FrameExtent::new(0, PrivateExtent::default()))
    }
}

/// The blocks of the loop and the values in them.
struct InvocationLoop {
    resume: Value,
    header: Block,
    end: Block,
    size: [Option<Value>; 3],
}

fn lower_loop(
    shared: &mut ClifKernelContext<'_, '_>,
    mut builder: FunctionBuilder<'_>,
) -> Result<FrameExtent, SourceDiagnostic> {
    let program = shared.program;
    let config = shared.code.frontend_config();
    let func = program.entry.func;
    let suspends = program.functions.get(func).suspends;
    let start = builder.create_block();
    builder.append_block_params_for_function_params(start);
    builder.switch_to_block(start);
    let params: Vec<Value> = builder.block_params(start).to_vec();
    let zero = builder.ins().iconst(types::I32, 0);
    let item = InvocationValues {
        context: params[0],
        local: [zero; 3],
        linear: zero,
        rooms: zero,
        frame: None,
    };
    let frame = FrameExtent::new(program.functions.slots, shared.rooms);
    let mut lower = ClifLowering::new(shared, builder, item, frame);
    let scope = InlineScope::new(&mut lower, func, None);
    lower.scopes.push(scope);
    let stride = lower.emit_iconst(types::I64, 0);
    let around = lower.open_loop(&params, suspends, stride)?;
    let dispatch = lower.builder.create_block();
    let begin = lower.builder.create_block();
    let jump_to = if suspends { dispatch } else { begin };
    lower.builder.ins().jump(jump_to, &[]);
    lower.builder.switch_to_block(begin);
    lower.start_item()?;
    lower.lower_body()?;
    lower.current = None;
    lower.close_item(&around, suspends);
    if suspends {
        lower.emit_resume_dispatch(&around, dispatch, begin);
    }
    lower.close_rooms(stride);
    let frame = lower.frame;
    if u64::from(frame.below.max(frame.above)) > 2 * MAX_FRAME {
        return lower.fail_unsupported(format!("keeping {} bytes over barriers", frame.below));
    }
    let mut builder = lower.builder;
    builder.seal_all_blocks();
    builder.finalize(config);
    Ok(frame)
}

impl ClifLowering<'_, '_, '_> {
    /// Emits the loop's head; leaves the builder where an invocation begins.
    fn open_loop(
        &mut self,
        params: &[Value],
        suspends: bool,
        private_stride: Value,
    ) -> Result<InvocationLoop, SourceDiagnostic> {
        let [_, lo, hi, resume] = params[..] else {
            return Err(self.instruction_fault("the entry function has other parameters"));
        };
        let entry = &self.program.entry;
        // A dimension of one invocation needs no counter.
        let size: [Option<Value>; 3] = std::array::from_fn(|n| match entry.uniform_axis_size(n) {
            Some(1) => None,
            Some(size) => Some(self.emit_iconst(types::I32, size.into())),
            None => {
                let size = self.load_context_field(types::I64, at::LOCAL + 8 * n as i32);
                Some(self.builder.ins().ireduce(types::I32, size))
            }
        });
        let firsts = self.first_ids(lo, size);
        let last = self.keep_last(hi);
        let zero = self.emit_iconst(types::I64, 0);
        let all = self.emit_iconst(types::I64, 0xffff_ffff);
        let header = self.builder.create_block();
        let args: Vec<BlockArg> = [lo, firsts[0], firsts[1], firsts[2], all, zero]
            .map(BlockArg::Value)
            .into();
        for ty in [
            types::I32,
            types::I32,
            types::I32,
            types::I32,
            types::I64,
            types::I64,
        ] {
            self.builder.append_block_param(header, ty);
        }
        self.builder.ins().jump(header, &args);
        self.builder.switch_to_block(header);
        let at = self.builder.block_params(header).to_vec();
        self.item.linear = at[0];
        let none = self.emit_iconst(types::I32, 0);
        self.item.local = std::array::from_fn(|n| match size[n] {
            Some(_) => at[1 + n],
            None => none,
        });
        let body = self.builder.create_block();
        let exit = self.builder.create_block();
        let hi = match last {
            Some(slot) => self
                .builder
                .ins()
                .stack_load(types::I64, types::I32, slot, 0),
            None => hi,
        };
        let more = self.builder.ins().icmp(IntCC::UnsignedLessThan, at[0], hi);
        self.builder.ins().brif(more, body, &[], exit, &[]);
        self.builder.switch_to_block(exit);
        let high = self.builder.ins().ishl_imm_u(at[5], 32);
        let summary = self.builder.ins().bor(at[4], high);
        self.builder.ins().return_(&[summary]);
        self.builder.switch_to_block(body);
        self.set_frame(at[0], suspends);
        if let Some(entered) = self.shared.gang {
            self.enter_gang(entered.width, suspends);
        }
        self.place_rooms(suspends, private_stride);
        self.hooks().begin_invocation(self);
        let end = self.builder.create_block();
        self.builder.append_block_param(end, types::I32);
        self.item_end = Some(end);
        Ok(InvocationLoop {
            resume,
            header,
            end,
            size,
        })
    }

    /// Sets the frame of the invocation with a local index.
    fn set_frame(&mut self, linear: Value, suspends: bool) {
        let frames = self.load_context_field(types::I64, at::FRAMES);
        self.item.frame = Some(frames);
        if suspends {
            let stride = self.load_context_field(types::I64, at::FRAME_STRIDE);
            let index = self.builder.ins().uextend(types::I64, linear);
            let index = match self.shared.gang {
                Some(entered) => self.builder.ins().udiv_imm_u(index, entered.width as i64),
                None => index,
            };
            let offset = self.builder.ins().imul(index, stride);
            self.item.frame = Some(self.builder.ins().iadd(frames, offset));
        }
    }

    /// Keeps the end of the loop in memory where hooks take many registers. Otherwise each invocation would spill and
    /// reload it, and wait for the spill of the one before.
    fn keep_last(&mut self, hi: Value) -> Option<StackSlot> {
        if !self.hooks().takes_registers() {
            return None;
        }
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, 4, 2);
        let slot = self.builder.create_sized_stack_slot(data);
        self.builder.ins().stack_store(types::I64, hi, slot, 0);
        Some(slot)
    }

    /// Marks the numbers that differ between the invocations of a gang, which has one frame with
    /// the rooms of all of them.
    fn enter_gang(&mut self, width: usize, suspends: bool) {
        let lanes = self.builder.create_block();
        let linear = self.builder.append_block_param(lanes, types::I32);
        let x = self.builder.append_block_param(lanes, types::I32);
        let firsts = [self.item.linear, self.item.local[0]].map(BlockArg::Value);
        self.builder.ins().jump(lanes, &firsts);
        self.builder.switch_to_block(lanes);
        self.item.linear = linear;
        self.item.local[0] = x;
        let roots = GangEntry {
            width,
            context: self.item.context,
            base_offset: at::BASE,
            lanes,
            frame: self.item.frame.filter(|_| suspends),
        };
        self.shared.gang = Some(GangLoop {
            width,
            roots: Some(roots),
        });
    }

    /// Sets the address of the invocation's private memory. Invocations that may be suspended, and those of a gang,
    /// each have their own.
    fn place_rooms(&mut self, suspends: bool, stride: Value) {
        let rooms = self.load_context_field(types::I64, at::PRIVATE);
        let number = match self.shared.gang {
            _ if suspends => self.item.linear,
            Some(entered) => {
                let linear = self.item.linear;
                self.builder
                    .ins()
                    .band_imm_u(linear, entered.width as i64 - 1)
            }
            None => {
                self.item.rooms = rooms;
                return;
            }
        };
        let number = self.builder.ins().uextend(types::I64, number);
        let offset = self.builder.ins().imul(number, stride);
        self.item.rooms = self.builder.ins().iadd(rooms, offset);
    }

    /// Says how far the private memory of invocations is apart, as everything is lowered now.
    fn close_rooms(&mut self, stride: Value) {
        let dfg = &mut self.builder.func.dfg;
        if let Some(inst) = dfg.value_def(stride).inst() {
            dfg.insts[inst] = InstructionData::UnaryImm {
                opcode: Opcode::Iconst,
                imm: i64::from(self.frame.rooms.stride()).into(),
            };
        }
    }

    fn first_ids(&mut self, lo: Value, size: [Option<Value>; 3]) -> [Value; 3] {
        let one = self.emit_iconst(types::I32, 1);
        let x = size[0].unwrap_or(one);
        let y = size[1].unwrap_or(one);
        let rows = self.builder.ins().udiv(lo, x);
        let first = self.builder.ins().urem(lo, x);
        let second = self.builder.ins().urem(rows, y);
        let third = self.builder.ins().udiv(rows, y);
        [first, second, third]
    }

    /// Begins an invocation: reads its parameters and initialises its private variables.
    fn start_item(&mut self) -> ClifResult {
        self.bind_parameters()?;
        self.hooks().begin_private_memory(self);
        for (id, init) in self.shared.globals.private.clone() {
            let Some(ty) = self.program.variable_type(id) else {
                continue;
            };
            match self.shared.globals.get(id) {
                Some(GlobalLocation::Promoted) => {
                    let (first, _) = self.declare_variables(ty);
                    self.private.push((id, first));
                    let func = self.program.entry.func;
                    if self.program.functions.get(func).suspends {
                        self.keep_variable(first, ty);
                    }
                    let values = match init {
                        Some(init) => self.read_values(init)?,
                        None => self.emit_zeros(ty),
                    };
                    self.assign_variables(first, &values);
                    if init.is_none() {
                        self.hooks()
                            .begin_promoted(self, first, values.len() as u32);
                    }
                }
                Some(GlobalLocation::Private { offset }) => {
                    let Some(init) = init else { continue };
                    let base = self.item.rooms;
                    let address = self.builder.ins().iadd_imm_s(base, i64::from(offset));
                    self.store_to(PointerOperand::Address(address, None), ty, init)?;
                    let bytes = self.program.types.layouts.get(ty).size;
                    self.hooks()
                        .after_private_initialisation(self, offset, bytes);
                }
                _ => {}
            }
        }
        let entry = self.current_scope().blocks[0];
        self.builder.ins().jump(entry, &[]);
        Ok(())
    }

    /// Kernel parameters are read from the block of arguments.
    fn bind_parameters(&mut self) -> ClifResult {
        let program = self.program;
        let info = program.functions.get(program.entry.func);
        let args = self.load_context_field(types::I64, at::ARGS);
        for (param, slot) in info.params.iter().zip(parameter_slots(program)?) {
            let ty = self.type_of(*param)?;
            let offset = slot.offset as i32;
            match slot.kind {
                SlotKind::ByValue => {
                    let mut leaves = Vec::new();
                    program.types.append_leaves(ty, 0, None, &mut leaves);
                    if self.is_large(ty) {
                        return self.fail_unsupported("a parameter of more than 64 scalars");
                    }
                    let values: Vec<Value> = leaves
                        .iter()
                        .map(|leaf| {
                            let at = offset + leaf.offset as i32;
                            let ty = clif_type(leaf.scalar);
                            self.builder.ins().load(ty, invariant_flags(), args, at)
                        })
                        .collect();
                    self.set_values(*param, &values);
                }
                SlotKind::Copy => {
                    let pointee = program.pointee_of(*param).unwrap_or(ty);
                    let to = self.open_room(*param, pointee, slot.bytes)?;
                    let from = self.builder.ins().iadd_imm_s(args, i64::from(offset));
                    self.copy_bytes(to, from, slot.bytes);
                    self.hooks().after_initialisation(self, *param);
                }
                SlotKind::Buffer | SlotKind::Local | SlotKind::Handle => {
                    let value =
                        self.builder
                            .ins()
                            .load(types::I64, invariant_flags(), args, offset);
                    self.set_values(*param, &[value]);
                    self.set_pointee_info(*param, PointeeInfo::default());
                }
            }
        }
        Ok(())
    }

    /// Ends an invocation's run: stores its state and continues with the next one.
    fn close_item(&mut self, around: &InvocationLoop, suspends: bool) {
        self.builder.switch_to_block(around.end);
        let state = self.builder.block_params(around.end)[0];
        let header: Vec<Value> = self.builder.block_params(around.header).to_vec();
        let (mut least, mut greatest) = (header[4], header[5]);
        if let (true, Some(frame)) = (suspends, self.item.frame) {
            let flags = MemFlagsData::trusted();
            self.builder.ins().store(flags, state, frame, STATE);
            let wide = self.builder.ins().uextend(types::I64, state);
            least = self.builder.ins().umin(least, wide);
            greatest = self.builder.ins().umax(greatest, wide);
        }
        let step = match self.shared.gang {
            Some(entered) => entered.width as i64,
            None => 1,
        };
        let linear = self.builder.ins().iadd_imm_s(header[0], step);
        let zero = self.emit_iconst(types::I32, 0);
        let mut next = [header[1], header[2], header[3]];
        let counted: Vec<usize> = (0..3).filter(|n| around.size[*n].is_some()).collect();
        for (turn, n) in counted.iter().enumerate() {
            let Some(size) = around.size[*n] else {
                continue;
            };
            let step = if *n == 0 { step } else { 1 };
            next[*n] = self.builder.ins().iadd_imm_s(header[1 + *n], step);
            if turn + 1 == counted.len() {
                break;
            }
            let carry = self.builder.create_block();
            let full = self.builder.ins().icmp(IntCC::Equal, next[*n], size);
            let args = back_edge(linear, next, least, greatest);
            self.builder
                .ins()
                .brif(full, carry, &[], around.header, &args);
            self.builder.switch_to_block(carry);
            next[*n] = zero;
        }
        let args = back_edge(linear, next, least, greatest);
        self.builder.ins().jump(around.header, &args);
    }

    /// Resumes each invocation where it was suspended. Invocations at other points are skipped.
    fn emit_resume_dispatch(&mut self, around: &InvocationLoop, dispatch: Block, begin: Block) {
        self.builder.switch_to_block(dispatch);
        let Some(frame) = self.item.frame else { return };
        let check = self.builder.create_block();
        let go = self.builder.create_block();
        let start = self
            .builder
            .ins()
            .icmp_imm_u(IntCC::Equal, around.resume, i64::from(START));
        self.builder.ins().brif(start, begin, &[], check, &[]);
        self.builder.switch_to_block(check);
        let flags = MemFlagsData::trusted();
        let state = self.builder.ins().load(types::I32, flags, frame, STATE);
        let here = self.builder.ins().icmp(IntCC::Equal, state, around.resume);
        let args = [BlockArg::Value(state)];
        self.builder.ins().brif(here, go, &[], around.end, &args);
        self.builder.switch_to_block(go);
        let resumes = self.resumes.clone();
        if let [only] = resumes[..] {
            self.builder.ins().jump(only, &[]);
            return;
        }
        let at = self.builder.ins().iadd_imm_s(around.resume, -1);
        let pool = &mut self.builder.func.dfg.value_lists;
        let calls: Vec<_> = resumes
            .iter()
            .map(|b| cranelift_codegen::ir::BlockCall::new(*b, std::iter::empty(), pool))
            .collect();
        let Some(last) = calls.last().copied() else {
            self.builder.ins().jump(begin, &[]);
            return;
        };
        let table = self
            .builder
            .create_jump_table(JumpTableData::new(last, &calls));
        self.builder.ins().br_table(at, table);
    }
}

fn back_edge(linear: Value, next: [Value; 3], least: Value, greatest: Value) -> Vec<BlockArg> {
    [linear, next[0], next[1], next[2], least, greatest]
        .map(BlockArg::Value)
        .into()
}
