import { describe, expect, test } from 'vitest'
import { isStatus } from '../../../../src/agents/kubernetes/api.ts'
import { capabilityArguments } from '../../../../src/families/deployments/agents/helm/capabilities.ts'
import { CLUSTER_IMAGE, hasCluster } from '../../../testkit/cluster.ts'
import { PATIENCE_MS, until } from '../../../testkit/wait.ts'
import { configMap, type ManifestPlace, manifestPlace } from './manifest-place.ts'

/** Cases that people have reported of other deployers, on the real API server. */

const job = (script: string, more: object = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'once' },
  spec: {
    ...{ backoffLimit: 0, ...more },
    template: {
      spec: {
        ...{ restartPolicy: 'Never', terminationGracePeriodSeconds: 0 },
        containers: [
          {
            ...{ name: 'main', image: CLUSTER_IMAGE, imagePullPolicy: 'Never', command: ['sh', '-c', script] },
            env: [
              { name: 'OK', valueFrom: { configMapKeyRef: { name: 'settings', key: 'ok' } } },
              { name: 'MARKER', value: 'marker-of-a-value' },
            ],
          },
        ],
      },
    },
  },
})
const settings = (at: ManifestPlace, ok: string) =>
  at.api.apply(at.path('configmaps', 'settings'), configMap('settings', { ok }), {
    fieldManager: 'test',
    force: 'true',
  })
const definitionOf = ({ namespace }: ManifestPlace) => {
  const group = `${namespace}.example.com`
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    group,
    path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/boats.${group}`,
    definition: {
      ...{
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `boats.${group}` },
      },
      spec: {
        ...{ group, scope: 'Namespaced', names: { kind: 'Boat', plural: 'boats', singular: 'boat' } },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    },
  }
}

describe.runIf(hasCluster())('reported cases', { timeout: PATIENCE_MS, concurrent: true }, () => {
  test('a job that failed before is run again; what failed in this job stays its result', async () => {
    await using at = await manifestPlace()
    await settings(at, 'no')
    const config = { manifests: [job('[ "$OK" = yes ]')] }
    const failed = await at.deploy(config, { jobId: 'first' })
    expect(failed.error).toMatch(/^KUBERNETES_FAILED: Job .*BackoffLimitExceeded/)
    await settings(at, 'yes')
    // Another deployer takes over in the same job.
    expect((await at.deploy(config, { jobId: 'first', attempt: 2 })).error).toBe(failed.error)
    const again = await at.deploy(config, { jobId: 'second' })
    expect(again.outcome).toMatchObject({ phase: 'SUCCEEDED' })
    expect(again.lines[0]).toMatch(/is deleted and created anew/)
    expect((await at.deploy(config, { jobId: 'third' })).lines).toEqual([expect.stringMatching(/is unchanged$/)])
  })

  test('a field that cannot change is refused without values, or the object is created anew', async () => {
    await using at = await manifestPlace()
    await settings(at, 'yes')
    expect((await at.deploy({ manifests: [job('true')] })).outcome).toMatchObject({ phase: 'SUCCEEDED' })
    const changed = { manifests: [job('echo changed')] }
    const { error } = await at.deploy(changed)
    expect(error).toMatch(
      /^KUBERNETES_REFUSED: Job .*: Invalid: spec\.template: field is immutable\. `immutable: recreate`/,
    )
    expect(error).not.toContain('marker-of-a-value')
    const again = await at.deploy({ ...changed, immutable: 'recreate' })
    expect(again).toMatchObject({ outcome: { phase: 'SUCCEEDED' }, lines: [expect.stringMatching(/created anew$/)] })
  })

  test('a job that the cluster removes right after its end is done, or has failed', async () => {
    await using at = await manifestPlace()
    await settings(at, 'yes')
    /** As the cluster's controller does it, which may be off. */
    const removedAtEnd = async (script: string) => {
      const working = at.begin({ manifests: [job(script, { ttlSecondsAfterFinished: 3_600 })] })
      const hasEnded = async () => (await at.find('batch/v1/jobs', 'once'))?.status?.active === undefined
      await until(async () => (await at.find('batch/v1/jobs', 'once'))?.status?.active === 1, { what: 'the job runs' })
      await until(hasEnded, { what: 'the job has ended' })
      await at.api.delete(at.path('batch/v1/jobs', 'once'), { propagationPolicy: 'Background' })
      return await working.worked
    }
    expect(await removedAtEnd('sleep 3')).toMatchObject({ outcome: { phase: 'SUCCEEDED' } })
    expect((await removedAtEnd('sleep 3; false')).error).toMatch(/^KUBERNETES_FAILED: Job .*BackoffLimitExceeded/)
  })

  test('a key that goes from stringData goes from the cluster', async () => {
    await using at = await manifestPlace()
    const secret = (stringData: object) => ({
      manifests: [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { c: 'Yw==' }, stringData }],
    })
    await at.deploy(secret({ a: 'one', b: 'two' }))
    await at.deploy(secret({ a: 'uno' }))
    expect(await at.find('secrets', 's')).toMatchObject({ data: { a: 'dW5v', c: 'Yw==' } })
    expect(Object.keys(((await at.find('secrets', 's')) as unknown as { data: object }).data)).toEqual(['a', 'c'])
  })

  test('fields that people have set before an adoption go when the manifest has them no longer', async () => {
    await using at = await manifestPlace()
    const old = { ...configMap('old', { keep: '1', old: '1' }), metadata: { name: 'old', labels: { a: '1', b: '2' } } }
    await at.api.apply(at.path('configmaps', 'old'), old, { fieldManager: 'kubectl', force: 'true' })
    await at.api.put(
      at.path('configmaps', 'old'),
      { ...old, data: { ...old.data, edited: '1' } },
      { fieldManager: 'kubectl-edit' },
    )
    const wanted = { ...configMap('old', { keep: '1' }), metadata: { name: 'old', labels: { a: '1' } } }
    expect((await at.deploy({ adopt: true, manifests: [wanted] })).outcome).toMatchObject({ phase: 'SUCCEEDED' })
    const found = (await at.find('configmaps', 'old')) as unknown as { data: object; metadata: { labels: object } }
    expect(found.data).toEqual({ keep: '1' })
    expect(found.metadata.labels).toEqual({ a: '1' })
  })

  test('an object that moves from one item to another is handed over, not deleted', async () => {
    await using at = await manifestPlace()
    await at.deploy({ manifests: [configMap('stays'), configMap('moves')] })
    const uid = (await at.find('configmaps', 'moves'))?.metadata.uid
    const next = at.begin({ manifests: [configMap('moves', { a: '2' })] }, { objectId: 'another' })
    await until(() => next.steps.some((step) => step.includes('waiting until that gives it up')), {
      what: 'it is asked for',
    })
    const first = await at.deploy({ manifests: [configMap('stays')] })
    expect(first.lines.at(-1)).toMatch(/moves is handed over to the item another$/)
    expect((await next.worked).outcome).toMatchObject({ phase: 'SUCCEEDED' })
    const found = await at.find('configmaps', 'moves')
    expect(found).toMatchObject({ metadata: { uid }, data: { a: '2' } })
    expect(found?.metadata.annotations).not.toHaveProperty(['phaseline.io/wanted-by'])
  })

  test('an object for which a killed deployer has asked is deleted all the same', async () => {
    await using at = await manifestPlace()
    await at.deploy({ manifests: [configMap('stays'), configMap('goes')] })
    const annotations = { 'phaseline.io/wanted-by': 'nobody-any-more' }
    await at.api.patch(at.path('configmaps', 'goes'), { metadata: { annotations } })
    const { lines } = await at.deploy({ manifests: [configMap('stays')] })
    expect(lines.at(-1)).toMatch(/goes is deleted$/)
    expect(await at.find('configmaps', 'goes')).toBeNull()
  })

  test('hooks and waves are an order: a stage begins when the one before is current', async () => {
    await using at = await manifestPlace()
    await settings(at, 'yes')
    const hook = (name: string, when: string, script: string) => {
      const { metadata: _name, ...rest } = job(script)
      return { ...rest, metadata: { generateName: `${name}-`, annotations: { 'argocd.argoproj.io/hook': when } } }
    }
    const wave = (name: string, number: string) => ({
      ...configMap(name),
      metadata: { name, annotations: { 'argocd.argoproj.io/sync-wave': number } },
    })
    const test_ = { ...configMap('test'), metadata: { name: 'test', annotations: { 'helm.sh/hook': 'test' } } }
    const others = [
      hook('post', 'PostSync', 'true'),
      wave('second', '5'),
      wave('first', '-5'),
      configMap('middle'),
      test_,
    ]
    const broken = await at.deploy({ manifests: [...others, hook('pre', 'PreSync', 'false')] })
    expect(broken.error).toMatch(/^KUBERNETES_FAILED: Job .*\/pre-[0-9a-f]{8}: BackoffLimitExceeded/)
    expect(await at.find('configmaps', 'first')).toBeNull()
    const { outcome, lines } = await at.deploy({ manifests: [...others, hook('pre', 'PreSync', 'true')] })
    expect(outcome).toMatchObject({ phase: 'SUCCEEDED' })
    const made = lines
      .filter((line) => / is created( again)?$/.test(line))
      .map((line) => line.replace(/^.*\/(\w+).*$/, '$1'))
    expect(made).toEqual(['pre', 'first', 'middle', 'second', 'post'])
    expect(lines[0]).toBe('ConfigMap test is left out: its hook is for no application')
    expect(lines.at(-1)).toMatch(/Job .*\/pre-[0-9a-f]{8} is deleted$/)
  })

  test('a kind that is defined later is waited for, by its name', async () => {
    await using at = await manifestPlace()
    const { group, definition, path } = definitionOf(at)
    const boat = { apiVersion: `${group}/v1`, kind: 'Boat', metadata: { name: 'one' }, spec: { a: 1 } }
    const working = at.begin({ manifests: [boat] })
    await until(() => working.steps.some((step) => step.includes(`no kind Boat of ${group}/v1 yet`)), {
      what: 'the step names the kind',
    })
    await at.api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
    expect((await working.worked).outcome).toMatchObject({ phase: 'SUCCEEDED' })
    await at.api.delete(path)
  })

  test('custom resources go before the workloads that control them', async () => {
    await using at = await manifestPlace()
    const { group, definition } = definitionOf(at)
    const boat = {
      ...{ apiVersion: `${group}/v1`, kind: 'Boat' },
      metadata: { name: 'one', finalizers: ['example.com/controller'] },
    }
    const controller = {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'controller' } },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          { name: 'c', image: CLUSTER_IMAGE, imagePullPolicy: 'Never', command: ['sh', '-c', 'sleep 1000'] },
        ],
      },
    }
    const config = { manifests: [definition, boat, controller] }
    expect((await at.deploy(config)).outcome).toMatchObject({ phase: 'SUCCEEDED' })
    const working = at.begin(config, { action: 'DELETE' })
    await until(() => working.steps.some((step) => /Boat .* is being deleted/.test(step)), { what: 'the boat goes' })
    const pod = await at.find('pods', 'controller')
    expect([pod?.metadata.name, pod?.metadata.deletionTimestamp]).toEqual(['controller', undefined])
    await at.api.patch(at.path(`${group}/v1/boats`, 'one'), { metadata: { finalizers: null } })
    expect((await working.worked).outcome).toEqual({ phase: 'GONE' })
  })

  test('a claim of a class that binds late counts as current', async () => {
    await using at = await manifestPlace()
    const path = `/apis/storage.k8s.io/v1/storageclasses`
    await at.api.post(path, {
      ...{ metadata: { name: at.namespace }, provisioner: 'example.com/none' },
      volumeBindingMode: 'WaitForFirstConsumer',
    })
    const spec = {
      storageClassName: at.namespace,
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Mi' } },
    }
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'late' }, spec }
    expect((await at.deploy({ manifests: [claim] })).outcome).toMatchObject({ phase: 'SUCCEEDED' })
    await at.remove()
    await at.api.delete(`${path}/${at.namespace}`)
  })

  test('an admission webhook that is not ready is waited for', async () => {
    await using at = await manifestPlace()
    await at.api.patch(`/api/v1/namespaces/${at.namespace}`, { metadata: { labels: { test: at.namespace } } })
    const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
    await at.api.post(path, {
      metadata: { name: at.namespace },
      webhooks: [
        {
          ...{ name: 'late.example.com', admissionReviewVersions: ['v1'], sideEffects: 'None', timeoutSeconds: 1 },
          namespaceSelector: { matchLabels: { test: at.namespace } },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['serviceaccounts'] }],
          clientConfig: { service: { namespace: at.namespace, name: 'none', path: '/' } },
        },
      ],
    })
    const account = (name: string) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } })
    let tried = 0
    const isAsked = () =>
      at.api.post(at.path('serviceaccounts'), account(`early-${tried++}`), AbortSignal.timeout(2_000)).then(
        () => false,
        () => true,
      )
    await until(isAsked, { what: 'the API server asks the webhook' })
    const working = at.begin({ manifests: [account('web')] })
    await until(() => working.steps.filter((step) => step.includes('failed calling webhook')).length > 3, {
      what: 'the webhook is asked again and again',
    })
    await at.api.delete(`${path}/${at.namespace}`)
    expect((await working.worked).outcome).toMatchObject({ phase: 'SUCCEEDED' })
  })

  test('a namespace for inventories that is not there is named', async () => {
    await using at = await manifestPlace()
    const { error } = await at.deploy({ manifests: [configMap('a')] }, {}, { namespace: 'phaseline-nowhere' })
    expect(error).toMatch(/^KUBERNETES_TARGET: The inventory .* namespace phaseline-nowhere, which is not there/)
  })

  test('a group whose server is away holds up no chart', async () => {
    await using at = await manifestPlace()
    const group = `${at.namespace}.example.com`
    const gone = {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'gone' } },
      spec: { ports: [{ port: 443 }] },
    }
    await at.api.post(at.path('services'), gone)
    const path = '/apis/apiregistration.k8s.io/v1/apiservices'
    await at.api.post(path, {
      metadata: { name: `v1.${group}` },
      spec: {
        ...{ group, version: 'v1', groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true },
        service: { namespace: at.namespace, name: 'gone' },
      },
    })
    const isAway = () =>
      at.api.get(`/apis/${group}/v1`, { attempts: 1 }).then(
        () => false,
        (error: unknown) => isStatus(error, 503),
      )
    await until(isAway, { what: 'the server of the group is asked, and away' })
    expect((await capabilityArguments(at.api)).join(' ')).toContain(`${group}/v1`)
    await at.api.delete(`${path}/v1.${group}`)
  })
})
