import { type Fetcher, type FetcherOpts, isAsyncIterable } from '@graphiql/toolkit'

/** How many results are shown. */
const SHOWN = 200
/** The editor draws the whole text again for each answer. */
const PACE_MS = 100

/** GraphiQL shows this of a subscription. By itself it shows the last result alone. */
interface Newest {
  readonly errors?: readonly object[]
  readonly data: {
    /** How many results have arrived. */
    readonly received: number
    /** The newest first: the data of a result, or all of one that has errors. */
    readonly newest: readonly unknown[]
  }
}

/** The fetcher, but an answer of a subscription has its newest results and their count. */
export const showNewest =
  (fetcher: Fetcher): Fetcher =>
  async (params, options) => {
    const answer = await fetcher(params, options)
    const isShownSo = isAsyncIterable(answer) && isSubscription(options, params.operationName)
    return isShownSo ? (newestOf(answer) as typeof answer) : answer
  }

/** Only a document of one operation leaves its name out. */
const isSubscription = (options: FetcherOpts | undefined, name: string | null | undefined): boolean =>
  options?.documentAST?.definitions.some(
    (one) =>
      one.kind === 'OperationDefinition' && one.operation === 'subscription' && (!name || one.name?.value === name),
  ) ?? false

/** Reads on while the editor draws, so that a fast stream does not pile up. An error is shown beside the results that came before it. */
export function newestOf(results: AsyncIterable<unknown>): AsyncIterableIterator<Newest> {
  const iterator = results[Symbol.asyncIterator]()
  let arrival = Promise.withResolvers<void>()
  let received = 0
  let newest: readonly unknown[] = []
  let errors: readonly object[] | undefined
  let isOver = false
  const read = async (): Promise<void> => {
    for (let step = await iterator.next(); !step.done; step = await iterator.next()) {
      received += 1
      newest = [partOf(step.value), ...newest.slice(0, SHOWN - 1)]
      arrival.resolve()
    }
  }
  void read()
    .catch((error: unknown) => (errors = errorsOf(error)))
    .finally(() => {
      isOver = true
      arrival.resolve()
    })
  let shown: readonly unknown[] = newest
  return {
    async next() {
      await arrival.promise
      if (!isOver) await new Promise((resolve) => setTimeout(resolve, PACE_MS))
      if (newest === shown && !errors) return { done: true, value: undefined }
      const value = { ...(errors && { errors }), data: { received, newest } }
      shown = newest
      errors = undefined
      if (!isOver) arrival = Promise.withResolvers()
      return { done: false, value }
    },
    async return() {
      await iterator.return?.()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

const partOf = (result: unknown): unknown =>
  typeof result === 'object' && result !== null && 'data' in result && !('errors' in result) ? result.data : result

/** A refused subscription throws its errors, a closed socket its event. */
function errorsOf(error: unknown): readonly object[] {
  if (Array.isArray(error)) return error
  const { message, reason } = error as Partial<Record<'message' | 'reason', string>>
  return [{ message: message || reason || 'The subscription has ended: the server cannot be reached.' }]
}
