import type { GraphQLContext } from '../../../graphql/context.ts'
import { isUuid } from '../../../store/objects.ts'
import { beginStream, endStream, readStream } from '../store/queries.ts'
import { type CrmRequest, outstandingRequests } from '../store/requests-of.ts'

/** Looks again after this many beats of the interval without a notification, so that a cloudlet at rest costs little. */
const EVERY = 20
/** Sends a request again that is not acknowledged after this long, since it may have been lost. */
const RESEND_MS = 5_000

/** Yields the requests of one session while it serves the cloudlet and its stream is open here. */
export async function* requestStream(
  context: GraphQLContext,
  { cloudletId, epoch }: { readonly cloudletId: string; readonly epoch: number },
  signal: AbortSignal,
): AsyncGenerator<CrmRequest> {
  const { pool, system, log, live, viewer } = context
  const stream = system.id()
  if (!isUuid(cloudletId) || !(await beginStream(pool, { cloudletId, epoch, principalId: viewer.principalId, stream })))
    return
  let notified = Promise.withResolvers<void>()
  const notify = (): void => notified.resolve()
  const query = { projects: null, rootId: cloudletId, includeRejected: false }
  const stop = log.listen(query, { offer: notify, tick: () => {}, lost: notify })
  signal.addEventListener('abort', notify)
  const sent = new Map<string, number>()
  try {
    while (!signal.aborted) {
      notified = Promise.withResolvers()
      const session = await readStream(pool, cloudletId, stream)
      if (!session) return
      // CRM_V2 gets no requests before it has taken over.
      const open = session.role === 'CRM' ? await outstandingRequests(pool, cloudletId, session) : []
      const now = performance.now()
      const due = open.filter(({ fence }) => now - (sent.get(fence) ?? Number.NEGATIVE_INFINITY) >= RESEND_MS)
      for (const fence of sent.keys()) if (!open.some((one) => one.fence === fence)) sent.delete(fence)
      for (const request of due) {
        sent.set(request.fence, now)
        yield request
      }
      await Promise.race([notified.promise, live.interval.next(signal, EVERY)])
    }
  } finally {
    stop()
    signal.removeEventListener('abort', notify)
    await endStream(pool, stream)
  }
}
