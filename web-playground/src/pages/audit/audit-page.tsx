import { type AuditChain, AuditStore } from '../../data/audit-store.ts'
import { AUDIT_FILTER } from '../../model/audit.ts'
import { exactTime } from '../../ui/exact-time.ts'
import { useLive, useSession } from '../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { useTitle } from '../../ui/title.ts'
import { useFilter } from '../../ui/use-filter.ts'
import { AuditFilters } from './audit-filters.tsx'
import { AuditTable } from './audit-table.tsx'
import '../../styles/audit.css'

/** The audit, newest first; the address has the filter. */
export default function AuditPage() {
  useTitle('Audit')
  return useSession().viewer.isAdmin ? (
    <Audit />
  ) : (
    <div className="page">
      <Empty title="Only administrators see the audit.">Sign in with a token of the role ADMIN.</Empty>
    </div>
  )
}

function Audit() {
  const [filter, change] = useFilter(AUDIT_FILTER)
  const written = AUDIT_FILTER.write(filter)
  const store = useLive(written, (session, signal) => new AuditStore(session, filter, signal))
  return (
    <div className="page">
      <div className="page-head">
        <h1>Audit</h1>
        {store?.chain && <ChainState chain={store.chain} />}
      </div>
      <AuditFilters filter={filter} onChange={change} />
      {store?.error && <Problem message={store.error} />}
      {!store?.loaded && !store?.error && <Loading what="the audit" />}
      {store?.loaded && store.events.length === 0 && (
        <Empty title={written ? 'Nothing matches.' : 'Nothing has happened yet.'}>
          {written && (
            <button type="button" onClick={() => change(AUDIT_FILTER.all)}>
              Show all events
            </button>
          )}
        </Empty>
      )}
      {store?.loaded && store.events.length > 0 && (
        <AuditTable events={store.events} paths={store.paths} filter={filter} />
      )}
      {store?.hasOlder && (
        <p className="audit-more">
          <button type="button" onClick={store.readOlder} disabled={store.isReadingOlder}>
            {store.isReadingOlder ? 'Reading…' : 'Show older events'}
          </button>
        </p>
      )}
    </div>
  )
}

/** The extent of the chain. The proof is made outside of the server, with `audit verify` and a stored head. */
function ChainState({ chain: { anchor, since, head } }: { readonly chain: AuditChain }) {
  const count = head.sequence - anchor.sequence
  return (
    <span className="quiet" role="status" title={`Head ${head.sequence}:${head.hash}`}>
      Chained up to event {head.sequence.toLocaleString('en')}
      {since && count > 0 && `, kept since ${exactTime(since).replace(/\.\d+$/, '')}`}. Prove it with{' '}
      <code>phaseline audit verify</code>.
    </span>
  )
}
