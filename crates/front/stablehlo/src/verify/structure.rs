//! Rules of structure: rules 1 to 5 of the module `verify`, which do not depend on the meaning of
//! operations.

use super::dominance::RegionDominators;
use crate::dialect::records::{CallAttributes, CompositeAttributes, FuncAttributes};
use crate::dialect::{AttributeRecord, MlirOpcode};
use crate::mlir::{
    MlirBlock, MlirModule, MlirOp, MlirRegion, MlirType, MlirTypeKind, MlirValue, ValueDefinition,
};
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;

/// Adds violations of the rules of structure.
pub(crate) fn verify_structure(module: &MlirModule, faults: &mut Vec<SourceDiagnostic>) {
    let mut state = StructureVerifier::new(module);
    let mut open = vec![module.root()];
    while let Some(op) = open.pop() {
        if faults.len() >= super::MAX_FAULTS {
            return;
        }
        state.verify_operation(op, faults);
        for region in module.regions(op).rev() {
            for &block in module.blocks(region).iter().rev() {
                open.extend(module.ops(block).iter().rev());
            }
        }
    }
}

struct StructureVerifier<'m> {
    module: &'m MlirModule,
    /// Position of each operation in its block.
    op_position: Vec<u32>,
    /// Position of each block in its region.
    block_position: Vec<u32>,
    /// Dominators of regions with several blocks.
    dominators: FxHashMap<usize, RegionDominators>,
}

impl<'m> StructureVerifier<'m> {
    fn new(module: &'m MlirModule) -> Self {
        let mut state = StructureVerifier {
            module,
            op_position: vec![0; module.op_count()],
            block_position: vec![0; module.block_count()],
            dominators: FxHashMap::default(),
        };
        let mut open = vec![module.root()];
        while let Some(op) = open.pop() {
            for region in module.regions(op) {
                for (at, &block) in module.blocks(region).iter().enumerate() {
                    state.block_position[block.index()] = at as u32;
                    for (at, &inner) in module.ops(block).iter().enumerate() {
                        state.op_position[inner.index()] = at as u32;
                        open.push(inner);
                    }
                }
            }
        }
        state
    }

    fn verify_operation(&mut self, op: MlirOp, faults: &mut Vec<SourceDiagnostic>) {
        let module = self.module;
        for (at, &operand) in module.operands(op).iter().enumerate() {
            if !self.is_visible(operand, op) {
                let message = format!(
                    "operand {at} of `{}` is not defined before it",
                    module.op_name(op)
                );
                let hint = "move its definition to the front, or pass it as an argument";
                faults.push(
                    SourceDiagnostic::error(module.source_location(op), message).with_hint(hint),
                );
            }
        }
        if let Some(message) = self.verify_terminator(op) {
            faults.push(SourceDiagnostic::error(module.source_location(op), message));
        }
        let more = match module.opcode(op) {
            Some(MlirOpcode::Module) => self.unique_names(op, faults),
            Some(MlirOpcode::Func) => self.verify_function(op),
            Some(MlirOpcode::FuncCall | MlirOpcode::Composite) => self.verify_call(op),
            _ => None,
        };
        if let Some(message) = more {
            faults.push(SourceDiagnostic::error(module.source_location(op), message));
        }
    }

    /// Rule 1.
    fn is_visible(&mut self, value: MlirValue, user: MlirOp) -> bool {
        let module = self.module;
        let (home, definition) = match module.definition(value) {
            ValueDefinition::Argument(block, _) => (block, None),
            ValueDefinition::Result(op, _) => match module.block_of(op) {
                Some(block) => (block, Some(op)),
                None => return false,
            },
        };
        let region = module.region_of(home);
        // Go outwards from the user to the operation in the value's region.
        let mut at = user;
        loop {
            let Some(block) = module.block_of(at) else {
                return false;
            };
            if module.region_of(block) == region {
                return self.comes_before(home, definition, block, at);
            }
            let parent = module.region_parent(module.region_of(block));
            if module
                .op_definition(parent)
                .is_some_and(|known| known.isolated)
            {
                return false;
            }
            at = parent;
        }
    }

    /// Whether a definition precedes an operation of the same region. An operation's results are
    /// not visible in its own regions.
    fn comes_before(
        &mut self,
        home: MlirBlock,
        definition: Option<MlirOp>,
        block: MlirBlock,
        user: MlirOp,
    ) -> bool {
        if home == block {
            let position = |op: MlirOp| self.op_position[op.index()];
            return definition.is_none_or(|op| position(op) < position(user));
        }
        let region = self.module.region_of(home);
        let (a, b) = (
            self.block_position[home.index()],
            self.block_position[block.index()],
        );
        self.region_dominators(region).dominates(a, b)
    }

    fn region_dominators(&mut self, region: MlirRegion) -> &RegionDominators {
        let (module, position) = (self.module, &self.block_position);
        let entry = self.dominators.entry(region.index());
        entry.or_insert_with(|| RegionDominators::from_region(module, region, position))
    }

    /// Rule 2: for an operation that may be a terminator, and for the blocks of one that requires
    /// terminators.
    fn verify_terminator(&self, op: MlirOp) -> Option<String> {
        let module = self.module;
        let name = module.op_name(op);
        if module.is_return(op) {
            let block = module.block_of(op)?;
            if module.ops(block).last() != Some(&op) {
                return Some(format!("`{name}` is not the last operation of its block"));
            }
            let parent = module.parent(op)?;
            let outer = module.opcode(parent);
            let right = match module.opcode(op) {
                Some(MlirOpcode::FuncReturn) => outer == Some(MlirOpcode::Func),
                _ => outer != Some(MlirOpcode::Module),
            };
            let parent = module.op_name(parent);
            return (!right).then(|| format!("`{name}` does not end a block of `{parent}`"));
        }
        // JAX ends functions that only custom calls refer to with the return of regions.
        let is_function = module.opcode(op) == Some(MlirOpcode::Func);
        let dialect = name.split_once('.').map(|(dialect, _)| dialect);
        if !is_function && !matches!(dialect, Some("stablehlo" | "chlo")) {
            return None;
        }
        let is_terminator = |last: MlirOp| match module.opcode(last) {
            Some(MlirOpcode::Return) => true,
            Some(MlirOpcode::FuncReturn) => is_function,
            _ => false,
        };
        let lacks_terminator = |block: &MlirBlock| match module.ops(*block).last() {
            Some(&last) => !is_terminator(last) && module.successors(last).is_empty(),
            None => true,
        };
        let mut blocks = module.regions(op).flat_map(|region| module.blocks(region));
        let expected = if is_function {
            MlirOpcode::FuncReturn
        } else {
            MlirOpcode::Return
        };
        let missing = blocks.any(lacks_terminator);
        missing.then(|| {
            let expected = expected.name();
            format!("a block of `{name}` does not end with `{expected}`")
        })
    }

    /// Rule 3.
    fn unique_names(&self, op: MlirOp, faults: &mut Vec<SourceDiagnostic>) -> Option<String> {
        let module = self.module;
        let mut seen = FxHashMap::default();
        for block in module.regions(op).flat_map(|region| module.blocks(region)) {
            for &inner in module.ops(*block) {
                let Some(name) = module.symbol_name(inner) else {
                    continue;
                };
                if let Some(first) = seen.insert(name, inner) {
                    let message = format!("the name `@{name}` is used twice");
                    let note = format!("the first is at {}", module.source_location(first));
                    faults.push(
                        SourceDiagnostic::error(module.source_location(inner), message)
                            .with_note(note),
                    );
                }
            }
        }
        None
    }

    /// Rule 4.
    fn verify_function(&self, op: MlirOp) -> Option<String> {
        let module = self.module;
        let Some((inputs, results)) = self.function_type(op) else {
            return Some("a function has a type `(…) -> …`".to_owned());
        };
        let blocks = module.blocks(module.regions(op).next()?);
        let Some(&entry) = blocks.first() else {
            let attributes = FuncAttributes::read(module, op).ok();
            let visibility = attributes.and_then(|attributes| attributes.sym_visibility);
            let is_private = visibility.is_some_and(|visibility| visibility.0 == "private");
            let message = "a function without a body is private";
            return (!is_private).then(|| message.to_owned());
        };
        let arguments: Vec<MlirType> = module.arguments(entry).map(|v| module.type_of(v)).collect();
        if arguments != inputs {
            return Some("the first block has other arguments than the function's type".to_owned());
        }
        for &block in blocks {
            let Some(&last) = module.ops(block).last() else {
                continue;
            };
            let returned = module.operands(last).iter().map(|&v| module.type_of(v));
            if module.is_return(last) && !returned.eq(results.iter().copied()) {
                return Some(
                    "the returned values have other types than the function's results".to_owned(),
                );
            }
        }
        None
    }

    fn function_type(&self, op: MlirOp) -> Option<(&'m [MlirType], &'m [MlirType])> {
        let attributes = FuncAttributes::read(self.module, op).ok()?;
        match self.module.types.kind(attributes.function_type) {
            MlirTypeKind::Function { inputs, results } => Some((inputs, results)),
            _ => None,
        }
    }

    /// Rule 5. Calls in inner modules are to functions of those, and are not followed.
    fn verify_call(&self, op: MlirOp) -> Option<String> {
        let module = self.module;
        let is_call = module.opcode(op) == Some(MlirOpcode::FuncCall);
        let name = if is_call {
            CallAttributes::read(module, op).ok()?.callee
        } else {
            CompositeAttributes::read(module, op).ok()?.decomposition
        };
        let name = name.0;
        let Some(function) = module.find_function(name) else {
            let inner = module.functions().is_empty() || self.stands_in_inner_module(op);
            return (!inner).then(|| format!("the function `@{name}` is not defined"));
        };
        if self.stands_in_inner_module(op) || !is_call {
            return None;
        }
        let (inputs, results) = self.function_type(function)?;
        let operands = module.operands(op).iter().map(|&v| module.type_of(v));
        let found = module.results(op).map(|v| module.type_of(v));
        let same = operands.eq(inputs.iter().copied()) && found.eq(results.iter().copied());
        (!same).then(|| format!("`@{name}` is called with other types than it has"))
    }

    fn stands_in_inner_module(&self, op: MlirOp) -> bool {
        let module = self.module;
        let outwards = std::iter::successors(module.parent(op), |&op| module.parent(op));
        outwards
            .filter(|&op| module.opcode(op) == Some(MlirOpcode::Module))
            .count()
            > 1
    }
}
