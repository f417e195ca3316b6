import { requireState, UsageError } from '../../../agents/arguments.ts'
import { logEvent } from '../../../agents/log-event.ts'
import type { AgentProgram } from '../../../agents/program.ts'
import { agentsMain } from '../../../agents/start-child.ts'
import { readBehaviour } from './behaviour.ts'
import { runSimulatedCrm } from './simulated-crm.ts'

/** A cloudlet counts as offline so long after the last message of a CRM that did not end in order. */
const LEASE_MS = 10_000
/** The code that a shell shows for a killed process. */
const EXIT_CRASHED = 137

/**
 * A simulated CRM of `--cloudlet <id or name>`, which keeps its files in `--state <folder>`. `--crm-version` is the version of
 * a new state folder, PHASELINE_CRM is JSON with its behaviour (see agents/behaviour.ts), and `--role CRM_V2` marks the CRM
 * that an upgrade starts.
 */
export const crm: AgentProgram = async (context) => {
  const { client, name, options, token, url, env, signal } = context
  const state = requireState(context)
  const { cloudlet, role = 'CRM', 'crm-version': version = '1.0.0' } = options
  if (!cloudlet) throw new UsageError('The CRM needs --cloudlet: the id or the name of the cloudlet that it serves.')
  if (role !== 'CRM' && role !== 'CRM_V2') throw new UsageError('--role must be CRM or CRM_V2.')
  context.onReady('crm')
  const successorArgs = ['--types', 'crm', '--url', url, '--state', state, '--cloudlet', cloudlet]
  await runSimulatedCrm({
    ...{ cloudlet, role, version, client, state },
    instance: `crm-${name}`,
    behaviour: readBehaviour(env.PHASELINE_CRM),
    leaseMs: LEASE_MS,
    successor: { args: [agentsMain(), ...successorArgs], env, token },
    crash: () => process.exit(EXIT_CRASHED),
    signal,
    onEvent: logEvent,
    onProblem: (problem) => context.onProblem('crm', problem),
  })
}
