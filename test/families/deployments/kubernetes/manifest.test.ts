import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { describe, expect, test } from 'vitest'
import { ownKubeconfig } from '../../../../src/agents/kubernetes/kubeconfig.ts'
import { metaOf } from '../../../../src/families/pipelines/agents/kubernetes/inputs-of.ts'
import { CLUSTER_IMAGE, hasCluster } from '../../../testkit/cluster.ts'
import { PATIENCE_MS, until } from '../../../testkit/wait.ts'
import { configMap, type ManifestPlace, manifestPlace } from './manifest-place.ts'

const pod = (script: string, image = CLUSTER_IMAGE) => ({
  terminationGracePeriodSeconds: 0,
  containers: [{ name: 'main', image, imagePullPolicy: 'Never', command: ['sh', '-c', script] }],
})
const deployment = (name: string, script: string, replicas = 1) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: pod(script) },
  },
})
const SERVICE = `
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { selector: { app: web }, ports: [{ protocol: TCP, port: 80, targetPort: 8080 }] }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
data: { colour: green }
`
/** A kind Thing of the place's own. */
function definitionOf({ namespace }: ManifestPlace) {
  const group = `${namespace}.example.com`
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      ...{ group, scope: 'Namespaced', names: { kind: 'Thing', plural: 'things', singular: 'thing' } },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${group}`
  return { group, definition, path, thing: { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'one' } } }
}
const ingress = (apiVersion: string, backend: object) => ({
  ...{ apiVersion, kind: 'Ingress', metadata: { name: 'shop' } },
  spec: { rules: [{ host: 'shop.example.test', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] },
})
/** Someone else's change. */
const changeData = (at: ManifestPlace, name: string, data: Readonly<Record<string, string>>) =>
  at.api.patch(at.path('configmaps', name), { data })

/** The kubeconfig of a service account that may do nothing. */
async function withoutRights(at: ManifestPlace, config: KubeConfig): Promise<string> {
  const tokens = `${at.path('serviceaccounts', 'default')}/token`
  const { status } = await at.api.post<{ status: { token: string } }>(tokens, { spec: { expirationSeconds: 3_600 } })
  const cluster = config.getCurrentCluster()
  if (!cluster) throw new Error('there is no cluster')
  const weak = new KubeConfig()
  weak.loadFromClusterAndUser(cluster, { name: 'weak', token: status.token })
  return weak.exportConfig()
}

describe.runIf(hasCluster())('the kubernetes-manifest deployer', { timeout: PATIENCE_MS, concurrent: true }, () => {
  test('objects are applied, waited for and exported; again, nothing changes; deleted, nothing is left', async () => {
    await using at = await manifestPlace()
    const config = {
      manifests: [deployment('web', 'sleep 1000'), SERVICE],
      exports: {
        ip: { kind: 'Service', name: 'web', path: '.spec.clusterIP' },
        ready: { kind: 'Deployment', name: 'web', path: '.status.readyReplicas' },
        available: {
          ...{ kind: 'Deployment', name: 'web', path: '.status.conditions[?(@.type=="Available")].status' },
        },
        ports: { kind: 'Service', name: 'web', path: '.spec.ports[*].port' },
      },
    }
    const first = await at.deploy(config)
    expect(first.outcome).toEqual({
      phase: 'SUCCEEDED',
      exports: { ip: expect.stringMatching(/^[\d.]+$/), ready: 1, available: 'True', ports: [80] },
    })
    expect(first.lines).toEqual(
      ['Service', 'ConfigMap', 'Deployment'].map(
        (kind) => `${kind} ${at.namespace}/${kind === 'ConfigMap' ? 'settings' : 'web'} is created`,
      ),
    )
    const second = await at.deploy(config)
    expect(second.outcome).toEqual(first.outcome)
    expect(second.lines.every((line) => line.endsWith('is unchanged'))).toBe(true)
    expect((await at.remove(config)).outcome).toEqual({ phase: 'GONE' })
    expect(await at.leftovers()).toEqual([])
    expect((await at.remove(config)).outcome).toEqual({ phase: 'GONE' })
  })

  test('what the manifests no longer have is deleted last; what is not the item’s any more stays', async () => {
    await using at = await manifestPlace()
    await at.deploy({ manifests: ['a', 'b', 'c'].map((name) => configMap(name)) })
    await at.api.patch(at.path('configmaps', 'c'), { metadata: { annotations: { 'phaseline.io/item': null } } })
    const { outcome, lines } = await at.deploy({ manifests: [configMap('a', { a: '2' })] })
    expect(outcome).toMatchObject({ phase: 'SUCCEEDED' })
    expect(lines).toEqual([
      `ConfigMap ${at.namespace}/a is changed`,
      '  data.a: "1" → "2"',
      `ConfigMap ${at.namespace}/c is not this item’s any more: it stays.`,
      `ConfigMap ${at.namespace}/b is deleted`,
    ])
    expect(await at.find('configmaps', 'b')).toBeNull()
    await at.remove()
    expect(await at.leftovers()).toEqual(['configmaps c'])
  })

  test('nothing that is wanted goes with what the manifests no longer have', async () => {
    await using at = await manifestPlace()
    const name = `${at.namespace}-in`
    const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
    const inside = { ...configMap('inside'), metadata: { name: 'inside', namespace: name } }
    const { definition, thing, path } = definitionOf(at)
    const isThere = async (...paths: readonly string[]) =>
      await Promise.all(paths.map(async (one) => (await at.api.find(one)) !== null))
    const [spacePath, insidePath] = [`/api/v1/namespaces/${name}`, `/api/v1/namespaces/${name}/configmaps/inside`]

    // Objects of the item itself.
    await at.deploy({ manifests: [space, inside, definition, thing] })
    const first = { manifests: [inside, thing] }
    expect((await at.deploy({ ...first, dryRun: true })).outcome).toMatchObject({ exports: { changes: [] } })
    const own = await at.deploy(first)
    expect(own.outcome).toMatchObject({ phase: 'SUCCEEDED' })
    expect(own.lines).toContain(`Namespace ${name} stays: ConfigMap inside would go with it`)
    expect(own.lines).toContain(
      `CustomResourceDefinition ${definition.metadata.name} stays: Thing one would go with it`,
    )
    expect(await isThere(spacePath, insidePath, path)).toEqual([true, true, true])

    // Objects of another item, and of a person.
    const other = { objectId: 'another' }
    await at.deploy({ manifests: [{ ...inside, metadata: { ...inside.metadata, name: 'other' } }] }, other)
    await at.api.apply(
      at.path(`${thing.apiVersion}/things`, 'two'),
      { ...thing, metadata: { name: 'two' } },
      {
        fieldManager: 'kubectl',
      },
    )
    const others = await at.deploy({ manifests: [configMap('last')] })
    expect(others.lines).toContain(`Namespace ${name} stays: ConfigMap other would go with it`)
    expect(others.lines).toContain(
      `CustomResourceDefinition ${definition.metadata.name} stays: Thing two would go with it`,
    )
    expect(await isThere(spacePath, insidePath, path)).toEqual([true, false, true])

    // The record of a workload, as a runtime marks it.
    const record = metaOf({ id: 'one', workerId: 'one', project: 'default' }, 'here')
    const recordPath = `/api/v1/namespaces/${name}/secrets/${record.name}`
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { ...record, name: String(record.name) } }
    await at.api.apply(recordPath, secret, { fieldManager: 'kubectl' })

    // A deletion waits for all, and nothing stays that nobody wants.
    const going = at.begin({ manifests: [] }, { action: 'DELETE' })
    await until(() => going.steps.some((step) => step.includes('still holds')), { what: 'it waits' })
    await at.api.delete(at.path(`${thing.apiVersion}/things`, 'two'))
    await at.begin({ manifests: [] }, { ...other, action: 'DELETE' }).worked
    await until(() => going.steps.some((step) => step.endsWith(`still holds Secret ${record.name}`)), {
      what: 'it waits',
    })
    await at.api.delete(recordPath)
    expect((await going.worked).outcome).toEqual({ phase: 'GONE' })
    expect(await isThere(spacePath, path)).toEqual([false, false])
  })

  test('an object that moves to another API group is the same object', async () => {
    await using at = await manifestPlace()
    // Kubernetes 1.22 and later serve no kind in two groups that could be applied in both.
    if (!(await at.api.find('/apis/extensions/v1beta1'))) return
    await at.deploy({ manifests: [ingress('extensions/v1beta1', { serviceName: 'web', servicePort: 80 })] })
    const manifests = [ingress('networking.k8s.io/v1', { service: { name: 'web', port: { number: 80 } } })]
    const dry = await at.deploy({ manifests, dryRun: true })
    expect(JSON.stringify(dry.outcome)).not.toContain('deleted')
    expect((await at.deploy({ manifests })).outcome).toMatchObject({ phase: 'SUCCEEDED' })
    expect(await at.find('networking.k8s.io/v1/ingresses', 'shop')).not.toBeNull()
    expect((await at.remove()).outcome).toEqual({ phase: 'GONE' })
    expect(await at.find('networking.k8s.io/v1/ingresses', 'shop')).toBeNull()
  })

  test('drift is mended and told; with `drift: fail` it is told only', async () => {
    await using at = await manifestPlace()
    const config = { manifests: [configMap('changed'), configMap('gone'), configMap('same')] }
    await at.deploy(config)
    await changeData(at, 'changed', { a: 'mine', b: 'too' })
    await at.api.delete(at.path('configmaps', 'gone'))
    const judged = await at.deploy({ ...config, drift: 'fail' })
    expect(judged.outcome).toMatchObject({ phase: 'FAILED', error: { code: 'KUBERNETES_DRIFTED' } })
    expect(judged.error).toContain(`ConfigMap ${at.namespace}/changed: data.a: "mine" → "1"`)
    expect(judged.error).toContain(`ConfigMap ${at.namespace}/gone is gone`)
    expect(await at.find('configmaps', 'gone')).toBeNull()
    const { outcome, lines } = await at.deploy(config)
    expect(outcome).toMatchObject({ phase: 'SUCCEEDED' })
    expect(lines).toEqual([
      `ConfigMap ${at.namespace}/changed has drifted, and is mended`,
      '  data.a: "mine" → "1"',
      `ConfigMap ${at.namespace}/gone was gone: it is created again`,
      `ConfigMap ${at.namespace}/same is unchanged`,
    ])
    // Fields that the manifest does not mention belong to others.
    expect(await at.find('configmaps', 'changed')).toMatchObject({ data: { a: '1', b: 'too' } })
  })

  test('a conflict of field managers is a refusal, when it is not to be taken over', async () => {
    await using at = await manifestPlace()
    const config = { manifests: [configMap('one')], conflicts: 'refuse' }
    await at.deploy(config)
    await at.api.apply(at.path('configmaps', 'one'), configMap('one', { a: '2' }), {
      fieldManager: 'rival',
      force: 'true',
    })
    const { outcome, error } = await at.deploy(config)
    expect(outcome).toMatchObject({ phase: 'FAILED', error: { code: 'KUBERNETES_CONFLICT' } })
    expect(error).toMatch(/conflict with "rival".*\.data\.a/s)
    expect((await at.deploy({ ...config, conflicts: 'take' })).outcome).toMatchObject({ phase: 'SUCCEEDED' })
  })

  test('objects of others are not touched, unless they are to be adopted; those of another item never', async () => {
    await using at = await manifestPlace()
    await at.api.post(at.path('configmaps'), configMap('theirs', { a: 'old' }))
    const config = { manifests: [configMap('mine'), configMap('theirs')] }
    const refused = await at.deploy(config)
    expect(refused.error).toContain(
      `KUBERNETES_NOT_OWNED: ConfigMap ${at.namespace}/theirs exists and belongs to no item`,
    )
    expect(await at.leftovers()).toEqual(['configmaps theirs'])
    expect((await at.deploy({ ...config, adopt: true })).outcome).toMatchObject({ phase: 'SUCCEEDED' })
    const other = await at.deploy({ ...config, adopt: true }, { objectId: 'another' })
    expect(other.error).toContain(`belongs to another item, ${at.item}`)
  })

  test('what the API server refuses is told with its reason, and never quotes a secret', async () => {
    await using at = await manifestPlace()
    const refusal = async (manifest: object) => (await at.deploy({ manifests: [manifest] })).error
    const broken = deployment('web', 'true')
    expect(await refusal({ ...broken, spec: { ...broken.spec, selector: { matchLabels: { app: 'other' } } } })).toMatch(
      /^KUBERNETES_REFUSED: Deployment .*\/web: Invalid: .*selector/,
    )
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { key: 'marker of a secret' } }
    expect(await refusal(secret)).toMatch(/^KUBERNETES_REFUSED: Secret .*\/s: [\w ]+: \(not shown/)
    expect(await refusal({ ...configMap('a'), metadata: { name: '..' } })).toMatch(
      /^KUBERNETES_CONFIG: .*metadata.name/,
    )
    expect((await at.deploy({ manifests: 'a: [' })).error).toMatch(
      /^KUBERNETES_CONFIG: config.manifests: cannot be read as YAML: BAD_INDENT at line 1/,
    )
    const twice = { manifests: [configMap('a'), configMap('a')] }
    expect((await at.deploy(twice)).error).toMatch(/twice/)
    // A manifest that was never applied does not prevent a deletion.
    expect((await at.remove(twice)).outcome).toEqual({ phase: 'GONE' })
    expect((await at.remove({ manifests: 3 })).outcome).toEqual({ phase: 'GONE' })
    expect(await at.leftovers()).toEqual([])
  })

  test('a definition is ready before its objects, and goes after them; finalizers are waited for', async () => {
    await using at = await manifestPlace()
    const { group, definition } = definitionOf(at)
    const thing = {
      ...{ apiVersion: `${group}/v1`, kind: 'Thing', spec: { size: 1 } },
      metadata: { name: 'one', finalizers: ['example.com/wait'] },
    }
    const config = { manifests: [thing, definition] }
    expect(await at.deploy(config)).toMatchObject({ outcome: { phase: 'SUCCEEDED' } })
    const going = at.begin(config, { action: 'DELETE' })
    await until(() => going.steps.some((step) => step.includes('its finalizers are example.com/wait')), {
      what: 'it waits',
    })
    expect(await at.api.find(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${group}`)).not.toBeNull()
    await at.api.patch(at.path(`${group}/v1/things`, 'one'), { metadata: { finalizers: null } })
    expect((await going.worked).outcome).toEqual({ phase: 'GONE' })
    expect(await at.api.find(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${group}`)).toBeNull()
  })

  test('a job that fails fails the item; a workload that does not start says why, and stops when asked to', async () => {
    await using at = await manifestPlace()
    const job = {
      ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'broken' } },
      spec: { backoffLimit: 0, template: { spec: { ...pod('exit 3'), restartPolicy: 'Never' } } },
    }
    expect((await at.deploy({ manifests: [job] })).error).toMatch(
      /^KUBERNETES_FAILED: Job .*\/broken: BackoffLimitExceeded/,
    )
    const absent = deployment('absent', 'true')
    const manifests = [
      { ...absent, spec: { ...absent.spec, template: { ...absent.spec.template, spec: pod('true', 'no/such:1') } } },
    ]
    const working = at.begin({ manifests })
    const why = /0 of 1 replicas are available; pod .*: container main: ErrImageNeverPull/
    await until(() => working.steps.some((step) => why.test(step)), { what: 'it says why' })
    working.stop()
    expect((await working.worked).outcome).toEqual({ phase: 'ABORTED' })
    // The job is not listed any more, and was not pruned yet.
    await at.remove()
    expect(await at.leftovers()).toEqual([])
  })

  test('a dry run changes nothing, and exports what would change', async () => {
    await using at = await manifestPlace()
    const secret = (value: string) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's' },
      stringData: { key: value },
    })
    await at.deploy({ manifests: [configMap('a'), configMap('b'), secret('marker one')] })
    const { outcome, lines } = await at.deploy({
      manifests: [configMap('a', { a: '2' }), configMap('c'), secret('marker two')],
      dryRun: true,
    })
    const of = (name: string, kind = 'ConfigMap') => `${kind} ${at.namespace}/${name}`
    expect(outcome).toEqual({
      phase: 'SUCCEEDED',
      exports: {
        changes: [
          { object: of('a'), action: 'changed', fields: ['data.a: "1" → "2"'] },
          { object: of('c'), action: 'created', fields: [] },
          { object: of('s', 'Secret'), action: 'changed', fields: ['data.key: "***" → "***"'] },
          { object: of('b'), action: 'deleted', fields: [] },
        ],
      },
    })
    expect(lines.join()).not.toContain('marker')
    expect(await at.find('configmaps', 'a')).toMatchObject({ data: { a: '1' } })
    expect(await at.find('configmaps', 'c')).toBeNull()
  })

  test('the target of an item chooses the cluster', async () => {
    await using at = await manifestPlace()
    const folder = await mkdtemp(join(tmpdir(), 'phaseline-kubeconfigs-'))
    const config = ownKubeconfig()
    await writeFile(join(folder, 'prod'), config.exportConfig())
    const manifests = [configMap('a')]
    const on = async (target: string, options: object) => (await at.deploy({ manifests }, { target }, options)).error
    expect(await on('prod', { kubeconfigs: folder })).toMatch(/^undefined/)
    expect(await on('prod', { targets: ['prod'] })).toMatch(/^undefined/)
    expect(await on('test', { kubeconfigs: folder })).toMatch(/^KUBERNETES_TARGET: .* no cluster for the target test/)
    expect(await on('../prod', { kubeconfigs: folder })).toMatch(/^KUBERNETES_TARGET/)
    expect(await on('prod', {})).toMatch(/^KUBERNETES_TARGET/)
    await writeFile(join(folder, 'weak'), await withoutRights(at, config))
    expect(await on('weak', { kubeconfigs: folder })).toMatch(/^KUBERNETES_REFUSED: Forbidden: /)
    await rm(folder, { recursive: true })
  })
})
