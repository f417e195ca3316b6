#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileOf, interrupted, say, startServer, title, until } from '../lib/story.mjs'

/**
 * node examples/ci/run-containers.mjs [IMAGE]: the same build with each worker and job in a container of Docker or Podman
 * (DOCKER_HOST). Brings its own server and runtime, and runs run.mjs there. The image has Node, npm and a shell.
 */

const { startAgentProcess } = await import(fileOf('agents/spawn'))
const { Secret } = await import(fileOf('core/secret'))

const IMAGE = process.argv[2] ?? 'node:24'
const TYPE = 'container'
const CREATE_TOKEN = `mutation ($input: CreateTokenInput!) {
  answer: createToken(input: $input) { ... on CreatedToken { secret } ... on Error { message } }
}`
const RESOURCES = `{ objects(filter: { project: "ci", kinds: [WORKER, JOB] }, first: 100) { edges { node {
  ... on Worker { resources { removedAt } } ... on Job { resources { removedAt } }
} } } }`
/** Nobody looks at what has ended. */
process.env.PHASELINE_CLEANUP_DELAY_MS ??= '100'

await using end = new AsyncDisposableStack()
try {
  process.exitCode = await main()
} catch (error) {
  console.error(`\n${error.message}`)
  process.exitCode = 1
}

async function main() {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-ci-'))
  end.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  title('A server, and a runtime of containers')
  const { client, token, url } = await startServer(join(folder, 'data'), end)
  await startRuntime(client, url, join(folder, 'runtime'))
  const example = join(folder, 'ci')
  await cp(import.meta.dirname, example, { recursive: true })
  const project = join(example, 'project.yaml')
  await writeFile(project, inContainers(await readFile(project, 'utf8')))
  const child = spawn(process.execPath, [join(import.meta.dirname, 'run.mjs'), example, '--no-artifacts'], {
    env: { ...process.env, PHASELINE_URL: url, PHASELINE_TOKEN: token },
    stdio: 'inherit',
  })
  interrupted.signal.addEventListener('abort', () => child.kill('SIGTERM'))
  const code = await new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)))
  await until('its containers are removed', async () => (await leftOf(client)) === 0)
  say('its containers and their volume are removed')
  return code
}

/** How many containers and volumes are to be removed. */
async function leftOf(client) {
  const { objects } = await client.query(RESOURCES)
  return objects.edges.flatMap(({ node }) => node.resources ?? []).filter(({ removedAt }) => !removedAt).length
}

/** Its containers share the network of this machine: the server listens on loopback alone. */
async function startRuntime(client, url, state) {
  const input = { name: 'containers', role: 'AGENT', actor: 'RUNTIME', types: [TYPE] }
  const { answer } = await client.query(CREATE_TOKEN, { input })
  if (!answer.secret) throw new Error(answer.message)
  const { DOCKER_HOST: engine } = process.env
  const options = { network: 'host', ...(engine ? { engine } : {}) }
  const onEvent = (event) => event.type === 'said' && say(`runtime: ${event.line}`)
  end.use(startAgentProcess({ types: [TYPE], url, token: new Secret(answer.secret), state, options, onEvent }))
}

/** Jobs have the worker's runtime, but their image is theirs to choose: the worker finds it in its environment. */
function inContainers(text) {
  const start = 'workerTemplate:\n'
  const more = `  runtime: ${TYPE}\n  image: ${IMAGE}\n  env: { JOB_IMAGE: '${IMAGE}' }\n`
  return text.replace(start, start + more)
}
