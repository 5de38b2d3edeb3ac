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

/// The sizes of a launch.
pub struct LaunchSizes {
    /// Invocations of each dimension.
    pub global: SizeArgument,
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
        let (global, dimensions) = self.global.pad(1)?;
        let local = match &self.local {
            Some(local) => Some(narrow_sizes(local.pad(1)?.0)?),
            None => None,
        };
        if interface.takes_arguments() {
            let offset = self.offset.as_ref().map(|offset| offset.pad(0));
            return Ok(IndexSpace::Items {
                dimensions,
                global,
                local,
                offset: offset.transpose()?.map_or([0; 3], |(offset, _)| offset),
            });
        }
        let own = interface.workgroup_size.unwrap_or([1; 3]);
        if self.offset.is_some() || local.is_some_and(|local| local != own) {
            let message = format!("a shader has no offset, and this one's workgroups are {own:?}");
            return Err(PythonFailure::argument(message));
        }
        let mut groups = [0; 3];
        for (at, (size, own)) in global.into_iter().zip(own).enumerate() {
            let own = u64::from(own.max(1));
            if size % own != 0 {
                let message = format!("the size {size} is no multiple of the workgroup's {own}");
                return Err(PythonFailure::argument(message));
            }
            groups[at] = size / own;
        }
        Ok(IndexSpace::Groups(narrow_sizes(groups)?))
    }
}

fn narrow_sizes(sizes: [u64; 3]) -> Result<[u32; 3], PythonFailure> {
    let mut narrow = [0; 3];
    for (to, size) in narrow.iter_mut().zip(sizes) {
        let size_error = |_| PythonFailure::argument(format!("a size of {size} is too large"));
        *to = u32::try_from(size).map_err(size_error)?;
    }
    Ok(narrow)
}
