import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { addList, type ListOptions } from '../list.ts'
import { option } from '../options.ts'
import { duration, since, words } from '../terminal/text.ts'
import { LIST_TOKENS, type ListedToken } from './api.ts'

/** `token list`: those that still work, or all of them, the newest first. */
export const addTokenList = (command: Command, cli: Cli): Command =>
  addList(command, cli, {
    options: [option('--all', 'those that are revoked or expired too')],
    document: LIST_TOKENS,
    select: ({ all }: ListOptions & { readonly all?: boolean }) => ({ filter: all ? {} : { valid: true } }),
    page: ({ tokensConnection }) => tokensConnection,
    key: 'tokens',
    limit: Number.POSITIVE_INFINITY,
    columns: {
      NAME: ({ name }) => name,
      ROLE: ({ role, actor }) => (role === 'AGENT' ? `agent (${words(actor)})` : words(role)),
      TYPES: ({ role, types }) => (role === 'AGENT' ? (types?.join(', ') ?? 'all') : ''),
      PROJECTS: ({ projects }) => projects?.join(', ') ?? 'all',
      USED: ({ lastUsedAt }) => (lastUsedAt ? `${since(lastUsedAt)} ago` : 'never'),
      EXPIRES: endOf,
      ID: ({ id }) => id,
    },
    none: 'There are no tokens.',
    missing: 'There are no tokens that you may see.',
  })

function endOf({ revokedAt, expiresAt }: ListedToken): string {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt === null) return 'never'
  const left = Date.parse(expiresAt) - Date.now()
  return left > 0 ? `in ${duration(left)}` : 'expired'
}
