import type { Phase } from '../../../core/vocabulary.ts'
import { ActiveRequest, type CrmOutbox } from './active-request.ts'
import type { CrmContext, CrmObject, CrmRequest, CrmStopReason } from './crm.ts'
import { keyOf } from './key-of.ts'
import { finalPhase, transitionalPhase } from './phases.ts'

export interface RequestTableOptions {
  readonly outbox: CrmOutbox
  /** No request is begun before it resolves. */
  readonly ready: Promise<unknown>
  work(request: CrmRequest, context: CrmContext): Promise<unknown>
  onThrown(request: CrmRequest, error: unknown): void
  /** The server has acknowledged the outcome. */
  onEnded(request: CrmRequest, phase: Phase): void
}

interface Slot {
  readonly newest: ActiveRequest
  /** Fences of the requests that it replaced: a late repetition of one must not replace it. */
  readonly past: ReadonlySet<string>
  /** Refused by the server. */
  readonly forgotten: boolean
}

/** Objects whose last request is remembered, so that its repetition is not done twice. */
const MAX_SLOTS = 10_000
const MAX_PAST = 16

/** All active requests, one per object: a newer one stops the earlier, and begins once that has stopped. */
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
    // Re-inserted, so that the least recently used slot is dropped first.
    this.#slots.delete(request.objectId)
    this.#slots.set(request.objectId, { newest, past: new Set(past.slice(-MAX_PAST)), forgotten: false })
    this.#dropOldest()
  }

  /** An effect of this request, like an upgrade, has failed after its work ended. */
  fail({ objectId, fence }: CrmRequest, error: unknown): void {
    const newest = this.#slots.get(objectId)?.newest
    if (newest?.request.fence === fence) newest.fail(error)
  }

  /** The driver's list, overlaid with active requests: the two cannot be read at one moment. */
  objects(listed: readonly CrmObject[]): readonly CrmObject[] {
    const objects = new Map(listed.map((object) => [keyOf(object.path), object]))
    for (const { newest, forgotten } of this.#slots.values()) {
      const { request } = newest
      if (request.kind === 'CLOUDLET' || forgotten) continue
      const key = keyOf(request.path)
      const overlay = overlayOf(newest, this.#isBusy(request.objectId), objects.get(key))
      if (overlay === 'ABSENT') objects.delete(key)
      else if (overlay) objects.set(key, overlay)
    }
    return [...objects.values()]
  }

  /** Stops all requests; resolves when the driver is idle. */
  async close(reason: CrmStopReason): Promise<void> {
    this.#closed = true
    const running = [...this.#running]
    for (const { newest } of this.#slots.values()) newest.stop(reason)
    for (const active of running) active.stop(reason)
    // The others wait for an answer and begin no work any more.
    await Promise.all(running.filter(({ working }) => working).map(({ stopped }) => stopped))
  }

  #begin(request: CrmRequest, before: Promise<unknown>): ActiveRequest {
    const { outbox, work, onThrown, onEnded } = this.#options
    const active: ActiveRequest = new ActiveRequest(request, {
      before,
      outbox,
      work,
      onThrown: (error) => onThrown(request, error),
      onEnded: (phase) => onEnded(request, phase),
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
    // The request that it replaced may be the current one after all: requests may overtake each other.
    this.#slots.set(objectId, { newest: active, past: new Set(), forgotten: true })
  }

  /** True also before the driver begins: the server may have received its first report without having answered yet. */
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

/** Null: as the driver lists it. */
function overlayOf(
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
