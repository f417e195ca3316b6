/**
 * Waits for pipelined statements. When one fails it still waits for the others, so that none runs on a connection that is
 * back in the pool. Throws the first failure in the order of the statements, which is the cause: the others fail because
 * the transaction has.
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
