import { execFile, execFileSync, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import Docker from 'dockerode'
import { Client } from 'pg'
import { pack } from 'tar-stream'
import { describe, expect, inject, test } from 'vitest'
import { engineSocket } from '../testkit/container-engine.ts'
import { startSwitch } from '../testkit/own-postgres.ts'
import { freePort } from '../testkit/redis.ts'
import { SECRET_KEY } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/** The image that `Containerfile` makes, built and run as an operator does, on a real Postgres. */

const ROOT = join(import.meta.dirname, '../..')
const BUSYBOX = '/bin/busybox'
const TOKEN = 'administrator-of-the-image'
/** The user and group that Kubernetes runs it as. */
const USER = '10001:10001'
const MAX_APP_MB = 120
const LONG_MS = 600_000

const socketPath = engineSocket()
const docker = new Docker({ socketPath: socketPath ?? '' })
const NAME = `localhost/phaseline-image-${process.pid}`

/** No registry is needed: the libraries of this machine, the project's Node, and a shell. */
async function importBase(): Promise<string> {
  const root = pack()
  const libraries = execFileSync('ldd', [process.execPath], { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/g)
  for (const [, path = ''] of libraries) root.entry({ name: path.slice(1), mode: 0o755 }, await readFile(path))
  root.entry({ name: 'usr/bin/node', mode: 0o755 }, await readFile(process.execPath))
  root.entry({ name: 'bin/busybox', mode: 0o755 }, await readFile(BUSYBOX))
  for (const tool of ['sh', '[']) root.entry({ name: `bin/${tool}`, type: 'symlink', linkname: 'busybox' })
  root.entry({ name: 'tmp', type: 'directory', mode: 0o1777 })
  root.finalize()
  await ended(await docker.importImage(Readable.from(root), { repo: `${NAME}-base`, tag: 'latest' }))
  return `${NAME}-base:latest`
}

async function build(base: string, context: string): Promise<string> {
  await cp(join(ROOT, 'Containerfile'), join(context, 'Containerfile'))
  const archive = spawn('tar', ['-c', '-C', context, '.'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const options = { t: NAME, dockerfile: 'Containerfile', buildargs: { BASE: base }, layers: false }
  await ended(await docker.buildImage(archive.stdout, options))
  return `${NAME}:latest`
}

const ended = (progress: NodeJS.ReadableStream): Promise<void> =>
  new Promise((resolve, reject) => {
    docker.modem.followProgress(progress, (error, steps: readonly { readonly error?: string }[] | null) => {
      const failed = error?.message ?? steps?.find((step) => step.error)?.error
      if (failed) reject(new Error(failed))
      else resolve()
    })
  })

/** A database of the run's Postgres without a table, at an address that a container reaches. */
async function emptyDatabase(): Promise<AsyncDisposable & { readonly url: string }> {
  const { host, port, user } = inject('postgres')
  const name = `image_${process.pid}`
  const ask = async (statement: string): Promise<void> => {
    const client = new Client({ host, port, user, database: 'postgres' })
    await client.connect()
    await client.query(statement).finally(() => client.end())
  }
  await ask(`create database ${name}`)
  const address = await startSwitch({ socket: `${host}/.s.PGSQL.${port}`, connection: { user, database: name } })
  return {
    url: address.url,
    async [Symbol.asyncDispose]() {
      await address[Symbol.asyncDispose]()
      await ask(`drop database ${name} with (force)`)
    },
  }
}

async function execute(container: Docker.Container, command: readonly string[], env: readonly string[]) {
  const exec = await container.exec({ Cmd: [...command], Env: [...env], AttachStdout: true, AttachStderr: true })
  let output = ''
  const stream = await exec.start({})
  for await (const part of stream) output += String(part)
  return { code: (await exec.inspect()).ExitCode, output }
}

describe.runIf(socketPath !== null)('the image', () => {
  test('it serves on a read-only root as nobody, migrates, works, and ends in order', {
    timeout: LONG_MS,
  }, async () => {
    await using stack = new AsyncDisposableStack()
    const context = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-image-')), (path) =>
      rm(path, { recursive: true, force: true }),
    )
    const remove = (name: string) => docker.getImage(name).remove({ force: true })
    const base = stack.adopt(await importBase(), remove)
    await promisify(execFile)(process.execPath, [join(ROOT, 'scripts/image-folder.ts'), join(context, '.image')])
    const image = stack.adopt(await build(base, context), remove)
    const { Size: size, Config: built } = await docker.getImage(image).inspect()
    const { Size: baseSize } = await docker.getImage(base).inspect()
    expect((size - baseSize) / 1e6).toBeLessThan(MAX_APP_MB)
    expect(built).toMatchObject({ User: USER, Env: expect.arrayContaining(['NODE_ENV=production']) })

    const database = stack.use(await emptyDatabase())
    const [port, adminPort] = [await freePort(), await freePort()]
    const secrets = join(context, 'secrets')
    await mkdir(secrets)
    await Promise.all([
      writeFile(join(secrets, 'token'), TOKEN, { mode: 0o444 }),
      writeFile(join(secrets, 'secret-key'), SECRET_KEY, { mode: 0o444 }),
      writeFile(join(secrets, 'database-url'), database.url, { mode: 0o444 }),
    ])
    const container = await docker.createContainer({
      Image: image,
      Env: [
        ...[`PORT=${port}`, 'HOST=127.0.0.1', `PHASELINE_ADMIN_PORT=${adminPort}`, 'PHASELINE_ADMIN_HOST=127.0.0.1'],
        ...['PHASELINE_TOKEN', 'PHASELINE_SECRET_KEY', 'DATABASE_URL'].map((name) => {
          return `${name}_FILE=/run/secrets/phaseline/${name.replace('PHASELINE_', '').toLowerCase().replace('_', '-')}`
        }),
      ],
      HostConfig: {
        NetworkMode: 'host',
        ReadonlyRootfs: true,
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges'],
        Tmpfs: { '/tmp': 'mode=1777' },
        Binds: [`${secrets}:/run/secrets/phaseline:ro`],
      },
    })
    stack.defer(() => container.remove({ force: true }))
    await container.start()
    const logs = async () => String(await container.logs({ stdout: true, stderr: true }))
    const isReady = async () => {
      const { State } = await container.inspect()
      if (!State.Running) throw new Error(`the container has ended with ${State.ExitCode}: ${await logs()}`)
      return (await fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => null))?.ok
    }
    await until(isReady, { what: 'the server in the container is ready' })

    const node = ['/usr/bin/node', '/app/dist/src/cli/main.js']
    const env = [`PHASELINE_URL=http://127.0.0.1:${port}/graphql`, `PHASELINE_TOKEN=${TOKEN}`]
    const applied = await execute(
      container,
      [...node, 'apply', '-f', '/app/examples/manifests/nested.yaml', '--wait'],
      env,
    )
    expect(applied).toMatchObject({ code: 0, output: expect.stringContaining('platform succeeded') })
    const who = await execute(container, ['/usr/bin/node', '-p', '`${process.getuid()}:${process.getgid()}`'], [])
    expect(who.output).toContain(USER)
    const written = await execute(container, ['/bin/sh', '-c', 'echo x > /app/x'], [])
    expect(written.code).not.toBe(0)
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)

    await container.kill({ signal: 'SIGTERM' })
    await container.wait()
    const { State: end } = await container.inspect()
    expect([end.ExitCode, await logs()]).toEqual([0, expect.stringContaining('Stopping')])
  })
})
