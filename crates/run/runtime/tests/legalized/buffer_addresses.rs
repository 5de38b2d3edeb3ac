//! Storage buffers that are accessed by address.

use crate::assert_valid;
use spirula_legalize::device::{AddressSource, AddressedShader, address_buffers};
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::EntryInterface;
use spirula_spirv::text::{ParseOptions, parse_assembly};

/// Two buffers, and eight bytes of push constants.
const SAXPY: &str = include_str!("../vulkan/saxpy.spvasm");

fn rewrite_source(source: &str, most: u32) -> AddressedShader {
    let options = ParseOptions {
        version: Some(SpirvVersion::new(1, 3)),
        ..ParseOptions::default()
    };
    let words = parse_assembly(source, &options).expect("the text is right");
    let module = SpirvModule::from_words(words).expect("it is a module");
    let interface = EntryInterface::from_module(&module, "saxpy").expect("it has the entry point");
    let made = address_buffers(&module, &interface, most).expect("it can be rewritten");
    assert_valid(&made.module);
    made
}

/// Bytes of push constants that a rewritten shader takes.
fn count_push_bytes(made: &AddressedShader) -> u32 {
    let interface =
        EntryInterface::from_module(&made.module, "saxpy").expect("the entry point stays");
    assert_eq!(
        interface.bindings.len(),
        usize::from(made.table != AddressSource::Pushed(8))
    );
    interface.push_constant_bytes
}

#[test]
fn addresses_stand_behind_push_constants_that_have_room() {
    let made = rewrite_source(SAXPY, 24);
    assert_eq!(
        (made.table, count_push_bytes(&made)),
        (AddressSource::Pushed(8), 24)
    );
}

#[test]
fn addresses_come_from_a_buffer_where_there_is_no_room() {
    let made = rewrite_source(SAXPY, 23);
    assert!(matches!(made.table, AddressSource::Bound(_)));
    assert_eq!(count_push_bytes(&made), 8);
}

#[test]
fn push_constants_that_are_read_as_a_whole_stay_as_they_are() {
    let part = "%n_ptr = OpAccessChain %push_u32 %push %c1\n%n = OpLoad %u32 %n_ptr\n";
    let whole = "%all = OpLoad %push_block %push\n%n = OpCompositeExtract %u32 %all 1\n";
    let made = rewrite_source(&SAXPY.replace(part, whole), 256);
    assert!(matches!(made.table, AddressSource::Bound(_)));
}
