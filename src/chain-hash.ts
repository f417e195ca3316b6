import { createHash } from 'node:crypto'
import type { ChainEnd, ChainedEvent } from './core/audit.ts'

/** Chains the events of the audit, for its writer and its verifiers. */

/**
 * The hash of an event: SHA-256 of the hash before it, and of the event's values, each as its length in bytes and its
 * text. Anybody with the events can recompute it.
 * @param previous empty for the first event of all
 */
export function chainHash(previous: Uint8Array, event: ChainedEvent): Buffer {
  const values = [
    event.sequence,
    event.id,
    event.at.toISOString(),
    event.principalId,
    event.principalName,
    event.tokenId,
    event.actor,
    event.address,
    event.requestId,
    event.operation,
    event.projectId,
    event.projectName,
    event.objectId,
    event.objectKind,
    event.objectName,
    event.outcome,
    event.code,
    event.fields.join(','),
    event.count,
  ]
  return createHash('sha256').update(previous).update(values.map(measured).join('')).digest()
}

const measured = (value: string | number | null): string =>
  value === null ? '-' : `${Buffer.byteLength(String(value))}:${value}`

/** The first event at which a chain does not hold, and what is wrong there. */
export interface ChainBreak {
  readonly sequence: number
  readonly problem: 'CHANGED' | 'MISSING'
}

/** Goes on from the end of what was verified; the new end, or the first break. */
export function verifyChain(
  from: ChainEnd,
  events: readonly (ChainedEvent & { readonly hash: Buffer })[],
): ChainEnd | ChainBreak {
  let end = from
  for (const event of events) {
    const expected = end.sequence + 1
    if (event.sequence !== expected) return { sequence: expected, problem: 'MISSING' }
    if (!chainHash(end.hash, event).equals(event.hash)) return { sequence: expected, problem: 'CHANGED' }
    end = { sequence: expected, hash: event.hash }
  }
  return end
}
