import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type KubernetesObject, KubernetesObjectApi } from '@kubernetes/client-node'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { ownKubeconfig } from '../../src/agents/kubernetes/kubeconfig.ts'
import { hasCluster } from '../testkit/cluster.ts'
import { configOf, IMAGE_ENV, ROOT, readText, type Settings, VERSION } from './settings.ts'

/** The kustomize folders render, say what our settings mean, and are taken by an API server. */

interface Container {
  readonly name: string
  readonly image: string
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly envFrom: readonly { readonly configMapRef: { readonly name: string } }[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
}
interface PodSpec {
  readonly terminationGracePeriodSeconds: number
  readonly containers: readonly [Container]
  readonly volumes: readonly { readonly secret?: { readonly items: readonly { readonly path: string }[] } }[]
}
interface Rendered extends KubernetesObject {
  readonly data?: Settings
  readonly spec?: {
    readonly template: { readonly metadata: { readonly labels: Settings }; readonly spec: PodSpec }
    readonly selector: { readonly matchLabels?: Settings } & Settings
    readonly scaleTargetRef?: { readonly name: string }
    readonly metrics?: readonly { readonly [type: string]: { readonly metric?: { readonly name: string } } | string }[]
    replicas?: number
  }
}

const KUBECTL = process.env.PHASELINE_TEST_KUBECTL ?? 'kubectl'
/** Kustomize before 4 reads less, and is in kubectl before 1.21. */
const rendersAll = spawnSync(KUBECTL, ['kustomize', join(ROOT, 'deploy/kubernetes/overlays/single')]).status === 0
if (!rendersAll)
  console.warn(
    'Tests of deploy/kubernetes are left out: they need kubectl 1.21 or newer, in PATH or PHASELINE_TEST_KUBECTL.',
  )

function render(overlay: string): readonly Rendered[] {
  const folder = join(ROOT, 'deploy/kubernetes/overlays', overlay)
  const { status, stdout, stderr } = spawnSync(KUBECTL, ['kustomize', folder], { encoding: 'utf8' })
  expect(status, stderr).toBe(0)
  return parseAllDocuments(stdout).map((document) => document.toJS() as Rendered)
}
const of = (objects: readonly Rendered[], kind: string) => objects.filter((object) => object.kind === kind)

describe.runIf(rendersAll)('deploy/kubernetes', () => {
  test.each([
    ['single', { 'phaseline-gateway': ['gateway', 'engine', 'agents'] }],
    [
      'production',
      { 'phaseline-gateway': ['gateway'], 'phaseline-engine': ['engine'], 'phaseline-agents': ['agents'] },
    ],
  ])('%s starts what it says', async (overlay, roles: Readonly<Record<string, readonly string[]>>) => {
    const objects = render(overlay)
    const [shared] = of(objects, 'ConfigMap')
    const deployments = of(objects, 'Deployment')
    expect(deployments.map(({ metadata }) => metadata?.name).sort()).toEqual(Object.keys(roles).sort())
    for (const { metadata, spec } of deployments) {
      const pod = spec?.template.spec as PodSpec
      const [container] = pod.containers
      expect(container.image).toBe(`registry.example/phaseline:${VERSION}`)
      expect(container.envFrom).toEqual([{ configMapRef: { name: shared?.metadata?.name } }])
      const files = pod.volumes
        .flatMap(({ secret }) => secret?.items ?? [])
        .map(({ path }) => `/run/secrets/phaseline/${path}`)
      const own = Object.fromEntries(container.env.map(({ name, value }) => [name, value]))
      const config = await configOf({ ...IMAGE_ENV, ...shared?.data, ...own }, files)
      expect([...config.roles]).toEqual(roles[metadata?.name ?? ''])
      expect(container.ports.at(-1)).toEqual({ name: 'admin', containerPort: config.admin?.port })
      expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(config.drain.timeoutMs)
      expect(config.metricsToken).toBeDefined()
      if (config.roles.has('gateway')) expect(container.ports[0]?.containerPort).toBe(config.port)
      else if (config.roles.has('agents')) expect([config.databaseUrl, config.secretKeys]).toEqual([undefined, []])
      expect(config.redisUrl !== undefined).toBe(overlay === 'production' && !config.roles.has('agents'))
      expectRestricted(pod)
    }
    const [service] = of(objects, 'Service')
    expect(service?.spec?.selector).toEqual(
      of(objects, 'Deployment').find(({ metadata }) => metadata?.name === 'phaseline-gateway')?.spec?.selector
        .matchLabels,
    )
    expect(shared?.data?.PHASELINE_ALLOWED_HOSTS?.split(',')).toContain(service?.metadata?.name)
  })

  test('what scales and what is kept up is there, by metrics that there are', () => {
    const objects = render('production')
    const labels = of(objects, 'Deployment').map(({ spec }) => spec?.template.metadata.labels ?? {})
    for (const { spec } of of(objects, 'PodDisruptionBudget'))
      expect(labels).toContainEqual(expect.objectContaining(spec?.selector.matchLabels ?? { none: '' }))
    const names = of(objects, 'Deployment').map(({ metadata }) => metadata?.name)
    const scaled = of(objects, 'HorizontalPodAutoscaler')
    expect(scaled).toHaveLength(2)
    for (const { spec } of scaled) expect(names).toContain(spec?.scaleTargetRef?.name)
    const adapter = readText('deploy/kubernetes/components/monitoring/prometheus-adapter.values.yaml')
    const metrics = JSON.stringify(scaled).matchAll(/"name":"(phaseline_\w+)"/g)
    for (const [, metric = ''] of metrics) {
      expect(readText('docs/operations.md')).toContain(`| \`${metric}`)
      expect(adapter).toContain(`'${metric}{`)
    }
  })
})

/** As the standard "restricted" of Pod Security, with a read-only root. */
function expectRestricted(pod: PodSpec): void {
  expect(pod).toMatchObject({
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { runAsNonRoot: true, runAsUser: 10_001, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        startupProbe: { httpGet: { path: '/livez', port: 'admin' } },
        livenessProbe: { httpGet: { path: '/livez', port: 'admin' } },
        readinessProbe: { httpGet: { path: '/readyz', port: 'admin' } },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
      },
    ],
  })
}

/** The cluster of the tests may be older than what is written for: there these have the same fields under these names. */
const OLDER: Settings = { 'policy/v1': 'policy/v1beta1', 'autoscaling/v2': 'autoscaling/v2beta2' }

describe.runIf(rendersAll && hasCluster())('a cluster', () => {
  test.each(['single', 'production'])('takes all of %s', async (overlay) => {
    const config = ownKubeconfig()
    const api = KubernetesObjectApi.makeApiClient(config)
    const namespace = `phaseline-${overlay}-${randomBytes(4).toString('hex')}`
    const place = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
    await api.create(place)
    try {
      for (const object of render(overlay)) {
        const inPlace = { ...object, metadata: { ...object.metadata, namespace } }
        // No registry is there to pull the image from.
        if (inPlace.spec && object.kind === 'Deployment') inPlace.spec = { ...inPlace.spec, replicas: 0 }
        const create = (apiVersion = object.apiVersion) => api.create({ ...inPlace, apiVersion } as KubernetesObject)
        const created = await create().catch((error: unknown) => {
          const older = OLDER[object.apiVersion ?? '']
          if (older === undefined) throw error
          return create(older)
        })
        expect(created.kind ?? object.kind).toBe(object.kind)
      }
    } finally {
      await api.delete(place)
    }
  })
})
