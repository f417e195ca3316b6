import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { MAX_BYTES, TIMEOUT_MS } from '../../../../src/families/deployments/agents/helm/helm.ts'
import { helmWork } from '../../../../src/families/deployments/agents/helm/helm-work.ts'
import { createAuthority } from '../../../testkit/certificates.ts'
import { hasCluster } from '../../../testkit/cluster.ts'
import { helmProgram } from '../../../testkit/helm.ts'
import { startRegistry } from '../../../testkit/registry.ts'
import { PATIENCE_MS } from '../../../testkit/wait.ts'
import { manifestPlace } from '../kubernetes/manifest-place.ts'
import { writeChart } from './chart.ts'

const program = hasCluster() ? helmProgram() : null
const execute = promisify(execFile)

describe.runIf(program !== null)('charts of a registry', { timeout: PATIENCE_MS }, () => {
  test('are read by digest and by version, with the operator’s credentials, from where the deployer may fetch', async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'phaseline-oci-'))
    const authority = await createAuthority(folder)
    await using registry = await startRegistry(await authority.issue('registry'))
    if (!registry) return context.skip()
    const { host, credentials } = registry
    const helm = program ?? ''
    await writeChart(join(folder, 'shop'))
    await execute(helm, ['package', join(folder, 'shop'), '-d', folder])
    const trust = [`--registry-config=${credentials}`, `--ca-file=${authority.caFile}`]
    const pushed = await execute(helm, ['push', join(folder, 'shop-1.2.3.tgz'), `oci://${host}/charts`, ...trust])
    const [digest = ''] = /sha256:[0-9a-f]{64}/.exec(pushed.stdout + pushed.stderr) ?? []

    const place = (registries: string | undefined) =>
      manifestPlace((options) =>
        helmWork({
          ...{ ...options, charts: { folder: undefined, repositories: [`oci://${host}/charts`] } },
          helm: {
            ...{ program: helm, env: { ...process.env, SSL_CERT_FILE: authority.caFile }, registries },
            ...{ timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES },
          },
        }),
      )
    await using at = await place(credentials)
    const chart = `oci://${host}/charts/shop`
    const config = {
      ...{ chart: `${chart}@${digest}`, crds: 'skip' },
      // Settings of single objects need no change of the chart.
      policies: [{ kind: 'ConfigMap', name: 'it-extra', policy: 'ignore' }],
      readiness: [{ kind: 'Deployment', ready: 'has(object.status.observedGeneration)' }],
    }
    const byDigest = await at.deploy(config)
    expect([byDigest.error, byDigest.outcome]).toMatchObject(['undefined: undefined', { phase: 'SUCCEEDED' }])
    expect(await at.find('configmaps', 'it-settings')).not.toBeNull()
    expect(await at.find('configmaps', 'it-extra')).toBeNull()
    const byVersion = await at.deploy({ chart, version: '~1.2.0', crds: 'skip' })
    expect([byVersion.error, byVersion.outcome]).toMatchObject(['undefined: undefined', { phase: 'SUCCEEDED' }])

    const refused = async (given: object) => (await at.deploy({ crds: 'skip', ...given })).error
    expect(await refused({ chart: `${chart}@${digest.replace(/.{8}$/, '00000000')}` })).toMatch(
      /^HELM_FAILED: .*not found/,
    )
    expect(await refused({ chart: `oci://${host}/others/shop@${digest}` })).toMatch(
      /^HELM_CHART: Charts are not fetched/,
    )
    await using without = await place(undefined)
    const anonymous = await without.deploy({ chart: `${chart}@${digest}`, crds: 'skip' })
    expect(anonymous.error).toMatch(/^HELM_FAILED: .*(401|unauthorized|credential)/i)
    await at.remove()
    await rm(folder, { recursive: true })
  })

  test('credentials reach no message', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'phaseline-oci-'))
    const registries = join(folder, 'config.json')
    const auth = Buffer.from('user:marker of a password').toString('base64')
    await writeFile(registries, JSON.stringify({ auths: { '127.0.0.1:1': { auth } } }))
    await using at = await manifestPlace((options) =>
      helmWork({
        ...{ ...options, charts: { folder: undefined, repositories: ['oci://127.0.0.1:1/charts'] } },
        helm: {
          ...{ program: program ?? '', env: process.env, registries },
          ...{ timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES },
        },
      }),
    )
    const { error, lines } = await at.deploy({ chart: 'oci://127.0.0.1:1/charts/shop', version: '1.0.0' })
    expect(error).toMatch(/^HELM_FAILED/)
    for (const text of [error, ...lines]) {
      expect(text).not.toContain('marker of a password')
      expect(text).not.toContain(auth)
    }
    await rm(folder, { recursive: true })
  })
})
