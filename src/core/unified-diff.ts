/** The difference of two texts by lines, as `diff -u` writes it. */

/** Lines around each change. */
const CONTEXT = 3
/** Edits that are searched for; texts that differ more are shown as replaced. */
const MAX_EDITS = 400

interface Line {
  readonly mark: ' ' | '-' | '+'
  readonly text: string
  /** Places of the line in both texts, from 0. */
  readonly before: number
  readonly after: number
}

/** Hunks without file headers; empty: the texts are the same. */
export function unifiedDiff(before: string, after: string): string {
  const lines = compareLines(linesOf(before), linesOf(after))
  const changed = lines.flatMap(({ mark }, i) => (mark === ' ' ? [] : [i]))
  const hunks: [from: number, to: number][] = []
  for (const at of changed) {
    const last = hunks.at(-1)
    const [from, to] = [Math.max(0, at - CONTEXT), Math.min(lines.length, at + CONTEXT + 1)]
    if (last && from <= last[1]) last[1] = to
    else hunks.push([from, to])
  }
  return hunks.map(([from, to]) => hunkOf(lines.slice(from, to))).join('\n')
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

function hunkOf(lines: readonly Line[]): string {
  const [first] = lines
  const range = (without: Line['mark'], at: number): string => {
    const count = lines.filter(({ mark }) => mark !== without).length
    return `${count === 0 ? at : at + 1},${count}`
  }
  const head = `@@ -${range('+', first?.before ?? 0)} +${range('-', first?.after ?? 0)} @@`
  return [head, ...lines.map(({ mark, text }) => `${mark}${text}`)].join('\n')
}

/** Myers' greedy algorithm (1986): the fewest lines that go and come. */
function compareLines(a: readonly string[], b: readonly string[]): readonly Line[] {
  const trace = shortestEdit(a, b)
  if (!trace) return replaced(a, b)
  const lines: Line[] = []
  let [x, y] = [a.length, b.length]
  for (let edits = trace.length - 1; edits >= 0; edits -= 1) {
    const reach = trace[edits] as ReadonlyMap<number, number>
    const k = x - y
    const isInsert = k === -edits || (k !== edits && reachOf(reach, k - 1) < reachOf(reach, k + 1))
    const previous = isInsert ? k + 1 : k - 1
    const fromX = edits === 0 ? 0 : reachOf(reach, previous)
    const fromY = fromX - previous
    while (x > fromX && y > (edits === 0 ? 0 : fromY)) {
      x -= 1
      y -= 1
      lines.push({ mark: ' ', text: a[x] ?? '', before: x, after: y })
    }
    if (edits === 0) break
    if (isInsert) y -= 1
    else x -= 1
    lines.push({ mark: isInsert ? '+' : '-', text: (isInsert ? b[y] : a[x]) ?? '', before: x, after: y })
  }
  return lines.reverse()
}

const reachOf = (reach: ReadonlyMap<number, number>, k: number): number => reach.get(k) ?? -1

/** How far each diagonal reaches before each number of edits. Null: there are too many. */
function shortestEdit(a: readonly string[], b: readonly string[]): readonly ReadonlyMap<number, number>[] | null {
  const reach = new Map<number, number>([[1, 0]])
  const trace: ReadonlyMap<number, number>[] = []
  for (let edits = 0; edits <= Math.min(MAX_EDITS, a.length + b.length); edits += 1) {
    trace.push(new Map(reach))
    for (let k = -edits; k <= edits; k += 2) {
      const isInsert = k === -edits || (k !== edits && reachOf(reach, k - 1) < reachOf(reach, k + 1))
      let x = isInsert ? reachOf(reach, k + 1) : reachOf(reach, k - 1) + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1
      reach.set(k, x)
      if (x >= a.length && x - k >= b.length) return trace
    }
  }
  return null
}

const replaced = (a: readonly string[], b: readonly string[]): readonly Line[] => [
  ...a.map((text, i): Line => ({ mark: '-', text, before: i, after: 0 })),
  ...b.map((text, i): Line => ({ mark: '+', text, before: a.length, after: i })),
]
