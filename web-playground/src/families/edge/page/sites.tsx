import { useMemo, useState } from 'react'
import { countPhases } from '../../../model/known.ts'
import type { Row } from '../../../model/object.ts'
import { plural } from '../../../model/words.ts'
import { CountsByClass } from '../../../ui/phase.tsx'
import { Empty } from '../../../ui/states.tsx'
import {
  type CloudletDetails,
  type EdgeFilter,
  findSites,
  type Opening,
  openings,
  type Site,
  sitesOf,
} from '../model/edge-map.ts'
import { SiteBox } from './site-box.tsx'

interface Props {
  readonly cloudlets: readonly Row[]
  readonly instances: readonly Row[]
  readonly details: ReadonlyMap<string, CloudletDetails>
  readonly filter: EdgeFilter
  readonly onAll: () => void
}

export function Sites({ cloudlets, instances, details, filter, onAll }: Props) {
  const [said, setSaid] = useState<ReadonlyMap<string, Opening>>(new Map())
  const all = useMemo(() => sitesOf(cloudlets, instances, details), [cloudlets, instances, details])
  const { name, wrongOnly } = filter
  const found = useMemo(() => findSites(all, { name, wrongOnly }), [all, name, wrongOnly])
  const open = openings(found, said, name !== '' || wrongOnly)
  const say = (id: string, opening: Opening): void => setSaid((now) => new Map(now).set(id, opening))
  return (
    <>
      <Summary all={all} instances={instances} />
      {found.length === 0 && (
        <Empty title={wrongOnly && !name ? 'Nothing is wrong.' : 'Nothing matches.'}>
          <button type="button" onClick={onAll}>
            Show all cloudlets
          </button>
        </Empty>
      )}
      <div className="sites">
        {found.map((site) => (
          <SiteBox
            key={site.row.id}
            site={site}
            opening={open.get(site.row.id) ?? 'closed'}
            onOpen={(opening) => say(site.row.id, opening)}
          />
        ))}
      </div>
    </>
  )
}

function Summary({ all, instances }: { readonly all: readonly Site[]; readonly instances: readonly Row[] }) {
  const wrong = all.filter(({ problems }) => problems.length > 0).length
  return (
    <p className="edge-summary" role="status">
      {plural(all.length, 'cloudlet')},{' '}
      {wrong === 0 ? 'nothing wrong' : <b className="problem-word">{wrong} with something wrong</b>}
      <span className="quiet"> · {instances.length.toLocaleString('en')} clusters and apps</span>
      <CountsByClass counts={countPhases(instances.map(({ phase }) => phase))} />
    </p>
  )
}
