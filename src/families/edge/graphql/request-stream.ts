import type { GraphQLContext } from '../../../graphql/context.ts'
import { isUuid } from '../../../store/objects.ts'
import { beginStream, endStream, readStream } from '../queries.ts'
import { type CrmRequest, outstandingRequests } from '../requests-of.ts'

/** Beats of the pulse after which is looked again, though nothing was heard: a cloudlet at rest costs next to nothing. */
const EVERY = 20
/** A request that is not acknowledged is sent again after so long: what was lost on the way comes again. */
const RESEND_MS = 5_000

/** The requests of one session, for as long as it serves the cloudlet and hears of them here. */
export async function* requestStream(
  context: GraphQLContext,
  { cloudletId, epoch }: { readonly cloudletId: string; readonly epoch: number },
  signal: AbortSignal,
): AsyncGenerator<CrmRequest> {
  const { pool, system, log, live, viewer } = context
  const stream = system.id()
  if (!isUuid(cloudletId) || !(await beginStream(pool, { cloudletId, epoch, principal: viewer.name, stream }))) return
  let rung = Promise.withResolvers<void>()
  const ring = (): void => rung.resolve()
  const query = { projects: null, rootId: cloudletId, includeRejected: false }
  const stop = log.listen(query, { offer: ring, tick: () => {}, lost: ring })
  signal.addEventListener('abort', ring)
  const sent = new Map<string, number>()
  try {
    while (!signal.aborted) {
      rung = Promise.withResolvers()
      const session = await readStream(pool, cloudletId, stream)
      if (!session) return
      // CRM_V2 is asked for nothing before it has taken over.
      const open = session.role === 'CRM' ? await outstandingRequests(pool, cloudletId, session) : []
      const now = performance.now()
      const due = open.filter(({ fence }) => now - (sent.get(fence) ?? Number.NEGATIVE_INFINITY) >= RESEND_MS)
      for (const fence of sent.keys()) if (!open.some((one) => one.fence === fence)) sent.delete(fence)
      for (const request of due) {
        sent.set(request.fence, now)
        yield request
      }
      await Promise.race([rung.promise, live.interval.next(signal, EVERY)])
    }
  } finally {
    stop()
    signal.removeEventListener('abort', ring)
    await endStream(pool, stream)
  }
}
