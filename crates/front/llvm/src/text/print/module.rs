//! What stands outside of functions.

use super::LlvmPrinter;
use crate::ir::{
    CallingConvention, GlobalData, GlobalKind, Linkage, LlvmGlobal, LlvmGlobalVariable,
    LlvmTypeKind, ThreadLocal, UnnamedAddr, Visibility,
};

impl LlvmPrinter<'_> {
    pub(super) fn module(&mut self) {
        self.number_globals();
        self.header();
        self.type_definitions();
        let module = self.module;
        for comdat in &module.comdats {
            self.name("$", comdat.name);
            self.put_args(format_args!(" = comdat {}\n", comdat.selection.name()));
        }
        for global in module.global_ids() {
            self.global(global);
        }
        for func in module.function_ids() {
            self.put("\n");
            self.function(func);
        }
        self.put("\n");
        self.attribute_groups();
        for list in &module.named_metadata {
            self.put("!");
            let name = module.str(list.name);
            for byte in name.bytes() {
                if byte.is_ascii_alphanumeric() || b"-$._".contains(&byte) {
                    self.out.push(byte as char);
                } else {
                    self.put_args(format_args!("\\{byte:02X}"));
                }
            }
            self.put(" = !{");
            self.list(&list.operands, |printer, &operand| {
                printer.metadata_ref(operand)
            });
            self.put("}\n");
        }
        self.nodes();
    }

    fn number_globals(&mut self) {
        let mut next = 0;
        self.unnamed = vec![0; self.module.globals.len()];
        for (number, global) in self.unnamed.iter_mut().zip(&self.module.globals) {
            if global.name.is_empty() {
                *number = next;
                next += 1;
            }
        }
    }

    fn header(&mut self) {
        let module = self.module;
        if !module.source_filename.is_empty() {
            self.put("source_filename = ");
            self.quoted(module.source_filename.as_bytes());
            self.put("\n");
        }
        for (name, text) in [
            ("datalayout", module.layout.text()),
            ("triple", &module.triple),
        ] {
            if !text.is_empty() {
                self.put_args(format_args!("target {name} = "));
                self.quoted(text.as_bytes());
                self.put("\n");
            }
        }
        for line in module.module_asm.lines() {
            self.put("module asm ");
            self.quoted(line.as_bytes());
            self.put("\n");
        }
    }

    fn type_definitions(&mut self) {
        let module = self.module;
        let mut named = Vec::new();
        for (ty, kind) in module.types.iter() {
            if let LlvmTypeKind::Struct {
                name,
                fields,
                packed,
            } = kind
                && !name.is_empty()
            {
                named.push((module.str(*name), ty, fields, *packed));
            }
        }
        named.sort();
        for (_, ty, fields, packed) in named {
            self.type_name(ty);
            self.put(" = type ");
            self.struct_body(fields.as_deref(), packed);
            self.put("\n");
        }
    }

    /// Linkage and what else stands before a global or function.
    pub(super) fn linkage_words(&mut self, data: &GlobalData) {
        if data.linkage != Linkage::External {
            self.put(data.linkage.name());
            self.put(" ");
        }
        if data.dso_local && !data.linkage.is_local() {
            self.put("dso_local ");
        }
        if data.visibility != Visibility::Default {
            self.put(data.visibility.name());
            self.put(" ");
        }
        match data.dll_storage {
            1 => self.put("dllimport "),
            2 => self.put("dllexport "),
            _ => {}
        }
        match data.thread_local {
            ThreadLocal::None => {}
            ThreadLocal::GeneralDynamic => self.put("thread_local "),
            model => self.put_args(format_args!("thread_local({}) ", model.name())),
        }
    }

    fn global(&mut self, global: LlvmGlobal) {
        let data = self.module.global(global);
        match data.kind {
            GlobalKind::Function(_) => {}
            GlobalKind::Variable(variable) => self.variable(global, data, variable),
            GlobalKind::Alias(aliasee) | GlobalKind::Ifunc(aliasee) => {
                self.global_name(global);
                self.put(" = ");
                self.linkage_words(data);
                if data.unnamed_addr != UnnamedAddr::None {
                    self.put(data.unnamed_addr.name());
                    self.put(" ");
                }
                let alias = matches!(data.kind, GlobalKind::Alias(_));
                self.put(if alias { "alias " } else { "ifunc " });
                self.ty(data.value_type);
                self.put(", ");
                if let Some(constant) = aliasee.0 {
                    self.typed_constant(constant);
                }
                self.put("\n");
            }
        }
    }

    fn variable(&mut self, global: LlvmGlobal, data: &GlobalData, variable: LlvmGlobalVariable) {
        self.global_name(global);
        self.put(" = ");
        if variable.initializer.is_none() && data.linkage == Linkage::External {
            self.put("external ");
        }
        self.linkage_words(data);
        if data.unnamed_addr != UnnamedAddr::None {
            self.put(data.unnamed_addr.name());
            self.put(" ");
        }
        if data.space != 0 {
            self.put_args(format_args!("addrspace({}) ", data.space));
        }
        if variable.externally_initialized {
            self.put("externally_initialized ");
        }
        self.put(if variable.constant {
            "constant "
        } else {
            "global "
        });
        self.ty(data.value_type);
        if let Some(initializer) = variable.initializer {
            self.put(" ");
            self.constant(initializer);
        }
        self.properties(data, ", ");
        for &(kind, node) in &data.metadata {
            self.attached(", ", kind, node);
        }
        self.group(variable.attributes);
        self.put("\n");
    }

    /// Section, partition, comdat and alignment.
    pub(super) fn properties(&mut self, data: &GlobalData, separator: &str) {
        for (word, text) in [("section", data.section), ("partition", data.partition)] {
            if !text.is_empty() {
                self.put_args(format_args!("{separator}{word} "));
                self.quoted_symbol(text);
            }
        }
        if let Some(comdat) = data.comdat {
            self.put_args(format_args!("{separator}comdat("));
            self.name("$", self.module.comdats[comdat as usize].name);
            self.put(")");
        }
        if let Some(bytes) = data.align.bytes() {
            self.put_args(format_args!("{separator}align {bytes}"));
        }
    }

    /// A calling convention with a space behind it, unless it is that of C.
    pub(super) fn convention(&mut self, convention: CallingConvention) {
        match convention.name() {
            _ if convention == CallingConvention::C => {}
            Some(name) => self.put_args(format_args!("{name} ")),
            None => self.put_args(format_args!("cc {} ", convention.0)),
        }
    }

    fn attribute_groups(&mut self) {
        for number in 0..self.groups.len() {
            self.put_args(format_args!("attributes #{number} = {{"));
            let module = self.module;
            for attribute in module.attributes.get(self.groups[number]) {
                self.put(" ");
                self.attribute(attribute);
            }
            self.put(" }\n");
        }
    }
}
