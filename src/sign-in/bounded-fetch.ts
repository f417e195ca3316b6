/** Documents of issuers, and what they answer, are a few KiB. */
const MAX_BYTES = 256 * 1024
/** Milliseconds in which an issuer must answer. */
export const FETCH_MS = 5_000

interface BoundedRequest {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: URLSearchParams | undefined
  readonly signal?: AbortSignal | undefined
}

/** Reads the whole answer, without redirects; of a GET of JSON by default. Rejects when it is too large or too late. */
export async function boundedFetch(url: string, request: BoundedRequest = {}): Promise<Response> {
  const { method = 'GET', headers = { accept: 'application/json' }, body = null } = request
  const late = AbortSignal.timeout(FETCH_MS)
  const signal = request.signal ? AbortSignal.any([request.signal, late]) : late
  const response = await fetch(url, { method, headers, body, redirect: 'error', signal })
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  const reader = response.body?.getReader()
  while (reader) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.length
    if (size > MAX_BYTES) {
      await reader.cancel()
      throw new Error(`${url} answers with more than ${MAX_BYTES} bytes`)
    }
    chunks.push(value)
  }
  return new Response(chunks.length > 0 ? new Blob(chunks) : null, response)
}
