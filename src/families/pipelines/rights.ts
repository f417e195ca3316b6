import { ADMINS, AGENTS, AUTHORS, EDITORS, PEOPLE, type Right, right } from '../../core/rights.ts'

export const rights = {
  createProject: right('create', 'PROJECT', ADMINS, { everywhere: true }),
  /** Settings that are no code. */
  configureProject: right('configure', 'PROJECT', ADMINS),
  /** Worker templates, and subscriptions with tasks. */
  programProject: right('program', 'PROJECT', AUTHORS),
  updateProject: right('update', 'PROJECT', [...ADMINS, 'AUTHOR']),
  deleteProject: right('delete', 'PROJECT', ADMINS),
  setSecret: right('set', 'SECRET', ADMINS),
  deleteSecret: right('delete', 'SECRET', ADMINS),
  resealSecrets: right('reseal', 'SECRET', ['ADMINISTRATOR'], { everywhere: true }),
  /** The worker template, subscriptions and the names of secrets. */
  readSettings: right('read', 'SETTINGS', [...PEOPLE, 'AGENT']),
  createEvent: right('create', 'EVENT', EDITORS),
  cancelEvent: right('cancel', 'EVENT', EDITORS),
  deleteEvent: right('delete', 'EVENT', EDITORS),
  createJob: right('create', 'JOB', ['WORKER']),
  /** A runtime says what its own place is like. */
  registerPlace: right('register', 'PLACE', AGENTS, { actor: 'RUNTIME' }),
  drainPlace: right('drain', 'PLACE', ['ADMINISTRATOR'], { everywhere: true }),
  readPlaces: right('read', 'PLACE', [...PEOPLE, 'AGENT']),
  cancelJob: right('cancel', 'JOB', [...EDITORS, 'WORKER']),
} as const satisfies Readonly<Record<string, Right>>
