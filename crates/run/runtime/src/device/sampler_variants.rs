//! Sampler variants: samplers with normalised coordinates for kernels that became shaders.
//!
//! Such a shader computes coordinates in texels itself. It needs the state of the sampler as a push constant. The sampler at the
//! descriptor takes normalised coordinates; where the host's sampler does not, a variant of it is bound.

use super::ComputeDevice;
use crate::device::kernel_shader::ShaderLaunchPlan;
use crate::{DeviceError, SamplerFilter, SamplerHandle, SamplerState};
use rustc_hash::FxHashMap;

/// States of samplers by handle, with the variants that some have.
#[derive(Default)]
pub struct SamplerVariants(FxHashMap<SamplerHandle, (SamplerState, Option<SamplerHandle>)>);

impl SamplerVariants {
    /// Notes a sampler.
    pub fn note_sampler(&mut self, handle: SamplerHandle, sampler: &SamplerState) {
        self.set_variant(handle, *sampler, None);
    }

    fn set_variant(
        &mut self,
        handle: SamplerHandle,
        sampler: SamplerState,
        variant: Option<SamplerHandle>,
    ) {
        self.0.insert(handle, (sampler, variant));
    }

    /// Forgets a destroyed sampler; returns its variant.
    pub fn forget_sampler(&mut self, handle: SamplerHandle) -> Option<SamplerHandle> {
        self.0.remove(&handle)?.1
    }
}

impl ComputeDevice {
    /// Pushes the states of samplers, and binds their variants.
    pub(super) fn push_sampler_states(
        &mut self,
        plan: &mut ShaderLaunchPlan,
    ) -> Result<(), DeviceError> {
        for (handle, at) in std::mem::take(&mut plan.masks) {
            // The driver reports handles that are no samplers.
            let Some((sampler, variant)) = self.samplers.0.get(&handle).copied() else {
                continue;
            };
            plan.write_push_constants(at, &encode_sampler_mask(&sampler).to_le_bytes());
            if sampler.normalized {
                continue;
            }
            let variant = match variant {
                Some(known) => known,
                None => {
                    let normalized = true;
                    let made = self.create_sampler(&SamplerState {
                        normalized,
                        ..sampler
                    })?;
                    self.samplers.set_variant(handle, sampler, Some(made));
                    made
                }
            };
            let own = plan.bindings.iter_mut();
            let own = own.filter(|bound| bound.resource == handle.into());
            own.for_each(|bound| bound.resource = variant.into());
        }
        Ok(())
    }
}

/// The state of a sampler in the bits of [`spirula_spirv::reflect::LiteralSampler`].
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
