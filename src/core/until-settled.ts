/**
 * Like `Promise.all`, but throws only when all have ended: whoever cleans up after a failure has nothing that runs on and brings back
 * what is removed.
 */
export async function untilSettled<const All extends readonly unknown[]>(
  all: All,
): Promise<{ -readonly [I in keyof All]: Awaited<All[I]> }> {
  await Promise.allSettled(all)
  return await Promise.all(all)
}
