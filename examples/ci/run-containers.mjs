#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { interrupted, say, startRuntime, startServer, title, untilRemoved } from '../lib/story.mjs'

/**
 * node examples/ci/run-containers.mjs [IMAGE]: the same build with each worker and job in a container of Docker or Podman
 * (DOCKER_HOST). Brings its own server and runtime, and runs run.mjs there. The image has Node, npm and a shell.
 */

const IMAGE = process.argv[2] ?? 'node:24'
const TYPE = 'container'
/** Removes ended containers at once, since nobody reads them afterwards. */
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
  const { DOCKER_HOST: engine } = process.env
  // Its containers share the network of this machine: the server listens on loopback alone.
  const options = { network: 'host', ...(engine ? { engine } : {}) }
  await startRuntime(client, end, { type: TYPE, url, state: join(folder, 'runtime'), options })
  const example = join(folder, 'ci')
  await cp(import.meta.dirname, example, { recursive: true })
  const project = join(example, 'project.yaml')
  await writeFile(project, inContainers(await readFile(project, 'utf8')))
  const child = spawn(process.execPath, [join(import.meta.dirname, 'run.mjs'), example, '{}'], {
    env: { ...process.env, PHASELINE_URL: url, PHASELINE_TOKEN: token, PHASELINE_DATA: join(folder, 'made') },
    stdio: 'inherit',
  })
  interrupted.signal.addEventListener('abort', () => child.kill('SIGTERM'))
  const code = await new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)))
  await untilRemoved(client)
  say('its containers and their volume are removed')
  return code
}

/** Jobs have the worker's runtime, but their image is theirs to choose: the worker finds it in its environment. */
function inContainers(text) {
  const start = 'workerTemplate:\n'
  const more = `  runtime: ${TYPE}\n  image: ${IMAGE}\n  env: { JOB_IMAGE: '${IMAGE}' }\n`
  return text.replace(start, start + more)
}
