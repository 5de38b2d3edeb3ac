-- | Derivatives of functions.

-- | The value of a function and its derivative along a direction (forward mode).
def jvp2 'a 'b (f: a -> b) (x: a) (dx: a) : (b, b) = intrinsics.jvp2 f x dx

-- | The value of a function and the gradient for a direction of the result (reverse mode).
def vjp2 'a 'b (f: a -> b) (x: a) (dy: b) : (b, a) = intrinsics.vjp2 f x dy

-- | As `jvp2` and `vjp2`, for several directions.
def jmp2 'a 'b [n] (f: a -> b) (x: a) (dxs: [n]a) : (b, [n]b) = intrinsics.jmp2 f x dxs

def mjp2 'a 'b [n] (f: a -> b) (x: a) (dys: [n]b) : (b, [n]a) = intrinsics.mjp2 f x dys

-- | The derivative along a direction.
def jvp 'a 'b (f: a -> b) (x: a) (dx: a) : b = (jvp2 f x dx).1

-- | The gradient for a direction of the result.
def vjp 'a 'b (f: a -> b) (x: a) (dy: b) : a = (vjp2 f x dy).1

def jmp 'a 'b [n] (f: a -> b) (x: a) (dxs: [n]a) : [n]b = (jmp2 f x dxs).1

def mjp 'a 'b [n] (f: a -> b) (x: a) (dys: [n]b) : [n]a = (mjp2 f x dys).1

-- | A function whose gradient is given: a function of its result and the direction of the result.
def with_vjp 'a 'b (f: a -> b) (df: (res: b) -> (b_adj: b) -> a) (x: a) : b = intrinsics.with_vjp f df x

-- | The same, where the function keeps a value for its gradient.
def with_vjp_tape 'a 'b 'c (f: a -> (c, b)) (df: (c, b) -> a) (x: a) : b =
  (with_vjp f (\(kept, _) (_, dy) -> df (kept, dy)) x).1
