@x = global float +snan(0x0)
