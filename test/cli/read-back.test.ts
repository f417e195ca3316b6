import {
  buildClientSchema,
  type GraphQLInputObjectType,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  type IntrospectionQuery,
  isAbstractType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'
import { v7 } from 'uuid'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Cli, DocumentKinds } from '../../src/cli/cli.ts'
import { createProgram } from '../../src/cli/program.ts'
import { type Client, createClient } from '../../src/client/index.ts'
import { families } from '../../src/families/index.ts'
import { startTestApp, type TestApp } from '../testkit/app.ts'
import { present } from '../testkit/ask.ts'
import {
  ANY,
  fullInputs,
  isPair,
  leastInput,
  leavesOf,
  leavesOfInput,
  manifestOf,
  type Samples,
} from '../testkit/full-input.ts'
import { type CommandLine, commandLine, documents } from './command.ts'
import { type PlayedCrm, playCrms } from './played-crm.ts'
import { PLAYED, type PlayedRuntime, playRuntime } from './played-runtime.ts'

/**
 * Each field of each input that creates, updates or sets something comes back from the API, from the command line, and from the manifest
 * of its kind. The server says which fields there are, so a new one is here without an edit.
 */

/** Fields that nothing shows: secrets, and what is of the act alone. `*`: of any input. */
const NOT_SHOWN: Readonly<Record<string, string>> = {
  '*.idempotencyKey': 'the act: the same request again is the same act',
  '*.expectedGeneration': 'the act: it is refused at another generation',
  'ObjectVersionInput.id': 'the act: it is refused if one of them has changed',
  'ObjectVersionInput.revision': 'the act',
  'ObjectVersionInput.generation': 'the act',
  '*.reconcile': 'the act: it begins a job',
  'UpdateLabelsInput.remove': 'the act: it takes labels away',
  '*.expiresInMs': 'the act: it counts from there; `expiresAt` is shown',
  'HookSecretInput.value': 'a secret',
  'HookRedeliveryInput.token': 'a secret',
  'SetSecretInput.value': 'a secret',
  'SetTargetInput.credentials': 'a secret',
}
/** Commands that show what `get` does not. */
const SHOWN_BY: Readonly<Record<string, (of: Written) => string>> = {
  Project: ({ name }) => `project get ${name}`,
  Hook: ({ name }) => `hook get ${HOME}/${name}`,
  NotificationRule: ({ name }) => `notification get ${HOME}/${name}`,
  Limit: ({ name }) => `limit get ${HOME}/${name}`,
  Invariant: ({ name }) => `invariant get ${HOME}/${name}`,
  Target: ({ name }) => `target get ${HOME}/${name}`,
  DataObject: () => `data list --project ${HOME}`,
  Secret: () => `secret list ${HOME}`,
  Token: () => 'token list',
}
/** Types that no command shows. */
const NO_COMMAND: Readonly<Record<string, string>> = {
  Principal: 'the command line knows tokens alone',
}
/** Fields that an answer has under another name. */
const SHOWN_AS: Readonly<Record<string, string>> = {
  'CreateAppInstInput.clusterInstId': 'parentId',
  'CreateBulkOperationInput.ids': 'targetId',
}

const HOME = 'home'
const HOOK_SECRET = 'a-secret-that-nobody-guesses'
const TIMES = { start: '2100-01-01T00:00:00.000Z', until: '2101-01-01T00:00:00.000Z' }
const AUTOMATIC = [{ intervalMs: 5_000 }, { cron: ['30 2 * * *'], timeZone: 'Europe/Berlin' }]
const BOUNDS = [
  { max: ANY, maxPerKey: ANY, rate: ANY, strategy: 'CANCEL_RUNNING', debounceMs: ANY },
  { max: ANY, shared: true },
]
const TARGETS = [{ target: ANY }, { targetSelector: ANY }]
const REDELIVERED = { format: 'GITHUB', redelivery: ANY }
const SIGNED = { format: 'GENERIC', deliveryId: '${headers["x-id"]}', signature: ANY }
const AGENT = { grants: [{ role: 'AGENT', project: HOME }], types: ANY, targets: ANY }

type Ids = Readonly<Partial<Record<'principalId' | 'cloudletId' | 'clusterInstId', string>>>

/** @param ids of the objects that inputs are about */
const samplesOf = (ids: Ids): Samples => ({
  values: {
    ...ids,
    project: HOME,
    idempotencyKey: null,
    expectedGeneration: null,
    ifUnchanged: null,
    url: 'https://example.org/told',
    secret: 'SIGNING',
    'RetryPolicyInput.attempts': 7,
    jitter: 0.25,
    factor: 3.5,
    initialMs: 1_500,
    maxMs: 90_000,
    'GadgetJobInput.when': "${jobs.first.phase == 'DONE'}",
    'GadgetJobInput.dependsOn': ['first'],
    // A gadget bounds its own time.
    'GadgetJobInput.retry.attemptTimeoutMs': null,
    'GadgetEnvInput.name': 'GADGET_LEVEL',
    'DeployItemInput.dependsOn': ['first'],
    'ImportInput.schema': { type: 'object' },
    // Jobs are of the whole tree.
    'NestedInstallationInput.spec.automaticReconcile': null,
    runtime: PLAYED,
    'HookRedeliveryInput.address': 'https://api.github.com/repos/acme/shop/hooks/1',
    'HookSignatureInput.header': 'x-signed',
    'ServiceInput.secrets': ['SIGNING'],
    'CreateHookInput.filter': 'body.ok == true',
    'UpdateHookInput.filter': 'body.ok == true',
    'CreateBulkOperationInput.verb': 'delete',
    'CreateBulkOperationInput.flags': ['cascade'],
    'InvariantAfterInput.project': 'default',
    'LimitRequestInput.limit': 'hosts',
    'LimitRequestInput.priority': 5,
    'LimitRateInput.perMs': 60_000,
    'LimitWeightInput.weight': 3,
    debounceMs: 30_000,
    gate: { approval: { count: 2 }, message: 'Go on?', timeout: '2h' },
    'OverrideLimitInput.ttlMs': 60_000,
    'NotificationDigestInput.windowMs': 5_000,
    'NotificationQuietRangeInput.from': '22:00',
    'NotificationQuietRangeInput.to': '06:00',
    'NotificationEmailInput.to': ['a@example.org'],
    'NotificationFilterInput.projects': ['default'],
    timeZone: 'Europe/Berlin',
    maxQueued: 3,
    maxCaughtUp: 4,
    'ScheduleEveryInput.ms': 3_600_000,
    'ScheduleEveryInput.offsetMs': 300_000,
    'CreatePrincipalTokenInput.expiresInMs': 3_600_000,
    'CreateTokenInput.expiresInMs': 3_600_000,
    'CreateTokenInput.role': 'AGENT',
    'CreateTokenInput.actor': 'RUNTIME',
    'CreateTokenInput.projects': [HOME],
    'HookEventInput.project': '${body.project}',
    'CreateHookInput.projects': ['default'],
    'UpdateHookInput.projects': ['default'],
  },
  groups: {
    TimeoutInput: [{ ms: ANY }, { never: true }],
    InstallationSpecInput: TARGETS,
    DeployItemInput: TARGETS,
    ReconcileAfterSuccessInput: AUTOMATIC,
    ReconcileAfterFailureInput: AUTOMATIC,
    FileInput: [{ content: ANY }, { secret: 'SIGNING' }],
    ServiceReadinessInput: [{ port: ANY }, { command: ANY }],
    JobSpecInput: [
      { command: ANY, clone: ANY },
      { command: ANY, workspace: true },
    ],
    TargetSelectorInput: [{ type: 'mock', labels: ANY }],
    HookSecretInput: [{ value: HOOK_SECRET }],
    CreateHookInput: [REDELIVERED, SIGNED],
    UpdateHookInput: [REDELIVERED, SIGNED],
    NotificationReceiverInput: [{ webhook: ANY }, { cloudEvents: ANY }, { slack: ANY }, { email: ANY }],
    CreatePrincipalInput: [{ administrator: true }, { ...AGENT, actor: 'RUNTIME' }],
    UpdatePrincipalInput: [{ administrator: true }, AGENT],
    ScheduleRunInput: [{ createEvent: ANY }, { createTask: ANY }, { reconcileInstallation: ANY }],
    ScheduleWhenInput: [
      { cron: ['30 2 * * *'], timeZone: 'Europe/Berlin', ...TIMES },
      { every: ANY, ...TIMES },
      { at: '2100-06-01T00:00:00.000Z' },
    ],
    SetTargetInput: [{ type: ANY }],
    CreateLimitInput: BOUNDS,
    UpdateLimitInput: BOUNDS,
    // It selects nothing.
    ObjectFilter: [{ kinds: ['CLOUDLET'], phases: ['OFFLINE'], nameContains: 'nowhere' }],
    CreateBulkOperationInput: [{ filter: ANY }, { ids: [ids.cloudletId] }],
  },
  before: { GadgetJobInput: [{ name: 'first', gadget: 'echo' }], DeployItemInput: [{ name: 'first', type: 'mock' }] },
})

type Fields = Readonly<Record<string, unknown>>

/** One write with each field of its input, and what it has written. */
interface Written {
  readonly mutation: string
  readonly input: GraphQLInputObjectType
  readonly given: Fields
  readonly type: string
  /** Null: it is a part of its project. */
  readonly id: string | null
  readonly name: string
}

let app: TestApp
let runtime: PlayedRuntime
let crm: PlayedCrm
/** Jobs are created by the worker of their event. */
let worker: Client
let phaseline: CommandLine
let schema: GraphQLSchema
let cli: DocumentKinds
/** The project that has all parts without an id. */
let home: string
let writes: readonly Written[]
/** Answers of the server to inputs that it does not take. */
const refused: string[] = []
let names = 0
const newName = (): string => {
  names += 1
  return `n${names}`
}

beforeAll(async () => {
  app = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
  runtime = await playRuntime(app)
  phaseline = commandLine({ PHASELINE_URL: app.url, PHASELINE_TOKEN: app.token, HOOK_SECRET })
  schema = buildClientSchema(await app.client.query<IntrospectionQuery>(getIntrospectionQuery({ oneOf: true })))
  const io = { stdout: process.stdout, stderr: process.stderr, stdin: process.stdin, env: {} }
  cli = await kindsOf({ io: { ...io, signal: new AbortController().signal }, exitCode: 0 })
  writes = await writeAll()
}, 60_000)
afterAll(async () => {
  await crm[Symbol.asyncDispose]()
  await worker[Symbol.asyncDispose]()
  await runtime[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})

test('the API shows each field that a mutation takes', async () => {
  expect(refused).toEqual([])
  expect(unwritten()).toEqual([])
  expect(await lost(writes, ({ type, id }) => read(type, id))).toEqual([])
})

test('the command line shows each field that a mutation takes', async () => {
  const shown = writes.filter(({ type }) => !Object.hasOwn(NO_COMMAND, type))
  expect(await lost(shown, show)).toEqual([])
})

test('a manifest that is exported makes the same again', async () => {
  const kinds = cli.kinds.map(({ kind }) => kind)
  const exported = writes.filter(({ type }) => kinds.includes(type))
  expect(new Set(exported.map(({ type }) => type))).toEqual(new Set(kinds))
  const projects = [HOME, ...exported.flatMap(({ type, name }) => (type === 'Project' ? [name] : []))]
  const manifests = await Promise.all(projects.map((name) => run(`export --project ${name} --json`)))
  const copies = manifests.flatMap(documents).map(copyOf)
  await run('apply -f -', copies.map((copy) => JSON.stringify(copy)).join('\n---\n'))
  expect(await lost(exported, async (one) => read(one.type, await idOfCopy(one)), IS_OF_PLACE)).toEqual([])
})

test('what is exported, or shown, changes nothing where it comes from', async () => {
  const kinds = cli.kinds.map(({ kind }) => kind)
  const exported = writes.filter(({ type }) => kinds.includes(type))
  const projects = [HOME, ...exported.flatMap(({ type, name }) => (type === 'Project' ? [name] : []))]
  const manifests = await Promise.all(projects.map((name) => run(`export --project ${name} --json`)))
  const shown = await Promise.all(
    exported.map(async ({ id, ...one }) => run(`${SHOWN_BY[one.type]?.({ id, ...one }) ?? `get ${id}`} -o yaml`)),
  )
  const applied = await Promise.all([manifests, shown].map((some) => run('apply -f - --no-reconcile', some.join(''))))
  const changed = applied.flatMap((out) => out.trimEnd().split('\n')).filter((line) => !line.includes('unchanged'))
  expect(changed).toEqual([])
})

test('a file of `task run` takes each field of a task, and so does one that is exported', async () => {
  expect(Object.keys(cli.otherKinds)).toEqual(['Task'])
  const tasks = writes.filter(({ mutation }) => mutation === 'createTask')
  const again = async ({ given }: Written) => {
    const file = { kind: 'Task', ...(manifestOf(given) as object), name: newName() }
    const [task] = documents(await run('task run -f - --json', JSON.stringify(file)))
    return read('Task', String(task?.id))
  }
  expect(await lost(tasks, again, IS_OF_PLACE)).toEqual([])
  const exported = async ({ name }: Written) => {
    const [document] = documents(await run(`export ${HOME}/${name} --kind task --json`))
    const copy = JSON.stringify({ ...document, name: newName() })
    const [task] = documents(await run('task run -f - --json', copy))
    return read('Task', String(task?.id))
  }
  expect(await lost(tasks, exported, IS_OF_PLACE)).toEqual([])
})

test('an event that is cloned or retried has each field of the first one', async () => {
  const events = writes.filter(({ type }) => type === 'Event')
  expect(events.length).toBeGreaterThan(0)
  const again = async (mutation: string, id: string | null) => (await write(mutation, { id })).id
  const clone = ({ id }: Written) => again('cloneEvent', id)
  const retry = async (written: Written) => again('retryEvent', await again('cancelEvent', await clone(written)))
  for (const copy of [clone, retry])
    expect(await lost(events, async (written) => read('Event', await copy(written)))).toEqual([])
})

/** Fields that are others in a copy. */
const IS_OF_PLACE = (of: string): boolean => /\.id$|^(Create|Update)(Project|Task)Input\.name$|Input\.project$/.test(of)

/** Each field of an input that is not in what is shown of the object. */
async function lost(
  of: readonly Written[],
  shownOf: (written: Written) => Promise<unknown>,
  isLeftOut: (of: string) => boolean = () => false,
): Promise<readonly string[]> {
  const found = await Promise.all(
    of.map(async (written) => {
      const shown = new Set(leavesOf(await shownOf(written)))
      const { mutation, input, given } = written
      return leavesOfInput(input, given, (field) => isLeftOut(field) || isNotShown(field)).flatMap((one) =>
        shown.has(one.leaf.replace(/^\w+/, (name) => SHOWN_AS[one.of] ?? name))
          ? []
          : [`${mutation}: ${one.of}, ${one.leaf}`],
      )
    }),
  )
  return [...new Set(found.flat())]
}

/** Fields that no input of these has. */
function unwritten(): readonly string[] {
  const written = new Set(
    writes.flatMap(({ input, given }) => leavesOfInput(input, given, () => false).map(({ of }) => of)),
  )
  const known = new Set<GraphQLInputObjectType>()
  const fieldsOf = (type: GraphQLInputObjectType): readonly string[] => {
    if (known.has(type)) return []
    known.add(type)
    return Object.values(type.getFields()).flatMap((field) => {
      const named = getNamedType(field.type)
      return isInputObjectType(named) && !isPair(named) ? fieldsOf(named) : [`${type.name}.${field.name}`]
    })
  }
  return writes.flatMap(({ input }) => fieldsOf(input)).filter((of) => !written.has(of) && !isNotShown(of))
}

const isNotShown = (of: string): boolean =>
  Object.hasOwn(NOT_SHOWN, of) || Object.hasOwn(NOT_SHOWN, of.replace(/^\w+/, '*'))

async function writeAll(): Promise<readonly Written[]> {
  const workerTemplate = { runtime: PLAYED, command: ['true'], workspace: true }
  home = present((await write('createProject', { name: HOME, workerTemplate })).id)
  await write('createLimit', { project: HOME, name: 'hosts', max: 100_000 })
  await write('createEvent', { project: HOME, source: 'test', type: 'push' })
  const { token } = await runtime.start(`${HOME}/event-1`)
  worker = createClient({ url: app.url, token: present(token) })
  const mutations = Object.values(present(schema.getMutationType()).getFields())
  const made: Written[] = []
  const parent = async (mutation: string, ids: Ids) => present((await least(mutation, samplesOf(ids))).id)
  const principalId = await parent('createPrincipal', {})
  const cloudletId = await parent('createCloudlet', {})
  crm = await (await playCrms(app)).connect(cloudletId, { instance: v7() })
  const clusterInstId = await parent('createClusterInst', { cloudletId })
  const samples = samplesOf({ principalId, cloudletId, clusterInstId })
  for (const { name: mutation } of mutations.filter(({ name }) => /^(create|update|set)[A-Z]/.test(name))) {
    const input = inputOf(mutation)
    const plain = await least(creationOf(mutation), samples)
    const defaults = new Set(leavesOf(await read(plain.type, plain.id)))
    for (const [variant, full] of fullInputs(input, samples, defaults).entries()) {
      const updated = mutation.startsWith('update') ? await least(creationOf(mutation), samples, variant) : null
      const { id, name } = input.getFields()
      const given = {
        ...full,
        ...(name && { name: updated && !id ? updated.name : newName() }),
        ...(id && { id: updated?.id }),
      }
      const answer = await write(mutation, given).catch(String)
      if (typeof answer === 'string') refused.push(answer)
      else made.push({ mutation, input, given, ...answer, name: String(given.name ?? updated?.name) })
    }
  }
  return made
}

const inputOf = (mutation: string): GraphQLInputObjectType => {
  const field = present(present(schema.getMutationType()).getFields()[mutation])
  const type = getNamedType(present(field.args[0]).type)
  if (field.args.length !== 1 || !isInputObjectType(type))
    throw new Error(`${mutation} takes something else than one input`)
  return type
}

/** Labels are of any object. */
const creationOf = (mutation: string): string =>
  mutation === 'updateLabels' ? 'createCloudlet' : mutation.replace(/^update/, 'create')

/** Creates something without what it need not have. */
async function least(mutation: string, samples: Samples, variant = 0) {
  const name = newName()
  const input = inputOf(mutation)
  const fields = input.getFields()
  const place = { ...(fields.name && { name }), ...(fields.project && { project: HOME }) }
  const given = { ...leastInput(input, samples, variant), ...place }
  const made = { ...(await write(mutation, given)), name }
  if (made.type === 'ClusterInst' || made.type === 'AppInst') {
    // Nothing goes into it, and nothing changes it, before it is there.
    const { object } = await app.client.query<{ object: { path: string } }>(PATH, { id: made.id })
    await crm.report(await crm.take(object.path, 'CREATE'), { phase: 'READY' })
  }
  return made
}

async function write(mutation: string, input: Fields) {
  const client = mutation === 'createJob' ? worker : app.client
  const result = getNamedType(present(present(schema.getMutationType()).getFields()[mutation]).type)
  const members = isAbstractType(result) ? schema.getPossibleTypes(result) : isObjectType(result) ? [result] : []
  const parts = members.map((one) => `... on ${one.name} ${one.name.endsWith('Error') ? '{ message }' : idsIn(one)}`)
  const { answer } = await client.query<{ answer: Fields }>(
    `mutation ($input: ${inputOf(mutation)}!) { answer: ${mutation}(input: $input) { __typename ${parts.join(' ')} } }`,
    { input },
  )
  if ('message' in answer) throw new Error(`${mutation}: ${answer.message}`)
  const [written = answer] = [answer, ...Object.values(answer).flat()].filter((one) => (one as Fields)?.id)
  const { __typename: type, id = null } = written as { readonly __typename: string; readonly id?: string }
  return { type, id }
}

const PATH = 'query ($id: ID!) { object(id: $id) { path } }'

/** Its id, or those of what it has made. */
function idsIn(type: GraphQLObjectType): string {
  const fields = type.getFields()
  if (fields.id) return '{ id }'
  const made = Object.values(fields).filter(({ type: of }) => isNode(getNamedType(of)))
  return `{ __typename ${made.map(({ name }) => `${name} { __typename ... on Node { id } }`).join(' ')} }`
}

const isNode = (type: GraphQLNamedType): boolean =>
  (isObjectType(type) || isAbstractType(type)) &&
  'getInterfaces' in type &&
  type.getInterfaces().some(({ name }) => name === 'Node')
const isTreeObject = (type: string): boolean =>
  (schema.getType(type) as GraphQLObjectType).getInterfaces().some(({ name }) => name === 'TreeObject')

/** All fields of an object, and of those below it. */
async function read(type: string, id: string | null): Promise<unknown> {
  if (id === null) return { project: await read('Project', home) }
  const fields = selectionOf(present(schema.getType(type)))
  const { node } = await app.client.query<{ node: unknown }>(
    `query ($id: ID!) { node(id: $id) { ... on ${type} ${fields} } }`,
    { id },
  )
  const below = await childrenOf(type, id)
  return [node, ...(await Promise.all(below.map((child) => read(child.type, child.id))))]
}

async function childrenOf(
  type: string,
  id: string,
): Promise<readonly { readonly type: string; readonly id: string }[]> {
  if (!isTreeObject(type)) return []
  const { object } = await app.client.query<{
    object: { children: { edges: { node: { type: string; id: string } }[] } }
  }>('query ($id: ID!) { object(id: $id) { children(first: 100) { edges { node { type: __typename id } } } } }', { id })
  return object.children.edges.map(({ node }) => node)
}

/** Selects all fields that need no argument, and of other objects their ids and names. */
function selectionOf(type: GraphQLNamedType, around: readonly string[] = []): string {
  if (isInterfaceType(type) && isNode(type)) return '{ id name }'
  if (!isObjectType(type)) return isAbstractType(type) ? '{ __typename }' : ''
  const isOther = around.length > 0 && isNode(type)
  const common = isTreeObject(type.name) ? (schema.getType('TreeObject') as GraphQLInterfaceType).getFields() : {}
  const selected = Object.values(type.getFields()).flatMap(({ name, type: of, args }) => {
    const named = getNamedType(of)
    const below = [...around, type.name]
    if (isOther && name !== 'id' && name !== 'name') return []
    if (args.some(isRequiredArgument) || around.includes(named.name)) return []
    if (!named.name.endsWith('Connection')) return [`${name} ${selectionOf(named, below)}`]
    // Children, history and the like are of every object.
    if (around.length > 0 || name in common) return []
    return [`${name}(first: 100) ${selectionOf(named, below)}`]
  })
  return `{ ${selected.join(' ')} }`
}

async function run(line: string, stdin = ''): Promise<string> {
  const { out, err, code } = await phaseline(line, { stdin })
  expect({ line, err, code }).toEqual({ line, err: '', code: 0 })
  return out
}

/** All that the command line prints of an object, and of those below it. */
async function show(written: Written): Promise<unknown> {
  const command = SHOWN_BY[written.type]
  if (command) return documents(await run(`${command(written)} -o json`))
  const ids = [written.id, ...(await childrenOf(written.type, present(written.id))).map(({ id }) => id)]
  return await Promise.all(ids.map(async (id) => documents(await run(`get ${id} -o json`))))
}

/** The manifest of the same in another project. */
function copyOf(manifest: Fields): Fields {
  const { kind, name, project, secrets, redelivery } = manifest
  if (kind === 'Project') return { ...manifest, name: `copy-${name}` }
  const env = 'HOOK_SECRET'
  return {
    ...{ ...manifest, project: `copy-${project}` },
    ...(Array.isArray(secrets) && { secrets: secrets.map((one) => ({ ...one, env })) }),
    ...(redelivery !== undefined && { redelivery: { ...(redelivery as Fields), token: { env } } }),
  }
}

async function idOfCopy({ type, name }: Written): Promise<string> {
  const kind = type.replaceAll(/(?<=[a-z])[A-Z]/g, '_$&').toUpperCase()
  const query = `${type[0]?.toLowerCase()}${type.slice(1)}`
  const [from, variables] =
    type === 'Project'
      ? ['project(name: $name)', { name: `copy-${name}` }]
      : isTreeObject(type)
        ? [`objectByPath(project: "copy-${HOME}", kind: ${kind}, path: [$name])`, { name }]
        : [`${query}(project: "copy-${HOME}", name: $name)`, { name }]
  const { found } = await app.client.query<{ found: { id: string } }>(
    `query ($name: String!) { found: ${from} { id } }`,
    variables,
  )
  return present(found).id
}

async function kindsOf(begun: Pick<Cli, 'io' | 'exitCode'>): Promise<DocumentKinds> {
  await createProgram(begun, families)
  return await (begun as Cli).documentKinds()
}
