import type { Viewer } from '../../core/ports/viewer.ts'
import { builder } from '../schema/builder.ts'
import { ActorEnum } from '../schema/enums.ts'

export const RoleEnum = builder.enumType('Role', {
  description:
    'ADMIN: everything. USER: all but tokens. READER: reads. AGENT: claims and reports work. WORKER: reads, and creates and cancels jobs of its own event; no token is made for it, it is handed out with the work.',
  values: ['ADMIN', 'USER', 'READER', 'AGENT', 'WORKER'] as const,
})

export const ViewerRef = builder.objectRef<Viewer>('Viewer').implement({
  description: 'Who is asking, as the token says.',
  fields: (t) => ({
    name: t.exposeString('name'),
    role: t.expose('role', { type: RoleEnum }),
    actor: t.expose('actor', { type: ActorEnum }),
    projects: t.stringList({
      nullable: true,
      description: 'Names of the projects that the viewer may see; null means all.',
      resolve: ({ projects }) => projects && [...projects],
    }),
    types: t.stringList({
      nullable: true,
      description: 'What an agent may claim; null means all.',
      resolve: ({ types }) => types && [...types],
    }),
    targets: t.stringList({ nullable: true, resolve: ({ targets }) => targets && [...targets] }),
  }),
})

builder.queryField('viewer', (t) =>
  t.field({ type: ViewerRef, nullable: true, resolve: (_, __, { viewer }) => viewer }),
)
