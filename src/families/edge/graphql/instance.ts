import type { ObjectRow } from '../../../core/tree.ts'
import { builder } from '../../../graphql/builder.ts'
import { referredObject, specLoader } from '../../../graphql/loaders.ts'
import { NodeRef, TreeObjectRef } from '../../../graphql/refs.ts'
import { holderOf, WorkHolderRef } from '../../../graphql/work-holder.ts'
import { CloudletRef } from './cloudlet.ts'
import { instanceLoader } from './loaders.ts'

/** Cluster instances and app instances look alike. */
const instanceRef = (name: string, description: string) =>
  builder.objectRef<ObjectRow>(name).implement({
    description,
    interfaces: [NodeRef, TreeObjectRef],
    fields: (t) => ({
      operationId: t.id({
        nullable: true,
        description: 'Of its last creation, update or deletion; a name that is used again has another one.',
        resolve: ({ jobId }) => jobId,
      }),
      spec: t.field({
        type: 'JSON',
        nullable: true,
        resolve: async ({ id }, _, context) => (await specLoader(context).load(id))?.spec ?? null,
      }),
      specRevision: t.int({
        description: 'Of the spec that is wanted: what its CRM tells it apart by.',
        resolve: async ({ id }, _, context) => (await instanceLoader(context).load(id))?.specRevision ?? 1,
      }),
      drifted: t.boolean({
        description: 'As of the last resync it is not really as recorded.',
        resolve: async ({ id }, _, context) => (await instanceLoader(context).load(id))?.drifted ?? false,
      }),
      undoing: t.boolean({
        description: 'What was withdrawn, or has timed out, is being taken back by its CRM.',
        resolve: async ({ id }, _, context) => (await instanceLoader(context).load(id))?.undoing ?? false,
      }),
      cloudlet: t.field({
        type: CloudletRef,
        nullable: true,
        resolve: ({ rootId }, _, context) => referredObject(context, rootId),
      }),
      agent: t.field({
        type: WorkHolderRef,
        nullable: true,
        description: 'The CRM that has the request, or last had.',
        resolve: ({ id }, _, context) => holderOf(context, id),
      }),
    }),
  })

export const ClusterInstRef = instanceRef('ClusterInst', 'A cluster on a cloudlet.')
export const AppInstRef = instanceRef('AppInst', 'An app in a cluster instance.')
