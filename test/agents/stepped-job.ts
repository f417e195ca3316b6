import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startAgentProcess } from '../../src/agents/spawn.ts'
import type { Client } from '../../src/client/index.ts'
import { Secret } from '../../src/core/secret.ts'
import type { NodeOf, ResultOf, VariablesOf } from '../../src/documents/typed-document.ts'
import { ask, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { until } from '../testkit/wait.ts'
import { type GadgetFolder, gadgetFolder, isAlive } from './gadget-folder.ts'

/** Tasks whose gadgets are real, say what they do, and go no further than the test lets them. */

/**
 * `<mode>-<n>` is the nth call in a mode. It writes down when it begins and ends, and when an earlier run, undo or abort
 * still lives beside it; stands still while there is a file `hold-<mode>-<n>`; fails when there is `fail-<mode>-<n>`, and
 * does what `do-<mode>-<n>` says. Its locks are its arguments.
 */
const STEPPED = `mode=run
for given; do case $given in --getlocks|--undo|--abort) mode=\${given#--} ;; esac; done
name=\${0##*/}
say() { echo "$name $*" >> "$dir/calls"; }
lives() { case "$(ps -o stat= -p "$1" 2>/dev/null)" in ''|Z*) return 1 ;; esac; }
echo "$PHASELINE_JOB" >> "$dir/jobs-$name"
echo x >> "$dir/count-$name-$mode"
call=$mode-$(grep -c x "$dir/count-$name-$mode")
if [ "$mode" != getlocks ]; then
  echo $$ >> "$dir/pids-$name"
  while read -r pid; do [ "$pid" != $$ ] && lives "$pid" && say "$call beside $(ps -o pid=,ppid=,stat=,etimes=,args= -p "$pid")"; done < "$dir/pids-$name"
fi
[ -e "$dir/deaf-$name" ] && trap '' INT
say "$call begin $$"
[ "$mode" != getlocks ] && echo "STEP $call"
while [ -e "$dir/hold-$name-$call" ]; do sleep 0.02; done
[ -e "$dir/do-$name-$call" ] && . "$dir/do-$name-$call"
[ "$mode" = getlocks ] && for given; do case $given in --*) ;; *) echo "LOCK $given" ;; esac; done
[ "$mode" = run ] && echo "EXPORT call \\"$call\\""
say "$call end"
[ ! -e "$dir/fail-$name-$call" ]`

export interface Gadgets extends GadgetFolder {
  /** A gadget of that name as described above. */
  stepped(name: string): Promise<string>
  /** True once the call has begun. */
  begun(name: string, call: string): Promise<boolean>
  /** Makes the gadget stop at this call until `go`. */
  stopAt(name: string, call: string): Promise<void>
  go(name: string, call: string): Promise<void>
  fail(name: string, call: string): Promise<void>
  ignoreInterrupts(name: string): Promise<void>
  /** A piece of shell that the call runs. */
  script(name: string, call: string, text: string): Promise<void>
  /** Process id of a call that has begun. */
  pid(name: string, call: string): Promise<number>
  /** The distinct jobs that a gadget was called with. */
  jobs(name: string): Promise<readonly string[]>
  /** Entries of all gadgets, in order: `x run-1 begin`, `x run-1 end`. */
  calls(): Promise<readonly string[]>
}

export async function gadgets(): Promise<Gadgets> {
  const folder = await gadgetFolder()
  const file = (what: string, name: string, call: string) => join(folder.path, `${what}-${name}-${call}`)
  const said = async () => (await folder.read('calls')).split('\n').filter((line) => line !== '')
  return {
    ...folder,
    stepped: (name) => folder.add(name, STEPPED),
    begun: async (name, call) => (await said()).some((line) => line.startsWith(`${name} ${call} begin`)),
    stopAt: (name, call) => writeFile(file('hold', name, call), ''),
    go: (name, call) => rm(file('hold', name, call)),
    fail: (name, call) => writeFile(file('fail', name, call), ''),
    ignoreInterrupts: (name) => writeFile(join(folder.path, `deaf-${name}`), ''),
    script: (name, call, text) => writeFile(file('do', name, call), text),
    pid: async (name, call) =>
      Number((await said()).find((line) => line.startsWith(`${name} ${call} begin`))?.split(' ')[3]),
    jobs: async (name) => [...new Set((await folder.read(`jobs-${name}`)).split('\n').slice(0, -1))],
    calls: async () => (await said()).map((line) => line.replace(/(begin) \d+$/, '$1')),
  }
}

/** A runner in a process of its own, that a test may kill; its supervisor starts the next one. */
export interface Runner extends AsyncDisposable {
  /** Output of its processes. */
  readonly lines: readonly string[]
  /** Kills with -9; later output of the killed process is ignored. */
  kill(): Promise<void>
}
export interface RunnerOptions {
  readonly url: string
  readonly token: string
  readonly folder: string
}
export function startRunner({ url, token, folder }: RunnerOptions): Runner {
  const lines: string[] = []
  const agent = startAgentProcess({
    types: ['gadget-job'],
    url,
    token: new Secret(token),
    gadgetFolders: [folder],
    leaseMs: 12_000,
    onEvent: (event) => event.type === 'said' && lines.push(event.line),
  })
  return {
    lines,
    async kill() {
      const { pid } = agent
      if (pid === null) throw new Error('there is no runner to kill')
      process.kill(pid, 'SIGKILL')
      await until(() => !isAlive(pid), { what: 'the runner is gone' })
    },
    [Symbol.asyncDispose]: () => agent.close(),
  }
}

const NOW = gql(`query ($id: ID!) { object(id: $id) { phase children(first: 20) { edges { node {
  __typename id name phase error { code } ... on GadgetJob { uuid exports journal { entry }
  locks { resource mode held position grantedAt } } } } } } }`)
const HISTORY = gql(`query ($id: ID!) { phaseChanges(filter: { objectId: $id }, first: 100) { edges { node {
  to actor reason sequence } } } }`)

/** A project of its own, with a token for runners of its jobs alone. */
export async function projectFor(client: Client, project: string): Promise<string> {
  await ask(client, MUTATIONS.createProject, { name: project })
  const { secret } = await ask(client, MUTATIONS.createToken, {
    name: project,
    role: 'AGENT',
    actor: 'GADGET_RUNNER',
    types: ['gadget-job'],
    projects: [project],
  })
  return secret
}

/** A job of a task, as it is now. */
export type JobNow = Extract<
  NodeOf<NonNullable<ResultOf<typeof NOW>['object']>['children']>,
  { readonly __typename: 'GadgetJob' }
>

export type JobInput = VariablesOf<typeof MUTATIONS.createTask>['input']['jobs'][number]
export interface Task {
  readonly id: string
  phase(): Promise<string>
  job(name: string): Promise<JobNow>
  /** Waits for a job to be in one of these. */
  reaches(name: string, ...phases: readonly string[]): Promise<JobNow>
  /** Waits for its end, and says which. */
  ended(): Promise<string>
  /** @throws what it is refused with */
  cancel(): Promise<void>
  resolve(name: string, decision: 'RETRY' | 'GIVE_UP'): Promise<void>
  /** Journal entries of a job, as one text. */
  journal(name: string): Promise<string>
  /** Its phases, who moved it there, and why when it went wrong: `UNDOING CONTROLLER RUNNER_LOST`. */
  history(name: string): Promise<readonly string[]>
}

/** Reasons in words are those of the machine. */
const codeOf = (reason: string | null): string => /^[A-Z_]+$/.exec(reason ?? '')?.[0] ?? ''

export async function createTask(client: Client, project: string, name: string, jobs: readonly JobInput[]) {
  const { id } = await ask(client, MUTATIONS.createTask, { project, name, jobs })
  // A server that is being restarted does not answer.
  const now = async () => {
    const found = await client.query(NOW, { id }).catch(() => null)
    return found?.object ?? null
  }
  const find = async (job: string): Promise<JobNow | null> =>
    (await now())?.children.edges
      .flatMap(({ node }) => (node.__typename === 'GadgetJob' ? [node] : []))
      .find(({ name }) => name === job) ?? null
  const job = (of: string) => until(() => find(of), { what: `${name} tells of ${of}` })
  const task: Task = {
    id,
    phase: async () => (await until(now, { what: `${name} is told of` })).phase,
    job,
    reaches: (of, ...phases) =>
      until(async () => find(of).then((one) => (one && phases.includes(one.phase) ? one : null)), {
        what: `${of} of ${name} is ${phases.join(' or ')}`,
      }),
    ended: () =>
      until(async () => /^(SUCCEEDED|FAILED|ABORTED)$/.exec((await now())?.phase ?? '')?.[0], {
        what: `${name} has ended`,
      }),
    cancel: async () => void (await ask(client, MUTATIONS.cancelTask, { id })),
    resolve: async (of, decision) =>
      void (await ask(client, MUTATIONS.resolveUndo, { id: (await job(of)).id, decision })),
    journal: async (of) => (await job(of)).journal.map(({ entry }) => entry).join(' '),
    async history(of) {
      const { id: jobId } = await job(of)
      const { phaseChanges } = await client.query(HISTORY, { id: jobId })
      const changes = present(phaseChanges)
        .edges.map(({ node }) => node)
        .toSorted((a, b) => a.sequence - b.sequence)
      return changes.map(({ to, actor, reason }) => [to, actor, codeOf(reason)].join(' ').trim())
    },
  }
  return task
}
