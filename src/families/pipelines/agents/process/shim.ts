import { spawn } from 'node:child_process'
import { codeOf } from '../../../../process/error-code.ts'
import { StartProblem } from '../runtime/runtime.ts'

/**
 * The parent of a workload, which outlives the runtime: a shell that leads a process group of its own, holds the workload's
 * pipes open, writes its exit code and waits until it is killed itself. While it lives no other process can get its pid or
 * its group.
 *
 * It runs in the workload's folder and names its files relatively, so that a late one finds no file in a removed folder.
 * `pid` is linked once: a second shim exits. Signals to the group reach the workload,
 * which has its own handlers, and leave the shim alive to write the exit code. `command -p` finds the system's tools
 * whatever the PATH of the workload is.
 */
export const SHIM = `umask 077
work=$1
shift
command -p mkfifo out err done hold || exit 1
exec 3<>done 4<>out 5<>err 6<>hold
if [ -r /proc/sys/kernel/random/boot_id ]; then
  read -r boot </proc/sys/kernel/random/boot_id
  read -r stat <"/proc/$$/stat"
  ticks() { shift 19; started="$boot:$1"; }
  ticks \${stat##*) }
else
  started=$(LC_ALL=C TZ=UTC command -p ps -o lstart= -p $$)
fi
printf '%s %s\\n' "$$" "$started" >"claim.$$"
command -p ln "claim.$$" pid 2>/dev/null || exit 0
code=
trap code=143 TERM INT HUP QUIT
trap '' PIPE
echo started
trap - PIPE
exec >/dev/null 2>&1
if [ -z "$code" ]; then
  (umask 022 && cd "$work" && exec "$@") >out 2>err </dev/null 3>&- 4>&- 5>&- 6>&-
  code=$?
fi
echo "$code" >exit
echo "$code" >&3
while :; do read -r _ <&6; done
`

export interface ShimOptions {
  /** The file with SHIM. */
  readonly script: string
  /** The workload's folder. */
  readonly folder: string
  readonly workingFolder: string
  /** Begins with an absolute path. */
  readonly command: readonly string[]
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>
  /** Called when the shim has not started in time. True: it will never start. */
  giveUp(): Promise<boolean>
}

const STARTED_MS = 30_000

/**
 * Resolves when the workload has started.
 * @throws StartProblem when it has not, and never will
 */
export async function startShim({ script, folder, workingFolder, command, env, giveUp }: ShimOptions): Promise<void> {
  const child = spawn('/bin/sh', [script, workingFolder, ...command], {
    cwd: folder,
    env: { ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A session and a process group of its own.
    detached: true,
  })
  let problem = ''
  let timer: NodeJS.Timeout | undefined
  try {
    const started = await new Promise<boolean>((resolve) => {
      child.stdout.once('data', () => resolve(true))
      child.stderr.on('data', (text) => {
        problem = `${problem}${text}`.slice(0, 500)
      })
      child.once('error', (error) => {
        problem ||= codeOf(error)
        resolve(false)
      })
      child.once('close', () => resolve(false))
      timer = setTimeout(() => void giveUp().then((never) => resolve(!never)), STARTED_MS)
    })
    if (!started) throw new StartProblem(`It could not be started: ${problem.trim() || 'its shell ended'}.`)
  } finally {
    clearTimeout(timer)
    child.stdout.destroy()
    child.stderr.destroy()
    child.unref()
  }
}
