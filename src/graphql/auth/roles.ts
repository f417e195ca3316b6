import { type Grant, PROJECT_ROLES, type ProjectRole, projectsOf } from '../../core/rights.ts'
import type { GrantRow } from '../../store/principals.ts'
import type { GraphQLContext } from '../context.ts'
import { projectLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { ProjectRef } from '../schema/refs.ts'

export const SummaryRoleEnum = builder.enumType('SummaryRole', {
  description: 'The roles of a principal, in one word. `grants` has them one by one.',
  values: {
    ADMIN: { description: 'Administers the instance, or projects.' },
    USER: { description: 'Reads and changes objects and data, and brings code to run.' },
    READER: { description: 'Reads only.' },
    MONITOR: { description: 'Reads the metrics and the health of the instance, and no project.' },
    AGENT: { description: 'Reads, and claims and reports work.' },
    WORKER: {
      description:
        'Reads, and creates and cancels jobs, of its own event only. A worker gets its token with its work; createToken makes none.',
    },
  } as const,
})

export const ProjectRoleEnum = builder.enumType('ProjectRole', {
  description: 'The role of a principal in a project. Each role reads the project; they add up.',
  values: {
    VIEWER: { description: 'Reads only.' },
    EDITOR: { description: 'Creates, changes, cancels and deletes objects and data.' },
    AUTHOR: {
      description: 'Brings code to run: tasks, worker templates, and subscriptions with tasks.',
    },
    ADMIN: {
      description:
        'Administers the project: its settings, limits and secrets, and the principals of this project only.',
    },
    AGENT: { description: 'Claims and reports work, as the actor that the principal is. For agents only.' },
    MONITOR: { description: 'Reads the metrics of the instance, and no project. Only in all projects.' },
  } as const satisfies Readonly<Record<ProjectRole, object>>,
})

export const GrantRef = builder.objectRef<GrantRow>('Grant').implement({
  description: 'A role of a principal in one project, or in all.',
  fields: (t) => ({
    role: t.expose('role', { type: ProjectRoleEnum, description: 'The role.' }),
    projectId: t.exposeID('projectId', {
      nullable: true,
      description: 'Id of the project; null: all projects, also later ones.',
    }),
    project: t.field({
      type: ProjectRef,
      nullable: true,
      description: 'The project; null: all projects, or one that the viewer may not read.',
      resolve: ({ projectId }, _, context) => (projectId === null ? null : projectLoader(context).load(projectId)),
    }),
  }),
})

const isProjectRole = (role: string): role is ProjectRole => PROJECT_ROLES.some((known) => known === role)

/** Without what no grant can give. */
export const shownGrants = (grants: readonly Grant[]): GrantRow[] =>
  grants.flatMap(({ role, projectId }) => (isProjectRole(role) ? [{ role, projectId }] : []))

/** Names of the projects of these grants that the viewer may read; null: all. */
export async function projectNames(grants: readonly Grant[], context: GraphQLContext): Promise<string[] | null> {
  const ids = projectsOf(grants)
  if (ids === null) return null
  const projects = await Promise.all(ids.map((id) => projectLoader(context).load(id)))
  return projects.flatMap((project) => project?.name ?? [])
}
