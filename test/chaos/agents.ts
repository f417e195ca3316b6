import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentProcessOptions } from '../../src/agents/agent-process.ts'
import { startAgentProcess } from '../../src/agents/spawn.ts'
import { Secret } from '../../src/core/secret.ts'
import { crmProcess } from '../../src/families/edge/agents/crm-process.ts'
import type { Death } from './evidence.ts'
import { machineMs } from './machine-clock.ts'

/** The agents of a chaos run, each in a process of its own that is started again when it was killed. */

export interface ChaosAgent extends AsyncDisposable {
  readonly name: string
  /** Null between two processes. */
  readonly pid: number | null
  kill(): Promise<void>
}

/**
 * The gadget of all jobs: it takes the resources of its arguments while it runs, and says when it finds one taken. Its first
 * `FAILURES` runs fail.
 */
const gadget = (said: string, taken: string, tries: string): string => `#!/bin/sh
now() { read up _ < /proc/uptime; echo "$up"; }
say() { echo "$1 $job $(now)" >> ${said}; }
mode=run
while [ $# -gt 0 ]; do case "$1" in
  --protocol*) ;; --getlocks|--undo|--abort) mode=\${1#--} ;; *) break ;;
esac; shift; done
job=$1; shift
ms=$1; shift
mine() { echo "${taken}/\${1%=*}.\${1#*=}.$(echo "$job" | tr / .)"; }
case $mode in
  getlocks) for lock; do echo "LOCK host:$lock"; done ;;
  run)
    say RUN
    for lock; do
      for other in ${taken}/\${lock%=*}.*; do
        [ -e "$other" ] || continue
        case "$lock \${other##*/}" in *=X*|*.X.*) say CONFLICT ;; esac
      done
      : > "$(mine "$lock")"
    done
    echo "STEP at work"
    sleep 0.$ms
    for lock; do rm -f "$(mine "$lock")"; done
    say END
    tries="${tries}/$(echo "$job" | tr / .)"
    [ "$(wc -c 2>/dev/null < "$tries" || echo 0)" -ge "\${FAILURES:-0}" ] || { printf x >> "$tries"; exit 1; } ;;
  undo|abort)
    for lock; do rm -f "$(mine "$lock")"; done
    say UNDO ;;
esac
`

export interface AgentsOptions {
  readonly url: string
  readonly folder: string
  /** One for each actor. */
  readonly tokens: Readonly<Record<'DEPLOYER' | 'RUNTIME' | 'GADGET_RUNNER' | 'CRM', string>>
  readonly cloudlet: string
  /** Each process that has ended is added here. */
  readonly deaths: Death[]
}
const DEPLOYERS = ['deployer-1', 'deployer-2', 'deployer-3']
const LEASE_MS = 8_000

export async function startAgents({
  url,
  folder,
  tokens,
  cloudlet,
  deaths,
}: AgentsOptions): Promise<readonly ChaosAgent[]> {
  for (const name of ['installed', 'gadgets', 'taken', 'tries']) await mkdir(join(folder, name))
  await writeFile(
    join(folder, 'gadgets/take'),
    gadget(join(folder, 'said'), join(folder, 'taken'), join(folder, 'tries')),
  )
  await chmod(join(folder, 'gadgets/take'), 0o755)
  const of = (token: string) => ({ url, token: new Secret(token), leaseMs: LEASE_MS, graceMs: 500 })
  return [
    ...DEPLOYERS.map((name) => {
      const env = { CHAOS_URL: url, CHAOS_TOKEN: tokens.DEPLOYER, CHAOS_FOLDER: folder, CHAOS_NAME: name }
      return startDeployer(env, name, (pid) => deaths.push({ pid, atMs: machineMs() }))
    }),
    supervised('runtime', {
      ...of(tokens.RUNTIME),
      types: ['process'],
      state: join(folder, 'runtime'),
      options: { isolation: 'trusted' },
    }),
    supervised('gadget-runner', {
      ...of(tokens.GADGET_RUNNER),
      types: ['gadget-job'],
      gadgetFolders: [join(folder, 'gadgets')],
    }),
    supervised('crm', {
      ...of(tokens.CRM),
      ...crmProcess({ cloudlet, behaviour: { delayMs: [0, 50], steps: 2, fail: 0.05 } }),
      state: join(folder, 'site'),
    }),
  ]
}

/** One that the product supervises. */
function supervised(name: string, options: AgentProcessOptions): ChaosAgent {
  let agent = startAgentProcess(options)
  return {
    name,
    get pid() {
      return agent.pid
    },
    async kill() {
      if (agent.pid !== null) process.kill(agent.pid, 'SIGKILL')
      // Another supervisor: one would wait longer and longer before it tries again.
      await agent.close()
      agent = startAgentProcess(options)
    },
    [Symbol.asyncDispose]: () => agent.close(),
  }
}

function startDeployer(
  env: Readonly<Record<string, string>>,
  name: string,
  onDeath: (pid: number) => void,
): ChaosAgent {
  const start = (): ChildProcess => {
    const started = spawn(process.execPath, [join(import.meta.dirname, 'deployer-process.ts')], {
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    // A signal that was sent has killed nothing yet.
    return started.once('exit', () => onDeath(started.pid ?? 0))
  }
  let child = start()
  let isClosed = false
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  return {
    name,
    get pid() {
      return child.pid ?? null
    },
    async kill() {
      await end('SIGKILL')
      if (!isClosed) child = start()
    },
    async [Symbol.asyncDispose]() {
      isClosed = true
      await end('SIGTERM')
    },
  }
}
