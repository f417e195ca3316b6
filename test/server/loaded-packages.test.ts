import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { packagesOf, recording } from '../testkit/recorded-modules.ts'
import { startServer } from '../testkit/server.ts'

/** Packages for container engines and clusters: megabytes of code that most servers never need. */
const HEAVY = ['@kubernetes/client-node', 'docker-modem', 'dockerode', 'tar-stream']

const source = (file: string): string => pathToFileURL(join(import.meta.dirname, '../../src', file)).href

const heavyOf = (modules: readonly string[]) => HEAVY.filter((name) => packagesOf(modules).has(name))

async function loadedBy(files: readonly string[]): Promise<readonly string[]> {
  await using recorded = await recording()
  const load = files.map((file) => `await import(${JSON.stringify(source(file))})`).join(';')
  execFileSync(process.execPath, ['--input-type=module', '-e', load], { env: { ...process.env, ...recorded.env } })
  return await recorded.modules()
}

test('a server loads no package of the other runtimes and deployers', async () => {
  await using recorded = await recording()
  const began = performance.now()
  await using server = await startServer({ env: recorded.env })
  const readyMs = Math.round(performance.now() - began)
  await server.client.query('{ viewer { name } }', {})
  await server.stop()
  const modules = await recorded.modules()
  console.log(`the server has loaded ${modules.length} modules, and was ready after ${readyMs} ms`)
  expect([...packagesOf(modules)]).toEqual(expect.arrayContaining(['graphql', 'pg']))
  expect(heavyOf(modules)).toEqual([])
})

test('nor do its built-in agents, but the programs that need them do', async () => {
  const [builtIn, others] = await Promise.all([
    loadedBy(['families/pipelines/agents/index.ts', 'families/deployments/agents/index.ts']),
    loadedBy(['container', 'kubernetes'].map((name) => `families/pipelines/agents/${name}/program.ts`)),
  ])
  expect(builtIn).toContain(source('families/pipelines/agents/process/process-runtime.ts'))
  expect(heavyOf(builtIn)).toEqual([])
  expect(heavyOf(others)).toEqual(HEAVY)
  console.log(`built-in agents load ${builtIn.length} modules, runtimes of containers and pods ${others.length}`)
})
