//! Lifter: module-level state and order of the lifting.

use super::lifted_entities::{LiftedArrayLengths, LiftedCompileUnit, LiftedType};
use crate::ir::{
    self, CallingConvention, ConstKind, GlobalData, GlobalKind, Linkage, LlvmConst, LlvmFunc,
    LlvmFunction, LlvmGlobal, LlvmMetadata, LlvmSymbol, LlvmType, LlvmValue,
};
use crate::verify::verify_module;
use crate::{LlvmResult, make_refusal};
use rustc_hash::{FxHashMap, FxHashSet};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::analysis::{IdDecorations, IdDefinitions, IdNames};
use spirula_spirv::grammar::enumerants::{AddressingModel, Decoration, MemoryModel};
use spirula_spirv::grammar::{InstructionClass, Op};
use spirula_spirv::ir::{IdWords, Inst, InstRef, ModuleSection};
use spirula_spirv::{Id, IdMap, ir as spirv};

/// Lifts a SPIR-V module to LLVM IR.
///
/// # Errors
/// All instructions that LLVM IR cannot express, or whose lifting is not implemented, each with its
/// place.
pub fn lift_module(source: &spirv::SpirvModule) -> Result<ir::LlvmModule, Vec<SourceDiagnostic>> {
    let mut lifter = SpirvLifter::new(source);
    lifter.set_target_header();
    lifter.find_entry_points();
    lifter.find_bodies();
    lifter.module_level();
    lifter.declare_functions();
    lifter.lift_entry_points();
    lifter.list_layouts();
    lifter.list_lengths();
    lifter.state_memory_model();
    for func in source.functions() {
        lifter.lift_function(*func);
    }
    let SpirvLifter {
        mut out,
        diagnostics,
        ..
    } = lifter;
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let ir::LlvmModule { types, layout, .. } = &mut out;
    layout.measure_all(types);
    crate::auto_upgrade::complete_alignments(&mut out);
    // A valid SPIR-V module becomes a valid LLVM module, so a violation here means that the input
    // was invalid.
    verify_module(&out).map_err(|error| vec![error.into_diagnostic(SourceLocation::Unknown)])?;
    Ok(out)
}

/// The state of a lifting.
pub(super) struct SpirvLifter<'s> {
    pub(super) source: &'s spirv::SpirvModule,
    pub(super) definitions: IdDefinitions,
    pub(super) names: IdNames,
    pub(super) decorations: IdDecorations,
    pub(super) ids: IdWords,
    pub(super) out: ir::LlvmModule,
    pub(super) types: IdMap<Option<LiftedType>>,
    /// Constants, globals, and locals of the function being lifted.
    pub(super) values: IdMap<Option<LlvmValue>>,
    /// Specialisation constants, in the order of the module.
    pub(super) special: Vec<Inst>,
    /// Positions in that list.
    pub(super) spec_constant_index: IdMap<Option<usize>>,
    /// The constant with the workgroup size, if it can be specialised.
    pub(super) workgroup_size: Option<Id>,
    pub(super) functions: IdMap<Option<LlvmFunc>>,
    /// Blocks of the function being lifted, by their labels.
    pub(super) blocks: IdMap<Option<ir::LlvmBlock>>,
    /// Functions of the module by their ids.
    pub(super) bodies: IdMap<Option<spirv::Func>>,
    /// Functions that are declared for instructions of SPIR-V, by name.
    pub(super) provided: FxHashMap<LlvmSymbol, LlvmFunc>,
    /// Names of globals in use, with the number of requests for each.
    pub(super) used_names: FxHashMap<LlvmSymbol, u32>,
    pub(super) taken_types: FxHashSet<LlvmSymbol>,
    /// Built-in variables by name.
    pub(super) builtins: Vec<(LlvmSymbol, LlvmGlobal)>,
    /// Entry point functions, with their `OpEntryPoint`.
    pub(super) entries: IdMap<Option<Inst>>,
    /// Nodes of metadata that list nothing but numbers.
    pub(super) number_nodes: FxHashMap<Vec<u32>, LlvmMetadata>,
    /// Whether the module has compute shaders, with logical addressing.
    pub(super) is_shader: bool,
    /// Layouts of structures, as rows of a list.
    pub(super) layouts: Vec<LlvmMetadata>,
    pub(super) lengths: LiftedArrayLengths,
    /// The compile unit that source locations belong to.
    pub(super) unit: LiftedCompileUnit,
    pub(super) diagnostics: Vec<SourceDiagnostic>,
}

/// The triple of compute shaders.
const SHADER: &str = "spirv-unknown-vulkan-compute";

/// Data layout of kernels, as Clang has it for `spir64` and `spir`.
const LAYOUT_64: &str = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64";
const LAYOUT_32: &str = "e-p:32:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64";

impl<'s> SpirvLifter<'s> {
    fn new(source: &'s spirv::SpirvModule) -> Self {
        let bound = source.bound();
        SpirvLifter {
            source,
            definitions: IdDefinitions::from_module(source),
            names: IdNames::from_module(source),
            decorations: IdDecorations::from_module(source),
            ids: IdWords::new(source),
            out: ir::LlvmModule::default(),
            types: IdMap::new(bound, None),
            values: IdMap::new(bound, None),
            special: Vec::new(),
            spec_constant_index: IdMap::new(bound, None),
            workgroup_size: None,
            functions: IdMap::new(bound, None),
            bodies: IdMap::new(bound, None),
            blocks: IdMap::new(bound, None),
            provided: FxHashMap::default(),
            used_names: FxHashMap::default(),
            taken_types: FxHashSet::default(),
            builtins: Vec::new(),
            entries: IdMap::new(bound, None),
            number_nodes: FxHashMap::default(),
            is_shader: false,
            layouts: Vec::new(),
            lengths: LiftedArrayLengths::new(bound),
            unit: LiftedCompileUnit::new(bound),
            diagnostics: Vec::new(),
        }
    }

    /// Triple and layout of data, by the memory model.
    fn set_target_header(&mut self) {
        let mut model = self.source.section_insts(ModuleSection::MemoryModel);
        let addressing = model
            .next()
            .map(|inst| AddressingModel(inst.operand_word(0)));
        self.is_shader = !matches!(
            addressing,
            Some(AddressingModel::Physical32 | AddressingModel::Physical64)
        );
        let (triple, layout) = match addressing {
            Some(AddressingModel::Physical32) => ("spir-unknown-unknown", LAYOUT_32),
            Some(AddressingModel::Physical64) => ("spir64-unknown-unknown", LAYOUT_64),
            _ => (SHADER, LAYOUT_64),
        };
        self.out.triple = triple.to_owned();
        // The texts above are well-formed.
        if let Ok(layout) = ir::DataLayout::from_text(layout) {
            self.out.layout = layout;
        }
    }

    /// States the memory model of a shader if it is not the usual one.
    fn state_memory_model(&mut self) {
        let model = self.source.section_insts(ModuleSection::MemoryModel).next();
        if let Some(model) =
            model.filter(|m| self.is_shader && m.operand_word(1) == MemoryModel::Vulkan.0)
        {
            let row = self.md_numbers(&[model.operand_word(0), model.operand_word(1)]);
            self.md_named("spirv.MemoryModel", vec![row]);
        }
    }

    /// Types, constants and variables, in their order.
    fn module_level(&mut self) {
        for inst in self.source.section_insts(ModuleSection::Globals) {
            let Some(row) = inst.op().info() else {
                self.report_unlifted(inst, "the instruction is unknown");
                continue;
            };
            let made = match row.class {
                InstructionClass::TypeDeclaration => self.define_type(inst),
                InstructionClass::ConstantCreation => self.define_constant(inst),
                InstructionClass::Memory => self.define_variable(inst),
                InstructionClass::Debug => Ok(()),
                _ if matches!(inst.op(), Op::Undef | Op::ConstantFunctionPointerINTEL) => {
                    self.define_constant(inst)
                }
                _ if inst.op() == Op::ExtInst => Ok(()),
                _ => Err(make_refusal("it has no counterpart in LLVM IR")),
            };
            if let Err(why) = made {
                self.report_unlifted(inst, &why.to_string());
            }
        }
    }

    /// Notes that an instruction was not lifted, and why.
    pub(super) fn report_unlifted(&mut self, inst: InstRef<'_>, why: &str) {
        self.report_at(inst.op(), inst.place(), why);
    }

    /// Reports a refusal by opcode and place.
    pub(super) fn report_at(&mut self, op: Op, place: SourceLocation, why: &str) {
        self.diagnostics
            .push(SourceDiagnostic::error(place, format!("{op}: {why}")));
    }

    /// The counterpart of a type.
    pub(super) fn find_type(&self, id: Id) -> LlvmResult<LlvmType> {
        Ok(self.find_lowered_type(id)?.ty)
    }

    /// The LLVM counterpart of a type, with its structure.
    pub(super) fn find_lowered_type(&self, id: Id) -> LlvmResult<LiftedType> {
        self.types[id].ok_or_else(|| make_refusal(format!("{id} is not a type that was lifted")))
    }

    /// The type of a value, as SPIR-V has it.
    pub(super) fn type_of(&self, id: Id) -> LlvmResult<Id> {
        let inst = self.definitions.get(self.source, id);
        inst.and_then(InstRef::result_type)
            .ok_or_else(|| make_refusal(format!("{id} is not a value")))
    }

    /// The value of a constant or global, or of a local of the current function.
    pub(super) fn find_value(&self, id: Id) -> LlvmResult<LlvmValue> {
        self.values[id].ok_or_else(|| make_refusal(format!("{id} is not a value that was lifted")))
    }

    /// The constant of an id.
    pub(super) fn find_constant(&self, id: Id) -> LlvmResult<LlvmConst> {
        let value = self.find_value(id)?;
        value.as_const().ok_or_else(|| {
            make_refusal(format!(
                "{id} is not a constant that is known before specialisation"
            ))
        })
    }

    /// The number that an integer constant is.
    pub(super) fn read_constant_number(&self, id: Id) -> LlvmResult<u64> {
        let known = self.definitions.constant_value(self.source, id);
        known.ok_or_else(|| {
            make_refusal(format!(
                "{id} is not a number that is known before specialisation"
            ))
        })
    }

    /// The operands of a decoration of an id.
    pub(super) fn find_decoration(&self, id: Id, what: Decoration) -> Option<&'s [u32]> {
        self.decorations.get(self.source, id, what)
    }

    /// A constant of 32 bits.
    pub(super) fn make_i32(&mut self, value: u32) -> LlvmConst {
        let ir::LlvmModule { types, consts, .. } = &mut self.out;
        consts.make_int(types, LlvmType::I32, u64::from(value))
    }

    /// A unique name for a global: the requested one, or the requested one with a number.
    pub(super) fn global_name(&mut self, asked: &str) -> LlvmSymbol {
        make_unique_name(&mut self.out.strings, &mut self.used_names, asked)
    }

    /// Adds a global.
    pub(super) fn push_global(&mut self, data: GlobalData) -> (LlvmGlobal, LlvmValue) {
        let ty = data.ty;
        let global = LlvmGlobal::new(self.out.globals.len());
        self.out.globals.push(data);
        let address = self
            .out
            .consts
            .intern_constant(ty, ConstKind::Global(global));
        (global, LlvmValue::from_constant(address))
    }

    /// Adds a function without a body.
    pub(super) fn push_function(
        &mut self,
        name: LlvmSymbol,
        ty: LlvmType,
        convention: CallingConvention,
        linkage: Linkage,
    ) -> LlvmFunc {
        let func = LlvmFunc::new(self.out.functions.len());
        let params = self.out.types.function_signature(ty).map(|s| s.1.to_vec());
        let kind = GlobalKind::Function(func);
        let mut data = GlobalData::new(ty, LlvmType::PTR, 0, kind, SourceLocation::Unknown);
        data.name = name;
        data.linkage = linkage;
        let (global, _) = self.push_global(data);
        let mut function = LlvmFunction::new(global, ty, params.unwrap_or_default());
        function.convention = convention;
        self.out.functions.push(function);
        func
    }

    /// The address of a function.
    pub(super) fn function_address(&mut self, func: LlvmFunc) -> LlvmValue {
        let global = self.out.function(func).global;
        let ty = self.out.global(global).ty;
        LlvmValue::from_constant(
            self.out
                .consts
                .intern_constant(ty, ConstKind::Global(global)),
        )
    }
}

/// A name that is not in use: the requested one, or the requested one followed by a number.
pub(super) fn make_unique_name(
    strings: &mut ir::LlvmStrings,
    used_names: &mut FxHashMap<LlvmSymbol, u32>,
    asked: &str,
) -> LlvmSymbol {
    let wanted = strings.intern_text(asked);
    let Some(&count) = used_names.get(&wanted) else {
        used_names.insert(wanted, 0);
        return wanted;
    };
    let mut number = count;
    loop {
        number += 1;
        let other = strings.intern_text(&format!("{asked}.{number}"));
        if !used_names.contains_key(&other) {
            used_names.insert(wanted, number);
            used_names.insert(other, 0);
            return other;
        }
    }
}
