import { ADMINS, EDITORS, PEOPLE, type Right, right } from '../../core/rights.ts'

export const rights = {
  read: right('read', 'LIMIT', PEOPLE),
  create: right('create', 'LIMIT', EDITORS),
  update: right('update', 'LIMIT', EDITORS),
  /** Besides the right to create or update: objects of all projects wait in its lines. */
  share: right('share', 'LIMIT', ['ADMINISTRATOR'], { everywhere: true }),
  override: right('override', 'LIMIT', EDITORS),
  pause: right('pause', 'LIMIT', EDITORS),
  delete: right('delete', 'LIMIT', EDITORS),
} as const satisfies Readonly<Record<string, Right>>

/** A rule binds the editors of specs, so they have no right to write one. */
export const invariantRights = {
  read: right('read', 'INVARIANT', PEOPLE),
  create: right('create', 'INVARIANT', ADMINS),
  update: right('update', 'INVARIANT', ADMINS),
  delete: right('delete', 'INVARIANT', ADMINS),
} as const satisfies Readonly<Record<string, Right>>
