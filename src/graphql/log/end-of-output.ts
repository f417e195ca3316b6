import { forget } from '../context.ts'
import { isObjectFinished } from '../objects/object-lists.ts'
import type { ResolverContext } from '../resolver-context.ts'

/** Silence that marks the end of output, since last lines may come after the report that ends their work. */
const SETTLE_MS = 1_000

/**
 * Detects the end of the output of an object: the object is finished, and silent for a while since. Uses the clock of
 * this process, since agents that write lines and reports may have others.
 */
export class EndOfOutput {
  readonly #context: ResolverContext
  readonly #objectId: string
  #silentSince: number | null = null

  constructor(context: ResolverContext, objectId: string) {
    this.#context = context
    this.#objectId = objectId
  }

  /** Call it after each read of lines. */
  async isReached(sawLines: boolean): Promise<boolean> {
    const { live, kinds } = this.#context
    const row = await live.objects.load(this.#objectId)
    if (!row || !kinds.isAtRest(row)) {
      this.#silentSince = null
      return false
    }
    const now = performance.now()
    if (sawLines) this.#silentSince = now
    this.#silentSince ??= now
    if (now - this.#silentSince < SETTLE_MS) return false
    // A job that is still to begin is not in the row, so it is read here, once per interval of silence.
    this.#silentSince = now
    forget(this.#context)
    return await isObjectFinished(this.#context, row)
  }
}
