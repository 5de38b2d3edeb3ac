//! Random programs mean the same in all forms.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use spirula_random_futhark::{compare_forms, generate_program};
use spirula_testing::ChoiceSequence;

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn forms_have_the_same_results(bytes in proptest::collection::vec(any::<u8>(), 60..400)) {
        let program = generate_program(&mut ChoiceSequence::new(&bytes));
        if let Err(difference) = compare_forms(&program) {
            let text = format!("{difference}\n{}\n{}", program.arguments, program.text);
            return Err(TestCaseError::fail(text));
        }
    }
}
