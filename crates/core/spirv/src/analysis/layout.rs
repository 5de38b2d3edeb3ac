//! Memory layout of types: sizes, alignments, offsets and strides.
//!
//! Explicit decorations count where they stand (`Offset`, `ArrayStride`, `MatrixStride`). Without
//! them the rules of OpenCL C hold (OpenCL SPIR-V environment specification, section 2.6): a scalar
//! is aligned to its size, a vector to its size with three components taking the room of four, a
//! structure to its most aligned member. Booleans take a byte.

use super::{IdDecorations, IdDefinitions};
use crate::grammar::Op;
use crate::grammar::enumerants::{AddressingModel, Decoration};
use crate::ir::{InstRef, ModuleSection, SpirvModule};
use crate::{Id, IdMap};
use spirula_diagnostics::SourceDiagnostic;

/// Size and alignment of a type, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TypeLayout {
    /// Size in bytes up to the end of the last part, padding included; 0 for types without a size (`void`,
    /// runtime arrays).
    pub size: u64,
    /// Alignment, a power of two, at least 1.
    pub align: u32,
    /// Distance of an array's elements, a vector's components or a matrix's columns; 0 for other types.
    pub stride: u64,
    /// Index of the structure's first member in the member table.
    members: u32,
}

/// Position of a structure's member, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemberLayout {
    /// Offset from the structure's beginning.
    pub offset: u64,
    /// Distance of columns (rows where row-major) of matrices in this member, where decorated.
    pub matrix_stride: Option<u64>,
    /// Whether matrices in this member are stored row by row.
    pub row_major: bool,
}

/// The layouts of all types of a module.
#[derive(Clone, Debug)]
pub struct TypeLayouts {
    types: IdMap<TypeLayout>,
    members: Vec<MemberLayout>,
    pointer_size: u32,
}

impl TypeLayouts {
    /// One pass over the module's types. `constant` gives the value of array lengths, which may be
    /// specialisation constants.
    ///
    /// # Errors
    /// When a type is larger than 2^48 bytes, or the length of an array is not known.
    pub fn from_module(
        module: &SpirvModule,
        definitions: &IdDefinitions,
        decorations: &IdDecorations,
        constant: impl Fn(Id) -> Option<u64>,
    ) -> Result<TypeLayouts, SourceDiagnostic> {
        let addressing = module
            .section_insts(ModuleSection::MemoryModel)
            .next()
            .map(|m| m.operand_word(0));
        let pointer_size = if addressing == Some(AddressingModel::Physical32.0) {
            4
        } else {
            8
        };
        let types = IdMap::new(
            module.bound(),
            TypeLayout {
                align: 1,
                ..TypeLayout::default()
            },
        );
        let mut layouts = TypeLayouts {
            types,
            members: Vec::new(),
            pointer_size,
        };
        let context = TypeLayoutContext {
            module,
            definitions,
            decorations,
        };
        for inst in module.section_insts(ModuleSection::Globals) {
            let Some(id) = inst.result() else { continue };
            if let Some(layout) = layouts.of_type(&context, inst, id, &constant)? {
                if layout.size > 1 << 48 {
                    let message = format!("{id} is a type of {} bytes", layout.size);
                    return Err(SourceDiagnostic::error(inst.place(), message));
                }
                layouts.types.set(id, layout);
            }
        }
        Ok(layouts)
    }

    /// The layout of a type.
    pub fn get(&self, ty: Id) -> TypeLayout {
        self.types[ty]
    }

    /// The layout of member `n` of a structure type. An invalid module may define a structure twice, with fewer
    /// members the second time. The layouts of the other members are then meaningless.
    pub fn member_layout(&self, structure: Id, n: u32) -> MemberLayout {
        let at = self.types[structure].members + n;
        self.members.get(at as usize).copied().unwrap_or_default()
    }

    /// Size of a pointer in memory, in bytes.
    pub fn pointer_size(&self) -> u32 {
        self.pointer_size
    }

    fn of_type(
        &mut self,
        context: &TypeLayoutContext<'_>,
        inst: InstRef<'_>,
        id: Id,
        constant: &impl Fn(Id) -> Option<u64>,
    ) -> Result<Option<TypeLayout>, SourceDiagnostic> {
        let layout = match inst.op() {
            Op::TypeBool => make_scalar_layout(1),
            Op::TypeInt | Op::TypeFloat => make_scalar_layout(
                u64::from(inst.operand_word(0))
                    .div_ceil(8)
                    .next_power_of_two(),
            ),
            Op::TypeVector => {
                let part = self.types[inst.id_operand(0)].size;
                let count = u64::from(inst.operand_word(1));
                let size = part.saturating_mul(if count == 3 { 4 } else { count });
                let align = size.next_power_of_two().clamp(1, 128) as u32;
                TypeLayout {
                    size,
                    align,
                    stride: part,
                    members: 0,
                }
            }
            Op::TypeMatrix => {
                let column = self.types[inst.id_operand(0)];
                let size = column.size.saturating_mul(inst.operand_word(1).into());
                TypeLayout {
                    size,
                    stride: column.size,
                    ..column
                }
            }
            Op::TypeArray | Op::TypeRuntimeArray => {
                let length = if inst.op() == Op::TypeRuntimeArray {
                    0
                } else {
                    constant(inst.id_operand(1)).ok_or_else(|| {
                        let message = format!("the length of the array type {id} is not known");
                        SourceDiagnostic::error(inst.place(), message)
                    })?
                };
                let element = self.types[inst.id_operand(0)];
                let natural = round_up(element.size, element.align);
                let stride = context
                    .decorations
                    .get(context.module, id, Decoration::ArrayStride)
                    .and_then(|w| w.first())
                    .map_or(natural, |w| u64::from(*w));
                TypeLayout {
                    size: stride.saturating_mul(length),
                    stride,
                    ..element
                }
            }
            Op::TypeStruct => self.of_structure(context, inst, id),
            Op::TypePointer | Op::TypeForwardPointer | Op::TypeUntypedPointerKHR => {
                make_scalar_layout(self.pointer_size.into())
            }
            // Room for all components in a row, whatever their distribution.
            Op::TypeCooperativeMatrixKHR => {
                let part = self.types[inst.id_operand(0)];
                let [rows, columns] = [2, 3].map(|n| constant(inst.id_operand(n)).unwrap_or(0));
                TypeLayout {
                    size: part.size.saturating_mul(rows).saturating_mul(columns),
                    stride: part.size,
                    ..part
                }
            }
            op if context.is_opaque_type(op) => make_scalar_layout(8),
            _ => return Ok(None),
        };
        Ok(Some(layout))
    }

    fn of_structure(
        &mut self,
        context: &TypeLayoutContext<'_>,
        inst: InstRef<'_>,
        id: Id,
    ) -> TypeLayout {
        let TypeLayoutContext {
            module,
            decorations,
            ..
        } = *context;
        let packed = decorations.get(module, id, Decoration::CPacked).is_some();
        let first = self.members.len() as u32;
        let (mut end, mut align) = (0u64, 1u32);
        for (n, member) in inst.id_operands(0).enumerate() {
            let n = n as u32;
            // A pointer type with only a forward declaration has no layout yet, but is known.
            let layout = match self.types[member] {
                TypeLayout {
                    size: 0, align: 1, ..
                } if context.is_pointer(member) => make_scalar_layout(self.pointer_size.into()),
                layout => layout,
            };
            let word = |what| {
                let operands = decorations.get_member(module, id, n, what);
                operands.and_then(|o| o.first()).map(|w| u64::from(*w))
            };
            let member_align = if packed { 1 } else { layout.align };
            let offset = word(Decoration::Offset).unwrap_or_else(|| round_up(end, member_align));
            let matrix_stride = word(Decoration::MatrixStride);
            let row_major = decorations
                .get_member(module, id, n, Decoration::RowMajor)
                .is_some();
            self.members.push(MemberLayout {
                offset,
                matrix_stride,
                row_major,
            });
            end = end.max(offset.saturating_add(layout.size));
            align = align.max(member_align);
        }
        TypeLayout {
            size: round_up(end, align),
            align,
            stride: 0,
            members: first,
        }
    }
}

struct TypeLayoutContext<'a> {
    module: &'a SpirvModule,
    definitions: &'a IdDefinitions,
    decorations: &'a IdDecorations,
}

impl TypeLayoutContext<'_> {
    fn is_pointer(&self, ty: Id) -> bool {
        self.definitions.defining_op(self.module, ty) == Some(Op::TypePointer)
    }

    fn is_opaque_type(&self, op: Op) -> bool {
        op != Op::TypeVoid
            && op != Op::TypeFunction
            && op
                .info()
                .is_some_and(|i| i.class == crate::grammar::InstructionClass::TypeDeclaration)
    }
}

fn make_scalar_layout(size: u64) -> TypeLayout {
    TypeLayout {
        size,
        align: size as u32,
        stride: 0,
        members: 0,
    }
}

fn round_up(value: u64, align: u32) -> u64 {
    value
        .checked_next_multiple_of(align.max(1).into())
        .unwrap_or(u64::MAX)
}
