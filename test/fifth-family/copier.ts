import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, createClient, runAgent } from '../../src/client/index.ts'
import { WORK_TYPE } from './rules.ts'

/** The family's agent. A volume called `slow` is never done, and one called `broken` cannot be copied. */
export async function runCopier(url: string, token: string, signal: AbortSignal): Promise<void> {
  await using client: Client = createClient({ url, token })
  await runAgent({
    client,
    instance: 'copier-1',
    types: [WORK_TYPE],
    concurrency: 4,
    leaseMs: 60_000,
    renewMs: 500,
    signal,
    async work({ config }, { signal: stop, report }) {
      const { volume } = config as { readonly volume: string }
      if (volume === 'broken')
        return { phase: 'FAILED', message: 'the disk is broken', error: { code: 'DISK', message: 'broken' } }
      report({ progress: { value: 1, total: 2, unit: 'GB' } })
      if (volume === 'slow') await sleep(600_000, undefined, { signal: stop }).catch(() => undefined)
      return stop.aborted ? { phase: 'ABORTED' } : { phase: 'KEPT' }
    },
  })
}
