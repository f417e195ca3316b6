import { describe, expect, it } from 'vitest'
import type { SpecInput } from '../../../src/families/deployments/rules/normalise.ts'
import { type Api, createApi } from '../../graphql/api.ts'
import { exporter, expr, importer, nested } from '../../testkit/deployments.ts'
import { gql } from '../../testkit/gql.ts'
import { viewerOf, viewerWith } from '../../testkit/viewers.ts'
import { until } from '../../testkit/wait.ts'
import { DEPLOYER, succeed, USER } from '../../testkit/world.ts'

const ASK = gql(`mutation ($input: DryRunInstallationInput!) {
  answer: dryRunInstallation(input: $input) { __typename ... on DryRun { id } ... on Error { message code } }
}`)
const READ = gql(`query ($id: ID!) {
  dryRun(id: $id) { id projectName name requestedBy createdAt expiresAt complete
    items { path action type target state code message truncated
      changes { group kind namespace name action reason fields { path before after masked } diff } } }
}`)
const CLAIM_DRY_RUNS = gql(`mutation ($input: ClaimWorkInput!) {
  answer: claimWork(input: $input) {
    __typename
    ... on ClaimedWork { items { fence objectId projectId kind name action dryRunOf type target config attempt } }
    ... on Error { message }
  }
}`)
const REPORT_DRY_RUNS = gql(`mutation ($input: ReportDryRunsInput!) {
  answer: reportDryRuns(input: $input) {
    __typename
    ... on DryRunReports { results { __typename ... on DryRunReportAccepted { changed } ... on Error { message } } }
    ... on Error { message }
  }
}`)
const RENEW = gql(`mutation ($input: RenewLeasesInput!) {
  answer: renewLeases(input: $input) { ... on RenewedLeases { leases { state } } }
}`)

const item = (name: string, more: { readonly config?: unknown } = {}) => ({ name, type: 'mock', ...more })
const change = (name: string) => ({ kind: 'Thing', name, action: 'CREATE' as const })

/** An API with a deployer that does dry runs. */
async function open() {
  const api = await createApi()
  const claim = async ({
    max = 100,
    viewer = DEPLOYER,
    dryRuns = true,
    instance = 'one',
    targets = null as string[] | null,
  } = {}) => {
    const input = { instance, types: ['mock'], targets, max, leaseMs: 10_000, dryRuns }
    const { answer } = await api.query(CLAIM_DRY_RUNS, { input }, viewer)
    if (answer?.__typename !== 'ClaimedWork') throw new Error(JSON.stringify(answer))
    return answer.items
  }
  const report = async (fence: string, found: object, viewer = DEPLOYER) => {
    const { answer } = await api.query(REPORT_DRY_RUNS, { input: { reports: [{ fence, ...found }] } }, viewer)
    if (answer?.__typename !== 'DryRunReports') throw new Error(JSON.stringify(answer))
    const [result] = answer.results
    return result?.__typename === 'DryRunReportAccepted' ? result.changed : `${result?.__typename}`
  }
  const ask = async (input: object, viewer?: Parameters<Api['query']>[2]) => {
    const { answer } = await api.query(ASK, { input: input as never }, viewer)
    if (answer?.__typename !== 'DryRun') throw new Error(`${answer?.__typename}: ${answer?.message}`)
    return answer.id
  }
  const read = async (id: string, viewer?: Parameters<Api['query']>[2]) =>
    (await api.query(READ, { id }, viewer)).dryRun
  const states = async (id: string) =>
    Object.fromEntries((await read(id))?.items.map(({ path, state }) => [path.slice(1).join('/'), state]) ?? [])
  const messages = async (id: string) =>
    Object.fromEntries((await read(id))?.items.map(({ path, message }) => [path.at(-1) ?? '', message]) ?? [])
  const create = (spec: SpecInput, name = 'shop') => ask({ create: { name, spec } })
  // Known as an agent that does dry runs.
  await claim()
  return {
    ...{ api, world: api.world, ask, read, states, messages, claim, report, create },
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  }
}

describe('a dry run', () => {
  it('is claimed by an agent that asks for it, reported once, and moves no object', async () => {
    await using place = await open()
    const { world } = place
    const before = await world.pool.query(
      'select (select count(*) from object) o, (select count(*) from log_content) l',
    )
    const id = await place.create({ deployItems: [item('web', { config: { a: 1 } })] })
    expect(await place.read(id)).toMatchObject({ name: 'shop', projectName: 'default', complete: false })
    expect(await place.claim({ dryRuns: false })).toEqual([])
    const [work] = await place.claim()
    expect(work).toMatchObject({
      ...{ action: 'DRY_RUN', dryRunOf: 'RECONCILE', kind: 'DEPLOY_ITEM', name: 'web', type: 'mock', attempt: 1 },
      config: { a: 1 },
    })
    expect(await place.states(id)).toEqual({ 'deploy-items/web': 'CLAIMED' })
    const fence = work?.fence ?? ''
    const field = { path: 'spec.size', before: 1, after: 2 }
    const found = { ...change('web'), action: 'UPDATE', fields: [field], diff: '@@ -1,1 +1,1 @@\n-1\n+2' }
    expect(await place.report(fence, { changes: [found] })).toBe(true)
    expect(await place.report(fence, { changes: [] })).toBe(false)
    const answer = await place.read(id)
    expect(answer).toMatchObject({ complete: true, items: [{ action: 'CREATE', state: 'PLANNED', truncated: false }] })
    expect(answer?.items[0]?.changes).toEqual([
      { ...found, group: '', namespace: null, reason: null, fields: [{ ...field, masked: false }] },
    ])
    expect(await world.exists('shop')).toBe(false)
    const after = await world.pool.query('select (select count(*) from object) o, (select count(*) from log_content) l')
    expect(after.rows).toEqual(before.rows)
    // Nothing of the config stays.
    const { rows } = await world.pool.query('select config from dry_run_item')
    expect(rows).toEqual([{ config: null }])
  })

  it('has the items of a list, if the list is known', async () => {
    await using place = await open()
    await place.world.setData('regions', ['eu', 'us'])
    const web = { ...item('web', { config: { in: expr('each.key') } }), forEach: expr('imports.regions') }
    const dns = item('dns', { config: expr('deployItems.web.exports') })
    const spec = { imports: [{ name: 'regions' }], deployItems: [web, dns] }
    const id = await place.create(spec)
    expect((await place.claim()).map(({ name, config }) => [name, config])).toEqual([
      ['web-eu', { in: 'eu' }],
      ['web-us', { in: 'us' }],
    ])
    expect(await place.messages(id)).toMatchObject({ dns: expect.stringContaining('web-eu is not deployed yet') })

    const made = { exports: [{ name: 'regions', value: expr('deployItems.a.exports.list') }], deployItems: [item('a')] }
    const unknown = await place.create({ installations: [nested('made', made), nested('inner', spec)] }, 'other')
    expect(await place.messages(unknown)).toMatchObject({
      web: expect.stringContaining('the list of its forEach is not known yet'),
    })
  })

  it('goes to another agent when its lease has ended, three times, and the stale fence is refused', async () => {
    await using place = await open()
    const id = await place.create({ deployItems: [item('web')] })
    const [first] = await place.claim({ instance: 'killed' })
    expect(await place.claim()).toEqual([])
    place.world.clock.advance(10_001)
    const [second] = await place.claim()
    expect(second).toMatchObject({ attempt: 2 })
    expect(await place.report(first?.fence ?? '', { changes: [] })).toBe('StaleReportError')
    const { answer } = await place.api.query(
      RENEW,
      { input: { fences: [first?.fence ?? '', second?.fence ?? ''], leaseMs: 10_000 } },
      DEPLOYER,
    )
    expect(answer && 'leases' in answer && answer.leases?.map(({ state }) => state)).toEqual(['LOST', 'HELD'])
    expect(await place.report(second?.fence ?? '', { changes: [] }, viewerOf('AGENT', { actor: 'DEPLOYER' }))).toBe(
      'StaleReportError',
    )
    place.world.clock.advance(10_001)
    const [third] = await place.claim()
    place.world.clock.advance(10_001)
    expect(await place.claim()).toEqual([])
    expect(await place.read(id)).toMatchObject({ complete: true, items: [{ state: 'FAILED', code: 'AGENT_LOST' }] })
    expect(await place.report(third?.fence ?? '', { changes: [] })).toBe('StaleReportError')
  })

  it('is found by an agent that waits as soon as the lease of one that is gone has ended, while nothing is written', async () => {
    await using place = await open()
    const { world } = place
    await using host = await world.second({
      onWrite: () => {},
      isQuietSince: () => true,
      lookedAt: Number.POSITIVE_INFINITY,
    })
    await place.create({ deployItems: [item('web')] })
    expect(await place.claim({ instance: 'killed' })).toHaveLength(1)
    world.clock.advance(7_900)
    const waiting = host.agents.claim(DEPLOYER, {
      ...{ instance: 'other', types: ['mock'], targets: null, max: 1, leaseMs: 10_000, dryRuns: true, waitMs: 5_000 },
    })
    await until(() => host.agents.waitingClaims === 1, { what: 'the claim waits' })
    world.clock.advance(2_100)
    expect(await waiting).toMatchObject({ items: [{ name: 'web', attempt: 2 }] })
  })

  it('expires when nobody claims it, and is gone after an hour, or with its project', async () => {
    await using place = await open()
    const id = await place.create({ deployItems: [item('web')] })
    place.world.clock.advance(60_000)
    expect(await place.read(id)).toMatchObject({
      complete: true,
      items: [{ state: 'EXPIRED', message: 'No agent has claimed it within 60 s.' }],
    })
    expect(await place.claim()).toEqual([])
    await place.world.pool.query('delete from project')
    expect(await place.read(id)).toBeNull()
  })

  it('says why an input is not known, and plans the rest', async () => {
    await using place = await open()
    const { world } = place
    const id = await world.create('shop', {
      deployItems: [item('db'), item('web', { config: { url: expr('deployItems.db.exports.url') } })],
      installations: [nested('make', exporter('x')), nested('use', importer('x'))],
    })
    await world.work((work) => ({ ...succeed(work), exports: { url: `${work.name}.local`, x: 1 } }))
    await place.claim()
    const same = await place.ask({ reconcile: { id } })
    const works = await place.claim()
    expect(works.map(({ name, config }) => [name, config])).toEqual([
      ['make', null],
      ['use', { x: 1 }],
      ['db', null],
      ['web', { url: 'db.local' }],
    ])
    expect(new Set(Object.values(await place.states(same)))).toEqual(new Set(['CLAIMED']))
    const changed = await place.ask({
      update: {
        id,
        spec: {
          deployItems: [
            item('db', { config: { size: 2 } }),
            item('web', { config: { url: expr('deployItems.db.exports.url') } }),
            item('broken', { config: { a: expr('1 / 0') } }),
          ],
          installations: [
            nested('make', { ...exporter('x'), deployItems: [item('make', { config: { more: true } })] }),
            nested('use', importer('x')),
          ],
        },
      },
    })
    expect(await place.messages(changed)).toMatchObject({
      web: 'An input is not known yet: ${deployItems.db.exports.url} waits: the deploy item db changes.',
      use: expect.stringMatching(/^An input is not known yet: \$\{imports.x} waits: .*the deploy item make changes\.$/),
      db: null,
    })
    expect(await place.states(changed)).toMatchObject({ 'deploy-items/broken': 'FAILED', 'deploy-items/db': 'OFFERED' })
  })

  it('knows the values that imports have in the spec, and the defaults of their schemas', async () => {
    await using place = await open()
    const id = await place.create({
      imports: [{ name: 'own', value: 1 }, { name: 'fallback', schema: { default: 2 } }, { name: 'absent' }],
      deployItems: [
        item('web', { config: { of: [expr('imports.own'), expr('imports.fallback')] } }),
        item('waits', { config: { of: expr('imports.absent') } }),
      ],
    })
    expect(await place.claim()).toMatchObject([{ name: 'web', config: { of: [1, 2] } }])
    expect(await place.messages(id)).toMatchObject({
      waits: expect.stringContaining('nothing gives the import absent a value'),
    })
  })

  it('leaves out what IF_CHANGED leaves out, deletes what goes, and calls no deployer for what was never there', async () => {
    await using place = await open()
    const { world } = place
    const id = await world.create('shop', { deployItems: [item('db', { config: { kept: 1 } }), item('web')] })
    await world.work()
    const same = await place.ask({ reconcile: { id, mode: 'IF_CHANGED' } })
    expect(await place.messages(same)).toEqual({
      db: 'Nothing of it has changed, so the run leaves it out.',
      web: 'Nothing of it has changed, so the run leaves it out.',
    })
    expect(await place.read(same)).toMatchObject({ complete: true })
    await place.ask({ update: { id, spec: { deployItems: [item('web')] } } })
    const works = await place.claim()
    expect(works.map(({ name, dryRunOf, config }) => [name, dryRunOf, config])).toEqual([
      ['db', 'DELETE', { kept: 1 }],
      ['web', 'RECONCILE', null],
    ])
    expect(works[0]?.objectId).toBe((await world.see('shop', 'deploy-items', 'db')).id)
    const silent = await place.ask({ delete: { id, withoutUninstall: true } })
    expect(new Set(Object.values(await place.states(silent)))).toEqual(new Set(['SKIPPED']))
  })

  it('says that no agent serves a target, or that none does dry runs', async () => {
    await using place = await open()
    const id = await place.create({ deployItems: [item('web'), { name: 'other', type: 'other', target: 'east' }] })
    expect(await place.messages(id)).toEqual({
      web: null,
      other: 'No connected agent takes work of the type other at the target east.',
    })
    await place.claim({ dryRuns: false })
    place.world.clock.advance(5_001)
    await place.claim({ dryRuns: false })
    const later = await place.create({ deployItems: [item('web')] })
    expect(await place.messages(later)).toEqual({ web: 'The agents for work of the type mock do no dry runs.' })
  })

  it('goes to agents for its target only, by name or by what a selector selects', async () => {
    await using place = await open()
    const { world } = place
    const set = (name: string, region: string) =>
      world.commands.setTarget(USER, {
        project: 'default',
        name,
        type: 'kubernetes',
        labels: [{ key: 'region', value: region }],
      })
    await set('east', 'e')
    await set('west', 'w')
    const id = await place.create({
      deployItems: ['east', 'west', 'gone']
        .map((target) => ({ ...item(target), target }))
        .concat([{ ...item('none') } as never]),
    })
    const claim = async (more: object) => {
      const input = { instance: 'other', types: ['mock'], max: 10, leaseMs: 1_000, dryRuns: true, ...more }
      const { answer } = await place.api.query(CLAIM_DRY_RUNS, { input }, DEPLOYER)
      return answer?.__typename === 'ClaimedWork' ? answer.items.map(({ name }) => name) : []
    }
    const labels = [{ key: 'region', value: 'w' }]
    expect(await claim({ targetSelector: { type: 'kubernetes', labels } })).toEqual(['west'])
    expect(await claim({ targets: ['gone'] })).toEqual(['gone', 'none'])
    expect(await claim({})).toEqual(['east'])
    expect(await place.read(id)).toBeDefined()
  })

  it('is refused to viewers and to who may not bring the code, and shown to nobody without the right', async () => {
    await using place = await open()
    const id = await place.create({ deployItems: [item('web')] })
    const viewer = viewerOf('READER')
    await expect(place.ask({ create: { name: 'a', spec: {} } }, viewer)).rejects.toThrow(
      'ada may not dry-run installation: it takes the role EDITOR',
    )
    await expect(place.read(id, viewer)).rejects.toThrow('may not dry-run installation')
    const editor = viewerWith([{ role: 'EDITOR', projectId: null }])
    const spec = { deployItems: [{ name: 'web', type: 'kubernetes-manifest', config: { manifests: ['a: b'] } }] }
    await expect(
      place.ask({ create: { name: 'a', spec: { deployItems: [item('web')] } } }, editor),
    ).resolves.toBeDefined()
    await expect(place.ask({ create: { name: 'a', spec } }, editor)).rejects.toThrow(/ForbiddenError|InvalidInputError/)
    const foreign = viewerWith([{ role: 'EDITOR', projectId: '01900000-0000-7000-8000-000000000000' }])
    expect(await place.read(id, foreign)).toBeNull()
  })

  it('is bounded in number and in size, and says so', async () => {
    await using place = await open()
    const id = await place.create({ deployItems: [item('web')] })
    const [work] = await place.claim()
    const changes = Array.from({ length: 5 }, (_, i) => ({ ...change(`n${i}`), diff: 'x'.repeat(100_000) }))
    expect(await place.report(work?.fence ?? '', { changes })).toBe(true)
    const [answer] = (await place.read(id))?.items ?? []
    expect(answer).toMatchObject({ state: 'PLANNED', truncated: true })
    expect(answer?.changes.map(({ name, diff }) => [name, diff?.length ?? 0])).toEqual([
      ['n0', 100_000],
      ['n1', 100_000],
      ['n2', 0],
      ['n3', 0],
      ['n4', 0],
    ])
    // Text that a database packs well counts as it is, and reports at the same moment count each other.
    const many = await place.create({ deployItems: Array.from({ length: 20 }, (_, i) => item(`i${i}`)) })
    const works = await place.claim()
    const large = changes.slice(0, 2).map((one) => ({ ...one, diff: 'x'.repeat(125_000) }))
    await Promise.all(works.map(({ fence }) => place.report(fence, { changes: large })))
    const whole = (await place.read(many))?.items ?? []
    expect(whole.map(({ state }) => state)).toEqual(Array.from({ length: 20 }, () => 'PLANNED'))
    const size = JSON.stringify(whole.map(({ changes: found }) => found)).length
    expect(size).toBeGreaterThan(4_000_000)
    expect(size).toBeLessThan(4.2 * 1_024 * 1_024)
    const project = (await place.world.pool.query('select id from project')).rows[0].id
    await place.world.pool.query(
      `insert into dry_run select gen_random_uuid(), $1, 'a', null, 'b', now() from generate_series(1, 99)`,
      [project],
    )
    await expect(place.create({ deployItems: [] })).rejects.toThrow('LimitError')
  })
})
