@x = global i32 @y
