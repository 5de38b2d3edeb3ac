//! How a shader that was made of a kernel takes the kernel's arguments, as
//! `NonSemantic.ClspvReflection` has it written down.

use super::{Interface, Param, ParamKind};
use crate::Id;
use crate::analysis::Definitions;
use crate::grammar::Op;
use crate::grammar::clspv_reflection as reflection;
use crate::grammar::enumerants::StorageClass;
use crate::ir::{InstRef, Module, Section};

/// How a launch of a kernel becomes one of its shader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passing {
    /// How each argument is passed, in order.
    pub arguments: Vec<Passed>,
    /// `SpecId`s of the size of a workgroup.
    pub workgroup_size: Option<[u32; 3]>,
    /// `SpecId` of the number of dimensions.
    pub dimensions: Option<u32>,
    /// Byte of the push constants where three words with the global offset begin.
    pub global_offset: Option<u32>,
}

/// How an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// So many bytes at an offset of the push constants.
    Pushed {
        /// First byte.
        offset: u32,
        /// Bytes.
        size: u32,
    },
    /// The address of a buffer at an offset of the push constants.
    Address {
        /// First of eight bytes.
        offset: u32,
    },
    /// Workgroup memory of as many elements as a specialisation constant says.
    Workgroup {
        /// `SpecId`.
        spec_id: u32,
        /// Bytes of an element.
        element: u32,
    },
}

impl Passing {
    /// What a module says of an entry point's function, and the parameters that it thereby has.
    pub(super) fn of(
        module: &Module,
        definitions: &Definitions,
        interface: &Interface,
    ) -> Option<(Passing, Vec<Param>)> {
        let imports = module.section(Section::Imports);
        let set = imports
            .filter(|i| i.string(0).starts_with("NonSemantic.ClspvReflection."))
            .find_map(InstRef::result)?;
        let said = |s: Section| {
            let said = module.section(s).filter(|i| i.op() == Op::ExtInst);
            said.filter(move |i| i.id(0) == set)
        };
        let reader = Reader {
            module,
            definitions,
        };
        let mut passing = Passing::default();
        let mut params: Vec<(u32, Param)> = Vec::new();
        let mut kernel = None;
        for inst in said(Section::Globals).chain(said(Section::Trailer)) {
            let is_own = kernel.is_some() && inst.get_id(2) == kernel;
            match inst.word(1) {
                reflection::KERNEL if inst.get_id(2) == Some(interface.function) => {
                    kernel = inst.result();
                }
                reflection::SPEC_CONSTANT_WORKGROUP_SIZE => {
                    passing.workgroup_size = reader.three(inst, 2);
                }
                reflection::SPEC_CONSTANT_WORK_DIM => passing.dimensions = reader.number(inst, 2),
                reflection::PUSH_CONSTANT_GLOBAL_OFFSET => {
                    passing.global_offset = reader.number(inst, 2);
                }
                _ if is_own => {
                    if let Some((ordinal, passed, param)) = reader.argument(inst) {
                        passing.arguments.push(passed);
                        params.push((ordinal, param));
                    }
                }
                _ => {}
            }
        }
        kernel?;
        // Arguments come in order, each once.
        let is_whole = params.iter().zip(0..).all(|((n, _), at)| *n == at);
        is_whole.then(|| (passing, params.into_iter().map(|(_, p)| p).collect()))
    }
}

struct Reader<'a> {
    module: &'a Module,
    definitions: &'a Definitions,
}

impl Reader<'_> {
    fn number(&self, inst: InstRef<'_>, n: usize) -> Option<u32> {
        let value = self.definitions.constant(self.module, inst.get_id(n)?)?;
        u32::try_from(value).ok()
    }

    fn three(&self, inst: InstRef<'_>, n: usize) -> Option<[u32; 3]> {
        let at = |k| self.number(inst, n + k);
        Some([at(0)?, at(1)?, at(2)?])
    }

    /// The name in the `ArgumentInfo` that is the last operand.
    fn name(&self, info: Option<Id>) -> Option<String> {
        let info = self.definitions.get(self.module, info?)?;
        let text = self.definitions.get(self.module, info.get_id(2)?)?;
        Some(text.string(0)).filter(|t| text.op() == Op::String && !t.is_empty())
    }

    fn argument(&self, inst: InstRef<'_>) -> Option<(u32, Passed, Param)> {
        // Types are not written down.
        let ty = inst.result_type()?;
        let ordinal = self.number(inst, 3)?;
        let (a, b) = (self.number(inst, 4)?, self.number(inst, 5)?);
        let (passed, kind) = match inst.word(1) {
            reflection::ARGUMENT_POD_PUSH_CONSTANT => {
                let kind = ParamKind::Value {
                    ty,
                    size: b.into(),
                    align: 1,
                    by_pointer: false,
                };
                (Passed::Pushed { offset: a, size: b }, kind)
            }
            reflection::ARGUMENT_POINTER_PUSH_CONSTANT => {
                let class = StorageClass::CrossWorkgroup;
                let kind = ParamKind::Buffer { class, pointee: ty };
                (Passed::Address { offset: a }, kind)
            }
            reflection::ARGUMENT_WORKGROUP => {
                let passed = Passed::Workgroup {
                    spec_id: a,
                    element: b,
                };
                (passed, ParamKind::Workgroup { pointee: ty })
            }
            _ => return None,
        };
        let name = self.name(inst.get_id(6));
        Some((ordinal, passed, Param { name, kind }))
    }
}
