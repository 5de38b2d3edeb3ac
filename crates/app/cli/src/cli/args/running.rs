//! Arguments of the commands that run modules and programs on devices.

use super::{InputArgs, LoweringArgs};
use crate::cli::launch_size::LaunchSizeArg;
use crate::cli::sanitizer::SanitizerArgs;
use crate::cli::tuning::TuningParameter;
use crate::values::image::ColourMap;
use crate::values::{ArgSpec, ValueSpec};
use clap::{Args as ClapArgs, ValueEnum};
use std::path::PathBuf;

/// Arguments of `devices`.
#[derive(ClapArgs)]
pub struct DevicesArgs {
    /// Devices to list; by default all
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Run tiny kernels that test the claims of each device. Faults are stored for the version of its driver, and
    /// modules that need a faulty feature are refused from then on
    #[arg(long)]
    pub probe: bool,
    /// Print the devices as JSON
    #[arg(long, conflicts_with = "probe")]
    pub json: bool,
}

/// Arguments of `opencl`.
#[derive(ClapArgs)]
pub struct OpenClArgs {
    /// Write the vendor file, by which the loader of OpenCL finds the driver; without it, show how programs find the driver
    #[arg(long)]
    pub install: bool,
    /// Remove the vendor file
    #[arg(long, conflicts_with = "install")]
    pub remove: bool,
    /// The driver; by default libspirula_opencl beside this program, or in lib beside its folder
    #[arg(long, value_name = "PATH")]
    pub library: Option<PathBuf>,
    /// The folder of vendor files
    #[arg(long, value_name = "FOLDER", default_value = "/etc/OpenCL/vendors")]
    pub vendors: PathBuf,
}

/// Mode of Vulkan's validation layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ValidationMode {
    /// Check calls and modules
    Calls,
    /// Also check the accesses of shaders, which is slow
    Shaders,
}

/// Arguments of `tune`.
#[derive(ClapArgs)]
pub struct TuneArgs {
    #[command(flatten)]
    pub from: InputArgs,
    #[command(flatten)]
    pub how: LoweringArgs,
    /// Device to measure on (see spirula devices)
    #[arg(long, default_value = "cpu")]
    pub device: String,
    /// Function of the module; by default `main`
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Argument, as for spirula run; by default random numbers
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    pub arg: Vec<ArgSpec>,
    /// Seed of random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Runs of each candidate; the fastest counts
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub runs: u64,
    /// Time limit of a launch, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub timeout: u64,
    /// Output file of the schedules, which compile and run read with --tuned
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub output: PathBuf,
}

/// Arguments of `server`.
#[derive(ClapArgs)]
pub struct ServerArgs {
    /// Program: Futhark source, a printed form, or a compiled program
    #[arg(value_name = "IN")]
    pub path: PathBuf,
    /// Device to run on (see spirula devices)
    #[arg(short, long, default_value = "cpu")]
    pub device: String,
    /// Threads of the CPU device; by default one for each processor
    #[arg(long, value_name = "N")]
    pub threads: Option<std::num::NonZeroUsize>,
    /// Tuning parameter, by its name or by the name of its class (thread_block_size=64)
    #[arg(long, value_name = "NAME=VALUE")]
    pub param: Vec<TuningParameter>,
    /// File of tuning parameters
    #[arg(long, value_name = "FILE")]
    pub tuning: Option<PathBuf>,
    /// Accepted as by Futhark's executables, without effect: debugging, log, profile
    #[arg(short = 'D', long, hide = true)]
    pub debugging: bool,
    #[arg(short = 'L', long, hide = true)]
    pub log: bool,
    #[arg(short = 'P', long, hide = true)]
    pub profile: bool,
}

/// Arguments of `run`.
#[derive(ClapArgs)]
#[command(after_long_help = RUN_HELP)]
pub struct RunArgs {
    #[command(flatten)]
    pub from: InputArgs,
    #[command(flatten)]
    pub how: LoweringArgs,
    /// Device to run on (see spirula devices)
    #[arg(long, default_value = "cpu")]
    pub device: String,
    /// Several devices that run the same program, separated by commas, for --compare
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        requires = "compare",
        conflicts_with = "device"
    )]
    pub devices: Vec<String>,
    /// Compare the memory of the devices after each launch, by --atol and --rtol, and stop at the first launch whose
    /// results differ
    #[arg(long, requires = "devices")]
    pub compare: bool,
    /// Folder for a launch whose results differ: its module, its inputs and the command that runs it alone
    #[arg(long, value_name = "FOLDER", default_value = "reproducer")]
    pub reproducer: PathBuf,
    /// Entry point; by default the only one, or `main` of a program with several
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Argument: a buffer or array (1024xf32=iota), a scalar (f32=2.5), workgroup memory (local=1024), bytes
    /// (hex=00ff), or a file (@x.npy); once for each parameter. A program takes several arrays by their names from one
    /// file (@weights.npz, @model.safetensors). Without arguments, it reads its values from standard input, in Futhark's
    /// text or binary form
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    pub arg: Vec<ArgSpec>,
    /// Tuning parameter of a program, by its name or by the name of its class (thread_block_size=64)
    #[arg(long, value_name = "NAME=VALUE")]
    pub param: Vec<TuningParameter>,
    /// Folder for the modules of a program's kernels, as the device gets them
    #[arg(long, value_name = "FOLDER")]
    pub dump_spirv: Option<PathBuf>,
    /// Print the results of a program in Futhark's binary form
    #[arg(long)]
    pub binary: bool,
    /// Call a program N more times, with the arguments on the device, and print the time of a call
    #[arg(long, value_name = "N")]
    pub runs: Option<std::num::NonZeroUsize>,
    /// Invocations in each dimension
    #[arg(long, value_name = "X,Y,Z")]
    pub global: Option<LaunchSizeArg>,
    /// Invocations of a workgroup in each dimension; by default the choice of the module or device
    #[arg(long, value_name = "X,Y,Z")]
    pub local: Option<LaunchSizeArg>,
    /// Workgroups in each dimension, instead of --global
    #[arg(long, value_name = "X,Y,Z", conflicts_with = "global")]
    pub groups: Option<LaunchSizeArg>,
    /// Offset of global ids (kernels only)
    #[arg(long, value_name = "X,Y,Z")]
    pub offset: Option<LaunchSizeArg>,
    /// Value of a specialisation constant, by its SpecId
    #[arg(long, value_name = "ID=VALUE", allow_hyphen_values = true)]
    pub spec: Vec<String>,
    /// Push constants in their order (u32=5, 3xf32=1 2 3, hex=00ff), each aligned to the size of its elements;
    /// address=16xf32=iota is the address of a buffer
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub push: Vec<ValueSpec>,
    /// Save a buffer after the run, or a program's result, as .npy or raw (.bin). WHICH is a number, a name or
    /// SET,BINDING, and may be left out where one buffer changed
    #[arg(long, visible_alias = "output", value_name = "[WHICH=]FILE")]
    pub out: Vec<String>,
    /// Compare a buffer or result with a .npy file; exit code 1 where they differ
    #[arg(long, value_name = "[WHICH=]FILE")]
    pub check: Vec<String>,
    /// Absolute tolerance of --check and --compare for floats: |got - want| <= ATOL + RTOL * |want|
    #[arg(long, value_name = "ATOL", default_value = "1e-8")]
    pub atol: f64,
    /// Relative tolerance of --check and --compare for floats; by default 1e-5, for f16 1e-3 and for bf16 1e-2
    #[arg(long, value_name = "RTOL")]
    pub rtol: Option<f64>,
    /// Save a buffer after the run as a picture: HxW numbers, HxWx3 or HxWx4 channels, or HxW
    /// pixels as u32
    #[arg(long, value_name = "[WHICH=]FILE.png")]
    pub image: Vec<String>,
    /// Colours of an image of numbers
    #[arg(long, value_enum, default_value = "auto")]
    pub colormap: ColourMap,
    /// Elements that are shown of each row of a changed buffer
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub show: usize,
    /// Print the time of each stage, and of each kernel: its compilation, and its launches on the device
    #[arg(long)]
    pub profile: bool,
    /// Enable Vulkan's validation layer; its errors end the run
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "calls",
        require_equals = true)]
    pub validation: Option<ValidationMode>,
    /// Time limit of a GPU's work, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u64>,
    /// Threads of the CPU device; by default one for each processor
    #[arg(long, value_name = "N")]
    pub threads: Option<std::num::NonZeroUsize>,
    /// Seed of random contents without a seed of their own; argument N gets SEED + N
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    #[command(flatten)]
    pub checking: SanitizerArgs,
}

const RUN_HELP: &str = "\
Arguments:
  1024xf32=iota               0 1 2 ...; iota(START,STEP) for other ramps
  16xf32=1 2 3 4 ...          as many numbers as elements, or one for all
  256x256xf32=random(-1,1)    between bounds; random(-1,1,seed=3) with a seed of its own
  64xu32=random               any bits
  640x480x4xu8                zeros (or =zeros); =fill(2.5) for another number
  1024xf32=@x.npy             from a NumPy file; =@x.bin from raw bytes; @x.npy alone takes
                              type and shape from the file
  @w.npz, @w.safetensors      for a program: each array for the parameter with its name, whose
                              path may be written dense.kernel or dense/kernel
  @w.npz[dense.kernel]        one array of such a file
  f32=2.5, 2.5f32             a scalar
  3xf32=1 2 3                 for a parameter that is a vector or structure: its value
  local=1024, local=256xf32   workgroup memory for each workgroup
  hex=0011                    the bytes of a value
  address=16xf32=iota         the address of a buffer with these contents, for a parameter that
                              is a number of 64 bits; as a push constant it is called push0
  image2d=48x64xrgba8=@x.npy  an image, rows first; image1d, image3d, cube and texels, too, and
                              image2d+array=LAYERSxHEIGHTxWIDTHxFORMAT; contents as above
  sampler+linear+repeat       a sampler: nearest, linear, clamp, border, repeat, mirror,
                              unnormalized; after an image for a binding that takes both
  x:1024xf32                  for the parameter named x
  0,1:1024xf32                for set 0, binding 1; 0,1[2]: for element 2 of its array
  Arguments that name no place take the next free parameter, or binding in the order of sets.
  Types: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64

Examples:
  spirula run saxpy.ll --arg f32=2 --arg 1024xf32=iota --arg 1024xf32=fill(1) --global 1024
  spirula run blur.spv --groups 64,64 --arg 0,0:1024x1024xf32=@in.npy \\
      --arg 0,1:1024x1024xf32 --push u32=1024 --image 0,1=out.png
  spirula run model.mlir --arg @x.npy --arg 32x16xf32=random --output y.npy
  spirula run exported.bin --arg @weights.safetensors --arg x:@x.npy --runs 100
  spirula run sum.imp --param thread_block_size=64 < values.txt
  spirula run sum.bc --entry sum --arg x:4096xi32=@x.npy --arg local=256xi32 --arg 16xi32 \\
      --global 4096 --local 256 --check 2=expected.npy
";
