/** Requests at the same time. */
const WIDTH = 8

/** A few at a time. */
export async function inBatches<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = []
  for (let i = 0; i < all.length; i += WIDTH) results.push(...(await Promise.all(all.slice(i, i + WIDTH).map(work))))
  return results
}
