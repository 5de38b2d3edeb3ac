//! Differences: the elements of buffers, and where two buffers differ.

use super::element_types::ElementEvidence;
use crate::ResourceHandle;
use crate::data::{ElementNumber, ElementType};
use crate::type_names::TypeNames;
use spirula_spirv::Id;
use spirula_spirv::analysis::IdDefinitions;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{ModuleSection, SpirvModule};

/// Smallest size of floats that bytes are interpreted as where the module does not declare them so.
const PLAUSIBLE: f64 = 1e-30;

/// Tolerance for floats, which may differ by `absolute + relative * |value|`. Integers must be equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloatTolerance {
    /// Absolute tolerance, for floats of any size.
    pub absolute: f64,
    /// Relative tolerance; by default some units in the last place of each type.
    pub relative: Option<f64>,
}

impl Default for FloatTolerance {
    fn default() -> Self {
        FloatTolerance {
            absolute: 1e-8,
            relative: None,
        }
    }
}

impl FloatTolerance {
    fn relative_for(&self, element: ElementType) -> f64 {
        self.relative.unwrap_or(match element {
            ElementType::BF16 => 1e-2,
            ElementType::F16 => 1e-3,
            _ => 1e-5,
        })
    }
}

/// A resource of a launch.
pub struct ComparedBuffer {
    pub resource: ResourceHandle,
    /// The first byte that the launch is passed.
    pub start: u64,
    /// Its name in messages.
    pub place: String,
    /// Its possible element types, and whether the module declares each.
    pub elements: Vec<(ElementType, bool)>,
}

/// Element types of the types of a module.
pub struct ElementTypes<'m> {
    module: &'m SpirvModule,
    definitions: IdDefinitions,
    names: TypeNames<'m>,
    evidence: ElementEvidence,
}

impl<'m> ElementTypes<'m> {
    /// One pass over a module.
    pub fn from_module(module: &'m SpirvModule) -> ElementTypes<'m> {
        let names = TypeNames::from_module(module);
        ElementTypes {
            module,
            definitions: IdDefinitions::from_module(module),
            evidence: ElementEvidence::from_module(module, &names),
            names,
        }
    }

    /// The float type that some variables hold, as far as their uses show.
    pub fn infer_float_type(&self, variables: &[Id]) -> Option<ElementType> {
        self.evidence.infer_float_type(variables)
    }

    /// The scalars of some types, then all other float types of the module, since the types of pointers may be wrong.
    pub fn list_elements(&self, types: &[Id]) -> Vec<(ElementType, bool)> {
        let mut out: Vec<(ElementType, bool)> = Vec::new();
        let mut add = |element: Option<ElementType>, is_said| {
            if let Some(element) = element
                && !out.iter().any(|(known, _)| *known == element)
            {
                out.push((element, is_said));
            }
        };
        let mut open = types.to_vec();
        let mut seen: Vec<Id> = Vec::new();
        while let Some(ty) = open.pop() {
            let Some(inst) = self
                .definitions
                .get(self.module, ty)
                .filter(|_| !seen.contains(&ty))
            else {
                continue;
            };
            seen.push(ty);
            match inst.op() {
                Op::TypeInt | Op::TypeFloat => {
                    add(self.names.parse_value_type(ty).map(|v| v.element), true)
                }
                Op::TypeStruct => open.extend(inst.id_operands(0)),
                Op::TypeVector | Op::TypeMatrix | Op::TypeArray | Op::TypeRuntimeArray => {
                    open.push(inst.id_operand(0));
                }
                _ => {}
            }
        }
        let globals = self.module.section_insts(ModuleSection::Globals);
        for inst in globals.filter(|i| i.op() == Op::TypeFloat) {
            let ty = inst.result().and_then(|id| self.names.parse_value_type(id));
            add(ty.map(|v| v.element), false);
        }
        out
    }
}

/// The first difference between two buffers, if there is one. They agree if they do as any of their possible element types.
pub fn find_difference(
    one: &[u8],
    other: &[u8],
    used: &ComparedBuffer,
    tolerance: &FloatTolerance,
) -> Option<String> {
    if one == other {
        return None;
    }
    let mut first = None;
    for (element, is_said) in &used.elements {
        let found = part_as(one, other, *element, *is_said, tolerance)?;
        first.get_or_insert(found);
    }
    let mut guesses = used.elements.iter().filter(|(_, is_said)| !is_said);
    let unsure = guesses.next().map(|(element, _)| {
        format!(", if they are no {element}: the module does not say what these bytes are")
    });
    match first {
        Some(found) => Some(found + &unsure.unwrap_or_default()),
        None => part_as(one, other, ElementType::U8, true, tolerance),
    }
}

fn part_as(
    one: &[u8],
    other: &[u8],
    element: ElementType,
    is_said: bool,
    tolerance: &FloatTolerance,
) -> Option<String> {
    let size = element.size();
    let pairs = one.chunks_exact(size).zip(other.chunks_exact(size));
    let mut count = 0;
    let mut first = None;
    for (at, (a, b)) in pairs.enumerate() {
        if a == b {
            continue;
        }
        let (x, y) = (element.decode_number(a), element.decode_number(b));
        if !is_within_tolerance(
            x,
            y,
            is_said,
            tolerance.absolute,
            tolerance.relative_for(element),
        ) {
            count += 1;
            first.get_or_insert((at, element.format_number(x), element.format_number(y)));
        }
    }
    // Bytes after the last whole element must be equal.
    let rest = one.len() / size * size;
    if first.is_none() && one[rest..] != other[rest..] {
        return part_as(
            &one[rest..],
            &other[rest..],
            ElementType::U8,
            true,
            tolerance,
        );
    }
    let (at, x, y) = first?;
    let of = one.len() / size;
    Some(format!(
        "{x} and {y} at {at}, {count} of {of} {element} differ"
    ))
}

fn is_within_tolerance(
    x: ElementNumber,
    y: ElementNumber,
    is_said: bool,
    absolute: f64,
    relative: f64,
) -> bool {
    if let (ElementNumber::Int(x), ElementNumber::Int(y)) = (x, y) {
        return x == y;
    }
    let (x, y) = (x.to_f64(), y.to_f64());
    let is_plausible = is_said || (x.abs() >= PLAUSIBLE && y.abs() >= PLAUSIBLE);
    let within = x == y || (x - y).abs() <= absolute + relative * x.abs().max(y.abs());
    is_plausible && (within || (x.is_nan() && y.is_nan()))
}
