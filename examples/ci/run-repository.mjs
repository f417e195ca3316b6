#!/usr/bin/env node
import { execFileSync, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveGit } from '../lib/git-http.mjs'
import { interrupted, say, startRuntime, startServer, title, untilRemoved } from '../lib/story.mjs'

/**
 * node examples/ci/run-repository.mjs [IMAGE [ADDRESS [PODS]]]: makes a Git repository of the package and its pipeline, and builds what was pushed to it,
 * from a push as GitHub posts it to a hook.
 * Brings its own server and runtime, and runs run.mjs there. With an image, which has Node, npm and a shell, each worker and each job is a
 * container of Docker or Podman (DOCKER_HOST); with an address of this machine as well, a pod of the cluster of KUBECONFIG, which reaches this
 * machine by it; otherwise a process. PODS is a file with settings of pods. It needs `git`, in pods also in the image.
 */

const [IMAGE, ADDRESS, PODS] = process.argv.slice(2)
const TYPE = ADDRESS ? 'kubernetes' : IMAGE ? 'container' : 'process'
const COMMITS = `{ objects(filter: { project: "ci", kinds: [WORKER] }, first: 1) { edges { node { ... on Worker { commit } } } } }`
/** Nobody reads what has ended. */
process.env.PHASELINE_CLEANUP_DELAY_MS ??= '100'
const AUTHOR = ['-c', 'user.name=example', '-c', 'user.email=example@example.com']

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
  title('A repository')
  const repository = join(folder, 'word-count')
  const commit = await makeRepository(repository)
  say(`its commit is ${commit}`)
  title('A server, and a runtime that may clone from there')
  const { client, token, url } = await startServer(join(folder, 'data'), end, ADDRESS)
  const remote = ADDRESS ? `http://${ADDRESS}:${await serveGit(folder, end)}/word-count/.git` : `file://${repository}`
  const options = { ...optionsOf(url), 'clone-hosts': ADDRESS ? new URL(remote).origin : remote }
  const settings = ADDRESS
    ? { settings: { KUBECONFIG: process.env.KUBECONFIG ?? '' } }
    : { state: join(folder, 'runtime') }
  await startRuntime(client, end, { type: TYPE, url, options, ...settings })
  const project = await readFile(join(import.meta.dirname, 'repository.yaml'), 'utf8')
  await mkdir(join(folder, 'ci'))
  await writeFile(join(folder, 'ci/project.yaml'), placed(project, remote))
  await cp(join(import.meta.dirname, 'hook.yaml'), join(folder, 'ci/hook.yaml'))
  const push = JSON.parse(await readFile(join(import.meta.dirname, 'push.json'), 'utf8'))
  const payload = JSON.stringify({ ...push, after: commit, head_commit: { ...push.head_commit, id: commit } })
  const args = [join(import.meta.dirname, 'run.mjs'), join(folder, 'ci'), payload, 'hook.yaml']
  const child = spawn(process.execPath, args, {
    env: { ...process.env, PHASELINE_URL: url, PHASELINE_TOKEN: token, PHASELINE_DATA: join(folder, 'made') },
    stdio: 'inherit',
  })
  interrupted.signal.addEventListener('abort', () => child.kill('SIGTERM'))
  const code = await new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)))
  await untilRemoved(client)
  const { objects } = await client.query(COMMITS)
  say(`it has built the commit ${objects.edges[0]?.node.commit}`)
  return code
}

/** Options of the runtime. Containers share the network of this machine, where the server listens on loopback. */
function optionsOf(url) {
  if (!IMAGE) return { isolation: 'trusted' }
  const { DOCKER_HOST: engine } = process.env
  if (!ADDRESS) return { network: 'host', ...(engine ? { engine } : {}) }
  const reached = new URL(url)
  reached.hostname = ADDRESS
  return { instance: 'example', 'workload-url': reached.href, ...(PODS ? { pods: PODS } : {}) }
}

/** The package, and its pipeline in `ci`. Returns the commit. */
async function makeRepository(folder) {
  const git = (...args) => execFileSync('git', ['-C', folder, ...AUTHOR, ...args], { encoding: 'utf8' }).trim()
  await cp(join(import.meta.dirname, 'package'), folder, { recursive: true })
  await mkdir(join(folder, 'ci'))
  for (const name of ['pipeline.mjs', 'phaseline.mjs', 'pack.mjs'])
    await cp(join(import.meta.dirname, name), join(folder, 'ci', name))
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-q', '-m', 'A package and its pipeline')
  return git('rev-parse', 'HEAD')
}

/** Jobs have the worker's runtime, but their image is theirs to choose: the worker finds it in its environment. */
function placed(text, url) {
  const more = `  runtime: ${TYPE}\n  image: ${IMAGE}\n  env: { JOB_IMAGE: '${IMAGE}' }\n`
  return text
    .replace('https://git.example.com/word-count.git', url)
    .replace('workerTemplate:\n', `workerTemplate:\n${IMAGE ? more : ''}`)
}
