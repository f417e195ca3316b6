import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasGo } from '../../testkit/go.ts'
import { GO_AGENT } from './agent-process.ts'
import { boundsItsAnswers, conformance, survivesExits } from './conformance.ts'
import { runAgentOfPage } from './how-to.ts'

const MODULE = join(import.meta.dirname, '../../../clients/go')
const PROGRAM = join(import.meta.dirname, 'agent.go')
const BUILD_MS = 300_000

/** Nothing is downloaded, and no compiler of C is needed. */
const env = { ...process.env, CGO_ENABLED: '0', GOPROXY: 'off', GOFLAGS: '', GOWORK: 'off' }
const run = async (command: string, args: readonly string[], cwd = MODULE): Promise<string> =>
  (await promisify(execFile)(command, [...args], { cwd, env })).stdout

describe.skipIf(!hasGo())('an agent in Go', () => {
  beforeAll(() => run('go', ['build', '-o', GO_AGENT, PROGRAM]), BUILD_MS)
  afterAll(() => rm(GO_AGENT, { force: true }))

  conformance('Go')
  boundsItsAnswers('Go')
  survivesExits('Go', 'work that ends its goroutine fails alone', 'ended its goroutine')

  test('gofmt and go vet find nothing', { timeout: BUILD_MS }, async () => {
    await run('go', ['vet', './...'])
    await run('go', ['vet', PROGRAM])
    expect(await run('gofmt', ['-l', '.', PROGRAM])).toBe('')
  })

  test('the agent of the page works', { timeout: BUILD_MS }, () =>
    runAgentOfPage({
      ...{ page: 'agent-in-go.md', file: 'greeter.go', env: {} },
      async prepare(folder) {
        await run('go', ['mod', 'init', 'greeter'], folder)
        await run('go', ['mod', 'edit', '-replace', `github.com/phaseline/phaseline/clients/go=${MODULE}`], folder)
        await run('go', ['mod', 'tidy'], folder)
        await run('go', ['build', '-o', 'greeter'], folder)
        return [join(folder, 'greeter')]
      },
    }),
  )
})
