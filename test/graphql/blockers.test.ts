import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../testkit/ask.ts'
import { addCloudlet, connectCrm } from '../testkit/edge.ts'
import { gql } from '../testkit/gql.ts'
import { addTask, begin, broken, claimJob, declare, exclusive, gadget, reportJob } from '../testkit/operations.ts'
import { addProject } from '../testkit/pipelines.ts'
import { viewerOf } from '../testkit/viewers.ts'
import { addPrincipal, item, USER } from '../testkit/world.ts'
import { type Api, createApi } from './api.ts'

let api: Api
beforeAll(async () => {
  api = await createApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const of = (type: string, name: string, dependsOn: readonly string[] = []) => ({ ...item(name, dependsOn), type })

const BLOCKERS = gql(`query ($id: ID!) { object(id: $id) { blockedBy { reason message source { name }
  ... on DependencyBlocker { object { name } } ... on ParentBlocker { object { name } } ... on SiblingImportBlocker { object { name } }
  ... on ImportBlocker { name } ... on AgentBlocker { types connected } ... on BackoffBlocker { until } ... on ChildrenBlocker { open } ... on NotInJobBlocker { cause object { name } } } } }`)
const LEFT_OUT = gql(
  'query ($id: ID!) { object(id: $id) { finished blockedBy { reason ... on NotInJobBlocker { cause object { name } } } } }',
)
const UNFINISHED = gql('{ objects(filter: { finished: false }, first: 500) { edges { node { name } } } }')
/** Blockers in short: reason and what it is about. */
async function blockers(...path: string[]): Promise<string[]> {
  return (await blockedBy(path)).map(({ reason, object: other, name, types, connected, open }) =>
    `${reason} ${other?.name ?? name ?? (types ? `${types} ${connected}` : (open ?? ''))}`.trim(),
  )
}

const messages = async (...path: string[]): Promise<string[]> => (await blockedBy(path)).map(({ message }) => message)
async function blockedBy(path: readonly string[]) {
  const { id } = await api.world.see(...path)
  const { object } = await api.query(BLOCKERS, { id })
  return present(object).blockedBy
}

async function projectId(name: string): Promise<string> {
  const { rows } = await api.world.pool.query<{ id: string }>('select id from project where name = $1', [name])
  return rows[0]?.id ?? ''
}

describe('blockedBy', () => {
  test('names the root cause first: the agent that is not there, not the sibling that waits for it', async () => {
    await api.world.create('chain', {
      installations: [
        {
          name: 'first',
          spec: { exports: [{ name: 'e', value: 1 }], deployItems: [of('rare', 'x'), of('rare', 'y', ['x'])] },
        },
        { name: 'second', spec: { imports: [{ name: 'e' }], deployItems: [of('rare', 'z')] } },
      ],
    })
    expect(await blockers('chain', 'second')).toEqual(['AGENT rare false', 'DEPENDENCY first'])
    expect(await blockers('chain', 'first')).toEqual(['AGENT rare false', 'CHILDREN 1'])
    expect(await blockers('chain')).toEqual(['AGENT rare false', 'CHILDREN 2'])
    expect(await blockers('chain', 'first', 'deploy-items', 'x')).toEqual(['AGENT rare false'])
    expect(await blockers('chain', 'first', 'deploy-items', 'y')).toEqual(['AGENT rare false', 'DEPENDENCY x'])
  })

  test('an agent that is there and busy is told apart, and work in hand waits for nothing', async () => {
    await api.world.claim(1, undefined, ['busy'])
    await api.world.create('taken', { deployItems: [of('busy', 'one'), of('busy', 'two', ['one'])] })
    expect(await blockers('taken', 'deploy-items', 'one')).toEqual(['AGENT busy true'])
    await api.world.claim(1, undefined, ['busy'])
    expect(await blockers('taken', 'deploy-items', 'one')).toEqual([])
    expect(await blockers('taken', 'deploy-items', 'two')).toEqual(['DEPENDENCY one'])
    expect(await blockers('taken')).toEqual(['CHILDREN 1'])
    api.world.clock.advance(61_000)
    await api.world.create('later', { deployItems: [of('busy', 'three')] })
    expect(await blockers('later', 'deploy-items', 'three')).toEqual(['AGENT busy false'])
  })

  test('an agent of another project is none', async () => {
    await addProject(api.world, 'other')
    const [other, own] = await Promise.all([projectId('other'), projectId('default')])
    const foreign = viewerOf('AGENT', { actor: 'DEPLOYER', projects: [other] })
    await addPrincipal(api.world.pool, foreign)
    await api.world.claim(1, foreign, ['shared'])
    await api.world.create('foreign', { deployItems: [of('shared', 'one')] })
    expect(await blockers('foreign')).toEqual(['AGENT shared false', 'CHILDREN 1'])
    const both = viewerOf('AGENT', { actor: 'DEPLOYER', projects: [other, own] })
    await addPrincipal(api.world.pool, both)
    await api.world.create('other', { deployItems: [of('shared', 'two')] })
    await api.world.claim(1, both, ['shared'])
    const waiting = ['foreign', 'other'].map((root) =>
      blockers(root, 'deploy-items', root === 'foreign' ? 'one' : 'two'),
    )
    expect((await Promise.all(waiting)).flat()).toEqual(['AGENT shared true'])
  })

  test('roots wait for names of the scope, and for roots that are not ready, along the whole chain', async () => {
    const given = [
      { name: 'own', value: 1 },
      { name: 'fallback', schema: { default: 1 } },
    ]
    await api.world.create('r1', { imports: [{ name: 'absent' }, ...given], exports: [{ name: 'r1', value: 1 }] })
    await api.world.create('r2', { imports: [{ name: 'r1' }], exports: [{ name: 'r2', value: 1 }] })
    await api.world.create('r3', { imports: [{ name: 'r2' }, { name: 'nothing', required: false }] })
    expect(await blockers('r1')).toEqual(['IMPORT absent'])
    expect(await blockers('r3')).toEqual(['IMPORT absent', 'DEPENDENCY r2'])
    await api.world.setData('absent', 1)
    expect(await blockers('r3')).toEqual([])
  })

  test('a blocker of another object has that object as its source', async () => {
    await api.world.create('sourced', {
      installations: [{ name: 'inner', spec: { deployItems: [of('rare', 'x'), of('rare', 'y')] } }],
    })
    const sources = async (...path: string[]) =>
      (await blockedBy(path)).map(({ reason, source }) => `${reason} ${source?.name ?? ''}`.trim())
    expect(await sources('sourced')).toEqual(['AGENT x', 'CHILDREN'])
    expect(await sources('sourced', 'inner')).toEqual(['AGENT x', 'CHILDREN'])
    expect(await sources('sourced', 'inner', 'deploy-items', 'x')).toEqual(['AGENT'])
  })

  test('an agent that is lost is what its item waits for, until another one takes it', async () => {
    const { world } = api
    await world.create('orphan', { deployItems: [of('frail', 'x'), of('frail', 'y')] })
    await world.claim(1, undefined, ['frail'], 60_000)
    expect(await messages('orphan', 'deploy-items', 'x')).toEqual([])
    await world.claim(1, undefined, ['frail'], 600_000)
    const busy = '2 of its children have not ended the job yet, such as x, which is PROGRESSING.'
    expect(await messages('orphan', 'deploy-items')).toEqual([busy])
    world.clock.advance(60_001)
    const lost = 'Its agent is lost. Waits for an agent of the type frail, and none is connected.'
    expect(await messages('orphan', 'deploy-items', 'x')).toEqual([lost])
    expect(await messages('orphan')).toEqual([lost, 'deploy-items/x, which is PROGRESSING, has not ended the job yet.'])
    await world.claim(1, undefined, ['frail'])
    expect(await blockers('orphan')).toEqual(['CHILDREN 1'])
  })

  test('a runner that is lost is what its job and its task wait for', async () => {
    const { world } = api
    await addTask(world, [gadget('forsaken')], 'abandoned')
    await begin(world, 'forsaken')
    expect(await messages('abandoned')).toEqual(['One of its jobs has not ended.'])
    world.clock.advance(60_001)
    const lost = 'Its runner is lost. No gadget runner was heard of within the last minute.'
    expect(await messages('abandoned')).toEqual([lost, 'One of its jobs has not ended.'])
    await claimJob(world, 'forsaken')
    expect(await messages('abandoned')).toEqual(['One of its jobs has not ended.'])
  })

  test('what failed below comes before what waits for it: in the tree, and in another one', async () => {
    const { world } = api
    const inner = { name: 'inner', spec: { deployItems: [of('cause', 'broken'), of('cause', 'slow')] } }
    await world.create('cause', { exports: [{ name: 'c', value: 1 }], installations: [inner] })
    await world.create('effect', { imports: [{ name: 'c' }] })
    const started = await world.claim(2, undefined, ['cause'])
    const fenceOf = (name: string) => started.find((one) => one.name === name)?.fence ?? ''
    const error = { code: 'DISK', message: 'No space is left' }
    await world.report({ fence: fenceOf('broken'), phase: 'FAILED', error })
    const [first] = await messages('cause')
    const cause = 'inner/deploy-items/broken ended FAILED: No space is left.'
    expect(first).toBe(`cause/${cause} inner/deploy-items/slow, which is PROGRESSING, has not ended the job yet.`)
    expect((await messages('effect')).at(0)).toBe(`cause/${cause} Depends on cause, which is PROGRESSING.`)
    await world.report({ fence: fenceOf('slow'), phase: 'SUCCEEDED' })
    expect(await messages('effect')).toEqual([`cause/${cause} Depends on cause, which is FAILED.`])
    expect(await messages('cause')).toEqual([])
  })

  test('a predecessor that has failed is the cause itself', async () => {
    await api.world.create('bad', { exports: [{ name: 'bad', value: 1 }], deployItems: [of('flaky', 'f')] })
    await api.world.create('needs', { imports: [{ name: 'bad' }] })
    const [work] = await api.world.claim(1, undefined, ['flaky'])
    await api.world.report({ fence: work?.fence ?? '', phase: 'FAILED' })
    expect(await blockers('needs')).toEqual(['DEPENDENCY bad'])
    expect(await blockers('bad')).toEqual([])
  })

  test('in mode FORCE only what is waited for: neither what has failed, nor roots but those that are being deleted', async () => {
    const { world } = api
    const made = (name: string) => ({
      name,
      spec: { exports: [{ name, value: 1 }], deployItems: [of('forced', name)] },
    })
    const id = await world.create('forced', {
      installations: [made('f1'), made('f2'), { name: 'after', spec: { imports: [{ name: 'f1' }, { name: 'f2' }] } }],
    })
    for (const { fence } of await world.claim(2, undefined, ['forced']))
      await world.report({ fence, phase: 'SUCCEEDED' })
    await world.reconcile(id, 'FORCE')
    const [work] = await world.claim(1, undefined, ['forced'])
    await world.report({ fence: work?.fence ?? '', phase: 'FAILED' })
    const [failed, runs] = work?.name === 'f1' ? ['f1', 'f2'] : ['f2', 'f1']
    expect(await world.see('forced', failed)).toMatchObject({ phase: 'FAILED' })
    const dependencies = async (...path: string[]) =>
      (await blockers(...path)).filter((b) => b.startsWith('DEPENDENCY'))
    expect(await dependencies('forced', 'after')).toEqual([`DEPENDENCY ${runs}`])

    const exporter = await world.create('leaving', {
      exports: [{ name: 'l', value: 1 }],
      deployItems: [of('forced', 'l')],
    })
    const importer = await world.create('hurried', { imports: [{ name: 'l' }] })
    for (const { fence } of await world.claim(2, undefined, ['forced']))
      await world.report({ fence, phase: 'SUCCEEDED' })
    await world.ignore(importer, true)
    await world.remove(exporter, { force: true })
    expect(await world.see('leaving')).toMatchObject({ phase: 'DELETING' })
    await world.reconcile(importer, 'FORCE')
    await world.ignore(importer, false)
    await world.settle()
    expect(await world.see('hurried')).toMatchObject({ phase: 'PENDING_DEPENDENCIES' })
    expect(await dependencies('hurried')).toEqual(['DEPENDENCY leaving'])
  })

  test('backing off, ignored, and deletion against the order', async () => {
    const id = await api.world.create('retry', { deployItems: [of('again', 'r')] })
    const [work] = await api.world.claim(1, undefined, ['again'])
    await api.world.report({
      fence: work?.fence ?? '',
      phase: 'PROGRESSING',
      error: { code: 'X', message: 'The engine is away.', retryable: true },
    })
    expect(await blockers('retry', 'deploy-items', 'r')).toEqual(['BACKOFF'])
    const [backoff] = await blockedBy(['retry', 'deploy-items', 'r'])
    expect(backoff?.message).toBe(
      `It is offered to agents again at ${backoff?.until}. Its last try ended with: The engine is away.`,
    )
    expect(await blockers('retry')).toEqual(['BACKOFF', 'CHILDREN 1'])
    await api.world.cancel(id)
    expect(await blockers('retry')).toEqual([])
    await api.world.ignore(id, true)
    await api.world.commands.reconcileInstallation(USER, { id, mode: 'STANDARD' })
    await api.world.settle()
    expect(await blockers('retry')).toEqual(['IGNORED'])

    // An agent that claims again is noted again only after some seconds.
    api.world.clock.advance(10_000)
    const tree = await api.world.create('down', { deployItems: [of('del', 'base'), of('del', 'top', ['base'])] })
    for (let i = 0; i < 2; i += 1) {
      const [next] = await api.world.claim(1, undefined, ['del'])
      await api.world.report({ fence: next?.fence ?? '', phase: 'SUCCEEDED' })
    }
    await api.world.remove(tree)
    expect(await blockers('down', 'deploy-items', 'base')).toEqual(['AGENT del true', 'DEPENDENCY top'])
    expect(await blockers('down')).toEqual(['AGENT del true', 'CHILDREN 1'])
  })

  test('what the job does not come to any more says why, and counts as finished', async () => {
    const { world } = api
    const left = async (root: string, ...names: string[]) => {
      const rows = await Promise.all(
        names.map(async (name) => {
          const { id } = await world.see(root, 'deploy-items', name)
          const { object } = await api.query(LEFT_OUT, { id })
          const [only] = present(object).blockedBy
          return [object?.finished, only?.reason, only?.cause, only?.object?.name]
        }),
      )
      const { objects } = await api.query(UNFINISHED)
      return [...rows, objects?.edges.map(({ node }) => node.name).filter((name) => names.includes(name))]
    }
    const tree = {
      deployItems: [
        of('left', 'bad'),
        of('left', 'slow'),
        of('left', 'after', ['bad']),
        of('left', 'last', ['after', 'slow']),
      ],
    }
    const id = await world.create('left', tree)
    const started = await world.claim(2, undefined, ['left'])
    const fenceOf = (name: string) => started.find((one) => one.name === name)?.fence ?? ''
    expect(await left('left', 'after', 'last')).toEqual([
      [false, 'DEPENDENCY', undefined, undefined],
      [false, 'DEPENDENCY', undefined, undefined],
      ['after', 'last'],
    ])
    await world.report({ fence: fenceOf('bad'), phase: 'FAILED' })
    const both = [
      [true, 'NOT_IN_JOB', 'PREDECESSOR_FAILED', 'bad'],
      [true, 'NOT_IN_JOB', 'PREDECESSOR_FAILED', 'bad'],
      [],
    ]
    // Another item still runs; then the job has ended; then it is repeated.
    expect(await left('left', 'after', 'last')).toEqual(both)
    expect(await messages('left', 'deploy-items', 'last')).toEqual([
      'Not in this job: it depends on bad, which ended FAILED in it.',
    ])
    await world.report({ fence: fenceOf('slow'), phase: 'SUCCEEDED' })
    expect(await world.see('left')).toMatchObject({ phase: 'FAILED' })
    expect(await left('left', 'after', 'last')).toEqual(both)
    await world.reconcile(id)
    const again = await world.claim(2, undefined, ['left'])
    expect((await left('left', 'after', 'last')).at(-1)).toEqual(['after', 'last'])
    await world.cancel(id)
    const cancelled = [true, 'NOT_IN_JOB', 'CANCELED', undefined]
    expect(await left('left', 'after', 'last')).toEqual([cancelled, cancelled, []])
    for (const { fence } of again) await world.report({ fence, phase: 'ABORTED' })
    expect(await world.see('left')).toMatchObject({ phase: 'ABORTED' })
  })

  test('so does what a deletion does not come to, and what no dependency failed for', async () => {
    const { world } = api
    const id = await world.create('kept', {
      deployItems: [of('kept', 'base'), of('kept', 'top', ['base']), of('kept', 'other')],
    })
    for (let i = 0; i < 2; i += 1) {
      for (const { fence } of await world.claim(2, undefined, ['kept']))
        await world.report({ fence, phase: 'SUCCEEDED' })
    }
    await world.remove(id)
    const [first, second] = await world.claim(2, undefined, ['kept'])
    expect([first?.name, second?.name].toSorted()).toEqual(['other', 'top'])
    for (const item of [first, second]) {
      if (item) await world.report({ fence: item.fence, phase: item.name === 'top' ? 'DELETE_FAILED' : 'GONE' })
    }
    expect(await blockers('kept', 'deploy-items', 'base')).toEqual(['NOT_IN_JOB top'])
    expect(await messages('kept', 'deploy-items', 'base')).toEqual([
      'Not in this job: top had to go first, and ended DELETE_FAILED in it.',
    ])

    await world.create('apart', { deployItems: [of('apart', 'a'), of('apart', 'b'), of('apart', 'c', ['b'])] })
    const items = await world.claim(2, undefined, ['apart'])
    const a = items.find(({ name }) => name === 'a')
    await world.report({ fence: a?.fence ?? '', phase: 'FAILED' })
    expect(await messages('apart', 'deploy-items', 'c')).toEqual([
      'Not in this job: a ended FAILED in it, and nothing more was started.',
    ])
  })

  test('a long chain costs no more statements than a short one', async () => {
    const items = Array.from({ length: 300 }, (_, i) => of('long', `l${i}`, i > 0 ? [`l${i - 1}`] : []))
    await api.world.create('long', { deployItems: items })
    const { id } = await api.world.see('long', 'deploy-items')
    const ask = (first: number) =>
      api.query(
        gql(
          'query ($id: ID!, $first: Int!) { object(id: $id) { children(first: $first) { edges { node { blockedBy(first: 2) { reason } } } } } }',
        ),
        { id, first },
      )
    const short = await api.statements(() => ask(2))
    expect(await api.statements(() => ask(300))).toBe(short)
    const { object } = await ask(300)
    expect(object?.children.edges.at(-1)?.node.blockedBy).toEqual([{ reason: 'AGENT' }, { reason: 'DEPENDENCY' }])
  })
})

const DECISIONS = gql(`query ($id: ID!) { object(id: $id) { blockedBy { reason
  ... on DecisionBlocker { object { name } verbs { name allowed } } } } }`)
const UNDECIDED = gql('{ objects(filter: { undecided: true }) { edges { node { name } } } }')

test('what only a person can end is a blocker with the verbs that end it, of the object and of all that wait for it', async () => {
  const { world } = api
  const first = async (id: string) => {
    const { object } = await api.query(DECISIONS, { id })
    const [blocker] = present(object).blockedBy
    return [blocker?.reason, blocker?.object?.name, blocker?.verbs?.map(({ name, allowed }) => `${name} ${allowed}`)]
  }
  const undecided = async () => {
    const { objects } = await api.query(UNDECIDED)
    return objects?.edges.map(({ node }) => node.name).filter((name) => ['held', 'edge-1', 'stays'].includes(name))
  }
  const idOf = async (name: string) => {
    const { rows } = await world.pool.query<{ id: string }>('select id from object where name = $1', [name])
    return rows[0]?.id ?? ''
  }

  const task = await addTask(world, [gadget('held')])
  const other = await addTask(world, [gadget('beside')])
  const held = await begin(world, 'held', [exclusive('disk')])
  await declare(world, 'beside', [exclusive('disk')])
  await reportJob(world, { fence: held.fence, phase: 'UNDOING', error: broken })
  const undo = await claimJob(world, 'held')
  await reportJob(world, { fence: undo.fence, phase: 'UNDO_FAILED', error: broken })
  const decision = ['DECISION', 'held', ['retryUndo true', 'giveUpUndo true']]
  expect(await first(await idOf('held'))).toEqual(decision)
  expect(await first(await idOf('beside'))).toEqual(decision)
  expect(await first(task)).toEqual(decision)
  expect(await first(other)).toEqual(decision)
  const onlooker = viewerOf('READER', { name: 'onlooker' })
  const { object } = await api.query(DECISIONS, { id: task }, onlooker)
  expect(object?.blockedBy[0]?.verbs).toEqual([
    { name: 'retryUndo', allowed: false },
    { name: 'giveUpUndo', allowed: false },
  ])

  const cloudlet = await addCloudlet(world, 'edge-1')
  await connectCrm(world, cloudlet)
  for (const phase of ['UPDATE_REQUESTED', 'UPDATE_ERROR'])
    await world.pool.query('update cloudlet set upgrade_phase = $2::phase where object_id = $1', [cloudlet, phase])
  expect(await first(cloudlet)).toEqual(['DECISION', 'edge-1', ['resolve true']])

  const root = await world.create('stays', { exports: [{ name: 's', value: 1 }], deployItems: [of('stays', 'x')] })
  const [made] = await world.claim(1, undefined, ['stays'])
  await world.report({ fence: made?.fence ?? '', phase: 'SUCCEEDED' })
  const user = await world.create('stays-user', { imports: [{ name: 's' }] })
  await world.ignore(user, true)
  await world.remove(root)
  expect(await world.see('stays')).toMatchObject({ phase: 'DELETE_FAILED' })
  expect(await first(root)).toEqual(['DECISION', 'stays', ['delete true']])
  expect(await undecided()).toEqual(['held', 'edge-1', 'stays'])
  await world.remove(root, { force: true, withoutUninstall: true })
  expect(await undecided()).toEqual(['held', 'edge-1'])
})

test('the clock that runs is shown, with what happens then', async () => {
  const id = await api.world.create('clocks', { deployItems: [of('timed', 't')] })
  const deadlines = async () => {
    const { id: itemId } = await api.world.see('clocks', 'deploy-items', 't')
    const { object } = await api.query(
      gql('query ($id: ID!) { object(id: $id) { deadlines { name since expiresAt to } } }'),
      { id: itemId },
    )
    return object?.deadlines.map((d) => [d.name, Date.parse(d.expiresAt) - Date.parse(d.since), d.to])
  }
  expect(await deadlines()).toEqual([['pickup', 300_000, 'FAILED']])
  const [work] = await api.world.claim(1, undefined, ['timed'])
  expect(await deadlines()).toEqual([['progressing', 600_000, 'FAILED']])
  await api.world.cancel(id)
  expect(await deadlines()).toEqual([['aborting', 300_000, 'FAILED']])
  await api.world.report({ fence: work?.fence ?? '', phase: 'ABORTED' })
  expect(await deadlines()).toEqual([])
})
