//! Faults of consumption: what is used or consumed, why it must not be, and what to write instead.

use super::ConsumptionChecker;
use super::alias_graph::{AliasId, AliasOrigin, ConsumptionId, ConsumptionWay};
use super::ownership::{OwnershipForm, OwnershipId};
use crate::syntax::tree::SourceNameId;
use crate::typed::{LocalId, ProgramPlace, TypedExpressionId};

/// The advice where memory must not be shared.
const COPY_HINT: &str = "use a copy, which shares no memory: `copy x`";

impl ConsumptionChecker<'_> {
    fn local_name(&self, local: LocalId) -> &str {
        &self.program.names[self.program.locals[local].name]
    }

    /// The memory of a root, for messages.
    fn describe_root(&self, root: AliasId) -> String {
        match self.graph.origin(root) {
            AliasOrigin::Local(local) => format!("`{}`", self.local_name(local)),
            AliasOrigin::Global(definition) => {
                let name = self.program.definitions[definition].name;
                format!("`{}`", &self.program.names[name])
            }
            AliasOrigin::Call(place) => {
                format!(
                    "the result of the call at {}",
                    self.files.describe_place(place)
                )
            }
            AliasOrigin::Merged => "a part of it".to_owned(),
        }
    }

    /// The root of a set that a place consumed, for messages.
    fn describe_consumed(&self, set: AliasId, event: ConsumptionId) -> String {
        let roots = self.graph.roots_of(set);
        let root = roots
            .into_iter()
            .find(|&root| self.graph.consumption(root) == Some(event));
        root.map_or_else(
            || "a part of it".to_owned(),
            |root| self.describe_root(root),
        )
    }

    /// Where and how a value was consumed.
    fn describe_event(&self, id: ConsumptionId) -> String {
        let event = self.graph.event(id);
        let place = self.files.describe_place(event.place);
        match event.way {
            ConsumptionWay::Argument => {
                format!("it is consumed at {place}, as the argument of a function")
            }
            ConsumptionWay::Update => format!("it is consumed at {place}, by an update in place"),
            ConsumptionWay::LoopStart => {
                format!("it is consumed at {place}, as the first value of a loop that updates it")
            }
        }
    }

    /// A variable is used after it was consumed.
    pub(super) fn report_use(
        &mut self,
        local: LocalId,
        set: AliasId,
        event: ConsumptionId,
        place: ProgramPlace,
    ) {
        if !self.reported.insert(event) {
            return;
        }
        let name = self.local_name(local).to_owned();
        let consumed = self.describe_consumed(set, event);
        let message = if consumed == format!("`{name}`") {
            format!("`{name}` is used after it was consumed")
        } else {
            format!(
                "`{name}` is used after {consumed} was consumed, with which it may share memory"
            )
        };
        let note = self.describe_event(event);
        let hint = format!("consume a copy instead: `copy {name}`");
        self.faults.report(place, message, |fault| {
            let fault = fault.with_label("used here").with_note(note);
            fault.with_hint(hint)
        });
    }

    /// A value is consumed again.
    pub(super) fn report_second_consumption(
        &mut self,
        set: AliasId,
        before: ConsumptionId,
        event: ConsumptionId,
    ) {
        if !self.reported.insert(before) {
            return;
        }
        let place = self.graph.event(event).place;
        let consumed = self.describe_consumed(set, before);
        let note = self.describe_event(before);
        let message = format!("{consumed} is consumed again");
        self.faults.report(place, message, |fault| {
            let fault = fault.with_label("consumed here").with_note(note);
            fault.with_hint(COPY_HINT)
        });
    }

    /// Memory is consumed that must stay as it is.
    pub(super) fn report_not_consumable(&mut self, root: AliasId, event: ConsumptionId) {
        let event = self.graph.event(event);
        let described = self.describe_root(root);
        let origin = self.graph.origin(root);
        let reason = if matches!(origin, AliasOrigin::Global(_)) {
            "it is a constant, which all functions share".to_owned()
        } else if self.is_outside(root) {
            "it is bound outside of the function or loop that would consume it each time it runs"
                .to_owned()
        } else {
            "it is a parameter whose type is not unique".to_owned()
        };
        let hint = match origin {
            AliasOrigin::Local(local) if !self.is_outside(root) => {
                let name = self.local_name(local);
                format!("declare the type of `{name}` as `*…`, or consume a copy: `copy {name}`")
            }
            _ => COPY_HINT.to_owned(),
        };
        let message = format!("{described} is consumed, but it is not consumable");
        let label = match event.way {
            ConsumptionWay::Argument => "consumed by the function",
            ConsumptionWay::Update => "updated in place",
            ConsumptionWay::LoopStart => "consumed by the loop",
        };
        self.faults.report(event.place, message, |fault| {
            fault.with_label(label).with_note(reason).with_hint(hint)
        });
    }

    /// Making a function consumes something, though the function may be called more than once.
    pub(super) fn report_function_consumption(
        &mut self,
        place: ProgramPlace,
        mark: usize,
        subject: &str,
    ) {
        let consumed = self.graph.consumed_since(mark);
        let note = consumed.first().map(|&(root, event)| {
            format!(
                "{}: {}",
                self.describe_root(root),
                self.describe_event(event)
            )
        });
        let message = format!("{subject} consumes a value, which the function would keep");
        self.faults.report(place, message, |fault| {
            let fault = match note {
                Some(note) => fault.with_note(note),
                None => fault,
            };
            fault.with_hint(
                "consume the value in the body of a function that takes it as a unique parameter",
            )
        });
    }

    /// An argument shares memory with another one, which is consumed.
    pub(super) fn report_shared_argument(
        &mut self,
        argument: TypedExpressionId,
        other: TypedExpressionId,
        set: AliasId,
        event: ConsumptionId,
    ) {
        let place = self.program.expressions[argument].place;
        let other = self
            .files
            .describe_place(self.program.expressions[other].place);
        let shared = self.describe_consumed(set, event);
        let message =
            "the argument is consumed, but another argument shares memory with it".to_owned();
        let note = format!("the argument at {other} may have the memory of {shared}, too");
        self.faults.report(place, message, |fault| {
            fault
                .with_label("consumed here")
                .with_note(note)
                .with_hint(COPY_HINT)
        });
    }

    /// Parts of an argument share memory, and one is consumed.
    pub(super) fn report_shared_parts(&mut self, event: ConsumptionId) {
        let place = self.graph.event(event).place;
        let message = "the argument is consumed, but its parts share memory (it is self-aliased)";
        self.faults.report(place, message.to_owned(), |fault| {
            fault.with_hint(COPY_HINT)
        });
    }

    /// A function has the wrong uniqueness.
    pub(super) fn report_unusable(
        &mut self,
        place: ProgramPlace,
        found: OwnershipId,
        expected: OwnershipId,
    ) {
        let reason = match (self.ownerships.form(found), self.ownerships.form(expected)) {
            (OwnershipForm::Function(parameter, _), OwnershipForm::Function(expected, _))
                if self.ownerships.summary(*parameter).has_unique
                    && !self.ownerships.summary(*expected).has_unique =>
            {
                "it consumes its argument, but the caller may use the argument again"
            }
            _ => "it consumes more, or its result may share more memory, than the caller expects",
        };
        let message = "the argument is a function that is incompatible regarding consuming";
        self.faults.report(place, message.to_owned(), |fault| {
            fault
                .with_note(reason)
                .with_hint("pass a function that consumes a copy: `\\x -> f (copy x)`")
        });
    }

    /// A definition has not the uniqueness that its module type gives it.
    pub(super) fn report_ascription(
        &mut self,
        name: SourceNameId,
        found: OwnershipId,
        expected: OwnershipId,
        place: ProgramPlace,
    ) {
        let name = &self.program.names[name];
        let message = format!(
            "value `{name}` consumes more, or its result may share more memory, than its module type says"
        );
        let note = format!(
            "uniqueness of its type: `{}`, in the module type: `{}`",
            self.ownerships.describe(found),
            self.ownerships.describe(expected)
        );
        self.faults
            .report(place, message, |fault| fault.with_note(note));
    }

    /// The new value of an update in place shares memory with what is updated.
    pub(super) fn report_update_overlap(&mut self, place: ProgramPlace) {
        let message =
            "the new value of the in-place update may share memory with the array that is updated";
        self.faults.report(place, message.to_owned(), |fault| {
            fault.with_hint(COPY_HINT)
        });
    }

    /// A constant has a unique type.
    pub(super) fn report_unique_constant(&mut self, place: ProgramPlace) {
        let message = "a constant cannot have a unique type, as all functions share it";
        self.faults.report(place, message.to_owned(), |fault| {
            fault.with_hint("write its type without `*`, and use `copy` where it is consumed")
        });
    }

    /// A unique part of a result is memory that the caller keeps.
    pub(super) fn report_unique_result(&mut self, root: AliasId, place: ProgramPlace) {
        let described = self.describe_root(root);
        let message = format!(
            "the result is unique, but it is aliased to {described}, which is not consumable"
        );
        self.faults.report(place, message, |fault| {
            fault.with_label("may share memory").with_hint(COPY_HINT)
        });
    }

    /// A unique part of a result shares memory with another part.
    pub(super) fn report_shared_result(&mut self, place: ProgramPlace) {
        let message = "a unique part of the result is aliased to some other component of it";
        self.faults.report(place, message.to_owned(), |fault| {
            fault.with_hint(COPY_HINT)
        });
    }

    /// A result has the memory of a constant.
    pub(super) fn report_global_result(&mut self, root: AliasId, place: ProgramPlace) {
        let described = self.describe_root(root);
        let message =
            format!("the result of the function aliases the free variable {described}, a constant");
        self.faults
            .report(place, message, |fault| fault.with_hint(COPY_HINT));
    }

    /// The next value of a consumed variable of a loop is memory from outside.
    pub(super) fn report_loop_alias(
        &mut self,
        variable: LocalId,
        root: AliasId,
        place: ProgramPlace,
    ) {
        let name = self.local_name(variable).to_owned();
        let described = self.describe_root(root);
        let message = format!(
            "the loop consumes `{name}`, but the next value of `{name}` aliases {described}"
        );
        let note = format!("{described} is bound outside of the loop");
        self.faults.report(place, message, |fault| {
            fault.with_note(note).with_hint(COPY_HINT)
        });
    }

    /// The next values of two variables of a loop share memory, and one is consumed.
    pub(super) fn report_loop_overlap(
        &mut self,
        variable: LocalId,
        other: LocalId,
        place: ProgramPlace,
    ) {
        let (name, other) = (self.local_name(variable), self.local_name(other));
        let message = format!(
            "the loop consumes `{name}` or `{other}`, but the next value of `{name}` aliases previously returned value of `{other}`"
        );
        self.faults
            .report(place, message, |fault| fault.with_hint(COPY_HINT));
    }

    /// The body of a loop uses what its first value consumes.
    pub(super) fn report_loop_use(
        &mut self,
        local: LocalId,
        event: ConsumptionId,
        place: ProgramPlace,
    ) {
        let name = self.local_name(local).to_owned();
        let note = self.describe_event(event);
        let message =
            format!("the loop uses `{name}`, but its first value consumes it or an alias of it");
        let hint = format!("begin the loop with a copy: `copy {name}`");
        self.faults.report(place, message, |fault| {
            fault.with_note(note).with_hint(hint)
        });
    }
}
