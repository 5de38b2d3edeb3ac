//! Access chains: the opcodes that compute a pointer from a base pointer and indices, by their properties.

use super::Op;

/// Form of an access chain, which determines its opcode: [`Op::access_chain_form`], [`AccessChainForm::opcode`].
///
/// `OpRawAccessChainNV` has a form of its own, with a stride and an offset in bytes, and is not among them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessChainForm {
    /// Whether base and result are pointers without pointee types. Operand 0 is then the type of the object that the
    /// base points to, and operand 1 is the base.
    pub is_untyped: bool,
    /// Whether the first index selects an element of the array that the base points into. All other indices select
    /// parts of the object.
    pub selects_element: bool,
    /// Whether the result points into the object of the base.
    pub is_inbounds: bool,
}

/// The opcodes in the order of [`AccessChainForm::index`].
const OPCODES: [Op; 8] = [
    Op::AccessChain,
    Op::InBoundsAccessChain,
    Op::PtrAccessChain,
    Op::InBoundsPtrAccessChain,
    Op::UntypedAccessChainKHR,
    Op::UntypedInBoundsAccessChainKHR,
    Op::UntypedPtrAccessChainKHR,
    Op::UntypedInBoundsPtrAccessChainKHR,
];

impl AccessChainForm {
    /// `OpAccessChain`.
    pub const TYPED: Self = AccessChainForm {
        is_untyped: false,
        selects_element: false,
        is_inbounds: false,
    };

    /// The form whose first index selects an element, or does not.
    pub const fn with_element(self, selects_element: bool) -> Self {
        AccessChainForm {
            selects_element,
            ..self
        }
    }

    /// The form whose result points into the object of the base, or may point elsewhere.
    pub const fn with_inbounds(self, is_inbounds: bool) -> Self {
        AccessChainForm {
            is_inbounds,
            ..self
        }
    }

    /// The opcode of the form.
    #[inline]
    pub const fn opcode(self) -> Op {
        OPCODES[self.index()]
    }

    /// The number of the form: one bit for each property.
    const fn index(self) -> usize {
        (self.is_untyped as usize) << 2
            | (self.selects_element as usize) << 1
            | self.is_inbounds as usize
    }

    /// The form of a number below 8.
    const fn from_index(index: usize) -> Self {
        AccessChainForm {
            is_untyped: index & 4 != 0,
            selects_element: index & 2 != 0,
            is_inbounds: index & 1 != 0,
        }
    }
}

impl Op {
    /// The form of an access chain, typed or not; `None` for other instructions.
    #[inline]
    pub const fn access_chain_form(self) -> Option<AccessChainForm> {
        let mut index = 0;
        while index < OPCODES.len() {
            if OPCODES[index].0 == self.0 {
                return Some(AccessChainForm::from_index(index));
            }
            index += 1;
        }
        None
    }

    /// Access chains with typed base pointers: `OpAccessChain`, `OpPtrAccessChain` and their in-bounds forms. The
    /// base is operand 0.
    #[inline]
    pub const fn is_access_chain(self) -> bool {
        matches!(self.access_chain_form(), Some(form) if !form.is_untyped)
    }

    /// `OpAccessChain` and `OpInBoundsAccessChain`: every index selects a part of the object that the base points to.
    #[inline]
    pub const fn is_plain_access_chain(self) -> bool {
        self.is_access_chain() && !self.selects_element()
    }

    /// `OpPtrAccessChain` and `OpInBoundsPtrAccessChain`: the first index selects an element of the array that the
    /// base points into.
    #[inline]
    pub const fn is_element_access_chain(self) -> bool {
        self.is_access_chain() && self.selects_element()
    }

    /// Access chains, typed or not, whose result points into the object of the base.
    #[inline]
    pub const fn is_inbounds_access_chain(self) -> bool {
        matches!(self.access_chain_form(), Some(form) if form.is_inbounds)
    }

    /// Access chains with untyped base pointers. Operand 0 is a type, operand 1 the base.
    #[inline]
    pub const fn is_untyped_access_chain(self) -> bool {
        matches!(self.access_chain_form(), Some(form) if form.is_untyped)
    }

    /// Whether the first index of an access chain, typed or not, selects an element of the array that the base
    /// points into.
    #[inline]
    pub const fn selects_element(self) -> bool {
        matches!(self.access_chain_form(), Some(form) if form.selects_element)
    }

    /// The position of the base pointer among the operands of an access chain, typed or not.
    #[inline]
    pub const fn access_chain_base(self) -> Option<usize> {
        match self.access_chain_form() {
            Some(form) => Some(form.is_untyped as usize),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AccessChainForm, Op};
    use crate::grammar::all_instructions;

    /// Names of access chains follow a pattern, from which the table is checked.
    #[test]
    fn forms_agree_with_names() {
        for row in all_instructions() {
            let (op, name) = (row.op, row.name);
            let is_chain = name.contains("AccessChain") && op != Op::RawAccessChainNV;
            let expected = is_chain.then(|| AccessChainForm {
                is_untyped: name.contains("Untyped"),
                selects_element: name.contains("PtrAccessChain"),
                is_inbounds: name.contains("InBounds"),
            });
            assert_eq!(op.access_chain_form(), expected, "{name}");
        }
    }

    #[test]
    fn each_form_has_its_opcode() {
        for index in 0..8 {
            let form = AccessChainForm::from_index(index);
            assert_eq!(form.opcode().access_chain_form(), Some(form), "{form:?}");
        }
    }
}
