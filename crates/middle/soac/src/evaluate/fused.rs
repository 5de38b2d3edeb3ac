//! Fused maps.

use super::{FunctionEvaluator, SoacValue, split_rows};
use crate::ir::{FusedSink, SoacFusedMap, SoacLambda, SoacStatement};

impl FunctionEvaluator<'_> {
    pub(super) fn evaluate_fused(
        &mut self,
        fused: &SoacFusedMap,
        statement: &SoacStatement,
    ) -> Result<Vec<SoacValue>, String> {
        let width = self.get_int64(fused.width)?;
        let arrays = self.get_all(&fused.arrays)?;
        let targets = self.get_all(fused.sink.targets())?;
        let mut targets: Vec<_> = targets.iter().map(split_rows).collect();
        let mut state = match fused.sink.fold() {
            Some(fold) => self.get_all(&fold.neutral)?,
            None => Vec::new(),
        };
        let taken = fused.sink.count_inputs();
        let sums = match fused.sink {
            FusedSink::Scan(_) => taken,
            _ => 0,
        };
        let mut rows = vec![Vec::new(); sums + fused.function.body.results.len() - taken];
        for index in 0..width as usize {
            let arguments = arrays.iter().map(|array| array.row(index)).collect();
            let mut values = self.call(&fused.function, arguments)?;
            let others = values.split_off(taken);
            match &fused.sink {
                FusedSink::Reduce(fold, _) | FusedSink::Scan(fold) => {
                    state.extend(values);
                    state = self.call(&fold.function, state)?;
                }
                FusedSink::Scatter(_) => {
                    for (rows, pair) in targets.iter_mut().zip(values.chunks_exact_mut(2)) {
                        let position = pair[0].to_int64() as usize;
                        if let Some(row) = rows.get_mut(position) {
                            std::mem::swap(row, &mut pair[1]);
                        }
                    }
                }
                FusedSink::Histogram(_, fold) => {
                    let position = values.remove(0).to_int64() as usize;
                    self.combine_rows(&mut targets, &fold.function, position, values)?;
                }
            }
            let new = state[..sums].iter().cloned().chain(others);
            rows.iter_mut()
                .zip(new)
                .for_each(|(rows, row)| rows.push(row));
        }
        let head = fused.sink.count_results();
        let mut results = match fused.sink {
            FusedSink::Reduce(..) => state,
            FusedSink::Scan(_) => Vec::new(),
            _ => self.stack_results(targets, &statement.results[..head])?,
        };
        let rest = &statement.results[results.len()..];
        results.extend(self.stack_results(rows, rest)?);
        Ok(results)
    }

    /// Combines values with the rows of arrays at a position. Positions outside are ignored.
    pub(super) fn combine_rows(
        &mut self,
        targets: &mut [Vec<SoacValue>],
        function: &SoacLambda,
        position: usize,
        values: Vec<SoacValue>,
    ) -> Result<(), String> {
        if targets.iter().any(|rows| position >= rows.len()) {
            return Ok(());
        }
        let before = targets.iter().map(|rows| rows[position].clone());
        let arguments = before.chain(values).collect();
        let results = self.call(function, arguments)?;
        targets
            .iter_mut()
            .zip(results)
            .for_each(|(rows, row)| rows[position] = row);
        Ok(())
    }
}
