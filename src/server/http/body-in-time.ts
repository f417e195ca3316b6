import type { IncomingMessage } from 'node:http'

/** The body; LATE or TOO_LARGE; null: its client has gone. */
export type BodyInTime<Refusal> = Buffer | Refusal | 'LATE' | 'TOO_LARGE' | null

interface Bounds<Refusal> {
  readonly withinMs: number
  readonly maxBytes: number
  /** Judges each chunk as it arrives; `size` includes it. */
  refuse?(bytes: number, size: number): Refusal | null
}

/** Reads a small body of which nothing is judged before all of it is there. */
export async function bodyInTime<Refusal = never>(
  request: IncomingMessage,
  { withinMs, ...bounds }: Bounds<Refusal>,
): Promise<BodyInTime<Refusal>> {
  const late = Promise.withResolvers<'LATE'>()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    late.resolve('LATE')
  }, withinMs)
  try {
    return await Promise.race([bodyOf(request, { ...bounds, isOver: () => isLate }), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

type Reading<Refusal> = Omit<Bounds<Refusal>, 'withinMs'> & {
  /** True: nobody waits for it any more. */
  isOver(): boolean
}

async function bodyOf<Refusal>(
  request: IncomingMessage,
  { maxBytes, refuse, isOver }: Reading<Refusal>,
): Promise<BodyInTime<Refusal>> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    // A request that was destroyed could not be answered.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (isOver()) return null
      size += chunk.length
      const refusal = refuse?.(chunk.length, size)
      if (size > maxBytes) return 'TOO_LARGE'
      if (refusal) return refusal
      chunks.push(chunk)
    }
  } catch (error) {
    if (!request.destroyed) throw error
  }
  return request.complete ? Buffer.concat(chunks, size) : null
}
