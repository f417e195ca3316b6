import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KubernetesApi } from '../src/agents/kubernetes/api.ts'
import { ownKubeconfig } from '../src/agents/kubernetes/kubeconfig.ts'
import { startAgentProcess } from '../src/agents/spawn.ts'
import { Secret } from '../src/core/secret.ts'
import { CLUSTER_IMAGE, hasCluster } from '../test/testkit/cluster.ts'
import { until } from '../test/testkit/wait.ts'
import type { BenchServer } from './server.ts'

export interface BenchCluster extends AsyncDisposable {
  readonly image: string
  readonly namespace: string
  readonly kubeconfig: string
}

/** Null: there is none here, or PHASELINE_TEST_KUBERNETES and KUBECONFIG do not name it. It gets a namespace of its own. */
export async function openCluster(): Promise<BenchCluster | null> {
  const { KUBECONFIG: kubeconfig } = process.env
  if (!hasCluster() || kubeconfig === undefined) return null
  const config = ownKubeconfig()
  const closing = new AbortController()
  const api = new KubernetesApi(config, closing.signal)
  const namespace = `phaseline-bench-${randomUUID().slice(-12)}`
  const path = `/api/v1/namespaces/${namespace}`
  await api.post('/api/v1/namespaces', { metadata: { name: namespace } })
  // Pods are refused until their service account is there.
  await until(() => api.find(`${path}/serviceaccounts/default`), { what: 'a service account' })
  return {
    ...{ image: CLUSTER_IMAGE, namespace, kubeconfig },
    async [Symbol.asyncDispose]() {
      const { items } = await api.get<{ items: readonly { metadata: { name: string } }[] }>(`${path}/pods`)
      for (const { metadata } of items) {
        await api.patch(`${path}/pods/${metadata.name}`, { metadata: { finalizers: null } })
        await api.delete(`${path}/pods/${metadata.name}`, { gracePeriodSeconds: 0 })
      }
      await api.delete(path)
      closing.abort()
    },
  }
}

const CREATE_TOKEN = `mutation ($input: CreateTokenInput!) {
  answer: createToken(input: $input) { ... on CreatedToken { secret } ... on Error { message } }
}`

/** The kubernetes runtime as a process beside the server. */
export async function startKubernetesAgent({ client, origin }: BenchServer, { namespace, kubeconfig }: BenchCluster) {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-bench-'))
  const pods = join(folder, 'pods.yaml')
  await writeFile(pods, JSON.stringify({ imagePullPolicy: 'Never', runAsUser: 1_000 }))
  const input = { name: 'pods', role: 'AGENT', actor: 'RUNTIME', types: ['kubernetes'] }
  const { answer } = await client.query<{ answer: { secret: string } }>(CREATE_TOKEN, { input })
  const agent = startAgentProcess({
    types: ['kubernetes'],
    url: `${origin}/graphql`,
    token: new Secret(answer.secret),
    options: { instance: namespace, replica: 'bench', namespace, pods },
    settings: { KUBECONFIG: kubeconfig },
  })
  return {
    async [Symbol.asyncDispose]() {
      await agent.close()
      await rm(folder, { recursive: true })
    },
  }
}
