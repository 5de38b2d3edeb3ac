module attributes {x = #nowhere} {
}
