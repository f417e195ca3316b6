/** Roles of people who may change something; agents and workers use other mutations. */
export const isWriter = (role: string): boolean => role === 'ADMIN' || role === 'USER'
