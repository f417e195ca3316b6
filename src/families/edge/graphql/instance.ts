import type { ObjectRow } from '../../../core/tree.ts'
import { WorkObjectRef } from '../../../graphql/agents/work-object.ts'
import { referredObject, sideField, specLoader } from '../../../graphql/loaders.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { NodeRef, TreeObjectRef } from '../../../graphql/schema/refs.ts'
import { CloudletRef } from './cloudlet.ts'
import { instanceLoader } from './loaders.ts'

/** Cluster instances and app instances have the same fields. */
const instanceRef = (name: string, description: string) =>
  builder.objectRef<ObjectRow>(name).implement({
    description,
    interfaces: [NodeRef, TreeObjectRef, WorkObjectRef],
    fields: (t) => ({
      operationId: t.id({
        nullable: true,
        description:
          'Id of its last creation, update or deletion. An instance that takes over the name of a deleted one has another. Null if there was none.',
        resolve: ({ jobId }) => jobId,
      }),
      spec: t.field({
        type: 'JSON',
        nullable: true,
        description:
          'Spec that is wanted, a JSON object that only the CRM interprets; null once the instance is deleted.',
        resolve: sideField(specLoader, 'spec', null),
      }),
      specRevision: t.int({
        description:
          'Revision of the spec that is wanted, from 1, by which the CRM tells specs apart. An update that fails restores the one before.',
        resolve: sideField(instanceLoader, 'specRevision', 1),
      }),
      drifted: t.boolean({
        description:
          'True if the instance is known to differ from its record, by the last resync of the CRM. An update puts it right.',
        resolve: sideField(instanceLoader, 'drifted', false),
      }),
      undoing: t.boolean({
        description: 'True while the CRM takes back a request that was withdrawn or has timed out.',
        resolve: sideField(instanceLoader, 'undoing', false),
      }),
      cloudlet: t.field({
        type: CloudletRef,
        nullable: true,
        description: 'Cloudlet on which it is; null once that is deleted.',
        resolve: ({ rootId }, _, context) => referredObject(context, rootId),
      }),
    }),
  })

export const ClusterInstRef = instanceRef(
  'ClusterInst',
  'A cluster on a cloudlet, which the CRM of the cloudlet creates, updates and deletes on request.',
)
export const AppInstRef = instanceRef(
  'AppInst',
  'An app in a cluster instance, which the CRM of the cloudlet creates, updates and deletes on request.',
)
