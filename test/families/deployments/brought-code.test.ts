import fc from 'fast-check'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import type { ProjectRole } from '../../../src/core/rights.ts'
import { broughtCode } from '../../../src/families/deployments/rules/brought-code.ts'
import type { SpecInput } from '../../../src/families/deployments/rules/normalise.ts'
import type { ImportSpec, InstallationSpec, ItemSpec } from '../../../src/families/deployments/rules/spec.ts'
import { warnOfEditorTypes } from '../../../src/start/warn-of-editor-types.ts'
import { expr, nested } from '../../testkit/deployments.ts'
import { viewerWith } from '../../testkit/viewers.ts'
import { createWorld, item, USER, type World } from '../../testkit/world.ts'

/** A user who writes a deploy item of a type that brings code needs the role AUTHOR. */

const gadget = (name: string, config: unknown = { gadget: 'touch', args: ['here'] }) => ({
  ...{ name, type: 'gadget', config },
})
const container = (name: string, image: string) => ({ name, type: 'container', config: { image } })

/** The first exports to the second, and that to the third, which has the item. */
const chain = (value: string): SpecInput => ({
  installations: [
    nested('first', { exports: [{ name: 'u', value }] }),
    nested('second', { imports: [{ name: 'u' }], exports: [{ name: 'v', value: expr('imports.u') }] }),
    nested('third', { imports: [{ name: 'v' }], deployItems: [gadget('a', { gadget: expr('imports.v') })] }),
  ],
})

describe('an editor', () => {
  let world: World
  let projectId: string
  beforeAll(async () => {
    world = await createWorld({ editorTypes: ['dns'] })
    ;({ projectId } = (await world.pool.query(`select id as "projectId" from project where name = 'default'`)).rows[0])
  })
  afterAll(() => world[Symbol.asyncDispose]())

  const as = (...roles: readonly ProjectRole[]) =>
    viewerWith(
      roles.map((role) => ({ role, projectId })),
      { principalId: USER.principalId },
    )
  const judged = (done: { readonly ok: boolean; readonly refusal?: { readonly type: string } }) =>
    done.ok ? 'done' : done.refusal?.type
  let count = 0
  const create = async (spec: SpecInput, viewer = as('EDITOR')) => {
    const input = { project: 'default', name: `shop${count++}`, spec, reconcile: false }
    return judged(await world.commands.createInstallation(viewer, input))
  }
  const authored = (spec: SpecInput) => world.create(`shop${count++}`, spec, false)
  const update = async (id: string, spec: SpecInput, viewer = as('EDITOR')) =>
    judged(await world.commands.updateInstallation(viewer, { id, spec, reconcile: false }))

  it.each([
    ['container', { image: 'postgres' }],
    ['kubernetes-manifest', { manifests: [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }] }],
    ['helm', { chart: 'web' }],
    ['gadget', { gadget: 'touch' }],
    ['of-somebody', {}],
    ['constructor', {}],
  ])('creates no item of the type %s, at the root or nested; an author with EDITOR does', async (type, config) => {
    const spec = { deployItems: [{ name: 'web', type, config }] }
    for (const brings of [spec, { installations: [nested('inner', { installations: [nested('most', spec)] })] }]) {
      expect(await create(brings)).toBe('ForbiddenError')
      expect(await create(brings, as('EDITOR', 'AUTHOR'))).toBe('done')
      expect(await create(brings, as('AUTHOR'))).toBe('ForbiddenError')
    }
  })

  it('reads what is missing, and writes items that bring nothing, or that the server lets editors write', async () => {
    const spec = { deployItems: [gadget('a'), gadget('b')] }
    expect(
      await world.commands.createInstallation(as('EDITOR'), { project: 'default', name: 'no', spec, reconcile: false }),
    ).toMatchObject({
      refusal: {
        type: 'ForbiddenError',
        message:
          'ada may not write no/deploy-items/a (and 1 more). An item of the type gadget brings a command on the machine of its deployer, which takes the role AUTHOR in the project.',
      },
    })
    expect(await world.exists('no')).toBe(false)
    expect(await create({ deployItems: [item('a'), { name: 'b', type: 'dns', config: { a: 1 } }] })).toBe('done')
  })

  it('starts, orders and takes away what an author has written, and changes what stands beside it', async () => {
    const spec = { deployItems: [gadget('a'), gadget('b'), item('c')] }
    const id = await authored(spec)
    expect(await update(id, { deployItems: [item('c', [], { delayMs: 1 }), gadget('b'), gadget('a')] })).toBe('done')
    expect(await update(id, { deployItems: [gadget('b'), item('new')] })).toBe('done')
    const asked = await world.commands.reconcileInstallation(as('EDITOR'), { id, mode: 'FORCE' })
    expect(judged(asked)).toBe('done')
    // An item that was removed counts as newly written.
    expect(await update(id, spec)).toBe('ForbiddenError')
  })

  it.each<[string, SpecInput, SpecInput]>([
    ['its config', { deployItems: [gadget('a')] }, { deployItems: [gadget('a', { gadget: 'rm' })] }],
    ['its name', { deployItems: [gadget('a')] }, { deployItems: [gadget('b')] }],
    ['its target', { deployItems: [gadget('a')] }, { deployItems: [{ ...gadget('a'), target: 'there' }] }],
    ['its type', { deployItems: [item('a')] }, { deployItems: [container('a', 'x')] }],
    ['its place', { deployItems: [gadget('a')] }, { installations: [nested('a', { deployItems: [gadget('a')] })] }],
    [
      'what a sibling exports to it',
      {
        deployItems: [item('m', [], { exports: { v: 'a' } }), gadget('a', { gadget: expr('deployItems.m.exports.v') })],
      },
      {
        deployItems: [item('m', [], { exports: { v: 'b' } }), gadget('a', { gadget: expr('deployItems.m.exports.v') })],
      },
    ],
    [
      'which data it imports',
      { imports: [{ name: 'v', from: 'good' }], deployItems: [gadget('a', { gadget: expr('imports.v') })] },
      { imports: [{ name: 'v', from: 'bad' }], deployItems: [gadget('a', { gadget: expr('imports.v') })] },
    ],
    [
      'what another installation exports to its own',
      {
        installations: [
          nested('from', { exports: [{ name: 'v', value: 'a' }] }),
          nested('to', { imports: [{ name: 'v' }], deployItems: [gadget('a', { gadget: expr('imports.v') })] }),
        ],
      },
      {
        installations: [
          nested('from', { exports: [{ name: 'v', value: 'b' }] }),
          nested('to', { imports: [{ name: 'v' }], deployItems: [gadget('a', { gadget: expr('imports.v') })] }),
        ],
      },
    ],
    ['what reaches it through another installation', chain('a'), chain('b')],
  ])('does not change %s of an item that brings code', async (_, before, after) => {
    const id = await authored(before)
    expect(await update(id, after)).toBe('ForbiddenError')
    expect(await update(id, before)).toBe('done')
    expect(await update(id, after, as('EDITOR', 'AUTHOR'))).toBe('done')
  })

  it('does not roll back to code that is gone, and does to what brings none', async () => {
    const id = await authored({ deployItems: [gadget('a')] })
    await world.update(id, { deployItems: [item('a')] }, false)
    await world.update(id, {}, false)
    const roll = async (toGeneration: number) =>
      judged(await world.commands.rollbackInstallation(as('EDITOR'), { id, toGeneration, reconcile: false }))
    expect(await roll(1)).toBe('ForbiddenError')
    expect(await roll(2)).toBe('done')
  })

  it('finds in a plan what takes the role, and whether it has it', async () => {
    const code = async (viewer = as('EDITOR'), spec: SpecInput = { deployItems: [item('m'), gadget('a')] }) => {
      const done = await world.commands.planInstallation(viewer, { create: { project: 'default', name: 'plan', spec } })
      return done.ok ? done.broughtCode : done
    }
    const planned = { path: ['plan', 'deploy-items', 'a'], type: 'gadget', level: 'COMMAND' }
    expect(await code()).toEqual([{ ...planned, permitted: false }])
    expect(await code(as('VIEWER', 'AUTHOR'))).toEqual([{ ...planned, permitted: true }])
    expect(await code(as('EDITOR'), { deployItems: [{ name: 'a', type: 'dns' }] })).toMatchObject([{ permitted: true }])
  })
})

test('editors write everything where a setting says so, and the start warns of it', async () => {
  await using world = await createWorld({ editorTypes: ['*'] })
  const editor = viewerWith([{ role: 'EDITOR', projectId: null }], { principalId: USER.principalId })
  const input = { project: 'default', name: 'shop', spec: { deployItems: [gadget('a')] }, reconcile: false }
  expect(await world.commands.createInstallation(editor, input)).toMatchObject({ ok: true })

  const warnings = (...types: readonly string[]): readonly string[] => {
    const lines: string[] = []
    warnOfEditorTypes({ editorTypes: new Set(types) }, pino({}, { write: (line) => void lines.push(line) }))
    return lines
  }
  expect(warnings('dns', 'mock')).toEqual([])
  expect(warnings('*')).toEqual([expect.stringContaining('PHASELINE_EDITOR_TYPES is *')])
  expect(warnings('dns', 'gadget')).toEqual([expect.stringContaining('"types":["gadget"]')])
})

/** Small specs, whose values are texts: literals, or one expression. */
const literal = fc.constantFrom('x', 'y')
const oneOf = (...sources: readonly string[]) => fc.oneof(literal, fc.constantFrom(...sources.map(expr)))
const imports = (...from: readonly string[]): fc.Arbitrary<readonly ImportSpec[]> =>
  fc.tuple(fc.constantFrom(...from), fc.constantFrom(...from)).map(([a, b]) => [
    { name: 'a', from: a, required: false },
    { name: 'b', from: b, required: false },
  ])
const itemNamed = (i: number): fc.Arbitrary<ItemSpec> =>
  fc.record({
    name: fc.constant(`i${i}`),
    type: fc.constantFrom('mock', 'gadget', 'gadget'),
    target: fc.constantFrom(null, null, null, 't'),
    dependsOn: fc.constant([]),
    config: oneOf(
      ...['imports.a', 'imports.b'],
      ...Array.from({ length: i }, (__, j) => `deployItems.i${j}.exports.v`),
    ),
    timeouts: fc.constant({}),
  })
const items = fc
  .integer({ min: 0, max: 3 })
  .chain((n) => fc.tuple(...Array.from({ length: n }, (_, i) => itemNamed(i))))
const installation = (
  from: readonly string[],
  exports: string | null,
  installations: fc.Arbitrary<InstallationSpec['installations']> = fc.constant([]),
): fc.Arbitrary<InstallationSpec> =>
  fc.record({
    imports: imports(...from),
    exports:
      exports === null
        ? fc.constant([])
        : oneOf('imports.a', 'deployItems.i0.exports.v').map((value) => [{ name: exports, value }]),
    installations,
    deployItems: items,
  })
const spec = installation(
  ['a', 'b', 'c'],
  null,
  fc
    .tuple(installation(['a', 'b'], 'e'), installation(['a', 'b', 'e'], 'f'), installation(['a', 'e', 'f'], null))
    .map((inner) => inner.map((own, i) => nestedSpec(`n${i}`, own))),
)
const nestedSpec = (name: string, own: InstallationSpec) => ({ name, spec: own })

/** Takes most of one value and a little of another. */
function mixed(one: unknown, other: unknown, takesOther: () => boolean): unknown {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return takesOther() ? other : one
  if (Array.isArray(one) && Array.isArray(other) && one.length !== other.length) return takesOther() ? other : one
  const entries = Object.entries(one).map(
    ([key, value]) => [key, mixed(value, (other as Record<string, unknown>)[key], takesOther)] as const,
  )
  return Array.isArray(one) ? entries.map(([, value]) => value) : Object.fromEntries(entries)
}

/** As the server stores it: with the dependencies that expressions imply. */
const withImplied = (own: InstallationSpec): InstallationSpec => ({
  ...own,
  deployItems: own.deployItems.map((one) => ({
    ...one,
    dependsOn: /deployItems\.(\w+)/.exec(String(one.config))?.slice(1) ?? [],
  })),
  installations: own.installations.map(({ name, spec: inner }) => nestedSpec(name, withImplied(inner))),
})

/** The work of each gadget once all expressions are evaluated, by its path. */
function resolved(own: InstallationSpec, path: string, scope: (name: string) => string): ReadonlyMap<string, string> {
  const imported = new Map(own.imports.map(({ name, from }) => [name, scope(from)]))
  const exported = new Map<string, string>()
  const textOf = (text: unknown): string => {
    const [, root, name = ''] = /^\$\{(\w+)\.(\w+)/.exec(String(text)) ?? []
    if (root === undefined) return String(text)
    return (root === 'imports' ? imported : exported).get(name) ?? 'absent'
  }
  const done = new Map<string, string>()
  for (const { name, type, target, config } of own.deployItems) {
    const does = `${type} at ${target} does ${textOf(config)}`
    exported.set(name, type === 'mock' ? textOf(config) : `what ${does} exports`)
    if (type !== 'mock') done.set(`${path}/deploy-items/${name}`, does)
  }
  const siblings = new Map<string, string>()
  for (const { name, spec: inner } of own.installations) {
    const reads = (from: string): string => siblings.get(from) ?? imported.get(from) ?? 'absent'
    for (const [at, does] of resolved(inner, `${path}/${name}`, reads)) done.set(at, does)
    const value = inner.exports[0] && exportOf(inner, reads)
    if (value !== undefined) siblings.set(inner.exports[0]?.name ?? '', value)
  }
  return done
}

/** The value of an installation's only export: that of an item, beside all others, which reads it. */
function exportOf(inner: InstallationSpec, reads: (from: string) => string): string | undefined {
  const probe = { name: 'probe', type: 'probe', target: null, dependsOn: [], timeouts: {} }
  const probed = { ...inner, deployItems: [...inner.deployItems, { ...probe, config: inner.exports[0]?.value }] }
  return resolved(probed, '', reads).get('/deploy-items/probe')
}

test('whatever changes, no item that brings code does anything else unnoticed, and no more is noticed than need be', () => {
  fc.assert(
    fc.property(spec, spec, fc.infiniteStream(fc.integer({ min: 0, max: 9 })), (one, other, bits) => {
      const before = withImplied(one)
      const after = withImplied(mixed(one, other, () => bits.next().value === 0) as InstallationSpec)
      const noticed = new Set(broughtCode('root', after, before).map(({ path }) => path.join('/')))
      const data = (name: string): string => `the data ${name}`
      const then = resolved(before, 'root', data)
      for (const [path, does] of resolved(after, 'root', data))
        if (then.get(path) !== does) expect(noticed, path).toContain(path)
      expect(broughtCode('root', after, after)).toEqual([])
      const all = [...resolved(after, 'root', data).keys()]
      expect(
        broughtCode('root', after, null)
          .map(({ path }) => path.join('/'))
          .sort(),
      ).toEqual(all.sort())
    }),
  )
})
