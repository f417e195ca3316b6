import { notFoundRefusal, readPages } from '../../client-model/index.ts'
import type { VariablesOf } from '../../documents/typed-document.ts'
import type { Session } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { duration, words } from '../terminal/text.ts'
import { LIST_TOKENS, type ListedToken } from './api.ts'

type Filter = VariablesOf<typeof LIST_TOKENS>['filter']

/** All tokens that fit, the newest first; null: the caller may not see them. */
export async function readTokens({ client, io }: Session, filter: Filter): Promise<readonly ListedToken[] | null> {
  const listed = await readPages(Number.POSITIVE_INFINITY, async (first, after) => {
    const page = await client.query(LIST_TOKENS, { filter, first, after }, { signal: io.signal })
    return page.tokensConnection
  })
  return listed && listed.nodes
}

/** `token list`: those that still work, or all of them. */
export async function listTokens(session: Session, { all }: { readonly all?: boolean }): Promise<ExitCode> {
  const shown = await readTokens(session, all ? {} : { valid: true })
  if (!shown) return session.refuse(notFoundRefusal('There are no tokens that you may see.'))
  const now = Date.now()
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
