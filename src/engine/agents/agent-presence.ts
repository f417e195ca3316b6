import type { Viewer } from '../../core/ports/viewer.ts'
import type { OpenedFence } from '../../store/fence.ts'
import { noteAgent, noteSeen } from '../../store/work.ts'
import type { EngineParts } from '../parts.ts'
import type { WantedWork } from './wanted-work.ts'

/** Interval at which the presence of an agent is written, in milliseconds: it counts as connected for a minute. */
const NOTE_MS = 20_000
/** The same if it takes other work than what is written. */
const CHANGED_MS = 5_000

/** Records which agents are present and which work they take, without a write for every call. */
export class AgentPresence {
  readonly #parts: EngineParts
  readonly #noted = new Map<string, { readonly at: number; readonly taking: string }>()

  constructor(parts: EngineParts) {
    this.#parts = parts
  }

  async claims(
    viewer: Viewer,
    instance: string,
    types: readonly string[],
    { targets, targetSelector, dryRuns }: Pick<WantedWork, 'targets' | 'targetSelector' | 'dryRuns'>,
  ): Promise<void> {
    const { pool, system } = this.#parts
    const taking = JSON.stringify([types, targets, targetSelector, dryRuns])
    if (!this.#isDue(`${viewer.principalId} ${instance}`, taking)) return
    const { principalId, name, actor } = viewer
    await noteAgent(pool, {
      id: system.id(),
      principalId,
      name,
      instance,
      actor,
      types,
      targets,
      targetSelector,
      dryRuns,
      now: system.now(),
    })
  }

  /** A renewal proves presence too, since an agent at its limit does not claim. */
  async renews(viewer: Viewer, fences: readonly OpenedFence[]): Promise<void> {
    const { pool, system } = this.#parts
    const [first] = fences
    // A process renews all its leases in one call, so any of its fences identifies it.
    if (!first || !this.#isDue(`${viewer.principalId} renews ${first.objectId}`)) return
    const ids = fences.map((fence) => fence.objectId)
    await noteSeen(pool, viewer.principalId, ids, system.now())
  }

  #isDue(key: string, taking = ''): boolean {
    const now = this.#parts.system.now().getTime()
    const noted = this.#noted.get(key)
    if (noted && Math.abs(now - noted.at) < (noted.taking === taking ? NOTE_MS : CHANGED_MS)) return false
    if (this.#noted.size > 10_000) this.#noted.clear()
    this.#noted.set(key, { at: now, taking })
    return true
  }
}
