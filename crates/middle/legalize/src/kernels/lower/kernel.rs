//! Kernels: parameters, blocks and phis of one function.

use super::interface::ArgumentPassing;
use super::memory::ShaderMemoryLocation;
use super::table::ShaderLoweringRow;
use super::{ShaderKernelState, ShaderLowering};
use crate::kernels::module_info::MemoryScalar;
use crate::kernels::points_to::{PointerRegion, PointsToSetId};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::analysis::FlowGraph;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{ExecutionMode, FunctionControl, StorageClass};
use spirula_spirv::ir::{Block, InstRef};

impl ShaderLowering<'_> {
    /// Lowers a kernel of the plan.
    pub fn lower_kernel(&mut self, number: usize) -> Result<(), SourceDiagnostic> {
        let kernel = &self.plan.kernels[number];
        let (func, arguments) = (kernel.func, kernel.arguments.clone());
        self.kernel = ShaderKernelState::new(kernel.is_exact);
        let cfg = FlowGraph::from_function(self.info.module, &self.info.definitions, func)?;
        let void = self.b.void_type();
        let ty = self.b.function_type(void, &[]);
        let function = self.b.fresh_id();
        self.b
            .begin_function(function, void, FunctionControl::None, ty);
        for &at in cfg.reverse_postorder() {
            let old = self.info.module.label(cfg.block(at));
            let new = self.b.fresh_id();
            self.kernel.labels.insert(old, new);
        }
        let entry = self.b.fresh_id();
        self.b.begin_block(entry);
        self.load_implicit_addresses()?;
        for argument in arguments {
            match argument.way {
                ArgumentPassing::Value { ty, at } => {
                    let value = self.pushed_value(ty, at)?;
                    self.values.set(argument.id, Some(value));
                }
                ArgumentPassing::Address { at } => {
                    let value = self.load_push_scalar(MemoryScalar::Int(64), at);
                    self.values.set(argument.id, Some(value));
                }
                ArgumentPassing::Copy { ty, at } => self.copy_argument(argument.id, ty, at)?,
                // Their uses find them by the parameter.
                ArgumentPassing::Workgroup { .. }
                | ArgumentPassing::Image(_)
                | ArgumentPassing::Sampler { .. } => {}
            }
        }
        self.write_initial_values(number)?;
        let first = self.info.module.label(cfg.block(0));
        let first = self.kernel.labels[&first];
        self.emit_effect(Op::Branch, &[first]);
        for &at in cfg.reverse_postorder() {
            self.lower_block(cfg.block(at))?;
        }
        self.complete_phis()?;
        self.b.end_function();
        self.clear_kernel_state();
        self.declare_entry_point(number, function);
        self.float_modes(function);
        self.reflect_kernel(number, function)
    }

    /// Loads the addresses that are passed besides the arguments.
    fn load_implicit_addresses(&mut self) -> Result<(), SourceDiagnostic> {
        if let Some(at) = self.plan.program {
            let base = self.load_push_scalar(MemoryScalar::Int(64), at);
            for variable in self.points_to.program_variables() {
                let offset = self.program.find_variable_offset(*variable);
                let offset = offset.ok_or_else(|| {
                    self.info
                        .diagnose_id(*variable, "a pointer to this variable")
                })?;
                let address = self.add_byte_offset(64, base, offset as i64);
                self.values.set(*variable, Some(address));
            }
        }
        let printf = self.plan.printf;
        self.kernel.printf = printf.map(|at| self.load_push_scalar(MemoryScalar::Int(64), at));
        Ok(())
    }

    /// Drops the state of the finished function.
    fn clear_kernel_state(&mut self) {
        let points_to = self.points_to;
        self.arrays.retain(|(set, region), _| {
            *region == PointerRegion::Shared || points_to.memory(*set).is_constant()
        });
    }

    /// Copies an argument that the kernel takes by pointer into its object, element by element.
    fn copy_argument(&mut self, param: Id, ty: Id, at: u32) -> Result<(), SourceDiagnostic> {
        let place = self.locate_object(param)?;
        let element = self.points_to.memory(place.set).element_scalar();
        let size = self.info.layouts.get(ty).size as u32;
        for offset in (0..size).step_by(element.size() as usize) {
            let value = self.load_push_scalar(element, at + offset);
            self.store_scalars(place.advance_by(offset.into()), element, 1, value)?;
        }
        Ok(())
    }

    /// The location of an object.
    fn locate_object(&mut self, object: Id) -> Result<ShaderMemoryLocation, SourceDiagnostic> {
        Ok(ShaderMemoryLocation {
            set: self.find_points_to_set(object)?,
            pointer: self.lower_operand(object)?,
            region: None,
            offset: 0,
            align: 8,
            is_volatile: false,
        })
    }

    /// Writes the initial values of variables that are not constants.
    fn write_initial_values(&mut self, number: usize) -> Result<(), SourceDiagnostic> {
        let func = self.plan.kernels[number].func;
        let module = self.info.module;
        let function = module
            .function(func)
            .blocks
            .iter()
            .flat_map(|b| module.body(*b));
        let own = function.filter(|i| i.op() == Op::Variable);
        let mut variables: Vec<InstRef<'_>> = own.collect();
        // Constants whose pointers meet others are copied into the memory of their set.
        let mut own_sets: Vec<PointsToSetId> = variables
            .iter()
            .filter_map(|v| self.points_to.find_set(v.result()?))
            .collect();
        own_sets.sort_unstable();
        let globals = module.section_insts(spirula_spirv::ir::ModuleSection::Globals);
        let shared = globals.filter(|i| {
            let set = i.result().and_then(|id| self.points_to.find_set(id));
            i.op() == Op::Variable
                && StorageClass(i.operand_word(0)) != StorageClass::Workgroup
                && set.is_some_and(|c| own_sets.binary_search(&c).is_ok())
        });
        variables.extend(shared.collect::<Vec<_>>());
        for variable in variables {
            let (Some(id), Some(initializer)) = (variable.result(), variable.get_id(1)) else {
                continue;
            };
            let place = self.locate_object(id)?;
            let element = self.points_to.memory(place.set).element_scalar();
            let values = self.initial_elements(id, initializer, element)?;
            for (n, value) in values.into_iter().enumerate() {
                let place = place.advance_by(n as u64 * u64::from(element.size()));
                self.store_scalars(place, element, 1, value)?;
            }
        }
        Ok(())
    }

    fn lower_block(&mut self, block: Block) -> Result<(), SourceDiagnostic> {
        let module = self.info.module;
        let old = module.label(block);
        let label = self.kernel.labels[&old];
        self.b.begin_block(label);
        self.kernel.open = label;
        for inst in module.body(block) {
            if inst.op().is_terminator() {
                self.kernel.exits.insert(old, self.kernel.open);
            }
            self.lower_instruction(inst)?;
        }
        Ok(())
    }

    fn lower_instruction(&mut self, inst: InstRef<'_>) -> Result<(), SourceDiagnostic> {
        let row = super::table::find_row(inst.op());
        let refusal = || crate::error::diagnose_instruction(inst, &inst.op().to_string());
        if self.info.has_bfloat16 {
            self.check_bfloat16(inst)?;
        }
        let lowered = match row.ok_or_else(refusal)? {
            ShaderLoweringRow::Nothing => return Ok(()),
            ShaderLoweringRow::Effect(make) => make(self, inst),
            ShaderLoweringRow::Value(make) => make(self, inst).map(|value| {
                if let Some(id) = inst.result() {
                    self.values.set(id, Some(value));
                }
            }),
        };
        lowered.map_err(|fault| match fault.place {
            spirula_diagnostics::SourceLocation::Unknown => SourceDiagnostic {
                place: inst.place(),
                ..fault
            },
            _ => fault,
        })
    }

    /// Adds the operands of phis, now that every block has its values.
    fn complete_phis(&mut self) -> Result<(), SourceDiagnostic> {
        for (new, old) in std::mem::take(&mut self.kernel.phis) {
            let old = self.info.module.inst(old);
            let pairs: Vec<Id> = old.id_operands(0).collect();
            let set = old.result().filter(|id| self.info.is_pointer(*id));
            let set = set.and_then(|id| self.points_to.find_set(id));
            let mut words = Vec::new();
            for pair in pairs.chunks_exact(2) {
                // Unreachable blocks have no label.
                let Some(from) = self.kernel.exits.get(&pair[1]).copied() else {
                    continue;
                };
                let value = match set {
                    Some(set) => self.lower_pointer(pair[0], set)?,
                    None => self.lower_operand(pair[0])?,
                };
                words.extend([value.word(), from.word()]);
            }
            self.b.set_phi(new, &words);
        }
        Ok(())
    }

    /// Requests signed zeros, infinities and NaNs as in IEEE 754; drivers may otherwise assume that there are none.
    fn float_modes(&mut self, function: Id) {
        for width in [16, 32, 64] {
            if self.kernel.floats & width != 0 {
                let mode = ExecutionMode::SignedZeroInfNanPreserve;
                self.b.execution_mode(function, mode, &[width]);
            }
        }
    }
}
