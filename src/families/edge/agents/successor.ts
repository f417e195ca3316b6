import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { LIFELINE, LIFELINE_FD } from '../../../agents/lifeline.ts'
import { sendSecrets } from '../../../agents/token.ts'
import { CrmProblem, type CrmRequest, type CrmUpgrade } from '../../../client/index.ts'
import type { Secret } from '../../../core/secret.ts'
import type { CrmBehaviour } from './behaviour.ts'

/** The command with which an upgrade starts this program as the CRM of another version. */
export interface Successor {
  /** Arguments of node, beginning with the program's file; the role and the version are appended. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly token: Secret
}

/** @throws CrmProblem when it cannot be started */
export async function startSuccessor(
  { spec }: CrmRequest,
  { args, env, token }: Successor,
  { upgrade }: CrmBehaviour,
): Promise<CrmUpgrade> {
  const version = versionOf(spec)
  if (version === null) throw new CrmProblem('The spec has no version.', 'UPGRADE_FAILED')
  if (upgrade === 'NOT_STARTED') throw new CrmProblem('It is not started, as configured.', 'UPGRADE_FAILED')
  const lifeline = env[LIFELINE] === undefined ? 'ignore' : LIFELINE_FD
  const child = spawn(process.execPath, [...args, '--role', 'CRM_V2', '--crm-version', version, '--token-file', '-'], {
    env: { ...env },
    stdio: ['pipe', 'inherit', 'inherit', 'ignore', lifeline],
    // It outlives this process, and signals to its group.
    detached: true,
  })
  sendSecrets(child, token)
  try {
    await once(child, 'spawn')
  } catch {
    throw new CrmProblem('The new CRM could not be started.', 'UPGRADE_FAILED')
  }
  // It must not keep this process alive, which it ends.
  child.unref()
  return { failed: failureOf(child, version) }
}

async function failureOf(child: ChildProcess, version: string): Promise<unknown> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  const how = signal ?? `exit code ${code}`
  return new CrmProblem(`The CRM of version ${version} ended before it had taken over (${how}).`, 'UPGRADE_FAILED')
}

const versionOf = (spec: unknown): string | null =>
  typeof spec === 'object' && spec !== null && 'version' in spec && typeof spec.version === 'string'
    ? spec.version
    : null
