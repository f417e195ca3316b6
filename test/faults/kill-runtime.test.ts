import { readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CoreV1EventList } from '@kubernetes/client-node'
import { test } from 'vitest'
import { containerName } from '../../src/families/pipelines/agents/container/container-of.ts'
import { workloadName } from '../../src/families/pipelines/agents/kubernetes/names.ts'
import { processesOf } from '../agents/process-place.ts'
import { containerPlace } from '../runtimes/container-place.ts'
import { kubernetesPlace, USER } from '../runtimes/kubernetes-place.ts'
import { apiServerFile, restartApiServer } from '../testkit/api-server.ts'
import { canIsolate } from '../testkit/bubblewrap.ts'
import { CLUSTER_IMAGE, hasCluster } from '../testkit/cluster.ts'
import { engineSocket, IMAGE, provideImage } from '../testkit/container-engine.ts'
import { soak } from '../testkit/soak.ts'
import { until } from '../testkit/wait.ts'
import { countStarts } from './count-starts.ts'
import { killRuntime } from './killed-runtime.ts'

/** In the long form as many kills as they all show, and between two there is time for some work. */
const KILLS = { fewestKills: 20, mostKills: 20, atOnce: 25 }
const LONG = soak({ mostKills: 8 }, { ...KILLS, pauseMs: 4_000, seconds: 2 })

test('kill -9 of engine and process runtime: each workload ends, none runs twice, nothing is left', {
  timeout: soak(240_000, 3_600_000),
}, async () => {
  const state = await mkdtemp(join(tmpdir(), 'phaseline-runtime-'))
  const levels = (await canIsolate()) ? ['isolated', 'trusted'] : ['trusted']
  let starts = 0
  await killRuntime({
    type: 'process',
    events: soak(24, 200),
    ...LONG,
    // Each runtime adopts what runs, at whatever level the one before it has started it.
    agent: () => ({ state, options: { isolation: levels[starts++ % levels.length] } }),
    leftovers: async (ids) => [
      ...readdirSync(join(state, 'workloads')),
      ...readdirSync(join(state, 'workspaces')),
      ...ids.flatMap((id) => processesOf(id)),
    ],
  })
  await rm(state, { recursive: true })
})

const socket = engineSocket()
test.runIf(socket)('the same of the container runtime', { timeout: 3_600_000 }, async () => {
  await provideImage(socket ?? '')
  await using at = await containerPlace(socket ?? '')
  using started = await countStarts(socket ?? '')
  await killRuntime({
    type: 'container',
    events: soak(8, 200),
    ...LONG,
    image: IMAGE,
    agent: () => ({ state: at.state, options: { engine: `unix://${socket}`, network: 'none', memory: '64m' } }),
    starts: (ids) => started.of(ids.map(containerName)),
    // The agents of the test have taken the name of the place from its folder, as this one does.
    leftovers: async () => {
      await at.open()
      return await at.leftovers()
    },
  })
})

test.runIf(hasCluster())(
  'the same of the kubernetes runtime, whose API server goes away in the long form',
  {
    timeout: 3_600_000,
  },
  async () => {
    await using at = await kubernetesPlace()
    const { namespace, api, path } = at
    const folder = await mkdtemp(join(tmpdir(), 'phaseline-pods-'))
    const pods = join(folder, 'pods.yaml')
    await writeFile(pods, JSON.stringify({ imagePullPolicy: 'Never', runAsUser: USER }))
    const file = soak(undefined, apiServerFile())
    await killRuntime({
      type: 'kubernetes',
      events: soak(4, 200),
      image: CLUSTER_IMAGE,
      // It takes seconds until a pod runs: a runtime that lives no longer would never see one.
      ...soak({ mostKills: 2, pauseMs: 3_000 }, { ...KILLS, pauseMs: 8_000, seconds: 4 }),
      sharesWorkspace: false,
      agent: () => ({
        options: { instance: namespace, replica: 'one', namespace, pods },
        settings: { KUBECONFIG: process.env.KUBECONFIG ?? '' },
      }),
      ...(file === undefined ? {} : { disturb: () => restartApiServer(file, api, 30_000) }),
      async starts(ids) {
        const query = { fieldSelector: 'reason=Started' }
        const count = async () => {
          const started = await api.get<CoreV1EventList>(path('events'), { query })
          const of = (id: string) =>
            started.items.filter(({ involvedObject }) => involvedObject.name === workloadName(id))
          return ids.map((id) => of(id).reduce((sum, { count = 1 }) => sum + count, 0))
        }
        // A node tells what it has started some time afterwards.
        if (file === undefined) await until(async () => !(await count()).includes(0), { what: 'each start is told' })
        // It gives up what the API server did not take in time, and would still tell what it has started once more.
        return (await count()).map((starts) => starts || 1)
      },
      leftovers: () => at.leftovers(),
    })
    await rm(folder, { recursive: true })
  },
)
