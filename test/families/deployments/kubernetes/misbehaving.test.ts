import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { KubernetesObject } from '../../../../src/agents/kubernetes/objects.ts'
import { startAgentProcess } from '../../../../src/agents/spawn.ts'
import { Secret } from '../../../../src/core/secret.ts'
import { apiServerFile } from '../../../testkit/api-server.ts'
import { startTestApp, type TestApp } from '../../../testkit/app.ts'
import { ask } from '../../../testkit/ask.ts'
import { CLUSTER_IMAGE, hasCluster } from '../../../testkit/cluster.ts'
import { MUTATIONS } from '../../../testkit/documents.ts'
import { gql } from '../../../testkit/gql.ts'
import { mulberry32 } from '../../../testkit/mulberry32.ts'
import { create, remove, show } from '../../../testkit/mutations.ts'
import { soak } from '../../../testkit/soak.ts'
import { until } from '../../../testkit/wait.ts'
import { configMap, type ManifestPlace, manifestPlace } from './manifest-place.ts'
import { misbehavingCluster } from './misbehaving-cluster.ts'

/**
 * A hundred items on a cluster that misbehaves: requests are refused, cut, slow or lost after they were done, by a seed. Beside
 * that the server of a group is away, a webhook and a kind come late, a namespace is stuck, and the deployer is killed. Afterwards the
 * cluster itself is read, past the faults.
 */
const ITEMS = 100
const { MISBEHAVING_SEED: given } = process.env
const SEED = Number(given ?? 1)
const ROUNDS = given === undefined ? soak(1, 8) : 1
/** For those that never become what they say. The others may take their time on a busy machine. */
const HOPELESS_MS = soak(20_000, 60_000)
const SHARE = soak(0.1, 0.2)
const PATIENCE_MS = 600_000

const ITEMS_OF = gql(`query ($kinds: [ObjectKind!]) {
  objects(first: 500, filter: { kinds: $kinds }) { edges { node { name phase error { code message } progress { step } } } }
}`)

interface Item {
  readonly name: string
  readonly manifests: readonly object[]
  readonly readiness?: readonly object[]
}

const account = (name: string, labels: Readonly<Record<string, string>> = {}) => ({
  ...{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, labels } },
})
const secret = (name: string, value: string) => ({
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { value } },
})
const pod = (script: string, image = CLUSTER_IMAGE) => ({
  terminationGracePeriodSeconds: 0,
  containers: [{ name: 'main', image, imagePullPolicy: 'Never', command: ['sh', '-c', script] }],
})
const deployment = (name: string, image?: string) => ({
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name } },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: pod('sleep 1000', image) },
  },
})
const job = (name: string) => ({
  ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name } },
  spec: { template: { spec: { restartPolicy: 'Never', ...pod('true') } } },
})
const range = (count: number, nameOf: (i: number) => string) => Array.from({ length: count }, (_, i) => nameOf(i))

/** Items that never become what they say, with what the reason of each has to name. */
const HOPELESS = (group: string): Readonly<Record<string, readonly [reason: RegExp, item: Omit<Item, 'name'>]>> => ({
  never: [/no kind Never of never\.example\.com\/v1/, { manifests: [thing('never.example.com', 'Never', 'never')] }],
  away: [new RegExp(`away\\.${group}`), { manifests: [thing(`away.${group}`, 'Away', 'away')] }],
  image: [/Deployment .*image: .*ErrImageNeverPull/, { manifests: [deployment('image', 'localhost/none:1')] }],
  rule: [
    /ConfigMap .*rule: its rule object\.data\.a == "2" is not met: object\.data\.a is "1"/,
    { manifests: [configMap('rule')], readiness: [{ kind: 'ConfigMap', ready: 'object.data.a == "2"' }] },
  ],
  taken: [/KUBERNETES_NOT_OWNED ConfigMap .*taken exists and belongs to no item/, { manifests: [configMap('taken')] }],
})
const thing = (group: string, kind: string, name: string) => ({
  ...{ apiVersion: `${group}/v1`, kind, metadata: { name } },
})

function itemsOf(at: ManifestPlace, version: string): readonly Item[] {
  const group = `${at.namespace}.example.com`
  const special = [
    ...range(3, (i) => `late-${i}`).map((name) => ({ name, manifests: [thing(`late.${group}`, 'Late', name)] })),
    ...range(3, (i) => `checked-${i}`).map((name) => ({ name, manifests: [account(name, { checked: 'yes' })] })),
    ...range(3, (i) => `web-${i}`).map((name) => ({ name, manifests: [deployment(name), configMap(name)] })),
    ...range(2, (i) => `job-${i}`).map((name) => ({ name, manifests: [job(name)] })),
    {
      name: 'stuck',
      manifests: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: `${at.namespace}-stuck` } }],
    },
  ]
  const plain = range(ITEMS - special.length - Object.keys(HOPELESS(group)).length, (i) => `plain-${i}`)
  return [
    ...special,
    ...plain.map((name, i) => ({
      name,
      // Some have more, which goes with the next version.
      manifests: [
        configMap(name, { version }),
        ...(i % 3 === 0 ? [secret(name, version)] : []),
        ...(i % 6 === 0 && version === '1' ? [account(name)] : []),
      ],
    })),
  ]
}

const isHopeless = (name: string): boolean => Object.hasOwn(HOPELESS(''), name)

const specOf = (items: readonly Item[]) => ({
  deployItems: items.map(({ name, ...config }) => ({
    ...{ name, type: 'kubernetes-manifest', config },
    timeouts: { progressing: { ms: isHopeless(name) ? HOPELESS_MS : PATIENCE_MS } },
  })),
})

/** The uids of the objects of items. */
async function uidsOf(at: ManifestPlace, items: readonly Item[]): Promise<ReadonlyMap<string, string>> {
  const uids = new Map<string, string>()
  const collections = { ConfigMap: 'configmaps', Secret: 'secrets', ServiceAccount: 'serviceaccounts' }
  for (const [kind, collection] of Object.entries(collections)) {
    const list = await at.api.get<{ items: readonly KubernetesObject[] }>(at.path(collection))
    const found = new Map(list.items.map(({ metadata }) => [metadata.name, metadata]))
    for (const { name, manifests } of items)
      for (const manifest of manifests as readonly KubernetesObject[])
        if (manifest.kind === kind) {
          const metadata = found.get(manifest.metadata.name)
          expect(metadata?.deletionTimestamp, `${kind} ${name} is being deleted`).toBeUndefined()
          uids.set(`${kind} ${manifest.metadata.name}`, metadata?.uid ?? `${name} has none`)
        }
  }
  return uids
}

/** Lists the objects that go from the namespace from now on. */
async function deletionsIn(at: ManifestPlace, signal: AbortSignal): Promise<readonly string[]> {
  const deleted: string[] = []
  for (const collection of ['configmaps', 'secrets', 'serviceaccounts']) {
    const { metadata } = await at.api.get<{ metadata: { resourceVersion: string } }>(at.path(collection))
    const query = { watch: 'true', resourceVersion: metadata.resourceVersion }
    const follow = async (): Promise<void> => {
      let text = ''
      for await (const part of await at.api.stream(at.path(collection), query, signal)) {
        text += Buffer.from(part).toString()
        const lines = text.split('\n')
        text = lines.pop() ?? ''
        for (const line of lines) {
          const { type, object } = JSON.parse(line) as { type: string; object: KubernetesObject }
          if (type === 'DELETED') deleted.push(`${object.kind} ${object.metadata.name}`)
        }
      }
    }
    follow().catch(() => {})
  }
  return deleted
}

async function endsOf({ client }: TestApp) {
  const { objects } = await client.query(ITEMS_OF, { kinds: ['DEPLOY_ITEM'] })
  return new Map(
    objects?.edges.map(({ node: { name, phase, error, progress } }) => [
      name,
      { phase, why: error ? `${error.code} ${error.message}` : '', step: progress?.step ?? '' },
    ]),
  )
}

/** A kind and a webhook come late, and some do not come at all. */
async function spoil(at: ManifestPlace, random: () => number) {
  const group = `${at.namespace}.example.com`
  await at.api.patch(`/api/v1/namespaces/${at.namespace}`, { metadata: { labels: { test: at.namespace } } })
  await at.api.post(at.path('configmaps'), configMap('taken', { a: 'theirs' }))
  await at.api.post(at.path('services'), {
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'gone' }, spec: { ports: [{ port: 443 }] } },
  })
  const webhooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
  await at.api.post(webhooks, {
    metadata: { name: at.namespace },
    webhooks: [
      {
        ...{ name: 'late.example.com', admissionReviewVersions: ['v1'], sideEffects: 'None', timeoutSeconds: 1 },
        namespaceSelector: { matchLabels: { test: at.namespace } },
        objectSelector: { matchLabels: { checked: 'yes' } },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['serviceaccounts'] }],
        clientConfig: { service: { namespace: at.namespace, name: 'gone', path: '/' } },
      },
    ],
  })
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const definition = {
    metadata: { name: `lates.late.${group}` },
    spec: {
      ...{ group: `late.${group}`, scope: 'Namespaced', names: { kind: 'Late', plural: 'lates', singular: 'late' } },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const arrive = async (): Promise<void> => {
    await delay(2_000 + random() * 4_000)
    await at.api.post(definitions, definition)
    await at.api.delete(`${webhooks}/${at.namespace}`)
  }
  return {
    arrived: arrive(),
    async [Symbol.asyncDispose]() {
      await at.api.delete(`${definitions}/lates.late.${group}`)
      await at.api.delete(`${webhooks}/${at.namespace}`)
    },
  }
}

/** Stops etcd for some seconds now and then, where it runs on this machine beside the API server. */
function slowEtcd(random: () => number): Disposable | null {
  const file = apiServerFile()
  if (file === undefined) return null
  const pid = Number(readFileSync(join(dirname(file), 'etcd.pid'), 'utf8'))
  const timer = setInterval(() => {
    process.kill(pid, 'SIGSTOP')
    setTimeout(() => process.kill(pid, 'SIGCONT'), 1_000 + random() * 4_000)
  }, 12_000)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

describe.runIf(hasCluster())('a cluster that misbehaves', () => {
  test.for(range(ROUNDS, (i) => String(SEED + i)))(
    'under a hundred items loses nothing and deletes nothing wanted, and each ends with its reason (seed %s)',
    { timeout: PATIENCE_MS },
    async (seed) => {
      const random = mulberry32(Number(seed))
      await using at = await manifestPlace()
      await using cluster = await misbehavingCluster(Number(seed))
      await using server = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
      const input = { name: 'deployer', role: 'AGENT', actor: 'DEPLOYER', types: ['kubernetes-manifest'] } as const
      const token = new Secret((await ask(server.client, MUTATIONS.createToken, input)).secret)
      const start = () =>
        startAgentProcess({
          ...{ types: [...input.types], url: server.url, token, leaseMs: 3_000, concurrency: 24 },
          options: { namespace: at.namespace },
          settings: { KUBECONFIG: cluster.kubeconfig },
        })
      let agent = start()
      using _slow = soak(false, true) ? slowEtcd(random) : null
      const kill = async (): Promise<void> => {
        await delay(random() * 3_000)
        if (agent.pid !== null) process.kill(agent.pid, 'SIGKILL')
        await agent.close()
        agent = start()
      }
      const isFinished = async (id: string) => (await show(server.client, id))?.finished === true
      const ended = (id: string) =>
        until(() => isFinished(id), {
          what: 'each item has ended',
          timeoutMs: PATIENCE_MS,
          instead: async () => [...(await endsOf(server))].filter(([, { phase }]) => phase !== 'SUCCEEDED'),
        })

      let away: string
      const hopeless = HOPELESS(`${at.namespace}.example.com`)
      const good = itemsOf(at, '1')
      const all = [...good, ...Object.entries(hopeless).map(([name, [, item]]) => ({ name, ...item }))]
      expect(all).toHaveLength(ITEMS)
      let before: ReadonlyMap<string, string>
      {
        await using spoilt = await spoil(at, random)
        cluster.misbehave(SHARE, true)
        away = await create(server.client, 'shop', specOf(all))
        await Promise.all([spoilt.arrived, kill()])
        await ended(away)
        const ends = await endsOf(server)
        for (const { name } of good) expect(ends.get(name), name).toMatchObject({ phase: 'SUCCEEDED', why: '' })
        for (const [name, [reason]] of Object.entries(hopeless)) {
          expect(ends.get(name)?.phase, name).toBe('FAILED')
          expect(ends.get(name)?.why).toMatch(reason)
        }
        before = await uidsOf(at, good)
        expect([...before.values()].filter((uid) => uid.endsWith('none'))).toEqual([])
      }

      cluster.misbehave(SHARE, false)
      const watching = new AbortController()
      const deleted = await deletionsIn(at, watching.signal)
      const next = itemsOf(at, '2').filter(({ name }) => !name.startsWith('late'))
      await ask(server.client, MUTATIONS.updateInstallation, { id: away, spec: specOf(next) })
      await kill()
      await ended(away)
      for (const [name, end] of await endsOf(server))
        expect([name, end]).toMatchObject([name, { phase: 'SUCCEEDED', why: '' }])
      const after = await uidsOf(at, next)
      for (const [name, uid] of after) expect([name, uid]).toEqual([name, before.get(name)])
      const wanted = new Set(after.keys())
      expect(deleted.filter((name) => wanted.has(name))).toEqual([])
      expect(await at.find('configmaps', 'taken')).toMatchObject({ data: { a: 'theirs' } })
      watching.abort()

      // Something of others, which no deletion may hurry.
      const stuck = `/api/v1/namespaces/${at.namespace}-stuck/configmaps`
      await at.api.post(stuck, { ...configMap('held'), metadata: { name: 'held', finalizers: ['example.com/held'] } })
      await remove(server.client, away)
      await until(async () => (await at.leftovers()).length === 3, {
        ...{ what: 'all is gone but what is stuck', timeoutMs: PATIENCE_MS },
        instead: () => at.leftovers(),
      })
      const why = async () => (await endsOf(server)).get('stuck')?.step
      await until(async () => (await why())?.includes('example.com/held in 1 resource instances'), {
        ...{ what: 'the reason names the finalizer', timeoutMs: PATIENCE_MS },
        instead: async () => [...(await endsOf(server))],
      })
      await at.api.patch(`${stuck}/held`, { metadata: { finalizers: null } })
      await until(async () => (await show(server.client, away)) === null, {
        ...{ what: 'the installation is gone', timeoutMs: PATIENCE_MS },
        instead: () => at.leftovers(),
      })
      cluster.misbehave(0, false)
      await agent.close()
      expect([...cluster.faults.keys()].length).toBeGreaterThan(6)
      expect((await at.leftovers()).filter((name) => !name.startsWith('pods'))).toEqual([
        'configmaps taken',
        'services gone',
      ])
    },
  )
})
