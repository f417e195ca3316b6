/** Roles of people who may change something; agents and workers use other mutations. */
export const isWriter = (role: string): boolean => role === 'ADMIN' || role === 'USER'

/** The rights of a viewer, as far as pages depend on them. */
export interface SignedIn {
  /** It administers the instance, or projects. */
  readonly isAdmin: boolean
  /** It administers the instance. */
  readonly isAdministrator: boolean
}
export const signedIn = (viewer: { readonly role: string; readonly administrator: boolean } | null): SignedIn => ({
  isAdmin: viewer?.role === 'ADMIN',
  isAdministrator: viewer?.administrator === true,
})
