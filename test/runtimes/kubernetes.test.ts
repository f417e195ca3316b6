import { describe, expect, it } from 'vitest'
import { readSettings } from '../../src/families/pipelines/agents/kubernetes/settings.ts'
import type { Workload } from '../../src/families/pipelines/agents/runtime/runtime.ts'
import { until } from '../testkit/wait.ts'
import { HAS_CLUSTER, kubernetesPlace, listen, runToEnd, shellWorkload, USER } from './kubernetes-place.ts'

describe.runIf(HAS_CLUSTER)('the kubernetes runtime', () => {
  it('runs, passes its output on line by line, and tells how it ended', async () => {
    await using at = await kubernetesPlace()
    const runtime = await at.open()
    const [spoke, killed] = await Promise.all([
      runToEnd(runtime, shellWorkload('echo one; echo two >&2; printf three; exit 3')),
      runToEnd(runtime, shellWorkload('exit 137')),
    ])
    expect(spoke.end).toEqual({ how: 'EXITED', exitCode: 3, signal: null })
    expect(spoke.lines.toSorted()).toEqual(['STDOUT one', 'STDOUT three', 'STDOUT two'])
    expect(killed.end).toEqual({ how: 'EXITED', exitCode: null, signal: 'SIGKILL' })
  })

  it('gets its variables, files, event and secrets, which its pod does not show', async () => {
    await using at = await kubernetesPlace()
    const runtime = await at.open()
    const one = shellWorkload(
      'env; pwd; id -u; cat $PHASELINE_EVENT $PHASELINE_SECRETS/KEY /run/phaseline/token; ./run.sh; echo $(NO)',
      {
        env: { A: '$(HOSTNAME) $$', PHASELINE_PROJECT: 'no' },
        secrets: { KEY: 'marker', PHASELINE_URL: 'no' },
        files: [
          { path: 'run.sh', content: '#!/bin/sh\ncat deep/er/file' },
          { path: 'deep/er/file', content: '\nfrom file' },
        ],
        token: 'marker too',
      },
    )
    const { lines } = await runToEnd(runtime, one)
    const expected = ['A=$(HOSTNAME) $$', 'KEY=***', 'PHASELINE_TOKEN=***', 'PHASELINE_URL=http://api.test/graphql']
    const more = ['PHASELINE_PROJECT=shop', '/workspace', String(USER), 'from file']
    for (const text of [...expected, ...more]) expect(lines).toContain(`STDOUT ${text}`)
    expect(lines).toContain('STDOUT {"id":"event","payload":"the payload"}******')
    expect(JSON.stringify(await at.pod(one.id))).not.toContain('marker')
    await runtime.remove(one.id, null)
    await until(async () => (await at.left()).length === 0, { what: 'nothing left' })
  })

  it('lets it end politely, remembers that it was stopped, and removes all of it', async () => {
    await using at = await kubernetesPlace()
    const runtime = await at.open({ graceMs: 20_000 })
    const one = shellWorkload('trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.1; done')
    await runtime.start(one, 'receipt')
    const listened = listen(runtime, one.id)
    await until(() => listened.lines.includes('STDOUT up'), { what: 'up' })
    expect(listened.isRunning).toBe(true)
    await runtime.stop(one.id)
    expect(await listened.end).toEqual({ how: 'STOPPED' })
    expect(listened.lines).toEqual(['STDOUT up', 'STDOUT bye'])
    await using later = await at.open()
    expect(await listen(later, one.id).end).toEqual({ how: 'STOPPED' })
    await Promise.all([later.remove(one.id, null), later.remove(one.id, null)])
    expect(await at.left()).toEqual([])
    expect(await listen(later, one.id).end).toMatchObject({ how: 'GONE', reason: 'DELETED' })
  })

  it('is adopted by the next process, which goes on with its output', async () => {
    await using at = await kubernetesPlace()
    const first = await at.open()
    const one = shellWorkload('echo one; sleep 1000')
    await first.start(one, 'the receipt')
    await expect(first.start(one, 'another')).rejects.toThrow('exists already')
    const before = listen(first, one.id)
    await until(() => before.lines.includes('STDOUT one'), { what: 'one' })
    const second = await at.open()
    expect(await before.end).toBe(null)
    expect(await second.list()).toEqual([{ id: one.id, receipt: 'the receipt' }])
    expect(await second.updateReceipt(one.id, 'the next')).toBe(true)
    expect(await second.updateReceipt('00000000-0000-0000-0000-000000000000', 'x')).toBe(false)
    const after = listen(second, one.id)
    await until(() => after.isRunning, { what: 'adopted' })
    await second.stop(one.id)
    expect(await after.end).toEqual({ how: 'STOPPED' })
    expect(after.lines).toEqual(['SYSTEM Its runtime is back and has adopted it.'])
  })

  it.each<[string, Partial<Workload>, RegExp]>([
    ['no image', { image: null }, /no image/],
    ['an image that the API refuses', { image: ' ' }, /image/],
    ['a file above its folder', { files: [{ path: '../x', content: '' }] }, /relative to the working folder/],
    ['more files than a cluster stores', { files: [{ path: 'x', content: 'x'.repeat(1_100_000) }] }, /1100000 bytes/],
    ['longer variables than a pod takes', { env: { BIG: 'x'.repeat(1_100_000) } }, /longer than/],
    ['a secret with a NUL', { secrets: { KEY: 'mark\0er' } }, /KEY must not hold a NUL/],
  ])('is not started with %s, and nothing is left of it', async (_, more, message) => {
    await using at = await kubernetesPlace()
    const runtime = await at.open()
    const failed = await runtime.start(shellWorkload('true', more), 'receipt').catch((error: Error) => error)
    expect(failed).toMatchObject({ name: 'StartProblem', message: expect.stringMatching(message) })
    expect(String(failed)).not.toContain('mark')
    expect(await at.left()).toEqual([])
  })

  it.each<[string, Partial<Workload>, Parameters<typeof readSettings>[0], RegExp]>([
    ['its image is not there', { image: 'localhost/none:1' }, { imagePullPolicy: 'Never' }, /ErrImageNeverPull/],
    ['its image cannot be pulled', { image: 'localhost:1/none:1' }, { imagePullSeconds: 0 }, /cannot be pulled/],
    ['its user is root', {}, { imagePullPolicy: 'Never' }, /runAsNonRoot/],
    ['no node takes it', {}, { schedulingSeconds: 0, nodeSelector: { no: 'such' } }, /No node takes it.*0\/1 nodes/],
    ['its command is missing', { command: ['none'] }, { imagePullPolicy: 'Never', runAsUser: USER }, /none/],
  ])('never starts when %s', async (_, more, settings, message) => {
    await using at = await kubernetesPlace()
    const runtime = await at.open({ settings: readSettings(settings) })
    const { end, lines } = await runToEnd(runtime, shellWorkload('true', more))
    expect(end).toEqual({ how: 'NOT_STARTED', message: expect.stringMatching(message) })
    expect(lines).toEqual([])
  })

  it('works in its worker’s workspace, which goes with the worker and not with a job', async () => {
    await using at = await kubernetesPlace()
    await using volume = await at.volume()
    const workspace = { storageClassName: volume.storageClass }
    const settings = readSettings({ imagePullPolicy: 'Never', security: 'root-allowed', workspace })
    const runtime = await at.open({ settings })
    const worker = shellWorkload('echo from worker > note')
    const shared = { workspace: worker.id, workerId: worker.id }
    expect((await runToEnd(runtime, { ...worker, ...shared })).end).toMatchObject({ exitCode: 0 })
    const job = shellWorkload('cat note', shared)
    expect((await runToEnd(runtime, job)).lines).toEqual(['STDOUT from worker'])
    await runtime.remove(job.id, null)
    expect(await at.left()).toContain(`persistentvolumeclaims phaseline-workspace-${worker.id}`)
    await runtime.remove(worker.id, worker.id)
    await runtime.remove(worker.id, worker.id)
    await until(async () => (await at.left()).length === 0, { what: 'nothing left' })
  })

  it('tells that its pod was deleted from outside, also later', async () => {
    await using at = await kubernetesPlace()
    const runtime = await at.open()
    const one = shellWorkload('echo up; sleep 1000')
    await runtime.start(one, 'receipt')
    const listened = listen(runtime, one.id)
    await until(() => listened.lines.includes('STDOUT up'), { what: 'up' })
    await at.api.delete(at.path('pods', `phaseline-${one.id}`), { gracePeriodSeconds: 1 })
    const gone = { how: 'GONE', reason: 'DELETED', message: 'Its pod was deleted from outside.' }
    expect(await listened.end).toEqual(gone)
    const next = await at.open()
    expect(await next.updateReceipt(one.id, 'never started again')).toBe(true)
    expect(await listen(next, one.id).end).toEqual(gone)
  })

  it('is not started beyond a quota, and the reason says so', async () => {
    await using at = await kubernetesPlace()
    const quota = { metadata: { name: 'none' }, spec: { hard: { 'count/pods': '0' } } }
    await at.api.post(at.path('resourcequotas'), quota)
    await until(
      async () => (await at.api.find<{ status: { hard?: object } }>(at.path('resourcequotas', 'none')))?.status.hard,
      {
        what: 'the quota',
      },
    )
    const runtime = await at.open()
    await expect(runtime.start(shellWorkload('true'), 'receipt')).rejects.toThrow(/exceeded quota/)
    expect(await at.left()).toEqual([])
  })
})
