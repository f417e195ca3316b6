import { DatabaseError } from 'pg'

/** Another transaction has kept a lock for as long as this one may wait: a second attempt would only wait as long again. */
export const isLockTimeout = (error: unknown): boolean => error instanceof DatabaseError && error.code === '55P03'
