import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

/**
 * Manifests in a registry, as an `OCIRepository` of Flux has them: an artifact with one layer, a tar archive with gzip. A digest
 * names it, so that a registry decides nothing.
 */

export interface ArtifactFile {
  readonly path: string
  readonly text: string
}
type Env = Readonly<Record<string, string | undefined>>

/** An expected problem with an artifact. */
export class ArtifactRefusal extends Error {}

const REFERENCE = /^oci:\/\/([A-Za-z0-9.-]+(?::\d+)?)\/([a-z0-9]+(?:[._/-]+[a-z0-9]+)*)@(sha256:[0-9a-f]{64})$/
const DIGEST = /^sha256:[0-9a-f]{64}$/
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
const LAYER = /\btar\+gzip$/
/** Packed and unpacked: as much as the config of an item may have. */
const MAX_BYTES = 1024 * 1024
const MAX_ENTRIES = 1_000
const REQUEST_MS = 30_000

/** The files of an artifact. Nothing is written to a disk. @throws ArtifactRefusal */
export async function filesOfArtifact(reference: string, env: Env): Promise<readonly ArtifactFile[]> {
  const [, host = '', repository = '', digest = ''] = REFERENCE.exec(reference) ?? []
  if (digest === '')
    throw new ArtifactRefusal(
      'An oci source is oci://HOST/REPOSITORY@sha256:…: a tag may be another artifact tomorrow.',
    )
  const registry = new Registry(host, repository, await credentialsOf(host, env))
  const manifest = parsed<Manifest>(await registry.read('manifests', digest), reference)
  const [layer, ...more] = manifest.layers ?? []
  if (more.length > 0 || !LAYER.test(layer?.mediaType ?? '') || !DIGEST.test(layer?.digest ?? '') || !layer?.digest)
    throw new ArtifactRefusal(`${reference} has not one layer tar+gzip, as \`flux push artifact\` writes it.`)
  const packed = await registry.read('blobs', layer.digest)
  const tar = await promisify(gunzip)(packed, { maxOutputLength: MAX_BYTES }).catch(() => {
    throw new ArtifactRefusal(`${reference} has more than 1 MiB unpacked, or is no gzip.`)
  })
  try {
    return await filesIn(tar)
  } catch (error) {
    if (error instanceof ArtifactRefusal) throw error
    throw new ArtifactRefusal(`${reference} is no tar archive that can be read: ${(error as Error).message}`)
  }
}

interface Manifest {
  readonly layers?: readonly { readonly mediaType?: string; readonly digest?: string }[]
}

function parsed<T>(bytes: Buffer, from: string): Partial<T> {
  try {
    return (JSON.parse(bytes.toString()) ?? {}) as Partial<T>
  } catch {
    throw new ArtifactRefusal(`${from} answered with no JSON.`)
  }
}

async function filesIn(tar: Buffer): Promise<readonly ArtifactFile[]> {
  const files: ArtifactFile[] = []
  let entries = 0
  // Few need it, so it is loaded where it is used.
  const { extract } = await import('tar-stream')
  for await (const part of Readable.from([tar]).pipe(extract())) {
    const { name, type } = part.header
    entries += 1
    if (entries > MAX_ENTRIES) throw new ArtifactRefusal(`The artifact has more than ${MAX_ENTRIES} entries.`)
    const path = name.replace(/^(\.\/)+/, '')
    if (type === 'file') {
      if (path.startsWith('/') || path.split('/').includes('..'))
        throw new ArtifactRefusal(`The artifact has a file outside of its folder: ${JSON.stringify(path)}.`)
      files.push({ path, text: await text(part) })
    } else if (type !== 'directory')
      throw new ArtifactRefusal(`The artifact has ${JSON.stringify(path)}, which is neither a file nor a folder.`)
    part.resume()
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Reads from one repository of a registry (https://github.com/opencontainers/distribution-spec). */
class Registry {
  readonly #origin: string
  readonly #repository: string
  readonly #basic: string | null
  #authorization: string | null

  constructor(host: string, repository: string, basic: string | null) {
    // As Docker does: a registry on this machine needs no certificate.
    this.#origin = `${/^(localhost|127\.0\.0\.1)(:|$)/.test(host) ? 'http' : 'https'}://${host}`
    this.#repository = repository
    this.#basic = basic
    this.#authorization = basic
  }

  async read(kind: 'manifests' | 'blobs', digest: string): Promise<Buffer> {
    const url = `${this.#origin}/v2/${this.#repository}/${kind}/${digest}`
    let response = await this.#get(url, this.#authorization)
    const challenge = response.headers.get('www-authenticate') ?? ''
    if (response.status === 401 && /^bearer /i.test(challenge)) {
      this.#authorization = await this.#token(challenge)
      response = await this.#get(url, this.#authorization)
    }
    if (!response.ok) throw new ArtifactRefusal(`${url} answered ${response.status}.`)
    const bytes = await bounded(response, url)
    if (`sha256:${createHash('sha256').update(bytes).digest('hex')}` !== digest)
      throw new ArtifactRefusal(`${url} answered with something of another digest.`)
    return bytes
  }

  /** A token of the server that a registry names (https://distribution.github.io/distribution/spec/auth/token/). */
  async #token(challenge: string): Promise<string> {
    const given = Object.fromEntries([...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]))
    const realm = URL.canParse(given.realm ?? '') ? new URL(given.realm ?? '') : null
    // Credentials go to the registry's own scheme, never to a weaker one.
    if (!realm || (realm.protocol !== 'https:' && realm.protocol !== new URL(this.#origin).protocol))
      throw new ArtifactRefusal(`The registry ${this.#origin} names no server for tokens that can be asked.`)
    for (const key of ['service', 'scope']) if (given[key]) realm.searchParams.set(key, given[key])
    const response = await this.#get(realm.href, this.#basic)
    if (!response.ok) throw new ArtifactRefusal(`${realm.origin}${realm.pathname} answered ${response.status}.`)
    const answer = parsed<Record<'token' | 'access_token', string>>(await bounded(response, realm.origin), realm.origin)
    const { token, access_token } = answer
    return `Bearer ${token ?? access_token ?? ''}`
  }

  async #get(url: string, authorization: string | null): Promise<Response> {
    const headers = { accept: MANIFEST, ...(authorization === null ? {} : { authorization }) }
    try {
      // A registry may answer with the address of a store; fetch takes the credentials to no other host.
      return await fetch(url, { headers, signal: AbortSignal.timeout(REQUEST_MS) })
    } catch (error) {
      const { cause, message } = error as Error
      throw new ArtifactRefusal(`${url} cannot be read: ${cause instanceof Error ? cause.message : message}`)
    }
  }
}

async function bounded({ body }: Response, url: string): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > MAX_BYTES) throw new ArtifactRefusal(`${url} is larger than 1 MiB.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Reads Docker's `config.json`. Null: there are none, or a helper of Docker has them. */
async function credentialsOf(host: string, { DOCKER_CONFIG, HOME = homedir() }: Env): Promise<string | null> {
  const file = join(DOCKER_CONFIG ?? join(HOME, '.docker'), 'config.json')
  try {
    const { auths } = JSON.parse(await readFile(file, 'utf8')) as {
      readonly auths?: Readonly<Record<string, { readonly auth?: string }>>
    }
    const auth = auths?.[host]?.auth
    return auth ? `Basic ${auth}` : null
  } catch {
    return null
  }
}
