import { columns, pad, shorten } from './text.ts'

/** A plain table with aligned columns; the last column is not padded. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): string[] {
  const lines = [head, ...rows].map((row) => row.map((cell) => cell.trim()))
  const widest = head.map((_, index) => Math.max(...lines.map((row) => columns(row[index] ?? ''))))
  const widths = fit(widest, head, width - GAP.length * (head.length - 1))
  return lines.map((row) =>
    row
      .map((cell, index) => {
        const room = widths[index] ?? 0
        return index === row.length - 1 ? shorten(cell, room) : pad(cell, room)
      })
      .join(GAP)
      .trimEnd(),
  )
}

const GAP = '  '
/** A column that is shortened keeps so much. */
const LEAST = 8
/** Half an id is worth nothing: it is to be copied. */
const WHOLE = ['ID', 'PHASE']

/** Takes the width that is missing from the widest columns, as far as each may be shortened. */
function fit(widest: readonly number[], head: readonly string[], width: number): readonly number[] {
  const widths = [...widest]
  const mayShrink = (index: number): boolean => (widths[index] ?? 0) > LEAST && !WHOLE.includes(head[index] ?? '')
  for (let over = widths.reduce((sum, one) => sum + one, 0) - width; over > 0; over -= 1) {
    const candidates = widths.map((_, index) => index).filter(mayShrink)
    const [first, ...others] = candidates
    if (first === undefined) return widths
    const longest = others.reduce((best, index) => ((widths[index] ?? 0) > (widths[best] ?? 0) ? index : best), first)
    widths[longest] = (widths[longest] ?? 0) - 1
  }
  return widths
}

interface TableOptions {
  readonly format?: string | undefined
  /** The terminal's width; none: the output is no terminal. */
  readonly columns?: number | undefined
}

/**
 * `wide`: as wide as it is. `name`: the names alone, as other commands take them: with their projects where the table has
 * them, and the id of what shares its name with another row.
 */
export function tableFor(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { format, columns: width }: TableOptions,
): string[] {
  if (format === 'name') {
    // Commands take the first column, e.g. CLUSTER or RUN, if none has that name.
    const name = Math.max(0, head.indexOf('NAME'))
    const [project, id] = [head.indexOf('PROJECT'), head.indexOf('ID')]
    const names = rows.map((row) => [row[project], row[name]].filter(Boolean).join('/'))
    const isTwin = (one: string, index: number): boolean => names.some((other, at) => at !== index && other === one)
    return names.map((one, index) => (id >= 0 && isTwin(one, index) ? (rows[index]?.[id] ?? one) : one))
  }
  return table(head, rows, format === 'wide' ? Number.POSITIVE_INFINITY : width)
}

/** The cell of a node in each column, by the head of the column. */
export type Columns<Node> = Readonly<Record<string, (node: Node) => string | number | null | undefined>>

export const rowsOf = <Node>(columns: Columns<Node>, nodes: readonly Node[]): readonly (readonly string[])[] =>
  nodes.map((node) => Object.values(columns).map((cell) => String(cell(node) ?? '')))
