//! How the command is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let of = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    // The tables of the grammar hold 30,000 addresses. Where the program is loaded is not known
    // until it is, these are made at each start, which takes longer than to compile a small module.
    if of("OS") == "linux" && of("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bin=spirula=-no-pie");
    }
}
