//! Module printer: top-level entities.

use super::LlvmPrinter;
use crate::ir::{
    CallingConvention, GlobalData, GlobalKind, Linkage, LlvmGlobal, LlvmGlobalVariable,
    LlvmTypeKind, ThreadLocal, UnnamedAddr, Visibility,
};

impl LlvmPrinter<'_> {
    pub(super) fn print_module(&mut self) {
        self.number_globals();
        self.print_header();
        self.print_type_definitions();
        let module = self.module;
        for comdat in &module.comdats {
            self.print_name("$", comdat.name);
            self.put_args(format_args!(" = comdat {}\n", comdat.selection.name()));
        }
        for global in module.global_ids() {
            self.print_global(global);
        }
        for func in module.function_ids() {
            self.put_text("\n");
            self.print_function(func);
        }
        self.put_text("\n");
        self.print_attribute_groups();
        for list in &module.named_metadata {
            self.put_text("!");
            let name = module.symbol_text(list.name);
            for byte in name.bytes() {
                if byte.is_ascii_alphanumeric() || b"-$._".contains(&byte) {
                    self.out.push(byte as char);
                } else {
                    self.put_args(format_args!("\\{byte:02X}"));
                }
            }
            self.put_text(" = !{");
            self.print_list(&list.operands, |printer, &operand| {
                printer.print_metadata_ref(operand)
            });
            self.put_text("}\n");
        }
        self.print_nodes();
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

    fn print_header(&mut self) {
        let module = self.module;
        if !module.source_filename.is_empty() {
            self.put_text("source_filename = ");
            self.print_quoted(module.source_filename.as_bytes());
            self.put_text("\n");
        }
        for (name, text) in [
            ("datalayout", module.layout.text()),
            ("triple", &module.triple),
        ] {
            if !text.is_empty() {
                self.put_args(format_args!("target {name} = "));
                self.print_quoted(text.as_bytes());
                self.put_text("\n");
            }
        }
        for line in module.module_asm.lines() {
            self.put_text("module asm ");
            self.print_quoted(line.as_bytes());
            self.put_text("\n");
        }
    }

    fn print_type_definitions(&mut self) {
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
                named.push((module.symbol_text(*name), ty, fields, *packed));
            }
        }
        named.sort();
        for (_, ty, fields, packed) in named {
            self.print_type_name(ty);
            self.put_text(" = type ");
            self.print_struct_body(fields.as_deref(), packed);
            self.put_text("\n");
        }
    }

    /// Prints linkage and the other keywords before a global or function.
    pub(super) fn print_linkage_words(&mut self, data: &GlobalData) {
        if data.linkage != Linkage::External {
            self.put_text(data.linkage.name());
            self.put_text(" ");
        }
        if data.dso_local && !data.linkage.is_local() {
            self.put_text("dso_local ");
        }
        if data.visibility != Visibility::Default {
            self.put_text(data.visibility.name());
            self.put_text(" ");
        }
        match data.dll_storage {
            1 => self.put_text("dllimport "),
            2 => self.put_text("dllexport "),
            _ => {}
        }
        match data.thread_local {
            ThreadLocal::None => {}
            ThreadLocal::GeneralDynamic => self.put_text("thread_local "),
            model => self.put_args(format_args!("thread_local({}) ", model.name())),
        }
    }

    fn print_global(&mut self, global: LlvmGlobal) {
        let data = self.module.global(global);
        match data.kind {
            GlobalKind::Function(_) => {}
            GlobalKind::Variable(variable) => self.print_variable(global, data, variable),
            GlobalKind::Alias(aliasee) | GlobalKind::Ifunc(aliasee) => {
                self.print_global_name(global);
                self.put_text(" = ");
                self.print_linkage_words(data);
                if data.unnamed_addr != UnnamedAddr::None {
                    self.put_text(data.unnamed_addr.name());
                    self.put_text(" ");
                }
                let alias = matches!(data.kind, GlobalKind::Alias(_));
                self.put_text(if alias { "alias " } else { "ifunc " });
                self.print_type(data.value_type);
                self.put_text(", ");
                if let Some(constant) = aliasee.0 {
                    self.print_typed_constant(constant);
                }
                self.put_text("\n");
            }
        }
    }

    fn print_variable(
        &mut self,
        global: LlvmGlobal,
        data: &GlobalData,
        variable: LlvmGlobalVariable,
    ) {
        self.print_global_name(global);
        self.put_text(" = ");
        if variable.initializer.is_none() && data.linkage == Linkage::External {
            self.put_text("external ");
        }
        self.print_linkage_words(data);
        if data.unnamed_addr != UnnamedAddr::None {
            self.put_text(data.unnamed_addr.name());
            self.put_text(" ");
        }
        if data.space != 0 {
            self.put_args(format_args!("addrspace({}) ", data.space));
        }
        if variable.externally_initialized {
            self.put_text("externally_initialized ");
        }
        self.put_text(if variable.constant {
            "constant "
        } else {
            "global "
        });
        self.print_type(data.value_type);
        if let Some(initializer) = variable.initializer {
            self.put_text(" ");
            self.print_constant(initializer);
        }
        self.print_properties(data, ", ");
        for &(kind, node) in &data.metadata {
            self.print_attachment(", ", kind, node);
        }
        self.print_group_number(variable.attributes);
        self.put_text("\n");
    }

    /// Section, partition, comdat and alignment.
    pub(super) fn print_properties(&mut self, data: &GlobalData, separator: &str) {
        for (word, text) in [("section", data.section), ("partition", data.partition)] {
            if !text.is_empty() {
                self.put_args(format_args!("{separator}{word} "));
                self.print_quoted_symbol(text);
            }
        }
        if let Some(comdat) = data.comdat {
            self.put_args(format_args!("{separator}comdat("));
            self.print_name("$", self.module.comdats[comdat as usize].name);
            self.put_text(")");
        }
        if let Some(bytes) = data.align.to_bytes() {
            self.put_args(format_args!("{separator}align {bytes}"));
        }
    }

    /// Prints a calling convention and a space, unless it is that of C.
    pub(super) fn print_convention(&mut self, convention: CallingConvention) {
        match convention.name() {
            _ if convention == CallingConvention::C => {}
            Some(name) => self.put_args(format_args!("{name} ")),
            None => self.put_args(format_args!("cc {} ", convention.0)),
        }
    }

    fn print_attribute_groups(&mut self) {
        for number in 0..self.groups.len() {
            self.put_args(format_args!("attributes #{number} = {{"));
            let module = self.module;
            for attribute in module.attributes.get(self.groups[number]) {
                self.put_text(" ");
                self.print_attribute(attribute);
            }
            self.put_text(" }\n");
        }
    }
}
