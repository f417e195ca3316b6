import { Link } from 'wouter'
import { text, urlFilter } from '../../model/url-filter.ts'
import { plural } from '../../model/words.ts'
import { useLive } from '../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { useTitle } from '../../ui/title.ts'
import { useFilter } from '../../ui/use-filter.ts'
import { WrappingTable } from '../../ui/wrapping-table.tsx'
import { limitOf, limitsOf } from './data.ts'
import { OneLimit } from './one-limit.tsx'
import { writeRate } from './words.ts'

const FILTER = urlFilter({ name: text('name'), project: text('project') })

/** All limits, or one of them with its keys, holders and queue. */
export default function LimitsPage() {
  const [{ name, project }] = useFilter(FILTER)
  return name === '' ? <All project={project} /> : <One project={project} name={name} />
}

function All({ project }: { readonly project: string }) {
  useTitle('Limits')
  const store = useLive(project, (session, signal) => limitsOf(session, project, signal))
  const { nodes = [], totalCount } = store?.answer ?? {}
  return (
    <div className="page">
      <div className="page-head">
        <h1>Limits</h1>
        <span className="quiet" role="status">
          {store?.answer && plural(totalCount ?? nodes.length, 'limit')}
        </span>
      </div>
      {store?.error && <Problem message={store.error} onRetry={store.refresh} />}
      {!store?.answer && !store?.error && <Loading what="limits" />}
      {store?.answer && nodes.length === 0 && (
        <Empty title={`No limit${project ? ` in ${project}` : ''} that you may see.`}>
          <p>
            A limit bounds how many workers, jobs and deploy items of a project run at once, by a key:{' '}
            <code>phaseline limit apply -f FILE</code>
          </p>
        </Empty>
      )}
      {nodes.length > 0 && (
        <div className="card">
          <WrappingTable
            label="Limits"
            columns={['Name', 'Project', 'Max', 'Per key', 'Rate of a key', 'Running', 'Waiting']}
            rows={nodes.map((limit) => ({
              key: limit.id,
              name: limit.name,
              cells: [
                limit.project.name,
                <>
                  {shownBound(limit.max)} {limit.pause && <b className="wrong">paused</b>}
                </>,
                shownBound(limit.maxPerKey),
                limit.rate ? writeRate(limit.rate) : '–',
                limit.runningCount.toLocaleString('en'),
                limit.waitingCount.toLocaleString('en'),
              ],
              action: (
                <Link
                  href={`/limits?${new URLSearchParams({ name: limit.name, project: limit.project.name })}`}
                  aria-label={`Open ${limit.name} of ${limit.project.name}`}
                >
                  Open
                </Link>
              ),
            }))}
          />
        </div>
      )}
    </div>
  )
}

const shownBound = (bound: number | null): string => bound?.toLocaleString('en') ?? '–'

function One({ project, name }: { readonly project: string; readonly name: string }) {
  const store = useLive(`${project}/${name}`, (session, signal) => limitOf(session, { project, name }, signal))
  const limit = store?.answer?.limit
  useTitle(limit ? limit.name : 'Limits')
  return (
    <div className="page">
      <p>
        <Link href="/limits">All limits</Link>
      </p>
      {store?.error && <Problem message={store.error} onRetry={store.refresh} />}
      {!store?.answer && !store?.error && <Loading what="limit" />}
      {store?.answer && !limit && <Empty title="There is no such limit that you may see." />}
      {limit && <OneLimit limit={limit} onDone={() => store?.refresh()} />}
    </div>
  )
}
