//! Functions of samplers.

use crate::boundary::{QueryOutput, answer_code, answer_handle, read_properties, refuse_query};
use crate::context::ClContext;
use crate::error::{CallError, CallResult};
use crate::handle::{count_references, create_object, find_object, release_object, retain_object};
use crate::sampler::{ClSampler, SamplerFacts};
use opencl_sys::*;
use std::ffi::c_void;

fn open_sampler(
    context: cl_context,
    facts: SamplerFacts,
    property_words: Vec<u64>,
) -> CallResult<*mut c_void> {
    let context = find_object::<ClContext>(context)?;
    facts.to_state()?;
    let sampler = create_object(|handle| ClSampler::new(handle, context, facts, property_words));
    Ok(sampler.handle.as_raw())
}

/// `clCreateSampler`
pub unsafe extern "C" fn create_sampler(
    context: cl_context,
    is_normalized: cl_bool,
    addressing: cl_addressing_mode,
    filter: cl_filter_mode,
    code: *mut cl_int,
) -> cl_sampler {
    answer_handle("clCreateSampler", code, || {
        let facts = SamplerFacts {
            is_normalized: is_normalized != 0,
            addressing,
            filter,
        };
        open_sampler(context, facts, Vec::new())
    })
}

/// `clCreateSamplerWithProperties`
pub unsafe extern "C" fn create_sampler_with_properties(
    context: cl_context,
    properties: *const cl_sampler_properties,
    code: *mut cl_int,
) -> cl_sampler {
    answer_handle("clCreateSamplerWithProperties", code, || {
        let (pairs, words) = read_properties(properties);
        let mut facts = SamplerFacts::default();
        for (number, (name, value)) in pairs.iter().enumerate() {
            if pairs[..number].iter().any(|(other, _)| other == name) {
                return Err(CallError::invalid_value("a property is given twice"));
            }
            match *name as cl_sampler_info {
                CL_SAMPLER_NORMALIZED_COORDS => facts.is_normalized = *value != 0,
                CL_SAMPLER_ADDRESSING_MODE => facts.addressing = *value as cl_addressing_mode,
                CL_SAMPLER_FILTER_MODE => facts.filter = *value as cl_filter_mode,
                name => {
                    let message = format!("there is no property {name:#x} of samplers");
                    return Err(CallError::invalid_value(message));
                }
            }
        }
        open_sampler(context, facts, words)
    })
}

/// `clRetainSampler`
pub unsafe extern "C" fn retain_sampler(sampler: cl_sampler) -> cl_int {
    answer_code("clRetainSampler", || retain_object::<ClSampler>(sampler))
}

/// `clReleaseSampler`
pub unsafe extern "C" fn release_sampler(sampler: cl_sampler) -> cl_int {
    answer_code("clReleaseSampler", || release_object::<ClSampler>(sampler))
}

/// `clGetSamplerInfo`
pub unsafe extern "C" fn get_sampler_info(
    sampler: cl_sampler,
    name: cl_sampler_info,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> cl_int {
    answer_code("clGetSamplerInfo", || {
        let sampler = find_object::<ClSampler>(sampler)?;
        let output = QueryOutput::new(size, value, size_out);
        match name {
            CL_SAMPLER_REFERENCE_COUNT => output.write_value(count_references(&*sampler)),
            CL_SAMPLER_CONTEXT => output.write_value(sampler.context.handle.as_raw()),
            CL_SAMPLER_NORMALIZED_COORDS => {
                output.write_value(cl_bool::from(sampler.facts.is_normalized))
            }
            CL_SAMPLER_ADDRESSING_MODE => output.write_value(sampler.facts.addressing),
            CL_SAMPLER_FILTER_MODE => output.write_value(sampler.facts.filter),
            CL_SAMPLER_PROPERTIES => output.write_list(&sampler.property_words),
            _ => Err(refuse_query(name)),
        }
    })
}
