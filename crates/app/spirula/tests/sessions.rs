//! Consecutive calls of one session.

use spirula::{CompileOptions, CompileOutput, compile_input};
use spirula_program::{
    CompiledProgram, KernelMachine, LaunchRequest, ProgramError, ProgramHeap, ProgramParameter,
    ProgramSession, ProgramValue, ResidentValue, ScalarType, SizeClass,
};
use spirula_runtime::{ComputeDevice, DeviceError, DeviceMachine, DeviceOptions};

/// Counts the calls of a program in its own memory. A failing kernel has counted already.
const COUNTING: &str = "
global %count: device

initialise {
  %count = alloc 4i64
  launch [1i64] size [constant 1i64] uses (%count) {
    store i32 %count[0i64], 0i32
  }
}

function @next(%limit: i32) -> (%before: i32) {
  launch [1i64] size [constant 1i64] uses (%limit, %count) {
    var %old: i32
    %old = atomic add i32 %count[0i64], 1i32
    assert slt.i32(%limit, 9i32), {\"a limit of \", %limit}
  }
  %before = load i32 %count[0i64]
}

entry \"next\" = @next {
  parameter \"limit\": i32 %limit
  result i32 %before
}
";

/// The next call does not see the memory that a failed kernel left.
#[test]
fn a_program_begins_anew_after_a_failure() {
    let compiled = compile_input(COUNTING.as_bytes(), &CompileOptions::default());
    let CompileOutput::Program(program) = compiled.expect("the program compiles").output else {
        panic!("it is a program");
    };
    let mut device =
        ComputeDevice::open("cpu", &DeviceOptions::default()).expect("there is a processor");
    let mut session =
        ProgramSession::new(&program, DeviceMachine::new(&mut device)).expect("it begins");
    let mut next = |limit: i32| {
        let limit = ProgramValue {
            element: ScalarType::I32,
            unsigned: false,
            shape: Vec::new(),
            bytes: limit.to_le_bytes().to_vec(),
        };
        match session.call_entry("next", &[limit]) {
            Ok(results) => results[0].as_ref().map(ProgramValue::to_string),
            Err(ProgramError::Failed(..)) => None,
            Err(other) => panic!("{other}"),
        }
    };
    let counts = [1, 1, 10, 1, 1].map(&mut next);
    let expected = [Some("1i32"), Some("2i32"), None, Some("1i32"), Some("2i32")];
    assert_eq!(counts.each_ref().map(|c| c.as_deref()), expected);
}

const RESIDENT: &str = "
entry add (xs: []i32) (y: i32) : []i32 = map (+ y) xs
entry same (xs: []i32) : []i32 = xs
entry fill (xs: *[]i32) : *[]i32 = xs with [0] = 9
entry table : []i32 = [1, 2, 3]
entry pick (xs: []i32) (i: i64) : i32 = let ys = map (* 2) xs in ys[i]
";

fn compile_program(source: &str) -> CompiledProgram {
    let compiled = compile_input(source.as_bytes(), &CompileOptions::default());
    match compiled.expect("the program compiles").output {
        CompileOutput::Program(program) => *program,
        CompileOutput::Module(_) => panic!("it is a program"),
    }
}

/// A machine that counts the blocks that are not freed, and keeps none for reuse.
struct CountedMachine<'d> {
    machine: DeviceMachine<'d>,
    count: usize,
}

impl<'d> KernelMachine for CountedMachine<'d> {
    type Block = <DeviceMachine<'d> as KernelMachine>::Block;
    type Error = DeviceError;

    fn allocate_block(&mut self, bytes: u64) -> Result<Self::Block, DeviceError> {
        self.count += 1;
        self.machine.allocate_block(bytes)
    }

    fn free_block(&mut self, block: Self::Block) {
        self.count -= 1;
        self.machine.free_block(block);
    }

    fn write_block(
        &mut self,
        block: Self::Block,
        at: u64,
        bytes: &[u8],
    ) -> Result<(), DeviceError> {
        self.machine.write_block(block, at, bytes)
    }

    fn read_block(
        &mut self,
        block: Self::Block,
        at: u64,
        out: &mut [u8],
    ) -> Result<(), DeviceError> {
        self.machine.read_block(block, at, out)
    }

    fn launch_kernel(
        &mut self,
        request: &LaunchRequest<'_, Self::Block>,
    ) -> Result<(), DeviceError> {
        self.machine.launch_kernel(request)
    }

    fn wait_idle(&mut self) -> Result<(), DeviceError> {
        self.machine.wait_idle()
    }

    fn is_host(&self) -> bool {
        self.machine.is_host()
    }

    fn reuses_blocks(&self) -> bool {
        false
    }

    fn parameter_value(&self, parameter: &ProgramParameter) -> u64 {
        self.machine.parameter_value(parameter)
    }

    fn limit_value(&self, class: &SizeClass) -> u64 {
        self.machine.limit_value(class)
    }
}

type CountedSession<'p, 'd> = ProgramSession<'p, CountedMachine<'d>>;

fn upload(session: &mut CountedSession<'_, '_>, values: &[i32]) -> ResidentValue {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let shape = vec![values.len() as u64];
    let array = session.upload_array(ScalarType::I32, false, shape, &bytes);
    array.expect("there is memory")
}

fn download(session: &mut CountedSession<'_, '_>, array: &ResidentValue) -> Vec<i32> {
    let mut bytes = vec![0; array.byte_count() as usize];
    let read = session.read_resident(array, 0, &mut bytes);
    read.expect("the array is there");
    let values = bytes.chunks_exact(4);
    values
        .map(|value| i32::from_le_bytes(value.try_into().expect("four bytes")))
        .collect()
}

fn call(
    session: &mut CountedSession<'_, '_>,
    entry: &str,
    given: &[&ResidentValue],
) -> ResidentValue {
    let mut results = session.call_resident(entry, given).expect("it runs");
    assert_eq!(results.len(), 1);
    results.remove(0)
}

/// Arguments stay as they are, unless they are consumed. Constants of the program are never changed. Nothing is kept of
/// values that were released, and of calls that failed.
#[test]
fn resident_values_are_shared_and_released() {
    let program = compile_program(RESIDENT);
    let mut device =
        ComputeDevice::open("cpu", &DeviceOptions::default()).expect("there is a processor");
    let machine = CountedMachine {
        machine: DeviceMachine::new(&mut device),
        count: 0,
    };
    let mut session = ProgramSession::new(&program, machine).expect("it begins");
    let scalar = |bits| ResidentValue::from_scalar(ScalarType::I32, false, bits);
    let number = |bits| ResidentValue::from_scalar(ScalarType::I64, false, bits);
    let mut counts = Vec::new();
    for _ in 0..3 {
        let xs = upload(&mut session, &[1, 2]);
        let sum = call(&mut session, "add", &[&xs, &scalar(10)]);
        assert_eq!(download(&mut session, &sum), [11, 12]);
        assert_eq!(download(&mut session, &xs), [1, 2]);
        let same = call(&mut session, "same", &[&xs]);
        let filled = call(&mut session, "fill", &[&sum]);
        assert_eq!(download(&mut session, &filled), [9, 12]);
        let table = call(&mut session, "table", &[]);
        assert_eq!(download(&mut session, &table), [1, 2, 3]);
        let changed = call(&mut session, "fill", &[&table]);
        let picked = call(&mut session, "pick", &[&same, &number(1)]);
        assert_eq!(picked.scalar_bits(), Some(4));
        for wrong in [2, u64::MAX] {
            let failed = session.call_resident("pick", &[&xs, &number(wrong)]);
            assert!(matches!(failed, Err(ProgramError::Failed(..))));
        }
        let refused = session.call_resident("pick", &[&number(1), &number(1)]);
        assert!(matches!(refused, Err(ProgramError::Invalid(_))));
        for value in [xs, sum, same, filled, table, changed, picked] {
            session.release_value(value);
        }
        counts.push(session.machine().count);
    }
    assert_eq!(counts[1..], [counts[0], counts[0]]);
}

/// A constant that an entry point uses is evaluated when the program begins, also one whose kernels fail.
#[test]
fn programs_with_faulty_constants_do_not_begin() {
    for (constant, message) in [
        ("let bad = assert false 0i32", "Assertion is false"),
        (
            "let bad = let xs = iota 10 in (map (\\i -> xs[i - 1]) xs)[5]",
            "Index [-1] out of bounds",
        ),
    ] {
        let source = format!("{constant} entry f (x: i32) = x + i32.i64 (i64.bool (bad == bad))");
        let program = compile_program(&source);
        let mut device =
            ComputeDevice::open("cpu", &DeviceOptions::default()).expect("there is a processor");
        let begun = ProgramSession::new(&program, DeviceMachine::new(&mut device));
        match begun.err() {
            Some(ProgramError::Failed(found, _)) => assert!(found.contains(message), "{found}"),
            other => panic!("{source}: {other:?}"),
        }
    }
    let program = compile_program("let bad = assert false 0i32 entry f (x: i32) = x");
    let mut device =
        ComputeDevice::open("cpu", &DeviceOptions::default()).expect("there is a processor");
    assert!(ProgramSession::new(&program, DeviceMachine::new(&mut device)).is_ok());
}

/// The sizes of an array without data are parts of its value, and parameters after it keep their places.
#[test]
fn sizes_without_data_are_parts_of_values() {
    let program = compile_program(
        "entry make (n: i64) : [0][n]() = []
         entry size [n] (_: [0][n]()) (x: i64) : i64 = 100 * n + x",
    );
    let mut device =
        ComputeDevice::open("cpu", &DeviceOptions::default()).expect("there is a processor");
    let machine = DeviceMachine::new(&mut device);
    let mut session = ProgramSession::new(&program, machine).expect("it begins");
    let number = |bits| ResidentValue::from_scalar(ScalarType::I64, false, bits);
    let made = session.call_resident("make", &[&number(7)]);
    let made = made.expect("it runs");
    let sizes: Vec<_> = made.iter().map(ResidentValue::scalar_bits).collect();
    assert_eq!(sizes, [Some(0), Some(7)]);
    let last = number(5);
    let given: Vec<&ResidentValue> = made.iter().chain([&last]).collect();
    let result = session.call_resident("size", &given).expect("it runs");
    assert_eq!(result[0].scalar_bits(), Some(705));
}

/// Programs in turns on one heap: a result of one is an argument of the other, each keeps the memory of its initialisation, and
/// nothing is left of a program that has ended.
#[test]
fn programs_share_a_heap() {
    let programs = [
        compile_program(
            "let table = map (* 3) (iota 4) entry next (xs: []i64) = map2 (+) table xs",
        ),
        compile_program(
            "let table = map (+ 5) (iota 4) entry next (xs: []i64) = map2 (*) table xs",
        ),
    ];
    let device = ComputeDevice::open("cpu", &DeviceOptions::default());
    let machine = DeviceMachine::from_device(device.expect("there is a processor"));
    let mut heap = ProgramHeap::new(machine);
    let mut suspended = programs.each_ref().map(|program| {
        let session = ProgramSession::begin_on_heap(program, &mut heap);
        Some(
            session
                .map_err(|error| error.to_string())
                .expect("it begins")
                .suspend(),
        )
    });
    let bytes = [1i64, 2, 3, 4].map(i64::to_le_bytes).concat();
    let first = heap.upload_array(ScalarType::I64, false, vec![4], &bytes);
    let mut value = first.expect("there is memory");
    for turn in [0, 1, 0] {
        let state = suspended[turn].take().expect("it is suspended");
        let mut session = ProgramSession::resume(&programs[turn], &mut heap, state);
        let mut results = session.call_resident("next", &[&value]).expect("it runs");
        session.release_value(std::mem::replace(&mut value, results.remove(0)));
        suspended[turn] = Some(session.suspend());
    }
    let mut bytes = [0; 32];
    heap.read_resident(&value, 0, &mut bytes)
        .expect("it is there");
    let found = bytes
        .chunks_exact(8)
        .map(|word| i64::from_le_bytes(word.try_into().unwrap()));
    assert_eq!(found.collect::<Vec<_>>(), [5, 33, 69, 113]);
    heap.release_value(value);
    for state in suspended.into_iter().flatten() {
        heap.release_program(state);
    }
    assert_eq!(heap.memory_use().in_use, 0);
}
