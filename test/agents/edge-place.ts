import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentProcess, AgentProcessOptions } from '../../src/agents/agent-process.ts'
import { startAgentProcess } from '../../src/agents/spawn.ts'
import { Secret } from '../../src/core/secret.ts'
import type { ResultOf, TypedDocument } from '../../src/documents/typed-document.ts'
import { type CrmProcessOptions, crmProcess } from '../../src/families/edge/agents/crm-process.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import {
  type ReachableServer,
  type SharedServerOptions,
  startSharedServer,
  type TestServer,
} from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { instancesIn } from './edge-folders.ts'

/** The real server, a cloudlet on it, and its simulated CRM in a process of its own. */
export interface EdgePlace<S extends ReachableServer = ReachableServer> extends AsyncDisposable {
  readonly server: S
  readonly cloudlet: string
  readonly cloudletId: string
  readonly state: string
  readonly agent: AgentProcess
  /** Log entries of the CRM's processes for one kind of event. */
  said(event: string): readonly Readonly<Record<string, unknown>>[]
  /** The id, or the code of the refusal. */
  mutate<Input>(
    document: TypedDocument<{ readonly answer: Outcome | null }, { readonly input: Input }>,
    input: NoInfer<Input>,
  ): Promise<string>
  create(path: string, spec?: object): Promise<string>
  see(id: string): Promise<Seen | null>
  untilPhase(id: string, ...phases: readonly string[]): Promise<Seen>
  untilGone(id: string): Promise<unknown>
  /** Instances that the server has recorded, as `path revision`. */
  recorded(): Promise<readonly string[]>
  /** Instances in the CRM's state folder, as `path revision`. */
  found(): Promise<readonly string[]>
  instances(): Promise<readonly Seen[]>
}
interface Outcome {
  readonly id?: string | undefined
  readonly code?: string | undefined
}
const FIELDS = `id kind name phase finished error { code message } parent { id name }
  history(last: 50) { edges { node { to reason } } }
  ... on Cloudlet { upgradePhase version epoch orphans { path } }
  ... on ClusterInst { specRevision drifted } ... on AppInst { specRevision drifted }`
const WAY = gql(
  'query Way($id: ID!) { phaseChanges(filter: { objectId: $id }) { edges { node { to reason message } } } }',
)
const SEE = gql(`query See($id: ID!) { object(id: $id) { ${FIELDS} } }`)
const TREE = gql(`query Tree($id: ID!) { tree(rootId: $id) { objects(first: 200) { edges { node { ${FIELDS} } } } } }`)
export type Seen = NonNullable<ResultOf<typeof SEE>['object']>

const ENV = { PHASELINE_ROLES: 'gateway,engine' }
type Crm = Omit<CrmProcessOptions, 'cloudlet'>

const simulated = (crm: Crm) => (cloudlet: string) => crmProcess({ cloudlet, ...crm })
type AgentOf = (cloudlet: string) => Pick<AgentProcessOptions, 'types' | 'options' | 'settings'>

export const edgePlace = (crm: Crm = {}): Promise<EdgePlace> => edgePlaceWith(simulated(crm))

/** With another CRM, of which `found` knows nothing. */
export const edgePlaceWith = (agentOf: AgentOf): Promise<EdgePlace> =>
  edgePlaceOf(() => startTestApp({ env: ENV }), agentOf)

/** On a server in a process of its own. */
export const killableEdgePlace = (
  crm: Crm = {},
  { env, ...options }: Pick<SharedServerOptions, 'secondary' | 'env'> = {},
): Promise<EdgePlace<TestServer>> =>
  edgePlaceOf(() => startSharedServer({ ...options, env: { ...ENV, ...env } }), simulated(crm))

async function edgePlaceOf<S extends ReachableServer>(
  serve: () => Promise<S>,
  agentOf: AgentOf,
): Promise<EdgePlace<S>> {
  await using starting = new AsyncDisposableStack()
  const server = starting.use(await serve())
  const state = await mkdtemp(join(tmpdir(), 'phaseline-edge-'))
  starting.defer(() => rm(state, { recursive: true, force: true }))
  const cloudlet = `cloud_${randomBytes(4).toString('hex')}`

  const mutate: EdgePlace['mutate'] = async (document, input) => {
    const { id, code } = present((await server.client.query(document, { input })).answer)
    return id ?? code ?? ''
  }
  const token = await ask(server.client, MUTATIONS.createToken, {
    name: 'crm',
    role: 'AGENT',
    actor: 'CRM',
    types: ['crm'],
    targets: [cloudlet],
  })
  const cloudletId = await mutate(MUTATIONS.createCloudlet, { name: cloudlet })
  const lines: Readonly<Record<string, unknown>>[] = []
  const agent = starting.use(
    startAgentProcess({
      ...agentOf(cloudlet),
      url: server.url,
      token: new Secret(token.secret),
      state,
      onEvent: (event) => {
        if (event.type === 'said' && event.line.startsWith('{')) lines.push(JSON.parse(event.line))
      },
    }),
  )
  async function see(id: string): Promise<Seen | null> {
    return (await server.client.query(SEE, { id })).object
  }
  const instances = async (): Promise<readonly Seen[]> => {
    const { tree } = await server.client.query(TREE, { id: cloudletId })
    return present(tree)
      .objects.edges.map(({ node }) => node)
      .filter(({ kind }) => kind !== 'CLOUDLET')
  }
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
      if (app === undefined) return mutate(MUTATIONS.createClusterInst, { cloudletId, name: cluster, spec })
      const parent = (await instances()).find(({ kind, name }) => kind === 'CLUSTER_INST' && name === cluster)
      return mutate(MUTATIONS.createAppInst, { clusterInstId: parent?.id ?? '', name: app, spec })
    },
    see,
    untilPhase: (id, ...phases) =>
      until(
        async () => {
          const seen = await see(id)
          return seen && phases.includes(seen.phase) ? seen : null
        },
        {
          what: `${id} is ${phases}`,
          instead: async () => (await see(id)) ?? (await server.client.query(WAY, { id })),
        },
      ),
    untilGone: (id) => until(async () => (await see(id)) === null, { what: `${id} is gone`, instead: instances }),
    instances,
    async recorded() {
      return (await instances())
        .map(({ kind, name, parent, specRevision }) =>
          kind === 'APP_INST' ? `${parent?.name}/${name} ${specRevision}` : `${name} ${specRevision}`,
        )
        .toSorted()
    },
    found: () => instancesIn(state),
  }
  await until(async () => (await see(cloudletId))?.phase === 'READY', { what: 'the CRM has connected' })
  const all = starting.move()
  return { ...place, [Symbol.asyncDispose]: () => all.disposeAsync() }
}
