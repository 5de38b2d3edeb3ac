//! Functions of OpenCL.std that Vulkan lacks, in SPIR-V (`library/`), linked in where they are
//! called.
//!
//! Before:
//! ```text
//! %y = OpExtInst %double %std sin %x
//! ```
//! After:
//! ```text
//! %y = OpFunctionCall %double %f_sin_64 %x
//! ```
//! Vectors go component by component. Products and sums of the library are not contracted, as its
//! accuracy rests on how each of them rounds.

use rustc_hash::FxHashMap;
use spirula_source::Diagnostic;
use spirula_spirv::Id;
use spirula_spirv::analysis::Definitions;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::grammar::opencl_std as cl;
use spirula_spirv::ir::{IdWords, Inst, InstRef, Module, Section};
use spirula_spirv::link::{Importer, Values};
use spirula_spirv::text;
use std::sync::OnceLock;

const TEXT: &str = include_str!("../library/math.spvasm");

/// The library and its functions by name.
struct Library {
    module: Module,
    functions: FxHashMap<String, Id>,
}

fn library() -> Option<&'static Library> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    let read = || {
        let words = text::parse(TEXT, &text::ParseOptions::default()).ok()?;
        let module = Module::from_words(words).ok()?;
        let named = module
            .section(Section::Annotations)
            .filter(|a| a.op() == Op::Decorate && a.word(1) == Decoration::LinkageAttributes.0);
        let functions = named.map(|a| (a.string(2), a.id(0))).collect();
        Some(Library { module, functions })
    };
    LIBRARY.get_or_init(read).as_ref()
}

/// A call that the library answers.
struct Call {
    inst: Inst,
    /// The function, and for `sincos` that of the second result.
    functions: [Option<Id>; 2],
}

/// Has a module call the library's functions where it calls for what Vulkan lacks.
///
/// # Errors
/// When the library is at fault.
pub fn link(module: &mut Module) -> Result<(), Diagnostic> {
    let Some(library) = library() else {
        let text = "the library of functions cannot be read";
        return Err(Diagnostic::error(spirula_source::Place::Unknown, text));
    };
    let ids = IdWords::new(module);
    let definitions = Definitions::compute(module);
    let mut calls = Vec::new();
    for func in module.functions() {
        for inst in module.function_insts(*func) {
            calls.extend(found(module, &ids, &definitions, library, inst));
        }
    }
    if calls.is_empty() {
        return Ok(());
    }
    let mut wanted: Vec<Id> = calls.iter().flat_map(|c| c.functions).flatten().collect();
    wanted.sort_unstable();
    wanted.dedup();
    let first = module.functions().len();
    let mut values = Values::compute(module);
    let new = Importer::new(&library.module).import(module, &mut values, &wanted)?;
    keep_exact(module, first);
    let new: FxHashMap<Id, Id> = wanted.into_iter().zip(new).collect();
    for call in calls {
        let functions = call.functions.map(|f| f.and_then(|f| new.get(&f).copied()));
        replace(module, &definitions, call.inst, functions);
    }
    Ok(())
}

fn found(
    module: &Module,
    ids: &IdWords,
    definitions: &Definitions,
    library: &Library,
    inst: InstRef<'_>,
) -> Option<Call> {
    if inst.op() != Op::ExtInst {
        return None;
    }
    let set = ids.set(inst).filter(|s| s.name == "OpenCL.std")?;
    let number = inst.word(1);
    let name = set.instruction(number)?.name;
    let (_, part, _) = shape(module, definitions, inst.result_type()?)?;
    let float = definitions
        .get(module, part)
        .filter(|d| d.op() == Op::TypeFloat)?;
    let width = float.word(0);
    let function = |name: &str| library.functions.get(&format!("f_{name}_{width}")).copied();
    let functions = match number {
        cl::SINCOS => [function("sin"), Some(function("cos")?)],
        _ => [function(name), None],
    };
    functions[0].map(|_| Call {
        inst: inst.handle(),
        functions,
    })
}

/// A type, its component type and their number.
fn shape(module: &Module, definitions: &Definitions, ty: Id) -> Option<(Id, Id, u32)> {
    let def = definitions.get(module, ty)?;
    Some(match def.op() {
        Op::TypeVector => (ty, def.id(0), def.word(1)),
        _ => (ty, ty, 1),
    })
}

/// Decorates the library's products and sums.
fn keep_exact(module: &mut Module, first: usize) {
    let mut exact = Vec::new();
    for func in &module.functions()[first..] {
        let insts = module.function_insts(*func);
        let rounded = insts.filter(|i| matches!(i.op(), Op::FAdd | Op::FSub | Op::FMul));
        exact.extend(rounded.filter_map(InstRef::result));
    }
    for id in exact {
        let words = [id.word(), Decoration::NoContraction.0];
        let decoration = module.create(Op::Decorate, &words);
        module.append(Section::Annotations.list(), decoration);
    }
}

/// Puts calls in the place of an extended instruction.
fn replace(
    module: &mut Module,
    definitions: &Definitions,
    at: Inst,
    [function, second]: [Option<Id>; 2],
) {
    let inst = module.inst(at);
    let (Some(ty), Some(result), Some(function)) = (inst.result_type(), inst.result(), function)
    else {
        return;
    };
    let Some(shape) = shape(module, definitions, ty) else {
        return;
    };
    let mut operands: Vec<Id> = inst.ids(2).collect();
    if let Some(second) = second
        && let Some(pointer) = operands.pop()
    {
        let value = module.fresh_id();
        called(module, at, shape, second, &operands, value);
        put(module, at, Op::Store, &[pointer.word(), value.word()]);
    }
    called(module, at, shape, function, &operands, result);
    module.remove(at);
}

/// Calls a function for each component, before an instruction.
fn called(
    module: &mut Module,
    at: Inst,
    (ty, part, count): (Id, Id, u32),
    function: Id,
    operands: &[Id],
    result: Id,
) {
    let call = |module: &mut Module, id: Id, operands: &[Id]| {
        let head = [part, id, function];
        let words: Vec<u32> = head.iter().chain(operands).map(|id| id.word()).collect();
        put(module, at, Op::FunctionCall, &words);
    };
    if count == 1 {
        return call(module, result, operands);
    }
    let mut words = vec![ty.word(), result.word()];
    for n in 0..count {
        let mut lanes = Vec::new();
        for operand in operands {
            let id = module.fresh_id();
            let words = [part.word(), id.word(), operand.word(), n];
            put(module, at, Op::CompositeExtract, &words);
            lanes.push(id);
        }
        let id = module.fresh_id();
        call(module, id, &lanes);
        words.push(id.word());
    }
    put(module, at, Op::CompositeConstruct, &words);
}

fn put(module: &mut Module, at: Inst, op: Op, words: &[u32]) {
    let inst = module.create(op, words);
    module.insert_before(at, inst);
}
