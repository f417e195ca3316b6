import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { expect, onTestFinished, test } from 'vitest'
import { changesBetween } from '../../../../src/agents/kubernetes/changes.ts'
import type { KubernetesObject } from '../../../../src/agents/kubernetes/objects.ts'
import { statusOf } from '../../../../src/agents/kubernetes/status-of.ts'
import { openCluster } from '../../../../src/families/deployments/agents/kubernetes/cluster.ts'
import { wavesOf } from '../../../../src/families/deployments/agents/kubernetes/waves.ts'
import { readKubernetes, YamlProblem } from '../../../../src/manifest/read-kubernetes.ts'
import { expr, refusal } from '../../../testkit/deployments.ts'
import { openSandbox } from '../../../testkit/sandbox.ts'
import { createWorld, USER } from '../../../testkit/world.ts'

test('a target of another type is no cluster, whatever file of the deployer has its name', async () => {
  const kubeconfigs = await mkdtemp(join(tmpdir(), 'phaseline-kubeconfigs-'))
  onTestFinished(() => rm(kubeconfigs, { recursive: true }))
  const config = new KubeConfig()
  config.loadFromClusterAndUser({ name: 'prod', server: 'https://127.0.0.1:1', skipTLSVerify: true }, { name: 'me' })
  await writeFile(join(kubeconfigs, 'prod'), config.exportConfig())
  const options = { kubeconfigs, sandbox: openSandbox() }
  const record = { targetId: 'one', targetType: 'docker', generation: 1, secret: 'x' }
  expect(await openCluster(options, { target: 'prod' })).toMatchObject({ namespace: 'default' })
  await expect(openCluster(options, { target: 'prod', targetCredentials: record })).rejects.toMatchObject({
    ...{
      name: 'DeployError',
      code: 'KUBERNETES_TARGET',
      message: 'The target prod is of the type docker, not kubernetes.',
    },
  })
})

test('a config that cannot be one is refused with its paths when it is planned, and when it is written', async () => {
  await using world = await createWorld()
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: expr('imports.name') } }
  const spec = (config: unknown) => ({
    imports: [{ name: 'name' }],
    deployItems: [{ name: 'it', type: 'kubernetes-manifest', config }],
  })
  const plan = (config: unknown) =>
    world.commands.planInstallation(USER, { create: { project: 'default', name: 'shop', spec: spec(config) } })
  const list =
    'apiVersion: v1\nkind: ConfigMapList\nmetadata: { resourceVersion: "" }\nitems: [{ metadata: { name: a } }]'
  const later = [expr('imports.name'), `kind: ${expr('imports.name')}`]
  expect(await plan({ manifests: [object, list, ...later], namespace: expr('imports.name') })).toMatchObject({
    ok: true,
  })
  const wrong = {
    manifests: [3],
    namespace: 'No Such',
    exports: { a: { kind: 'Pod', name: 'x', path: '$..*' } },
    conflicts: 'maybe',
    manifest: [],
  }
  const at = (path: string) => `input.spec.deployItems.0.config.${path}`
  const { fields } = await refusal(plan(wrong))
  expect(fields.map(({ path }) => path).sort()).toEqual(
    [...['conflicts', 'exports.a.path', 'manifest', 'manifests.0', 'namespace']].map(at),
  )
  const objects = [
    { ...object, metadata: { name: '..' } },
    { kind: 'Pod' },
    'a: [',
    '--- just words',
    'apiVersion: batch/v1\nkind: Job\nmetadata: { generateName: run- }',
    { kind: 'List', items: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'No Such' } }] },
  ]
  const refused = (await refusal(plan({ manifests: objects }))).fields
  expect(refused.map(({ path, message }) => `${path}: ${message}`)).toEqual(
    [
      'manifests.0.metadata.name: must be the name of an object',
      'manifests.1.apiVersion: must be there: a version such as v1 or apps/v1',
      'manifests.1.metadata: must be there, with a name',
      expect.stringMatching(/manifests\.2: cannot be read as YAML: .* at line 1, column \d+/),
      'manifests.3: is no object of a cluster: it has no kind',
      expect.stringMatching(/manifests\.4\.metadata\.generateName: makes another object with each job.*give it a name/),
      'manifests.5.items.0.metadata.name: must be there: the name of an object',
      'manifests.5.items.0.metadata.namespace: must be the name of a namespace',
    ].map((one) => (typeof one === 'string' ? at(one) : one)),
  )
  expect(fields.find(({ path }) => path === at('manifest'))?.message).toBe('there is no such setting')
  const written = world.commands.createInstallation(USER, {
    ...{ project: 'default', name: 'shop', reconcile: true },
    spec: spec({}),
  })
  expect((await refusal(written)).fields).toEqual([
    { path: 'input.spec.deployItems.0.config', message: expect.stringContaining('manifests') },
  ])
})

test('a text keeps whole numbers that JavaScript cannot hold, and what JSON has not is refused with its path', () => {
  const text = '{id: 9007199254740993, few: 0400, ids: {18446744073709551615: -9223372036854775808}, float: 1.5}'
  const written = '{"id":9007199254740993,"few":256,"ids":{"18446744073709551615":-9223372036854775808},"float":1.5}'
  expect(readKubernetes(text).map((one) => JSON.stringify(one))).toEqual([written])
  expect(readKubernetes('a: &a {x: 1}\nb: {<<: *a, z: yes}')).toEqual([{ a: { x: 1 }, b: { x: 1, z: true } }])
  for (const [wrong, problem] of [
    ['{a: {b: [.inf]}}', 'the object.a.b.0 is no number that JSON has'],
    ['a: "\\0"', 'the object.a holds the character NUL'],
    ['a: "\\ud83d"', 'the object.a holds half of a surrogate pair'],
  ] as const)
    expect(() => readKubernetes(wrong)).toThrow(problem)
})

test.each([
  [
    'a map that is merged into many',
    `a: &a {${Array.from({ length: 20_000 }, (_, i) => `k${i}: 1`).join()}}`,
    '{<<: *a}',
  ],
  ['a text that is repeated', `a: &a ${'x'.repeat(100_000)}`, '*a'],
  ['a name that stands for nothing', 'a: 1', '*b'],
  ['a name of what it is in', 'a: &a [*a]', '*a'],
  ['a text that is merged', 'a: 1', '{<<: b}'],
])('%s is refused as what it is, before it is unfolded', (_, first, alias) => {
  const text = [first, ...Array.from({ length: 90 }, (__, i) => `m${i}: ${alias}`)].join('\n')
  expect(() => readKubernetes(text)).toThrow(YamlProblem)
})

test('any number of aliases may stand for little', () => {
  const maps = Array.from({ length: 1_000 }, (_, i) => `m${i}: {<<: *a, b: [*b, *b]}`)
  const [object] = readKubernetes(['a: &a {x: 1}', 'b: &b z', ...maps].join('\n'))
  expect(object).toMatchObject({ m999: { x: 1, b: ['z', 'z'] } })
})

type Part = Partial<Omit<KubernetesObject, 'metadata'>> & { readonly metadata?: object }
const object = (kind: string, apiVersion: string, { metadata = {}, ...rest }: Part): KubernetesObject => ({
  ...{ apiVersion, kind, metadata: { name: 'x', ...metadata } },
  ...rest,
})
const seen = { observedGeneration: 1 }
const conditions = (type: string, status: string, reason = 'Because') => ({ conditions: [{ type, status, reason }] })
const deployment = (status: object, metadata: object = {}) =>
  object('Deployment', 'apps/v1', { spec: { replicas: 2 }, status: { ...seen, ...status }, metadata })
const full = { replicas: 2, updatedReplicas: 2, availableReplicas: 2, readyReplicas: 2 }
const rolled = { ...full, currentRevision: 'b', updateRevision: 'b' }
const set = (status: object, spec: object = {}) =>
  object('StatefulSet', 'apps/v1', { spec: { replicas: 2, ...spec }, status: { ...seen, ...status } })
const daemons = { desiredNumberScheduled: 1, currentNumberScheduled: 1, updatedNumberScheduled: 1, numberAvailable: 1 }
const pod = (status: object) => object('Pod', 'v1', { status: { ...status } })

test.each<[string, KubernetesObject, string, RegExp?]>([
  ['a deployment', deployment(full), 'CURRENT'],
  ['a deployment that nobody has seen', object('Deployment', 'apps/v1', {}), 'IN_PROGRESS', /not seen/],
  ['a deployment of an old generation', deployment(full, { generation: 2 }), 'IN_PROGRESS', /not seen its change/],
  ['a deployment with old replicas', deployment({ ...full, replicas: 3 }), 'IN_PROGRESS', /1 old replicas/],
  [
    'a deployment that rolls',
    deployment({ ...full, updatedReplicas: 1 }),
    'IN_PROGRESS',
    /1 of 2 replicas are updated/,
  ],
  ['a deployment that is late', deployment(conditions('Progressing', 'False', 'ProgressDeadlineExceeded')), 'FAILED'],
  ['an object that goes', deployment(full, { deletionTimestamp: 'now' }), 'IN_PROGRESS', /being deleted/],
  ['a stateful set', set(rolled), 'CURRENT'],
  ['a stateful set that rolls', set({ ...rolled, currentRevision: 'a' }), 'IN_PROGRESS', /updated/],
  [
    'one that rolls in part',
    set(
      { ...rolled, currentRevision: 'a', updatedReplicas: 1 },
      { updateStrategy: { rollingUpdate: { partition: 1 } } },
    ),
    'CURRENT',
  ],
  ['one that rolls when its pods go', set({}, { updateStrategy: { type: 'OnDelete' } }), 'CURRENT'],
  ['a daemon set', object('DaemonSet', 'apps/v1', { status: { ...seen, ...daemons, numberReady: 1 } }), 'CURRENT'],
  [
    'a daemon set that begins',
    object('DaemonSet', 'apps/v1', { status: { ...seen, ...daemons } }),
    'IN_PROGRESS',
    /0 of 1 replicas are ready/,
  ],
  [
    'a replica set',
    object('ReplicaSet', 'apps/v1', { spec: { replicas: 2 }, status: { ...seen, ...full } }),
    'CURRENT',
  ],
  [
    'a replica set that cannot',
    object('ReplicaSet', 'apps/v1', { status: { ...seen, ...conditions('ReplicaFailure', 'True', 'Quota') } }),
    'IN_PROGRESS',
    /Quota/,
  ],
  ['a job at work', object('Job', 'batch/v1', { status: { active: 1 } }), 'IN_PROGRESS', /1 of its pods are active/],
  ['a job', object('Job', 'batch/v1', { status: conditions('Complete', 'True') }), 'CURRENT'],
  [
    'a job that failed',
    object('Job', 'batch/v1', { status: conditions('Failed', 'True', 'BackoffLimitExceeded') }),
    'FAILED',
  ],
  ['a pod', pod({ phase: 'Running', ...conditions('Ready', 'True') }), 'CURRENT'],
  ['a pod that has ended', pod({ phase: 'Succeeded' }), 'CURRENT'],
  ['a pod that failed', pod({ phase: 'Failed' }), 'FAILED'],
  [
    'a pod that no node takes',
    pod({ phase: 'Pending', ...conditions('PodScheduled', 'False', 'Unschedulable') }),
    'IN_PROGRESS',
    /Unschedulable/,
  ],
  [
    'a pod that crashes',
    pod({
      phase: 'Running',
      containerStatuses: [
        {
          name: 'main',
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: { terminated: { exitCode: 2 } },
        },
      ],
    }),
    'IN_PROGRESS',
    /main: CrashLoopBackOff \(exit code 2\)/,
  ],
  ['a claim', object('PersistentVolumeClaim', 'v1', { status: { phase: 'Bound' } }), 'CURRENT'],
  [
    'a claim that waits',
    object('PersistentVolumeClaim', 'v1', { status: { phase: 'Pending' } }),
    'IN_PROGRESS',
    /Pending, not Bound/,
  ],
  [
    'a definition',
    object('CustomResourceDefinition', 'apiextensions.k8s.io/v1', { status: conditions('Established', 'True') }),
    'CURRENT',
  ],
  [
    'a definition whose names are taken',
    object('CustomResourceDefinition', 'apiextensions.k8s.io/v1', { status: conditions('NamesAccepted', 'False') }),
    'FAILED',
  ],
  ['something without a status', object('ConfigMap', 'v1', {}), 'CURRENT'],
  [
    'something that is not ready',
    object('Thing', 'example.com/v1', { status: conditions('Ready', 'Unknown', 'Wait') }),
    'IN_PROGRESS',
    /Wait/,
  ],
  [
    'something that is stalled',
    object('Thing', 'example.com/v1', { status: conditions('Stalled', 'True', 'Stuck') }),
    'FAILED',
    /Stuck/,
  ],
  [
    'something that reconciles',
    object('Thing', 'example.com/v1', { status: conditions('Reconciling', 'True') }),
    'IN_PROGRESS',
  ],
])('the status of %s', (_, of, is, message = /./) => {
  const status = statusOf(of)
  expect(status.is).toBe(is)
  if (is !== 'CURRENT') expect(status.message).toMatch(message)
})

test('what others need comes first', () => {
  const kinds = ['Deployment', 'ConfigMap', 'CustomResourceDefinition', 'Namespace', 'Thing']
  const versions: Record<string, string> = {
    Deployment: 'apps/v1',
    CustomResourceDefinition: 'apiextensions.k8s.io/v1',
    Thing: 'x.io/v1',
  }
  const waves = wavesOf(kinds.map((kind) => ({ kind, apiVersion: versions[kind] ?? 'v1' })))
  expect(waves.map(({ objects }) => objects.map(({ kind }) => kind))).toEqual([
    ['Namespace'],
    ['CustomResourceDefinition'],
    ['ConfigMap'],
    ['Deployment'],
    ['Thing'],
  ])
})

test('changes are those of fields, without what the cluster writes', () => {
  const before = object('Thing', 'x.io/v1', {
    metadata: { generation: 1, uid: 'u' },
    spec: { list: [{ a: 1 }, 2], gone: {} },
  })
  const after = object('Thing', 'x.io/v1', {
    metadata: { generation: 2 },
    spec: { list: [{ a: 2 }, 2, 3] },
    status: { x: 1 },
  })
  expect(changesBetween(before, after)).toEqual([
    { path: 'spec.list.0.a', from: 1, to: 2 },
    { path: 'spec.list.2', from: undefined, to: 3 },
    { path: 'spec.gone', from: {}, to: undefined },
  ])
})
