//! Objects in memory, addresses within them, accesses.

use super::generator::{GeneratedPointer, LlvmGenerator, pointer_type};
use super::interface::ITEMS;
use super::types::GeneratedType;

const RMW: &[&str] = &[
    "add", "sub", "and", "or", "xor", "xchg", "max", "min", "umax", "umin",
];

impl LlvmGenerator<'_, '_> {
    /// Constants and workgroup memory.
    pub fn shared_objects(&mut self) {
        for _ in 0..self.c.choose_below(3) {
            let (ty, name) = (self.choose_object_type(2), self.fresh_name("@c"));
            let value = self.make_constant(&ty);
            // Some compilers leave constants in address space 0, that of allocations.
            let space = [2, 0][usize::from(self.one_in(3))];
            let place = ["", "addrspace(2) "][usize::from(space == 2)];
            self.globals
                .push_str(&format!("{name} = internal {place}constant {ty} {value}\n"));
            self.emit_distance_constant(space, &name, &ty);
            self.shared.push(GeneratedPointer {
                space,
                name,
                ty,
                is_variable: false,
            });
        }
        if self.one_in(3) {
            let (ty, name) = (self.choose_object_type(1), self.fresh_name("@l"));
            let ty = GeneratedType::Array(Box::new(ty), ITEMS as u32);
            self.globals.push_str(&format!(
                "{name} = internal addrspace(3) global {ty} undef\n"
            ));
            self.shared.push(GeneratedPointer {
                space: 3,
                name,
                ty,
                is_variable: true,
            });
        }
    }

    /// A constant computed from addresses: the offset of a part of an object.
    fn emit_distance_constant(&mut self, space: u32, object: &str, ty: &GeneratedType) {
        if !self.one_in(2) {
            return;
        }
        let pointer = pointer_type(space);
        let bytes = self.c.choose_below(64);
        let end = if self.one_in(2) {
            format!("getelementptr (i8, {pointer} {object}, i64 {bytes})")
        } else {
            format!("getelementptr ({ty}, {pointer} {object}, i64 1)")
        };
        let mut value = format!(
            "sub (i64 ptrtoint ({pointer} {end} to i64), i64 ptrtoint ({pointer} {object} to i64))"
        );
        let width = [64, 32, 16, 8][self.c.choose_below(4)];
        if width < 64 {
            value = format!("trunc (i64 {value} to i{width})");
        }
        let name = self.fresh_name("@d");
        self.globals.push_str(&format!(
            "{name} = internal addrspace(2) constant i{width} {value}\n"
        ));
        self.shared.push(GeneratedPointer {
            space: 2,
            name,
            ty: GeneratedType::Int(width),
            is_variable: false,
        });
    }

    /// Addresses of shared objects: the invocation's own part of workgroup memory, set to zero.
    pub fn local_objects(&mut self) {
        for pointer in self.shared.clone() {
            match (&pointer.ty, pointer.space) {
                (GeneratedType::Array(part, _), 3) => {
                    let (all, part) = (pointer.ty.to_string(), (**part).clone());
                    let name = self.emit_hidden_value(&format!(
                        "getelementptr inbounds {all}, ptr addrspace(3) {}, i64 0, i64 %gid",
                        pointer.name
                    ));
                    self.write_line(&format!(
                        "store {part} zeroinitializer, ptr addrspace(3) {name}"
                    ));
                    let ty = part;
                    self.body.pointers.push(GeneratedPointer {
                        name,
                        ty,
                        ..pointer
                    });
                }
                _ => self.body.pointers.push(pointer),
            }
        }
    }

    /// A variable of the function, initialised.
    pub fn emit_alloca(&mut self) {
        let ty = self.choose_object_type(2);
        let name = self.fresh_name("%a");
        let value = self.choose_value(&ty);
        self.body
            .allocas
            .push_str(&format!("  {name} = alloca {ty}\n"));
        self.write_line(&format!("store {ty} {value}, ptr {name}"));
        self.body.pointers.push(GeneratedPointer {
            space: 0,
            name,
            ty,
            is_variable: true,
        });
    }

    fn some_pointer(
        &mut self,
        is_wanted: impl Fn(&GeneratedPointer) -> bool,
    ) -> Option<GeneratedPointer> {
        let all = self.body.pointers.iter().filter(|p| is_wanted(p));
        let found: Vec<&GeneratedPointer> = all.rev().take(8).collect();
        let at = match found.len() {
            0 => return None,
            n => self.c.choose_below(n),
        };
        Some(found[at].clone())
    }

    /// The address of a part of an object, by constant and computed indices.
    pub fn emit_address(&mut self) {
        let Some(pointer) = self.some_pointer(|p| p.ty.is_aggregate() || p.ty.lanes() > 1) else {
            return self.emit_alloca();
        };
        let mut indices = "i32 0".to_owned();
        let mut ty = pointer.ty.clone();
        while ty.is_aggregate() || matches!(ty, GeneratedType::Vector(..)) {
            let parts = ty.part_types();
            let at = self.c.choose_below(parts.len());
            let is_fixed = matches!(ty, GeneratedType::Struct(_)) || !self.one_in(2);
            if is_fixed {
                indices.push_str(&format!(", i32 {at}"));
            } else {
                let width = [32, 64][self.c.choose_below(2)];
                let value = self.choose_variable(&GeneratedType::Int(width));
                let small =
                    self.emit_hidden_value(&format!("urem i{width} {value}, {}", parts.len()));
                indices.push_str(&format!(", i{width} {small}"));
            }
            ty = parts[at].clone();
            if self.one_in(3) {
                break;
            }
        }
        let inbounds = ["inbounds ", ""][self.c.choose_below(2)];
        let name = self.emit_hidden_value(&format!(
            "getelementptr {inbounds}{}, {} {}, {indices}",
            pointer.ty,
            pointer.ty(),
            pointer.name
        ));
        self.body.pointers.push(GeneratedPointer {
            name,
            ty,
            ..pointer
        });
    }

    /// A load.
    pub fn emit_load(&mut self) {
        let Some(pointer) = self.some_pointer(|_| true) else {
            return self.emit_alloca();
        };
        let GeneratedPointer { ty, name, .. } = &pointer;
        let volatile = ["", "volatile "][usize::from(self.one_in(12))];
        self.emit_value(ty, &format!("load {volatile}{ty}, {} {name}", pointer.ty()));
    }

    /// A load of the same bytes with another type.
    pub fn load_otherwise(&mut self) {
        let Some(pointer) = self.some_pointer(|p| p.ty.is_whole()) else {
            return self.emit_load();
        };
        let (bits, lanes) = (pointer.ty.bits(), pointer.ty.lanes());
        let wanted = match (pointer.ty.is_int(), self.c.choose_below(2)) {
            (_, 0) => GeneratedType::Int(8),
            (true, _) if bits > 8 => pointer.ty.with_scalar(GeneratedType::Float(bits)),
            (false, _) => pointer.ty.with_scalar(GeneratedType::Int(bits)),
            _ => GeneratedType::Int(8),
        };
        let size = bits / 8 * lanes;
        let (mut from, mut align) = (pointer.name.clone(), bits / 8);
        if wanted == GeneratedType::Int(8) {
            let at = self.c.choose_below(size as usize);
            from = self.emit_hidden_value(&format!(
                "getelementptr i8, {} {from}, i64 {at}",
                pointer.ty()
            ));
            align = 1;
        }
        self.emit_value(
            &wanted,
            &format!("load {wanted}, {} {from}, align {align}", pointer.ty()),
        );
    }

    /// A store.
    pub fn emit_store(&mut self) {
        let Some(pointer) = self.some_pointer(|p| p.is_variable) else {
            return self.emit_alloca();
        };
        let value = self.choose_value(&pointer.ty);
        self.write_line(&format!(
            "store {} {value}, {} {}",
            pointer.ty,
            pointer.ty(),
            pointer.name
        ));
    }

    /// A copy of an object, or `memset`.
    pub fn emit_copy(&mut self) {
        let Some(to) = self.some_pointer(|p| p.is_variable && p.space == 0) else {
            return self.emit_alloca();
        };
        let size = "ptrtoint (ptr getelementptr (TY, ptr null, i32 1) to i64)"
            .replace("TY", &to.ty.to_string());
        if self.one_in(2) {
            let value = self.c.choose_below(256) as u8 as i8;
            self.declared
                .insert("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n".to_owned());
            return self.write_line(&format!(
                "call void @llvm.memset.p0.i64(ptr {}, i8 {value}, i64 {size}, i1 false)",
                to.name
            ));
        }
        let wanted = to.ty.clone();
        let Some(from) = self.some_pointer(|p| p.ty == wanted && p.space != 1 && p.name != to.name)
        else {
            return;
        };
        let name = format!("llvm.memmove.p0.p{}.i64", from.space);
        self.declared.insert(format!(
            "declare void @{name}(ptr, {}, i64, i1)\n",
            from.ty()
        ));
        self.write_line(&format!(
            "call void @{name}(ptr {}, {} {}, i64 {size}, i1 false)",
            to.name,
            from.ty(),
            from.name
        ));
    }

    /// A selection between two addresses.
    pub fn choose_pointer(&mut self) {
        let Some(first) = self.some_pointer(|_| true) else {
            return self.emit_alloca();
        };
        let (space, ty) = (first.space, first.ty.clone());
        let Some(second) = self.some_pointer(|p| p.space == space && p.ty == ty) else {
            return;
        };
        let condition = self.make_condition();
        let name = self.emit_hidden_value(&format!(
            "select i1 {condition}, {0} {1}, {0} {2}",
            first.ty(),
            first.name,
            second.name
        ));
        self.body.pointers.push(GeneratedPointer {
            name,
            is_variable: first.is_variable && second.is_variable,
            ..first
        });
    }

    /// An address that is stored in memory and loaded again.
    pub fn keep_pointer(&mut self) {
        let Some(pointer) = self.some_pointer(|p| p.space != 4) else {
            return self.emit_alloca();
        };
        let (place, ty) = (self.fresh_name("%a"), pointer.ty());
        self.body
            .allocas
            .push_str(&format!("  {place} = alloca {ty}\n"));
        self.write_line(&format!("store {ty} {}, ptr {place}", pointer.name));
        let name = self.emit_hidden_value(&format!("load {ty}, ptr {place}"));
        self.body
            .pointers
            .push(GeneratedPointer { name, ..pointer });
    }

    /// An address in the generic address space.
    pub fn emit_generic_cast(&mut self) {
        let Some(pointer) = self.some_pointer(|p| matches!(p.space, 0 | 3)) else {
            return self.emit_alloca();
        };
        let name = self.emit_hidden_value(&format!(
            "addrspacecast {} {} to ptr addrspace(4)",
            pointer.ty(),
            pointer.name
        ));
        self.body.pointers.push(GeneratedPointer {
            name,
            space: 4,
            ..pointer
        });
    }

    /// A comparison of two addresses.
    pub fn compare_pointers(&mut self) {
        let Some(first) = self.some_pointer(|_| true) else {
            return self.emit_alloca();
        };
        let space = first.space;
        let Some(second) = self.some_pointer(|p| p.space == space) else {
            return;
        };
        let predicate = ["eq", "ne"][self.c.choose_below(2)];
        self.emit_value(
            &GeneratedType::BOOL,
            &format!(
                "icmp {predicate} {} {}, {}",
                first.ty(),
                first.name,
                second.name
            ),
        );
    }

    /// A comparison with null of an address, or of null in its place, that was stored in memory.
    pub fn null_pointer(&mut self) {
        let Some(pointer) = self.some_pointer(|_| true) else {
            return self.emit_alloca();
        };
        let ty = pointer.ty();
        let (condition, place) = (self.make_condition(), self.fresh_name("%a"));
        let mut chosen = self.emit_hidden_value(&format!(
            "select i1 {condition}, {ty} {}, {ty} null",
            pointer.name
        ));
        if self.one_in(2) {
            let both = format!("[2 x {ty}]");
            let allocated = format!("  {place} = alloca {both}\n");
            self.body.allocas.push_str(&allocated);
            self.write_line(&format!("store {both} zeroinitializer, ptr {place}"));
            self.write_line(&format!("store {ty} {}, ptr {place}", pointer.name));
            let at = self.emit_hidden_value(&format!("zext i1 {condition} to i32"));
            let place = self.emit_hidden_value(&format!(
                "getelementptr {both}, ptr {place}, i32 0, i32 {at}"
            ));
            chosen = self.emit_hidden_value(&format!("load {ty}, ptr {place}"));
        }
        self.emit_value(
            &GeneratedType::BOOL,
            &format!("icmp eq {ty} {chosen}, null"),
        );
    }

    /// An address from a table of constants that also contains null.
    pub fn pointer_table(&mut self) {
        let Some(pointer) = self.some_pointer(|p| p.space == 2 && p.name.starts_with('@')) else {
            return self.emit_alloca();
        };
        let (ty, table) = (pointer.ty(), self.fresh_name("@t"));
        self.globals.push_str(&format!(
            "{table} = internal addrspace(2) constant [3 x {ty}] [{ty} null, {ty} {0}, {ty} {0}]\n",
            pointer.name
        ));
        let value = self.choose_variable(&GeneratedType::Int(32));
        let at = self.emit_hidden_value(&format!("urem i32 {value}, 3"));
        let place = self.emit_hidden_value(&format!(
            "getelementptr [3 x {ty}], {ty} {table}, i32 0, i32 {at}"
        ));
        let found = self.emit_hidden_value(&format!("load {ty}, {ty} {place}"));
        let is_null = self.emit_value(&GeneratedType::BOOL, &format!("icmp eq {ty} {found}, null"));
        let name = self.emit_hidden_value(&format!(
            "select i1 {is_null}, {ty} {}, {ty} {found}",
            pointer.name
        ));
        self.body
            .pointers
            .push(GeneratedPointer { name, ..pointer });
    }

    /// A fence with any scope and order.
    pub fn emit_fence(&mut self) {
        let scopes = ["", "singlethread", "subgroup", "workgroup", "device"];
        let scope = match scopes[self.c.choose_below(scopes.len())] {
            "" => String::new(),
            scope => format!("syncscope(\"{scope}\") "),
        };
        let orders = ["acquire", "release", "acq_rel", "seq_cst"];
        let order = orders[self.c.choose_below(orders.len())];
        self.write_line(&format!("fence {scope}{order}"));
    }

    /// An atomic update.
    pub fn emit_atomic(&mut self) {
        let wanted = |p: &GeneratedPointer| {
            p.is_variable && matches!(p.space, 1 | 3) && matches!(p.ty, GeneratedType::Int(32 | 64))
        };
        let Some(pointer) = self.some_pointer(wanted) else {
            return;
        };
        let ty = pointer.ty.clone();
        let (space, name) = (pointer.ty(), &pointer.name);
        if self.one_in(4) {
            let (expected, new) = (self.choose_value(&ty), self.choose_value(&ty));
            let result = GeneratedType::Struct(vec![ty.clone(), GeneratedType::BOOL]);
            self.emit_value(
                &result,
                &format!("cmpxchg {space} {name}, {ty} {expected}, {ty} {new} monotonic monotonic"),
            );
            return;
        }
        let op = RMW[self.c.choose_below(RMW.len())];
        let value = self.choose_value(&ty);
        let orders = [
            "monotonic",
            "syncscope(\"singlethread\") seq_cst",
            "acq_rel",
        ];
        let order = orders[self.c.choose_below(orders.len())];
        self.emit_value(
            &ty,
            &format!("atomicrmw {op} {space} {name}, {ty} {value} {order}"),
        );
    }

    /// Memory of this invocation in the output, which no other invocation accesses.
    pub fn global_object(&mut self) {
        let ty = self.choose_value_type();
        let at = self.c.choose_below(8) * 128;
        if !self.body.is_kernel {
            return;
        }
        let name = self.emit_hidden_value(&format!(
            "getelementptr inbounds i8, ptr addrspace(1) %scratch, i64 {at}"
        ));
        self.write_line(&format!(
            "store {ty} zeroinitializer, ptr addrspace(1) {name}"
        ));
        self.body.pointers.push(GeneratedPointer {
            space: 1,
            name,
            ty,
            is_variable: true,
        });
    }
}
