import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runGadget } from '../../src/client/gadget/run-gadget.ts'
import type { GadgetMode } from '../../src/core/gadget/protocol.ts'
import { ask, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { remove, show } from '../testkit/mutations.ts'
import { startServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { isAlive } from './gadget-folder.ts'

const GADGETS = join(import.meta.dirname, '../../examples/webshop/gadgets')

/** A state folder of one test; the services in it end by themselves when it is gone. */
async function stateFolder() {
  const path = await mkdtemp(join(tmpdir(), 'webshop-'))
  const read = async (file: string) => JSON.parse(await readFile(join(path, file), 'utf8')) as { pid: number }
  const call = (env: Record<string, string>, mode: GadgetMode, gadget: string, args: readonly string[]) =>
    runGadget({
      path: join(GADGETS, gadget),
      args,
      mode,
      env: { PATH: process.env.PATH ?? '', PHASELINE_STATE: path, ...env },
      graceMs: 1_000,
    })
  return {
    path,
    pidOf: async (service: string, project = '') => (await read(join(project, `${service}.json`))).pid,
    call: (mode: 'run' | 'undo' | 'abort', gadget: string, ...args: string[]) => call({}, mode, gadget, args),
    callOf: (project: string, mode: 'run' | 'undo', gadget: string, ...args: string[]) =>
      call({ PHASELINE_PROJECT: project }, mode, gadget, args),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}
const urlOf = (result: Awaited<ReturnType<typeof runGadget>>): string =>
  result.outcome === 'succeeded' ? String(result.exports.url) : JSON.stringify(result)

describe('the services of the web shop', () => {
  it('stay when nothing has changed, and restart on the same ports otherwise', async () => {
    await using state = await stateFolder()
    const first = await state.call('run', 'service', 'cache', 'maxEntries=10')
    const pid = await state.pidOf('cache')
    expect(await state.call('run', 'service', 'cache', 'maxEntries=10')).toEqual(first)
    expect(await state.pidOf('cache')).toBe(pid)
    expect(await state.call('run', 'service', 'cache', 'maxEntries=11')).toEqual(first)
    expect(await state.pidOf('cache')).not.toBe(pid)
    expect(isAlive(pid)).toBe(false)
    process.kill(await state.pidOf('cache'), 'SIGKILL')
    expect(await state.call('run', 'service', 'cache', 'maxEntries=11')).toEqual(first)
    expect((await fetch(`${urlOf(first)}/healthz`)).ok).toBe(true)

    const last = await state.pidOf('cache')
    expect(await state.call('undo', 'service', 'cache')).toMatchObject({ outcome: 'succeeded' })
    expect(isAlive(last)).toBe(false)
    expect(await state.call('undo', 'service', 'cache')).toMatchObject({ outcome: 'succeeded' })
    expect(urlOf(await state.call('run', 'service', 'cache'))).toBe(urlOf(first))
  })

  it('are others in another project', async () => {
    await using state = await stateFolder()
    const [staging, production] = [
      await state.callOf('staging', 'run', 'service', 'queue'),
      await state.callOf('production', 'run', 'service', 'queue'),
    ]
    expect(urlOf(staging)).not.toBe(urlOf(production))
    expect(await state.callOf('staging', 'undo', 'service', 'queue')).toMatchObject({ outcome: 'succeeded' })
    expect((await fetch(`${urlOf(production)}/healthz`)).ok).toBe(true)
    await state.callOf('production', 'undo', 'service', 'queue')
  })

  it('are distinguished from other processes with the same pid', async () => {
    await using state = await stateFolder()
    await state.call('run', 'service', 'queue')
    const stranger = spawn('sleep', ['100'])
    try {
      const file = join(state.path, 'queue.json')
      const identity = JSON.parse(await readFile(file, 'utf8')) as object
      await writeFile(file, JSON.stringify({ ...identity, pid: stranger.pid }))
      expect(await state.call('undo', 'service', 'queue')).toMatchObject({ outcome: 'succeeded' })
      expect(isAlive(stranger.pid ?? 0)).toBe(true)
    } finally {
      stranger.kill('SIGKILL')
    }
  })

  it('say why they cannot start, and leave nothing behind', async () => {
    await using state = await stateFolder()
    expect(await state.call('run', 'service', '../../etc/passwd')).toMatchObject({ outcome: 'failed', cause: 'error' })
    const failed = await state.call('run', 'service', 'shop', 'assets=/does/not/exist', 'api=http://127.0.0.1:1')
    expect(failed).toMatchObject({ outcome: 'failed', message: 'The service shop ended at its start.' })
    expect(isAlive(await state.pidOf('shop'))).toBe(false)
  })

  it('answer neither strangers’ names nor forms, and end when their state is gone', async () => {
    await using state = await stateFolder()
    const url = urlOf(await state.call('run', 'service', 'queue'))
    const pid = await state.pidOf('queue')
    const send = (headers: Record<string, string>) =>
      fetch(`${url}/topics/a`, { method: 'POST', body: '{}', headers }).then(({ status }) => status)
    expect(await send({ 'content-type': 'application/json' })).toBe(200)
    expect(await send({ 'content-type': 'text/plain' })).toBe(415)
    await rm(state.path, { recursive: true })
    await until(() => !isAlive(pid), { what: 'ended' })
  })
})

describe('the web shop', () => {
  it('opens, outlives the server, is kept by the next job, and is gone after its deletion', async () => {
    await using state = await stateFolder()
    await using server = await startServer({ example: true, env: { PHASELINE_STATE: state.path } })
    const url = await until(() => /exports url: (http:\/\/127\.0\.0\.1:\d+)\s/.exec(server.output())?.[1], {
      what: 'the shop is open',
    })
    const page = await (await fetch(url)).text()
    expect(page.split('class="card"')).toHaveLength(9)
    const [project = ''] = await readdir(state.path)
    const pids = async () =>
      Promise.all(['database', 'gateway', 'shop'].map((service) => state.pidOf(service, project)))
    const before = await pids()

    await server.stop()
    expect((await fetch(`${url}/api/status`)).ok).toBe(true)
    await server.start()
    const { client } = server
    const { shop } = await client.query(gql('{ shop: objectByPath(kind: INSTALLATION, path: ["shop"]) { id } }'))
    const { id } = present(shop)
    await ask(client, MUTATIONS.reconcileInstallation, { id })
    await until(async () => (await show(client, id))?.finished, { what: 'reconciled' })
    expect(await show(client, id)).toMatchObject({ phase: 'SUCCEEDED' })
    expect(await pids()).toEqual(before)

    await remove(client, id)
    await until(async () => (await show(client, id)) === null, { what: 'deleted' })
    expect(before.filter(isAlive)).toEqual([])
    const left = await readdir(join(state.path, project))
    expect(left.filter((file) => !file.endsWith('.port.json'))).toEqual([])
  })
})
