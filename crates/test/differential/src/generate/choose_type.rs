//! Choices of types.

use super::generator::LlvmGenerator;
use super::types::GeneratedType;

const WIDTHS: &[u32] = &[32, 8, 16, 64, 32, 64];
const ODD: &[u32] = &[3, 7, 17, 24, 33, 48, 63];
const LANES: &[u32] = &[4, 2, 3, 8, 16];

/// Most scalars of an aggregate.
const MOST_SCALARS: u32 = 32;

impl LlvmGenerator<'_, '_> {
    /// A width of integers; rarely one that SPIR-V lacks.
    pub fn choose_width(&mut self) -> u32 {
        if self.one_in(8) {
            ODD[self.c.choose_below(ODD.len())]
        } else {
            WIDTHS[self.c.choose_below(WIDTHS.len())]
        }
    }

    /// A scalar type of memory.
    pub fn choose_scalar_type(&mut self) -> GeneratedType {
        match self.c.choose_below(3) {
            2 => GeneratedType::Float([32, 64, 16][self.c.choose_below(3)]),
            _ => GeneratedType::Int(self.choose_width()),
        }
    }

    fn choose_lane_count(&mut self) -> u32 {
        LANES[self.c.choose_below(LANES.len())]
    }

    /// A vector of scalars of whole bytes, or of `i1`.
    pub fn vector_of(&mut self, scalar: GeneratedType) -> GeneratedType {
        GeneratedType::Vector(Box::new(scalar), self.choose_lane_count())
    }

    /// A scalar or vector type.
    pub fn choose_value_type(&mut self) -> GeneratedType {
        let scalar = self.choose_scalar_type();
        if self.c.choose_below(3) == 2 && scalar.is_whole() {
            self.vector_of(scalar)
        } else {
            scalar
        }
    }

    /// An integer type or a vector of integers.
    pub fn choose_integer_type(&mut self) -> GeneratedType {
        let width = self.choose_width();
        if self.one_in(3) {
            let width = width.next_power_of_two().max(8);
            self.vector_of(GeneratedType::Int(width))
        } else {
            GeneratedType::Int(width)
        }
    }

    /// A float type or a vector of floats.
    pub fn choose_float_type(&mut self) -> GeneratedType {
        let scalar = GeneratedType::Float([32, 64, 16][self.c.choose_below(3)]);
        if self.one_in(3) {
            self.vector_of(scalar)
        } else {
            scalar
        }
    }

    /// The type of an object in memory. Objects are also loaded and stored as a whole, so it is not too large.
    pub fn choose_object_type(&mut self, depth: u32) -> GeneratedType {
        let ty = self.choose_nested_type(depth);
        if ty.scalar_count() <= MOST_SCALARS {
            ty
        } else {
            self.choose_value_type()
        }
    }

    fn choose_nested_type(&mut self, depth: u32) -> GeneratedType {
        match self.c.choose_below(5) {
            0 | 1 => self.choose_value_type(),
            2 | 3 if depth > 0 => {
                let element = self.choose_nested_type(depth - 1);
                let count = [4, 2, 8, 3, 5][self.c.choose_below(5)];
                GeneratedType::Array(Box::new(element), count)
            }
            4 if depth > 0 => self.choose_struct_type(depth),
            _ => self.choose_value_type(),
        }
    }

    /// A structure.
    pub fn choose_struct_type(&mut self, depth: u32) -> GeneratedType {
        let count = 1 + self.c.choose_below(4);
        let all = GeneratedType::Struct(
            (0..count)
                .map(|_| self.choose_nested_type(depth - 1))
                .collect(),
        );
        if all.scalar_count() <= MOST_SCALARS {
            all
        } else {
            GeneratedType::Struct(vec![self.choose_value_type()])
        }
    }
}
