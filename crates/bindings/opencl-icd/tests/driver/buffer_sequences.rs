//! Random sequences of commands on buffers, in order and out of order, against a model.

use crate::buffer_boxes::random_bytes;
use crate::caller::{ObjectKind, OwnedHandle, check, wait_list};
use crate::events::end_event;
use crate::session::{
    BASIC, TestSession, both_devices, create_buffer, create_context, create_kernel, create_part,
    create_queue, load_module, set_object, set_value,
};
use opencl_sys::*;
use spirula_testing::ChoiceSequence;
use std::ptr::null_mut;

/// Bytes of each buffer.
const SIZE: usize = 512;
/// Number of whole buffers.
const BUFFERS: usize = 3;
/// First byte of the part of the last buffer.
const PART: usize = 128;

/// A buffer or a part, with the number of its model and its first byte there.
struct ModelledBuffer {
    handle: OwnedHandle,
    model: usize,
    first: usize,
    size: usize,
}

/// A read that has not ended, and the bytes that it has to bring.
struct PendingRead {
    found: Box<[u8; SIZE]>,
    expected: Vec<u8>,
}

/// Commands on buffers and their model.
struct CommandSequence {
    queues: Vec<OwnedHandle>,
    buffers: Vec<ModelledBuffer>,
    models: Vec<Vec<u8>>,
    /// The events of the last commands on each model.
    last: Vec<Vec<OwnedHandle>>,
    reads: Vec<PendingRead>,
    written: Vec<Box<[u8]>>,
    gates: Vec<OwnedHandle>,
    kernel: OwnedHandle,
    context: OwnedHandle,
}

impl CommandSequence {
    /// The queues wait for each other by events alone.
    fn new(context: OwnedHandle, queues: Vec<OwnedHandle>, seed: u64) -> CommandSequence {
        let models: Vec<Vec<u8>> = (0..BUFFERS as u64)
            .map(|number| random_bytes(seed * 10 + number, SIZE))
            .collect();
        let mut buffers: Vec<ModelledBuffer> = Vec::new();
        for (model, content) in models.iter().enumerate() {
            let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
            let pointer = content.as_ptr().cast_mut().cast();
            let made = create_buffer(context.raw, flags, SIZE, pointer);
            buffers.push(ModelledBuffer {
                handle: made.expect("there is memory"),
                model,
                first: 0,
                size: SIZE,
            });
        }
        let part = create_part(&buffers[BUFFERS - 1].handle, 0, PART, 256);
        buffers.push(ModelledBuffer {
            handle: part.expect("it is aligned"),
            model: BUFFERS - 1,
            first: PART,
            size: 256,
        });
        let bytes = crate::session::assemble(BASIC);
        let program = load_module(context.raw, &bytes).expect("it is a module");
        crate::session::build(&program, "").expect("it can be built");
        CommandSequence {
            queues,
            buffers,
            models,
            last: (0..BUFFERS).map(|_| Vec::new()).collect(),
            reads: Vec::new(),
            written: Vec::new(),
            gates: Vec::new(),
            kernel: create_kernel(&program, "add_value").expect("it is there"),
            context,
        }
    }

    /// The events that a command on some models waits for, and sometimes a user event.
    fn waits(&mut self, models: &[usize], choices: &mut ChoiceSequence<'_>) -> Vec<cl_event> {
        let all = models.iter().flat_map(|model| &self.last[*model]);
        let mut events: Vec<cl_event> = all.map(|event| event.raw).collect();
        if choices.choose_below(5) == 0 {
            let mut code = 1;
            let raw = cl!(clCreateUserEvent(self.context.raw, &raw mut code));
            let gate = OwnedHandle::new(ObjectKind::Event, raw, code).expect("it is one");
            events.push(gate.raw);
            self.gates.push(gate);
        }
        if self.gates.len() > 3 {
            end_event(&self.gates.remove(0), CL_COMPLETE);
        }
        events
    }

    fn note(&mut self, models: &[usize], event: cl_event) {
        let event = OwnedHandle::new(ObjectKind::Event, event, CL_SUCCESS).expect("it is one");
        for model in models {
            assert_eq!(ObjectKind::Event.retain(event.raw), CL_SUCCESS);
            let (raw, kind) = (event.raw, ObjectKind::Event);
            self.last[*model] = vec![OwnedHandle { raw, kind }];
        }
    }

    fn run_command(&mut self, choices: &mut ChoiceSequence<'_>) {
        let queue = self.queues[choices.choose_below(self.queues.len())].raw;
        let target = choices.choose_below(self.buffers.len());
        let chosen = &self.buffers[target];
        let (model, first, most) = (chosen.model, chosen.first, chosen.size);
        let offset = choices.choose_below(most / 4) * 4;
        let size = (1 + choices.choose_below((most - offset) / 4)) * 4;
        let memory = self.buffers[target].handle.raw;
        let place = first + offset..first + offset + size;
        let mut event = null_mut();
        let out = &raw mut event;
        let mut models = vec![model];
        let code = match choices.choose_below(6) {
            0 => {
                let waits = self.waits(&models, choices);
                let (count, list) = wait_list(&waits);
                let mut found = Box::new([0; SIZE]);
                let to = found.as_mut_ptr().cast();
                let expected = self.models[model][place].to_vec();
                self.reads.push(PendingRead { found, expected });
                cl!(clEnqueueReadBuffer(
                    queue, memory, 0, offset, size, to, count, list, out
                ))
            }
            1 => {
                let waits = self.waits(&models, choices);
                let (count, list) = wait_list(&waits);
                let bytes = random_bytes(choices.choose_below(65536) as u64, size);
                let own = bytes.clone().into_boxed_slice();
                let from = own.as_ptr().cast();
                self.written.push(own);
                self.models[model][place].copy_from_slice(&bytes);
                cl!(clEnqueueWriteBuffer(
                    queue, memory, 0, offset, size, from, count, list, out
                ))
            }
            2 => {
                let waits = self.waits(&models, choices);
                let (count, list) = wait_list(&waits);
                let pattern = random_bytes(offset as u64 + 77, 4);
                self.models[model][place].copy_from_slice(&pattern.repeat(size / 4));
                let from = pattern.as_ptr().cast();
                cl!(clEnqueueFillBuffer(
                    queue, memory, from, 4, offset, size, count, list, out
                ))
            }
            3 => {
                let source = choices.choose_below(BUFFERS);
                if source == model {
                    return;
                }
                models.push(source);
                let waits = self.waits(&models, choices);
                let (count, list) = wait_list(&waits);
                let from = choices.choose_below(SIZE - size + 1);
                let bytes = self.models[source][from..from + size].to_vec();
                self.models[model][place].copy_from_slice(&bytes);
                let other = self.buffers[source].handle.raw;
                cl!(clEnqueueCopyBuffer(
                    queue, other, memory, from, offset, size, count, list, out
                ))
            }
            4 => self.change_mapped(queue, target, (offset, size), choices, out),
            _ => self.launch_addition(queue, target, choices, out),
        };
        assert_eq!(check(code), Ok(()));
        self.note(&models, event);
    }

    /// Adds a value to all numbers of a buffer by a kernel.
    fn launch_addition(
        &mut self,
        queue: cl_command_queue,
        target: usize,
        choices: &mut ChoiceSequence<'_>,
        event: *mut cl_event,
    ) -> cl_int {
        let chosen = &self.buffers[target];
        let (model, first, most) = (chosen.model, chosen.first, chosen.size);
        let waits = self.waits(&[model], choices);
        let (count, list) = wait_list(&waits);
        let value = 1 + choices.choose_below(60_000) as u32;
        set_object(&self.kernel, 0, &self.buffers[target].handle);
        assert_eq!(set_value(&self.kernel, 1, &value), Ok(()));
        add_to_numbers(&mut self.models[model][first..first + most], value);
        let (items, none) = (most / 4, std::ptr::null());
        let all = &raw const items;
        let kernel = self.kernel.raw;
        cl!(clEnqueueNDRangeKernel(
            queue, kernel, 1, none, all, none, count, list, event
        ))
    }

    /// Maps a part of a buffer, compares it, writes it and gives it back.
    fn change_mapped(
        &mut self,
        queue: cl_command_queue,
        target: usize,
        (offset, size): (usize, usize),
        choices: &mut ChoiceSequence<'_>,
        event: *mut cl_event,
    ) -> cl_int {
        for gate in self.gates.drain(..) {
            end_event(&gate, CL_COMPLETE);
        }
        let chosen = &self.buffers[target];
        let place = chosen.first + offset..chosen.first + offset + size;
        let is_kept = choices.choose_below(3) > 0;
        let flags = match is_kept {
            true => CL_MAP_READ | CL_MAP_WRITE,
            false => CL_MAP_WRITE_INVALIDATE_REGION,
        };
        let waits: Vec<cl_event> = self.last[chosen.model].iter().map(|e| e.raw).collect();
        let (count, list) = wait_list(&waits);
        let (memory, mut code) = (chosen.handle.raw, 1);
        let (code_out, no_event) = (&raw mut code, null_mut());
        let mapped = cl!(clEnqueueMapBuffer(
            queue, memory, CL_TRUE, flags, offset, size, count, list, no_event, code_out
        ));
        assert_eq!(code, CL_SUCCESS);
        // SAFETY: this number of bytes is mapped.
        let bytes = unsafe { std::slice::from_raw_parts_mut(mapped.cast::<u8>(), size) };
        let model = &mut self.models[chosen.model][place];
        if is_kept {
            assert_eq!(*bytes, *model);
        }
        model.copy_from_slice(&random_bytes(size as u64 + 3, size));
        bytes.copy_from_slice(model);
        cl!(clEnqueueUnmapMemObject(
            queue,
            memory,
            mapped,
            0,
            std::ptr::null(),
            event
        ))
    }

    /// Ends the sequence, and compares what it has read and what is in the buffers.
    fn finish(&mut self, name: &str) {
        for gate in self.gates.drain(..) {
            end_event(&gate, CL_COMPLETE);
        }
        for queue in &self.queues {
            assert_eq!(cl!(clFinish(queue.raw)), CL_SUCCESS);
        }
        for read in &self.reads {
            assert_eq!(read.found[..read.expected.len()], read.expected, "{name}");
        }
        for (number, model) in self.models.iter().enumerate() {
            let queue = &self.queues[number % self.queues.len()];
            let mut found = vec![0_u8; SIZE];
            let memory = self.buffers[number].handle.raw;
            let read = crate::session::read_buffer(queue.raw, memory, 0, &mut found, &[]);
            assert_eq!(read, Ok(()));
            assert_eq!(found, *model, "{name}: buffer {number}");
        }
    }
}

/// Adds a value to all numbers.
fn add_to_numbers(bytes: &mut [u8], value: u32) {
    for chunk in bytes.chunks_exact_mut(4) {
        let number = u32::from_le_bytes(chunk.try_into().expect("it has four bytes"));
        chunk.copy_from_slice(&number.wrapping_add(value).to_le_bytes());
    }
}

fn run_sequences(name: &str, count: u64, open: impl Fn() -> (OwnedHandle, Vec<OwnedHandle>)) {
    let _guard = crate::session::use_many_handles();
    for seed in 0..count {
        let (context, queues) = open();
        let mut sequence = CommandSequence::new(context, queues, seed);
        let bytes = random_bytes(seed + 5, 700);
        let mut choices = ChoiceSequence::new(&bytes);
        while !choices.is_empty() {
            sequence.run_command(&mut choices);
        }
        sequence.finish(&format!("{name}, sequence {seed}"));
    }
}

fn open_processor(flags: &[cl_command_queue_properties]) -> (OwnedHandle, Vec<OwnedHandle>) {
    let TestSession {
        context, device, ..
    } = TestSession::new();
    let queue = |flags: &u64| create_queue(context.raw, device, *flags).expect("it has queues");
    let queues = flags.iter().map(queue).collect();
    (context, queues)
}

const OUT_OF_ORDER: cl_command_queue_properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;

#[test]
fn queues_in_order_do_as_the_model() {
    run_sequences("in order", 60, || open_processor(&[0]));
}

#[test]
fn queues_out_of_order_do_as_the_model() {
    run_sequences("out of order", 60, || open_processor(&[OUT_OF_ORDER]));
}

#[test]
fn several_queues_do_as_the_model() {
    let flags = [OUT_OF_ORDER, 0, CL_QUEUE_PROFILING_ENABLE];
    run_sequences("three queues", 60, || open_processor(&flags));
}

#[test]
fn queues_of_a_vulkan_device_do_as_the_model() {
    let Some([_, device]) = both_devices() else {
        return;
    };
    for flags in [
        &[0][..],
        &[OUT_OF_ORDER],
        &[0, CL_QUEUE_PROFILING_ENABLE, OUT_OF_ORDER],
    ] {
        run_sequences(&format!("Vulkan, {flags:?}"), 20, || {
            let context = create_context(&[device]).expect("it is there");
            let queues = flags.iter();
            let queues = queues.map(|flags| create_queue(context.raw, device, *flags));
            let queues = queues.map(|queue| queue.expect("it has queues")).collect();
            (context, queues)
        });
    }
}

#[test]
fn several_devices_do_as_the_model() {
    let Some(devices) = both_devices() else {
        return;
    };
    run_sequences("two devices", 30, || {
        let context = create_context(&devices).expect("both are there");
        let pairs = devices.iter().zip([OUT_OF_ORDER, 0]);
        let queues = pairs.map(|(device, flags)| create_queue(context.raw, *device, flags));
        let queues = queues.map(|queue| queue.expect("it has queues")).collect();
        (context, queues)
    });
}
