import type { Watcher, WorkloadEnd } from './runtime.ts'

/** Watches a workload, and tells the commit that was cloned for it as soon as it runs; null: none was. */
export async function tellingCommit(
  commit: string | null,
  watcher: Watcher,
  watch: (watcher: Watcher) => Promise<WorkloadEnd | null>,
): Promise<WorkloadEnd | null> {
  if (commit === null) return await watch(watcher)
  const { signal, onLine } = watcher
  const end = await watch({ signal, onLine, onRunning: () => watcher.onRunning(commit) })
  return end?.how === 'EXITED' ? { ...end, commit } : end
}
