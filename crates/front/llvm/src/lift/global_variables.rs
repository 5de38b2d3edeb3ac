//! Lifting of module-scope variables.

use super::lifter::SpirvLifter;
use super::types::address_space;
use crate::ir::{
    AttrSet, ConstKind, GlobalData, GlobalKind, Linkage, LlvmAlign, LlvmGlobalVariable, LlvmValue,
};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::{BuiltIn, Decoration, LinkageType, StorageClass};
use spirula_spirv::grammar::{Op, literal_string};
use spirula_spirv::ir::InstRef;

impl SpirvLifter<'_> {
    /// Makes the counterpart of a variable.
    pub(super) fn define_variable(&mut self, inst: InstRef<'_>) -> LlvmResult<()> {
        let (Some(id), Some(pointer)) = (inst.result(), inst.result_type()) else {
            return Err(make_refusal("it is not a variable"));
        };
        let (class, pointee, initializer) = match inst.op() {
            Op::Variable => (
                inst.operand_word(0),
                self.find_pointee(pointer)?,
                inst.get_id(1),
            ),
            Op::UntypedVariableKHR => match inst.get_id(1) {
                Some(ty) => (inst.operand_word(0), ty, inst.get_id(2)),
                None => return Err(make_refusal("a variable of no type")),
            },
            _ => return Err(make_refusal("it has no counterpart in LLVM IR")),
        };
        let class = StorageClass(class);
        let Some(space) = address_space(class) else {
            return Err(make_refusal(format!(
                "there is no address space for {class}"
            )));
        };
        let mut data = GlobalData::new(
            self.find_type(pointee)?,
            self.find_type(pointer)?,
            space,
            GlobalKind::Variable(LlvmGlobalVariable {
                initializer: None,
                constant: class == StorageClass::UniformConstant
                    || self.find_decoration(id, Decoration::Constant).is_some(),
                externally_initialized: false,
                attributes: AttrSet::EMPTY,
            }),
            inst.place(),
        );
        if let Some(builtin) = self.find_decoration(id, Decoration::BuiltIn) {
            return self.lift_builtin_variable(id, BuiltIn(builtin[0]), data);
        }
        self.lift_linkage(id, class, initializer, &mut data)?;
        let align = self.find_decoration(id, Decoration::Alignment);
        if let Some(align) = align.and_then(|words| LlvmAlign::from_bytes(words[0].into())) {
            data.align = align;
        }
        if let Some(node) = self.decoration_node(id) {
            let kind = self.out.strings.intern_text("spirv.Decorations");
            data.metadata.push((kind, node));
        }
        let (_, value) = self.push_global(data);
        self.values.set(id, Some(value));
        Ok(())
    }

    /// A built-in variable, which is identified by its name. Several variables of one built-in
    /// become one.
    fn lift_builtin_variable(
        &mut self,
        id: Id,
        builtin: BuiltIn,
        data: GlobalData,
    ) -> LlvmResult<()> {
        let mut data = data;
        let name = self
            .out
            .strings
            .intern_text(&format!("__spirv_BuiltIn{builtin}"));
        let known = self.builtins.iter().find(|row| row.0 == name);
        let value = match known {
            Some(&(_, global)) if self.out.global(global).value_type == data.value_type => {
                let address = ConstKind::Global(global);
                LlvmValue::from_constant(self.out.consts.intern_constant(data.ty, address))
            }
            Some(_) => {
                return Err(make_refusal(format!(
                    "{builtin} is a variable with two types"
                )));
            }
            None => {
                self.used_names.insert(name, 0);
                data.name = name;
                let (global, value) = self.push_global(data);
                self.builtins.push((name, global));
                value
            }
        };
        self.values.set(id, Some(value));
        Ok(())
    }

    /// Name, linkage and initial contents.
    fn lift_linkage(
        &mut self,
        id: Id,
        class: StorageClass,
        initializer: Option<Id>,
        data: &mut GlobalData,
    ) -> LlvmResult<()> {
        let linkage = self.find_decoration(id, Decoration::LinkageAttributes);
        let linkage = linkage.map(|words| {
            let kind = LinkageType(words[words.len() - 1]);
            (literal_string(words).into_owned(), kind)
        });
        let given = self.names.get(self.source, id);
        data.linkage = match &linkage {
            Some((_, LinkageType::LinkOnceODR)) => Linkage::LinkOnceOdr,
            Some(_) => Linkage::External,
            None => Linkage::Internal,
        };
        let name = linkage.as_ref().map(|l| l.0.clone()).or(given);
        data.name = self.global_name(&name.unwrap_or_else(|| format!("variable.{}", id.word())));
        let resource = matches!(
            class,
            StorageClass::StorageBuffer | StorageClass::Uniform | StorageClass::PushConstant
        ) || self.is_shader && class == StorageClass::UniformConstant;
        if resource {
            data.linkage = Linkage::External;
        }
        let imported = resource || matches!(linkage, Some((_, LinkageType::Import)));
        let initial = match initializer {
            Some(initial) => Some(self.find_constant(initial)?),
            None if imported => None,
            // A variable without stated contents has none initially.
            None if class == StorageClass::Workgroup || linkage.is_none() => Some(
                self.out
                    .consts
                    .intern_constant(data.value_type, ConstKind::Undef),
            ),
            None => Some(self.out.consts.make_zero(&self.out.types, data.value_type)),
        };
        if let GlobalKind::Variable(variable) = &mut data.kind {
            variable.initializer = initial;
        }
        Ok(())
    }
}
