/**
 * Waits for statements that travel together. When one fails the others are waited for all the same, so that none is
 * left to run on a connection that somebody else has by then. Throws what failed first in their order, which is the
 * cause: the others fail because their transaction has.
 */
export async function awaitAll<T extends readonly unknown[]>(
  sent: readonly [...T],
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const settled = await Promise.allSettled(sent)
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  }) as { -readonly [K in keyof T]: Awaited<T[K]> }
}
