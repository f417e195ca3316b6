import { mayStart, type Place, withOneMore } from '../../core/place.ts'
import type { PlaceKey, Placement } from '../../families/family.ts'
import type { Client } from '../../store/client.ts'
import type { EngineParts } from '../parts.ts'
import type { TrackedObject } from '../tracked-object.ts'
import type { Claimant } from './claimant.ts'

const textOf = ({ principalId, type, instance }: PlaceKey): string => JSON.stringify([principalId, type, instance])

export const placeKey = ({ viewer, instance }: Claimant, type: string): PlaceKey => ({
  principalId: viewer.principalId,
  type,
  instance,
})

/** The placement of a claim; null: the claim starts nothing. */
export function startOf({ row, work }: TrackedObject, { kinds }: EngineParts): Placement | null {
  const { placement } = kinds.family(row.kind)
  return work && placement?.isStart(work) ? placement : null
}

/** Places that one transaction has locked. It counts what the transaction itself starts, in all of its trees. */
export class LockedPlaces {
  readonly #places = new Map<string, Place>()
  /** Trees of one transaction are written at the same time, and each place is read once. */
  #turn: Promise<void> = Promise.resolve()

  lock(client: Client, placement: Placement, keys: readonly PlaceKey[]): Promise<void> {
    const turn = this.#turn.then(async () => {
      const unknown = new Map(keys.map((key) => [textOf(key), key]))
      for (const key of this.#places.keys()) unknown.delete(key)
      if (unknown.size === 0) return
      const places = await placement.lockPlaces(client, [...unknown.values()])
      for (const [i, key] of [...unknown.keys()].entries()) this.#places.set(key, places[i] as Place)
    })
    this.#turn = turn.catch(() => {})
    return turn
  }

  has(claimant: Claimant, type: string): boolean {
    return this.#places.has(textOf(placeKey(claimant, type)))
  }

  /** The place that may start the work; null: it may not. A place that is not locked starts nothing. */
  find(claimant: Claimant, { row: { kind }, work }: TrackedObject): Place | null {
    const place = work && this.#places.get(textOf(placeKey(claimant, work.type)))
    return place && mayStart(place, { kind, ...work }) ? place : null
  }

  started(claimant: Claimant, { row: { kind }, work }: TrackedObject): void {
    const key = work && textOf(placeKey(claimant, work.type))
    const place = key && this.#places.get(key)
    if (place) this.#places.set(key, withOneMore(place, kind))
  }
}
