import { forbidden, type RefusalOf } from './errors.ts'
import type { Actor } from './vocabulary.ts'
import { words } from './words.ts'

/**
 * Rights as data. Each root field of the API declares one right, and commands require the same one in the project that
 * they change; docs/security.md lists them all. Families declare the rights on their own kinds.
 */

/** Roles of a principal in one project, or in all. */
export const PROJECT_ROLES = ['VIEWER', 'EDITOR', 'AUTHOR', 'ADMIN', 'AGENT', 'MONITOR'] as const
export type ProjectRole = (typeof PROJECT_ROLES)[number]

/** Besides: the administrator of the instance, and the worker of one event. */
export const ROLES = [...PROJECT_ROLES, 'ADMINISTRATOR', 'WORKER'] as const
export type Role = (typeof ROLES)[number]

export interface Grant {
  readonly role: Role
  /** Null: in all projects, also in later ones. */
  readonly projectId: string | null
}

/** A caller, as far as its rights go. */
export interface Granted {
  readonly name: string
  readonly actor: Actor
  readonly grants: readonly Grant[]
}

export interface Right {
  readonly verb: string
  /** A kind of object, or something else that the API has, such as SECRET. */
  readonly kind: string
  /** Each of these has the right in the projects of its grants. Null: every caller has it, even without a role. */
  readonly roles: readonly Role[] | null
  /** Only callers that are this actor have it. */
  readonly actor?: Actor
  /** Only a grant for all projects gives it. */
  readonly everywhere?: true
}

/** Change and end what is there, and run code that is there already. */
export const EDITORS = ['EDITOR', 'ADMINISTRATOR'] as const
/** Decide at gates, which may name one of them. */
export const APPROVERS = ['EDITOR', 'AUTHOR', 'ADMIN'] as const
/** Bring code to run. */
export const AUTHORS = ['AUTHOR', 'ADMINISTRATOR'] as const
/** Administer a project. */
export const ADMINS = ['ADMIN', 'ADMINISTRATOR'] as const
export const PEOPLE = ['VIEWER', 'EDITOR', 'AUTHOR', 'ADMIN', 'ADMINISTRATOR'] as const
/** Read the objects of their projects. */
export const READERS = [...PEOPLE, 'AGENT', 'WORKER'] as const
/** The administrator is not one of them. */
export const AGENTS = ['AGENT'] as const

export const right = (
  verb: string,
  kind: string,
  roles: readonly Role[] | null,
  more: Pick<Right, 'actor' | 'everywhere'> = {},
): Right => ({ verb, kind, roles, ...more })

/** Rights that belong to no family. */
export const RIGHTS = {
  readServer: right('read', 'SERVER', null),
  readObjects: right('read', 'OBJECT', READERS),
  updateLabels: right('label', 'OBJECT', EDITORS),
  /** Decide about work that waits for its next attempt. */
  retry: right('retry', 'OBJECT', EDITORS),
  /** Hold back new work of a tree, and release it. */
  pause: right('pause', 'OBJECT', EDITORS),
  /** Decide at gates, which may name a role. */
  approve: right('approve', 'GATE', [...APPROVERS, 'ADMINISTRATOR']),
  signal: right('signal', 'GATE', EDITORS),
  readLog: right('read', 'LOG', READERS),
  /** They say how much the log grows, and nothing of what is in it. */
  readSeals: right('read', 'SEAL', [...PEOPLE, 'MONITOR']),
  readProjects: right('read', 'PROJECT', READERS),
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
  /** With what they have received. */
  readHooks: right('read', 'HOOK', PEOPLE),
  /** Besides, its editor needs the right of what it starts, when it is written and at each delivery. */
  createHook: right('create', 'HOOK', EDITORS),
  updateHook: right('update', 'HOOK', EDITORS),
  deleteHook: right('delete', 'HOOK', EDITORS),
  replayDelivery: right('replay', 'HOOK', EDITORS),
  /** The worker template, subscriptions and the names of secrets. */
  readSettings: right('read', 'SETTINGS', [...PEOPLE, 'AGENT']),
  readData: right('read', 'DATA_OBJECT', [...PEOPLE, 'AGENT']),
  readAgents: right('read', 'AGENT', [...PEOPLE, 'AGENT']),
  readStreams: right('read', 'STREAM', ADMINS),
  /** Besides, it shows what other rights show. */
  readHealth: right('read', 'HEALTH', [...PEOPLE, 'MONITOR']),
  readMetrics: right('read', 'METRICS', ['MONITOR', 'ADMINISTRATOR'], { everywhere: true }),
  readAudit: right('read', 'AUDIT', ADMINS),
  verifyAudit: right('verify', 'AUDIT', ['ADMINISTRATOR'], { everywhere: true }),
  readPrincipals: right('read', 'PRINCIPAL', ADMINS),
  createPrincipal: right('create', 'PRINCIPAL', ADMINS),
  updatePrincipal: right('update', 'PRINCIPAL', ADMINS),
  deletePrincipal: right('delete', 'PRINCIPAL', ADMINS),
  createToken: right('create', 'TOKEN', ADMINS),
  revokeToken: right('revoke', 'TOKEN', ADMINS),
  claimWork: right('claim', 'WORK', AGENTS),
  reportWork: right('report', 'WORK', AGENTS),
} as const satisfies Readonly<Record<string, Right>>

/** True if the caller has the right in the project or, if none is given, in any. */
export function hasRight({ actor, grants }: Granted, { roles, ...only }: Right, projectId?: string): boolean {
  if (roles === null) return true
  if (only.actor !== undefined && only.actor !== actor) return false
  return grants.some((grant) => {
    if (!roles.includes(grant.role)) return false
    if (grant.projectId === null) return true
    return !only.everywhere && (projectId === undefined || grant.projectId === projectId)
  })
}

/** Refuses callers without the right in the project; without one, callers that have it nowhere. */
export function requireRight(caller: Granted, right: Right, projectId?: string): RefusalOf<'ForbiddenError'> | null {
  return hasRight(caller, right, projectId) ? null : forbidden(refusalOf(caller, right, projectId))
}

/** Words that people know better than those of the API. */
const NOUNS: Readonly<Record<string, string>> = { PRINCIPAL: 'tokens and users' }
/** Roles, which are granted, keep their names. */
const inWords = (kind: string): string =>
  (ROLES as readonly string[]).includes(kind) ? kind : (NOUNS[kind] ?? words(kind))
function refusalOf({ name }: Granted, right: Right, projectId?: string): string {
  return `${name} may not ${right.verb} ${inWords(right.kind)}: it takes ${requirementOf(right, projectId)}.`
}

/** The requirement of the right, such as `the role EDITOR in the project`. */
export function requirementOf({ roles, actor, everywhere }: Right, projectId?: string): string {
  const others = (roles ?? []).filter((role) => role !== 'ADMINISTRATOR')
  const role = `the role ${(others.length > 0 ? others : (roles ?? [])).join(' or ')}`
  const where = everywhere ? ' for all projects' : projectId === undefined ? '' : ' in the project'
  return `${role}${where}${actor ? ` and the actor ${actor}` : ''}`
}

/** Ids of the projects in which the caller has the right; null: in all. */
export function projectsWith({ actor, grants }: Granted, right: Right): readonly string[] | null {
  if (right.actor !== undefined && right.actor !== actor) return []
  return idsOf(grants.filter(({ role }) => right.roles?.includes(role) ?? true))
}

/** Ids of the projects that these grants open to read; null: all. */
export const projectsOf = (grants: readonly Grant[]): readonly string[] | null =>
  idsOf(grants.filter(({ role }) => READERS.some((reader) => reader === role)))

/** The records that a caller may read: those of projects and, as administrator, those that act beyond their projects. */
export interface Reach {
  readonly projects: readonly string[] | null
  readonly isAdministrator: boolean
}
export const reachOf = (caller: Granted, right: Right): Reach => ({
  projects: projectsWith(caller, right),
  isAdministrator: isAdministrator(caller),
})

/** The right to do it in all projects at once, which only the administrator of the instance has. */
export const inAllProjects = (right: Right): Right => ({ ...right, roles: ['ADMINISTRATOR'], everywhere: true })

function idsOf(grants: readonly Grant[]): readonly string[] | null {
  const ids = new Set(grants.map(({ projectId }) => projectId))
  return ids.has(null) ? null : ([...ids] as string[])
}

/**
 * The project that a principal counts for where callers share: whoever administers a project makes as many principals there as it likes.
 * Null: its rights reach beyond projects, so that only who has such rights can have made it.
 */
export function homeOf(grants: readonly Grant[]): string | null {
  const ids = idsOf(grants)
  return ids?.toSorted()[0] ?? null
}
/** The caller where connections to the database are shared: its share, and itself within that. */
export const readerOf = ({
  principalId,
  grants,
}: {
  readonly principalId: string
  readonly grants: readonly Grant[]
}) => `${homeOf(grants) ?? principalId} ${principalId}`

/**
 * True if the caller may administer a principal with these grants: it administers all their projects. A principal without
 * grants takes who administers all projects.
 */
export function isAbove(caller: Granted, grants: readonly Grant[]): boolean {
  const own = projectsWith(caller, RIGHTS.updatePrincipal)
  if (own === null) return isAdministrator(caller) || !grants.some(({ role }) => role === 'ADMINISTRATOR')
  return grants.length > 0 && grants.every(({ projectId }) => projectId !== null && own.includes(projectId))
}

/**
 * The right to grant the role, which takes the role itself. Nobody is an agent and administers, so who administers a project has its
 * agents, and reads it. A runtime gets the tokens of workers, which create jobs, so that it takes who may bring code.
 */
function grantingRight(role: Role, actor: Actor): Right {
  if (role === 'AGENT' && actor === 'RUNTIME') return right('make a RUNTIME an', role, AUTHORS)
  return right('grant', role, role === 'VIEWER' || role === 'AGENT' ? ADMINS : [role, 'ADMINISTRATOR'])
}

/**
 * Refuses grants of what the caller has not itself, in the same project or in all. With a right beyond its own it would have
 * that, by a principal of its own.
 */
export function requireGrants(
  caller: Granted,
  { actor, grants }: Pick<Granted, 'actor' | 'grants'>,
): RefusalOf<'ForbiddenError'> | null {
  for (const { role, projectId } of grants) {
    const granting = grantingRight(role, actor)
    const refused =
      projectId === null
        ? requireRight(caller, { ...granting, everywhere: true })
        : requireRight(caller, granting, projectId)
    if (refused) return refused
  }
  return null
}

export const isAdministrator = ({ grants }: Pick<Granted, 'grants'>): boolean =>
  grants.some(({ role }) => role === 'ADMINISTRATOR')

/** A caller's roles in one word. */
export type SummaryRole = 'ADMIN' | 'USER' | 'READER' | 'MONITOR' | 'AGENT' | 'WORKER'
export function summaryOf({ actor, grants }: Pick<Granted, 'actor' | 'grants'>): SummaryRole {
  if (actor !== 'USER') return actor === 'WORKER' ? 'WORKER' : 'AGENT'
  const has = (...roles: readonly Role[]): boolean => grants.some(({ role }) => roles.includes(role))
  if (has('ADMINISTRATOR', 'ADMIN')) return 'ADMIN'
  if (has('EDITOR', 'AUTHOR')) return 'USER'
  return has('MONITOR') && !has('VIEWER') ? 'MONITOR' : 'READER'
}
