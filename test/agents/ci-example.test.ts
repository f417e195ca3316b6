import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { KubeConfig } from '@kubernetes/client-node'
import Docker from 'dockerode'
import { extract } from 'tar-stream'
import { describe, expect, it } from 'vitest'
import type { Client } from '../../src/client/index.ts'
import { kubernetesPlace, MACHINE } from '../runtimes/kubernetes-place.ts'
import { present } from '../testkit/ask.ts'
import { hasCluster } from '../testkit/cluster.ts'
import { engineSocket } from '../testkit/container-engine.ts'
import { importNodeImage } from '../testkit/git-image.ts'
import { gql } from '../testkit/gql.ts'
import { NODE_IMAGE, provideNodeImage } from '../testkit/node-image.ts'
import { freePort } from '../testkit/redis.ts'
import { startServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

const EXAMPLE = join(import.meta.dirname, '../../examples/ci')
const TOKEN = 'the-token-that-packages-are-signed-with'

async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), 'phaseline-ci-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) }
}

/** The files of a compressed archive, by their paths. */
async function filesIn(archive: Buffer): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>()
  const entries = extract()
  entries.end(gunzipSync(archive))
  for await (const entry of entries) files.set(entry.header.name, await buffer(entry))
  return files
}

interface RunOptions {
  readonly script?: string
  readonly env: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  /** The test's own signal: an abort ends the program. */
  readonly signal: AbortSignal
}
/** Runs the command of the example's README to its end. */
async function runExample({ script = 'run.mjs', env, args = [], signal }: RunOptions) {
  const child = spawn(process.execPath, [join(EXAMPLE, script), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PUBLISH_TOKEN: TOKEN, ...env },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  signal.addEventListener('abort', () => child.kill('SIGTERM'))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}

const READ = gql(`{
  event: objectByPath(project: "ci", kind: EVENT, path: ["event-1"]) { phase ... on Event { worker { phase exitCode } } }
  objects(filter: { project: "ci", kinds: [JOB] }, first: 10) {
    edges { node { name phase ... on Job { exitCode resources { removedAt } } } }
  }
  phaseChanges(filter: { project: "ci", kinds: [JOB] }, first: 100) { edges { node { sequence name from to } } }
}`)
/** The only event that has ever been, its jobs by name, and their phase changes. */
async function read(client: Client) {
  const { event, objects, phaseChanges } = await client.query(READ)
  const jobs = Object.fromEntries(present(objects).edges.map(({ node }) => [node.name, node]))
  return { event, jobs, changes: present(phaseChanges).edges.map(({ node }) => node) }
}
const phasesOf = (jobs: Readonly<Record<string, { readonly phase: string }>>) =>
  Object.fromEntries(Object.entries(jobs).map(([name, { phase }]) => [name, phase]))

describe('the example of a build', () => {
  it('makes a package by one command, on a server that it starts and ends', async ({ signal }) => {
    await using data = await temporaryFolder()
    const port = String(await freePort())
    const { code, output } = await runExample({ env: { PHASELINE_DATA: data.path, PORT: port }, signal })
    expect(output).toContain('pack SUCCEEDED')
    expect(code).toBe(0)
    await expect(fetch(`http://127.0.0.1:${port}/readyz`)).rejects.toThrow()

    const made = await filesIn(await readFile(join(data.path, 'ci', 'dist.tar.gz')))
    const tarball = present(made.get('word-count-1.0.0.tgz'))
    expect(gunzipSync(tarball).includes('package/index.js')).toBe(true)
    expect(String(made.get('word-count-1.0.0.tgz.sig'))).toBe(createHmac('sha256', TOKEN).update(tarball).digest('hex'))
    expect(output).toContain('pack | signed word-count-1.0.0.tgz with ***')
    expect(output).not.toContain(TOKEN)

    await using server = await startServer({ env: { PHASELINE_DATA: data.path } })
    const { event, jobs, changes } = await read(server.client)
    expect(event).toEqual({ phase: 'SUCCEEDED', worker: { phase: 'SUCCEEDED', exitCode: 0 } })
    expect(phasesOf(jobs)).toEqual({ lint: 'SUCCEEDED', test: 'SUCCEEDED', pack: 'SUCCEEDED' })
    const before = changes.slice(
      0,
      changes.findIndex(({ name }) => name === 'pack'),
    )
    const ended = before.filter(({ to }) => to === 'SUCCEEDED').map(({ name }) => name)
    expect(ended.toSorted()).toEqual(['lint', 'test'])
  })

  it('ends with the first failed job: running ones are cancelled, and nothing is packed', async ({ signal }) => {
    await using copy = await temporaryFolder()
    await using server = await startServer({ env: { PHASELINE_PROCESS_RUNTIME: 'trusted' } })
    await cp(EXAMPLE, copy.path, { recursive: true })
    const change = async (file: string, edit: (text: string) => string) => {
      const path = join(copy.path, 'package', file)
      await writeFile(path, edit(await readFile(path, 'utf8')))
    }
    // The test fails once lint runs, and lint runs until it is cancelled: they end only if both run at the same time.
    await change('package.json', (text) => text.replace(/"lint": ".*"/, '"lint": "touch lint-runs && sleep 600"'))
    await change(
      'index.test.js',
      (text) => `${text}
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
test('is broken', async () => {
  while (!existsSync('lint-runs')) await pause(10)
  assert.fail('on purpose')
})
`,
    )
    const { code, output } = await runExample({
      env: { PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token, PHASELINE_DATA: copy.path },
      args: [copy.path],
      signal,
    })
    expect(output).toContain('No package: test is FAILED.')
    expect(output).toContain('test | ✖ is broken')
    expect(code).toBe(1)
    const { event, jobs, changes } = await read(server.client)
    expect(event).toEqual({ phase: 'FAILED', worker: { phase: 'FAILED', exitCode: 1 } })
    expect(phasesOf(jobs)).toEqual({ lint: 'ABORTED', test: 'FAILED' })
    expect(jobs.test?.exitCode).toBe(1)
    expect(changes.map(({ name }) => name)).not.toContain('pack')
    await until(async () => (await read(server.client)).jobs.lint?.resources?.every(({ removedAt }) => removedAt), {
      what: 'nothing of lint is left',
    })
  })

  it('builds the commit of a push, from a repository that it makes', async ({ signal }) => {
    const { code, output } = await runExample({ script: 'run-repository.mjs', env: {}, signal })
    expect(output).toContain('pack SUCCEEDED')
    expect(code).toBe(0)
    expect(output).toMatch(/GitHub pushes to http:.*\/hooks\/ci\/github\nit gets 202 /)
    expect(output).toMatch(/ACCEPTED .*event-1/)
    expect(output).toMatch(/dist +pack +\d+ bytes/)
    const [, commit] = /its commit is ([0-9a-f]{40})/.exec(output) ?? []
    expect(output).toContain(`it has built the commit ${commit}`)
    expect(output).not.toContain(TOKEN)
  })

  const socket = engineSocket()
  it.runIf(socket)('makes the package in containers, and leaves none of them', async ({ signal }) => {
    await provideNodeImage(socket ?? '')
    const { code, output } = await runExample({
      script: 'run-containers.mjs',
      env: { DOCKER_HOST: `unix://${socket}` },
      args: [NODE_IMAGE],
      signal,
    })
    expect(output).toContain('pack SUCCEEDED')
    expect(output).toContain('test | ✔')
    expect(output).toMatch(/dist +pack +\d+ bytes/)
    expect(output).toContain('pack | signed word-count-1.0.0.tgz with ***')
    expect(output).not.toContain(TOKEN)
    expect(code).toBe(0)
    expect(output).toContain('are removed')
    const cloned = await runExample({
      script: 'run-repository.mjs',
      env: { DOCKER_HOST: `unix://${socket}` },
      args: [NODE_IMAGE],
      signal,
    })
    expect(cloned.output).toContain('it has built the commit')
    expect(cloned.code).toBe(0)
    const docker = new Docker({ socketPath: socket ?? '' })
    const containers = await docker.listContainers({ all: true, filters: { ancestor: [NODE_IMAGE] } })
    expect(containers.map(({ Names }) => Names)).toEqual([])
  })

  it.runIf(hasCluster())('builds the commit of a push in pods, and leaves none of them', async ({ signal }) => {
    const { KUBECONFIG = '' } = process.env
    await importNodeImage(KUBECONFIG)
    await using at = await kubernetesPlace()
    await using folder = await temporaryFolder()
    const config = new KubeConfig()
    config.loadFromFile(KUBECONFIG)
    config.contexts = config.contexts.map((context) => ({ ...context, namespace: at.namespace }))
    const kubeconfig = join(folder.path, 'kubeconfig')
    await writeFile(kubeconfig, config.exportConfig())
    const pods = join(folder.path, 'pods.yaml')
    const workspace = { storageClassName: at.namespace }
    await writeFile(pods, JSON.stringify({ imagePullPolicy: 'Never', security: 'root-allowed', workspace }))
    const { code, output } = await runExample({
      script: 'run-repository.mjs',
      env: { KUBECONFIG: kubeconfig },
      args: [NODE_IMAGE, MACHINE, pods],
      signal,
    })
    expect(code, output).toBe(0)
    expect(output).toContain('pack SUCCEEDED')
    expect(output).toMatch(/dist +pack +\d+ bytes/)
    expect(output).toContain('pack | signed word-count-1.0.0.tgz with ***')
    const [, commit] = /its commit is ([0-9a-f]{40})/.exec(output) ?? []
    expect(output).toContain(`it has built the commit ${commit}`)
    expect(output).not.toContain(TOKEN)
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
  })
})
