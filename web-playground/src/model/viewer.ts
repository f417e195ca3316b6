/** Roles that people have who may change something; agents and workers have their own ways. */
export const isWriter = (role: string): boolean => role === 'ADMIN' || role === 'USER'
