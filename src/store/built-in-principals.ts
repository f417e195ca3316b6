import { createHash } from 'node:crypto'

/**
 * Principals that every installation has, with the same ids everywhere: the administrator of PHASELINE_TOKEN, and the agents
 * that a server starts. Their tokens come from that setting alone.
 */
const PREFIX = '00000000-0000-8000-8000-'

export const ADMINISTRATOR_ID = `${PREFIX}000000000001`

/** The id of a built-in agent's principal, from what the agent's token is derived from. */
export const builtInAgentId = (purpose: string): string =>
  PREFIX + createHash('sha256').update(purpose).digest('hex').slice(0, 12)

export const isBuiltIn = (id: string): boolean => id.startsWith(PREFIX)
