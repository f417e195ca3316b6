import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import LongestFirst from './test/testkit/longest-first.ts'
import { PATIENCE_MS } from './test/testkit/wait.ts'
import { DEEP, LANDING, UNIT } from './test/tiers.ts'

const SERVERS = {
  globalSetup: ['test/testkit/global-setup.ts'],
  setupFiles: ['test/testkit/check-rows.ts'],
}
const deep = Object.values(DEEP).flatMap(({ files }) => files)
const isFifthFamily = (file: string): boolean => file.startsWith('test/fifth-family/')
// No file changes what another one could see, so a worker loads the code once, as Node itself would, and keeps it.
const project = (name: string, include: readonly string[], more: object = { isolate: false }) => ({
  extends: true as const,
  test: { name, include: [...include], ...more },
})

export default defineConfig({
  test: {
    pool: 'forks',
    projects: [
      project('unit', UNIT),
      project('landing', LANDING, { ...SERVERS, isolate: false }),
      project(
        'deep',
        deep.filter((file) => !isFifthFamily(file)),
        { ...SERVERS, isolate: false },
      ),
      // Its words are those of the process that loads it, and a database without it does not know them.
      project('fifth family', deep.filter(isFifthFamily), { ...SERVERS, isolate: true }),
    ],
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ['--import', fileURLToPath(new URL('test/testkit/source.ts', import.meta.url))],
    sequence: { sequencer: LongestFirst },
    // One for each core of the machines that judge a change: with a third one, tests of time fail under its load.
    maxWorkers: 2,
    // Time is never what a test asserts: these limits end what hangs, on a machine five times as slow as usual too.
    testTimeout: 2 * PATIENCE_MS,
    hookTimeout: 2 * PATIENCE_MS,
    expect: { poll: { timeout: PATIENCE_MS } },
  },
})
