import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { watchTree } from '../../src/cli/objects/watch.ts'
import { startTestApp } from '../testkit/app.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { type CommandLine, commandLine, documents } from './command.ts'
import { type CrmSite, type PlayedCrm, playCrms } from './played-crm.ts'

const TOKEN = 'the-command-lines-administrator'

let stack: AsyncDisposableStack
let server: ReachableServer
let site: CrmSite
let folder: string
let phaseline: CommandLine

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  folder = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-edge-')), (path) => rm(path, { recursive: true }))
  const env = { PHASELINE_ROLES: 'gateway,engine' }
  server = stack.use(await startTestApp({ env, token: TOKEN }))
  phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: TOKEN })
  site = await playCrms(server)
  expect(await phaseline('project create ops')).toMatchObject({ code: 0 })
})
afterAll(() => stack.disposeAsync())

type Read = Readonly<Record<string, unknown>> & { readonly id: string }
const json = async (args: string): Promise<Read> => documents((await phaseline(`${args} --json`)).out)[0] as Read
const seen = (args: string, what: string, find: (one: Read) => unknown) =>
  until(async () => find(await json(args)), { what })
const gone = (args: string) => until(async () => (await phaseline(args)).code === 3, { what: `${args} finds nothing` })

/** A cloudlet of the project `ops`, and its CRM. */
async function served(name: string): Promise<{ readonly id: string; readonly crm: PlayedCrm }> {
  expect(await phaseline(`cloudlet create ops/${name}`)).toMatchObject({ code: 0, err: '' })
  const { id } = await json(`cloudlet get ops/${name}`)
  const crm = stack.use(await site.connect(id, { instance: `${name}-crm` }))
  return { id, crm }
}
async function add(crm: PlayedCrm, command: 'cluster' | 'app', path: string): Promise<void> {
  expect(await phaseline(`${command} create ops/${path} --spec {"size":1}`)).toMatchObject({ code: 0, err: '' })
  await crm.report(await crm.take(path, 'CREATE'), { phase: 'READY' })
}

describe('cloudlet create, get and list', () => {
  it('waits for its CRM, and shows who serves it until when', async () => {
    await using waits = phaseline.spawn('cloudlet create ops/first --label site=north --key once --wait')
    await waits.shows('waits for agent: A CRM has to connect.')
    const { id } = await json('cloudlet get first --project ops')
    const before = await phaseline('cloudlet get ops/first')
    expect(before.out).toMatch(/^labels +site=north$/m)
    expect(before.out).toMatch(/^phase +▶ INIT, not finished$/m)
    expect(before.out).toMatch(/^epoch +0$/m)
    expect(before.out).toMatch(
      /^deadline +connect at \S+Z \(in [^)]+\), then OFFLINE: It goes offline if its CRM has not connected by then\.$/m,
    )

    const crm = stack.use(await site.connect(id, { instance: 'north-1', version: '1.4' }))
    expect(await waits.exit).toBe(0)
    expect(waits.out()).toMatch(/^ops\/first created, now INIT {2}\S{36}$/m)
    expect(waits.out()).toMatch(/^first succeeded: 1 ✓ done$/m)
    const { out } = await phaseline(`cloudlet get ${id}`)
    expect(out).toMatch(/^phase +✓ READY$/m)
    expect(out).toMatch(/^upgrade +✓ READY$/m)
    expect(out).toMatch(/^version +1\.4$/m)
    expect(out).toMatch(
      new RegExp(`^crm +north-1 as site, version 1\\.4, epoch ${crm.epoch}, until \\S+Z \\(in \\d+m \\d+s\\)$`, 'm'),
    )
    expect(await json('cloudlet get ops/first')).toMatchObject({
      ...{ phase: 'READY', upgradePhase: 'READY', epoch: crm.epoch, version: '1.4', orphans: [], driftedInstances: [] },
      agents: [{ role: 'CRM', instance: 'north-1', by: 'site', leaseUntil: expect.any(String) }],
    })

    expect(await phaseline('cloudlet create ops/first --label site=north --key once --wait')).toMatchObject({ code: 0 })
    expect(await phaseline('cloudlet create first --project ops')).toMatchObject({
      ...{ code: 3, err: expect.stringContaining('ALREADY_EXISTS') },
    })
    const listed = await phaseline('cloudlet list --label site=north')
    expect(listed.out).toMatch(/^PROJECT +NAME +PHASE .*\nops +first +✓ READY +\S+ +READY +1\.4 +1 +0\n$/)
    expect(await phaseline('cloudlet list --phase offline')).toMatchObject({ out: '', err: 'Nothing matches.\n' })
  })

  it('refuses what names no cloudlet', async () => {
    const create = (args: string) => phaseline(`cloudlet create ${args}`)
    expect(await create('a/b/c')).toMatchObject({ code: 2, err: expect.stringContaining('expected edge1') })
    expect(await create('a/b --project ops')).toMatchObject({ code: 2 })
    expect(await create('a --project none')).toMatchObject({ code: 2, err: expect.stringContaining('input.project') })
    expect(await phaseline('cloudlet get ops/none')).toMatchObject({
      ...{ code: 3, err: expect.stringContaining('There is no cloudlet ops/none') },
    })
  })
})

describe('cluster and app create', () => {
  it('hands a spec over as it stands, waits, and shows all there is to say', async () => {
    const { crm } = await served('made')
    const path = join(folder, 'cluster.yaml')
    await writeFile(path, 'nodes: 3\nflavour: { cpu: 2 }\n')
    await using waits = phaseline.spawn(`cluster create ops/made/c1 -f ${path} --label team=a --wait`)
    const request = await crm.take('made/c1', 'CREATE')
    expect(request.spec).toEqual({ nodes: 3, flavour: { cpu: 2 } })
    await crm.report(request, { phase: 'CREATING', progress: { step: 'Booting', value: 1, total: 3, unit: 'nodes' } })
    await seen('cluster get ops/made/c1', 'it is being created', ({ phase }) => phase === 'CREATING')
    const moving = await phaseline('cluster get made/c1 --project ops')
    expect(moving.out).toMatch(/^phase +▶ CREATING, not finished$/m)
    expect(moving.out).toMatch(/^progress +\[████─+\] +33% 1\/3 nodes Booting$/m)
    expect(moving.out).toMatch(
      /^deadline +silence at \S+Z \(in [^)]+\), then CREATE_ERROR: The request fails if its CRM .* by then\.$/m,
    )
    expect(moving.out).toMatch(/^waits for +agent: Its CRM is at it/m)
    expect(await phaseline('app create ops/made/c1/a1 --spec {}')).toMatchObject({
      ...{ code: 3, err: expect.stringMatching(/^NOT_READY: .*\n {2}in the way: cluster instance c1 \(CREATING, id /) },
    })
    await crm.report(request, { phase: 'READY' })
    expect(await waits.exit).toBe(0)
    expect(waits.out()).toMatch(/^ops\/made\/c1 created, now CREATE_REQUESTED {2}\S{36}$/m)
    expect(waits.out()).toMatch(/^c1 succeeded: 1 ✓ done$/m)

    await add(crm, 'app', 'made/c1/a1')
    const { out } = await phaseline('cluster get ops/made/c1')
    expect(out).toMatch(/^parent +made$/m)
    expect(out).toMatch(/^cloudlet +made \(READY\)$/m)
    expect(out).toMatch(/^at +site made-crm$/m)
    expect(out).toMatch(/^operation +\S{36}$/m)
    expect(out).toMatch(/^spec +revision 1: \{"nodes":3,"flavour":\{"cpu":2\}\}$/m)
    expect(out).toMatch(/\ninstances\nNAME +PHASE .*\na1 +✓ READY +\S+ +1\n/)
    expect((await phaseline('app get ops/made/c1/a1')).out).toMatch(/^parent +c1 in made$/m)
    expect(await json('app get ops/made/c1/a1')).toMatchObject({
      ...{ kind: 'APP_INST', spec: { size: 1 }, specRevision: 1, drifted: false, instances: [] },
    })
    expect((await phaseline('cloudlet get ops/made')).out).toMatch(/\nc1 +✓ READY +\S+ +1 +1\n/)
    expect((await phaseline('cluster list --label team=a')).out).toMatch(
      /^CLUSTER +PHASE .*\nops\/made\/c1 +✓ READY +\S+ +\S+ +1\n$/,
    )
    expect(await json('app list --project ops --phase ready')).toMatchObject({ apps: [{ name: 'a1' }] })
    const [name = ''] = (await phaseline('app list --project ops --phase ready -o name')).out.split('\n')
    expect(await json(`app get ${name}`)).toMatchObject({ name: 'a1' })
    // The commands for all kinds know them too.
    expect((await phaseline('tree ops/made --kind cloudlet')).out).toMatch(/made.*\n└─ .*c1.*\n {3}└─ .*a1/)
    expect((await phaseline('get ops/made/c1/a1 --kind app-inst')).out).toMatch(/^kind +app instance$/m)
  })

  it('says what is wrong before it asks the server', async () => {
    const create = (args: string, stdin = '') => phaseline(`cluster create ${args} --url http://127.0.0.1:1`, { stdin })
    for (const [args, message] of [
      ['e/c', 'Give the spec'],
      ['e/c --spec {} -f -', 'Give the spec'],
      ['e/c --spec {', '--spec is not JSON'],
      ['e/c --spec [1]', '--spec must be an object.'],
      ['c --spec {}', 'does not name its cloudlet: expected edge1/cluster1'],
    ] as const)
      expect(await create(args), args).toMatchObject({ code: 2, out: '', err: expect.stringContaining(message) })
    const wrong = await create('e/c -f -', 'a: 1\n---\nb: 2')
    expect(wrong.err).toContain('It holds several documents: a spec is one.')
    expect((await create('e/c -f -', 'size: [1')).err).toMatch(/<stdin>:1:\d+: /)
    expect((await create('e/c -f -', 'size: .nan')).err).toContain('<stdin>:1:7: size: is no number that JSON has')
    const { crm } = await served('kinds')
    await add(crm, 'cluster', 'kinds/c')
    const { id } = await json('cluster get ops/kinds/c')
    expect(await phaseline(`cloudlet get ${id}`)).toMatchObject({
      ...{ code: 2, err: expect.stringContaining('the cluster instance c, not a cloudlet. It belongs to kinds.') },
    })
    // Under a parent that is named by its id.
    expect(await phaseline(`app create ${id}/a --spec {}`)).toMatchObject({ code: 0 })
    expect(await phaseline('cluster create ops/none/c --spec {}')).toMatchObject({ code: 3 })
  })

  it('fails, and says why, when the creation is undone', async () => {
    const { id: cloudletId, crm } = await served('full')
    const error = { code: 'NO_ROOM', message: 'There is no room.', retryable: false }
    await using lines = phaseline.spawn('cluster create ops/full/c --spec {} --wait')
    await crm.report(await crm.take('full/c', 'CREATE'), { phase: 'CREATE_ERROR', error })
    expect(await lines.exit).toBe(1)
    expect(lines.out()).toMatch(/^✗ c: CREATE_ERROR: There is no room\.$/m)
    expect(lines.out()).toMatch(/^c failed: nothing left$/m)

    await using stream = phaseline.spawn('cluster create ops/full/d --spec {} --wait --json')
    const request = await crm.take('full/d', 'CREATE')
    const { id } = await json('cluster get ops/full/d')
    await crm.report(request, { phase: 'CREATE_ERROR', error })
    expect(await stream.exit).toBe(1)
    expect(documents(stream.out()).at(-1)).toEqual({
      ...{ type: 'result', outcome: 'failed', phase: 'GONE' },
      error: { code: 'CREATE_ERROR', message: 'There is no room.' },
    })
    await gone('cluster get ops/full/d')
    // The same when it is gone before it can be looked at.
    let late = ''
    const out = { write: (text: string) => (late += text) }
    const signal = new AbortController().signal
    expect(await watchTree(server.client, cloudletId, { out, signal, focusId: id })).toMatchObject({
      outcome: 'failed',
    })
    expect(late).toBe('✗ d: CREATE_ERROR: There is no room.\nd failed: nothing left\n')
    // Nothing is left of either but the log, which tells of both.
    const { out: told } = await phaseline('get --failed --project ops')
    expect(told).toMatch(/^↺ ops\/full\/c {2}cluster instance, CREATE_ERROR \S+ ago, undone: There is no room\.$/m)
    expect(told).toMatch(/^↺ ops\/full\/d .* undone: There is no room\.$/m)
  })
})

describe('update', () => {
  it('ends well, is left alone when nothing changes, and fails when it is undone', async () => {
    const { crm } = await served('upd')
    await add(crm, 'cluster', 'upd/c')
    await add(crm, 'cluster', 'upd/sibling')
    const update = 'cluster update ops/upd/c'
    expect(await phaseline(`${update} --spec {"size":1} --wait`)).toMatchObject({
      ...{ code: 0, out: 'ops/upd/c unchanged (generation 1)\n' },
    })
    expect(await phaseline(`${update} --spec {"size":2} --expected-generation 7`)).toMatchObject({
      ...{ code: 3, err: expect.stringContaining('GENERATION_MISMATCH') },
    })
    await using good = phaseline.spawn(`${update} --spec {"size":2} --expected-generation 1 --wait`)
    const request = await crm.take('upd/c', 'UPDATE')
    expect(await phaseline(`${update} --spec {"size":3}`)).toMatchObject({
      ...{ code: 3, err: expect.stringContaining('BUSY') },
    })
    await crm.report(request, { phase: 'READY' })
    expect(await good.exit).toBe(0)
    expect(good.out()).toMatch(/^ops\/upd\/c asked to update, now UPDATE_REQUESTED \(generation 2\)$/m)

    await using bad = phaseline.spawn(`${update} --spec {"size":3} --wait`)
    const failing = await crm.take('upd/c', 'UPDATE')
    await crm.report(failing, { phase: 'UPDATE_ERROR', error: { code: 'QUOTA', message: 'Too big.' } })
    expect(await bad.exit).toBe(1)
    expect(bad.out()).toMatch(/^✗ upd\/c: QUOTA: Too big\.$/m)
    expect(bad.out()).toMatch(/^c failed: 1 ✓ done$/m)
    expect((await phaseline('cluster get ops/upd/c')).out).toMatch(/^error +QUOTA: Too big\.$/m)
    expect(await json('cluster get ops/upd/c')).toMatchObject({ phase: 'READY', spec: { size: 2 }, specRevision: 2 })
    expect((await phaseline('cluster list --project ops')).out).toMatch(/^ops\/upd\/c +✓ READY .* QUOTA$/m)
    expect(await phaseline('watch ops/upd/c --kind cluster-inst')).toMatchObject({ code: 1 })
    // A failure elsewhere does not affect the watch of a sibling.
    const sibling = await phaseline('watch ops/upd/sibling --kind cluster-inst')
    expect(sibling).toMatchObject({ code: 0, out: expect.not.stringContaining('QUOTA') })
    // The spec is the present one already: no request is made, so none can fail.
    expect(await phaseline(`${update} --spec {"size":2} --wait`)).toMatchObject({ code: 0 })
  })
})

describe('delete', () => {
  it('waits until it is gone, in order, and fails when it is undone', async () => {
    const { crm } = await served('del')
    await add(crm, 'cluster', 'del/c')
    await add(crm, 'app', 'del/c/a')
    expect(await phaseline('cluster delete ops/del/c --yes')).toMatchObject({
      ...{ code: 3, err: expect.stringMatching(/^IN_USE: .*\n {2}in the way: app instance a /) },
    })
    expect(await phaseline('app delete ops/del/c/a --cascade')).toMatchObject({ code: 2 })

    await using bad = phaseline.spawn('app delete ops/del/c/a --wait')
    const failing = await crm.take('del/c/a', 'DELETE')
    await crm.report(failing, { phase: 'DELETE_ERROR', error: { code: 'STUCK', message: 'It hangs.' } })
    expect(await bad.exit).toBe(1)
    expect(bad.out()).toMatch(/^✗ del\/c\/a: STUCK: It hangs\.$/m)

    await using good = phaseline.spawn('cluster delete ops/del/c --cascade --wait')
    const app = await crm.take('del/c/a', 'DELETE')
    const { out } = await phaseline('cluster get ops/del/c')
    expect(out).toMatch(/^phase +− DELETE_PREPARE, not finished$/m)
    expect(out).toMatch(/^waits for +dependency: The app instance a goes first/m)
    await crm.report(app, { phase: 'NOT_PRESENT' })
    await crm.report(await crm.take('del/c', 'DELETE'), { phase: 'DELETED' })
    expect(await good.exit).toBe(0)
    expect(good.out()).toMatch(/^c gone: nothing left$/m)
    expect(await phaseline('cluster get ops/del/c')).toMatchObject({ code: 3 })
  })
})

describe('cancel', () => {
  it('withdraws what has not begun, and ends when that is undone', async () => {
    const { crm } = await served('can')
    await add(crm, 'cluster', 'can/c')
    expect(await phaseline('cluster update ops/can/c --spec {"size":9}')).toMatchObject({ code: 0 })
    await crm.take('can/c', 'UPDATE')
    await using update = phaseline.spawn('cluster cancel ops/can/c --reason enough --wait')
    // It may have begun unseen: its CRM takes it back.
    const back = await crm.take('can/c', 'UPDATE')
    expect(back.spec).toEqual({ size: 1 })
    expect((await phaseline('cluster get ops/can/c')).out).toMatch(/^undoing +yes/m)
    await crm.report(back, { phase: 'READY' })
    expect(await update.exit).toBe(0)
    expect(update.out()).toMatch(/^c asked to cancel, now UPDATE_ERROR$/m)
    expect(update.out()).toMatch(/^✗ can\/c: WITHDRAWN: Withdrawn by \S+: enough$/m)
    expect(update.out()).toMatch(/^c stopped: /m)
    expect(await phaseline('cancel ops/can --kind cloudlet')).toMatchObject({
      ...{ code: 2, err: expect.stringMatching(/^INVALID_INPUT: \S+ is a cloudlet, which cannot be cancelled\.\n$/) },
    })
    const again = await phaseline('cluster cancel ops/can/c')
    expect(again).toMatchObject({ code: 3, err: expect.stringContaining('TRANSITION') })

    expect(await phaseline('app create ops/can/c/a --spec {}')).toMatchObject({ code: 0 })
    await crm.take('can/c/a', 'CREATE')
    await using create = phaseline.spawn('app cancel ops/can/c/a --wait --json')
    await crm.report(await crm.take('can/c/a', 'DELETE'), { phase: 'NOT_PRESENT' })
    expect(await create.exit).toBe(0)
    expect(documents(create.out()).at(-1)).toMatchObject({ type: 'result', outcome: 'stopped', phase: 'GONE' })
  })
})

describe('cloudlet upgrade and resolve-upgrade', () => {
  it('is watched until the new CRM has taken over', async () => {
    const { id, crm } = await served('up')
    await using waits = phaseline.spawn('cloudlet upgrade ops/up --to 2.0 --wait')
    const request = await crm.take('up', 'UPDATE')
    await waits.shows('up 1 ✓ done')
    expect(request.spec).toEqual({ version: '2.0' })
    await crm.report(request, { phase: 'UPDATING' })
    await waits.shows('up upgrade  UPDATE_REQUESTED → UPDATING')
    const { out } = await phaseline('cloudlet get ops/up')
    expect(out).toMatch(/^phase +✓ READY, not finished$/m)
    expect(out).toMatch(/^upgrade +▶ UPDATING, to version 2\.0$/m)
    expect(out).toMatch(
      /^deadline +upgrade at \S+Z \(in [^)]+\), then UPDATE_ERROR: The upgrade fails if its CRM .* by then\.$/m,
    )
    expect(await phaseline('cluster create ops/up/c --spec {}')).toMatchObject({
      ...{ code: 3, err: expect.stringContaining('CLOUDLET_UPGRADING') },
    })
    const next = stack.use(await site.connect(id, { instance: 'up-2', version: '2.0', role: 'CRM_V2' }))
    expect((await phaseline('cloudlet get ops/up')).out).toMatch(/^crm v2 +up-2 as site, version 2\.0, epoch 2, until/m)
    await waits.shows('up upgrade  UPDATING → INIT_OK')
    await next.report(next, { phase: 'READY' })
    expect(await waits.exit).toBe(0)
    expect(waits.out()).toMatch(/^ops\/up asked to upgrade to 2\.0, now UPDATE_REQUESTED$/m)
    expect(await json('cloudlet get ops/up')).toMatchObject({ version: '2.0', epoch: 2, upgradePhase: 'READY' })
  })

  it('that fails is told, and put right by hand', async () => {
    const { crm } = await served('fails')
    await using waits = phaseline.spawn('cloudlet upgrade ops/fails --to 3 --wait')
    const error = { code: 'IMAGE', message: 'There is no such image.' }
    await crm.report(await crm.take('fails', 'UPDATE'), { phase: 'UPDATE_ERROR', error })
    expect(await waits.exit).toBe(1)
    expect(waits.out()).toMatch(/^✗ fails: IMAGE: There is no such image\.$/m)
    expect((await phaseline('cloudlet get ops/fails')).out).toMatch(/^upgrade +✗ UPDATE_ERROR$/m)
    expect((await phaseline('cloudlet list --project ops')).out).toMatch(
      /^ops +fails +✓ READY +\S+ +UPDATE_ERROR .* IMAGE$/m,
    )
    expect(await phaseline('cluster create ops/fails/c --spec {}')).toMatchObject({
      ...{ code: 3, err: expect.stringContaining('CLOUDLET_UPGRADE_FAILED') },
    })
    const resolved = await phaseline('cloudlet resolve-upgrade ops/fails')
    expect(resolved).toMatchObject({ code: 0, out: 'ops/fails upgrade put right, now READY\n' })
    expect(await phaseline('cloudlet resolve-upgrade ops/fails')).toMatchObject({
      ...{ code: 3, err: expect.stringContaining('TRANSITION') },
    })
  })
})

describe('a cloudlet', () => {
  it('shows what is not as recorded, goes offline, and is deleted with all that is on it', async () => {
    const { id, crm } = await served('drift')
    await add(crm, 'cluster', 'drift/c')
    await add(crm, 'app', 'drift/c/a')
    expect(await phaseline('cloudlet delete ops/drift')).toMatchObject({
      ...{ code: 3, err: expect.stringContaining('TRANSITION') },
    })
    const objects = [
      { kind: 'CLUSTER_INST', path: ['drift', 'c'], phase: 'READY', specRevision: 1 },
      { kind: 'CLUSTER_INST', path: ['drift', 'stray'], phase: 'READY', specRevision: 1 },
    ] as const
    const next = await site.connect(id, { instance: 'drift-2', objects })
    const { out } = await phaseline('cloudlet get ops/drift')
    expect(out).toMatch(/^drifted +drift\/c\/a$/m)
    expect(out).toMatch(/^orphan +drift\/stray \(cluster instance, READY\)$/m)
    expect((await phaseline('app get ops/drift/c/a')).out).toMatch(/^drifted +yes/m)
    expect((await phaseline('app list --project ops')).out).toMatch(/^ops\/drift\/c\/a +✓ READY .* drifted$/m)

    await next[Symbol.asyncDispose]()
    await seen('cloudlet get ops/drift', 'it is offline', ({ phase }) => phase === 'OFFLINE')
    expect((await phaseline('cloudlet get ops/drift')).out).toMatch(
      /^crm +drift-2 as site, .* not connected any more$/m,
    )
    expect(await phaseline('watch ops/drift --kind cloudlet')).toMatchObject({
      ...{ code: 1, out: expect.stringContaining('drift stopped: ') },
    })
    expect(await phaseline('cluster update ops/drift/c --spec {"size":5}')).toMatchObject({ code: 0 })
    expect((await phaseline('cluster get ops/drift/c')).out).toMatch(/^waits for +cloudlet: .* OFFLINE\.$/m)
    expect(await phaseline('cloudlet delete ops/drift')).toMatchObject({
      ...{ code: 3, err: expect.stringContaining('IN_USE') },
    })
    expect(await phaseline('cloudlet delete ops/drift --cascade --wait')).toMatchObject({
      ...{ code: 0, out: 'drift asked to be deleted\ndrift gone: nothing left\n' },
    })
    expect((await phaseline('cluster list --project ops')).out).not.toContain('drift')
  })
})
