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

/** Computes every hash again. Failed: an event was changed, removed or put in. */
export async function verify(session: Session, known: KnownHead | undefined): Promise<ExitCode> {
  const { auditChain } = await session.client.query(CHAIN, {}, { signal: session.io.signal })
  if (!auditChain) return EXIT.unavailable
  const [anchor, head] = [endOf(auditChain.anchor), endOf(auditChain.head)]
  let end = anchor
  for await (const events of eventsAfter(session, anchor.sequence)) {
    const verified = verifyChain(end, events.map(chained))
    const broken = 'problem' in verified ? verified : breakAt(known, events)
    if (broken || 'problem' in verified) return report(session, broken ?? (verified as ChainBreak))
    end = verified
  }
  const expected = Math.max(head.sequence, known?.sequence ?? 0)
  if (end.sequence < expected) return report(session, { sequence: end.sequence + 1, problem: 'MISSING' })
  const kept = { sequence: end.sequence, hash: end.hash.toString('hex') }
  session.emit({ ok: true, after: anchor.sequence, head: kept })
  session.say(`The events ${anchor.sequence + 1} to ${kept.sequence} are as they were written.`)
  session.say(`Keep the head elsewhere: ${kept.sequence}:${kept.hash}`)
  return EXIT.ok
}

function report(session: Session, broken: ChainBreak): ExitCode {
  session.emit({ ok: false, ...broken })
  const what = broken.problem === 'MISSING' ? 'was removed' : 'was changed or put in, or an event before it was'
  session.say(`The event ${broken.sequence} ${what}.`)
  return EXIT.failed
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
