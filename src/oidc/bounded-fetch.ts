/** Documents of issuers are a few KiB. */
const MAX_BYTES = 256 * 1024
/** Milliseconds in which an issuer must answer. */
export const FETCH_MS = 5_000

/** GET of a JSON document, without redirects. Rejects when it is too large or too late. */
export async function boundedFetch(
  url: string,
  { signal = AbortSignal.timeout(FETCH_MS) }: { readonly signal?: AbortSignal } = {},
): Promise<Response> {
  const response = await fetch(url, { headers: { accept: 'application/json' }, redirect: 'error', signal })
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    // Leaving the loop cancels the body.
    if (size > MAX_BYTES) throw new Error(`${url} answers with more than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return new Response(Buffer.concat(chunks), { status: response.status })
}
