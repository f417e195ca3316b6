import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { AgentProcessEvent } from '../../src/agents/agent-process.ts'
import { startAgentProcess } from '../../src/agents/spawn.ts'
import { agentApi } from '../../src/client/agent/agent-api.ts'
import type { Client, CrmRequest } from '../../src/client/index.ts'
import { Secret } from '../../src/core/secret.ts'
import { badNetwork } from '../../src/families/edge/agents/bad-network.ts'
import { crmBehaviour, readBehaviour } from '../../src/families/edge/agents/behaviour.ts'
import { Chance } from '../../src/families/edge/agents/chance.ts'
import { CloudletFolder } from '../../src/families/edge/agents/cloudlet-folder.ts'
import { type CrmProcessOptions, crmProcess } from '../../src/families/edge/agents/crm-process.ts'
import { subscribeRequests } from '../../src/families/edge/protocol/crm-api.ts'
import { type Asked, CLOUDLET, startCrmServer, TOKEN } from '../client/crm-server.ts'
import { until } from '../testkit/wait.ts'
import { isAlive } from './gadget-folder.ts'

const STARTER = join(import.meta.dirname, 'starter.ts')

async function stateFolder() {
  const path = await mkdtemp(join(tmpdir(), 'phaseline-crm-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

async function startAll(crm: Omit<CrmProcessOptions, 'cloudlet'> = {}) {
  await using starting = new AsyncDisposableStack()
  const server = starting.use(await startCrmServer({ repeatMs: 50 }))
  const { path: state } = starting.use(await stateFolder())
  const events: AgentProcessEvent[] = []
  const agent = starting.use(
    startAgentProcess({
      ...crmProcess({ cloudlet: CLOUDLET, ...crm }),
      url: server.tiny.url,
      token: new Secret(TOKEN),
      state,
      onEvent: (event) => events.push(event),
    }),
  )
  const said = (event: string): readonly Readonly<Record<string, unknown>>[] =>
    events
      .flatMap((one) => (one.type === 'said' && one.line.startsWith('{') ? [JSON.parse(one.line)] : []))
      .filter((line: { event: string }) => line.event === event)
  const all = starting.move()
  return { server, state, agent, events, said, [Symbol.asyncDispose]: () => all.disposeAsync() }
}
const closed = (asked: Asked) => until(() => !asked.open, { what: `${asked.action} of ${asked.path} has ended` })
const spec = async (state: string, path: string) => JSON.parse(await readFile(join(state, path, 'spec.json'), 'utf8'))
const names = async (folder: string) => (await readdir(folder)).filter((name) => !name.startsWith('.')).sort()

describe('the folder of a cloudlet', () => {
  const fake = async (state: string, path: string, whole: boolean) => {
    await mkdir(join(state, path), { recursive: true })
    if (whole) await writeFile(join(state, path, 'spec.json'), '{"spec":{"a":1},"specRevision":4}')
    else await writeFile(join(state, path, 'spec.json.1.tmp'), '{"spec":')
  }

  it('lists complete instances, and removes half-made ones', async () => {
    await using state = await stateFolder()
    await fake(state.path, 'c1', true)
    await fake(state.path, 'c1/apps/a1', true)
    await fake(state.path, 'c1/apps/a2', false)
    await fake(state.path, 'c2', false)
    await fake(state.path, 'c2/apps/a3', true)
    const folder = new CloudletFolder(state.path, CLOUDLET)
    const listed = [
      { kind: 'CLUSTER_INST', path: [CLOUDLET, 'c1'], phase: 'READY', specRevision: 4 },
      { kind: 'APP_INST', path: [CLOUDLET, 'c1', 'a1'], phase: 'READY', specRevision: 4 },
    ]
    expect(await folder.list()).toEqual(listed)
    await using _ = await folder.lock()
    expect((await folder.tidy()).toSorted()).toEqual(['c1/a2', 'c2'])
    expect(await folder.list()).toEqual(listed)
    expect(await names(state.path)).toEqual(['c1'])
    expect(await folder.tidy()).toEqual([])
  })

  it('refuses paths that lead out of it', async () => {
    await using state = await stateFolder()
    const folder = new CloudletFolder(join(state.path, 'inner'), CLOUDLET)
    for (const path of [[CLOUDLET, '..'], [CLOUDLET, '.crm'], [CLOUDLET, 'a/b'], [CLOUDLET], ['other', 'c1']]) {
      await expect(Promise.resolve().then(() => folder.remove(path))).rejects.toThrow(
        'names no instance of this cloudlet',
      )
    }
  })
})

describe('a bad network', () => {
  const request = (name: string): CrmRequest => ({
    ...{ fence: `fence of ${name}`, objectId: name, kind: 'CLUSTER_INST', action: 'CREATE', operationId: '1' },
    ...{ path: [CLOUDLET, name], specRevision: 1, spec: null },
  })
  const PLACES = Array.from({ length: 40 }, (_, i) => `c${i}`)

  /** Sends each request and report once; returns the requests and the reports that arrive, in order. */
  async function arrivals(behaviour: object, places: readonly string[]) {
    const sent: string[] = []
    const inner = {
      query: (_: string, { input }: { input: { reports: { fence: string; phase: string }[] } }) => {
        for (const { fence, phase } of input.reports) sent.push(`${phase} ${fence}`)
        const results = input.reports.map(() => ({ __typename: 'PhaseReportAccepted' }))
        return Promise.resolve({ reportPhases: { __typename: 'PhaseReports', results } })
      },
      async *subscribe() {
        for (const name of places) yield { crmRequests: request(name) }
      },
    }
    const parsed = crmBehaviour.parse(behaviour)
    const network = badNetwork(inner as unknown as Client, parsed, new Chance(String(parsed.seed)))
    const came: string[] = []
    const requests = subscribeRequests(network, () => ({ cloudletId: CLOUDLET, epoch: 1 }), {})
    for await (const { objectId } of requests) came.push(objectId)
    const reports = places.flatMap((name) => [
      { fence: `fence of ${name}`, phase: 'CREATING' },
      { fence: `fence of ${name}`, phase: 'READY' },
    ])
    expect(await agentApi(network).report(reports)).toEqual(reports.map(() => ({ accepted: true })))
    return { came, sent }
  }
  const BAD = {
    seed: 1,
    loseRequests: 0.3,
    repeatRequests: 0.3,
    loseBeginnings: 0.3,
    loseEnds: 0.1,
    repeatReports: 0.2,
  }

  it('loses and repeats the same with the same seed, whatever comes first, and other things with another', async () => {
    const first = await arrivals(BAD, PLACES)
    const backwards = await arrivals(BAD, PLACES.toReversed())
    expect(first.came.toSorted()).toEqual(backwards.came.toSorted())
    expect(first.sent.toSorted()).toEqual(backwards.sent.toSorted())
    expect(await arrivals({ ...BAD, seed: 2 }, PLACES)).not.toEqual(first)

    const times = PLACES.map((name) => first.came.filter((one) => one === name).length)
    expect(new Set(times)).toEqual(new Set([0, 1, 2]))
    // 40 of each, with those rates: far from none, and far from all.
    const arrived = (phase: string) => first.sent.filter((one) => one.startsWith(phase)).length
    expect(arrived('CREATING')).toBeGreaterThan(15)
    expect(arrived('CREATING')).toBeLessThan(38)
    expect(arrived('READY')).toBeGreaterThan(arrived('CREATING'))
  })

  it('is reliable by default', async () => {
    const { came, sent } = await arrivals({}, PLACES)
    expect(came).toEqual(PLACES)
    expect(sent).toEqual(PLACES.flatMap((name) => [`CREATING fence of ${name}`, `READY fence of ${name}`]))
  })

  it('delivers delayed reports late, and repeated ones twice', async () => {
    const { sent } = await arrivals({ delayReports: 0.5, repeatReports: 0.5, laterMs: 1 }, PLACES)
    await until(() => new Set(sent).size === 80, { what: 'all have come' })
    const order = PLACES.flatMap((name) => [`CREATING fence of ${name}`, `READY fence of ${name}`])
    expect(sent.slice(0, 80)).not.toEqual(order)
    await until(() => sent.length > 85, { what: 'some came twice' })
  })

  it("is refused with the wrong key's name", () => {
    expect(() => readBehaviour('{"fail":2}')).toThrow(/PHASELINE_CRM.*fail/s)
    expect(() => readBehaviour('{"losses":1}')).toThrow(/losses/)
    expect(() => readBehaviour('nonsense')).toThrow('PHASELINE_CRM')
    expect(readBehaviour('{"delayMs":[1,2]}')).toMatchObject({ delayMs: [1, 2], steps: 1, seed: 0, upgrade: 'WORKS' })
  })
})

describe('the simulated CRM', () => {
  it('makes, changes and removes folders', async () => {
    await using all = await startAll({ behaviour: { steps: 3, delayMs: [5, 20] } })
    const { server, state } = all
    await closed(server.ask('c1', 'CREATE', { spec: { nodes: 2 }, specRevision: 1 }))
    expect(await spec(state, 'c1')).toEqual({ spec: { nodes: 2 }, specRevision: 1 })
    const app = server.ask('c1/a1', 'CREATE', { spec: { image: 'x' }, specRevision: 1 })
    await closed(app)
    expect(app.phases).toEqual(['CREATING', 'READY'])
    expect(server.lines.filter(({ fence }) => fence === app.fence).map(({ text }) => text)).toEqual([
      'step 1 of 3',
      'step 2 of 3',
      'step 3 of 3',
    ])
    await closed(server.ask('c1/a1', 'UPDATE', { spec: { image: 'y' }, specRevision: 2 }))
    expect(await spec(state, 'c1/apps/a1')).toEqual({ spec: { image: 'y' }, specRevision: 2 })

    const tooEarly = server.ask('c1', 'DELETE')
    await closed(tooEarly)
    expect(tooEarly).toMatchObject({ phases: ['DELETING', 'DELETE_ERROR'], error: { code: 'HAS_APPS' } })
    const orphan = server.ask('c2/a1', 'CREATE')
    await closed(orphan)
    expect(orphan.error).toEqual({ code: 'NO_CLUSTER', message: 'There is no cluster c2.' })
    for (const path of ['c1/a1', 'c1', 'c1']) await closed(server.ask(path, 'DELETE'))
    expect(await names(state)).toEqual([])
  })

  it('puts things back when it fails, and when a newer request stops it', async () => {
    await using all = await startAll({ behaviour: { fail: 1, delayMs: [0, 0] } })
    const { server, state } = all
    const created = server.ask('c1', 'CREATE')
    await closed(created)
    expect(created.phases).toEqual(['CREATING', 'CREATE_ERROR'])
    expect(await names(state)).toEqual([])

    await using slow = await startAll({ behaviour: { delayMs: [600_000, 600_000] } })
    const endless = slow.server.ask('c1', 'CREATE')
    await until(async () => (await names(slow.state)).length === 1, { what: 'begun' })
    slow.server.withdraw('c1')
    const ghost = slow.server.ask('c1', 'DELETE')
    await until(() => ghost.phases.length > 0, { what: 'the newer one is begun' })
    expect([endless.phases, await names(slow.state)]).toEqual([['CREATING'], []])
  })

  it('reconnects after kill -9 with its real instances, and removes half-made ones', async () => {
    await using all = await startAll({ behaviour: { delayMs: [600_000, 600_000] } })
    const { server, state, agent, said } = all
    await until(() => said('crm serves').length === 1, { what: 'serving' })
    // As if it had been made before: the CRM only says what it finds.
    await mkdir(join(state, 'c0'), { recursive: true })
    await writeFile(join(state, 'c0', 'spec.json'), '{"spec":null,"specRevision":9}')
    server.ask('c1', 'CREATE')
    await until(async () => (await names(state)).includes('c1'), { what: 'half made' })
    server.withdraw('c1')
    const [first] = server.connects
    process.kill(agent.pid ?? 0, 'SIGKILL')
    await until(() => server.connects.length > 1 && server.connects.at(-1)?.instance !== first?.instance, {
      what: 'a new process has connected',
    })
    expect(server.connects.at(-1)?.objects).toEqual([
      { kind: 'CLUSTER_INST', path: [CLOUDLET, 'c0'], phase: 'READY', specRevision: 9 },
    ])
    await until(() => said('crm serves').length > 1, { what: 'it serves' })
    expect(said('crm serves').at(-1)).toMatchObject({ tidied: ['c1'] })
    expect(await names(state)).toEqual(['c0'])
  })

  it('gets everything done in the end, although it crashes and messages are lost, repeated and overtaken', async () => {
    const behaviour = { seed: 3, steps: 2, delayMs: [0, 20] as [number, number], crash: 0.08 }
    const bad = { loseRequests: 0.2, repeatRequests: 0.2, loseBeginnings: 0.3, repeatReports: 0.2, delayReports: 0.2 }
    await using all = await startAll({ behaviour: { ...behaviour, ...bad } })
    const { server, state, events } = all
    const clusters = Array.from({ length: 8 }, (_, i) => `c${i}`)
    // A request that the crash made it forget comes again, as from a server that has heard what is really there.
    const done = async (paths: readonly string[], action: Asked['action']) => {
      for (const path of paths) {
        let asked = server.ask(path, action)
        let { length: connects } = server.connects
        await until(
          () => {
            if (asked.open && server.connects.length > connects && asked.phases.length > 0) {
              connects = server.connects.length
              asked = server.ask(path, action)
            }
            return !asked.open
          },
          { what: `${action} ${path}` },
        )
      }
    }
    await done(clusters, 'CREATE')
    await done(clusters, 'UPDATE')
    await done(clusters.slice(4), 'DELETE')
    await until(async () => (await names(state)).join() === clusters.slice(0, 4).join(), { what: 'only four are left' })
    const crashes = events.filter((event) => event.type === 'ended')
    expect(crashes.length).toBeGreaterThan(0)
    expect(crashes.every((event) => event.exitCode === 137)).toBe(true)
  })

  it('hands over to the CRM of the new version, which is the only one that works then', async () => {
    await using all = await startAll({ version: '1.0.0' })
    const { server, state, agent, said } = all
    await closed(server.ask('c1', 'CREATE'))
    const { pid: first } = agent
    const upgrade = server.ask('', 'UPDATE', { spec: { version: '2.0.0' } })
    await until(() => server.session()?.epoch === 2, { what: 'taken over' })
    expect(upgrade.phases).toEqual(['UPDATING'])
    expect(isAlive(first ?? 0)).toBe(false)
    expect(server.connects.find(({ role }) => role === 'CRM_V2')).toMatchObject({
      version: '2.0.0',
      objects: [{ path: [CLOUDLET, 'c1'] }],
    })
    await closed(server.ask('c2', 'CREATE'))
    expect(await names(state)).toEqual(['c1', 'c2'])
    // The process that is started again stands by, and takes over when the new one is killed, with the installed version.
    await until(() => said('crm stands by').length > 0, { what: 'standing by' })
    const { pid: second } = said('crm serves').at(-1) as { pid: number }
    expect(second).not.toBe(agent.pid)
    process.kill(second, 'SIGKILL')
    await until(() => said('crm serves').length === 3, { what: 'followed' })
    await closed(server.ask('c3', 'CREATE'))
    expect(server.connects.at(-1)).toMatchObject({ role: 'CRM', version: '2.0.0' })
  })

  it('ends the new CRM, too, when it is closed', async () => {
    await using all = await startAll()
    const { server, agent, said } = all
    await until(() => server.connects.length > 0, { what: 'connected' })
    server.ask('', 'UPDATE', { spec: { version: '2.0.0' } })
    await until(() => server.session()?.epoch === 2, { what: 'taken over' })
    await until(() => said('crm serves').length === 2, { what: 'the new one serves' })
    const { pid } = said('crm serves').at(-1) as { pid: number }
    await agent.close()
    // A process closes its output a moment before it is gone.
    await until(() => !isAlive(pid), { what: 'the new CRM has ended' })
  })

  it('ends the new CRM, too, when its supervisor is killed', async () => {
    await using server = await startCrmServer()
    await using state = await stateFolder()
    const options = JSON.stringify({ ...crmProcess({ cloudlet: CLOUDLET }), state: state.path })
    const starter = spawn(process.execPath, [STARTER, server.tiny.url, TOKEN, options], { stdio: 'ignore' })
    await until(() => server.connects.length > 0, { what: 'connected' })
    server.ask('', 'UPDATE', { spec: { version: '2.0.0' } })
    await until(() => server.session()?.epoch === 2, { what: 'taken over' })
    const own = join(state.path, '.crm')
    const locks = (await readdir(own)).filter((name) => name.startsWith('lock.'))
    const pid = Number.parseInt(await readFile(join(own, locks.at(-1) ?? ''), 'utf8'), 10)
    expect(isAlive(pid)).toBe(true)
    starter.kill('SIGKILL')
    await until(() => !isAlive(pid), { what: 'it has ended' })
    await until(() => server.session()?.over, { what: 'disconnected' })
  })

  it.each([
    ['NOT_STARTED' as const, ['UPDATE_ERROR']],
    ['NOT_BROUGHT_UP' as const, ['UPDATING', 'UPDATE_ERROR']],
  ])('continues when the new CRM is %s', async (how, phases) => {
    await using all = await startAll({ behaviour: { upgrade: how } })
    const { server, said } = all
    await until(() => server.connects.length > 0, { what: 'connected' })
    const upgrade = server.ask('', 'UPDATE', { spec: { version: '2.0.0' } })
    await closed(upgrade)
    expect([...new Set(upgrade.phases)]).toEqual(phases)
    expect(upgrade.error?.code).toBe('UPGRADE_FAILED')
    await closed(server.ask('c1', 'CREATE'))
    expect(said('crm serves')).toHaveLength(1)
  })
})
