import { appendFileSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient, runAgent, type WorkItem } from '../../src/client/index.ts'
import { machineMs } from './machine-clock.ts'

/**
 * A deployer on the published client that writes down what it does, by the clock that all processes of the machine share.
 * It installs files. The environment names its server, its token and its folder.
 */

const { CHAOS_URL: url = '', CHAOS_TOKEN: token = '', CHAOS_FOLDER: folder = '', CHAOS_NAME: name = '' } = process.env
const LEASE_MS = 6_000

let spans = 0
function begin({ objectId, jobId, action }: WorkItem) {
  const span = `${process.pid}-${spans++}`
  const write = (line: object): void => appendFileSync(join(folder, 'spans'), `${JSON.stringify({ span, ...line })}\n`)
  write({ process: name, pid: process.pid, objectId, jobId, action, fromMs: machineMs() })
  return { span, end: () => write({ toMs: machineMs() }) }
}

/** The first attempts of a job fail, whoever has them. */
function failsAgain({ objectId, jobId }: WorkItem, failures: number): boolean {
  const tries = join(folder, 'tries', `${objectId}-${jobId}`)
  if ((statSync(tries, { throwIfNoEntry: false })?.size ?? 0) >= failures) return false
  appendFileSync(tries, 'x')
  return true
}

const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
await runAgent({
  client: createClient({ url, token }),
  instance: name,
  types: ['chaos'],
  leaseMs: LEASE_MS,
  signal: stop.signal,
  onProblem: () => undefined,
  async work(item, { signal, report }) {
    const { span, end } = begin(item)
    const file = join(folder, 'installed', item.objectId)
    const config = item.config as { ms?: number; fails?: boolean; failures?: number }
    const { ms = 0, fails = false, failures = 0 } = config
    try {
      await delay(ms / 2, undefined, { signal })
      report({ progress: { value: 1, total: 2 } })
      await delay(ms / 2, undefined, { signal })
      if (item.action === 'DELETE') {
        if (existsSync(file)) rmSync(file)
        return { phase: 'GONE' }
      }
      writeFileSync(file, item.name)
      // Most often it is sent in one call with the end.
      report({ progress: { value: 2, total: 2 } })
      return fails || failsAgain(item, failures)
        ? { phase: 'FAILED', error: { code: 'CHAOS', message: 'It fails, as its config says.' } }
        : { phase: 'SUCCEEDED', exports: { url: item.name, span } }
    } catch (error) {
      if (!signal.aborted) throw error
      return signal.reason === 'ABORT_REQUESTED' ? { phase: 'ABORTED' } : null
    } finally {
      end()
    }
  },
})
process.exit(0)
