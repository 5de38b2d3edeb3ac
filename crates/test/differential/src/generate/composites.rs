//! Vectors and aggregates: extraction, insertion, shuffles.

use super::generator::LlvmGenerator;
use super::types::GeneratedType;

impl LlvmGenerator<'_, '_> {
    fn some_vector(&mut self) -> (GeneratedType, String) {
        self.choose_or_make_value(
            |t| matches!(t, GeneratedType::Vector(..)),
            |g| {
                let scalar = GeneratedType::Int([32, 8, 16, 64][g.c.choose_below(4)]);
                g.vector_of(scalar)
            },
        )
    }

    /// The index of a component: a constant, or a value reduced to the range.
    fn make_lane_index(&mut self, count: u32) -> String {
        let at = self.c.choose_below(count as usize);
        if !self.one_in(3) {
            return format!("i32 {at}");
        }
        let value = self.choose_variable(&GeneratedType::Int(32));
        let small = self.emit_hidden_value(&format!("urem i32 {value}, {count}"));
        format!("i32 {small}")
    }

    /// `extractelement`.
    pub fn extract_element(&mut self) {
        let (ty, vector) = self.some_vector();
        let lane = self.make_lane_index(ty.lanes());
        let scalar = ty.scalar().clone();
        self.emit_value(&scalar, &format!("extractelement {ty} {vector}, {lane}"));
    }

    /// `insertelement`.
    pub fn insert_element(&mut self) {
        let (ty, vector) = self.some_vector();
        let lane = self.make_lane_index(ty.lanes());
        let scalar = ty.scalar().clone();
        let part = self.choose_value(&scalar);
        self.emit_value(
            &ty,
            &format!("insertelement {ty} {vector}, {scalar} {part}, {lane}"),
        );
    }

    /// A vector built from scalars one by one.
    pub fn build_vector(&mut self) {
        let scalar = self
            .choose_or_make_value(
                |t| matches!(t, GeneratedType::Int(_) | GeneratedType::Float(_)) && t.is_whole(),
                |_| GeneratedType::Int(32),
            )
            .0;
        let ty = self.vector_of(scalar.clone());
        let mut vector = "poison".to_owned();
        for lane in 0..ty.lanes() {
            let part = self.choose_value(&scalar);
            vector = self.emit_hidden_value(&format!(
                "insertelement {ty} {vector}, {scalar} {part}, i32 {lane}"
            ));
        }
        self.body.values.push((ty, vector));
    }

    /// `shufflevector` to any number of components.
    pub fn emit_shuffle(&mut self) {
        let (ty, left) = self.some_vector();
        let right = self.choose_value(&ty);
        let result = self.vector_of(ty.scalar().clone());
        let lanes = 2 * ty.lanes() as usize;
        let mask: Vec<String> = (0..result.lanes())
            .map(|_| format!("i32 {}", self.c.choose_below(lanes)))
            .collect();
        let count = result.lanes();
        self.emit_value(
            &result,
            &format!(
                "shufflevector {ty} {left}, {ty} {right}, <{count} x i32> <{}>",
                mask.join(", ")
            ),
        );
    }

    /// A path to a part of an aggregate, and the part's type.
    fn choose_path(&mut self, ty: &GeneratedType) -> (Vec<usize>, GeneratedType) {
        let (mut path, mut ty) = (Vec::new(), ty.clone());
        while ty.is_aggregate() && (path.is_empty() || !self.one_in(4)) {
            let parts = ty.part_types();
            let at = self.c.choose_below(parts.len());
            path.push(at);
            ty = parts[at].clone();
        }
        (path, ty)
    }

    fn some_aggregate(&mut self) -> (GeneratedType, String) {
        self.choose_or_make_value(GeneratedType::is_aggregate, |g| g.choose_struct_type(2))
    }

    /// `extractvalue`.
    pub fn extract_value(&mut self) {
        let (ty, aggregate) = self.some_aggregate();
        let (path, part) = self.choose_path(&ty);
        let path: String = path.iter().map(|n| format!(", {n}")).collect();
        self.emit_value(&part, &format!("extractvalue {ty} {aggregate}{path}"));
    }

    /// `insertvalue`.
    pub fn insert_value(&mut self) {
        let (ty, aggregate) = self.some_aggregate();
        let (path, part) = self.choose_path(&ty);
        let path: String = path.iter().map(|n| format!(", {n}")).collect();
        let value = self.choose_value(&part);
        self.emit_value(
            &ty,
            &format!("insertvalue {ty} {aggregate}, {part} {value}{path}"),
        );
    }
}
