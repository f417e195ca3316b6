import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubernetesObject } from '../../../../src/agents/kubernetes/objects.ts'
import { MAX_BYTES, TIMEOUT_MS } from '../../../../src/families/deployments/agents/helm/helm.ts'
import { helmDryRun, helmWork } from '../../../../src/families/deployments/agents/helm/helm-work.ts'
import type { ClusterOptions } from '../../../../src/families/deployments/agents/kubernetes/cluster.ts'
import { hasCluster } from '../../../testkit/cluster.ts'
import { helmProgram } from '../../../testkit/helm.ts'
import { PATIENCE_MS, until } from '../../../testkit/wait.ts'
import { manifestPlace } from '../kubernetes/manifest-place.ts'
import { writeChart } from './chart.ts'

const program = hasCluster() ? helmProgram() : null
const DEFINITION = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.shop.example.com'
const PASSWORD = 'marker of a password'

// The real program, on a real API server. One after the other: they share the definition of a kind.
describe.runIf(program !== null)('the helm deployer', { timeout: PATIENCE_MS }, () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'phaseline-charts-'))
    await writeChart(join(folder, 'shop'))
    await mkdir(join(folder, 'archives'))
    execFileSync(program ?? '', ['package', join(folder, 'shop'), '-d', join(folder, 'archives')], { stdio: 'ignore' })
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const place = (repositories: readonly string[] = []) => {
    const own = (options: ClusterOptions) => ({
      ...{ ...options, charts: { folder, repositories } },
      helm: {
        ...{ program: program ?? '', env: process.env, registries: undefined },
        ...{ timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES },
      },
    })
    return manifestPlace(
      (options) => helmWork(own(options)),
      (options) => helmDryRun(own(options)),
    )
  }

  test('a chart is applied, waited for, changed, pruned, healed and deleted; Helm stores nothing', async () => {
    await using at = await place()
    const config = {
      ...{ chart: 'shop', crds: 'delete', values: { password: PASSWORD } },
      exports: { ready: { kind: 'Deployment', name: 'it-web', path: '.status.readyReplicas' } },
    }
    const first = await at.deploy(config)
    expect([first.error, first.outcome]).toMatchObject(['undefined: undefined', { exports: { ready: 1 } }])
    expect(first.lines).toContain('Pod it-test is left out')
    expect(await at.leftovers()).toEqual([
      expect.stringMatching(/^pods it-web-/),
      ...[`configmaps it-extra`, 'configmaps it-settings', `configmaps phaseline-${at.item}`, 'secrets it'],
      ...['deployments it-web', expect.stringMatching(/^replicasets it-web-/)],
    ])
    const web = await at.find('apps/v1/deployments', 'it-web')
    expect(web).toMatchObject({
      metadata: { labels: { managed: 'Helm' } },
      spec: { template: { spec: { volumes: [{ configMap: { defaultMode: 0o440 } }] } } },
    })
    expect(await at.find('secrets', 'it')).toMatchObject({ data: { password: btoa(PASSWORD) } })
    expect(await at.find('configmaps', 'it-settings')).toMatchObject({ data: { colour: 'green', things: 'false' } })

    // The cluster has the kind by now, and the chart asks for it.
    const second = await at.deploy({ ...config, values: { ...config.values, colour: 'red', extra: false } })
    expect(second.lines).toEqual(
      expect.arrayContaining(['  data.colour: "green" → "red"', '  data.things: "false" → "true"']),
    )
    expect(second.lines).toContain(`ConfigMap ${at.namespace}/it-extra is deleted`)

    await at.api.delete(at.path('secrets', 'it'))
    const third = await at.deploy({ ...config, values: { ...config.values, colour: 'red', extra: false } })
    expect(third.lines).toContain(`Secret ${at.namespace}/it was gone: it is created again`)

    expect((await at.begin(config, { action: 'DELETE' }).worked).outcome).toEqual({ phase: 'GONE' })
    expect(await at.leftovers()).toEqual([])
    expect(await at.api.find(DEFINITION)).toBeNull()
    expect([first, second, third].flatMap(({ lines }) => lines).join()).not.toContain(PASSWORD)
  })

  test('a dry run renders the chart and compares its objects with the present ones, without a value of its secret', async () => {
    await using at = await place()
    const before = { chart: 'shop', crds: 'skip', values: { password: PASSWORD } }
    const created = await at.dryRun(before)
    expect(await at.leftovers()).toEqual([])
    expect(created && 'changes' in created && created.changes.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['CREATE']),
    )
    // Its objects are there before they are ready.
    const working = at.begin(before)
    for (const [kind, name] of [
      ['configmaps', 'it-extra'],
      ['apps/v1/deployments', 'it-web'],
    ] as const)
      await until(() => at.find(kind, name), { what: `there is ${name}` })
    working.stop()
    await working.worked
    const changed = await at.dryRun({ ...before, values: { password: `${PASSWORD} 2`, colour: 'red', extra: false } })
    const changes = changed && 'changes' in changed ? changed.changes : []
    expect(Object.fromEntries(changes.map(({ kind, name, action }) => [`${kind} ${name}`, action]))).toMatchObject({
      ...{ 'Secret it': 'UPDATE', 'ConfigMap it-settings': 'UPDATE', 'ConfigMap it-extra': 'DELETE' },
    })
    expect(JSON.stringify([created, changed])).not.toMatch(new RegExp(`${PASSWORD}|${btoa(PASSWORD).slice(0, 20)}`))
    expect(await at.dryRun({ chart: 'shop', values: { hook: true } })).toMatchObject({ error: { code: 'HELM_HOOKS' } })
    await at.remove(before)
  })

  test('definitions of kinds stay unless they are to go, and those of others stay as they are', async () => {
    await using at = await place()
    await using other = await place()
    expect((await at.deploy({ chart: 'shop' })).outcome).toMatchObject({ phase: 'SUCCEEDED' })
    const rival = await other.deploy({ chart: 'shop', crds: 'delete' })
    expect(rival.outcome).toMatchObject({ phase: 'SUCCEEDED' })
    expect(rival.lines.join('\n')).toMatch(/things.shop.example.com is there already, and stays as it is/)
    for (const one of [other, at]) {
      expect((await one.remove({ chart: 'shop' })).outcome).toEqual({ phase: 'GONE' })
      expect(await one.leftovers()).toEqual([])
      expect(await at.api.find(DEFINITION)).not.toBeNull()
    }
    // It belongs to nobody now.
    const { metadata } = await at.api.get<KubernetesObject>(DEFINITION)
    expect(Object.keys(metadata.annotations ?? {})).not.toContain('phaseline.io/item')
    await at.api.delete(DEFINITION)
  })

  test('hooks are refused or left out; what Helm says is told without the values; nothing is changed by either', async () => {
    await using at = await place()
    const error = async (config: object) => (await at.deploy({ chart: 'shop', crds: 'skip', ...config })).error
    expect(await error({ values: { hook: true } })).toMatch(/^HELM_HOOKS: .*: Job migrate\. `hooks: run`/)
    const failure = await error({ values: { colour: 'none', password: PASSWORD } })
    expect(failure).toMatch(/^HELM_FAILED: .*no colour, and the password is \*\*\*/)
    expect(await error({ chart: 'archives' })).toMatch(/^HELM_FAILED: .*Chart.yaml/)
    expect(await error({ chart: 'none' })).toMatch(/^HELM_CHART: There is no chart none/)
    expect(await error({ release: 'No' })).toMatch(/^HELM_CONFIG: config.release/)
    expect(await at.leftovers()).toEqual([])
    const { outcome, lines } = await at.deploy({ chart: 'shop', crds: 'skip', hooks: 'skip', values: { hook: true } })
    expect(outcome).toMatchObject({ phase: 'SUCCEEDED' })
    expect(lines).toContain('Job migrate is left out')
    // A chart that is gone does not stand in the way of a deletion.
    expect((await at.remove({ chart: 'none' })).outcome).toEqual({ phase: 'GONE' })
    expect(await at.leftovers()).toEqual([])
  })

  test('a chart is fetched from a repository that the deployer may fetch from, and from no other', async () => {
    const asked: string[] = []
    const archive = await readFile(join(folder, 'archives/shop-1.2.3.tgz'))
    const index =
      'apiVersion: v1\nentries: { shop: [{ apiVersion: v2, name: shop, version: 1.2.3, urls: [shop.tgz] }] }\n'
    const server = createServer(({ url = '' }, response) => {
      asked.push(url)
      response.end(url.endsWith('.tgz') ? archive : index)
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const repo = `http://127.0.0.1:${(server.address() as AddressInfo).port}/charts`
    await using at = await place([repo])
    const config = { chart: 'shop', repo, version: '~1.2.0', release: 'fetched', crds: 'skip' }
    const refused = await at.deploy({ ...config, repo: `${repo}-of-others` })
    expect(refused.error).toMatch(/^HELM_CHART: Charts are not fetched from .*--repositories/)
    expect(asked).toEqual([])
    expect((await at.deploy({ ...config, version: '9' })).error).toMatch(/^HELM_FAILED: .*shop/)
    expect((await at.deploy(config)).outcome).toMatchObject({ phase: 'SUCCEEDED' })
    expect(asked).toContain('/charts/shop.tgz')
    expect(await at.find('apps/v1/deployments', 'fetched-web')).not.toBeNull()
    await at.remove()
    server.close()
  })
})
