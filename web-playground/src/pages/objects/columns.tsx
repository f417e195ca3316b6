import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { OrderField } from '../../model/filter.ts'
import { humanKind } from '../../model/known.ts'
import { type Begun, creatorOf, lastRunOf } from '../../model/last-run.ts'
import type { ListedRow } from '../../model/object.ts'
import type { Column } from '../../model/object-columns.ts'
import { type Pair, textOf } from '../../model/pairs.ts'
import { shortDateTime, zonedTime } from '../../ui/exact-time.ts'
import { LABELS_SHOWN, Labels } from '../../ui/labels.tsx'
import { treeHref } from '../../ui/links.ts'
import { Paused, Pending } from '../../ui/pending.tsx'
import { Phase, Since } from '../../ui/phase.tsx'

export const LABELS: Readonly<Record<Column, string>> = {
  path: 'Path',
  kind: 'Kind',
  phase: 'Phase',
  since: 'Since',
  run: 'Last run',
  labels: 'Labels',
  error: 'Error',
  project: 'Project',
  created: 'Created',
  creator: 'Created by',
  id: 'Id',
}

/** The orders that the server has. */
export const ORDERED: Partial<Readonly<Record<Column, OrderField>>> = {
  path: 'NAME',
  since: 'PHASE_SINCE',
  created: 'CREATED_AT',
}

/** The least width of each column, in widths of a figure. */
const LEAST: Readonly<Record<Column, number>> = {
  path: 26,
  kind: 12,
  phase: 15,
  since: 7,
  run: 20,
  labels: 8,
  error: 20,
  project: 12,
  created: 16,
  creator: 12,
  id: 31,
}
/** The parts of what is left: as many as there are characters. Others have their least width. */
const PARTS: Partial<Readonly<Record<Column, (rows: readonly ListedRow[]) => number>>> = {
  path: (rows) =>
    Math.min(
      longest(rows, ({ path }) => path.length),
      MOST_PATH,
    ),
  phase: () => 8,
  labels: (rows) => Math.min(longest(rows, lengthOfLabels), MOST_LABELS),
  error: () => 60,
  project: (rows) => longest(rows, ({ project }) => project.name.length) / 2,
  creator: () => 8,
}
/** Long labels are cut, and long paths wrap: both leave the others some room. */
const MOST_LABELS = 40
const MOST_PATH = 100
const longest = (rows: readonly ListedRow[], lengthOf: (row: ListedRow) => number): number =>
  rows.reduce((most, row) => Math.max(most, lengthOf(row)), 1)

/** The tracks of the table, after that of the checkbox. Below their least width the table scrolls sideways. */
export function tracksOf(columns: readonly Column[], rows: readonly ListedRow[]) {
  const tracks = columns.map((column) => {
    const parts = PARTS[column]?.(rows)
    return parts === undefined ? `${LEAST[column]}ch` : `minmax(${LEAST[column]}ch, ${parts}fr)`
  })
  const least = columns.reduce((sum, column) => sum + LEAST[column], 0)
  return {
    '--columns': ['var(--space-4)', ...tracks].join(' '),
    '--least': `calc(${least}ch + ${columns.length} * var(--space-3) + 3 * var(--space-4))`,
  }
}

interface Props {
  readonly column: Column
  readonly row: ListedRow
  /** The list of what has this label, too. */
  readonly hrefOf: (label: Pair) => string
}
/** The content of a cell. */
export function Content({ column, row, hrefOf }: Props): ReactNode {
  switch (column) {
    case 'path':
      return <Path row={row} />
    case 'kind':
      return humanKind(row.kind)
    case 'phase':
      return (
        <>
          <Phase phase={row.phase} /> <Pending requests={row.pendingRequests} />
          {row.parent === null && <Paused pause={row.pause} />}
        </>
      )
    case 'since':
      return <Since at={row.phaseSince} />
    case 'run':
      return row.parent === null && row.history && <LastRun row={{ ...row, history: row.history }} />
    case 'labels':
      return <Labels labels={row.labels} hrefOf={hrefOf} />
    case 'error':
      return row.error && <span title={row.error.message}>{row.error.message}</span>
    case 'project':
      return <span title={row.project.name}>{row.project.name}</span>
    case 'created':
      return (
        <time dateTime={row.createdAt} title={zonedTime(row.createdAt)}>
          {shortDateTime(row.createdAt)}
        </time>
      )
    case 'creator':
      return row.history && creatorOf({ history: row.history })
    case 'id':
      return <code>{row.id}</code>
  }
}

function LastRun({ row }: { readonly row: Begun }) {
  const { cause, startedAt, by } = lastRunOf(row)
  return (
    <span title={by === null ? undefined : `by ${by}`}>
      {cause} <Since at={startedAt} /> ago
    </span>
  )
}

/** The whole path, which may be broken after each name; its last one says which object it is. */
function Path({ row: { id, root, path } }: Pick<Props, 'row'>) {
  const names = path.split('/')
  return (
    <Link href={treeHref(root.id, id)}>
      {names.slice(0, -1).map((name, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: names of a path may repeat, and stand where they stand
        <span key={i}>
          {name}/<wbr />
        </span>
      ))}
      <b>{names.at(-1)}</b>
    </Link>
  )
}

/** With the room round each chip. */
const lengthOfLabels = ({ labels }: ListedRow): number =>
  labels
    .slice(0, LABELS_SHOWN)
    .reduce((sum, label) => sum + textOf(label).length + 4, labels.length > LABELS_SHOWN ? 4 : 0)
