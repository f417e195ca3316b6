import type { Viewer } from '../../core/ports/viewer.ts'
import { builder } from '../schema/builder.ts'
import { ActorEnum } from '../schema/enums.ts'

export const RoleEnum = builder.enumType('Role', {
  description: 'What a token allows.',
  values: {
    ADMIN: { description: 'Everything.' },
    USER: { description: 'Reads and changes everything but tokens.' },
    READER: { description: 'Reads only.' },
    AGENT: { description: 'Reads, and claims and reports work.' },
    WORKER: {
      description:
        'Reads, and creates and cancels jobs, of its own event only. A worker gets its token with its work; createToken makes none.',
    },
  } as const,
})

export const ViewerRef = builder.objectRef<Viewer>('Viewer').implement({
  description: 'The caller, as its token says.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the token, recorded as `by` of phase changes.' }),
    role: t.expose('role', { type: RoleEnum, description: 'What the token allows.' }),
    actor: t.expose('actor', { type: ActorEnum, description: 'As whom the caller moves objects.' }),
    projects: t.stringList({
      nullable: true,
      description: 'Names of the projects that the caller may read; null: all.',
      resolve: ({ projects }) => projects && [...projects],
    }),
    types: t.stringList({
      nullable: true,
      description: 'Types of work that an agent may claim; null: all.',
      resolve: ({ types }) => types && [...types],
    }),
    targets: t.stringList({
      nullable: true,
      description: 'Targets of the work that an agent may claim; null: all.',
      resolve: ({ targets }) => targets && [...targets],
    }),
  }),
})

builder.queryField('viewer', (t) =>
  t.field({
    type: ViewerRef,
    nullable: true,
    description: 'The caller. Null only together with an entry in `errors`.',
    resolve: (_, __, { viewer }) => viewer,
  }),
)
