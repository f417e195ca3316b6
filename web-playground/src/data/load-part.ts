/** Milliseconds before each further attempt: a network may lose one request. */
const PAUSES_MS = [500, 1_000, 2_000]

/**
 * Requests style sheets again that failed to load. Vite does not load a style sheet whose link is in the page, so the link of a failed
 * one is removed and added again later.
 */
export function reloadLostStyles(): void {
  const attempts = new Map<string, number>()
  const add = (href: string): void => {
    const isThere = Array.from(document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')).some(
      (link) => link.href === href,
    )
    if (!isThere) document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href }))
  }
  const onError = ({ target }: Event): void => {
    if (!(target instanceof HTMLLinkElement) || target.rel !== 'stylesheet') return
    const { href } = target
    target.remove()
    const times = attempts.get(href) ?? 0
    attempts.set(href, times + 1)
    const pause = PAUSES_MS[times]
    if (pause !== undefined) setTimeout(() => add(href), pause)
  }
  addEventListener('error', onError, true)
}

const RELOADED = 'phaseline-reloaded'
/** Milliseconds between two reloads: what is lost again at once is not lost by chance. */
const RELOAD_MS = 10_000

/** Reloads the page, unless that was done a moment ago. */
export function reloadOnce(): void {
  if (Date.now() - Number(sessionStorage.getItem(RELOADED)) < RELOAD_MS) return
  sessionStorage.setItem(RELOADED, String(Date.now()))
  location.reload()
}
/** Reloads the page when a part of a library, such as GraphiQL's editor, fails to load: libraries do not retry. */
export const reloadWhenLost = (): void => addEventListener('vite:preloadError', reloadOnce)

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
