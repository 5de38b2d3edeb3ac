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
use crate::component_calls::{call_by_component, insert_instruction, split_vector_type};
use crate::remainders::{REMAINDERS, find_remainder};
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::analysis::{IdDecorations, IdDefinitions, IdNames};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, FPFastMathMode};
use spirula_spirv::grammar::opencl_std as cl;
use spirula_spirv::ir::{IdWords, Inst, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::link::{GlobalValueTable, SpirvImporter};
use spirula_spirv::text;
use std::sync::OnceLock;

const TEXTS: [&str; 5] = [
    include_str!("../../library/float.spvasm"),
    include_str!("../../library/double.spvasm"),
    include_str!("../../library/half.spvasm"),
    REMAINDERS[0].1,
    REMAINDERS[1].1,
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
            let names = IdNames::from_module(&module);
            let functions = module.functions().iter().filter_map(|func| {
                let id = module.function_id(*func);
                Some((names.get(&module, id)?, (number, id)))
            });
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

/// A call, or a remainder, that the library implements.
struct OpenClStdCall {
    inst: Inst,
    /// The number of its words before the operands.
    first_operand: usize,
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
    has_fused_products: bool,
}

/// Replaces calls of functions that Vulkan lacks, and remainders, by calls of the library's functions.
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
        has_fused_products: options.has_fused_products,
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
        replace_call(module, &definitions, &call, functions);
    }
    Ok(())
}

impl LibraryCallFinder<'_> {
    fn match_call(&self, library: &OpenClStdLibrary, inst: InstRef<'_>) -> Option<OpenClStdCall> {
        if let Some(name) = find_remainder(inst.op()) {
            let width = self.find_width(inst.id_operand(0))?;
            let function = library.find_function(name, width)?;
            return (!self.may_be_fast(inst)).then_some(OpenClStdCall {
                inst: inst.handle(),
                first_operand: 0,
                functions: [Some(function), None],
            });
        }
        if inst.op() != Op::ExtInst {
            return None;
        }
        let set = self
            .ids
            .ext_inst_set(inst)
            .filter(|s| s.name == "OpenCL.std")?;
        let number = inst.operand_word(1);
        let name = set.instruction_by_number(number)?.name;
        let width = self.find_width(inst.get_id(2)?)?;
        if self.may_be_fast(inst) && lower::has_instruction(number, width) {
            return None;
        }
        if number == cl::FMA && self.has_fused_products {
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
            first_operand: 2,
            functions,
        })
    }

    /// The width of the floats of a value, unless it has others.
    fn find_width(&self, value: Id) -> Option<u32> {
        let value = self.definitions.get(self.module, value)?;
        let (_, part, _) = split_vector_type(self.module, &self.definitions, value.result_type()?)?;
        let float = self.definitions.get(self.module, part);
        let float = float.filter(|d| d.op() == Op::TypeFloat)?;
        Some(float.operand_word(0))
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

/// Replaces an instruction by calls.
fn replace_call(
    module: &mut SpirvModule,
    definitions: &IdDefinitions,
    call: &OpenClStdCall,
    [function, second]: [Option<Id>; 2],
) {
    let at = call.inst;
    let inst = module.inst(at);
    let (Some(ty), Some(result), Some(function)) = (inst.result_type(), inst.result(), function)
    else {
        return;
    };
    let mut operands: Vec<Id> = inst.id_operands(call.first_operand).collect();
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
