//! Data layout: sizes, alignments and offsets of types in memory.

use super::{LlvmType, LlvmTypeKind, LlvmTypes};

/// A size with its alignments in a data layout, all in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PrimitiveSpec {
    width: u32,
    align: u32,
}

/// Layout of pointers of one address space, in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PointerSpec {
    space: u32,
    width: u32,
    align: u32,
    index: u32,
}

/// A data layout. See LLVM's reference manual, "Data Layout", for the text form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataLayout {
    text: String,
    big_endian: bool,
    pointers: Vec<PointerSpec>,
    ints: Vec<PrimitiveSpec>,
    floats: Vec<PrimitiveSpec>,
    vectors: Vec<PrimitiveSpec>,
    aggregate_align: u32,
    alloca_space: u32,
    global_space: u32,
    program_space: u32,
    measures: Vec<Option<SizeAndAlign>>,
}

/// Size in bits and alignment in bytes of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SizeAndAlign {
    bits: u64,
    align: u64,
}

/// Progress of the computation of a [`SizeAndAlign`]. A type that is met while it is in progress
/// contains itself.
#[derive(Clone, Copy)]
enum TypeLayoutProgress {
    Unknown,
    Busy,
    Known(Option<SizeAndAlign>),
}

/// Offsets of the fields of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructLayout {
    /// Offset of each field in bytes.
    pub offsets: Vec<u64>,
    /// Size in bytes, padding at the end included.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
}

/// Nesting depth of types beyond which no sizes are computed.
const MAX_DEPTH: u32 = 64;

impl Default for DataLayout {
    fn default() -> Self {
        let spec = |(width, align)| PrimitiveSpec { width, align };
        DataLayout {
            text: String::new(),
            big_endian: false,
            pointers: vec![PointerSpec {
                space: 0,
                width: 64,
                align: 64,
                index: 64,
            }],
            ints: [(1, 8), (8, 8), (16, 16), (32, 32), (64, 32)]
                .map(spec)
                .into(),
            floats: [(16, 16), (32, 32), (64, 64), (128, 128)].map(spec).into(),
            vectors: [(64, 64), (128, 128)].map(spec).into(),
            aggregate_align: 8,
            alloca_space: 0,
            global_space: 0,
            program_space: 0,
            measures: Vec::new(),
        }
    }
}

impl DataLayout {
    /// Parses the text of a data layout.
    ///
    /// # Errors
    /// The component that is not understood.
    pub fn from_text(text: &str) -> Result<Self, &str> {
        let mut layout = DataLayout {
            text: text.to_owned(),
            ..DataLayout::default()
        };
        for part in text.split('-').filter(|part| !part.is_empty()) {
            layout.parse_component(part).ok_or(part)?;
        }
        Ok(layout)
    }

    /// The text it was parsed from; empty for the default layout.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Address space of `alloca`.
    pub fn alloca_space(&self) -> u32 {
        self.alloca_space
    }

    /// Address space of globals that state none.
    pub fn global_space(&self) -> u32 {
        self.global_space
    }

    /// Address space of functions.
    pub fn program_space(&self) -> u32 {
        self.program_space
    }

    /// Whether the most significant byte comes first.
    pub fn is_big_endian(&self) -> bool {
        self.big_endian
    }

    fn parse_component(&mut self, part: &str) -> Option<()> {
        let kind = part.chars().next()?;
        let mut rest = part[kind.len_utf8()..].split(':');
        let head = rest.next()?;
        let number = |text: Option<&str>| match text {
            None | Some("") => Some(None),
            Some(text) => text.parse::<u32>().ok().map(Some),
        };
        match kind {
            'e' if head.is_empty() => self.big_endian = false,
            'E' if head.is_empty() => self.big_endian = true,
            'A' => self.alloca_space = head.parse().ok()?,
            'G' => self.global_space = head.parse().ok()?,
            'P' => self.program_space = head.parse().ok()?,
            'p' => {
                let space = number(Some(head.trim_start_matches(['e', 'u', 'n'])))?.unwrap_or(0);
                let width = number(rest.next())?.filter(|&width| width > 0)?;
                let align = number(rest.next())?.unwrap_or(width);
                let index = number(rest.nth(1))?.unwrap_or(width);
                let new = PointerSpec {
                    space,
                    width,
                    align,
                    index,
                };
                match self.pointers.iter_mut().find(|spec| spec.space == space) {
                    Some(spec) => *spec = new,
                    None => self.pointers.push(new),
                }
            }
            'i' | 'f' | 'v' => {
                let width = head.parse().ok()?;
                let align = number(rest.next())??;
                let specs = match kind {
                    'i' => &mut self.ints,
                    'f' => &mut self.floats,
                    _ => &mut self.vectors,
                };
                set_spec(specs, PrimitiveSpec { width, align });
            }
            'a' => self.aggregate_align = number(rest.next())?.unwrap_or(0).max(8),
            // Mangling, native integers, stack and function pointer alignment, and properties of
            // address spaces do not change sizes.
            'm' | 'n' | 'S' | 'F' | 's' => {}
            _ => return None,
        }
        Some(())
    }

    fn pointer_spec(&self, space: u32) -> PointerSpec {
        let found = self.pointers.iter().find(|spec| spec.space == space);
        *found.unwrap_or(&self.pointers[0])
    }

    /// Width in bits of pointers in an address space.
    pub fn pointer_width(&self, space: u32) -> u32 {
        self.pointer_spec(space).width
    }

    /// Width in bits of offsets in an address space.
    pub fn index_width(&self, space: u32) -> u32 {
        self.pointer_spec(space).index
    }

    /// Size in bits without padding. It is `None` for types without a known size, such as scalable
    /// vectors and opaque structs, and beyond 2^61 bytes.
    pub fn size_in_bits(&self, types: &LlvmTypes, ty: LlvmType) -> Option<u64> {
        self.measure_type(types, ty).map(|measure| measure.bits)
    }

    /// Bytes that a store of the type writes.
    pub fn store_size(&self, types: &LlvmTypes, ty: LlvmType) -> Option<u64> {
        self.size_in_bits(types, ty).map(|bits| bits.div_ceil(8))
    }

    /// Number of bytes of a structure, whose members may be opaque objects of SPIR-V. LLVM lays these out as pointers.
    pub fn store_size_with_objects(&self, types: &LlvmTypes, ty: LlvmType) -> Option<u64> {
        let object = self.pointer_spec(0);
        let object = SizeAndAlign {
            bits: u64::from(object.width),
            align: in_bytes(object.align),
        };
        let mut measure = |inner| match types.kind(inner) {
            LlvmTypeKind::Target { .. } => Some(object),
            _ => self.measure_type(types, inner),
        };
        let whole = self.compute_measure(types, ty, &mut measure)?;
        Some(whole.bits.div_ceil(8))
    }

    /// Distance in bytes between consecutive array elements of the type.
    pub fn alloc_size(&self, types: &LlvmTypes, ty: LlvmType) -> Option<u64> {
        self.measure_type(types, ty)?.alloc_size()
    }

    /// ABI alignment in bytes; 1 for types without a size.
    pub fn abi_align(&self, types: &LlvmTypes, ty: LlvmType) -> u64 {
        self.measure_type(types, ty)
            .map_or(1, |measure| measure.align)
    }

    /// Layout of a struct type; `None` for other types and for structs without a size.
    pub fn struct_layout(&self, types: &LlvmTypes, ty: LlvmType) -> Option<StructLayout> {
        self.lay_out_fields(types, ty, &mut |inner| self.measure_type(types, inner))
    }

    /// Computes size and alignment of every type once, so that later queries are look-ups. Readers
    /// call it when the types are complete; the layout of types added later is computed on each
    /// query.
    pub fn measure_all(&mut self, types: &LlvmTypes) {
        self.measures.clear();
        let mut states = vec![TypeLayoutProgress::Unknown; types.len()];
        for (ty, _) in types.iter() {
            self.measure_nested(types, ty, 0, &mut states);
        }
        let known = |state| match state {
            TypeLayoutProgress::Known(measure) => measure,
            _ => None,
        };
        self.measures = states.into_iter().map(known).collect();
    }

    /// Size and alignment of a type, from the table or computed.
    fn measure_type(&self, types: &LlvmTypes, ty: LlvmType) -> Option<SizeAndAlign> {
        match self.measures.get(ty.index()) {
            Some(&measure) => measure,
            None => self.compute_measure(types, ty, &mut |inner| match self
                .measures
                .get(inner.index())
            {
                Some(&measure) => measure,
                None => self.measure_nested(
                    types,
                    inner,
                    1,
                    &mut vec![TypeLayoutProgress::Unknown; types.len()],
                ),
            }),
        }
    }

    fn measure_nested(
        &self,
        types: &LlvmTypes,
        ty: LlvmType,
        depth: u32,
        states: &mut [TypeLayoutProgress],
    ) -> Option<SizeAndAlign> {
        match states[ty.index()] {
            TypeLayoutProgress::Known(measure) => return measure,
            TypeLayoutProgress::Busy => return None,
            TypeLayoutProgress::Unknown if depth > MAX_DEPTH => return None,
            TypeLayoutProgress::Unknown => {}
        }
        states[ty.index()] = TypeLayoutProgress::Busy;
        let measure = self.compute_measure(types, ty, &mut |inner| {
            self.measure_nested(types, inner, depth + 1, states)
        });
        states[ty.index()] = TypeLayoutProgress::Known(measure);
        measure
    }

    /// Size and alignment of a type, given those of the types within it.
    fn compute_measure(
        &self,
        types: &LlvmTypes,
        ty: LlvmType,
        inner: &mut dyn FnMut(LlvmType) -> Option<SizeAndAlign>,
    ) -> Option<SizeAndAlign> {
        let measure = match *types.kind(ty) {
            LlvmTypeKind::Int(width) => SizeAndAlign {
                bits: u64::from(width),
                align: in_bytes(int_align(&self.ints, width)),
            },
            LlvmTypeKind::Pointer { space, .. } => {
                let spec = self.pointer_spec(space);
                SizeAndAlign {
                    bits: u64::from(spec.width),
                    align: in_bytes(spec.align),
                }
            }
            LlvmTypeKind::Array { element, len } => {
                let element = inner(element)?;
                let bits = element.alloc_size()?.checked_mul(len)?.checked_mul(8)?;
                SizeAndAlign {
                    bits,
                    align: element.align,
                }
            }
            LlvmTypeKind::Vector {
                element,
                len,
                scalable: false,
            } => {
                let bits = inner(element)?.bits.checked_mul(u64::from(len))?;
                SizeAndAlign {
                    bits,
                    align: self.vector_align(bits)?,
                }
            }
            LlvmTypeKind::Struct { .. } => {
                let layout = self.lay_out_fields(types, ty, inner)?;
                SizeAndAlign {
                    bits: layout.size.checked_mul(8)?,
                    align: layout.align,
                }
            }
            LlvmTypeKind::X86Mmx => SizeAndAlign { bits: 64, align: 8 },
            LlvmTypeKind::X86Amx => SizeAndAlign {
                bits: 8192,
                align: 64,
            },
            _ => {
                let width = types.float_width(ty)?;
                let spec = self.floats.iter().find(|spec| spec.width == width);
                let align = spec.map_or(width.next_power_of_two(), |spec| spec.align);
                SizeAndAlign {
                    bits: u64::from(width),
                    align: in_bytes(align),
                }
            }
        };
        (measure.bits < 1 << 63).then_some(measure)
    }

    fn vector_align(&self, bits: u64) -> Option<u64> {
        match self
            .vectors
            .iter()
            .find(|spec| u64::from(spec.width) == bits)
        {
            Some(spec) => Some(in_bytes(spec.align)),
            None => bits.div_ceil(8).max(1).checked_next_power_of_two(),
        }
    }

    fn lay_out_fields(
        &self,
        types: &LlvmTypes,
        ty: LlvmType,
        inner: &mut dyn FnMut(LlvmType) -> Option<SizeAndAlign>,
    ) -> Option<StructLayout> {
        let LlvmTypeKind::Struct {
            fields: Some(fields),
            packed,
            ..
        } = types.kind(ty)
        else {
            return None;
        };
        let base = if *packed {
            1
        } else {
            in_bytes(self.aggregate_align)
        };
        let mut layout = StructLayout {
            offsets: Vec::new(),
            size: 0,
            align: base,
        };
        for &field in fields {
            let measure = inner(field)?;
            let align = if *packed { 1 } else { measure.align };
            let offset = layout.size.checked_next_multiple_of(align)?;
            layout.offsets.push(offset);
            layout.size = offset.checked_add(measure.alloc_size()?)?;
            layout.align = layout.align.max(align);
        }
        layout.size = layout.size.checked_next_multiple_of(layout.align)?;
        Some(layout)
    }
}

impl SizeAndAlign {
    fn alloc_size(self) -> Option<u64> {
        self.bits.div_ceil(8).checked_next_multiple_of(self.align)
    }
}

fn in_bytes(bits: u32) -> u64 {
    u64::from(bits.div_ceil(8)).max(1)
}

fn set_spec(specs: &mut Vec<PrimitiveSpec>, new: PrimitiveSpec) {
    match specs.binary_search_by_key(&new.width, |spec| spec.width) {
        Ok(at) => specs[at] = new,
        Err(at) => specs.insert(at, new),
    }
}

/// The alignment of the next larger integer that the layout states, or that of the largest.
fn int_align(specs: &[PrimitiveSpec], width: u32) -> u32 {
    specs
        .iter()
        .find(|spec| spec.width >= width)
        .or(specs.last())
        .map_or(8, |spec| spec.align)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPIR64: &str =
        "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1";

    #[test]
    fn spir64_sizes() {
        let mut layout = DataLayout::from_text(SPIR64).unwrap();
        let mut types = LlvmTypes::default();
        layout.measure_all(&types);
        let vec3 = types.make_vector(LlvmType::FLOAT, 3, false);
        assert_eq!(layout.alloc_size(&types, vec3), Some(16));
        assert_eq!(layout.store_size(&types, vec3), Some(12));
        assert_eq!(layout.global_space(), 1);
        let body = types.literal_struct([LlvmType::I8, LlvmType::I64, LlvmType::I16].into(), false);
        let found = layout.struct_layout(&types, body).unwrap();
        assert_eq!(
            (found.offsets, found.size, found.align),
            (vec![0, 8, 16], 24, 8)
        );
        let packed = types.literal_struct([LlvmType::I8, LlvmType::I64].into(), true);
        assert_eq!(layout.alloc_size(&types, packed), Some(9));
        assert_eq!(layout.alloc_size(&types, LlvmType::PTR), Some(8));
    }

    #[test]
    fn pointers_of_32_bits() {
        let layout = DataLayout::from_text("e-p:32:32-i64:64").unwrap();
        assert_eq!(layout.pointer_width(4), 32);
        assert_eq!(DataLayout::from_text("e-zz"), Err("zz"));
    }

    #[test]
    fn recursive_structs_have_no_size() {
        let mut types = LlvmTypes::default();
        let name = super::super::LlvmSymbol::EMPTY;
        let ty = types.named_struct(name);
        types.set_body(ty, [ty, ty].into(), false);
        assert_eq!(DataLayout::default().alloc_size(&types, ty), None);
    }
}
