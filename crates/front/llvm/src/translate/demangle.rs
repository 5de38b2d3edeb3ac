//! Name demangling: mangled names of built-in functions.
//!
//! This is the subset of the Itanium C++ ABI (section 5.1) that Clang uses for the names of OpenCL
//! and SPIR-V built-ins. It has an unqualified name and parameter types: built-in, vector, pointer,
//! qualified, atomic and named types, with substitutions. Functions of SPIR-V may also be instances
//! of templates. Names outside of the subset (namespaces, other templates) are not built-ins and
//! yield `None`.

/// Nesting depth of types beyond which a name is not demangled.
const MAX_DEPTH: u32 = 32;

/// A scalar type or a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MangledBaseType<'a> {
    Void,
    Bool,
    /// Width in bits and whether signed.
    Int(u32, bool),
    /// Width in bits.
    Float(u32),
    /// A 16-bit float with an 8-bit exponent (bfloat16).
    Brain,
    /// A named type, such as `ocl_event`.
    Named(&'a str),
    /// Any other type, such as a pointer to a pointer.
    Other,
}

/// A parameter type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MangledParameter<'a> {
    /// Scalar type of the value or pointee.
    pub(crate) base: MangledBaseType<'a>,
    /// Number of lanes of the value or pointee; 1 for a scalar.
    pub(crate) lanes: u32,
    /// Whether it is a pointer to that.
    pub(crate) pointer: bool,
    /// Whether this was a pointer to an opaque type of SPIR-V, which stands for the opaque type
    /// itself.
    handle: bool,
}

impl MangledParameter<'_> {
    /// Whether the type is a signed integer, or a vector of or a pointer to signed integers.
    pub(crate) fn is_signed(&self) -> bool {
        matches!(self.base, MangledBaseType::Int(_, true))
    }

    /// Whether the type is a signed integer or a vector of them; `None` if it has no integers.
    pub(crate) fn integer_signedness(&self) -> Option<bool> {
        match self.base {
            MangledBaseType::Int(_, signed) if !self.pointer => Some(signed),
            _ => None,
        }
    }

    /// Whether the type is a float, or a vector of or a pointer to floats.
    pub(crate) fn is_float(&self) -> bool {
        matches!(
            self.base,
            MangledBaseType::Float(_) | MangledBaseType::Brain
        )
    }
}

/// A demangled name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DemangledName<'a> {
    pub(crate) name: &'a str,
    pub(crate) params: Vec<MangledParameter<'a>>,
    /// The type of the result, which only template instances state.
    pub(crate) result: Option<MangledParameter<'a>>,
}

impl<'a> DemangledName<'a> {
    /// A function without parameters in its name.
    pub(crate) fn from_plain_name(name: &'a str) -> Self {
        DemangledName {
            name,
            params: Vec::new(),
            result: None,
        }
    }
}

/// Demangles a name; `None` if it is not mangled or not in the subset.
pub(crate) fn demangle_name(mangled: &str) -> Option<DemangledName<'_>> {
    let mut parser = ItaniumDemangler {
        rest: mangled.strip_prefix("_Z")?,
        substitutions: Vec::new(),
        arguments: Vec::new(),
    };
    let name = parser.source_name()?;
    // Template instances with names of OpenCL's functions are user functions.
    let friendly = name.starts_with("__spirv_");
    let result = if friendly {
        parser.parse_template()
    } else {
        Some(None)
    };
    match result.and_then(|result| Some((result, parser.parse_params()?))) {
        Some((result, params)) => Some(DemangledName {
            name,
            params,
            result,
        }),
        // The name alone determines the function. Types that are not in the subset may be taken
        // from the call.
        None if friendly => Some(DemangledName::from_plain_name(name)),
        None => None,
    }
}

struct ItaniumDemangler<'a> {
    rest: &'a str,
    substitutions: Vec<MangledParameter<'a>>,
    /// Of an instance of a template.
    arguments: Vec<MangledParameter<'a>>,
}

impl<'a> ItaniumDemangler<'a> {
    /// All parameter types to the end of the name.
    fn parse_params(&mut self) -> Option<Vec<MangledParameter<'a>>> {
        let mut params = Vec::new();
        while !self.rest.is_empty() {
            if self.eat_prefix("z") {
                continue;
            }
            let param = self.parse_type(0)?;
            if param.base != MangledBaseType::Void || param.pointer {
                params.push(param);
            }
        }
        Some(params)
    }

    /// The arguments of a template instance, which are types, and its result type, which precedes
    /// the parameters. The result is `None` if there is none.
    fn parse_template(&mut self) -> Option<Option<MangledParameter<'a>>> {
        if !self.eat_prefix("I") {
            return Some(None);
        }
        // The name of the template may be referred to.
        self.remember_param(scalar_param(MangledBaseType::Other));
        while !self.eat_prefix("E") {
            let argument = self.parse_type(0)?;
            self.arguments.push(argument);
        }
        self.parse_type(0).map(Some)
    }

    fn eat_prefix(&mut self, prefix: &str) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn parse_number(&mut self) -> Option<usize> {
        let end = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(end);
        let number = digits.parse().ok()?;
        self.rest = rest;
        Some(number)
    }

    fn source_name(&mut self) -> Option<&'a str> {
        let len = self.parse_number()?;
        let name = self.rest.get(..len)?;
        self.rest = &self.rest[len..];
        Some(name)
    }

    fn parse_type(&mut self, depth: u32) -> Option<MangledParameter<'a>> {
        if depth > MAX_DEPTH {
            return None;
        }
        if self.eat_prefix("S") {
            return self.parse_substitution();
        }
        if self.eat_prefix("T") {
            let index = self.parse_index(10)?;
            let argument = *self.arguments.get(index)?;
            return Some(self.remember_param(argument));
        }
        if self.parse_qualifiers()? {
            let inner = self.parse_type(depth + 1)?;
            return Some(self.remember_param(inner));
        }
        if self.eat_prefix("U7_Atomic") {
            let inner = self.parse_type(depth + 1)?;
            return Some(self.remember_param(inner));
        }
        if self.eat_prefix("P") {
            let inner = self.parse_type(depth + 1)?;
            // An opaque type of SPIR-V is mangled as a pointer to a structure.
            if let MangledBaseType::Named(name) = inner.base
                && name.starts_with("__spirv_")
                && !inner.handle
            {
                return Some(self.remember_param(MangledParameter {
                    handle: true,
                    ..inner
                }));
            }
            let base = if inner.pointer {
                MangledBaseType::Other
            } else {
                inner.base
            };
            return Some(self.remember_param(MangledParameter {
                base,
                pointer: true,
                ..inner
            }));
        }
        if self.rest.starts_with("Dv") {
            self.rest = &self.rest[2..];
            let lanes = u32::try_from(self.parse_number()?).ok()?;
            if !self.eat_prefix("_") {
                return None;
            }
            let inner = self.parse_type(depth + 1)?;
            return Some(self.remember_param(MangledParameter { lanes, ..inner }));
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            let name = self.source_name()?;
            let named = scalar_param(MangledBaseType::Named(name));
            return Some(self.remember_param(named));
        }
        self.parse_builtin_type().map(scalar_param)
    }

    /// Address spaces and qualifiers, which together form one new type.
    fn parse_qualifiers(&mut self) -> Option<bool> {
        let mut any = false;
        loop {
            if self.rest.starts_with('U') && !self.rest.starts_with("U7_Atomic") {
                self.rest = &self.rest[1..];
                self.source_name()?;
            } else if !["r", "V", "K"].iter().any(|q| self.eat_prefix(q)) {
                return Some(any);
            }
            any = true;
        }
    }

    fn remember_param(&mut self, param: MangledParameter<'a>) -> MangledParameter<'a> {
        self.substitutions.push(param);
        param
    }

    fn parse_substitution(&mut self) -> Option<MangledParameter<'a>> {
        let index = self.parse_index(36)?;
        self.substitutions.get(index).copied()
    }

    /// `_`, `0_`, `1_` and so on: 0, 1, 2.
    fn parse_index(&mut self, radix: u32) -> Option<usize> {
        let (digits, rest) = self.rest.split_once('_')?;
        self.rest = rest;
        match digits {
            "" => Some(0),
            _ => usize::from_str_radix(&digits.to_ascii_lowercase(), radix)
                .ok()?
                .checked_add(1),
        }
    }

    fn parse_builtin_type(&mut self) -> Option<MangledBaseType<'a>> {
        if self.eat_prefix("DF16b") {
            return Some(MangledBaseType::Brain);
        }
        if self.eat_prefix("DF16_") || self.eat_prefix("Dh") {
            return Some(MangledBaseType::Float(16));
        }
        let base = match self.rest.as_bytes().first()? {
            b'v' => MangledBaseType::Void,
            b'b' => MangledBaseType::Bool,
            b'c' | b'a' => MangledBaseType::Int(8, true),
            b'h' => MangledBaseType::Int(8, false),
            b's' => MangledBaseType::Int(16, true),
            b't' => MangledBaseType::Int(16, false),
            b'i' => MangledBaseType::Int(32, true),
            b'j' => MangledBaseType::Int(32, false),
            b'l' | b'x' => MangledBaseType::Int(64, true),
            b'm' | b'y' => MangledBaseType::Int(64, false),
            b'f' => MangledBaseType::Float(32),
            b'd' => MangledBaseType::Float(64),
            _ => return None,
        };
        self.rest = &self.rest[1..];
        Some(base)
    }
}

fn scalar_param(base: MangledBaseType<'_>) -> MangledParameter<'_> {
    MangledParameter {
        base,
        lanes: 1,
        pointer: false,
        handle: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show_demangled(mangled: &str) -> String {
        let Some(d) = demangle_name(mangled) else {
            return "none".to_owned();
        };
        let params: Vec<String> = d
            .params
            .iter()
            .map(|p| {
                let star = if p.pointer { "*" } else { "" };
                format!("{:?}x{}{star}", p.base, p.lanes)
            })
            .collect();
        format!("{}({})", d.name, params.join(", "))
    }

    #[test]
    fn scalars_and_vectors() {
        assert_eq!(
            show_demangled("_Z13get_global_idj"),
            "get_global_id(Int(32, false)x1)"
        );
        assert_eq!(
            show_demangled("_Z5clampDv16_hhh"),
            "clamp(Int(8, false)x16, Int(8, false)x1, Int(8, false)x1)"
        );
        assert_eq!(
            show_demangled("_Z22get_sub_group_local_idv"),
            "get_sub_group_local_id()"
        );
        assert_eq!(
            show_demangled("_Z3fmaDv4_DhS_S_"),
            "fma(Float(16)x4, Float(16)x4, Float(16)x4)"
        );
    }

    #[test]
    fn instances_of_templates() {
        let of = |mangled| {
            let result = demangle_name(mangled).and_then(|d| d.result);
            let result = result.map_or("none".to_owned(), |p| format!("{:?}x{}", p.base, p.lanes));
            format!("{} -> {result}", show_demangled(mangled))
        };
        assert_eq!(
            of("_Z17__spirv_ImageReadIDv2_j14ocl_image2d_roDv2_iET_T0_T1_"),
            "__spirv_ImageRead(Named(\"ocl_image2d_ro\")x1, Int(32, true)x2) -> Int(32, false)x2"
        );
        assert_eq!(
            of("_Z18__spirv_ImageWriteI14ocl_image2d_woDv2_iS1_EvT_T0_T1_"),
            "__spirv_ImageWrite(Named(\"ocl_image2d_wo\")x1, Int(32, true)x2, Int(32, true)x2) \
             -> Voidx1"
        );
        // Parameters that are not in the subset are dropped; the name remains.
        assert_eq!(of("_Z12__spirv_LoadILb1EEvT_"), "__spirv_Load() -> none");
        assert_eq!(of("_Z12__spirv_LoadIT3_EvT_"), "__spirv_Load() -> none");
    }

    #[test]
    fn pointers_with_address_spaces_and_substitutions() {
        assert_eq!(
            show_demangled("_Z21async_work_group_copyPU3AS3Dv4_fPU3AS1KS_m9ocl_event"),
            "async_work_group_copy(Float(32)x4*, Float(32)x4*, Int(64, false)x1, \
             Named(\"ocl_event\")x1)"
        );
        assert_eq!(
            show_demangled(
                "_Z37atomic_compare_exchange_weak_explicitPU3AS4VU7_AtomiciPU3AS4ii12memory_orderS4_12memory_scope"
            ),
            "atomic_compare_exchange_weak_explicit(Int(32, true)x1*, Int(32, true)x1*, \
             Int(32, true)x1, Named(\"memory_order\")x1, Named(\"memory_order\")x1, \
             Named(\"memory_scope\")x1)"
        );
        assert_eq!(
            show_demangled("_Z17wait_group_eventsiPU3AS49ocl_event"),
            "wait_group_events(Int(32, true)x1, Named(\"ocl_event\")x1*)"
        );
    }

    #[test]
    fn templates_of_spirv_functions_keep_their_name() {
        assert_eq!(
            show_demangled("_Z16__spirv_IsFiniteIDv4_aDv4_fET_T0_"),
            "__spirv_IsFinite(Float(32)x4)"
        );
        assert_eq!(
            show_demangled("_Z26__spirv_CompositeConstructFloat"),
            "__spirv_CompositeConstruct()"
        );
    }

    #[test]
    fn other_names_are_not_builtins() {
        for name in [
            "foo",
            "_ZN2cl4sycl3fooEv",
            "_Z3fooIiEvT_",
            "_Z9short",
            "_Z3fooS_",
            "_Z3fooS",
        ] {
            assert_eq!(show_demangled(name), "none", "{name}");
        }
        let deep = format!("_Z1f{}i", "P".repeat(100_000));
        assert_eq!(show_demangled(&deep), "none");
    }
}
