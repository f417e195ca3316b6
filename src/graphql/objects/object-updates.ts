import { RIGHTS } from '../../core/rights.ts'
import type { ObjectKind } from '../../core/vocabulary.ts'
import { type ChangedObject, loadLastBatch } from '../../store/loaders/tree-changes.ts'
import type { GraphQLContext } from '../context.ts'
import { objectLoader, objectOf } from '../loaders.ts'
import { eventStream, unpack } from '../log/event-stream.ts'
import { builder } from '../schema/builder.ts'
import { ObjectKindEnum } from '../schema/enums.ts'
import { notFoundFailure } from '../schema/failures.ts'
import { TreeObjectRef } from '../schema/refs.ts'

type Update = Pick<ChangedObject, 'objectId' | 'revision'>

/** A write has the time of its lock and is visible only after its commit, so recent writes are read again. */
const OVERLAP_MS = 5_000
/** Reads at every second beat of the interval. */
const EVERY = 2

const ObjectUpdateRef = builder.objectRef<Update>('ObjectUpdate').implement({
  description: 'Says that an object was written.',
  fields: (t) => ({
    objectId: t.exposeID('objectId', { description: 'Id of the object.' }),
    revision: t.exposeInt('revision', {
      description: 'Revision of the object when the update was noticed; `object` may be newer.',
    }),
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'The object as it is now; null once it is deleted.',
      resolve: objectOf,
    }),
  }),
})

/** The recent updates that were sent, as far back as they are read again. */
class SentUpdates {
  readonly #revisions = new Map<string, { readonly revision: number; readonly updatedAt: Date }>()
  since: Date
  batchId: string
  constructor(since: Date, batchId: string) {
    this.since = since
    this.batchId = batchId
  }

  /** True if the change is not sent yet. */
  take({ objectId, revision, updatedAt, batchId }: ChangedObject): boolean {
    if (updatedAt === null) {
      if (batchId !== null && BigInt(batchId) > BigInt(this.batchId)) this.batchId = batchId
      return true
    }
    if (this.#revisions.get(objectId)?.revision === revision) return false
    this.#revisions.set(objectId, { revision, updatedAt })
    return true
  }

  /** Drops what is not read again. */
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
  const sent = new SentUpdates(recent(), await loadLastBatch(pool, rootId))
  while (!signal.aborted) {
    const next = recent()
    const changes = await live.changes.load({ rootId, since: sent.since, batchId: sent.batchId })
    let ended = false
    for (const change of changes) {
      if (!sent.take(change)) continue
      if (kinds === null || kinds.includes(change.kind)) yield change
      ended ||= change.updatedAt === null && change.objectId === rootId
    }
    if (ended) return
    sent.forgetBefore(next)
    await live.interval.next(signal, EVERY)
  }
}

builder.subscriptionField('objectUpdates', (t) =>
  t.field({
    right: RIGHTS.readObjects,
    type: ObjectUpdateRef,
    description:
      'Updates of the objects of a tree, also those that are no phase changes (progress, error, labels, spec). Only the latest state of an object is sent; states in between are skipped. Ends when the root is deleted.',
    args: {
      rootId: t.arg.id({
        required: true,

        description: 'Id of the root of the tree; otherwise the error NOT_FOUND.',
      }),
      kinds: t.arg({
        type: [ObjectKindEnum],
        limit: 'choices',
        description: 'Kinds to follow. Left out or null: all.',
      }),
    },
    subscribe: async (_, { rootId, kinds }, context) => {
      const root = await objectLoader(context).load(rootId)
      if (root?.parentId !== null) throw notFoundFailure(rootId)
      return eventStream(context, (signal) => follow(context, root.id, kinds ?? null, signal), {
        keyOf: ({ objectId, revision }) => `${objectId} ${revision}`,
        place: root.id,
      })
    },
    resolve: (event) => unpack(event),
  }),
)
