import { columns, pad, plain } from './text.ts'

/** A plain table with aligned columns; the last column is not padded. Cells are made safe for the terminal. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const lines = [head, ...rows].map((row) => row.map(plain))
  const widths = head.map((_, index) => Math.max(...lines.map((row) => columns(row[index] ?? ''))))
  return lines.map((row) =>
    row
      .map((cell, index) => (index === row.length - 1 ? cell : pad(cell, widths[index] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}
