//! Launch sizes: the number of invocations of a kernel.

use crate::cli::CommandFailure;
use crate::cli::args::RunArgs;
use crate::cli::launch_size::LaunchSizeArg;
use spirula_runtime::IndexSpace;
use spirula_spirv::reflect::EntryInterface;

/// The launch size of an entry point from the arguments. Shaders count workgroups and kernels count invocations. Either
/// accepts the other's options.
pub fn parse_index_space(
    args: &RunArgs,
    interface: &EntryInterface,
) -> Result<IndexSpace, CommandFailure> {
    let local = args
        .local
        .as_ref()
        .map(|l| narrow_sizes(l.padded_to_three(1), "workgroup"));
    let local = local.transpose()?;
    if interface.takes_arguments() {
        count_invocations(args, local, interface.workgroup_size)
    } else {
        count_workgroups(args, local, interface.workgroup_size.unwrap_or([1; 3]))
    }
}

fn count_workgroups(
    args: &RunArgs,
    local: Option<[u32; 3]>,
    own: [u32; 3],
) -> Result<IndexSpace, CommandFailure> {
    if args.offset.is_some() {
        return Err(CommandFailure::from_message(
            "a shader takes no --offset: its ids begin at 0",
        ));
    }
    if let Some(local) = local.filter(|l| *l != own) {
        let text = format!("the shader's workgroups are {own:?}, not {local:?}");
        return Err(CommandFailure::from_message(text));
    }
    let mut groups = match (&args.groups, &args.global) {
        (Some(groups), _) => {
            return Ok(IndexSpace::Groups(narrow_sizes(
                groups.padded_to_three(1),
                "number of workgroups",
            )?));
        }
        (None, Some(global)) => global.padded_to_three(1),
        (None, None) => return Err(make_missing_size_failure()),
    };
    for (n, l) in groups.iter_mut().zip(own) {
        let l = u64::from(l.max(1));
        if *n % l != 0 {
            let text = format!("the global size {n} is not a multiple of the workgroup's {l}");
            return Err(CommandFailure::from_message(text));
        }
        *n /= l;
    }
    Ok(IndexSpace::Groups(narrow_sizes(
        groups,
        "number of workgroups",
    )?))
}

fn count_invocations(
    args: &RunArgs,
    local: Option<[u32; 3]>,
    own: Option<[u32; 3]>,
) -> Result<IndexSpace, CommandFailure> {
    let sizes = [&args.global, &args.groups, &args.local, &args.offset];
    let dimensions = sizes
        .into_iter()
        .flatten()
        .map(LaunchSizeArg::dimensions)
        .max();
    let (global, local) = match (&args.global, &args.groups) {
        (Some(global), _) => (global.padded_to_three(1), local),
        (None, Some(groups)) => {
            let size = local.or(own).ok_or_else(|| {
                CommandFailure::Usage(
                    "with --groups, a kernel needs --local X[,Y[,Z]] too".to_owned(),
                )
            })?;
            let mut global = groups.padded_to_three(1);
            for (n, l) in global.iter_mut().zip(size) {
                let product = n.checked_mul(l.into());
                *n = product.ok_or_else(|| {
                    CommandFailure::from_message("the global size is beyond 64 bits")
                })?;
            }
            (global, Some(size))
        }
        (None, None) => return Err(make_missing_size_failure()),
    };
    Ok(IndexSpace::Items {
        dimensions: dimensions.unwrap_or(1),
        global,
        local,
        offset: args
            .offset
            .as_ref()
            .map_or([0; 3], |o| o.padded_to_three(0)),
    })
}

fn make_missing_size_failure() -> CommandFailure {
    CommandFailure::Usage("give --global X[,Y[,Z]] or --groups X[,Y[,Z]]".to_owned())
}

fn narrow_sizes(sizes: [u64; 3], what: &str) -> Result<[u32; 3], CommandFailure> {
    let mut out = [0; 3];
    for (to, from) in out.iter_mut().zip(sizes) {
        let size = u32::try_from(from);
        *to = size.map_err(|_| {
            CommandFailure::from_message(format!("a {what} of {from} is too large"))
        })?;
    }
    Ok(out)
}
