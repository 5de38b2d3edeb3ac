//! Versions, capabilities and drawings from the command line.

use crate::harness::{ScratchFolder, own, spirula};

#[test]
fn versions_up_and_down() {
    let scratch = ScratchFolder::new();
    let old = scratch.text("old.spv");
    let source = own("double.spvasm");
    spirula(&["as", &source, "--target-env", "spv1.3", "-o", &old]).ok();
    let new = scratch.text("new.spv");
    spirula(&["convert", &old, "--to-version", "1.5", "-o", &new]).ok();
    spirula(&["val", &new]).ok();
    let info = spirula(&["info", &new]).ok().text();
    assert!(info.contains("version 1.5"), "{info}");
    assert!(info.contains("capabilities: Shader"), "{info}");
    let back = spirula(&["convert", &new, "--to-version", "1.0", "--emit", "spvasm"]);
    let back = back.ok().text();
    assert!(
        back.contains("SPV_KHR_storage_buffer_storage_class"),
        "{back}"
    );
    spirula(&["convert", &new, "--to-version", "2.0"]).fails(2, "1.0 to 1.6");
}

#[test]
fn what_is_not_allowed_is_named() {
    let scratch = ScratchFolder::new();
    let wide = scratch.file(
        "wide.spvasm",
        "OpCapability Shader\nOpCapability Linkage\nOpCapability Float64\nOpCapability Geometry\n\
         OpMemoryModel Logical GLSL450\n%double = OpTypeFloat 64\n",
    );
    let args = ["convert", &wide, "--minimal", "--emit", "spvasm"];
    let text = spirula(&args).ok().text();
    assert!(
        text.contains("Float64") && !text.contains("Geometry"),
        "{text}"
    );
    let info = spirula(&["info", &wide]).ok().text();
    assert!(
        info.contains("capabilities: Float64, Geometry, Linkage, Shader"),
        "{info}"
    );
    assert!(
        info.contains("capabilities needed: Float64, Linkage, Shader"),
        "{info}"
    );
    spirula(&["convert", &wide, "--allow", "Shader,Linkage"]).fails(1, "Float64");
    spirula(&["convert", &wide, "--allow", "Shader,Linkage,Float64"]).ok();
    spirula(&["convert", &wide, "--allow", "Everything"]).fails(2, "Everything");
}

#[test]
fn control_flow_is_drawn() {
    let scratch = ScratchFolder::new();
    let file = scratch.text("flow.dot");
    let double = own("double.spvasm");
    spirula(&["cfg", &double, "--dot", &file, "--dominators"]).ok();
    let picture = scratch.text("cfg.svg");
    spirula(&["cfg", &double, "-o", &picture, "--instructions"]).ok();
    let svg = std::fs::read_to_string(&picture).unwrap();
    assert!(
        svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
        "{svg}"
    );
    assert_eq!(
        svg,
        spirula(&["cfg", &double, "--emit", "svg", "--instructions"])
            .ok()
            .text()
    );
    spirula(&["cfg", &double, "-o", &picture, "--post-dominators"]).ok();
    spirula(&["cfg", &double, "-o", "x.png"]).fails(1, "which is not written here");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("digraph module {"), "{text}");
    assert!(text.contains("cluster_f0d"), "{text}");
    spirula(&["cfg", &double, "--function", "absent"]).fails(1, "no function absent");
}
