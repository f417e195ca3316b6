/** Roles of people who may change something; agents and workers use other mutations. */
export const isWriter = (role: string): boolean => role === 'ADMIN' || role === 'USER'

/** The rights of a viewer, as far as pages depend on them. */
export interface SignedIn {
  /** The principal's id; empty: unknown. */
  readonly id: string
  /** It administers the instance, or projects. */
  readonly isAdmin: boolean
  /** It administers the instance. */
  readonly isAdministrator: boolean
  /** True if it administers the project of this name or, without a name, all of them. */
  administers(project?: string): boolean
  /** True if it may change and end what is in the project of this name. */
  edits(project: string): boolean
  /** It may read the work of all projects. */
  readonly seesLoad: boolean
}
interface Viewer {
  readonly id: string
  readonly role: string
  readonly administrator: boolean
  /** The project is null: in all. */
  readonly grants: readonly {
    readonly role: string
    readonly projectId: string | null
    readonly project: { readonly name: string } | null
  }[]
}
export const signedIn = (viewer: Viewer | null): SignedIn => ({
  id: viewer?.id ?? '',
  isAdmin: viewer?.role === 'ADMIN',
  isAdministrator: viewer?.administrator === true,
  administers: (name) =>
    viewer?.administrator === true ||
    (viewer?.grants.some(
      ({ role, projectId, project }) =>
        role === 'ADMIN' && (projectId === null || (name !== undefined && project?.name === name)),
    ) ??
      false),
  edits: (name) =>
    viewer?.administrator === true ||
    (viewer?.grants.some(
      ({ role, projectId, project }) => role === 'EDITOR' && (projectId === null || project?.name === name),
    ) ??
      false),
  seesLoad:
    viewer?.administrator === true ||
    (viewer?.grants.some(({ role, projectId }) => role === 'MONITOR' && projectId === null) ?? false),
})
