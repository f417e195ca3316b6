import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import LongestFirst from './test/testkit/longest-first.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/testkit/global-setup.ts'],
    setupFiles: ['test/testkit/check-rows.ts'],
    pool: 'forks',
    // No file changes what another one could see, so a worker loads the code once, as Node itself would, and keeps it.
    isolate: false,
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ['--import', fileURLToPath(new URL('test/testkit/source.ts', import.meta.url))],
    sequence: { sequencer: LongestFirst },
    // Many tests wait for leases and clocks: a third worker keeps two cores busy.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 15_000 } },
  },
})
