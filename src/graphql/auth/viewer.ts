import type { Viewer } from '../../core/ports/viewer.ts'
import { isAdministrator, RIGHTS, summaryOf } from '../../core/rights.ts'
import { builder } from '../schema/builder.ts'
import { ActorEnum } from '../schema/enums.ts'
import { GrantRef, projectNames, SummaryRoleEnum, shownGrants } from './roles.ts'

export const ViewerRef = builder.objectRef<Viewer>('Viewer').implement({
  description: 'The caller, as its token says.',
  fields: (t) => ({
    id: t.exposeID('principalId', {
      description:
        'Id of the principal, recorded as `byId` of phase changes. For a worker, the id of the worker itself.',
    }),
    name: t.exposeString('name', { description: 'Name of the principal, recorded as `by` of phase changes.' }),
    role: t.field({
      type: SummaryRoleEnum,
      description: 'The roles of the principal, in one word.',
      resolve: summaryOf,
    }),
    administrator: t.boolean({
      description: 'True if the caller administers the instance, which is above all roles in projects.',
      resolve: isAdministrator,
    }),
    grants: t.field({
      type: [GrantRef],
      description:
        'Roles of the principal in projects. Empty for a worker, which has the rights that its event gives it.',
      resolve: ({ grants }) => shownGrants(grants),
    }),
    actor: t.expose('actor', { type: ActorEnum, description: 'As whom the caller moves objects.' }),
    projects: t.stringList({
      nullable: true,
      description: 'Names of the projects that the caller may read; null: all.',
      resolve: ({ grants }, _, context) => projectNames(grants, context),
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
    right: RIGHTS.readServer,
    type: ViewerRef,
    nullable: true,
    description: 'The caller. Null only together with an entry in `errors`.',
    resolve: (_, __, { viewer }) => viewer,
  }),
)
