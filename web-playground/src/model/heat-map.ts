/** A heat map has a small cell for each object, in rows, in the order of the spec; of more objects than have room, several share one. */

export interface HeatCells {
  /** The number of objects. */
  readonly size: number
  /** Objects that share a cell; the last cell may have fewer. */
  readonly perCell: number
  readonly count: number
  readonly columns: number
  /** From the left of a cell to that of the next, and from the top; a gap is a part of it. */
  readonly pitch: number
}
interface Room {
  readonly width: number
  readonly height: number
}

/** In pixels of the drawing; from afar, cells may be larger. */
const LARGEST_CELL = 6
export const SMALLEST_CELL = 4

/** The largest cells that have room; where those of `least` pixels have none, as few objects as possible share one. */
export function heatCells(size: number, room: Room, least: number): HeatCells {
  const perCell = Math.max(1, Math.ceil(size / capacity(room, least)))
  const count = Math.ceil(size / perCell)
  let pitch = Math.max(least, LARGEST_CELL)
  while (pitch > least && capacity(room, pitch) < count) pitch = Math.max(least, pitch - 1)
  return { size, perCell, count, columns: along(room.width, pitch), pitch }
}
const along = (length: number, pitch: number): number => Math.max(1, Math.floor(length / pitch))
const capacity = ({ width, height }: Room, pitch: number): number => along(width, pitch) * along(height, pitch)

export const cellOf = ({ perCell }: HeatCells, member: number): number => Math.floor(member / perCell)

/** The members of a cell: from the first, up to the second and without it. */
export const membersOf = ({ perCell, size }: HeatCells, cell: number): readonly [number, number] => [
  cell * perCell,
  Math.min(size, (cell + 1) * perCell),
]

/** The upper left corner of a cell. */
export const cornerOf = ({ columns, pitch }: HeatCells, cell: number): { readonly x: number; readonly y: number } => ({
  x: (cell % columns) * pitch,
  y: Math.floor(cell / columns) * pitch,
})

export function cellAt({ columns, pitch, count }: HeatCells, x: number, y: number): number | undefined {
  const [column, row] = [Math.floor(x / pitch), Math.floor(y / pitch)]
  const cell = row * columns + column
  return column < 0 || column >= columns || row < 0 || cell >= count ? undefined : cell
}

/** The worst rank of the members of each cell: 0 is the worst of all. */
export function worstRanks(cells: HeatCells, rankOf: (member: number) => number): Uint8Array {
  const ranks = new Uint8Array(cells.count).fill(255)
  for (let member = 0; member < cells.size; member += 1) {
    const cell = cellOf(cells, member)
    ranks[cell] = Math.min(ranks[cell] ?? 255, rankOf(member))
  }
  return ranks
}

/** The cell to which a key leads; a place beyond the first or last cell is that cell. */
export function cellByKey({ columns, count }: HeatCells, from: number, key: string): number | undefined {
  const to: Readonly<Record<string, number>> = {
    ArrowLeft: from - 1,
    ArrowRight: from + 1,
    ArrowUp: from - columns,
    ArrowDown: from + columns,
    Home: 0,
    End: count - 1,
  }
  const cell = to[key]
  return cell === undefined ? undefined : Math.max(0, Math.min(count - 1, cell))
}

/** Fewer objects have a bar alone. */
const FEWEST = 12
const HIGHEST = 120
/** Width to height of one that needs more than the width of its texts. */
const ASPECT = 2.2

/** The room of the heat map of so many objects, within these widths; null: they are too few. Phases do not change it. */
export function heatRoom(size: number, width: number, widest: number): Room | null {
  if (size < FEWEST) return null
  const wanted = Math.ceil(Math.sqrt(size * ASPECT)) * LARGEST_CELL
  const wide = Math.max(width, Math.min(widest, wanted))
  const { count, columns, pitch } = heatCells(size, { width: wide, height: HIGHEST }, SMALLEST_CELL)
  return { width: wide, height: Math.ceil(count / columns) * pitch }
}
