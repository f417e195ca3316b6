import type { ObjectRef } from '@pothos/core'
import { fileNameOf, mediaTypeOf } from '../../../core/artifact.ts'
import { readable } from '../../../core/can-read.ts'
import type { Artifact } from '../../../core/ports/artifacts.ts'
import { hasRight, RIGHTS } from '../../../core/rights.ts'
import type { ObjectRow } from '../../../core/tree.ts'
import { objectLoader, projectLoader } from '../../../graphql/loaders.ts'
import { addNodeType } from '../../../graphql/objects/node.ts'
import { builder, type Types } from '../../../graphql/schema/builder.ts'
import { connect } from '../../../graphql/schema/connection.ts'
import { uuidCursor } from '../../../graphql/schema/cursors.ts'
import { answer } from '../../../graphql/schema/errors.ts'
import { pageCost } from '../../../graphql/schema/limits.ts'
import { NodeRef, ProjectRef, TreeObjectRef } from '../../../graphql/schema/refs.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import { pipelinesCommands } from '../commands/index.ts'
import { EventRef } from '../graphql/event.ts'
import { workloadLoader } from '../graphql/loaders.ts'
import { JobRef, WorkerRef } from '../graphql/workload.ts'
import { rights } from '../rights.ts'
import {
  type CacheRow,
  countArtifacts,
  countCaches,
  type LeftBy,
  listArtifacts,
  listCaches,
  loadArtifacts,
} from './store/artifact-queries.ts'

const ArtifactRef = builder.objectRef<Artifact>('Artifact').implement({
  description: 'A file or a folder that a worker or a job has left when it ended.',
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique and permanent.' }),
    name: t.exposeString('name', { description: 'Name of the artifact, unique in the worker or job.' }),
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'The worker or job that has left it; null once that is deleted.',
      resolve: ({ objectId }, _, context) => (objectId === null ? null : objectLoader(context).load(objectId)),
    }),
    size: t.exposeInt('size', { description: 'Bytes of its content, at most 64 MiB; of a folder, compressed.' }),
    sha256: t.string({
      description: 'SHA-256 of its content, in hexadecimal.',
      resolve: ({ sha256 }) => sha256.toString('hex'),
    }),
    mediaType: t.string({
      description: 'application/gzip for a folder, which is a tar archive; application/octet-stream for a file.',
      resolve: ({ isFolder }) => mediaTypeOf(isFolder),
    }),
    fileName: t.string({ description: 'Name of its download.', resolve: (artifact) => fileNameOf(artifact) }),
    path: t.string({
      description:
        'Its content is read by GET at this path beside that of the API, such as artifacts/0198…, with the same token.',
      resolve: ({ id }) => `artifacts/${id}`,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When its upload began.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is removed; null: with its event.',
    }),
  }),
})
const ArtifactConnection = builder.connectionObject({ name: 'ArtifactConnection', type: ArtifactRef }, {})

addNodeType('Artifact', RIGHTS.readObjects, async (pool, ids, projects, { viewer, system }) => {
  const rows = await loadArtifacts(pool, ids, { projects, now: system.now() })
  return readable(
    viewer,
    rows.map((row) => ({ ...row, rootId: row.eventId })),
  )
})

const left: readonly [ObjectRef<Types, ObjectRow>, LeftBy, string][] = [
  [EventRef, 'event', 'Artifacts that its worker and its jobs have left.'],
  [WorkerRef, 'workload', 'Artifacts that it has left.'],
  [JobRef, 'workload', 'Artifacts that it has left; of a job that is inherited, those of the job that it stands for.'],
]
for (const [ref, by, description] of left) {
  builder.objectField(ref, 'artifacts', (t) =>
    t.field({
      type: ArtifactConnection,
      nullable: true,
      description: `${description} Expired ones are left out. Null only together with an entry in \`errors\`.`,
      args: {
        name: t.arg.string({ limit: 'artifactName', description: 'The required name. Left out or null: any.' }),
        ...t.arg.connectionArgs(),
      },
      complexity: (args) => pageCost(args),
      resolve: async ({ id: own, kind }, { name = null, ...args }, context) => {
        const { pool, system } = context
        const { inheritedFrom } = (kind === 'JOB' && (await workloadLoader(context).load(own))) || {}
        const query = { by, id: inheritedFrom ?? own, name, now: system.now() }
        return await connect(args, {
          cursor: uuidCursor,
          position: ({ id }: Artifact) => id,
          load: (window) => listArtifacts(pool, query, window),
          count: () => countArtifacts(pool, query),
        })
      },
    }),
  )
}

const CacheRef = builder.objectRef<CacheRow>('Cache').implement({
  description: 'An entry of the cache of a project. Its content never changes.',
  fields: (t) => ({
    key: t.exposeString('name', { description: 'Key that workloads name, unique in the project.' }),
    size: t.exposeInt('size', { description: 'Bytes of its content, at most 64 MiB; of a folder, compressed.' }),
    sha256: t.string({
      description: 'SHA-256 of its content, in hexadecimal.',
      resolve: ({ sha256 }) => sha256.toString('hex'),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When its upload began.' }),
    usedAt: t.expose('usedAt', {
      type: 'DateTime',
      description: 'When a workload last found it. The least recently used entry goes first when room is needed.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is removed, unless it is used before; null: when room is needed.',
    }),
  }),
})
const CacheConnection = builder.connectionObject({ name: 'CacheConnection', type: CacheRef }, {})

builder.objectField(ProjectRef, 'caches', (t) =>
  t.field({
    type: CacheConnection,
    nullable: true,
    description:
      'Entries of its cache, in the order in which their uploads began. Null for a worker, and together with an entry in `errors`.',
    args: t.arg.connectionArgs(),
    complexity: (args) => pageCost(args),
    resolve: (project, args, { pool, system, viewer }) => {
      if (!hasRight(viewer, RIGHTS.readSettings, project.id)) return null
      const of = { projectId: project.id, now: system.now() }
      return connect(args, {
        cursor: uuidCursor,
        position: ({ id }: CacheRow) => id,
        load: (window) => listCaches(pool, of, window),
        count: () => countCaches(pool, of),
      })
    },
  }),
)

interface DeletedCache {
  readonly __typename: 'DeletedCache'
  readonly projectId: string
  readonly key: string
}
const DeletedCacheRef = builder.objectRef<DeletedCache>('DeletedCache').implement({
  description: 'Confirms that an entry of a cache is deleted.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'Key that the entry had.' }),
    project: t.field({
      type: ProjectRef,
      nullable: true,
      description: 'Project that had the entry; null once the project is deleted.',
      resolve: ({ projectId }, _, context) => projectLoader(context).load(projectId),
    }),
  }),
})
builder.mutationField('deleteCache', (t) =>
  t.fieldWithInput({
    right: rights.deleteCache,
    ...commandResult('DeleteCacheResult', DeletedCacheRef, pipelinesCommands.deleteCache),
    description:
      'Deletes an entry of the cache of a project, so that the next workload with its key leaves another one.',
    typeOptions: { description: 'The entry to delete.' },
    input: {
      project: t.input.string({
        required: true,
        defaultValue: 'default',
        limit: 'reference',
        description: 'Name of its project.',
      }),
      key: t.input.string({ required: true, limit: 'cacheKey', description: 'Key of the entry.' }),
    },
    resolve: (_, { input }, context) =>
      answer(context.pipelines.deleteCache(context.viewer, input), ({ projectId, key }) => ({
        __typename: 'DeletedCache' as const,
        projectId,
        key,
      })),
  }),
)
