import type { ObjectKind } from '../../core/vocabulary.ts'
import { type ChangedObject, loadLastBatch } from '../../store/loaders/tree-changes.ts'
import type { GraphQLContext } from '../context.ts'
import { objectLoader } from '../loaders.ts'
import { eventStream, unpack } from '../log/event-stream.ts'
import { builder } from '../schema/builder.ts'
import { ObjectKindEnum } from '../schema/enums.ts'
import { notFoundFailure } from '../schema/failures.ts'
import { TreeObjectRef } from '../schema/refs.ts'

type Update = Pick<ChangedObject, 'objectId' | 'revision'>

/** A write has the time of its lock and is seen only when it is committed: what is so recent is looked at again. */
const OVERLAP_MS = 5_000
/** Every other beat of the pulse. */
const EVERY = 2

const ObjectUpdateRef = builder.objectRef<Update>('ObjectUpdate').implement({
  fields: (t) => ({
    objectId: t.exposeID('objectId'),
    revision: t.exposeInt('revision'),
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'Null once it is gone.',
      resolve: ({ objectId }, _, context) => objectLoader(context).load(objectId),
    }),
  }),
})

/** What of late has been told already, as far as it will be looked at again. */
class Told {
  readonly #revisions = new Map<string, { readonly revision: number; readonly updatedAt: Date }>()
  since: Date
  batchId: string
  constructor(since: Date, batchId: string) {
    this.since = since
    this.batchId = batchId
  }

  /** Whether this is news. */
  take({ objectId, revision, updatedAt, batchId }: ChangedObject): boolean {
    if (updatedAt === null) {
      if (batchId !== null && BigInt(batchId) > BigInt(this.batchId)) this.batchId = batchId
      return true
    }
    if (this.#revisions.get(objectId)?.revision === revision) return false
    this.#revisions.set(objectId, { revision, updatedAt })
    return true
  }

  /** Moves on to what is recent now. */
  forgetBefore(since: Date): void {
    this.since = since
    for (const [id, { updatedAt }] of this.#revisions) if (updatedAt < since) this.#revisions.delete(id)
  }
}

async function* follow(
  { live, pool, system }: GraphQLContext,
  rootId: string,
  kinds: readonly ObjectKind[] | null,
  signal: AbortSignal,
): AsyncGenerator<Update> {
  const recent = () => new Date(system.now().getTime() - OVERLAP_MS)
  const told = new Told(recent(), await loadLastBatch(pool, rootId))
  while (!signal.aborted) {
    const next = recent()
    const changes = await live.changes.load({ rootId, since: told.since, batchId: told.batchId })
    let ended = false
    for (const change of changes) {
      if (!told.take(change)) continue
      if (kinds === null || kinds.includes(change.kind)) yield change
      ended ||= change.updatedAt === null && change.objectId === rootId
    }
    if (ended) return
    told.forgetBefore(next)
    await live.interval.next(signal, EVERY)
  }
}

builder.subscriptionField('objectUpdates', (t) =>
  t.field({
    type: ObjectUpdateRef,
    description:
      'What a phase change does not tell (progress, error, labels, spec): the latest state wins, those in between are skipped. Ends with the root.',
    args: { rootId: t.arg.id({ required: true }), kinds: t.arg({ type: [ObjectKindEnum] }) },
    subscribe: async (_, { rootId, kinds }, context) => {
      const root = await objectLoader(context).load(rootId)
      if (root?.parentId !== null) throw notFoundFailure(rootId)
      return eventStream(
        context,
        (signal) => follow(context, root.id, kinds ?? null, signal),
        ({ objectId, revision }) => `${objectId} ${revision}`,
      )
    },
    resolve: (event) => unpack(event),
  }),
)
