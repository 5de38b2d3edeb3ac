//! Stages of programs before the kernel IR, which can be watched.

/// Observer of stages. It receives the name of each stage, and a function that prints the result of the stage.
pub type StageObserver<'a> = dyn FnMut(&str, &dyn Fn() -> String) + 'a;

/// The first stage of tensor programs: its name and its description.
pub(crate) const TRANSLATE: (&str, &str) =
    ("translate", "Makes structured operations of StableHLO's");

/// The stage before, of programs for several devices.
pub(crate) const PARTITION: (&str, &str) = (
    "partition",
    "Makes the program of one device of a StableHLO program for several (--partitions)",
);

/// The first stage of Futhark source.
pub(crate) const TYPED: (&str, &str) = (
    "typed",
    "Resolves the names of Futhark source and infers its types",
);

/// Names and descriptions of the stages that tensor programs and Futhark source pass through, in their order.
pub fn list_program_stages() -> impl Iterator<Item = (&'static str, &'static str)> {
    [PARTITION, TRANSLATE]
        .into_iter()
        .chain(spirula_tensor::list_stages())
        .chain([TYPED])
        .chain(spirula_segment::lower::STAGES)
}
