import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { ApiError } from '../../src/agents/kubernetes/api.ts'
import { ExecError } from '../../src/agents/kubernetes/exec.ts'
import { StartProblem } from '../../src/families/pipelines/agents/runtime/runtime.ts'
import { present } from '../testkit/ask.ts'
import { until } from '../testkit/wait.ts'
import { workload } from './place.ts'
import { type Exec, playedCluster, RUNNING, say } from './played-cluster.ts'

/** Artifacts in pods, where the API server is busy, a node restarts its containers' engine, or an image is hostile. */

const take = () => ({
  ...{ artifact: 'file', path: 'in/x', isFolder: false, size: 1 },
  body: Readable.from([Buffer.from('x')]),
})
const start = () => workload({ base: { image: 'one' } }, 'true', { takes: [take()], leaves: true })
/** The node cannot begin the command. */
const notBegun: Exec = (socket) =>
  socket.send(say('status', { status: 'Failure', reason: 'InternalError', message: 'The engine restarts.' }))
const exits =
  (code: number): Exec =>
  (socket) => {
    const causes = [{ reason: 'ExitCode', message: String(code) }]
    socket.send(say('status', { status: 'Failure', reason: 'NonZeroExitCode', message: 'no', details: { causes } }))
  }

test.for<[string, Exec]>([
  ['is busy', 429],
  ['has lost its database', 500],
  ['cannot reach the node', 502],
  ['is away', 503],
  ['reaches a node whose engine restarts', notBegun],
])('a start whose artifacts meet an API server that %s is no problem of its spec', async ([, answer]) => {
  await using at = await playedCluster()
  const one = start()
  at.answers(answer)
  const error = await at.runtime.start(one, 'receipt').catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(typeof answer === 'number' ? ApiError : ExecError)
  expect([...at.objects.keys()]).toEqual([])
  await at.runtime.start({ ...one, takes: [take()] }, 'receipt')
  expect(await at.runtime.updateReceipt(one.id, 'receipt')).toBe(true)
})

test.for<[string, Exec]>([
  ['may not run commands', 403],
  ['cannot unpack', exits(1)],
])('a start that %s is one', async ([, answer]) => {
  await using at = await playedCluster()
  at.answers(answer)
  await expect(at.runtime.start(start(), 'receipt')).rejects.toBeInstanceOf(StartProblem)
})

test('a working folder that cannot be read now is read later', async () => {
  await using at = await playedCluster()
  const one = start()
  await at.runtime.start(one, 'receipt')
  at.answers(503, notBegun, exits(2))
  await expect(at.runtime.readLeft(one.id, 'dist')).rejects.toBeInstanceOf(ApiError)
  await expect(at.runtime.readLeft(one.id, 'dist')).rejects.toBeInstanceOf(ExecError)
  await expect(at.runtime.readLeft(one.id, 'dist')).rejects.toMatchObject({ code: 'ARTIFACT_UNREADABLE' })
})

test('an image that says more than the kind of a path is not listened to', async () => {
  await using at = await playedCluster()
  const one = start()
  await at.runtime.start(one, 'receipt')
  let isOver = false
  at.answers(async (socket) => {
    while (socket.readyState === socket.OPEN)
      await new Promise((resolve) => socket.send(say('stdout', 'file'.repeat(10_000)), resolve))
    isOver = true
  })
  await expect(at.runtime.readLeft(one.id, 'dist')).rejects.toMatchObject({ code: 'ARTIFACT_UNSAFE' })
  await until(() => isOver, { what: 'the connection has ended' })
})

test('nothing is downloaded for a command that is refused', async () => {
  await using at = await playedCluster()
  let begun = 0
  async function* body() {
    begun += 1
    yield Buffer.from('x')
  }
  at.answers(503)
  const one = start()
  await expect(at.runtime.start({ ...one, takes: [{ ...take(), body: body() }] }, 'receipt')).rejects.toThrow()
  expect(begun).toBe(0)
  await at.runtime.start({ ...one, takes: [{ ...take(), body: body() }] }, 'receipt')
  expect(begun).toBe(1)
})

test('a start that sees an earlier pod of its name late is not deleted', async () => {
  await using at = await playedCluster({ phase: 'Pending' })
  const one = start()
  const starting = at.runtime.start(one, 'receipt')
  starting.catch(() => {})
  const [path, pod] = await until(() => [...at.objects].find(([each]) => each.includes('/pods/')), { what: 'a pod' })
  const reads = () => at.asked.filter((each) => each === `GET ${path}`).length
  await until(() => at.watches.size > 0 && reads() === 1, { what: 'it is watched' })
  at.tell({ ...pod, metadata: { ...pod.metadata, uid: 'earlier', resourceVersion: '1' } })
  await until(() => reads() === 2, { what: 'it is read again' })
  at.tell(at.store(path, { ...pod, status: RUNNING }))
  await starting
})

test('a pod that another replica starts meanwhile is not removed', async () => {
  await using at = await playedCluster()
  const one = start()
  await at.runtime.start(one, 'of another')
  const [path, pod] = [...at.objects].find(([each]) => each.includes('/pods/')) ?? []
  const { annotations, ...metadata } = pod?.metadata ?? {}
  at.store(path ?? '', { ...pod, metadata })
  at.beforeDeletion.push(() =>
    at.store(path ?? '', { ...pod, metadata: { ...metadata, annotations: annotations ?? {} } }),
  )
  await expect(at.runtime.start({ ...one, takes: [take()] }, 'receipt')).rejects.toThrow('exists already')
  expect(at.objects.get(path ?? '')?.metadata).toMatchObject({ uid: metadata.uid, annotations })
})

test('packing ends with whoever reads it, also while it says nothing', async () => {
  await using at = await playedCluster()
  const one = start()
  await at.runtime.start(one, 'receipt')
  at.answers(
    (socket) => {
      socket.send(say('stdout', 'file'))
      socket.send(say('status', { status: 'Success' }))
    },
    () => {},
  )
  const givenUp = new AbortController()
  const left = await at.runtime.readLeft(one.id, 'dist', givenUp.signal)
  const reading = text(present(left).body)
  reading.catch(() => {})
  await until(() => at.sockets.size > 0, { what: 'it packs' })
  givenUp.abort(new Error('The upload is given up.'))
  await expect(reading).rejects.toThrow('The upload is given up.')
  await until(() => at.sockets.size === 0, { what: 'the connection has ended' })
})
