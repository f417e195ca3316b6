/** Requests at the same time. */
const WIDTH = 8

/**
 * A few at a time. If one fails, the others of its batch have ended, too.
 * @param onDone called for each result in the order of `all`
 */
export async function inBatches<T, R>(
  all: readonly T[],
  work: (one: T) => Promise<R>,
  onDone: (result: R) => void = () => {},
): Promise<readonly R[]> {
  const results: R[] = []
  for (let i = 0; i < all.length; i += WIDTH) {
    const settled = await Promise.allSettled(all.slice(i, i + WIDTH).map(work))
    const done = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    for (const result of done) onDone(result)
    const failed = settled.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
    results.push(...done)
  }
  return results
}
