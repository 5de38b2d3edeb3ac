//! One launch as a command: what is bound, pushed and dispatched.

use super::batch::Batch;
use super::command::{Command, Dispatch};
use super::descriptors::{Part, What};
use super::device::Device;
use super::memory::{self, Memory};
use super::resource::Given;
use super::variant::Variant;
use super::waves::{Kind, Use, Uses};
use crate::rewrite::{Descriptor, Place};
use crate::{Bound, Buffer, Error, Kernel};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::Arc;

/// A launch with what it was found to need.
pub struct Dispatching<'a> {
    /// What is launched.
    pub kernel: Kernel,
    /// Its pipeline, and what that takes.
    pub variant: &'a Variant,
    /// What is bound.
    pub bound: &'a [(&'a Bound, Given)],
    /// Push constants.
    pub push: Cow<'a, [u8]>,
    /// Workgroups.
    pub groups: [u32; 3],
    /// Bytes that what is bound is a multiple of.
    pub unit: u64,
    /// Where small data lies.
    pub memory: &'a Arc<Memory>,
}

impl Dispatching<'_> {
    /// The command, of which the batch keeps what it uses.
    pub fn command(&self, device: &Device, batch: &mut Batch) -> Result<Command, Error> {
        let pipeline = &self.variant.pipeline;
        let extra = self.extra(device, batch)?;
        let own = self.bound.iter().filter(|(b, _)| !self.is_addressed(b));
        let own = own.map(|(bound, given)| Part {
            bound: Bound {
                region: None,
                ..**bound
            },
            what: match given {
                // Buffers have room for whole words.
                Given::Buffer(buffer) => {
                    What::Buffer(buffer, (0, buffer.size.next_multiple_of(self.unit)))
                }
                Given::Image(image) => What::Image(image),
                Given::Sampler(sampler) => What::Sampler(***sampler),
            },
        });
        let extra = extra.iter().map(|(bound, buffer, range)| Part {
            bound: *bound,
            what: What::Buffer(buffer, *range),
        });
        let sets = batch.pools.bind(&pipeline.sets, own.chain(extra))?;
        batch.runs(pipeline);
        for (bound, given) in self.bound {
            self.uses(batch, bound, given);
        }
        let push = match pipeline.push > 0 {
            true => self.pushed(),
            false => Cow::Borrowed(&[][..]),
        };
        Ok(Command::Dispatch(Dispatch {
            kernel: self.kernel,
            pipeline: pipeline.raw(),
            layout: pipeline.layout(),
            sets,
            push: SmallVec::from_slice(&push),
            groups: self.variant.grid.unwrap_or(self.groups),
        }))
    }

    /// Whether something that is bound is written.
    fn writes(&self, bound: &Bound) -> bool {
        let (set, binding) = (bound.set, bound.binding);
        let place = Descriptor { set, binding };
        !self.variant.read_only.contains(&place)
    }

    fn is_addressed(&self, bound: &Bound) -> bool {
        let (set, binding) = (bound.set, bound.binding);
        let addressed = self.variant.addressed.as_ref();
        addressed.is_some_and(|(_, all)| all.contains(&Descriptor { set, binding }))
    }

    /// The addresses of what is bound to descriptors.
    fn addresses(&self, descriptors: &[Descriptor]) -> Vec<u8> {
        let address = |wanted: &Descriptor| {
            let mut bound = self.bound.iter();
            let found = bound.find(|(b, _)| (b.set, b.binding) == (wanted.set, wanted.binding));
            let address = found.and_then(|(_, given)| match given {
                Given::Buffer(buffer) => buffer.address,
                _ => None,
            });
            address.unwrap_or(0)
        };
        let rows = descriptors.iter();
        rows.flat_map(|d| address(d).to_le_bytes()).collect()
    }

    /// The push constants, with the addresses that come behind them.
    fn pushed(&self) -> Cow<'_, [u8]> {
        let Some((Place::Pushed(at), buffers)) = &self.variant.addressed else {
            return Cow::Borrowed(&self.push);
        };
        let mut push = self.push.to_vec();
        push.truncate(*at as usize);
        push.resize(*at as usize, 0);
        push.extend(self.addresses(buffers));
        Cow::Owned(push)
    }

    /// What it uses, if that is nothing but buffers.
    pub fn buffers(&self) -> Option<Uses> {
        let rows = self.bound.iter().map(|(bound, given)| match given {
            Given::Buffer(buffer) => Some(Use {
                buffer: buffer.raw(),
                is_written: self.writes(bound),
                region: bound.region,
            }),
            Given::Image(_) | Given::Sampler(_) => None,
        });
        let buffers = rows.collect::<Option<_>>()?;
        Some(Uses {
            kind: Kind::Launch,
            buffers,
        })
    }

    /// Takes note of what is bound, and keeps it.
    fn uses(&self, batch: &mut Batch, bound: &Bound, given: &Given) {
        let row = match given {
            Given::Buffer(buffer) => Some(buffer),
            Given::Image(image) => {
                batch.holds(image);
                image.row()
            }
            Given::Sampler(sampler) => {
                batch.samples(sampler);
                None
            }
        };
        match row {
            Some(buffer) if self.writes(bound) => batch.writes(buffer),
            Some(buffer) => batch.reads(buffer),
            None => {}
        }
    }

    /// What is bound besides: push constants and addresses that come from a buffer.
    fn extra(&self, device: &Device, batch: &mut Batch) -> Result<Vec<Extra>, Error> {
        let mut extra = Vec::new();
        let mut add = |place: Descriptor, data: &[u8]| {
            let (buffer, at) = batch.scratch(device, self.memory, data)?;
            let bound = Bound {
                set: place.set,
                binding: place.binding,
                index: 0,
                buffer: Buffer(u32::MAX),
                region: None,
            };
            extra.push((bound, buffer, (at, data.len() as u64)));
            Ok::<(), Error>(())
        };
        if let Some(place) = self.variant.pushed {
            add(place, &self.push)?;
        }
        if let Some((Place::Bound(place), buffers)) = &self.variant.addressed {
            add(*place, &self.addresses(buffers))?;
        }
        Ok(extra)
    }
}

/// A descriptor with a part of a buffer of the batch.
type Extra = (Bound, Arc<memory::Buffer>, (u64, u64));
