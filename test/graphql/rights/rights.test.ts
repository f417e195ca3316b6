import { isObjectType, Kind, OperationTypeNode, parse, visit } from 'graphql'
import { type Client, createClient } from 'graphql-ws'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { canRead } from '../../../src/core/can-read.ts'
import type { Viewer } from '../../../src/core/ports/viewer.ts'
import { hasRight, PROJECT_ROLES, type Right } from '../../../src/core/rights.ts'
import type { VariablesOf } from '../../../src/documents/typed-document.ts'
import { complexityLimit } from '../../../src/graphql/schema/limits.ts'
import { rightOf } from '../../../src/graphql/schema/rights-plugin.ts'
import { post } from '../../server/call.ts'
import { payloadOf, present } from '../../testkit/ask.ts'
import { gql } from '../../testkit/gql.ts'
import { schema } from '../../testkit/mutate.ts'
import { until } from '../../testkit/wait.ts'
import { wholeDocument } from '../../testkit/whole-document.ts'
import { USER } from '../../testkit/world.ts'
import { type Api, createApi } from '../api.ts'
import { CASES, type Case } from './cases.ts'
import { createPlace, type Place, unknownPlace, workerToken } from './places.ts'

/**
 * The table of rights, tried: each role calls each root field in a project of its own, in a foreign one and in one that does
 * not exist. The rights say what is permitted; a foreign project must look like none.
 */

interface Caller {
  readonly token: string
  readonly viewer: Viewer
}

let api: Api
let port: number
let own: Place
let foreign: Place
let unknown: Place
beforeAll(async () => {
  api = await createApi()
  ;({ port } = await api.serve())
  own = await createPlace(api, 'own-project')
  foreign = await createPlace(api, 'foreign-project')
  unknown = unknownPlace(own)
})
afterAll(() => api[Symbol.asyncDispose]())

/** The deepest first; the first is taken whose number of fields the server allows. */
const DEPTHS = { query: [3, 2], mutation: [1], subscription: [2] } as const

function numberOfFields(document: string): number {
  let fields = 0
  visit(parse(document), { [Kind.FIELD]: () => void fields++ })
  return fields
}

const fields = ['Query', 'Mutation', 'Subscription'].flatMap((root) => {
  const type = schema.getType(root)
  return isObjectType(type) ? Object.values(type.getFields()).map((field) => ({ root, field })) : []
})
const tried = fields.flatMap(({ root, field }) => {
  const given = CASES[root as keyof typeof CASES][field.name] ?? []
  const operation = root.toLowerCase() as OperationTypeNode
  const declared = rightOf(field) as Right
  const documents = DEPTHS[operation].map((depth) => wholeDocument(operation, field, depth))
  const document = documents.find((document) => numberOfFields(document) <= complexityLimit.breadth) ?? ''
  return [given]
    .flat()
    .map((one) => ({ ...one, name: field.name, operation, document, declared, right: one.right ?? declared }))
})
type Tried = (typeof tried)[number]

test('each root field has a case', () => {
  expect(
    Object.entries(CASES)
      .flatMap(([root, cases]) => Object.keys(cases).map((name) => `${root}.${name}`))
      .sort(),
  ).toEqual(fields.map(({ root, field }) => `${root}.${field.name}`).sort())
})

const people = PROJECT_ROLES.filter((role) => role !== 'AGENT').map((role) => ({ role, actor: 'USER' }) as const)
const agents = (['DEPLOYER', 'CRM'] as const).map((actor) => ({ role: 'AGENT', actor }) as const)
const callers = [...people, ...agents].flatMap(({ role, actor }) => [
  // Metrics are of no project.
  ...(role === 'MONITOR'
    ? []
    : [{ name: `${actor} with the role ${role}`, actor, grants: [{ role, project: 'own-project' }] }]),
  { name: `${actor} with the role ${role} in all projects`, actor, grants: [{ role }] },
])

test.each([...callers, { name: 'USER without a role', grants: [] }, { name: 'administrator', administrator: true }])(
  '$name',
  async (input) => {
    await tryAll(await createCaller(input))
  },
)
test('worker of an event', async () => {
  await tryAll(await callerOf(workerToken(api.world, own)))
})

test('a worker reads neither data nor settings of its project', async () => {
  const SETTINGS = gql(`query ($name: String!) { project(name: $name) {
    dataObjects { totalCount edges { node { name } } } secrets { name } subscriptions { source } workerTemplate { command }
  } }`)
  const seen = async (viewer: Viewer) => present((await api.query(SETTINGS, { name: own.project }, viewer)).project)
  const nothing = { dataObjects: { totalCount: 0, edges: [] }, secrets: [], subscriptions: [], workerTemplate: null }
  expect(await seen((await callerOf(workerToken(api.world, own))).viewer)).toEqual(nothing)
  expect(await seen(USER)).toMatchObject({ secrets: [{ name: 'SECRET' }], dataObjects: { totalCount: 1 } })
})

const CREATE_PRINCIPAL = gql(`mutation ($input: CreatePrincipalInput!) { answer: createPrincipal(input: $input) {
  ... on Principal { id name role administrator grants { role project { name } } }
  ... on InvalidInputError { fields { path } } ... on Error { code message }
} }`)
const ADD_TOKEN = gql(`mutation ($input: CreatePrincipalTokenInput!) { answer: createPrincipalToken(input: $input) {
  ... on CreatedToken { secret token { id } } ... on Error { code message }
} }`)

async function createCaller(input: VariablesOf<typeof CREATE_PRINCIPAL>['input']): Promise<Caller> {
  const { answer: principal } = await api.query(CREATE_PRINCIPAL, { input })
  const { answer } = await api.query(ADD_TOKEN, { input: { principalId: payloadOf(principal).id, name: 'one' } })
  return await callerOf(payloadOf(answer).secret)
}

async function callerOf(token: string): Promise<Caller> {
  const viewer = await api.services.tokens.authenticate(token)
  if (!viewer) throw new Error('the token is not valid')
  return { token, viewer }
}

async function tryAll(caller: Caller): Promise<void> {
  const socket = createClient({
    url: `ws://127.0.0.1:${port}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${caller.token}` },
  })
  const wrong: string[] = []
  for (const one of tried) {
    const ask = (variables: object, cause: () => Promise<unknown>) =>
      one.operation === OperationTypeNode.SUBSCRIPTION
        ? streamed(socket, caller, one, variables, cause)
        : post(port, caller.token, one.document, {}, variables).then(({ body }) => body)
    const problem = one.inPlace ? await tryPlaces(caller, one, one.inPlace, ask) : await tryOnce(caller, one, ask)
    if (problem) wrong.push(`${one.operation} ${one.name}: ${problem}`)
  }
  await socket.dispose()
  expect(wrong).toEqual([])
}

type Ask = (variables: object, cause: () => Promise<unknown>) => Promise<string>
const NOTHING = /^{"data":{"answer":null}}$|"code":"NOT_FOUND"/
const isForbidden = (answer: string): boolean => answer.includes('"FORBIDDEN"')
const reads = ({ viewer }: Caller, { root }: Case, place: Place): boolean =>
  canRead(viewer, { projectId: place.projectId, ...(root && { rootId: place[root] }) })

/** A field of no place: it answers whoever has its right anywhere, and shows nothing of what the caller may not read. */
async function tryOnce(caller: Caller, one: Tried, ask: Ask): Promise<string | null> {
  const answer = await ask(one.variables ?? {}, async () => await one.cause?.(api, own))
  if (!hasRight(caller.viewer, one.right)) return isForbidden(answer) ? null : `is not refused: ${answer}`
  if (isForbidden(answer)) return `is refused: ${answer}`
  for (const place of [own, foreign]) {
    const shown = one.shows && answer.includes(one.shows(place))
    const permitted = reads(caller, one, place) && hasRight(caller.viewer, one.right, place.projectId)
    if (shown === false && permitted) return `does not show ${one.shows?.(place)}: ${answer}`
    // Types of work are figures of the whole instance, as in the metrics.
    const leaked = reads(caller, {}, place) || one.right.everywhere ? null : leakOf(answer, place)
    if (shown && !permitted) return `shows ${one.shows?.(place)}: ${answer}`
    if (leaked) return `shows ${leaked} of ${place.project}: ${answer}`
  }
  return null
}

/** A field of a place: what the caller may not read answers as if it did not exist. */
async function tryPlaces(
  caller: Caller,
  one: Tried,
  inPlace: NonNullable<Case['inPlace']>,
  ask: Ask,
): Promise<string | null> {
  const { viewer } = caller
  // A stream of what another actor has to do stays silent.
  const isStream = one.operation === OperationTypeNode.SUBSCRIPTION
  if (isStream && one.actor && one.actor !== viewer.actor && hasRight(viewer, one.right)) return null
  const answerOf = async (place: Place): Promise<{ readonly answer: string; readonly plain: string }> => {
    const made = place === unknown || !hasRight(viewer, one.right) ? {} : await one.fresh?.(api, place, viewer)
    const there = { ...place, ...made }
    const variables = inPlace(there)
    const answer = await ask(variables, async () => await one.cause?.(api, there))
    return { answer, plain: withoutNames(answer, variables) }
  }
  const none = await answerOf(unknown)
  for (const place of [own, foreign]) {
    const { answer, plain } = await answerOf(place)
    const problem = problemOf(caller, one, place, { answer, isNone: plain === none.plain })
    const leaked = reads(caller, {}, place) ? null : leakOf(plain, place)
    if (problem) return `${problem} in ${place.project}: ${answer}; for nothing it is ${none.answer}`
    if (leaked) return `shows ${leaked} of ${place.project}: ${answer}`
  }
  return null
}

function problemOf(
  caller: Caller,
  one: Tried,
  place: Place,
  { answer, isNone }: { readonly answer: string; readonly isNone: boolean },
): string | null {
  const { viewer } = caller
  if (!hasRight(viewer, one.declared) && !isForbidden(answer)) return 'is not refused'
  if (!reads(caller, one, place)) return isNone ? null : 'differs'
  if (one.actor && one.actor !== viewer.actor) return null
  if (!hasRight(viewer, one.right, place.projectId)) return isForbidden(answer) ? null : 'is not refused'
  return isForbidden(answer) || NOTHING.test(answer) || isNone ? 'is refused' : null
}

/** An answer without what the caller has sent, and without places in the log. */
function withoutNames(answer: string, variables: object): string {
  return textsIn(variables)
    .reduce((text, name) => text.replaceAll(name, '…'), answer)
    .replaceAll(/"(cursor|startCursor|endCursor|through)":("[^"]*"|\d+)/g, '')
}

/** The texts in JSON, longest first. */
const textsIn = (value: unknown): readonly string[] =>
  (typeof value === 'string' ? [value] : Object.values(value ?? {}).flatMap(textsIn)).toSorted(
    (a, b) => b.length - a.length,
  )

/** A name or an id of the place in the answer. */
function leakOf(answer: string, place: Place): string | null {
  return Object.values(place).find((value) => answer.includes(value)) ?? null
}

/** The events of a stream, up to the last one or to its end. */
async function streamed(
  socket: Client,
  { viewer }: Caller,
  { name, document, isLast = () => true }: Tried,
  variables: object,
  cause: () => Promise<unknown>,
): Promise<string> {
  const events: string[] = []
  const stream = socket.iterate({ query: document, variables: variables as Record<string, unknown> })
  // The one before may still be open: the server hears of its end a moment later.
  const before = new Set(api.services.streams.list().map(({ id }) => id))
  const isOpen = () =>
    api.services.streams
      .list()
      .some(({ id, field, caller }) => !before.has(id) && field === name && caller.principalId === viewer.principalId)
  let ended = false
  const read = async (): Promise<void> => {
    try {
      for await (const event of stream) {
        const text = JSON.stringify(event)
        events.push(text)
        if (isLast(text)) break
      }
    } catch (error) {
      events.push(JSON.stringify(error))
    }
    ended = true
  }
  const reading = read()
  await until(() => ended || isOpen(), { what: `${name} is open` })
  if (!ended) await cause()
  await reading
  return events.join()
}
