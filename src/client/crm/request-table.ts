import { ActiveRequest, type CrmOutbox } from './active-request.ts'
import type { CrmContext, CrmObject, CrmRequest, CrmStopReason } from './crm.ts'
import { finalPhase, transitionalPhase } from './phases.ts'

export interface RequestTableOptions {
  readonly outbox: CrmOutbox
  /** Nothing is begun before. */
  readonly ready: Promise<unknown>
  work(request: CrmRequest, context: CrmContext): Promise<unknown>
  onThrown(request: CrmRequest, error: unknown): void
}

interface Slot {
  readonly newest: ActiveRequest
  /** Fences of those that it replaced: a late repetition of one must not replace it. */
  readonly past: ReadonlySet<string>
  /** Refused by the server. */
  readonly forgotten: boolean
}

/** Objects whose last request is remembered, so that a repetition of it is not done twice. */
const MAX_SLOTS = 10_000
const MAX_PAST = 16

/** All requests in hand, one an object: a newer one stops the earlier, and is done once that has stopped. */
export class RequestTable {
  readonly #options: RequestTableOptions
  readonly #slots = new Map<string, Slot>()
  readonly #running = new Set<ActiveRequest>()
  #closed = false

  constructor(options: RequestTableOptions) {
    this.#options = options
  }

  take(request: CrmRequest): void {
    if (this.#closed) return
    const slot = this.#slots.get(request.objectId)
    const earlier = slot?.newest
    if (slot && !slot.forgotten) {
      if (slot.newest.request.fence === request.fence) return slot.newest.repeat()
      if (slot.past.has(request.fence)) return
    }
    earlier?.stop('REPLACED')
    const past = slot && !slot.forgotten ? [...slot.past, slot.newest.request.fence] : []
    const newest = this.#begin(request, earlier?.stopped ?? this.#options.ready)
    // The last one that was touched is the last one to be dropped.
    this.#slots.delete(request.objectId)
    this.#slots.set(request.objectId, { newest, past: new Set(past.slice(-MAX_PAST)), forgotten: false })
    this.#dropOldest()
  }

  /** The upgrade that this request began, and whatever else is not told by its own work, has failed. */
  fail({ objectId, fence }: CrmRequest, error: unknown): void {
    const newest = this.#slots.get(objectId)?.newest
    if (newest?.request.fence === fence) newest.fail(error)
  }

  /** What there is, with what is being done at present: the driver's list cannot be of one moment with that. */
  objects(listed: readonly CrmObject[]): readonly CrmObject[] {
    const objects = new Map(listed.map((object) => [keyOf(object.path), object]))
    for (const { newest, forgotten } of this.#slots.values()) {
      const { request } = newest
      if (request.kind === 'CLOUDLET' || forgotten) continue
      const key = keyOf(request.path)
      const told = shownAs(newest, this.#isBusy(request.objectId), objects.get(key))
      if (told === 'ABSENT') objects.delete(key)
      else if (told) objects.set(key, told)
    }
    return [...objects.values()]
  }

  /** Stops all; resolves when the driver does nothing any more. */
  async close(reason: CrmStopReason): Promise<void> {
    this.#closed = true
    const running = [...this.#running]
    for (const { newest } of this.#slots.values()) newest.stop(reason)
    for (const active of running) active.stop(reason)
    // The others wait for an answer, and begin nothing any more.
    await Promise.all(running.filter(({ working }) => working).map(({ stopped }) => stopped))
  }

  #begin(request: CrmRequest, before: Promise<unknown>): ActiveRequest {
    const { outbox, work, onThrown } = this.#options
    const active: ActiveRequest = new ActiveRequest(request, {
      before,
      outbox,
      work,
      onThrown: (error) => onThrown(request, error),
      onRefused: () => this.#forget(active),
    })
    this.#running.add(active)
    void active.stopped.then(() => this.#running.delete(active))
    return active
  }

  #forget(active: ActiveRequest): void {
    const { objectId } = active.request
    const slot = this.#slots.get(objectId)
    if (slot?.newest !== active) return
    // What was replaced by it may be wanted after all: requests may overtake each other.
    this.#slots.set(objectId, { newest: active, past: new Set(), forgotten: true })
  }

  /** Also before the driver is at it: the server may have heard of its beginning, although its answer is still to come. */
  #isBusy(objectId: string): boolean {
    return this.#running.values().some(({ request }) => request.objectId === objectId)
  }

  #dropOldest(): void {
    if (this.#slots.size <= MAX_SLOTS) return
    for (const [objectId, { newest }] of this.#slots) {
      if (this.#running.has(newest)) continue
      this.#slots.delete(objectId)
      return
    }
  }
}

/** Null: as the driver says. */
function shownAs(
  { request, unacknowledged }: ActiveRequest,
  isBusy: boolean,
  listed: CrmObject | undefined,
): CrmObject | 'ABSENT' | null {
  const { kind, path, specRevision } = request
  if (kind === 'CLOUDLET') return null
  const phase = isBusy ? transitionalPhase(request) : unacknowledged?.phase
  if (!phase) return null
  if (phase === 'NOT_PRESENT') return 'ABSENT'
  const isAsWanted = phase === finalPhase(request)
  return { kind, path, phase, specRevision: isAsWanted ? specRevision : (listed?.specRevision ?? null) }
}

const keyOf = (path: readonly string[]): string => path.join('/')
