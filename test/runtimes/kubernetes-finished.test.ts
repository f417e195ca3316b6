import { randomUUID } from 'node:crypto'
import { KubeConfig } from '@kubernetes/client-node'
import { describe, expect, test } from 'vitest'
import { LABELS, workloadName } from '../../src/families/pipelines/agents/kubernetes/names.ts'
import type { Runtime } from '../../src/families/pipelines/agents/runtime/runtime.ts'
import { CLUSTER_IMAGE, hasCluster } from '../testkit/cluster.ts'
import { soak } from '../testkit/soak.ts'
import { until } from '../testkit/wait.ts'
import { type KubernetesPlace, kubernetesPlace } from './kubernetes-place.ts'
import { listener, workload } from './place.ts'

const FINISHED = soak(40, 10_000)
const AT_ONCE = 8

type Signed = Parameters<KubeConfig['applySecurityAuthentication']>[0]

/** Counts the requests that are made with it. */
class CountedConfig extends KubeConfig {
  readonly requests: string[] = []
  override async applySecurityAuthentication(request: Signed): Promise<void> {
    if ('getUrl' in request) this.requests.push(`${request.getHttpMethod()} ${request.getUrl()}`)
    await super.applySecurityAuthentication(request)
  }
}

/** As a pod is left once its end was passed on and nobody has removed it yet. No node ever sees it. */
async function createFinished({ api, path, namespace }: KubernetesPlace): Promise<void> {
  const id = randomUUID()
  const name = workloadName(id)
  await api.post(path('pods'), {
    metadata: { name, labels: { [LABELS.place]: namespace, [LABELS.object]: id } },
    spec: { schedulerName: 'nobody', containers: [{ name: 'workload', image: CLUSTER_IMAGE }] },
  })
  await api.patch(`${path('pods', name)}/status`, { status: { phase: 'Succeeded' } })
}

async function createAllFinished(at: KubernetesPlace): Promise<void> {
  let left = FINISHED
  const work = async (): Promise<void> => {
    while (left-- > 0) await createFinished(at)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

/** Opens the runtime anew, and runs one workload from its start to its removal. */
async function runOne(at: KubernetesPlace) {
  const config = new CountedConfig()
  config.loadFromDefault()
  const began = performance.now()
  const runtime: Runtime = await at.open({ config })
  const known = await runtime.list()
  const listedMs = performance.now() - began
  const one = workload(at, 'sleep 1')
  await runtime.start(one, 'receipt')
  const heard = listener()
  const watching = runtime.watch(one.id, heard.watcher)
  await until(() => heard.timesRunning() > 0, { what: 'it runs' })
  const runningMs = performance.now() - began - listedMs
  expect(await watching).toMatchObject({ exitCode: 0 })
  await runtime.remove(one.id, null)
  return { known, requests: config.requests.length, listedMs, runningMs }
}

describe.runIf(hasCluster())('kubernetes', { timeout: soak(120_000, 3_600_000) }, () => {
  test('a workload whose end was passed on is not listed again', async () => {
    await using at = await kubernetesPlace()
    const first = await at.open()
    const one = workload(at, 'echo out')
    await first.start(one, 'receipt')
    expect(await first.list()).toHaveLength(1)
    expect(await first.watch(one.id, listener().watcher)).toMatchObject({ exitCode: 0 })
    const second = await at.open()
    expect(await second.list()).toEqual([])
    // Its START may still come again, when nobody has heard of its end.
    expect(await second.updateReceipt(one.id, 'next')).toBe(true)
    expect(await second.watch(one.id, listener().watcher)).toMatchObject({ exitCode: 0 })
  })

  test(`${FINISHED} finished pods cost a start of the runtime, and one of a workload, nothing`, async () => {
    await using at = await kubernetesPlace()
    const before = await runOne(at)
    await createAllFinished(at)
    expect((await at.leftovers()).filter((name) => name.startsWith('pods '))).toHaveLength(FINISHED)
    const after = await runOne(at)
    expect(after.known).toEqual([])
    // Looks that come with changes differ by a few from run to run; a list of all would have a request for each 500.
    expect(after.requests).toBeLessThanOrEqual(before.requests + 4)
    if (process.env.SOAK) console.log(JSON.stringify({ finished: FINISHED, before, after }))
    await at.api.delete(at.path('pods'), {})
  })
})
