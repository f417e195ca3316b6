import { FENCE_HEADER, mediaTypeOf } from '../core/artifact.ts'
import { ClientError } from './client-error.ts'
import { networkProblem } from './http-call.ts'
import { type PlainCall, send } from './plain-call.ts'

/** Content of artifacts, which goes beside GraphQL. */

export interface ArtifactUpload {
  /** The worker or job that leaves it, and the fence of its work. */
  readonly objectId: string
  readonly fence: string
  readonly name: string
  /** The body is a compressed tar archive. */
  readonly isFolder: boolean
  /** The name is a key of the cache of its project. */
  readonly isCache?: boolean
  readonly body: AsyncIterable<Uint8Array>
}
export interface ArtifactContent {
  readonly size: number
  /** In hexadecimal. */
  readonly sha256: string
  /** Read it to its end: that fails if a part is missing or has changed on its way. */
  readonly body: AsyncIterable<Uint8Array>
}

/** @throws ClientError, or the reason of the signal */
export async function writeArtifact(call: PlainCall, upload: ArtifactUpload): Promise<void> {
  const { objectId, fence, name, isFolder, isCache = false, body } = upload
  const headers = { [FENCE_HEADER]: fence, 'content-type': mediaTypeOf(isFolder) }
  // The types are those of browsers, which send no streams over HTTP/1.1.
  const init = { method: 'PUT', headers, body: body as unknown as ReadableStream, duplex: 'half' }
  const path = `artifacts/${encodeURIComponent(objectId)}/${encodeURIComponent(name)}${isCache ? '?cache' : ''}`
  const response = await send(call, path, init)
  await response.text()
}

/** @throws ClientError, or the reason of the signal */
export async function readArtifact(call: PlainCall, id: string): Promise<ArtifactContent> {
  const response = await send(call, `artifacts/${encodeURIComponent(id)}`)
  const size = Number(response.headers.get('content-length') ?? 0)
  const [, digest = ''] = /sha-256=:([^:]+):/.exec(response.headers.get('repr-digest') ?? '') ?? []
  const { body } = response
  if (!body) throw new ClientError('http', 'The server has sent no content.', { retryable: true })
  const sha256 = hexOf(Uint8Array.from(atob(digest), (byte) => byte.charCodeAt(0)))
  return { size, sha256, body: verified(body, { size, sha256, call }) }
}

async function* verified(
  body: ReadableStream<Uint8Array>,
  { size, sha256, call }: { readonly size: number; readonly sha256: string; readonly call: PlainCall },
): AsyncGenerator<Uint8Array> {
  const hash = createDigest()
  const reader = body.getReader()
  let read = 0
  try {
    // Not all browsers iterate a stream.
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      read += next.value.length
      hash.update(next.value)
      yield next.value
    }
  } catch (error) {
    if (call.signal.aborted) throw call.signal.reason
    throw new ClientError('network', networkProblem(error, call.token))
  } finally {
    // For whoever reads no more of it.
    await reader.cancel().catch(() => {})
  }
  if (read !== size || (await hash.digest()) !== sha256)
    throw new ClientError('network', 'The artifact has changed on its way, or was removed meanwhile.')
}

interface Digest {
  update(piece: Uint8Array): unknown
  /** In hexadecimal. */
  digest(): string | Promise<string>
}
/** Node's own where there is one. A browser's takes all bytes at once, and has none on pages without encryption. */
function createDigest(): Digest {
  const { process } = globalThis as { process?: NodeJS.Process }
  const node = process?.getBuiltinModule?.('node:crypto').createHash('sha256')
  if (node) return { update: (piece) => node.update(piece), digest: () => node.digest('hex') }
  const pieces: Uint8Array<ArrayBuffer>[] = []
  return {
    update: (piece) => pieces.push(piece as Uint8Array<ArrayBuffer>),
    async digest() {
      const bytes = await new Blob(pieces).arrayBuffer()
      return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
    },
  }
}
const hexOf = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
