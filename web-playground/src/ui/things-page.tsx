import { readPages } from 'phaseline/client-model'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { AskedStore } from '../data/asked-store.ts'
import type { Session } from '../data/session.ts'
import { type FilterOf, text, urlFilter } from '../model/url-filter.ts'
import { plural } from '../model/words.ts'
import { projectHref } from './links.ts'
import { Since } from './phase.tsx'
import { SearchField } from './search-field.tsx'
import { useLive } from './session-context.ts'
import { Empty, Loading, Problem } from './states.tsx'
import { useTitle } from './title.ts'
import { useFilter } from './use-filter.ts'
import { WrappingTable } from './wrapping-table.tsx'

/** Something that a project has, as its page shows it in full. */
interface Thing {
  readonly id: string
  readonly name: string
  readonly project: { readonly name: string }
}
/** The variables of a page of a list. */
interface PageAsked {
  /** Null: all. */
  readonly project: string | null
  readonly first: number
  readonly after: string | null
}
type Load<T> = Parameters<typeof readPages<T>>[1]
type Page<T> = Awaited<ReturnType<Load<T>>>

interface Props<T> {
  readonly title: string
  /** e.g. `hook`. */
  readonly noun: string
  readonly none: ReactNode
  /** Titles of the columns after the name and the project. */
  readonly columns: readonly string[]
  readonly read: (session: Session, asked: PageAsked, signal: AbortSignal) => Promise<Page<T>>
  /** The cells after the name and the project. */
  readonly cells: (thing: T) => readonly ReactNode[]
}

const FILTER = urlFilter({ name: text('name'), project: text('project') })
/** More than a person reads; the search and the choice of a project find the others. */
const MOST = 1_000

/** Things of all projects, or of the chosen one, in a table whose rows lead to the page of the project. */
export function ThingsPage<T extends Thing>({ title, noun, none, columns, read, cells }: Props<T>) {
  useTitle(title)
  const [filter, change] = useFilter(FILTER)
  const store = useLive(filter.project, (session, signal) => thingsOf(session, read, filter, signal))
  const { nodes, totalCount } = store?.answer ?? { nodes: [], totalCount: null }
  const words = filter.name.toLowerCase()
  const shown = nodes.filter(({ name }) => name.toLowerCase().includes(words))
  return (
    <div className="page">
      <div className="page-head">
        <h1>{title}</h1>
        <span className="quiet" role="status">
          {store?.answer && counted(shown.length, totalCount ?? nodes.length, noun)}
        </span>
      </div>
      {store?.error && <Problem message={store.error} onRetry={store.refresh} />}
      {!store?.answer && !store?.error && <Loading what={title.toLowerCase()} />}
      {store?.answer && nodes.length === 0 && (
        <Empty title={`No ${noun}${filter.project ? ` in ${filter.project}` : ''} that you may see.`}>{none}</Empty>
      )}
      {nodes.length > 0 && (
        <search className="filters">
          <SearchField label="Name" value={filter.name} onChange={(name) => change({ ...filter, name })} />
        </search>
      )}
      {nodes.length > 0 && shown.length === 0 && (
        <Empty title="Nothing matches.">
          <button type="button" onClick={() => change({ ...filter, name: '' })}>
            Show all {title.toLowerCase()}
          </button>
        </Empty>
      )}
      {shown.length > 0 && (
        <div className="card">
          <WrappingTable
            label={title}
            columns={['Name', 'Project', ...columns]}
            rows={shown.map((thing) => ({
              key: thing.id,
              name: thing.name,
              cells: [thing.project.name, ...cells(thing)],
              action: <Open name={thing.name} project={thing.project.name} />,
            }))}
          />
        </div>
      )}
    </div>
  )
}

const Open = ({ name, project }: { readonly name: string; readonly project: string }) => (
  <Link href={projectHref(project)} aria-label={`Open ${name} in ${project}`}>
    Open
  </Link>
)

interface Last {
  readonly outcome: string
  readonly at: string
  /** Why it is wrong. */
  readonly problem: string | null
  readonly isWrong: boolean
}
/** Two cells: what became of the last one, and when. */
export const lastCells = (last: Last | undefined): readonly ReactNode[] =>
  last
    ? [
        <span key="outcome" className={last.isWrong ? 'wrong' : undefined} title={last.problem ?? undefined}>
          {last.outcome}
        </span>,
        <Since key="at" at={last.at} />,
      ]
    : ['–', 'never']

const thingsOf = <T,>(
  session: Session,
  read: Props<T>['read'],
  { project }: FilterOf<typeof FILTER>,
  signal: AbortSignal,
) =>
  new AskedStore(
    session,
    {
      ask: async (asked, asking) => {
        const page = (first: number, after: string | null) =>
          read(asked, { project: project || null, first, after }, asking)
        return (await readPages<T>(MOST, page)) ?? { nodes: [], totalCount: 0 }
      },
      concerns: (change) => project === '' || change.projectName === project,
    },
    signal,
  )

const counted = (shown: number, total: number, noun: string): string =>
  shown === total ? plural(total, noun) : `${shown.toLocaleString('en')} of ${plural(total, noun)}`
