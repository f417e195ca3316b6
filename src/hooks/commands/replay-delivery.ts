import { invalidInput, notFound, type RefusalOf } from '../../core/errors.ts'
import type { Outcome } from '../../core/ports/outcome.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { RIGHTS, reachOf, requireRight } from '../../core/rights.ts'
import { refuse } from '../../families/access.ts'
import { loadBodies, loadDeliveries } from '../../store/hook-deliveries.ts'
import { receive } from '../receive/receive.ts'
import { HOOK, type HookParts } from './parts.ts'

/**
 * Judges what a delivery has brought once more, by the hook as it is now, whatever has become of it before. It is a delivery of its own
 * if that one was accepted or filtered, and else the same once more. It acts with the rights of who has edited the hook last.
 */
export async function replayDelivery(
  parts: HookParts,
  viewer: Viewer,
  { id, idempotencyKey }: { readonly id: string; readonly idempotencyKey?: string | null },
): Promise<
  Outcome<{ readonly deliveryId: string }, RefusalOf<'InvalidInputError' | 'NotFoundError' | 'ForbiddenError'>>
> {
  const [delivery] = await loadDeliveries(parts.pool, [id], reachOf(viewer, RIGHTS.readHooks))
  if (!delivery) return refuse(notFound(id, 'delivery'))
  const [hook] = await HOOK.records.load(parts.pool, [delivery.hookId], null)
  if (!hook) return refuse(notFound(id, 'delivery'))
  const forbidden = requireRight(viewer, RIGHTS.replayDelivery, hook.projectId)
  if (forbidden) return refuse(forbidden)
  const body = (await loadBodies(parts.pool, [id])).get(id)?.body ?? null
  if (body === null)
    return refuse(
      invalidInput([
        {
          path: 'input.id',
          message:
            delivery.outcome === 'DUPLICATE'
              ? `names a repetition, which keeps no body. ${delivery.reason ?? ''} Play that one again.`
              : 'names a delivery whose body is not kept any more: have its sender send it again',
        },
      ]),
    )
  const [first] = delivery.replayOf === null ? [] : await loadDeliveries(parts.pool, [delivery.replayOf], null)
  const hasSpent = [delivery, first].some((each) => each?.outcome === 'ACCEPTED' || each?.outcome === 'FILTERED')
  const onceKey = idempotencyKey ? `replay ${viewer.principalId} ${id} ${idempotencyKey}` : null
  const own = hasSpent ? { deliveryId: delivery.deliveryId, onceKey } : null
  const replay = { of: delivery.replayOf ?? id, own, call: viewer.call }
  const [answered] = await receive(parts, hook, { headers: delivery.headers, body, secretName: null, replay })
  // A row has one delivery.
  return answered ? { ok: true, deliveryId: answered.id } : refuse(notFound(id, 'delivery'))
}
