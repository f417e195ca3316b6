import type { Pool } from 'pg'
import type { Config } from '../config.ts'
import { type AuditTarget, NO_CALLER, NO_TARGET, TOKEN_CONFIGURED, TOKEN_REPLACED } from '../core/audit.ts'
import type { System } from '../core/ports/system.ts'
import type { Secret } from '../core/secret.ts'
import type { BuiltInAgent } from '../families/define-family.ts'
import { hashOf } from '../graphql/auth/tokens.ts'
import type { Logger } from '../logger.ts'
import { insertAudit } from '../store/audit.ts'
import { ADMINISTRATOR_ID, builtInAgentId } from '../store/built-in-principals.ts'
import type { Client } from '../store/client.ts'
import { inTransaction } from '../store/in-transaction.ts'
import { ensurePrincipal, type NewPrincipal } from '../store/principals.ts'
import { findToken, insertToken, revokeOlderTokens, type TokenRow } from '../store/tokens.ts'
import { agentToken } from './built-in-agents.ts'
import { StartProblem } from './start-problem.ts'

interface Configured {
  readonly administrator: Secret
  readonly config: Pick<Config, 'token' | 'previousToken' | 'dataDir'>
  readonly agents: readonly BuiltInAgent[]
  readonly logger: Logger
}

/**
 * Makes the administrator's token and those of the built-in agents valid, and revokes those that servers have made of
 * earlier settings, but for the previous token. Tokens that are newer than this one stay: a server that starts with the
 * previous token during a change must not revoke its successor's.
 */
export async function adoptTokens(
  pool: Pool,
  system: System,
  { administrator, config, agents, logger }: Configured,
): Promise<void> {
  const replaced = await inTransaction(pool, async (client) => {
    await ensurePrincipal(client, { ...ADMINISTRATOR, createdAt: system.now() })
    const own = await adopt(client, system, administrator, {
      principalId: ADMINISTRATOR_ID,
      name: ADMINISTRATOR.name,
      derivedFrom: null,
    })
    requireOwn(own, config)
    for (const agent of agents) {
      const principal = principalOf(agent, system.now())
      await ensurePrincipal(client, principal)
      const secret = agentToken(administrator, agent)
      await adopt(client, system, secret, { principalId: principal.id, name: principal.name, derivedFrom: own.id })
    }
    const spared = config.previousToken === undefined ? [] : [hashOf(config.previousToken.reveal())]
    const revoked = await revokeOlderTokens(client, own, { spared, now: system.now() })
    for (const id of revoked) await record(client, system, TOKEN_REPLACED, { objectId: id, objectName: null })
    return revoked.length
  })
  if (replaced > 0)
    logger.warn(
      { replaced },
      'this PHASELINE_TOKEN has taken the place of another one, which is revoked with those of its agents: a server that still has it must be started with this one, or this one needs a database of its own',
    )
}

const ADMINISTRATOR: Omit<NewPrincipal, 'createdAt'> = {
  id: ADMINISTRATOR_ID,
  name: 'admin',
  actor: 'USER',
  administrator: true,
  grants: [],
  types: null,
  targets: null,
  identity: null,
}
const principalOf = ({ name, actor, types, purpose }: BuiltInAgent, createdAt: Date): NewPrincipal => ({
  id: builtInAgentId(purpose),
  name,
  actor,
  administrator: false,
  grants: [{ role: 'AGENT', projectId: null }],
  types,
  targets: null,
  createdAt,
  identity: null,
})

interface Adopted {
  readonly principalId: string
  /** The principal's name. */
  readonly name: string
  readonly derivedFrom: string | null
}

/** The token of this secret, which is created unless there is one. */
async function adopt(
  client: Client,
  system: System,
  secret: Secret,
  { name: principalName, ...of }: Adopted,
): Promise<TokenRow> {
  const hash = hashOf(secret.reveal())
  const known = await findToken(client, hash)
  if (known) return known
  const token = { ...of, id: system.id(), name: 'PHASELINE_TOKEN', createdAt: system.now(), expiresAt: null }
  await insertToken(client, token, hash)
  await record(client, system, TOKEN_CONFIGURED, { objectId: token.id, objectName: principalName })
  const created = await findToken(client, hash)
  if (!created) throw new Error('a token was inserted and cannot be read')
  return created
}

/** In the transaction of the change. Nobody has called: it is the setting that does it. */
const record = (
  client: Client,
  system: System,
  operation: string,
  object: Pick<AuditTarget, 'objectId' | 'objectName'>,
): Promise<void> =>
  insertAudit(client, system.id(), {
    ...{ ...NO_CALLER, ...NO_TARGET, ...object, objectKind: 'TOKEN', operation },
    ...{ outcome: 'DONE', code: null, fields: ['PHASELINE_TOKEN'], count: 1 },
  })

function requireOwn({ revokedAt, principal }: TokenRow, { token, dataDir }: Configured['config']): void {
  const where = token === undefined ? `The token in ${dataDir}/token` : 'PHASELINE_TOKEN'
  if (principal.id !== ADMINISTRATOR_ID)
    throw new StartProblem(
      `${where} is a token of the principal ${principal.name} already: set a secret that is used for nothing else.`,
    )
  if (revokedAt === null) return
  const remedy = token === undefined ? 'remove the file, and the next start makes another one' : 'set the present one'
  throw new StartProblem(
    `${where} is revoked since ${revokedAt.toISOString()}, when another one took its place: ${remedy}.`,
  )
}
