//! A caller of the table: structs with their sizes, errors as results, and owners of objects.

use spirula_pjrt::GetPjrtApi;
use spirula_pjrt::boundary::{CallArguments, SizedStruct, make_cleared};
use spirula_pjrt::generated::*;
use std::ptr::null_mut;

/// An error of the plugin: its code and its message.
#[derive(Debug)]
pub struct CallError {
    pub code: PjrtErrorCode,
    pub message: String,
}

/// The table.
pub fn table() -> &'static PjrtApi {
    // SAFETY: it lives as long as the process.
    unsafe { &*GetPjrtApi() }
}

/// A struct of arguments with its size, and nothing else.
pub fn make_arguments<A: SizedStruct>() -> A {
    let mut arguments = make_cleared::<A>();
    // SAFETY: every struct begins with its size.
    unsafe { (&raw mut arguments).cast::<usize>().write(A::SIZE) };
    arguments
}

/// Calls a function of the table.
pub fn call<A: CallArguments>(
    function: Option<unsafe extern "C" fn(*mut A) -> *mut PjrtError>,
    arguments: &mut A,
) -> Result<(), CallError> {
    // SAFETY: the tests keep the contract of the plugin.
    unsafe { take_error(function.expect("every function is there")(arguments)) }
}

/// The error that a function returned.
pub unsafe fn take_error(error: *mut PjrtError) -> Result<(), CallError> {
    if error.is_null() {
        return Ok(());
    }
    let mut text = make_arguments::<PjrtErrorMessageArgs>();
    text.error = error;
    table().error_message.expect("it is there")(&mut text);
    let bytes = std::slice::from_raw_parts(text.message.cast::<u8>(), text.message_size);
    let message = String::from_utf8(bytes.to_vec()).expect("messages are UTF-8");
    let mut code = make_arguments::<PjrtErrorGetCodeArgs>();
    code.error = error;
    assert!(table().error_get_code.expect("it is there")(&mut code).is_null());
    let mut destroy = make_arguments::<PjrtErrorDestroyArgs>();
    destroy.error = error;
    table().error_destroy.expect("it is there")(&mut destroy);
    Err(CallError {
        code: code.code,
        message,
    })
}

/// An option of a name, without a value yet.
fn make_option(name: &'static str) -> PjrtNamedValue {
    let mut option = make_arguments::<PjrtNamedValue>();
    option.name = name.as_ptr().cast();
    option.name_size = name.len();
    option
}

/// A client on the processor.
pub struct TestClient {
    client: *mut PjrtClient,
    pub device: *mut PjrtDevice,
    pub devices: Vec<*mut PjrtDevice>,
}

// SAFETY: the plugin may be called by any thread.
unsafe impl Send for TestClient {}
// SAFETY: as above.
unsafe impl Sync for TestClient {}

impl TestClient {
    pub fn new() -> TestClient {
        TestClient::with_devices(1)
    }

    /// A client of `count` logical devices.
    pub fn with_devices(count: i64) -> TestClient {
        TestClient::with_partition(count, false)
    }

    /// A client of `count` logical devices, which partitions programs or runs them on whole arrays.
    pub fn with_partition(count: i64, is_partitioning: bool) -> TestClient {
        let value = b"cpu";
        let mut device = make_option("device");
        device.ty = PjrtNamedValueType::STRING;
        device.variant.string_value = value.as_ptr().cast();
        device.value_size = value.len();
        let make_number = |name, number| {
            let mut option = make_option(name);
            option.ty = PjrtNamedValueType::INT64;
            option.variant.int64_value = number;
            option.value_size = 1;
            option
        };
        let options = [
            device,
            make_number("logical_devices", count),
            make_number("partition", i64::from(is_partitioning)),
        ];
        let mut create = make_arguments::<PjrtClientCreateArgs>();
        create.create_options = options.as_ptr();
        create.num_options = options.len();
        call(table().client_create, &mut create).expect("there is a processor");
        let mut devices = make_arguments::<PjrtClientAddressableDevicesArgs>();
        devices.client = create.client;
        call(table().client_addressable_devices, &mut devices).expect("it has devices");
        assert_eq!(devices.num_addressable_devices as i64, count);
        // SAFETY: the plugin says how many there are.
        let all =
            unsafe { std::slice::from_raw_parts(devices.addressable_devices, count as usize) };
        TestClient {
            client: create.client,
            device: all[0],
            devices: all.to_vec(),
        }
    }

    /// Compiles a program for `devices` devices.
    pub fn compile_sharded(&self, code: &str, devices: u8) -> Result<TestExecutable, CallError> {
        let options = [0x1a, 4, 0x20, 1, 0x28, devices];
        self.compile_with(code, "mlir", &options)
    }

    /// Compiles a program as text.
    pub fn compile(&self, code: &str) -> Result<TestExecutable, CallError> {
        self.compile_format(code, "mlir")
    }

    pub fn compile_format(&self, code: &str, format: &str) -> Result<TestExecutable, CallError> {
        self.compile_with(code, format, &[])
    }

    fn compile_with(
        &self,
        code: &str,
        format: &str,
        options: &[u8],
    ) -> Result<TestExecutable, CallError> {
        let mut program = make_arguments::<PjrtProgram>();
        program.code = code.as_ptr().cast_mut().cast();
        program.code_size = code.len();
        program.format = format.as_ptr().cast();
        program.format_size = format.len();
        let mut compile = make_arguments::<PjrtClientCompileArgs>();
        compile.client = self.client;
        compile.program = &raw const program;
        compile.compile_options = options.as_ptr().cast();
        compile.compile_options_size = options.len();
        call(table().client_compile, &mut compile)?;
        Ok(TestExecutable(compile.executable))
    }

    /// Loads what [`TestExecutable::serialize`] returns.
    pub fn deserialize(&self, bytes: &[u8]) -> Result<TestExecutable, CallError> {
        let mut load = make_arguments::<PjrtExecutableDeserializeAndLoadArgs>();
        load.client = self.client;
        load.serialized_executable = bytes.as_ptr().cast();
        load.serialized_executable_size = bytes.len();
        call(table().executable_deserialize_and_load, &mut load)?;
        Ok(TestExecutable(load.loaded_executable))
    }

    /// Uploads numbers, whose elements are at `strides` in bytes if there are some.
    pub fn upload(&self, numbers: &[f32], sizes: &[i64], strides: &[i64]) -> TestBuffer {
        self.upload_to(self.device, numbers, sizes, strides)
    }

    /// The same for a device.
    pub fn upload_to(
        &self,
        device: *mut PjrtDevice,
        numbers: &[f32],
        sizes: &[i64],
        strides: &[i64],
    ) -> TestBuffer {
        let mut upload = make_arguments::<PjrtClientBufferFromHostBufferArgs>();
        upload.client = self.client;
        upload.device = device;
        upload.data = numbers.as_ptr().cast();
        upload.ty = PjrtBufferType::F32;
        upload.dims = sizes.as_ptr();
        upload.num_dims = sizes.len();
        upload.byte_strides = strides.as_ptr();
        upload.num_byte_strides = strides.len();
        upload.host_buffer_semantics = PjrtHostBufferSemantics::IMMUTABLE_ONLY_DURING_CALL;
        call(table().client_buffer_from_host_buffer, &mut upload).expect("there is memory");
        await_event(upload.done_with_host_buffer).expect("it is copied");
        TestBuffer(upload.buffer)
    }

    /// A buffer without contents, which may have no memory.
    pub fn allocate(&self, sizes: &[i64]) -> Result<TestBuffer, CallError> {
        let mut create = make_arguments::<PjrtClientCreateUninitializedBufferArgs>();
        create.client = self.client;
        create.device = self.device;
        create.shape_element_type = PjrtBufferType::F32;
        create.shape_dims = sizes.as_ptr();
        create.shape_num_dims = sizes.len();
        call(table().client_create_uninitialized_buffer, &mut create)?;
        Ok(TestBuffer(create.buffer))
    }

    /// Bytes of all arrays on the device.
    pub fn bytes_in_use(&self) -> i64 {
        let mut stats = make_arguments::<PjrtDeviceMemoryStatsArgs>();
        stats.device = self.device;
        call(table().device_memory_stats, &mut stats).expect("it counts");
        stats.bytes_in_use
    }
}

impl Drop for TestClient {
    fn drop(&mut self) {
        let mut destroy = make_arguments::<PjrtClientDestroyArgs>();
        destroy.client = self.client;
        call(table().client_destroy, &mut destroy).expect("it ends");
    }
}

/// An executable.
#[derive(Debug)]
pub struct TestExecutable(*mut PjrtLoadedExecutable);

// SAFETY: the plugin may be called by any thread.
unsafe impl Send for TestExecutable {}
// SAFETY: as above.
unsafe impl Sync for TestExecutable {}

impl TestExecutable {
    /// Runs a program of one result.
    pub fn run(&self, arguments: &[&TestBuffer]) -> Result<TestBuffer, CallError> {
        let (result, event) = self.submit(arguments)?;
        await_event(event)?;
        Ok(result)
    }

    /// Begins an execution of a program of one result.
    pub fn submit(
        &self,
        arguments: &[&TestBuffer],
    ) -> Result<(TestBuffer, *mut PjrtEvent), CallError> {
        let pointers: Vec<*mut PjrtBuffer> = arguments.iter().map(|buffer| buffer.0).collect();
        let mut options = make_arguments::<PjrtExecuteOptions>();
        let mut outputs = [null_mut::<PjrtBuffer>()];
        let mut event = null_mut();
        let (list, output_list) = (pointers.as_ptr(), outputs.as_mut_ptr());
        let mut execute = make_arguments::<PjrtLoadedExecutableExecuteArgs>();
        execute.executable = self.0;
        execute.options = &raw mut options;
        execute.argument_lists = &raw const list;
        execute.num_args = pointers.len();
        execute.num_devices = 1;
        execute.output_lists = &raw const output_list;
        execute.device_complete_events = &raw mut event;
        call(table().loaded_executable_execute, &mut execute)?;
        Ok((TestBuffer(outputs[0]), event))
    }

    /// Runs a program of one result on several devices, which have an argument each.
    pub fn run_sharded(&self, arguments: &[&TestBuffer]) -> Result<Vec<TestBuffer>, CallError> {
        let count = arguments.len();
        let pointers: Vec<*mut PjrtBuffer> = arguments.iter().map(|buffer| buffer.0).collect();
        let lists: Vec<*const *mut PjrtBuffer> = pointers.iter().map(std::ptr::from_ref).collect();
        let mut options = make_arguments::<PjrtExecuteOptions>();
        let mut outputs = vec![null_mut::<PjrtBuffer>(); count];
        let output_lists: Vec<*mut *mut PjrtBuffer> =
            outputs.iter_mut().map(std::ptr::from_mut).collect();
        let mut events = vec![null_mut(); count];
        let mut execute = make_arguments::<PjrtLoadedExecutableExecuteArgs>();
        execute.executable = self.0;
        execute.options = &raw mut options;
        execute.argument_lists = lists.as_ptr();
        execute.num_args = 1;
        execute.num_devices = count;
        execute.output_lists = output_lists.as_ptr();
        execute.device_complete_events = events.as_mut_ptr();
        call(table().loaded_executable_execute, &mut execute)?;
        let results = outputs.into_iter().map(TestBuffer).collect();
        for event in events {
            await_event(event)?;
        }
        Ok(results)
    }

    pub fn serialize(&self) -> Vec<u8> {
        let mut get = make_arguments::<PjrtLoadedExecutableGetExecutableArgs>();
        get.loaded_executable = self.0;
        call(table().loaded_executable_get_executable, &mut get).expect("it is there");
        let mut serialize = make_arguments::<PjrtExecutableSerializeArgs>();
        serialize.executable = get.executable;
        call(table().executable_serialize, &mut serialize).expect("it can be stored");
        let (first, size) = (serialize.serialized_bytes, serialize.serialized_bytes_size);
        // SAFETY: the plugin says how many bytes there are.
        let bytes = unsafe { std::slice::from_raw_parts(first.cast::<u8>(), size) }.to_vec();
        let deleter = serialize
            .serialized_executable_deleter
            .expect("it is there");
        // SAFETY: the bytes are not used any more.
        unsafe { deleter(serialize.serialized_executable) };
        let mut destroy = make_arguments::<PjrtExecutableDestroyArgs>();
        destroy.executable = get.executable;
        call(table().executable_destroy, &mut destroy).expect("it ends");
        bytes
    }
}

impl Drop for TestExecutable {
    fn drop(&mut self) {
        let mut destroy = make_arguments::<PjrtLoadedExecutableDestroyArgs>();
        destroy.executable = self.0;
        call(table().loaded_executable_destroy, &mut destroy).expect("it ends");
    }
}

/// A buffer.
pub struct TestBuffer(pub *mut PjrtBuffer);

impl TestBuffer {
    /// The numbers.
    pub fn download(&self) -> Result<Vec<f32>, CallError> {
        let mut read = make_arguments::<PjrtBufferToHostBufferArgs>();
        read.src = self.0;
        call(table().buffer_to_host_buffer, &mut read)?;
        let mut numbers = vec![0f32; read.dst_size / 4];
        read.dst = numbers.as_mut_ptr().cast();
        if numbers.is_empty() {
            read.dst = std::ptr::NonNull::<f32>::dangling().as_ptr().cast();
        }
        call(table().buffer_to_host_buffer, &mut read)?;
        await_event(read.event)?;
        Ok(numbers)
    }

    pub fn is_deleted(&self) -> bool {
        let mut deleted = make_arguments::<PjrtBufferIsDeletedArgs>();
        deleted.buffer = self.0;
        call(table().buffer_is_deleted, &mut deleted).expect("it is there");
        deleted.is_deleted != 0
    }
}

impl Drop for TestBuffer {
    fn drop(&mut self) {
        let mut destroy = make_arguments::<PjrtBufferDestroyArgs>();
        destroy.buffer = self.0;
        call(table().buffer_destroy, &mut destroy).expect("it ends");
    }
}

/// Waits for an event, and frees it.
pub fn await_event(event: *mut PjrtEvent) -> Result<(), CallError> {
    let mut wait = make_arguments::<PjrtEventAwaitArgs>();
    wait.event = event;
    let waited = call(table().event_await, &mut wait);
    let mut destroy = make_arguments::<PjrtEventDestroyArgs>();
    destroy.event = event;
    call(table().event_destroy, &mut destroy).expect("it ends");
    waited
}
