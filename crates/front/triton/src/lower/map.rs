//! Maps of elements by a region of scalars, which may have control flow.

use super::binding::{TileBinding, TileLowering};
use super::buffer::TileBuffer;
use super::call::ReturnPoint;
use super::destination::CarriedPlace;
use super::fault;
use crate::TritonResult;
use crate::ir::{TileOperation, TileRegion, TileType};

impl<'m> TileLowering<'m, '_> {
    /// Lowers `tt.map_elementwise`. The region receives a number of neighbouring elements of each operand.
    pub fn lower_map(&mut self, operation: &'m TileOperation) -> TritonResult<()> {
        let malformed = || fault(&operation.place, "malformed tt.map_elementwise");
        let region = operation.regions.first().ok_or_else(malformed)?;
        let first = *operation.results.first().ok_or_else(malformed)?;
        let pack = operation.integer("pack").unwrap_or(1).clamp(1, 64) as u64;
        let parameters = region
            .blocks
            .first()
            .map_or(0, |block| block.arguments.len());
        if parameters != operation.operands.len() * pack as usize {
            return Err(malformed());
        }
        let shape = self.type_of(first).dimensions().to_vec();
        let results = operation.results.iter();
        let buffers = results.map(|result| self.make_buffer(self.type_of(*result)));
        let buffers: Vec<TileBuffer> = buffers.collect();
        let count: u64 = shape.iter().product();
        self.kernel.emit_barrier();
        self.for_each_share(count.div_ceil(pack), &mut |lowering, group| {
            let mut indices = Vec::new();
            for number in 0..pack {
                let text = &mut lowering.kernel.text;
                let linear = text.compute(format!("mul i32 {group}, {pack}"));
                let linear = text.compute(format!("add i32 {linear}, {number}"));
                indices.push(lowering.delinearise(&shape, &linear));
            }
            let mut values = Vec::new();
            for operand in &operation.operands {
                for index in &indices {
                    values.push(lowering.evaluate(*operand, index)?);
                }
            }
            let values = lowering.apply_region(operation, region, values, pack)?;
            for (number, value) in values.iter().enumerate() {
                let (result, element) = (number / pack as usize, number % pack as usize);
                lowering.store_element(&buffers[result], &indices[element], value);
            }
            Ok(())
        })?;
        self.kernel.emit_barrier();
        for (result, buffer) in operation.results.iter().zip(buffers) {
            self.bind(*result, TileBinding::Buffer(buffer));
        }
        Ok(())
    }

    /// Lowers a region of scalars, and returns its results.
    fn apply_region(
        &mut self,
        operation: &'m TileOperation,
        region: &'m TileRegion,
        values: Vec<String>,
        pack: u64,
    ) -> TritonResult<Vec<String>> {
        let arguments = region.blocks.first().map(|block| &block.arguments);
        for (argument, value) in arguments.into_iter().flatten().zip(values) {
            self.bind(*argument, TileBinding::Scalar(value));
        }
        let mut places = Vec::new();
        for result in &operation.results {
            let ty = TileType::scalar(self.type_of(*result).element.clone());
            for _ in 0..pack {
                places.push(self.make_place(&ty));
            }
        }
        let label = self.kernel.text.make_label();
        let point = ReturnPoint::new(label.clone(), places.clone());
        let outer = self.return_to.replace(point);
        self.lower_region(region)?;
        self.return_to = outer;
        self.kernel.text.begin_block(&label);
        let mut results = Vec::new();
        for place in &places {
            if let CarriedPlace::Variable { name, element } = place {
                results.push(self.load_variable(name, element));
            }
        }
        Ok(results)
    }
}
