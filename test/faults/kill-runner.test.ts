import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startAgentProcess } from '../../src/agents/spawn.ts'
import type { Client } from '../../src/client/index.ts'
import { Secret } from '../../src/core/secret.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { seeded } from '../testkit/seed.ts'
import { startSharedServer } from '../testkit/server.ts'
import { soak } from '../testkit/soak.ts'
import { until } from '../testkit/wait.ts'

const random = seeded()

/**
 * Real gadgets on resources that they lock, while the engine and the runner are killed with -9 again and again, and another
 * engine beside them has a clock that is wrong by more than a lease.
 */

const TASKS = soak(8, 50)
const JOBS = 4
const KILLS = soak(6, 16)
const RESOURCES = 6

/**
 * Takes each of its resources while it runs, alone or together with others, and records that; it also records a conflict
 * with another holder. The undo removes what a killed run leaves.
 */
const GADGET = `#!/bin/sh
say() { echo "$*" >> "$GADGET_STATE/said"; }
mode=run
while [ $# -gt 0 ]; do case "$1" in
  --protocol*) ;; --getlocks|--undo|--abort) mode=\${1#--} ;; *) break ;;
esac; shift; done
job=$1; shift
case $mode in
  getlocks) for lock; do echo "LOCK host:$lock"; done ;;
  run)
    say "RUN $job"
    for lock; do
      resource=\${lock%=*}
      for other in "$GADGET_STATE/$resource".*; do
        [ -e "$other" ] || continue
        case "$lock $other" in *=X*|*.X.*) say "CONFLICT $job $resource" ;; esac
      done
      : > "$GADGET_STATE/$resource.\${lock#*=}.$job"
    done
    echo "STEP at work"
    sleep 0.$((($$ % 3) + 1))
    for lock; do rm -f "$GADGET_STATE/\${lock%=*}.\${lock#*=}.$job"; done
    say "END $job"
    [ $(($$ % 7)) -ne 0 ] ;;
  undo|abort)
    say "UNDO $job"
    for lock; do rm -f "$GADGET_STATE/\${lock%=*}.\${lock#*=}.$job"; done ;;
esac
`
const LIST = gql(`query { tasks: objects(filter: { kinds: [TASK] }, first: 100) { edges { node { id phase finished } } }
  jobs: objects(filter: { kinds: [GADGET_JOB] }, first: 250) { edges { node { id name phase parent { name }
    ... on GadgetJob { journal { entry } } } } } locks(first: 1) { totalCount } }`)

const LOGGED = gql(`query { jobs: objects(filter: { kinds: [GADGET_JOB] }, first: 250) { edges { node { id
  ... on GadgetJob { args } } } } phaseChanges(last: 1) { edges { node { sequence } } } }`)

const jobsOf = (task: number) =>
  Array.from({ length: JOBS }, (_, i) => {
    const [one, two] = [(task * 3 + i) % RESOURCES, (task + i * 2 + 1) % RESOURCES]
    const locks = one === two ? [`r${one}=X`] : [`r${one}=X`, `r${two}=S`]
    return {
      name: `job-${i}`,
      gadget: 'take',
      args: [`${task}-${i}`, ...locks],
      dependsOn: i < 2 ? [] : [`job-${i - 2}`],
    }
  })

const FINAL: readonly string[] = ['DONE', 'FAILED', 'ABORTED', 'SKIPPED', 'GONE']

/** Jobs that held a resource at the same time in conflict, as the log of phase changes tells it: from RUNNING to the end. */
async function conflictsInLog(client: Client): Promise<readonly string[]> {
  const { jobs, phaseChanges } = await client.query(LOGGED, {})
  const locks = new Map(jobs?.edges.map(({ node }) => [node.id, node.args?.slice(1) ?? []]))
  const paused = new Map<string, readonly string[]>()
  const conflicts: string[] = []
  const last = phaseChanges?.edges.at(-1)?.node.sequence ?? 0
  for await (const { changes, through } of client.followPhases({ filter: { kinds: ['GADGET_JOB'] }, after: 0 })) {
    for (const { objectId, to } of changes) {
      if (FINAL.includes(to)) paused.delete(objectId)
      if (to !== 'RUNNING' || paused.has(objectId)) continue
      const own = locks.get(objectId) ?? []
      for (const [other, held] of paused)
        if (own.some((lock) => held.some((one) => inConflict(lock, one)))) conflicts.push(`${objectId} and ${other}`)
      paused.set(objectId, own)
    }
    if (through >= last) break
  }
  return conflicts
}
/** `r1=X` and `r1=S`. */
const inConflict = (a: string, b: string): boolean =>
  a.slice(0, -2) === b.slice(0, -2) && (a.endsWith('X') || b.endsWith('X'))

test(`kill -9 of engine and runner over ${TASKS * JOBS} jobs: each ends once, no two conflict, undo runs before every re-run`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-gadgets-'))
  const state = await mkdtemp(join(tmpdir(), 'phaseline-taken-'))
  await writeFile(join(folder, 'take'), GADGET)
  await chmod(join(folder, 'take'), 0o755)
  await using server = await startSharedServer({
    env: { PHASELINE_ROLES: 'gateway,engine' },
    secondary: { offset: '+14s' },
  })
  const { client } = server
  const input = { name: 'runner', role: 'AGENT', actor: 'GADGET_RUNNER', types: ['gadget-job'] } as const
  const { secret } = await ask(client, MUTATIONS.createToken, input)
  const start = () =>
    startAgentProcess({
      types: ['gadget-job'],
      url: server.url,
      token: new Secret(secret),
      gadgetFolders: [folder],
      leaseMs: 8_000,
    })
  let agent = start()
  for (let task = 0; task < TASKS; task++) {
    const jobs = jobsOf(task).map((job) => ({ ...job, env: [{ name: 'GADGET_STATE', value: state }] }))
    await ask(client, MUTATIONS.createTask, { name: `task-${task}`, jobs })
  }
  const list = () => client.query(LIST, {})
  const ended = async () => (await list()).tasks?.edges.every(({ node }) => node.finished)
  for (let kills = 0; kills < KILLS && !(await ended().catch(() => false)); kills++) {
    await delay(300 + random() * 1_200)
    if (kills % 4 === 3) {
      await server.kill()
      await server.start()
    } else if (agent.pid !== null) {
      process.kill(agent.pid, 'SIGKILL')
      // Another supervisor: one would wait longer and longer before it tries again.
      await agent.close()
      agent = start()
    }
  }
  await until(() => ended().catch(() => false), { what: 'all tasks have ended' })
  await agent.close()

  expect(await conflictsInLog(client)).toEqual([])
  const { jobs, locks } = await list()
  expect(jobs?.edges).toHaveLength(TASKS * JOBS)
  expect(locks?.totalCount).toBe(0)
  const said = (await readFile(join(state, 'said'), 'utf8')).trim().split('\n')
  expect(said.filter((line) => line.startsWith('CONFLICT'))).toEqual([])
  for (const { node } of jobs?.edges ?? []) {
    expect(['DONE', 'FAILED', 'SKIPPED'], node.name).toContain(node.phase)
    const own = `${node.parent?.name.slice('task-'.length)}-${node.name.slice('job-'.length)}`
    const runs = said.filter((line) => line === `RUN ${own}` || line === `UNDO ${own}`)
    // Between two runs there is an undo, as the journal says.
    expect(runs.join(' '), own).not.toMatch(/RUN \S+ RUN/)
    const entries = node.journal?.map(({ entry }) => entry).join(' ')
    expect(entries, own).toMatch(
      node.phase === 'SKIPPED' ? /^$/ : /^(START UNDO_STARTED UNDO )*START (DONE|UNDO_STARTED UNDO FAILED)$/,
    )
  }
  for (const path of [folder, state]) await rm(path, { recursive: true })
})
