//! Launch parameters: push constants, sizes of workgroup memory, and specialisation constants.

use super::ShaderLowering;
use crate::kernels::module_info::MemoryScalar;
use crate::kernels::points_to::{PointerRegion, PointsToSetId};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, StorageClass};

impl ShaderLowering<'_> {
    /// Loads a word of the push constants. They are an array of words, so that no type needs a capability for push constants.
    pub fn pushed_word(&mut self, n: u32) -> Id {
        let word = self.make_int_type(32);
        if n >= self.plan.push_words {
            // Padding after the last argument.
            return self.make_uint_constant(32, 0);
        }
        let block = match self.shared.push {
            Some(known) => known,
            None => {
                let count = self.b.constant_u32(self.plan.push_words);
                let array = self
                    .b
                    .distinct_type(Op::TypeArray, &[word.word(), count.word()]);
                self.b.decorate_id(array, Decoration::ArrayStride, &[4]);
                let block = self.b.distinct_type(Op::TypeStruct, &[array.word()]);
                self.b.decorate_id(block, Decoration::Block, &[]);
                self.b.decorate_member(block, 0, Decoration::Offset, &[0]);
                let pointer = self.b.pointer_type(StorageClass::PushConstant, block);
                let made = self
                    .b
                    .global_variable(pointer, StorageClass::PushConstant, None);
                self.shared.push = Some(made);
                made
            }
        };
        self.note_interface_use(block);
        let pointer = self.b.pointer_type(StorageClass::PushConstant, word);
        let (member, index) = (
            self.make_uint_constant(32, 0),
            self.make_uint_constant(32, n.into()),
        );
        let pointer = self.emit_value(Op::AccessChain, pointer, &[block, member, index]);
        self.emit_value(Op::Load, word, &[pointer])
    }

    /// Loads a scalar of the push constants.
    pub fn load_push_scalar(&mut self, scalar: MemoryScalar, at: u32) -> Id {
        let word = MemoryScalar::Int(32);
        let size = scalar.size();
        if size >= 4 {
            let words = (0..size / 4).map(|n| self.pushed_word(at / 4 + n));
            let words = words.collect();
            return self.join_pieces(words, word, scalar);
        }
        let whole = self.pushed_word(at / 4);
        let (ty, shift) = (
            self.make_int_type(32),
            self.make_uint_constant(32, u64::from(at % 4 * 8)),
        );
        let low = self.emit_value(Op::ShiftRightLogical, ty, &[whole, shift]);
        let piece = self.resize_int(low, 32, size * 8);
        self.join_pieces(vec![piece], MemoryScalar::Int(size * 8), scalar)
    }

    /// Loads a value of a source type from the push constants.
    pub fn pushed_value(&mut self, ty: Id, at: u32) -> Result<Id, SourceDiagnostic> {
        if let Some(scalar) = self.info.classify_scalar(ty) {
            return Ok(self.load_push_scalar(scalar, at));
        }
        let made = self.lower_type(ty)?;
        let mut parts = Vec::new();
        for (part, offset) in self.info.list_members(ty)? {
            parts.push(self.pushed_value(part, at + offset as u32)?);
        }
        Ok(self.construct_composite(made, parts))
    }

    /// Declares the array of a region of a set's memory, with its storage class.
    ///
    /// # Errors
    /// When constants in it have initial values that cannot be expressed as constants.
    pub fn declare_region_array(
        &mut self,
        set: PointsToSetId,
        region: PointerRegion,
    ) -> Result<(Id, StorageClass), SourceDiagnostic> {
        let storage = match region {
            PointerRegion::Shared => StorageClass::Workgroup,
            _ if self.points_to.memory(set).is_constant() => StorageClass::Private,
            _ => StorageClass::Function,
        };
        if let Some(known) = self.arrays.get(&(set, region)) {
            let known = *known;
            if storage != StorageClass::Function {
                self.note_interface_use(known);
            }
            return Ok((known, storage));
        }
        let element = self.points_to.memory(set).element_scalar();
        let count = self.count_elements(set, region, None);
        let part = self.make_scalar_type(element);
        let array = self.b.array_type(part, count);
        let pointer = self.b.pointer_type(storage, array);
        let made = match storage {
            StorageClass::Function => self.b.local_variable(pointer, None),
            StorageClass::Private => {
                let contents = self.make_initial_array(set, array)?;
                let made = self.b.global_variable(pointer, storage, Some(contents));
                self.note_interface_use(made);
                made
            }
            _ => {
                let made = self.b.global_variable(pointer, storage, None);
                self.note_interface_use(made);
                made
            }
        };
        self.arrays.insert((set, region), made);
        Ok((made, storage))
    }

    /// The number of elements of a set's array; or those before an object whose size the launch gives, if that object is named.
    fn count_elements(
        &mut self,
        set: PointsToSetId,
        region: PointerRegion,
        before: Option<Id>,
    ) -> Id {
        let memory = self.points_to.memory(set);
        let size = u64::from(memory.element_scalar().size());
        let mut count = self.make_uint_constant(32, memory.size_of(region).div_ceil(size).max(1));
        let word = self.make_int_type(32);
        let objects = memory.objects.clone();
        for object in objects
            .iter()
            .filter(|o| o.size.is_none() && o.region() == region)
        {
            if before == Some(object.id) {
                break;
            }
            let Some(spec_id) = self.plan.spec_id(object.id) else {
                continue;
            };
            let more = self.spec_number(spec_id, 1);
            let words = [u32::from(Op::IAdd.0), count.word(), more.word()];
            count = self.b.declare_constant(Op::SpecConstantOp, word, &words);
        }
        count
    }

    /// The offset of workgroup memory whose size the launch gives.
    pub fn workgroup_argument(&mut self, source: Id) -> Result<Id, SourceDiagnostic> {
        let set = self.find_points_to_set(source)?;
        let memory = self.points_to.memory(set);
        let (size, statics) = (memory.element_scalar().size(), memory.size);
        let first = memory
            .objects
            .iter()
            .find(|o| o.size.is_none())
            .map(|o| o.id);
        if first == Some(source) {
            let at = statics.div_ceil(size.into()).max(u64::from(statics > 0));
            return Ok(self.make_uint_constant(32, at * u64::from(size)));
        }
        let count = self.count_elements(set, PointerRegion::Shared, Some(source));
        let (word, size) = (
            self.make_int_type(32),
            self.make_uint_constant(32, size.into()),
        );
        let words = [u32::from(Op::IMul.0), count.word(), size.word()];
        Ok(self.b.declare_constant(Op::SpecConstantOp, word, &words))
    }

    /// A specialisation constant of the source, under the same `SpecId`.
    pub fn spec_constant(
        &mut self,
        source: Id,
        ty: Id,
        default: u64,
    ) -> Result<Id, SourceDiagnostic> {
        let info = self.info;
        let spec_id = info
            .decorations
            .get(info.module, source, Decoration::SpecId);
        let Some([spec_id]) = spec_id else {
            return Err(info.diagnose_id(source, "a specialisation constant without a number"));
        };
        let made = self.lower_type(ty)?;
        let id = self.b.fresh_id();
        let width = info.classify_scalar(ty).map_or(32, |s| s.size() * 8);
        let mut words = vec![made.word(), id.word(), default as u32];
        if width == 64 {
            words.push((default >> 32) as u32);
        }
        self.b.push_inst(
            spirula_spirv::ir::ModuleSection::Globals,
            Op::SpecConstant,
            &words,
        );
        self.b.set_type_of(id, made);
        self.b.decorate_id(id, Decoration::SpecId, &[*spec_id]);
        self.values.set(source, Some(id));
        Ok(id)
    }
}
