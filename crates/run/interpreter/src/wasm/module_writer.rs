//! The WebAssembly module of a kernel: imports, helpers, the loop over a workgroup, and its functions.

use super::emit::{KernelEmission, byte_offset, emit_function};
use super::engine::{EngineImport, HOST_MODULE};
use super::function_plan::{FunctionPlan, KernelPlan};
use super::host::HostFunctions;
use super::memory_layout::{self as layout, FixedLayout};
use super::workgroup_loop::write_workgroup_loop;
use crate::decode::DecodedKernel;
use crate::memory::{MemoryRegion, OFFSET_BITS};
use spirula_diagnostics::SourceDiagnostic;
use wasm_encoder::{
    BlockType, CodeSection, ConstExpr, EntityType, ExportKind, ExportSection, Function,
    FunctionSection, GlobalSection, GlobalType, ImportSection, MemorySection, MemoryType, Module,
    TypeSection, ValType,
};

/// Indices of functions: imports, helpers, and the first of the kernel.
pub(super) const IMPORT_APPLY: u32 = 0;
pub(super) const IMPORT_PUT_ROW: u32 = 1;
pub(super) const IMPORT_COMPUTE_ROW: u32 = 2;
pub(super) const IMPORT_TAKE_ROW: u32 = 3;
pub(super) const HELPER_FIND_REGION: u32 = 4;
pub(super) const HELPER_TRANSLATE: u32 = 5;
pub(super) const HELPER_FAULT: u32 = 6;
const RUN_GROUP: u32 = 7;
pub(super) const FIRST_FUNCTION: u32 = 8;

/// Globals: the address of the invocation's variables, and of its state, and the steps that are left.
pub(super) const GLOBAL_PRIVATE: u32 = 0;
pub(super) const GLOBAL_STATE: u32 = 1;
pub(super) const GLOBAL_STEPS: u32 = 2;

/// Kinds of faults.
pub(super) const FAULT_OUTSIDE: i32 = 1;
pub(super) const FAULT_UNREACHABLE: i32 = 2;
pub(super) const FAULT_STEPS: i32 = 3;

/// The names of exports.
const MEMORY_NAME: &str = "memory";
const RUN_GROUP_NAME: &str = "run_group";

/// A module, and what its imports compute.
pub(super) struct WrittenModule {
    pub code: Vec<u8>,
    pub functions: HostFunctions,
    pub layout: FixedLayout,
}

/// Writes the module of a kernel.
///
/// # Errors
/// When something of the kernel is not possible in WebAssembly.
pub(super) fn write_module(
    kernel: &DecodedKernel,
    plan: &KernelPlan,
) -> Result<WrittenModule, SourceDiagnostic> {
    let fixed = FixedLayout::from_kernel(kernel, plan);
    let mut emission = KernelEmission {
        kernel,
        plan,
        layout: fixed,
        functions: HostFunctions::default(),
    };
    let mut code = CodeSection::new();
    code.function(&write_find_region(&fixed));
    code.function(&write_translate());
    code.function(&write_fault());
    code.function(&write_workgroup_loop(kernel, plan, &fixed));
    for number in 0..plan.functions.len() {
        code.function(&emit_function(&mut emission, number)?);
    }
    let mut exports = ExportSection::new();
    exports.export(MEMORY_NAME, ExportKind::Memory, 0);
    exports.export(RUN_GROUP_NAME, ExportKind::Func, RUN_GROUP);
    let mut memories = MemorySection::new();
    memories.memory(MemoryType {
        minimum: 1,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    });
    let (types, imports, functions) = write_signatures(plan);
    let mut module = Module::new();
    module
        .section(&types)
        .section(&imports)
        .section(&functions)
        .section(&memories)
        .section(&write_globals())
        .section(&exports)
        .section(&code);
    Ok(WrittenModule {
        code: module.finish(),
        functions: emission.functions,
        layout: fixed,
    })
}

/// Types of the functions before those of the kernel, in the order of their indices.
const FIXED_TYPES: &[(&[ValType], &[ValType])] = &[
    // apply
    (
        &[
            ValType::I32,
            ValType::I64,
            ValType::I64,
            ValType::I64,
            ValType::I64,
        ],
        &[ValType::I64],
    ),
    // put_row, compute_row, take_row
    (&[ValType::I32, ValType::I64], &[]),
    (&[ValType::I32], &[]),
    (&[ValType::I32], &[ValType::I64]),
    // find_region, translate, fault
    (&[ValType::I64], &[ValType::I32, ValType::I64]),
    (&[ValType::I64, ValType::I64, ValType::I32], &[ValType::I32]),
    (
        &[ValType::I32, ValType::I32, ValType::I64, ValType::I64],
        &[],
    ),
    // run_group
    (&[ValType::I32], &[ValType::I32]),
];

fn write_signatures(plan: &KernelPlan) -> (TypeSection, ImportSection, FunctionSection) {
    let (mut types, mut imports) = (TypeSection::new(), ImportSection::new());
    let mut functions = FunctionSection::new();
    for (number, (parameters, results)) in FIXED_TYPES.iter().enumerate() {
        let ty = number as u32;
        types
            .ty()
            .function(parameters.iter().copied(), results.iter().copied());
        match EngineImport::ALL.get(number) {
            Some(import) => {
                imports.import(HOST_MODULE, import.name(), EntityType::Function(ty));
            }
            None => {
                functions.function(ty);
            }
        }
    }
    for (number, function) in plan.functions.iter().enumerate() {
        let (parameters, results) = list_types(function);
        types.ty().function(parameters, results);
        functions.function(FIXED_TYPES.len() as u32 + number as u32);
    }
    (types, imports, functions)
}

/// Types of a function: scalars pass as 64 bits, after the status.
fn list_types(function: &FunctionPlan) -> (Vec<ValType>, Vec<ValType>) {
    let mut results = vec![ValType::I64; function.results as usize];
    if function.may_suspend {
        results.insert(0, ValType::I32);
    }
    (vec![ValType::I64; function.parameters as usize], results)
}

/// The globals, in the order of their indices.
fn write_globals() -> GlobalSection {
    let mut globals = GlobalSection::new();
    for (val_type, initial) in [
        (ValType::I32, ConstExpr::i32_const(0)),
        (ValType::I32, ConstExpr::i32_const(0)),
        (ValType::I64, ConstExpr::i64_const(0)),
    ] {
        let ty = GlobalType {
            val_type,
            mutable: true,
            shared: false,
        };
        globals.global(ty, &initial);
    }
    globals
}

/// `find_region(address)`: base and size of its region. Both are 0 where there is none.
fn write_find_region(fixed: &FixedLayout) -> Function {
    const NUMBER: u32 = 1;
    let resources = MemoryRegion::from_resource(0).0;
    let buffers = MemoryRegion::from_buffer(0).0;
    let mut function = Function::new([(1, ValType::I32)]);
    let mut sink = function.instructions();
    sink.local_get(0)
        .i64_const(OFFSET_BITS.into())
        .i64_shr_u()
        .i32_wrap_i64()
        .local_tee(NUMBER)
        .i32_const(MemoryRegion::PRIVATE.0 as i32)
        .i32_eq()
        .if_(BlockType::Empty)
        .global_get(GLOBAL_PRIVATE)
        .i64_const(fixed.private_bytes as i64)
        .return_()
        .end();
    // The index in the table: fixed regions, resources, buffers.
    sink.local_get(NUMBER)
        .i32_const(resources as i32)
        .i32_ge_u()
        .if_(BlockType::Empty)
        .local_get(NUMBER)
        .i32_const(resources as i32)
        .i32_sub()
        .local_tee(NUMBER)
        .i32_const(fixed.resources as i32)
        .i32_ge_u()
        .if_(BlockType::Empty)
        .i32_const(0)
        .i64_const(0)
        .return_()
        .end()
        .local_get(NUMBER)
        .i32_const(layout::FIXED_REGIONS as i32)
        .i32_add()
        .local_set(NUMBER)
        .else_();
    sink.local_get(NUMBER)
        .i32_const(buffers as i32)
        .i32_ge_u()
        .if_(BlockType::Empty)
        .local_get(NUMBER)
        .i32_const(buffers as i32)
        .i32_sub()
        .local_tee(NUMBER)
        .i32_const(0)
        .i32_load(byte_offset(layout::BUFFER_COUNT.into()))
        .i32_ge_u()
        .if_(BlockType::Empty)
        .i32_const(0)
        .i64_const(0)
        .return_()
        .end()
        .local_get(NUMBER)
        .i32_const((layout::FIXED_REGIONS + fixed.resources) as i32)
        .i32_add()
        .local_set(NUMBER)
        .end()
        .end();
    let row = u64::from(fixed.regions);
    sink.local_get(NUMBER)
        .i32_const(layout::REGION_BYTES as i32)
        .i32_mul()
        .local_tee(NUMBER)
        .i32_load(byte_offset(row))
        .local_get(NUMBER)
        .i64_load(byte_offset(row + 8))
        .end();
    function
}

/// `translate(address, bytes, step)`: the address in linear memory, of bytes that are within a region.
fn write_translate() -> Function {
    const ADDRESS: u32 = 0;
    const BYTES: u32 = 1;
    const STEP: u32 = 2;
    const BASE: u32 = 3;
    const SIZE: u32 = 4;
    const OFFSET: u32 = 5;
    let mut function = Function::new([(1, ValType::I32), (2, ValType::I64)]);
    let mut sink = function.instructions();
    sink.local_get(ADDRESS)
        .call(HELPER_FIND_REGION)
        .local_set(SIZE)
        .local_set(BASE)
        .local_get(ADDRESS)
        .i64_const((1 << OFFSET_BITS) - 1)
        .i64_and()
        .local_set(OFFSET);
    // No region, an offset after its end, or fewer bytes from there.
    sink.local_get(BASE)
        .i32_eqz()
        .local_get(OFFSET)
        .local_get(SIZE)
        .i64_gt_u()
        .i32_or()
        .local_get(BYTES)
        .local_get(SIZE)
        .local_get(OFFSET)
        .i64_sub()
        .i64_gt_u()
        .i32_or()
        .if_(BlockType::Empty)
        .i32_const(FAULT_OUTSIDE)
        .local_get(STEP)
        .local_get(ADDRESS)
        .local_get(BYTES)
        .call(HELPER_FAULT)
        .end();
    sink.local_get(OFFSET)
        .i32_wrap_i64()
        .local_get(BASE)
        .i32_add()
        .end();
    function
}

/// `fault(kind, step, address, bytes)`: records a fault, and traps.
fn write_fault() -> Function {
    let mut function = Function::new([]);
    let mut sink = function.instructions();
    for (parameter, place) in [(0, layout::FAULT_KIND), (1, layout::FAULT_STEP)] {
        sink.i32_const(0)
            .local_get(parameter)
            .i32_store(byte_offset(place.into()));
    }
    for (parameter, place) in [(2, layout::FAULT_ADDRESS), (3, layout::FAULT_BYTES)] {
        sink.i32_const(0)
            .local_get(parameter)
            .i64_store(byte_offset(place.into()));
    }
    sink.unreachable().end();
    function
}
