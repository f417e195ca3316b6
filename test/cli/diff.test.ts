import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { type CommandLine, commandLine } from './command.ts'

/** `phaseline diff`, and the API beneath. */

let stack: AsyncDisposableStack
let server: ReachableServer
let phaseline: CommandLine
beforeAll(async () => {
  stack = new AsyncDisposableStack()
  server = stack.use(await startTestApp())
  phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
})
afterAll(() => stack.disposeAsync())

const manifest = (url: string, items: readonly string[], fails = false) =>
  JSON.stringify({
    name: 'shop',
    spec: {
      deployItems: items.map((name) => ({ name, type: 'mock', config: { fail: fails, exports: { url } } })),
      exports: [{ name: 'url', value: `\${deployItems.${items[0]}.exports.url}` }],
    },
  })
const apply = (stdin: string) => phaseline('apply -f - --wait', { stdin })

test('what has changed since a time, between runs, and what an apply would change', async () => {
  const before = new Date().toISOString()
  expect(await apply(manifest('one', ['db', 'old']))).toMatchObject({ code: 0 })
  const between = new Date().toISOString()
  expect(await apply(manifest('two', ['db', 'new']))).toMatchObject({ code: 0 })

  const { out, err, code } = await phaseline(`diff shop --since ${between}`)
  expect(code).toBe(0)
  expect(err).toBe(`Changes since ${between}:\n`)
  const lines = out.split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      '~ shop (installation) SUCCEEDED again',
      '~ shop/deploy-items/db (deploy item) SUCCEEDED again',
      '- shop/deploy-items/old (deploy item) SUCCEEDED',
      '+ shop/deploy-items/new (deploy item) SUCCEEDED',
      '~ deployItems.db.config.exports.url: "one" → "two"',
      '~ url: "one" → "two"',
    ]),
  )
  const created = (await phaseline(`diff shop --since ${before} --until ${between}`)).out
  // Nothing in a tree that did not exist yet is marked as new.
  expect(created.split('\n')).toEqual([
    expect.stringMatching(/^shop was created [\d.]+m?s ago by USER admin \(2\d{3}-\S+Z\): there is nothing earlier/),
    '  shop (installation) SUCCEEDED',
    '  shop/deploy-items (execution) SUCCEEDED',
    '  shop/deploy-items/db (deploy item) SUCCEEDED',
    '  shop/deploy-items/old (deploy item) SUCCEEDED',
    '',
  ])
  expect(await phaseline(`tree shop --at ${before}`)).toMatchObject({
    err: expect.stringMatching(
      new RegExp(`There was no shop at ${before}: its tree was created [\\d.]+m?s ago by USER admin`),
    ),
    code: 3,
  })
  const past = await phaseline(`tree shop --at ${between}`)
  expect(past.err).toMatch(new RegExp(`^As it was at ${between}, sequence \\d+ of the log:\n$`))
  const sequence = / (\d+) of/.exec(past.err)?.[1]
  expect(await phaseline(`tree shop --at ${sequence}`)).toEqual({
    ...past,
    err: `As it was at sequence ${sequence} of the log:\n`,
  })
  expect(await phaseline('tree shop --at 0')).toMatchObject({ err: expect.stringContaining('created'), code: 3 })
  const now = new Date().toISOString()
  expect(await phaseline(`diff shop --since ${now}`)).toMatchObject({
    ...{ out: `Nothing has changed in shop since ${now}.\n`, err: '', code: 0 },
  })
  const { err: span } = await phaseline(`diff shop --since ${between} --until ${now}`)
  expect(span).toBe(`Changes from ${between} to ${now}:\n`)

  expect(await apply(manifest('three', ['db', 'new'], true))).toMatchObject({ code: 1 })
  const runs = (await phaseline('diff shop --runs 2,3')).out
  expect(runs).toMatch(
    /^run 2: SUCCEEDED, took .*, changed by \S.*, spec 2\nrun 3: FAILED, took .*, spec 3: shop\/deploy-items\/db: MOCK_FAILURE: /,
  )
  expect(runs).toMatch(/\n~ shop\/deploy-items\/db \(deploy item\) SUCCEEDED in .* → FAILED in /)
  expect(runs).toContain('~ deployItems.db.config.fail: false → true')
  expect(runs).toContain('- url: "two"')
  expect(await phaseline('diff shop --runs 2,9')).toMatchObject({ code: 3 })

  const planned = await phaseline('diff -f -', { stdin: manifest('three', ['db'], true) })
  expect(planned.out).toMatch(/^shop: .*1 to delete/)
  expect(planned.out).toContain('- deployItems.new: {"')
  const same = await phaseline('diff -f -', { stdin: manifest('three', ['db', 'new'], true) })
  expect(same).toMatchObject({ out: 'shop: the spec stays as it is\n', code: 0 })
  for (const wrong of ['diff shop', 'diff', 'diff shop --runs 3', 'diff shop -f - --since 1h'])
    expect(await phaseline(wrong)).toMatchObject({ code: 2 })
})

const OF_PROJECT = gql(`query ($since: DateTime!) {
  project(name: "web") {
    treeChanges(fromTime: $since) {
      treeCount
      trees { rootId name addedCount removedCount changedCount failedCount creation { by from } root { id } }
    }
  }
}`)
const OBJECTS = gql(`query ($rootId: ID!, $fromTime: DateTime) {
  treeDiff(rootId: $rootId, fromTime: $fromTime) { objects { change after } }
}`)

test('what has changed in all trees of a project: each tree once, as treeDiff has it', async () => {
  const { client } = server
  await ask(client, MUTATIONS.createProject, { name: 'web' })
  const put = (name: string, itemNames: readonly string[], config: object = {}) =>
    phaseline('apply -f - --wait --project web', {
      stdin: JSON.stringify({
        name,
        spec: { deployItems: itemNames.map((one) => ({ name: one, type: 'mock', config })) },
      }),
    })
  for (const name of ['same', 'grows', 'breaks', 'goes']) await put(name, ['db', 'old'])
  // The next change is later, by the clock of the database as well.
  const since = new Date(Date.now() + 1).toISOString()
  await until(() => new Date().toISOString() > since, { what: 'a moment has passed' })
  await put('grows', ['db', 'new'])
  await put('breaks', ['db', 'old'], { fail: true })
  await put('young', ['db'])
  await phaseline('delete goes --project web --wait')

  const { project } = await client.query(OF_PROJECT, { since })
  const { trees = [], treeCount } = project?.treeChanges ?? {}
  expect(treeCount).toBe(4)
  expect(trees.map(({ name, root, creation }) => [name, root !== null, creation?.from])).toEqual([
    ['goes', false, undefined],
    ['young', true, null],
    ['breaks', true, undefined],
    ['grows', true, undefined],
  ])
  for (const { rootId, name, addedCount, removedCount, changedCount, failedCount } of trees) {
    const objects = (await client.query(OBJECTS, { rootId, fromTime: since })).treeDiff?.objects ?? []
    const count = (kind: string): number => objects.filter(({ change }) => change === kind).length
    const failed = objects.filter(({ after }) => after === 'FAILED').length
    expect([name, addedCount, removedCount, changedCount, failedCount]).toEqual([
      ...[name, count('ADDED'), count('REMOVED'), count('CHANGED'), failed],
    ])
  }

  // One operation does not read the log over and over.
  const often = Array.from({ length: 20 }, (_, i) => `a${i}: treeChanges(fromTime: "${since}") { treeCount }`)
  const asked = client.query(`{ project(name: "web") { ${often.join(' ')} } }` as never)
  await expect(asked).rejects.toMatchObject({ code: 'TOO_COMPLEX' })

  const { out, err, code } = await phaseline(`diff --project web --since ${since}`)
  expect({ code, err }).toEqual({ code: 0, err: `Changes since ${since}:\n` })
  expect(out.split('\n')).toEqual([
    '- goes (deleted) 4 removed',
    expect.stringMatching(/^\+ young \(installation\) created [\d.]+m?s ago by \S.*, 3 objects$/),
    expect.stringMatching(/^~ breaks \(installation\) \d changed, \d failed$/),
    '~ grows (installation) 1 added, 1 removed, 3 changed',
    '',
  ])
  const now = new Date().toISOString()
  expect((await phaseline(`diff --project web --since ${now}`)).out).toBe(
    `Nothing has changed in project web since ${now}.\n`,
  )
  expect(await phaseline('diff --project none --since 1h')).toMatchObject({ code: 3 })
  expect(await phaseline('diff --project web')).toMatchObject({ code: 2 })
  // An option without an effect would be another answer than the requested one.
  for (const one of ['--to 1', '--from 1', '--runs 1,2', '--kind task'])
    expect(await phaseline(`diff --project web --since 1h ${one}`), one).toMatchObject({ code: 2, out: '' })
  for (const one of ['grows --runs 1,2 --until 1h', '-f - --since 1h'])
    expect(await phaseline(`diff ${one} --project web`, { stdin: '{}' }), one).toMatchObject({
      code: 2,
      err: expect.stringContaining('cannot be used with'),
    })
})

const TREE_AT = gql(`query ($rootId: ID!, $time: DateTime, $sequence: Sequence) {
  treeAt(rootId: $rootId, time: $time, sequence: $sequence) { sequence creation { name from to } objects { name phase } }
}`)
const DIFF = gql(
  `query ($rootId: ID!, $fromTime: DateTime) { treeDiff(rootId: $rootId, fromTime: $fromTime) { objectCount creation { sequence } } }`,
)

test('a tree is read at a time; one that the log does not reach back to is refused', async () => {
  const start = new Date(Date.now() - 1_000).toISOString()
  await phaseline('apply -f - --wait', {
    stdin: JSON.stringify({ name: 'past', spec: { deployItems: [{ name: 'only', type: 'mock', config: {} }] } }),
  })
  const { client } = server
  const { id: rootId } = JSON.parse((await phaseline('get past --json')).out) as { id: string }
  const now = await client.query(TREE_AT, { rootId, time: new Date().toISOString() })
  expect(now.treeAt?.objects.map(({ name, phase }) => `${name} ${phase}`).sort()).toEqual([
    'deploy-items SUCCEEDED',
    'only SUCCEEDED',
    'past SUCCEEDED',
  ])
  expect(now.treeAt?.creation).toBeNull()
  const early = (await client.query(TREE_AT, { rootId, time: start })).treeAt
  expect(early).toMatchObject({ objects: [], creation: { name: 'past', from: null, to: 'PENDING' } })
  await expect(client.query(TREE_AT, { rootId })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' })
  await expect(client.query(TREE_AT, { rootId, time: start, sequence: 1 })).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
  })
  expect((await client.query(DIFF, { rootId, fromTime: start })).treeDiff).toEqual({
    objectCount: 3,
    creation: { sequence: expect.any(Number) },
  })
  expect((await client.query(DIFF, { rootId, fromTime: new Date().toISOString() })).treeDiff).toEqual({
    objectCount: 0,
    creation: null,
  })
})
