//! Verifier: checks a module against the rules of the specification and of a client interface.
//!
//! [`VerifyRule`] lists the rules with their numbers; each message names the instruction, its place and
//! the rule. Rules that have the form of a list are tables: capabilities, extensions and versions come
//! from the grammar, types of operands from a table of signatures, environments from lists.
//!
//! ```
//! use spirula_spirv::{text, verify};
//!
//! let module = text::parse_assembly("OpCapability Shader\nOpMemoryModel Logical GLSL450\n\
//!     OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n\
//!     %void = OpTypeVoid\n%type = OpTypeFunction %void\n%main = OpFunction %void None %type\n\
//!     %entry = OpLabel\nOpReturn\nOpFunctionEnd\n", &text::ParseOptions::default()).unwrap();
//! let options = verify::VerifyOptions::default();
//! assert!(verify::verify_words(module, &options).is_ok());
//! ```
//!
//! Cost: linear in the module, but for nested constructs, whose blocks are walked once for each
//! construct around them. A handful of tables keyed by id are as long as the module's bound.

mod builtins;
mod casts;
mod composites;
mod constants;
mod context;
mod control_flow;
mod cooperative;
mod declarations;
mod decorations;
mod entry_points;
mod environment;
mod execution_modes;
mod extended_instructions;
mod float_formats;
mod functions;
mod group_operations;
mod ids;
mod image_operands;
mod image_queries;
mod images;
mod layouts;
mod locations;
mod logical_pointers;
mod memory;
mod rules;
mod scopes;
mod section_order;
mod signature_table;
mod signatures;
mod small_numbers;
mod small_storage;
mod structural_graph;
mod structured_flow;
mod types;
mod values;
mod variables;

pub use rules::VerifyRule;

use crate::IdSet;
use crate::grammar::{InstructionClass, Op, SpirvVersion};
use crate::ir::{Func, Inst, InstRef, SpirvModule};
use crate::target::{SpirvTarget, TargetEnvironment};
use context::{DefPlace, VerifyContext, VerifyFault, VerifyResult};
use spirula_diagnostics::{DiagnosticList, SourceDiagnostic};

/// The target of verification.
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
pub fn verify_words(
    words: Vec<u32>,
    options: &VerifyOptions,
) -> Result<SpirvModule, DiagnosticList> {
    section_order::verify_order(&words)?;
    let module = SpirvModule::from_words(words)
        .map_err(|d| d.with_note(VerifyRule::Encoding.to_string()))?;
    verify_module(&module, options)?;
    Ok(module)
}

/// Verifies a module as it was read, the order of its sections included.
///
/// # Errors
/// The faults that were found, in the order of the module, 20 at most.
pub fn as_read(module: &SpirvModule, options: &VerifyOptions) -> Result<(), DiagnosticList> {
    if !module.words_as_read().is_empty() {
        section_order::verify_order(module.words_as_read())?;
    }
    verify_module(module, options)
}

/// Verifies a module. The order of sections, which only words can violate, is checked when a [`SpirvModule`] is
/// read.
///
/// # Errors
/// The faults in the order of the module, 20 at most.
pub fn verify_module(module: &SpirvModule, options: &VerifyOptions) -> Result<(), DiagnosticList> {
    let mut faults = VerifyFaults {
        module,
        found: Vec::new(),
    };
    let mut cx = VerifyContext::new(module, options);
    collect_definitions(&mut cx, &mut faults);
    faults.take_found()?;
    verify_operands(&cx, &mut faults);
    faults.take_found()?;
    verify_instructions(&cx, &mut faults);
    decorations::verify_decoration_sets(&cx, &mut faults.found);
    faults.take_found()?;
    entry_points::verify_entry_points(&cx, &mut faults.found);
    faults.take_found()?;
    let mut place = DefPlace::FIRST;
    for func in module.functions() {
        if let Err((inst, fault)) = control_flow(&cx, place, *func, &mut faults) {
            faults.push(inst, fault);
        }
        place = place.nth_after(module.function(*func).blocks.len() + 1);
    }
    faults.take_found()?;
    if cx.is_shader {
        // The definitions are no longer needed, and with the graphs they are larger than the module.
        let ids = cx.into_ids();
        for func in module.functions() {
            if let Err((inst, fault)) = structured_flow::verify_structure(module, &ids, *func) {
                faults.push(inst, fault);
            }
        }
    }
    faults.take_found()
}

/// The faults found so far.
struct VerifyFaults<'m> {
    module: &'m SpirvModule,
    found: Vec<SourceDiagnostic>,
}

impl VerifyFaults<'_> {
    fn push(&mut self, inst: Inst, fault: VerifyFault) {
        if self.found.len() < MOST {
            self.found
                .push(fault.into_diagnostic(self.module.inst(inst)));
        }
    }

    fn add_result(&mut self, inst: InstRef<'_>, check: VerifyResult) {
        if let Err(fault) = check {
            self.push(inst.handle(), fault);
        }
    }

    /// Later rules rely on earlier ones: they are not looked at once something was found.
    fn take_found(&mut self) -> Result<(), DiagnosticList> {
        if self.found.is_empty() {
            Ok(())
        } else {
            Err(std::mem::take(&mut self.found).into())
        }
    }
}

/// Every instruction in order, with the place that it is in and whether that is a block.
fn visit_insts<'m>(module: &'m SpirvModule, mut visit: impl FnMut(InstRef<'m>, DefPlace, bool)) {
    use crate::ir::ModuleSection;
    for section in ModuleSection::ALL
        .iter()
        .filter(|s| **s != ModuleSection::Trailer)
    {
        module
            .section_insts(*section)
            .for_each(|i| visit(i, DefPlace::OUTSIDE, false));
    }
    let mut place = DefPlace::FIRST;
    for func in module.functions() {
        let function = module.function(*func);
        let mut outside = |i| visit(i, place, false);
        module.list_insts(function.lead).for_each(&mut outside);
        outside(module.inst(function.def));
        module.list_insts(function.params).for_each(&mut outside);
        for (n, block) in function.blocks.iter().enumerate() {
            let block = module.block(*block);
            let mut inside = |i| visit(i, place.nth_after(n + 1), true);
            module.list_insts(block.lead).for_each(&mut inside);
            inside(module.inst(block.label));
            module.list_insts(block.body).for_each(&mut inside);
        }
        let mut outside = |i| visit(i, place, false);
        module.list_insts(function.tail).for_each(&mut outside);
        outside(module.inst(function.end));
        place = place.nth_after(function.blocks.len() + 1);
    }
    module
        .section_insts(ModuleSection::Trailer)
        .for_each(|i| visit(i, DefPlace::OUTSIDE, false));
}

/// Rule 3.
fn collect_definitions<'m>(cx: &mut VerifyContext<'m>, faults: &mut VerifyFaults<'_>) {
    visit_insts(cx.module, |inst, place, _| {
        if inst.op() == Op::TypeForwardPointer {
            cx.forward_pointers.insert(inst.operand_word(0));
        }
        let found = cx.define_result(inst, place);
        faults.add_result(inst, found);
    });
}

/// Rules 1 and 4 to 7.
fn verify_operands(cx: &VerifyContext<'_>, faults: &mut VerifyFaults<'_>) {
    let mut seen = ids::SeenIds {
        defined: IdSet::with_bound(cx.module.bound()),
        waiting: Vec::new(),
    };
    visit_insts(cx.module, |inst, _, _| {
        faults.add_result(inst, declarations::verify_availability(cx, inst));
        faults.add_result(inst, ids::verify_ids(cx, inst, &mut seen));
        if let Some(id) = inst.result() {
            seen.defined.insert(id);
        }
    });
    for (id, inst) in std::mem::take(&mut seen.waiting) {
        let user = cx.module.inst(inst);
        let found = context::ensure(
            VerifyRule::DefinedBefore,
            cx.definition(id.word()).is_some(),
            || format!("{id} is not defined"),
        );
        faults.add_result(user, found);
    }
}

/// Rules that concern one instruction and the definitions of its operands.
fn verify_instructions<'m>(cx: &VerifyContext<'m>, faults: &mut VerifyFaults<'m>) {
    let mut declared = types::DeclaredTypes::default();
    let mut layouts = layouts::CheckedLayouts::default();
    let limited = if cx.is_shader {
        values::storage_only(cx)
    } else {
        context::TypeContents::NOTHING
    };
    let whole = environment::verify_module_environment(cx)
        .and_then(|()| environment::memory_model(cx))
        .and_then(|()| cooperative::verify_cooperative_capabilities(cx));
    if let Err(fault) = whole {
        let message = fault.message.clone();
        let found = SourceDiagnostic::error(spirula_diagnostics::SourceLocation::Unknown, message);
        faults.found.push(found.with_note(fault.rule.to_string()));
    }
    visit_insts(cx.module, |inst, _, in_function| {
        let class = inst.op().info().map(|i| i.class);
        let check = match class {
            Some(InstructionClass::TypeDeclaration) => declared.verify_declaration(cx, inst),
            Some(InstructionClass::ConstantCreation) => constants::verify_constant(cx, inst),
            Some(InstructionClass::Memory) => memory::verify_memory_inst(cx, inst, in_function),
            Some(InstructionClass::Annotation) => decorations::verify_annotation(cx, inst)
                .and_then(|()| builtins::verify_built_in_types(cx, inst)),
            Some(InstructionClass::Debug) => decorations::verify_annotation(cx, inst),
            Some(InstructionClass::Image) => images::verify_image_inst(cx, inst),
            Some(InstructionClass::Group | InstructionClass::NonUniform) => {
                group_operations::verify_group_operation(cx, inst)
            }
            Some(InstructionClass::Extension) => match inst.op() {
                Op::ExtInstImport => extended_instructions::verify_import(cx, inst),
                _ => extended_instructions::verify_extended_inst(cx, inst),
            },
            Some(InstructionClass::Barrier) => scopes::verify_barrier(cx, inst),
            Some(InstructionClass::Atomic) => scopes::verify_atomic(cx, inst),
            Some(InstructionClass::ControlFlow) => match inst.op() {
                Op::LifetimeStart | Op::LifetimeStop => control_flow::verify_lifetime(cx, inst),
                _ => Ok(()),
            },
            _ if inst.op() == Op::FunctionCall => functions::verify_call(cx, inst),
            _ if inst.op() == Op::ConstantFunctionPointerINTEL => {
                constants::verify_constant(cx, inst)
            }
            _ if cooperative::is_own(inst.op()) => cooperative::verify_matrix_inst(cx, inst),
            _ => values::verify_value(cx, inst),
        };
        faults.add_result(
            inst,
            check
                .and_then(|()| float_formats::verify_float_encodings(cx, inst))
                .and_then(|()| small_numbers::verify_narrow_operands(cx, inst, limited))
                .and_then(|()| logical_pointers::verify_logical_pointers(cx, inst)),
        );
        if let Some(ty) = inst.result_type()
            && cx.defining_op(ty.word()) == Op::TypePointer
        {
            faults.add_result(inst, layouts::verify_layout(cx, inst, &mut layouts));
        }
        if inst.op() == Op::Variable {
            faults.add_result(inst, decorations::verify_linkage(cx, inst, false));
        }
        let mut of_function = Ok(());
        cx.ids.visit_uses(inst, |_, id| {
            if of_function.is_ok() {
                of_function = functions::use_of_function(cx, inst, id);
            }
        });
        faults.add_result(inst, of_function);
    });
}

/// Rules 12 and 13 and dominance.
fn control_flow(
    cx: &VerifyContext<'_>,
    place: DefPlace,
    func: Func,
    faults: &mut VerifyFaults<'_>,
) -> Result<(), (Inst, VerifyFault)> {
    if let Err(found) = functions::verify_function(cx, func) {
        faults.found.push(found);
    }
    let function = cx.module.function(func);
    let def = cx.module.inst(function.def);
    faults.add_result(
        def,
        decorations::verify_linkage(cx, def, !function.blocks.is_empty()),
    );
    for (n, block) in function.blocks.iter().enumerate() {
        control_flow::verify_block_order(cx, func, *block, n == 0)?;
    }
    control_flow::merge_blocks(cx, func)?;
    let flow = control_flow::FunctionFlow::new(cx, place, func)?;
    for block in 0..flow.blocks.len() as u32 {
        flow.verify_phis(block)?;
    }
    images::verify_sampled_image_uses(cx, func, faults);
    for (inst, fault) in ids::verify_dominance(cx, &flow, place) {
        faults.push(inst, fault);
    }
    Ok(())
}
