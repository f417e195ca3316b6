import { type StatsListener, unwatchFile, watchFile } from 'node:fs'

const INTERVAL_MS = 1_000

/**
 * Calls `changed` within about a second after one of the files is written or replaced. It polls, and so follows files that
 * are symbolic links to folders which are replaced, as Kubernetes mounts them.
 */
export function watchFiles(paths: readonly string[], changed: () => void): Disposable {
  const listener: StatsListener = (now, before) => {
    if (now.mtimeMs !== before.mtimeMs || now.ino !== before.ino || now.size !== before.size) changed()
  }
  for (const path of paths) watchFile(path, { interval: INTERVAL_MS, persistent: false }, listener)
  return {
    [Symbol.dispose]() {
      for (const path of paths) unwatchFile(path, listener)
    },
  }
}
