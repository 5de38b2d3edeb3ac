//! Ids: dense `u32` newtypes, the positions of entities in their arenas.

use spirula_entity::define_ids;

define_ids! {
    /// A name.
    pub struct NameId: "name";
    /// A variable: scalar, memory reference or private array.
    pub struct VarId: "var";
    /// A node of an expression.
    pub struct ExprId: "expr";
    /// A list of statements.
    pub struct StmtBlock: "block";
    /// A function.
    pub struct FuncId: "func";
    /// A kernel.
    pub struct KernelId: "kernel";
    /// The type of a private array.
    pub struct ArrayId: "array";
    /// A message.
    pub struct MessageId: "message";
    /// A tuning parameter.
    pub struct ParamId: "param";
    /// The class of a limit.
    pub struct LimitId: "limit";
}
