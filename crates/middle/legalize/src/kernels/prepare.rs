//! Preparation of a kernel module for lowering: functions of the library are linked in, one kernel or all are kept, calls are inlined,
//! variables become values.

use super::{builtin_variables, opaque_variables, std_library};
use crate::kernels::VulkanCompileOptions;
use crate::passes::run_passes;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::Id;
use spirula_spirv::analysis::IdNames;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{
    AddressingModel, Decoration, FunctionParameterAttribute, StorageClass,
};
use spirula_spirv::ir::{Func, IdWords, Inst, ModuleSection, SpirvModule};

/// Passes that simplify unoptimised kernels.
const PASSES: &str =
    "simplify-cfg,adce,inline-all,adce,mem2reg,simplify-cfg,dedup,adce,mem2reg,simplify-cfg,adce";

/// A copy of a module that is ready to be lowered.
///
/// # Errors
/// When the entry point is missing, the module has 32-bit addresses, or is malformed.
pub fn prepare_module(
    module: &SpirvModule,
    options: &VulkanCompileOptions,
) -> Result<SpirvModule, SourceDiagnostic> {
    let mut module = module.clone();
    let model = module.section_insts(ModuleSection::MemoryModel).next();
    if let Some(model) = model.filter(|m| m.operand_word(0) != AddressingModel::Physical64.0) {
        return Err(crate::error::diagnose_instruction(
            model,
            "a module without 64-bit addresses",
        ));
    }
    std_library::link_library(&mut module, options)?;
    keep_entry_point(&mut module, options.entry.as_deref())?;
    builtin_variables::move_to_inputs(&mut module);
    copy_by_value_parameters(&mut module);
    run_passes(&mut module, PASSES)?;
    opaque_variables::replace_variables(&mut module);
    Ok(module)
}

/// Drops other entry points, and linkage decorations that keep functions alive.
fn keep_entry_point(module: &mut SpirvModule, entry: Option<&str>) -> Result<(), SourceDiagnostic> {
    let points = module.section_insts(ModuleSection::EntryPoints);
    let (kept, other): (Vec<_>, Vec<_>) =
        points.partition(|p| entry.is_none_or(|name| p.string_operand(2) == name));
    let ids: Vec<u32> = kept.iter().map(|p| p.operand_word(1)).collect();
    if ids.is_empty() {
        let fault = match entry {
            Some(name) => {
                let text = format!("the module has no entry point {name}");
                SourceDiagnostic::error(SourceLocation::Unknown, text)
            }
            None => make_no_kernels_error(module),
        };
        return Err(fault);
    }
    let mut gone: Vec<Inst> = other.iter().map(|p| p.handle()).collect();
    let modes = module.section_insts(ModuleSection::ExecutionModes);
    gone.extend(
        modes
            .filter(|m| !ids.contains(&m.operand_word(0)))
            .map(|m| m.handle()),
    );
    let annotations = module.section_insts(ModuleSection::Annotations);
    let linkage = annotations
        .filter(|a| a.op() == Op::Decorate && a.operand_word(1) == Decoration::LinkageAttributes.0);
    gone.extend(linkage.map(|a| a.handle()));
    for inst in gone {
        module.remove_inst(inst);
    }
    Ok(())
}

/// Vulkan runs entry points and does not link modules, so a module of functions alone is refused.
fn make_no_kernels_error(module: &SpirvModule) -> SourceDiagnostic {
    let functions = module.functions().iter().copied();
    let mut defined = functions.filter(|f| !module.function(*f).blocks.is_empty());
    let first = defined.next();
    let place = first.map(|f| module.inst(module.function(f).def).place());
    let names = IdNames::from_module(module);
    let name = first.and_then(|f| names.get(module, module.function_id(f)));
    let name = name.map_or(String::new(), |name| {
        format!(" but functions such as {name}")
    });
    let text =
        format!("the module has no kernels{name}, and a module for Vulkan is made of kernels");
    SourceDiagnostic::error(place.unwrap_or(SourceLocation::Unknown), text).with_hint(
        "make one of the functions a kernel, or link them to a module that has one (`spirula link`)",
    )
}

/// Makes functions with by-value pointer parameters copy the pointee themselves, so that they can be inlined. Kernels are
/// never called.
fn copy_by_value_parameters(module: &mut SpirvModule) {
    let points = module.section_insts(ModuleSection::EntryPoints);
    let kernels: Vec<u32> = points.map(|p| p.operand_word(1)).collect();
    let mut by_value: Vec<(Inst, Id)> = Vec::new();
    for inst in module.section_insts(ModuleSection::Annotations) {
        if let [_, decoration, attribute] = *inst.operands()
            && inst.op() == Op::Decorate
            && decoration == Decoration::FuncParamAttr.0
            && attribute == FunctionParameterAttribute::ByVal.0
        {
            by_value.push((inst.handle(), inst.id_operand(0)));
        }
    }
    by_value.sort_by_key(|(_, id)| *id);
    let ids = IdWords::new(module);
    for func in module.functions().to_vec() {
        let is_kernel = kernels.contains(&module.function_id(func).word());
        if is_kernel || module.function(func).blocks.is_empty() {
            continue;
        }
        let params = module.list_insts(module.function(func).params);
        let params: Vec<(Id, Id)> = params
            .filter_map(|p| Some((p.result()?, p.result_type()?)))
            .collect();
        for (param, ty) in params {
            let Ok(at) = by_value.binary_search_by_key(&param, |(_, id)| *id) else {
                continue;
            };
            copy_by_value_parameter(module, &ids, func, param, ty);
            module.remove_inst(by_value[at].0);
        }
    }
}

fn copy_by_value_parameter(module: &mut SpirvModule, ids: &IdWords, func: Func, param: Id, ty: Id) {
    let copy = module.fresh_id();
    let function: Vec<Inst> = module.function_insts(func).map(|i| i.handle()).collect();
    for inst in function {
        ids.rewrite_uses(module, inst, |id| if id == param { copy } else { id });
    }
    let entry = module.function(func).blocks[0];
    let words = [ty.word(), copy.word(), StorageClass::Function.0];
    let variable = module.create_inst(Op::Variable, &words);
    let copying = module.create_inst(Op::CopyMemory, &[copy.word(), param.word()]);
    let body = module.body(entry);
    let mut rest = body.skip_while(|i| i.op() == Op::Variable || i.op().is_line());
    let at = rest.next().map(|i| i.handle());
    let at = at.unwrap_or_else(|| module.terminator(entry).handle());
    module.insert_before(at, variable);
    module.insert_before(at, copying);
}
