//! Sizes of launches: a number, or up to three.

use crate::failure::PythonFailure;
use pyo3::prelude::*;
use spirula_runtime::IndexSpace;
use spirula_spirv::reflect::EntryInterface;

/// A size in one to three dimensions.
#[derive(FromPyObject)]
pub enum SizeArgument {
    Number(u64),
    List(Vec<u64>),
}

impl SizeArgument {
    /// The sizes of three dimensions, and the number of those that were given.
    fn pad(&self, filler: u64) -> Result<([u64; 3], u32), PythonFailure> {
        let given = match self {
            SizeArgument::Number(size) => std::slice::from_ref(size),
            SizeArgument::List(sizes) => sizes,
        };
        if given.is_empty() || given.len() > 3 {
            return Err(PythonFailure::argument(
                "a size has one to three dimensions",
            ));
        }
        let mut sizes = [filler; 3];
        sizes[..given.len()].copy_from_slice(given);
        Ok((sizes, given.len() as u32))
    }
}

/// The sizes of a launch, as they were given.
pub struct LaunchSizes {
    /// Invocations of each dimension.
    pub global: Option<SizeArgument>,
    /// Workgroups of each dimension, instead of invocations.
    pub groups: Option<SizeArgument>,
    /// Invocations of a workgroup.
    pub local: Option<SizeArgument>,
    /// Added to the ids of a kernel.
    pub offset: Option<SizeArgument>,
}

impl LaunchSizes {
    /// The index space of an entry point.
    ///
    /// # Errors
    /// When the sizes do not fit the entry point.
    pub fn to_index_space(&self, interface: &EntryInterface) -> Result<IndexSpace, PythonFailure> {
        let local = match &self.local {
            Some(local) => Some(narrow_sizes(local.pad(1)?.0)?),
            None => None,
        };
        if interface.takes_arguments() {
            self.count_invocations(local, interface.workgroup_size)
        } else {
            self.count_workgroups(local, interface.workgroup_size.unwrap_or([1; 3]))
        }
    }

    /// The invocations of a kernel.
    fn count_invocations(
        &self,
        local: Option<[u32; 3]>,
        own: Option<[u32; 3]>,
    ) -> Result<IndexSpace, PythonFailure> {
        let (global, dimensions, local) = match (&self.global, &self.groups) {
            (Some(global), None) => {
                let (global, dimensions) = global.pad(1)?;
                (global, dimensions, local)
            }
            (None, Some(groups)) => {
                let (mut global, dimensions) = groups.pad(1)?;
                let size = local.or(own);
                let size = size
                    .ok_or_else(|| PythonFailure::argument("groups of a kernel need local, too"))?;
                for (count, size) in global.iter_mut().zip(size) {
                    let product = count.checked_mul(size.into());
                    let product = product.ok_or_else(|| {
                        PythonFailure::argument("the number of invocations is too large")
                    });
                    *count = product?;
                }
                (global, dimensions, Some(size))
            }
            (Some(_), Some(_)) | (None, None) => return Err(make_size_failure()),
        };
        let offset = self.offset.as_ref().map(|offset| offset.pad(0));
        Ok(IndexSpace::Items {
            dimensions,
            global,
            local,
            offset: offset.transpose()?.map_or([0; 3], |(offset, _)| offset),
        })
    }

    /// The workgroups of a shader, whose size is its own.
    fn count_workgroups(
        &self,
        local: Option<[u32; 3]>,
        own: [u32; 3],
    ) -> Result<IndexSpace, PythonFailure> {
        if self.offset.is_some() || local.is_some_and(|local| local != own) {
            let message = format!("a shader has no offset, and this one's workgroups are {own:?}");
            return Err(PythonFailure::argument(message));
        }
        let mut groups = match (&self.global, &self.groups) {
            (None, Some(groups)) => return Ok(IndexSpace::Groups(narrow_sizes(groups.pad(1)?.0)?)),
            (Some(global), None) => global.pad(1)?.0,
            (Some(_), Some(_)) | (None, None) => return Err(make_size_failure()),
        };
        for (count, own) in groups.iter_mut().zip(own) {
            let own = u64::from(own.max(1));
            if *count % own != 0 {
                let message = format!("the size {count} is no multiple of the workgroup's {own}");
                return Err(PythonFailure::argument(message));
            }
            *count /= own;
        }
        Ok(IndexSpace::Groups(narrow_sizes(groups)?))
    }
}

fn make_size_failure() -> PythonFailure {
    PythonFailure::argument("a launch takes either a size or groups")
}

fn narrow_sizes(sizes: [u64; 3]) -> Result<[u32; 3], PythonFailure> {
    let mut narrow = [0; 3];
    for (to, size) in narrow.iter_mut().zip(sizes) {
        let size_error = |_| PythonFailure::argument(format!("a size of {size} is too large"));
        *to = u32::try_from(size).map_err(size_error)?;
    }
    Ok(narrow)
}
