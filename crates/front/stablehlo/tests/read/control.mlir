// Blocks, uses before definitions, regions of unknown operations.
func.func @f(%a: i32) -> i32 {
  %c = "other.flag"() {x = 1 : i8} : () -> i1
  "cf.cond_br"(%c)[^yes, ^no] : (i1) -> ()
^no:
  "cf.br"(%a)[^end] : (i32) -> ()
^yes:
  %b = "other.use"(%a) ({
  ^bb0(%x: i32, %y: i32):
    "other.graph"(%later) : (i32) -> ()
    %later = "other.make"(%x) : (i32) -> i32
  }, {
  }) : (i32) -> i32
  "cf.br"(%b)[^end] : (i32) -> ()
^end(%r: i32):
  return %r : i32
}
"other.top"() : () -> () loc(fused<"why">["a.py":1:2 to :5, callsite("g" at unknown)])
