import type { ExecutionResult, GraphQLError } from 'graphql'
import { DEFAULT_LIMITS } from '../../core/gateway-limits.ts'
import { failure } from './failures.ts'

/**
 * Counts what an answer holds while it is put together, so that one that is too large ends before it takes the memory. Ends
 * an answer that nobody waits for any more, too.
 */
export class AnswerBudget {
  /** Bytes, counted as characters of texts and of JSON. */
  readonly limit: number
  #left: number
  #ended: GraphQLError | null = null
  readonly #onExceeded: () => void

  constructor(limit: number = DEFAULT_LIMITS.answerBytes, onExceeded: () => void = () => undefined) {
    this.limit = limit
    this.#left = limit
    this.#onExceeded = onExceeded
  }

  get left(): number {
    return this.#left
  }
  get isExceeded(): boolean {
    return this.#left < 0
  }

  /** From now on, resolvers that are left to run throw this error. */
  end(error: GraphQLError): void {
    this.#ended = error
  }

  /** @throws the error that has ended the answer */
  requireOpen(): void {
    if (this.#ended) throw this.#ended
  }

  /** @throws ANSWER_TOO_LARGE */
  spend(bytes: number): void {
    this.requireOpen()
    if (bytes > this.#left) this.exceed()
    this.#left -= bytes
  }

  /** @throws ANSWER_TOO_LARGE, also whatever is spent from now on */
  exceed(): never {
    if (this.#left >= 0) this.#onExceeded()
    this.#left = -1
    throw answerTooLarge(this.limit)
  }

  /** For the same answer from its beginning. */
  refill(): void {
    this.#left = this.limit
  }

  /** The same for another answer. */
  renew(): AnswerBudget {
    return new AnswerBudget(this.limit, this.#onExceeded)
  }
}

const answerTooLarge = (limit: number): GraphQLError =>
  failure(
    'ANSWER_TOO_LARGE',
    `The answer would have more than ${limit} bytes. Ask for smaller pages (first, then after: endCursor), and for large values of one object at a time.`,
  )

/** The result with the error alone. */
export const ended = ({ errors = [] }: ExecutionResult): ExecutionResult => ({
  data: null,
  errors: errors.filter(({ extensions }) => extensions.code === 'ANSWER_TOO_LARGE').slice(0, 1),
})
