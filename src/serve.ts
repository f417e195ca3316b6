import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, exposedSecrets, SECRET_SETTINGS } from './config.ts'
import { type FamilyDefinition, timeoutsOf } from './families/define-family.ts'
import { families as ownFamilies } from './families/index.ts'
import { createProcessLogger, type Logger } from './logger.ts'
import { type AppOptions, type RunningProcess, startApp } from './main.ts'
import { type GivenOption, loadSettings } from './settings.ts'
import { isAgentsAlone, startAgentsAlone } from './start/agents-alone.ts'
import { WEBSHOP_EXAMPLE } from './start/package-folder.ts'
import { explainStartError, StartProblem } from './start/start-problem.ts'
import { startThroughOutages } from './start/start-through-outages.ts'

export { StartProblem } from './start/start-problem.ts'

type Say = (text: string) => void

export interface ServeOptions extends Pick<AppOptions, 'families'> {
  /** Applies the example tree to a new data folder. */
  readonly example: boolean
  /** They go before the environment. */
  readonly options?: readonly GivenOption[]
  /** Prints a line for people. */
  readonly say: Say
  /** Ends the server; without it SIGINT and SIGTERM do. */
  readonly signal?: AbortSignal
}

/** `phaseline serve`: runs until it is stopped. Throws StartProblem. */
export async function serve({
  example,
  options = [],
  say,
  signal = stopSignal(),
  families = ownFamilies,
}: ServeOptions): Promise<void> {
  const exposed = exposedSecrets(process.env)
  const config = await readConfig(families, options)
  const logger = createProcessLogger(config.logLevel, config.logFormat)
  signal.addEventListener('abort', () => endInTime(config, logger), { once: true })
  const applied = join(config.dataDir, 'example-applied')
  // A shop of an earlier start needs its gadgets, if only to be deleted.
  const gadgetFolders = example || existsSync(applied) ? [join(WEBSHOP_EXAMPLE, 'gadgets')] : []
  const start = isAgentsAlone(config) ? startAgentsAlone : startApp
  const started = await startThroughOutages<RunningProcess>(
    () => start(config, { logger, gadgetFolders, families, signal }),
    { ...config, logger, signal },
  ).catch((error: unknown) =>
    // The caller requested the end.
    signal.aborted ? null : explainStartError(error),
  )
  if (!started) return void say('Stopped while starting.')
  await using app = started
  const { origin, token } = app
  // A browser does not send the fragment. The user knows a configured token already.
  const fragment = token && !config.token ? `#token=${token.reveal()}` : ''
  if (origin) {
    sayAddresses(say, origin, fragment)
  }
  if (config.roles.has('agents')) warnOfCommands(config, exposed, { logger, say })
  // The example calls this server, and does not know the authority of its certificate.
  if (example && origin && token && !config.tls) {
    const { showExample } = await import('./example.ts')
    const shown = { origin, token: token.reveal(), applied, folder: WEBSHOP_EXAMPLE, signal, say }
    // The example's lines have moved the addresses out of sight.
    if (await showExample(shown)) sayAddresses(say, origin, fragment)
  }
  if (!signal.aborted) await new Promise((stopped) => signal.addEventListener('abort', stopped, { once: true }))
  say('Stopping …')
  await app.drain()
}

function sayAddresses(say: Say, origin: string, fragment: string): void {
  say(`Phaseline is at ${origin}/${fragment}`)
  say(`GraphiQL is at ${origin}/explore${fragment}`)
}

/** The process ends even if something hangs, such as a database that does not answer. */
function endInTime({ drain: { timeoutMs } }: Config, logger: Logger): void {
  const late = setTimeout(() => {
    logger.fatal(
      { timeoutMs },
      'the process could not end in order within PHASELINE_DRAIN_TIMEOUT_MS, so it is cut off',
    )
    process.exit(1)
  }, timeoutMs)
  late.unref()
}

async function readConfig(families: readonly FamilyDefinition[], options: readonly GivenOption[]): Promise<Config> {
  const loaded = await loadSettings(process.env, timeoutsOf(families), options)
  if (!loaded.ok)
    throw new StartProblem(`The settings are not valid:\n${loaded.problems.map((p) => `  ${p}`).join('\n')}`)
  // Child processes inherit the environment, but must not inherit the secrets.
  for (const name of SECRET_SETTINGS) delete process.env[name]
  return loaded.config
}

/** Tells whether users' commands run on this machine, in cases that users may not expect. */
function warnOfCommands(
  { workloads, processRuntimeOff, tls, agentsPort }: Config,
  exposed: readonly string[],
  { logger, say }: { readonly logger: Logger; readonly say: Say },
): void {
  if (processRuntimeOff)
    say(
      `The process runtime is off, since ${processRuntimeOff}: PHASELINE_PROCESS_RUNTIME=isolated lets users run commands here.`,
    )
  if (workloads.level === 'trusted' && tls && agentsPort === 0)
    logger.warn(
      'workers of the process runtime that outlive a restart of this server do not find it again, since with TLS its port for them is another one each time: set PHASELINE_AGENTS_PORT',
    )
  if (workloads.level === 'trusted' && exposed.length > 0)
    logger.warn(
      { settings: exposed },
      'workers and jobs of the process runtime can read these settings in the environment of the server: name files that hold them, or commands that print them, with _FILE or _COMMAND at the end of each name',
    )
}

function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
  return stop.signal
}
