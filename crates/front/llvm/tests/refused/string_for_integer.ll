@x = global i32 "text"
