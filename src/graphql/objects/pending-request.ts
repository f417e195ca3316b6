import type { ObjectRow } from '../../core/tree.ts'
import { perOperation } from '../context.ts'
import type { BlockerValue, PendingRequestValue } from '../family.ts'
import type { ResolverContext } from '../resolver-context.ts'
import { builder } from '../schema/builder.ts'
import { BlockerRef, TreeObjectRef } from '../schema/refs.ts'
import { loadFromFamilies } from './object-lists.ts'

/** Requests that were accepted and wait. */

const pendingRequestsLoader = perOperation((context: ResolverContext) =>
  loadFromFamilies<readonly PendingRequestValue[]>(
    context,
    async (family, rows) => (await family.pendingRequests?.(context, rows)) ?? rows.map(() => []),
  ),
)

/** When the deletion of the object was requested, even if it has not begun; null: it was not. */
export async function deletionRequestedAt(row: ObjectRow, context: ResolverContext): Promise<Date | null> {
  if (row.deletionRequestedAt) return row.deletionRequestedAt
  const requests = await pendingRequestsLoader(context).load(row)
  const deletion = requests.find(({ verb }) => verb === 'delete')
  // An earlier release has not noted when.
  return deletion ? (deletion.at ?? row.updatedAt) : null
}

const PendingRequestRef = builder.objectRef<PendingRequestValue>('PendingRequest').implement({
  description: 'A request on an object that was accepted and waits for what runs, or is ending that.',
  fields: (t) => ({
    verb: t.exposeString('verb', { description: 'The requested verb, such as `delete`, `reconcile` or `cancel`.' }),
    mode: t.exposeString('mode', {
      nullable: true,
      description: 'How: STANDARD, IF_CHANGED or FORCE for the jobs of installations. Null: the verb has no modes.',
    }),
    by: t.exposeString('by', {
      nullable: true,
      description:
        'Name of the principal that requested it last; null if the engine did, or an earlier release has not noted it.',
    }),
    at: t.expose('at', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was requested last; null if an earlier release has not noted it.',
    }),
    message: t.exposeString('message', { description: 'Its blocker, in a sentence.' }),
  }),
})

builder.interfaceField(TreeObjectRef, 'pendingRequests', (t) =>
  t.field({
    type: [PendingRequestRef],
    // There are at most two, and hardly ever one.
    complexity: { field: 1, multiplier: 1 },
    description:
      'Requests that were accepted and have not begun, or that are ending what runs: of a deletion and a reconcile only the deletion. Empty if there is none.',
    resolve: async (row, _, context) => [...(await pendingRequestsLoader(context).load(row))],
  }),
)

builder.objectRef<BlockerValue & { readonly request: PendingRequestValue }>('RequestBlocker').implement({
  description: 'A request on the object waits until the running job has ended.',
  interfaces: [BlockerRef],
  fields: (t) => ({
    request: t.field({
      type: PendingRequestRef,
      description: 'The request.',
      resolve: ({ request }) => request,
    }),
  }),
})
