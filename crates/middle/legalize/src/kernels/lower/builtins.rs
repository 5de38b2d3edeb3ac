//! Built-in variables: ids and sizes of the launch.

use super::ShaderLowering;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{BuiltIn, Decoration, StorageClass};
use spirula_spirv::ir::InstRef;

impl ShaderLowering<'_> {
    /// A load of a built-in variable, or of one of its components.
    pub fn load_builtin(&mut self, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
        let (variable, index) = self.find_builtin_component(inst.id_operand(0))?;
        let info = self.info;
        let decoration = info
            .decorations
            .get(info.module, variable, Decoration::BuiltIn);
        let number = decoration.and_then(|d| d.first());
        let builtin = number.map(|n| BuiltIn(*n));
        let builtin =
            builtin.ok_or_else(|| info.diagnose_id(variable, "an input that is not built in"))?;
        let value = self.lower_builtin(variable, builtin)?;
        let pointee = info.find_pointee(variable)?;
        let (part, count) = info.split_vector_type(pointee);
        let (from, to) = (self.make_int_type(32), self.lower_type(part)?);
        let lanes = self.split_components(from, value, count);
        let width = info.classify_scalar(part).map_or(32, |s| s.size() * 8);
        let wide: Vec<Id> = lanes
            .iter()
            .map(|v| self.resize_int(*v, 32, width))
            .collect();
        match index {
            None => {
                let ty = self.make_vector_type(to, count);
                Ok(self.construct_composite(ty, wide))
            }
            Some(index) => match info.read_constant(index) {
                Some(n) if (n as usize) < wide.len() => Ok(wide[n as usize]),
                _ => self.select_by_index(to, index, &wide),
            },
        }
    }

    /// The input variable of a pointer, and the component that it points to.
    fn find_builtin_component(&self, pointer: Id) -> Result<(Id, Option<Id>), SourceDiagnostic> {
        let (mut at, mut index) = (pointer, None);
        for _ in 0..8 {
            let def = self.info.find_definition(at)?;
            match def.op() {
                Op::Variable => return Ok((at, index)),
                op if op.is_plain_access_chain() => index = def.get_id(1),
                _ => break,
            }
            at = def.id_operand(0);
        }
        Err(self
            .info
            .diagnose_id(pointer, "this pointer to a built-in value"))
    }

    /// A built-in value with components of 32 bits.
    fn lower_builtin(&mut self, variable: Id, builtin: BuiltIn) -> Result<Id, SourceDiagnostic> {
        Ok(match builtin {
            BuiltIn::LocalInvocationId | BuiltIn::WorkgroupId | BuiltIn::NumWorkgroups => {
                self.load_input(builtin, 3)
            }
            BuiltIn::GlobalInvocationId => {
                let id = self.load_input(builtin, 3);
                let offset = self.global_offset();
                self.emit_per_dimension(Op::IAdd, id, offset)
            }
            BuiltIn::GlobalOffset => self.global_offset(),
            BuiltIn::WorkgroupSize | BuiltIn::EnqueuedWorkgroupSize => self.workgroup_size(),
            BuiltIn::GlobalSize => self.global_size(),
            BuiltIn::LocalInvocationIndex => self.load_input(builtin, 1),
            BuiltIn::GlobalLinearId => {
                let id = self.load_input(BuiltIn::GlobalInvocationId, 3);
                let size = self.global_size();
                let word = self.make_int_type(32);
                let (id, size) = (
                    self.split_components(word, id, 3),
                    self.split_components(word, size, 3),
                );
                let plane = self.emit_value(Op::IMul, word, &[id[2], size[1]]);
                let row = self.emit_value(Op::IAdd, word, &[plane, id[1]]);
                let row = self.emit_value(Op::IMul, word, &[row, size[0]]);
                self.emit_value(Op::IAdd, word, &[row, id[0]])
            }
            BuiltIn::WorkDim => self.make_dimension_count(),
            BuiltIn::SubgroupSize => self.count_subgroup_invocations(),
            BuiltIn::SubgroupLocalInvocationId | BuiltIn::SubgroupId | BuiltIn::NumSubgroups => {
                self.load_input(builtin, 1)
            }
            BuiltIn::SubgroupEqMask
            | BuiltIn::SubgroupGeMask
            | BuiltIn::SubgroupGtMask
            | BuiltIn::SubgroupLeMask
            | BuiltIn::SubgroupLtMask => self.load_input(builtin, 4),
            BuiltIn::SubgroupMaxSize => self.load_input(BuiltIn::SubgroupSize, 1),
            BuiltIn::NumEnqueuedSubgroups => self.load_input(BuiltIn::NumSubgroups, 1),
            other => {
                let text = format!("the built-in value {other}");
                return Err(self.info.diagnose_id(variable, &text));
            }
        })
    }

    /// An input of 32-bit numbers.
    pub fn load_input(&mut self, builtin: BuiltIn, count: u32) -> Id {
        let word = self.make_int_type(32);
        let ty = self.make_vector_type(word, count);
        let variable = match self.inputs.get(&builtin.0) {
            Some(known) => *known,
            None => {
                let pointer = self.b.pointer_type(StorageClass::Input, ty);
                let variable = self.b.builtin_variable(pointer, builtin);
                self.inputs.insert(builtin.0, variable);
                variable
            }
        };
        self.note_interface_use(variable);
        self.emit_value(Op::Load, ty, &[variable])
    }

    fn emit_per_dimension(&mut self, op: Op, a: Id, b: Id) -> Id {
        let word = self.make_int_type(32);
        let ty = self.make_vector_type(word, 3);
        self.emit_value(op, ty, &[a, b])
    }

    /// The size of a workgroup: specialisation constants, unless every kernel demands a size.
    pub fn workgroup_size(&mut self) -> Id {
        if let Some(known) = self.shared.workgroup_size {
            return known;
        }
        let word = self.make_int_type(32);
        let ty = self.make_vector_type(word, 3);
        let id = match self.plan.fixed_size {
            Some(size) => {
                let parts = size.map(|n| self.b.constant_u32(n));
                self.b.constant_composite(ty, &parts)
            }
            None => {
                let first = self.plan.first_spec;
                let parts = [0, 1, 2].map(|n| self.spec_number(first + n, 1));
                let words: Vec<u32> = parts.iter().map(|p| p.word()).collect();
                let id = self
                    .b
                    .declare_constant(Op::SpecConstantComposite, ty, &words);
                let builtin = BuiltIn::WorkgroupSize.0;
                self.b.decorate_id(id, Decoration::BuiltIn, &[builtin]);
                id
            }
        };
        self.shared.workgroup_size = Some(id);
        id
    }

    /// A specialisation constant of 32 bits.
    pub fn spec_number(&mut self, spec_id: u32, default: u32) -> Id {
        if let Some(known) = self.shared.specialised.get(&spec_id) {
            return *known;
        }
        let id = self.b.fresh_id();
        let word = self.make_int_type(32);
        let words = [word.word(), id.word(), default];
        self.b.push_inst(
            spirula_spirv::ir::ModuleSection::Globals,
            Op::SpecConstant,
            &words,
        );
        self.b.set_type_of(id, word);
        self.b.decorate_id(id, Decoration::SpecId, &[spec_id]);
        self.shared.specialised.insert(spec_id, id);
        id
    }

    fn global_size(&mut self) -> Id {
        let groups = self.load_input(BuiltIn::NumWorkgroups, 3);
        let size = self.workgroup_size();
        self.emit_per_dimension(Op::IMul, groups, size)
    }

    fn global_offset(&mut self) -> Id {
        let parts = [0, 1, 2].map(|n| self.pushed_word(n));
        let word = self.make_int_type(32);
        let ty = self.make_vector_type(word, 3);
        self.construct_composite(ty, parts.to_vec())
    }

    fn make_dimension_count(&mut self) -> Id {
        self.shared.has_dimensions = true;
        let spec_id = self.plan.first_spec + 3;
        self.spec_number(spec_id, 3)
    }
}
