/** A token as the page shows it. */
export interface Token {
  readonly id: string
  readonly name: string
  readonly role: string
  readonly actor: string
  readonly types: readonly string[] | null
  readonly targets: readonly string[] | null
  readonly projects: readonly string[] | null
  readonly createdAt: string
  readonly lastUsedAt: string | null
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  /** A built-in principal is the server's own: its settings bring it back. */
  readonly principal: { readonly builtIn: boolean }
}

/** Holders that can get a token on the page: agents by actor, people and programs by role. */
export const HOLDERS = [
  { id: 'DEPLOYER', label: 'Deployer: deploys items', role: 'AGENT', actor: 'DEPLOYER' },
  { id: 'GADGET_RUNNER', label: 'Gadget runner: runs jobs of tasks', role: 'AGENT', actor: 'GADGET_RUNNER' },
  { id: 'RUNTIME', label: 'Runtime: starts workers and jobs', role: 'AGENT', actor: 'RUNTIME' },
  { id: 'CRM', label: 'CRM: serves a cloudlet', role: 'AGENT', actor: 'CRM' },
  { id: 'READER', label: 'Reader: reads only', role: 'READER', actor: null },
  { id: 'MONITOR', label: 'Monitor: reads metrics', role: 'MONITOR', actor: null },
  { id: 'USER', label: 'User: reads and changes', role: 'USER', actor: null },
  { id: 'ADMIN', label: 'Administrator', role: 'ADMIN', actor: null },
] as const
export type Holder = (typeof HOLDERS)[number]

/** Metrics are of the whole instance. */
export const hasProjects = ({ role }: Holder): boolean => role !== 'MONITOR'

/** Days until the end; null: none. */
export const LIVES: readonly (readonly [label: string, days: number | null])[] = [
  ['30 days', 30],
  ['90 days', 90],
  ['1 year', 365],
  ['Never', null],
]
const DAY_MS = 86_400_000

export interface TokenForm {
  readonly name: string
  readonly holder: Holder
  /** Separated by commas; empty: all. */
  readonly types: string
  readonly projects: string
  readonly days: number | null
}

const listOf = (text: string): readonly string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)

export function tokenInput({ name, holder, types, projects, days }: TokenForm) {
  const isAgent = holder.role === 'AGENT'
  const [ofTypes, ofProjects] = [isAgent ? listOf(types) : [], hasProjects(holder) ? listOf(projects) : []]
  return {
    name: name.trim(),
    role: holder.role,
    ...(holder.actor ? { actor: holder.actor } : {}),
    ...(ofTypes.length > 0 ? { types: ofTypes } : {}),
    ...(ofProjects.length > 0 ? { projects: ofProjects } : {}),
    ...(days === null ? {} : { expiresInMs: days * DAY_MS }),
  }
}

/** e.g. `deployer`, `reader`. */
export const holderOf = ({ role, actor }: Pick<Token, 'role' | 'actor'>): string =>
  (role === 'AGENT' ? actor : role).toLowerCase().replaceAll('_', ' ')

export type TokenState = 'valid' | 'revoked' | 'expired'
export function stateOf({ revokedAt, expiresAt }: Pick<Token, 'revokedAt' | 'expiresAt'>, now: number): TokenState {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'valid'
}

/** Quoted for a POSIX shell, where it has to be. */
const quoted = (text: string): string => (/^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

interface Connecting {
  readonly url: string
  readonly secret: string
  readonly types: string
}
/** The lines that connect a deployer of one's own, from nothing. */
export function connectCommand({ url, secret, types }: Connecting): string {
  const [type] = listOf(types)
  return [
    `npx phaseline init my-agent${type === undefined ? '' : ` --type ${quoted(type)}`}`,
    'cd my-agent && npm install',
    `PHASELINE_URL=${quoted(url)} PHASELINE_TOKEN=${quoted(secret)} npm start`,
  ].join('\n')
}
/** The lines that the shell of an agent, a program or a person needs. */
export const settingsCommand = ({ url, secret }: Pick<Connecting, 'url' | 'secret'>): string =>
  [`export PHASELINE_URL=${quoted(url)}`, `export PHASELINE_TOKEN=${quoted(secret)}`].join('\n')
