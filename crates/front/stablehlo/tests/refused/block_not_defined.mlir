func.func @f() {
  "cf.br"()[^bb1] : () -> ()
}
