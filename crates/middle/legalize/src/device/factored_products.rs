//! Factored products: `(x + 1) * y` of integers as `x * y + y`.
//!
//! Clang factors `x * y + y`. Graphics cards multiply and add in one instruction, and otherwise need two that wait for each other.

use spirula_spirv::analysis::IdDefinitions;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{IdWords, Inst, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// A product with a sum that it alone uses.
struct FactoredProduct {
    product: Inst,
    /// The number to which one is added.
    number: Id,
    /// The other factor.
    factor: Id,
}

/// The module with such products expanded; `None` where it has none. The sums stay, without uses.
pub fn expand_factored_products(module: &SpirvModule) -> Option<SpirvModule> {
    let products = module.all_insts().filter(|inst| inst.op() == Op::IMul);
    let products: Vec<InstRef<'_>> = products.collect();
    if products.is_empty() {
        return None;
    }
    let definitions = IdDefinitions::from_module(module);
    let uses = count_uses(module);
    // A product that is promised not to wrap may consist of parts that do.
    let promised = list_decorated(module);
    let matched = products.into_iter();
    let matched = matched.filter(|inst| inst.result().is_some_and(|id| !promised[id]));
    let matched = matched.filter_map(|inst| match_product(module, &definitions, &uses, inst));
    let matched: Vec<FactoredProduct> = matched.collect();
    if matched.is_empty() {
        return None;
    }
    let mut module = module.clone();
    for found in matched {
        let inst = module.inst(found.product);
        let (Some(ty), Some(result)) = (inst.result_type(), inst.result()) else {
            continue;
        };
        let product = module.fresh_id();
        let words = [ty, product, found.number, found.factor].map(Id::word);
        let multiply = module.create_inst(Op::IMul, &words);
        module.insert_before(found.product, multiply);
        let words = [ty, result, product, found.factor].map(Id::word);
        module.replace_inst(found.product, Op::IAdd, &words);
    }
    Some(module)
}

/// The ids with decorations.
fn list_decorated(module: &SpirvModule) -> IdMap<bool> {
    let mut decorated = IdMap::new(module.bound(), false);
    for inst in module.section_insts(ModuleSection::Annotations) {
        if inst.op() == Op::Decorate {
            decorated.set(inst.id_operand(0), true);
        }
    }
    decorated
}

/// How often each id is used by instructions of functions.
fn count_uses(module: &SpirvModule) -> IdMap<u32> {
    let words = IdWords::new(module);
    let mut uses = IdMap::new(module.bound(), 0);
    for func in module.functions() {
        for inst in module.function_insts(*func) {
            words.visit_uses(inst, |_, id| uses.set(id, uses[id] + 1));
        }
    }
    uses
}

fn match_product(
    module: &SpirvModule,
    definitions: &IdDefinitions,
    uses: &IdMap<u32>,
    product: InstRef<'_>,
) -> Option<FactoredProduct> {
    let factors = [product.id_operand(0), product.id_operand(1)];
    [factors, [factors[1], factors[0]]]
        .into_iter()
        .find_map(|[first, factor]| {
            let sum = definitions.get(module, first)?;
            if sum.op() != Op::IAdd || uses[first] != 1 {
                return None;
            }
            let terms = [sum.id_operand(0), sum.id_operand(1)];
            let is_one = |id: &Id| is_all_ones(module, definitions, *id);
            let one = terms.iter().position(is_one)?;
            Some(FactoredProduct {
                product: product.handle(),
                number: terms[1 - one],
                factor,
            })
        })
}

/// Whether a constant is one, or a vector of ones.
fn is_all_ones(module: &SpirvModule, definitions: &IdDefinitions, id: Id) -> bool {
    let Some(inst) = definitions.get(module, id) else {
        return false;
    };
    match inst.op() {
        Op::Constant => definitions.constant_value(module, id) == Some(1),
        Op::ConstantComposite => inst.id_operands(0).all(|part| {
            let part = definitions
                .get(module, part)
                .filter(|part| part.op() == Op::Constant);
            part.and_then(|part| part.result())
                .is_some_and(|part| definitions.constant_value(module, part) == Some(1))
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::build_module;
    use super::expand_factored_products;
    use spirula_spirv::text::{PrintOptions, print_assembly};
    use spirula_spirv::verify;

    #[test]
    fn products_of_sums_with_one_are_expanded() {
        for body in [
            "%s = OpIAdd %uint %n %one_32\n%p = OpIMul %uint %s %n",
            "%s = OpIAdd %uint %one_32 %n\n%p = OpIMul %uint %n %s",
        ] {
            let changed = expand_factored_products(&build_module(body)).expect("there is one");
            let faults = verify::verify_module(&changed, &verify::VerifyOptions::default());
            assert!(faults.is_ok(), "{faults:?}");
            let text = print_assembly(&changed.to_words(), &PrintOptions::default());
            let text = text.expect("it can be printed");
            let (_, after) = text.split_once("OpIMul").expect("there is a product");
            assert_eq!(after.matches("OpIAdd").count(), 1, "{text}");
        }
    }

    #[test]
    fn others_stay() {
        for body in [
            "%s = OpIAdd %uint %n %n\n%p = OpIMul %uint %s %n",
            "%s = OpIAdd %uint %n %one_32\n%p = OpIMul %uint %s %s",
            "%s = OpIAdd %uint %n %one_32\n%p = OpIMul %uint %s %n\n%q = OpIAdd %uint %s %n",
            "%p = OpIMul %uint %n %n",
        ] {
            assert!(
                expand_factored_products(&build_module(body)).is_none(),
                "{body}"
            );
        }
    }
}
