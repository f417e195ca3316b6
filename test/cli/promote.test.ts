import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { gql } from '../testkit/gql.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { type CommandLine, commandLine } from './command.ts'

/** `phaseline promote` and `compare`: two projects, which are environments. */

let stack: AsyncDisposableStack
let server: ReachableServer
let phaseline: CommandLine
beforeAll(async () => {
  stack = new AsyncDisposableStack()
  server = stack.use(await startTestApp())
  phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
  for (const document of [
    { name: 'staging', promotesTo: 'production' },
    { name: 'production', promotesTo: null },
    { name: 'canary' },
  ])
    expect(await phaseline('project apply -f -', { stdin: JSON.stringify(document) })).toMatchObject({ code: 0 })
})
afterAll(() => stack.disposeAsync())

const SHOWN = gql(`query ($project: String!) {
  objectByPath(project: $project, kind: INSTALLATION, path: ["shop"]) {
    phase ... on Installation { labels { key value } description imports }
  }
}`)
const shown = async (project: string) => {
  const { objectByPath } = await server.client.query(SHOWN, { project })
  if (!objectByPath?.labels) throw new Error(`${project} has no shop`)
  return { ...objectByPath, labels: Object.fromEntries(objectByPath.labels.map(({ key, value }) => [key, value])) }
}
const apply = (image: string, { fails = false, labels = {} } = {}) =>
  phaseline('apply -f - --wait', {
    stdin: JSON.stringify({
      name: 'shop',
      project: 'staging',
      description: 'Sells.',
      labels: { team: 'web', ...labels },
      spec: {
        imports: [{ name: 'region' }],
        deployItems: [{ name: 'app', type: 'mock', config: { fail: fails, image, region: '${imports.region}' } }],
      },
    }),
  })

test('what has succeeded in one project is brought to another, with its data, and compared', async () => {
  for (const [project, region] of [
    ['staging', 'test'],
    ['production', 'eu'],
  ])
    expect(await phaseline(`data set region ${region} --text --project ${project}`)).toMatchObject({ code: 0 })
  expect(await apply('shop:1')).toMatchObject({ code: 0 })
  expect(await phaseline('compare shop --project staging --with production')).toMatchObject({
    code: 0,
    err: 'There is no shop in production yet to compare with: `phaseline promote` creates it, as follows.\n',
    out: expect.stringMatching(/create +deploy item +production\/shop/),
  })
  const plan = await phaseline('promote shop --project staging --to production --dry-run')
  expect(plan).toMatchObject({
    code: 0,
    out: expect.stringMatching(/create +deploy item +production\/shop\/deploy-items\/app/),
  })
  await expect(shown('production')).rejects.toThrow('production has no shop')

  const promoted = await phaseline('promote shop --project staging --to production --wait')
  expect(promoted).toMatchObject({
    code: 0,
    out: expect.stringContaining('production/shop created (generation 1) from spec 1 of staging'),
  })
  expect(await shown('production')).toMatchObject({
    ...{ phase: 'SUCCEEDED', description: 'Sells.', imports: { region: 'eu' } },
    labels: { team: 'web', 'promoted-from': 'staging@1' },
  })
  expect((await phaseline('compare shop --project staging --with production')).out).toContain('the spec stays as it is')

  await phaseline('label shop tier=gold --project production')
  expect(await apply('shop:2', { labels: { 'git-commit': 'abc' } })).toMatchObject({ code: 0 })
  expect((await phaseline('compare staging/shop')).out).toContain('~ deployItems.app.config.image: "shop:1" → "shop:2"')
  // The project says where to.
  expect(await phaseline('promote staging/shop --wait')).toMatchObject({ code: 0 })
  expect((await shown('production')).labels).toEqual({ team: 'web', tier: 'gold', 'promoted-from': 'staging@2' })
})

test('what has failed is not promoted, an earlier spec is, with other values', async () => {
  expect(await apply('shop:3', { fails: true })).toMatchObject({ code: 1 })
  const refused = await phaseline('promote shop --project staging --to production')
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('Spec 3 of staging/shop has not succeeded') })
  expect((await shown('production')).labels['promoted-from']).toBe('staging@2')

  const carry = (names: string) => phaseline(`promote staging/shop --generation 1 --carry ${names}`)
  expect(await carry('regoin')).toMatchObject({
    code: 2,
    err: expect.stringContaining('staging/shop has no import regoin. Did you mean region?'),
  })
  // Spec 1 has succeeded, but not in the last run.
  expect(await carry('region')).toMatchObject({
    code: 3,
    err: expect.stringContaining('the last run of staging/shop has not succeeded with spec 1'),
  })
  const back = await phaseline('promote staging/shop --generation 1 --set region=test --wait')
  expect(back).toMatchObject({ code: 0, out: expect.stringMatching(/^production\/shop updated/) })
  expect(await shown('production')).toMatchObject({
    ...{ phase: 'SUCCEEDED', imports: { region: 'test' } },
    labels: { 'promoted-from': 'staging@1' },
  })
  expect(await phaseline('promote shop --project staging --to production --generation 9')).toMatchObject({ code: 3 })
  expect(await phaseline('promote shop/app --project staging --to production')).toMatchObject({ code: 3 })
})

test('values stay with their project, unless they are carried', async () => {
  expect(await phaseline('data set region eu-2 --text --project staging')).toMatchObject({ code: 0 })
  expect(await apply('shop:4')).toMatchObject({ code: 0 })
  const kept = await phaseline('promote staging/shop --dry-run')
  expect(kept).toMatchObject({
    code: 0,
    err: 'region stays "test" in production, and is "eu-2" in staging: --carry region brings it along.\n',
  })
  const carried = await phaseline('promote staging/shop --carry region --wait')
  expect(carried).toMatchObject({ code: 0, err: '' })
  expect(await shown('production')).toMatchObject({ imports: { region: 'eu-2' } })
  // A rollback brings the value back, too.
  expect(await phaseline('rollback production/shop --wait')).toMatchObject({ code: 0 })
  expect(await shown('production')).toMatchObject({ imports: { region: 'test' } })
})

test('a value that stays behind is named', async () => {
  const spec = { imports: [{ name: 'image', schema: { type: 'string' } }] }
  const stdin = JSON.stringify({ name: 'site', project: 'staging', spec })
  expect(await phaseline('apply -f - --set image=site:1 --wait', { stdin })).toMatchObject({ code: 0 })
  expect(await phaseline('compare staging/site')).toMatchObject({
    err: expect.stringContaining('has no value of its own in production: --carry image brings it along.'),
    out: expect.stringContaining('The import image has no value yet.'),
  })
  const bare = await phaseline('promote staging/site --dry-run')
  expect(bare.err).toBe(
    'image is "site:1" in staging, and has no value of its own in production: --carry image brings it along.\n',
  )
  expect(bare.out).toContain('As things are now, it would wait')
  const carried = await phaseline('promote staging/site --carry image --dry-run')
  expect(carried).toMatchObject({ err: '', out: expect.not.stringContaining('it would wait') })
})

test('a promotion out of order says so, and takes --yes', async () => {
  const refused = await phaseline('promote staging/shop --to canary --set region=eu')
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('Project staging promotes to production') })
  await expect(shown('canary')).rejects.toThrow()
  expect(await phaseline('promote staging/shop --to canary --set region=eu --yes --wait')).toMatchObject({ code: 0 })
  expect(await shown('canary')).toMatchObject({ imports: { region: 'eu' } })
  expect(await phaseline('promote production/shop')).toMatchObject({
    code: 2,
    err: expect.stringContaining('Project production does not say where it promotes to'),
  })
  expect(await phaseline('project apply -f -', { stdin: 'name: staging\npromotesTo: staging' })).toMatchObject({
    code: 2,
    err: expect.stringMatching(/:2:\d+: .*promotesTo.* is the project itself/),
  })
})
