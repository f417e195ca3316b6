import { isOrdinary, nodesOf, shownBlockers } from 'phaseline/client-model'
import { Link } from 'wouter'
import type { Blocker, Details, ObjectLink } from '../../data/details-store.ts'
import { humanKind } from '../../model/known.ts'
import { plural } from '../../model/words.ts'
import { Phase, Since, Until } from '../../ui/phase.tsx'
import { Sentence } from '../../ui/sentence.tsx'
import { useObjectHref } from './use-object-href.ts'

function ToObject({ link }: { readonly link: ObjectLink }) {
  const href = useObjectHref()
  return (
    <Link href={href(link.root.id, link.id)}>
      {humanKind(link.kind)} {link.name}
    </Link>
  )
}

export function Requested({ requests }: { readonly requests: Details['pendingRequests'] }) {
  if (requests.length === 0) return null
  return (
    <section aria-label="What is requested">
      <h3>Requested</h3>
      <ul className="blockers">
        {requests.map(({ verb, mode, by, at, message }) => (
          <li key={verb} className="is-waiting">
            <b className="reason">{verb}</b>
            {mode !== null && mode !== 'STANDARD' && ` (${mode})`} <Sentence text={message} />
            <div className="quiet">
              {by === null ? 'By the engine' : `By ${by}`}
              {at !== null && (
                <>
                  , <Since at={at} /> ago
                </>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

export function WaitsFor({ id, blockedBy }: { readonly id: string; readonly blockedBy: readonly Blocker[] }) {
  // The requests are shown in full.
  const blockers = shownBlockers(blockedBy).filter(({ reason }) => reason !== 'REQUEST')
  if (blockers.length === 0) return null
  return (
    <section aria-label="What it waits for">
      <h3>{headOf(blockers)}</h3>
      <ul className="blockers">
        {blockers.map((blocker, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two may say the same
          <li key={i} className={isOrdinary(blocker) ? 'is-waiting' : undefined}>
            {blocker.source && (
              <div>
                <ToObject link={blocker.source} /> <Phase phase={blocker.source.phase} />
              </div>
            )}
            <div className="brief" title={blocker.message}>
              <b className="reason">{blocker.reason}</b> <Sentence text={blocker.message} />
            </div>
            {linksOf(blocker, id).map((link) => (
              <div key={link.id}>
                <ToObject link={link} /> <Phase phase={link.phase} />
              </div>
            ))}
          </li>
        ))}
      </ul>
    </section>
  )
}
function headOf([first]: readonly Blocker[]): string {
  if (first?.reason === 'NOT_IN_JOB') return 'Left out'
  return first?.reason === 'DECISION' ? 'To decide' : 'Waits for'
}
/** The objects that a blocker of this object is about, without itself and the one that has it, which has a link. */
const linksOf = ({ object, holders, source }: Blocker, id: string): readonly ObjectLink[] =>
  [object, ...(holders ?? [])].flatMap((link) => (link && link.id !== id && link.id !== source?.id ? link : []))

export function Deadlines({ deadlines }: { readonly deadlines: Details['deadlines'] }) {
  if (deadlines.length === 0) return null
  return (
    <section aria-label="Deadlines">
      <h3>Deadlines</h3>
      <ul>
        {deadlines.map(({ name, expiresAt, to, message }) => (
          <li key={name}>
            {name}: <Until at={expiresAt} />
            {to && (
              <>
                {' '}
                → <Phase phase={to} />
              </>
            )}
            <p className="quiet">{message}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}

export function Failure({ failure }: { readonly failure: Details['failure'] }) {
  const href = useObjectHref()
  if (!failure) return null
  const { code, message, at, causes, causeCount, rootCause } = failure
  return (
    <section className="failure" aria-label="Error">
      <h3>
        {code} <Since at={at} /> ago
      </h3>
      <p>{message}</p>
      {rootCause && !causes.some(({ objectId }) => objectId === rootCause.objectId) && (
        <p className="brief" title={rootCause.message}>
          Root cause:{' '}
          {rootCause.object ? (
            <Link href={href(rootCause.object.root.id, rootCause.objectId)}>{rootCause.object.path}</Link>
          ) : (
            rootCause.name
          )}
          : <b>{rootCause.code}</b> {rootCause.message}
        </p>
      )}
      {causes.length > 0 && (
        <ul>
          {causes.map((cause) => (
            <li key={cause.objectId} className="brief" title={cause.message}>
              {cause.object ? (
                <Link href={href(cause.object.root.id, cause.objectId)}>
                  {humanKind(cause.kind)} {cause.name}
                </Link>
              ) : (
                `${humanKind(cause.kind)} ${cause.name}`
              )}
              : <b>{cause.code}</b> {cause.message}
            </li>
          ))}
        </ul>
      )}
      {causeCount > causes.length && <p className="quiet">and {plural(causeCount - causes.length, 'more cause')}</p>}
    </section>
  )
}

export function Progress({ progress }: { readonly progress: Details['progress'] }) {
  if (!progress) return null
  const { step, value, total, unit } = progress
  return (
    <section aria-label="Progress">
      <h3>Progress</h3>
      {step && <p>{step}</p>}
      {value !== null && (
        <p>
          {total !== null && <progress value={value} max={total} />} {value.toLocaleString('en')}
          {total !== null && ` of ${total.toLocaleString('en')}`} {unit}
        </p>
      )}
    </section>
  )
}

export function Dependencies({ dependsOn }: Pick<Details, 'dependsOn'>) {
  const links = nodesOf(dependsOn)
  const more = (dependsOn.totalCount ?? 0) - links.length
  if (links.length === 0) return null
  return (
    <section aria-label="Depends on">
      <h3>Depends on</h3>
      <ul>
        {links.map((link) => (
          <li key={link.id}>
            <ToObject link={link} /> <Phase phase={link.phase} />
          </li>
        ))}
      </ul>
      {more > 0 && <p className="quiet">and {plural(more, 'more object')}</p>}
    </section>
  )
}
