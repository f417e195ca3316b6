import { describe, expect, test } from 'vitest'
import { readSettings } from '../../src/families/pipelines/agents/kubernetes/settings.ts'
import type { Runtime, Workload } from '../../src/families/pipelines/agents/runtime/runtime.ts'
import { hasCluster } from '../testkit/cluster.ts'
import { PATIENCE_MS, until } from '../testkit/wait.ts'
import { conformance } from './conformance.ts'
import { kubernetesPlace, USER } from './kubernetes-place.ts'
import { listener, workload } from './place.ts'

// They wait for their nodes most of the time.
describe.runIf(hasCluster())('kubernetes', { timeout: PATIENCE_MS, concurrent: true }, () => {
  conformance({
    openPlace: kubernetesPlace,
    hasImages: true,
    tellsErrorsApart: false,
    hasSecretVariables: true,
    isSlow: true,
  })

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
})
