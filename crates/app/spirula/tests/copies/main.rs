//! Strided copies by kernels against the same copies through the host.

use proptest::prelude::*;
use spirula::{CompileOptions, CompileOutput, compile_input};
use spirula_program::{
    CompiledProgram, KernelMachine, LaunchRequest, ProgramParameter, ProgramSession, ProgramValue,
    ScalarType, SizeClass,
};
use spirula_runtime::{BufferHandle, ComputeDevice, DeviceError, DeviceMachine, DeviceOptions};

/// A copy of four dimensions; `ELEMENT` stands for the type.
const COPY: &str = "
function @copy(%n: i64, %m: i64, %xs: device, %ys: device,
               %s0: i64, %s1: i64, %s2: i64, %s3: i64,
               %t: i64, %t0: i64, %t1: i64, %t2: i64, %t3: i64,
               %f: i64, %f0: i64, %f1: i64, %f2: i64, %f3: i64) -> (%out: device) {
  copy ELEMENT [%s0, %s1, %s2, %s3] %ys + %t [%t0, %t1, %t2, %t3], %xs + %f [%f0, %f1, %f2, %f3]
  %out = memory %ys
}
entry \"main\" = @copy {
  parameter \"xs\": ELEMENT[%n] %xs
  parameter \"ys\": ELEMENT[%m] %ys
  parameter \"s0\": i64 %s0
  parameter \"s1\": i64 %s1
  parameter \"s2\": i64 %s2
  parameter \"s3\": i64 %s3
  parameter \"t\": i64 %t
  parameter \"t0\": i64 %t0
  parameter \"t1\": i64 %t1
  parameter \"t2\": i64 %t2
  parameter \"t3\": i64 %t3
  parameter \"f\": i64 %f
  parameter \"f0\": i64 %f0
  parameter \"f1\": i64 %f1
  parameter \"f2\": i64 %f2
  parameter \"f3\": i64 %f3
  result ELEMENT[%m] %out
}
";

/// The CPU device, treated as a device with separate memory.
struct FarMemoryMachine<'d>(DeviceMachine<'d>, u32);

impl KernelMachine for FarMemoryMachine<'_> {
    type Block = BufferHandle;
    type Error = DeviceError;

    fn allocate_block(&mut self, bytes: u64) -> Result<BufferHandle, DeviceError> {
        self.0.allocate_block(bytes)
    }

    fn free_block(&mut self, block: BufferHandle) {
        self.0.free_block(block);
    }

    fn write_block(
        &mut self,
        block: BufferHandle,
        at: u64,
        bytes: &[u8],
    ) -> Result<(), DeviceError> {
        self.0.write_block(block, at, bytes)
    }

    fn read_block(
        &mut self,
        block: BufferHandle,
        at: u64,
        out: &mut [u8],
    ) -> Result<(), DeviceError> {
        self.0.read_block(block, at, out)
    }

    fn launch_kernel(
        &mut self,
        request: &LaunchRequest<'_, BufferHandle>,
    ) -> Result<(), DeviceError> {
        self.1 += 1;
        self.0.launch_kernel(request)
    }

    fn wait_idle(&mut self) -> Result<(), DeviceError> {
        self.0.wait_idle()
    }

    fn is_host(&self) -> bool {
        false
    }

    fn parameter_value(&self, parameter: &ProgramParameter) -> u64 {
        self.0.parameter_value(parameter)
    }

    fn limit_value(&self, class: &SizeClass) -> u64 {
        self.0.limit_value(class)
    }
}

fn program(element: ScalarType) -> CompiledProgram {
    let text = COPY.replace("ELEMENT", element.name());
    let compiled = compile_input(text.as_bytes(), &CompileOptions::default()).expect("it compiles");
    match compiled.output {
        CompileOutput::Program(program) => *program,
        CompileOutput::Module(_) => unreachable!("kernel text is a program"),
    }
}

/// A copy within arrays of a number of elements.
#[derive(Clone, Debug)]
struct CopyCase {
    element: ScalarType,
    sizes: [i64; 2],
    shape: [i64; 4],
    to: (i64, [i64; 4]),
    from: (i64, [i64; 4]),
}

/// The strides of an array with permuted dimensions and gaps.
fn side(shape: [i64; 4], order: &[usize], gap: i64, first: i64) -> (i64, [i64; 4], i64) {
    let (mut strides, mut next) = ([0; 4], 1);
    for at in order {
        strides[*at] = next;
        next = next * shape[*at] + gap;
    }
    (first, strides, first + next + 1)
}

fn cases() -> impl Strategy<Value = CopyCase> {
    let order = || Just(vec![3, 2, 1, 0]).prop_shuffle();
    let elements = prop_oneof![
        Just(ScalarType::I8),
        Just(ScalarType::I16),
        Just(ScalarType::F32),
        Just(ScalarType::I64)
    ];
    let sizes = prop_oneof![3 => 1..4i64, 1 => 5..70i64];
    let side_parts = || (order(), prop_oneof![2 => Just(0), 1 => 0..3i64], 0..5i64);
    let shape = prop::array::uniform4(sizes);
    (elements, shape, side_parts(), side_parts()).prop_map(|(element, shape, to, from)| {
        let (t, t_strides, t_size) = side(shape, &to.0, to.1, to.2);
        let (f, f_strides, f_size) = side(shape, &from.0, from.1, from.2);
        CopyCase {
            element,
            sizes: [f_size, t_size],
            shape,
            to: (t, t_strides),
            from: (f, f_strides),
        }
    })
}

impl CopyCase {
    fn values(&self) -> Vec<ProgramValue> {
        let array = |count: i64, seed: u64| {
            let size = self.element.size() as usize;
            let numbers = (0..count as u64).map(|n| (n + 1).wrapping_mul(seed).to_le_bytes());
            let bytes = numbers.flat_map(|bytes| bytes[..size].to_vec());
            ProgramValue {
                element: self.element,
                unsigned: false,
                shape: vec![count as u64],
                bytes: bytes.collect(),
            }
        };
        let scalar = |number: &i64| ProgramValue {
            element: ScalarType::I64,
            unsigned: false,
            shape: Vec::new(),
            bytes: number.to_le_bytes().to_vec(),
        };
        let mut values = vec![
            array(self.sizes[0], 0x9E37_79B9_7F4A_7C15),
            array(self.sizes[1], 0x0101_0101_0101_0101),
        ];
        values.extend(self.shape.iter().map(scalar));
        for (first, strides) in [&self.to, &self.from] {
            values.push(scalar(first));
            values.extend(strides.iter().map(scalar));
        }
        values
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn copies_by_kernels_are_those_of_the_host(case in cases()) {
        let program = program(case.element);
        let values = case.values();
        let open = || ComputeDevice::open("cpu", &DeviceOptions::default()).expect("there is a processor");
        let (mut near, mut far) = (open(), open());
        let mut session = ProgramSession::new(&program, DeviceMachine::new(&mut near)).unwrap();
        let expected = session.call_entry("main", &values).unwrap();
        let far = FarMemoryMachine(DeviceMachine::new(&mut far), 0);
        let mut session = ProgramSession::new(&program, far).unwrap();
        let found = session.call_entry("main", &values).unwrap();
        prop_assert_eq!(session.machine().1, 1, "one launch");
        prop_assert_eq!(found, expected);
    }
}
