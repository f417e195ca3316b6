/** Runs so many, at most `width` at the same time. */
export async function atOnce(count: number, width: number, run: () => Promise<void>): Promise<void> {
  let left = count
  const next = async (): Promise<void> => {
    while (left-- > 0) await run()
  }
  await Promise.all(Array.from({ length: width }, next))
}
