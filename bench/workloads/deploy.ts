import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { KubernetesApi } from '../../src/agents/kubernetes/api.ts'
import { ownKubeconfig } from '../../src/agents/kubernetes/kubeconfig.ts'
import { startAgentProcess } from '../../src/agents/spawn.ts'
import { Secret } from '../../src/core/secret.ts'
import { until } from '../../test/testkit/wait.ts'
import {
  type BenchContext,
  type BenchServer,
  median,
  quantile,
  type Section,
  startServer,
  type Workload,
} from '../harness.ts'
import { openCluster } from '../kubernetes-agent.ts'

export const workload: Workload = { name: 'deploy', run }

const execute = promisify(execFile)
const SERVICES = 8
const TIMEOUT = '--timeout=300s'
const POLL_MS = 20

/** Sixty objects: services with their workloads, settings and rights. @param replicas of each workload */
export function webshop(image: string, replicas: number): readonly object[] {
  const each = Array.from({ length: SERVICES }, (_, i) => `shop-${i}`)
  const labels = (app: string) => ({ app, 'app.kubernetes.io/part-of': 'shop' })
  const of = (apiVersion: string, kind: string, name: string, more: object) => ({
    ...{ apiVersion, kind, metadata: { name, labels: labels(name) } },
    ...more,
  })
  const container = (name: string) => ({
    ...{ name: 'main', image, imagePullPolicy: 'Never', command: ['sh', '-c', 'sleep 100000'] },
    envFrom: [{ configMapRef: { name } }, { secretRef: { name } }],
  })
  const template = (name: string) => ({
    metadata: { labels: labels(name) },
    spec: { serviceAccountName: name, terminationGracePeriodSeconds: 0, containers: [container(name)] },
  })
  const rbac = 'rbac.authorization.k8s.io/v1'
  return [
    ...each.flatMap((name) => [
      of('v1', 'ServiceAccount', name, {}),
      of('v1', 'ConfigMap', name, { data: { TITLE: name, LANGUAGE: 'en', CURRENCY: 'EUR' } }),
      of('v1', 'Secret', name, { data: { PASSWORD: Buffer.from(name).toString('base64') } }),
      of('v1', 'Service', name, { spec: { selector: { app: name }, ports: [{ protocol: 'TCP', port: 80 }] } }),
      of('apps/v1', 'Deployment', name, {
        spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name) },
      }),
      of(rbac, 'Role', name, { rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }] }),
      of(rbac, 'RoleBinding', name, {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
        subjects: [{ kind: 'ServiceAccount', name }],
      }),
    ]),
    ...['a', 'b', 'c', 'd'].map((name) =>
      of('v1', 'ConfigMap', `pages-${name}`, { data: { page: name.repeat(2_000) } }),
    ),
  ]
}

interface Contestant {
  readonly name: string
  /** From the request until all is ready, in an empty namespace. */
  readonly deploy: (namespace: string, replicas: number) => Promise<void>
}

const OURS = 'Phaseline, `kubernetes-manifest`'
const KUBECTL = '`kubectl apply` and `kubectl wait`'
const OUR_HELM = 'Phaseline, `helm`'
const HELM = '`helm install --wait`'
const PAIRS = [
  [OURS, KUBECTL],
  [OURS, HELM],
  [OUR_HELM, HELM],
] as const
const SIZES = [
  { replicas: 1, title: 'with its pods' },
  { replicas: 0, title: 'without pods' },
] as const

async function run({ postgres, log, rounds }: BenchContext): Promise<Section> {
  await using stack = new AsyncDisposableStack()
  const cluster = await openCluster()
  if (!cluster) throw new Error('this workload needs a cluster: PHASELINE_TEST_KUBERNETES=yes and KUBECONFIG')
  stack.use(cluster)
  const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-bench-')), (path) => rm(path, { recursive: true }))
  const server = stack.use(await startServer({ databaseUrl: await postgres.createDatabase('deploy_phaseline') }))
  const { PHASELINE_TEST_HELM: helm = 'helm', PHASELINE_TEST_KUBECTL: kubectl = 'kubectl' } = process.env
  for (const { replicas } of SIZES) await writeSources(folder, cluster.image, replicas)
  await startDeployers(stack, server, { namespace: cluster.namespace, folder, helm })
  const contestants: readonly Contestant[] = [
    {
      name: OURS,
      deploy: deployBy(server, (size) => ({
        type: 'kubernetes-manifest',
        config: { manifests: webshop(cluster.image, size) },
      })),
    },
    {
      name: KUBECTL,
      async deploy(namespace, replicas) {
        await execute(kubectl, ['apply', '-n', namespace, '-f', join(folder, `${replicas}.json`)])
        await execute(kubectl, ['wait', '-n', namespace, '--for=condition=Available', 'deployment', '--all', TIMEOUT])
      },
    },
    { name: OUR_HELM, deploy: deployBy(server, (size) => ({ type: 'helm', config: { chart: `shop-${size}` } })) },
    {
      name: HELM,
      async deploy(namespace, replicas) {
        await execute(helm, ['install', 'shop', join(folder, `shop-${replicas}`), '-n', namespace, '--wait', TIMEOUT])
      },
    },
  ]
  const measured = new Map<string, number[]>()
  for (let round = -1; round < rounds; round++) {
    for (const { replicas } of SIZES)
      for (const one of [...contestants.slice(round % 4), ...contestants.slice(0, round % 4)]) {
        const tookMs = await inNamespace((namespace) => one.deploy(namespace, replicas))
        // The first round warms up.
        const key = keyOf(one.name, replicas)
        if (round >= 0) measured.set(key, [...(measured.get(key) ?? []), tookMs])
      }
    log(`  round ${round + 1} of ${rounds}`)
  }
  return sectionOf(measured)
}

const keyOf = (name: string, replicas: number): string => `${name} ${replicas}`

async function writeSources(folder: string, image: string, replicas: number): Promise<void> {
  const items = webshop(image, replicas)
  await writeFile(join(folder, `${replicas}.json`), JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  const chart = join(folder, `shop-${replicas}`)
  await mkdir(join(chart, 'templates'), { recursive: true })
  await writeFile(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: shop\nversion: 1.0.0\n')
  await writeFile(join(chart, 'templates/all.yaml'), items.map((one) => `---\n${JSON.stringify(one)}\n`).join(''))
}

const CREATE_TOKEN = `mutation ($input: CreateTokenInput!) {
  answer: createToken(input: $input) { ... on CreatedToken { secret } ... on Error { message } }
}`
interface Deployers {
  readonly namespace: string
  readonly folder: string
  readonly helm: string
}

async function startDeployers(stack: AsyncDisposableStack, { client, origin }: BenchServer, at: Deployers) {
  const settings = { KUBECONFIG: process.env.KUBECONFIG ?? '', PATH: process.env.PATH ?? '' }
  for (const [type, options] of [
    ['kubernetes-manifest', {}],
    ['helm', { charts: at.folder, helm: at.helm }],
  ] as const) {
    const input = { name: type, role: 'AGENT', actor: 'DEPLOYER', types: [type] }
    const { answer } = await client.query<{ answer: { secret: string } }>(CREATE_TOKEN, { input })
    const token = new Secret(answer.secret)
    const url = `${origin}/graphql`
    stack.use(
      startAgentProcess({ types: [type], url, token, options: { namespace: at.namespace, ...options }, settings }),
    )
  }
}

const CREATE = `mutation ($input: CreateInstallationInput!) {
  answer: createInstallation(input: $input) { ... on Installation { id } ... on Error { message } }
}`
const OBJECT = 'query ($id: ID!) { object(id: $id) { phase finished error { message } } }'
const DELETE = `mutation ($input: DeleteInstallationInput!) {
  answer: deleteInstallation(input: $input) { ... on Error { message } }
}`
interface Found {
  readonly object: { readonly phase: string; readonly finished: boolean } | null
}

const deployBy =
  ({ client }: BenchServer, itemOf: (replicas: number) => { type: string; config: object }): Contestant['deploy'] =>
  async (namespace, replicas) => {
    const { type, config } = itemOf(replicas)
    const deployItems = [{ name: 'shop', type, config: { namespace, ...config } }]
    const input = { name: `shop-${randomUUID().slice(-12)}`, spec: { deployItems } }
    const { answer } = await client.query<{ answer: { id: string; message?: string } }>(CREATE, { input })
    for (;;) {
      const { object } = await client.query<Found>(OBJECT, { id: answer.id })
      if (object?.finished && object.phase !== 'SUCCEEDED') throw new Error(JSON.stringify(object))
      if (object?.finished) break
      await delay(POLL_MS)
    }
    // The objects go with the namespace.
    leftOver.push(() => client.query(DELETE, { input: { id: answer.id } }))
  }
const leftOver: (() => Promise<unknown>)[] = []

/** Milliseconds. The namespace is gone, and its pods with it, before the next one begins. */
async function inNamespace(deploy: (namespace: string) => Promise<void>): Promise<number> {
  const closing = new AbortController()
  const api = new KubernetesApi(ownKubeconfig(), closing.signal)
  const namespace = `phaseline-bench-${randomUUID().slice(-12)}`
  const path = `/api/v1/namespaces/${namespace}`
  await api.post('/api/v1/namespaces', { metadata: { name: namespace } })
  await until(() => api.find(`${path}/serviceaccounts/default`), { what: 'a service account' })
  await delay(500)
  const since = performance.now()
  await deploy(namespace)
  const tookMs = performance.now() - since
  for (const clean of leftOver.splice(0)) await clean()
  await api.delete(path)
  await until(async () => (await api.find(path)) === null, { what: 'the namespace is gone' })
  closing.abort()
  return tookMs
}

function sectionOf(measured: ReadonlyMap<string, readonly number[]>): Section {
  const of = (name: string, replicas: number): readonly number[] => measured.get(keyOf(name, replicas)) ?? []
  const names = [OURS, KUBECTL, OUR_HELM, HELM]
  const compare = (ours: string, theirs: string, { replicas, title }: (typeof SIZES)[number]): string => {
    const [own, others] = [of(ours, replicas), of(theirs, replicas)]
    const ratios = own.map((one, i) => one / (others[i] ?? Number.NaN))
    const [low, high] = [0.25, 0.75].map((share) => quantile(ratios, share).toFixed(2))
    return `${title[0]?.toUpperCase()}${title.slice(1)}, ${ours} takes ${(median(own) / median(others)).toFixed(2)}× of ${theirs} (ratio of medians; of pairs ${median(ratios).toFixed(2)}×, quartiles ${low}–${high}×, ${ratios.length} pairs).`
  }
  return {
    title: 'deploy: a web shop of sixty objects, from the request until it is ready',
    prose: PROSE,
    table: {
      columns: ['contestant', ...SIZES.flatMap(({ title }) => [`${title}: median, ms`, 'quartiles, ms'])],
      rows: names.map((name) => [
        name,
        ...SIZES.flatMap(({ replicas }) => {
          const all = of(name, replicas)
          return [median(all), `${quantile(all, 0.25).toFixed(0)}–${quantile(all, 0.75).toFixed(0)}`]
        }),
      ]),
    },
    ratios: SIZES.flatMap((size) => PAIRS.map(([ours, theirs]) => compare(ours, theirs, size))),
  }
}

const PROSE = `
${SERVICES} services, each a service account, a role and its binding, a config map, a secret, a service and a deployment of one pod, and four config maps
more, on a cluster of one node on the same machine. Each has an empty namespace of its own, and the clock starts before the request. *Without
pods*, deployments have no replicas: the time of the tools themselves. One after the other, in turns; one round before is not counted.

- **Phaseline**: \`createInstallation\` with one item over HTTP, until it is SUCCEEDED, asked every ${POLL_MS} ms. Phases, spec and log are in
  fsynced Postgres; the deployer is a process of its own, and writes its inventory first.
- **kubectl** reads one file and waits until all deployments are available. **Helm** installs a chart with the same objects.
`
