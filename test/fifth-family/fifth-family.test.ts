import { join } from 'node:path'
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery, isEnumType } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PhaseChange } from '../../src/client/index.ts'
import { families } from '../../src/families/index.ts'
import { type CommandLine, commandLine, documents } from '../cli/command.ts'
import { ask, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { startSharedServer } from '../testkit/server.ts'
import { undescribed } from '../testkit/undescribed.ts'
import { until } from '../testkit/wait.ts'
import { usePlaceOf } from '../web/place.ts'
import { inPhase, visit } from '../web/visit.ts'
import { runCopier } from './copier.ts'
import { backups } from './index.ts'

/**
 * A family that the product does not have, through the same object as the product's own: on a real server, as agents,
 * subscribers, the command line and a browser meet it. None of them was built with it, except for the command line with
 * a command of its own.
 */

const program = join(import.meta.dirname, 'phaseline.ts')
const here = usePlaceOf(() => startSharedServer({ program, env: { PHASELINE_ROLES: 'gateway,engine' } }))
const copier = new AbortController()
let copied: Promise<void>
let phaseline: CommandLine
let env: Readonly<Record<string, string>>
const seen: PhaseChange[] = []
const watching = new AbortController()

beforeAll(async () => {
  const { client, url, token } = here.server
  const copiers = { name: 'copier', role: 'AGENT', actor: 'COPIER', types: ['backup'] } as const
  const { secret } = await ask(client, MUTATIONS.createToken, copiers)
  copied = runCopier(url, secret, copier.signal)
  void (async () => {
    for await (const { changes } of client.followPhases({
      filter: { kinds: ['BACKUP'] },
      after: 0,
      signal: watching.signal,
    }))
      seen.push(...changes)
  })().catch(() => undefined)
  env = { PHASELINE_URL: url, PHASELINE_TOKEN: token }
  phaseline = commandLine(env)
})
afterAll(async () => {
  watching.abort()
  copier.abort()
  await copied
})

/** Plain: schema.graphql does not have the family. */
const CREATE = 'mutation ($input: CreateBackupInput!) { createBackup(input: $input) { ... on Backup { name volume } } }'
const FIND = gql('query ($kind: ObjectKind!, $path: [String!]!) { objectByPath(kind: $kind, path: $path) { id } }')
async function create(name: string, volume: string): Promise<string> {
  const { client } = here.server
  expect(await client.query(CREATE, { input: { name, volume } })).toEqual({ createBackup: { name, volume } })
  return present((await client.query(FIND, { kind: 'BACKUP', path: [name] })).objectByPath).id
}
const changesOf = (id: string) =>
  seen.filter(({ objectId }) => objectId === id).map(({ to, actor }) => `${to} by ${actor}`)
const comesTo = (id: string, phase: string) =>
  until(() => changesOf(id).some((change) => change.startsWith(`${phase} `)), { what: `${id} is ${phase}` })

test('its agent drives it, and the log streams it', async () => {
  const id = await create('nightly', 'home')
  await comesTo(id, 'KEPT')
  expect(changesOf(id)).toEqual(['PENDING by USER', 'COPYING by COPIER', 'KEPT by COPIER'])
  const read = `query ($id: ID!) { object(id: $id) {
    kind phase phaseClass finished progress { value total } allowedTransitions { to } ... on Backup { volume }
  } }`
  expect(await here.server.client.query(read, { id })).toEqual({
    object: {
      ...{ kind: 'BACKUP', phase: 'KEPT', phaseClass: 'DONE', finished: true, volume: 'home' },
      progress: { value: 1, total: 2 },
      allowedTransitions: [{ to: 'GONE' }],
    },
  })
  const { agents, tokens } = await here.server.client.query(
    gql('{ agents(first: 10) { edges { node { name actor } } } tokens { name actor } }'),
  )
  const agent = { name: 'copier', actor: 'COPIER' }
  expect(agents?.edges).toEqual([{ node: agent }])
  expect(tokens).toContainEqual(agent)
})

test('the command line lists, watches, cancels and deletes it', async () => {
  const id = await create('weekly', 'slow')
  await comesTo(id, 'COPYING')
  const listed = await phaseline('get --kind backup')
  expect(listed).toMatchObject({ code: 0, err: '' })
  expect(listed.out).toMatch(/weekly +backup +▶ COPYING/)
  expect((await phaseline('machines backup')).out).toContain('could not be copied')
  expect(await phaseline('get --kind backupp')).toMatchObject({ code: 2 })

  await using watched = phaseline.spawn('watch weekly --kind backup')
  await watched.shows('▶ active')
  expect(await phaseline('cancel weekly --kind backup')).toMatchObject({ code: 0, err: '' })
  expect(await watched.exit).toBe(1)
  expect(watched.out()).toMatch(/↺ weekly +COPYING → ABORTING.*■ weekly +ABORTING → ABORTED/s)
  expect(await phaseline('cancel weekly --kind backup')).toMatchObject({ code: 3 })

  expect(await phaseline('delete weekly --kind backup --flag cascade')).toMatchObject({ code: 2 })
  expect(await phaseline('delete weekly --kind backup --wait')).toMatchObject({ code: 0 })
  // The command reads a stream of its own.
  await comesTo(id, 'GONE')
  expect(changesOf(id).at(-1)).toBe('GONE by USER')
  const rejected = await phaseline('log --kinds backup --rejected --json')
  expect(documents(rejected.out).filter((change) => change.rejected)).toMatchObject([{ to: 'ABORTING', actor: 'USER' }])
})

test('its own command creates it, on a command line with the family', async () => {
  const own = commandLine(env, [...families, backups])
  const created = await own('volume-backup create quick --volume home --wait')
  expect(created).toMatchObject({ code: 0, err: '' })
  expect(created.out).toMatch(/^default\/quick created, now /)
  expect(await own('volume-backup create lost --volume broken --wait')).toMatchObject({ code: 1, err: '' })
  expect(await own('volume-backup create quick --volume home')).toMatchObject({
    code: 3,
    err: expect.stringContaining('There is a backup quick already.'),
  })
  const listed = await own('volume-backup list --phase kept --limit 1')
  expect(listed).toMatchObject({ code: 0, err: expect.stringMatching(/^(… and \d+ more \(--limit\)\n)?$/) })
  expect(listed.out).toMatch(/^NAME +PHASE +VOLUME\n\S+ +✓ KEPT +home\n$/)
  const [document] = documents((await own('volume-backup list --json')).out)
  expect(document).toMatchObject({
    backups: expect.arrayContaining([expect.objectContaining({ name: 'quick', volume: 'home' })]),
  })
  expect(await own('volume-backup list -l none=none')).toEqual({ code: 0, out: '', err: 'Nothing matches.\n' })
  expect(await own('volume-backup list --project none')).toMatchObject({ code: 3 })
  expect((await own('--help')).out).toContain('volume-backup  ')
  expect(await phaseline('volume-backup create other --volume home')).toMatchObject({ code: 2 })
})

test('the dashboard draws it and acts on it', async () => {
  const broken = await create('broken', 'broken')
  const slow = await create('monthly', 'slow')
  await comesTo(broken, 'FAILED')
  await comesTo(slow, 'COPYING')
  await create('yearly', 'slow')
  await using overview = await visit(here.browser, here.server, '/')
  const row = (name: string) => overview.page.getByRole('row', { name })
  await row('broken').getByText('FAILED').waitFor()
  expect(await row('broken').locator('.is-failed').count()).toBe(1)
  if (process.env.PICTURES) await overview.page.screenshot({ path: '/tmp/fifth-objects.png' })

  await using tree = await visit(here.browser, here.server, `/tree/${slow}`)
  const { page } = tree
  await inPhase(page, 'monthly', 'COPYING').waitFor()
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Cancel monthly: what is copied so far is thrown away.').waitFor()
  await dialog.getByRole('button', { name: 'Cancel', exact: true }).first().click()
  await inPhase(page, 'monthly', 'ABORTED').waitFor()
  await page.getByRole('button', { name: 'Delete', exact: true }).waitFor()
  if (process.env.PICTURES) await page.screenshot({ path: '/tmp/fifth-tree.png' })

  await using agents = await visit(here.browser, here.server, '/agents')
  await agents.page
    .getByRole('list', { name: /^Work of copier/ })
    .getByText('yearly')
    .waitFor()

  await using machines = await visit(here.browser, here.server, '/machines?machine=backup')
  await machines.page.getByText('claimed', { exact: true }).first().waitFor()
  expect([overview, tree, agents, machines].flatMap(({ complaints }) => complaints)).toEqual([])
})

test('the API describes it like the families of the product', async () => {
  const schema = buildClientSchema(
    await here.server.client.query<IntrospectionQuery>(getIntrospectionQuery({ oneOf: true })),
  )
  expect(schema.getType('Backup')).toBeDefined()
  const phases = schema.getType('Phase')
  const aborting = isEnumType(phases) ? phases.getValue('ABORTING')?.description : null
  expect(aborting).toMatch(/Task: it is cancelled.* Backup: it is cancelled, and its copier is asked to stop\.$/)
  expect(undescribed(schema)).toEqual([])
})
