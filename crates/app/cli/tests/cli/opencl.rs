//! `spirula opencl`: the vendor file of the OpenCL driver.

use crate::harness::spirula;

#[test]
fn the_vendor_file_is_written_and_removed() {
    let folder = tempfile::tempdir().expect("there is a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (library, vendors) = (path("libspirula_opencl.so"), path("OpenCL/vendors"));
    std::fs::write(&library, "a library with clIcdGetPlatformIDsKHR").expect("it can be written");
    let shared = ["opencl", "--library", &library, "--vendors", &vendors];
    spirula(&[&shared[..], &["--install"]].concat()).ok();
    let file = folder.path().join("OpenCL/vendors/spirula.icd");
    let written = std::fs::read_to_string(&file).expect("it was written");
    let named = std::path::PathBuf::from(written.trim());
    let expected = folder.path().join("libspirula_opencl.so").canonicalize();
    assert_eq!(named, expected.expect("it is there"));
    let shown = spirula(&shared).ok().text();
    assert!(shown.starts_with("OCL_ICD_VENDORS=") && shown.contains("OCL_ICD_FILENAMES="));
    spirula(&[&shared[..], &["--remove"]].concat()).ok();
    assert!(!file.exists());
    spirula(&[&shared[..], &["--remove"]].concat()).fails(1, "spirula.icd");
}

#[test]
fn a_missing_driver_is_named() {
    let missing = "/no/such/libspirula_opencl.so";
    spirula(&["opencl", "--library", missing]).fails(1, missing);
    let folder = tempfile::tempdir().expect("there is a folder");
    let other = folder.path().join("other.so").display().to_string();
    std::fs::write(&other, "another library").expect("it can be written");
    spirula(&["opencl", "--library", &other]).fails(1, "is no OpenCL driver");
    spirula(&["opencl", "--install", "--remove"]).fails(2, "cannot be used with");
}
