import { AGENTS, EDITORS, PEOPLE, type Right, right } from '../../core/rights.ts'

export const rights = {
  createEvent: right('create', 'EVENT', EDITORS),
  cancelEvent: right('cancel', 'EVENT', EDITORS),
  deleteEvent: right('delete', 'EVENT', EDITORS),
  deleteCache: right('delete', 'CACHE', EDITORS),
  createJob: right('create', 'JOB', ['WORKER']),
  /** A runtime says what its own place is like. */
  registerPlace: right('register', 'PLACE', AGENTS, { actor: 'RUNTIME' }),
  drainPlace: right('drain', 'PLACE', ['ADMINISTRATOR'], { everywhere: true }),
  readPlaces: right('read', 'PLACE', [...PEOPLE, 'AGENT']),
  cancelJob: right('cancel', 'JOB', [...EDITORS, 'WORKER']),
} as const satisfies Readonly<Record<string, Right>>
