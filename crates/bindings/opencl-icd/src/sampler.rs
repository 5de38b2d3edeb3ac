//! Samplers of images.

use crate::context::ClContext;
use crate::error::{CallError, CallResult};
use crate::handle::{ObjectHandle, declare_object};
use crate::scheduler::{DeviceScheduler, RetiredObject};
use opencl_sys::{
    CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_MIRRORED_REPEAT, CL_ADDRESS_NONE,
    CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, CL_FILTER_NEAREST, cl_addressing_mode, cl_filter_mode,
};
use spirula_runtime::{SamplerAddressing, SamplerFilter, SamplerHandle, SamplerState};
use std::sync::{Arc, Mutex, PoisonError};

/// A sampler.
pub struct ClSampler {
    pub(crate) handle: ObjectHandle<ClSampler>,
    /// Its context.
    pub context: Arc<ClContext>,
    /// The properties of its creation.
    pub facts: SamplerFacts,
    /// The properties that it was created with, as words.
    pub property_words: Vec<u64>,
    made: Mutex<Vec<(Arc<DeviceScheduler>, SamplerHandle)>>,
}

declare_object!(ClSampler, "sampler", CL_INVALID_SAMPLER);

/// The properties of a sampler at its creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplerFacts {
    /// Whether coordinates reach from 0 to 1.
    pub is_normalized: bool,
    /// Texels outside of images.
    pub addressing: cl_addressing_mode,
    /// Texels between others.
    pub filter: cl_filter_mode,
}

impl Default for SamplerFacts {
    fn default() -> Self {
        SamplerFacts {
            is_normalized: true,
            addressing: CL_ADDRESS_CLAMP,
            filter: CL_FILTER_NEAREST,
        }
    }
}

impl SamplerFacts {
    /// The state of a sampler of the runtime.
    ///
    /// # Errors
    /// When a mode does not exist.
    pub fn to_state(self) -> CallResult<SamplerState> {
        let address = match self.addressing {
            CL_ADDRESS_NONE | CL_ADDRESS_CLAMP_TO_EDGE => SamplerAddressing::ClampToEdge,
            CL_ADDRESS_CLAMP => SamplerAddressing::Border,
            CL_ADDRESS_REPEAT => SamplerAddressing::Repeat,
            CL_ADDRESS_MIRRORED_REPEAT => SamplerAddressing::Mirror,
            mode => {
                let message = format!("there is no addressing mode {mode:#x}");
                return Err(CallError::invalid_value(message));
            }
        };
        let filter = match self.filter {
            CL_FILTER_NEAREST => SamplerFilter::Nearest,
            CL_FILTER_LINEAR => SamplerFilter::Linear,
            mode => {
                let message = format!("there is no filter mode {mode:#x}");
                return Err(CallError::invalid_value(message));
            }
        };
        Ok(SamplerState::from_opencl(
            address,
            filter,
            self.is_normalized,
        ))
    }
}

impl ClSampler {
    /// A sampler that no device has yet.
    pub fn new(
        handle: ObjectHandle<ClSampler>,
        context: Arc<ClContext>,
        facts: SamplerFacts,
        property_words: Vec<u64>,
    ) -> ClSampler {
        ClSampler {
            handle,
            context,
            facts,
            property_words,
            made: Mutex::default(),
        }
    }

    /// The sampler on a device.
    ///
    /// # Errors
    /// When the device has no such samplers.
    pub fn acquire(&self, scheduler: &Arc<DeviceScheduler>) -> CallResult<SamplerHandle> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = made.iter();
        if let Some((_, sampler)) = known.find(|(own, _)| own.number() == scheduler.number()) {
            return Ok(*sampler);
        }
        let state = self.facts.to_state()?;
        let sampler = scheduler.lock_device().create_sampler(&state)?;
        made.push((scheduler.clone(), sampler));
        Ok(sampler)
    }
}

impl Drop for ClSampler {
    fn drop(&mut self) {
        let made = self.made.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (scheduler, sampler) in made.drain(..) {
            scheduler.retire_object(RetiredObject::Resource(sampler.into(), None));
        }
    }
}
