// Differences between texts, line by line.

/** Most steps of the search. Beyond, the rest counts as replaced. */
const PATIENCE = 4_000_000;

/**
 * The difference of two lists of lines, by Myers' algorithm: rows `{ kind, text }` of the kinds "same", "removed" and "added".
 */
export function compareLines(before, after) {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let ends = 0;
  while (
    ends < before.length - start && ends < after.length - start &&
    before[before.length - 1 - ends] === after[after.length - 1 - ends]
  ) ends++;
  const rows = before.slice(0, start).map((text) => ({ kind: "same", text }));
  rows.push(...searchChanges(before.slice(start, before.length - ends), after.slice(start, after.length - ends)));
  rows.push(...before.slice(before.length - ends).map((text) => ({ kind: "same", text })));
  return rows;
}

function searchChanges(a, b) {
  const replaced = () => [
    ...a.map((text) => ({ kind: "removed", text })),
    ...b.map((text) => ({ kind: "added", text })),
  ];
  if (a.length === 0 || b.length === 0) return replaced();
  const most = a.length + b.length;
  const reached = new Map([[1, 0]]);
  const traces = [];
  let steps = 0;
  for (let depth = 0; depth <= most; depth++) {
    traces.push(new Map(reached));
    steps += reached.size;
    if (steps > PATIENCE) return replaced();
    for (let k = -depth; k <= depth; k += 2) {
      const isDown = k === -depth || (k !== depth && (reached.get(k - 1) ?? -1) < (reached.get(k + 1) ?? -1));
      let x = isDown ? reached.get(k + 1) ?? 0 : (reached.get(k - 1) ?? 0) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) { x++; y++; }
      reached.set(k, x);
      if (x >= a.length && y >= b.length) return followTraces(a, b, traces, depth);
    }
  }
  return replaced();
}

function followTraces(a, b, traces, last) {
  const rows = [];
  let [x, y] = [a.length, b.length];
  for (let depth = last; depth >= 0; depth--) {
    const reached = traces[depth];
    const k = x - y;
    const isDown = k === -depth || (k !== depth && (reached.get(k - 1) ?? -1) < (reached.get(k + 1) ?? -1));
    const from = isDown ? k + 1 : k - 1;
    const fromX = depth === 0 ? 0 : reached.get(from) ?? 0;
    const fromY = depth === 0 ? 0 : fromX - from;
    while (x > fromX && y > fromY) rows.push({ kind: "same", text: a[--x], at: --y });
    if (depth > 0) {
      rows.push(isDown ? { kind: "added", text: b[--y] } : { kind: "removed", text: a[--x] });
    }
  }
  return rows.reverse();
}

/** Rows with gaps `{ kind: "gap", rows }` in place of long runs that are the same. */
export function foldRows(rows, context = 3) {
  const folded = [];
  let run = [];
  const flush = (isLast) => {
    const head = folded.length === 0 ? 0 : context;
    const tail = isLast ? 0 : context;
    if (run.length > head + tail + 2) {
      folded.push(...run.slice(0, head), { kind: "gap", rows: run.slice(head, run.length - tail) });
      folded.push(...run.slice(run.length - tail));
    } else {
      folded.push(...run);
    }
    run = [];
  };
  for (const row of rows) {
    if (row.kind === "same") run.push(row);
    else { flush(false); folded.push(row); }
  }
  flush(true);
  return folded;
}
