/** Milliseconds before each further attempt: a network may lose one request. */
const PAUSES_MS = [500, 1_000, 2_000]

/** Loads a file of the dashboard. @throws the browser's error when it cannot be had, e.g. since a newer version has replaced it */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  for (const pause of PAUSES_MS) {
    try {
      return await load()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
  return await load()
}
