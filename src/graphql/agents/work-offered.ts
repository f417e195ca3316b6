import type { GraphQLContext } from '../context.ts'
import { eventStream, unpack } from '../log/event-stream.ts'
import { builder } from '../schema/builder.ts'
import { forbiddenFailure } from '../schema/failures.ts'

interface Offer {
  readonly type: string
  readonly waiting: number
}

/** Beats of the pulse after which is looked again: work that backs off comes up without anybody saying so. */
const EVERY = 8

const WorkOfferRef = builder.objectRef<Offer>('WorkOffer').implement({
  fields: (t) => ({ type: t.exposeString('type'), waiting: t.exposeInt('waiting') }),
})

/** What waits now, and again whenever more may have come up. Calls that come while nobody listens are one. */
async function* offers(
  { agents, live }: GraphQLContext,
  types: readonly string[],
  targets: readonly string[] | null,
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
      yield* await agents.waiting(types, targets)
      await Promise.race([rung.promise, live.interval.next(signal, EVERY)])
    }
  } finally {
    stop()
    signal.removeEventListener('abort', stopped)
  }
}

builder.subscriptionField('workOffered', (t) =>
  t.field({
    type: WorkOfferRef,
    description: 'Wakes an agent when there is work of these types to claim.',
    args: { types: t.arg.stringList({ required: true }), targets: t.arg.stringList() },
    subscribe: (_, { types, targets }, context) => {
      const { role, types: allowed } = context.viewer
      if (role !== 'AGENT') throw forbiddenFailure('Only an agent is offered work.')
      const foreign = allowed === null ? undefined : types.find((type) => !allowed.includes(type))
      if (foreign !== undefined) throw forbiddenFailure(`This token may not claim work of the type ${foreign}.`)
      return eventStream(context, (signal) => offers(context, types, targets ?? context.viewer.targets, signal))
    },
    resolve: (event) => unpack(event),
  }),
)
