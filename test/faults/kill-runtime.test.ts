import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { processesOf } from '../agents/process-place.ts'
import { containerPlace } from '../runtimes/container-place.ts'
import { canIsolate } from '../testkit/bubblewrap.ts'
import { engineSocket, IMAGE, provideImage } from '../testkit/container-engine.ts'
import { soak } from '../testkit/soak.ts'
import { killRuntime } from './killed-runtime.ts'

test('kill -9 of engine and process runtime: each workload ends, none runs twice, nothing is left', {
  timeout: 240_000,
}, async () => {
  const state = await mkdtemp(join(tmpdir(), 'phaseline-runtime-'))
  const levels = (await canIsolate()) ? ['isolated', 'trusted'] : ['trusted']
  let starts = 0
  await killRuntime({
    type: 'process',
    events: soak(80, 200),
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
test.runIf(socket)('the same of the container runtime', { timeout: 600_000 }, async () => {
  await provideImage(socket ?? '')
  await using at = await containerPlace(socket ?? '')
  const kills = await killRuntime({
    type: 'container',
    events: soak(20, 200),
    image: IMAGE,
    agent: () => ({ state: at.state, options: { engine: `unix://${socket}`, network: 'none', memory: '64m' } }),
    // The agents of the test have taken the name of the place from its folder, as this one does.
    leftovers: async () => {
      await at.open()
      return await at.leftovers()
    },
  })
  expect(kills).toBeGreaterThan(0)
})
