import { Socket } from 'node:net'
import { families } from '../families/index.ts'
import { closeInherited } from '../process/close-inherited.ts'
import { parseOptions, UsageError } from './arguments.ts'
import { LIFELINE } from './lifeline.ts'
import { logEvent, logProblem } from './log-event.ts'
import type { Programs } from './program.ts'
import { runAgents } from './run-agents.ts'

/**
 * An agent process that a server or another agent starts: `node src/agents/main.ts --types mock,gadget --url …`. People start
 * the same with `phaseline agent`. The families provide the programs, by type of work.
 *
 * - The token comes from `--token-file <file>`, `-` for standard input, or else from PHASELINE_TOKEN, which every process
 *   that the agent starts could read. The folders of gadgets come from PHASELINE_GADGETS.
 * - `--lease-ms`: time after which another agent takes over the work of one that died.
 * - Types of different actors need different tokens, so each runs in a process of its own.
 * - A family declares the options of its programs in `agents/index.ts`.
 *
 * The agent ends on SIGINT and SIGTERM, and with the process that started it. Gadgets end with it; workloads keep running, and
 * the next runtime with the same folder adopts them.
 */

/** Work that ignores its abort must not keep the process. */
const EXIT_MS = 15_000
/** The descriptor of the channel that `startAgentProcess` opens. */
const CHANNEL_FD = 3
const EXIT_USAGE = 2
const EXIT_FAILED = 1

const PROGRAMS: Programs = Object.assign({}, ...families.map(({ programs }) => programs))

function endSignal(): AbortSignal {
  const end = new AbortController()
  const stop = (): void => {
    if (end.signal.aborted) return
    end.abort()
    setTimeout(() => process.exit(EXIT_FAILED), EXIT_MS).unref()
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  // A process with a channel was started by `startAgentProcess`, and ends with its starter.
  process.once('disconnect', stop)
  // A CRM that another CRM has started has no channel, but inherits that one's lifeline.
  const lifeline = Number(process.env[LIFELINE])
  if (lifeline > 0) new Socket({ fd: lifeline }).once('close', stop).resume().unref()
  closeInherited(process.connected ? [CHANNEL_FD, lifeline] : [lifeline])
  return end.signal
}

async function main(): Promise<number> {
  // Registered first: the starter may end at any time.
  const signal = endSignal()
  try {
    await runAgents({
      options: parseOptions(process.argv.slice(2), PROGRAMS),
      ...{ programs: PROGRAMS, env: process.env, signal, onProblem: logProblem },
    })
    return 0
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    logEvent('usage', { message: error.message })
    return EXIT_USAGE
  }
}

// The supervisor that reads standard error may be gone while this process still has to end in order.
process.stderr.on('error', () => {})
try {
  process.exitCode = await main()
} catch (error) {
  logEvent('agent ended', { message: error instanceof Error ? error.message : String(error) })
  process.exitCode = EXIT_FAILED
}
// An open channel would keep the process alive.
if (process.connected) process.disconnect()
