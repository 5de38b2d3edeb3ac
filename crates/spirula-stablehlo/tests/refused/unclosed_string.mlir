module @"unclosed {
}
