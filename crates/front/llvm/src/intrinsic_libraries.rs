//! Definitions of intrinsics that modules of SPIR-V import.
//!
//! Translators of LLVM IR to SPIR-V make an import of an intrinsic that SPIR-V has no instruction for, under the name of the intrinsic.
//! Each such import is defined here by a small module, whose function calls the intrinsic in LLVM IR.

use crate::{TranslationOptions, read_module, translate_module};
use spirula_spirv::Id;
use spirula_spirv::analysis::IdDefinitions;
use spirula_spirv::grammar::enumerants::{Decoration, LinkageType};
use spirula_spirv::grammar::{Op, literal_string};
use spirula_spirv::ir::{InstRef, ModuleSection, SpirvModule};
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// Modules that export the intrinsics of LLVM which the modules import, an intrinsic each.
///
/// Intrinsics that no table has are left out, and so are those with pointers.
pub fn make_intrinsic_libraries(modules: &[SpirvModule]) -> Vec<SpirvModule> {
    let mut sources = BTreeMap::new();
    for module in modules {
        // Few modules import intrinsics.
        let definitions = OnceCell::new();
        for decoration in module.section_insts(ModuleSection::Annotations) {
            let is_linkage = decoration.op() == Op::Decorate
                && decoration.operands().get(1) == Some(&Decoration::LinkageAttributes.0);
            let [function, _, name @ .., linkage] = decoration.operands() else {
                continue;
            };
            let text = literal_string(name);
            if !is_linkage || *linkage != LinkageType::Import.0 || !is_intrinsic_name(&text) {
                continue;
            }
            let reader = SignatureReader {
                module,
                definitions: definitions.get_or_init(|| IdDefinitions::from_module(module)),
            };
            if let Some(source) = reader.write_definition(*function, &text) {
                sources.entry(name.to_vec()).or_insert((source, module));
            }
        }
    }
    let compiled = sources
        .iter()
        .map(|(name, (source, importer))| compile_library(source, name, importer));
    compiled.flatten().collect()
}

/// Whether a name is that of an intrinsic, and can stand in LLVM IR without quotes.
fn is_intrinsic_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
    name.starts_with("llvm.") && name.chars().all(is_plain)
}

/// Translates a definition, and exports it under a name, which is given in words. Version and memory model are those of the importer,
/// as the definition depends on neither.
fn compile_library(source: &str, name: &[u32], importer: &SpirvModule) -> Option<SpirvModule> {
    let source = read_module(source.as_bytes()).ok()?;
    let mut library = translate_module(&source, &TranslationOptions::default()).ok()?;
    let decorations = library.section_insts(ModuleSection::Annotations);
    let exports = decorations.filter_map(|inst| {
        let [function, kind, .., linkage] = inst.operands() else {
            return None;
        };
        let is_export = inst.op() == Op::Decorate
            && *kind == Decoration::LinkageAttributes.0
            && *linkage == LinkageType::Export.0;
        is_export.then_some((inst.handle(), *function))
    });
    let exports: Vec<_> = exports.collect();
    let [(decoration, function)] = exports[..] else {
        return None;
    };
    let kind = Decoration::LinkageAttributes.0;
    let words = [&[function, kind], name, &[LinkageType::LinkOnceODR.0]].concat();
    library.replace_inst(decoration, Op::Decorate, &words);
    library.version = importer.version;
    let own = library
        .section_insts(ModuleSection::MemoryModel)
        .next()?
        .handle();
    let model = importer.section_insts(ModuleSection::MemoryModel).next()?;
    library.replace_inst(own, Op::MemoryModel, model.operands());
    Some(library)
}

/// Types of functions as LLVM IR writes them.
struct SignatureReader<'a> {
    module: &'a SpirvModule,
    definitions: &'a IdDefinitions,
}

impl SignatureReader<'_> {
    /// A module of LLVM IR with a function that calls an intrinsic.
    fn write_definition(&self, function: u32, intrinsic: &str) -> Option<String> {
        let function = self.definition_of(function)?;
        if function.op() != Op::Function {
            return None;
        }
        let signature = self.definition_of(*function.operands().get(1)?)?;
        let [result, parameters @ ..] = signature.operands() else {
            return None;
        };
        let result = self.write_type(*result)?;
        let types: Option<Vec<String>> = parameters.iter().map(|ty| self.write_type(*ty)).collect();
        let types = types?;
        let named = types
            .iter()
            .enumerate()
            .map(|(at, ty)| format!("{ty} %{at}"));
        let named = named.collect::<Vec<_>>().join(", ");
        let types = types.join(", ");
        Some(format!(
            "target triple = \"spir64-unknown-unknown\"\n\
             declare {result} @{intrinsic}({types})\n\
             define spir_func {result} @defined({named}) {{\n\
             entry:\n  %made = call {result} @{intrinsic}({named})\n  ret {result} %made\n}}\n"
        ))
    }

    fn definition_of(&self, id: u32) -> Option<InstRef<'_>> {
        self.definitions.get(self.module, Id::new(id)?)
    }

    fn write_type(&self, ty: u32) -> Option<String> {
        let ty = self.definition_of(ty)?;
        Some(match ty.op() {
            Op::TypeBool => "i1".to_owned(),
            Op::TypeInt => format!("i{}", ty.operand_word(0)),
            Op::TypeFloat => match ty.operands() {
                [16] => "half".to_owned(),
                [32] => "float".to_owned(),
                [64] => "double".to_owned(),
                _ => return None,
            },
            Op::TypeVector => {
                let component = self.write_type(ty.operand_word(0))?;
                format!("<{} x {component}>", ty.operand_word(1))
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirula_spirv::text::{ParseOptions, parse_assembly};

    #[test]
    fn imports_of_known_intrinsics_are_defined() {
        let import = |name: &str, ty: &str| {
            let text = format!(
                "OpCapability Kernel
                OpCapability Addresses
                OpCapability Linkage
                OpCapability Int64
                OpMemoryModel Physical32 OpenCL
                OpDecorate %f LinkageAttributes \"{name}\" Import
                %number = {ty}
                %t = OpTypeFunction %number %number %number
                %f = OpFunction %number None %t
                %a = OpFunctionParameter %number
                %b = OpFunctionParameter %number
                OpFunctionEnd"
            );
            let words = parse_assembly(&text, &ParseOptions::default()).expect("it is assembly");
            SpirvModule::from_words(words).expect("it is a module")
        };
        let count = |name: &str, ty: &str| make_intrinsic_libraries(&[import(name, ty)]).len();
        assert_eq!(count("llvm.usub.sat.i32", "OpTypeInt 32 0"), 1);
        assert_eq!(count("llvm.uadd.sat.i64", "OpTypeInt 64 0"), 1);
        assert_eq!(count("llvm.mystery.i32", "OpTypeInt 32 0"), 0);
        assert_eq!(count("mystery", "OpTypeInt 32 0"), 0);
        assert_eq!(count("llvm.x() {\n", "OpTypeInt 32 0"), 0);
        assert_eq!(
            count("llvm.usub.sat.i32", "OpTypePointer Function %number"),
            0
        );
    }
}
