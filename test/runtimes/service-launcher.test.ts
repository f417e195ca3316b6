import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import type { LaunchPlan } from '../../src/families/pipelines/agents/process/launch-plan.ts'

const LAUNCHER = join(import.meta.dirname, '../../src/families/pipelines/agents/process/service-launcher.ts')
const STOPPED = `const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  process.stdout.write(server.address().port + '\\n', () => process.kill(process.pid, 'SIGSTOP'))
})`

function started(...args: Parameters<typeof spawn>): ChildProcess {
  const child = spawn(...args)
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** A port where somebody listens and takes no connection: the system lets the next ones wait. */
async function fullPort(): Promise<number> {
  const { stdout } = started(process.execPath, ['-e', STOPPED], { stdio: ['ignore', 'pipe', 'inherit'] })
  if (!stdout) throw new Error('there is no output')
  const [line] = (await once(stdout, 'data')) as [Buffer]
  const port = Number(line)
  for (;;) {
    const socket = connect({ host: '127.0.0.1', port, timeout: 500 })
    onTestFinished(() => void socket.destroy())
    const isFull = once(socket, 'timeout').then(() => true)
    if (await Promise.race([isFull, once(socket, 'connect').then(() => false)])) return port
  }
}

interface Launched {
  readonly name: string
  readonly readiness: { readonly port: number | null; readonly command: readonly string[] }
}

/** The only note of the launcher about a service. */
async function notesOf({ name, readiness }: Launched): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-launcher-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const sleeps = { command: ['/bin/sleep', '1000'], env: {} }
  const service = { ...sleeps, name, ports: [], readiness: { ...readiness, timeoutMs: 1_500 } }
  const plan: LaunchPlan = { services: [service], workload: sleeps }
  const file = join(folder, 'plan.json')
  await writeFile(file, JSON.stringify(plan))
  // A group of its own, so that its service ends with it.
  const launcher = started(process.execPath, [LAUNCHER, file, '3'], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    detached: true,
  })
  onTestFinished(() => void process.kill(-(launcher.pid ?? 0), 'SIGKILL'))
  return JSON.parse(await text(launcher.stdio[3] as NodeJS.ReadableStream))
}

test('a service that listens and takes no connection is late when its time is over, not minutes later', async () => {
  const port = await fullPort()
  const begunAt = performance.now()
  expect(await notesOf({ name: 'db', readiness: { port, command: [] } })).toMatchObject({ is: 'late', service: 'db' })
  expect(performance.now() - begunAt).toBeLessThan(20_000)
})

test('a check that is longer than the system takes is the reason why a service does not start', async () => {
  const command = ['/bin/true', 'x'.repeat(200_000)]
  const noted = { is: 'refused', service: 'db', code: 'E2BIG' }
  expect(await notesOf({ name: 'db', readiness: { port: null, command } })).toEqual(noted)
})
