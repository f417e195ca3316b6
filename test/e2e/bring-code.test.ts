import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, createClient } from '../../src/client/index.ts'
import { APP_INST, codeLevelOf, ITEM_TYPES } from '../../src/core/deployers/item-types.ts'
import type { ProjectRole } from '../../src/core/rights.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { startSharedServer, type TestServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/** With a `trusted` process runtime whoever brings a command has the account of the server: only an AUTHOR may. */

const CREATE_PRINCIPAL = gql(`mutation ($input: CreatePrincipalInput!) { answer: createPrincipal(input: $input) {
  __typename ... on Principal { id } ... on Error { code message } } }`)
const ADD_TOKEN = gql(`mutation ($input: CreatePrincipalTokenInput!) { answer: createPrincipalToken(input: $input) {
  __typename ... on CreatedToken { secret } ... on Error { code message } } }`)
const UPDATE_PROJECT = gql(`mutation ($input: UpdateProjectInput!) { answer: updateProject(input: $input) {
  __typename ... on Project { id } ... on Error { code message } } }`)

const ROLLBACK = gql(`mutation ($input: RollbackInstallationInput!) { answer: rollbackInstallation(input: $input) {
  __typename ... on Installation { id } ... on Error { code message } } }`)

let server: TestServer
let folder: string
const shared = new AsyncDisposableStack()
beforeAll(async () => {
  folder = shared.adopt(await mkdtemp(join(tmpdir(), 'phaseline-code-')), (path) => rm(path, { recursive: true }))
  server = shared.use(await startSharedServer({ env: { PHASELINE_PROCESS_RUNTIME: 'trusted' } }))
  const workerTemplate = { command: ['sh', '-c', `cat >"${join(folder, 'allowed')}" "$PHASELINE_EVENT"`] }
  await ask(server.client, MUTATIONS.createProject, { name: 'shop', workerTemplate })
  await ask(server.client, MUTATIONS.createProject, { name: 'other' })
})
afterAll(() => shared.disposeAsync())

/** Somebody with these roles in `shop`, who is AUTHOR of `other`. */
async function somebody(...roles: readonly ProjectRole[]): Promise<Client & AsyncDisposable> {
  const inShop = roles.map((role) => ({ role, project: 'shop' }))
  const grants = [...inShop, { role: 'AUTHOR', project: 'other' } as const]
  const { id } = await ask(server.client, CREATE_PRINCIPAL, { name: roles.join('-'), grants })
  const { secret } = await ask(server.client, ADD_TOKEN, { principalId: id, name: 'test' })
  return createClient({ url: server.url, token: secret })
}
const touch = (name: string) => ({ command: ['touch', join(folder, name)] })
const POD = {
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'root' } },
  spec: { hostPID: true, containers: [{ name: 'root', image: 'busybox', securityContext: { privileged: true } }] },
}
const event = { project: 'shop', source: 'test', type: 'push' }

test('an editor and administrator of a project cannot bring a command to it, and starts only what is there', async () => {
  await using client = await somebody('VIEWER', 'EDITOR', 'ADMIN')
  const jobs = [{ name: 'job', gadget: 'touch', args: [join(folder, 'task')] }]
  const ways: readonly (() => Promise<unknown>)[] = [
    () => ask(client, UPDATE_PROJECT, { name: 'shop', workerTemplate: touch('template') }),
    () => ask(client, UPDATE_PROJECT, { name: 'shop', workerTemplate: touch('both'), limits: { maxWorkers: 2 } }),
    () => ask(client, UPDATE_PROJECT, { name: 'shop', workerTemplate: null }),
    () => ask(client, UPDATE_PROJECT, { name: 'shop', subscriptions: [{ source: 'x', types: ['*'], task: { jobs } }] }),
    () => ask(client, MUTATIONS.createProject, { name: 'new', workerTemplate: touch('project') }),
    () => ask(client, MUTATIONS.createTask, { project: 'shop', name: 'task', jobs }),
    () => ask(client, MUTATIONS.createJob, { name: 'job', spec: touch('job') }),
  ]
  for (const [i, way] of ways.entries()) await expect(way(), String(i)).rejects.toThrow(/ may not |^Only a worker /)

  const payload = JSON.stringify({ command: touch('payload').command, workerTemplate: touch('payload') })
  const { events } = await ask(client, MUTATIONS.createEvent, { ...event, payload })
  await until(() => existsSync(join(folder, 'allowed')), { what: 'the command that is there runs' })
  expect(events).toHaveLength(1)
  for (const name of ['template', 'both', 'project', 'task', 'job', 'payload'])
    expect(existsSync(join(folder, name)), name).toBe(false)
})

/** By their types: all that there are, and one of a deployer that only its operator knows. */
const CONFIGS: Readonly<Record<string, object>> = {
  mock: {},
  gate: { approval: {} },
  container: { image: 'busybox', command: ['touch'] },
  'kubernetes-manifest': { manifests: [POD] },
  helm: { chart: 'pods' },
  gadget: { gadget: 'touch' },
  'of-somebody': { command: ['touch'] },
}

test('nor does an item of any type that brings one, whichever way it gets into a spec', async () => {
  await using client = await somebody('VIEWER', 'EDITOR', 'ADMIN')
  expect(Object.keys(CONFIGS)).toEqual(
    expect.arrayContaining([...ITEM_TYPES.keys()].filter((type) => type !== APP_INST)),
  )
  const refused: Record<string, readonly string[]> = {}
  for (const [type, config] of Object.entries(CONFIGS)) {
    const place = { project: 'shop', reconcile: false }
    const spec = { deployItems: [{ name: 'item', type, config }] }
    const nested = { installations: [{ name: 'outer', spec: { installations: [{ name: 'inner', spec }] } }] }
    const { id } = await ask(server.client, MUTATIONS.createInstallation, { ...place, name: `${type}-old`, spec })
    await ask(server.client, MUTATIONS.updateInstallation, { id, reconcile: false, spec: {} })
    const ways: Readonly<Record<string, () => Promise<unknown>>> = {
      create: () => ask(client, MUTATIONS.createInstallation, { ...place, name: `${type}-new`, spec }),
      nested: () => ask(client, MUTATIONS.createInstallation, { ...place, name: `${type}-nested`, spec: nested }),
      update: () => ask(client, MUTATIONS.updateInstallation, { id, reconcile: false, spec: nested }),
      rollback: () => ask(client, ROLLBACK, { id, reconcile: false, toGeneration: 1 }),
    }
    const judged = Object.entries(ways).map(async ([way, go]) => {
      const problem = await go().then(
        () => null,
        (error: Error) => error.message,
      )
      return problem?.includes('takes the role AUTHOR') ? [way] : problem === null ? [] : [`${way}: ${problem}`]
    })
    refused[type] = (await Promise.all(judged)).flat()
  }
  const all = ['create', 'nested', 'update', 'rollback']
  expect(refused).toEqual(
    Object.fromEntries(Object.keys(CONFIGS).map((type) => [type, codeLevelOf(type) === 'NONE' ? [] : all])),
  )
})

test('an author does, and cannot start it', async () => {
  await using client = await somebody('AUTHOR')
  await ask(client, UPDATE_PROJECT, { name: 'shop', workerTemplate: touch('authored') })
  await expect(ask(client, MUTATIONS.createEvent, event)).rejects.toThrow()
  expect(existsSync(join(folder, 'authored'))).toBe(false)
  await using editor = await somebody('EDITOR')
  await ask(editor, MUTATIONS.createEvent, event)
  await until(() => existsSync(join(folder, 'authored')), { what: 'what the author has brought runs' })
})
