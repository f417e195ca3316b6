import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { startAgentProcess } from '../../src/agents/spawn.ts'
import { Secret } from '../../src/core/secret.ts'
import { commandLine } from '../cli/command.ts'
import { kubernetesPlace } from '../runtimes/kubernetes-place.ts'
import { ask, present } from '../testkit/ask.ts'
import { CLUSTER_IMAGE, hasCluster } from '../testkit/cluster.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { SECRET_KEY, startServer } from '../testkit/server.ts'
import { PATIENCE_MS, until } from '../testkit/wait.ts'
import { addEvent, runtimeToken, sh, startRuntime, untilOver } from './event-jobs.ts'
import { place } from './process-place.ts'

/** Artifacts and caches of jobs in pods, whose worker is a process. */

const LARGE = 40_000_000

/** A server and the runtimes of its workers and jobs. The one of pods may be killed, and started again. */
async function podsWorld() {
  await using made = new AsyncDisposableStack()
  const { pool, url: DATABASE_URL } = made.use(await createTestDatabase(2))
  const server = made.use(
    await startServer({
      env: {
        ...{ DATABASE_URL, PHASELINE_SECRET_KEY: SECRET_KEY, PHASELINE_ROLES: 'gateway,engine' },
        PHASELINE_CLEANUP_DELAY_MS: '100',
      },
    }),
  )
  const processes = made.use(await place())
  const at = made.use(await kubernetesPlace())
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-pods-'))
  made.defer(() => rm(folder, { recursive: true }))
  const pods = join(folder, 'pods.yaml')
  await writeFile(pods, JSON.stringify({ imagePullPolicy: 'Never', security: 'root-allowed' }))
  const input = { name: 'pods', role: 'AGENT', actor: 'RUNTIME', types: ['kubernetes'] } as const
  const token = new Secret((await ask(server.client, MUTATIONS.createToken, input)).secret)
  const { namespace } = at
  const startPods = () =>
    startAgentProcess({
      ...{ types: ['kubernetes'], url: server.url, token, graceMs: 300, leaseMs: 8_000 },
      options: { instance: namespace, replica: 'one', namespace, pods },
      settings: { KUBECONFIG: process.env.KUBECONFIG ?? '' },
    })
  made.use(startRuntime(server.url, await runtimeToken(server), processes.state))
  const killed = startPods()
  const disposal = made.move()
  return {
    ...{ pool, server, at },
    async restartPods() {
      process.kill(present(killed.pid), 'SIGKILL')
      await killed.close()
      disposal.use(startPods())
    },
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  }
}
const inPod = (script: string, more: object) => sh(script, { runtime: 'kubernetes', image: CLUSTER_IMAGE, ...more })

/** The database refuses the end of this job, as long as it is not disposed of. */
async function refuseEnd(pool: Pool, name: string) {
  await pool.query(`
    create sequence refused;
    create function refuse_end() returns trigger language plpgsql as $$ begin
      perform nextval('refused');
      raise exception using errcode = 'disk_full', message = 'could not extend file';
    end $$;
    create trigger refuse_end before update on object for each row
      when (new.name = '${name}' and new.phase = 'SUCCEEDED' and old.phase <> 'SUCCEEDED') execute function refuse_end();`)
  return {
    count: async () => Number((await pool.query('select last_value as count from refused')).rows[0].count),
    [Symbol.asyncDispose]: async () =>
      void (await pool.query('drop trigger refuse_end on object; drop function refuse_end(); drop sequence refused')),
  }
}

test.runIf(hasCluster())(
  'a job in a pod whose runtime is killed between its upload and its report has succeeded',
  { timeout: PATIENCE_MS },
  async () => {
    await using world = await podsWorld()
    const { pool, server, at } = world
    const leaves = { artifacts: [{ name: 'dist', path: 'dist' }] }
    let id = ''
    {
      await using refused = await refuseEnd(pool, 'build')
      id = await addEvent(server, [['build', inPod('echo built > dist', leaves)]])
      await until(async () => (await refused.count()) > 3, { what: 'its report is refused' })
      await world.restartPods()
    }
    const jobs = await untilOver(server, id)
    expect(jobs.get('build')).toMatchObject({ phase: 'SUCCEEDED', error: null })
    expect(jobs.get('build')?.artifacts.edges.map(({ node }) => node.name)).toEqual(['dist'])
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
  },
)

test.runIf(hasCluster())(
  'jobs in pods leave, take and cache, although their runtime is killed while it uploads; nothing is left of them',
  { timeout: PATIENCE_MS },
  async () => {
    await using world = await podsWorld()
    const { pool, server, at } = world
    const caches = [{ key: 'npm-1', path: '.npm' }]
    const id = await addEvent(server, [
      [
        'build',
        inPod(`head -c ${LARGE} /dev/urandom > dist; mkdir .npm; echo kept > .npm/of`, {
          ...{ caches, artifacts: [{ name: 'dist', path: 'dist' }] },
        }),
      ],
      ['test', inPod('wc -c < in/dist; cat .npm/of', { caches, takes: [{ artifact: 'dist', path: 'in/dist' }] })],
    ])
    await until(async () => (await pool.query('select from artifact_chunk offset 3 limit 1')).rowCount, {
      what: 'it uploads',
    })
    await world.restartPods()
    const jobs = await untilOver(server, id)
    expect([...jobs.values()].map(({ phase, error }) => [phase, error])).toEqual([
      ['SUCCEEDED', null],
      ['SUCCEEDED', null],
    ])
    const phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
    const said = (await phaseline('event logs shop/event-1 --job test')).out
    expect(said).toContain(String(LARGE))
    expect(said).toContain('kept')
    expect((await phaseline('cache list shop')).out).toMatch(/npm-1\s+\d+ bytes/)
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
  },
)
