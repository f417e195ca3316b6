import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { createLogger } from '../../src/logger.ts'
import { startEmbeddedPostgres } from '../../src/store/embedded/index.ts'
import { freePort } from '../testkit/redis.ts'
import { until } from '../testkit/wait.ts'

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts')

interface Serving extends AsyncDisposable {
  readonly origin: string
  readonly child: ChildProcess
  readonly exit: Promise<number | null>
  /** Runs the command line against this server. */
  command(...args: readonly string[]): ChildProcessByStdio<null, Readable, Readable>
  err(): string
  out(): string
  /** Its living processes: its Postgres, its agents, itself. */
  processes(): readonly string[]
}

/** `phaseline serve` with an embedded Postgres and all built-in agents, in an empty folder. */
async function serve(): Promise<Serving> {
  const dataDir = await mkdtemp(join(tmpdir(), 'phaseline-serve-'))
  const port = String(await freePort())
  const origin = `http://127.0.0.1:${port}`
  const command = (...args: readonly string[]) =>
    spawn(process.execPath, [MAIN, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        PHASELINE_DATA: dataDir,
      },
    })
  const child = command('serve', '--no-example', '--port', port)
  const exit = once(child, 'exit').then(([code]: (number | null)[]) => code ?? null)
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  return {
    origin,
    child,
    exit,
    command,
    out: () => out,
    err: () => err,
    processes: () => commandLines().filter((line) => line.includes(dataDir) || line.includes(`:${port}/graphql`)),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await exit
      // An embedded Postgres may outlive it; starting it again takes that over, so that it can be stopped.
      const logger = createLogger('silent')
      await (await startEmbeddedPostgres({ dataDir, logger }))[Symbol.asyncDispose]()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

const commandLines = (): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      } catch {
        return ''
      }
    })

describe('serve', () => {
  it('stops in order when nobody reads its output any more, and leaves nothing behind', async () => {
    await using serving = await serve()
    // `phaseline serve | head -0`
    serving.child.stdout?.destroy()
    expect(await serving.exit, serving.err()).toBe(0)
    expect(serving.processes()).toEqual([])
    expect(serving.err()).not.toContain('This is a defect')
  })

  it('leaves nothing behind either when it is told twice to end', async () => {
    await using serving = await serve()
    await until(() => serving.out().includes('GraphiQL is at'), { what: 'it serves' })
    await until(() => serving.processes().length >= 3, { what: 'its agents run' })
    // `phaseline machines | head -0`: a client has nothing left to do either, and does not complain.
    const client = serving.command('machines')
    client.stdout?.destroy()
    let complaint = ''
    client.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint += text
    })
    expect(await once(client, 'close')).toEqual([0, null])
    expect(complaint).toBe('')

    serving.child.kill('SIGINT')
    serving.child.kill('SIGTERM')
    expect(await serving.exit).toBe(130)
    await until(() => serving.processes().length === 0, { what: 'all has ended' })
  })

  it('is found by commands on its data folder, and nobody who has its port later gets its token', async () => {
    await using one = await serve()
    await using two = await serve()
    const ask = async ({ command }: Serving): Promise<string> => {
      const asking = command('whoami', '--json')
      const said = await Promise.all([text(asking.stdout), text(asking.stderr)])
      return said.join('')
    }
    for (const serving of [one, two]) {
      await until(() => serving.out().includes('GraphiQL is at'), { what: 'it serves' })
      expect(JSON.parse(await ask(serving))).toMatchObject({ url: `${serving.origin}/graphql` })
    }
    one.child.kill('SIGKILL')
    await one.exit
    let calls = 0
    await using stranger = createServer((_request, response) => {
      calls += 1
      response.end()
    })
    await once(stranger.listen(Number(new URL(one.origin).port), '127.0.0.1'), 'listening')
    expect(await ask(one)).toContain('No server runs on the data folder')
    expect(JSON.parse(await ask(two))).toMatchObject({ url: `${two.origin}/graphql` })
    expect(calls).toBe(0)
    // No terminal reads its log.
    expect(two.err()).toContain('"msg":"Phaseline has started"')
    two.child.kill('SIGTERM')
    expect(await two.exit).toBe(0)
    expect(await ask(two)).toContain('No server runs on the data folder')
  })
})
