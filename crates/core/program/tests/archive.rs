//! Programs as files: they come back as they were, and nothing else is taken for one.

use spirula_program::archive::{is_archive, read_archive, write_archive};
use spirula_program::program::{
    EntryOpaque, EntryResult, EntrySize, EntryValueType, ForeignStep, GLOBAL, HostFunction,
    HostMemoryRef, HostRegister, HostSlot, HostStep, LaunchStep, MessagePart, ProgramEntry,
    ProgramEntryParameter, ProgramKernel, ProgramMessage, SourceTensorType, StridedCopy,
};
use spirula_program::{
    CompiledProgram, ForeignArrayType, ForeignAttribute, ForeignSignature, ProgramParameter,
    ScalarOp, ScalarOperator, ScalarType, SizeClass,
};
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::ir::SpirvModule;

const REG: HostRegister = HostRegister(0);
const MEM: HostMemoryRef = HostMemoryRef(0);

/// A kernel, and one that was refused.
fn kernels() -> Vec<ProgramKernel> {
    let kernel = ProgramKernel {
        module: Ok(SpirvModule::new(SpirvVersion::new(1, 3))),
        laid_out: Some(SpirvModule::new(SpirvVersion::new(1, 4))),
        scalars: vec![(4, ScalarType::I32)],
        scalar_bytes: 8,
        scalars_in_buffer: false,
        uses_failures: true,
        can_fail: true,
        reach: vec![4 << 32, 0],
    };
    let refused = ProgramKernel {
        module: Err("it is too large".to_owned()),
        laid_out: None,
        ..kernel.clone()
    };
    vec![kernel, refused]
}

/// A step of each kind.
fn steps() -> Vec<HostStep> {
    let operator =
        ScalarOperator::from_conversion(ScalarOp::SExt, ScalarType::I32, ScalarType::I64);
    let (reg, mem) = (REG, MEM);
    let side = (mem, reg, vec![reg]);
    let launch = LaunchStep {
        kernel: 0,
        groups: vec![reg],
        constants: vec![reg],
        scalars: vec![reg],
        memories: vec![mem, HostMemoryRef(GLOBAL)],
    };
    let copy = StridedCopy {
        size: 4,
        shape: vec![reg],
        to: side.clone(),
        from: side,
    };
    vec![
        HostStep::Set(reg, u64::MAX),
        HostStep::Move(reg, HostRegister(GLOBAL)),
        HostStep::Apply(operator, reg, [reg; 3]),
        HostStep::Parameter(reg, 0),
        HostStep::Limit(reg, 0),
        HostStep::Allocate(mem, reg),
        HostStep::Data(mem, 0),
        HostStep::Refer(mem, HostMemoryRef(GLOBAL)),
        HostStep::Forget(mem),
        HostStep::Read(reg, mem, ScalarType::F16, reg),
        HostStep::Write(mem, ScalarType::Bool, reg, reg),
        HostStep::Copy(Box::new(copy)),
        HostStep::Launch(Box::new(launch)),
        HostStep::Jump(14),
        HostStep::Unless(reg, 18),
        HostStep::Call(0, vec![HostSlot::Scalar(reg)], vec![HostSlot::Memory(mem)]),
        HostStep::Assert(reg, 0, vec![reg]),
        HostStep::Trace(0, vec![reg]),
        HostStep::Foreign(Box::new(foreign_call())),
    ]
}

/// A foreign call with everything that it may have.
fn foreign_call() -> ForeignStep {
    let array = ForeignArrayType {
        element: "complex<f32>".to_owned(),
        shape: vec![2, 3],
        layout: vec![1, 0],
        bytes: 48,
    };
    let nested = ForeignAttribute::Dictionary(vec![(
        "list".to_owned(),
        ForeignAttribute::Array("i16".to_owned(), vec![1, 0, 2, 0]),
    )]);
    ForeignStep {
        signature: ForeignSignature {
            target: "call".to_owned(),
            attributes: vec![
                ("nested".to_owned(), nested),
                ("text".to_owned(), ForeignAttribute::Text("\"".to_owned())),
            ],
            operands: vec![array.clone()],
            results: vec![array],
            has_effect: true,
            aliases: vec![(0, 0)],
            device: 1,
            convention: 4,
            origin: "model.py:3:5".to_owned(),
        },
        inputs: vec![HostSlot::Memory(MEM)],
        outputs: vec![HostSlot::Memory(MEM)],
    }
}

fn entry() -> ProgramEntry {
    let array = EntryValueType {
        element: ScalarType::F32,
        unsigned: false,
        slot: HostSlot::Memory(MEM),
        shape: Some(vec![EntrySize::Scalar(REG), EntrySize::Known(3)]),
    };
    ProgramEntry {
        name: "main".to_owned(),
        function: 0,
        parameters: vec![ProgramEntryParameter {
            name: "x".to_owned(),
            value: Some(array.clone()),
            opaque: None,
            tensor: Some(SourceTensorType {
                element: "bf16".to_owned(),
                shape: vec![None, Some(3)],
            }),
        }],
        results: vec![EntryResult {
            value: None,
            opaque: Some(EntryOpaque {
                name: "pair".to_owned(),
                parts: vec![array],
            }),
            tensor: None,
        }],
    }
}

/// A program that has one of everything.
fn program() -> CompiledProgram {
    let function = HostFunction {
        scalars: 1,
        memories: 1,
        inputs: vec![HostSlot::Scalar(REG)],
        outputs: vec![HostSlot::Memory(MEM)],
        steps: steps(),
        constants: vec![(REG, 5)],
    };
    CompiledProgram {
        kernels: kernels(),
        functions: vec![function, HostFunction::default()],
        initialise: 1,
        entries: vec![entry()],
        parameters: vec![ProgramParameter {
            name: "tile".to_owned(),
            class: SizeClass::Threshold(Some(-1), "a".to_owned()),
        }],
        limits: vec![SizeClass::SharedMemory],
        messages: vec![ProgramMessage {
            parts: vec![
                MessagePart::Text("at ".to_owned()),
                MessagePart::Value(ScalarType::I64),
            ],
            backtrace: "f.fut:1:2".to_owned(),
        }],
        copiers: Vec::new(),
        data: vec![vec![1, 2, 3].into()],
        global_scalars: 1,
        global_memories: 1,
    }
}

#[test]
fn a_program_comes_back_as_it_was() {
    let program = program();
    let bytes = write_archive(&program).unwrap();
    assert!(is_archive(&bytes));
    let back = read_archive(&bytes).unwrap();
    assert_eq!(back.kernels, program.kernels);
    assert_eq!(
        format!("{:?}", back.functions),
        format!("{:?}", program.functions)
    );
    assert_eq!(write_archive(&back).unwrap(), bytes);
}

#[test]
fn the_beginning_of_an_archive_is_refused() {
    let bytes = write_archive(&program()).unwrap();
    for length in 0..bytes.len() {
        assert!(read_archive(&bytes[..length]).is_err(), "{length} bytes");
    }
}

#[test]
fn changed_bytes_are_refused_or_make_no_difference() {
    let unchanged = write_archive(&program()).unwrap();
    for at in 0..unchanged.len() {
        let mut changed = unchanged.clone();
        changed[at] ^= 1 << (at % 8);
        if let Ok(back) = read_archive(&changed) {
            assert_eq!(write_archive(&back).unwrap(), unchanged, "byte {at}");
        }
    }
}

#[test]
fn a_malformed_module_is_named() {
    let mut program = program();
    program.kernels[0].module = Ok(SpirvModule::new(SpirvVersion::new(7, 0)));
    let fault = read_archive(&write_archive(&program).unwrap());
    let fault = fault.unwrap_err().to_string();
    assert!(fault.starts_with("kernels/0.spv: "), "{fault}");
}

/// The foreign call of the program.
fn foreign_step(program: &mut CompiledProgram) -> &mut ForeignStep {
    match program.functions[0].steps.last_mut() {
        Some(HostStep::Foreign(call)) => call,
        _ => panic!("it is the last step"),
    }
}

/// The fault of a program that was changed.
fn fault(change: impl FnOnce(&mut CompiledProgram)) -> String {
    let mut program = program();
    change(&mut program);
    let fault = read_archive(&write_archive(&program).unwrap())
        .unwrap_err()
        .to_string();
    assert!(fault.starts_with("program.json: "), "{fault}");
    fault["program.json: ".len()..].to_owned()
}

#[test]
fn what_is_not_there_is_named() {
    let faults = [
        fault(|p| p.initialise = 2),
        fault(|p| p.functions[0].steps[1] = HostStep::Move(HostRegister(0), HostRegister(1))),
        fault(|p| p.functions[0].steps[7] = HostStep::Forget(HostMemoryRef(GLOBAL | 1))),
        fault(|p| p.functions[0].steps[13] = HostStep::Jump(20)),
        fault(|p| p.functions[0].steps[6] = HostStep::Data(HostMemoryRef(0), 1)),
        fault(|p| p.kernels[0].scalars[0].0 = 6),
        fault(|p| p.kernels[0].scalars.clear()),
        fault(|p| p.entries[0].function = 9),
        fault(|p| p.functions[0].scalars = u32::MAX),
        fault(|p| p.functions[0].constants[0].0 = HostRegister(1)),
        fault(|p| p.functions[0].constants[0].0 = HostRegister(GLOBAL)),
        fault(|p| foreign_step(p).inputs.clear()),
        fault(|p| foreign_step(p).outputs[0] = HostSlot::Scalar(REG)),
        fault(|p| foreign_step(p).outputs[0] = HostSlot::Memory(HostMemoryRef(1))),
        fault(|p| foreign_step(p).signature.aliases[0].0 = 1),
    ];
    insta::assert_snapshot!(faults.join("\n"), @r"
    initialisation: there is no function 2
    function 0, step 1: there is no scalar 1
    function 0, step 7: there is no shared reference 1
    function 0, step 13: there is no step 20
    function 0, step 6: there is no constant data 1
    kernel 0: a scalar lies outside of those that are passed
    function 0, step 12: kernel 0 takes 0 scalars, not 1
    entry point main: there is no function 9
    function 0: 4294967295 are more than 1048576
    function 0: there is no scalar 1
    function 0: there is no scalar 2147483648
    function 0, step 18: a foreign call of call has other types
    function 0, step 18: a foreign call of call has other types
    function 0, step 18: there is no reference 1
    function 0, step 18: result 0 of a foreign call cannot begin with operand 1
    ");
}

#[test]
fn other_formats_and_archives_are_refused() {
    let bytes = write_archive(&program()).unwrap();
    assert!(!is_archive(b"PK\x03\x04 and something else"));
    assert!(!is_archive(&bytes[1..]));
    let empty = read_archive(b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0").unwrap_err();
    insta::assert_snapshot!(empty, @"program.json: specified file not found in archive");
}
