import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startAgentProcess } from '../../src/agents/spawn.ts'
import { printProblems } from '../../src/client/agent/print-problems.ts'
import { createClient } from '../../src/client/index.ts'
import { Secret } from '../../src/core/secret.ts'
import { type RuntimeContext, runRuntime } from '../../src/families/pipelines/agents/runtime/run-runtime.ts'
import { until } from '../testkit/wait.ts'
import { type Place, place, processesOf, workload } from './process-place.ts'
import { type RuntimeServer, startRuntimeServer, TOKEN } from './runtime-server.ts'

/** The config of a START that runs a shell script. */
function script(text: string, more: object = {}) {
  const { id: _, token: __, ...config } = workload(text)
  return { ...config, ...more }
}

/** The agent of a runtime in this process, until it is disposed. */
async function startAgent(server: RuntimeServer, at: Place, leaseMs = 30_000) {
  const runtime = await at.open()
  const end = new AbortController()
  const client = createClient({ url: server.tiny.url, token: TOKEN })
  const print = printProblems(`Runtime ${runtime.instance}`)
  const onProblem: RuntimeContext['onProblem'] = (_type, problem) => print(problem)
  const ran = runRuntime({ client, leaseMs, signal: end.signal, onProblem }, { type: 'process', runtime, renewMs: 50 })
  return {
    async [Symbol.asyncDispose]() {
      end.abort()
      await ran
      await client.close()
    },
  }
}
const phaseIs = (server: RuntimeServer, id: string, phase: string) =>
  until(() => server.get(id).phase === phase, { what: `${id} is ${phase}` })
const said = (server: RuntimeServer, id: string) =>
  server.lines.filter(({ objectId }) => objectId === id).map(({ stream, text }) => `${stream} ${text}`)

describe('a runtime’s agent', () => {
  it('starts, reports RUNNING, output and outcome, and removes', async () => {
    await using at = await place()
    await using server = await startRuntimeServer()
    await using _ = await startAgent(server, at)
    const [good, bad, killed, missing, unreadable] = Array.from({ length: 5 }, () => randomUUID())
    server.offer(good as string, 'START', script('echo "$PHASELINE_TOKEN"'))
    server.offer(bad as string, 'START', script('exit 4'))
    server.offer(killed as string, 'START', script('kill -15 $$'))
    server.offer(missing as string, 'START', script('', { command: ['no-such-program'] }))
    server.offer(unreadable as string, 'START', null)
    await phaseIs(server, good as string, 'SUCCEEDED')
    expect(server.get(good as string).reports).toMatchObject([{ phase: 'RUNNING' }, { exports: { exitCode: 0 } }])
    // Before the end was reported.
    expect(said(server, good as string)).toEqual(['STDOUT ***'])
    await phaseIs(server, bad as string, 'FAILED')
    expect(server.get(bad as string).reports.at(-1)).toMatchObject({
      exports: { exitCode: 4, signal: null },
      error: { code: 'EXIT_CODE', message: 'It ended with exit code 4.' },
    })
    await phaseIs(server, killed as string, 'FAILED')
    expect(server.get(killed as string).reports.at(-1)).toMatchObject({
      exports: { exitCode: null, signal: 'SIGTERM' },
      error: { code: 'SIGNAL' },
    })
    for (const id of [missing, unreadable]) {
      await phaseIs(server, id as string, 'SCHEDULING_FAILED')
      expect(server.get(id as string).reports).toMatchObject([{ error: { code: 'START_FAILED' } }])
    }
    for (const id of [good, bad, killed, missing, randomUUID()]) {
      server.offer(id as string, 'REMOVE', { workspace: null })
      await until(() => server.get(id as string).done, { what: 'removed' })
    }
    expect(await readdir(join(at.state, 'workloads'))).toEqual([])
  })

  it('ends a workload at its REMOVE, and one whose object is finished or gone', async () => {
    await using at = await place()
    await using server = await startRuntimeServer()
    await using _ = await startAgent(server, at)
    const [removed, finished] = [randomUUID(), randomUUID()]
    for (const id of [removed, finished]) {
      server.offer(id, 'START', script('trap "" TERM; sleep 1000'))
      await phaseIs(server, id, 'RUNNING')
    }
    server.offer(removed, 'REMOVE', { workspace: null })
    await until(() => server.get(removed).done, { what: 'removed' })
    expect(processesOf(removed)).toEqual([])
    server.get(finished).phase = 'ABORTED'
    await until(() => processesOf(finished).length === 0, { what: 'ended' })
    expect(server.get(finished).reports).toMatchObject([{ phase: 'RUNNING' }])
  })

  it('starts nothing whose REMOVE has overtaken its START, and says so to a server that does not know of its end', async () => {
    await using at = await place()
    await using server = await startRuntimeServer()
    await using _ = await startAgent(server, at, 500)
    const [late, next] = [randomUUID(), randomUUID()]
    server.offer(late, 'REMOVE', { workspace: null })
    await until(() => server.get(late).done, { what: 'removed' })
    server.offer(late, 'START', script('sleep 1000'))
    await phaseIs(server, late, 'ABORTED')
    server.offer(next, 'START', script('exit 0'))
    await phaseIs(server, next, 'SUCCEEDED')
    expect(await readdir(join(at.state, 'workloads'))).toEqual([next])
    expect(server.get(late).reports).toMatchObject([{ done: true }, { phase: 'ABORTED', error: { code: 'REMOVED' } }])
  })

  it('keeps a workload while the server is away, and continues with its old fence', async () => {
    await using at = await place()
    await using server = await startRuntimeServer()
    await using _ = await startAgent(server, at, 1_000)
    const id = randomUUID()
    server.offer(id, 'START', script('while [ ! -e end ]; do sleep 0.02; done; echo meanwhile'))
    await phaseIs(server, id, 'RUNNING')
    server.away = true
    spawnSync('touch', [join(at.state, 'workloads', id, 'work', 'end')])
    await until(() => server.get(id).leaseUntil < Date.now() - 300, { what: 'the lease has ended' })
    server.get(id).phase = 'UNKNOWN'
    server.away = false
    await phaseIs(server, id, 'SUCCEEDED')
    expect(server.get(id).attempt).toBe(1)
    expect(said(server, id)).toEqual(['STDOUT meanwhile'])
  })

  it('adopts a workload of its own under a new fence', async () => {
    await using at = await place()
    await using server = await startRuntimeServer()
    await using _ = await startAgent(server, at)
    const id = randomUUID()
    server.offer(id, 'START', script('echo up; while [ ! -e end ]; do sleep 0.02; done; echo still here'))
    await phaseIs(server, id, 'RUNNING')
    await until(() => said(server, id).length === 1, { what: 'up' })
    const [process] = processesOf(id)
    // It has lost the old one then, and asks whether the workload is still needed.
    Object.assign(server.get(id), { phase: 'UNKNOWN', fence: null, leaseUntil: 0 })
    await until(() => server.get(id).attempt === 2 && server.get(id).phase === 'RUNNING', { what: 'adopted' })
    expect(processesOf(id)).toContain(process)
    spawnSync('touch', [join(at.state, 'workloads', id, 'work', 'end')])
    await phaseIs(server, id, 'SUCCEEDED')
    expect(said(server, id)).toEqual(['STDOUT up', 'STDOUT still here'])
  })

  it('leaves its workloads running when it ends, and the next one continues under the same fence', async () => {
    await using at = await place()
    await using server = await startRuntimeServer()
    const [running, ended, cancelled] = [randomUUID(), randomUUID(), randomUUID()]
    {
      await using _ = await startAgent(server, at)
      for (const id of [running, ended, cancelled]) {
        server.offer(id, 'START', script('echo up; while [ ! -e end ]; do sleep 0.02; done; echo bye'))
        await phaseIs(server, id, 'RUNNING')
      }
    }
    const { fence } = server.get(running)
    const [process] = processesOf(running)
    server.get(cancelled).phase = 'ABORTED'
    spawnSync('touch', [join(at.state, 'workloads', ended, 'work', 'end')])
    await until(() => existsSync(join(at.state, 'workloads', ended, 'exit')), { what: 'ended' })
    await using _ = await startAgent(server, at)
    await phaseIs(server, ended, 'SUCCEEDED')
    await until(() => processesOf(cancelled).length === 0, { what: 'the cancelled one is ended' })
    expect(server.get(running)).toMatchObject({ fence, attempt: 1, phase: 'RUNNING' })
    expect(processesOf(running)).toContain(process)
    spawnSync('touch', [join(at.state, 'workloads', running, 'work', 'end')])
    await phaseIs(server, running, 'SUCCEEDED')
    for (const id of [running, ended]) expect(said(server, id).filter((line) => line === 'STDOUT bye')).toHaveLength(1)
  })

  it('is started again after kill -9 by its supervisor, which ends none of its workloads', async () => {
    await using at = await place()
    await using server = await startRuntimeServer()
    const agent = startAgentProcess({
      types: ['process'],
      url: server.tiny.url,
      token: new Secret(TOKEN),
      state: at.state,
      options: { isolation: 'trusted' },
    })
    try {
      const id = randomUUID()
      server.offer(id, 'START', script('echo "to $PHASELINE_URL"; while [ ! -e end ]; do sleep 0.02; done; exit 6'))
      await phaseIs(server, id, 'RUNNING')
      // A kill loses lines that were read and not delivered.
      await until(() => said(server, id).length > 0, { what: 'its line is delivered' })
      const [workloadProcess] = processesOf(id)
      const first = agent.pid ?? 0
      process.kill(first, 'SIGKILL')
      await until(() => agent.pid !== null && agent.pid !== first, { what: 'started again' })
      await until(() => said(server, id).some((line) => line.startsWith('SYSTEM')), { what: 'adopted' })
      expect(processesOf(id)).toContain(workloadProcess)
      expect(server.get(id).attempt).toBe(1)
      spawnSync('touch', [join(at.state, 'workloads', id, 'work', 'end')])
      await phaseIs(server, id, 'FAILED')
      expect(server.get(id).reports.at(-1)).toMatchObject({ exports: { exitCode: 6 } })
      expect(said(server, id)).toContain(`STDOUT to ${server.tiny.url}`)
    } finally {
      await agent.close()
    }
  })
})
