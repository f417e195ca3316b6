import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import LongestFirst from './test/testkit/longest-first.ts'

export default defineConfig({
  // As Node resolves it: otherwise our own modules would get graphql's development build, and packages its usual one.
  resolve: {
    alias: [
      { find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve('graphql')) },
      { find: 'phaseline/manifest', replacement: fileURLToPath(new URL('src/manifest/index.ts', import.meta.url)) },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/testkit/global-setup.ts'],
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    // Many of them wait for leases and clocks: with two cores a third one finds something to do.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 15_000 } },
  },
})
