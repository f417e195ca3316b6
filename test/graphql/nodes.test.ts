import { readFileSync } from 'node:fs'
import { buildSchema, getNamedType, isInputObjectType, isObjectType } from 'graphql'
import { v7 } from 'uuid'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payloadOf, present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { viewerOf } from '../testkit/viewers.ts'
import { DEPLOYER, USER } from '../testkit/world.ts'
import { type Api, createApi } from './api.ts'

/** An object with an id can be read again by it, and a spec comes out as it went in. */

let api: Api
beforeAll(async () => {
  api = await createApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'))

/** Types with an id that is no node, and why. */
const NO_NODES: Readonly<Record<string, string>> = {
  // Fields of its name have another shape in nodes, which one document without aliases could not ask for.
  Agent: 'it shows that a process calls, and is read in lists',
  AuditEvent: 'it is an entry of a log, which is read by cursors',
  DryRun: 'it answers one question, and is gone after an hour',
  Firing: 'it is an entry of its schedule',
  ScheduleBackfill: 'it is an entry of its schedule',
  Notification: 'it is an entry of its rule',
  DeletedPrincipal: 'it confirms that there is none any more',
  RevokedToken: 'it confirms what the token of this id says itself',
  OpenSubscription: 'it lives in the memory of one gateway',
  SealingKey: 'it is a setting of the server',
  Viewer: 'it is the caller itself',
}

test('each type with an id is a node, or is none for a reason', () => {
  const without = Object.values(schema.getTypeMap()).filter(
    (type) => isObjectType(type) && type.getFields().id && !type.getInterfaces().some(({ name }) => name === 'Node'),
  )
  expect(without.map(({ name }) => name).toSorted()).toEqual(Object.keys(NO_NODES).toSorted())
})

const NODES = gql('query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }')
const PLACES = gql('{ places { edges { node { id } } } }')
const REGISTER = gql(`mutation { answer: registerPlace(input: { name: "host", type: "process" }) {
  __typename ... on ChangedPlaces { places { id } } ... on Error { message }
} }`)

test('a place is found by its id, by those who may list it', async () => {
  const runtime = { ...DEPLOYER, actor: 'RUNTIME' as const, targets: null, types: null }
  payloadOf((await api.query(REGISTER, {}, runtime)).answer)
  const { places } = await api.query(PLACES)
  const ids = [present(places?.edges[0]).node.id]
  const typesFor = async (viewer: typeof USER) =>
    (await api.query(NODES, { ids }, viewer)).nodes.map((node) => node?.__typename ?? null)
  expect(await typesFor(USER)).toEqual(['Place'])
  expect(await typesFor(viewerOf('WORKER', { projects: [v7()] }))).toEqual([null])
})

const SPEC = gql(`query ($id: ID!) { object(id: $id) { ... on Installation { spec installationSpec {
  imports { name from schema required } exports { name value }
  deployItems { name type target dependsOn config timeouts { pickup { ms never } progressing { ms never } aborting { ms never } } }
  installations { name spec { imports { name } exports { name value } deployItems { name } installations { name } } }
} } } }`)
const CREATE = gql(`mutation ($input: CreateInstallationInput!) { answer: createInstallation(input: $input) {
  ... on Installation { id } ... on Error { message }
} }`)

test('a typed spec has the fields of its input', () => {
  // A worker is the first of its event: there is nothing for it to take.
  const notOfWorkers = ['takes']
  const pairs: readonly (readonly [string, string, readonly string[]])[] = [
    ['InstallationSpecInput', 'InstallationSpec', []],
    ['ImportInput', 'ImportSpec', []],
    ['ExportInput', 'ExportSpec', []],
    ['NestedInstallationInput', 'NestedInstallationSpec', []],
    ['DeployItemInput', 'DeployItemSpec', []],
    ['TimeoutsInput', 'Timeouts', []],
    ['TimeoutInput', 'Timeout', []],
    ['RetryPolicyInput', 'RetryPolicy', []],
    ['RetryBackoffInput', 'RetryBackoff', []],
    ['JobSpecInput', 'WorkloadSpec', []],
    ['WorkerTemplateInput', 'WorkloadSpec', []],
    ['GadgetJobInput', 'GadgetJobSpec', ['name']],
  ]
  const fieldsOf = (name: string): string[] => {
    const type = getNamedType(schema.getType(name))
    return isObjectType(type) || isInputObjectType(type) ? Object.keys(type.getFields()).toSorted() : []
  }
  for (const [input, output, ofTheObject] of pairs) {
    const shown = fieldsOf(output).filter((name) => input !== 'WorkerTemplateInput' || !notOfWorkers.includes(name))
    expect([output, shown]).toEqual([output, fieldsOf(input).filter((name) => !ofTheObject.includes(name))])
  }
})

test('the typed spec of an installation is its spec', async () => {
  const spec = {
    imports: [{ name: 'in', from: 'elsewhere', schema: { type: 'string' }, required: false }],
    exports: [{ name: 'out', value: { deep: [`\${deployItems.a.exports.x}`] } }],
    deployItems: [
      {
        name: 'a',
        type: 'mock',
        target: 'here',
        config: { n: 1 },
        timeouts: { pickup: { ms: 5_000 }, aborting: { never: true } },
      },
      { name: 'b', type: 'mock', dependsOn: ['a'] },
    ],
    installations: [{ name: 'inner', spec: { exports: [{ name: 'x', value: 1 }] } }],
  }
  const created = payloadOf((await api.query(CREATE, { input: { name: 'typed', spec } })).answer)
  const { object } = await api.query(SPEC, { id: created.id })
  const typed = object?.installationSpec
  expect(typed).toMatchObject({
    imports: spec.imports,
    exports: spec.exports,
    installations: [{ name: 'inner', spec: { imports: [], exports: [{ name: 'x', value: 1 }], deployItems: [] } }],
    deployItems: [
      {
        ...{ name: 'a', type: 'mock', target: 'here', dependsOn: [], config: { n: 1 } },
        timeouts: { pickup: { ms: 5_000, never: false }, progressing: null, aborting: { ms: null, never: true } },
      },
      { name: 'b', type: 'mock', target: null, dependsOn: ['a'], config: null },
    ],
  })
  expect(object?.spec).toMatchObject({
    exports: spec.exports,
    deployItems: [{ config: { n: 1 } }, { dependsOn: ['a'] }],
  })
})
