//! Every kind of change is possible, and mutants depend on their seeds alone.

use spirula_futhark::compile::check_source;
use spirula_mutant_futhark::{MUTATION_KINDS, MutableSource, MutationChoice, make_mutant};

/// A program with a place for every kind of change.
const PROGRAM: &str = "
module type shape = {type t [n] 'a val area [n]: t [n] i32 -> i32 val zero: i32}
module box : shape with t [n] 'a = [n]a = {type t [n] 'a = [n]a def area [n] (x: t [n] i32) = i32.i64 n + x[0] def zero = 0i32}
module named : {val zero: i32} = (box : {val zero: i32})
type point = {x: f32, y: f32}
type figure = #dot point | #line point point
def norm (p: point) : f32 = p.x * p.x + p.y * p.y
def size (f: figure) : f32 = match f case #dot p -> norm p case #line p q -> if norm p < norm q then norm q else norm p
def bump [n] (xs: *[n]i32) (i: i64) : *[n]i32 = let xs[i] = 1 let ys = xs with [0] = 2 in ys
entry main [n] (xs: [n]i32) (k: i64) : [n]i32 =
  let f (y: i32) : i32 = y + 1
  let zs = loop acc = copy xs for i < k do bump acc i
  in map f (zs :> [n]i32)
";

fn parse_program() -> MutableSource {
    MutableSource::parse(PROGRAM.to_owned()).expect("the program can be parsed")
}

fn is_accepted(text: &str) -> bool {
    check_source("main.fut", &mut |_| Ok(text.to_owned())).is_ok()
}

#[test]
fn every_kind_changes_the_program() {
    assert!(is_accepted(PROGRAM), "the program is right");
    let source = parse_program();
    for kind in MUTATION_KINDS {
        let mutants = (0..20).filter_map(|seed| {
            let mutant = make_mutant(&source, kind, &mut MutationChoice::new(seed))?;
            assert_eq!(mutant.kind, kind.name);
            assert_ne!(mutant.text, PROGRAM);
            Some(mutant)
        });
        assert!(mutants.count() > 0, "{} changes nothing", kind.name);
    }
}

#[test]
fn seeds_determine_mutants() {
    let source = parse_program();
    let make = |seed: u64| {
        let kinds = MUTATION_KINDS.iter();
        let mutants = kinds.map(|kind| make_mutant(&source, kind, &mut MutationChoice::new(seed)));
        mutants.collect::<Vec<_>>()
    };
    assert_eq!(make(7), make(7));
    assert_ne!(make(7), make(8));
}

#[test]
fn most_mutants_are_wrong() {
    let source = parse_program();
    let mutants = MUTATION_KINDS.iter().flat_map(|kind| {
        let source = &source;
        (0..4).filter_map(move |seed| make_mutant(source, kind, &mut MutationChoice::new(seed)))
    });
    let verdicts: Vec<bool> = mutants.map(|mutant| is_accepted(&mutant.text)).collect();
    let refused = verdicts.iter().filter(|accepted| !**accepted).count();
    assert!(
        2 * refused > verdicts.len(),
        "{refused} of {}",
        verdicts.len()
    );
    assert!(
        refused < verdicts.len(),
        "some changes keep a program right"
    );
}
