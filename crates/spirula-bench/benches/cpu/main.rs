//! x
#![allow(dead_code)]
mod baseline;
mod measure;
mod opencl;
fn main() {
    println!("{:?}", opencl3::platform::get_platforms().map(|p| p.len()));
    println!("{:?}", opencl3::device::get_all_devices(opencl3::device::CL_DEVICE_TYPE_ALL));
    let o = opencl::OpenCl::open(include_str!("../../../../benches/kernels/kernels.cl"));
    println!("{:?}", o.map(|o| o.name));
}
