//! Built-in functions: functions without a body that the environment provides.
//!
//! A function is looked up by its demangled name. OpenCL's functions are in the tables (see
//! [`table::ROWS`]) or in the families of names that are composed of parts. Otherwise they are
//! extended instructions of OpenCL, which have the same names. SPIR-V's functions follow from the
//! grammar: `__spirv_NAME` is the instruction, extended instruction or built-in variable of that
//! name.

mod atomic_table;
mod atomics;
mod direct_instructions;
mod enqueue;
mod group;
mod image;
mod lookup;
mod memory;
mod minifloats;
mod numeric;
mod spirv_friendly;
mod subgroup;
mod synchronisation;
mod table;
mod workitem;

use super::demangle::{DemangledName, MangledBaseType, MangledParameter, demangle_name};
use super::function_body::FunctionTranslator;
use super::intrinsics;
use super::translator::LlvmTranslator;
use crate::ir::{LlvmFunc, LlvmModule, LlvmType, LlvmTypeKind};
use crate::pointee_inference::PointeeHints;
use crate::translate::call_rules::{ExternalCall, IntrinsicRule, LlvmCallee, OpenClBuiltinRule};
use crate::translate::shapes::NumericShape;
use crate::{LlvmResult, make_refusal};
pub(super) use lookup::builtin_names;
use rustc_hash::FxHashMap;
use spirula_spirv::Id;
use spirula_spirv::grammar::ExtInstSet;
use spirula_spirv::grammar::Op;
pub(crate) use spirv_friendly::CALLABLE;
use std::rc::Rc;

/// The function that registers destructors of global objects in C++. A device module never ends, so
/// it has no effect.
const AT_EXIT: &str = "__cxa_atexit";

/// The module of Rust's `core` with the functions that panic, as part of mangled names.
const PANICKING: &str = "4core9panicking";

impl<'m> LlvmTranslator<'m> {
    /// The target of the calls of a function.
    pub(super) fn find_callee(&mut self, func: LlvmFunc) -> Rc<LlvmCallee<'m>> {
        if let Some(callee) = &self.callees[func.index()] {
            return callee.clone();
        }
        let callee = match classify_callee(self.module, func) {
            LlvmCallee::Intrinsic(None, name) if self.is_import_allowed(name) => {
                LlvmCallee::Function
            }
            LlvmCallee::Spirv(demangled) if self.is_import_allowed(demangled.name) => {
                LlvmCallee::Function
            }
            callee => callee,
        };
        let callee = Rc::new(callee);
        self.callees[func.index()] = Some(callee.clone());
        callee
    }
}

impl LlvmTranslator<'_> {
    /// Whether an unknown function is imported, so that a linker must define it.
    fn is_import_allowed(&self, name: &str) -> bool {
        let vectors = name.starts_with("llvm.genx.") && self.may_use("SPV_INTEL_vector_compute");
        vectors
            || self
                .options
                .imported
                .iter()
                .any(|prefix| name.starts_with(prefix.as_str()))
    }
}

fn classify_callee(module: &LlvmModule, func: LlvmFunc) -> LlvmCallee<'_> {
    let name = module.function_name(func);
    if name.starts_with("llvm.") {
        return LlvmCallee::Intrinsic(intrinsics::find_intrinsic(name), name);
    }
    if !module.function(func).is_declaration() {
        return LlvmCallee::Function;
    }
    if name == AT_EXIT {
        return LlvmCallee::Intrinsic(intrinsics::find_intrinsic(name), name);
    }
    // A kernel cannot panic: a panic of Rust is undefined behaviour here.
    if name.contains(PANICKING) {
        return LlvmCallee::Intrinsic(Some(IntrinsicRule::Ignored), name);
    }
    let demangled = demangle_name(name).unwrap_or_else(|| DemangledName::from_plain_name(name));
    if spirv_friendly::is_friendly(demangled.name) {
        return LlvmCallee::Spirv(demangled);
    }
    match lookup::find_builtin(demangled.name) {
        // Conversions of matrices have such names too, but are not built-in.
        Some(_) if demangled.name.starts_with("__builtin_spirv_") && takes_opaque(module, func) => {
            LlvmCallee::Function
        }
        // Unmangled C functions of these names are user functions. So are functions with fewer
        // parameters than the built-in has.
        Some(lower) if name.starts_with("_Z") || lookup::is_unmangled(name) => {
            let taken = demangled
                .params
                .len()
                .max(module.function(func).params.len());
            match lower.operand_count() {
                Some(operands) if taken < operands => LlvmCallee::Function,
                _ => LlvmCallee::Builtin(lower, demangled),
            }
        }
        _ => LlvmCallee::Function,
    }
}

/// Whether a function's first parameter is of a type that only SPIR-V has.
fn takes_opaque(module: &LlvmModule, func: LlvmFunc) -> bool {
    let first = module.function(func).params.first();
    first.is_some_and(|ty| matches!(module.types.kind(*ty), LlvmTypeKind::Target { .. }))
}

impl OpenClBuiltinRule {
    /// The number of operands of a rule that is one extended instruction of OpenCL.
    fn operand_count(&self) -> Option<usize> {
        let number = match *self {
            OpenClBuiltinRule::Ext(number)
            | OpenClBuiltinRule::Signed(number, _)
            | OpenClBuiltinRule::Kinds([number, ..]) => number,
            _ => return None,
        };
        let row = ExtInstSet::by_name("OpenCL.std")?.instruction_by_number(number)?;
        Some(row.operands.len())
    }
}

impl FunctionTranslator<'_, '_> {
    /// Translates a call of a function of OpenCL.
    pub(super) fn lower_builtin(
        &mut self,
        lower: &OpenClBuiltinRule,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Option<Id>> {
        match *lower {
            OpenClBuiltinRule::Ext(number) => self.emit_opencl_instruction(number, call).map(Some),
            OpenClBuiltinRule::Signed(signed, unsigned) => {
                let number = if call.is_signed() { signed } else { unsigned };
                self.emit_opencl_instruction(number, call).map(Some)
            }
            OpenClBuiltinRule::Kinds(numbers) => {
                let number = call.select_by_type(numbers);
                self.emit_opencl_instruction(number, call).map(Some)
            }
            OpenClBuiltinRule::Relational(op) => self.emit_relation(op, call).map(Some),
            OpenClBuiltinRule::WorkItem(builtin, default) => {
                self.lower_work_item(builtin, default, call).map(Some)
            }
            OpenClBuiltinRule::Group(kind, scope) => {
                self.lower_group_operation(kind, scope, call).map(Some)
            }
            OpenClBuiltinRule::NonUniform(op) => self.lower_non_uniform(op, call).map(Some),
            OpenClBuiltinRule::Atomic(kind, order) => self.lower_atomic(kind, order, call),
            OpenClBuiltinRule::By(handler) => handler(self, call),
            OpenClBuiltinRule::Instruction(op, scope) => {
                self.lower_direct_instruction(op, scope, call)
            }
        }
    }

    /// The type of a parameter, or its pointee type.
    fn param_type(&mut self, param: &MangledParameter<'_>) -> Option<Id> {
        let shape = match param.base {
            MangledBaseType::Int(bits, _) => NumericShape::new_int(bits, param.lanes),
            MangledBaseType::Float(bits) => NumericShape {
                elem: super::shapes::NumericElement::Float,
                ..NumericShape::new_int(bits, param.lanes)
            },
            MangledBaseType::Named("ocl_event") => {
                return Some(self.t.b.declare_type(Op::TypeEvent, &[]));
            }
            _ => return None,
        };
        super::shapes::padded_lanes(shape.lanes)
            .filter(|lanes| *lanes == shape.lanes)
            .map(|_| self.t.shape_type(shape))
    }

    /// An argument. A pointer is cast to the pointee type that the name states.
    fn lower_argument(&mut self, call: &ExternalCall<'_>, index: usize) -> LlvmResult<Id> {
        let value = call.arg(index)?;
        if self.is_pointer(value)
            && let Some(param) = call.param(index)
            && let Some(pointee) = self.param_type(param)
        {
            return self.lower_pointer(value, pointee);
        }
        self.lower_value(value)
    }

    /// An argument that must be constant.
    fn constant_argument(&self, call: &ExternalCall<'_>, index: usize) -> LlvmResult<u64> {
        match self.t.module.as_u64(call.arg(index)?) {
            Some(value) => Ok(value),
            None => Err(make_refusal(format!("argument {index} must be a constant"))),
        }
    }

    /// The type of a call's result.
    fn call_type(&mut self, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        self.result_type(call.inst)
    }
}

/// Pointee hints: the names of built-in functions state their pointers' types, and so does the
/// metadata of kernels.
pub(super) struct BuiltinHints<'m> {
    module: &'m LlvmModule,
    /// By function: the pointees of a built-in function's parameters.
    arguments: Vec<Option<Box<[Option<LlvmType>]>>>,
}

impl<'m> BuiltinHints<'m> {
    pub(super) fn new(module: &'m LlvmModule) -> Self {
        let vectors = vectors_of(module);
        let arguments = module
            .function_ids()
            .map(|func| match classify_callee(module, func) {
                LlvmCallee::Builtin(_, demangled) | LlvmCallee::Spirv(demangled) => Some(
                    demangled
                        .params
                        .iter()
                        .map(|param| pointee_of(param, &vectors))
                        .collect(),
                ),
                _ => None,
            })
            .collect();
        BuiltinHints { module, arguments }
    }
}

impl PointeeHints for BuiltinHints<'_> {
    fn argument_pointee(&self, callee: LlvmFunc, index: usize) -> Option<LlvmType> {
        *self.arguments[callee.index()].as_ref()?.get(index)?
    }

    fn parameter_pointee(&self, func: LlvmFunc, index: usize) -> Option<LlvmType> {
        let node = self.module.function_metadata(func, "kernel_arg_type")?;
        let name = (*self.module.metadata.operands(node).get(index)?)?;
        let name = self
            .module
            .symbol_text(self.module.metadata.as_string(name)?);
        source_type(name.strip_suffix('*')?)
    }
}

/// The vector types of a module by element and length.
fn vectors_of(module: &LlvmModule) -> FxHashMap<(LlvmType, u32), LlvmType> {
    let vectors = module.types.iter().filter_map(|(ty, kind)| match *kind {
        LlvmTypeKind::Vector {
            element,
            len,
            scalable: false,
        } => Some(((element, len), ty)),
        _ => None,
    });
    vectors.collect()
}

fn pointee_of(
    param: &MangledParameter<'_>,
    vectors: &FxHashMap<(LlvmType, u32), LlvmType>,
) -> Option<LlvmType> {
    if !param.pointer {
        return None;
    }
    let scalar = match param.base {
        MangledBaseType::Int(8, _) => LlvmType::I8,
        MangledBaseType::Int(16, _) => LlvmType::I16,
        MangledBaseType::Int(32, _) => LlvmType::I32,
        MangledBaseType::Int(64, _) => LlvmType::I64,
        MangledBaseType::Float(16) => LlvmType::HALF,
        MangledBaseType::Float(32) => LlvmType::FLOAT,
        MangledBaseType::Float(64) => LlvmType::DOUBLE,
        _ => return None,
    };
    match param.lanes {
        1 => Some(scalar),
        lanes => vectors.get(&(scalar, lanes)).copied(),
    }
}

/// A scalar type by its name in OpenCL C.
fn source_type(name: &str) -> Option<LlvmType> {
    Some(match name.trim() {
        "char" | "uchar" | "bool" => LlvmType::I8,
        "short" | "ushort" => LlvmType::I16,
        "int" | "uint" => LlvmType::I32,
        "long" | "ulong" | "size_t" => LlvmType::I64,
        "half" => LlvmType::HALF,
        "float" => LlvmType::FLOAT,
        "double" => LlvmType::DOUBLE,
        _ => return None,
    })
}
