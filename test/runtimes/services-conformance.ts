import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { Runtime, Service, Workload, WorkloadEnd } from '../../src/families/pipelines/agents/runtime/runtime.ts'
import { freePort } from '../testkit/redis.ts'
import { soak } from '../testkit/soak.ts'
import { until } from '../testkit/wait.ts'
import { type Conformance, kill, runAway, runToEnd } from './conformance.ts'
import { listener, type Place, workload } from './place.ts'

/** The behaviour of every runtime with services of workloads. */

function service(at: Place, script: string, more: Partial<Service> = {}): Service {
  const { readiness, ...rest } = more
  const ports = more.ports ?? []
  return {
    name: 'db',
    image: at.base.image ?? null,
    command: ['sh', '-c', script],
    args: [],
    env: {},
    secrets: [],
    ports,
    user: null,
    ...rest,
    readiness: { port: ports[0] ?? null, command: [], timeoutMs: 20_000, ...readiness },
  }
}

/** Answers each connection with a word. Processes may share the ports of this machine. */
async function answering(at: Place, name: string, word: string, more: Partial<Service> = {}): Promise<Service> {
  const port = await freePort()
  return service(at, `exec busybox nc -ll -p ${port} -e echo ${word}`, { name, ports: [port], ...more })
}

type Refusal = readonly [string, (at: Place) => Service | Promise<Service>, RegExp]

/** Asks a service for its word. */
const ask = (name: string): string => `busybox nc -w 5 $${name}_HOST $${name}_PORT < /dev/null`

export function servicesConformance({ openPlace, isSlow = false, hasImages, hasSecretVariables }: Conformance): void {
  const testIfFast = test.runIf(!isSlow || soak(false, true))

  async function startAndHear(runtime: Runtime, one: Workload, line: string) {
    await runtime.start(one, 'receipt')
    const heard = listener()
    const watching = runtime.watch(one.id, heard.watcher)
    await until(() => heard.lines.includes(`STDOUT ${line}`), { what: line })
    return { ...heard, watching }
  }
  const untilGone = (at: Place, id: string): Promise<unknown> =>
    until(async () => (await at.services(id)).length === 0, { what: 'no service of it runs' })

  test('services are found by their names, each by those after it, and end with their workload', async () => {
    await using at = await openPlace()
    const runtime = await at.open()
    const first = await answering(at, 'db', 'first')
    const relay = await answering(at, 'my-cache', 'second', { env: { A: '1' } })
    const script = relay.command[2] ?? ''
    const second = { ...relay, command: ['sh', '-c', `[ $(${ask('DB')}) = first ] && [ $A = 1 ] && ${script}`] }
    const one = workload(at, `${ask('DB')}; ${ask('MY_CACHE')}; exit 3`, { services: [first, second] })
    const { lines, end } = await runToEnd(runtime, one)
    expect(end, lines.join('\n')).toEqual({ how: 'EXITED', exitCode: 3, signal: null })
    expect(lines).toEqual(['STDOUT first', 'STDOUT second'])
    await untilGone(at, one.id)
    await runtime.remove(one.id, null)
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
  })

  type Ending = readonly [string, (at: Place, runtime: Runtime, id: string) => Promise<unknown>, WorkloadEnd['how']]
  const endings: readonly Ending[] = [
    ['a stop', (_, runtime, id) => runtime.stop(id), 'STOPPED'],
    ['its removal', (_, runtime, id) => runtime.remove(id, null), 'STOPPED'],
    ['an end from outside', (at, _, id) => at.endFromOutside(id), 'GONE'],
  ]
  test.each(isSlow ? endings.slice(1, 2) : endings)('none outlives its workload after %s', async (_, ends, how) => {
    await using at = await openPlace()
    const runtime = await at.open()
    const one = workload(at, `${ask('DB')}; sleep 1000`, { services: [await answering(at, 'db', 'up')] })
    const { watching } = await startAndHear(runtime, one, 'up')
    expect((await at.services(one.id)).length).toBeGreaterThan(0)
    await ends(at, runtime, one.id)
    expect(await watching).toMatchObject({ how })
    await untilGone(at, one.id)
    await runtime.remove(one.id, null)
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
  })

  test('services run on while their runtime is killed, and end with their workload all the same', async () => {
    await using at = await openPlace()
    const worker = workload(at, 'true')
    const shared = { workspace: worker.id, workerId: worker.id }
    const one = workload(at, `${ask('DB')}; while [ ! -e go ]; do sleep 0.05; done; ${ask('DB')}`, {
      services: [await answering(at, 'db', 'up')],
      ...shared,
    })
    const killed = runAway(at, one)
    await until(() => killed.said().includes('up\n'), { what: 'up' })
    await kill(killed.child)
    const runtime = await at.open()
    expect(await runtime.list()).toEqual([{ id: one.id, receipt: 'the receipt' }])
    const { lines, watcher } = listener()
    const watching = runtime.watch(one.id, watcher)
    await runToEnd(runtime, workload(at, 'echo > go', shared))
    expect(await watching, lines.join('\n')).toMatchObject({ exitCode: 0 })
    expect(lines.filter((line) => line === 'STDOUT up').length).toBeGreaterThan(0)
    await untilGone(at, one.id)
    for (const { id } of await runtime.list()) await runtime.remove(id, null)
    await runtime.remove(worker.id, worker.id)
  })

  test('a runtime that is killed while a service gets ready leaves none', async () => {
    await using at = await openPlace()
    const never = service(at, 'sleep 1000', { ports: [await freePort()], readiness: readyIn(600_000) })
    const one = workload(at, 'echo never', { services: [await answering(at, 'up', 'up'), never] })
    const killed = runAway(at, one)
    await until(async () => (await at.services(one.id)).length > 1, { what: 'both services run' })
    await kill(killed.child)
    const runtime = await at.open()
    await runtime.list()
    await runtime.remove(one.id, null)
    await untilGone(at, one.id)
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
  })

  test('a start that is stopped while a service gets ready leaves none', async () => {
    await using at = await openPlace()
    const runtime = await at.open()
    const never = service(at, 'sleep 1000', { ports: [await freePort()], readiness: readyIn(600_000) })
    const one = workload(at, 'echo never', { services: [never] })
    const stopping = new AbortController()
    const { lines, watcher } = listener()
    const started = runtime
      .start(one, 'receipt', stopping.signal)
      .then(() => runtime.watch(one.id, watcher))
      .catch(() => null)
    await until(async () => (await at.services(one.id)).length > 0, { what: 'the service runs' })
    stopping.abort()
    await runtime.stop(one.id)
    expect([null, { how: 'STOPPED' }]).toContainEqual(await started)
    expect(lines).not.toContain('STDOUT never')
    await runtime.remove(one.id, null)
    await untilGone(at, one.id)
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
  })

  const ofImages: readonly Refusal[] = [
    [
      'an image that cannot be had',
      (at) => service(at, '', { image: 'localhost/no-such-image:1' }),
      /cannot start: .*no-such-image/,
    ],
  ]
  const refusals: readonly Refusal[] = [
    [
      'a service that ends at once',
      async (at) => service(at, 'echo said marker; exit 9', { ports: [await freePort()] }),
      /service db has ended with exit code 9/,
    ],
    [
      'a command that is not there',
      (at) => service(at, '', { command: ['no-such-command'] }),
      /service db cannot start: .*no-such-command/,
    ],
    [
      'a service that listens nowhere',
      async (at) =>
        service(at, 'echo said marker; sleep 1000', { ports: [await freePort()], readiness: readyIn(1_500) }),
      /service db was not ready within 1.5 s: nothing accepts connections at its port \d+/,
    ],
    [
      'a service whose check fails',
      (at) => service(at, 'echo said marker; sleep 1000', { readiness: { ...readyIn(1_500), command: ['false'] } }),
      /service db was not ready within 1.5 s: .*false.* has not ended with exit code 0/,
    ],
    [
      'a secret that is not there',
      (at) => service(at, 'true', { secrets: ['NO'] }),
      /service db cannot start: the project has no secret NO/,
    ],
  ]
  test.each([...(isSlow ? refusals.slice(0, 3) : refusals), ...(hasImages ? ofImages : [])])(
    'it is not started with %s, and says why',
    async (_, of, message) => {
      await using at = await openPlace()
      const runtime = await at.open()
      const before = await answering(at, 'before', 'up')
      const one = workload(at, 'echo never', { services: [before, await of(at)], secrets: { KEY: 'marker' } })
      const { lines, end } = await runToEnd(runtime, one)
      expect(end).toMatchObject({ how: 'NOT_STARTED', code: 'SERVICE_FAILED', message: expect.stringMatching(message) })
      if (!message.source.includes('cannot start')) expect(lines).toContain('SYSTEM db: said ***')
      expect(lines).not.toContain('STDOUT never')
      expect(JSON.stringify([end, lines])).not.toContain('marker')
      await runtime.remove(one.id, null)
      await untilGone(at, one.id)
      await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
    },
  )

  test('a service that ends before its workload is told with its last lines, and its workload runs on', async () => {
    await using at = await openPlace()
    const runtime = await at.open()
    const port = await freePort()
    // A host that is late would take an end after a time for one before the start.
    const script = `echo last words; busybox nc -l -p ${port} -e true; exit 4`
    const db = service(at, script, { ports: [port], readiness: { ...readyIn(20_000), port: null } })
    // The service may not listen yet.
    const one = workload(at, `until ${ask('DB')} 2> /dev/null; do sleep 0.1; done; sleep 1000`, { services: [db] })
    await runtime.start(one, 'receipt')
    const { lines, watcher } = listener()
    const watching = runtime.watch(one.id, watcher)
    await until(() => lines.length > 1, { what: 'its end is told' })
    expect(lines).toEqual([
      'SYSTEM Its service db has ended with exit code 4. The workload runs on without it.',
      'SYSTEM db: last words',
    ])
    expect(await at.isRunning(one.id)).toBe(true)
    await runtime.remove(one.id, null)
    await watching
  })

  testIfFast('a command says when a service is ready, and it gets the secrets that it names alone', async () => {
    await using at = await openPlace()
    const runtime = await at.open()
    const told = hasSecretVariables ? `[ "$OWN" = mine ]` : `[ "$(cat $PHASELINE_SECRETS/OWN)" = mine ]`
    // Some images have no /tmp, and processes may share that of this machine.
    const ready = `ready-${randomUUID()}`
    onTestFinished(() => rm(`/tmp/${ready}`, { force: true }))
    const command = ['sh', '-c', `[ -e /tmp/${ready} ] || [ -e /${ready} ]`]
    const db = service(
      at,
      `[ -z "$OTHER$PHASELINE_TOKEN$PHASELINE_EVENT" ] && ${told} || exit 9; sleep 1; (echo > /tmp/${ready}) 2> /dev/null || echo > /${ready}; sleep 1000`,
      {
        ...{ secrets: ['OWN'], readiness: { ...readyIn(20_000), command } },
      },
    )
    const one = workload(at, 'echo up', { services: [db], secrets: { OWN: 'mine', OTHER: 'x' }, token: 'token' })
    const { lines, end } = await runToEnd(runtime, one)
    expect(end, lines.join('\n')).toMatchObject({ exitCode: 0 })
    expect(lines).toEqual(['STDOUT up'])
  })
}

const readyIn = (timeoutMs: number) => ({ timeoutMs }) as Service['readiness']
