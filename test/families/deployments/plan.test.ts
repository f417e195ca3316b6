import { v7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import type { PlanInstallation } from '../../../src/families/deployments/commands/inputs.ts'
import type { SpecInput } from '../../../src/families/deployments/rules/normalise.ts'
import {
  EXECUTION,
  everything,
  exporter,
  expr,
  importer,
  nested,
  refusal,
  specOf,
  using,
} from '../../testkit/deployments.ts'
import { createWorld, DEPLOYER, item, succeed, USER, type World } from '../../testkit/world.ts'

describe('what a plan would wait for', () => {
  const blockers = async (world: World, input: PlanInstallation) => {
    const outcome = await world.commands.planInstallation(USER, input)
    if (!outcome.ok) throw new Error(outcome.refusal.message)
    return outcome.blockers.map(({ reason, message, path, objectCount }) => [
      reason,
      message,
      path.join('/'),
      objectCount,
    ])
  }
  const unserved = (name: string) => ({ ...item(name), type: 'nobody' })
  const spec = {
    imports: [{ name: 'url' }, { name: 'maybe', required: false }, { name: 'own', value: 1 }],
    installations: [{ name: 'inner', spec: { deployItems: [unserved('a'), item('served')] } }],
    deployItems: [unserved('b'), { ...unserved('c'), target: 'there' }],
  }
  const create = { create: { project: 'default', name: 'shop', spec } }
  const AGENT = 'Waits for an agent of the type nobody'

  it('is each type that nobody serves and each import that nobody exports, once', async () => {
    await using world = await createWorld()
    await world.claim(1, DEPLOYER)
    const predicted = [
      ['IMPORT', 'The import url has no value yet.', 'shop', 1],
      ['AGENT', `${AGENT}, and none is connected.`, 'shop/deploy-items/b', 2],
      ['AGENT', `${AGENT} for the target there, and none is connected.`, 'shop/deploy-items/c', 1],
    ]
    expect(await blockers(world, create)).toEqual(predicted)
    const id = await world.create('shop', spec)
    const asCreated = await blockers(world, { update: { id, spec } })
    expect(asCreated).toEqual(predicted)
    await world.setData('url', 'http://here')
    expect((await blockers(world, { update: { id, spec } })).map(([reason]) => reason)).toEqual(['AGENT', 'AGENT'])
  })

  it('is nothing once an exporter and an agent are there, nor for a deletion', async () => {
    await using world = await createWorld()
    await world.create('other', { exports: [{ name: 'url', value: 'u' }] })
    await world.claim(1, DEPLOYER, ['nobody', 'mock'])
    expect(await blockers(world, create)).toEqual([])
    const id = await world.create('shop', spec)
    expect(await blockers(world, { delete: { id } })).toEqual([])
  })
})

type PlannedStep = readonly [action: string, path: string]

async function plan(world: World, input: PlanInstallation): Promise<readonly PlannedStep[]> {
  const outcome = await world.commands.planInstallation(USER, input)
  if (!outcome.ok) throw new Error(outcome.refusal.message)
  expect(outcome.steps.map(({ order }) => order)).toEqual(outcome.steps.map((_, i) => i + 1))
  return outcome.steps.map(({ action, path }) => [action, path.join('/')])
}

interface Row {
  readonly id: string
  readonly parent: string | null
  readonly name: string
  readonly from: string | null
  readonly to: string
  readonly batch: number
}
/** The actions of a request from the log, in order: starts (INIT) and deletions. */
async function watch(world: World, rootName: string, request: () => Promise<unknown>): Promise<readonly PlannedStep[]> {
  const generations = await readGenerations(world)
  const { rows: last } = await world.pool.query<{ batch: number }>(
    'select coalesce(max(batch_id), 0) as batch from phase_change',
  )
  await request()
  await world.work((work) => ({ ...succeed(work), exports: work.action === 'DELETE' ? null : { url: 'u', port: 1 } }))
  const { rows } = await world.pool.query<Row>(
    `select object_id as id, parent_id as parent, name, "from", "to", batch_id as batch from phase_change
     where not rejected order by batch_id, idx`,
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  const pathOf = (row: Row): string => {
    const parent = row.parent && byId.get(row.parent)
    return parent ? `${pathOf(parent)}/${row.name}` : row.name
  }
  const now = await readGenerations(world)
  return rows
    .filter((row) => row.batch > (last[0]?.batch ?? 0) && pathOf(row).split('/')[0] === rootName)
    .flatMap((row): PlannedStep[] => {
      if (row.to === 'GONE') return [['DELETE', pathOf(row)]]
      if (row.to !== 'INIT') return []
      const before = generations.get(row.id)
      if (before === undefined) return [['CREATE', pathOf(row)]]
      return [[before === now.get(row.id) ? 'RUN' : 'UPDATE', pathOf(row)]]
    })
}
async function readGenerations(world: World): Promise<ReadonlyMap<string, number>> {
  const { rows } = await world.pool.query<{ id: string; generation: number }>('select id, generation from object')
  return new Map(rows.map(({ id, generation }) => [id, generation]))
}

/** Each object depends on another one, so that the order is unique. */
const LINE: SpecInput = {
  installations: [
    nested('app', { imports: [{ name: 'url' }], installations: [nested('deep', { deployItems: [using('d', [])] })] }),
    nested('db', {
      exports: [{ name: 'url', value: expr('deployItems.make.exports.url') }],
      deployItems: [item('migrate', ['make']), item('make')],
    }),
  ],
}
const WIDE: SpecInput = {
  deployItems: [item('c', ['a']), item('a'), item('b', [], { from: expr('deployItems.c.exports.url') })],
  installations: [nested('app', importer('url')), nested('db', exporter('url', 'port')), nested('empty', {})],
}
const sorted = (steps: readonly PlannedStep[]) => steps.map((step) => step.join(' ')).toSorted()

describe('the actions of a plan happen in its order', () => {
  it('of a create', async () => {
    await using world = await createWorld()
    const said = await plan(world, { create: { project: 'default', name: 'shop', spec: LINE } })
    expect(said).toEqual([
      ['CREATE', 'shop'],
      ['CREATE', 'shop/db'],
      ['CREATE', `shop/db/${EXECUTION}`],
      ['CREATE', `shop/db/${EXECUTION}/make`],
      ['CREATE', `shop/db/${EXECUTION}/migrate`],
      ['CREATE', 'shop/app'],
      ['CREATE', 'shop/app/deep'],
      ['CREATE', `shop/app/deep/${EXECUTION}`],
      ['CREATE', `shop/app/deep/${EXECUTION}/d`],
    ])
    expect(await watch(world, 'shop', () => world.create('shop', LINE))).toEqual(said)
  })

  it('of an update: orphans first, then what is new, changed, or merely runs again', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', LINE)
    await world.work((work) => ({ ...succeed(work), exports: { url: 'u' } }))
    const spec: SpecInput = {
      installations: [
        nested('db', {
          exports: [{ name: 'url', value: expr('deployItems.make.exports.url') }],
          deployItems: [
            item('make'),
            { ...item('migrate', ['make']), type: 'other' },
            item('seed', ['make'], { rows: 1 }),
          ],
        }),
        nested('web', { imports: [{ name: 'url' }], deployItems: [item('w')] }),
      ],
    }
    // The replaced item is for another deployer, which this one is not: what follows it in the job does not happen.
    const said = await plan(world, { update: { id, spec } })
    const done = await watch(world, 'shop', () => world.update(id, spec))
    expect(said.slice(0, 4)).toEqual([
      ['UPDATE', 'shop'],
      ['DELETE', `shop/app/deep/${EXECUTION}/d`],
      ['DELETE', `shop/app/deep/${EXECUTION}`],
      ['DELETE', 'shop/app/deep'],
    ])
    expect(said.slice(5, 8)).toEqual([
      ['UPDATE', 'shop/db'],
      ['UPDATE', `shop/db/${EXECUTION}`],
      ['DELETE', `shop/db/${EXECUTION}/migrate`],
    ])
    expect(done).toEqual(said.filter(([, path]) => !path.startsWith('shop/web')))
  })

  it('of an update that changes nothing', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', LINE)
    await world.work((work) => ({ ...succeed(work), exports: { url: 'u' } }))
    const said = await plan(world, { update: { id, spec: LINE } })
    expect(new Set(said.map(([action]) => action))).toEqual(new Set(['RUN']))
    expect(await watch(world, 'shop', () => world.update(id, LINE))).toEqual(said)
  })

  it('of an update that takes all items away', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a'), item('b', ['a'])] })
    await world.work()
    const said = await plan(world, { update: { id, spec: {} } })
    expect(said.slice(1)).toEqual([
      ['DELETE', `shop/${EXECUTION}/b`],
      ['DELETE', `shop/${EXECUTION}/a`],
      ['DELETE', `shop/${EXECUTION}`],
    ])
    expect(await watch(world, 'shop', () => world.update(id, {}))).toEqual(said)
  })

  it('of a deletion, also of one after edits that were never deployed', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', LINE)
    await world.work((work) => ({ ...succeed(work), exports: { url: 'u' } }))
    await world.update(id, WIDE, false)
    const said = await plan(world, { delete: { id } })
    expect(said[0]).toEqual(['DELETE', `shop/app/deep/${EXECUTION}/d`])
    expect(said.at(-1)).toEqual(['DELETE', 'shop'])
    expect(await watch(world, 'shop', () => world.remove(id))).toEqual(said)
  })

  it('where there is no one order: the same things all the same', async () => {
    await using world = await createWorld()
    const create = await plan(world, { create: { project: 'default', name: 'shop', spec: WIDE } })
    expect(sorted(await watch(world, 'shop', () => world.create('shop', WIDE)))).toEqual(sorted(create))
    const { id } = await world.see('shop')
    const spec = {
      ...WIDE,
      deployItems: [item('b'), item('new')],
      installations: [nested('empty', {}), nested('more', {})],
    }
    const update = await plan(world, { update: { id, spec } })
    expect(sorted(await watch(world, 'shop', () => world.update(id, spec)))).toEqual(sorted(update))
    const remove = await plan(world, { delete: { id } })
    expect(sorted(await watch(world, 'shop', () => world.remove(id)))).toEqual(sorted(remove))
    expect(await world.exists('shop')).toBe(false)
  })
})

describe('a plan', () => {
  it('writes nothing', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', WIDE)
    await world.work((work) => ({ ...succeed(work), exports: { url: 'u', port: 1 } }))
    const before = await everything(world)
    await plan(world, { create: { project: 'default', name: 'other', spec: LINE } })
    await plan(world, { update: { id, spec: {} } })
    await plan(world, { delete: { id, withoutUninstall: true } })
    expect(await everything(world)).toEqual(before)
  })

  it('is refused for what the mutation would refuse, with the same words', async () => {
    await using world = await createWorld()
    const spec = { deployItems: [item('a', ['b']), item('b', ['a']), item('c', ['nowhere'])] }
    const { fields } = await refusal(specOf(world, 'shop', spec))
    const create = world.commands.planInstallation(USER, { create: { project: 'default', name: 'shop', spec } })
    expect((await refusal(create)).fields).toEqual(fields)
    const id = await world.create('shop', {})
    expect((await refusal(world.commands.planInstallation(USER, { update: { id, spec } }))).fields).toEqual(fields)
    const nowhere = world.commands.planInstallation(USER, { delete: { id: USER.tokenId } })
    expect(await refusal(nowhere)).toMatchObject({ type: 'NotFoundError' })
    // A worker reads no tree but its own.
    const worker = { ...USER, role: 'WORKER', rootId: v7() } as const
    for (const input of [{ update: { id, spec: {} } }, { delete: { id } }])
      expect(await refusal(world.commands.planInstallation(worker, input))).toMatchObject({ type: 'NotFoundError' })
  })

  it('notes where no deployer is called', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a'), item('b', ['a'])] })
    const [a] = await world.claim()
    await world.report({ fence: a?.fence ?? '', phase: 'FAILED' })
    const reasons = async (withoutUninstall: boolean) => {
      const outcome = await world.commands.planInstallation(USER, { delete: { id, withoutUninstall } })
      if (!outcome.ok) throw new Error(outcome.refusal.message)
      return outcome.steps.map(({ name, reason }) => [name, reason.includes('its deployer is not called')])
    }
    expect(await reasons(false)).toEqual([
      ['b', true],
      ['a', false],
      [EXECUTION, false],
      ['shop', false],
    ])
    expect(await reasons(true)).toEqual([
      ['b', true],
      ['a', true],
      [EXECUTION, false],
      ['shop', false],
    ])
    await world.remove(id)
    expect(await world.work()).toEqual(['a'])
  })

  it('of an ignored tree is empty: nothing would be started', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { installations: [nested('n', {})] })
    await world.ignore(id, true)
    const spec = { installations: [nested('n', {}), nested('m', {})] }
    expect(await plan(world, { update: { id, spec } })).toEqual([])
    expect(await watch(world, 'shop', () => world.update(id, spec))).toEqual([])
    expect(await plan(world, { delete: { id } })).toEqual([])
    expect(await watch(world, 'shop', () => world.remove(id))).toEqual([])
  })

  it('of a deletion leaves out an ignored nested installation, and all that it depends on', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', WIDE)
    await world.work((work) => ({ ...succeed(work), exports: { url: 'u', port: 1 } }))
    await world.ignore((await world.see('shop', 'app')).id, true)
    const said = await plan(world, { delete: { id } })
    expect(said.map(([, path]) => path)).toEqual([
      `shop/${EXECUTION}/b`,
      `shop/${EXECUTION}/c`,
      `shop/${EXECUTION}/a`,
      `shop/${EXECUTION}`,
      'shop/empty',
    ])
    expect(sorted(await watch(world, 'shop', () => world.remove(id)))).toEqual(sorted(said))
  })

  it('of a root that was never reconciled counts, ignored or not', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', {}, false)
    await world.ignore(id, true)
    const said = await plan(world, { update: { id, spec: LINE } })
    expect(said).toHaveLength(9)
  })

  it('leaves an ignored nested installation out', async () => {
    await using world = await createWorld()
    const spec = { installations: [nested('n', { deployItems: [item('x')] }), nested('m', {})] }
    const id = await world.create('shop', spec)
    await world.work()
    await world.ignore((await world.see('shop', 'n')).id, true)
    const said = await plan(world, { update: { id, spec } })
    expect(said).toEqual([
      ['RUN', 'shop'],
      ['RUN', 'shop/m'],
    ])
    expect(await watch(world, 'shop', () => world.update(id, spec))).toEqual(said)
  })
})
