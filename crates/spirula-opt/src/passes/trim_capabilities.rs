//! Takes back the capabilities and extensions that nothing in the module needs any more, by
//! [`spirula_spirv::recompute`]. Modules of which it says that they lack some are left as they are.
//!
//! Before: `OpCapability Float64` in a module without numbers of 64 bits. After: it is gone.

use crate::analyses::Cache;
use crate::pass::Outcome;
use spirula_source::Diagnostic;
use spirula_spirv::analysis::Ceiling;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Capability;
use spirula_spirv::ir::{Inst, InstRef, Module, Section};
use spirula_spirv::recompute::recompute;

/// What a module declares.
const DECLARING: [Section; 2] = [Section::Capabilities, Section::Extensions];

pub fn run(module: &mut Module, _cache: &mut Cache) -> Result<Outcome, Diagnostic> {
    let before = DECLARING.map(|s| declared(module, s));
    // Where something is needed that no capability allows, nothing changes.
    let changed = recompute(module, &Ceiling::default()).unwrap_or(false);
    let mut deleted = 0;
    if changed {
        let after = DECLARING.map(|s| declared(module, s));
        let known = |(old, new): (&Vec<Inst>, &Vec<Inst>)| new.iter().all(|i| old.contains(i));
        if before.iter().zip(&after).all(known) {
            deleted = before.concat().len() - after.concat().len();
            let kept = keep_basic(module, &before[0], &after[0]);
            deleted -= kept;
            // What stays may be there by any of the extensions.
            for inst in before[1]
                .iter()
                .filter(|i| kept > 0 && !after[1].contains(i))
            {
                module.append(Section::Extensions.list(), *inst);
                deleted -= 1;
            }
        } else {
            restore(module, &before, &after);
        }
    }
    Ok(Outcome {
        statistics: vec![("declarations deleted", deleted)],
    })
}

/// What tells readers which kind of module this is, and what is needed for how pointers are used and
/// not for an instruction by itself.
const BASIC: [Capability; 4] = [
    Capability::Shader,
    Capability::Kernel,
    Capability::VariablePointers,
    Capability::VariablePointersStorageBuffer,
];

/// Types that are there for being stored may be computed with as well: what allows that stays, and so
/// does what is basic.
fn keep_basic(module: &mut Module, before: &[Inst], after: &[Inst]) -> usize {
    let small = [
        (Capability::Int8, Op::TypeInt, 8),
        (Capability::Int16, Op::TypeInt, 16),
        (Capability::Float16, Op::TypeFloat, 16),
    ];
    let mut kept = 0;
    for inst in before.iter().filter(|i| !after.contains(i)) {
        let capability = module.inst(*inst).word(0);
        let row = small.iter().find(|row| row.0.0 == capability);
        let basic = BASIC.iter().any(|b| b.0 == capability);
        let used = row.is_some_and(|(_, op, width)| {
            let mut types = module.section(Section::Globals);
            types.any(|t| t.op() == *op && t.word(0) == *width)
        });
        if used || basic {
            module.append(Section::Capabilities.list(), *inst);
            kept += 1;
        }
    }
    kept
}

fn declared(module: &Module, section: Section) -> Vec<Inst> {
    module.section(section).map(InstRef::handle).collect()
}

fn restore(module: &mut Module, before: &[Vec<Inst>; 2], after: &[Vec<Inst>; 2]) {
    for inst in after.iter().flatten() {
        module.remove(*inst);
    }
    for (section, insts) in DECLARING.iter().zip(before) {
        for inst in insts {
            module.append(section.list(), *inst);
        }
    }
}
