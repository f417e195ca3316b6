import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import LongestFirst from './test/testkit/longest-first.ts'
import { unitTests } from './test/testkit/unit-tests.ts'
import { PATIENCE_MS } from './test/testkit/wait.ts'

const FIFTH_FAMILY = 'test/fifth-family/**/*.test.ts'

/** They need no server, so nothing is started for them: `vitest --project unit`. */
const UNIT = unitTests()
const SERVERS = {
  globalSetup: ['test/testkit/global-setup.ts'],
  setupFiles: ['test/testkit/check-rows.ts'],
}

export default defineConfig({
  test: {
    pool: 'forks',
    projects: [
      // No file changes what another one could see, so a worker loads the code once, as Node itself would, and keeps it.
      { extends: true, test: { name: 'unit', isolate: false, include: [...UNIT] } },
      {
        extends: true,
        test: {
          ...SERVERS,
          name: 'phaseline',
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: [FIFTH_FAMILY, ...UNIT],
        },
      },
      // Its words are those of the process that loads it, and a database without it does not know them.
      { extends: true, test: { ...SERVERS, name: 'fifth family', isolate: true, include: [FIFTH_FAMILY] } },
    ],
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ['--import', fileURLToPath(new URL('test/testkit/source.ts', import.meta.url))],
    sequence: { sequencer: LongestFirst },
    // Many tests wait for leases and clocks: a third worker keeps two cores busy.
    maxWorkers: 3,
    // Time is never what a test asserts: these limits end what hangs, on a machine five times as slow as usual too.
    testTimeout: 2 * PATIENCE_MS,
    hookTimeout: 2 * PATIENCE_MS,
    expect: { poll: { timeout: PATIENCE_MS } },
  },
})
