import type { Phase } from '../../../core/vocabulary.ts'
import type { CrmObject, CrmRequest } from './crm.ts'
import { keyOf } from './key-of.ts'
import { finalPhase } from './phases.ts'

type State = Pick<CrmObject, 'phase' | 'specRevision'>
const ABSENT: State = { phase: 'NOT_PRESENT', specRevision: null }

/** The server's knowledge of the objects: from the CRM's connecting, and the outcomes of requests since then. */
export class AcknowledgedState {
  readonly #states: Map<string, State>
  /** By the object. */
  readonly #changedAt = new Map<string, number>()

  constructor(objects: readonly CrmObject[]) {
    this.#states = new Map(objects.map((object) => [keyOf(object.path), object]))
  }

  /** Until its outcome is acknowledged nothing is said of its object. */
  began({ path }: CrmRequest): void {
    this.#changedAt.set(keyOf(path), Number.POSITIVE_INFINITY)
  }

  /** The server has acknowledged the outcome of a request. After another failure than a creation's it is as before. */
  ended(request: CrmRequest, phase: Phase): void {
    const { kind, path, specRevision } = request
    if (kind === 'CLOUDLET') return
    const key = keyOf(path)
    this.#changedAt.set(key, performance.now())
    if (phase === finalPhase(request)) this.#states.set(key, { phase, specRevision })
    else if (phase === 'CREATE_ERROR') this.#states.delete(key)
  }

  /**
   * True if objects at rest differ from the server's knowledge. Objects that have changed since `since` may be right by
   * now.
   */
  differsFrom(objects: readonly CrmObject[], since: number): boolean {
    const found = new Map<string, State>(objects.map((object) => [keyOf(object.path), object]))
    return [...new Set([...this.#states.keys(), ...found.keys()])].some((key) => {
      if ((this.#changedAt.get(key) ?? 0) >= since) return false
      const [told, is] = [this.#states.get(key) ?? ABSENT, found.get(key) ?? ABSENT]
      if (is.phase !== 'READY' && is.phase !== 'NOT_PRESENT') return false
      const isSame = told.phase === is.phase && (is.phase === 'NOT_PRESENT' || told.specRevision === is.specRevision)
      return !isSame
    })
  }
}
