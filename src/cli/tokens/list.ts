import { notFoundRefusal } from '../objects/refusal.ts'
import type { Session } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { duration, words } from '../terminal/text.ts'
import { LIST_TOKENS, type ListedToken } from './api.ts'

/** Tokens that still work, the newest first; null: the caller may not see them. */
export async function readTokens({ client, io }: Session): Promise<readonly ListedToken[] | null> {
  const { tokens } = await client.query(LIST_TOKENS, {}, { signal: io.signal })
  return tokens
}

export const isValid = ({ revokedAt, expiresAt }: ListedToken, now: number): boolean =>
  revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > now)

/** `token list`: those that still work, or all of them. */
export async function listTokens(session: Session, { all }: { readonly all?: boolean }): Promise<ExitCode> {
  const tokens = await readTokens(session)
  if (!tokens) return session.refuse(notFoundRefusal('There are no tokens that you may see.'))
  const now = Date.now()
  const shown = all ? tokens : tokens.filter((token) => isValid(token, now))
  session.emit({ tokens: shown })
  session.list({ head: HEAD, rows: shown.map((token) => rowOf(token, now)), none: 'There are no tokens.' })
  return EXIT.ok
}

const HEAD = ['NAME', 'ROLE', 'TYPES', 'PROJECTS', 'USED', 'EXPIRES', 'ID']

const rowOf = (token: ListedToken, now: number): string[] => [
  token.name,
  token.role === 'AGENT' ? `agent (${words(token.actor)})` : words(token.role),
  token.role === 'AGENT' ? (token.types?.join(', ') ?? 'all') : '',
  token.projects?.join(', ') ?? 'all',
  token.lastUsedAt ? `${duration(Math.max(0, now - Date.parse(token.lastUsedAt)))} ago` : 'never',
  endOf(token, now),
  token.id,
]

function endOf({ revokedAt, expiresAt }: ListedToken, now: number): string {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt === null) return 'never'
  const left = Date.parse(expiresAt) - now
  return left > 0 ? `in ${duration(left)}` : 'expired'
}
