import { humanKind } from '../../../model/known.ts'
import { Phase, Since, Until } from '../../../ui/phase.tsx'
import { orphansSaid, type Site } from '../model/edge-map.ts'

/** The cloudlet's CRM, its version, and the last resync. */
export function SiteDetails({ site: { details } }: { readonly site: Site }) {
  if (!details) return null
  const { version, wantedVersion, upgradePhase, epoch, resyncedAt, orphans, agents } = details
  const upgrading = upgradePhase !== 'READY'
  return (
    <>
      <ul className="site-facts">
        <li>
          Version <b>{version ?? 'unknown'}</b>
          {upgrading && wantedVersion && ` → ${wantedVersion}`}
        </li>
        <li>Upgrade {upgrading ? <Phase phase={upgradePhase} /> : <span className="quiet">none runs</span>}</li>
        <li>Epoch {epoch}</li>
        <li>
          {resyncedAt ? (
            <>
              Resynced <Since at={resyncedAt} /> ago
            </>
          ) : (
            'Never resynced'
          )}
        </li>
        {agents.map(({ role, instance, leaseUntil }) => (
          <li key={`${role} ${instance}`}>
            {role} {instance}{' '}
            <span className="quiet">
              {leaseUntil ? (
                <>
                  lease ends <Until at={leaseUntil} />
                </>
              ) : (
                'disconnected'
              )}
            </span>
          </li>
        ))}
      </ul>
      {orphans.length > 0 && (
        <details className="orphans">
          <summary>{orphansSaid(orphans.length)} that nobody has asked for</summary>
          <ul>
            {orphans.map(({ kind, path, phase }) => (
              <li key={`${kind} ${path.join('/')}`}>
                {path.join('/')} <span className="quiet">{humanKind(kind)}</span> <Phase phase={phase} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
