//! Binding of arguments to parameters and descriptors.

use crate::values::{ArgSpec, ArgTarget, ValueSpec};
use spirula_program::program::{ProgramEntry, ProgramEntryParameter};
use spirula_spirv::reflect::{EntryInterface, InterfaceParam};

/// Name of a buffer, argument or result.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueLabel {
    /// Its role.
    pub role: ValueRole,
    /// Position among those of its role, from 0.
    pub number: usize,
    /// Name in the module or program.
    pub name: Option<String>,
    /// Set, binding and element of a descriptor.
    pub binding: Option<(u32, u32, u32)>,
}

impl ValueLabel {
    /// The name in messages.
    pub fn title(&self) -> String {
        let place = match self.binding {
            Some((set, binding, 0)) => format!("set {set}, binding {binding}"),
            Some((set, binding, index)) => format!("set {set}, binding {binding}[{index}]"),
            None => format!("{} {}", self.role.name(), self.number),
        };
        match &self.name {
            Some(name) => format!("{place} ({name})"),
            None => place,
        }
    }

    /// Whether a number, a name or SET,BINDING designates it.
    pub fn is_designated_by(&self, which: &str) -> bool {
        let by_place = || match (which.parse(), self.binding) {
            (
                Ok(ArgTarget::Binding {
                    set,
                    binding,
                    index,
                }),
                Some(own),
            ) => (set, binding, index) == own,
            _ => false,
        };
        let by_number = || self.role != ValueRole::PushConstant && which == self.number.to_string();
        by_number() || self.name.as_deref() == Some(which) || by_place()
    }
}

/// Role of a value in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueRole {
    /// An argument of a kernel or program, or the resource of a descriptor.
    Argument,
    /// A result of a program.
    Result,
    /// A buffer whose address is a push constant.
    PushConstant,
}

impl ValueRole {
    /// The role in messages.
    fn name(self) -> &'static str {
        match self {
            ValueRole::Argument => "argument",
            ValueRole::Result => "result",
            ValueRole::PushConstant => "push constant",
        }
    }
}

impl BoundParameter {
    /// The buffer whose address is a push constant.
    pub fn from_push_constant(number: usize, value: ValueSpec) -> BoundParameter {
        BoundParameter {
            label: ValueLabel {
                role: ValueRole::PushConstant,
                number,
                name: Some(format!("push{number}")),
                binding: None,
            },
            param: None,
            value,
            is_used: true,
        }
    }
}

/// A parameter or descriptor with its argument.
#[derive(Clone, Debug)]
pub struct BoundParameter {
    /// Its name.
    pub label: ValueLabel,
    /// A kernel's parameter; `None` for descriptors and for programs.
    pub param: Option<InterfaceParam>,
    /// The argument.
    pub value: ValueSpec,
    /// Whether the kernel has the descriptor. Arguments for missing descriptors are made, and not bound.
    pub is_used: bool,
}

/// A parameter or descriptor without an argument.
pub struct UnboundParameter {
    name: Option<String>,
    binding: Option<(u32, u32, u32)>,
    param: Option<InterfaceParam>,
    /// Whether it belongs to an array of descriptors without a size, which arguments extend.
    open: bool,
    is_used: bool,
}

impl UnboundParameter {
    /// Binds an argument, which has a number among all arguments.
    fn bind_value(self, number: usize, value: ValueSpec) -> BoundParameter {
        BoundParameter {
            label: ValueLabel {
                role: ValueRole::Argument,
                number,
                name: self.name,
                binding: self.binding,
            },
            param: self.param,
            value,
            is_used: self.is_used,
        }
    }

    /// The name of a descriptor in messages.
    pub fn format_descriptor(&self) -> String {
        let (set, binding, index) = self.binding.unwrap_or_default();
        describe_target(&ArgTarget::Binding {
            set,
            binding,
            index,
        })
    }
}

/// The descriptors that arguments name and a shader lacks, for example because optimisation removed their uses. So a
/// launch that fits a module also fits the optimised module.
pub fn find_unused_descriptors(
    interface: &EntryInterface,
    given: &[ArgSpec],
) -> Vec<UnboundParameter> {
    if interface.takes_arguments() {
        return Vec::new();
    }
    let declared = module_parameters(interface, given);
    let mut found: Vec<UnboundParameter> = Vec::new();
    for arg in given {
        let Some(
            place @ ArgTarget::Binding {
                set,
                binding,
                index,
            },
        ) = &arg.place
        else {
            continue;
        };
        if find_target_slot(&declared, place).is_none() && find_target_slot(&found, place).is_none()
        {
            found.push(UnboundParameter {
                name: None,
                binding: Some((*set, *binding, *index)),
                param: None,
                open: false,
                is_used: false,
            });
        }
    }
    found
}

/// Merges descriptors in the order of their places, so that arguments keep their numbers.
pub fn in_order(
    mut free: Vec<UnboundParameter>,
    unused: Vec<UnboundParameter>,
) -> Vec<UnboundParameter> {
    if !unused.is_empty() {
        free.extend(unused);
        free.sort_by_key(|f| f.binding);
    }
    free
}

/// Binds the arguments of `callee`, in the order of parameters or descriptors.
///
/// # Errors
/// When an argument names no place, or arguments are too few or too many.
pub fn bind_arguments(
    callee: &str,
    free: Vec<UnboundParameter>,
    given: &[ArgSpec],
) -> Result<Vec<BoundParameter>, String> {
    let mut taken: Vec<Option<&ValueSpec>> = vec![None; free.len()];
    for arg in given {
        let Some(place) = &arg.place else { continue };
        let at = find_target_slot(&free, place).ok_or_else(|| describe_unknown_target(place))?;
        if taken[at].replace(&arg.value).is_some() {
            return Err(format!("{} is given twice", describe_target(place)));
        }
    }
    let mut rest = given.iter().filter(|a| a.place.is_none());
    for slot in taken.iter_mut().filter(|slot| slot.is_none()) {
        *slot = rest.next().map(|a| &a.value);
    }
    let missing = taken
        .iter()
        .zip(&free)
        .filter(|(t, f)| t.is_none() && !f.open)
        .count();
    let surplus = rest.count();
    if missing > 0 || surplus > 0 {
        let wanted = free.iter().filter(|f| !f.open && f.is_used).count();
        let given = given.len() - free.iter().filter(|f| !f.is_used).count();
        return Err(format!(
            "{callee} takes {wanted} arguments, {given} are given"
        ));
    }
    let mut bound = Vec::new();
    for (parameter, value) in free.into_iter().zip(taken) {
        if let Some(value) = value {
            bound.push(parameter.bind_value(bound.len(), value.clone()));
        }
    }
    Ok(bound)
}

/// The parameters of an entry point of a program.
pub fn program_parameters(entry: &ProgramEntry) -> Vec<UnboundParameter> {
    let one = |p: &ProgramEntryParameter| UnboundParameter {
        name: Some(p.name.clone()),
        binding: None,
        param: None,
        open: false,
        is_used: true,
    };
    entry.parameters.iter().map(one).collect()
}

/// The parameters and descriptors of an entry point of a module.
pub fn module_parameters(interface: &EntryInterface, given: &[ArgSpec]) -> Vec<UnboundParameter> {
    let params = interface.params.iter().map(|p| UnboundParameter {
        name: p.name.clone(),
        binding: None,
        param: Some(p.clone()),
        open: false,
        is_used: true,
    });
    // The bindings of a shader that was compiled from a kernel are arguments of the kernel, or internal.
    let own = if interface.takes_arguments() {
        &[][..]
    } else {
        &interface.bindings
    };
    let bindings = own.iter().flat_map(|b| {
        // An array without a size has no more elements than there are arguments.
        let most = given.len() as u32;
        let count = if b.count == 0 {
            most
        } else {
            b.count.min(most.saturating_add(1))
        };
        (0..count).map(move |index| UnboundParameter {
            name: b.name.clone(),
            binding: Some((b.set, b.binding, index)),
            param: None,
            open: b.count == 0 && index > 0,
            is_used: true,
        })
    });
    params.chain(bindings).collect()
}

fn find_target_slot(free: &[UnboundParameter], place: &ArgTarget) -> Option<usize> {
    match place {
        ArgTarget::Name(name) => free.iter().position(|f| f.name.as_deref() == Some(name)),
        ArgTarget::Binding {
            set,
            binding,
            index,
        } => free
            .iter()
            .position(|f| f.binding == Some((*set, *binding, *index))),
    }
}

fn describe_unknown_target(place: &ArgTarget) -> String {
    format!("there is no {}", describe_target(place))
}

fn describe_target(place: &ArgTarget) -> String {
    match place {
        ArgTarget::Name(name) => format!("parameter named {name}"),
        ArgTarget::Binding {
            set,
            binding,
            index,
        } => format!("element {index} of set {set}, binding {binding}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirula_spirv::Id;
    use spirula_spirv::grammar::enumerants::ExecutionModel;
    use spirula_spirv::reflect::{BindingKind, InterfaceBinding, ParamKind};

    fn make_interface(params: &[&str], bindings: &[(u32, u32, u32)]) -> EntryInterface {
        let param = |name: &&str| InterfaceParam {
            name: Some((*name).to_owned()),
            kind: ParamKind::Opaque { ty: Id::MAX },
            type_name: None,
        };
        let binding = |&(set, binding, count): &(u32, u32, u32)| InterfaceBinding {
            set,
            binding,
            variable: Id::MAX,
            name: None,
            kind: BindingKind::Storage(Id::MAX),
            count,
            read_only: false,
        };
        EntryInterface {
            name: "f".to_owned(),
            model: if params.is_empty() {
                ExecutionModel::GLCompute
            } else {
                ExecutionModel::Kernel
            },
            function: Id::MAX,
            workgroup_size: None,
            params: params.iter().map(param).collect(),
            bindings: bindings.iter().map(binding).collect(),
            unused: Vec::new(),
            push_constant_bytes: 0,
            passing: None,
        }
    }

    fn bind_to_text(interface: &EntryInterface, args: &[&str]) -> Result<Vec<String>, String> {
        let specs: Vec<ArgSpec> = args.iter().map(|a| a.parse().unwrap()).collect();
        let slots = bind_arguments(
            &interface.name,
            module_parameters(interface, &specs),
            &specs,
        )?;
        Ok(slots
            .iter()
            .map(|s| format!("{} {:?}", s.label.title(), s.value))
            .collect())
    }

    #[test]
    fn names_first_then_in_order() {
        let f = make_interface(&["a", "b"], &[]);
        let bound = bind_to_text(&f, &["b:local=1", "local=2"]).unwrap();
        assert_eq!(
            bound,
            ["argument 0 (a) Local(2)", "argument 1 (b) Local(1)"]
        );
    }

    #[test]
    fn arrays_of_descriptors() {
        let f = make_interface(&[], &[(0, 0, 2), (1, 3, 0)]);
        let bound = bind_to_text(&f, &["local=1", "local=2", "local=3", "local=4"]).unwrap();
        assert_eq!(
            bound[1..],
            [
                "set 0, binding 0[1] Local(2)",
                "set 1, binding 3 Local(3)",
                "set 1, binding 3[1] Local(4)"
            ]
        );
        assert!(bind_to_text(&f, &["local=1", "local=2"]).is_err());
    }

    #[test]
    fn wrong_numbers_and_places() {
        let f = make_interface(&["a", "b"], &[]);
        let error = |args: &[&str]| bind_to_text(&f, args).unwrap_err();
        assert_eq!(error(&["local=1"]), "f takes 2 arguments, 1 are given");
        assert_eq!(error(&["local=1"; 3]), "f takes 2 arguments, 3 are given");
        assert_eq!(
            error(&["c:local=1", "local=1"]),
            "there is no parameter named c"
        );
        assert_eq!(
            error(&["a:local=1", "a:local=1"]),
            "parameter named a is given twice"
        );
        assert_eq!(
            error(&["0,0:local=1", "local=1"]),
            "there is no element 0 of set 0, binding 0"
        );
    }

    #[test]
    fn descriptors_that_a_shader_lacks_keep_their_places() {
        let mut f = make_interface(&[], &[(0, 1, 1)]);
        f.model = ExecutionModel::GLCompute;
        let given: Vec<ArgSpec> = ["0,0:local=1", "0,1:local=2"]
            .iter()
            .map(|a| a.parse().unwrap())
            .collect();
        let unused = find_unused_descriptors(&f, &given);
        assert_eq!(unused.len(), 1);
        let free = in_order(module_parameters(&f, &given), unused);
        let found = bind_arguments(&f.name, free, &given).unwrap();
        let found: Vec<_> = found.iter().map(|s| (s.label.number, s.is_used)).collect();
        assert_eq!(found, [(0, false), (1, true)]);
        let missing: Vec<ArgSpec> = vec!["0,0:local=1".parse().unwrap()];
        let free = in_order(
            module_parameters(&f, &missing),
            find_unused_descriptors(&f, &missing),
        );
        assert!(bind_arguments(&f.name, free, &missing).is_err());
    }

    #[test]
    fn huge_arrays_of_descriptors_take_no_memory() {
        let f = make_interface(&[], &[(0, 0, u32::MAX)]);
        assert!(bind_to_text(&f, &["local=1"]).is_err());
    }
}
