import { describe, expect, test } from 'vitest'
import type { KubernetesObject } from '../../../../src/agents/kubernetes/objects.ts'
import type { DryRunOutcome, PlannedChange } from '../../../../src/client/index.ts'
import { hasCluster } from '../../../testkit/cluster.ts'
import { PATIENCE_MS } from '../../../testkit/wait.ts'
import { configMap, type ManifestPlace, manifestPlace } from './manifest-place.ts'

const PASSWORD = 'marker of a password'
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const secret = (password: string, more: Readonly<Record<string, string>> = {}) => ({
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'login' } },
  stringData: { user: 'ada', password, ...more },
})
const service = (port: number) => ({
  ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' } },
  spec: { selector: { app: 'web' }, ports: [{ name: 'http', port, protocol: 'TCP', targetPort: 80 }] },
})
const deployment = (image: string, replicas = 0) => ({
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
  spec: {
    ...{ replicas, selector: { matchLabels: { app: 'web' } } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image }] } },
  },
})
const definition = ({ namespace }: ManifestPlace) => {
  const group = `${namespace}.example.com`
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: { name: `things.${group}` },
    spec: {
      ...{ group, scope: 'Namespaced', names: { plural: 'things', singular: 'thing', kind: 'Thing' } },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  }
}

function changesOf(outcome: DryRunOutcome | null): readonly PlannedChange[] {
  if (!outcome || !('changes' in outcome)) throw new Error(JSON.stringify(outcome))
  return outcome.changes
}
const actions = (changes: readonly PlannedChange[]) =>
  Object.fromEntries(changes.map(({ kind, name, action }) => [`${kind} ${name}`, action]))

/** The cluster adds these to a namespace, at a time of its own. */
const OF_CLUSTER = /^(kube-root-ca\.crt|default-token-)/

/** The kinds that the tests use, by their names and versions. */
async function versions({ api, path }: ManifestPlace): Promise<Readonly<Record<string, string>>> {
  const lists = await Promise.all(
    ['configmaps', 'secrets', 'services', 'apps/v1/deployments'].map((kind) =>
      api.get<{ kind: string; items: readonly (KubernetesObject & { metadata: { resourceVersion: string } })[] }>(
        path(kind),
      ),
    ),
  )
  return Object.fromEntries(
    lists.flatMap(({ kind, items }) =>
      items
        .filter(({ metadata }) => !OF_CLUSTER.test(metadata.name))
        .map(({ metadata }) => [`${kind.replace('List', '')} ${metadata.name}`, metadata.resourceVersion]),
    ),
  )
}

// On a real API server.
describe.runIf(hasCluster())('a dry run of manifests', { timeout: PATIENCE_MS }, () => {
  test('what it says of each change is what the run then does, and it changes nothing itself', async () => {
    await using place = await manifestPlace()
    const steps: readonly (readonly object[])[] = [
      [configMap('a'), configMap('b'), secret(PASSWORD), service(80), deployment('one:1')],
      [configMap('a', { a: '2', c: '3' }), secret(`${PASSWORD} 2`, { more: 'x' }), service(81), deployment('one:2')],
      [configMap('a', { c: '3' }), configMap('z'), secret(`${PASSWORD} 2`), service(81), deployment('one:2', 0)],
      [configMap('z'), deployment('one:2')],
      [configMap('z')],
    ]
    for (const manifests of steps) {
      const before = await versions(place)
      const outcome = await place.dryRun({ manifests })
      expect(await versions(place)).toEqual(before)
      expect(JSON.stringify(outcome)).not.toMatch(new RegExp(`marker|${base64(PASSWORD).slice(0, 20)}`))
      const { error } = await place.deploy({ manifests })
      expect(error).toBe('undefined: undefined')
      const after = await versions(place)
      const found = Object.fromEntries(
        Object.entries(actions(changesOf(outcome))).filter(([, action]) => action !== 'UNCHANGED'),
      )
      const names = new Set([...Object.keys(before), ...Object.keys(after)])
      const made = [...names].flatMap((name) => {
        if (/kube-root-ca|phaseline-/.test(name) || before[name] === after[name]) return []
        return [[name, before[name] === undefined ? 'CREATE' : after[name] === undefined ? 'DELETE' : 'UPDATE']]
      })
      // A deployment's status moves its version as well.
      const settled = made.filter(([name = '']) => name in found || !name.startsWith('Deployment'))
      expect(Object.fromEntries(settled)).toEqual(found)
      // Asked again, it finds nothing.
      expect(new Set(Object.values(actions(changesOf(await place.dryRun({ manifests })))))).toEqual(
        new Set(['UNCHANGED']),
      )
    }
    const gone = changesOf(await place.dryRun({ manifests: [configMap('z')] }, { dryRunOf: 'DELETE' }))
    expect(actions(gone)).toEqual({ 'ConfigMap z': 'DELETE' })
  })

  test('fields and a diff show what changes, without what the cluster writes itself; values of secrets are masked', async () => {
    await using place = await manifestPlace()
    await place.deploy({ manifests: [configMap('a', { a: '1', b: '2' }), secret(PASSWORD, { old: PASSWORD })] })
    const manifests = [configMap('a', { a: '2', b: '2' }), secret(`${PASSWORD} 2`, { fresh: PASSWORD })]
    const changes = changesOf(await place.dryRun({ manifests }))
    const [map, login] = ['ConfigMap', 'Secret'].map((kind) => changes.find((one) => one.kind === kind))
    expect(map).toMatchObject({ group: '', namespace: place.namespace, reason: null })
    expect(map?.fields).toEqual([{ path: 'data.a', before: '1', after: '2', masked: false }])
    expect(map?.diff).toMatch(/^-\s+a: "1"\n\+\s+a: "2"$/m)
    expect(map?.diff).not.toMatch(/managedFields|resourceVersion|uid|phaseline\.io/)
    expect(login?.fields?.map(({ path, before, after, masked }) => [path, before, after, masked])).toEqual([
      ['data.old', '***', null, true],
      ['data.password', '***', '***', true],
      ['data.fresh', null, '***', true],
    ])
    expect(login?.diff).toMatch(/^-\s+password: "\*\*\*"$/m)
    expect(login?.diff).toMatch(/^\+\s+password: "\*\*\* \(changed\)"$/m)
    expect(JSON.stringify(changes)).not.toMatch(new RegExp(`marker|${base64(PASSWORD).slice(0, 20)}`))
  })

  test('drift is named, and a kind that the item defines cannot be asked about yet', async () => {
    await using place = await manifestPlace()
    const group = `${place.namespace}.example.com`
    await place.deploy({ manifests: [configMap('a')] })
    await place.api.patch(place.path('configmaps', 'a'), { data: { a: 'by hand' } })
    const thing = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'one' }, size: 1 }
    const other = { apiVersion: `other.${group}/v1`, kind: 'Other', metadata: { name: 'two' } }
    const changes = changesOf(await place.dryRun({ manifests: [configMap('a'), definition(place), thing, other] }))
    expect(changes.map(({ kind, action, reason }) => [kind, action, reason?.slice(0, 60) ?? null])).toEqual([
      ['CustomResourceDefinition', 'CREATE', null],
      ['ConfigMap', 'UPDATE', 'Others have changed it since the last run.'],
      ['Thing', 'CREATE', 'The API server cannot say more before its namespace or its k'],
      ['Other', 'CREATE', `The cluster has no kind Other of other.${group}`.slice(0, 60)],
    ])
    expect(changes.at(2)?.diff).toContain('+size: 1')
  })

  test('what the run would be refused for is an error, and one item has no say over another', async () => {
    await using place = await manifestPlace()
    await place.deploy({ manifests: [configMap('a')] })
    const other = { objectId: '01900000-0000-7000-8000-000000000001' }
    expect(await place.dryRun({ manifests: [configMap('a')] }, other)).toMatchObject({
      error: { code: 'KUBERNETES_NOT_OWNED' },
    })
    expect(await place.dryRun({ manifests: [{ ...service(80), spec: { ports: 'none' } }] })).toMatchObject({
      error: { code: 'KUBERNETES_REFUSED' },
    })
    expect(await place.dryRun({ manifests: 'a: b' })).toMatchObject({ error: { code: 'KUBERNETES_CONFIG' } })
    expect(await place.dryRun({ manifests: [configMap('a')] }, { ...other, dryRunOf: 'DELETE' })).toEqual({
      changes: [],
    })
    expect(await place.dryRun({ manifests: [configMap('a')], dryRun: true })).toHaveProperty('skipped')
  })
})
