import type { ClaimedTargets } from '../../core/ports/agents.ts'
import { RIGHTS } from '../../core/rights.ts'
import type { GraphQLContext } from '../context.ts'
import { eventStream, unpack } from '../log/event-stream.ts'
import { selectorOf, TargetSelectorInput } from '../objects/target-selector.ts'
import { builder } from '../schema/builder.ts'
import { forbiddenFailure } from '../schema/failures.ts'
import { badInput } from '../schema/limits.ts'

interface Offer {
  readonly type: string
  readonly waiting: number
}

/** Looks again after this many beats of the interval, since work that backs off is offered without a notification. */
const EVERY = 8

const WorkOfferRef = builder.objectRef<Offer>('WorkOffer').implement({
  description: 'Says that work of a type can be claimed.',
  fields: (t) => ({
    type: t.exposeString('type', { description: 'Type of the work.' }),
    waiting: t.exposeInt('waiting', { description: 'Count of objects that wait to be claimed.' }),
  }),
})

/** Yields what waits now, and again after each notification. Notifications that come during a read count as one. */
async function* offers(
  { agents, live, viewer }: GraphQLContext,
  { types, targets, targetSelector }: ClaimedTargets & { readonly types: readonly string[] },
  signal: AbortSignal,
): AsyncGenerator<Offer> {
  let rung = Promise.withResolvers<void>()
  const stop = agents.onWork((changed) => {
    if (changed.some((type) => types.includes(type))) rung.resolve()
  })
  const stopped = () => rung.resolve()
  signal.addEventListener('abort', stopped)
  try {
    while (!signal.aborted) {
      rung = Promise.withResolvers()
      yield* await agents.waiting(viewer, types, targets, targetSelector)
      await Promise.race([rung.promise, live.interval.next(signal, EVERY)])
    }
  } finally {
    stop()
    signal.removeEventListener('abort', stopped)
  }
}

builder.subscriptionField('workOffered', (t) =>
  t.field({
    right: RIGHTS.claimWork,
    type: WorkOfferRef,
    description: 'Wakes an agent when there is work to claim. `claimWork(waitMs:)` needs no subscription.',
    args: {
      types: t.arg.stringList({
        required: true,
        limit: 'workTypes',
        description: 'Types of work, all of which the token must allow.',
      }),
      targets: t.arg.stringList({
        limit: 'targets',
        description: 'Targets of the work. Left out or null: those of the token, or with `targetSelector` none.',
      }),
      targetSelector: t.arg({
        type: TargetSelectorInput,
        description: 'Targets of the work by their type and labels. Left out or null: `targets` says it all.',
      }),
    },
    subscribe: (_, { types, targets, targetSelector: selector }, context) => {
      const { types: allowed } = context.viewer
      const foreign = allowed === null ? undefined : types.find((type) => !allowed.includes(type))
      if (foreign !== undefined) throw forbiddenFailure(`This token may not claim work of the type ${foreign}.`)
      const selected = selectorOf(selector, 'targetSelector')
      if (!selected.ok) throw badInput(selected.refusal.message)
      const wanted = { types, targets: targets ?? null, targetSelector: selected.targetSelector }
      return eventStream(context, (signal) => offers(context, wanted, signal), { place: JSON.stringify(targets) })
    },
    resolve: (event) => unpack(event),
  }),
)
