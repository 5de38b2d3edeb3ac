//! Global variables, and the variables that a function refers to.

use super::instructions::WORD;
use super::translated_entities::GlobalState;
use super::translator::LlvmTranslator;
use crate::ir::{ConstKind, GlobalKind, Linkage, LlvmConst, LlvmGlobal, LlvmGlobalVariable};
use crate::{LlvmError, LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::{BuiltIn, Decoration, LinkageType, StorageClass};

impl LlvmTranslator<'_> {
    /// Translates all global variables, so that unused ones are exported too.
    pub(super) fn translate_global_variables(&mut self) {
        for global in self.module.global_ids() {
            let data = self.module.global(global);
            let name = self.module.symbol_text(data.name);
            let variable = matches!(data.kind, GlobalKind::Variable(_));
            // Strings of annotations are read where they are used.
            let about = self.module.symbol_text(data.section) == "llvm.metadata";
            if !variable || about || name.starts_with("llvm.") {
                continue;
            }
            if let Err(refusal) = self.translate_global_variable(global)
                && !matches!(*refusal, LlvmError::Reported)
            {
                self.globals[global.index()] = GlobalState::Refused;
                let message = format!("{refusal}, in the global {name}");
                self.refusals.push_error(data.place, message);
            }
        }
    }

    /// The variable of a global.
    pub(super) fn translate_global_variable(&mut self, global: LlvmGlobal) -> LlvmResult<Id> {
        match self.globals[global.index()] {
            GlobalState::Done(id) => return Ok(id),
            GlobalState::Open => return Err(make_refusal("a global contains its own address")),
            GlobalState::Refused => return Err(Box::new(LlvmError::Reported)),
            GlobalState::Unseen => {}
        }
        let GlobalKind::Variable(variable) = self.module.global(global).kind else {
            return Err(make_refusal(
                "a global that is not a variable is used as one",
            ));
        };
        self.globals[global.index()] = GlobalState::Open;
        let made = self.make_variable(global, variable);
        self.globals[global.index()] = match &made {
            Ok(id) => GlobalState::Done(*id),
            Err(_) => GlobalState::Unseen,
        };
        made
    }

    fn make_variable(
        &mut self,
        global: LlvmGlobal,
        variable: LlvmGlobalVariable,
    ) -> LlvmResult<Id> {
        let module = self.module;
        let data = module.global(global);
        let name = module.symbol_text(data.name);
        if let Some(builtin) = self.builtin_of_name(name) {
            return self.builtin_variable(builtin);
        }
        let class = match self.storage_class(data.space)? {
            // Variables outside of functions are never private: there is one instance for all
            // invocations.
            StorageClass::Function => StorageClass::CrossWorkgroup,
            StorageClass::Generic => StorageClass::CrossWorkgroup,
            class => class,
        };
        let elsewhere = data.linkage == Linkage::AvailableExternally;
        let initial = variable.initializer.filter(|_| !elsewhere);
        let contents = initial.filter(|constant| {
            let kind = module.consts.kind(*constant);
            class != StorageClass::Workgroup
                && !matches!(kind, ConstKind::Undef | ConstKind::Poison)
        });
        let mut pointee = self.contents_type(data.value_type, contents)?;
        let mut pointer = self.pointer_type(class, pointee);
        let mut initializer = match contents {
            Some(constant) => Some(self.lower_initializer(data.value_type, constant)?),
            None => None,
        };
        let size = module.layout.alloc_size(&module.types, data.value_type);
        let mut align = data.align.to_bytes();
        if data.linkage.is_local()
            && !variable.constant
            && let Some(padding) = self.make_padding_type(size)?
        {
            pointee = self.struct_type("", &[pointee, padding], false);
            pointer = self.pointer_type(class, pointee);
            initializer =
                initializer.map(|contents| self.append_padding(pointee, contents, padding));
            align = align.max(Some(WORD));
        }
        let id = self.b.global_variable(pointer, class, initializer);
        self.name_id(id, name);
        if variable.constant && !self.is_shader() {
            self.b.decorate_id(id, Decoration::Constant, &[]);
        }
        let kernel = !self.is_shader();
        if let Some(align) = align.filter(|_| kernel).and_then(|a| u32::try_from(a).ok()) {
            self.b.decorate_id(id, Decoration::Alignment, &[align]);
        }
        if kernel && !data.linkage.is_local() && class != StorageClass::Workgroup {
            let linkage = match initial {
                Some(_) => self.choose_export_linkage(data.linkage),
                None => LinkageType::Import,
            };
            self.b.set_linkage(id, name, linkage);
        }
        let stated = self.module.strings.find_symbol("spirv.Decorations");
        let node = stated.and_then(|kind| data.metadata.iter().find(|m| m.0 == kind));
        if let Some(&(_, node)) = node {
            self.apply_stated_decorations(id, node);
        }
        self.apply_vector_compute_variable(id, variable.attributes);
        self.variables.set(id, true);
        Ok(id)
    }

    /// Whether an id is a module-scope variable.
    pub(super) fn is_variable(&self, id: Id) -> bool {
        self.variables[id]
    }

    /// The built-in that a global denotes by its name, as in SPIR-V that was translated to LLVM IR.
    fn builtin_of_name(&self, name: &str) -> Option<BuiltIn> {
        let name = name.strip_prefix("__spirv_BuiltIn")?;
        let row = spirula_spirv::grammar::Kind::BuiltIn.info().by_name(name)?;
        Some(BuiltIn(row.value))
    }

    /// The variables that a constant refers to, including those in initializers.
    pub(super) fn referred_variables(&self, constant: LlvmConst, found: &mut Vec<Id>) {
        let mut pending = vec![constant];
        let mut budget = 1000;
        while let Some(constant) = pending.pop() {
            match self.module.consts.kind(constant) {
                ConstKind::Expr(expr) => pending.extend_from_slice(&expr.operands),
                ConstKind::Aggregate(elements) => pending.extend_from_slice(elements),
                ConstKind::Global(global) => {
                    let data = self.module.global(*global);
                    if let GlobalState::Done(id) = self.globals[global.index()]
                        && !found.contains(&id)
                    {
                        found.push(id);
                        if let GlobalKind::Variable(variable) = data.kind {
                            pending.extend(variable.initializer);
                        }
                    }
                    if let GlobalKind::Alias(target) = data.kind {
                        pending.extend(target.0);
                    }
                }
                _ => {}
            }
            budget -= 1;
            if budget == 0 {
                return;
            }
        }
    }
}
