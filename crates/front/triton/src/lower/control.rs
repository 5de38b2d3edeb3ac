//! Control flow: loops and conditions of the dialect `scf`, and blocks of the dialect `cf`.

use super::binding::TileLowering;
use super::destination::CarriedPlace;
use super::fault;
use super::stepped::find_step;
use crate::TritonResult;
use crate::emit::value_type;
use crate::ir::{TileBlock, TileOperation, TileRegion, ValueId};

/// A block that control may continue in.
#[derive(Clone, Debug)]
pub(super) struct BlockTarget {
    label: String,
    places: Vec<CarriedPlace>,
}

/// Operations that leave a block of a function.
const BLOCK_ENDS: &[&str] = &[
    "cf.br",
    "cf.cond_br",
    "tt.map_elementwise.return",
    "tt.return",
];

impl<'m> TileLowering<'m, '_> {
    /// Lowers the blocks of a region. The arguments of the first one are bound.
    pub fn lower_region(&mut self, region: &'m TileRegion) -> TritonResult<()> {
        let [first, rest @ ..] = region.blocks.as_slice() else {
            return Err(fault(&self.function.place, "a region has no block"));
        };
        let mut targets = vec![BlockTarget {
            label: String::new(),
            places: Vec::new(),
        }];
        for block in rest {
            let arguments = block.arguments.iter();
            let places = arguments.map(|argument| self.make_place(self.type_of(*argument)));
            let places = places.collect();
            targets.push(BlockTarget {
                label: self.kernel.text.make_label(),
                places,
            });
        }
        region
            .blocks
            .iter()
            .try_for_each(|block| self.require_block_end(block))?;
        self.block_targets.push(targets.clone());
        self.enter_scope();
        self.lower_block(first)?;
        self.leave_scope();
        for (block, target) in rest.iter().zip(&targets[1..]) {
            self.kernel.text.begin_block(&target.label);
            self.enter_scope();
            for (argument, place) in block.arguments.iter().zip(&target.places) {
                self.bind_place(*argument, place);
            }
            self.lower_block(block)?;
            self.leave_scope();
        }
        self.block_targets.pop();
        Ok(())
    }

    /// Demands that a block ends with the one operation that leaves it.
    fn require_block_end(&self, block: &TileBlock) -> TritonResult<()> {
        let leaves = |operation: &TileOperation| BLOCK_ENDS.contains(&operation.name.as_str());
        let Some((last, rest)) = block.operations.split_last() else {
            return Err(fault(&self.function.place, "a block has no operation"));
        };
        let wrong = match rest.iter().find(|operation| leaves(operation)) {
            Some(early) => early,
            None if leaves(last) => return Ok(()),
            None => last,
        };
        let names = BLOCK_ENDS.join(", ");
        let message = format!("a block ends with one of {names}, and nothing follows it");
        Err(fault(&wrong.place, message))
    }

    /// Lowers a branch of the dialect `cf`.
    pub fn lower_branch(&mut self, operation: &'m TileOperation) -> TritonResult<()> {
        let malformed = || fault(&operation.place, format!("malformed {}", operation.name));
        let targets = self.block_targets.last().cloned().unwrap_or_default();
        let mut chosen = Vec::new();
        for (number, values) in &operation.successors {
            let target = targets.get(*number).filter(|_| *number > 0);
            chosen.push((target.ok_or_else(malformed)?, values));
        }
        match chosen.as_slice() {
            [(target, values)] => {
                self.move_values(values, &target.places)?;
                self.kernel.text.branch(&target.label);
            }
            [(holds, holds_values), (fails, fails_values)] => {
                let condition = *operation.operands.first().ok_or_else(malformed)?;
                let condition = self.evaluate_scalar(condition)?;
                let text = &mut self.kernel.text;
                let (first, second) = (text.make_label(), text.make_label());
                text.branch_if(&condition, &first, &second);
                for (label, target, values) in
                    [(first, holds, holds_values), (second, fails, fails_values)]
                {
                    self.kernel.text.begin_block(&label);
                    self.enter_scope();
                    self.move_values(values, &target.places)?;
                    self.leave_scope();
                    self.kernel.text.branch(&target.label);
                }
            }
            _ => return Err(malformed()),
        }
        Ok(())
    }

    /// The places of the values that a loop carries, filled with the values before it.
    fn make_carried_places(
        &mut self,
        operation: &'m TileOperation,
        initial: &'m [ValueId],
    ) -> TritonResult<Vec<CarriedPlace>> {
        let mut places = Vec::new();
        for (number, value) in initial.iter().enumerate() {
            let ty = self.type_of(*value);
            let is_for = operation.name == "scf.for" && ty.shape.is_some();
            let step = is_for.then(|| find_step(&self.facts, operation, number));
            places.push(match step.flatten() {
                Some(step) => CarriedPlace::Stepped {
                    name: self.kernel.text.make_variable("i64"),
                    initial: *value,
                    step,
                },
                None => self.make_place(ty),
            });
        }
        let mut moved = (Vec::new(), Vec::new());
        for (value, place) in initial.iter().zip(&places) {
            if let CarriedPlace::Stepped { name, .. } = place {
                self.kernel.text.act(format!("store i64 0, ptr {name}"));
            } else {
                moved.0.push(*value);
                moved.1.push(place.clone());
            }
        }
        self.move_values(&moved.0, &moved.1)?;
        Ok(places)
    }

    /// Lowers `scf.for`.
    pub fn lower_for(&mut self, operation: &'m TileOperation) -> TritonResult<()> {
        let malformed = || fault(&operation.place, "malformed scf.for");
        let ([low, high, step, initial @ ..], Some(block)) = (
            operation.operands.as_slice(),
            operation
                .regions
                .first()
                .and_then(|region| region.blocks.first()),
        ) else {
            return Err(malformed());
        };
        let [counter, arguments @ ..] = block.arguments.as_slice() else {
            return Err(malformed());
        };
        if arguments.len() != initial.len() || operation.results.len() != initial.len() {
            return Err(malformed());
        }
        let ty = value_type(&self.type_of(*counter).element);
        let predicate = if operation.words.is_empty() {
            "slt"
        } else {
            "ult"
        };
        let low = self.evaluate_scalar(*low)?;
        let high = self.evaluate_scalar(*high)?;
        let step = self.evaluate_scalar(*step)?;
        let places = self.make_carried_places(operation, initial)?;
        let text = &mut self.kernel.text;
        let variable = text.make_variable(&ty);
        text.act(format!("store {ty} {low}, ptr {variable}"));
        let (head, inside, after) = (text.make_label(), text.make_label(), text.make_label());
        text.branch(&head);
        text.begin_block(&head);
        let position = text.compute(format!("load {ty}, ptr {variable}"));
        let goes_on = text.compute(format!("icmp {predicate} {ty} {position}, {high}"));
        text.branch_if(&goes_on, &inside, &after);
        text.begin_block(&inside);
        self.enter_scope();
        self.bind(*counter, super::TileBinding::Scalar(position.clone()));
        for (argument, place) in arguments.iter().zip(&places) {
            self.bind_place(*argument, place);
        }
        let yielded = self.lower_inner_block(block)?;
        self.move_values(yielded, &places)?;
        self.leave_scope();
        let text = &mut self.kernel.text;
        let next = text.compute(format!("add {ty} {position}, {step}"));
        text.act(format!("store {ty} {next}, ptr {variable}"));
        text.branch(&head);
        text.begin_block(&after);
        self.bind_results(operation, &places);
        Ok(())
    }

    /// Binds the results of an operation to places.
    fn bind_results(&mut self, operation: &TileOperation, places: &[CarriedPlace]) {
        for (result, place) in operation.results.iter().zip(places) {
            self.bind_place(*result, place);
        }
    }

    /// Lowers `scf.if`.
    pub fn lower_if(&mut self, operation: &'m TileOperation) -> TritonResult<()> {
        let (Some(condition), [then_region, else_region @ ..]) =
            (operation.operands.first(), operation.regions.as_slice())
        else {
            return Err(fault(&operation.place, "malformed scf.if"));
        };
        let condition = self.evaluate_scalar(*condition)?;
        let results = operation.results.iter();
        let places = results.map(|result| self.make_place(self.type_of(*result)));
        let places: Vec<CarriedPlace> = places.collect();
        let text = &mut self.kernel.text;
        let (holds, fails, after) = (text.make_label(), text.make_label(), text.make_label());
        text.branch_if(&condition, &holds, &fails);
        let regions = [(holds, Some(then_region)), (fails, else_region.first())];
        for (label, region) in regions {
            self.kernel.text.begin_block(&label);
            if let Some(block) = region.and_then(|region| region.blocks.first()) {
                self.enter_scope();
                let yielded = self.lower_inner_block(block)?;
                self.move_values(yielded, &places)?;
                self.leave_scope();
            }
            self.kernel.text.branch(&after);
        }
        self.kernel.text.begin_block(&after);
        self.bind_results(operation, &places);
        Ok(())
    }

    /// Lowers `scf.while`.
    pub fn lower_while(&mut self, operation: &'m TileOperation) -> TritonResult<()> {
        let blocks = operation.regions.iter().map(|region| region.blocks.first());
        let blocks: Option<Vec<_>> = blocks.collect();
        let Some([before, body]) = blocks.as_deref() else {
            return Err(fault(&operation.place, "malformed scf.while"));
        };
        let places = self.make_carried_places(operation, &operation.operands)?;
        let results = operation.results.iter();
        let passed = results.map(|result| self.make_place(self.type_of(*result)));
        let passed: Vec<CarriedPlace> = passed.collect();
        let text = &mut self.kernel.text;
        let (head, inside, after) = (text.make_label(), text.make_label(), text.make_label());
        text.branch(&head);
        text.begin_block(&head);
        self.enter_scope();
        for (argument, place) in before.arguments.iter().zip(&places) {
            self.bind_place(*argument, place);
        }
        let condition = self.lower_inner_block(before)?;
        let [condition, values @ ..] = condition else {
            return Err(fault(&operation.place, "scf.while has no condition"));
        };
        let condition = self.evaluate_scalar(*condition)?;
        self.move_values(values, &passed)?;
        self.leave_scope();
        self.kernel.text.branch_if(&condition, &inside, &after);
        self.kernel.text.begin_block(&inside);
        self.enter_scope();
        for (argument, place) in body.arguments.iter().zip(&passed) {
            self.bind_place(*argument, place);
        }
        let yielded = self.lower_inner_block(body)?;
        self.move_values(yielded, &places)?;
        self.leave_scope();
        self.kernel.text.branch(&head);
        self.kernel.text.begin_block(&after);
        self.bind_results(operation, &passed);
        Ok(())
    }
}
