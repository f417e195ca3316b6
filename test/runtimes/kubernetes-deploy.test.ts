import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { KubernetesApi } from '../../src/agents/kubernetes/api.ts'
import { loadSettings } from '../../src/families/pipelines/agents/kubernetes/settings.ts'
import { present } from '../testkit/ask.ts'
import { hasCluster } from '../testkit/cluster.ts'
import { until } from '../testkit/wait.ts'
import { kubernetesPlace } from './kubernetes-place.ts'
import { listener, workload } from './place.ts'

interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
}
const FOLDER = new URL('../../deploy/kubernetes-runtime/', import.meta.url)
const COLLECTIONS: Readonly<Record<string, string>> = {
  ServiceAccount: 'serviceaccounts',
  Role: 'roles',
  RoleBinding: 'rolebindings',
  StatefulSet: 'statefulsets',
}

const readObjects = async (file: string): Promise<readonly KubernetesObject[]> =>
  parseAllDocuments(await readFile(new URL(file, FOLDER), 'utf8')).map(
    (document) => document.toJS() as KubernetesObject,
  )

function collectionOf({ apiVersion, kind }: KubernetesObject, namespace: string): string {
  const group = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  return `${group}/namespaces/${namespace}/${COLLECTIONS[kind]}`
}

it('has settings of pods that can be read', async () => {
  const settings = await loadSettings(new URL('pods.yaml', FOLDER).pathname)
  expect(settings).toMatchObject({ security: 'restricted', resources: { limits: { memory: '1Gi' } } })
})

describe.runIf(hasCluster())('the folder for the kubernetes runtime', () => {
  it('is taken by a cluster', async () => {
    await using at = await kubernetesPlace()
    for (const object of await readObjects('runtime.yaml')) {
      await at.api.post(`${collectionOf(object, at.namespace)}?dryRun=All`, object)
    }
  })

  it('gives the runtime the rights that it needs, and not that of listing secrets', async () => {
    await using at = await kubernetesPlace()
    for (const object of await readObjects('rights.yaml')) await at.api.post(collectionOf(object, at.namespace), object)
    const config = await at.as('phaseline-runtime')
    await expect(new KubernetesApi(config, AbortSignal.timeout(30_000)).get(at.path('secrets'))).rejects.toMatchObject({
      status: 403,
    })
    const runtime = await at.open({ config, onProblem: (error) => expect.unreachable(error.message) })
    const one = workload(at, 'cat a', { files: [{ path: 'a', content: 'b' }], secrets: { KEY: 'marker' } })
    const body = Readable.from([Buffer.from('c')])
    const takes = [{ artifact: 'c', path: 'c', isFolder: false, size: 1, body }]
    await runtime.start({ ...one, workspace: one.id, takes, leaves: true }, 'receipt')
    expect(await runtime.list()).toHaveLength(1)
    expect(await runtime.updateReceipt(one.id, 'next')).toBe(true)
    const { lines, watcher } = listener()
    expect(await runtime.watch(one.id, watcher)).toMatchObject({ how: 'EXITED', exitCode: 0 })
    expect(lines).toEqual(['STDOUT b'])
    expect(await text(present(await runtime.readLeft(one.id, 'c')).body)).toBe('c')
    await runtime.remove(one.id, one.id)
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
  })
})
