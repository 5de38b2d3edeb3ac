//! What buffers hold and where two of them part.

use super::element_types::ElementEvidence;
use crate::DeviceBuffer;
use crate::data::{ElementNumber, ElementType};
use crate::type_names::TypeNames;
use spirula_spirv::Id;
use spirula_spirv::analysis::IdDefinitions;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{ModuleSection, SpirvModule};

/// Smallest size of floats by which bytes are taken for such that the module does not say to be.
const PLAUSIBLE: f64 = 1e-30;

/// How far floats may part: by `absolute + relative * |value|`. Integers are equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloatTolerance {
    /// For floats of any size.
    pub absolute: f64,
    /// For floats, of their size; by default some units in the last place of each type.
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

/// A buffer that a launch is given.
pub struct ComparedBuffer {
    pub buffer: DeviceBuffer,
    /// What it is called.
    pub place: String,
    /// What its elements may be, and whether the module says so.
    pub elements: Vec<(ElementType, bool)>,
}

/// The types of a module as elements.
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

    /// The floats that some variables hold, as far as what is done with them tells.
    pub fn infer_float_type(&self, variables: &[Id]) -> Option<ElementType> {
        self.evidence.infer_float_type(variables)
    }

    /// The scalars of some types, then the floats that the module has besides: pointers may lie.
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

/// Where two buffers part, if they do: as any of what their elements may be they may agree.
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
    // Bytes behind the last whole element are compared as they are.
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
