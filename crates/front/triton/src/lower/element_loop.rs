//! Loops over the elements of tensors. Consecutive invocations have consecutive elements.

use super::binding::TileLowering;
use crate::TritonResult;

/// Body of a loop over elements: it receives the index of the element, a number for each dimension.
pub(super) type ElementBody<'b, 'm, 'w> =
    &'b mut dyn FnMut(&mut TileLowering<'m, 'w>, &[String]) -> TritonResult<()>;

impl<'m, 'w> TileLowering<'m, 'w> {
    /// Emits a loop over the elements of a shape, which the invocations share.
    pub fn for_each_element(
        &mut self,
        shape: &[u64],
        body: ElementBody<'_, 'm, 'w>,
    ) -> TritonResult<()> {
        let width = u64::from(self.kernel.width);
        let last = shape.last().copied().unwrap_or(1);
        if last.is_multiple_of(width) {
            return self.loop_over_rows(shape, Vec::new(), body);
        }
        let count: u64 = shape.iter().product();
        let shape = shape.to_vec();
        self.for_each_share(count, &mut |lowering, linear| {
            let index = lowering.delinearise(&shape, linear);
            body(lowering, &index)
        })
    }

    /// Emits loops over all dimensions. The invocations share the last one.
    fn loop_over_rows(
        &mut self,
        shape: &[u64],
        index: Vec<String>,
        body: ElementBody<'_, 'm, 'w>,
    ) -> TritonResult<()> {
        match shape {
            [] => body(self, &index),
            [last] => self.for_each_share(*last, &mut |lowering, position| {
                let mut index = index.clone();
                index.push(position.to_owned());
                body(lowering, &index)
            }),
            [first, rest @ ..] => self.repeat(*first, &mut |lowering, position| {
                let mut index = index.clone();
                index.push(position.to_owned());
                lowering.loop_over_rows(rest, index, body)
            }),
        }
    }

    /// Emits a loop over numbers below a count, of which each invocation has its share.
    pub fn for_each_share(
        &mut self,
        count: u64,
        body: &mut dyn FnMut(&mut Self, &str) -> TritonResult<()>,
    ) -> TritonResult<()> {
        let width = u64::from(self.kernel.width);
        if width == 1 {
            return self.repeat(count, body);
        }
        let lane = self.kernel.lane.clone();
        self.repeat(count.div_ceil(width), &mut |lowering, turn| {
            let mut position = lane.clone();
            if turn != "0" {
                let text = &mut lowering.kernel.text;
                let first = text.compute(format!("mul i32 {turn}, {width}"));
                position = text.compute(format!("add i32 {first}, {position}"));
            }
            if count.is_multiple_of(width) {
                return body(lowering, &position);
            }
            let text = &mut lowering.kernel.text;
            let is_inside = text.compute(format!("icmp ult i32 {position}, {count}"));
            lowering.emit_if(&is_inside, &mut |lowering| body(lowering, &position))
        })
    }

    /// Emits a loop whose body receives the numbers below a count. All invocations execute all iterations.
    pub fn repeat(
        &mut self,
        count: u64,
        body: &mut dyn FnMut(&mut Self, &str) -> TritonResult<()>,
    ) -> TritonResult<()> {
        if count == 1 {
            return body(self, "0");
        }
        let text = &mut self.kernel.text;
        let (head, inside, after) = (text.make_label(), text.make_label(), text.make_label());
        let counter = text.make_variable("i32");
        text.act(format!("store i32 0, ptr {counter}"));
        text.branch(&head);
        text.begin_block(&head);
        let position = text.compute(format!("load i32, ptr {counter}"));
        let goes_on = text.compute(format!("icmp ult i32 {position}, {count}"));
        text.branch_if(&goes_on, &inside, &after);
        text.begin_block(&inside);
        self.enter_scope();
        body(self, &position)?;
        self.leave_scope();
        let text = &mut self.kernel.text;
        let next = text.compute(format!("add i32 {position}, 1"));
        text.act(format!("store i32 {next}, ptr {counter}"));
        text.branch(&head);
        text.begin_block(&after);
        Ok(())
    }

    /// Emits code that is executed where a condition holds.
    pub fn emit_if(
        &mut self,
        condition: &str,
        body: &mut dyn FnMut(&mut Self) -> TritonResult<()>,
    ) -> TritonResult<()> {
        let text = &mut self.kernel.text;
        let (inside, after) = (text.make_label(), text.make_label());
        text.branch_if(condition, &inside, &after);
        text.begin_block(&inside);
        self.enter_scope();
        body(self)?;
        self.leave_scope();
        let text = &mut self.kernel.text;
        text.branch(&after);
        text.begin_block(&after);
        Ok(())
    }

    /// Emits code that the first invocation executes alone.
    pub fn emit_alone(
        &mut self,
        body: &mut dyn FnMut(&mut Self) -> TritonResult<()>,
    ) -> TritonResult<()> {
        if self.kernel.width == 1 {
            return body(self);
        }
        self.kernel.emit_barrier();
        let lane = &self.kernel.lane;
        let is_first = self.kernel.text.compute(format!("icmp eq i32 {lane}, 0"));
        self.emit_if(&is_first, body)?;
        self.kernel.emit_barrier();
        Ok(())
    }

    /// The number of an element of a shape.
    pub fn linearise(&mut self, shape: &[u64], index: &[String]) -> String {
        let mut linear = Linear::default();
        let mut stride = 1;
        for (size, position) in shape.iter().zip(index).rev() {
            match position.parse::<u64>() {
                Ok(constant) => linear.constant += constant * stride,
                Err(_) => linear.terms.push((position.clone(), stride)),
            }
            stride *= size;
        }
        let text = &mut self.kernel.text;
        let mut sum: Option<String> = None;
        for (position, stride) in linear.terms {
            let scaled = match stride {
                1 => position,
                _ => text.compute(format!("mul i32 {position}, {stride}")),
            };
            sum = Some(match sum {
                None => scaled,
                Some(sum) => text.compute(format!("add i32 {scaled}, {sum}")),
            });
        }
        match (sum, linear.constant) {
            (None, constant) => constant.to_string(),
            (Some(sum), 0) => sum,
            (Some(sum), constant) => text.compute(format!("add i32 {sum}, {constant}")),
        }
    }

    /// The index of an element of a shape by its number.
    pub fn delinearise(&mut self, shape: &[u64], linear: &str) -> Vec<String> {
        let text = &mut self.kernel.text;
        let mut index = Vec::new();
        let mut below = 1;
        let count: u64 = shape.iter().product();
        for size in shape.iter().rev() {
            let position = match linear.parse::<u64>() {
                Ok(linear) => (linear / below % size).to_string(),
                Err(_) if *size == 1 => "0".to_owned(),
                Err(_) => {
                    let mut position = linear.to_owned();
                    if below > 1 {
                        position = text.compute(format!("udiv i32 {position}, {below}"));
                    }
                    if below * size < count {
                        position = text.compute(format!("urem i32 {position}, {size}"));
                    }
                    position
                }
            };
            index.push(position);
            below *= size;
        }
        index.reverse();
        index
    }
}

/// A sum of products with constants.
#[derive(Default)]
struct Linear {
    constant: u64,
    terms: Vec<(String, u64)>,
}
