import { useCallback, useEffect } from 'react'
import { Link, useLocation, useSearch } from 'wouter'
import { AskedStore } from '../../../data/asked-store.ts'
import type { ListStore } from '../../../data/list-store.ts'
import { SearchField } from '../../../ui/search-field.tsx'
import { useLive } from '../../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../../ui/states.tsx'
import { useTitle } from '../../../ui/title.ts'
import { cloudletList, DETAILS, instanceList } from '../data.ts'
import type { EdgeFilter } from '../model/edge-map.ts'
import { Sites } from './sites.tsx'
import './edge.css'

/** Cloudlets with their clusters and apps. */
export default function EdgePage() {
  useTitle('Edge')
  const cloudlets = useLive('cloudlets', cloudletList)
  const instances = useLive('instances', instanceList)
  const details = useLive('facts', (session, signal) => new AskedStore(session, DETAILS, signal))
  useAll(cloudlets)
  useAll(instances)
  const [filter, change] = useFilter()
  const error = cloudlets?.error ?? instances?.error ?? details?.error
  const loaded = cloudlets?.loaded && instances?.loaded
  const retry = (): void => {
    cloudlets?.retry()
    instances?.retry()
    void details?.refresh()
  }
  return (
    <div className="page">
      <div className="page-head">
        <h1>Edge</h1>
        {loaded && instances && <Reading instances={instances} />}
      </div>
      {error && <Problem message={error} onRetry={retry} />}
      {!loaded && !error && <Loading what="cloudlets" />}
      {loaded && cloudlets.rows.length === 0 && <NoCloudlets />}
      {loaded && cloudlets.rows.length > 0 && (
        <>
          <search className="filters">
            <SearchField
              label="Name of a cloudlet, cluster or app"
              value={filter.name}
              onChange={(name) => change({ ...filter, name })}
            />
            <label className="check">
              <input
                type="checkbox"
                checked={filter.wrongOnly}
                onChange={({ target }) => change({ ...filter, wrongOnly: target.checked })}
              />
              <span>Only what is wrong</span>
            </label>
          </search>
          <Sites
            cloudlets={cloudlets.rows}
            instances={instances.rows}
            details={details?.answer ?? NO_DETAILS}
            filter={filter}
            onAll={() => change({ name: '', wrongOnly: false })}
          />
        </>
      )}
    </div>
  )
}
const NO_DETAILS = new Map<string, never>()

/** Reads page after page, to the last. */
function useAll(list: ListStore | null): void {
  const count = list?.rows.length
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page makes more rows, and requests the next
  useEffect(() => {
    if (list?.loaded && !list.complete) void list.more()
  }, [list, list?.loaded, list?.complete, count])
}

function Reading({ instances: { rows, complete, total } }: { readonly instances: ListStore }) {
  if (complete) return null
  return (
    <span className="quiet" role="status">
      Reading what is on them: {rows.length.toLocaleString('en')} of {(total ?? rows.length).toLocaleString('en')}
    </span>
  )
}

function useFilter(): readonly [EdgeFilter, (filter: EdgeFilter) => void] {
  const params = new URLSearchParams(useSearch())
  const [, navigate] = useLocation()
  const change = useCallback(
    ({ name, wrongOnly }: EdgeFilter): void => {
      const next = new URLSearchParams({ ...(name ? { name } : {}), ...(wrongOnly ? { wrong: 'yes' } : {}) })
      navigate(next.size > 0 ? `/edge?${next}` : '/edge', { replace: true })
    },
    [navigate],
  )
  return [{ name: params.get('name') ?? '', wrongOnly: params.get('wrong') === 'yes' }, change]
}

function NoCloudlets() {
  return (
    <Empty title="There are no cloudlets yet.">
      <p>
        <Link href="/create/cloudlet">Create a cloudlet</Link>, and start a CRM that connects to it: its clusters and
        apps appear here as they come.
      </p>
    </Empty>
  )
}
