import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startAgentProcess } from '../../../../src/agents/spawn.ts'
import type { Client } from '../../../../src/client/index.ts'
import { Secret } from '../../../../src/core/secret.ts'
import { helmWork } from '../../../../src/families/deployments/agents/helm/helm-work.ts'
import { startTestApp } from '../../../testkit/app.ts'
import { ask } from '../../../testkit/ask.ts'
import { hasCluster } from '../../../testkit/cluster.ts'
import { MUTATIONS } from '../../../testkit/documents.ts'
import { helmProgram } from '../../../testkit/helm.ts'
import { create, remove, show } from '../../../testkit/mutations.ts'
import { createTestDatabase } from '../../../testkit/postgres.ts'
import { PATIENCE_MS, until } from '../../../testkit/wait.ts'
import { writeChart } from '../helm/chart.ts'
import { account, kubeconfigOf } from './access.ts'
import { configMap, manifestPlace } from './manifest-place.ts'

/** Everything that any process of this user was given. */
async function argumentsAndEnvironments(): Promise<string> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const read = (pid: string, file: string) => readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '')
  const texts = await Promise.all(pids.flatMap((pid) => [read(pid, 'cmdline'), read(pid, 'environ')]))
  return texts.join('\n')
}

const setTarget = (client: Client, name: string, credentials: string) =>
  ask(client, MUTATIONS.setTarget, { name, type: 'kubernetes', credentials })

describe.runIf(hasCluster())('a deployer of targets of projects', { timeout: PATIENCE_MS }, () => {
  test('uses the credentials of each target, and no cluster of its own; nothing shows them', async () => {
    await using at = await manifestPlace()
    await using database = await createTestDatabase(1)
    const settings = { PHASELINE_ROLES: 'gateway,engine', PHASELINE_LOG_LEVEL: 'trace' }
    await using server = await startTestApp({ env: { ...settings, DATABASE_URL: database.url } })
    const { client } = server
    const strong = await account(at, 'strong', { mayWrite: true })
    const weak = await account(at, 'weak', { mayWrite: false })
    await setTarget(client, 'strong', strong.kubeconfig)
    await setTarget(client, 'weak', weak.kubeconfig)
    const input = { name: 'deployer', role: 'AGENT', actor: 'DEPLOYER', types: ['kubernetes-manifest'] } as const
    const token = new Secret((await ask(client, MUTATIONS.createToken, input)).secret)
    const said: string[] = []
    // Its home has no kubeconfig, and nothing names one.
    const home = await mkdtemp(join(tmpdir(), 'phaseline-home-'))
    onTestFinished(() => rm(home, { recursive: true }))
    await using _ = startAgentProcess({
      ...{ types: [...input.types], url: server.url, token, leaseMs: 2_000, env: { ...process.env, HOME: home } },
      options: { 'target-type': 'kubernetes' },
      onEvent: (event) => void (event.type === 'said' && said.push(event.line)),
    })
    const itemOf = (name: string, target?: string) => ({
      deployItems: [
        {
          ...{ name, type: 'kubernetes-manifest', config: { manifests: [configMap(name)] } },
          ...(target === undefined ? {} : { target }),
        },
      ],
    })
    const own = await create(client, 'own', itemOf('own'))
    const plain = await create(client, 'plain', itemOf('plain', 'no-record'))
    const good = await create(client, 'good', itemOf('good', 'strong'))
    const bad = await create(client, 'bad', itemOf('bad', 'weak'))
    const ended = (id: string) =>
      until(async () => ((shown) => (shown?.finished ? shown : null))(await show(client, id)), { what: 'its end' })
    expect(await ended(good)).toMatchObject({ phase: 'SUCCEEDED' })
    expect(await at.find('configmaps', 'good')).not.toBeNull()
    expect(await ended(bad)).toMatchObject({ phase: 'FAILED' })
    const { rows } = await database.pool.query(
      "select error->>'message' as message from object_status join object o on o.id = object_id where kind = 'DEPLOY_ITEM' and name = 'bad'",
    )
    expect(rows).toEqual([{ message: expect.stringMatching(/^Forbidden: .*weak/) }])
    // Neither what has no target nor a target that is only a word.
    for (const id of [own, plain]) expect(await show(client, id)).toMatchObject({ finished: false })
    // New credentials count from the next claim on.
    await setTarget(client, 'weak', strong.kubeconfig)
    await ask(client, MUTATIONS.reconcileInstallation, { id: bad })
    expect(await ended(bad)).toMatchObject({ phase: 'SUCCEEDED' })
    const whileItRan = await argumentsAndEnvironments()
    await remove(client, good)
    await until(async () => (await show(client, good)) === null, { what: 'it is gone' })
    expect(await at.find('configmaps', 'good')).toBeNull()

    const dumped = await dump(database.pool)
    const everywhere = { output: server.output(), agent: said.join('\n'), processes: whileItRan, database: dumped }
    for (const [place, text] of Object.entries(everywhere))
      for (const [name, marker] of [strong, weak].flatMap((one) => [['token', one.token]] as const))
        expect(text.includes(marker), `${name} in ${place}`).toBe(false)
    expect(await readdir(home)).toEqual([])
  })

  test('fails an item whose credentials are not taken, and gives it back where they have been taken before', async () => {
    await using at = await manifestPlace()
    const { kubeconfig, token } = await account(at, 'it', { mayWrite: true })
    const credentials = (secret: string | null, generation = 1, targetType = 'kubernetes') => ({
      ...{ target: 'eu', targetCredentials: { targetId: at.item, targetType, generation, secret } },
    })
    const manifests = [configMap('a')]
    const on = async (more: object, options = {}) => (await at.deploy({ manifests }, more, options)).error
    expect(await on(credentials(kubeconfig))).toMatch(/^undefined/)
    expect(await on(credentials(await kubeconfigOf(`${token}x`, at.namespace)))).toMatch(
      /^KUBERNETES_CREDENTIALS: .*target eu \(generation 1\)/,
    )
    expect(await on(credentials(null))).toMatch(/^KUBERNETES_TARGET: .*no credentials/)
    expect(await on(credentials('{'))).toMatch(/^KUBERNETES_TARGET: .*not valid YAML/)
    expect(await on(credentials(kubeconfig, 1, 'own'))).toMatch(/^KUBERNETES_TARGET: .*eu is of the type own/)
    // One that is waited for, so that its credentials end meanwhile.
    const exports = { later: { kind: 'ConfigMap', name: 'a', path: '.data.later' } }
    const waiting = at.begin({ manifests, exports }, credentials(kubeconfig))
    await until(() => waiting.steps.some((step) => step.includes('.data.later')), { what: 'it waits' })
    await at.api.delete(at.path('serviceaccounts', 'it'))
    expect(await waiting.worked).toMatchObject({
      outcome: { phase: 'PROGRESSING', error: { code: 'KUBERNETES_CREDENTIALS', retryable: true } },
    })
  })

  test.runIf(helmProgram() !== null)('renders and applies a chart with them; helm itself never gets any', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'phaseline-charts-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeChart(join(folder, 'shop'))
    await using at = await manifestPlace((options) =>
      helmWork({
        ...{ ...options, charts: { folder, repositories: [] } },
        helm: {
          ...{ program: helmProgram() ?? '', env: process.env, registries: undefined },
          ...{ timeoutMs: 60_000, maxBytes: 1_000_000 },
        },
      }),
    )
    const { kubeconfig } = await account(at, 'it', { mayWrite: true })
    const more = {
      target: 'eu',
      targetCredentials: { targetId: at.item, targetType: 'kubernetes', generation: 1, secret: kubeconfig },
    }
    // It may write config maps, and nothing else that the chart has.
    const { error } = await at.deploy({ chart: 'shop', crds: 'skip' }, more)
    expect(error).toMatch(/^KUBERNETES_REFUSED: .*Forbidden/)
  })
})

async function dump(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  )
  const texts = await Promise.all(
    rows.map(async ({ name }) =>
      (await pool.query<{ text: string }>(`select t::text as text from "${name}" t`)).rows
        .map(({ text }) => text)
        .join('\n'),
    ),
  )
  return texts.join('\n')
}
