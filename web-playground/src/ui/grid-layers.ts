import { type Area, bestOf, GAP, type NestedEdge, needOf, type Sized } from './area.ts'
import type { Point } from './layered.ts'

/**
 * Nodes in layers from left to right along the edges. Nodes of one layer stand in the order that they are given in; many
 * of them in several columns, row by row. A line passes a layer in a lane of its own, or in the gap beside a row. Many
 * layers are several bands, one below the other, like lines of a text.
 */

/** Between two layers, where lines rise and fall. */
const BETWEEN = 30
/** Between two columns of a layer. */
const COLUMN_GAP = 20
/** Between two bands, where lines lead back to the left. */
const BAND_GAP = 24
/** Height of a lane. */
const LANE = 2
/** From a row to the line in the gap beside it: the upper one leads to its nodes, the lower one comes from them. */
const BESIDE = 3
/** The most heights, and numbers of bands, that are tried. */
const TRIED = { heights: 10, bands: 6 } as const
/** Bands are harder to follow, so they have to gain as much. */
const BAND_GAIN = 1.4

interface Ranked {
  readonly nodes: readonly Sized[]
  readonly rankOf: (id: string) => number
  /** Each leads to a later layer. */
  readonly edges: readonly NestedEdge[]
  /** The number of layers. */
  readonly depth: number
}

export function inLayers(nodes: readonly Sized[], edges: readonly NestedEdge[], aspect: number): Area {
  const ranked = rank(nodes, edges)
  const most = Math.max(
    ...Map.groupBy(nodes, ({ id }) => ranked.rankOf(id))
      .values()
      .map(({ length }) => length),
  )
  const heights = [...new Set(Array.from({ length: TRIED.heights }, (_, i) => Math.ceil(most / (i + 1))))]
  const tried = (perBand: number): Area => {
    const [first = 1, ...others] = heights
    const draw = (rows: number): Area => drawn(ranked, { rows, perBand })
    return bestOf([draw(first), ...others.map(draw)], aspect)
  }
  const flat = tried(ranked.depth)
  const bands = Array.from({ length: Math.min(TRIED.bands, ranked.depth - 1) }, (_, i) => i + 1)
  const [second, ...more] = bands.slice(1).map((number) => tried(Math.ceil(ranked.depth / number)))
  if (!second) return flat
  const wrapped = bestOf([second, ...more], aspect)
  return needOf(wrapped, aspect) * BAND_GAIN < needOf(flat, aspect) ? wrapped : flat
}

/** Each node is in the layer after the last one of those that lead to it. Edges of a cycle get no line. */
function rank(nodes: readonly Sized[], edges: readonly NestedEdge[]): Ranked {
  const ranks = new Map<string, number>()
  const waiting = new Map<string, number>()
  const outgoing = Map.groupBy(edges, ({ from }) => from)
  for (const { to } of edges) waiting.set(to, (waiting.get(to) ?? 0) + 1)
  const ready = nodes.flatMap(({ id }) => (waiting.has(id) ? [] : [id]))
  for (const id of ready) {
    const own = ranks.get(id) ?? 0
    ranks.set(id, own)
    for (const { to } of outgoing.get(id) ?? []) {
      ranks.set(to, Math.max(ranks.get(to) ?? 0, own + 1))
      const left = (waiting.get(to) ?? 0) - 1
      waiting.set(to, left)
      if (left === 0) ready.push(to)
    }
  }
  const rankOf = (id: string): number => ranks.get(id) ?? 0
  const forward = edges.filter(({ from, to }) => rankOf(from) < rankOf(to))
  return { nodes, rankOf, edges: forward, depth: 1 + Math.max(0, ...ranks.values()) }
}

interface Row {
  readonly nodes: readonly Sized[]
  /** The node whose lines pass here; null: it is no lane. */
  readonly lane: string | null
  readonly top: number
  readonly bottom: number
}
interface Column {
  readonly left: number
  readonly right: number
}
interface Layer extends Column {
  readonly rows: readonly Row[]
  readonly columns: readonly Column[]
}
interface Band {
  readonly layers: readonly Layer[]
  readonly top: number
  readonly bottom: number
}
/** A node in its layer. */
interface Spot {
  readonly node: Sized
  readonly row: Row
  readonly column: Column
  readonly isFirst: boolean
  readonly isLast: boolean
}

interface Plan {
  /** The most rows of nodes in a layer. */
  readonly rows: number
  /** The number of layers in a band. */
  readonly perBand: number
}
function drawn({ nodes, rankOf, edges, depth }: Ranked, { rows, perBand }: Plan): Area {
  const isWrapped = perBand < depth
  const left = isWrapped ? BETWEEN : 0
  const bandOf = (id: string): number => Math.floor(rankOf(id) / perBand)
  const spots = new Map<string, Spot>()
  const bands: Band[] = []
  for (let number = 0, top = 0; number * perBand < depth; number += 1) {
    const inBand = {
      nodes: nodes.filter(({ id }) => bandOf(id) === number),
      edges: edges.filter(({ from, to }) => bandOf(from) === number && bandOf(to) === number),
      rankOf: (id: string) => rankOf(id) - number * perBand,
    }
    const band = bandAt(inBand, rows, { left, top }, spots)
    bands.push(band)
    top = band.bottom + BAND_GAP
  }
  const drawing: Drawing = { bands, spots, bandOf, rankOf: (id) => rankOf(id) % perBand, left }
  const right = Math.max(...bands.flatMap(({ layers }) => layers.map((layer) => layer.right)))
  return {
    width: right + left,
    height: bands.at(-1)?.bottom ?? 0,
    places: new Map([...spots].map(([id, { column, row }]) => [id, { x: column.left, y: row.top }])),
    routes: new Map(edges.map((edge) => [edge.id, routeOf(edge, drawing)])),
  }
}

type InBand = Omit<Ranked, 'depth'>

function bandAt(inBand: InBand, most: number, at: Corner, spots: Map<string, Spot>): Band {
  const sources = Map.groupBy(inBand.edges, ({ to }) => to)
  const stacks = itemsOf(inBand).map((items) => stackOf(items, most))
  const height = Math.max(...stacks.map((stack) => stack.height))
  const layers: Layer[] = []
  let { left } = at
  for (const stack of stacks) {
    const layer = placed(stack, { left, top: at.top, height }, (row) => levelOf(row, sources, spots))
    layers.push(layer)
    for (const spot of spotsIn(layer)) spots.set(spot.node.id, spot)
    left = layer.right + BETWEEN
  }
  return { layers, top: at.top, bottom: at.top + height + 2 * BESIDE }
}
/** The upper left corner of a band. */
interface Corner {
  readonly left: number
  readonly top: number
}

/** A node, or the lane of all lines from one node that pass the layer. */
type Item = Sized | string

function itemsOf({ nodes, rankOf, edges }: InBand): readonly (readonly Item[])[] {
  const layers: { readonly item: Item; readonly order: number }[][] = []
  const put = (layer: number, item: Item, order: number): void => {
    while (layers.length <= layer) layers.push([])
    layers[layer]?.push({ item, order })
  }
  const order = new Map(nodes.map(({ id }, i) => [id, i]))
  for (const [i, node] of nodes.entries()) put(rankOf(node.id), node, i)
  const lanes = new Set<string>()
  for (const { from, to } of edges) {
    for (let layer = rankOf(from) + 1; layer < rankOf(to); layer += 1) {
      if (lanes.has(`${layer} ${from}`)) continue
      lanes.add(`${layer} ${from}`)
      put(layer, from, (order.get(from) ?? 0) + 0.5)
    }
  }
  return layers.map((items) => items.toSorted((a, b) => a.order - b.order).map(({ item }) => item))
}

interface Stack {
  /** Nodes of one row, or a lane. */
  readonly rows: readonly (readonly Sized[] | string)[]
  readonly height: number
  readonly isGrid: boolean
}

/** Nodes row by row; a lane is below the row of the node that is before it. */
function stackOf(items: readonly Item[], most: number): Stack {
  const count = items.filter((item) => typeof item !== 'string').length
  const columns = Math.max(1, Math.ceil(count / most))
  const rows: (readonly Sized[] | string)[] = []
  let lanes: string[] = []
  let row: Sized[] = []
  const end = (): void => {
    if (row.length > 0) rows.push(row)
    rows.push(...lanes)
    row = []
    lanes = []
  }
  for (const item of items) {
    if (typeof item === 'string') lanes.push(item)
    else {
      if (row.length === columns || (row.length === 0 && lanes.length > 0)) end()
      row.push(item)
    }
  }
  end()
  return { rows, height: rows.reduce((sum, each) => sum + heightOf(each) + GAP, -GAP), isGrid: columns > 1 }
}
const heightOf = (row: readonly Sized[] | string): number =>
  typeof row === 'string' ? LANE : Math.max(...row.map(({ height }) => height))

interface Room extends Corner {
  /** The height of the highest layer. */
  readonly height: number
}
/** A single column is level with the nodes that lead to it, as far as the height allows. */
function placed(
  { rows, height, isGrid }: Stack,
  room: Room,
  level: (row: Stack['rows'][number]) => number | null,
): Layer {
  const columns = columnsOf(rows, room.left)
  const done: Row[] = []
  let [at, slack] = [room.top + BESIDE, room.height - height]
  for (const row of rows) {
    const own = heightOf(row)
    const wanted = isGrid || slack <= 0 ? null : level(row)
    const down = wanted === null ? 0 : Math.min(slack, Math.max(0, wanted - own / 2 - at))
    slack -= down
    at += down
    const content = typeof row === 'string' ? { nodes: [], lane: row } : { nodes: row, lane: null }
    done.push({ ...content, top: at, bottom: at + own })
    at += own + GAP
  }
  return { left: room.left, right: columns.at(-1)?.right ?? room.left, rows: done, columns }
}

function columnsOf(rows: Stack['rows'], start: number): readonly Column[] {
  const widths: number[] = []
  for (const row of rows) {
    if (typeof row === 'string') continue
    for (const [i, { width }] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, width)
  }
  const columns: Column[] = []
  for (const width of widths) {
    const left = columns.length === 0 ? start : (columns.at(-1)?.right ?? 0) + COLUMN_GAP
    columns.push({ left, right: left + width })
  }
  return columns
}

function* spotsIn({ rows, columns }: Layer): Generator<Spot> {
  for (const row of rows) {
    for (const [i, node] of row.nodes.entries()) {
      const column = columns[i] ?? { left: 0, right: 0 }
      yield { node, row, column, isFirst: i === 0, isLast: i === row.nodes.length - 1 }
    }
  }
}
const middleOf = ({ node, row }: Spot): number => row.top + node.height / 2

/** The mean height of the nodes that lead to a row of one, or to a lane; null: none does. */
function levelOf(
  row: Stack['rows'][number],
  sources: ReadonlyMap<string, readonly NestedEdge[]>,
  spots: ReadonlyMap<string, Spot>,
): number | null {
  const ids = typeof row === 'string' ? [row] : row.flatMap(({ id }) => sources.get(id) ?? []).map(({ from }) => from)
  const heights = ids.flatMap((id) => {
    const spot = spots.get(id)
    return spot ? [middleOf(spot)] : []
  })
  return heights.length === 0 ? null : heights.reduce((sum, y) => sum + y, 0) / heights.length
}

interface Drawing {
  readonly bands: readonly Band[]
  readonly spots: ReadonlyMap<string, Spot>
  readonly bandOf: (id: string) => number
  /** The layer of a node in its band. */
  readonly rankOf: (id: string) => number
  /** The left side of the first layer. */
  readonly left: number
}
function routeOf({ from, to }: NestedEdge, { bands, spots, bandOf, rankOf, left }: Drawing): readonly Point[] {
  const [source, target] = [spots.get(from), spots.get(to)]
  const [sourceBand, targetBand] = [bands[bandOf(from)], bands[bandOf(to)]]
  const [first, last] = [sourceBand?.layers[rankOf(from)], targetBand?.layers[rankOf(to)]]
  if (!source || !target || !sourceBand || !targetBand || !first || !last) return []
  const [start, end] = [outOf(source, first.right), into(target, last.left)]
  const between =
    sourceBand === targetBand
      ? through(from, sourceBand.layers.slice(rankOf(from) + 1, rankOf(to)))
      : around(
          { x: first.right, y: start.at(-1)?.y ?? 0, gap: sourceBand.bottom + BAND_GAP / 2 },
          { x: last.left, y: end[0]?.y ?? 0, gap: targetBand.top - BAND_GAP / 2 },
          left,
        )
  return [...start, ...between, ...end]
}

/** In the lanes of the layers between. */
const through = (from: string, layers: readonly Layer[]): readonly Point[] =>
  layers.flatMap(({ left, right, rows }) => {
    const y = (rows.find(({ lane }) => lane === from)?.top ?? 0) + LANE / 2
    return [
      { x: left, y },
      { x: right, y },
    ]
  })

interface BandEnd extends Point {
  /** Height of the gap between bands. */
  readonly gap: number
}
/** Down into the gap below the band, back to the left, and down to the target; past other bands at the left of all. */
function around(from: BandEnd, to: BandEnd, left: number): readonly Point[] {
  const [out, into, past] = [from.x + BETWEEN / 2, to.x - BETWEEN / 2, left - BETWEEN / 2]
  const pastBands =
    from.gap === to.gap
      ? []
      : [
          { x: past, y: from.gap },
          { x: past, y: to.gap },
        ]
  return [{ x: out, y: from.y }, { x: out, y: from.gap }, ...pastBands, { x: into, y: to.gap }, { x: into, y: to.y }]
}

/** Straight, or below the nodes that stand to the right of it. */
function outOf(spot: Spot, layerRight: number): readonly Point[] {
  const start = { x: spot.column.left + spot.node.width, y: middleOf(spot) }
  if (spot.isLast) return [start, { x: layerRight, y: start.y }]
  const y = spot.row.bottom + BESIDE
  return [start, { x: spot.column.right, y: start.y }, { x: spot.column.right + COLUMN_GAP, y }, { x: layerRight, y }]
}
/** Straight, or above the nodes that stand to the left of it. */
function into(spot: Spot, layerLeft: number): readonly Point[] {
  const end = { x: spot.column.left, y: middleOf(spot) }
  if (spot.isFirst) return [{ x: layerLeft, y: end.y }, end]
  const y = spot.row.top - BESIDE
  return [{ x: layerLeft, y }, { x: spot.column.left - COLUMN_GAP, y }, end]
}
