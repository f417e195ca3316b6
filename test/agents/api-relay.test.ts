import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { API_SOCKET, ApiRelay } from '../../src/families/pipelines/agents/process/api-relay.ts'
import { canIsolate, ISOLATED } from '../testkit/bubblewrap.ts'
import { until } from '../testkit/wait.ts'
import { listener, place, workload } from './process-place.ts'

/** Answers each packet with itself. */
async function echo(stack: AsyncDisposableStack): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    socket.pipe(socket)
  })
  stack.defer(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`
}

/** Opens so many connections, and tells how many of them are served. */
const GREEDY = `
const { connect } = require('node:net')
const { port } = new URL(process.env.PHASELINE_URL)
let open = 0
for (let i = 0; i < Number(process.env.COUNT); i += 1)
  connect(port, '127.0.0.1', function () { this.write('x') })
    .on('error', () => {}).once('data', () => { open += 1 }).once('close', () => { closed += 1 })
let closed = 0
setInterval(() => { if (open + closed >= Number(process.env.COUNT)) console.log('open ' + open) }, 50)
`

test.runIf(await canIsolate())('a worker that takes all connections to the API takes its own', async () => {
  await using stack = new AsyncDisposableStack()
  const url = await echo(stack)
  const at = stack.use(await place({ ...ISOLATED, folders: [dirname(process.execPath)] }))
  const runtime = await at.open({ url })
  const start = async (count: number) => {
    const one = workload('', {
      command: [process.execPath, '-e', GREEDY],
      env: { COUNT: `${count}` },
      token: 'a token',
    })
    await runtime.start(one, 'receipt')
    const { lines, watcher } = listener()
    const end = runtime.watch(one.id, watcher)
    stack.defer(async () => {
      await runtime.stop(one.id)
      await end
    })
    return await until(() => lines.find((line) => line.startsWith('STDOUT open ')), {
      what: 'it has tried all',
      instead: () => lines.slice(-3),
    })
  }
  expect(await start(2_000)).toBe('STDOUT open 256')
  expect(await start(20)).toBe('STDOUT open 20')
})

test('for one connection too many of all workloads, the oldest has to go of the workload that has most', async () => {
  await using stack = new AsyncDisposableStack()
  const relay = stack.use(new ApiRelay(await echo(stack), 10))
  const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-relay-')), (path) => rm(path, { recursive: true }))
  const connectAs = async (name: string): Promise<Socket> => {
    const socket = connect(join(folder, name, API_SOCKET)).on('error', () => {})
    stack.defer(() => void socket.destroy())
    socket.write('x')
    await new Promise((resolve) => socket.once('data', resolve))
    return socket
  }
  for (const name of ['greedy', 'modest']) await relay.open(join(folder, name))
  const greedy: Socket[] = []
  const modest: Socket[] = []
  for (let i = 0; i < 9; i += 1) greedy.push(await connectAs('greedy'))
  for (let i = 0; i < 4; i += 1) modest.push(await connectAs('modest'))
  await until(() => greedy.filter(({ closed }) => closed).length === 3, { what: 'room was made' })
  expect(greedy.slice(0, 3).every(({ closed }) => closed)).toBe(true)
  expect(modest.some(({ closed }) => closed)).toBe(false)
})
