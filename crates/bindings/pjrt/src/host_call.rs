//! Programs that call functions of the host: they pause there, and the device is free for other jobs meanwhile.
//!
//! On the processor the function gets the memory of the device itself; for other devices, and under the sanitizer, arrays
//! are copied.

use crate::device_state::DeviceState;
use crate::element::ElementFormat;
use crate::error::{PluginError, PluginResult};
use crate::exchange_memory::{ExchangeMemory, SentElements};
use crate::ffi::{HostMemoryCall, SharedUserData, find_target};
use crate::group_exchange::ExchangedParts;
use crate::host_pool::{HostPool, LEAST_BYTES};
use crate::module::{CompiledModule, ENTRY};
use crate::queue::{HostWork, JobProgress, JobWork};
use spirula::EXCHANGE_TARGET;
use spirula_exchange::frame::ByteBlock;
use spirula_program::program::HostStep;
use spirula_program::{
    CallProgress, CompiledProgram, ForeignArrayType, ForeignFailure, ForeignFunctionError,
    ForeignResult, ForeignSignature, PausedCall, ProgramSession, ResidentValue, ScalarType,
};
use spirula_runtime::{BufferHandle, DeviceMachine};
use std::ffi::c_void;
use std::sync::Arc;

/// The session of a program on a device.
type DeviceSession<'p> = ProgramSession<'p, DeviceMachine<'static>>;

/// The use of the results of a program.
pub trait ProgramEnd:
    FnOnce(&mut DeviceState, Vec<ResidentValue>) -> PluginResult<()> + Send + 'static
{
}

impl<E> ProgramEnd for E where
    E: FnOnce(&mut DeviceState, Vec<ResidentValue>) -> PluginResult<()> + Send + 'static
{
}

/// A program that runs, with what its functions of the host and its caller need.
pub struct RunningProgram<E> {
    pub module: Arc<CompiledModule>,
    pub user_data: Vec<SharedUserData>,
    pub end: E,
}

/// Whether a program calls functions of the host. Exchanges with other devices are none.
pub fn calls_host(program: &CompiledProgram) -> bool {
    list_host_targets(program).next().is_some()
}

/// Whether all functions of the host that a program calls are registered.
pub fn has_host_targets(program: &CompiledProgram) -> bool {
    list_host_targets(program).all(|target| find_target(target).is_some())
}

/// The functions of the host that a program calls, without exchanges with other devices.
fn list_host_targets(program: &CompiledProgram) -> impl Iterator<Item = &str> {
    let steps = program.functions.iter().flat_map(|f| &f.steps);
    let targets = steps.filter_map(|step| match step {
        HostStep::Foreign(step) => Some(step.signature.target.as_str()),
        _ => None,
    });
    targets.filter(|target| *target != EXCHANGE_TARGET)
}

/// Memory of an operand or result.
enum CallMemory {
    /// Bytes of the host, in aligned words.
    Host(Vec<u128>, usize),
    /// The operand of an exchange.
    Sent(SentElements),
    /// The result of an exchange, in parts. None until it is there.
    Received(ExchangedParts),
    /// Memory of the device, which the paused program keeps.
    Device(*mut c_void),
    /// A new array of the device.
    Array(ResidentValue, *mut c_void),
}

// SAFETY: the pointers are to memory that the paused program or the value keeps, and only one thread uses it at a time.
unsafe impl Send for CallMemory {}

impl CallMemory {
    fn from_bytes(bytes: &[u8]) -> CallMemory {
        let mut memory = CallMemory::with_zeros(bytes.len());
        if let CallMemory::Host(words, _) = &mut memory {
            for (word, chunk) in words.iter_mut().zip(bytes.chunks(16)) {
                let mut whole = [0; 16];
                whole[..chunk.len()].copy_from_slice(chunk);
                *word = u128::from_ne_bytes(whole);
            }
        }
        memory
    }

    fn with_zeros(bytes: usize) -> CallMemory {
        CallMemory::Host(vec![0; bytes.div_ceil(16).max(1)], bytes)
    }

    fn as_pointer(&mut self) -> *mut c_void {
        match self {
            CallMemory::Host(words, _) => words.as_mut_ptr().cast(),
            // Exchanges call no function.
            CallMemory::Sent(_) | CallMemory::Received(_) => std::ptr::null_mut(),
            CallMemory::Device(pointer) | CallMemory::Array(_, pointer) => *pointer,
        }
    }

    /// The operand of an exchange.
    fn as_sent(&self) -> Option<&SentElements> {
        match self {
            CallMemory::Sent(sent) => Some(sent),
            _ => None,
        }
    }

    /// The result for the program. `sent` is the operand of the same exchange.
    fn into_result(
        self,
        session: &mut DeviceSession<'_>,
        exchanges: &mut ExchangeMemory,
        sent: Option<&SentElements>,
    ) -> PluginResult<ForeignResult> {
        let result = match self {
            CallMemory::Host(words, length) => {
                let mut bytes = Vec::with_capacity(words.len() * 16);
                for word in &words {
                    bytes.extend_from_slice(&word.to_ne_bytes());
                }
                bytes.truncate(length);
                ForeignResult::Bytes(bytes)
            }
            CallMemory::Received(parts) => upload_parts(session, exchanges, &parts, sent)?,
            CallMemory::Sent(_) | CallMemory::Device(_) => ForeignResult::Bytes(Vec::new()),
            CallMemory::Array(value, _) => ForeignResult::Array(value),
        };
        Ok(result)
    }
}

impl<E: ProgramEnd> RunningProgram<E> {
    /// Starts the program.
    pub fn start(
        self,
        state: &mut DeviceState,
        given: Vec<ResidentValue>,
    ) -> PluginResult<JobProgress> {
        let outcome = start_program(state, &self.module, given)?;
        self.follow(state, outcome)
    }

    /// Ends the program, or lets the host work for it.
    fn follow(self, state: &mut DeviceState, outcome: StepOutcome) -> PluginResult<JobProgress> {
        match outcome {
            StepOutcome::Ended(values) => {
                (self.end)(state, values)?;
                Ok(JobProgress::Done)
            }
            StepOutcome::Calls(call) => {
                let work: HostWork = Box::new(move || self.call_function(call));
                Ok(JobProgress::Host(work))
            }
        }
    }

    /// Calls the function of the host. Returns how the program continues.
    fn call_function(self, mut call: PreparedHostCall) -> JobWork {
        let result = call.run(&self.module, &self.user_data);
        Box::new(move |state| {
            let module = self.module.clone();
            let outcome = call.finish(state, &module, result)?;
            self.follow(state, outcome)
        })
    }
}

/// Starts a program on a device.
pub fn start_program(
    state: &mut DeviceState,
    module: &Arc<CompiledModule>,
    given: Vec<ResidentValue>,
) -> PluginResult<StepOutcome> {
    state.with_session(module, |session, exchanges| {
        let references: Vec<&ResidentValue> = given.iter().collect();
        let prepared = session.prepare_resident(ENTRY, &references);
        // The call refers to its arguments itself, and drops them when it needs them no more.
        given
            .into_iter()
            .for_each(|value| session.release_value(value));
        let progress = session.start_call(prepared?)?;
        StepOutcome::from_progress(session, exchanges, &module.program, progress)
    })
}

/// The state of a program after some of its steps.
pub enum StepOutcome {
    /// It has ended with these results.
    Ended(Vec<ResidentValue>),
    /// It calls a function of the host.
    Calls(PreparedHostCall),
}

impl StepOutcome {
    fn from_progress<'p>(
        session: &mut DeviceSession<'p>,
        exchanges: &mut ExchangeMemory,
        program: &CompiledProgram,
        progress: CallProgress<'p>,
    ) -> PluginResult<StepOutcome> {
        match progress {
            CallProgress::Completed(ended) => Ok(StepOutcome::Ended(session.keep_results(ended)?)),
            CallProgress::Paused(paused) => {
                let prepared = prepare_memory(session, exchanges, program, &paused);
                match prepared {
                    Ok((operands, results)) => Ok(StepOutcome::Calls(PreparedHostCall {
                        paused,
                        operands,
                        results,
                    })),
                    Err(error) => Err(abandon_call(session, program, paused, error)),
                }
            }
        }
    }
}

/// A call of a function of the host, with the memory of its operands and results.
pub struct PreparedHostCall {
    paused: PausedCall,
    operands: Vec<CallMemory>,
    results: Vec<CallMemory>,
}

impl PreparedHostCall {
    /// The function, with the types of operands and results.
    pub fn signature<'m>(&self, module: &'m CompiledModule) -> &'m ForeignSignature {
        self.paused.signature(&module.program)
    }

    /// The elements of the operand of an exchange.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub fn copy_operand(
        &mut self,
        module: &CompiledModule,
        pool: &HostPool,
    ) -> PluginResult<ByteBlock> {
        let mut types = self.signature(module).operands.iter();
        let length = types.next().map_or(0, |ty| ty.bytes as usize);
        match self.operands.first_mut() {
            Some(CallMemory::Sent(sent)) => Ok(sent.block.clone()),
            Some(memory) if length > 0 => {
                let memory = memory.as_pointer().cast::<u8>();
                // SAFETY: the memory is that of the signature, and the paused program keeps it.
                let elements = unsafe { std::slice::from_raw_parts(memory, length) };
                pool.copy_bytes(elements)
            }
            _ => Ok(ByteBlock::default()),
        }
    }

    /// Bytes of the result of an exchange.
    pub fn result_length(&self, module: &CompiledModule) -> usize {
        let mut types = self.signature(module).results.iter();
        types.next().map_or(0, |ty| ty.bytes as usize)
    }

    /// Stores the elements of the result of an exchange.
    ///
    /// # Errors
    /// When they are too many or too few.
    pub fn store_result(
        &mut self,
        module: &CompiledModule,
        parts: ExchangedParts,
    ) -> PluginResult<()> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if length != self.result_length(module) {
            return Err(PluginError::internal(
                "an exchange has a result of another size",
            ));
        }
        match self.results.first_mut() {
            Some(CallMemory::Received(result)) => *result = parts,
            Some(memory) if length > 0 => {
                let mut memory = memory.as_pointer().cast::<u8>();
                for part in &parts {
                    // SAFETY: the memory is that of the signature, is new, and has room for all parts.
                    unsafe {
                        memory.copy_from_nonoverlapping(part.as_ptr(), part.len());
                        memory = memory.add(part.len());
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The failure of the function for a reason.
    pub fn failure(&self, module: &CompiledModule, reason: &PluginError) -> ForeignFailure {
        let mut error = ForeignFunctionError::new(reason.message.clone());
        error.code = reason.code.0;
        self.signature(module).failed_function(error)
    }

    /// Calls the function.
    pub fn run(
        &mut self,
        module: &CompiledModule,
        user_data: &[SharedUserData],
    ) -> Result<(), ForeignFailure> {
        let signature = self.paused.signature(&module.program);
        let target = find_target(&signature.target);
        let target = target.ok_or_else(|| signature.missing_function())?;
        let operands = self.operands.iter_mut().map(CallMemory::as_pointer);
        let mut operands: Vec<*mut c_void> = operands.collect();
        let results = self.results.iter_mut().map(CallMemory::as_pointer);
        let results: Vec<*mut c_void> = results.collect();
        for (operand, result) in &signature.aliases {
            let bytes = signature.operands[*operand].bytes as usize;
            // SAFETY: both have the memory of their equal types, and results are new.
            unsafe {
                std::ptr::copy_nonoverlapping::<u8>(
                    operands[*operand].cast(),
                    results[*result].cast(),
                    bytes,
                );
            }
            operands[*operand] = results[*result];
        }
        let user_data: Vec<_> = user_data.iter().map(SharedUserData::get).collect();
        let call = HostMemoryCall {
            signature,
            operands,
            results,
            user_data: &user_data,
        };
        let sites = &module.host_calls;
        // SAFETY: the memory is that of the signature, and only this call uses it.
        let called = unsafe { sites.call(target, &call) };
        called.map_err(|error| signature.failed_function(error))?;
        for (ty, result) in signature.results.iter().zip(&call.results) {
            extend_narrow(ty, *result);
        }
        Ok(())
    }

    /// Continues the program with the results of the function.
    pub fn finish(
        self,
        state: &mut DeviceState,
        module: &Arc<CompiledModule>,
        result: Result<(), ForeignFailure>,
    ) -> PluginResult<StepOutcome> {
        let program = &module.program;
        state.with_session(module, |session, exchanges| match result {
            Ok(()) => {
                let sent = self.operands.iter().find_map(CallMemory::as_sent);
                let results = self.results.into_iter();
                let results = results.map(|memory| memory.into_result(session, exchanges, sent));
                let results = match results.collect::<PluginResult<Vec<_>>>() {
                    Ok(results) => results,
                    Err(error) => return Err(abandon_call(session, program, self.paused, error)),
                };
                let progress = session.resume_call(self.paused, results)?;
                StepOutcome::from_progress(session, exchanges, program, progress)
            }
            Err(failure) => {
                for result in self.results {
                    if let CallMemory::Array(value, _) = result {
                        session.release_value(value);
                    }
                }
                Err(session.abandon_call(self.paused, failure).into())
            }
        })
    }
}

/// Ends a call whose memory cannot be had for a reason. Returns the reason.
fn abandon_call(
    session: &mut DeviceSession<'_>,
    program: &CompiledProgram,
    paused: PausedCall,
    error: PluginError,
) -> PluginError {
    let reason = ForeignFunctionError::new(error.message.clone());
    let failure = paused.signature(program).failed_function(reason);
    session.abandon_call(paused, failure);
    error
}

/// The memory of operands and results.
fn prepare_memory(
    session: &mut DeviceSession<'_>,
    exchanges: &mut ExchangeMemory,
    program: &CompiledProgram,
    paused: &PausedCall,
) -> PluginResult<(Vec<CallMemory>, Vec<CallMemory>)> {
    let signature = paused.signature(program);
    let lends = session.machine().device().info().id == "cpu";
    if signature.target == EXCHANGE_TARGET && !lends {
        let operands = download_operands(session, exchanges, program, paused)?;
        let results = signature.results.iter();
        let results = results.map(|_| CallMemory::Received(Vec::new()));
        return Ok((operands, results.collect()));
    }
    let operands = if lends {
        lend_operands(session, paused)?
    } else {
        let bytes = session.read_operands(paused)?;
        bytes.iter().map(|b| CallMemory::from_bytes(b)).collect()
    };
    let is_array = session.has_array_results(paused);
    let mut results = Vec::with_capacity(is_array.len());
    for (ty, is_array) in signature.results.iter().zip(is_array) {
        results.push(if lends && is_array && ty.bytes > 0 {
            create_array(session, ty)?
        } else {
            CallMemory::with_zeros(ty.bytes as usize)
        });
    }
    Ok((operands, results))
}

/// The operands of an exchange, in memory of the host.
fn download_operands(
    session: &mut DeviceSession<'_>,
    exchanges: &mut ExchangeMemory,
    program: &CompiledProgram,
    paused: &PausedCall,
) -> PluginResult<Vec<CallMemory>> {
    let sources = session.operand_blocks(paused);
    let types = &paused.signature(program).operands;
    let operands = sources.into_iter().zip(types).enumerate();
    let download = |(at, (source, ty)): (usize, (Option<_>, &ForeignArrayType))| {
        let length = ty.bytes as usize;
        let direct = match source {
            Some(source) => {
                let device = session.machine().device();
                exchanges.download_block(device, source, length)?
            }
            None => None,
        };
        let read = |bytes: &mut [u8]| Ok(session.read_operand(paused, at, bytes)?);
        let block = match direct {
            Some(block) => block,
            None => exchanges.pool().fill_block(length, read)?,
        };
        Ok(CallMemory::Sent(SentElements { block, source }))
    };
    operands.map(download).collect()
}

/// The result of an exchange. One of many bytes is a new array.
fn upload_parts(
    session: &mut DeviceSession<'_>,
    exchanges: &mut ExchangeMemory,
    parts: &[ByteBlock],
    sent: Option<&SentElements>,
) -> PluginResult<ForeignResult> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    if length < LEAST_BYTES {
        return Ok(ForeignResult::Bytes(parts.concat()));
    }
    let (value, target) = allocate_array(session, length as u64)?;
    let device = session.machine().device();
    match exchanges.upload_blocks(device, parts, sent, target) {
        Ok(()) => Ok(ForeignResult::Array(value)),
        Err(error) => {
            session.release_value(value);
            Err(error)
        }
    }
}

/// The operands in the memory of the processor.
fn lend_operands(
    session: &mut DeviceSession<'_>,
    paused: &PausedCall,
) -> PluginResult<Vec<CallMemory>> {
    let blocks = session.operand_blocks(paused);
    if blocks.iter().any(Option::is_none) {
        let bytes = session.read_operands(paused)?;
        let pairs = bytes.iter().zip(blocks);
        return pairs
            .map(|(bytes, block)| match block {
                Some(block) => lend_block(session, block),
                None => Ok(CallMemory::from_bytes(bytes)),
            })
            .collect();
    }
    blocks
        .into_iter()
        .flatten()
        .map(|block| lend_block(session, block))
        .collect()
}

fn lend_block(session: &mut DeviceSession<'_>, block: BufferHandle) -> PluginResult<CallMemory> {
    let address = session.machine().device().buffer_address(block)?;
    Ok(CallMemory::Device(to_pointer(address)))
}

fn to_pointer(address: u64) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// A new array for a result.
fn create_array(
    session: &mut DeviceSession<'_>,
    ty: &ForeignArrayType,
) -> PluginResult<CallMemory> {
    let (value, block) = allocate_array(session, ty.bytes)?;
    let address = session.machine().device().buffer_address(block)?;
    Ok(CallMemory::Array(value, to_pointer(address)))
}

/// A new array of a given number of bytes, and its memory.
fn allocate_array(
    session: &mut DeviceSession<'_>,
    bytes: u64,
) -> PluginResult<(ResidentValue, BufferHandle)> {
    let heap = session.heap();
    let value = heap.create_array(ScalarType::I8, false, vec![bytes])?;
    let block = heap.resident_block(&value);
    let block = block.ok_or_else(|| PluginError::internal("a result has no memory"))?;
    Ok((value, block))
}

/// Extends integers of fewer than 8 bits to their bytes, as programs have them.
fn extend_narrow(ty: &ForeignArrayType, memory: *mut c_void) {
    let Ok(format) = ElementFormat::from_name(&ty.element) else {
        return;
    };
    // SAFETY: the memory is that of the type.
    let bytes = unsafe { std::slice::from_raw_parts_mut(memory.cast::<u8>(), ty.bytes as usize) };
    if let Some(extended) = format.extend_narrow(bytes) {
        bytes.copy_from_slice(&extended);
    }
}
