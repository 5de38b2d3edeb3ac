//! The library of OpenCL.std: functions that Vulkan lacks, or does not have with OpenCL's accuracy, in SPIR-V (`library/`). They are
//! linked in where they are called.
//!
//! Before:
//! ```text
//! %y = OpExtInst %double %std sin %x
//! ```
//! After:
//! ```text
//! %y = OpFunctionCall %double %f_sin_64 %x
//! ```
//! Vectors are processed component by component, halves as floats unless they have a function of their own. A call that may be fast, by a
//! decoration or an option, stays an instruction where Vulkan has one. Products and sums of the library are not contracted, since its
//! accuracy depends on the rounding of each.

use super::{VulkanCompileOptions, lower};
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::analysis::{IdDecorations, IdDefinitions};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, FPFastMathMode};
use spirula_spirv::grammar::opencl_std as cl;
use spirula_spirv::ir::{IdWords, Inst, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::link::{GlobalValueTable, SpirvImporter};
use spirula_spirv::text;
use std::sync::OnceLock;

const TEXTS: [&str; 3] = [
    include_str!("../../library/float.spvasm"),
    include_str!("../../library/double.spvasm"),
    include_str!("../../library/half.spvasm"),
];

/// Functions with a second result, which they write through their last operand: the library's functions of the first and of the
/// second result.
const PAIRS: &[(u32, &str, &str)] = &[
    (cl::SINCOS, "sin", "cos"),
    (cl::REMQUO, "remainder", "remquo_quotient"),
    (cl::LGAMMA_R, "lgamma", "lgamma_sign"),
];

/// A function: its module, and its position there.
type OpenClStdFunction = (usize, Id);

/// The library and its functions by name.
struct OpenClStdLibrary {
    modules: Vec<SpirvModule>,
    functions: FxHashMap<String, OpenClStdFunction>,
}

fn load_library() -> Option<&'static OpenClStdLibrary> {
    static LIBRARY: OnceLock<Option<OpenClStdLibrary>> = OnceLock::new();
    let read = || {
        let mut library = OpenClStdLibrary {
            modules: Vec::new(),
            functions: FxHashMap::default(),
        };
        for (number, text) in TEXTS.iter().enumerate() {
            let words = text::parse_assembly(text, &text::ParseOptions::default()).ok()?;
            let module = SpirvModule::from_words(words).ok()?;
            let named = module
                .section_insts(ModuleSection::Annotations)
                .filter(|a| {
                    a.op() == Op::Decorate && a.operand_word(1) == Decoration::LinkageAttributes.0
                });
            let functions = named.map(|a| (a.string_operand(2), (number, a.id_operand(0))));
            library.functions.extend(functions.collect::<Vec<_>>());
            library.modules.push(module);
        }
        Some(library)
    };
    LIBRARY.get_or_init(read).as_ref()
}

impl OpenClStdLibrary {
    /// Finds the function of a name for operands of a width.
    fn find_function(&self, name: &str, width: u32) -> Option<OpenClStdFunction> {
        let of = |width| self.functions.get(&format!("f_{name}_{width}")).copied();
        of(width).or_else(|| (width == 16).then(|| of(32)).flatten())
    }
}

/// A call that the library implements.
struct OpenClStdCall {
    inst: Inst,
    /// The function, and the function of a second result.
    functions: [Option<OpenClStdFunction>; 2],
}

/// The analyses of a module in which calls are searched.
struct LibraryCallFinder<'a> {
    module: &'a SpirvModule,
    ids: IdWords,
    definitions: IdDefinitions,
    decorations: IdDecorations,
    is_fast: bool,
}

/// Replaces calls of functions that Vulkan lacks by calls of the library's functions.
///
/// # Errors
/// When the library is malformed.
pub fn link_library(
    module: &mut SpirvModule,
    options: &VulkanCompileOptions,
) -> Result<(), SourceDiagnostic> {
    let Some(library) = load_library() else {
        let text = "the library of functions cannot be read";
        return Err(SourceDiagnostic::error(
            spirula_diagnostics::SourceLocation::Unknown,
            text,
        ));
    };
    let search = LibraryCallFinder {
        ids: IdWords::new(module),
        definitions: IdDefinitions::from_module(module),
        decorations: IdDecorations::from_module(module),
        is_fast: options.is_fast,
        module,
    };
    let mut calls = Vec::new();
    for func in module.functions() {
        let insts = module.function_insts(*func);
        calls.extend(insts.filter_map(|inst| search.match_call(library, inst)));
    }
    if calls.is_empty() {
        return Ok(());
    }
    let mut wanted: Vec<OpenClStdFunction> =
        calls.iter().flat_map(|c| c.functions).flatten().collect();
    wanted.sort_unstable();
    wanted.dedup();
    let first = module.functions().len();
    let mut values = GlobalValueTable::from_module(module);
    let mut new: FxHashMap<OpenClStdFunction, Id> = FxHashMap::default();
    for (number, part) in library.modules.iter().enumerate() {
        let own = wanted.iter().filter(|f| f.0 == number).map(|f| f.1);
        let own: Vec<Id> = own.collect();
        if own.is_empty() {
            continue;
        }
        let made = SpirvImporter::new(part).import_ids(module, &mut values, &own)?;
        new.extend(own.into_iter().map(|id| (number, id)).zip(made));
    }
    keep_exact(module, first);
    let definitions = IdDefinitions::from_module(module);
    for call in calls {
        let functions = call.functions.map(|f| f.and_then(|f| new.get(&f).copied()));
        replace_call(module, &definitions, call.inst, functions);
    }
    Ok(())
}

impl LibraryCallFinder<'_> {
    fn match_call(&self, library: &OpenClStdLibrary, inst: InstRef<'_>) -> Option<OpenClStdCall> {
        if inst.op() != Op::ExtInst {
            return None;
        }
        let set = self
            .ids
            .ext_inst_set(inst)
            .filter(|s| s.name == "OpenCL.std")?;
        let number = inst.operand_word(1);
        let name = set.instruction_by_number(number)?.name;
        let operand = self.definitions.get(self.module, inst.get_id(2)?)?;
        let (_, part, _) =
            split_vector_type(self.module, &self.definitions, operand.result_type()?)?;
        let float = self.definitions.get(self.module, part);
        let width = float.filter(|d| d.op() == Op::TypeFloat)?.operand_word(0);
        if self.may_be_fast(inst) && lower::has_instruction(number, width) {
            return None;
        }
        let functions = match PAIRS.iter().find(|row| row.0 == number) {
            Some((_, first, second)) => {
                let function = |name| library.find_function(name, width);
                [function(first), Some(function(second)?)]
            }
            None => [library.find_function(name, width), None],
        };
        functions[0].map(|_| OpenClStdCall {
            inst: inst.handle(),
            functions,
        })
    }

    fn may_be_fast(&self, inst: InstRef<'_>) -> bool {
        let modes = inst.result().and_then(|id| {
            self.decorations
                .get(self.module, id, Decoration::FPFastMathMode)
        });
        self.is_fast
            || modes.is_some_and(|words| {
                words
                    .first()
                    .is_some_and(|w| w & FPFastMathMode::Fast.0 != 0)
            })
    }
}

/// A type, its component type and their number.
fn split_vector_type(
    module: &SpirvModule,
    definitions: &IdDefinitions,
    ty: Id,
) -> Option<(Id, Id, u32)> {
    let def = definitions.get(module, ty)?;
    Some(match def.op() {
        Op::TypeVector => (ty, def.id_operand(0), def.operand_word(1)),
        _ => (ty, ty, 1),
    })
}

/// Decorates the library's products and sums as not contractible.
fn keep_exact(module: &mut SpirvModule, first: usize) {
    let mut exact = Vec::new();
    for func in &module.functions()[first..] {
        let insts = module.function_insts(*func);
        let rounded = insts.filter(|i| matches!(i.op(), Op::FAdd | Op::FSub | Op::FMul));
        exact.extend(rounded.filter_map(InstRef::result));
    }
    for id in exact {
        let words = [id.word(), Decoration::NoContraction.0];
        let decoration = module.create_inst(Op::Decorate, &words);
        module.append_inst(ModuleSection::Annotations.list(), decoration);
    }
}

/// Replaces an extended instruction by calls.
fn replace_call(
    module: &mut SpirvModule,
    definitions: &IdDefinitions,
    at: Inst,
    [function, second]: [Option<Id>; 2],
) {
    let inst = module.inst(at);
    let (Some(ty), Some(result), Some(function)) = (inst.result_type(), inst.result(), function)
    else {
        return;
    };
    let mut operands: Vec<Id> = inst.id_operands(2).collect();
    if let Some(second) = second
        && let Some(pointer) = operands.pop()
        && let Some(pointee) = find_pointee(module, definitions, pointer)
    {
        let value = module.fresh_id();
        call_by_component(module, definitions, at, pointee, second, &operands, value);
        insert_instruction(module, at, Op::Store, &[pointer.word(), value.word()]);
    }
    call_by_component(module, definitions, at, ty, function, &operands, result);
    module.remove_inst(at);
}

fn find_pointee(module: &SpirvModule, definitions: &IdDefinitions, pointer: Id) -> Option<Id> {
    let ty = definitions.get(module, pointer)?.result_type()?;
    let ty = definitions.get(module, ty)?;
    (ty.op() == Op::TypePointer).then(|| ty.id_operand(1))
}

/// Emits calls of a function for each component, before an instruction.
fn call_by_component(
    module: &mut SpirvModule,
    definitions: &IdDefinitions,
    at: Inst,
    ty: Id,
    function: Id,
    operands: &[Id],
    result: Id,
) -> Option<()> {
    let (_, part, count) = split_vector_type(module, definitions, ty)?;
    let head = definitions.get(module, function)?;
    let given = head.result_type()?;
    let params: Vec<Id> = definitions
        .get(module, head.id_operand(1))?
        .id_operands(1)
        .collect();
    let mut words = vec![ty.word(), result.word()];
    for n in 0..count {
        let mut call = vec![given.word(), 0, function.word()];
        for (operand, param) in operands.iter().zip(&params) {
            let whole = definitions.get(module, *operand)?.result_type()?;
            let (_, kind, lanes) = split_vector_type(module, definitions, whole)?;
            let mut value = *operand;
            if lanes > 1 {
                let words = vec![kind.word(), 0, value.word(), n];
                value = put_value(module, at, Op::CompositeExtract, words, None);
            }
            if kind != *param {
                let words = vec![param.word(), 0, value.word()];
                value = put_value(module, at, Op::FConvert, words, None);
            }
            call.push(value.word());
        }
        // The last instruction on a scalar defines the result itself.
        let own = (count == 1).then_some(result);
        let value = if given == part {
            put_value(module, at, Op::FunctionCall, call, own)
        } else {
            let made = put_value(module, at, Op::FunctionCall, call, None);
            let words = vec![part.word(), 0, made.word()];
            put_value(module, at, Op::FConvert, words, own)
        };
        words.push(value.word());
    }
    if count > 1 {
        insert_instruction(module, at, Op::CompositeConstruct, &words);
    }
    Some(())
}

/// Inserts an instruction with a result before another; the result is new unless given.
fn put_value(
    module: &mut SpirvModule,
    at: Inst,
    op: Op,
    mut words: Vec<u32>,
    result: Option<Id>,
) -> Id {
    let id = result.unwrap_or_else(|| module.fresh_id());
    words[1] = id.word();
    insert_instruction(module, at, op, &words);
    id
}

fn insert_instruction(module: &mut SpirvModule, at: Inst, op: Op, words: &[u32]) {
    let inst = module.create_inst(op, words);
    module.insert_before(at, inst);
}
