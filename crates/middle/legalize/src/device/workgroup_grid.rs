//! Workgroup grids: launches over more workgroups than a dimension allows.
//!
//! The shader runs over a grid within the limits that has at least as many workgroups. Each workgroup computes its number, and from it
//! the id that it would have had. The entry point becomes an ordinary function. A new entry point computes `WorkgroupId`,
//! `NumWorkgroups` and `GlobalInvocationId`, which become private variables, and calls the function for workgroups that exist. All
//! invocations of a workgroup take the same branch, so that barriers stay uniform. The sizes are constants; each size therefore needs
//! a pipeline of its own.

use super::shader_editor::ShaderEditor;
use spirula_spirv::Id;
use spirula_spirv::analysis::{DefUse, IdDecorations, IdDefinitions};
use spirula_spirv::grammar::enumerants::{BuiltIn, Decoration, StorageClass};
use spirula_spirv::grammar::{Op, SpirvVersion};
use spirula_spirv::ir::{Inst, List, ModuleSection, SpirvModule};

/// Chooses a grid within the limits with at least as many workgroups as `total`; `None` where there are too many.
pub fn choose_grid(total: [u32; 3], limits: [u32; 3]) -> Option<[u32; 3]> {
    let count = total
        .iter()
        .try_fold(1_u32, |n, size| n.checked_mul(*size))?;
    let rows = count.div_ceil(limits[0]);
    let planes = rows.div_ceil(limits[1]);
    if planes > limits[2] {
        return None;
    }
    // The dimensions are balanced, so that few workgroups are idle.
    let rows = rows.div_ceil(planes);
    let columns = count.div_ceil(rows * planes);
    let grid = [columns, rows, planes];
    grid.iter()
        .try_fold(1_u32, |n, size| n.checked_mul(*size))?;
    Some(grid)
}

/// The shader for one launch of an entry point: over `total` workgroups of `local` invocations, run over
/// `grid`.
pub fn fold_workgroups(
    module: &SpirvModule,
    entry: &str,
    total: [u32; 3],
    grid: [u32; 3],
    local: [u32; 3],
) -> Option<SpirvModule> {
    let mut module = module.clone();
    let point = keep_entry_point(&mut module, entry)?;
    let ids = GridBuiltins::privatise_variables(&mut module, point)?;
    let mut editor = ShaderEditor {
        module: &mut module,
    };
    let function = editor.module.inst(point).id_operand(1);
    let wrapper = ids.emit_wrapper(&mut editor, function, total, grid, local);
    editor.module.words_mut(point)[1] = wrapper.word();
    let modes = editor.module.section_insts(ModuleSection::ExecutionModes);
    let own: Vec<_> = modes.filter(|m| m.id_operand(0) == function).collect();
    let own: Vec<_> = own.iter().map(|m| m.handle()).collect();
    for mode in own {
        editor.module.words_mut(mode)[0] = wrapper.word();
    }
    Some(module)
}

/// Drops all entry points but one.
fn keep_entry_point(module: &mut SpirvModule, entry: &str) -> Option<Inst> {
    let points = module.section_insts(ModuleSection::EntryPoints);
    let points: Vec<_> = points
        .map(|p| (p.handle(), p.id_operand(1), p.string_operand(2) == entry))
        .collect();
    let (kept, function, _) = *points.iter().find(|(_, _, is_meant)| *is_meant)?;
    for (point, other, is_meant) in points {
        if is_meant {
            continue;
        }
        module.remove_inst(point);
        let modes = module.section_insts(ModuleSection::ExecutionModes);
        let modes: Vec<_> = modes
            .filter(|m| m.id_operand(0) == other && other != function)
            .map(|m| m.handle())
            .collect();
        modes.iter().for_each(|m| module.remove_inst(*m));
    }
    Some(kept)
}

/// A built-in variable that became private, and its type.
struct PrivatisedBuiltin {
    variable: Id,
    ty: Id,
}

/// The variables of ids as private variables, and the input variables of the device.
struct GridBuiltins {
    group: Option<PrivatisedBuiltin>,
    count: Option<PrivatisedBuiltin>,
    global: Option<PrivatisedBuiltin>,
    /// Input variables of `WorkgroupId` and, if it is needed, `LocalInvocationId`.
    raw_group: Id,
    raw_local: Option<(Id, Id)>,
}

impl GridBuiltins {
    fn privatise_variables(module: &mut SpirvModule, point: Inst) -> Option<GridBuiltins> {
        let group = privatise_builtin(module, point, BuiltIn::WorkgroupId)?;
        let count = privatise_builtin(module, point, BuiltIn::NumWorkgroups)?;
        let global = privatise_builtin(module, point, BuiltIn::GlobalInvocationId)?;
        let known = find_builtin(module, BuiltIn::LocalInvocationId);
        let mut editor = ShaderEditor { module };
        let vector = declare_uvec3(&mut editor);
        let pointer = editor.declare_pointer(StorageClass::Input, vector);
        let raw_group = editor.declare_variable(pointer, StorageClass::Input);
        editor.decorate_id(raw_group, Decoration::BuiltIn, &[BuiltIn::WorkgroupId.0]);
        editor.edit_interface(point, &[raw_group], &[]);
        let raw_local = match (&global, known) {
            (None, _) => None,
            (Some(_), Some(local)) => {
                editor.edit_interface(point, &[local.variable], &[local.variable]);
                Some((local.variable, local.ty))
            }
            (Some(_), None) => {
                let local = editor.declare_variable(pointer, StorageClass::Input);
                let builtin = BuiltIn::LocalInvocationId.0;
                editor.decorate_id(local, Decoration::BuiltIn, &[builtin]);
                editor.edit_interface(point, &[local], &[]);
                Some((local, vector))
            }
        };
        Some(GridBuiltins {
            group,
            count,
            global,
            raw_group,
            raw_local,
        })
    }

    /// Emits the function that computes the ids and calls the original entry point.
    fn emit_wrapper(
        &self,
        editor: &mut ShaderEditor<'_>,
        function: Id,
        total: [u32; 3],
        grid: [u32; 3],
        local: [u32; 3],
    ) -> Id {
        let void = editor.declare_type(Op::TypeVoid, &[]);
        let ty = editor.declare_type(Op::TypeFunction, &[void.word()]);
        let bool = editor.declare_type(Op::TypeBool, &[]);
        let word = editor.declare_u32();
        let vector = declare_uvec3(editor);
        let [width, height, _] = grid.map(|n| editor.declare_constant(n));
        let sizes = total.map(|n| editor.declare_constant(n));
        let local = local.map(|n| editor.declare_constant(n));
        let all = editor.declare_constant(total.iter().product());
        let id = editor.module.fresh_id();
        let def = [void.word(), id.word(), 0, ty.word()];
        let def = editor.module.create_inst(Op::Function, &def);
        let func = editor.module.create_function(def);
        let [first, body, end] = [0; 3].map(|_| editor.module.fresh_id());
        let blocks = [first, body, end].map(|label| editor.module.create_block(func, label));
        let lists = blocks.map(|b| editor.module.block(b).body);
        let mut code = ShaderCodeAppender {
            editor,
            list: lists[0],
            word,
            vector,
        };
        let at = code.emit_load(vector, self.raw_group);
        let [x, y, z] = code.extract_components(at);
        let plane = code.emit_binary(Op::IMul, height, z);
        let row = code.emit_binary(Op::IAdd, y, plane);
        let rows = code.emit_binary(Op::IMul, width, row);
        let number = code.emit_binary(Op::IAdd, x, rows);
        let is_there = code.emit_value(Op::ULessThan, bool, &[number, all]);
        code.emit_effect(Op::SelectionMerge, &[end.word(), 0]);
        code.emit_effect(Op::BranchConditional, &[is_there, body, end].map(Id::word));
        code.list = lists[1];
        let x = code.emit_binary(Op::UMod, number, sizes[0]);
        let rest = code.emit_binary(Op::UDiv, number, sizes[0]);
        let y = code.emit_binary(Op::UMod, rest, sizes[1]);
        let z = code.emit_binary(Op::UDiv, rest, sizes[1]);
        let group = code.emit_value(Op::CompositeConstruct, vector, &[x, y, z]);
        code.emit_store(&self.group, group);
        let sizes = code.emit_value(Op::CompositeConstruct, vector, &sizes);
        code.emit_store(&self.count, sizes);
        if let (Some((raw, ty)), Some(_)) = (self.raw_local, &self.global) {
            let inside = code.emit_load(ty, raw);
            let inside = code.emit_cast(vector, inside, ty);
            let local = code.emit_value(Op::CompositeConstruct, vector, &local);
            let before = code.emit_value(Op::IMul, vector, &[group, local]);
            let global = code.emit_value(Op::IAdd, vector, &[before, inside]);
            code.emit_store(&self.global, global);
        }
        code.emit_value(Op::FunctionCall, void, &[function]);
        code.emit_effect(Op::Branch, &[end.word()]);
        code.list = lists[2];
        code.emit_effect(Op::Return, &[]);
        id
    }
}

fn declare_uvec3(editor: &mut ShaderEditor<'_>) -> Id {
    let word = editor.declare_u32();
    editor.declare_type(Op::TypeVector, &[word.word(), 3])
}

/// The input variable of a built-in value, and its type.
fn find_builtin(module: &SpirvModule, builtin: BuiltIn) -> Option<PrivatisedBuiltin> {
    let decorations = IdDecorations::from_module(module);
    let definitions = IdDefinitions::from_module(module);
    let mut globals = module.section_insts(ModuleSection::Globals);
    let variable = globals.find(|inst| {
        let id = inst.result().filter(|_| inst.op() == Op::Variable);
        let said = id.and_then(|id| decorations.get(module, id, Decoration::BuiltIn));
        said == Some(&[builtin.0])
    })?;
    let pointer = definitions.get(module, variable.result_type()?)?;
    Some(PrivatisedBuiltin {
        variable: variable.result()?,
        ty: pointer.id_operand(1),
    })
}

/// Makes the variable of a built-in value private. The outer `None` means that its uses cannot be rewritten, the inner one that the
/// module has no such variable.
#[allow(clippy::option_option, reason = "both are wanted")]
fn privatise_builtin(
    module: &mut SpirvModule,
    point: Inst,
    builtin: BuiltIn,
) -> Option<Option<PrivatisedBuiltin>> {
    let Some(was) = find_builtin(module, builtin) else {
        return Some(None);
    };
    let uses = DefUse::from_module(module);
    let definition = uses.definition(was.variable)?;
    let mut chains = Vec::new();
    for place in uses.uses(was.variable) {
        let user = module.inst(place.inst);
        match user.op() {
            Op::Load | Op::EntryPoint => {}
            op if op.is_plain_access_chain() => chains.push(place.inst),
            op if op.is_about_ids() => {}
            _ => return None,
        }
    }
    let component = module.inst(uses.definition(was.ty)?).id_operand(0);
    let is_listed = module.version >= SpirvVersion::new(1, 4);
    let private = |module: &mut SpirvModule, pointee: Id| {
        let id = module.fresh_id();
        let words = [id.word(), StorageClass::Private.0, pointee.word()];
        let ty = module.create_inst(Op::TypePointer, &words);
        module.insert_before(definition, ty);
        id
    };
    let whole = private(module, was.ty);
    let part = private(module, component);
    let words = module.words_mut(definition);
    words[0] = whole.word();
    words[2] = StorageClass::Private.0;
    for chain in chains {
        module.words_mut(chain)[0] = part.word();
    }
    let mut editor = ShaderEditor { module };
    editor.drop_annotations(was.variable, |_| true);
    if !is_listed {
        editor.edit_interface(point, &[], &[was.variable]);
    }
    Some(Some(was))
}

/// Appends instructions to a list.
struct ShaderCodeAppender<'e, 'm> {
    editor: &'e mut ShaderEditor<'m>,
    list: List,
    word: Id,
    vector: Id,
}

impl ShaderCodeAppender<'_, '_> {
    fn emit_effect(&mut self, op: Op, words: &[u32]) {
        let inst = self.editor.module.create_inst(op, words);
        self.editor.module.append_inst(self.list, inst);
    }

    fn emit_value(&mut self, op: Op, ty: Id, operands: &[Id]) -> Id {
        let id = self.editor.module.fresh_id();
        let mut words = vec![ty.word(), id.word()];
        words.extend(operands.iter().map(|id| id.word()));
        self.emit_effect(op, &words);
        id
    }

    fn emit_binary(&mut self, op: Op, a: Id, b: Id) -> Id {
        self.emit_value(op, self.word, &[a, b])
    }

    fn emit_load(&mut self, ty: Id, variable: Id) -> Id {
        self.emit_value(Op::Load, ty, &[variable])
    }

    fn emit_cast(&mut self, to: Id, value: Id, from: Id) -> Id {
        if to == from {
            value
        } else {
            self.emit_value(Op::Bitcast, to, &[value])
        }
    }

    fn emit_store(&mut self, to: &Option<PrivatisedBuiltin>, value: Id) {
        if let Some(was) = to {
            let value = self.emit_cast(was.ty, value, self.vector);
            self.emit_effect(Op::Store, &[was.variable.word(), value.word()]);
        }
    }

    fn extract_components(&mut self, vector: Id) -> [Id; 3] {
        [0, 1, 2].map(|part| {
            let id = self.editor.module.fresh_id();
            let words = [self.word.word(), id.word(), vector.word(), part];
            self.emit_effect(Op::CompositeExtract, &words);
            id
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_hold_all_workgroups() {
        let limits = [65_535; 3];
        for total in [
            [65_536, 1, 1],
            [1, 70_000, 3],
            [16 << 20, 1, 1],
            [u32::MAX - 65_535, 1, 1],
        ] {
            let grid = choose_grid(total, limits).unwrap();
            let count = |sizes: [u32; 3]| sizes.iter().map(|n| u64::from(*n)).product::<u64>();
            assert!(count(grid) >= count(total), "{grid:?}");
            assert!(count(grid) - count(total) < 131_072, "{grid:?}");
            assert!(grid.iter().all(|n| *n <= 65_535), "{grid:?}");
        }
        assert_eq!(choose_grid([1 << 20, 1 << 20, 1], limits), None);
        assert_eq!(choose_grid([1 << 20, 1, 1], [1 << 10, 1 << 4, 2]), None);
    }
}
