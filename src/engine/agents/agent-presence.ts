import type { Viewer } from '../../core/ports/viewer.ts'
import type { OpenedFence } from '../../store/fence.ts'
import { noteAgent, noteSeen } from '../../store/work.ts'
import type { EngineParts } from '../parts.ts'

/** An agent is noted again when it has not been for so long, in milliseconds. */
const NOTE_MS = 5_000

/** Keeps who is here and for what, without a write for every call. */
export class AgentPresence {
  readonly #parts: EngineParts
  readonly #noted = new Map<string, number>()

  constructor(parts: EngineParts) {
    this.#parts = parts
  }

  async claims(
    viewer: Viewer,
    instance: string,
    types: readonly string[],
    targets: readonly string[] | null,
  ): Promise<void> {
    const { pool, system } = this.#parts
    if (!this.#isDue(`${viewer.name} ${instance}`)) return
    const { name, actor } = viewer
    await noteAgent(pool, { id: system.id(), name, instance, actor, types, targets, now: system.now() })
  }

  /** An agent that is busy up to its limit claims nothing, and is there all the same. */
  async renews(viewer: Viewer, fences: readonly OpenedFence[]): Promise<void> {
    const { pool, system } = this.#parts
    const [first] = fences
    // One process renews all that it holds in one call, so any of its fences tells it from the others.
    if (!first || !this.#isDue(`${viewer.name} renews ${first.objectId}`)) return
    const ids = fences.map((fence) => fence.objectId)
    await noteSeen(pool, viewer.name, ids, system.now())
  }

  #isDue(key: string): boolean {
    const now = this.#parts.system.now().getTime()
    if (Math.abs(now - (this.#noted.get(key) ?? 0)) < NOTE_MS) return false
    if (this.#noted.size > 10_000) this.#noted.clear()
    this.#noted.set(key, now)
    return true
  }
}
