import { describe, expect, it } from 'vitest'
import { expandItems, listsOf } from '../../../src/families/deployments/rules/for-each.ts'
import { importsFor } from '../../../src/families/deployments/rules/mentioned.ts'
import type { SpecInput } from '../../../src/families/deployments/rules/normalise.ts'
import type { ItemSpec } from '../../../src/families/deployments/rules/spec.ts'
import { refusal } from '../../testkit/deployments.ts'
import { createWorld, item, USER, type World } from '../../testkit/world.ts'

/** One deploy item for each entry of a list. */

const REGIONS: SpecInput = {
  imports: [{ name: 'regions' }],
  exports: [{ name: 'urls', value: '${deployItems.web.exports}' }],
  deployItems: [
    item('base'),
    { ...item('web', ['base'], { in: '${each.value}' }), forEach: '${imports.regions}' },
    item('dns', [], { urls: '${deployItems.web.exports}' }),
  ],
}
const names = async (world: World) =>
  (
    await world.pool.query<{ name: string }>(`select name from object where kind = 'DEPLOY_ITEM' order by ordinal`)
  ).rows.map(({ name }) => name)
const data = async (world: World, name: string) =>
  (await world.pool.query<{ value: unknown }>('select value from data_object where name = $1', [name])).rows[0]?.value
const refused = async (world: World, spec: SpecInput) => {
  const { fields } = await refusal(
    world.commands.createInstallation(USER, { project: 'default', name: 'refused', spec, reconcile: true }),
  )
  return fields.map(({ path, message }) => `${path} ${message}`).join()
}

describe('forEach', () => {
  it('makes an item of each entry of an import, and the list of the next job decides which stay', async () => {
    await using world = await createWorld()
    await world.setData('regions', ['eu', 'us'])
    await world.create('shop', REGIONS)
    const [base] = await world.claim()
    await world.report({ fence: base?.fence ?? '', phase: 'SUCCEEDED' })
    const web = await world.claim()
    expect(web.map(({ name, config }) => [name, config])).toEqual([
      ['web-eu', { in: 'eu' }],
      ['web-us', { in: 'us' }],
    ])
    for (const { fence, name } of web) await world.report({ fence, phase: 'SUCCEEDED', exports: { url: `of ${name}` } })
    const [dns] = await world.claim()
    const urls = { eu: { url: 'of web-eu' }, us: { url: 'of web-us' } }
    expect(dns).toMatchObject({ name: 'dns', config: { urls } })
    await world.report({ fence: dns?.fence ?? '', phase: 'SUCCEEDED' })
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED' })
    expect(await data(world, 'urls')).toEqual(urls)

    // The import changes, so a job begins by itself.
    await world.setData('regions', [{ name: 'us', size: 2 }, 'asia'])
    const deleted = await world.claim()
    expect(deleted.map(({ name, action }) => [name, action])).toEqual([['web-eu', 'DELETE']])
    await world.report({ fence: deleted[0]?.fence ?? '', phase: 'GONE' })
    const changed = await world.claim()
    expect(changed.map(({ name, config }) => [name, config])).toEqual([
      ['web-us', { in: { name: 'us', size: 2 } }],
      ['web-asia', { in: 'asia' }],
    ])
    for (const { fence } of changed) await world.report({ fence, phase: 'SUCCEEDED', exports: {} })
    expect(await world.work()).toEqual(['dns'])
    expect(await names(world)).toEqual(['base', 'web-us', 'web-asia', 'dns'])

    // None is left of an empty list, and what depends on it has nothing to wait for.
    await world.setData('regions', [])
    expect(await world.work()).toEqual(['web-us', 'web-asia', 'dns'])
    expect(await names(world)).toEqual(['base', 'dns'])
    expect(await data(world, 'urls')).toEqual({})
  })

  it('takes a map, numbers, and the target of an entry', async () => {
    await using world = await createWorld()
    await world.create('map', {
      deployItems: [{ ...item('m', [], { v: '${each.key}=${each.value}' }), forEach: { a: 1, b: 2 } }],
    })
    expect((await world.claim()).map(({ name, config }) => [name, config])).toEqual([
      ['m-a', { v: 'a=1' }],
      ['m-b', { v: 'b=2' }],
    ])
    await world.create('numbers', {
      target: 'here',
      deployItems: [{ ...item('n'), forEach: [0, { name: 'x', target: 'there' }] }],
    })
    expect((await world.claim()).map(({ name, target }) => [name, target])).toEqual([
      ['n-0', 'here'],
      ['n-x', 'there'],
    ])
  })

  it('makes items of what an item of the same tree has found, in each job anew', async () => {
    await using world = await createWorld()
    const scan = {
      exports: [{ name: 'hosts', value: '${deployItems.find.exports.hosts}' }],
      deployItems: [item('find')],
    }
    const hosts = {
      imports: [{ name: 'hosts' }],
      deployItems: [{ ...item('patch'), forEach: '${imports.hosts}' }],
    }
    const installations = [
      { name: 'scan', spec: scan },
      { name: 'hosts', spec: hosts },
    ]
    const id = await world.create('fleet', { installations, exports: [], deployItems: [] })
    const find = async (found: readonly string[]) => {
      const [one] = await world.claim()
      expect(one?.name).toBe('find')
      await world.report({ fence: one?.fence ?? '', phase: 'SUCCEEDED', exports: { hosts: found } })
    }
    await find(['alpha', 'beta'])
    expect(await world.work()).toEqual(['patch-alpha', 'patch-beta'])
    await world.reconcile(id)
    await find(['beta', 'gamma'])
    expect(await world.work()).toEqual(['patch-alpha', 'patch-beta', 'patch-gamma'])
    expect(await names(world)).toEqual(['find', 'patch-beta', 'patch-gamma'])
    // A cancel while it grows leaves nothing to be done, and a deletion removes what was made.
    await world.reconcile(id)
    await find(['gamma', 'delta'])
    await world.cancel(id)
    await world.work()
    expect(await world.see('fleet')).toMatchObject({ phase: 'ABORTED' })
    await world.remove(id)
    await world.work()
    expect(await world.exists('fleet')).toBe(false)
  })

  it('between two lists each item waits for all of the other', async () => {
    await using world = await createWorld()
    const list = { forEach: ['a', 'b'] }
    await world.create('two', {
      deployItems: [
        { ...item('x'), ...list },
        { ...item('y', ['x']), ...list },
      ],
    })
    const [a, b] = await world.claim()
    await world.report({ fence: a?.fence ?? '', phase: 'SUCCEEDED' })
    expect(await world.claim()).toEqual([])
    await world.report({ fence: b?.fence ?? '', phase: 'SUCCEEDED' })
    expect((await world.claim()).map(({ name }) => name)).toEqual(['y-a', 'y-b'])
  })

  it.each<[string, unknown, string]>([
    ['no list', 3, 'web: forEach must be a list or a map'],
    [
      'an entry without a key',
      ['eu', null],
      'web: forEach has the entry 1, which is no text or number, and no object with a name',
    ],
    ['a key that is no name', ['e/u'], 'web: forEach makes web-e/u of an entry, which is no name: it must start with'],
    [
      'a target that no agent could have',
      [{ name: 'eu', target: 'x'.repeat(3_000) }],
      'web: forEach has the entry eu, whose target has more than 255 characters',
    ],
    ['an entry twice', ['eu', { name: 'eu' }], 'web: forEach makes the item web-eu twice'],
  ])('refuses %s: a literal one when it is written, and that of an import in its job', async (_, list, message) => {
    await using world = await createWorld()
    const literal = { deployItems: [{ ...item('web'), forEach: list }] }
    expect(await refused(world, literal)).toContain(message)
    await world.setData('regions', list)
    await world.create('shop', { ...REGIONS, exports: [] })
    expect(await world.see('shop')).toMatchObject({
      phase: 'FAILED',
      error: { code: 'FOR_EACH', message: expect.stringContaining(message) },
    })
    expect(await names(world)).toEqual([])
    await world.setData('regions', ['eu'])
    expect(await world.work()).toEqual(['base', 'web-eu', 'dns'])
  })

  it('a character that no row can hold, made by an expression, fails the job', async () => {
    await using world = await createWorld()
    await world.create('shop', {
      deployItems: [{ ...item('web'), forEach: `\${[{"name": "eu", "target": "\\u0000"}]}` }],
    })
    expect(await world.see('shop')).toMatchObject({ phase: 'FAILED' })
  })

  it('is refused where it can never work', async () => {
    await using world = await createWorld()
    const of = async (...deployItems: NonNullable<SpecInput['deployItems']>) => await refused(world, { deployItems })
    expect(await of({ ...item('a', [], { x: '${each.key}' }) })).toMatch(/of each with `forEach` alone/)
    expect(await of(item('a'), { ...item('b'), forEach: '${deployItems.a.exports.list}' })).toMatch(
      /forEach may speak of imports alone/,
    )
    expect(await of({ ...item('a'), forEach: '${imports.x}' })).toMatch(/x is not among the imports/)
    expect(await of(item('a-b'), { ...item('a'), forEach: ['b'] })).toMatch(/beside another of that name/)
    expect(await of({ ...item('a'), forEach: ['b'] }, item('c', ['a-b']))).toMatch(/there is no deploy item a-b/)
  })

  it('is bounded, in items and in dependencies between lists', () => {
    const many = (n: number) => Array.from({ length: n }, (_, i) => i)
    const spec = (name: string, forEach: unknown, dependsOn: readonly string[] = []): ItemSpec => ({
      ...{ name, type: 'mock', target: null, dependsOn, config: null, timeouts: {}, forEach },
    })
    const expanded = (...items: readonly ItemSpec[]) => expandItems(items, listsOf(items))
    expect(expanded(spec('a', many(10_000)), { ...spec('b', undefined, ['a']) })).toHaveLength(10_001)
    expect(expanded(spec('a', many(100_001)))).toMatch(/more than 100000 deploy items/)
    expect(expanded(spec('a', many(1_000)), spec('b', many(1_000), ['a']))).toMatch(/more than 200000 dependencies/)
    const large = { ...spec('a', many(10_000)), config: 'x'.repeat(10_000) }
    expect(expanded(large)).toBe('a: its items would have more than 16777216 characters together')
  })

  it('sends with an item only the imports that it may read', async () => {
    const imports = { list: [1, 2], 'a.b': 1, other: 3 }
    const read = (text: string) => Object.keys(importsFor({ deep: [text] }, imports))
    expect(read('${imports.list[0]}')).toEqual(['list'])
    expect(read('${imports.list.map(x, x + imports.other)}')).toEqual(['list', 'other'])
    expect(read('${has(imports.other)} of ${each.value}')).toEqual(['other'])
    expect(read('${each.value}')).toEqual([])
    for (const any of ['imports["a.b"]', 'imports[each.key]', 'size(imports)', 'imports.map(x, x)', 'imports\n.list'])
      expect(read(`\${${any}}`), any).toEqual(['list', 'a.b', 'other'])

    await using world = await createWorld()
    await world.setData('list', ['a', 'b'])
    await world.setData('other', 3)
    const config = { one: '${imports.list[0]}', all: '${imports.map(name, name)}', size: '${size(imports)}' }
    await world.create('shop', {
      imports: [{ name: 'list' }, { name: 'other' }],
      deployItems: [{ ...item('x', [], config), forEach: '${imports.list}' }],
    })
    const [made] = await world.claim()
    expect(made).toMatchObject({ name: 'x-a', config: { one: 'a', all: ['list', 'other'], size: 2 } })
  })

  it('a plan names the items of a list that is written out, and what a job will find of another', async () => {
    await using world = await createWorld()
    const steps = async (spec: SpecInput, id?: string) => {
      const outcome = await world.commands.planInstallation(
        USER,
        id === undefined ? { create: { project: 'default', name: 'shop', spec } } : { update: { id, spec } },
      )
      if (!outcome.ok) throw new Error(outcome.refusal.message)
      return outcome.steps.flatMap(({ kind, action, name, reason }) =>
        kind === 'DEPLOY_ITEM' ? [[action, name, reason] as const] : [],
      )
    }
    const written = { deployItems: [{ ...item('web'), forEach: ['eu', 'us'] }] }
    expect((await steps(written)).map(([action, name]) => [action, name])).toEqual([
      ['CREATE', 'web-eu'],
      ['CREATE', 'web-us'],
    ])
    await world.setData('regions', ['eu', 'us'])
    const id = await world.create('shop', REGIONS)
    await world.work()
    expect(
      await steps(
        {
          ...REGIONS,
          deployItems:
            REGIONS.deployItems?.filter(({ name }) => name !== 'base').map((one) => ({ ...one, dependsOn: [] })) ?? [],
        },
        id,
      ),
    ).toEqual([
      ['DELETE', 'base', 'it is no longer in the spec'],
      ['RUN', 'web', expect.stringMatching(/now there are 2$/)],
      ['UPDATE', 'dns', 'its spec changes'],
    ])
    expect((await steps(written, id)).map(([action, name]) => [action, name])).toEqual([
      ['DELETE', 'dns'],
      ['DELETE', 'base'],
      ['UPDATE', 'web-eu'],
      ['UPDATE', 'web-us'],
    ])
  })
})
