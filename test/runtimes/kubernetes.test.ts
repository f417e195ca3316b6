import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import type { V1PersistentVolumeClaim, V1Pod } from '@kubernetes/client-node'
import { beforeAll, describe, expect, test } from 'vitest'
import { claimName, workloadName } from '../../src/families/pipelines/agents/kubernetes/names.ts'
import { readSettings } from '../../src/families/pipelines/agents/kubernetes/settings.ts'
import type { Runtime, Taken, Workload } from '../../src/families/pipelines/agents/runtime/runtime.ts'
import { present } from '../testkit/ask.ts'
import { CLUSTER_IMAGE, hasCluster } from '../testkit/cluster.ts'
import { EMPTY_IMAGE, importEmptyImage, importGitImage } from '../testkit/git-image.ts'
import { PATIENCE_MS, until } from '../testkit/wait.ts'
import { cloneConformance } from './clone-conformance.ts'
import { type Conformance, conformance } from './conformance.ts'
import { kubernetesPlace, reopen, USER } from './kubernetes-place.ts'
import { listener, workload } from './place.ts'
import { servicesConformance } from './services-conformance.ts'

// They wait for their nodes most of the time.
describe.runIf(hasCluster())('kubernetes', { timeout: PATIENCE_MS, concurrent: true }, () => {
  const suite: Conformance = {
    openPlace: kubernetesPlace,
    hasImages: true,
    tellsErrorsApart: false,
    hasSecretVariables: true,
    isSlow: true,
  }
  conformance(suite)
  describe('clones', () => {
    beforeAll(() => importGitImage(process.env.KUBECONFIG ?? ''))
    cloneConformance(suite)
  })

  servicesConformance(suite)

  async function runToEnd(runtime: Runtime, one: Workload) {
    await runtime.start(one, 'receipt')
    const { lines, watcher } = listener()
    return { end: await runtime.watch(one.id, watcher), lines }
  }

  test('a restricted pod has no root and no token of the cluster; its words are taken literally', async () => {
    await using at = await kubernetesPlace()
    const runtime = await at.open({ settings: readSettings({ imagePullPolicy: 'Never', runAsUser: USER }) })
    const script =
      'id -u; env; grep -E "^(Cap|NoNew|Seccomp)" /proc/self/status; ls /var/run/secrets 2>&1; echo > $PWD/x'
    const one = workload(at, script, { env: { A: '$(HOSTNAME) $$' } })
    const { lines } = await runToEnd(runtime, one)
    const expected = [String(USER), 'A=$(HOSTNAME) $$', 'CapEff:\t0000000000000000', 'NoNewPrivs:\t1', 'Seccomp:\t2']
    for (const text of expected) expect(lines).toContain(`STDOUT ${text}`)
    expect(lines.at(-1)).toMatch(/No such file/)
  })

  test.each<[string, Partial<Workload>, RegExp]>([
    ['more files than a cluster stores', { files: [{ path: 'x', content: 'x'.repeat(1_100_000) }] }, /1100000 bytes/],
    ['longer variables than a pod takes', { env: { BIG: 'x'.repeat(1_100_000) } }, /longer than/],
    ['an image that the API refuses', { image: ' ' }, /image/],
  ])('it is not started with %s', async (_, more, message) => {
    await using at = await kubernetesPlace()
    const runtime = await at.open()
    await expect(runtime.start(workload(at, 'true', more), 'receipt')).rejects.toThrow(message)
    expect(await at.leftovers()).toEqual([])
  })

  test('it is not started beyond a quota', async () => {
    await using at = await kubernetesPlace()
    await at.api.post(at.path('resourcequotas'), {
      metadata: { name: 'none' },
      spec: { hard: { 'count/pods': '0' } },
    })
    const quota = () => at.api.find<{ status: { hard?: object } }>(at.path('resourcequotas', 'none'))
    await until(async () => (await quota())?.status.hard, { what: 'the quota' })
    const runtime = await at.open()
    await expect(runtime.start(workload(at, 'true'), 'receipt')).rejects.toThrow(/exceeded quota/)
    expect(await at.leftovers()).toEqual([])
  })

  test.each<[string, Partial<Workload>, Parameters<typeof readSettings>[0], RegExp]>([
    ['its image cannot be pulled', { image: 'localhost:1/none:1' }, { imagePullSeconds: 0 }, /cannot be pulled/],
    ['its user is root', {}, { imagePullPolicy: 'Never' }, /runAsNonRoot/],
    ['no node takes it', {}, { schedulingSeconds: 0, nodeSelector: { no: 'such' } }, /No node takes it.*0\/1 nodes/],
  ])('it never starts when %s', async (_, more, settings, message) => {
    await using at = await kubernetesPlace()
    const runtime = await at.open({ settings: readSettings(settings) })
    const { end, lines } = await runToEnd(runtime, workload(at, 'true', more))
    expect(end).toEqual({ how: 'NOT_STARTED', message: expect.stringMatching(message) })
    expect(lines).toEqual([])
  })

  test('a worker that begins again waits for the claim of its last attempt to go', async () => {
    await using at = await kubernetesPlace()
    const runtime = await at.open()
    const one = workload(at, 'echo up')
    const worker = { ...one, workspace: one.id }
    const path = at.path('persistentvolumeclaims', claimName(one.id))
    await runToEnd(runtime, worker)
    await at.api.patch(path, { metadata: { finalizers: ['example.org/keeps'] } })
    await runtime.remove(one.id, one.id)
    const held = await at.api.find<V1PersistentVolumeClaim>(path)
    expect(held?.metadata?.deletionTimestamp).toBeDefined()
    const again = runToEnd(runtime, worker).catch(() => null)
    await until(async () => await at.api.find(at.path('secrets', workloadName(one.id))), {
      what: 'its start has begun',
    })
    expect(await at.api.find(at.path('pods', workloadName(one.id)))).toBeNull()
    await at.api.patch(path, { metadata: { finalizers: null } })
    await until(async () => (await at.api.find<V1PersistentVolumeClaim>(path))?.metadata?.uid !== held?.metadata?.uid, {
      what: 'a claim of its own',
    })
    // The volume of this place is that of the first claim.
    await runtime.remove(one.id, one.id)
    await again
  })

  test('what was deleted while no runtime ran is known, and not started again', async () => {
    await using at = await kubernetesPlace()
    const first = await at.open()
    const one = workload(at, 'sleep 1000')
    await first.start(one, 'receipt')
    await at.close()
    await at.endFromOutside(one.id)
    const second = await at.open()
    expect(await second.updateReceipt(one.id, 'next')).toBe(true)
    await expect(second.start(one, 'again')).rejects.toThrow('already')
    expect(await second.watch(one.id, listener().watcher)).toMatchObject({ how: 'GONE', reason: 'DELETED' })
  })

  test('replicas share a place: each lists its own, and what another one adopts is that one’s', async () => {
    await using at = await kubernetesPlace()
    const first = await at.open()
    const one = workload(at, 'sleep 1000')
    await first.start(one, 'receipt')
    const second = await at.open({ replica: 'two' })
    expect(await second.list()).toEqual([])
    expect(await second.updateReceipt(one.id, 'of two')).toBe(true)
    expect(await second.list()).toEqual([{ id: one.id, receipt: 'of two' }])
    expect(await (await at.open()).list()).toEqual([])
  })

  test('artifacts go through hardened containers without secrets, which end when nobody reads them any more', async () => {
    await using at = await kubernetesPlace()
    const hardened = { imagePullPolicy: 'Never', runAsUser: USER, readOnlyRootFilesystem: true }
    const limits = { cpu: '500m', memory: '64Mi' }
    const settings = readSettings({ ...hardened, resources: { limits } })
    const runtime = await at.open({ settings })
    const one = workload(at, 'cat in/x given; mkdir out; cp given out', {
      takes: [fileTaken('in/x', 'taken ')],
      leaves: true,
      files: [{ path: 'given', content: 'a file' }],
      secrets: { KEY: 'marker' },
    })
    const { lines, end } = await runToEnd(runtime, one)
    expect(end, lines.join('\n')).toMatchObject({ exitCode: 0 })
    expect(lines).toEqual(['STDOUT taken a file'])
    const { initContainers = [], containers } = present((await at.pod(one.id))?.spec)
    const helpers = [...initContainers, ...containers.filter(({ name }) => name === 'leaves')]
    expect(helpers.map(({ name }) => name)).toEqual(['takes', 'leaves'])
    for (const { securityContext, env, volumeMounts } of helpers) {
      expect(securityContext).toEqual(containers[0]?.securityContext)
      expect([env, volumeMounts?.filter(({ name }) => name === 'input')]).toEqual([undefined, []])
    }
    expect(await contentOf(runtime, one.id, 'out/given')).toBe('a file')
    expect(await contentOf(runtime, one.id, 'given')).toBe('a file')
    // The next process takes it up: the first may be killed before all is read.
    const next = await at.open({ settings })
    expect(await next.list()).toHaveLength(1)
    expect(await next.watch(one.id, listener().watcher)).toEqual(end)
    expect(await contentOf(next, one.id, 'out/given')).toBe('a file')
    await next.closeLeft?.(one.id)
    await until(async () => (await at.pod(one.id))?.status?.phase === 'Succeeded', { what: 'all of its pod has ended' })
    expect(await next.list()).toEqual([])
    expect((await next.watch(one.id, listener().watcher))?.how).toBe('EXITED')
    await expect(next.readLeft(one.id, 'given')).rejects.toMatchObject({ code: 'ARTIFACT_UNREADABLE' })
    await next.remove(one.id, null)
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
  })

  test('an image without a shell hands nothing over, and says so', async () => {
    await importEmptyImage(process.env.KUBECONFIG ?? '')
    await using at = await kubernetesPlace()
    const runtime = await at.open({ artifactImage: EMPTY_IMAGE })
    const takes = [fileTaken('x', 'x')]
    await expect(runtime.start(workload(at, 'true', { takes }), 'receipt')).rejects.toThrow(
      /artifacts cannot be put.*sh/,
    )
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
    const one = workload(at, 'echo > x', { leaves: true })
    expect((await runToEnd(runtime, one)).end).toMatchObject({ exitCode: 0 })
    await expect(runtime.readLeft(one.id, 'x')).rejects.toMatchObject({
      ...{ code: 'ARTIFACT_UNREADABLE', message: expect.stringMatching(/sh.*no such file/) },
    })
  })

  test('a start whose artifacts break off is made again by the next replica, and undoes nothing of that', async () => {
    await using at = await kubernetesPlace()
    const first = await at.open()
    await using second = await reopen(at.namespace)
    const lost = new AbortController()
    const { take, begun } = stalled(lost.signal)
    const one = workload(at, 'cat x', { takes: [take] })
    const starting = first.start(one, 'of the first', lost.signal)
    starting.catch(() => {})
    await begun
    expect(await first.list()).toEqual([])
    expect(await second.updateReceipt(one.id, 'of the second')).toBe(false)
    const again = { ...one, takes: [fileTaken('x', 'whole')] }
    await second.start(again, 'of the second')
    lost.abort()
    await expect(starting).rejects.toThrow()
    const { lines, watcher } = listener()
    expect(await second.watch(one.id, watcher)).toMatchObject({ exitCode: 0 })
    expect(lines).toEqual(['STDOUT whole'])
    await second.remove(one.id, null)
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
  })

  test('a start that is stopped while its artifacts are on their way leaves nothing', async () => {
    await using at = await kubernetesPlace()
    const runtime = await at.open()
    const stopping = new AbortController()
    const { take, begun } = stalled(stopping.signal)
    const one = workload(at, 'true', { takes: [take], leaves: true, files: [{ path: 'y', content: 'y' }] })
    const starting = runtime.start(one, 'receipt', stopping.signal)
    starting.catch(() => {})
    await begun
    stopping.abort()
    await Promise.all([runtime.stop(one.id), expect(starting).rejects.toThrow()])
    await runtime.remove(one.id, null)
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
  })

  test('a replica that loses its lease while a service gets ready removes nothing of the next one', async () => {
    await using at = await kubernetesPlace()
    const first = await at.open()
    await using second = await reopen(at.namespace)
    const readiness = { port: 20_001, command: [], timeoutMs: 60_000 }
    const command = ['sh', '-c', 'sleep 8; exec busybox nc -ll -p 20001 -e echo up']
    const none = { args: [], env: {}, secrets: [], user: null }
    const db = { name: 'db', image: CLUSTER_IMAGE, command, ports: [20_001], readiness, ...none }
    const one = workload(at, 'busybox nc -w 5 $DB_HOST $DB_PORT < /dev/null', {
      ...{ services: [db], secrets: { KEY: 'x' }, files: [{ path: 'x', content: 'x' }] },
    })
    const lost = new AbortController()
    const starting = first.start(one, 'of the first', lost.signal)
    starting.catch(() => {})
    await until(async () => (await at.services(one.id)).length > 0, { what: 'the service runs' })
    const next = second.start(one, 'of the second')
    next.catch(() => {})
    const markOf = async () =>
      (await at.api.find<V1Pod>(at.path('secrets', workloadName(one.id))))?.metadata?.annotations
    const before = await markOf()
    await until(async () => !isDeepStrictEqual(await markOf(), before), { what: 'the second has begun' })
    lost.abort()
    await expect(starting).rejects.toThrow()
    await next
    const { lines, watcher } = listener()
    expect(await second.watch(one.id, watcher), lines.join('\n')).toMatchObject({ exitCode: 0 })
    expect(lines).toEqual(['STDOUT up'])
    await second.remove(one.id, null)
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
  })
})

/** An artifact that breaks off half way once the signal aborts. */
function stalled(signal: AbortSignal): { take: Taken; begun: Promise<void> } {
  const { promise: begun, resolve } = Promise.withResolvers<void>()
  async function* body(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('half')
    resolve()
    await new Promise((aborted) => signal.addEventListener('abort', aborted))
    throw new Error('The lease is lost.')
  }
  return { take: { ...fileTaken('x', ''), size: 1_000, body: body() }, begun }
}
const fileTaken = (path: string, content: string): Taken => ({
  ...{ artifact: 'file', path, isFolder: false, size: content.length },
  body: Readable.from([Buffer.from(content)]),
})
async function contentOf(runtime: Runtime, id: string, path: string): Promise<string> {
  return await text(present(await runtime.readLeft(id, path)).body)
}
