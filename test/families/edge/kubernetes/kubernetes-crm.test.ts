import { describe, expect, it } from 'vitest'
import type { KubernetesObject } from '../../../../src/agents/kubernetes/objects.ts'
import { type EdgePlace, edgePlaceWith } from '../../../agents/edge-place.ts'
import { hasCluster } from '../../../testkit/cluster.ts'
import { MUTATIONS } from '../../../testkit/documents.ts'
import { until } from '../../../testkit/wait.ts'
import { type ClusterView, clusterView, sleeper } from './driver-place.ts'

/** The CRM in a process of its own, on the real server and the real cluster. */

const DEPLOYMENTS = 'apps/v1/deployments'
const start = () =>
  edgePlaceWith((cloudlets) => ({
    types: ['kubernetes-crm'],
    options: { cloudlets },
    settings: { KUBECONFIG: process.env.KUBECONFIG ?? '' },
  }))

/** Ready some seconds after its start, and as slow to end. */
const SLOW = {
  ...sleeper({ command: ['sh', '-c', 'trap "" TERM; sleep 2; touch /dev/shm/ready; while :; do sleep 1; done'] }),
  ...{ terminationGracePeriodSeconds: 2, ports: [{ port: 80 }] },
  readinessProbe: { exec: { command: ['sh', '-c', 'test -e /dev/shm/ready'] }, periodSeconds: 1, timeoutSeconds: 10 },
}

/** The next process of the supervisor has connected. */
async function kill({ agent, see, cloudletId }: EdgePlace): Promise<void> {
  const epoch = (await see(cloudletId))?.epoch ?? 0
  process.kill(agent.pid ?? 0, 'SIGKILL')
  await until(async () => ((await see(cloudletId))?.epoch ?? 0) > epoch, { what: 'the next process has connected' })
}
const phasesOf = async ({ see }: EdgePlace, id: string) =>
  (await see(id))?.history.edges.map(({ node }) => node.to) ?? []

const isMarked = async (at: ClusterView, phase: string) => {
  const found = await at.find('c1', DEPLOYMENTS, 'slow')
  return found?.metadata.annotations?.['phaseline.io/phase'] === phase ? found : null
}

describe.runIf(hasCluster())('the CRM for Kubernetes', { timeout: 240_000 }, () => {
  it('makes nothing twice and leaves nothing, whenever it is killed; tells drift, and mends it on request', async () => {
    await using place = await start()
    const { cloudlet, cloudletId, create, mutate, see, untilPhase, untilGone } = place
    await using at = clusterView({ id: cloudletId, name: cloudlet })
    const cluster = await create('c1', { quota: { pods: 9 } })
    await untilPhase(cluster, 'READY')

    const slow = await create('c1/slow', SLOW)
    const other = create('c1/other', sleeper())
    const { metadata } = await until(() => isMarked(at, 'CREATING'), { what: 'it is being created' })
    // A returning CRM reports an instance that it has begun, and made nothing of, as missing: so the kill waits for both.
    await other
    await until(() => at.find('c1', DEPLOYMENTS, 'other'), { what: 'the other one is made, too' })
    await kill(place)
    await untilPhase(slow, 'READY')
    await until(async () => (await phasesOf(place, slow)).at(-1) === 'READY', { what: 'the log says so, too' })
    expect(await phasesOf(place, slow)).toEqual(['NOT_PRESENT', 'CREATE_REQUESTED', 'CREATING', 'READY'])
    await untilPhase(await other, 'READY')

    await mutate(MUTATIONS.updateAppInst, { id: slow, spec: { ...SLOW, env: { A: '2' } } })
    await until(() => isMarked(at, 'UPDATING'), { what: 'it is being updated' })
    await kill(place)
    expect(await untilPhase(slow, 'READY')).toMatchObject({ specRevision: 2, error: null })
    const all = await at.api.get<{ items: readonly KubernetesObject[] }>(at.path('c1', DEPLOYMENTS))
    expect(all.items).toHaveLength(2)
    expect(await at.find('c1', DEPLOYMENTS, 'slow')).toMatchObject({ metadata: { uid: metadata.uid } })

    // The CRM reports the changes of others when it connects, and repairs or deletes nothing by itself.
    await at.api.patch(at.path('c1', DEPLOYMENTS, 'slow'), { spec: { replicas: 0 } })
    await at.api.delete(at.path('c1', DEPLOYMENTS, 'other'))
    await at.api.post('/api/v1/namespaces', ghostOf(at, await at.namespace('c1')))
    await kill(place)
    const isDrifted = async (id: string) => (await see(id))?.drifted === true
    await until(async () => (await isDrifted(slow)) && (await isDrifted(await other)), { what: 'both have drifted' })
    expect(await see(cluster)).toMatchObject({ phase: 'READY', drifted: false })
    expect(await see(cloudletId)).toMatchObject({ orphans: [{ path: [cloudlet, 'ghost'] }] })
    expect(await at.namespace('ghost')).not.toBeNull()
    for (const [id, spec] of [[slow, { ...SLOW, env: { A: '2' } }] as const, [await other, sleeper()] as const]) {
      await mutate(MUTATIONS.updateAppInst, { id, spec })
      await until(async () => (await see(id))?.drifted === false, { what: 'it is as it should be' })
    }
    expect(await at.find('c1', DEPLOYMENTS, 'slow')).toMatchObject({ spec: { replicas: 1 } })
    expect(await at.find('c1', DEPLOYMENTS, 'other')).toMatchObject({ status: { readyReplicas: 1 } })

    await mutate(MUTATIONS.updateAppInst, { id: await other, spec: sleeper({ image: 'no/such:1' }) })
    const failed = await until(async () => ((await see(await other))?.error ? see(await other) : null), {
      what: 'it fails',
    })
    expect(failed.error).toMatchObject({ code: 'IMAGE_FAILED', message: expect.stringContaining('ErrImageNeverPull') })
    expect(await untilPhase(await other, 'READY')).toMatchObject({ drifted: false })

    await mutate(MUTATIONS.upgradeCloudlet, { id: cloudletId, version: '2.0.0' })
    await until(async () => (await see(cloudletId))?.upgradePhase === 'UPDATE_ERROR', { what: 'it refuses' })
    expect((await see(cloudletId))?.error?.message).toContain('replace its process')
    await mutate(MUTATIONS.resolveCloudletUpgrade, { id: cloudletId })

    await mutate(MUTATIONS.deleteClusterInst, { id: cluster, cascade: true })
    // A deletion that it has begun, and has asked nothing of the cluster for, is undone when it comes back.
    const isThere = async (name: string) => {
      const found = await at.find('c1', DEPLOYMENTS, name)
      return found !== null && found.metadata.deletionTimestamp === undefined
    }
    await until(async () => !(await isThere('slow')) && !(await isThere('other')), { what: 'both are being deleted' })
    await kill(place)
    await untilGone(cluster)
    expect(await at.namespace('c1')).toBeNull()
  })
})

/** A cluster instance that the server has no record of. */
function ghostOf(at: ClusterView, like: KubernetesObject | null): object {
  const { labels, annotations } = like?.metadata ?? {}
  const path = { 'phaseline.io/path': 'ghost' }
  return { metadata: { name: at.namespaceOf('ghost'), labels, annotations: { ...annotations, ...path } } }
}
