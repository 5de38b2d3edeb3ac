//! The verifier: whether a module keeps the rules of the specification and of a client interface.
//!
//! [`VerifyRule`] lists the rules with their numbers; each message names the instruction, its place and
//! the rule. What has the form of a list stands in tables: capabilities, extensions and versions come
//! from the grammar, types of operands from a table of signatures, environments from lists.
//!
//! ```
//! use spirula_spirv::{text, verify};
//!
//! let module = text::parse("OpCapability Shader\nOpMemoryModel Logical GLSL450\n\
//!     OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n\
//!     %void = OpTypeVoid\n%type = OpTypeFunction %void\n%main = OpFunction %void None %type\n\
//!     %entry = OpLabel\nOpReturn\nOpFunctionEnd\n", &text::ParseOptions::default()).unwrap();
//! let options = verify::Options::default();
//! assert!(verify::words(module, &options).is_ok());
//! ```
//!
//! Cost: linear in the module, but for nested constructs, whose blocks are walked once for each
//! construct around them. A handful of tables keyed by id are as long as the module's bound.

mod annotations;
mod builtins;
mod casts;
mod composites;
mod constants;
mod context;
mod cooperative;
mod declared;
mod entries;
mod environment;
mod extended;
mod flow;
mod formats;
mod functions;
mod groups;
mod ids;
mod image_operands;
mod image_queries;
mod images;
mod layouts;
mod locations;
mod logical;
mod memory;
mod modes;
mod order;
mod rules;
mod scopes;
mod signatures;
mod small;
mod storage;
mod structural_graph;
mod structure;
mod types;
mod values;
mod variables;

pub use rules::Rule;

use crate::IdSet;
use crate::grammar::{InstructionClass, Op, SpirvVersion};
use crate::ir::{Func, Inst, InstRef, SpirvModule};
use crate::target::{SpirvTarget, TargetEnvironment};
use context::{DefPlace, VerifyContext, VerifyFault, VerifyResult};
use spirula_diagnostics::SourceDiagnostic;

/// What a module is verified for.
#[derive(Clone, Debug)]
pub struct VerifyOptions {
    /// The environment whose rules hold besides those of the specification; by default any consumer
    /// of the newest SPIR-V.
    pub target: SpirvTarget,
    /// Whether blocks may have the scalar layout, as for `--scalar-block-layout` of Khronos'
    /// validator.
    pub scalar_block_layout: bool,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        VerifyOptions {
            target: SpirvTarget {
                environment: TargetEnvironment::Universal,
                version: SpirvVersion::NEWEST,
            },
            scalar_block_layout: false,
        }
    }
}

/// Most faults that are reported.
const MOST: usize = 20;

/// Reads a module from its words and verifies it.
///
/// # Errors
/// The faults that were found, in the order of the module, 20 at most.
pub fn words(
    words: Vec<u32>,
    options: &VerifyOptions,
) -> Result<SpirvModule, Vec<SourceDiagnostic>> {
    order::check(&words).map_err(|d| vec![d])?;
    let module = SpirvModule::from_words(words)
        .map_err(|d| vec![d.with_note(Rule::Encoding.to_string())])?;
    self::module(&module, options)?;
    Ok(module)
}

/// Verifies a module as it was read, the order of its sections included.
///
/// # Errors
/// The faults that were found, in the order of the module, 20 at most.
pub fn as_read(module: &SpirvModule, options: &VerifyOptions) -> Result<(), Vec<SourceDiagnostic>> {
    if !module.words_as_read().is_empty() {
        order::check(module.words_as_read()).map_err(|d| vec![d])?;
    }
    self::module(module, options)
}

/// Verifies a module. What only words can breach, the order of sections, is held by [`SpirvModule`].
///
/// # Errors
/// The faults that were found, in the order of the module, 20 at most.
pub fn module(module: &SpirvModule, options: &VerifyOptions) -> Result<(), Vec<SourceDiagnostic>> {
    let mut faults = VerifyFaults {
        module,
        found: Vec::new(),
    };
    let mut cx = VerifyContext::new(module, options);
    definitions(&mut cx, &mut faults);
    faults.end()?;
    operands(&cx, &mut faults);
    faults.end()?;
    instructions(&cx, &mut faults);
    annotations::all(&cx, &mut faults.found);
    faults.end()?;
    entries::check(&cx, &mut faults.found);
    faults.end()?;
    let mut place = DefPlace::FIRST;
    for func in module.functions() {
        if let Err((inst, fault)) = control_flow(&cx, place, *func, &mut faults) {
            faults.push(inst, fault);
        }
        place = place.behind(module.function(*func).blocks.len() + 1);
    }
    faults.end()?;
    if cx.is_shader {
        // What is known of definitions is needed no more: with the graphs it is larger than the module.
        let ids = cx.into_ids();
        for func in module.functions() {
            if let Err((inst, fault)) = structure::check(module, &ids, *func) {
                faults.push(inst, fault);
            }
        }
    }
    faults.end()
}

/// The faults found so far.
struct VerifyFaults<'m> {
    module: &'m SpirvModule,
    found: Vec<SourceDiagnostic>,
}

impl VerifyFaults<'_> {
    fn push(&mut self, inst: Inst, fault: VerifyFault) {
        if self.found.len() < MOST {
            self.found.push(fault.about(self.module.inst(inst)));
        }
    }

    fn add(&mut self, inst: InstRef<'_>, check: VerifyResult) {
        if let Err(fault) = check {
            self.push(inst.handle(), fault);
        }
    }

    /// Later rules rely on earlier ones: they are not looked at once something was found.
    fn end(&mut self) -> Result<(), Vec<SourceDiagnostic>> {
        if self.found.is_empty() {
            Ok(())
        } else {
            Err(std::mem::take(&mut self.found))
        }
    }
}

/// Every instruction in order, with the place that it is in and whether that is a block.
fn each<'m>(module: &'m SpirvModule, mut visit: impl FnMut(InstRef<'m>, DefPlace, bool)) {
    use crate::ir::ModuleSection;
    for section in ModuleSection::ALL
        .iter()
        .filter(|s| **s != ModuleSection::Trailer)
    {
        module
            .section(*section)
            .for_each(|i| visit(i, DefPlace::OUTSIDE, false));
    }
    let mut place = DefPlace::FIRST;
    for func in module.functions() {
        let function = module.function(*func);
        let mut outside = |i| visit(i, place, false);
        module.insts(function.lead).for_each(&mut outside);
        outside(module.inst(function.def));
        module.insts(function.params).for_each(&mut outside);
        for (n, block) in function.blocks.iter().enumerate() {
            let block = module.block(*block);
            let mut inside = |i| visit(i, place.behind(n + 1), true);
            module.insts(block.lead).for_each(&mut inside);
            inside(module.inst(block.label));
            module.insts(block.body).for_each(&mut inside);
        }
        let mut outside = |i| visit(i, place, false);
        module.insts(function.tail).for_each(&mut outside);
        outside(module.inst(function.end));
        place = place.behind(function.blocks.len() + 1);
    }
    module
        .section(ModuleSection::Trailer)
        .for_each(|i| visit(i, DefPlace::OUTSIDE, false));
}

/// Rule 3.
fn definitions<'m>(cx: &mut VerifyContext<'m>, faults: &mut VerifyFaults<'_>) {
    each(cx.module, |inst, place, _| {
        if inst.op() == Op::TypeForwardPointer {
            cx.forward_pointers.insert(inst.word(0));
        }
        let found = cx.define(inst, place);
        faults.add(inst, found);
    });
}

/// Rules 1 and 4 to 7.
fn operands(cx: &VerifyContext<'_>, faults: &mut VerifyFaults<'_>) {
    let mut seen = ids::SeenIds {
        defined: IdSet::with_bound(cx.module.bound()),
        waiting: Vec::new(),
    };
    each(cx.module, |inst, _, _| {
        faults.add(inst, declared::check(cx, inst));
        faults.add(inst, ids::check(cx, inst, &mut seen));
        if let Some(id) = inst.result() {
            seen.defined.insert(id);
        }
    });
    for (id, inst) in std::mem::take(&mut seen.waiting) {
        let user = cx.module.inst(inst);
        let found = context::ensure(Rule::DefinedBefore, cx.def(id.word()).is_some(), || {
            format!("{id} is not defined")
        });
        faults.add(user, found);
    }
}

/// Rules that concern one instruction and the definitions of its operands.
fn instructions<'m>(cx: &VerifyContext<'m>, faults: &mut VerifyFaults<'m>) {
    let mut declared = types::DeclaredTypes::default();
    let mut layouts = layouts::CheckedLayouts::default();
    let limited = match cx.is_shader {
        true => values::storage_only(cx),
        false => context::TypeContents::NOTHING,
    };
    let whole = environment::module(cx)
        .and_then(|()| environment::memory_model(cx))
        .and_then(|()| cooperative::module(cx));
    if let Err(fault) = whole {
        let message = fault.message.clone();
        let found = SourceDiagnostic::error(spirula_diagnostics::SourceLocation::Unknown, message);
        faults.found.push(found.with_note(fault.rule.to_string()));
    }
    each(cx.module, |inst, _, in_function| {
        let class = inst.op().info().map(|i| i.class);
        let check = match class {
            Some(InstructionClass::TypeDeclaration) => declared.check(cx, inst),
            Some(InstructionClass::ConstantCreation) => constants::check(cx, inst),
            Some(InstructionClass::Memory) => memory::check(cx, inst, in_function),
            Some(InstructionClass::Annotation) => {
                annotations::check(cx, inst).and_then(|()| builtins::types(cx, inst))
            }
            Some(InstructionClass::Debug) => annotations::check(cx, inst),
            Some(InstructionClass::Image) => images::check(cx, inst),
            Some(InstructionClass::Group | InstructionClass::NonUniform) => groups::check(cx, inst),
            Some(InstructionClass::Extension) => match inst.op() {
                Op::ExtInstImport => extended::import(cx, inst),
                _ => extended::check(cx, inst),
            },
            Some(InstructionClass::Barrier) => scopes::barrier(cx, inst),
            Some(InstructionClass::Atomic) => scopes::atomic(cx, inst),
            Some(InstructionClass::ControlFlow) => match inst.op() {
                Op::LifetimeStart | Op::LifetimeStop => flow::lifetime(cx, inst),
                _ => Ok(()),
            },
            _ if inst.op() == Op::FunctionCall => functions::call(cx, inst),
            _ if inst.op() == Op::ConstantFunctionPointerINTEL => constants::check(cx, inst),
            _ if cooperative::is_own(inst.op()) => cooperative::check(cx, inst),
            _ => values::check(cx, inst),
        };
        faults.add(
            inst,
            check
                .and_then(|()| formats::check(cx, inst))
                .and_then(|()| small::check(cx, inst, limited))
                .and_then(|()| logical::check(cx, inst)),
        );
        if let Some(ty) = inst.result_type()
            && cx.op(ty.word()) == Op::TypePointer
        {
            faults.add(inst, layouts::check(cx, inst, &mut layouts));
        }
        if inst.op() == Op::Variable {
            faults.add(inst, annotations::linkage(cx, inst, false));
        }
        let mut of_function = Ok(());
        cx.ids.visit(inst, |_, id| {
            if of_function.is_ok() {
                of_function = functions::use_of_function(cx, inst, id);
            }
        });
        faults.add(inst, of_function);
    });
}

/// Rules 12 and 13 and dominance.
fn control_flow(
    cx: &VerifyContext<'_>,
    place: DefPlace,
    func: Func,
    faults: &mut VerifyFaults<'_>,
) -> Result<(), (Inst, VerifyFault)> {
    if let Err(found) = functions::check(cx, func) {
        faults.found.push(found);
    }
    let function = cx.module.function(func);
    let def = cx.module.inst(function.def);
    faults.add(
        def,
        annotations::linkage(cx, def, !function.blocks.is_empty()),
    );
    for (n, block) in function.blocks.iter().enumerate() {
        flow::block(cx, func, *block, n == 0)?;
    }
    flow::merge_blocks(cx, func)?;
    let flow = flow::FunctionFlow::new(cx, place, func)?;
    for block in 0..flow.blocks.len() as u32 {
        flow.phis(block)?;
    }
    images::consumers(cx, func, faults);
    for (inst, fault) in ids::dominance(cx, &flow, place) {
        faults.push(inst, fault);
    }
    Ok(())
}
