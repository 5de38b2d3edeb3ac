//! `NonWritable` decorations of variables that share their type with a written variable.
//!
//! NVIDIA's driver 580 applies a variable's `NonWritable` to its type: it loads from all variables of that type before stores of the
//! same invocation. The decoration is therefore dropped unless all variables of its type have it.

use spirula_spirv::IdMap;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::ir::{Inst, InstRef, ModuleSection, SpirvModule};

/// The module without such decorations; `None` where it has none.
pub fn drop_shared_non_writable(module: &SpirvModule) -> Option<SpirvModule> {
    let promises = || {
        module
            .section_insts(ModuleSection::Annotations)
            .filter(|d| {
                d.op() == Op::Decorate && Decoration(d.operand_word(1)) == Decoration::NonWritable
            })
    };
    let mut promised = IdMap::new(module.bound(), false);
    promises().for_each(|d| promised.set(d.id_operand(0), true));
    // The pointee of each pointer type, and the pointees that are written.
    let mut pointee = IdMap::new(module.bound(), None);
    let mut written = IdMap::new(module.bound(), false);
    let mut shared = Vec::new();
    let globals = || module.section_insts(ModuleSection::Globals);
    for ty in globals().filter(|i| i.op() == Op::TypePointer) {
        if let Some(id) = ty.result() {
            pointee.set(id, ty.get_id(1));
        }
    }
    let variables = || {
        let variables = globals().filter(|i| i.op() == Op::Variable);
        variables.filter_map(|v| Some((v.result()?, pointee[v.result_type()?]?)))
    };
    for (variable, ty) in variables() {
        if !promised[variable] {
            written.set(ty, true);
        }
    }
    for (variable, ty) in variables() {
        if promised[variable] && written[ty] {
            shared.push(variable);
        }
    }
    if shared.is_empty() {
        return None;
    }
    let gone: Vec<Inst> = promises()
        .filter(|d| shared.contains(&d.id_operand(0)))
        .map(InstRef::handle)
        .collect();
    let mut module = module.clone();
    gone.into_iter().for_each(|d| module.remove_inst(d));
    Some(module)
}

#[cfg(test)]
mod tests {
    use super::drop_shared_non_writable;
    use spirula_spirv::ir::SpirvModule;
    use spirula_spirv::text::{ParseOptions, PrintOptions, parse_assembly, print_assembly};

    /// Three buffers of the given types, of which the first and the last are only read.
    fn build_module(types: [&str; 3]) -> SpirvModule {
        let [a, b, c] = types;
        let source = format!(
            "OpCapability Shader
OpMemoryModel Logical GLSL450
OpDecorate %a NonWritable
OpDecorate %c NonWritable
%uint = OpTypeInt 32 0
%first = OpTypeStruct %uint
%second = OpTypeStruct %uint
%pfirst = OpTypePointer StorageBuffer %first
%psecond = OpTypePointer StorageBuffer %second
%a = OpVariable %p{a} StorageBuffer
%b = OpVariable %p{b} StorageBuffer
%c = OpVariable %p{c} StorageBuffer
"
        );
        let words = parse_assembly(&source, &ParseOptions::default()).expect("the text is right");
        SpirvModule::from_words(words).expect("it is a module")
    }

    #[test]
    fn only_promises_of_shared_types_go() {
        let changed = drop_shared_non_writable(&build_module(["first", "first", "second"]));
        let words = changed.expect("one is shared").to_words();
        let text = print_assembly(&words, &PrintOptions::default()).expect("it can be printed");
        assert_eq!(text.matches("NonWritable").count(), 1, "{text}");
        assert!(drop_shared_non_writable(&build_module(["first", "second", "first"])).is_none());
    }
}
