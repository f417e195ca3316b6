import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serialize } from 'node:v8'
import { expect, test } from 'vitest'
import { soak } from '../testkit/soak.ts'
import { GATE } from './load.ts'
import { violations } from './promises/index.ts'
import { runChaos } from './run.ts'
import { FAULTS, type FaultKind } from './schedule.ts'

/** All families under faults of every kind. `npm run chaos -- --seed 3 --minutes 10` is the long form, by seed. */

const { CHAOS_SEED = '1', CHAOS_MINUTES, CHAOS_WITHOUT = '', PHASELINE_TEST_PREVIOUS } = process.env
const isLong = CHAOS_MINUTES !== undefined
const totalMs = isLong ? Number(CHAOS_MINUTES) * 60_000 : soak(15_000, 120_000)
/** Only the long form has these, since everything takes long to recover from them. */
const without = isLong || process.env.SOAK ? [] : (['fill-disk', 'take-connections', 'failover'] as const)
const named = CHAOS_WITHOUT.split(',').filter((name): name is FaultKind => name in FAULTS)
const program = PHASELINE_TEST_PREVIOUS && join(PHASELINE_TEST_PREVIOUS, 'src/cli/main.ts')

/** The moves by which work that has failed begins anew. */
const RETRIES: Readonly<Record<string, string>> = {
  DEPLOY_ITEM: 'PROGRESSING INIT',
  GADGET_JOB: 'UNDOING PENDING',
}

test('users, agents and readers of all families, whose servers, agents, networks and databases fail: each promise is kept', {
  timeout: totalMs + 900_000,
}, async () => {
  const { evidence, restMs } = await runChaos({
    seed: Number(CHAOS_SEED),
    totalMs,
    everyMs: isLong ? 5_000 : 1_800,
    longestMs: isLong ? 15_000 : 2_500,
    servers: isLong ? 3 : 2,
    without: [...without, ...named],
    previous: program && existsSync(program) ? program : null,
    ...(isLong && { onFault: (fault) => console.log(JSON.stringify(fault)) }),
  })
  const { faults, log, mutations, readers } = evidence
  // Before it is judged: a check that throws must not lose it.
  const file = join(tmpdir(), `phaseline-chaos-${CHAOS_SEED}`)
  if (isLong) await writeFile(file, serialize(evidence))
  const found = violations(evidence)
  if (Object.keys(found).length > 0) await writeFile(file, serialize(evidence))
  const kinds = Object.entries(Object.groupBy(faults, ({ kind }) => kind)).map(([kind, all]) => [kind, all?.length])
  const opened = log.filter(({ name, to, from }) => name === GATE && to === 'SUCCEEDED' && from === 'INIT')
  console.log(
    JSON.stringify({
      seed: CHAOS_SEED,
      faults: faults.length,
      kinds: Object.fromEntries(kinds),
      changes: log.length,
      accepted: mutations.filter(({ answeredMs }) => answeredMs !== null).length,
      received: readers.map(({ parts }) => parts.map((part) => part.length)),
      spans: evidence.spans.length,
      gadgets: evidence.gadgets.length,
      starts: evidence.starts.length,
      firings: evidence.tables.firing.length,
      deliveries: new Set(evidence.deliveries.map(({ id }) => id)).size,
      messages: evidence.messages.length,
      retries: log.filter(({ kind, from, to }) => RETRIES[kind] === `${from} ${to}`).length,
      grants: evidence.flow.filter(({ did }) => did === 'GRANT').length,
      gates: opened.length,
      restMs: Math.round(restMs),
    }),
  )
  expect(found).toEqual({})
  // Otherwise nothing was tried.
  expect(faults.length).toBeGreaterThan(2)
  expect(evidence.tables.firing.some(({ outcome }) => outcome === 'FIRED')).toBe(true)
  expect(evidence.tables.hookDelivery.some(({ outcome }) => outcome === 'ACCEPTED')).toBe(true)
  expect(new Set(evidence.messages.filter(({ isTaken }) => isTaken).map(({ rule }) => rule)).size).toBe(2)
  expect(opened.length).toBeGreaterThan(0)
  if (!program) expect(evidence.flow.some(({ did }) => did === 'GRANT')).toBe(true)
  for (const family of ['INSTALLATION', 'EVENT', 'TASK', 'CLUSTER_INST'])
    expect(log.some(({ kind }) => kind === family)).toBe(true)
})
