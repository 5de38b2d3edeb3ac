//! What kernels take and how it is passed, written down as `NonSemantic.ClspvReflection`.
//!
//! Push constants begin with the global offset, three words and one that is not used; behind them are
//! the arguments in order, each at its alignment: values, and addresses of buffers. Workgroup memory is
//! sized by specialisation constants, as is the workgroup where a kernel does not demand a size.

use super::Lower;
use crate::classes::is_by_value;
use crate::facts::Facts;
use spirula_source::Diagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::Version;
use spirula_spirv::grammar::clspv_reflection as reflection;
use spirula_spirv::grammar::enumerants::{Decoration, ExecutionMode, ExecutionModel, StorageClass};
use spirula_spirv::ir::{Func, Section};

/// Bytes of push constants before the arguments.
pub const HEADER: u32 = 16;

/// Most bytes of arguments of all kernels. What a device does not have of push constants, mostly 256
/// bytes, the runtime passes in a buffer.
const MOST_PUSHED: u32 = 4096;

/// A kernel of the source.
pub struct Kernel {
    /// Name of the entry point.
    pub name: String,
    /// Its function.
    pub func: Func,
    /// Size of a workgroup that it demands.
    pub size: Option<[u32; 3]>,
    /// Whether floating-point contraction is off.
    pub is_exact: bool,
    /// Its arguments in order.
    pub arguments: Vec<Argument>,
}

/// An argument and how it is passed.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// The parameter.
    pub id: Id,
    /// How.
    pub way: Passed,
}

/// How an argument is passed.
#[derive(Clone, Copy, Debug)]
pub enum Passed {
    /// A value of a type at an offset of the push constants.
    Value { ty: Id, at: u32 },
    /// A copy of a value of a type, which the kernel takes by pointer.
    Copy { ty: Id, at: u32 },
    /// An address at an offset of the push constants.
    Address { at: u32 },
    /// Workgroup memory of as many elements as a specialisation constant says.
    Workgroup { spec_id: u32 },
}

/// How everything is passed.
pub struct Plan {
    /// The kernels in order.
    pub kernels: Vec<Kernel>,
    /// Words of push constants.
    pub push_words: u32,
    /// Size of a workgroup where all kernels demand the same.
    pub fixed_size: Option<[u32; 3]>,
    /// The first `SpecId` that the source does not have: of the size of a workgroup, behind it of
    /// the number of dimensions.
    pub first_spec: u32,
    /// The first that is still free.
    next_spec: u32,
}

impl Plan {
    /// Reads the entry points of a module.
    ///
    /// # Errors
    /// When one is no kernel, or takes what cannot be passed.
    pub fn new(facts: &Facts<'_>) -> Result<Plan, Diagnostic> {
        let mut plan = Plan {
            kernels: Vec::new(),
            push_words: HEADER / 4,
            fixed_size: None,
            first_spec: 0,
            next_spec: 0,
        };
        let annotations = facts.module.section(Section::Annotations);
        for inst in annotations.filter(|i| i.op() == Op::Decorate) {
            if let [_, decoration, number] = *inst.operands()
                && decoration == Decoration::SpecId.0
            {
                plan.first_spec = plan.first_spec.max(number.saturating_add(1));
            }
        }
        plan.next_spec = plan.first_spec + 4;
        for point in facts.module.section(Section::EntryPoints) {
            let name = point.string(2);
            if ExecutionModel(point.word(0)) != ExecutionModel::Kernel {
                let text = format!("the entry point {name}, which is no kernel,");
                return Err(crate::facts::refuse(point, &text));
            }
            plan.kernel(facts, name, point.id(1))?;
        }
        let mut sizes = plan.kernels.iter().map(|k| k.size);
        let first = sizes.next().flatten();
        plan.fixed_size = first.filter(|_| sizes.all(|s| s == first));
        Ok(plan)
    }

    fn kernel(&mut self, facts: &Facts<'_>, name: String, id: Id) -> Result<(), Diagnostic> {
        let module = facts.module;
        let mut functions = module.functions().iter().copied();
        let func = functions.find(|f| module.function_id(*f) == id);
        let func = func.ok_or_else(|| facts.refuse(id, "an entry point without a function"))?;
        let mut arguments = Vec::new();
        let mut at = HEADER;
        let params = module.insts(module.function(func).params);
        for param in params.filter(|p| p.op() == Op::FunctionParameter) {
            let (Some(id), Some(ty)) = (param.result(), param.result_type()) else {
                continue;
            };
            let way = self.argument(facts, id, ty, &mut at)?;
            arguments.push(Argument { id, way });
        }
        if at > MOST_PUSHED {
            let text = format!("a kernel with {} bytes of arguments", at - HEADER);
            return Err(facts.refuse(id, &text));
        }
        self.push_words = self.push_words.max(at.div_ceil(4));
        let modes = module.section(Section::ExecutionModes);
        let mut modes = modes.filter(|m| m.id(0) == id);
        let is = |wanted: ExecutionMode| modes.clone().any(|m| ExecutionMode(m.word(1)) == wanted);
        let is_exact = is(ExecutionMode::ContractionOff);
        let size = modes.find_map(|m| match *m.operands() {
            [_, mode, x, y, z] if mode == ExecutionMode::LocalSize.0 => Some([x, y, z]),
            _ => None,
        });
        self.kernels.push(Kernel {
            name,
            func,
            size,
            is_exact,
            arguments,
        });
        Ok(())
    }

    fn argument(
        &mut self,
        facts: &Facts<'_>,
        id: Id,
        ty: Id,
        at: &mut u32,
    ) -> Result<Passed, Diagnostic> {
        let mut room = |size: u64, align: u32| {
            let begin = at.next_multiple_of(align.clamp(4, 16));
            *at = begin.saturating_add(u32::try_from(size).unwrap_or(u32::MAX));
            begin
        };
        let Some((class, pointee)) = facts.pointer(ty) else {
            let layout = facts.layouts.get(ty);
            let at = room(layout.size, layout.align);
            return Ok(Passed::Value { ty, at });
        };
        match class {
            StorageClass::Workgroup => {
                let spec_id = self.next_spec;
                self.next_spec += 1;
                Ok(Passed::Workgroup { spec_id })
            }
            _ if class == StorageClass::Function || is_by_value(facts, id) => {
                let ty = pointee.ok_or_else(|| facts.refuse(id, "an untyped copy"))?;
                let layout = facts.layouts.get(ty);
                let at = room(layout.size, layout.align);
                Ok(Passed::Copy { ty, at })
            }
            _ => Ok(Passed::Address { at: room(8, 8) }),
        }
    }

    /// The `SpecId` of the size of a parameter's workgroup memory.
    pub fn spec_id(&self, param: Id) -> Option<u32> {
        let mut all = self.kernels.iter().flat_map(|k| &k.arguments);
        let way = all.find(|a| a.id == param)?.way;
        match way {
            Passed::Workgroup { spec_id } => Some(spec_id),
            _ => None,
        }
    }
}

impl Lower<'_> {
    /// Writes the reflection of a kernel whose function is made.
    pub fn reflect(&mut self, number: usize, function: Id) -> Result<(), Diagnostic> {
        if self.b.module().version < Version::new(1, 6) {
            self.b.extension("SPV_KHR_non_semantic_info");
        }
        let set = self.b.import("NonSemantic.ClspvReflection.5");
        let kernel = &self.plan.kernels[number];
        let (name, size) = (kernel.name.clone(), kernel.size);
        let arguments = kernel.arguments.clone();
        let name = self.string(&name);
        let count = self.b.constant_u32(arguments.len() as u32);
        let kernel = self.say(set, reflection::KERNEL, &[function, name, count]);
        for (ordinal, argument) in arguments.iter().enumerate() {
            let named = self.facts.names.get(self.facts.module, argument.id);
            let named = named.unwrap_or_default();
            let text = self.string(&named);
            let info = self.say(set, reflection::ARGUMENT_INFO, &[text]);
            let ordinal = ordinal as u32;
            match argument.way {
                Passed::Value { ty, at } | Passed::Copy { ty, at } => {
                    let size = self.facts.layouts.get(ty).size as u32;
                    let numbers = [ordinal, at, size].map(|n| self.b.constant_u32(n));
                    let what = reflection::ARGUMENT_POD_PUSH_CONSTANT;
                    self.say(
                        set,
                        what,
                        &[kernel, numbers[0], numbers[1], numbers[2], info],
                    );
                }
                Passed::Address { at } => {
                    let numbers = [ordinal, at, 8].map(|n| self.b.constant_u32(n));
                    let what = reflection::ARGUMENT_POINTER_PUSH_CONSTANT;
                    self.say(
                        set,
                        what,
                        &[kernel, numbers[0], numbers[1], numbers[2], info],
                    );
                }
                Passed::Workgroup { spec_id } => {
                    let class = self.classes.of(argument.id);
                    let element = class.map_or(1, |c| self.classes.memory(c).element().size());
                    let numbers = [ordinal, spec_id, element].map(|n| self.b.constant_u32(n));
                    let what = reflection::ARGUMENT_WORKGROUP;
                    self.say(
                        set,
                        what,
                        &[kernel, numbers[0], numbers[1], numbers[2], info],
                    );
                }
            }
        }
        if let Some(size) = size {
            let size = size.map(|n| self.b.constant_u32(n));
            let what = reflection::PROPERTY_REQUIRED_WORKGROUP_SIZE;
            self.say(set, what, &[kernel, size[0], size[1], size[2]]);
        }
        Ok(())
    }

    /// Writes the reflection of what all kernels share.
    pub fn reflect_shared(&mut self) {
        let set = self.b.import("NonSemantic.ClspvReflection.5");
        if self.plan.fixed_size.is_none() {
            let first = self.plan.first_spec;
            let ids = [0, 1, 2].map(|n| self.b.constant_u32(first + n));
            self.say(set, reflection::SPEC_CONSTANT_WORKGROUP_SIZE, &ids);
        }
        if self.shared.has_dimensions {
            let id = self.b.constant_u32(self.plan.first_spec + 3);
            self.say(set, reflection::SPEC_CONSTANT_WORK_DIM, &[id]);
        }
        if self.shared.push.is_some() {
            let numbers = [0, 12].map(|n| self.b.constant_u32(n));
            self.say(set, reflection::PUSH_CONSTANT_GLOBAL_OFFSET, &numbers);
        }
    }

    fn string(&mut self, text: &str) -> Id {
        let bytes = text.as_bytes().split(|b| *b == 0).next().unwrap_or(&[]);
        let mut words = Vec::new();
        for chunk in bytes
            .chunks(4)
            .chain((bytes.len() % 4 == 0).then_some(&[][..]))
        {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            words.push(u32::from_le_bytes(word));
        }
        let id = self.b.fresh_id();
        words.insert(0, id.word());
        self.b.push(Section::Sources, Op::String, &words);
        id
    }

    fn say(&mut self, set: Id, what: u32, operands: &[Id]) -> Id {
        let (ty, id) = (self.b.void(), self.b.fresh_id());
        let mut words = vec![ty.word(), id.word(), set.word(), what];
        words.extend(operands.iter().map(|o| o.word()));
        self.b.push(Section::Trailer, Op::ExtInst, &words);
        id
    }

    /// Declares the entry point of a kernel whose function is made.
    pub fn declare(&mut self, number: usize, function: Id) {
        let name = self.plan.kernels[number].name.clone();
        let size = self.plan.kernels[number].size;
        let mut interface = std::mem::take(&mut self.kernel.interface);
        interface.sort_unstable();
        let model = ExecutionModel::GLCompute;
        self.b.entry_point(model, function, &name, &interface);
        let size = self.plan.fixed_size.or(size).unwrap_or([1; 3]);
        self.b
            .execution_mode(function, ExecutionMode::LocalSize, &size);
        if self.plan.fixed_size.is_none() {
            self.workgroup_size();
        }
        self.b.name(function, &name);
    }
}
