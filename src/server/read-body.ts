import type { IncomingMessage } from 'node:http'

export type Body = { readonly ok: true; readonly text: string } | { readonly ok: false }

/** The whole body as text; not ok when it is longer than `limit` bytes. */
export async function readBody(request: IncomingMessage, limit: number): Promise<Body> {
  if (Number(request.headers['content-length'] ?? 0) > limit) return { ok: false }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limit) return { ok: false }
    chunks.push(chunk)
  }
  return { ok: true, text: Buffer.concat(chunks).toString() }
}
