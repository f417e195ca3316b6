import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { freePort } from './redis.ts'
import { until } from './wait.ts'

/** A registry of the reference implementation (Debian's docker-registry) on this machine, with a password. */
export interface TestRegistry extends AsyncDisposable {
  /** With its port. */
  readonly host: string
  /** The file of Docker's credentials for it; its folder is a `DOCKER_CONFIG`. */
  readonly credentials: string
  /** Stores an artifact of these layers, and returns its reference by digest. */
  push(repository: string, layers: readonly Layer[]): Promise<string>
}
interface Layer {
  readonly mediaType: string
  readonly content: Buffer
}

const PASSWORD = 'pass of a registry'
/** The bcrypt hash of the password. */
const HASH = '$2b$04$maFeATjQLgnBADZrO.rvZ.RSWHCVJZ42UpjyA/1lNeOmt20tNJhqu'
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'

/** @returns null where the program is not installed @param tls a folder with `tls.crt` and `tls.key` */
export async function startRegistry(tls: string | null = null): Promise<TestRegistry | null> {
  if (!hasProgram()) return null
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-registry-'))
  const host = `127.0.0.1:${await freePort()}`
  const certificate = tls === null ? '' : `, tls: { certificate: ${tls}/tls.crt, key: ${tls}/tls.key }`
  await writeFile(join(folder, 'htpasswd'), `user:${HASH}\n`)
  await writeFile(
    join(folder, 'config.yml'),
    `version: 0.1
log: { level: error }
storage: { filesystem: { rootdirectory: ${folder}/data } }
http: { addr: "${host}"${certificate} }
auth: { htpasswd: { realm: test, path: ${folder}/htpasswd } }
`,
  )
  const child = spawn('docker-registry', ['serve', join(folder, 'config.yml')], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  const auth = Buffer.from(`user:${PASSWORD}`).toString('base64')
  const credentials = join(folder, 'config.json')
  await writeFile(credentials, JSON.stringify({ auths: { [host]: { auth } } }))
  const send = async (method: string, path: string, body?: Buffer, type = 'application/octet-stream') => {
    const url = new URL(path, `${tls === null ? 'http' : 'https'}://${host}`)
    const headers = { authorization: `Basic ${auth}`, 'content-type': type, 'content-length': body?.length ?? 0 }
    const outgoing = (tls === null ? overHttp : overHttps)(url, { method, headers, rejectUnauthorized: false })
    outgoing.end(body)
    const [answer] = await once(outgoing, 'response')
    const said = await buffer(answer)
    if (answer.statusCode >= 300) throw new Error(`${method} ${url.href}: ${answer.statusCode} ${said.toString()}`)
    return answer.headers as Readonly<Record<string, string>>
  }
  const upload = async (repository: string, content: Buffer): Promise<string> => {
    const digest = digestOf(content)
    const { location = '' } = await send('POST', `/v2/${repository}/blobs/uploads/`)
    const url = new URL(location, `http://${host}`)
    url.searchParams.set('digest', digest)
    await send('PUT', `${url.pathname}${url.search}`, content)
    return digest
  }
  await until(() => send('GET', '/v2/').catch(() => null), { what: 'the registry answers' })
  return {
    host,
    credentials,
    async push(repository, layers) {
      const config = {
        mediaType: 'application/vnd.oci.empty.v1+json',
        size: 2,
        digest: await upload(repository, Buffer.from('{}')),
      }
      const described = []
      for (const { mediaType, content } of layers)
        described.push({ mediaType, size: content.length, digest: await upload(repository, content) })
      const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: MANIFEST, config, layers: described }))
      const digest = digestOf(manifest)
      await send('PUT', `/v2/${repository}/manifests/${digest}`, manifest, MANIFEST)
      return `oci://${host}/${repository}@${digest}`
    },
    async [Symbol.asyncDispose]() {
      child.kill()
      await ended
      await rm(folder, { recursive: true })
    },
  }
}

const digestOf = (content: Buffer): string => `sha256:${createHash('sha256').update(content).digest('hex')}`

function hasProgram(): boolean {
  try {
    execFileSync('docker-registry', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
