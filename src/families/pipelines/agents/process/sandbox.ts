import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeWhole } from '../../../../agents/files/write-whole.ts'
import { whyNotStarted } from '../../../../core/why-not-started.ts'
import { StartProblem } from '../runtime/runtime.ts'
import { COOKIE } from '../runtime/workload-env.ts'
import { API_SOCKET, ApiRelay } from './api-relay.ts'
import { bubblewrapArguments, type IsolationOptions, requireBubblewrap } from './bubblewrap.ts'
import { seccompFilter } from './seccomp.ts'
import { isExecutableWithin } from './shown-file.ts'
import type { Invocation } from './supervisor-messages.ts'
import { SYSTEM_FOLDERS, visiblePath } from './system-folders.ts'
import type { WorkloadFolder } from './workload-folder.ts'

/** Runs workloads isolated from the machine and from each other. Disposing it leaves them running. */
export interface Sandbox extends AsyncDisposable {
  /** The workload's PHASELINE_URL. */
  readonly url: string
  /** The runtime's environment as workloads see it. */
  env(own: Environment): Environment
  /** Tells which files a workload with this working folder could execute. */
  shows(workingFolder: string): (file: string) => boolean
  enclose(enclosed: Enclosed): Promise<Invocation>
  /** Opens the way to the API again for a workload that an earlier process has enclosed. */
  reopenApi(folder: WorkloadFolder): Promise<void>
  /** Closes the way to the API. */
  closeApi(folder: WorkloadFolder): Promise<void>
}
type Environment = Readonly<Record<string, string | undefined>>

export interface Enclosed extends Omit<Invocation, 'input' | 'hasNotes'> {
  readonly folder: WorkloadFolder
  readonly workingFolder: string
  /** It may use the API. */
  readonly hasToken: boolean
  /** The command is that of the launcher of its services. */
  readonly launches: boolean
}

export interface SandboxOptions extends IsolationOptions {
  /** A private folder for what all workloads share. */
  readonly folder: string
  /** The API's. */
  readonly url: string
}

/** A user with no rights and a home of its own, whoever the runtime's user is. */
const FILES = {
  passwd: 'root:x:0:0::/:/bin/sh\nworker:x:1000:1000::/tmp:/bin/sh\n',
  group: 'root:x:0:\nworker:x:1000:\n',
} as const
const INSIDE = '/run/phaseline'
const FIRST_FREE_PORT = 1_024
const DEFAULT_PORT = 4_000
/** Limit of Linux for one argument or variable. */
const MAX_ARGUMENT_BYTES = 128 * 1024

/** As source and as built; their names say that they are modules wherever they are. */
const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
const programOf = (name: string) =>
  ({
    file: fileURLToPath(new URL(`./${name}.${EXTENSION}`, import.meta.url)),
    inside: `${INSIDE}/${name}.m${EXTENSION}`,
  }) as const
const BRIDGE = programOf('api-bridge')
const LAUNCHER = programOf('service-launcher')
const NODE = `${INSIDE}/node`
const PLAN = `${INSIDE}/services.json`
/** bubblewrap reads its arguments from the descriptor before. */
const NOTES = '4'
/**
 * bubblewrap reads the filter of calls from a descriptor, which a shell opens and becomes bubblewrap: a supervisor that an older version
 * has started knows of no such file.
 */
const FILTERED = 'exec "$@" 9<"$0"'
const FILTER = '9'

/**
 * The first process of a sandbox, which no signal from within ends, runs the command and ends with it. A shell's own
 * message about a killed command is not its output.
 */
const RUN = `exec 3>&2 2>/dev/null
"$@" 2>&3 3>&-
exit $?`
/** Starts the bridge, without a cookie so that nothing asks it to end before the command, and waits until it listens. */
const BRIDGED = `[ "$(/usr/bin/env -i "$1" "$2" "$3" "$4" 2>/dev/null &)" = listening ] || {
  echo 'The way to the API could not be opened.' >&2
  exit 125
}
shift 4
${RUN}`

/** @throws NotIsolated */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { folder, network, folders } = options
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const bubblewrap = await requireBubblewrap(options, folder)
  const { url, hosts } = network === 'api' ? urlWithin(options.url) : { url: options.url, hosts: null }
  const files = { ...FILES, ...(hosts === null ? {} : { hosts }) }
  for (const [name, text] of Object.entries(files)) await writeWhole(join(folder, name), text)
  const shared = [
    ...Object.keys(files).flatMap((name) => ['--ro-bind', join(folder, name), `/etc/${name}`]),
    ...(hosts === null ? ['--ro-bind-try', '/etc/hosts', '/etc/hosts'] : []),
  ]
  const filter = seccompFilter(process.arch)
  const filterFile = join(folder, 'seccomp')
  if (filter !== null) await writeWhole(filterFile, filter)
  const filtered = filter === null ? [] : ['/bin/sh', '-c', FILTERED, filterFile]
  const relay = network === 'api' ? new ApiRelay(options.url) : null
  const node = ['--ro-bind', process.execPath, NODE]
  const bridge = (api: string) => ['--ro-bind', api, `${INSIDE}/api`, '--ro-bind', BRIDGE.file, BRIDGE.inside]
  const launcher = (plan: string) => ['--ro-bind', LAUNCHER.file, LAUNCHER.inside, '--ro-bind', plan, PLAN]
  const bridged = ['/bin/sh', '-c', BRIDGED, 'sh', NODE, BRIDGE.inside, new URL(url).port]

  return {
    url,
    env: (own) => ({ ...own, HOME: '/tmp', TMPDIR: '/tmp', PATH: visiblePath(own.PATH ?? '', folders) }),
    shows: (workingFolder) => (file) => isExecutableWithin([...SYSTEM_FOLDERS, ...folders, workingFolder], file),
    async enclose({ folder: own, workingFolder, command, env, hasToken, launches }) {
      requireFitting([...command, ...Object.entries(env).map((entry) => entry.join('='))])
      const tmp = own.file('tmp')
      const args = own.file('sandbox.args')
      await mkdir(tmp, { mode: 0o700 })
      const api = relay && hasToken ? own.apiFolder : null
      if (api !== null) await relay?.open(api)
      const given = bubblewrapArguments(options, {
        tmp,
        workingFolder,
        readOnly: [own.eventFile, own.secretsFolder],
        more: [
          ...shared,
          ...(api !== null || launches ? node : []),
          ...(api === null ? [] : bridge(api)),
          ...(launches ? launcher(own.planFile) : []),
          ...(filter === null ? [] : ['--seccomp', FILTER]),
        ],
        env,
      })
      await writeFile(args, given.join('\0'), { mode: 0o600 })
      const first = api === null ? ['/bin/sh', '-c', RUN, 'sh'] : [...bridged, `${INSIDE}/api/${API_SOCKET}`]
      return {
        // The arguments hold the workload's environment, which only processes in the sandbox may get. Outside it, a variable such
        // as LD_PRELOAD would run the workload's code.
        command: [
          ...[...filtered, bubblewrap, '--args', '3', '--', ...first],
          ...(launches ? [NODE, LAUNCHER.inside, PLAN, NOTES] : command),
        ],
        input: args,
        hasNotes: launches,
        env: { [COOKIE]: env[COOKIE] ?? '' },
      }
    },
    async reopenApi({ apiFolder }) {
      if (existsSync(apiFolder)) await relay?.open(apiFolder)
    },
    async closeApi({ apiFolder }) {
      await relay?.close(apiFolder)
    },
    async [Symbol.asyncDispose]() {
      await relay?.[Symbol.asyncDispose]()
    },
  }
}

/** The system would refuse the command only within the sandbox, where it has started already. @throws StartProblem */
function requireFitting(strings: readonly string[]): void {
  if (strings.some((text) => Buffer.byteLength(text) >= MAX_ARGUMENT_BYTES))
    throw new StartProblem(`It could not be started: ${whyNotStarted('E2BIG')}.`)
}

/** The same host, which within the sandbox is its own loopback. The relay speaks TLS where the server does. */
function urlWithin(outside: string): { readonly url: string; readonly hosts: string } {
  const url = new URL(outside)
  const { hostname } = url
  const isName = isIP(hostname.replace(/^\[|\]$/g, '')) === 0
  const port = Number(url.port) >= FIRST_FREE_PORT ? url.port : DEFAULT_PORT
  const rest = `${url.pathname}${url.search}`
  return {
    url: `http://${isName ? hostname : '127.0.0.1'}:${port}${rest}`,
    hosts: `127.0.0.1 localhost${isName && hostname !== 'localhost' ? ` ${hostname}` : ''}\n`,
  }
}
