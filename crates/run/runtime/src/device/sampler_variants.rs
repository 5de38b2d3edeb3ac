//! Samplers that kernels are given which became shaders.
//!
//! A shader may have to be told what a sampler is, as it sees to coordinates in texels itself; what is at the
//! descriptor takes normalised coordinates then, and is a twin where the host's does not.

use super::ComputeDevice;
use crate::device::kernel_shader::ShaderLaunchPlan;
use crate::{DeviceBuffer, DeviceError, SamplerFilter, SamplerState};

/// What samplers are by handle, with the twins that some have.
#[derive(Default)]
pub struct SamplerVariants(Vec<Option<(SamplerState, Option<DeviceBuffer>)>>);

impl SamplerVariants {
    /// Takes note of a sampler.
    pub fn note_sampler(&mut self, handle: DeviceBuffer, sampler: &SamplerState) {
        self.set_variant(handle, (*sampler, None));
    }

    fn set_variant(&mut self, handle: DeviceBuffer, row: (SamplerState, Option<DeviceBuffer>)) {
        if self.0.len() <= handle.index() {
            self.0.resize(handle.index() + 1, None);
        }
        self.0[handle.index()] = Some(row);
    }

    /// Forgets what was destroyed: the twin that goes with it.
    pub fn forget_sampler(&mut self, handle: DeviceBuffer) -> Option<DeviceBuffer> {
        self.0.get_mut(handle.index())?.take()?.1
    }
}

impl ComputeDevice {
    /// Pushes what samplers are, and binds those that shaders take in their place.
    pub(super) fn tell_samplers(&mut self, plan: &mut ShaderLaunchPlan) -> Result<(), DeviceError> {
        for (handle, at) in std::mem::take(&mut plan.masks) {
            // Of what is no sampler the driver tells that it does not fit.
            let Some((sampler, twin)) = self.samplers.0.get(handle.index()).copied().flatten()
            else {
                continue;
            };
            plan.write_push_constants(at, &encode_sampler_mask(&sampler).to_le_bytes());
            if sampler.normalized {
                continue;
            }
            let twin = match twin {
                Some(known) => known,
                None => {
                    let normalized = true;
                    let made = self.create_sampler(&SamplerState {
                        normalized,
                        ..sampler
                    })?;
                    self.samplers.set_variant(handle, (sampler, Some(made)));
                    made
                }
            };
            let own = plan.bindings.iter_mut().filter(|b| b.buffer == handle);
            own.for_each(|bound| bound.buffer = twin);
        }
        Ok(())
    }
}

/// What a sampler is, in the bits of [`spirula_spirv::reflect::LiteralSampler`].
fn encode_sampler_mask(sampler: &SamplerState) -> u32 {
    let address = sampler.address[0].to_spirv();
    let filter = match sampler.magnify {
        SamplerFilter::Linear => 0x20,
        SamplerFilter::Nearest => 0x10,
    };
    u32::from(sampler.normalized) | address << 1 | filter
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::kernel_shader::convert_literal_sampler;
    use spirula_spirv::reflect::LiteralSampler;

    #[test]
    fn bits_there_and_back() {
        for address in 1..5 {
            for filter in [0x10, 0x20] {
                for normalized in 0..2 {
                    let bits = normalized | address << 1 | filter;
                    let sampler = convert_literal_sampler(LiteralSampler::from([0, 0, bits]));
                    assert_eq!(encode_sampler_mask(&sampler), bits);
                }
            }
        }
    }
}
