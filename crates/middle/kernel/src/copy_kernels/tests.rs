use super::*;

#[test]
fn every_size_has_its_functions() {
    for element in ELEMENTS {
        let mut program = CompiledProgram::default();
        let size = element.size();
        let texts = [include_str!("strided.kernel"), include_str!("tiled.kernel")];
        for text in texts {
            let text = instantiate_text(text, element);
            crate::verify_program(&parse_program(&text).unwrap()).unwrap();
            append_function(&mut program, &text).unwrap();
        }
        assert!(program.kernels.iter().all(|k| k.module.is_ok()), "{size}");
        program.copiers.push(CopyKernels {
            size,
            strided: 0,
            tiled: 1,
        });
        program.initialise = 0;
        program.check_references().unwrap();
    }
}
