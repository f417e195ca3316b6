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
}
interface Viewer {
  readonly id: string
  readonly role: string
  readonly administrator: boolean
}
export const signedIn = (viewer: Viewer | null): SignedIn => ({
  id: viewer?.id ?? '',
  isAdmin: viewer?.role === 'ADMIN',
  isAdministrator: viewer?.administrator === true,
})
