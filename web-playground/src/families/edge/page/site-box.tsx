import { CLASS_SYMBOLS } from 'phaseline/client-model'
import { memo } from 'react'
import { Link } from 'wouter'
import { classOf } from '../../../model/known.ts'
import { treeHref } from '../../../ui/links.ts'
import { CountsByClass, Phase, Since } from '../../../ui/phase.tsx'
import { type AppBox, type ClusterBox, type Opening, type Site, wrongPart } from '../model/edge-map.ts'
import { SiteDetails } from './site-details.tsx'

/** The most apps of one cluster that are drawn: its tree shows the others. */
const APPS_SHOWN = 200

interface Props {
  readonly site: Site
  readonly opening: Opening
  readonly onOpen: (opening: Opening) => void
}

/** One cloudlet, with its instances as far as the site is open. */
export function SiteBox({ site, opening, onOpen }: Props) {
  const { row, problems, counts, boxes } = site
  const { clusters } = opening === 'wrong' ? wrongPart(site) : site
  const body = `on-${row.id}`
  return (
    <section className={problems.length > 0 ? 'card site is-failed' : 'card site'} aria-label={row.name}>
      <header>
        <button
          type="button"
          className="plain"
          aria-expanded={opening !== 'closed'}
          aria-controls={body}
          onClick={() => onOpen(opening === 'closed' ? 'all' : 'closed')}
        >
          <span aria-hidden="true">{opening === 'closed' ? '▸' : '▾'}</span>
          <span className="hidden">What is on {row.name}</span>
        </button>
        <h2>
          <Link href={treeHref(row.id)}>{row.name}</Link>
        </h2>
        <span className="quiet">{row.project.name}</span>
        <span>
          <Phase phase={row.phase} /> <Since at={row.phaseSince} />
        </span>
        {problems.map((problem) => (
          <b key={problem} className="problem-word">
            ! {problem}
          </b>
        ))}
        <span className="end">
          {boxes === 0 ? <span className="quiet">empty</span> : <CountsByClass counts={counts} />}
        </span>
      </header>
      <SiteDetails site={site} />
      <div id={body} className="clusters" hidden={opening === 'closed'}>
        {opening !== 'closed' &&
          clusters.map((cluster) => <Cluster key={cluster.row.id} cluster={cluster} rootId={row.id} />)}
      </div>
      {opening === 'wrong' && (
        <button type="button" onClick={() => onOpen('all')}>
          Show all {boxes.toLocaleString('en')} clusters and apps
        </button>
      )}
    </section>
  )
}

interface ClusterProps {
  readonly cluster: ClusterBox
  readonly rootId: string
}
function Cluster({ cluster, rootId }: ClusterProps) {
  const { row, apps } = cluster
  const shown = apps.slice(0, APPS_SHOWN)
  return (
    <div className={cluster.wrong ? 'cluster is-wrong' : 'cluster'} data-object={row.id}>
      <div className="cluster-head">
        <Link href={treeHref(rootId, row.id)}>{row.name}</Link> <Phase phase={row.phase} />
        {cluster.drifted && <Drifted />}
      </div>
      {row.error && <Why message={row.error.message} />}
      {apps.length > 0 && (
        <ul aria-label={`Apps of ${row.name}`}>
          {shown.map((app) => (
            <App key={app.row.id} row={app.row} drifted={app.drifted} wrong={app.wrong} rootId={rootId} />
          ))}
          {apps.length > shown.length && (
            <li>
              <Link href={treeHref(rootId, row.id)}>{(apps.length - shown.length).toLocaleString('en')} more</Link>
            </li>
          )}
        </ul>
      )}
    </div>
  )
}

/** Memoised: there are many, and few change at a time. */
const App = memo(function App({ row, drifted, wrong, rootId }: AppBox & { readonly rootId: string }) {
  const look = classOf(row.phase)
  return (
    <li className={`app is-${look.toLowerCase()}${wrong ? ' is-wrong' : ''}`} data-object={row.id}>
      <span className="app-sign" aria-hidden="true" title={row.phase}>
        {CLASS_SYMBOLS[look]}
      </span>
      <Link href={treeHref(rootId, row.id)}>{row.name}</Link>
      {look === 'DONE' && !wrong ? (
        <span className="hidden">{row.phase}</span>
      ) : (
        <b className="app-phase">{row.phase}</b>
      )}
      {drifted && <Drifted />}
      {row.error && <Why message={row.error.message} />}
    </li>
  )
})

const Why = ({ message }: { readonly message: string }) => (
  <span className="why brief" title={message}>
    {message}
  </span>
)

const Drifted = () => (
  <b className="problem-word" title="As of the last resync it is not really as recorded">
    ≠ drifted
  </b>
)
