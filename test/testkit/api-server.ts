import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { V1PodList } from '@kubernetes/client-node'
import { ApiError, type KubernetesApi } from '../../src/agents/kubernetes/api.ts'
import { until } from './wait.ts'

/** The API server of a cluster on this machine that may be stopped: PHASELINE_TEST_APISERVER names the file with its process id. */
export const apiServerFile = (): string | undefined => process.env.PHASELINE_TEST_APISERVER

const GONE = 410
/** Its readiness, and a list of everything. */
const READY = '/api/v1/namespaces/default'
const PODS = '/api/v1/pods'

/**
 * Stops the API server, makes etcd forget all earlier versions, and starts it again after `downMs`. A watch from before then
 * gets the answer that its position is gone.
 */
export async function restartApiServer(file: string, api: KubernetesApi, downMs: number): Promise<void> {
  const pid = Number((await readFile(file, 'utf8')).trim())
  const [program = '', ...args] = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').slice(0, -1)
  const { metadata } = await api.get<V1PodList>(PODS)
  process.kill(pid)
  await until(() => hasEnded(pid), { what: 'the API server has ended' })
  await compact(args.find((arg) => arg.startsWith('--etcd-servers='))?.split('=')[1] ?? '')
  await delay(downMs)
  const child = spawn(program, args, { detached: true, stdio: 'ignore' })
  child.unref()
  await writeFile(file, `${child.pid}\n`)
  await api.get(READY)
  const isForgotten = () => isVersionGone(api, metadata?.resourceVersion ?? '')
  await until(isForgotten, { what: 'earlier versions are forgotten' })
}

/** Its starter may not have read its end yet. */
async function hasEnded(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  return stat === null || /\) [ZX] /.test(stat)
}

async function compact(etcd: string): Promise<void> {
  const call = async (path: string, body: object): Promise<{ header?: { revision?: string } }> => {
    const response = await fetch(`${etcd}/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body) })
    return (await response.json()) as { header?: { revision?: string } }
  }
  const key = Buffer.from('/').toString('base64')
  const { header } = await call('range', { key, limit: '1' })
  await call('compaction', { revision: header?.revision, physical: true })
}

/** True if a watch from that version would be refused. */
async function isVersionGone(api: KubernetesApi, resourceVersion: string): Promise<boolean> {
  try {
    const query = { watch: 'true', resourceVersion, timeoutSeconds: '1' }
    let said = ''
    for await (const part of await api.stream(PODS, query, AbortSignal.timeout(10_000)))
      said += Buffer.from(part).toString()
    return said.includes(`"code":${GONE}`)
  } catch (error) {
    return error instanceof ApiError && error.status === GONE
  }
}
