import { blockerText, forecastText } from '../../client-model/index.ts'
import { describeCounts, markOf } from '../objects/phases.ts'
import type { Paint } from '../terminal/paint.ts'
import { columns, duration, pad, shorten, words } from '../terminal/text.ts'
import type { Progress } from './fields.ts'
import { countAll, layout, type Row } from './layout.ts'
import { type TreeNode, type TreeView, visibleBlockers } from './model.ts'

export interface RenderOptions {
  /** The most columns and lines of the result. */
  readonly width: number
  readonly height: number
  /** Milliseconds since 1970. */
  readonly now: number
  readonly paint: Paint
}

/** Below this width the kind is omitted, so that reasons to wait have room. */
const WIDTH_FOR_KIND = 90
const BAR = 12
const MIN_LINES = 3

/** The tree as lines for a terminal, the last one a summary. Pure: same tree, size and time, same lines. */
export function renderTree(view: TreeView, options: RenderOptions): string[] {
  const rows = layout(view, Math.max(MIN_LINES, options.height) - 1)
  const measured = measure(rows, options.width)
  const now = { ...options, endedJob: endedJobOf(view) }
  return [...rows.map((row) => renderRow(row, measured, now)), shorten(summary(view, options.now), options.width)]
}

interface Measured {
  readonly left: number
  readonly kind: number
  readonly phase: number
  readonly width: number
}
interface Now extends RenderOptions {
  /** The job of the whole tree, if it has ended. */
  readonly endedJob: string | null
}

function measure(rows: readonly Row[], width: number): Measured {
  const objects = rows.flatMap((row) => (row.type === 'object' ? [row] : []))
  const longest = (of: (row: (typeof objects)[number]) => number): number => Math.max(0, ...objects.map(of))
  const wanted = longest(({ prefix, node }) => columns(prefix) + 2 + columns(node.name))
  return {
    left: Math.min(wanted, Math.max(12, Math.floor(width * 0.4))),
    kind: width < WIDTH_FOR_KIND ? 0 : longest(({ node }) => node.kind.length),
    phase: longest(({ node }) => node.phase.length),
    width,
  }
}

function renderRow(row: Row, measured: Measured, now: Now): string {
  if (row.type === 'hidden') {
    return now.paint('dim', shorten(`${row.prefix}… ${row.total} more: ${describeCounts(row.counts)}`, measured.width))
  }
  const { node, prefix } = row
  const { symbol, style } = markOf(node.phaseClass)
  const room = measured.left - columns(prefix) - 2
  const cells: readonly (readonly [text: string, paint: (text: string) => string])[] = [
    [prefix, (text) => now.paint('dim', text)],
    [`${symbol} `, (text) => now.paint(style, text)],
    [pad(node.name, Math.max(1, room)), (text) => (node.parentId === null ? now.paint('bold', text) : text)],
    [measured.kind ? `  ${pad(words(node.kind), measured.kind)}` : '', (text) => now.paint('dim', text)],
    [`  ${pad(node.phase, measured.phase)}`, (text) => now.paint(style, text)],
    [` ${pad(elapsed(node, now.now), 7, 'start')}`, (text) => now.paint('dim', text)],
    [`  ${detail(node, now)}`, (text) => (node.error ? now.paint('red', text) : text)],
  ]
  return joinWithin(cells, measured.width)
}

/** Cuts the visible text, then paints it: an escape sequence is never cut in two. */
function joinWithin(cells: readonly (readonly [string, (text: string) => string])[], width: number): string {
  let left = width
  let line = ''
  for (const [index, [text, paint]] of cells.entries()) {
    const kept = shorten(index === cells.length - 1 ? text.trimEnd() : text, left)
    left -= columns(kept)
    if (kept.trim() === '') line += kept
    else line += paint(kept)
    if (left <= 0) break
  }
  return line.trimEnd()
}

/** The duration of its job; while it moves, the time in its phase. */
function elapsed(node: TreeNode, now: number): string {
  if (node.endedAt !== null) return node.startedAt === null ? '' : duration(node.endedAt - node.startedAt)
  if (node.finished || node.phaseClass === 'DONE') return ''
  // The server's clock may be ahead of ours.
  return duration(Math.max(0, now - node.phaseSince))
}

/** Why it failed, else what it waits for, else its progress. */
function detail(node: TreeNode, { now, endedJob }: Pick<Now, 'now' | 'endedJob'>): string {
  if (node.error) return `${node.error.code}: ${node.error.message}`
  const [first, ...others] = visibleBlockers(node, now)
  if (first) {
    const more = others.length > 0 ? ` (+${others.length})` : ''
    return `${blockerText(first, now)}${more}`
  }
  if (node.progress && !node.finished) return describeProgress(node.progress)
  return endedJob !== null && node.jobId !== endedJob ? 'not part of this job' : ''
}

function endedJobOf({ nodes, rootId, machines }: TreeView): string | null {
  const root = nodes.get(rootId)
  return root?.finished && machines.of(root.kind)?.jobSpansTree ? root.jobId : null
}

/** e.g. `[██████──────]  50% 512/1024 MB copying tables`. */
export function describeProgress({ step, value, total, unit }: Progress): string {
  const amount = [value ?? '', total === null ? '' : `/${total}`].join('')
  const text = [amount, unit, step].filter(Boolean).join(' ')
  if (value === null || total === null || !(total > 0)) return text
  const share = Math.min(1, Math.max(0, value / total))
  const filled = Math.floor(share * BAR)
  const percent = String(Math.floor(share * 100)).padStart(3)
  return `[${'█'.repeat(filled)}${'─'.repeat(BAR - filled)}] ${percent}% ${text}`
}

function summary(view: TreeView, now: number): string {
  const counts = countAll(view)
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const gone = view.gone > 0 ? `, ${view.gone} gone` : ''
  const expected = view.nodes.get(view.rootId)?.finished ? null : forecastText(view.forecast, now, duration)
  return `${total} ${total === 1 ? 'object' : 'objects'}: ${describeCounts(counts)}${gone}${expected ? `; ${expected}` : ''}`
}
