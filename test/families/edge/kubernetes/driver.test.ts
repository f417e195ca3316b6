import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { hasCluster } from '../../../testkit/cluster.ts'
import { until } from '../../../testkit/wait.ts'
import { type DriverPlace, driverPlace, sleeper } from './driver-place.ts'

const DEPLOYMENTS = 'apps/v1/deployments'
const RIGHTS = new URL('../../../../deploy/kubernetes-crm/rights.yaml', import.meta.url)

describe.runIf(hasCluster())('the driver for Kubernetes', { timeout: 240_000, concurrent: true }, () => {
  it('makes, changes and removes a namespace with its limits, and apps in it', async () => {
    await using at = driverPlace()
    const spec = { quota: { pods: 5 }, limitRange: { default: { memory: '64Mi' } } }
    expect(await at.run('CREATE', 'c1', spec)).toBe('')
    expect(await at.namespace('c1')).toMatchObject({
      metadata: { labels: { 'phaseline.io/object': 'id-c1', 'pod-security.kubernetes.io/enforce': 'restricted' } },
      status: { phase: 'Active' },
    })
    expect(await at.find('c1', 'resourcequotas', 'phaseline')).toMatchObject({ status: { hard: { pods: '5' } } })
    expect(await at.run('CREATE', 'c1/web', sleeper({ ports: [{ port: 80, targetPort: 8080 }], replicas: 2 }))).toBe('')
    expect(await at.find('c1', DEPLOYMENTS, 'web')).toMatchObject({ status: { readyReplicas: 2 } })
    expect(await at.find('c1', 'services', 'web')).toMatchObject({ spec: { ports: [{ port: 80, targetPort: 8080 }] } })
    expect(await at.list()).toEqual(['c1 READY 1', 'c1/web READY 1'])
    // An update keeps the existing deployment and makes no second one.
    const uid = (await at.find('c1', DEPLOYMENTS, 'web'))?.metadata.uid
    expect(await at.run('UPDATE', 'c1/web', sleeper({ env: { A: '1' } }), 2)).toBe('')
    expect(await at.find('c1', DEPLOYMENTS, 'web')).toMatchObject({ metadata: { uid }, status: { readyReplicas: 1 } })
    expect(await at.find('c1', 'services', 'web')).toBeNull()
    expect(await at.run('UPDATE', 'c1', {}, 2)).toBe('')
    expect(await at.find('c1', 'resourcequotas', 'phaseline')).toBeNull()
    expect(await at.list()).toEqual(['c1 READY 2', 'c1/web READY 2'])
    expect(await at.run('DELETE', 'c1')).toMatch(/^HAS_APPS: .* web/)
    expect(await at.run('DELETE', 'c1/web')).toBe('')
    expect(await at.list()).toEqual(['c1 READY 2'])
    expect(await at.run('DELETE', 'c1')).toBe('')
    expect(await at.namespace('c1')).toBeNull()
    for (const gone of ['c1/web', 'c1']) expect(await at.run('DELETE', gone)).toBe('')
    expect(await at.run('CREATE', 'c1/web', sleeper())).toMatch(/^NO_CLUSTER: /)
  })

  it('says why an app does not start, and puts things back as they were', async () => {
    await using at = driverPlace()
    await at.run('CREATE', 'c1', { quota: { pods: 3, 'requests.cpu': '2000' } })
    const cpu = (amount: string) => ({ resources: { requests: { cpu: amount } } })
    expect(await at.run('CREATE', 'c1/good', sleeper(cpu('1m')))).toBe('')
    const bad: Readonly<Record<string, readonly [object, RegExp]>> = {
      image: [{ image: 'no/such:1', ...cpu('1m') }, /^IMAGE_FAILED: Deployment .*\/image: pod .*ErrImageNeverPull/],
      quota: [{ ...cpu('3000'), progressDeadlineSeconds: 3 }, /^QUOTA_EXCEEDED: .*exceeded quota: phaseline/],
      nodes: [{ ...cpu('1000'), progressDeadlineSeconds: 3 }, /^UNSCHEDULABLE: .*No node takes it/],
    }
    const failures = Object.entries(bad).map(async ([name, [more, why]]) => {
      expect(await at.run('CREATE', `c1/${name}`, sleeper(more))).toMatch(why)
    })
    await Promise.all(failures)
    expect(await at.list()).toEqual(['c1 READY 1', 'c1/good READY 1'])
    const crash = { command: ['sh', '-c', 'exit 3'], ...cpu('1m'), progressDeadlineSeconds: 4 }
    const working = at.begin('UPDATE', 'c1/good', sleeper({ ...crash, ports: [{ port: 80 }] }), 2)
    expect(await working.done).toMatch(/^NOT_READY: .*CrashLoopBackOff \(exit code 3\)|^NOT_READY: .*Error/)
    expect(await at.find('c1', 'services', 'good')).toBeNull()
    // The pod that crashed may still be ending.
    await until(
      async () => {
        const { status } = (await at.find('c1', DEPLOYMENTS, 'good')) as { status?: Record<string, number> }
        return status?.replicas === 1 && status.readyReplicas === 1
      },
      { what: 'it is as it was' },
    )
    expect(await at.list()).toEqual(['c1 READY 1', 'c1/good READY 1'])
    expect(await at.run('UPDATE', 'c1', { quota: { 'No Such!': 1 } }, 2)).toMatch(/^SPEC_INVALID: /)
    expect(
      await at.run(
        'UPDATE',
        'c1',
        { quota: { 'requests.cpu': '1' }, limitRange: { max: { cpu: '1' }, min: { cpu: '2' } } },
        2,
      ),
    ).toMatch(/^KUBERNETES_REFUSED: LimitRange /)
    expect(await at.find('c1', 'resourcequotas', 'phaseline')).toMatchObject({ spec: { hard: { pods: '3' } } })
    expect(await at.list()).toEqual(['c1 READY 1', 'c1/good READY 1'])
  })

  it('goes on where a request was broken off, and tells what others have changed', async () => {
    await using at = driverPlace()
    await at.run('CREATE', 'c1', { quota: { pods: 9 } })
    const spec = sleeper({ ports: [{ port: 80 }] })
    const unready = {
      ...spec,
      readinessProbe: { exec: { command: ['sh', '-c', 'test -e /tmp/never'] }, timeoutSeconds: 10 },
    }
    const broken = at.begin('CREATE', 'c1/half', unready)
    await until(() => broken.steps.some((step) => step.includes('available')), { what: 'it waits' })
    broken.stop()
    expect(await broken.done).toBe('stopped')
    expect(await at.list()).toEqual(['c1 READY 1', 'c1/half CREATING null'])
    expect(await at.run('CREATE', 'c1/half', spec)).toBe('')
    // An update that was broken off still knows what there was before.
    const updating = at.begin('UPDATE', 'c1/half', unready, 2)
    await until(() => updating.steps.some((step) => step.includes('old replicas')), { what: 'it waits' })
    updating.stop()
    await updating.done
    expect(await at.list()).toEqual(['c1 READY 1', 'c1/half UPDATING null'])
    expect(await at.run('UPDATE', 'c1/half', { ...unready, image: 'no/such:1' }, 2)).toMatch(/^IMAGE_FAILED/)
    expect(await at.list()).toEqual(['c1 READY 1', 'c1/half READY 1'])
    const drift = async (change: Promise<unknown>, listed: readonly string[]) => {
      await change
      await until(async () => String(await at.list()) === String(listed), { what: listed.join() })
    }
    await drift(at.api.patch(at.path('c1', DEPLOYMENTS, 'half'), { spec: { replicas: 2 } }), [
      'c1 READY 1',
      'c1/half READY null',
    ])
    const more = { spec: { hard: { pods: '100' } } }
    await drift(at.api.patch(at.path('c1', 'resourcequotas', 'phaseline'), more), [
      'c1 READY null',
      'c1/half READY null',
    ])
    await at.api.delete(at.path('c1', 'services', 'half'))
    expect(await at.run('UPDATE', 'c1/half', spec, 4)).toBe('')
    expect(await at.find('c1', DEPLOYMENTS, 'half')).toMatchObject({ spec: { replicas: 1 } })
    await drift(at.api.delete(at.path('c1', 'services', 'half')), ['c1 READY null', 'c1/half READY null'])
    expect(await at.run('UPDATE', 'c1', { quota: { pods: 9 } }, 2)).toBe('')
    await drift(at.api.delete(at.path('c1', DEPLOYMENTS, 'half'), { propagationPolicy: 'Foreground' }), ['c1 READY 2'])
    expect(await at.run('UPDATE', 'c1/half', spec, 5)).toBe('')
    expect(await at.list()).toEqual(['c1 READY 2', 'c1/half READY 5'])
  })

  it('waits for finalizers, makes a name anew once it is free, and touches nothing of others', async () => {
    await using at = driverPlace()
    await at.run('CREATE', 'c1')
    await at.run('CREATE', 'c1/web', sleeper())
    await at.api.patch(at.path('c1', DEPLOYMENTS, 'web'), { metadata: { finalizers: ['example.com/wait'] } })
    const going = at.begin('DELETE', 'c1/web')
    await until(() => going.steps.some((step) => step.includes('its finalizers are')), { what: 'it waits' })
    expect(await at.list()).toEqual(['c1 READY 1', 'c1/web DELETING null'])
    const again = at.begin('CREATE', 'c1/web', sleeper())
    await at.api.patch(at.path('c1', DEPLOYMENTS, 'web'), { metadata: { finalizers: null } })
    expect(await going.done).toBe('')
    expect(await again.done).toBe('')
    const theirs = { metadata: { name: 'theirs' }, spec: { ports: [{ port: 1 }] } }
    await at.api.post(at.path('c1', 'services'), theirs)
    expect(await at.run('CREATE', 'c1/theirs', sleeper({ ports: [{ port: 80 }] }))).toMatch(/^NOT_OWNED: Service /)
    expect(await at.run('DELETE', 'c1/theirs')).toBe('')
    expect(await at.find('c1', 'services', 'theirs')).toMatchObject({ spec: { ports: [{ port: 1 }] } })
    expect(await at.list()).toEqual(['c1 READY 1', 'c1/web READY 1'])
  })

  it('uses an existing cluster by its kubeconfig, with the rights of the folder and no others', async () => {
    const kubeconfigs = await mkdtemp(join(tmpdir(), 'phaseline-kubeconfigs-'))
    await using at = driverPlace({ kubeconfigs })
    await using limited = await limitedUser(at)
    await writeFile(join(kubeconfigs, 'limited'), limited.kubeconfig)
    expect(await at.run('CREATE', 'c1', { cluster: 'other' })).toMatch(/^CLUSTER_UNKNOWN: spec\.cluster: /)
    expect(await at.run('CREATE', 'c1', { cluster: 'limited', quota: { pods: 5 } })).toBe('')
    expect(await at.run('CREATE', 'c1/web', sleeper({ ports: [{ port: 80 }] }))).toBe('')
    const failing = sleeper({ image: 'no/such:1' })
    expect(await at.run('UPDATE', 'c1/web', failing, 2)).toMatch(/^IMAGE_FAILED/)
    expect(await at.list()).toEqual(['c1 READY 1', 'c1/web READY 1'])
    expect(await at.run('UPDATE', 'c1', {}, 2)).toMatch(/^CLUSTER_FIXED: spec\.cluster: it is on limited/)
    expect(await at.run('DELETE', 'c1/web')).toBe('')
    expect(await at.run('DELETE', 'c1')).toBe('')
    expect(await at.namespace('c1')).toBeNull()
    await rm(kubeconfigs, { recursive: true })
  })
})

interface Named {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
}
const CLUSTER_WIDE: Readonly<Record<string, string>> = {
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ClusterRoleBinding: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
}

/** A service account with the rights that `deploy/` gives. */
async function limitedUser({ api, config }: DriverPlace): Promise<AsyncDisposable & { readonly kubeconfig: string }> {
  const name = `phaseline-test-${randomUUID().slice(-12)}`
  const text = (await readFile(RIGHTS, 'utf8'))
    .replaceAll('phaseline-crm', name)
    .replaceAll('namespace: phaseline', `namespace: ${name}`)
  await api.post('/api/v1/namespaces', { metadata: { name } })
  const objects = parseAllDocuments(text).map((document) => document.toJS() as Named)
  for (const object of objects)
    await api.post(CLUSTER_WIDE[object.kind] ?? `/api/v1/namespaces/${name}/serviceaccounts`, object)
  const tokens = `/api/v1/namespaces/${name}/serviceaccounts/${name}/token`
  const { status } = await api.post<{ status: { token: string } }>(tokens, { spec: { expirationSeconds: 3_600 } })
  const cluster = config.getCurrentCluster()
  if (!cluster) throw new Error('there is no cluster')
  const limited = new KubeConfig()
  limited.loadFromClusterAndUser(cluster, { name, token: status.token })
  return {
    kubeconfig: limited.exportConfig(),
    async [Symbol.asyncDispose]() {
      for (const path of Object.values(CLUSTER_WIDE)) await api.delete(`${path}/${name}`)
      await api.delete(`/api/v1/namespaces/${name}`)
    },
  }
}
