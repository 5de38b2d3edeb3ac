//! One kernel: parameters, blocks, phis.

use super::interface::ArgumentPassing;
use super::memory::ShaderMemoryLocation;
use super::table::ShaderLoweringRow;
use super::{ShaderKernelState, ShaderLowering};
use crate::classes::{PointerRegion, PointsToSetId};
use crate::facts::MemoryScalar;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::analysis::FlowGraph;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{
    Capability, ExecutionMode, FunctionControl, StorageClass,
};
use spirula_spirv::ir::{Block, InstRef};

impl ShaderLowering<'_> {
    /// Lowers a kernel of the plan.
    pub fn kernel(&mut self, number: usize) -> Result<(), SourceDiagnostic> {
        let kernel = &self.plan.kernels[number];
        let (func, arguments) = (kernel.func, kernel.arguments.clone());
        self.kernel = ShaderKernelState::new(kernel.is_exact);
        let cfg = FlowGraph::compute(self.facts.module, &self.facts.definitions, func)?;
        let void = self.b.void();
        let ty = self.b.function_type(void, &[]);
        let function = self.b.fresh_id();
        self.b
            .begin_function(function, void, FunctionControl::None, ty);
        for &at in cfg.reverse_postorder() {
            let old = self.facts.module.label(cfg.block(at));
            let new = self.b.fresh_id();
            self.kernel.labels.insert(old, new);
        }
        let entry = self.b.fresh_id();
        self.b.begin_block(entry);
        self.hidden()?;
        for argument in arguments {
            match argument.way {
                ArgumentPassing::Value { ty, at } => {
                    let value = self.pushed_value(ty, at)?;
                    self.values.set(argument.id, Some(value));
                }
                ArgumentPassing::Address { at } => {
                    let value = self.pushed(MemoryScalar::Int(64), at);
                    self.values.set(argument.id, Some(value));
                }
                ArgumentPassing::Copy { ty, at } => self.copied(argument.id, ty, at)?,
                // What uses them finds them by their parameter.
                ArgumentPassing::Workgroup { .. }
                | ArgumentPassing::Image(_)
                | ArgumentPassing::Sampler { .. } => {}
            }
        }
        self.initial(number)?;
        let first = self.facts.module.label(cfg.block(0));
        let first = self.kernel.labels[&first];
        self.effect(Op::Branch, &[first]);
        for &at in cfg.reverse_postorder() {
            self.block(cfg.block(at))?;
        }
        self.phis()?;
        self.b.end_function();
        self.forget();
        self.declare(number, function);
        self.float_modes(function);
        self.reflect(number, function)
    }

    /// Reads the addresses that are passed besides the arguments.
    fn hidden(&mut self) -> Result<(), SourceDiagnostic> {
        if let Some(at) = self.plan.program {
            let base = self.pushed(MemoryScalar::Int(64), at);
            for variable in self.classes.program() {
                let offset = self.program.offset(*variable);
                let offset = offset
                    .ok_or_else(|| self.facts.refuse(*variable, "a pointer to this variable"))?;
                let address = self.plus(64, base, offset as i64);
                self.values.set(*variable, Some(address));
            }
        }
        let printf = self.plan.printf;
        self.kernel.printf = printf.map(|at| self.pushed(MemoryScalar::Int(64), at));
        Ok(())
    }

    /// Forgets what belongs to the function that has ended.
    fn forget(&mut self) {
        let classes = self.classes;
        self.arrays.retain(|(class, region), _| {
            *region == PointerRegion::Shared || classes.memory(*class).is_constant()
        });
    }

    /// Copies an argument that the kernel takes by pointer into its object, element by element.
    fn copied(&mut self, param: Id, ty: Id, at: u32) -> Result<(), SourceDiagnostic> {
        let place = self.beginning(param)?;
        let element = self.classes.memory(place.class).element();
        let size = self.facts.layouts.get(ty).size as u32;
        for offset in (0..size).step_by(element.size() as usize) {
            let value = self.pushed(element, at + offset);
            self.store_scalars(place.after(offset.into()), element, 1, value)?;
        }
        Ok(())
    }

    /// Where an object begins.
    fn beginning(&mut self, object: Id) -> Result<ShaderMemoryLocation, SourceDiagnostic> {
        Ok(ShaderMemoryLocation {
            class: self.class(object)?,
            pointer: self.value(object)?,
            region: None,
            offset: 0,
            align: 8,
            is_volatile: false,
        })
    }

    /// Writes the initial values of variables that are not constants.
    fn initial(&mut self, number: usize) -> Result<(), SourceDiagnostic> {
        let func = self.plan.kernels[number].func;
        let module = self.facts.module;
        let function = module
            .function(func)
            .blocks
            .iter()
            .flat_map(|b| module.body(*b));
        let own = function.filter(|i| i.op() == Op::Variable);
        let mut variables: Vec<InstRef<'_>> = own.collect();
        // Constants whose pointers meet others are copied into the memory that all are in.
        let mut classes: Vec<PointsToSetId> = variables
            .iter()
            .filter_map(|v| self.classes.of(v.result()?))
            .collect();
        classes.sort_unstable();
        let globals = module.section(spirula_spirv::ir::ModuleSection::Globals);
        let shared = globals.filter(|i| {
            let class = i.result().and_then(|id| self.classes.of(id));
            i.op() == Op::Variable
                && StorageClass(i.word(0)) != StorageClass::Workgroup
                && class.is_some_and(|c| classes.binary_search(&c).is_ok())
        });
        variables.extend(shared.collect::<Vec<_>>());
        for variable in variables {
            let (Some(id), Some(initializer)) = (variable.result(), variable.get_id(1)) else {
                continue;
            };
            let place = self.beginning(id)?;
            let element = self.classes.memory(place.class).element();
            let values = self.initial_elements(id, initializer, element)?;
            for (n, value) in values.into_iter().enumerate() {
                let place = place.after(n as u64 * u64::from(element.size()));
                self.store_scalars(place, element, 1, value)?;
            }
        }
        Ok(())
    }

    fn block(&mut self, block: Block) -> Result<(), SourceDiagnostic> {
        let module = self.facts.module;
        let old = module.label(block);
        let label = self.kernel.labels[&old];
        self.b.begin_block(label);
        self.kernel.open = label;
        for inst in module.body(block) {
            if inst.op().is_terminator() {
                self.kernel.exits.insert(old, self.kernel.open);
            }
            self.inst(inst)?;
        }
        Ok(())
    }

    fn inst(&mut self, inst: InstRef<'_>) -> Result<(), SourceDiagnostic> {
        let row = super::table::row(inst.op());
        let refusal = || crate::facts::refuse(inst, &inst.op().to_string());
        if self.facts.has_brains {
            self.check_brains(inst)?;
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

    /// Gives phis their operands, now that every block has its values.
    fn phis(&mut self) -> Result<(), SourceDiagnostic> {
        for (new, old) in std::mem::take(&mut self.kernel.phis) {
            let old = self.facts.module.inst(old);
            let pairs: Vec<Id> = old.ids(0).collect();
            let class = old.result().filter(|id| self.facts.is_pointer(*id));
            let class = class.and_then(|id| self.classes.of(id));
            let mut words = Vec::new();
            for pair in pairs.chunks_exact(2) {
                // Blocks that cannot be reached have no label.
                let Some(from) = self.kernel.exits.get(&pair[1]).copied() else {
                    continue;
                };
                let value = match class {
                    Some(class) => self.pointer(pair[0], class)?,
                    None => self.value(pair[0])?,
                };
                words.extend([value.word(), from.word()]);
            }
            self.b.set_phi(new, &words);
        }
        Ok(())
    }

    /// Asks for signed zeros, infinities and NaNs as IEEE 754 has them, which drivers may otherwise
    /// take for impossible.
    fn float_modes(&mut self, function: Id) {
        for width in [16, 32, 64] {
            if self.kernel.floats & width != 0 {
                self.b.capability(Capability::SignedZeroInfNanPreserve);
                let mode = ExecutionMode::SignedZeroInfNanPreserve;
                self.b.execution_mode(function, mode, &[width]);
            }
        }
    }
}
