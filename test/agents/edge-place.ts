import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentProcess, CrmProcessOptions } from '../../src/agents/agent-process.ts'
import { startAgentProcess } from '../../src/agents/spawn.ts'
import { startTestApp } from '../testkit/app.ts'
import {
  type ReachableServer,
  type SharedServerOptions,
  startSharedServer,
  type TestServer,
} from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/** The real server, a cloudlet on it, and its simulated CRM in a process of its own. */
export interface EdgePlace<S extends ReachableServer = ReachableServer> extends AsyncDisposable {
  readonly server: S
  readonly cloudlet: string
  readonly cloudletId: string
  readonly state: string
  readonly agent: AgentProcess
  /** What the CRM's processes said of one kind of event. */
  said(event: string): readonly Readonly<Record<string, unknown>>[]
  /** The id, or the code of the refusal. */
  mutate(field: string, input: object): Promise<string>
  create(path: string, spec?: object): Promise<string>
  see(id: string): Promise<Seen | null>
  untilPhase(id: string, ...phases: readonly string[]): Promise<Seen>
  untilGone(id: string): Promise<unknown>
  /** What the server has, as `path revision`. */
  recorded(): Promise<readonly string[]>
  /** What is really there, likewise. */
  found(): Promise<readonly string[]>
  instances(): Promise<readonly Seen[]>
}
export interface Seen {
  readonly id: string
  readonly kind: string
  readonly name: string
  readonly phase: string
  readonly finished: boolean
  readonly error: { readonly code: string; readonly message: string } | null
  readonly parent: { readonly id: string; readonly name: string } | null
  readonly specRevision?: number
  readonly drifted?: boolean
  readonly upgradePhase?: string
  readonly version?: string | null
  readonly epoch?: number
  readonly orphans?: readonly unknown[]
  readonly history: {
    readonly edges: readonly { readonly node: { readonly to: string; readonly reason: string | null } }[]
  }
}
const FIELDS = `id kind name phase finished error { code message } parent { id name }
  history(last: 50) { edges { node { to reason } } }
  ... on Cloudlet { upgradePhase version epoch orphans { path } }
  ... on ClusterInst { specRevision drifted } ... on AppInst { specRevision drifted }`
const SEE = `query See($id: ID!) { object(id: $id) { ${FIELDS} } }`
const TREE = `query Tree($id: ID!) { tree(rootId: $id) { objects(first: 200) { edges { node { ${FIELDS} } } } } }`

const ENV = { PHASELINE_ROLES: 'gateway,engine' }
type Crm = Omit<CrmProcessOptions, 'cloudlet'>

export const edgePlace = (crm: Crm = {}): Promise<EdgePlace> => edgePlaceOf(() => startTestApp({ env: ENV }), crm)

/** On a server in a process of its own. */
export const killableEdgePlace = (
  crm: Crm = {},
  { env, ...options }: Pick<SharedServerOptions, 'secondary' | 'env'> = {},
): Promise<EdgePlace<TestServer>> => edgePlaceOf(() => startSharedServer({ ...options, env: { ...ENV, ...env } }), crm)

async function edgePlaceOf<S extends ReachableServer>(serve: () => Promise<S>, crm: Crm): Promise<EdgePlace<S>> {
  await using starting = new AsyncDisposableStack()
  const server = starting.use(await serve())
  const state = await mkdtemp(join(tmpdir(), 'phaseline-edge-'))
  starting.defer(() => rm(state, { recursive: true, force: true }))
  const cloudlet = `cloud_${randomBytes(4).toString('hex')}`

  async function answer(field: string, input: object, selection: string) {
    const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`
    const document = `mutation M($input: ${type}!) { answer: ${field}(input: $input) { __typename ${selection} ... on Error { code message } } }`
    const data = await server.client.query<{ answer: Readonly<Record<string, string>> }>(document, { input })
    return data.answer
  }
  const selections: Readonly<Record<string, string>> = { Cloudlet: 'Cloudlet', Cluster: 'ClusterInst', App: 'AppInst' }
  async function mutate(field: string, input: object): Promise<string> {
    const [kind = ''] = /Cloudlet|Cluster|App/.exec(field) ?? []
    const { id, code } = await answer(field, input, `... on ${selections[kind]} { id }`)
    return id ?? code ?? ''
  }
  const { secret = '' } = await answer(
    'createToken',
    { name: 'crm', role: 'AGENT', actor: 'CRM', types: ['crm'], targets: [cloudlet] },
    '... on CreatedToken { secret }',
  )
  const cloudletId = await mutate('createCloudlet', { name: cloudlet })
  const lines: Readonly<Record<string, unknown>>[] = []
  const agent = starting.use(
    startAgentProcess({
      types: ['crm'],
      url: server.url,
      token: secret,
      state,
      crm: { cloudlet, ...crm },
      onEvent: (event) => {
        if (event.type === 'said' && event.line.startsWith('{')) lines.push(JSON.parse(event.line))
      },
    }),
  )
  async function see(id: string): Promise<Seen | null> {
    return (await server.client.query<{ object: Seen | null }>(SEE, { id })).object
  }
  const instances = async (): Promise<readonly Seen[]> => {
    const data = await server.client.query<{ tree: { objects: { edges: readonly { node: Seen }[] } } }>(TREE, {
      id: cloudletId,
    })
    return data.tree.objects.edges.map(({ node }) => node).filter(({ kind }) => kind !== 'CLOUDLET')
  }
  const revisionOf = async (path: string): Promise<string[]> => {
    const text = await readFile(join(state, path, 'spec.json'), 'utf8').catch(() => null)
    return [`${path.replace('/apps/', '/')} ${text === null ? 'half' : JSON.parse(text).specRevision}`]
  }
  const namesIn = async (path: string): Promise<readonly string[]> =>
    (await readdir(join(state, path)).catch(() => [])).filter((name) => /^[a-z]\w*$/.test(name))
  const place: Omit<EdgePlace<S>, typeof Symbol.asyncDispose> = {
    server,
    cloudlet,
    cloudletId,
    state,
    agent,
    said: (event) => lines.filter((line) => line.event === event),
    mutate,
    async create(path, spec = { of: path }) {
      const [cluster = '', app] = path.split('/')
      if (app === undefined) return mutate('createClusterInst', { cloudletId, name: cluster, spec })
      const parent = (await instances()).find(({ kind, name }) => kind === 'CLUSTER_INST' && name === cluster)
      return mutate('createAppInst', { clusterInstId: parent?.id ?? '', name: app, spec })
    },
    see,
    untilPhase: (id, ...phases) =>
      until(
        async () => {
          const seen = await see(id)
          return seen && phases.includes(seen.phase) ? seen : null
        },
        { what: `${id} is ${phases}`, timeoutMs: 30_000 },
      ),
    untilGone: (id) => until(async () => (await see(id)) === null, { what: `${id} is gone`, timeoutMs: 30_000 }),
    instances,
    async recorded() {
      return (await instances())
        .map(({ kind, name, parent, specRevision }) =>
          kind === 'APP_INST' ? `${parent?.name}/${name} ${specRevision}` : `${name} ${specRevision}`,
        )
        .toSorted()
    },
    async found() {
      const clusters = await namesIn('.')
      const apps = await Promise.all(
        clusters.map(async (cluster) => (await namesIn(`${cluster}/apps`)).map((app) => `${cluster}/apps/${app}`)),
      )
      return (await Promise.all([...clusters, ...apps.flat()].map(revisionOf))).flat().toSorted()
    },
  }
  await until(async () => (await see(cloudletId))?.phase === 'READY', { what: 'the CRM has connected' })
  const all = starting.move()
  return { ...place, [Symbol.asyncDispose]: () => all.disposeAsync() }
}
