import { forget, type GraphQLContext } from '../context.ts'
import { finishedLoader } from '../objects/object-lists.ts'

/** Last lines may come after the report that ends their work: so long nothing more must have come. */
const SETTLE_MS = 1_000

/**
 * Tells when an object's output has come to its end: it is finished, and has been silent for a while since. By this
 * process's own clock, since those who write lines and reports may have others.
 */
export class EndOfOutput {
  readonly #context: GraphQLContext
  readonly #objectId: string
  #silentSince: number | null = null

  constructor(context: GraphQLContext, objectId: string) {
    this.#context = context
    this.#objectId = objectId
  }

  /** Asked after each look for lines. */
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
    // Something may be remembered that is not in the row: asked for only here, once a while.
    this.#silentSince = now
    forget(this.#context)
    return await finishedLoader(this.#context).load(row)
  }
}
