//! Facts of a module: types as lists of scalars, constants, layouts.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_scalar::FloatEncoding;
use spirula_scalar::fold::{FoldConstant, FoldType, eval_core};
use spirula_scalar::int::make_mask;
use spirula_spirv::analysis::{
    IdDecorations, IdDefinitions, MemberLayout, TypeLayout, TypeLayouts,
};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, FPEncoding};
use spirula_spirv::ir::{InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// Most scalars of a value. Larger arrays can only stay in memory.
const MOST_SCALARS: usize = 1 << 16;

/// Deepest nesting of types.
const DEEPEST: usize = 64;

/// A scalar of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScalarKind {
    /// 0 or 1.
    Bool,
    /// An integer of a width.
    Int(u32),
    /// A floating-point number.
    Float(FloatEncoding),
    /// A pointer.
    Pointer,
}

impl ScalarKind {
    /// The type by which operations are found. Pointers are integers.
    pub(crate) fn to_fold_type(self) -> FoldType {
        match self {
            ScalarKind::Bool => FoldType::Bool,
            ScalarKind::Int(width) => FoldType::Int { width },
            ScalarKind::Float(format) => FoldType::Float(format),
            ScalarKind::Pointer => FoldType::Int { width: 64 },
        }
    }

    /// Bits of a value.
    pub(crate) fn bits(self) -> u32 {
        self.to_fold_type().width()
    }
}

/// A scalar in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryCell {
    /// Bytes from the beginning of the value.
    pub offset: u64,
    /// Bytes of the scalar: 1, 2, 4 or 8.
    pub bytes: u8,
}

/// How matrices lie in memory, where a member of a structure states it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MatrixOrder {
    /// Bytes from a column to the next, or from a row.
    pub stride: Option<u64>,
    /// Whether rows are consecutive.
    pub is_row_major: bool,
}

/// Facts of a module.
pub(crate) struct TypeFacts<'m> {
    pub module: &'m SpirvModule,
    pub definitions: IdDefinitions,
    pub decorations: IdDecorations,
    /// Layouts, which follow from the constants.
    layouts: Option<TypeLayouts>,
    constants: IdMap<Option<Box<[u64]>>>,
}

/// An error about an instruction.
pub(crate) fn refuse(inst: InstRef<'_>, message: impl Into<String>) -> SourceDiagnostic {
    SourceDiagnostic::error(inst.place(), message)
}

impl<'m> TypeFacts<'m> {
    /// Gathers the facts of a module with values of its specialisation constants, by their numbers.
    ///
    /// # Errors
    /// When the layout of a type is unknown.
    pub(crate) fn from_module(
        module: &'m SpirvModule,
        specialised: &[(u32, u64)],
    ) -> Result<TypeFacts<'m>, SourceDiagnostic> {
        let mut facts = TypeFacts {
            module,
            definitions: IdDefinitions::from_module(module),
            decorations: IdDecorations::from_module(module),
            layouts: None,
            constants: IdMap::new(module.bound(), None),
        };
        for inst in module.section_insts(ModuleSection::Globals) {
            let value = facts.evaluate_constant(inst, specialised);
            if let (Some(id), Some(value)) = (inst.result(), value) {
                facts.constants.set(id, Some(value));
            }
        }
        facts.layouts = Some(TypeLayouts::from_module(
            module,
            &facts.definitions,
            &facts.decorations,
            |id| facts.scalar_constant(id),
        )?);
        Ok(facts)
    }

    /// The instruction that defines an id.
    ///
    /// # Errors
    /// When nothing defines it.
    pub(crate) fn define(&self, id: Id) -> Result<InstRef<'m>, SourceDiagnostic> {
        self.definitions.get(self.module, id).ok_or_else(|| {
            SourceDiagnostic::error(SourceLocation::Unknown, format!("{id} is not defined"))
        })
    }

    /// The type of a value.
    ///
    /// # Errors
    /// When it has none.
    pub(crate) fn type_of(&self, id: Id) -> Result<Id, SourceDiagnostic> {
        let inst = self.define(id)?;
        let ty = inst.result_type();
        ty.ok_or_else(|| refuse(inst, format!("{id} has no type")))
    }

    /// The layout of a type.
    pub(crate) fn layout(&self, ty: Id) -> TypeLayout {
        let layouts = self.layouts.as_ref();
        layouts.map_or_else(TypeLayout::default, |layouts| layouts.get(ty))
    }

    /// The place of a structure's member.
    pub(crate) fn member_layout(&self, structure: Id, member: u32) -> MemberLayout {
        let layouts = self.layouts.as_ref();
        layouts.map_or_else(MemberLayout::default, |layouts| {
            layouts.member_layout(structure, member)
        })
    }

    /// The scalars of a constant.
    pub(crate) fn constant(&self, id: Id) -> Option<&[u64]> {
        self.constants[id].as_deref()
    }

    /// The bits of a scalar constant.
    pub(crate) fn scalar_constant(&self, id: Id) -> Option<u64> {
        match self.constant(id)? {
            [bits] => Some(*bits),
            _ => None,
        }
    }

    /// The first operand of a decoration of an id.
    pub(crate) fn decoration(&self, id: Id, what: Decoration) -> Option<u32> {
        let words = self.decorations.get(self.module, id, what)?;
        Some(words.first().copied().unwrap_or(0))
    }

    /// Whether a type is an array of descriptors: its elements are blocks, which no memory contains.
    pub(crate) fn is_descriptor_array(&self, ty: Id) -> bool {
        let element = self
            .define(ty)
            .ok()
            .filter(|inst| inst.op() == Op::TypeArray);
        let element = element.and_then(|inst| inst.get_id(0));
        let blocks = [Decoration::Block, Decoration::BufferBlock];
        element.is_some_and(|block| {
            let mut blocks = blocks.iter();
            blocks.any(|what| self.decoration(block, *what).is_some())
        })
    }

    /// The scalars of a type, in order.
    ///
    /// # Errors
    /// When values of the type are not supported.
    pub(crate) fn flatten_type(&self, ty: Id) -> Result<Vec<ScalarKind>, SourceDiagnostic> {
        let mut scalars = Vec::new();
        self.append_scalars(ty, 0, &mut scalars)?;
        Ok(scalars)
    }

    /// Number of scalars of a type.
    ///
    /// # Errors
    /// Those of [`TypeFacts::flatten_type`].
    pub(crate) fn count_scalars(&self, ty: Id) -> Result<u32, SourceDiagnostic> {
        Ok(self.flatten_type(ty)?.len() as u32)
    }

    fn append_scalars(
        &self,
        ty: Id,
        depth: usize,
        out: &mut Vec<ScalarKind>,
    ) -> Result<(), SourceDiagnostic> {
        let inst = self.define(ty)?;
        if depth > DEEPEST || out.len() > MOST_SCALARS {
            return Err(refuse(
                inst,
                format!("values of the type {ty} are too large"),
            ));
        }
        let scalar = match inst.op() {
            Op::TypeVoid => return Ok(()),
            Op::TypeStruct => {
                let mut members = inst.id_operands(0);
                return members.try_for_each(|member| self.append_scalars(member, depth + 1, out));
            }
            Op::TypeVector | Op::TypeMatrix | Op::TypeArray => {
                let count = match inst.op() {
                    Op::TypeArray => self.scalar_constant(inst.id_operand(1)).unwrap_or(0),
                    _ => inst.operand_word(1).into(),
                };
                let first = out.len();
                self.append_scalars(inst.id_operand(0), depth + 1, out)?;
                let part = out[first..].to_vec();
                let total = (part.len() as u64).saturating_mul(count);
                if total > MOST_SCALARS as u64 {
                    return Err(refuse(
                        inst,
                        format!("values of the type {ty} are too large"),
                    ));
                }
                out.truncate(first);
                (0..count).for_each(|_| out.extend_from_slice(&part));
                return Ok(());
            }
            Op::TypeBool => ScalarKind::Bool,
            Op::TypeInt if (1..=64).contains(&inst.operand_word(0)) => {
                ScalarKind::Int(inst.operand_word(0))
            }
            Op::TypeFloat => ScalarKind::Float(self.float_format(inst)?),
            Op::TypePointer => ScalarKind::Pointer,
            // Copies are done where they are asked for, so that events are numbers without a meaning.
            Op::TypeEvent => ScalarKind::Int(64),
            op => {
                return Err(refuse(
                    inst,
                    format!("the interpreter has no values of {op}"),
                ));
            }
        };
        out.push(scalar);
        Ok(())
    }

    fn float_format(&self, inst: InstRef<'_>) -> Result<FloatEncoding, SourceDiagnostic> {
        let format = match inst.operands().get(1).map(|word| FPEncoding(*word)) {
            None => FloatEncoding::from_ieee_width(inst.operand_word(0)),
            Some(FPEncoding::BFloat16KHR) => Some(FloatEncoding::BF16),
            Some(_) => None,
        };
        format.ok_or_else(|| refuse(inst, "the interpreter does not know this format of numbers"))
    }

    /// The one kind of a type's scalars.
    ///
    /// # Errors
    /// When the type has no scalars, or several kinds.
    pub(crate) fn component_kind(&self, ty: Id) -> Result<ScalarKind, SourceDiagnostic> {
        let scalars = self.flatten_type(ty)?;
        match scalars.split_first() {
            Some((first, rest)) if rest.iter().all(|kind| kind == first) => Ok(*first),
            _ => Err(refuse(
                self.define(ty)?,
                "the type has no components of one kind",
            )),
        }
    }

    /// The scalars of a type in memory, in order.
    ///
    /// # Errors
    /// When values of the type are not supported.
    pub(crate) fn list_cells(
        &self,
        ty: Id,
        order: MatrixOrder,
    ) -> Result<Vec<MemoryCell>, SourceDiagnostic> {
        self.count_scalars(ty)?;
        let mut cells = Vec::new();
        self.append_cells(ty, order, 0, &mut cells)?;
        Ok(cells)
    }

    fn append_cells(
        &self,
        ty: Id,
        order: MatrixOrder,
        base: u64,
        out: &mut Vec<MemoryCell>,
    ) -> Result<(), SourceDiagnostic> {
        let inst = self.define(ty)?;
        let layout = self.layout(ty);
        match inst.op() {
            Op::TypeVoid => {}
            Op::TypeStruct => {
                for (number, member) in inst.id_operands(0).enumerate() {
                    let place = self.member_layout(ty, number as u32);
                    let order = MatrixOrder {
                        stride: place.matrix_stride,
                        is_row_major: place.row_major,
                    };
                    self.append_cells(member, order, base + place.offset, out)?;
                }
            }
            Op::TypeMatrix => {
                let column = self.define(inst.id_operand(0))?;
                let part = self.layout(inst.id_operand(0)).stride;
                let major = order.stride.unwrap_or(layout.stride);
                let (across, along) = if order.is_row_major {
                    (part, major)
                } else {
                    (major, part)
                };
                for at in 0..u64::from(inst.operand_word(1)) {
                    for row in 0..u64::from(column.operand_word(1)) {
                        out.push(MemoryCell {
                            offset: base + at * across + row * along,
                            bytes: part as u8,
                        });
                    }
                }
            }
            Op::TypeVector | Op::TypeArray => {
                let count = match inst.op() {
                    Op::TypeArray => self.scalar_constant(inst.id_operand(1)).unwrap_or(0),
                    _ => inst.operand_word(1).into(),
                };
                for at in 0..count {
                    self.append_cells(inst.id_operand(0), order, base + at * layout.stride, out)?;
                }
            }
            _ => out.push(MemoryCell {
                offset: base,
                bytes: layout.size as u8,
            }),
        }
        Ok(())
    }

    /// The scalars of a constant; none where it has no known value.
    fn evaluate_constant(
        &self,
        inst: InstRef<'_>,
        specialised: &[(u32, u64)],
    ) -> Option<Box<[u64]>> {
        let (id, ty) = (inst.result()?, inst.result_type()?);
        let number = self.decoration(id, Decoration::SpecId);
        let given = specialised.iter().find(|(of, _)| Some(*of) == number);
        let given = given.map(|(_, bits)| *bits);
        let scalar = match inst.op() {
            Op::ConstantTrue => 1,
            Op::ConstantFalse => 0,
            Op::SpecConstantTrue => given.map_or(1, |bits| u64::from(bits & 1 != 0)),
            Op::SpecConstantFalse => given.map_or(0, |bits| u64::from(bits & 1 != 0)),
            Op::Constant | Op::SpecConstant => {
                let own = self.definitions.default_value(self.module, id)?;
                let given = given.filter(|_| inst.op() == Op::SpecConstant);
                let width = self.flatten_type(ty).ok()?.first()?.bits();
                given.unwrap_or(own) & make_mask(width)
            }
            Op::ConstantNull | Op::Undef => {
                let count = self.count_scalars(ty).ok()?;
                return Some(vec![0; count as usize].into());
            }
            Op::ConstantComposite | Op::SpecConstantComposite => {
                let mut scalars = Vec::new();
                for part in inst.id_operands(0) {
                    scalars.extend_from_slice(self.constant(part)?);
                }
                return Some(scalars.into());
            }
            Op::SpecConstantOp => return self.evaluate_operation(inst, ty),
            _ => return None,
        };
        Some(Box::new([scalar]))
    }

    /// The scalars of an `OpSpecConstantOp`.
    fn evaluate_operation(&self, inst: InstRef<'_>, ty: Id) -> Option<Box<[u64]>> {
        let opcode = inst.operand_word(0);
        if opcode == u32::from(Op::CompositeExtract.0) {
            let whole = self.constant(inst.get_id(1)?)?;
            let [index] = *inst.operands().get(2..)? else {
                return None;
            };
            return Some(Box::new([*whole.get(index as usize)?]));
        }
        let kinds = self.flatten_type(ty).ok()?;
        let operands: Vec<Id> = inst.id_operands(1).collect();
        let scalar = |at: usize, kind: ScalarKind| {
            let parts = operands.iter().map(|id| {
                let kinds = self.flatten_type(self.type_of(*id).ok()?).ok()?;
                let values = self.constant(*id)?;
                let at = if values.len() == 1 { 0 } else { at };
                Some(FoldConstant {
                    ty: kinds.get(at)?.to_fold_type(),
                    bits: *values.get(at)?,
                })
            });
            let parts: Option<Vec<_>> = parts.collect();
            eval_core(opcode, kind.to_fold_type(), &parts?)
        };
        let scalars = kinds.iter().enumerate();
        scalars.map(|(at, kind)| scalar(at, *kind)).collect()
    }
}
