import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { KubeConfig } from '@kubernetes/client-node'
import { expect, onTestFinished, test } from 'vitest'
import type { KubernetesObject } from '../../../../src/agents/kubernetes/objects.ts'
import type { WorkItem } from '../../../../src/client/index.ts'
import { manifestWork } from '../../../../src/families/deployments/agents/kubernetes/program.ts'
import { openSandbox } from '../../../testkit/sandbox.ts'

/** A cluster that serves one object under two API groups, as clusters did before Kubernetes 1.22. */

type Annotations = Readonly<Record<string, string | null>>
interface Patch {
  readonly metadata: { readonly annotations?: Annotations }
}

/** By the end of their paths, whatever the group. */
async function startCluster() {
  const objects = new Map<string, KubernetesObject>()
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object): void => void response.writeHead(status).end(JSON.stringify(body))
    const { pathname } = new URL(request.url ?? '', 'http://localhost')
    if (/^\/apis\/[^/]+\/[^/]+$/.test(pathname))
      return answer(200, { resources: [{ name: 'ingresses', kind: 'Ingress', namespaced: true }] })
    const key = pathname.split('/').slice(-2).join('/')
    const apiVersion = pathname.split('/').slice(2, 4).join('/')
    const known = objects.get(key)
    if (request.method === 'PATCH') {
      const { metadata, ...rest } = (await json(request)) as Patch
      const merged = { ...known?.metadata.annotations, ...metadata.annotations }
      const annotations = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null))
      const uid = known?.metadata.uid ?? randomUUID()
      objects.set(key, { ...known, ...rest, metadata: { ...metadata, uid, annotations } } as KubernetesObject)
      return answer(200, { ...objects.get(key), apiVersion })
    }
    if (request.method === 'DELETE') objects.delete(key)
    return known ? answer(200, { ...known, apiVersion }) : answer(404, { reason: 'NotFound' })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-cluster-'))
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await rm(folder, { recursive: true })
  })
  const config = new KubeConfig()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  config.loadFromClusterAndUser({ name: 'old', server: url, skipTLSVerify: true }, { name: 'deployer' })
  await writeFile(join(folder, 'old'), config.exportConfig())
  return { objects, work: manifestWork({ sandbox: openSandbox(), kubeconfigs: folder }) }
}

test.each([
  ['', {}],
  [' and is to outlive its item', { annotations: { 'helm.sh/resource-policy': 'keep' } }],
])('an object that moves to another group%s stays what its item has', async (_, more) => {
  const { objects, work } = await startCluster()
  const { signal } = new AbortController()
  const lines: string[] = []
  const context = {
    signal,
    lost: signal,
    report: () => undefined,
    log: (_: string, line: string) => void lines.push(line),
  }
  const deploy = async (apiVersion: string) => {
    const manifests = [{ apiVersion, kind: 'Ingress', metadata: { name: 'shop', ...more } }]
    const item = { action: 'RECONCILE', objectId: 'it', target: 'old', config: { manifests } }
    return await work(item as unknown as WorkItem, context)
  }
  const succeeded = { phase: 'SUCCEEDED', exports: {} }
  expect(await deploy('extensions/v1beta1')).toEqual(succeeded)
  for (const _ of ['moved', 'again']) expect(await deploy('networking.k8s.io/v1')).toEqual(succeeded)
  expect(objects.get('ingresses/shop')?.metadata.annotations).toMatchObject({ 'phaseline.io/item': 'it' })
  expect(lines).toEqual(['Ingress default/shop is created', ...Array(2).fill('Ingress default/shop is unchanged')])
})
