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
  for (const name of ['staging', 'production'])
    expect(await phaseline(`project create ${name}`)).toMatchObject({ code: 0 })
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
    code: 3,
    err: expect.stringContaining('There is no installation shop in project production.'),
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
  expect((await phaseline('compare shop --project staging --with production')).out).toContain(
    '~ deployItems.app.config.image: "shop:1" → "shop:2"',
  )
  expect(await phaseline('promote shop --project staging --to production --wait')).toMatchObject({ code: 0 })
  expect((await shown('production')).labels).toEqual({ team: 'web', tier: 'gold', 'promoted-from': 'staging@2' })
})

test('what has failed is not promoted, an earlier spec is, and data goes along', async () => {
  expect(await apply('shop:3', { fails: true })).toMatchObject({ code: 1 })
  const refused = await phaseline('promote shop --project staging --to production')
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('Spec 3 of staging/shop has not succeeded') })
  expect((await shown('production')).labels['promoted-from']).toBe('staging@2')

  expect(
    await phaseline('promote shop --project staging --to production --carry nothing --generation 1'),
  ).toMatchObject({
    code: 3,
    err: expect.stringContaining('There is no data nothing in project staging.'),
  })
  const back = await phaseline('promote shop --project staging --to production --carry region --generation 1 --wait')
  expect(back).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^production\/region set\nproduction\/shop updated/),
  })
  expect(await shown('production')).toMatchObject({
    ...{ phase: 'SUCCEEDED', imports: { region: 'test' } },
    labels: { 'promoted-from': 'staging@1' },
  })
  expect(await phaseline('promote shop --project staging --to production --generation 9')).toMatchObject({ code: 3 })
  expect(await phaseline('promote shop/app --project staging --to production')).toMatchObject({ code: 3 })
})
