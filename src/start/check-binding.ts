import type { Config } from '../config.ts'
import { isLoopback } from '../core/loopback.ts'
import type { Logger } from '../logger.ts'
import { StartProblem } from './start-problem.ts'

/** Requirements of a reachable address. Pure. */
export type Binding =
  | { readonly kind: 'safe' }
  /** Others on the network can read tokens. */
  | { readonly kind: 'readable'; readonly warning: string }
  | { readonly kind: 'unconfigured'; readonly problem: string }

type Settings = Pick<Config, 'host' | 'roles' | 'tls' | 'trustedProxies' | 'token' | 'accessPolicy' | 'databaseUrl'>

export function judgeBinding({ host, roles, tls, trustedProxies, ...access }: Settings): Binding {
  if (!roles.has('gateway') || isLoopback(host)) return { kind: 'safe' }
  // Principals of a database that is shared are those of the processes that administer it.
  const isConfigured = [access.token, access.accessPolicy, access.databaseUrl].some((setting) => setting !== undefined)
  if (!isConfigured)
    return {
      kind: 'unconfigured',
      problem: `HOST is ${host}, which others may reach, but nothing says who they are: set PHASELINE_TOKEN or PHASELINE_ACCESS_POLICY, or HOST=127.0.0.1.`,
    }
  if (tls || trustedProxies.length > 0) return { kind: 'safe' }
  return {
    kind: 'readable',
    warning:
      'tokens can be read on the network: set PHASELINE_TLS_CERT and PHASELINE_TLS_KEY, or name the proxy that encrypts in PHASELINE_TRUSTED_PROXIES',
  }
}

/** @throws StartProblem */
export function checkBinding(config: Settings, logger: Logger): void {
  const binding = judgeBinding(config)
  if (binding.kind === 'unconfigured') throw new StartProblem(binding.problem)
  if (binding.kind === 'readable') logger.warn({ host: config.host }, binding.warning)
}
