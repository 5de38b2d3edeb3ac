//! Which memory each pointer is to.
//!
//! Vulkan has no pointers into the memory of workgroups and invocations that could be cast, kept
//! or chosen freely. So a pointer becomes a number: an address where it is to a buffer, else an
//! offset into an array that has all objects which pointers that meet may be to. Which these are is
//! found by unification (Steensgaard, "Points-to analysis in almost linear time", 1996): pointers
//! that are derived of each other, joined by a phi or select, or kept in the same memory are one
//! *class*; a class has one class of pointers that its memory keeps.
//!
//! Null and undefined pointers belong to every class. Null is 0 in each, as memory is that was cleared: where
//! one may meet the pointers of a class that are offsets, no object begins at 0. A class that has no object is of addresses. One
//! whose pointers may be to several regions, buffers, memory of a workgroup, memory of an invocation,
//! is *generic*: its pointers have 64 bits of which the highest two say which.
//!
//! Variables at program scope in global memory are in a buffer of the program's ([`crate::kernels::program_scope`]), and so
//! are constants that pointers to buffers meet, or that initial values in that buffer point to.

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

/// A class of pointers, as a number.
pub type PointsToSetId = u32;

/// The memory that the pointers of a class are to.
#[derive(Clone, Debug, Default)]
pub struct PointsToSet {
    /// Whether they are addresses of buffers.
    pub is_physical: bool,
    /// Whether they may be to several regions, and if so whether buffers are among them.
    generic: Option<bool>,
    /// Variables and parameters whose memory it is, in the order of the module.
    pub objects: Vec<PointsToObject>,
    /// Scalar that all accesses have in common, if there is one.
    scalar: Option<MemoryScalar>,
    /// Whether there are accesses of several scalars.
    is_mixed: bool,
    /// Largest piece that every access is made of, in bytes; 0 before the first access.
    piece: u32,
    /// Bytes of the largest word that an atomic operation in memory of the workgroup is on, which are four
    /// at least; 0 without.
    word: u32,
    /// Whether such words have to be integers.
    is_integral: bool,
    /// Whether null may be among its pointers, or they are seen as numbers.
    has_null: bool,
    /// Bytes up to the end of all objects whose size is known; of a generic class, of those of workgroups.
    pub size: u64,
    /// Of a generic class: bytes of the objects of invocations.
    own_size: u64,
}

/// Where memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PointerRegion {
    /// Buffers.
    Buffer,
    /// Memory of the workgroup.
    Shared,
    /// Memory of the invocation, and constants.
    Own,
}

impl PointerRegion {
    /// What the pointers of generic classes say in their highest bits.
    pub fn tag(self) -> u64 {
        match self {
            PointerRegion::Buffer => 0,
            PointerRegion::Shared => 1 << 62,
            PointerRegion::Own => 2 << 62,
        }
    }
}

/// An object of a class.
#[derive(Clone, Copy, Debug)]
pub struct PointsToObject {
    /// The variable or parameter.
    pub id: Id,
    /// Its storage class.
    pub class: StorageClass,
    /// Where it begins, in bytes, before those whose size the launch says.
    pub offset: u64,
    /// Bytes; none where the launch says it.
    pub size: Option<u64>,
}

/// The classes of a module.
pub struct PointsToAnalysis {
    /// Node of each value that is or has pointers.
    nodes: IdMap<u32>,
    sets: UnionFind,
    /// Number of nodes below each.
    sizes: Vec<u32>,
    /// Node of the pointers that the memory of a class keeps.
    contents: Vec<u32>,
    memories: Vec<PointsToSet>,
    /// Variables that are in the program's buffer.
    program: Vec<Id>,
}

/// Objects begin at multiples of this many bytes.
const ALIGN: u64 = 16;

impl PointsToAnalysis {
    /// Two passes over the module.
    ///
    /// # Errors
    /// When there is a variable or parameter that Vulkan has no place for.
    pub fn from_module_info(
        facts: &KernelModuleInfo<'_>,
    ) -> Result<PointsToAnalysis, SourceDiagnostic> {
        let mut classes = PointsToAnalysis {
            nodes: IdMap::new(facts.module.bound(), NONE),
            sets: UnionFind::default(),
            sizes: Vec::new(),
            contents: Vec::new(),
            memories: Vec::new(),
            program: Vec::new(),
        };
        constraints::gather_constraints(&mut classes, facts)?;
        classes.move_to_buffer();
        accesses::gather_accesses(&mut classes, facts)?;
        classes.place_objects(facts)?;
        Ok(classes)
    }

    /// The class of a pointer, or of the pointers within a value.
    pub fn find_set(&self, value: Id) -> Option<PointsToSetId> {
        match self.nodes[value] {
            NONE => None,
            node => Some(self.find_root(node)),
        }
    }

    /// The memory of a class.
    pub fn memory(&self, class: PointsToSetId) -> &PointsToSet {
        &self.memories[class as usize]
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

    /// The class of what the memory of a class keeps, made when it is first asked for.
    fn intern_content(&mut self, node: u32) -> u32 {
        let class = self.find_root(node) as usize;
        if self.contents[class] == NONE {
            let fresh = self.create_node();
            // Memory may have been cleared.
            self.memories[fresh as usize].has_null = true;
            self.contents[class] = fresh;
        }
        self.contents[class]
    }

    /// Notes that null may be among the pointers of a node.
    fn meet_null(&mut self, node: u32) {
        let class = self.find_root(node);
        self.memories[class as usize].has_null = true;
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

    /// Variables at program scope that are in the program's buffer.
    pub fn program_variables(&self) -> &[Id] {
        &self.program
    }

    /// Finds what is in the program's buffer: such objects are addresses like those of any buffer.
    fn move_to_buffer(&mut self) {
        let roots = (0..self.memories.len() as u32).filter(|at| self.sets.is_root(*at));
        let roots: Vec<u32> = roots.collect();
        let kept = |class: u32| match self.contents[class as usize] {
            NONE => NONE,
            content => self.find_root(content),
        };
        // Each class' content, and by content the classes that it is of.
        let contents: Vec<(u32, u32)> = roots.iter().map(|class| (*class, kept(*class))).collect();
        let mut owners: Vec<(u32, u32)> = contents.iter().map(|(a, b)| (*b, *a)).collect();
        owners.sort_unstable();
        let of = |pairs: &[(u32, u32)], class: u32| -> Vec<u32> {
            let begin = pairs.partition_point(|(first, _)| *first < class);
            let found = pairs[begin..].iter().take_while(|(c, _)| *c == class);
            found
                .map(|(_, other)| *other)
                .filter(|c| *c != NONE)
                .collect()
        };
        let mut work = roots;
        work.retain(|class| self.memories[*class as usize].is_physical);
        while let Some(class) = work.pop() {
            let memory = &mut self.memories[class as usize];
            let count = self.program.len();
            let moved = memory.objects.iter().filter(|o| o.is_of_program());
            self.program.extend(moved.map(|o| o.id));
            memory.objects.retain(|object| !object.is_of_program());
            if self.program.len() == count {
                continue;
            }
            // What their initial values point to is found by address, and a constant that has their
            // addresses is none before there is a buffer.
            for other in [of(&contents, class), of(&owners, class)].concat() {
                let memory = &mut self.memories[other as usize];
                if memory.objects.iter().any(PointsToObject::is_of_program) {
                    memory.is_physical = true;
                    work.push(other);
                }
            }
        }
        self.program.sort_unstable();
    }

    /// Gives objects their places and finds what cannot be.
    fn place_objects(&mut self, facts: &KernelModuleInfo<'_>) -> Result<(), SourceDiagnostic> {
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
                return Err(facts.diagnose_id(first.id, "an object of more than a gigabyte"));
            }
        }
        Ok(())
    }
}

impl PointsToObject {
    /// Whether it is one that every launch finds as the last one left it, or a constant.
    fn is_of_program(&self) -> bool {
        matches!(
            self.class,
            StorageClass::CrossWorkgroup | StorageClass::UniformConstant
        )
    }

    /// Where it is.
    pub fn region(&self) -> PointerRegion {
        match self.class {
            StorageClass::Workgroup => PointerRegion::Shared,
            _ => PointerRegion::Own,
        }
    }
}

impl PointsToSet {
    /// Whether its pointers say which region they are to.
    pub fn is_generic(&self) -> bool {
        self.generic.is_some()
    }

    /// The regions that its pointers may be to.
    pub fn list_regions(&self) -> Vec<PointerRegion> {
        let has = |region| self.objects.iter().any(|o| o.region() == region);
        let buffers = self.is_physical || self.generic == Some(true);
        let mut all = Vec::new();
        all.extend(buffers.then_some(PointerRegion::Buffer));
        all.extend(has(PointerRegion::Shared).then_some(PointerRegion::Shared));
        all.extend(has(PointerRegion::Own).then_some(PointerRegion::Own));
        all
    }

    /// Bits of its pointers.
    pub fn pointer_width(&self) -> u32 {
        match self.is_physical || self.is_generic() {
            true => 64,
            false => 32,
        }
    }

    /// Bytes of a region's objects whose size is known.
    pub fn size_of(&self, region: PointerRegion) -> u64 {
        match region {
            PointerRegion::Own if self.is_generic() => self.own_size,
            _ => self.size,
        }
    }

    /// Whether nothing writes what an invocation has of it.
    pub fn is_constant(&self) -> bool {
        let mut own = self
            .objects
            .iter()
            .filter(|o| o.region() == PointerRegion::Own);
        own.all(|o| o.class == StorageClass::UniformConstant)
    }

    /// What the array is of.
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

    /// Bytes of what accesses are made of: an element of the array, or a part of one, where atomic operations
    /// need larger ones.
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
