import { type ChainBreak, verifyChain } from '../../chain-hash.ts'
import type { ChainEnd } from '../../core/audit.ts'
import { gql } from '../../documents/gql.ts'
import type { Session } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { type AuditEvent, eventsAfter } from './read-events.ts'

const CHAIN = gql('query AuditChain { auditChain { anchor { sequence hash } head { sequence hash } } }')

/** A place in the chain that was kept elsewhere. */
export interface KnownHead {
  readonly sequence: number
  /** In hexadecimal digits. */
  readonly hash: string
}

/** Computes every hash again. Failed: an event was changed, removed or put in, or the known head is not kept any more. */
export async function verify(session: Session, known: KnownHead | undefined): Promise<ExitCode> {
  for (;;) {
    const ends = await readEnds(session)
    if (!ends) return EXIT.unavailable
    const { anchor, head } = ends
    const found = known && known.sequence <= anchor.sequence ? compareAtAnchor(known, anchor) : null
    if (found) return report(session, found)
    const end = await verifyAfter(session, anchor, known)
    const expected = Math.max(head.sequence, known?.sequence ?? 0)
    if (!('problem' in end) && end.sequence >= expected) return tell(session, anchor, end)
    const broken = 'problem' in end ? end : { sequence: end.sequence + 1, problem: 'MISSING' as const }
    // Retention may have removed events between two pages.
    const isPruned =
      broken.problem === 'MISSING' && broken.sequence <= ((await readEnds(session))?.anchor.sequence ?? 0)
    if (!isPruned) return report(session, broken)
  }
}

export async function readEnds(
  session: Session,
): Promise<{ readonly anchor: ChainEnd; readonly head: ChainEnd } | null> {
  const { auditChain } = await session.client.query(CHAIN, {}, { signal: session.io.signal })
  return auditChain && { anchor: endOf(auditChain.anchor), head: endOf(auditChain.head) }
}

/** The end of the chain, or the first event that does not fit. */
async function verifyAfter(
  session: Session,
  anchor: ChainEnd,
  known: KnownHead | undefined,
): Promise<ChainEnd | ChainBreak> {
  let end = anchor
  for await (const events of eventsAfter(session, String(anchor.sequence))) {
    const verified = verifyChain(end, events.map(chained))
    if ('problem' in verified) return verified
    const broken = breakAt(known, events)
    if (broken) return broken
    end = verified
  }
  return end
}

function tell(session: Session, anchor: ChainEnd, end: ChainEnd): ExitCode {
  const kept = { sequence: end.sequence, hash: end.hash.toString('hex') }
  session.emit({ ok: true, after: anchor.sequence, head: kept })
  if (anchor.sequence > 0) session.say(`Retention has removed the events up to ${anchor.sequence}.`)
  session.say(`The events ${anchor.sequence + 1} to ${kept.sequence} are as they were written.`)
  session.say(`Keep the head elsewhere: ${kept.sequence}:${kept.hash}`)
  return EXIT.ok
}

type Found = ChainBreak | { readonly sequence: number; readonly problem: 'PRUNED' }
const WHAT: Readonly<Record<Found['problem'], string>> = {
  MISSING: 'was removed',
  CHANGED: 'was changed or put in, or an event before it was',
  PRUNED: 'is not kept any more, so this head proves nothing: give a newer one',
}

function report(session: Session, found: Found): ExitCode {
  session.emit({ ok: false, ...found })
  session.say(`The event ${found.sequence} ${WHAT[found.problem]}.`)
  return EXIT.failed
}

/** The chain starts from the hash of the anchor, so a head at it can be compared, and an older one cannot. */
function compareAtAnchor({ sequence, hash }: KnownHead, anchor: ChainEnd): Found | null {
  if (sequence < anchor.sequence) return { sequence, problem: 'PRUNED' }
  return anchor.hash.toString('hex') === hash ? null : { sequence, problem: 'CHANGED' }
}

/** A chain that was computed anew fits in itself, but not with a head that was kept. */
function breakAt(known: KnownHead | undefined, events: readonly AuditEvent[]): ChainBreak | null {
  const found = known && events.find(({ sequence }) => sequence === known.sequence)
  return found && found.hash !== known.hash ? { sequence: found.sequence, problem: 'CHANGED' } : null
}

const endOf = ({ sequence, hash }: { readonly sequence: number; readonly hash: string }): ChainEnd => ({
  sequence,
  hash: Buffer.from(hash, 'hex'),
})
const chained = ({ at, hash, ...event }: AuditEvent) => ({
  ...event,
  at: new Date(at),
  hash: Buffer.from(hash, 'hex'),
})
