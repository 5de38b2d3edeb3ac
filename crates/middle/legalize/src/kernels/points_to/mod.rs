//! Points-to sets: the memory that each pointer may point to.
//!
//! Vulkan has no pointers into workgroup or private memory that could be cast, stored or selected freely. A pointer therefore becomes a
//! number: an address if it points to a buffer, else an offset into an array of all objects that its set contains. The sets are found by
//! unification (Steensgaard, "Points-to analysis in almost linear time", 1996): pointers that are derived from each other, joined by a phi
//! or select, or stored in the same memory belong to one *set*. A set has one set of pointers that its memory stores.
//!
//! Null and undefined pointers belong to every set. Null is 0 in each, like memory that was cleared: where null may meet pointers of a set
//! that are offsets, no object begins at 0. A set without objects consists of addresses. A set whose pointers may point to several regions
//! (buffers, workgroup memory, private memory) is *generic*: its pointers have 64 bits, of which the highest two name the region.
//!
//! Variables at program scope in global memory are in the program's buffer ([`crate::kernels::program_scope`]). So are constants that meet
//! pointers to buffers, or that initial values in that buffer point to.

mod accesses;
mod constraints;

use crate::kernels::module_info::{KernelModuleInfo, MemoryScalar};
use spirula_diagnostics::SourceDiagnostic;
use spirula_entity::UnionFind;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::{Id, IdMap};

pub use accesses::{align_at_offset, memory_operands};
pub use constraints::is_by_value;

const NONE: u32 = u32::MAX;

/// Number of a points-to set.
pub type PointsToSetId = u32;

/// The memory of a points-to set.
#[derive(Clone, Debug, Default)]
pub struct PointsToSet {
    /// Whether its pointers are addresses of buffers.
    pub is_physical: bool,
    /// Whether its pointers may point to several regions, and if so, whether buffers are among them.
    generic: Option<bool>,
    /// Its variables and parameters, in the order of the module.
    pub objects: Vec<PointsToObject>,
    /// Scalar type of all accesses, if they have the same.
    scalar: Option<MemoryScalar>,
    /// Whether accesses have several scalar types.
    is_mixed: bool,
    /// Largest unit that divides every access, in bytes; 0 before the first access.
    piece: u32,
    /// Bytes of the largest word of atomic operations in workgroup memory, at least four; 0 without atomic operations.
    word: u32,
    /// Whether the words of atomic operations have to be integers.
    is_integral: bool,
    /// Whether its pointers may be null, or are used as numbers.
    has_null: bool,
    /// Bytes of all objects of known size; in a generic set, of those in workgroup memory.
    pub size: u64,
    /// In a generic set: bytes of the objects in private memory.
    own_size: u64,
}

/// Regions of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PointerRegion {
    /// Buffers.
    Buffer,
    /// Workgroup memory.
    Shared,
    /// Private memory, and constants.
    Own,
}

impl PointerRegion {
    /// The highest bits of generic pointers to the region.
    pub fn tag(self) -> u64 {
        match self {
            PointerRegion::Buffer => 0,
            PointerRegion::Shared => 1 << 62,
            PointerRegion::Own => 2 << 62,
        }
    }
}

/// An object of a points-to set.
#[derive(Clone, Copy, Debug)]
pub struct PointsToObject {
    /// The variable or parameter.
    pub id: Id,
    /// Its storage class.
    pub class: StorageClass,
    /// Its offset in bytes, before the objects whose size the launch gives.
    pub offset: u64,
    /// Its size in bytes; `None` where the launch gives it.
    pub size: Option<u64>,
}

/// The points-to sets of a module.
pub struct PointsToAnalysis {
    /// Node of each value that is or contains pointers.
    nodes: IdMap<u32>,
    sets: UnionFind,
    /// Number of nodes below each node.
    sizes: Vec<u32>,
    /// Node of the pointers that the memory of a set stores.
    contents: Vec<u32>,
    memories: Vec<PointsToSet>,
    /// Variables in the program's buffer.
    program: Vec<Id>,
}

/// Objects begin at multiples of this many bytes.
const ALIGN: u64 = 16;

impl PointsToAnalysis {
    /// Computes the points-to sets in two passes over the module.
    ///
    /// # Errors
    /// When a variable or parameter has no equivalent in Vulkan.
    pub fn from_module_info(
        info: &KernelModuleInfo<'_>,
    ) -> Result<PointsToAnalysis, SourceDiagnostic> {
        let mut points_to = PointsToAnalysis {
            nodes: IdMap::new(info.module.bound(), NONE),
            sets: UnionFind::default(),
            sizes: Vec::new(),
            contents: Vec::new(),
            memories: Vec::new(),
            program: Vec::new(),
        };
        constraints::gather_constraints(&mut points_to, info)?;
        points_to.move_to_buffer();
        accesses::gather_accesses(&mut points_to, info)?;
        points_to.place_objects(info)?;
        Ok(points_to)
    }

    /// The set of a pointer, or of the pointers within a value.
    pub fn find_set(&self, value: Id) -> Option<PointsToSetId> {
        match self.nodes[value] {
            NONE => None,
            node => Some(self.find_root(node)),
        }
    }

    /// The memory of a set.
    pub fn memory(&self, set: PointsToSetId) -> &PointsToSet {
        &self.memories[set as usize]
    }

    fn find_root(&self, node: u32) -> u32 {
        self.sets.peek_root(node)
    }

    fn intern_node(&mut self, value: Id) -> u32 {
        if self.nodes[value] == NONE {
            let node = self.create_node();
            self.nodes.set(value, node);
        }
        self.nodes[value]
    }

    fn create_node(&mut self) -> u32 {
        let node = self.sets.add_set();
        self.sizes.push(1);
        self.contents.push(NONE);
        self.memories.push(PointsToSet::default());
        node
    }

    /// The set of the pointers that the memory of a set stores, created at the first query.
    fn intern_content(&mut self, node: u32) -> u32 {
        let set = self.find_root(node) as usize;
        if self.contents[set] == NONE {
            let fresh = self.create_node();
            // Memory may have been cleared.
            self.memories[fresh as usize].has_null = true;
            self.contents[set] = fresh;
        }
        self.contents[set]
    }

    /// Notes that the pointers of a node may be null.
    fn meet_null(&mut self, node: u32) {
        let set = self.find_root(node);
        self.memories[set as usize].has_null = true;
    }

    fn unify_nodes(&mut self, a: u32, b: u32) {
        let mut work = vec![(a, b)];
        while let Some((a, b)) = work.pop() {
            let (a, b) = (self.find_root(a), self.find_root(b));
            if a == b {
                continue;
            }
            let size = |x: u32| self.sizes[x as usize];
            let (keep, gone) = if size(a) >= size(b) { (a, b) } else { (b, a) };
            self.sets.join_roots(keep, gone);
            self.sizes[keep as usize] += self.sizes[gone as usize];
            let other = std::mem::take(&mut self.memories[gone as usize]);
            let memory = &mut self.memories[keep as usize];
            memory.is_physical |= other.is_physical;
            memory.has_null |= other.has_null;
            memory.objects.extend(other.objects);
            match (self.contents[keep as usize], self.contents[gone as usize]) {
                (NONE, content) => self.contents[keep as usize] = content,
                (_, NONE) => {}
                (x, y) => work.push((x, y)),
            }
        }
    }

    /// The variables at program scope that are in the program's buffer.
    pub fn program_variables(&self) -> &[Id] {
        &self.program
    }

    /// Finds the objects in the program's buffer: their pointers are addresses, as those of any buffer.
    fn move_to_buffer(&mut self) {
        let roots = (0..self.memories.len() as u32).filter(|at| self.sets.is_root(*at));
        let roots: Vec<u32> = roots.collect();
        let kept = |set: u32| match self.contents[set as usize] {
            NONE => NONE,
            content => self.find_root(content),
        };
        // The content of each set, and the sets of each content.
        let contents: Vec<(u32, u32)> = roots.iter().map(|set| (*set, kept(*set))).collect();
        let mut owners: Vec<(u32, u32)> = contents.iter().map(|(a, b)| (*b, *a)).collect();
        owners.sort_unstable();
        let of = |pairs: &[(u32, u32)], set: u32| -> Vec<u32> {
            let begin = pairs.partition_point(|(first, _)| *first < set);
            let found = pairs[begin..].iter().take_while(|(c, _)| *c == set);
            found
                .map(|(_, other)| *other)
                .filter(|c| *c != NONE)
                .collect()
        };
        let mut work = roots;
        work.retain(|set| self.memories[*set as usize].is_physical);
        while let Some(set) = work.pop() {
            let memory = &mut self.memories[set as usize];
            let count = self.program.len();
            let moved = memory.objects.iter().filter(|o| o.is_of_program());
            self.program.extend(moved.map(|o| o.id));
            memory.objects.retain(|object| !object.is_of_program());
            if self.program.len() == count {
                continue;
            }
            // Pointees of their initial values are accessed by address. A constant with such addresses is unknown before the buffer
            // exists.
            for other in [of(&contents, set), of(&owners, set)].concat() {
                let memory = &mut self.memories[other as usize];
                if memory.objects.iter().any(PointsToObject::is_of_program) {
                    memory.is_physical = true;
                    work.push(other);
                }
            }
        }
        self.program.sort_unstable();
    }

    /// Assigns offsets to objects; fails for objects that are not supported.
    fn place_objects(&mut self, info: &KernelModuleInfo<'_>) -> Result<(), SourceDiagnostic> {
        for at in 0..self.memories.len() {
            if !self.sets.is_root(at as u32) {
                continue;
            }
            let memory = &mut self.memories[at];
            let Some(first) = memory.objects.first().copied() else {
                memory.is_physical = true;
                continue;
            };
            memory.objects.sort_by_key(|o| (o.size.is_none(), o.id));
            let same = |o: &PointsToObject| o.region() == first.region();
            if memory.is_physical || !memory.objects.iter().all(same) {
                memory.generic = Some(memory.is_physical);
                memory.is_physical = false;
            }
            if memory.has_null && memory.generic.is_none() {
                memory.size = ALIGN;
            }
            for object in &mut memory.objects {
                let size = match object.region() {
                    PointerRegion::Own if memory.generic.is_some() => &mut memory.own_size,
                    _ => &mut memory.size,
                };
                object.offset = *size;
                *size += object.size.unwrap_or(0).next_multiple_of(ALIGN);
            }
            if memory.size.max(memory.own_size) > 1 << 30 {
                return Err(info.diagnose_id(first.id, "an object of more than a gigabyte"));
            }
        }
        Ok(())
    }
}

impl PointsToObject {
    /// Whether it is a variable that persists between launches, or a constant.
    fn is_of_program(&self) -> bool {
        matches!(
            self.class,
            StorageClass::CrossWorkgroup | StorageClass::UniformConstant
        )
    }

    /// Its region.
    pub fn region(&self) -> PointerRegion {
        match self.class {
            StorageClass::Workgroup => PointerRegion::Shared,
            _ => PointerRegion::Own,
        }
    }
}

impl PointsToSet {
    /// Whether its pointers name their region.
    pub fn is_generic(&self) -> bool {
        self.generic.is_some()
    }

    /// The regions that its pointers may point to.
    pub fn list_regions(&self) -> Vec<PointerRegion> {
        let has = |region| self.objects.iter().any(|o| o.region() == region);
        let mut all = Vec::new();
        all.extend(self.has_buffers().then_some(PointerRegion::Buffer));
        all.extend(has(PointerRegion::Shared).then_some(PointerRegion::Shared));
        all.extend(has(PointerRegion::Own).then_some(PointerRegion::Own));
        all
    }

    /// Whether its pointers may point to buffers.
    pub fn has_buffers(&self) -> bool {
        self.is_physical || self.generic == Some(true)
    }

    /// Whether its pointers may be null.
    pub fn may_be_null(&self) -> bool {
        self.has_buffers() || self.has_null
    }

    /// Bits of its pointers.
    pub fn pointer_width(&self) -> u32 {
        if self.is_physical || self.is_generic() {
            64
        } else {
            32
        }
    }

    /// Bytes of the objects of known size in a region.
    pub fn size_of(&self, region: PointerRegion) -> u64 {
        match region {
            PointerRegion::Own if self.is_generic() => self.own_size,
            _ => self.size,
        }
    }

    /// Whether its private memory is never written.
    pub fn is_constant(&self) -> bool {
        let mut own = self
            .objects
            .iter()
            .filter(|o| o.region() == PointerRegion::Own);
        own.all(|o| o.class == StorageClass::UniformConstant)
    }

    /// The element type of the array.
    pub fn element_scalar(&self) -> MemoryScalar {
        match self.scalar {
            Some(scalar)
                if !self.is_mixed
                    && !self.is_integral
                    && self.piece >= scalar.size()
                    && scalar.size() >= self.word =>
            {
                scalar
            }
            _ => MemoryScalar::Int(self.piece.clamp(1, 8).max(self.word) * 8),
        }
    }

    /// Bytes of the unit of accesses: an element of the array, or a part of one where atomic operations need larger elements.
    pub fn access_unit(&self) -> u32 {
        let size = self.element_scalar().size();
        match self.piece {
            0 => size,
            piece => piece.min(size),
        }
    }

    /// Notes an atomic operation.
    fn note_atomic(&mut self, size: u32, is_integral: bool) {
        if self
            .objects
            .iter()
            .any(|o| o.region() == PointerRegion::Shared)
        {
            self.word = self.word.max(size).max(4);
            self.is_integral |= is_integral;
        }
    }

    /// Notes an access.
    fn note_access(&mut self, scalar: Option<MemoryScalar>, align: u32) {
        let scalar = match scalar {
            Some(MemoryScalar::Bool) => Some(MemoryScalar::Int(8)),
            other => other,
        };
        let size = scalar.map_or(8, MemoryScalar::size).min(align.max(1));
        self.piece = match self.piece {
            0 => size,
            piece => piece.min(size),
        };
        if let Some(scalar) = scalar {
            self.is_mixed |= self.scalar.is_some_and(|s| s != scalar);
            self.scalar = Some(scalar);
        }
    }
}
