import type { IncomingMessage, ServerResponse } from 'node:http'
import { FENCE_HEADER, FILE_TYPE, FOLDER_TYPE, fileNameOf, mediaTypeOf } from '../../core/artifact.ts'
import { NO_TARGET } from '../../core/audit.ts'
import type { Artifact, ArtifactPort, ArtifactRefusal } from '../../core/ports/artifacts.ts'
import { hasRight, RIGHTS, requireRight } from '../../core/rights.ts'
import type { FailureCode } from '../../core/vocabulary.ts'
import { callerOf } from '../../graphql/audit/caller-of.ts'
import { ARTIFACTS_PATH, allowOf } from '../endpoints/endpoints.ts'
import { PIECE } from '../json/request-text.ts'
import { reply, replyError } from '../replies/reply.ts'
import { asCaller, type Called } from './as-caller.ts'
import type { HttpParts } from './graphql-http.ts'
import { strangersTurn } from './strangers-turn.ts'

/**
 * Content of artifacts, beside GraphQL: `GET /artifacts/<id>` for readers, `PUT /artifacts/<workload>/<name>` for the runtime that has
 * the workload. Bytes come and go as fast as both sides take them, and in turns with those of other callers.
 */

export interface ArtifactParts {
  readonly artifacts: ArtifactPort
}
type Parts = HttpParts & ArtifactParts

/** Milliseconds of a download, however slow its reader is. */
const DOWNLOAD_MS = 1_800_000

const notFound = (id: string): string =>
  `There is no artifact ${id}, or you may not read it: it may have expired, or its event was deleted.`
const JSON_TYPE = 'application/json; charset=utf-8'

export async function handleArtifact(request: IncomingMessage, response: ServerResponse, parts: Parts): Promise<void> {
  response.setHeader('cache-control', 'no-store')
  const [id = '', name, ...more] = (request.url ?? '').split('?', 1)[0]?.slice(ARTIFACTS_PATH.length).split('/') ?? []
  const { method = '' } = request
  const isUpload = method === 'PUT'
  if (!(isUpload || method === 'GET' || method === 'HEAD')) {
    if (!(await strangersTurn(request, response, parts))) return
    response.setHeader('allow', allowOf(ARTIFACTS_PATH))
    return replyError(response, 405, 'METHOD_NOT_ALLOWED', 'An artifact is read by GET and written by PUT.')
  }
  await asCaller(request, response, parts, async (called) => {
    const exchange = { ...called, parts }
    if (isUpload) await upload(exchange, id, name ?? '')
    else if (name !== undefined || more.length > 0)
      replyError(response, 404, 'NOT_FOUND', notFound([id, name, ...more].join('/')))
    else await download(exchange, id)
  })
}

interface Exchange extends Called {
  readonly parts: Parts
}

const STATUS: Readonly<Record<ArtifactRefusal['code'], number>> = {
  STALE_REPORT: 409,
  BAD_USER_INPUT: 400,
  LIMIT: 409,
  TOO_LARGE: 413,
}

/** `?cache`: the name is a key of the project's cache. */
const isCache = ({ url = '' }: IncomingMessage): boolean => url.endsWith('?cache')

/** Null: it is not encoded as it should be. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

async function upload(exchange: Exchange, objectId: string, encoded: string): Promise<void> {
  const { request, response, viewer, parts } = exchange
  // The rest of a refused body is not waited for.
  const fail = (status: number, code: FailureCode, message: string): void => {
    response.setHeader('connection', 'close')
    replyError(response, status, code, message)
  }
  const refusal = requireRight(viewer, RIGHTS.reportWork)
  if (refusal) return fail(403, 'FORBIDDEN', refusal.message)
  const type = request.headers['content-type']
  if (type !== FILE_TYPE && type !== FOLDER_TYPE)
    return fail(415, 'UNSUPPORTED_MEDIA_TYPE', `A file is sent as ${FILE_TYPE}, a folder as ${FOLDER_TYPE}.`)
  const fence = request.headers[FENCE_HEADER]
  const name = decoded(encoded)
  if (name === null) return fail(400, 'BAD_USER_INPUT', 'The name in the path is not encoded as a part of a URL.')
  // Node answers any other expectation itself.
  if (request.headers.expect !== undefined && request.httpVersion === '1.1') response.writeContinue()
  const done = await parts.artifacts.write(viewer, {
    ...{ objectId, name, fence: typeof fence === 'string' ? fence : '', isFolder: type === FOLDER_TYPE },
    isCache: isCache(request),
    bytes: bytesOf(exchange),
  })
  if (request.destroyed && !request.complete) return
  if ('refused' in done) return fail(STATUS[done.refused.code], done.refused.code, done.refused.message)
  if (!request.complete) response.setHeader('connection', 'close')
  const { id, size, sha256 } = done.artifact
  reply(response, 201, JSON_TYPE, JSON.stringify({ id, size, sha256: sha256.toString('hex') }))
}

const CUT_OFF = new Error('The client has closed the connection before all of the artifact had arrived.')

async function* bytesOf({ request, viewer, parts }: Exchange): AsyncGenerator<Buffer> {
  // A request that was destroyed could not be answered.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    await parts.transfers.next(viewer.principalId)
    yield chunk
  }
  if (!request.complete) throw CUT_OFF
}

async function download({ request, response, viewer, parts }: Exchange, id: string): Promise<void> {
  const { artifacts, audit, refusals, transfers, limits } = parts
  const artifact = hasRight(viewer, RIGHTS.readObjects) ? await artifacts.find(viewer, id) : null
  if (!artifact) return replyError(response, 404, 'NOT_FOUND', notFound(id))
  response.writeHead(200, headersOf(artifact))
  if (request.method === 'HEAD') return void response.end()
  if (viewer.actor === 'USER') {
    const target = { ...NO_TARGET, projectId: artifact.projectId, objectId: artifact.objectId }
    const entry = { operation: 'artifact', outcome: 'DONE', code: null, fields: [artifact.name], count: 1 } as const
    audit.noteThrottled({ ...callerOf(viewer), ...target, ...entry })
  }
  const late = setTimeout(() => response.destroy(), DOWNLOAD_MS)
  response.once('close', () => clearTimeout(late))
  let sent = 0
  for await (const content of artifacts.read(artifact.id)) {
    for (let from = 0; from < content.length && !response.destroyed; from += PIECE) {
      await transfers.next(viewer.principalId)
      const isTaken =
        response.write(content.subarray(from, from + PIECE)) || (await drained(response, limits.stalledAfterMs))
      if (!isTaken && !response.destroyed) {
        refusals.count('TOO_SLOW')
        response.destroy()
      }
    }
    if (response.destroyed) return
    sent += content.length
  }
  // It was removed meanwhile: the client sees that the end is missing.
  if (sent === artifact.size) response.end()
  else response.destroy()
}

/** Nothing of it is ever shown or run by a browser, whatever is in it. */
function headersOf(artifact: Artifact): Readonly<Record<string, string | number>> {
  const { size, sha256, isFolder } = artifact
  return {
    'content-type': mediaTypeOf(isFolder),
    'content-length': size,
    'content-disposition': dispositionOf(fileNameOf(artifact)),
    'content-security-policy': "sandbox; default-src 'none'",
    'access-control-expose-headers': 'content-disposition, repr-digest',
    'repr-digest': `sha-256=:${sha256.toString('base64')}:`,
  }
}

/** A key of a cache may have any character: RFC 8187 has a form for those that a header cannot have. */
function dispositionOf(fileName: string): string {
  const plain = fileName.replace(/[^\w.-]/gu, '_')
  const encoded = encodeURIComponent(fileName).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`)
  return `attachment; filename="${plain}"${plain === fileName ? '' : `; filename*=UTF-8''${encoded}`}`
}

/** False: its client has read nothing for too long, or is gone. */
function drained(response: ServerResponse, stalledAfterMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isTaken: boolean) => (): void => {
      clearTimeout(timer)
      response.off('drain', taken).off('close', gone)
      resolve(isTaken)
    }
    const [taken, gone] = [end(true), end(false)]
    const timer = setTimeout(gone, stalledAfterMs)
    response.once('drain', taken).once('close', gone)
  })
}
