import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import LongestFirst from './test/testkit/longest-first.ts'
import { PATIENCE_MS } from './test/testkit/wait.ts'
import { DEEP, LANDING, TIMING, UNIT } from './test/tiers.ts'

const SEED = 'test/testkit/seed.ts'
const SERVERS = {
  globalSetup: ['test/testkit/global-setup.ts'],
  setupFiles: [SEED, 'test/testkit/check-rows.ts'],
}
const deep = Object.values(DEEP).flatMap(({ files }) => files)
const isFifthFamily = (file: string): boolean => file.startsWith('test/fifth-family/')
// No file changes what another one could see, so a worker loads the code once, as Node itself would, and keeps it.
const project = (name: string, include: readonly string[], more: object) => ({
  extends: true as const,
  test: { name, include: [...include], ...more },
})

export default defineConfig({
  test: {
    pool: 'forks',
    projects: [
      project('unit', UNIT, { setupFiles: [SEED], isolate: false }),
      project('landing', LANDING, { ...SERVERS, isolate: false }),
      // Alone, after all others.
      project('timing', TIMING, { ...SERVERS, isolate: false, maxWorkers: 1, sequence: { groupOrder: 1 } }),
      project(
        'deep',
        deep.filter((file) => !isFifthFamily(file)),
        { ...SERVERS, isolate: false },
      ),
      // Its words are those of the process that loads it, and a database without it does not know them.
      project('fifth family', deep.filter(isFifthFamily), { ...SERVERS, isolate: true }),
    ],
    runner: 'test/testkit/measuring-runner.ts',
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ['--import', fileURLToPath(new URL('test/testkit/source.ts', import.meta.url))],
    sequence: { sequencer: LongestFirst },
    // More than the two cores of the machines that judge a change: tests wait for leases and delays for a third of their time.
    maxWorkers: 3,
    // Time is never what a test asserts: these limits end what hangs, on a machine five times as slow as usual too.
    testTimeout: 2 * PATIENCE_MS,
    hookTimeout: 2 * PATIENCE_MS,
    expect: { poll: { timeout: PATIENCE_MS } },
  },
})
