import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Viewer } from '../../../src/core/ports/viewer.ts'
import type { SpecInput } from '../../../src/families/deployments/rules/normalise.ts'
import { EXECUTION, everything, expr, nested, refusal, specOf } from '../../testkit/deployments.ts'
import { viewerOf } from '../../testkit/viewers.ts'
import { createWorld, item, USER, type World } from '../../testkit/world.ts'

interface Case {
  readonly rule: string
  readonly spec: SpecInput
  /** Path below `input.spec`, and a pattern of the message. */
  readonly problems: readonly (readonly [path: string, message: RegExp])[]
}
const importing = (name: string, own: Partial<NonNullable<SpecInput['imports']>[number]> = {}) => ({ name, ...own })
const exporting = (name: string, value: unknown = 1) => ({ name, value })
const deep = (levels: number): SpecInput => (levels === 0 ? {} : { installations: [nested('inner', deep(levels - 1))] })
const many = <T>(n: number, make: (name: string) => T): T[] => Array.from({ length: n }, (_, i) => make(`n${i}`))

const cases: readonly Case[] = [
  {
    rule: 'duplicate names',
    spec: {
      imports: [importing('a'), importing('a')],
      exports: [exporting('b'), exporting('b')],
      installations: [nested('c', {}), nested('c', {})],
      deployItems: [item('d'), item('e'), item('d')],
    },
    problems: [
      ['imports.1.name', /a occurs twice/],
      ['exports.1.name', /b occurs twice/],
      ['installations.1.name', /c occurs twice/],
      ['deployItems.2.name', /d occurs twice/],
    ],
  },
  {
    rule: 'values of imports that their schemas do not take',
    spec: {
      imports: [
        importing('a', { schema: { type: 'integer' }, value: 'many' }),
        importing('b', { schema: { type: 'integer', default: 'few' } }),
      ],
      installations: [nested('n', { imports: [importing('c', { schema: { const: 1 }, value: 2 })] })],
    },
    problems: [
      ['imports.0.value', /^a: the value does not satisfy #\/type/],
      ['imports.1.schema.default', /^b: the value does not satisfy/],
      ['installations.0.spec.imports.0.value', /^c: /],
    ],
  },
  {
    rule: 'a secret in a spec',
    spec: { imports: [importing('a', { schema: { type: 'string', writeOnly: true }, value: 'hidden' })] },
    problems: [['imports.0.value', /is a secret by its schema .*phaseline data set NAME -f - --text/]],
  },
  {
    rule: 'an expression where none is evaluated',
    spec: { imports: [importing('c')], deployItems: [{ ...item('a'), target: expr('imports.c') }] },
    problems: [['deployItems.0.target', /expressions are in config and exports/]],
  },
  {
    rule: 'a cycle of items, named by its path',
    spec: { deployItems: [item('free'), item('a', ['b']), item('b', ['c']), item('c', ['a'])] },
    problems: [['deployItems', /: a → b → c → a$/]],
  },
  {
    rule: 'a cycle of items that only expressions make',
    spec: {
      deployItems: [
        item('a', [], { from: expr('deployItems.b.exports.x') }),
        item('b', [], { list: [expr('deployItems.a.exports.x')] }),
      ],
    },
    problems: [['deployItems', /: a → b → a$/]],
  },
  {
    rule: 'a cycle of nested installations, named by its path',
    spec: {
      installations: [
        nested('a', { imports: [importing('y')], exports: [exporting('x')] }),
        nested('b', { imports: [importing('input', { from: 'x' })], exports: [exporting('y')] }),
      ],
    },
    problems: [['installations', /: a → b → a$/]],
  },
  {
    rule: 'a cycle deep inside',
    spec: {
      installations: [
        nested('ok', {}),
        nested('outer', { installations: [nested('inner', { deployItems: [item('a', ['b']), item('b', ['a'])] })] }),
      ],
    },
    problems: [['installations.1.spec.installations.0.spec.deployItems', /: a → b → a$/]],
  },
  {
    rule: 'an unknown dependsOn, by its place in the input',
    spec: { deployItems: [item('a'), item('b'), item('c', ['zero', 'a', 'nowhere'])] },
    problems: [
      ['deployItems.2.dependsOn.0', /no deploy item zero/],
      ['deployItems.2.dependsOn.2', /no deploy item nowhere/],
    ],
  },
  {
    rule: 'an item that depends on itself',
    spec: { deployItems: [item('a', ['a']), item('b', [], { own: expr('deployItems.b.exports.x') })] },
    problems: [
      ['deployItems.0.dependsOn.0', /a depends on itself/],
      ['deployItems.1.config.own', /b depends on itself/],
    ],
  },
  {
    rule: 'a duplicate export among nested siblings',
    spec: {
      installations: [
        nested('a', { exports: [exporting('url')] }),
        nested('b', { exports: [exporting('port'), exporting('url')] }),
      ],
    },
    problems: [['installations.1.spec.exports.1.name', /url is exported by a already/]],
  },
  {
    rule: 'a nested export of a name that the parent imports',
    spec: { imports: [importing('url')], installations: [nested('a', { exports: [exporting('url')] })] },
    problems: [['installations.0.spec.exports.0.name', /url is in the scope already/]],
  },
  {
    rule: 'a nested import that nothing in scope can ever satisfy',
    spec: {
      imports: [importing('given')],
      installations: [
        nested('a', { imports: [importing('given'), importing('url')] }),
        nested('b', { imports: [importing('own')], exports: [exporting('own')] }),
        nested('c', { imports: [importing('maybe', { required: false })] }),
      ],
    },
    problems: [
      ['installations.0.spec.imports.1', /nothing in the scope can ever give it url/],
      ['installations.1.spec.imports.0', /nothing in the scope can ever give it own/],
    ],
  },
  {
    rule: 'a nested import that only an aunt exports',
    spec: {
      installations: [
        nested('aunt', { exports: [exporting('url')] }),
        nested('mother', { installations: [nested('child', { imports: [importing('url')] })] }),
      ],
    },
    problems: [['installations.1.spec.installations.0.spec.imports.0', /can ever give it url/]],
  },
  {
    rule: 'names that cannot be spoken in an expression',
    spec: {
      imports: [importing('1st'), importing('ok', { from: 'a b' })],
      exports: [exporting('')],
      installations: [nested('x'.repeat(64), {})],
      deployItems: [item('a.b'), { name: 'c', type: '../sh' }],
    },
    problems: [
      ['imports.0.name', /must start with a letter/],
      ['imports.1.from', /must start with a letter/],
      ['exports.0.name', /must start with a letter/],
      ['installations.0.name', /at most 63/],
      ['deployItems.0.name', /letters, digits/],
      ['deployItems.1.type', /plain word/],
    ],
  },
  {
    rule: 'expressions that cannot be read',
    spec: {
      exports: [exporting('bad', { deep: ['fine', expr('1 +')] })],
      deployItems: [item('a', [], { x: `text ${expr(')')} text` })],
    },
    problems: [
      ['deployItems.0.config.x', /.+/],
      ['exports.0.value.deep.1', /.+/],
    ],
  },
  {
    rule: 'expressions that speak of what is not there',
    spec: {
      imports: [importing('given')],
      exports: [
        exporting('a', expr('imports.other')),
        exporting('b', expr('deployItems.other.exports.x')),
        exporting('c', expr('installations.other.exports.x')),
        exporting('d', expr('installations.db.exports.other')),
        exporting('e', expr('secrets.key')),
      ],
      installations: [nested('db', { exports: [exporting('url')] })],
      deployItems: [
        item('i', [], { x: expr('imports.given'), y: { z: expr('imports.other') } }),
        item('j', [], { x: expr('installations.db.exports.url') }),
        item('k', [], { x: expr('deployItems.other.exports.x') }),
      ],
    },
    problems: [
      ['exports.0.value', /other is not among the imports/],
      ['exports.1.value', /no deploy item other/],
      ['exports.2.value', /no nested installation other/],
      ['exports.3.value', /db does not export other/],
      ['exports.4.value', /secrets/],
      ['deployItems.0.config.y.z', /other is not among the imports/],
      ['deployItems.1.config.x', /not of installations/],
      ['deployItems.2.config.x', /no deploy item other/],
    ],
  },
  {
    rule: 'expressions as keys',
    spec: {
      imports: [importing('key')],
      exports: [exporting('a', { [expr('imports.key')]: 1 })],
      deployItems: [item('i', [], { x: [{ [`k-${expr('nonsense((')}`]: 1 }], y: { [`$${expr('kept')}`]: 1 } })],
    },
    problems: [
      ['exports.0.value', /has the key "\$\{imports\.key\}": expressions are no keys, but a whole map may be one/],
      ['deployItems.0.config.x.0', /has the key "k-\$\{nonsense\(\(\}"/],
    ],
  },
  {
    rule: 'timeouts that are none',
    spec: {
      deployItems: [
        {
          name: 'a',
          type: 'mock',
          timeouts: { pickup: { ms: 0 }, progressing: { never: false }, aborting: { ms: 1 } },
        },
      ],
    },
    problems: [
      ['deployItems.0.timeouts.pickup.ms', /between 1 and/],
      ['deployItems.0.timeouts.progressing.never', /must be true/],
    ],
  },
  {
    rule: 'an import schema that is none',
    spec: {
      imports: [importing('ok', { schema: { type: 'string' } })],
      installations: [nested('a', { imports: [importing('x', { required: false, schema: 'string' })] })],
    },
    problems: [['installations.0.spec.imports.0.schema', /.+/]],
  },
  {
    rule: 'installations nested too deep',
    spec: deep(16),
    problems: [[`${'installations.0.spec.'.repeat(16).slice(0, -1)}`, /at most 16 deep/]],
  },
  {
    rule: 'too many nested installations',
    spec: { installations: many(2_001, (name) => nested(name, {})) },
    problems: [['installations', /at most 2000/]],
  },
  {
    rule: 'too many items, wherever they are',
    spec: {
      deployItems: many(60_000, (name) => ({ name, type: 'mock' })),
      installations: [nested('a', { deployItems: many(40_001, (name) => ({ name, type: 'mock' })) })],
    },
    problems: [['installations.0.spec.deployItems', /at most 100000/]],
  },
]

describe('refused when the spec is created or updated, with nothing half-written', () => {
  let world: World
  let id: string
  const sound: SpecInput = { exports: [exporting('kept')], imports: [importing('needed')], deployItems: [item('old')] }
  beforeAll(async () => {
    world = await createWorld()
    id = await world.create('sound', sound, false)
  })
  afterAll(async () => world[Symbol.asyncDispose]())

  for (const { rule, spec, problems } of cases) {
    it(rule, async () => {
      const before = await everything(world)
      const refusals = [
        await refusal(specOf(world, 'fresh', spec)),
        await refusal(world.commands.updateInstallation(USER, { id, spec, reconcile: true })),
      ]
      for (const { type, fields } of refusals) {
        expect(type).toBe('InvalidInputError')
        const wanted = problems.map(([path]) => `input.spec.${path}`)
        expect(fields.map(({ path }) => path).sort()).toEqual([...wanted].sort())
        for (const [path, message] of problems) {
          expect(fields.find((f) => f.path === `input.spec.${path}`)?.message).toMatch(message)
        }
      }
      expect(await everything(world)).toEqual(before)
    })
  }

  it('a bad name of the installation itself, together with what else is wrong', async () => {
    const { fields } = await refusal(specOf(world, 'no good', { deployItems: [item('a b')] }))
    expect(fields.map(({ path }) => path).sort()).toEqual(['input.name', 'input.spec.deployItems.0.name'])
  })

  it('a project that does not exist', async () => {
    const { fields } = await refusal(specOf(world, 'fresh', {}, 'nowhere'))
    expect(fields).toEqual([{ path: 'input.project', message: 'there is no project nowhere' }])
  })

  it('a name that is taken: ALREADY_EXISTS, with the conflicting object', async () => {
    const before = await everything(world)
    expect(await refusal(specOf(world, 'sound', {}))).toMatchObject({
      type: 'ConflictError',
      code: 'ALREADY_EXISTS',
      objectId: id,
    })
    expect(await everything(world)).toEqual(before)
  })

  it('an update of another generation: GENERATION_MISMATCH', async () => {
    const before = await everything(world)
    const update = (expectedGeneration: number, spec: SpecInput) =>
      world.commands.updateInstallation(USER, { id, spec, expectedGeneration, reconcile: true })
    expect(await refusal(update(2, {}))).toMatchObject({ code: 'GENERATION_MISMATCH', objectId: id })
    expect(await everything(world)).toEqual(before)
    expect(
      await world.commands.updateInstallation(USER, { id, spec: sound, expectedGeneration: 1, reconcile: false }),
    ).toEqual({
      ok: true,
      objectId: id,
    })
  })
})

describe('a spec', () => {
  it('gets the dependencies that expressions in a config imply', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', {
      imports: [importing('region', { required: false })],
      deployItems: [
        item('app', ['log'], {
          url: `http://${expr('deployItems.db.exports.host')}`,
          also: { it: [expr('deployItems.cache.exports.all')] },
        }),
        item('db'),
        item('cache', ['db']),
        item('log'),
      ],
    })
    expect(await world.claim()).toHaveLength(2)
    const { rows } = await world.pool.query(
      `select f.name as "from", string_agg(t.name, ' ' order by t.name) as "to" from object f
       join edge e on e.from_id = f.id join object t on t.id = e.to_id where f.root_id = $1 group by 1 order by 1`,
      [id],
    )
    expect(rows).toEqual([
      { from: 'app', to: 'cache db log' },
      { from: 'cache', to: 'db' },
    ])
  })

  it('that only differs in the order of keys is the same: no new generation', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('x', [], { a: 1, b: { c: 1, d: 2 } })] })
    await world.update(id, { deployItems: [item('x', [], { b: { d: 2, c: 1 }, a: 1 })] }, false)
    expect(await world.see('shop')).toMatchObject({ generation: 1 })
    await world.update(id, { deployItems: [item('x', [], { a: 1, b: { c: 1, d: 3 } })] }, false)
    expect(await world.see('shop')).toMatchObject({ generation: 2 })
  })

  it('belongs to the root: a nested installation is changed and driven through it', async () => {
    await using world = await createWorld()
    await world.create('shop', { installations: [nested('db', {})] })
    const { id } = await world.see('shop', 'db')
    const { commands } = world
    const update = await refusal(commands.updateInstallation(USER, { id, spec: {}, reconcile: true }))
    expect(update.fields.map(({ path }) => path)).toEqual(['input.spec'])
    for (const outcome of [
      commands.reconcileInstallation(USER, { id, mode: 'STANDARD' }),
      commands.deleteInstallation(USER, { id, force: false, withoutUninstall: false }),
      commands.cancelInstallation(USER, { id }),
    ]) {
      expect((await refusal(outcome)).fields.map(({ path }) => path)).toEqual(['input.id'])
    }
  })

  it('cannot be changed while its deletion runs or is remembered', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('x')] })
    const [x] = await world.claim()
    const update = () => world.commands.updateInstallation(USER, { id, spec: {}, reconcile: true })
    await world.remove(id)
    expect(await refusal(update())).toMatchObject({ code: 'BUSY', objectId: id })
    await world.report({ fence: x?.fence ?? '', phase: 'SUCCEEDED' })
    expect(await world.see('shop')).toMatchObject({ phase: 'DELETING' })
    expect(await refusal(update())).toMatchObject({ code: 'BUSY', objectId: id })
  })

  it('is refused to a reader and to an agent, and its installation is not found outside of the viewer’s projects', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', {})
    const { commands } = world
    for (const role of ['READER', 'AGENT'] as const) {
      const viewer = viewerOf(role)
      const create = commands.createInstallation(viewer, { project: 'default', name: 'b', spec: {}, reconcile: true })
      expect(await refusal(create)).toMatchObject({ type: 'ForbiddenError' })
      expect(await refusal(commands.updateInstallation(viewer, { id, reconcile: true }))).toMatchObject({
        type: 'ForbiddenError',
      })
    }
    const elsewhere = viewerOf('USER', { projects: [v7()] })
    expect(await refusal(commands.updateInstallation(elsewhere, { id, spec: {}, reconcile: true }))).toMatchObject({
      type: 'NotFoundError',
    })
    expect(await refusal(commands.updateInstallation(USER, { id: 'nonsense', reconcile: true }))).toMatchObject({
      type: 'NotFoundError',
    })
  })
})

describe('an idempotency key', () => {
  const create = (world: World, name: string, key: string, viewer = USER) =>
    world.commands.createInstallation(viewer, {
      project: 'default',
      name,
      spec: {},
      reconcile: true,
      idempotencyKey: key,
    })

  it('with the same input gives the object of the first call, and does nothing again', async () => {
    await using world = await createWorld()
    const created = await create(world, 'shop', 'k')
    const first = { ok: true, objectId: created.ok && created.objectId }
    await world.settle()
    expect(await create(world, 'shop', 'k')).toEqual(first)
    expect(await world.pool.query('select 1 from object').then(({ rowCount }) => rowCount)).toBe(1)
    const { id } = await world.see('shop')
    const reconcile = () => world.commands.reconcileInstallation(USER, { id, mode: 'STANDARD', idempotencyKey: 'k' })
    const { jobId } = await world.see('shop')
    expect(await reconcile()).toEqual(first)
    await world.settle()
    const again = await world.see('shop')
    expect(again.jobId).not.toBe(jobId)
    expect(await reconcile()).toEqual(first)
    await world.settle()
    expect(await world.see('shop')).toEqual(again)
  })

  it('of a cancellation does not cancel the next job', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    const cancel = () => world.commands.cancelInstallation(USER, { id, idempotencyKey: 'k' })
    expect(await cancel()).toEqual({ ok: true, objectId: id })
    await world.settle()
    await world.commands.reconcileInstallation(USER, { id, mode: 'STANDARD' })
    await world.settle()
    const running = await world.see('shop')
    expect(running).toMatchObject({ phase: 'PROGRESSING' })
    expect(await cancel()).toEqual({ ok: true, objectId: id })
    await world.settle()
    expect(await world.see('shop')).toEqual(running)
  })

  it('with another input is refused', async () => {
    await using world = await createWorld()
    await create(world, 'shop', 'k')
    expect((await refusal(create(world, 'other', 'k'))).fields.map(({ path }) => path)).toEqual([
      'input.idempotencyKey',
    ])
    expect(await world.exists('other')).toBe(false)
  })

  it('counts for one principal and one mutation, and for a day', async () => {
    await using world = await createWorld()
    await create(world, 'shop', 'k')
    const namesake = viewerOf('ADMIN', { name: USER.name })
    expect(await create(world, 'another', 'k', namesake)).toMatchObject({ ok: true })
    // Another token of the same principal repeats the request.
    expect(await refusal(create(world, 'third', 'k', { ...USER, tokenId: v7() }))).toMatchObject({
      type: 'InvalidInputError',
    })
    const { id } = await world.see('shop')
    const update = { id, spec: {}, reconcile: false, idempotencyKey: 'k' }
    expect(await world.commands.updateInstallation(USER, update)).toMatchObject({ ok: true })
    world.clock.advance(24 * 3_600_000 - 1)
    expect(await refusal(create(world, 'late', 'k'))).toMatchObject({ type: 'InvalidInputError' })
    world.clock.advance(1)
    expect(await create(world, 'late', 'k')).toMatchObject({ ok: true })
  })

  it('of a refused request is free again', async () => {
    await using world = await createWorld()
    await create(world, 'shop', 'first')
    expect(await refusal(create(world, 'shop', 'k'))).toMatchObject({ code: 'ALREADY_EXISTS' })
    expect(await create(world, 'other', 'k')).toMatchObject({ ok: true })
    await world.settle()
    const { id } = await world.see('shop')
    const reconcile = (viewer: Viewer) =>
      world.commands.reconcileInstallation(viewer, { id, mode: 'STANDARD', idempotencyKey: 'r' })
    for (const _ of [1, 2]) {
      expect(await refusal(reconcile(viewerOf('USER', { projects: [v7()] })))).toMatchObject({ type: 'NotFoundError' })
      expect(await refusal(reconcile(viewerOf('READER')))).toMatchObject({ type: 'ForbiddenError' })
    }
    expect(await reconcile(USER)).toMatchObject({ ok: true })
  })

  it('used twice at once makes one object', async () => {
    await using world = await createWorld()
    const [a, b] = await Promise.all([create(world, 'shop', 'k'), create(world, 'shop', 'k')])
    expect(a).toMatchObject({ ok: true })
    expect(b).toMatchObject({ ok: true, objectId: a.ok && a.objectId })
  })
})

it('names an execution so that it can be found', async () => {
  await using world = await createWorld()
  await world.create('shop', { deployItems: [item('x')] })
  expect(await world.see('shop', EXECUTION)).toMatchObject({ kind: 'EXECUTION' })
})
