-- Heat on a plate: two hot edges, and a border that stays as it is.

def step [n] (plate: [n][n]f32): [n][n]f32 =
  tabulate_2d n n (\i j ->
    if i == 0 || j == 0 || i == n - 1 || j == n - 1
    then plate[i, j]
    else 0.25 * (plate[i - 1, j] + plate[i + 1, j] + plate[i, j - 1] + plate[i, j + 1]))

entry main (n: i64) (steps: i32): [n][n]f32 =
  let start = tabulate_2d n n (\i j -> if i == 0 || j == n - 1 then 1 else 0)
  in loop plate = start for _k < steps do step plate
