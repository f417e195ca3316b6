import { type FieldProblem, invalidInput, type RefusalOf } from '../../core/errors.ts'
import { nameProblem } from '../../core/hidden-text.ts'
import type { Outcome } from '../../core/ports/outcome.ts'
import type { ProjectRole, SummaryRole } from '../../core/rights.ts'
import type { Actor } from '../../core/vocabulary.ts'
import type { NewToken } from './tokens.ts'

/** Validates the input on principals and tokens. Pure. */

export interface NamedGrant {
  readonly role: ProjectRole
  /** Name of the project; null: all. */
  readonly project: string | null
  /** The path of the project in the input. */
  readonly path: string
}
/** A principal whose projects are not looked up yet. */
export interface NamedPrincipal {
  readonly name: string
  readonly actor: Actor
  readonly administrator: boolean
  readonly grants: readonly NamedGrant[]
  readonly types: readonly string[] | null
  readonly targets: readonly string[] | null
}

const OF_INSTANCE = 'metrics are of the whole instance: leave it out'
const NOT_ASSIGNABLE: readonly Actor[] = ['USER', 'CONTROLLER', 'WORKER']

class Problems {
  readonly found: FieldProblem[] = []
  add(path: string, message: string): void {
    this.found.push({ path: `input.${path}`, message })
  }
  checkName(name: string): void {
    const problem = nameProblem(name)
    if (problem !== null) this.add('name', problem)
  }
  checkExpiry(ms: number | null): void {
    if (ms !== null && !(ms >= 1_000 && ms <= 1e12)) this.add('expiresInMs', 'must be between 1000 and 1e12')
  }
  checkAgent(actor: Actor): void {
    if (NOT_ASSIGNABLE.includes(actor)) this.add('actor', `an agent is never ${actor}`)
    if (actor === 'CRM_V1' || actor === 'CRM_V2')
      this.add('actor', 'must be CRM; connectCrm says which of the two it is')
  }
  or<T extends object>(value: T): Outcome<T, RefusalOf<'InvalidInputError'>> {
    return this.found.length > 0 ? { ok: false, refusal: invalidInput(this.found) } : { ok: true, ...value }
  }
}

type Lists = Partial<{ readonly [Key in 'types' | 'targets' | 'projects']: readonly string[] | null }>

export interface CreateToken extends Lists {
  readonly name: string
  readonly role: SummaryRole
  readonly actor?: Actor | null
  readonly expiresInMs?: number | null
}

const ROLES_OF: Readonly<Record<SummaryRole, readonly ProjectRole[]>> = {
  ADMIN: ['ADMIN', 'AUTHOR', 'EDITOR'],
  USER: ['EDITOR', 'AUTHOR'],
  READER: ['VIEWER'],
  MONITOR: ['MONITOR'],
  AGENT: ['AGENT'],
  WORKER: [],
}

/** A token that comes with a principal of its own. */
export function readToken(
  input: CreateToken,
): Outcome<{ readonly principal: NamedPrincipal; readonly token: NewToken }, RefusalOf<'InvalidInputError'>> {
  const { name, role, types = null, targets = null, projects = null, expiresInMs = null } = input
  const isAgent = role === 'AGENT'
  const problems = new Problems()
  problems.checkName(name)
  if (role === 'WORKER') problems.add('role', 'is for workers only, which get their tokens when they start')
  if (!isAgent && (input.actor ?? types ?? targets))
    problems.add('role', 'actor, types and targets are for agents only')
  const actor = isAgent ? (input.actor ?? 'DEPLOYER') : 'USER'
  if (isAgent) problems.checkAgent(actor)
  if (role === 'MONITOR' && projects !== null) problems.add('projects', OF_INSTANCE)
  if (projects?.length === 0) problems.add('projects', 'must not be empty: leave it out for all projects')
  problems.checkExpiry(expiresInMs)
  const administrator = role === 'ADMIN' && projects === null
  const places = projects?.map((project, i) => ({ project, path: `input.projects.${i}` })) ?? [
    { project: null, path: 'input.projects' },
  ]
  const grants = administrator ? [] : places.flatMap((at) => ROLES_OF[role].map((one) => ({ role: one, ...at })))
  return problems.or({
    principal: { name, actor, administrator, grants, types, targets },
    token: { name, expiresInMs },
  })
}

export interface GrantInput {
  readonly role: ProjectRole
  readonly project?: string | null
}
export interface CreatePrincipal extends Omit<Lists, 'projects'> {
  readonly name: string
  readonly actor: Actor
  readonly administrator: boolean
  readonly grants: readonly GrantInput[]
}

/** `kept` is a name that it has already, and keeps although no other may be given it. */
export function readPrincipal(
  input: CreatePrincipal,
  kept?: string,
): Outcome<{ readonly principal: NamedPrincipal }, RefusalOf<'InvalidInputError'>> {
  const { name, actor, administrator, types = null, targets = null } = input
  const problems = new Problems()
  if (name !== kept) problems.checkName(name)
  if (actor !== 'USER') problems.checkAgent(actor)
  if (actor !== 'USER' && administrator) problems.add('administrator', 'an agent administers nothing')
  if (actor === 'USER' && (types ?? targets)) problems.add('actor', 'types and targets are for agents only')
  const grants = input.grants.map(({ role, project = null }, i) => {
    const isFitting = (role === 'AGENT') === (actor !== 'USER')
    if (!isFitting)
      problems.add(
        `grants.${i}.role`,
        actor === 'USER' ? 'AGENT is for agents only' : 'an agent has the role AGENT only',
      )
    if (role === 'MONITOR' && project !== null) problems.add(`grants.${i}.project`, OF_INSTANCE)
    return { role, project, path: `input.grants.${i}.project` }
  })
  return problems.or({ principal: { name, actor, administrator, grants, types, targets } })
}

export function readNewToken({
  name,
  expiresInMs = null,
}: {
  readonly name: string
  readonly expiresInMs?: number | null
}): Outcome<{ readonly token: NewToken }, RefusalOf<'InvalidInputError'>> {
  const problems = new Problems()
  problems.checkName(name)
  problems.checkExpiry(expiresInMs)
  return problems.or({ token: { name, expiresInMs } })
}
