//! C interfaces of Futhark programs: `spirula compile --library`.

use crate::harness::{ScratchFolder, spirula};

const SOURCE: &str = "type point = {x: f32, y: f32}\n\
     -- | Moves a point.\n\
     #[attribute] entry move (p: point) (by: *[]f32) : point = {x = p.x + by[0], y = p.y + by[1]}\n\
     entry both (x: i32) : (i32, []point) = (x, [])\n";

fn read(scratch: &ScratchFolder, name: &str) -> String {
    std::fs::read_to_string(scratch.path(name)).expect("the file was written")
}

#[test]
fn three_files_are_written() {
    let scratch = ScratchFolder::new();
    let source = scratch.file("program.fut", SOURCE);
    spirula(&["compile", "--library", &source]).ok();
    spirula(&[
        "compile",
        "--library",
        &source,
        "-o",
        &scratch.text("other.x"),
    ])
    .ok();
    let names = [
        "other.x.c",
        "other.x.h",
        "other.x.json",
        "program.c",
        "program.fut",
        "program.h",
        "program.json",
    ];
    assert_eq!(scratch.names(), names);
    let header = read(&scratch, "program.h");
    assert_eq!(header, read(&scratch, "other.x.h"));
    for line in [
        "struct futhark_opaque_point;",
        "struct futhark_f32_1d *futhark_new_f32_1d(struct futhark_context *ctx, const float *data, int64_t dim0);",
        "int futhark_project_opaque_point_x(struct futhark_context *ctx, float *out, const struct futhark_opaque_point *obj);",
        "int futhark_new_opaque_point(struct futhark_context *ctx, struct futhark_opaque_point **out, const float f_x, const float f_y);",
        "int futhark_entry_move(struct futhark_context *ctx, struct futhark_opaque_point **out, const struct futhark_opaque_point *in0, const struct futhark_f32_1d *in1);",
        "int futhark_entry_both(struct futhark_context *ctx, struct futhark_opaque_tup2_i32_arr1d_point **out, const int32_t in0);",
    ] {
        assert!(header.contains(line), "{line} is not in\n{header}");
    }
    assert!(read(&scratch, "program.c").contains("#include \"program.h\"\n"));
    let manifest: serde_json::Value =
        serde_json::from_str(&read(&scratch, "program.json")).expect("it is JSON");
    let entry = &manifest["entry_points"]["move"];
    assert_eq!(entry["doc"], "Moves a point.");
    assert_eq!(entry["attributes"][0], "attribute");
    assert_eq!(entry["inputs"][1]["unique"], true);
    assert_eq!(entry["output"]["type"], "point");
    assert_eq!(
        manifest["types"]["[]point"]["record_array"]["elemtype"],
        "point"
    );
    assert_eq!(manifest["types"]["[]f32"]["elemtype"], "f32");
}

/// Each kind of device has an archive, unless the schedule names one kind.
#[test]
fn archives_are_for_both_kinds_of_devices() {
    let scratch = ScratchFolder::new();
    let source = scratch.file("program.fut", "entry f (x: i32) : i32 = x + 1");
    for (schedule, processor, graphics) in [
        (None, true, true),
        (Some("cpu"), true, false),
        (Some("gpu"), false, true),
    ] {
        let mut args = vec!["compile", "--library", &source];
        args.extend(schedule.iter().flat_map(|kind| ["--schedule", kind]));
        spirula(&args).ok();
        let text = read(&scratch, "program.c");
        assert_eq!(
            text.contains("processor_archive[]"),
            processor,
            "{schedule:?}"
        );
        assert_eq!(
            text.contains("graphics_archive[]"),
            graphics,
            "{schedule:?}"
        );
    }
}

#[test]
fn wrong_use_is_told() {
    let scratch = ScratchFolder::new();
    let wrong = scratch.file("wrong.fut", "entry f (x: i32) : i32 = y");
    let told = spirula(&["compile", "--library", &wrong]).fails(1, "y");
    assert!(told.err.contains("wrong.fut:1"), "{}", told.err);
    let clash = "module m = {type t = (i32, i32)}\nmodule n = {type t = (f32, f32)}\n\
                 local open m\nentry f (x: t) : i32 = x.0\nopen n\nentry g (x: t) : f32 = x.0";
    let clash = scratch.file("clash.fut", clash);
    spirula(&["compile", "--library", &clash]).fails(1, "two different types of the name t");
    let plain = scratch.file("plain.spvasm", "OpCapability Shader");
    spirula(&["compile", "--library", &plain]).fails(2, "--library is for Futhark source");
    let empty = scratch.file("empty.fut", "def f = 1");
    spirula(&["compile", "--library", &empty]).fails(1, "no entry point");
    spirula(&["compile", "--library", &scratch.text("none.fut")]).fails(1, "none.fut");
    let right = scratch.file("right.fut", "entry f (x: i32) : i32 = x");
    spirula(&["compile", "--library", "--emit", "spv", &right]).fails(2, "--emit");
    spirula(&[
        "compile",
        "--library",
        &right,
        "-o",
        &scratch.text("no/right"),
    ])
    .fails(1, "right.h");
    assert!(!scratch.names().iter().any(|name| name.ends_with(".h")));
}
